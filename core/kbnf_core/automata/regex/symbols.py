"""From pattern automata to automata over the blocks of a partition of code points.

Assertions are compiled away: a state is doubled for each kind of character that may come
next, and keeps only the edges that read this kind. So the automata after this know nothing of
assertions but their tags, which say before which kinds of characters a match ends.
"""

from typing import NamedTuple

from kbnf_core.automata.epsilon import Closures
from kbnf_core.automata.errors import LimitError
from kbnf_core.automata.machine import Nfa
from kbnf_core.automata.partition import Partition, partition
from kbnf_core.automata.regex.looks import EDGE, KIND_SETS, KINDS, holds
from kbnf_core.automata.regex.thompson import PatternNfa

BEFORE_ANYTHING = sum(1 << kind for kind in KINDS)
"""The tag of a match that ends there whatever comes next."""


class SymbolNfa(NamedTuple):
    """An automaton over the blocks of ``partition``.

    Bit k of a tag says that a match ends here if a character of kind k is next. ``starts[k]``
    begins after a character of kind k; ``starts[EDGE]`` begins a text.
    """

    nfa: Nfa
    partition: Partition


def to_symbols(pattern: PatternNfa, limit: int) -> SymbolNfa:
    """Return the automaton over symbols. Raises LimitError over ``limit`` states."""
    if pattern.has_looks:
        return _with_looks(pattern, limit)
    blocks = partition(pattern.sets)
    useful = [edge is not None for edge in pattern.step]
    useful[pattern.final] = True
    closures = Closures(pattern.epsilon, useful, limit)
    moves: list[dict[int, tuple[int, ...]]] = []
    for edge in pattern.step:
        if edge is None:
            moves.append({})
        else:
            moves.append(dict.fromkeys(blocks.members[edge[0]], closures.of(edge[1])))
    tags = [0] * len(moves)
    tags[pattern.final] = BEFORE_ANYTHING
    return SymbolNfa(Nfa(moves, tags, [closures.of(pattern.start)] * len(KINDS)), blocks)


def _with_looks(pattern: PatternNfa, limit: int) -> SymbolNfa:
    if len(pattern.step) * len(KINDS) > limit:
        raise LimitError("states", limit)
    blocks = partition([*KIND_SETS, *pattern.sets])
    kind_of = {block: kind for kind in KINDS for block in blocks.members[kind]}
    closures = _LookClosures(pattern, limit)
    moves: list[dict[int, tuple[int, ...]]] = []
    for edge in pattern.step:
        by_kind: list[dict[int, tuple[int, ...]]] = [{} for _ in KINDS]
        if edge is not None:
            for block in blocks.members[len(KINDS) + edge[0]]:
                kind = kind_of[block]
                by_kind[kind][block] = closures.after(edge[1], kind)
        moves += by_kind
    tags = [0] * len(moves)
    for kind in KINDS:
        tags[pattern.final * len(KINDS) + kind] = 1 << kind
    starts = [closures.after(pattern.start, kind) for kind in KINDS]
    return SymbolNfa(Nfa(moves, tags, starts), blocks)


class _LookClosures:
    """Closures that pass assertions; state s before kind k is numbered 5 s + k."""

    def __init__(self, pattern: PatternNfa, limit: int) -> None:
        self._pattern = pattern
        self._limit = limit
        self._useful = [edge is not None for edge in pattern.step]
        self._useful[pattern.final] = True
        self._known: dict[tuple[int, int], tuple[int, ...]] = {}
        self._closures: dict[tuple[int, int], Closures] = {}

    def after(self, state: int, before: int) -> tuple[int, ...]:
        """Return what is entered at ``state`` after kind ``before``, for all next kinds."""
        key = (state, before)
        if key not in self._known:
            self._known[key] = tuple(
                sorted(
                    entered * len(KINDS) + after
                    for after in KINDS
                    for entered in self._between(before, after).of(state)
                )
            )
        return self._known[key]

    def _between(self, before: int, after: int) -> Closures:
        key = (before, after)
        if key not in self._closures:
            epsilon = [
                [*free, edge[1]] if edge is not None and holds(edge[0], before, after) else free
                for free, edge in zip(self._pattern.epsilon, self._pattern.look, strict=True)
            ]
            self._closures[key] = Closures(epsilon, self._useful, self._limit)
        return self._closures[key]


def edge_only(nfa: Nfa) -> Nfa:
    """Return the automaton of whole texts: it begins at an edge and ends at one."""
    tags = [tag >> EDGE & 1 for tag in nfa.tags]
    return Nfa(nfa.moves, tags, [nfa.starts[EDGE]])
