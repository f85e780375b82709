"""ABNF as one of the grammar languages."""

from kbnf_core.config import Finish
from kbnf_core.frontend import Language
from kbnf_core.kbnf.parsed import Parsed, Request
from kbnf_core.text.source import Source


def _read(source: Source, request: Request) -> Parsed:
    from kbnf_core.languages.abnf.parse import parse_abnf

    return parse_abnf(source, request.limits, request.start)


ABNF = Language("ABNF", ".abnf", "start", Finish.EOS, _read, takes_fixes=False)
