"""Findings about a grammar: one model, one catalogue of codes, renderers, a page per code.

The findings of decoding a file are here, too.

Tests: tests/unit/text/test_json.py, tests/unit/text/test_stored.py
"""

import codecs
from dataclasses import dataclass, field
from typing import NamedTuple

from kbnf_core.text.diagnostics.catalogue import CATALOGUE, Rule, Severity
from kbnf_core.text.limits import DEFAULT_LIMITS
from kbnf_core.text.source import Source, Span, half_of_pair


class Label(NamedTuple):
    """A secondary span of a finding, with its message."""

    span: Span
    message: str


class TextEdit(NamedTuple):
    """Replace the text of ``span`` (an empty span inserts)."""

    span: Span
    replacement: str


class Fix(NamedTuple):
    """Edits that fix a finding; a ``safe`` fix keeps the language of the grammar."""

    message: str
    edits: tuple[TextEdit, ...]
    safe: bool = True


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding: its code and message, its source and span, and its fixes.

    ``label`` is beside the carets, ``labels`` mark further places in the same source,
    ``notes`` say why it matters and ``helps`` what to change. ``details`` are names and values for
    programs, such as the engine that a finding is about.
    """

    code: str
    message: str
    source: Source = field(repr=False)
    span: Span
    label: str = ""
    labels: tuple[Label, ...] = ()
    notes: tuple[str, ...] = ()
    helps: tuple[str, ...] = ()
    fixes: tuple[Fix, ...] = ()
    details: tuple[tuple[str, str], ...] = ()

    @property
    def pointer(self) -> str | None:
        """The JSON Pointer of the place, in a text of JSON."""
        return self.source.pointer(self.span)

    @property
    def rule(self) -> Rule:
        """The catalogue's entry for the code."""
        return CATALOGUE[self.code]

    @property
    def severity(self) -> Severity:
        """How bad it is, from the catalogue."""
        return self.rule.severity

    def sort_key(self) -> tuple[str, int, int, str, str]:
        """Order of findings in every output: file, place, code."""
        return (self.source.name, self.span.start, self.span.end, self.code, self.message)


_SUSPECTS = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)


def decode(
    data: bytes, path: str | None = None, largest: int = DEFAULT_LIMITS.source_bytes
) -> tuple[Source, Diagnostic | None]:
    """Return the source, and E009 where ``data`` is not UTF-8, E017 where it is too large.

    A text that is too large is not kept. In one that is not UTF-8, invalid bytes are replaced by
    U+FFFD, so that the rest can be shown; the finding is at the first of them and takes no
    room, which keeps its byte offset true. A byte order mark before JSON becomes a blank: editors
    write it, and JSON does not have it (RFC 8259, 8.1).
    """
    if len(data) > largest:
        empty = Source("", path)
        return empty, _too_large(empty, largest)
    try:
        text = data.decode("utf-8")
        if text.startswith("\ufeff") and text[1:].lstrip().startswith(("{", "[")):
            text = f" {text[1:]}"
        return Source(text, path), None
    except UnicodeDecodeError as error:
        source = Source(data.decode("utf-8", "replace"), path)
        return source, _invalid_utf8(data, source, error)


def unreadable(source: Source, largest: int) -> Diagnostic | None:
    """Return why a text that was not decoded here is not read: E009, or E017; None if it is."""
    if len(source.text) > largest:
        return _too_large(source, largest)
    half = half_of_pair(source.text)
    if half is None:
        return None
    number = ord(source.text[half.start])
    message = f"U+{number:04X} is half of a surrogate pair: no UTF-8 text has it"
    return Diagnostic("E009", message, source, half)


def _too_large(source: Source, largest: int) -> Diagnostic:
    return Diagnostic(
        "E017",
        f"the text is larger than {largest:,} bytes",
        source,
        Span(0, 0),
        helps=("is this the right file? `Limits.source_bytes` is the limit",),
    )


def _invalid_utf8(data: bytes, source: Source, error: UnicodeDecodeError) -> Diagnostic:
    offset = len(data[: error.start].decode("utf-8"))
    return Diagnostic(
        "E009",
        f"byte 0x{data[error.start]:02x} at offset {error.start} is not valid UTF-8",
        source,
        Span(offset, offset),
        label=f"{error.reason}",
        helps=(_advice(data),),
    )


def _advice(data: bytes) -> str:
    for mark, encoding in _SUSPECTS:
        if data.startswith(mark):
            return f"the file looks like {encoding}: save it as UTF-8"
    if b"\0" in data:
        return "the file looks binary: a grammar is a text file"
    return "save the file as UTF-8"


__all__ = ["CATALOGUE", "Diagnostic", "Fix", "Label", "Rule", "Severity", "TextEdit"]
