"""The text between lexemes: one terminal made of everything that ``%ignore`` names."""

from collections.abc import Iterator
from functools import reduce

from kbnf_core.automata import operations
from kbnf_core.automata.alphabet import class_count, first_bytes, join
from kbnf_core.automata.dfa import DEAD, Dfa, rows_over, trimmed
from kbnf_core.automata.explore import explore
from kbnf_core.languages.lark.build_tree import is_written, pattern, write_dfa
from kbnf_core.languages.lark.lexer.lookahead import (
    ANYTHING,
    MOST_STATES,
    NOTHING,
    Lookahead,
    after_byte,
    both,
    either,
    exits,
    outside,
)
from kbnf_core.languages.lark.reader.model import Terminal
from kbnf_core.source import Span
from kbnf_core.syntax import tree

NAME = "ws"


_Thread = tuple[int, int, Lookahead]
"""A pattern, its state, and what the lexeme before lets follow."""

_Threads = frozenset[_Thread]

_BEFORE: _Threads = frozenset()
"""Before a run, which begins at a state of its own: no run comes back to it, and it is no end."""


class _Runs:
    """Runs of ignored lexemes: which patterns are alive, and in which state."""

    def __init__(self, parts: list[Terminal], together: bool, once: bool) -> None:
        self.parts = parts
        self.together = together
        self.once = once
        rests = {rest for part in parts for rest in part.rests}
        self.classes = join(
            [*(part.dfa.classes for part in parts), *(rest.dfa.classes for rest in rests)]
        )
        self.bytes = first_bytes(self.classes)
        self.rows = [rows_over(part.dfa, self.classes) for part in self.parts]
        self.accepting = [part.dfa.accepting for part in self.parts]

    @property
    def start(self) -> _Threads:
        """Before a lexeme."""
        return self._begun(ANYTHING)

    def _begun(self, rest: Lookahead) -> _Threads:
        return frozenset((part, 0, rest) for part in range(len(self.parts)))

    def step(self, state: _Threads, symbol: int) -> _Threads:
        """Return the threads after a byte of class ``symbol``."""
        moved = self.move(state, symbol)
        if self.once or (self.together and moved):
            # One byte of look-ahead decides: whatever can go on does.
            return moved
        for rest in self._ended(state):
            moved |= self.move(self._begun(rest), symbol)
        return moved

    def move(self, state: _Threads, symbol: int) -> _Threads:
        """Return the threads after a byte within their lexemes."""
        moved = set()
        for part, at, rest in state:
            target, left = self.rows[part][at][symbol], after_byte(rest, self.bytes[symbol])
            if target != DEAD and left != NOTHING:
                moved.add((part, target, left))
        return frozenset(moved)

    def _ended(self, state: _Threads) -> set[Lookahead]:
        """Return what may follow the lexemes that end here, for each."""
        if self.together:
            return {ANYTHING} if self.ends(state) else set()
        return {both(rest, self.parts[part].rests[at]) for part, at, rest in self.ends(state)}

    def ends(self, state: _Threads) -> list[_Thread]:
        """Return the threads that stand at the end of a lexeme."""
        return [(part, at, rest) for part, at, rest in state if self.accepting[part][at]]

    def rest(self, state: _Threads) -> Lookahead:
        """Return what may follow a run that ends here."""
        if not self.together:
            return reduce(either, self._ended(state), NOTHING)
        if not self.ends(state):
            return NOTHING
        alive = 0
        for part, at, _ in state:
            alive |= exits(self.parts[part].dfa)[at]
        return outside(alive)


def make_skipped(parts: list[Terminal], together: bool, once: bool, span: Span) -> Terminal:
    """Return the terminal of runs of the ignored ``parts``.

    ``together``: they are matched as one automaton, as LLGuidance does; else each for itself.
    ``once``: a run is one lexeme.
    """
    runs = _Runs(parts, together, once)

    symbols = range(class_count(runs.classes))

    def step(state: _Threads) -> Iterator[_Threads | None]:
        for symbol in symbols:
            after = runs.step(state, symbol) if state else runs.move(runs.start, symbol)
            yield after or None

    states, rows = explore([_BEFORE], step, MOST_STATES)
    by_state = [NOTHING, *(runs.rest(state) for state in states[1:])]
    dfa, kept = trimmed(rows, [rest != NOTHING for rest in by_state], runs.classes)
    rests = tuple(by_state[state] for state in kept)
    unit = operations.union(*(part.dfa for part in parts))
    written = _written(parts, dfa, once, span)
    return Terminal(NAME, NAME, dfa, span, rests, written, unit=unit, parts=tuple(parts))


def _written(parts: list[Terminal], dfa: Dfa, once: bool, span: Span) -> tree.Expression | None:
    texts = [p.written.text.value for p in parts if isinstance(p.written, tree.Pattern)]
    if len(texts) == len(parts):
        whole = "|".join(texts)
        candidates = [whole] if len(texts) == 1 else []
        candidates.append(whole if once else f"(?:{whole})+")
        for candidate in candidates:
            if is_written(candidate, dfa):
                return pattern(candidate, span)
    return write_dfa(dfa, span)
