"""EBNF as one of the grammar languages.

Tests: tests/unit/languages/ebnf
"""

from kbnf_core.frontend import Language
from kbnf_core.kbnf.parsed import Parsed, Request
from kbnf_core.text.source import Source


class _Ebnf(Language):
    name = "EBNF"
    extension = ".ebnf"
    takes_fixes = False

    def read(self, source: Source, request: Request) -> Parsed:
        from kbnf_core.languages.ebnf.read import read_ebnf

        return read_ebnf(source, request)


EBNF = _Ebnf()
