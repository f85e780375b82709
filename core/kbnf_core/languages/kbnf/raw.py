"""Spells patterns without the raw form, for engines that read KBNF and do not know it."""

from kbnf_core.languages.kbnf.parse import parse_kbnf
from kbnf_core.source import Source
from kbnf_core.syntax.printer import quote
from kbnf_core.syntax.tree import Pattern, postorder


def without_raw(text: str) -> str:
    r"""Return a text of KBNF with each ``#r"\d"`` written ``#"\\d"``; all else stays."""
    document = parse_kbnf(Source(text)).document
    patterns = [
        node
        for definition in document.definitions
        for node in postorder(definition.body)
        if isinstance(node, Pattern) and node.is_raw
    ]
    pieces, end = [], 0
    for pattern in sorted(patterns, key=lambda each: each.span.start):
        pieces += [text[end : pattern.span.start], f"#{quote(pattern.text.value)}"]
        end = pattern.span.end
    return "".join((*pieces, text[end:]))
