"""ABNF as one of the grammar languages."""

from kbnf_core.config import Finish
from kbnf_core.imports import Imports
from kbnf_core.limits import Limits
from kbnf_core.source import Source
from kbnf_core.syntax.conversion import Conversion
from kbnf_core.syntax.language import Language, Parsed


def _read(source: Source, limits: Limits, start: str | None, imports: Imports) -> Parsed:
    del imports
    from kbnf_core.languages.abnf.parse import parse_abnf

    return parse_abnf(source, limits, start)


def _to_kbnf(source: str, *, path: str | None, start: str | None, imports: Imports) -> Conversion:
    del imports
    from kbnf_core.languages.abnf.to_kbnf import from_abnf

    return from_abnf(source, path=path, start=start)


ABNF = Language("ABNF", ".abnf", "start", Finish.EOS, _read, _to_kbnf, takes_fixes=False)
