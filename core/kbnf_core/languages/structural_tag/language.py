"""XGrammar's structural tags as one of the grammar languages."""

from kbnf_core.config import Finish
from kbnf_core.imports import Imports
from kbnf_core.limits import Limits
from kbnf_core.source import Source
from kbnf_core.syntax.conversion import Conversion
from kbnf_core.syntax.language import Language, Parsed


def _read(source: Source, limits: Limits, start: str | None, imports: Imports) -> Parsed:
    del start, imports
    from kbnf_core.languages.structural_tag.to_kbnf import parse_structural_tag

    return parse_structural_tag(source, limits)


def _to_kbnf(source: str, *, path: str | None, start: str | None, imports: Imports) -> Conversion:
    del start, imports
    from kbnf_core.languages.structural_tag.to_kbnf import from_structural_tag

    return from_structural_tag(source, path=path)


STRUCTURAL_TAG = Language(
    "Structural tag",
    ".structural_tag",
    "start",
    Finish.EOS,
    _read,
    _to_kbnf,
    is_converted=True,
    takes_fixes=False,
)
