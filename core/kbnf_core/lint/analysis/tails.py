"""Final parts of a grammar: those at the end of a text, which ``finish=eager`` may cut short."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from kbnf_core.ir import Call, Choice, Grammar, Node, Repeat, Sequence

if TYPE_CHECKING:
    from kbnf_core.lower.analyse import Analysis, Facts


def parts_at_the_end(
    grammar: Grammar, analysis: "Analysis"
) -> tuple[frozenset[int], frozenset[str]]:
    """Return the parts behind which a text can be complete, by identity, and their nonterminals."""
    bodies = (grammar.rules[name] for name in analysis.reachable)
    facts = {id(part): each for body in bodies for part, each in analysis.within(body)}
    parts: set[int] = set()
    names = {grammar.start}
    stack: list[Node] = [grammar.rules[grammar.start]]
    while stack:
        node = stack.pop()
        if id(node) not in parts and facts[id(node)].productive:
            parts.add(id(node))
            if isinstance(node, Call):
                names.add(node.nonterminal)
            stack.extend(_last_parts(grammar, node, facts))
    return frozenset(parts), frozenset(names)


def _last_parts(grammar: Grammar, node: Node, facts: "Mapping[int, Facts]") -> Iterator[Node]:
    match node:
        case Choice(branches):
            yield from branches
        case Call(name):
            yield grammar.rules[name]
        case Sequence(items):
            for item in reversed(items):
                yield item
                if not facts[id(item)].nullable:
                    break
        case Repeat(body):
            yield body
        case _:
            pass
