"""Grammar languages as plain values: what is read, by which reader, and how it is converted."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

from kbnf_core.config import Finish
from kbnf_core.diagnostics import Diagnostic, unreadable
from kbnf_core.imports import BELOW, Imports
from kbnf_core.limits import Limits
from kbnf_core.source import Source
from kbnf_core.syntax.conversion import Conversion
from kbnf_core.syntax.tree import Document

if TYPE_CHECKING:
    from kbnf_core.syntax.outline import Outline


class Parsed(NamedTuple):
    """A tree of KBNF, and the findings in order of position.

    ``start`` is the nonterminal to start with, where the reader knows better than the language.
    """

    document: Document
    diagnostics: tuple[Diagnostic, ...]
    start: str | None = None


Reader: TypeAlias = Callable[[Source, Limits, str | None, Imports], Parsed]
"""Parses a text; never raises. Start and imports are for languages that ``is_converted``."""


class Converter(Protocol):
    """Converts a text to KBNF or from it; raises ``GrammarError`` for a text with errors.

    Imports are for languages that ``is_converted``.
    """

    def __call__(
        self, source: str, *, path: str | None, start: str | None, imports: Imports
    ) -> Conversion:
        """Return what was written, and what is lost."""


@dataclass(frozen=True, slots=True)
class Language:
    """A grammar language.

    ``start`` and ``finish`` hold where the text does not say otherwise. ``reader`` and the
    converters import what they need when they are called, so that a value costs nothing. A
    language that ``is_converted`` has another structure than KBNF: its reader leaves out all to
    which the start does not lead, and its tree has places of the text, but not its form; so it
    has an ``outliner`` of its own. Fixes of lints are for languages that have KBNF's operators
    (``takes_fixes``).
    """

    name: str
    extension: str
    start: str
    finish: Finish
    reader: Reader
    to_kbnf: Converter | None = None
    from_kbnf: Converter | None = None
    is_converted: bool = False
    takes_fixes: bool = True
    outliner: "Callable[[Source, Limits], Outline] | None" = None

    def outline(self, source: Source, limits: Limits) -> "Outline":
        """Return where names are defined and used; never raises."""
        if self.outliner is not None:
            return self.outliner(source, limits)
        # Only editors ask.
        from kbnf_core.syntax.outline import outline_document

        return outline_document(self.read(source, limits).document)

    def read(
        self,
        source: Source,
        limits: Limits,
        start: str | None = None,
        imports: Imports = BELOW,
    ) -> Parsed:
        """Parse ``source``; never raises, findings are in the result.

        ``start`` None is the text's own choice; ``imports`` says which files may be imported.
        """
        finding = unreadable(source, limits.source_bytes)
        if finding is not None:
            return Parsed(Document(source, (), ()), (finding,))
        return self.reader(source, limits, start, imports)
