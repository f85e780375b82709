"""The result of a conversion: the new text, and everything that it could not keep."""

import re
from dataclasses import dataclass

from kbnf_core.diagnostics import Diagnostic
from kbnf_core.source import Source, Span

_NO_TEXT = re.compile(r"(\\\\)|\\udc([89a-f][0-9a-f])")
"""A byte that is no text as ``repr`` shows it, or a backslash of the text itself."""

_SHOWN = 60
"""How much of an example a message shows, in characters."""


OF_CONVERSION = frozenset({"W424", "W821", "W822", "I823"})
"""Codes of notes that a conversion shows: what depends on how one converts, so that a check of the
original lacks it, and what is likely a mistake in a schema, which is seldom checked."""


@dataclass(frozen=True, slots=True)
class Example:
    """A text on which the two languages differ.

    ``kept_out`` tells how: the original takes it and the result does not (True), or the result
    takes what the original does not (False).
    """

    data: bytes
    kept_out: bool

    def __str__(self) -> str:
        text = self.data.decode("utf-8", "surrogateescape")
        whole = repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}...")
        shown = _NO_TEXT.sub(lambda byte: byte[1] or f"\\x{byte[2]}", whole)
        fault = "is refused" if self.kept_out else "is accepted"
        return f"{shown} {fault} wrongly"


@dataclass(frozen=True, slots=True)
class Loss:
    """Something that the target language cannot say: ``span`` points into the original.

    ``code`` is one of the catalogue's; ``example`` is a shortest text that shows the difference,
    None where none was found. ``notes`` and ``helps`` are those of the finding.
    """

    code: str
    message: str
    span: Span
    example: Example | None = None
    notes: tuple[str, ...] = ()
    helps: tuple[str, ...] = ()

    def diagnostic(self, source: Source) -> Diagnostic:
        """Return the loss as a finding about ``source``, the original."""
        notes = self.notes if self.example is None else (*self.notes, f"{self.example}")
        return Diagnostic(self.code, self.message, source, self.span, notes=notes, helps=self.helps)


@dataclass(frozen=True, slots=True)
class Conversion:
    """A converted grammar.

    ``exact`` tells whether it has the language of the original, to the end of generation; if
    not, ``losses`` say where it differs. ``notes`` are findings about the original that do not
    change the language.
    """

    text: str
    exact: bool
    losses: tuple[Loss, ...]
    notes: tuple[Diagnostic, ...] = ()
