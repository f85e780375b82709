"""GBNF, llama.cpp's, as one of the grammar languages."""

from kbnf_core.config import Finish
from kbnf_core.frontend import Language, Reading
from kbnf_core.kbnf.parsed import Conversion, Parsed, Request
from kbnf_core.text.limits import Limits
from kbnf_core.text.source import Source


def _read(source: Source, request: Request) -> Parsed:
    from kbnf_core.languages.gbnf.parse import parse_gbnf

    return parse_gbnf(source, request.limits, request.vocabulary)


def _write(reading: Reading, limits: Limits) -> Conversion:
    from kbnf_core.languages.gbnf.writer import write_gbnf

    return write_gbnf(reading, GBNF, limits)


GBNF = Language("GBNF", ".gbnf", "root", Finish.EOS, _read, _write)
