"""Lists of tools as one of the grammar languages: the calls that a model may write.

Tests: tests/unit/languages/tools
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from kbnf_core.frontend import Language
from kbnf_core.kbnf.parsed import Parsed, Request
from kbnf_core.languages.json_schema.language import SchemaLanguage
from kbnf_core.languages.structural_tag.language import STRUCTURAL_TAG
from kbnf_core.languages.tools.options import CALLS, calls_of
from kbnf_core.text.json_text import Json
from kbnf_core.text.source import Source


class _ToolList(SchemaLanguage):
    name = "Tool list"
    options = (*CALLS, *SchemaLanguage.options)
    leaves_out = MappingProxyType({"exclude_none": True})

    def read(self, source: Source, request: Request) -> Parsed:
        from kbnf_core.languages.tools.parse import ToolTag, parse_tool_list

        parsed = parse_tool_list(source, request)
        if not isinstance(parsed, ToolTag) or parsed.made_of is None:
            return parsed
        from kbnf_core.languages.tools.verify import with_own_tools

        return with_own_tools(self, parsed, request)

    def options_of(self, source: Any, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return options by their names in a request; a vocabulary may be given for its markers."""
        result = super().options_of(source, options)
        markers = result.get("token_markers")
        if markers is not None and not isinstance(markers, bool):
            result |= {"token_markers": True, "vocabulary": markers}
        return result

    def uses_vocabulary(self, text: str, options: Mapping[str, Any]) -> bool:
        """Whether markers are tokens, or a tag of the request or a tool's grammar names some."""
        has_texts = any(keyword in text for keyword in ("structural_tag", "grammar"))
        return bool(options.get("token_markers")) or (
            has_texts and STRUCTURAL_TAG.uses_vocabulary(text, options)
        )

    def schemas_in(self, value: Json) -> Iterator[tuple[Json, str]]:
        """Yield the schemas of the tools and of the answer."""
        from kbnf_core.languages.tools.parse import schemas_in

        yield from schemas_in(value)

    def check_options(self, options: Mapping[str, Any]) -> None:
        """Raise ``ConfigError`` for options that lists of tools lack, and for wrong values."""
        Language.check_options(self, options)
        if options:
            calls_of(options)


TOOL_LIST: Language = _ToolList()
