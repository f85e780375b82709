"""The parser: Rust's regex-syntax, without recursion, reporting instead of raising.

Written after the documented behaviour of regex-syntax 0.8; each construct has its row in
tests/unit/automata/test_regex_language.py.

Tests: tests/unit/automata, tests/property/test_automata_regex.py
"""

from kbnf_core.automata.algebra import EMPTY, Choice, Repeat, Sequence
from kbnf_core.automata.codepoints import ANY, CodePoints, difference, from_text
from kbnf_core.automata.regex.classes import read_brackets, read_escape, report_invalid_utf8
from kbnf_core.automata.regex.syntax import (
    TOO_LARGE,
    UNSUPPORTED,
    WHITE_SPACE,
    Assertion,
    CharacterSet,
    Flags,
    LazyRepeat,
    Look,
    Named,
    Node,
    Reader,
    RegexProblem,
    UnreadableError,
)
from kbnf_core.automata.regex.unicode import fold_case
from kbnf_core.text.limits import Limits

_EXCEPT_LF = difference(ANY, from_text("\n"))
_EXCEPT_CRLF = difference(ANY, from_text("\r\n"))


def parse_regex(
    pattern: str, limits: Limits, *, is_searched: bool = False
) -> tuple[Node, tuple[RegexProblem, ...]]:
    """Return the tree of a pattern, and all problems found, in order of place.

    With problems the tree is meaningless. That of a pattern which ``is_searched``, where `.` is any
    character, has the named groups, and lazy repetitions apart from others.
    """
    reader = Reader(pattern, limits)
    reader.is_searched = is_searched
    reader.flags = reader.flags._replace(dot_all=is_searched)
    try:
        tree = _read(reader)
    except UnreadableError:
        tree = EMPTY
    return tree, tuple(sorted(reader.problems, key=lambda problem: problem.start))


class _Group:
    """An open group: its offset, the flags to restore, and its contents so far."""

    def __init__(self, start: int, flags: Flags, name: str = "") -> None:
        self.start = start
        self.flags = flags
        self.name = name
        self.alternatives: list[Node] = []
        self.items: list[Node] = []
        # Whether a repetition may apply to the last item; not so after (?i).
        self.repeatable = False

    def add(self, node: Node) -> None:
        self.items.append(node)
        self.repeatable = True

    def next_alternative(self) -> None:
        self.alternatives.append(_sequence(self.items))
        self.items = []
        self.repeatable = False

    def node(self) -> Node:
        self.next_alternative()
        whole = self.alternatives[0]
        if len(self.alternatives) > 1:
            whole = Choice(tuple(self.alternatives))
        return Named((whole,), self.name) if self.name else whole


def _sequence(items: list[Node]) -> Node:
    return items[0] if len(items) == 1 else Sequence(tuple(items))


def _read(reader: Reader) -> Node:
    groups = [_Group(0, reader.flags)]
    while True:
        reader.skip_space()
        if reader.at_end:
            break
        _read_one(reader, groups)
    for group in groups[1:]:
        reader.report("this group is not closed with `)`", group.start, group.start + 1)
    return groups[0].node()


def _read_one(reader: Reader, groups: list[_Group]) -> None:
    char = reader.char
    group = groups[-1]
    if char == "(":
        _open_group(reader, groups)
    elif char == ")":
        _close_group(reader, groups)
    elif char == "|":
        reader.index += 1
        group.next_alternative()
    elif char in "?*+{":
        _repeat(reader, group)
    elif char == "[":
        group.add(CharacterSet(read_brackets(reader)))
    else:
        group.add(_read_primitive(reader))


def _open_group(reader: Reader, groups: list[_Group]) -> None:
    start, before, name_count = reader.index, reader.flags, len(reader.group_names)
    opened = _read_group_start(reader)
    is_named = reader.is_searched and len(reader.group_names) > name_count
    if not opened:
        # Flags alone, as in (?i): they apply until the enclosing group ends.
        groups[-1].repeatable = False
        return
    if len(groups) > reader.limits.nesting_depth:
        reader.give_up(f"groups are nested deeper than {reader.limits.nesting_depth}", start)
    groups.append(_Group(start, before, [*reader.group_names][-1] if is_named else ""))


def _close_group(reader: Reader, groups: list[_Group]) -> None:
    reader.index += 1
    if len(groups) == 1:
        reader.report("this `)` closes nothing", reader.index - 1, hint="write \\) for the sign")
        return
    group = groups.pop()
    reader.flags = group.flags
    groups[-1].add(group.node())


def _repeat(reader: Reader, group: _Group) -> None:
    start = reader.index
    bounds = _read_repetition(reader)
    if not group.repeatable:
        reader.report(
            "there is nothing to repeat",
            start,
            start + 1,
            hint=f"write \\{reader.text[start]} for the sign",
        )
    elif bounds is not None:
        group.items[-1] = (LazyRepeat if reader.is_lazy else Repeat)(group.items[-1], *bounds)
        # What follows would make it possessive, which a language knows not.
        group.repeatable = not reader.is_searched


def _read_primitive(reader: Reader) -> Node:
    char = reader.char
    if char == "\\":
        return _read_escape(reader)
    reader.index += 1
    if char == ".":
        return CharacterSet(_dot(reader))
    if char == "^":
        return Assertion(_line_look(reader.flags, Look.START_TEXT))
    if char == "$":
        return Assertion(_line_look(reader.flags, Look.END_TEXT))
    return _character(reader, ord(char))


def _read_escape(reader: Reader) -> Node:
    escape = read_escape(reader)
    if escape.literal is not None:
        return _character(reader, escape.literal)
    if escape.points is not None:
        return CharacterSet(escape.points)
    return EMPTY if escape.look is None else Assertion(escape.look)


def _character(reader: Reader, code_point: int) -> Node:
    if 0xD800 <= code_point <= 0xDFFF:
        reader.report("a lone surrogate is not a character", reader.index - 1)
    points: CodePoints = ((code_point, code_point),)
    if reader.flags.ignore_case:
        points = fold_case(points, reader.flags.unicode)
    return CharacterSet(points)


def _dot(reader: Reader) -> CodePoints:
    flags = reader.flags
    if not flags.unicode:
        report_invalid_utf8(reader, "`.`", reader.index - 1, reader.index)
    if flags.dot_all:
        return ANY
    return _EXCEPT_CRLF if flags.crlf else _EXCEPT_LF


def _line_look(flags: Flags, text_look: Look) -> Look:
    """Return what ``^`` or ``$`` means: an edge of the text, or with the m flag of a line."""
    if not flags.multi_line:
        return text_look
    starts = text_look is Look.START_TEXT
    if flags.crlf:
        return Look.START_LINE_CRLF if starts else Look.END_LINE_CRLF
    return Look.START_LINE if starts else Look.END_LINE


# The signs between an opening parenthesis and the contents of the group.

_FLAGS = {
    "i": "ignore_case",
    "m": "multi_line",
    "s": "dot_all",
    "R": "crlf",
    "U": "swap_greed",
    "u": "unicode",
    "x": "verbose",
}
_UNSUPPORTED = {
    "?=": ("look-ahead is not supported", "write what follows as the next symbol of the rule"),
    "?!": (
        "negative look-ahead is not supported",
        "for text without some words write except!('..') or #ex\"..\"",
    ),
    "?<=": ("lookbehind is not supported", "write what comes before as a symbol of its own"),
    "?<!": (
        "negative lookbehind is not supported",
        "for text without some words write except!('..') or #ex\"..\"",
    ),
    "?>": ("atomic groups are not supported", "write (?:..); nothing is backtracked here"),
    "?|": ("branch-reset groups are not supported", "write (?:..)"),
    "?(": ("conditional groups are not supported", "write the cases as alternatives"),
    "?#": ("comments in groups are not supported", "use the x flag: (?x) # a comment"),
    "?&": ("recursion is not supported", "let a rule refer to itself instead"),
    "?P=": ("back references are not supported", "a grammar cannot compare two parts"),
    "?P>": ("recursion is not supported", "let a rule refer to itself instead"),
    "?'": ("this way to name a group is not supported", "write (?<name>..)"),
    "*": ("backtracking verbs are not supported", "write \\* for the sign"),
}


def _read_group_start(reader: Reader) -> bool:
    """Read ``(`` and the signs that belong to it; return whether a group was opened.

    It was not after flags alone, ``(?i)``. Flags take effect; problems are reported, and an
    unsupported form opens a group all the same.
    """
    start = reader.index
    reader.advance()
    if _report_unsupported(reader, start):
        return True
    if reader.take("?P<") or reader.take("?<"):
        _read_name(reader)
        return True
    if not reader.take("?"):
        return True
    return _read_flags(reader, start)


def _report_unsupported(reader: Reader, start: int) -> bool:
    for prefix in sorted(_UNSUPPORTED, key=len, reverse=True):
        if reader.text.startswith(prefix, reader.index):
            message, hint = _UNSUPPORTED[prefix]
            reader.report(message, start, reader.index + len(prefix), code=UNSUPPORTED, hint=hint)
            # The condition of (?(1)..) is read like a group, so that its end is found.
            reader.index += len(prefix.removesuffix("("))
            return True
    return False


def _read_name(reader: Reader) -> None:
    start = reader.index
    end = reader.text.find(">", start)
    if end < 0:
        reader.give_up("the name of this group is not closed with `>`", start, len(reader.text))
    name = reader.text[start:end]
    reader.index = end + 1
    if not name:
        reader.report("the name of a group is missing", start, end)
    elif not (name[0] == "_" or name[0].isalpha()) or not all(map(_is_name_char, name)):
        reader.report(f"`{name}` cannot name a group", start, end)
    elif name in reader.group_names:
        reader.report(f"two groups are named `{name}`", start, end)
    reader.group_names[name] = None


def _is_name_char(char: str) -> bool:
    return char in "_.[]" or char.isalpha() or char.isnumeric()


def _read_flags(reader: Reader, start: int) -> bool:
    changes: dict[str, bool] = {}
    value = True
    while reader.char not in {":", ")"}:
        at = reader.index
        reader.index += 1
        char = reader.text[at : at + 1]
        if not char:
            reader.give_up("this group is not closed with `)`", start, start + 1)
        if char == "-":
            if not value:
                reader.report("flags are switched off with one `-` only", at)
            value = False
        elif char not in _FLAGS:
            reader.report(f"`{char}` is not a flag", at, hint="the flags are i, m, s, R, U, u, x")
        elif _FLAGS[char] in changes:
            reader.report(f"the flag `{char}` is given twice", at)
        else:
            changes[_FLAGS[char]] = value
    if reader.text[reader.index - 1] == "-":
        reader.report("a flag is expected after `-`", reader.index - 1)
    if changes and reader.is_searched:
        reader.report("flags are not supported here", start, code=UNSUPPORTED)
    opened = reader.char == ":"
    if not opened and reader.text[reader.index - 1] == "?":
        reader.report("there is nothing to repeat", reader.index - 1)
    reader.index += 1
    reader.flags = reader.flags._replace(**changes)
    return opened


# Repetition operators: ``?``, ``*``, ``+`` and counts in braces.

Bounds = tuple[int, int | None]
_SIMPLE: dict[str, Bounds] = {"?": (0, 1), "*": (0, None), "+": (1, None)}


def _read_repetition(reader: Reader) -> Bounds | None:
    """Read an operator and the ``?`` of its lazy form; None after a problem."""
    start = reader.index
    if reader.char == "{":
        bounds = _read_count(reader, start)
        reader.skip_space()
    else:
        bounds = _SIMPLE[reader.char]
        reader.index += 1
    reader.is_lazy = reader.take("?") and reader.is_searched
    return bounds


def _read_count(reader: Reader, start: int) -> Bounds | None:
    """Read ``{m}``, ``{m,}`` or ``{m,n}``; white space may be around the numbers."""
    reader.advance()
    low = high = _read_number(reader)
    bounded = True
    if reader.char == ",":
        reader.advance()
        # White space may follow the comma only where a number comes; so it is in Rust.
        bounded = reader.char != "}"
        high = _read_number(reader)
    if not reader.take("}"):
        reader.give_up(
            "this count is not closed with `}`", start, hint="write \\{ for the sign itself"
        )
    if low == "" or (bounded and high == ""):
        hint = f"write {{0,{high}}}" if high else ""
        reader.report("a number is expected in this count", start, hint=hint)
        return None
    return _check(reader, start, int(low), int(high) if bounded else None)


def _check(reader: Reader, start: int, low: int, high: int | None) -> Bounds | None:
    if high is not None and low > high:
        reader.report(f"the count runs backwards, from {low} to {high}", start)
        return None
    largest = low if high is None else high
    if largest > reader.limits.repetition:
        reader.report(
            f"{largest} repetitions are more than the limit of {reader.limits.repetition}",
            start,
            code=TOO_LARGE,
        )
        return None
    return low, high


def _read_number(reader: Reader) -> str:
    _skip_white_space(reader)
    digits = ""
    while reader.char and reader.char in "0123456789":
        digits += reader.char
        reader.advance()
    _skip_white_space(reader)
    # Python refuses to convert thousands of digits; so many are over any limit as well.
    return digits.lstrip("0")[:20] or digits[:1]


def _skip_white_space(reader: Reader) -> None:
    while reader.char in WHITE_SPACE:
        reader.advance()
