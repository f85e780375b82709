r"""Patterns of ECMA-262, as JSON Schema has them, as regular expressions of our dialect.

A pattern may match anywhere in a string; the result matches the whole string. ``\d``, ``\w`` and
``\b`` are ASCII, ``\s`` is ECMA's. Look-ahead at the start of a pattern is a condition of its own
on the whole string. Other look-around and back-references stay as they are: the dialect's parser
reports them.

Tests: tests/unit/languages/json_schema/test_regex_syntax.py, test_counts_in_patterns.py
"""

import re

ANY_TEXT = "(?s:.)*"
"""The regular expression of all strings."""

_SPACES = (
    r"\t\n\x0b\x0c\r \u{a0}\u{1680}\u{2000}-\u{200a}\u{2028}\u{2029}\u{202f}\u{205f}"
    r"\u{3000}\u{feff}"
)
_SETS = {"d": "0-9", "w": "A-Za-z0-9_", "s": _SPACES}
_CONTROL = r"c([A-Za-z])"
_PAIR = r"u([dD][89abAB][0-9A-Fa-f]{2})\\u([dD][c-fC-F][0-9A-Fa-f]{2})"
_UNIT = r"u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2})"
_ESCAPE = re.compile(rf"\\(?:{_PAIR}|{_UNIT}|{_CONTROL}|(?P<other>[\s\S]))")


# Characters and ranges of them by number, of which long classes consist; no halves of pairs.
_NUMBERS = re.compile(r"(?:\\u(?![dD][89a-fA-F])[0-9A-Fa-f]{4}-?)+")


_LOOK_AHEAD = re.compile(r"\(\?([=!])")
_STEP = re.compile(r"\\[\s\S]|\[\^?\]?(?:\\[\s\S]|[^\]\\])*\]|[\s\S]")


def conditions(pattern: str) -> list[tuple[str, bool]]:
    """Return regular expressions of whole strings, and whether each must match or must not.

    The first is the pattern without its look-ahead, the others are that.
    """
    rest, result = pattern, []
    while rest.startswith("^") and (begin := _LOOK_AHEAD.match(rest, 1)):
        end = _closing(rest, begin.end())
        if end is None:
            break
        result.append((to_whole(f"^(?:{rest[begin.end() : end]})"), begin[1] == "="))
        rest = "^" + rest[end + 1 :]
    # After a bar the condition would not apply, and a repeated one is not a condition.
    if not result or len(_translate(rest)) > 1 or _REPEATED.match(rest, 1):
        return [(to_whole(pattern), True)]
    return [(to_whole(rest), True), *result]


_REPEATED = re.compile(r"[*+?{]")


def _closing(pattern: str, index: int) -> int | None:
    """Return where the group ends in which ``index`` is."""
    depth = 0
    for step in _STEP.finditer(pattern, index):
        if step[0] == ")" and not depth:
            return step.start()
        depth += (step[0] == "(") - (step[0] == ")")
    return None


def to_whole(pattern: str) -> str:
    """Return a regular expression for the strings in which ``pattern`` matches somewhere."""
    branches = _translate(pattern)
    # Anchors of all branches are those of the pattern: inside, no reader takes it apart.
    starts = all(branch.startswith("^") for branch in branches)
    ends = all(branch.endswith("$") and not branch.endswith("\\$") for branch in branches)
    inner = "|".join(branch[starts : len(branch) - ends] for branch in branches)
    if "|" in inner and not (starts and ends):
        inner = f"(?:{inner})"
    return f"{'' if starts else ANY_TEXT}{inner}{'' if ends else ANY_TEXT}"


def _translate(pattern: str) -> list[str]:
    """Return the alternatives of the pattern outside of groups, in our dialect."""
    branches: list[str] = []
    written: list[str] = []
    index = depth = 0
    in_set = False
    while index < len(pattern):
        char = pattern[index]
        numbers = _NUMBERS.match(pattern, index)
        if numbers:
            unit_texts = numbers[0].split("\\u")[1:]
            written += [f"\\u{{{number[:4]}}}{number[4:]}" for number in unit_texts]
            index = numbers.end()
            continue
        escape = _ESCAPE.match(pattern, index)
        if escape:
            written.append(_escape(escape, in_set))
            index = escape.end()
            continue
        if in_set:
            in_set = char != "]"
            written.append(_member(pattern, index))
        elif pattern.startswith(("[^]", "[]"), index):
            # ECMA's sets of everything and of nothing.
            length = 3 if pattern[index + 1] == "^" else 2
            written.append("(?s:.)" if length == 3 else "[^\\s\\S]")
            index += length
            continue
        else:
            in_set = char == "["
            if char == "[" and pattern[index + 1 : index + 2] == "^":
                char, index = "[^", index + 1
            depth += (char == "(") - (char == ")")
            if char == "|" and depth == 0:
                branches.append("".join(written))
                written = []
            else:
                written.append(char)
        index += 1
    return [*branches, "".join(written)]


def _member(pattern: str, index: int) -> str:
    """Return a character of a set; operators of our dialect alone are escaped."""
    char = pattern[index]
    doubled = char in "&~" and pattern[index + 1 : index + 2] == char
    # After a class such as \w a hyphen does not make a range.
    after_class = char == "-" and re.search(r"\\[dwsDWS]$", pattern[:index]) is not None
    return "\\" + char if char == "[" or doubled or after_class else char


def _escape(match: re.Match[str], in_set: bool) -> str:
    high, low, unit, byte, control, other = match.groups()
    if high is not None:
        point = 0x10000 + ((int(high, 16) & 0x3FF) << 10) + (int(low, 16) & 0x3FF)
        return f"\\u{{{point:x}}}"
    if unit is not None or byte is not None:
        return f"\\u{{{unit or byte}}}"
    if control is not None:
        return f"\\x{ord(control) & 31:02x}"
    return _letter(other, in_set)


def _letter(char: str, in_set: bool) -> str:
    """Return an escape of one character."""
    if char in _SETS:
        return _SETS[char] if in_set else f"[{_SETS[char]}]"
    if char.lower() in _SETS:
        return f"[^{_SETS[char.lower()]}]"
    if char in "bB" and not in_set:
        return f"(?-u:\\{char})"
    if char == "b":
        return "\\x08"
    if char == "0":
        return "\\x00"
    return char if not char.isascii() or char in "<>" else "\\" + char
