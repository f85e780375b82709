"""Character classes in brackets: ranges, nesting, named sets, and the operators on sets.

Classes of thousands of members are common in schemas (letters and digits of Unicode, listed), so
runs of plain members are read at once; whatever is not plain, or wrong, is read one by one.
"""

import re
from collections.abc import Callable

from kbnf_core.automata.codepoints import (
    NOTHING,
    CodePoints,
    Range,
    complement,
    difference,
    from_ranges,
    intersect,
    is_ascii,
    symmetric_difference,
)
from kbnf_core.automata.regex.escapes import Escape, read_escape, report_invalid_utf8
from kbnf_core.automata.regex.reader import UNSUPPORTED, Flags, Reader
from kbnf_core.automata.regex.unicode import fold_case, posix_class

_Operator = Callable[[CodePoints, CodePoints], CodePoints]
_OPERATORS: dict[str, _Operator] = {
    "&&": intersect,
    "--": difference,
    "~~": symmetric_difference,
}
# What may begin an operator is not plain.
_PLAIN = r"(?:([^\\\[\]&~-])|\\[xuU]\{([0-9A-Fa-f]{1,8})\}|\\([!-/:-@\[-`{-~]))"
_MEMBER = re.compile(rf"{_PLAIN}(?:-{_PLAIN}|(?!-))")


class _Level:
    """An open bracket: what it holds so far, and the operation that waits for its right side.

    All operators bind equally, to the left, and weaker than standing side by side.
    """

    def __init__(self, start: int, negated: bool = False) -> None:
        self.start = start
        self.negated = negated
        self.ranges: list[Range] = []
        self.sets: list[CodePoints] = []
        self.operator: _Operator | None = None
        self.left = NOTHING

    def add(self, low: int, high: int) -> None:
        self.ranges.append((low, high))

    def close_operand(self, flags: Flags) -> CodePoints:
        """Return what the bracket holds up to here, the waiting operation applied."""
        points = from_ranges([*self.ranges, *(pair for points in self.sets for pair in points)])
        self.ranges, self.sets = [], []
        if flags.ignore_case:
            points = fold_case(points, flags.unicode)
        return points if self.operator is None else self.operator(self.left, points)


def read_brackets(reader: Reader) -> CodePoints:
    """Read a bracketed class; the cursor is at its ``[``. Problems are reported."""
    levels: list[_Level] = [_open(reader)]
    hint = ""
    while True:
        reader.skip_space()
        if reader.at_end:
            start = levels[-1].start
            reader.give_up("this class is not closed with `]`", start, start + 1, hint)
        level = levels[-1]
        operator = _OPERATORS.get(reader.text[reader.index : reader.index + 2])
        if reader.char == "[":
            if not _take_posix(reader, level):
                levels.append(_open(reader))
                hint = (
                    "a `[` in a class begins a class inside of it: write `\\[` for the sign itself"
                )
                _check_depth(reader, levels)
        elif reader.char == "]":
            reader.index += 1
            points = _finish(reader, levels.pop())
            if not levels:
                return points
            levels[-1].sets.append(points)
        elif operator is not None:
            reader.index += 2
            level.left = level.close_operand(reader.flags)
            level.operator = operator
        elif not _take_run(reader, level):
            _read_item(reader, level)


def _check_depth(reader: Reader, levels: list[_Level]) -> None:
    if len(levels) > reader.limits.nesting_depth:
        reader.give_up(
            f"brackets are nested deeper than {reader.limits.nesting_depth}", levels[-1].start
        )


def _open(reader: Reader) -> _Level:
    """Read ``[`` or ``[^``, and the ``-`` and ``]`` that mean themselves at the beginning."""
    level = _Level(reader.index)
    reader.advance()
    if reader.char == "^":
        level.negated = True
        reader.advance()
    while reader.char == "-":
        level.add(ord("-"), ord("-"))
        reader.advance()
    if reader.char == "]" and not level.ranges:
        level.add(ord("]"), ord("]"))
        reader.advance()
    return level


def _finish(reader: Reader, level: _Level) -> CodePoints:
    points = level.close_operand(reader.flags)
    if not reader.flags.unicode and (level.negated or not is_ascii(points)):
        report_invalid_utf8(reader, "this class", level.start, reader.index)
    return complement(points) if level.negated else points


def _take_posix(reader: Reader, level: _Level) -> bool:
    """Read ``[:name:]`` or ``[:^name:]``; anything else is an ordinary nested class."""
    if reader.peek() != ":":
        return False
    end = reader.text.find(":", reader.index + 2)
    if end < 0 or reader.text[end : end + 2] != ":]":
        return False
    name = reader.text[reader.index + 2 : end]
    negated = name.startswith("^")
    points = posix_class(name[1:] if negated else name)
    if points is None:
        return False
    start, reader.index = reader.index, end + 2
    if reader.flags.ignore_case:
        points = fold_case(points, reader.flags.unicode)
    if negated and not reader.flags.unicode:
        report_invalid_utf8(reader, "this class", start, reader.index)
    level.sets.append(complement(points) if negated else points)
    return True


def _take_run(reader: Reader, level: _Level) -> bool:
    """Read plain members and ranges of them; False where the next one is none, or wrong."""
    start, text = reader.index, reader.text
    if reader.flags.verbose or not reader.flags.unicode:
        return False
    while found := _MEMBER.match(text, reader.index):
        char, digits, sign, last, last_digits, last_sign = found.groups()
        low = high = int(digits, 16) if digits else ord(char or sign)
        if last or last_digits or last_sign:
            high = int(last_digits, 16) if last_digits else ord(last or last_sign)
        if low > high or high > 0x10FFFF or 0xD800 <= low <= 0xDFFF or 0xD800 <= high <= 0xDFFF:
            break
        level.ranges.append((low, high))
        reader.index = found.end()
    return reader.index > start


def _read_item(reader: Reader, level: _Level) -> None:
    """Read one character, escape or range."""
    first = _read_primitive(reader)
    reader.skip_space()
    if reader.char != "-" or reader.peek_past_space() in {"]", "-", ""}:
        _add(reader, level, first)
        return
    reader.advance()
    last = _read_primitive(reader)
    low, high = _range_end(reader, first), _range_end(reader, last)
    if low is None or high is None:
        return
    if low > high:
        reader.report(
            f"the range runs backwards, from U+{low:04X} to U+{high:04X}", first.start, last.end
        )
    else:
        level.add(low, high)


def _read_primitive(reader: Reader) -> Escape:
    if reader.char == "\\":
        return read_escape(reader)
    start = reader.index
    reader.index += 1
    return _check_byte(reader, Escape(start, reader.index, literal=ord(reader.text[start])))


def _check_byte(reader: Reader, item: Escape) -> Escape:
    if item.literal is not None and item.literal > 0x7F and not reader.flags.unicode:
        reader.report(
            "a class under (?-u) contains ASCII characters only",
            item.start,
            item.end,
            code=UNSUPPORTED,
            hint="leave out the -u here",
        )
        return Escape(item.start, item.end)
    return item


def _add(reader: Reader, level: _Level, item: Escape) -> None:
    if item.literal is not None:
        level.add(item.literal, item.literal)
    elif item.points is not None:
        level.sets.append(item.points)
    elif item.look is not None:
        reader.report("assertions are not allowed in a class", item.start, item.end)


def _range_end(reader: Reader, item: Escape) -> int | None:
    if item.literal is None and (item.points is not None or item.look is not None):
        reader.report("a range needs single characters at its ends", item.start, item.end)
    return item.literal
