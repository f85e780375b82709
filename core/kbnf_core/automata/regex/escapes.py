"""Escapes of regular expressions, outside and inside of brackets."""

from typing import NamedTuple

from kbnf_core.automata.codepoints import NOTHING, CodePoints, complement
from kbnf_core.automata.regex.reader import INVALID_UTF8, UNSUPPORTED, Reader
from kbnf_core.automata.regex.syntax import Look
from kbnf_core.automata.regex.unicode import fold_case, named_property, perl_class, property_value

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
"""Escapes of other dialects, and what to write here."""
_NOT_UTF8 = 'write the text itself, or #b".." for exact bytes'


class Escape(NamedTuple):
    """What an escape stands for, and where it is.

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


def report_invalid_utf8(reader: Reader, what: str, start: int, end: int) -> None:
    """Note that something under ``(?-u)`` could match a part of a character."""
    reader.report(
        f"{what} under (?-u) matches bytes that are not UTF-8",
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
    what = f"`{name}={value}`" if value else f"`{name}`"
    reader.report(f"there is no Unicode property {what}", start, hint=hint)
