"""Texts in which something occurs nowhere: ``#ex`` and ``except!``.

Such a text is any nonempty byte string, valid UTF-8 or not. The language is closed under prefixes,
so a text that has gone wrong is refused at the byte that completes a text to be avoided.

*A regular expression* (``#ex``): the automaton runs all attempts to match at once, one begun before
every byte, and dies with the first that succeeds. A match may need the end of the text (``$``), and
every byte may be the last: so an attempt succeeds, too, when it would if the text ended here.

*A finite set of words* (``except!``), possibly in texts of bounded length: the words' Aho-Corasick
automaton (1975), without the states in which a word has just ended. A bound on the length
multiplies its states by the number of bytes that may still follow; that product is written down in
minimal form at once, as tens of thousands of counts are too many to minimise afterwards.

Tests: tests/unit/automata/test_search.py
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, overload

from kbnf_core.automata.dfa import (
    ACCEPT,
    DEAD,
    ONE_CLASS,
    Dfa,
    SymbolDfa,
    class_count,
    empty,
    first_bytes,
    join,
    separate,
)
from kbnf_core.automata.nfa import Nfa, determinise, from_symbols, minimise, states_within
from kbnf_core.automata.operations import intersect
from kbnf_core.automata.regex.compile import (
    EDGE,
    REMEMBERED,
    Compiled,
    byte_kinds,
    size_of,
    to_symbols,
    within,
)
from kbnf_core.automata.regex.parse import parse_regex
from kbnf_core.automata.regex.syntax import Node
from kbnf_core.automata.spell import TaggedDfa, to_bytes
from kbnf_core.text.budget import Budget
from kbnf_core.text.errors import LimitError
from kbnf_core.text.limits import DEFAULT_LIMITS, Limits
from kbnf_core.text.remembered import remembered

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class _Run(NamedTuple):
    """Layers with equal rows, one after the other.

    ``first`` is the first state; ``rows`` are those of one layer, and lead to places in the next.
    """

    first: int
    rows: list[list[int]]
    repeats: int


class _LayeredRows(Sequence[Sequence[int]]):
    """The rows of runs, made when they are asked for: there may be a million."""

    def __init__(self, runs: Sequence[_Run]) -> None:
        self._runs = runs

    def __len__(self) -> int:
        last = self._runs[-1]
        return last.first + len(last.rows) * last.repeats

    @overload
    def __getitem__(self, state: int) -> Sequence[int]: ...

    @overload
    def __getitem__(self, state: slice) -> Sequence[Sequence[int]]: ...

    def __getitem__(self, state: int | slice) -> Sequence[int] | Sequence[Sequence[int]]:
        if isinstance(state, slice):
            return [self[index] for index in range(*state.indices(len(self)))]
        state = range(len(self))[state]
        run = self._runs[bisect_right(self._runs, state, key=attrgetter("first")) - 1]
        layer, offset = divmod(state - run.first, len(run.rows))
        return _moved(run.rows[offset], run.first + (layer + 1) * len(run.rows))

    def __iter__(self) -> Iterator[Sequence[int]]:
        for run in self._runs:
            for layer in range(1, run.repeats + 1):
                following = run.first + layer * len(run.rows)
                yield from (_moved(row, following) for row in run.rows)

    def __array__(self, dtype: object = None, copy: bool | None = None) -> "npt.NDArray[np.int32]":
        # Only NumPy asks, so it is there.
        import numpy as np

        blocks = []
        for first, rows, count in self._runs:
            layer = np.array(rows, np.int32)
            following = first + len(rows) * np.arange(1, count + 1, dtype=np.int32)
            block = np.where(layer == DEAD, DEAD, layer + following[:, None, None])
            blocks.append(block.reshape(-1, layer.shape[1]))
        return np.concatenate(blocks)


def _moved(row: Sequence[int], offset: int) -> list[int]:
    return [target if target == DEAD else target + offset for target in row]


Rows: TypeAlias = Sequence[Sequence[int]]

_MATCHED = 2
"""The tag of a state in which some attempt has succeeded."""


@remembered(REMEMBERED, size_of)
def avoid_regex(pattern: str, limits: Limits = DEFAULT_LIMITS, spent: int = 0) -> Compiled:
    """Compile the nonempty byte strings in which ``pattern`` matches nowhere. Never raises.

    ``spent`` steps of ``limits.work`` are used up by others of its grammar.
    """
    tree, problems = parse_regex(pattern, limits)
    if problems:
        return Compiled(None, problems)
    return within(limits, spent, pattern, lambda budget: _avoiding(tree, limits, budget))


def _avoiding(tree: Node, limits: Limits, budget: Budget) -> Dfa:
    attempts = _attempts(tree, limits, budget)
    kinds = byte_kinds()
    classes = join([attempts.classes, kinds])
    nfa = _all_attempts(attempts, first_bytes(classes), kinds)
    symbols = class_count(classes)
    most = states_within(limits.regex_states, limits.regex_bytes, symbols)
    dfa = determinise(nfa, symbols, most, _MATCHED, budget)
    return from_symbols(dfa, classes, budget)


def _attempts(tree: Node, limits: Limits, budget: Budget) -> TaggedDfa:
    """Return the automaton of one attempt, with a start after every kind of character."""
    limit = limits.regex_states
    symbols = to_symbols(tree, limit)
    blocks = symbols.partition.block_count
    most = states_within(limit, limits.regex_bytes, blocks)
    budget.spend(len(symbols.nfa.moves))
    dfa = minimise(determinise(symbols.nfa, blocks, most, budget=budget), budget)
    return to_bytes(dfa, symbols.partition, limit, budget)


def _all_attempts(attempts: TaggedDfa, spelling: Sequence[int], kinds: bytes) -> Nfa:
    """Return the automaton that begins an attempt before every byte.

    ``spelling`` contains a byte of each symbol, ``kinds`` the kind of each byte. To the states of
    the attempts are added ``anywhere``, from which attempts begin; ``matched``; and ``begin``,
    which stands for both the first attempt and ``anywhere``, but accepts nothing.
    """
    anywhere = len(attempts.tags)
    matched, begin = anywhere + 1, anywhere + 2
    symbols = [
        (symbol, attempts.classes[byte], kinds[byte]) for symbol, byte in enumerate(spelling)
    ]
    moves = [
        {
            symbol: (matched,) if tag >> kind & 1 else (row[column],)
            for symbol, column, kind in symbols
            if tag >> kind & 1 or row[column] != DEAD
        }
        for tag, row in zip(attempts.tags, attempts.rows, strict=True)
    ]
    restart = {
        symbol: tuple(sorted({anywhere, attempts.starts[kind]} - {DEAD}))
        for symbol, _, kind in symbols
    }
    first = {} if attempts.starts[EDGE] == DEAD else moves[attempts.starts[EDGE]]
    both = {symbol: tuple(sorted({*restart[symbol], *first.get(symbol, ())})) for symbol in restart}
    tags = [_MATCHED if tag >> EDGE & 1 else 0 for tag in attempts.tags]
    return Nfa([*moves, restart, {}, both], [*tags, ACCEPT, _MATCHED, 0], [(begin,)])


def avoid_literals(words: Sequence[bytes], limit: int, limits: Limits = DEFAULT_LIMITS) -> Dfa:
    """Return the nonempty byte strings in which none of ``words`` occurs.

    They are at most ``limit`` bytes long; 0 has no bound. Raises LimitError when there are
    more states than ``limits.grammar_states``, or they take more than ``limits.exception_bytes``.
    """
    if b"" in words:
        return empty()
    classes = separate(byte for word in words for byte in word)
    symbols = class_count(classes)
    most = states_within(limits.grammar_states, limits.exception_bytes, symbols)
    limits = replace(limits, grammar_states=most)
    rows = _aho_corasick(words, classes, symbols)
    # Words are nonempty: the start is a copy of the root that does not accept.
    start = len(rows)
    unbounded = from_symbols(SymbolDfa([*rows, rows[0]], [ACCEPT] * start + [0], [start]), classes)
    if unbounded.state_count > most:
        raise LimitError("states", most)
    if limit == 0:
        return unbounded
    if len({byte for word in words for byte in word}) == 256:
        # Rare, and without the free byte that keeps the layers of _bounded simple.
        return intersect(unbounded, _up_to(limit), limits)
    return _bounded(unbounded, limit, limits)


def _up_to(limit: int) -> Dfa:
    """Return all byte strings of at most ``limit`` bytes."""
    rows = [*([after] for after in range(1, limit + 1)), [DEAD]]
    return Dfa(ONE_CLASS, rows, [True] * (limit + 1))


def _aho_corasick(words: Sequence[bytes], classes: bytes, symbols: int) -> list[list[int]]:
    """Return the rows of the automaton that dies where a word ends; state 0 is the root."""
    children: list[dict[int, int]] = [{}]
    ends: set[int] = set()
    for word in words:
        state = 0
        for byte in word:
            state = children[state].setdefault(classes[byte], len(children))
            if state == len(children):
                children.append({})
        ends.add(state)
    rows = [[0] * symbols for _ in children]
    fallback = [0] * len(children)
    queue = [0]
    for state in queue:
        if state:
            rows[state] = list(rows[fallback[state]])
        if fallback[state] in ends:
            ends.add(state)
        for symbol, child in children[state].items():
            fallback[child] = rows[state][symbol] if state else 0
            rows[state][symbol] = child
            queue.append(child)
    return [[DEAD if target in ends else target for target in row] for row in rows]


def _bounded(dfa: Dfa, limit: int, limits: Limits) -> Dfa:
    """Return the words of at most ``limit`` bytes.

    ``dfa`` is minimal, all its states but the start accept, and some byte leads from every state
    back to the root. So the states reached after c bytes only grow with c; and with r bytes left
    two states are equal when they have the same words of up to r bytes, which distinguishes more of
    them the larger r is. Where both have settled, layers repeat.
    """
    rows = dfa.rows
    layers = _Layers(
        reached=_reached_after(rows, limit),
        groups=_groups_with_left(rows, limit),
        limit=limit,
    )
    runs = layers.runs()
    size = sum(len(layers.at(consumed).states) * count for consumed, count in runs)
    if size > limits.grammar_states:
        raise LimitError("states", limits.grammar_states)
    laid_out = _LayeredRows(_lay_out(rows, layers))
    return Dfa(dfa.classes, laid_out, [False, *[True] * (size - 1)])


def _lay_out(rows: Rows, layers: "_Layers") -> list[_Run]:
    """Return all layers, one after the other; the last layer leads nowhere."""
    laid_out: list[_Run] = []
    first = 0
    *before, (last, _) = layers.runs()
    for consumed, count in before:
        index_of = layers.at(consumed + 1).index_of
        states = layers.at(consumed).states
        run = _Run(first, [[index_of[target] for target in rows[state]] for state in states], count)
        laid_out.append(run)
        first += len(states) * count
    nowhere = [[DEAD] * len(rows[0]) for _ in layers.at(last).states]
    return [*laid_out, _Run(first, nowhere, 1)]


@dataclass(frozen=True, slots=True)
class _Layer:
    """The states after some number of bytes.

    ``states`` contains one state of each group; ``place[state]`` is the place of the state's group
    in it, and the last element stands for DEAD.
    """

    states: list[int]
    index_of: list[int]


@dataclass(frozen=True, slots=True)
class _Layers:
    """All layers: ``reached`` after 0, 1, .. bytes, ``groups`` with 0, 1, .. bytes left.

    The last element of both stands for all further ones.
    """

    reached: list[list[int]]
    groups: list[list[int]]
    limit: int

    def at(self, consumed: int) -> _Layer:
        """Return the layer after some bytes."""
        states = self.reached[min(consumed, len(self.reached) - 1)]
        return _layer(states, self.groups[min(self.limit - consumed, len(self.groups) - 1)])

    def runs(self) -> list[tuple[int, int]]:
        """Return (first layer, count) for runs of layers with equal rows; the last runs alone."""
        settled = len(self.reached) - 1
        unsettled = self.limit - len(self.groups) + 1
        if unsettled <= settled:
            return [(consumed, 1) for consumed in range(self.limit + 1)]
        before = [(consumed, 1) for consumed in range(settled)]
        after = [(consumed, 1) for consumed in range(unsettled, self.limit + 1)]
        return [*before, (settled, unsettled - settled), *after]


def _layer(states: list[int], group: list[int]) -> _Layer:
    first: dict[int, int] = {}
    for state in states:
        first.setdefault(group[state], state)
    numbers = {chosen: number for number, chosen in enumerate(sorted(first))}
    index_of = [DEAD] * (len(group) + 1)
    for state in states:
        index_of[state] = numbers[group[state]]
    return _Layer([first[chosen] for chosen in numbers], index_of)


def _reached_after(rows: Rows, limit: int) -> list[list[int]]:
    """Return the states after 0, 1, 2, ... bytes, until they stay the same."""
    reached = [[0]]
    while len(reached) <= limit:
        states = sorted({target for state in reached[-1] for target in rows[state]} - {DEAD})
        if states == reached[-1]:
            break
        reached.append(states)
    return reached


def _groups_with_left(rows: Rows, limit: int) -> list[list[int]]:
    """Return the group of each state when 0, 1, 2, ... bytes are left, until all differ.

    The start, which alone does not accept, is a group of its own.
    """
    group = [0] + [1] * (len(rows) - 1)
    groups = [group]
    # With DEAD, and a flag for the start: a getter of one item would not return a tuple.
    getters = [itemgetter(-1 - (state == 0), *row) for state, row in enumerate(rows)]
    while len(groups) <= limit and max(group) + 1 < len(rows):
        successors = [*group, -2, DEAD]
        signatures = [successors_of(successors) for successors_of in getters]
        numbers = {signature: number for number, signature in enumerate(sorted(set(signatures)))}
        group = [numbers[signature] for signature in signatures]
        groups.append(group)
    return groups
