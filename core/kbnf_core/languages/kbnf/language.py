"""KBNF as one of the grammar languages."""

from kbnf_core.config import Finish
from kbnf_core.imports import Imports
from kbnf_core.limits import Limits
from kbnf_core.source import Source
from kbnf_core.syntax.language import Language, Parsed


def _read(source: Source, limits: Limits, start: str | None, imports: Imports) -> Parsed:
    del start, imports
    from kbnf_core.languages.kbnf.parse import parse_kbnf

    return parse_kbnf(source, limits)


KBNF = Language("KBNF", ".kbnf", "start", Finish.EAGER, _read)
