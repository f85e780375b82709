"""GBNF, llama.cpp's, as one of the grammar languages.

Tests: tests/unit/languages/gbnf
"""

from collections.abc import Mapping
from typing import Any

from kbnf_core.frontend import Language, Reading
from kbnf_core.kbnf.parsed import Conversion, Parsed, Request
from kbnf_core.text.limits import Limits
from kbnf_core.text.source import Source


class _Gbnf(Language):
    name = "GBNF"
    extension = ".gbnf"
    start = "root"
    is_target = True

    def read(self, source: Source, request: Request) -> Parsed:
        from kbnf_core.languages.gbnf.parse import parse_gbnf

        return parse_gbnf(source, request.limits, request.vocabulary)

    def uses_vocabulary(self, text: str, options: Mapping[str, Any]) -> bool:
        """Whether the text may exclude a token, whose id only a vocabulary has."""
        del options
        return "!<" in text

    def write(self, reading: Reading, limits: Limits) -> Conversion:
        from kbnf_core.languages.gbnf.writer import write_gbnf

        return write_gbnf(reading, self, limits)


GBNF = _Gbnf()
