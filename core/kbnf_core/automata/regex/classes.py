"""Escapes, and character classes in brackets: ranges, nesting, named sets, operators on sets.

Classes of thousands of members are common in schemas (letters and digits of Unicode, listed), so
runs of plain members are read at once; whatever is not plain, or wrong, is read one by one.

Tests: tests/unit/automata, tests/property/test_automata_regex.py
"""

import re
from collections.abc import Callable
from typing import NamedTuple

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
from kbnf_core.automata.regex.syntax import INVALID_UTF8, UNSUPPORTED, Flags, Look, Reader
from kbnf_core.automata.regex.unicode import (
    fold_case,
    named_property,
    perl_class,
    posix_class,
    property_value,
)

_SPECIAL = {"a": 7, "f": 12, "t": 9, "n": 10, "r": 13, "v": 11}
_HEX_DIGITS = {"x": 2, "u": 4, "U": 8}
_ANCHORS = {"A": Look.START_TEXT, "z": Look.END_TEXT}
_WORD_LOOKS = {
    "b": Look.WORD_BOUNDARY,
    "B": Look.NOT_WORD_BOUNDARY,
    "<": Look.WORD_START,
    ">": Look.WORD_END,
}
_NAMED_BOUNDARIES = {
    "start": Look.WORD_START,
    "end": Look.WORD_END,
    "start-half": Look.WORD_START_HALF,
    "end-half": Look.WORD_END_HALF,
}
_FOREIGN = {
    "Z": "\\z means the end of the text",
    "Q": "escape each special character with a backslash",
    "E": "escape each special character with a backslash",
    "R": "write (?:\\r\\n|[\\n\\x0B\\f\\r\\x{85}\\x{2028}\\x{2029}])",
    "h": "write [\\t\\p{Zs}]",
    "H": "write [^\\t\\p{Zs}]",
    "N": "write [^\\n]",
}
"""Escapes of other dialects, and their replacements here."""
_NOT_UTF8 = 'write the text itself, or #b".." for exact bytes'


class Escape(NamedTuple):
    """The value of an escape, and its place.

    Exactly one of ``literal``, ``points`` and ``look`` is set, or none after a problem.
    """

    start: int
    end: int
    literal: int | None = None
    points: CodePoints | None = None
    look: Look | None = None


def read_escape(reader: Reader) -> Escape:
    """Read an escape; the cursor is at its backslash. Problems are reported."""
    start = reader.index
    reader.index += 1
    char = reader.char
    if not char:
        reader.report("the pattern ends after a backslash", start)
        return Escape(start, reader.index)
    if char in _HEX_DIGITS:
        return _literal(reader, start, _read_hex(reader, start))
    if char in "pP":
        return _set(reader, start, _read_property(reader, start))
    reader.index += 1
    if char in "dDsSwW":
        return _set(reader, start, _perl(reader, char, start))
    if char in _ANCHORS:
        return Escape(start, reader.index, look=_ANCHORS[char])
    if char in _WORD_LOOKS:
        return _word_look(reader, char, start)
    if char in _SPECIAL:
        return Escape(start, reader.index, literal=_SPECIAL[char])
    if char.isascii() and not char.isalnum():
        return Escape(start, reader.index, literal=ord(char))
    _report_unknown(reader, char, start)
    return Escape(start, reader.index)


def _literal(reader: Reader, start: int, literal: int | None) -> Escape:
    return Escape(start, reader.index, literal=literal)


def _set(reader: Reader, start: int, points: CodePoints) -> Escape:
    return Escape(start, reader.index, points=points)


def _report_unknown(reader: Reader, char: str, start: int) -> None:
    if char in "0123456789":
        reader.report(
            "back references are not supported",
            start,
            code=UNSUPPORTED,
            hint="a grammar cannot compare two parts; write the character as \\x{..} if that was"
            " meant",
        )
    elif char == "k":
        reader.report("back references are not supported", start, code=UNSUPPORTED)
    else:
        reader.report(f"`\\{char}` is not an escape", start, hint=_FOREIGN.get(char, ""))


def _word_look(reader: Reader, char: str, start: int) -> Escape:
    look = _WORD_LOOKS[char]
    if char == "b" and reader.char == "{":
        look = _read_named_boundary(reader) or look
    if reader.flags.unicode:
        text = reader.text[start : reader.index]
        reader.report(
            "Unicode word boundaries are not supported",
            start,
            code=UNSUPPORTED,
            hint=f"(?-u:{text}) looks at ASCII letters, digits and `_` only",
        )
    return Escape(start, reader.index, look=look)


def _read_named_boundary(reader: Reader) -> Look | None:
    r"""Read ``{start}`` and the like after ``\b``; None when a count like ``{2}`` is there."""
    brace = reader.index
    reader.advance()
    first = reader.index
    if not _is_boundary_letter(reader.char):
        if reader.at_end:
            reader.give_up("this `{` is not closed", brace)
        reader.index = brace
        return None
    name = ""
    while _is_boundary_letter(reader.char):
        name += reader.char
        reader.advance()
    if reader.char != "}":
        reader.give_up("this `{` is not closed", brace)
    if name not in _NAMED_BOUNDARIES:
        reader.report(
            f"`{name}` is not a word boundary",
            first,
            hint="it is one of start, end, start-half, end-half",
        )
    reader.index += 1
    return _NAMED_BOUNDARIES.get(name, Look.WORD_BOUNDARY)


def _is_boundary_letter(char: str) -> bool:
    return char == "-" or (char.isascii() and char.isalpha())


def _perl(reader: Reader, letter: str, start: int) -> CodePoints:
    points = perl_class(letter.lower(), reader.flags.unicode)
    if letter.islower():
        return points
    if not reader.flags.unicode:
        report_invalid_utf8(reader, f"`\\{letter}`", start, reader.index)
    return complement(points)


def report_invalid_utf8(reader: Reader, construct: str, start: int, end: int) -> None:
    """Note that something under ``(?-u)`` could match a part of a character."""
    reader.report(
        f"{construct} under (?-u) matches bytes that are not UTF-8",
        start,
        end,
        code=INVALID_UTF8,
        hint=_NOT_UTF8,
    )


def _read_hex(reader: Reader, start: int) -> int | None:
    """Read ``x7F``, ``u007F``, ``U0000007F`` or one of them with braces."""
    count = _HEX_DIGITS[reader.char]
    reader.advance()
    if reader.at_end:
        reader.give_up("the pattern ends inside an escape", start)
    if reader.char == "{":
        return _read_hex_braces(reader, start)
    digits = ""
    while len(digits) < count:
        if not _is_hex(reader.char):
            end = min(reader.index + 1, len(reader.text))
            reader.report(f"{count} hexadecimal digits are expected here", start, end)
            return None
        digits += reader.char
        reader.advance()
    value = _scalar(reader, digits, start)
    if count == 2 and value is not None and value > 0x7F and not reader.flags.unicode:
        report_invalid_utf8(reader, "this byte", start, reader.index)
        return None
    return value


def _read_hex_braces(reader: Reader, start: int) -> int | None:
    digits = ""
    reader.advance()
    while reader.char != "}":
        if reader.at_end:
            reader.give_up("this escape is not closed with `}`", start)
        if not _is_hex(reader.char):
            reader.report("a hexadecimal digit is expected here", reader.index, reader.index + 1)
            end = reader.text.find("}", reader.index)
            reader.index = len(reader.text) if end < 0 else end + 1
            return None
        digits += reader.char
        reader.advance()
    reader.index += 1
    if not digits:
        reader.report("a hexadecimal number is expected between the braces", start)
        return None
    return _scalar(reader, digits, start)


def _is_hex(char: str) -> bool:
    return char != "" and char in "0123456789abcdefABCDEF"


def _scalar(reader: Reader, digits: str, start: int) -> int | None:
    value = int(digits, 16)
    if value > 0x10FFFF or 0xD800 <= value <= 0xDFFF:
        reader.report(f"U+{digits.upper()} is not a character", start)
        return None
    return value


def _read_property(reader: Reader, start: int) -> CodePoints:
    negated = reader.char == "P"
    reader.advance()
    if reader.at_end:
        reader.give_up("the pattern ends inside an escape", start)
    if reader.char == "{":
        text = _read_property_braces(reader, start)
    else:
        text = reader.char
        reader.index += 1
    if not reader.flags.unicode:
        reader.report(
            "Unicode properties are not available under (?-u)",
            start,
            code=UNSUPPORTED,
            hint="leave out the -u here",
        )
        return NOTHING
    name, operator, value = _split_property(text)
    points = property_value(name, value) if operator else named_property(name)
    if points is None:
        _report_property(reader, name, value if operator else "", start)
        return NOTHING
    if reader.flags.ignore_case:
        points = fold_case(points, unicode=True)
    return complement(points) if negated != (operator == "!=") else points


def _read_property_braces(reader: Reader, start: int) -> str:
    text = ""
    reader.advance()
    while reader.char != "}":
        if reader.at_end:
            reader.give_up("this escape is not closed with `}`", start)
        text += reader.char
        reader.advance()
    reader.index += 1
    return text


def _split_property(text: str) -> tuple[str, str, str]:
    for operator in ("!=", ":", "="):
        if operator in text:
            return text.partition(operator)
    return text, "", ""


def _report_property(reader: Reader, name: str, value: str, start: int) -> None:
    if name.lower() == "age":
        reader.report("the property Age is not supported", start, code=UNSUPPORTED)
        return
    hint = f"write \\P{{{name[1:]}}}" if name.startswith("^") else ""
    property_ = f"`{name}={value}`" if value else f"`{name}`"
    reader.report(f"there is no Unicode property {property_}", start, hint=hint)


_Operator = Callable[[CodePoints, CodePoints], CodePoints]
_OPERATORS: dict[str, _Operator] = {
    "&&": intersect,
    "--": difference,
    "~~": symmetric_difference,
}
# A possible beginning of an operator is not plain.
_PLAIN = r"(?:([^\\\[\]&~-])|\\[xuU]\{([0-9A-Fa-f]{1,8})\}|\\([!-/:-@\[-`{-~]))"
_MEMBER = re.compile(rf"{_PLAIN}(?:-{_PLAIN}|(?!-))")


class _OpenBracket:
    """An open bracket: its contents so far, and the operation that waits for its right side.

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
        """Return the contents of the bracket so far, after the waiting operation."""
        points = from_ranges([*self.ranges, *(pair for points in self.sets for pair in points)])
        self.ranges, self.sets = [], []
        if flags.ignore_case:
            points = fold_case(points, flags.unicode)
        return points if self.operator is None else self.operator(self.left, points)


def read_brackets(reader: Reader) -> CodePoints:
    """Read a bracketed class; the cursor is at its ``[``. Problems are reported."""
    levels: list[_OpenBracket] = [_open(reader)]
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


def _check_depth(reader: Reader, levels: list[_OpenBracket]) -> None:
    if len(levels) > reader.limits.nesting_depth:
        reader.give_up(
            f"brackets are nested deeper than {reader.limits.nesting_depth}", levels[-1].start
        )


def _open(reader: Reader) -> _OpenBracket:
    """Read ``[`` or ``[^``, and the ``-`` and ``]`` that mean themselves at the beginning."""
    level = _OpenBracket(reader.index)
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


def _finish(reader: Reader, level: _OpenBracket) -> CodePoints:
    points = level.close_operand(reader.flags)
    if not reader.flags.unicode and (level.negated or not is_ascii(points)):
        report_invalid_utf8(reader, "this class", level.start, reader.index)
    return complement(points) if level.negated else points


def _take_posix(reader: Reader, level: _OpenBracket) -> bool:
    """Read ``[:name:]`` or ``[:^name:]``; anything else is an ordinary nested class."""
    if not reader.text.startswith(":", reader.index + 1):
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


def _take_run(reader: Reader, level: _OpenBracket) -> bool:
    """Read plain members and ranges of them; False where the next one is not plain, or wrong."""
    start, text = reader.index, reader.text
    if reader.flags.verbose or not reader.flags.unicode:
        return False
    while match := _MEMBER.match(text, reader.index):
        char, digits, sign, last, last_digits, last_sign = match.groups()
        low = high = int(digits, 16) if digits else ord(char or sign)
        if last or last_digits or last_sign:
            high = int(last_digits, 16) if last_digits else ord(last or last_sign)
        if low > high or high > 0x10FFFF or 0xD800 <= low <= 0xDFFF or 0xD800 <= high <= 0xDFFF:
            break
        level.ranges.append((low, high))
        reader.index = match.end()
    return reader.index > start


def _read_item(reader: Reader, level: _OpenBracket) -> None:
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


def _add(reader: Reader, level: _OpenBracket, item: Escape) -> None:
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
