"""GBNF, llama.cpp's, as one of the grammar languages."""

from kbnf_core.config import Finish
from kbnf_core.imports import Imports
from kbnf_core.limits import Limits
from kbnf_core.source import Source
from kbnf_core.syntax.conversion import Conversion
from kbnf_core.syntax.language import Language, Parsed


def _read(source: Source, limits: Limits, start: str | None, imports: Imports) -> Parsed:
    del start, imports
    from kbnf_core.languages.gbnf.parse import parse_gbnf

    return parse_gbnf(source, limits)


def _to_kbnf(source: str, *, path: str | None, start: str | None, imports: Imports) -> Conversion:
    del imports
    from kbnf_core.languages.gbnf.to_kbnf import from_gbnf

    return from_gbnf(source, path=path, start=start)


def _from_kbnf(source: str, *, path: str | None, start: str | None, imports: Imports) -> Conversion:
    del imports
    from kbnf_core.languages.gbnf.writer.from_kbnf import to_gbnf

    return to_gbnf(source, path=path, start=start)


GBNF = Language("GBNF", ".gbnf", "root", Finish.EOS, _read, _to_kbnf, _from_kbnf)
