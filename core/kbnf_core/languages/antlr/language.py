"""ANTLR 4 as one of the grammar languages.

Tests: tests/unit/languages/antlr
"""

from typing import TYPE_CHECKING

from kbnf_core.frontend import Language
from kbnf_core.kbnf.parsed import Parsed, Request
from kbnf_core.text.limits import Limits
from kbnf_core.text.source import Source

if TYPE_CHECKING:
    from kbnf_core.kbnf.outline import Outline


class _Antlr(Language):
    name = "ANTLR"
    extension = ".g4"
    is_converted = True
    takes_fixes = False

    def imports_in(self, text: str) -> bool:
        """Whether a text may name another grammar; both words occur in actions, too."""
        return "import" in text or "tokenVocab" in text

    def read(self, source: Source, request: Request) -> Parsed:
        from kbnf_core.languages.antlr.read import read_antlr

        return read_antlr(source, request)

    def outline(self, source: Source, limits: Limits) -> "Outline":
        from kbnf_core.languages.antlr.read import outline_antlr

        return outline_antlr(source, limits)


ANTLR = _Antlr()
