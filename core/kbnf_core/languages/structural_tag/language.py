"""XGrammar's structural tags as one of the grammar languages.

Tests: tests/unit/languages/test_structural_tag.py, tests/unit/languages/tools
"""

from collections.abc import Iterator, Mapping
from typing import Any

from kbnf_core.frontend import Language
from kbnf_core.kbnf.parsed import Parsed, Request
from kbnf_core.languages.json_schema.language import SchemaLanguage
from kbnf_core.text.json_text import Json
from kbnf_core.text.source import Source


class _StructuralTag(SchemaLanguage):
    name = "Structural tag"
    extension = ".structural_tag"
    takes_fixes = False

    def schemas_in(self, value: Json) -> Iterator[tuple[Json, str]]:
        """Yield the schemas in a tag."""
        from kbnf_core.languages.structural_tag.read import schemas_in

        yield from schemas_in(value) if isinstance(value, dict) else ()

    def uses_vocabulary(self, text: str, options: Mapping[str, Any]) -> bool:
        """Whether the tag may name tokens, or a grammar in it may exclude some."""
        del options
        return any(word in text for word in ("token", "!<", "\\u"))

    def read(self, source: Source, request: Request) -> Parsed:
        from kbnf_core.languages.structural_tag.parse import parse_structural_tag

        return parse_structural_tag(source, request)


STRUCTURAL_TAG: Language = _StructuralTag()
