"""Text for a terminal: pieces that say what they *are*, whose colour the command line picks.

Source text is untrusted: whatever could move the cursor, change colours or reorder the line is
replaced by a visible sign before it is shown.

Lines cut off at the width of a terminal.

The difference between two texts, as ``patch`` reads it.

Tests: tests/unit/text/test_excerpt.py, tests/unit/text/test_visible.py
"""

import re
import unicodedata
from collections.abc import Iterable
from enum import Enum, auto
from typing import NamedTuple, TypeAlias

from kbnf_core.text.diagnostics.catalogue import Severity


class Role(Enum):
    """The role of a segment of output."""

    PLAIN = auto()
    ERROR = auto()
    WARNING = auto()
    INFO = auto()
    TITLE = auto()
    LOCATION = auto()
    SECONDARY = auto()
    NOTE = auto()
    HELP = auto()
    ACCEPTED = auto()
    REFUSED = auto()
    FORCED = auto()
    RULE = auto()
    STATE = auto()


class Segment(NamedTuple):
    """A piece of text and its role; a line break is part of the text."""

    text: str
    role: Role = Role.PLAIN


Segments: TypeAlias = list[Segment]

NEWLINE = Segment("\n")

_SEVERITY_ROLES = {
    Severity.ERROR: Role.ERROR,
    Severity.WARNING: Role.WARNING,
    Severity.INFO: Role.INFO,
}


def severity_role(severity: Severity) -> Role:
    """Return the role in which a severity, and carets of that severity, are shown."""
    return _SEVERITY_ROLES[severity]


def plain(segments: Iterable[Segment]) -> str:
    """Return the text alone."""
    return "".join(segment.text for segment in segments)


TAB = "    "
"""A tab always takes four cells, so that an underline does not depend on tab stops."""

_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_DELETE = 0x7F


_ESCAPES = re.compile(r"\\\\|\\x(?P<character>[89a-f].)|\\udc(?P<byte>[89a-f].)")


def in_quotes(data: bytes, most: int | None = None) -> str:
    r"""Return bytes in quotes, of more than ``most`` characters without the middle.

    An invalid byte is ``\xf0``, a backslash two of them, a hidden character ``\u00f0``.
    """
    text = data.decode("utf-8", "surrogateescape")
    if most is not None and len(text) > most:
        text = f"{text[: most // 2]}...{text[-(most // 2) :]}"
    return _ESCAPES.sub(_escape, repr(text))


def _escape(match: re.Match[str]) -> str:
    if match["byte"] is not None:
        return rf"\x{match['byte']}"
    return match[0] if match["character"] is None else rf"\u00{match['character']}"


def visible(text: str) -> str:
    """Return ``text`` with signs for control characters; line feeds stay."""
    return "\n".join("".join(map(glyph, line)) for line in text.split("\n"))


def glyph(character: str) -> str:
    """Return the text shown for one code point (several characters for a hidden one)."""
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


def clip(line: str, columns: int) -> str:
    """Return a line, cut off with an ellipsis where it is wider than ``columns`` cells."""
    if cells(line) <= columns:
        return line
    kept = []
    room = columns - 1
    for character in line:
        room -= cells(character)
        if room < 0:
            break
        kept.append(character)
    return "".join(kept) + "…"


_DIFF_ROLES = {"+": Role.HELP, "-": Role.ERROR, "@": Role.LOCATION}
_NO_LINE_END = "\n\\ No newline at end of file\n"


def diff(before: str, after: str, name: str) -> Segments:
    """Return a unified diff of two versions of the file ``name``; empty where they are equal."""
    from difflib import unified_diff

    shown = visible(name)
    lines = unified_diff(_split_lines(before), _split_lines(after), shown, shown)
    return [_diff_segment(line) for line in lines]


def _split_lines(text: str) -> list[str]:
    """Split at line feeds only: a grammar may contain every other kind of line end as text."""
    *lines, last = text.split("\n")
    return [f"{line}\n" for line in lines] + ([last] if last else [])


def _diff_segment(line: str) -> Segment:
    text = line if line.endswith("\n") else line + _NO_LINE_END
    is_header = line.startswith(("---", "+++"))
    return Segment(text, Role.TITLE if is_header else _DIFF_ROLES.get(line[0], Role.PLAIN))
