"""The dialect of bnf_sampler as one of the grammar languages."""

from kbnf_core.config import Finish
from kbnf_core.frontend import Language
from kbnf_core.source import Source
from kbnf_core.syntax.parsed import Parsed, Request


def _read(source: Source, request: Request) -> Parsed:
    from kbnf_core.languages.bnf.parse import parse_bnf

    return parse_bnf(source, request.limits, request.vocabulary)


BNF = Language("BNF", ".bnf", "start", Finish.TOKEN, _read)
