"""Operations on regular languages of bytes, each a pure function on automata.

Every result is minimal and trimmed. Automata are joined over common byte classes, so the cost
follows the number of classes, not 256. LimitError is raised where a result would be too large.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from kbnf_core.automata import columns as over
from kbnf_core.automata.determinise import determinise
from kbnf_core.automata.dfa import DEAD, Dfa
from kbnf_core.automata.epsilon import EpsilonNfa
from kbnf_core.automata.errors import LimitError
from kbnf_core.automata.machine import ACCEPT, Machine
from kbnf_core.automata.minimise import minimise
from kbnf_core.budget import Budget
from kbnf_core.limits import DEFAULT_LIMITS, Limits

if TYPE_CHECKING:
    from kbnf_core.automata.classes import ByteClasses


def empty() -> Dfa:
    """Return the automaton of no word at all."""
    return Dfa.of_rows(bytes(256), [], [])


def from_machine(
    machine: Machine, classes: "ByteClasses | bytes", budget: Budget | None = None
) -> Dfa:
    """Return the minimal automaton of a machine with one start, over byte classes."""
    small = minimise(machine, budget)
    if not small.rows or small.starts[0] == DEAD:
        return empty()
    return over.reduced(bytes(classes), small.rows, [bool(tag) for tag in small.tags])


def literal(data: bytes) -> Dfa:
    """Return the automaton of one word."""
    columns = over.separate(data)
    # By first byte, as the classes of all automata.
    columns = over.join([columns])
    rows = [[DEAD] * over.width(columns) for _ in range(len(data) + 1)]
    for state, byte in enumerate(data):
        rows[state][columns[byte]] = state + 1
    return Dfa.of_rows(columns, rows, [*([False] * len(data)), True])


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
    columns = over.separate(byte for edges in children for byte in edges)
    rows = [[DEAD] * over.width(columns) for _ in children]
    for row, edges in zip(rows, children, strict=True):
        for byte, target in edges.items():
            row[columns[byte]] = target
    return from_machine(Machine(rows, tags, [0]), columns)


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


class _Part(NamedTuple):
    """One automaton among others laid side by side: its start and its accepting states."""

    start: int
    accepting: list[int]


class _Layout:
    """Automata side by side over common classes, and a fresh start without edges."""

    def __init__(self, dfas: Sequence[Dfa], limits: Limits) -> None:
        self._limits = limits
        distinct = list({id(dfa): dfa for dfa in dfas}.values())
        self._columns = over.join(dfa.columns for dfa in distinct)
        rows = {id(dfa): over.rows_over(dfa, self._columns) for dfa in distinct}
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
        return _Part(base, [base + state for state, end in enumerate(dfa.ends) if end])

    def accept(self, states: Iterable[int]) -> None:
        """Let words end in these states."""
        self._accepting.update(states)

    def finish(self) -> Dfa:
        """Return the minimal automaton of what has been laid out."""
        tags = [ACCEPT * (state in self._accepting) for state in range(len(self.nfa.moves))]
        nfa = self.nfa.without_epsilon(self.start, tags)
        machine = determinise(nfa, over.width(self._columns), self._limits.regex_states)
        return from_machine(machine, self._columns)


def intersect(
    left: Dfa, right: Dfa, limits: Limits = DEFAULT_LIMITS, budget: Budget | None = None
) -> Dfa:
    """Return the words of both."""
    return _product(left, right, lambda in_left, in_right: in_left and in_right, limits, budget)


def difference(
    left: Dfa, right: Dfa, limits: Limits = DEFAULT_LIMITS, budget: Budget | None = None
) -> Dfa:
    """Return the words of the left that are not in the right."""
    return _product(left, right, lambda in_left, in_right: in_left and not in_right, limits, budget)


def complement(dfa: Dfa) -> Dfa:
    """Return every byte string, valid UTF-8 or not, that is not a word of ``dfa``."""
    sink = dfa.state_count
    rows = [[sink if target == DEAD else target for target in row] for row in dfa.rows]
    rows.append([sink] * over.width(dfa.columns))
    tags = [int(not end) for end in (*dfa.ends, False)]
    return from_machine(Machine(rows, tags, [0]), dfa.columns)


def _product(
    left: Dfa,
    right: Dfa,
    accepts: Callable[[bool, bool], bool],
    limits: Limits,
    budget: Budget | None,
) -> Dfa:
    """Walk both automata at once; a pair is dead when no word can be accepted from it."""
    columns = over.join([left.columns, right.columns])
    left_rows = [*over.rows_over(left, columns), [DEAD] * over.width(columns)]
    right_rows = [*over.rows_over(right, columns), [DEAD] * over.width(columns)]
    # The row and the flag of DEAD, -1, are the last ones.
    left_accepts = [*left.ends, False]
    right_accepts = [*right.ends, False]
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
        if budget is not None:
            budget.spend(len(row))
        if len(pairs) > limits.regex_states:
            raise LimitError("states", limits.regex_states)
    tags = [int(accepts(left_accepts[i], right_accepts[j])) for i, j in pairs]
    return from_machine(Machine(rows, tags, [0]), columns)


def shortest_matches(dfa: Dfa) -> Dfa:
    """Return the nonempty words of which no proper nonempty prefix is a word too."""
    if dfa.is_empty:
        return empty()
    rows = dfa.rows
    cut = [[DEAD] * len(row) if end else row for row, end in zip(rows, dfa.ends, strict=True)]
    # The start may be accepting, and may be entered again; so words begin at a copy of it.
    tags = [*map(int, dfa.ends), 0]
    return from_machine(Machine([*cut, rows[0]], tags, [len(rows)]), dfa.columns)


def is_equal(left: Dfa, right: Dfa) -> bool:
    """Tell whether both have the same words."""
    return difference(left, right).is_empty and difference(right, left).is_empty


def shortest_word(dfa: Dfa) -> bytes | None:
    """Return a shortest word, the first among them in byte order; None if there is none."""
    if dfa.is_empty:
        return None
    first_bytes = over.first_bytes(dfa.columns)
    by_byte = sorted(range(len(first_bytes)), key=first_bytes.__getitem__)
    prefix: dict[int, bytes] = {0: b""}
    queue = [0]
    for state in queue:
        if dfa.ends[state]:
            return prefix[state]
        for symbol in by_byte:
            target = dfa.rows[state][symbol]
            if target != DEAD and target not in prefix:
                prefix[target] = prefix[state] + bytes([first_bytes[symbol]])
                queue.append(target)
    return None
