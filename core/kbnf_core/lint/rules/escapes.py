"""W501: escapes that mean something else in the languages that grammars come from and go to.

Tests: tests/golden/lint
"""

from collections.abc import Iterator
from dataclasses import replace

from kbnf_core.frontend import Reading
from kbnf_core.kbnf.escapes import QuotedPiece, characters_of
from kbnf_core.kbnf.printer import as_read
from kbnf_core.kbnf.tree import Pattern, PatternKind, Terminal, Text
from kbnf_core.languages import KBNF
from kbnf_core.lint.subject import Needs, Subject
from kbnf_core.text.diagnostics import Diagnostic, Fix, Rule, TextEdit

RULES = (Rule("W501", "misread-escape", "An escape means something else in other dialects."),)
NEEDS = Needs.DOCUMENT

_META = frozenset(".*+?()[]{}|^$\\")
_OCTAL = frozenset("1234567")
_FIRST_BEYOND_ASCII = 0x80


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Yield a finding for each escape that a reader of another dialect takes for something else."""
    reading = subject.reading
    if reading.language is not KBNF:
        return
    for node in reading.document.nodes():
        match node:
            case Terminal(text):
                yield from _in_text(reading, text)
            case Pattern(kind, text, _, False) if kind is not PatternKind.SUBSTRINGS:
                yield from _in_pattern(reading, text)


def _characters(reading: Reading, text: Text) -> Iterator[tuple[str, QuotedPiece]]:
    """Yield the escapes of a text as they are written, and their values."""
    end = text.origins[-1]
    start = text.span.start if text.span.end == end + 1 else text.span.start - 1
    raw = reading.document.source.text[start : end + 1]
    for character in characters_of(raw, start):
        written = reading.document.source.slice(character.span)
        if written.startswith("\\") and character.value is not None:
            yield written, character


def _in_text(reading: Reading, text: Text) -> Iterator[Diagnostic]:
    for written, character in _characters(reading, text):
        if character.byte is not None and character.byte >= _FIRST_BEYOND_ASCII:
            message = f"`{written}` is the character U+00{character.byte:02X} here, not a byte"
            same = f"\\u{{{character.byte:x}}}"
            note = "in bnf_sampler, and in `#b'...'` here, it is one byte"
            yield _finding(
                reading,
                character,
                message,
                note,
                Fix(f"write `{same}`", (TextEdit(character.span, same),)),
            )


def _in_pattern(reading: Reading, text: Text) -> Iterator[Diagnostic]:
    read = as_read(text, reading.document.source)
    for finding in _in_escapes(reading, text):
        yield replace(finding, notes=(*finding.notes, *read))


def _in_escapes(reading: Reading, text: Text) -> Iterator[Diagnostic]:
    for written, character in _characters(reading, text):
        if written == r"\b":
            message = "`\\b` is a backspace here, not a word boundary"
            yield _as_code(reading, character, message)
        elif written[1] in _OCTAL:
            message = f"`{written}` is an octal number here, not a back reference"
            yield _as_code(reading, character, message)
        elif character.value in _META and written[1] in "xu0":
            yield _meta(reading, written, character)


def _as_code(reading: Reading, character: QuotedPiece, message: str) -> Diagnostic:
    same = f"\\x{ord(character.value or ''):02x}"
    note = "escapes are decoded before the regular expression is read"
    # It keeps the language, but if the regex was meant, it hides the mistake.
    fix = Fix(f"write `{same}`", (TextEdit(character.span, same),), safe=False)
    return _finding(reading, character, message, note, fix)


def _meta(reading: Reading, written: str, character: QuotedPiece) -> Diagnostic:
    message = f"`{written}` is the operator `{character.value}` here, not a character"
    note = "escapes are decoded before the regular expression is read"
    text = f"\\{written}"
    fix = Fix(f"write `{text}` for the character", (TextEdit(character.span, text),), safe=False)
    return _finding(reading, character, message, note, fix)


def _finding(
    reading: Reading, character: QuotedPiece, message: str, note: str, fix: Fix
) -> Diagnostic:
    source = reading.document.source
    return Diagnostic("W501", message, source, character.span, notes=(note,), fixes=(fix,))
