"""tree-sitter's ``grammar.json`` as one of the grammar languages.

Tests: tests/unit/languages/tree_sitter
"""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kbnf_core.frontend import Language
from kbnf_core.kbnf.parsed import Parsed, Request
from kbnf_core.text.limits import Limits
from kbnf_core.text.source import Source

if TYPE_CHECKING:
    from kbnf_core.kbnf.outline import Outline


class _TreeSitter(Language):
    name = "Tree sitter"
    is_converted = True
    takes_fixes = False
    is_json = True

    def read(self, source: Source, request: Request) -> Parsed:
        from kbnf_core.languages.tree_sitter.read import read_tree_sitter

        return read_tree_sitter(source, request)

    def text_of(self, source: Any) -> str:
        """Return the text of a grammar that is given as a text or a dict."""
        return json.dumps(source) if isinstance(source, Mapping) else super().text_of(source)

    def outline(self, source: Source, limits: Limits) -> "Outline":
        from kbnf_core.languages.tree_sitter.read import outline_tree_sitter

        del limits
        return outline_tree_sitter(source)


TREE_SITTER = _TreeSitter()


def is_tree_sitter(value: Any) -> bool:
    """Return whether a JSON value is a grammar of tree-sitter: kinds of rules are capitals."""
    rules = value.get("rules") if isinstance(value, dict) else None
    return (
        isinstance(rules, dict)
        and bool(rules)
        and all(
            isinstance(rule, dict) and str(rule.get("type")).isupper() for rule in rules.values()
        )
    )
