"""Thompson's construction (1968): automata of expressions, part by part.

Every part of an expression becomes a *fragment*, some states with one entry and one exit, and
every operator joins the fragments of its operands by epsilon edges. The automaton so has at most
two states for each operator and the sum of the sizes of its leaves, however deep they are nested.

What a leaf is differs: a word, an automaton that exists already, or an edge over any symbol
(regular expressions number their sets of characters, and their assertions, and say later what they
mean). The operators are the same everywhere. The states of a fragment are consecutive numbers, so
a counted repetition copies ranges instead of walking its part of the tree again.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from kbnf_core.automata.alphabet import ByteClasses, class_count
from kbnf_core.automata.determinise import determinise, from_symbols
from kbnf_core.automata.dfa import ACCEPT, DEAD, Dfa
from kbnf_core.automata.nfa import EpsilonNfa


class Fragment(NamedTuple):
    """The states from ``first`` up to where the next fragment began; one entry, one exit."""

    first: int
    start: int
    end: int


class Thompson:
    """The states so far; the newest fragment is the last of them.

    Raises LimitError beyond ``limit`` states.
    """

    def __init__(self, limit: int) -> None:
        self.nfa = EpsilonNfa(limit)

    def symbol(self, symbol: int) -> Fragment:
        """Return the fragment of one symbol."""
        start = self.nfa.add(((symbol, len(self.nfa) + 1),))
        return Fragment(start, start, self.nfa.add())

    def word(self, symbols: Iterable[int]) -> Fragment:
        """Return the fragment of one symbol after the other."""
        first = len(self.nfa)
        for target, symbol in enumerate(symbols, first + 1):
            self.nfa.add(((symbol, target),))
        return Fragment(first, first, self.nfa.add())

    def automaton(self, rows: Sequence[Sequence[int]], accepting: Sequence[bool]) -> Fragment:
        """Return the fragment of an automaton that exists already; without states, of nothing."""
        first = len(self.nfa)
        self.nfa.reserve(len(rows))
        for row in rows:
            edges = [(symbol, first + to) for symbol, to in enumerate(row) if to != DEAD]
            self.nfa.add(edges)
        end = self.nfa.add()
        for state, is_end in enumerate(accepting, first):
            if is_end:
                self.nfa.link(state, end)
        return Fragment(first, first if rows else self.nfa.add(), end)

    def sequence(self, parts: Sequence[Fragment]) -> Fragment:
        """Return one part after the other; of none, the empty word."""
        if not parts:
            return self.word(())
        for left, right in pairwise(parts):
            self.nfa.link(left.end, right.start)
        return Fragment(parts[0].first, parts[0].start, parts[-1].end)

    def alternation(self, parts: Sequence[Fragment]) -> Fragment:
        """Return any one of the parts; of none, nothing at all."""
        start, end = self.nfa.add(), self.nfa.add()
        for part in parts:
            self.nfa.link(start, part.start)
            self.nfa.link(part.end, end)
        return Fragment(parts[0].first if parts else start, start, end)

    def repetition(self, part: Fragment, low: int, high: int | None) -> Fragment:
        """Lay out as many copies as differ, and let the rest be skipped or looped."""
        size = len(self.nfa) - part.first
        copies = max(low, 1) if high is None else high
        self.nfa.reserve(size * max(copies - 1, 0))
        start, end = self.nfa.add(), self.nfa.add()
        parts = [part, *(self._copy(part, size) for _ in range(copies - 1))][:copies]
        before = start
        for count, each in enumerate(parts):
            if count >= low:
                self.nfa.link(before, end)
            self.nfa.link(before, each.start)
            before = each.end
        self.nfa.link(before, end)
        if high is None:
            self.nfa.link(before, parts[-1].start)
        return Fragment(part.first, start, end)

    def _copy(self, part: Fragment, size: int) -> Fragment:
        nfa = self.nfa
        by = len(nfa) - part.first
        states = slice(part.first, part.first + size)
        nfa.edges += [[(symbol, to + by) for symbol, to in edges] for edges in nfa.edges[states]]
        nfa.epsilon += [[to + by for to in free] for free in nfa.epsilon[states]]
        return Fragment(part.first + by, part.start + by, part.end + by)

    def finish(self, whole: Fragment, classes: ByteClasses, limit: int) -> Dfa:
        """Return the minimal automaton of ``whole``, whose symbols are classes of bytes."""
        tags = [0] * len(self.nfa)
        tags[whole.end] = ACCEPT
        nfa = self.nfa.without_epsilon(whole.start, tags)
        return from_symbols(determinise(nfa, class_count(classes), limit), classes)
