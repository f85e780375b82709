"""The text between lexemes: one terminal made of everything that ``%ignore`` names."""

import numpy as np

from kbnf_core.automata import operations
from kbnf_core.automata.classes import class_count, join_classes, rows_over
from kbnf_core.automata.dfa import DEAD, Dfa
from kbnf_core.convert.lark.masks import END, exits
from kbnf_core.convert.lark.model import Terminal
from kbnf_core.convert.lark.writing import is_written, pattern, write_dfa
from kbnf_core.source import Span
from kbnf_core.syntax import tree

NAME = "ws"

_Threads = frozenset[tuple[int, int]]


class _Runs:
    """Runs of ignored lexemes: which patterns are alive, and in which state."""

    def __init__(self, parts: list[Terminal], together: bool, once: bool) -> None:
        self.parts = parts
        self.together = together
        self.once = once
        self.classes = join_classes([part.dfa.classes for part in self.parts])
        self.rows = [rows_over(part.dfa, self.classes).tolist() for part in self.parts]
        self.accepting = [part.dfa.accepting.tolist() for part in self.parts]
        self.bytes = [0] * class_count(self.classes)
        for byte, symbol in enumerate(self.classes.tolist()):
            self.bytes[symbol] |= 1 << byte

    def step(self, state: _Threads, symbol: int) -> _Threads:
        """Return the threads after a byte of class ``symbol``."""
        moved = self.move(state, symbol)
        if self.once or (self.together and moved):
            # One byte of look-ahead decides: whatever can go on does.
            return moved
        if any(self._may_end(thread, self.bytes[symbol]) for thread in state):
            moved |= self.move(self.start, symbol)
        return moved

    @property
    def start(self) -> _Threads:
        """Before a lexeme."""
        return frozenset((part, 0) for part in range(len(self.parts)))

    def move(self, state: _Threads, symbol: int) -> _Threads:
        targets = ((part, self.rows[part][at][symbol]) for part, at in state)
        return frozenset((part, target) for part, target in targets if target != DEAD)

    def _may_end(self, thread: tuple[int, int], following: int) -> bool:
        part, at = thread
        stops = 0 if self.together else self.parts[part].stops[at]
        return self.accepting[part][at] and stops & following != following

    def ends(self, state: _Threads) -> list[tuple[int, int]]:
        """Return the threads that stand at the end of a lexeme."""
        return [(part, at) for part, at in state if self.accepting[part][at]]

    def stops(self, state: _Threads) -> tuple[int, int]:
        """Return the bytes before which no run may end here, and those before which it may not."""
        ends = self.ends(state)
        if not ends:
            return 0, 0
        if self.together:
            alive = 0
            for part, at in state:
                alive |= exits(self.parts[part].dfa)[at]
            return alive, 0
        stops, doubts = END - 1 | END, END - 1 | END
        for part, at in ends:
            stops &= self.parts[part].stops[at]
            doubts &= self.parts[part].stops[at] | self.parts[part].doubts[at]
        return stops, doubts & ~stops


def make_skipped(parts: list[Terminal], together: bool, once: bool, span: Span) -> Terminal:
    """Return the terminal of runs of the ignored ``parts``.

    ``together``: they are matched as one automaton, as LLGuidance does; else each for itself.
    ``once``: a run is one lexeme.
    """
    runs = _Runs(parts, together, once)
    # A run begins at a state of its own, which no run comes back to and which is no end.
    states: list[_Threads] = [runs.start]
    numbers: dict[_Threads, int] = {}
    rows: list[list[int]] = []
    for state in states:
        row = []
        for symbol in range(class_count(runs.classes)):
            target = runs.step(state, symbol) if rows else runs.move(runs.start, symbol)
            if not target:
                row.append(DEAD)
                continue
            if target not in numbers:
                numbers[target] = len(states)
                states.append(target)
            row.append(numbers[target])
        rows.append(row)
    accepting = np.array([False, *(bool(runs.ends(state)) for state in states[1:])])
    dfa = Dfa(runs.classes, np.array(rows, dtype=np.int32), accepting)
    stops, doubts = zip(*((0, 0), *(runs.stops(state) for state in states[1:])), strict=True)
    unit = operations.union(*(part.dfa for part in parts))
    written = _written(parts, dfa, once, span)
    return Terminal(NAME, NAME, dfa, span, stops, doubts, written, unit=unit, parts=tuple(parts))


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
