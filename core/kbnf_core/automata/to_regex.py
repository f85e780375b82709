"""From automata to regular expressions, by eliminating states (Brzozowski & McCluskey 1963).

States whose elimination makes the text grow least go first (the weights of Delgado & Morais
2004), which undoes counted chains to counts and acyclic automata to plain alternatives.
"""

from kbnf_core.automata.algebra import EMPTY, NOTHING
from kbnf_core.automata.characters import CharacterDfa, to_characters
from kbnf_core.automata.dfa import Dfa
from kbnf_core.automata.errors import LimitError
from kbnf_core.automata.expression import Builder, Expression, Spell, print_expression

MOST_STATES = 1_000
"""States, over characters, of an automaton that is turned into one expression."""

MOST_LEAVES = 2_000
"""Sets of characters in an expression; a larger one is unreadable, and rules do better."""


def to_regex(dfa: Dfa, spell: Spell | None = None) -> str:
    """Return a regular expression for ``dfa``.

    ``spell`` writes sets of characters, see ``print_expression``. Raises ``NotTextError`` where a
    word is not UTF-8, ``LimitError`` where the automaton or the expression is too large.
    """
    return print_expression(to_expression(to_characters(dfa), Builder()), spell)


def to_expression(
    dfa: CharacterDfa, builder: Builder, most_leaves: int = MOST_LEAVES
) -> Expression:
    """Return an expression for ``dfa``; raises LimitError as ``to_regex`` does."""
    if len(dfa.edges) > MOST_STATES:
        raise LimitError("states", MOST_STATES)
    if not dfa.edges:
        return NOTHING
    graph = _Graph(dfa, builder, most_leaves)
    while graph.inner:
        graph.eliminate(min(graph.inner, key=graph.weight))
    return graph.whole


class _Graph:
    """States with expressions on their edges, a start without entries and an end without exits."""

    def __init__(self, dfa: CharacterDfa, builder: Builder, most_leaves: int) -> None:
        self._builder = builder
        self._most = most_leaves
        count = len(dfa.edges)
        self._start, self._end = count, count + 1
        self.inner = set(range(count))
        self._out: list[dict[int, Expression]] = [{} for _ in range(count + 2)]
        self._in: list[set[int]] = [set() for _ in range(count + 2)]
        for state, edges in enumerate(dfa.edges):
            for points, target in edges:
                self._join(state, target, builder.characters(points))
            if dfa.accepting[state]:
                self._join(state, self._end, EMPTY)
        self._join(self._start, 0, EMPTY)
        self._weights: dict[int, int] = {}

    @property
    def whole(self) -> Expression:
        """The one edge that is left."""
        return self._out[self._start].get(self._end, NOTHING)

    def _join(self, source: int, target: int, expression: Expression) -> None:
        known = self._out[source].get(target, NOTHING)
        joined = self._builder.alternation([known, expression])
        if self._builder.size(joined) > self._most:
            raise LimitError("sets of characters", self._most)
        self._out[source][target] = joined
        self._in[target].add(source)

    def weight(self, state: int) -> int:
        """Return by how much the text grows without ``state``; recomputed when edges changed."""
        known = self._weights.get(state)
        if known is None:
            known = self._weights[state] = self._weigh(state)
        return known

    def _weigh(self, state: int) -> int:
        size = self._builder.size
        entries = [size(self._out[s][state]) for s in self._in[state] if s != state]
        exits = [size(e) for target, e in self._out[state].items() if target != state]
        loop = size(self._out[state].get(state, EMPTY))
        return (
            sum(entries) * (len(exits) - 1)
            + sum(exits) * (len(entries) - 1)
            + loop * (len(entries) * len(exits) - 1)
        )

    def eliminate(self, state: int) -> None:
        """Let every path through ``state`` be an edge."""
        exits = self._out[state]
        loop = self._builder.star(exits.pop(state, EMPTY))
        entries = self._in[state] - {state}
        for target, after in exits.items():
            for source in sorted(entries):
                path = self._builder.sequence([self._out[source][state], loop, after])
                self._join(source, target, path)
        self.inner.discard(state)
        for source in entries:
            del self._out[source][state]
        for target in exits:
            self._in[target].discard(state)
        self._out[state] = {}
        for touched in (*entries, *exits):
            self._weights.pop(touched, None)
