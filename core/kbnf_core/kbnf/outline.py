"""The outline of a grammar text: where each nonterminal is defined and used.

Editors navigate by it. It applies for texts with errors, of which the readable statements are left.

Tests: tests/unit/kbnf
"""

from collections.abc import Iterator
from typing import NamedTuple

from kbnf_core.kbnf.tree import Document, Pattern, uses_in
from kbnf_core.text.source import Span


class Symbol(NamedTuple):
    """A definition: its name, the span of the name, and that of the whole."""

    name: str
    span: Span
    whole: Span


class OutlineUse(NamedTuple):
    """A reference to a nonterminal."""

    name: str
    span: Span


class Outline(NamedTuple):
    """Definitions and uses in order, and regular expressions as their engine sees them."""

    definitions: tuple[Symbol, ...]
    uses: tuple[OutlineUse, ...]
    patterns: tuple[tuple[Span, str], ...] = ()

    def spans_of(self, name: str) -> Iterator[Span]:
        """Yield every span at which ``name`` is."""
        yield from (definition.span for definition in self.definitions if definition.name == name)
        yield from (use.span for use in self.uses if use.name == name)


NOTHING = Outline((), ())
"""The outline of an empty text."""


def outline_document(document: Document) -> Outline:
    """Return the outline of a tree whose names are in its source as they are."""
    uses = [
        OutlineUse(n.value, n.span)
        for definition in document.definitions
        for n in uses_in(definition.body)
    ]
    nodes = document.nodes()
    patterns = [(node.span, node.text.value) for node in nodes if isinstance(node, Pattern)]
    used = {use.span for use in uses}
    definitions = (
        Symbol(definition.name.value, definition.name.span, definition.span)
        for definition in document.definitions
    )
    # What a reader adds itself, as the core rules of ABNF, is where it is used.
    written = (definition for definition in definitions if definition.span not in used)
    return Outline(tuple(written), tuple(uses), tuple(patterns))
