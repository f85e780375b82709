"""ABNF as one of the grammar languages.

Tests: tests/unit/languages/abnf
"""

from kbnf_core.frontend import Language
from kbnf_core.kbnf.parsed import Parsed, Request
from kbnf_core.text.source import Source


class _Abnf(Language):
    name = "ABNF"
    extension = ".abnf"
    takes_fixes = False

    def read(self, source: Source, request: Request) -> Parsed:
        from kbnf_core.languages.abnf.parse import parse_abnf

        return parse_abnf(source, request.limits, request.start)


ABNF = _Abnf()
