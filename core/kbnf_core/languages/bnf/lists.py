"""Lists as loops: the dialect of bnf_sampler writes them as rules that call themselves."""

from collections import Counter
from dataclasses import replace

from kbnf_core.languages.conversion.build_tree import repeat, sequence
from kbnf_core.syntax.printer import print_expression
from kbnf_core.syntax.tree import Definition, Document, Expression, Reference, Sequence, uses_in


def with_loops(document: Document) -> Document:
    """Return a tree with ``n ::= x n | x`` as ``x+``, and ``n ::= x y n | x`` as a loop."""
    counts = Counter(each.name.value for each in document.definitions)
    return replace(
        document,
        definitions=tuple(
            _loop(each) if counts[each.name.value] == 1 else each for each in document.definitions
        ),
    )


def _loop(definition: Definition) -> Definition:
    name, span = definition.name.value, definition.body.span
    match sorted(definition.branches, key=lambda branch: not _calls(branch, name)):
        case [Sequence((*items, Reference(called))), other] if (
            called.value == name
            and not any(_calls(each, name) for each in (*items, other))
            and print_expression(other) == print_expression(items[0])
        ):
            body = (
                repeat(other, 1, None, span)
                if len(items) == 1
                else sequence([repeat(sequence(items, span), 0, None, span), other], span)
            )
            return replace(definition, body=body)
    return definition


def _calls(node: Expression, name: str) -> bool:
    return any(used.value == name for used in uses_in(node))
