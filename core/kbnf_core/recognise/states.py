"""States: interned configurations of the recogniser, with a transition table filled on demand.

A state is a set of (stack node, item set) pairs and its completions, the nonterminals that just
completed into BOTTOM. What the pairs predict follows from them and is not part of the name. States
are numbered; ``next[state, byte class]`` is a flat table, filled on demand like that of a lazy DFA.
Since states are named by content, a new table of the same grammar can take over those of an old.

The algorithm is Earley's with sets named by content; compare Aycock & Horspool, "Practical Earley
Parsing" (2002), and Leo, "A general context-free parsing algorithm running in linear time on every
LR(k) grammar without using lookahead" (1991), whose part the tail calls play.

Tests: tests/unit/kernel
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from kbnf_core.kernel import Configurations, ItemSets, LazyTable, StackNodes
from kbnf_core.lower.tables import Tables
from kbnf_core.text.limits import DEFAULT_LIMITS, Limits
from kbnf_core.text.locks import new_rlock

DEAD = 0
"""The dead state: no text continues from it."""

EMPTY = 0
"""The number of the empty item set."""

BOTTOM = 0
"""The bottom of the stack: the parent of the start, and of every walk over the vocabulary."""

SELF = -1
"""Within a stack node's content: the node itself."""

INITIAL = 1
"""The state before the first byte."""

Pair: TypeAlias = tuple[int, int]
"""(stack node, item set)"""

Triple: TypeAlias = tuple[int, int, int]
"""Of a stack node: (nonterminal, parent node, item set to resume)"""


LEAST_STATES = 1_000
"""States that may always be known: a fresh table must contain what an engine takes along."""

MEMBERS_PER_STATE = 32
"""Pairs, items and triples that a state may have on average; most have a few."""


def state_limit(limits: Limits) -> int:
    """Return the number of states from which on a table is full, and renewed between calls."""
    return max(limits.cached_states, LEAST_STATES)


def entry_limit(limits: Limits) -> int:
    """Return the number of parts of states from which on a table is full."""
    return MEMBERS_PER_STATE * state_limit(limits)


class StateTable:
    """The state table, a lazy DFA. Shared by engines and threads: growing it takes a lock.

    ``explorer`` is the kernel's stepper, which has the rows and is faster than the methods here.
    ``given``: of the pairs, completions, items and triples, those at the beginning or carried over.
    More than ``entry_limit`` and, for the call in which the table gets full, ``limits.work``
    are a WorkLimitError.
    """

    initial = INITIAL

    def __init__(self, tables: Tables, limits: Limits = DEFAULT_LIMITS) -> None:
        self.tables = tables
        self.lock = new_rlock()
        self.items = ItemSets(tables, entry_limit(limits) + limits.work, limits.work)
        self.stack = StackNodes(self.items)
        self.configurations = Configurations(self.items)
        # The first is ``DEAD``.
        self.configurations.number((), ())
        self.explorer = LazyTable(self)
        self.enter([tables.start])
        self.given = self._size

    @property
    def has_completions(self) -> npt.NDArray[np.uint8]:
        """Whether something completed into BOTTOM: uint8[states], a copy."""
        return self.explorer.has_completions

    @property
    def grown(self) -> int:
        """The number of pairs, completions, items and triples beyond ``given``."""
        return self._size - self.given

    @property
    def _size(self) -> int:
        return self.explorer.sizes()[1]

    @contextmanager
    def carrying_over(self) -> Iterator[None]:
        """Count parts that are new inside the context as ``given``, not as ``grown``."""
        with self.lock:
            before = self._size
            yield
            self.given += self._size - before

    def __len__(self) -> int:
        return self.explorer.sizes()[0]

    @property
    def classes(self) -> npt.NDArray[np.uint8]:
        """The class of each byte, uint8[256]."""
        return self.tables.classes

    def begin(self, item_set: int) -> int:
        """Return the state of ``item_set`` alone, over BOTTOM."""
        return self.explorer.begin(item_set)

    def enter(self, nonterminals: Sequence[int]) -> int:
        """Return the state at the entries of ``nonterminals``, over BOTTOM."""
        return self.explorer.enter(nonterminals)

    def adopt(self, pairs: Iterable[Pair], completions: tuple[int, ...]) -> int:
        """Return the state with this content, as another table of the same grammar has it."""
        return self.explorer.adopt(sorted(pairs), completions)

    def pairs(self, state: int) -> tuple[Pair, ...]:
        """Return the kernel pairs (stack node, item set) of a state, without their predictions."""
        return self.configurations.pairs(state)

    def completions(self, state: int) -> tuple[int, ...]:
        """Return the nonterminals that completed into BOTTOM with the byte that led here."""
        return self.configurations.completions(state)

    def step(self, state: int, byte_class: int) -> int:
        """Return the state after a byte of ``byte_class``, DEAD where there is none."""
        return self.explorer.after(state, byte_class)

    def feed(self, state: int, data: bytes) -> tuple[int, int]:
        """Return the state after ``data``, and the number of bytes consumed.

        Where fewer than all could, the state is DEAD.
        """
        return self.explorer.feed(state, data, False)

    def feed_eagerly(self, state: int, data: bytes) -> tuple[int, int]:
        """Feed with eager finish: a byte after one that completed the start is refused."""
        return self.explorer.feed(state, data, True)

    def step_token(self, state: int, terminals: frozenset[int]) -> int:
        """Return the state after one token that matches ``terminals``, by id only."""
        return self.explorer.step_token(state, terminals)

    def token_terminals(self, state: int) -> frozenset[int]:
        """Return the token terminals expected in a state."""
        return self.explorer.token_terminals(state) if self.tables.token_terminals else frozenset()

    def merge(self, one: int, other: int) -> int:
        """Return the union of two states."""
        return self.explorer.merge(one, other)

    def live_classes(self, state: int) -> list[int]:
        """Return the byte classes with a transition from a state, ascending."""
        return self.explorer.live_classes(state)

    def sources(self, state: int) -> tuple[Pair, ...]:
        """Return the pairs of a state together with the pair that they predict."""
        return self.explorer.sources(state)


class Migration:
    """Copies the configurations of single states from ``old`` into ``new``, and nothing else."""

    def __init__(self, old: StateTable, new: StateTable) -> None:
        self._old = old
        self._new = new
        self._stack = {BOTTOM: BOTTOM}

    def position(self, position: int) -> int:
        """Return the new number of a state, or the complement of it for one that is over.

        The count beside a state, in the bits above, is kept.
        """
        if position < 0:
            return ~self.state(~position)
        count = position >> 32 << 32
        return count | self.state(position - count)

    def state(self, state: int) -> int:
        """Return the number in the new table of a state of the old one."""
        pairs = self._old.pairs(state)
        for stack_node, _ in pairs:
            self._copy_node(stack_node)
        moved = [(self._stack[stack_node], self._items(items)) for stack_node, items in pairs]
        return self._new.adopt(moved, self._old.completions(state))

    def _items(self, number: int) -> int:
        return self._new.items.number(self._old.items.items(number))

    def _copy_node(self, root: int) -> None:
        """Copy a stack node after the nodes it refers to; references form no cycle."""
        stack = [root]
        while stack:
            stack_node = stack[-1]
            edges = self._old.stack.edges(stack_node)
            missing = [t[1] for t in edges if t[1] != SELF and t[1] not in self._stack]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            if stack_node not in self._stack:
                self._stack[stack_node] = self._new.stack.intern(map(self._triple, edges))

    def _triple(self, triple: Triple) -> Triple:
        nonterminal, stack_node, after = triple
        return (
            nonterminal,
            SELF if stack_node == SELF else self._stack[stack_node],
            self._items(after),
        )
