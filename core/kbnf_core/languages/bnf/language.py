"""The dialect of bnf_sampler as one of the grammar languages.

Tests: tests/unit/languages
"""

from collections.abc import Mapping
from typing import Any

from kbnf_core.config import Finish
from kbnf_core.frontend import Language
from kbnf_core.kbnf.parsed import Parsed, Request
from kbnf_core.kbnf.tree import Document
from kbnf_core.text.source import Source


class _Bnf(Language):
    name = "BNF"
    extension = ".bnf"
    finish = Finish.TOKEN

    def read(self, source: Source, request: Request) -> Parsed:
        from kbnf_core.languages.bnf.parse import parse_bnf

        return parse_bnf(source, request.limits, request.vocabulary)

    def uses_vocabulary(self, text: str, options: Mapping[str, Any]) -> bool:
        """Whether the text has rules that stand for tokens."""
        del options
        return "any!" in text or "except!" in text

    def arrange(self, document: Document) -> Document:
        from kbnf_core.languages.bnf.parse import with_loops

        return with_loops(document)


BNF = _Bnf()
