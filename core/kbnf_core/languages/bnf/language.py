"""The dialect of bnf_sampler as one of the grammar languages."""

from kbnf_core.config import Finish
from kbnf_core.imports import Imports
from kbnf_core.limits import Limits
from kbnf_core.source import Source
from kbnf_core.syntax.conversion import Conversion
from kbnf_core.syntax.language import Language, Parsed


def _read(source: Source, limits: Limits, start: str | None, imports: Imports) -> Parsed:
    del start, imports
    from kbnf_core.languages.bnf.parse import parse_bnf

    return parse_bnf(source, limits)


def _to_kbnf(source: str, *, path: str | None, start: str | None, imports: Imports) -> Conversion:
    del imports
    from kbnf_core.languages.bnf.to_kbnf import from_bnf

    return from_bnf(source, path=path, start=start)


BNF = Language("BNF", ".bnf", "start", Finish.TOKEN, _read, _to_kbnf)
