"""A finding as data; renderers turn it into text."""

from dataclasses import dataclass, field

from kbnf_core.diagnostics.catalogue import CATALOGUE, Rule, Severity
from kbnf_core.source import Source, Span


@dataclass(frozen=True, slots=True)
class Label:
    """A secondary span of a finding, with its message."""

    span: Span
    message: str


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the text of ``span`` (an empty span inserts)."""

    span: Span
    replacement: str


@dataclass(frozen=True, slots=True)
class Fix:
    """Edits that mend a finding; a ``safe`` fix keeps the language of the grammar."""

    message: str
    edits: tuple[Edit, ...]
    safe: bool = True


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding: what (``code``, ``message``), where (``source``, ``span``), and what to do.

    ``label`` stands beside the carets, ``labels`` mark further places in the same source,
    ``notes`` tell why it matters and ``helps`` what to change.
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
