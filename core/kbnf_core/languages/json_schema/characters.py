"""How the characters of a string are spelt in JSON, as regular expressions."""

import json

from kbnf_core.automata.codepoints import CodePoints, difference, from_ranges, intersect
from kbnf_core.automata.expression import print_characters

ESCAPED: CodePoints = from_ranges([(0, 0x1F), (0x22, 0x22), (0x5C, 0x5C), (0x7F, 0x7F)])
"""What cannot stand for itself: JSON's escaped characters, and DEL."""

_SHORT = {0x08: "b", 0x09: "t", 0x0A: "n", 0x0C: "f", 0x0D: "r", 0x22: '"', 0x5C: "\\"}

ESCAPE = r'\\(?:["\\bfnrt]|u00(?:0[0-7bBeEfF]|1[0-9A-Fa-f]|7[fF]))'
"""The spelling of a character that cannot stand for itself."""

CHARACTER = rf'(?:[^"\\\x00-\x1f\x7f]|{ESCAPE})'
"""One character of a string, each in one spelling (but for the digits of ``\\u``)."""

ANY_CHARACTER = r'(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))'
"""One character of a string in any spelling; half of a surrogate pair counts as one."""


def spell(points: CodePoints) -> str:
    """Return a regular expression for the JSON spellings of one character of a set."""
    if len(points) == 2 and points[0][0] == 0 and points[-1][1] == 0x10FFFF:
        return CHARACTER
    plain = difference(points, ESCAPED)
    escaped = intersect(points, ESCAPED)
    if not escaped:
        return print_characters(plain)
    return f"(?:{'|'.join(_branches(plain, escaped))})"


def _branches(plain: CodePoints, escaped: CodePoints) -> list[str]:
    branches = [print_characters(plain)] if plain else []
    if escaped == ESCAPED:
        return [*branches, ESCAPE]
    codes = [code for low, high in escaped for code in range(low, high + 1)]
    short = "".join(_SHORT[code] for code in codes if code in _SHORT)
    long = [_hex(code) for code in codes if code not in _SHORT]
    if short:
        listed = short.replace("\\", "\\\\")
        branches.append(rf"\\[{listed}]")
    if long:
        branches.append(rf"\\u00(?:{'|'.join(long)})")
    return branches


def _hex(code: int) -> str:
    high, low = f"{code >> 4:x}", f"{code & 15:x}"
    return high + (f"[{low}{low.upper()}]" if low.isalpha() else low)


_SEVERAL = frozenset(
    chr(code)
    for low, high in ESCAPED
    for code in range(low, high + 1)
    if code not in _SHORT and not _hex(code).isdigit()
)


def is_spelt_once(value: str) -> bool:
    """Tell whether a string has one JSON text: no escape with a letter, no half of a character."""
    return _SEVERAL.isdisjoint(value) and not any("\ud800" <= char <= "\udfff" for char in value)


def spell_text(value: str) -> str:
    """Return a string's one JSON text."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
