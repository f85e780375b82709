"""Terminal rendering of text: cell widths, and visible signs for invisible characters.

Source text is untrusted. Whatever could move the cursor, change colours or reorder the line
is replaced by a visible sign before it is shown.
"""

import unicodedata

TAB = "    "
"""A tab always takes four cells, so that an underline does not depend on tab stops."""

_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_DELETE = 0x7F


def visible(text: str) -> str:
    """Return ``text`` with signs for control characters; line feeds stay."""
    return "\n".join("".join(map(glyph, line)) for line in text.split("\n"))


def glyph(character: str) -> str:
    """Return what is shown for one code point (several characters for a hidden one)."""
    if character.isascii() and character.isprintable():
        return character
    if character == "\t":
        return TAB
    return _sign(ord(character)) if _is_hidden(character) else character


def cells(text: str) -> int:
    """Return how many terminal cells ``text``, made of glyphs, takes."""
    return len(text) if text.isascii() else sum(map(_width, text))


def _is_hidden(character: str) -> bool:
    return unicodedata.category(character) in _HIDDEN_CATEGORIES


def _sign(code: int) -> str:
    if code < 0x20:
        return chr(0x2400 + code)
    return "\N{SYMBOL FOR DELETE}" if code == _DELETE else f"<U+{code:04X}>"


def _width(character: str) -> int:
    if unicodedata.category(character) in {"Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1
