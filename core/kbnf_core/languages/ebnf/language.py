"""EBNF as one of the grammar languages."""

import re

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

_DIALECT = re.compile(r"<[^<>\n]*>|\"[^\"]*\"|'[^']*'|::=|[|;\s]")


def is_standard(text: str) -> bool:
    """Return whether a text of BNF has more than bnf_sampler's dialect: bare words, operators."""
    return re.search(r"[\w\[{(*+?]", _DIALECT.sub("", text)) is not None
