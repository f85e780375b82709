"""Response templates as one of the grammar languages: the texts that are read to messages.

Tests: tests/unit/languages/test_response_templates.py
"""

from kbnf_core.frontend import Language
from kbnf_core.kbnf.parsed import Parsed, Request
from kbnf_core.languages.json_schema.language import SchemaLanguage
from kbnf_core.text.source import Source


class _ResponseTemplate(SchemaLanguage):
    name = "Response template"
    takes_fixes = False

    def read(self, source: Source, request: Request) -> Parsed:
        from kbnf_core.languages.response_template.parse import parse_response_template

        return parse_response_template(source, request)


RESPONSE_TEMPLATE: Language = _ResponseTemplate()
