"""Operations on regular languages of bytes, each a pure function on automata.

Every result is minimal and trimmed. Automata are joined over common byte classes, so the cost
follows the number of classes, not 256. LimitError is raised where a result would be too large.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from kbnf_core.automata.classes import (
    ByteClasses,
    class_count,
    join_classes,
    reduce_classes,
    representatives,
    rows_over,
)
from kbnf_core.automata.determinise import determinise
from kbnf_core.automata.dfa import DEAD, Dfa
from kbnf_core.automata.epsilon import EpsilonNfa
from kbnf_core.automata.errors import LimitError
from kbnf_core.automata.machine import ACCEPT, Machine
from kbnf_core.automata.minimise import minimise
from kbnf_core.limits import DEFAULT_LIMITS, Limits


def empty() -> Dfa:
    """Return the automaton of no word at all."""
    return Dfa(
        np.zeros(256, dtype=np.uint8),
        np.empty((0, 1), dtype=np.int32),
        np.empty(0, dtype=np.bool_),
    )


def from_machine(machine: Machine, classes: ByteClasses) -> Dfa:
    """Return the minimal automaton of a machine with one start, over byte classes."""
    small = minimise(machine)
    if not small.rows or small.starts[0] == DEAD:
        return empty()
    table = np.array(small.rows, dtype=np.int32)
    return reduce_classes(Dfa(classes, table, np.array(small.tags, dtype=np.bool_)))


def literal(data: bytes) -> Dfa:
    """Return the automaton of one word."""
    distinct = sorted(set(data))
    classes = np.zeros(256, dtype=np.uint8)
    classes[distinct] = np.arange(1, len(distinct) + 1)
    classes = join_classes([classes])
    table = np.full((len(data) + 1, class_count(classes)), DEAD, dtype=np.int32)
    word = np.frombuffer(data, dtype=np.uint8)
    table[np.arange(len(data)), classes[word]] = np.arange(1, len(data) + 1)
    accepting = np.zeros(len(data) + 1, dtype=np.bool_)
    accepting[-1] = True
    return Dfa(classes, table, accepting)


def literals(words: Iterable[bytes]) -> Dfa:
    """Return the automaton of a finite set of words."""
    children: list[dict[int, int]] = [{}]
    tags = [0]
    for word in words:
        state = 0
        for byte in word:
            state = children[state].setdefault(byte, len(children))
            if state == len(children):
                children.append({})
                tags.append(0)
        tags[state] = ACCEPT
    used = sorted({byte for edges in children for byte in edges})
    classes = separate_bytes(used)
    rows = [[DEAD] * class_count(classes) for _ in children]
    for row, edges in zip(rows, children, strict=True):
        for byte, target in edges.items():
            row[classes[byte]] = target
    return from_machine(Machine(rows, tags, [0]), classes)


def separate_bytes(used: Iterable[int]) -> ByteClasses:
    """Return classes in which every used byte is alone, and all others are together."""
    marks = np.zeros(256, dtype=np.int64)
    distinct = sorted(set(used))
    marks[distinct] = np.arange(1, len(distinct) + 1)
    _, classes = np.unique(marks, return_inverse=True)
    return classes.astype(np.uint8)


def union(*dfas: Dfa, limits: Limits = DEFAULT_LIMITS) -> Dfa:
    """Return the words of any."""
    layout = _Layout(dfas, limits)
    for part in layout.parts:
        layout.nfa.link([layout.start], part.start)
        layout.accept(part.accepting)
    return layout.finish()


def concatenate(*dfas: Dfa, limits: Limits = DEFAULT_LIMITS) -> Dfa:
    """Return the words made of one word of each, in order; of none, the empty word."""
    if any(dfa.is_empty for dfa in dfas):
        return empty()
    layout = _Layout(dfas, limits)
    ends = [layout.start]
    for part in layout.parts:
        layout.nfa.link(ends, part.start)
        ends = part.accepting
    layout.accept(ends)
    return layout.finish()


def repeat(dfa: Dfa, low: int, high: int | None, limits: Limits = DEFAULT_LIMITS) -> Dfa:
    """Return the words made of ``low`` up to ``high`` words of ``dfa``; None has no bound."""
    if dfa.is_empty:
        return literal(b"") if low == 0 else empty()
    copies = max(low, 1) if high is None else high
    if copies * dfa.state_count > limits.regex_states:
        raise LimitError("states", limits.regex_states)
    layout = _Layout([dfa] * copies, limits)
    ends = [layout.start]
    for count, part in enumerate(layout.parts):
        if count >= low:
            layout.accept(ends)
        layout.nfa.link(ends, part.start)
        ends = part.accepting
    layout.accept(ends)
    if high is None:
        last = layout.parts[-1]
        layout.nfa.link(last.accepting, last.start)
    if low == 0:
        layout.accept([layout.start])
    return layout.finish()


@dataclass(frozen=True, slots=True)
class _Part:
    """One automaton among others laid side by side: its start and its accepting states."""

    start: int
    accepting: list[int]


class _Layout:
    """Automata side by side over common classes, and a fresh start without edges."""

    def __init__(self, dfas: Sequence[Dfa], limits: Limits) -> None:
        self._limits = limits
        distinct = list({id(dfa): dfa for dfa in dfas}.values())
        self._classes = join_classes([dfa.classes for dfa in distinct])
        rows = {id(dfa): rows_over(dfa, self._classes).tolist() for dfa in distinct}
        self.nfa = EpsilonNfa(limits.regex_states)
        self.start = self.nfa.add({})
        self._accepting: set[int] = set()
        self.parts = [self._add(dfa, rows[id(dfa)]) for dfa in dfas if not dfa.is_empty]

    def _add(self, dfa: Dfa, rows: list[list[int]]) -> _Part:
        base = len(self.nfa.moves)
        for row in rows:
            self.nfa.add(
                {symbol: base + target for symbol, target in enumerate(row) if target != DEAD}
            )
        return _Part(base, (np.flatnonzero(dfa.accepting) + base).tolist())

    def accept(self, states: Iterable[int]) -> None:
        """Let words end in these states."""
        self._accepting.update(states)

    def finish(self) -> Dfa:
        """Return the minimal automaton of what has been laid out."""
        tags = [ACCEPT * (state in self._accepting) for state in range(len(self.nfa.moves))]
        nfa = self.nfa.without_epsilon(self.start, tags)
        machine = determinise(nfa, class_count(self._classes), self._limits.regex_states)
        return from_machine(machine, self._classes)


def intersect(left: Dfa, right: Dfa, limits: Limits = DEFAULT_LIMITS) -> Dfa:
    """Return the words of both."""
    return _product(left, right, lambda in_left, in_right: in_left and in_right, limits)


def difference(left: Dfa, right: Dfa, limits: Limits = DEFAULT_LIMITS) -> Dfa:
    """Return the words of the left that are not in the right."""
    return _product(left, right, lambda in_left, in_right: in_left and not in_right, limits)


def complement(dfa: Dfa) -> Dfa:
    """Return every byte string, valid UTF-8 or not, that is not a word of ``dfa``."""
    sink = dfa.state_count
    table = np.where(dfa.next == DEAD, sink, dfa.next)
    table = np.vstack([table, np.full((1, table.shape[1]), sink)])
    tags = [int(not accepting) for accepting in [*dfa.accepting.tolist(), False]]
    return from_machine(Machine(table.tolist(), tags, [0]), dfa.classes)


def _product(left: Dfa, right: Dfa, accepts: Callable[[bool, bool], bool], limits: Limits) -> Dfa:
    """Walk both automata at once; a pair is dead when no word can be accepted from it."""
    classes = join_classes([left.classes, right.classes])
    left_rows = [*rows_over(left, classes).tolist(), [DEAD] * class_count(classes)]
    right_rows = [*rows_over(right, classes).tolist(), [DEAD] * class_count(classes)]
    # The row and the flag of DEAD, -1, are the last ones.
    left_accepts = [*left.accepting.tolist(), False]
    right_accepts = [*right.accepting.tolist(), False]
    start = (DEAD if left.is_empty else 0, DEAD if right.is_empty else 0)
    numbers = {start: 0}
    pairs = [start]
    rows: list[list[int]] = []
    for i, j in pairs:
        row = []
        for pair in zip(left_rows[i], right_rows[j], strict=True):
            if pair[0] == DEAD:
                row.append(DEAD)
                continue
            if pair not in numbers:
                numbers[pair] = len(pairs)
                pairs.append(pair)
            row.append(numbers[pair])
        rows.append(row)
        if len(pairs) > limits.regex_states:
            raise LimitError("states", limits.regex_states)
    tags = [int(accepts(left_accepts[i], right_accepts[j])) for i, j in pairs]
    return from_machine(Machine(rows, tags, [0]), classes)


def shortest_matches(dfa: Dfa) -> Dfa:
    """Return the nonempty words of which no proper nonempty prefix is a word too."""
    if dfa.is_empty:
        return empty()
    rows = dfa.next.tolist()
    cut = [
        [DEAD] * len(row) if accepting else row
        for row, accepting in zip(rows, dfa.accepting.tolist(), strict=True)
    ]
    # The start may be accepting, and may be entered again; so words begin at a copy of it.
    tags = [*dfa.accepting.astype(int).tolist(), 0]
    return from_machine(Machine([*cut, rows[0]], tags, [len(rows)]), dfa.classes)


def is_equal(left: Dfa, right: Dfa) -> bool:
    """Tell whether both have the same words."""
    return difference(left, right).is_empty and difference(right, left).is_empty


def shortest_word(dfa: Dfa) -> bytes | None:
    """Return a shortest word, the first among them in byte order; None if there is none."""
    if dfa.is_empty:
        return None
    first_bytes = representatives(dfa.classes).tolist()
    by_byte = sorted(range(len(first_bytes)), key=first_bytes.__getitem__)
    prefix: dict[int, bytes] = {0: b""}
    queue = [0]
    for state in queue:
        if dfa.accepting[state]:
            return prefix[state]
        for symbol in by_byte:
            target = int(dfa.next[state, symbol])
            if target != DEAD and target not in prefix:
                prefix[target] = prefix[state] + bytes([first_bytes[symbol]])
                queue.append(target)
    return None
