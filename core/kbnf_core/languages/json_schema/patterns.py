r"""Patterns of JSON Schema, ECMA-262 regular expressions, in our dialect.

A pattern may match anywhere in a string; the result matches the whole string. ``\d``, ``\w`` and
``\b`` are ASCII, ``\s`` is ECMA's. Look-ahead at the start of a pattern is a condition of its own
on the whole string. Other look-around and back-references stay as they are: the dialect's parser
says what is wrong with them.

A pattern that counts characters (``^[a-z].{0,2000}$``) is taken apart: what may occur, and how many
characters in all. So a count is a number, as in ``maxLength``, and not as many copies of a state.
"""

import re

from kbnf_core.automata.algebra import Repeat
from kbnf_core.automata.algebra import Sequence as Items
from kbnf_core.automata.codepoints import ANY
from kbnf_core.automata.expression import Builder, Expression, print_expression
from kbnf_core.automata.regex.syntax import Characters
from kbnf_core.languages.json_schema.value_sets import Length

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
    rest, found = pattern, []
    while rest.startswith("^") and (begin := _LOOK_AHEAD.match(rest, 1)):
        end = _closing(rest, begin.end())
        if end is None:
            break
        found.append((to_whole(f"^(?:{rest[begin.end() : end]})"), begin[1] == "="))
        rest = "^" + rest[end + 1 :]
    # Behind a bar the condition would not hold, and what is repeated is none.
    if not found or len(_translate(rest)) > 1 or _REPEATED.match(rest, 1):
        return [(to_whole(pattern), True)]
    return [(to_whole(rest), True), *found]


LARGE = 64
"""Counts up to this one are states."""

_COUNT = re.compile(r"\{(?:[0-9]*,)?0*[1-9][0-9]+\}|\{0*[1-9][0-9]+,\}")
"""A count that may be large."""


def without_count(whole: str) -> tuple[str, Length | None]:
    """Return a regular expression of whole strings without its large count, and the lengths.

    The strings of both together are those of ``whole``: one character is repeated, and whatever is
    around it has one length. None where there is no such count.
    """
    if not _COUNT.search(whole):
        return whole, None
    builder = Builder()
    read = builder.read(whole)
    if read is None:
        return whole, None
    items = _at_least_beside_any(builder, read)
    loops = [place for place, item in enumerate(items) if _is_large(item)]
    around = [_fixed_length(item) for place, item in enumerate(items) if place not in loops]
    lengths = [length for length in around if length is not None]
    if len(loops) != 1 or len(lengths) < len(around):
        return print_expression(builder.sequence(items)), None
    loop = items[loops[0]]
    assert isinstance(loop, Repeat)  # noqa: S101 - as a large count is
    high = None if loop.high is None else loop.high + sum(lengths)
    items[loops[0]] = builder.repetition(loop.body, 0, None)
    found = print_expression(builder.sequence(items))
    return found, Length(loop.low + sum(lengths), high)


def _at_least_beside_any(builder: Builder, read: Expression) -> list[Expression]:
    """Return the items of a sequence; beside any text it is enough to repeat as often as needed."""
    items = list(read.parts if isinstance(read, Items) else (read,))
    for place, item in enumerate(items):
        beside = [*items[max(place - 1, 0) : place], *items[place + 1 : place + 2]]
        if isinstance(item, Repeat) and item.high is not None and any(map(_is_any, beside)):
            items[place] = builder.repetition(item.body, item.low, item.low)
    whole = builder.sequence(items)
    return list(whole.parts if isinstance(whole, Items) else (whole,))


def _is_any(item: Expression) -> bool:
    """Tell whether an item is any text, or all texts from some length on."""
    return (
        isinstance(item, Repeat)
        and item.high is None
        and isinstance(item.body, Characters)
        and item.body.points == ANY
    )


def _is_large(item: Expression) -> bool:
    """Tell whether an item is a character that is repeated, to a large bound."""
    if not isinstance(item, Repeat) or not isinstance(item.body, Characters):
        return False
    return item.low != item.high and max(item.low, item.high or 0) > LARGE


def _fixed_length(item: Expression) -> int | None:
    """Return how many characters an item has, where that is one number that is quickly found."""
    if isinstance(item, Characters):
        return 1
    if isinstance(item, Repeat) and isinstance(item.body, Characters) and item.low == item.high:
        return item.low
    return None


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
            each = numbers[0].split("\\u")[1:]
            written += [f"\\u{{{number[:4]}}}{number[4:]}" for number in each]
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
    """Return a character of a set; what only our dialect reads as an operator is escaped."""
    char = pattern[index]
    doubled = char in "&~" and pattern[index + 1 : index + 2] == char
    # After a class such as \w a hyphen is no range.
    after_class = char == "-" and re.search(r"\\[dwsDWS]$", pattern[:index]) is not None
    return "\\" + char if char == "[" or doubled or after_class else char


def _escape(found: re.Match[str], in_set: bool) -> str:
    high, low, unit, byte, control, other = found.groups()
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
