"""Lark, in either dialect, as one of the grammar languages.

Tests: tests/unit/languages/lark
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kbnf_core.frontend import Language, Reading
from kbnf_core.kbnf.parsed import Attributes, Conversion, Parsed, Request
from kbnf_core.languages.lark.indenter import indenter_of
from kbnf_core.text.limits import Limits
from kbnf_core.text.source import Source

if TYPE_CHECKING:
    from kbnf_core.kbnf.outline import Outline


class _Lark(Language):
    name = "Lark"
    extension = ".lark"
    options = ("lexing", "indenter")
    is_converted = True
    takes_fixes = False
    is_target = True

    def options_of(self, source: Any, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options with the ``Indenter`` of Lark that is their ``postlex`` as a value."""
        result = super().options_of(source, options)
        postlex = result.pop("postlex", None)
        return result if postlex is None else {**result, "indenter": indenter_of(postlex)}

    def imports_in(self, text: str) -> bool:
        """Whether a text imports rules or terminals, be it those that come with Lark."""
        return "%import" in text

    def read(self, source: Source, request: Request) -> Parsed:
        from kbnf_core.languages.lark.check import parse_as_kbnf

        return parse_as_kbnf(source, request)

    def write(self, reading: Reading, limits: Limits) -> Conversion:
        from kbnf_core.languages.lark.writer import write_lark

        return write_lark(reading, self, limits)

    def attributes(self, source: Source, limits: Limits) -> Attributes:
        from kbnf_core.languages.lark.check import read_attributes

        return read_attributes(source, limits)

    def outline(self, source: Source, limits: Limits) -> "Outline":
        from kbnf_core.languages.lark.check import outline_lark

        return outline_lark(source, limits)


LARK = _Lark()
