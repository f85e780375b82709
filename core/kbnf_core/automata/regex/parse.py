"""The parser: Rust's regex-syntax, without recursion, reporting instead of raising.

Written after the documented behaviour of regex-syntax 0.8; each construct has its row in
tests/unit/automata/test_regex_language.py.
"""

from kbnf_core.automata.codepoints import ANY, CodePoints, difference, from_text
from kbnf_core.automata.regex.brackets import read_brackets
from kbnf_core.automata.regex.escapes import read_escape, report_invalid_utf8
from kbnf_core.automata.regex.groups import read_group_start
from kbnf_core.automata.regex.perl import fold_case
from kbnf_core.automata.regex.problems import RegexProblem
from kbnf_core.automata.regex.reader import Flags, Reader, UnreadableError
from kbnf_core.automata.regex.repetitions import read_repetition
from kbnf_core.automata.regex.syntax import (
    NOTHING_TO_READ,
    Alternation,
    Assertion,
    Characters,
    Look,
    Node,
    Repetition,
    Sequence,
)
from kbnf_core.limits import Limits

_EXCEPT_LF = difference(ANY, from_text("\n"))
_EXCEPT_CRLF = difference(ANY, from_text("\r\n"))


def parse_regex(pattern: str, limits: Limits) -> tuple[Node, tuple[RegexProblem, ...]]:
    """Return the tree of a pattern, and all problems found, in order of place.

    With problems the tree is meaningless.
    """
    reader = Reader(pattern, limits)
    try:
        tree = _read(reader)
    except UnreadableError:
        tree = NOTHING_TO_READ
    return tree, tuple(sorted(reader.problems, key=lambda problem: problem.start))


class _Group:
    """An open group: where, the flags to restore, and what it holds so far."""

    def __init__(self, start: int, flags: Flags) -> None:
        self.start = start
        self.flags = flags
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
        if len(self.alternatives) == 1:
            return self.alternatives[0]
        return Alternation(tuple(self.alternatives))


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
        group.add(Characters(read_brackets(reader)))
    else:
        group.add(_read_primitive(reader))


def _open_group(reader: Reader, groups: list[_Group]) -> None:
    start, before = reader.index, reader.flags
    opened = read_group_start(reader)
    if not opened:
        # Flags alone, as in (?i): they hold until the enclosing group ends.
        groups[-1].repeatable = False
        return
    if len(groups) > reader.limits.nesting_depth:
        reader.give_up(f"groups are nested deeper than {reader.limits.nesting_depth}", start)
    groups.append(_Group(start, before))


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
    bounds = read_repetition(reader)
    if not group.repeatable:
        reader.report(
            "there is nothing to repeat",
            start,
            start + 1,
            hint=f"write \\{reader.text[start]} for the sign",
        )
    elif bounds is not None:
        group.items[-1] = Repetition(group.items[-1], *bounds)


def _read_primitive(reader: Reader) -> Node:
    char = reader.char
    if char == "\\":
        return _read_escape(reader)
    reader.index += 1
    if char == ".":
        return Characters(_dot(reader))
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
        return Characters(escape.points)
    return NOTHING_TO_READ if escape.look is None else Assertion(escape.look)


def _character(reader: Reader, code_point: int) -> Node:
    if 0xD800 <= code_point <= 0xDFFF:
        reader.report("a lone surrogate is not a character", reader.index - 1)
    points: CodePoints = ((code_point, code_point),)
    if reader.flags.ignore_case:
        points = fold_case(points, reader.flags.unicode)
    return Characters(points)


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
