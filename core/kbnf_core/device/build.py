"""Building a token table: states are closed, and every token's effect on all of them is found.

What a token does is a *column*, the state after it from each state; tokens with one column are a
class. Columns of trie nodes are computed from those of their parents by one byte, once for all
nodes that share them, so the whole costs little more than a pass over the trie
(``kernel/columns.pxi``). It is the transition monoid of the automaton, as far as the vocabulary
goes.

A grammar may have to wait for a text while all is free (``mask/boundary.py``). Most tokens lead
back to position 0 from all positions of the wait; the others are looked at singly.

Tests: tests/unit/device/test_build.py, tests/unit/device/test_token_table.py
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kbnf_core.kernel import columns
from kbnf_core.mask.boundary import AwaitedText, Outcome, begin_with
from kbnf_core.mask.token_automaton import TokenAutomaton
from kbnf_core.recognise.closing import close_states, why_not_closed
from kbnf_core.recognise.states import DEAD
from kbnf_core.text.errors import KbnfError, RejectedError
from kbnf_core.vocab.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True, eq=False)
class Waits:
    """The effects of tokens on the wait for a text of ``len(outcomes[0])`` bytes.

    ``outcomes[kind]``: by position, the position after a token of a kind; those of kind 0 lead to
    position 0. ``kind``: int32[width], -1 for ids without a token and those that end the sequence.
    """

    kind: npt.NDArray[np.int32]
    outcomes: list[tuple[Outcome, ...]]


def waits_for(text: bytes, vocabulary: Vocabulary, width: int) -> Waits:
    """Return the effect of each token; one without bytes counts as its name, and an end as none."""
    kind = np.full(width, -1, np.int32)
    kinds: dict[tuple[Outcome, ...], int] = {(0,) * len(text): 0}
    awaited = AwaitedText(text)
    spelled = {**vocabulary.tokens, **dict(awaited.names(vocabulary))}
    for token_id, data in spelled.items():
        if not awaited.touches(data):
            kind[token_id] = 0
            continue
        outcome = tuple(awaited.outcome(come, data) for come in range(len(text)))
        kind[token_id] = kinds.setdefault(outcome, len(kinds))
    return Waits(kind, list(kinds))


MISS = -1
"""An entry that leads to a state which a partial table does not contain."""

MAX_WORK = 2**29
"""Transitions that building one table may follow; what the kernel stores is bounded, too."""

_Index = npt.NDArray[np.int32]


class TableTooLargeError(KbnfError, ValueError):
    """A grammar with more states than asked for; ``states`` were met before it was given up."""

    def __init__(self, states: int, reason: str) -> None:
        self.states = states
        super().__init__(reason)


@dataclass(frozen=True, slots=True, eq=False)
class BuiltTable:
    """The arrays of a table: row 0 is dead, the last is over; see ``table.TokenTable``."""

    transitions: _Index
    token_class: _Index
    accepting: npt.NDArray[np.bool_]
    waiting: npt.NDArray[np.bool_]


def build_table(
    automaton: TokenAutomaton, max_states: int, partial: bool, width: int, after: bytes
) -> BuiltTable:
    """Return the table of ``automaton`` over ``width`` token ids, waiting for ``after`` first.

    Raises ``TableTooLargeError`` beyond ``max_states`` states, unless ``partial``, and where
    ``MAX_WORK`` is used up.
    """
    kept = _kept_states(automaton, max_states, partial)
    columns = _Columns(automaton, kept, width)
    token_class, distinct = columns.classes()
    transitions = np.concatenate((np.zeros((1, len(distinct)), np.int32), distinct.T))
    complete = (automaton.can_finish(state) for state in kept.tolist())
    accepting = np.array([False, *complete, True])
    table = BuiltTable(transitions, token_class, accepting, np.zeros_like(accepting))
    return _waiting_first(table, automaton, kept, after) if after else table


def _waiting_first(
    table: BuiltTable, automaton: TokenAutomaton, kept: _Index, after: bytes
) -> BuiltTable:
    """Return a table that begins with a row for each position in the wait for ``after``."""
    waits = waits_for(after, automaton.masks.vocabulary, len(table.token_class))
    rests = sorted({rest for row in waits.outcomes for rest in row if isinstance(rest, bytes)})
    exact = automaton.masks.counting.exact
    begun = [exact(begin_with(automaton, rest)) for rest in rests]
    entered = _numbered(np.array(begun, np.int32), kept, len(automaton.masks.states))
    moved = len(after)
    row_of = dict(zip(rests, _moved(entered, moved).tolist(), strict=True))
    rows = np.array(
        [
            [row_of[outcome] if isinstance(outcome, bytes) else outcome + 1 for outcome in outcomes]
            for outcomes in waits.outcomes
        ],
        np.int32,
    )
    distinct, number = np.unique(rows, axis=0, return_inverse=True)
    kind = np.where(waits.kind < 0, 0, number.reshape(-1)[waits.kind] + 1)
    radix = len(distinct) + 1
    # Ids without a token are of class 0 and kind 0, which come first: they stay in class 0.
    keys, token_class = np.unique(
        np.append(0, table.token_class.astype(np.int64) * radix + kind), return_inverse=True
    )
    waiting = np.concatenate((np.zeros((1, moved), np.int32), distinct))[keys % radix].T
    own = _moved(table.transitions, moved)[:, keys // radix]
    flags = np.zeros(moved, np.bool_)
    return BuiltTable(
        np.concatenate((own[:1], waiting, own[1:])),
        token_class.reshape(-1)[1:].astype(np.int32),
        np.concatenate((table.accepting[:1], flags, table.accepting[1:])),
        np.concatenate((table.waiting[:1], ~flags, table.waiting[1:])),
    )


def _moved(rows: _Index, by: int) -> _Index:
    return np.where(rows > DEAD, rows + by, rows)


def _kept_states(automaton: TokenAutomaton, max_states: int, partial: bool) -> _Index:
    """Return the states that get a row: those after which the text is not over."""
    states, rule = automaton.masks.states, automaton.rule
    readable = np.unique(states.tables.classes[automaton.masks.vocabulary.trie.byte[1:]])
    odd = [ids[0] for ids in _odd_tokens(automaton)]

    def by_token(state: int) -> list[int]:
        return [step for step in _steps(automaton, [state], odd).tolist() if step > DEAD]

    eager = rule.ends_at_bytes
    closing = close_states(states, max_states, readable.tolist(), by_token, eager)
    if not closing.closed and not partial:
        reason = why_not_closed(states.tables, closing)
        raise TableTooLargeError(max_states + 1, f"the grammar does not close: {reason}")
    kept = np.array(closing.states, np.int32)
    # States in which a text is complete are over: one row stands for all of them.
    return kept[states.has_completions[kept] == 0] if rule.ends_at_tokens else kept


def _odd_tokens(automaton: TokenAutomaton) -> list[list[int]]:
    """Return the tokens that are more than their bytes, those that are alike together.

    They are those that end a sequence, and those that a token terminal names.
    """
    vocabulary, terminals = automaton.masks.vocabulary, automaton.masks.terminals
    ends = vocabulary.eos_token_ids
    alike: dict[object, list[int]] = {}
    for token_id in sorted(ends | terminals.ids()):
        key = (vocabulary.token(token_id), terminals.matching(token_id), token_id in ends)
        alike.setdefault(key, []).append(token_id)
    return list(alike.values())


def _steps(automaton: TokenAutomaton, states: list[int], tokens: list[int]) -> _Index:
    """Return the position after each token from each state, DEAD where it cannot come."""
    return np.array(
        [_step(automaton, state, token) for token in tokens for state in states], np.int32
    )


def _step(automaton: TokenAutomaton, state: int, token_id: int) -> int:
    try:
        return automaton.step(state, token_id)
    except RejectedError:
        return DEAD


class _Columns:
    """The columns of all tokens: ``of[token]`` is the row of ``after`` that a token has.

    Their last entry is for the state in which the text is over: ends of sequence go on.
    """

    def __init__(self, automaton: TokenAutomaton, kept: _Index, width: int) -> None:
        vocabulary, states = automaton.masks.vocabulary, automaton.masks.states
        rule = automaton.rule
        computed = columns(states, vocabulary.trie, kept, rule.ends_at_bytes, MAX_WORK)
        if computed is None:
            raise TableTooLargeError(
                len(kept),
                f"telling tokens apart in {len(kept):,} states takes more than {MAX_WORK:,} steps,"
                " or too much memory: allow fewer states",
            )
        of, after = computed
        if rule.ends_at_tokens:
            after = np.where(states.has_completions[after] != 0, ~after, after)
        self._of = np.zeros(width, np.int32)
        self._of[vocabulary.trie.token_ids] = of
        odd = _odd_tokens(automaton)
        self._after = np.zeros((len(after) + len(odd), len(kept) + 1), np.int32)
        steps = [_steps(automaton, kept.tolist(), ids[:1]) for ids in odd]
        self._after[: len(after), :-1] = _numbered(after, kept, len(states))
        for number, (ids, positions) in enumerate(zip(odd, steps, strict=True), start=len(after)):
            self._of[ids] = number
            self._after[number, :-1] = _numbered(positions, kept, len(states))
            self._after[number, -1] = len(kept) + 1 if ids[0] in vocabulary.eos_token_ids else DEAD

    def classes(self) -> tuple[_Index, _Index]:
        """Return the class of each token, int32[width], and the distinct columns.

        Class 0 is for tokens that can come nowhere; the others are in the order of their ids.
        """
        numbers = {self._after[0].tobytes(): 0}
        first_of = [0]
        of_column = np.zeros(len(self._after), np.int32)
        used, first = np.unique(self._of, return_index=True)
        for number in used[np.argsort(first)].tolist():
            of_column[number] = numbers.setdefault(self._after[number].tobytes(), len(numbers))
            if len(first_of) < len(numbers):
                first_of.append(number)
        return of_column[self._of], self._after[first_of]


def _numbered(positions: _Index, kept: _Index, count: int) -> _Index:
    """Return the table's row of each position; after the kept ones follows that of ended texts."""
    row = np.full(count + 1, MISS, np.int32)
    row[DEAD] = DEAD
    row[kept] = np.arange(1, len(kept) + 1, dtype=np.int32)
    row[count] = len(kept) + 1
    result: _Index = row[np.where(positions < 0, count, positions)]
    return result
