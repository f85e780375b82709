"""From places back to what was written there."""

from collections.abc import Iterator

from kbnf_core.frontend import Reading
from kbnf_core.source import Span
from kbnf_core.syntax.tree import Expression, postorder


def nodes_at(reading: Reading, span: Span) -> Iterator[Expression]:
    """Yield the nodes of the syntax tree that are exactly at ``span``, parts before wholes."""
    for definition in reading.document.definitions:
        if definition.span.start <= span.start and span.end <= definition.span.end:
            yield from (node for node in postorder(definition.body) if node.span == span)
