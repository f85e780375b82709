"""Coverage: the rules and alternatives of a grammar that its examples use."""

from collections.abc import Iterable
from dataclasses import dataclass

from kbnf_core.examples.derive import visited_states
from kbnf_core.examples.graph import Alternative, build_graph
from kbnf_core.ir import Grammar, calls
from kbnf_core.ir.analysis import reachable


@dataclass(frozen=True, slots=True)
class Coverage:
    """Rules and alternatives that the start reaches, and those of them that no example uses.

    Both are in the order of the grammar; rules that only `except!` names are not reached. An
    alternative is used by a text if some derivation of the text goes through it. ``given_up``
    counts the texts whose derivations are too many to look at.
    """

    rules: tuple[str, ...]
    unused_rules: tuple[str, ...]
    alternatives: tuple[Alternative, ...]
    unused_alternatives: tuple[Alternative, ...]
    given_up: int


def cover(grammar: Grammar, texts: Iterable[bytes]) -> Coverage:
    """Return what the derivations of ``texts``, all of the language, go through."""
    graph = build_graph(grammar)
    reached = _reached(grammar)
    visited: set[int] = set()
    given_up = 0
    for text in texts:
        found = visited_states(graph, grammar.start, text)
        given_up += found is None
        visited |= found or frozenset()
    rules = tuple(name for name in grammar.rules if name in reached)
    alternatives = {each for each in graph.alternatives.values() if each.rule in reached}
    every = sorted(alternatives, key=lambda each: each.span)
    used = {graph.alternatives[state] for state in visited & graph.alternatives.keys()}
    return Coverage(
        rules,
        tuple(name for name in rules if graph.entry[name] not in visited),
        tuple(every),
        tuple(each for each in every if each not in used),
        given_up,
    )


def _reached(grammar: Grammar) -> set[str]:
    callees = {name: [c.nonterminal for c in calls(body)] for name, body in grammar.rules.items()}
    return reachable([grammar.start], callees)
