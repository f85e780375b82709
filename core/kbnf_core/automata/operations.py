"""Operations on regular languages of bytes, each a pure function on automata.

Every result is minimal and trimmed. Automata are joined over common byte classes, so the cost
follows the number of classes, not 256. LimitError is raised where a result would be too large.

Tests: tests/unit/automata/test_operations.py, tests/unit/automata/test_chunk_runs.py
"""

import sys
from collections.abc import Iterable, Iterator, Sequence

from kbnf_core.automata.chosen_kernel import AUTOMATA
from kbnf_core.automata.dfa import (
    DEAD,
    Dfa,
    SymbolDfa,
    class_count,
    empty,
    first_bytes,
    join,
    rows_over,
    separate,
)
from kbnf_core.automata.explore import shortest_word_to
from kbnf_core.automata.nfa import Fragment, Thompson, from_symbols
from kbnf_core.text.budget import Budget
from kbnf_core.text.errors import LimitError
from kbnf_core.text.limits import DEFAULT_LIMITS, Limits

__all__ = [
    "complement",
    "concatenate",
    "difference",
    "empty",
    "intersect",
    "is_equal",
    "literal",
    "literals",
    "prefixes",
    "repeat",
    "short_words",
    "shortest_matches",
    "shortest_word",
    "union",
]


def literal(data: bytes) -> Dfa:
    """Return the automaton of one word."""
    classes = separate(data)
    # By first byte, as the classes of all automata.
    classes = join([classes])
    dead = [DEAD] * class_count(classes)
    rows = [dead.copy() for _ in range(len(data) + 1)]
    for state, byte in enumerate(data):
        rows[state][classes[byte]] = state + 1
    return Dfa(classes, rows, [*([False] * len(data)), True])


def literals(words: Iterable[bytes], limit: int = sys.maxsize) -> Dfa:
    """Return the automaton of a finite set of words; raise LimitError beyond ``limit`` states."""
    listed = list(words)
    result = AUTOMATA.literals(listed, separate(b"".join(listed)), limit)
    if result is None:
        raise LimitError("states", limit)
    return Dfa(*result)


def union(*dfas: Dfa, limits: Limits = DEFAULT_LIMITS) -> Dfa:
    """Return the words of any."""
    layout = _SideBySide(dfas, limits)
    return layout.finish(layout.nfa.alternation(layout.fragments))


def concatenate(*dfas: Dfa, limits: Limits = DEFAULT_LIMITS) -> Dfa:
    """Return the words made of one word of each, in order; of none, the empty word."""
    if any(dfa.is_empty for dfa in dfas):
        return empty()
    layout = _SideBySide(dfas, limits)
    return layout.finish(layout.nfa.sequence(layout.fragments))


def repeat(dfa: Dfa, low: int, high: int | None, limits: Limits = DEFAULT_LIMITS) -> Dfa:
    """Return the words made of ``low`` up to ``high`` words of ``dfa``; None has no bound."""
    if dfa.is_empty:
        return literal(b"") if low == 0 else empty()
    layout = _SideBySide([dfa], limits)
    return layout.finish(layout.nfa.repetition(layout.fragments[0], low, high))


class _SideBySide:
    """Automata laid out side by side over common classes."""

    def __init__(self, dfas: Sequence[Dfa], limits: Limits) -> None:
        self._limit = limits.regex_states
        self._classes = join(dfa.classes for dfa in dfas)
        self.nfa = Thompson(self._limit)
        # One that comes several times is carried over once.
        rows = {id(dfa): rows_over(dfa, self._classes) for dfa in dfas}
        self.fragments = [self.nfa.automaton(rows[id(dfa)], dfa.accepting) for dfa in dfas]

    def finish(self, whole: Fragment) -> Dfa:
        """Return the minimal automaton of all that was laid out."""
        return self.nfa.finish(whole, self._classes, self._limit)


def intersect(
    left: Dfa, right: Dfa, limits: Limits = DEFAULT_LIMITS, budget: Budget | None = None
) -> Dfa:
    """Return the words of both."""
    return _product(left, right, True, limits, budget)


def difference(
    left: Dfa, right: Dfa, limits: Limits = DEFAULT_LIMITS, budget: Budget | None = None
) -> Dfa:
    """Return the words of the left that are not in the right."""
    return _product(left, right, False, limits, budget)


def complement(dfa: Dfa) -> Dfa:
    """Return every byte string, valid UTF-8 or not, that is not a word of ``dfa``."""
    sink = dfa.state_count
    rows = [[sink if target == DEAD else target for target in row] for row in dfa.rows]
    rows.append([sink] * class_count(dfa.classes))
    tags = [int(not end) for end in (*dfa.accepting, False)]
    return from_symbols(SymbolDfa(rows, tags, [0]), dfa.classes)


def _product(left: Dfa, right: Dfa, is_in_both: bool, limits: Limits, budget: Budget | None) -> Dfa:
    """Run both automata at once; a pair is dead when no word can be accepted from it."""
    meter = budget or Budget(sys.maxsize)
    result, steps = AUTOMATA.product(
        (left.classes, left.rows, left.accepting),
        (right.classes, right.rows, right.accepting),
        is_in_both,
        limits.regex_states,
        meter.left,
    )
    meter.spend(steps)
    if result is None:
        raise LimitError("states", limits.regex_states)
    return Dfa(*result)


def shortest_matches(dfa: Dfa) -> Dfa:
    """Return the nonempty words of which no proper nonempty prefix is a word too."""
    if dfa.is_empty:
        return empty()
    rows = dfa.rows
    cut = [[DEAD] * len(row) if end else row for row, end in zip(rows, dfa.accepting, strict=True)]
    # The start may be accepting, and may be entered again; so words begin at a copy of it.
    tags = [*map(int, dfa.accepting), 0]
    return from_symbols(SymbolDfa([*cut, rows[0]], tags, [len(rows)]), dfa.classes)


def prefixes(dfa: Dfa) -> Dfa:
    """Return all that words begin with, the words included."""
    if dfa.is_empty:
        return dfa
    return from_symbols(SymbolDfa(dfa.rows, [1] * dfa.state_count, [0]), dfa.classes)


def continued(dfa: Dfa, beginning: bytes) -> Dfa:
    """Return the words that begin with ``beginning``, each without it."""
    state = DEAD if dfa.is_empty else 0
    for symbol in beginning.translate(dfa.classes):
        state = DEAD if state == DEAD else dfa.rows[state][symbol]
    if state == DEAD:
        return empty()
    return from_symbols(SymbolDfa(dfa.rows, [*map(int, dfa.accepting)], [state]), dfa.classes)


def is_equal(left: Dfa, right: Dfa) -> bool:
    """Return whether both have the same words."""
    if left is right:
        return True
    return difference(left, right).is_empty and difference(right, left).is_empty


def shortest_word(dfa: Dfa) -> bytes | None:
    """Return a shortest word, the first among them in byte order; None if there is none."""
    if dfa.is_empty:
        return None
    classes = sorted(zip(first_bytes(dfa.classes), range(class_count(dfa.classes)), strict=True))
    result = shortest_word_to(
        0,
        dfa.accepting.__getitem__,
        lambda state: (
            (byte, dfa.rows[state][column])
            for byte, column in classes
            if dfa.rows[state][column] != DEAD
        ),
    )
    return result and result[0]


def short_words(dfa: Dfa, symbols: list[tuple[int, int]], steps: int) -> Iterator[bytes]:
    """Yield words of ``dfa`` over a few bytes, shortest first, until ``steps`` prefixes are seen.

    ``symbols`` contains a byte to spell with and a class of ``dfa`` for each.
    """
    if dfa.is_empty:
        return
    queue = [(0, b"")]
    for state, word in queue:
        if dfa.accepting[state]:
            yield word
        row = dfa.rows[state]
        for byte, symbol in symbols:
            target = row[symbol]
            if target != DEAD and len(queue) < steps:
                queue.append((target, word + bytes([byte])))
