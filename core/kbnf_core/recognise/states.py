"""States: interned configurations of the recogniser, with a transition table filled on demand.

A state is a set of (stack node, item set) pairs and its completions, the nonterminals that just
completed into BOTTOM. What the pairs predict follows from them and is not part of the name. States
are numbered; ``next[state, byte class]`` is a flat table, filled on demand like that of a lazy DFA.

The algorithm is Earley's with sets named by content; compare Aycock & Horspool, "Practical Earley
Parsing" (2002), and Leo, "A general context-free parsing algorithm running in linear time on every
LR(k) grammar without using lookahead" (1991), whose part the tail calls play.
"""

import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from kbnf_core.kernel import Configurations, LazyTable, unwritten
from kbnf_core.lower.tables import Tables
from kbnf_core.recognise.items import EMPTY, ItemSets
from kbnf_core.recognise.stack import BOTTOM, SELF, StackNodes

DEAD = 0
"""The dead state: no text continues from it."""

UNKNOWN = -1
"""In the transition table: not computed yet."""

_FIRST_CAPACITY = 64

_GROWTH = 8
"""A table that is full gets room for so many times its states."""

INITIAL = 1
"""The state before the first byte."""

Pair: TypeAlias = tuple[int, int]
"""(stack node, item set)"""


class Contents:
    """The configurations of a table's states, over item sets and stack nodes; state 0 is DEAD."""

    def __init__(self, tables: Tables) -> None:
        self.items = ItemSets(tables)
        self.stack = StackNodes(self.items.reports)
        self.configurations = Configurations()
        self.configurations.number((), ())

    @property
    def size(self) -> int:
        """The number of pairs, completions, items and triples stored."""
        return self.configurations.size + self.items.size + self.stack.size


class StoredStates(Protocol):
    """States computed earlier, as an artifact stores them; ``INITIAL`` is among them."""

    next: npt.NDArray[np.int32]
    has_completions: npt.NDArray[np.uint8]

    def contents(self) -> Contents:
        """Return the configurations; called only when a transition must be computed."""


class StateTable:
    """The state table, a lazy DFA. Shared by engines and threads: growing it holds a lock.

    ``next`` is int32[capacity, byte classes] and ``has_completions`` uint8[capacity]; rows of
    numbers at or above ``len(table)`` are unused. Both are replaced when they grow, so read them
    through the attributes. ``given``: of ``Contents.size``, what was stored or carried over.
    """

    initial = INITIAL

    def __init__(self, tables: Tables, stored: StoredStates | None = None) -> None:
        self.tables = tables
        self._stored = stored
        self.lock = threading.RLock()
        self._sources: dict[int, tuple[Pair, ...]] = {}
        self._known = Contents(tables) if stored is None else None
        self.given = 0
        if stored is not None:
            self.next = stored.next
            self.has_completions = stored.has_completions
            return
        self.next = unwritten(_FIRST_CAPACITY, tables.class_count)
        self.next[DEAD] = DEAD
        self.has_completions = np.zeros(_FIRST_CAPACITY, np.uint8)
        self.enter([tables.start])
        self.given = self._contents.size

    @property
    def grown(self) -> int:
        """The growth of ``Contents.size`` over what was stored or carried over."""
        return self.explorer.sizes()[1] - self.given

    @contextmanager
    def carrying_over(self) -> Iterator[None]:
        """Exclude what is added within from ``added``."""
        with self.lock:
            before = self._contents.size
            yield
            self.given += self._contents.size - before

    def __len__(self) -> int:
        return self.explorer.sizes()[0]

    @property
    def classes(self) -> npt.NDArray[np.uint8]:
        """The class of each byte, uint8[256]."""
        return self.tables.classes

    @cached_property
    def explorer(self) -> LazyTable:
        """The kernel's stepper, which fills this table; faster than the methods here."""
        return LazyTable(self)

    @property
    def _contents(self) -> Contents:
        """The contents of the states; stored ones are restored on first access."""
        return self._known or self._restore()

    def _restore(self) -> Contents:
        with self.lock:
            if self._known is None:
                assert self._stored is not None  # noqa: S101 - there is one or the other
                known = self._stored.contents()
                self.given, self._known = known.size, known
            return self._known

    @property
    def configurations(self) -> Configurations:
        """The configurations of the states."""
        return self._contents.configurations

    @property
    def items(self) -> ItemSets:
        """The item sets."""
        return self._contents.items

    @property
    def stack(self) -> StackNodes:
        """The stack nodes."""
        return self._contents.stack

    def begin(self, item_set: int) -> int:
        """Return the state of ``item_set`` alone, over BOTTOM."""
        return self.explorer.begin(item_set)

    def enter(self, nonterminals: Sequence[int]) -> int:
        """Return the state at the entries of ``nonterminals``, over BOTTOM."""
        return self.explorer.enter(nonterminals)

    def enter_plainly(self, nonterminals: Sequence[int]) -> int:
        """Do what ``enter`` does, in Python."""
        return self.begin_plainly(self.items.entry(nonterminals))

    def begin_plainly(self, item_set: int) -> int:
        """Do what ``begin`` does, in Python."""
        with self.lock:
            return self._intern({BOTTOM: [item_set]}, ())

    def signature_plainly(self, item_set: int, blocks: npt.NDArray[np.int32]) -> bytes:
        """Return a key under which item sets equivalent modulo ``blocks`` collide."""
        radix = self.items.radix
        items = np.array(self.items.items(item_set), np.int64)
        return np.unique(blocks[items // radix] * radix + items % radix).tobytes()

    def adopt(self, pairs: Iterable[Pair], completions: tuple[int, ...]) -> int:
        """Return the state with this content, as another table of the same grammar has it."""
        with self.lock:
            return self.number_of(tuple(sorted(pairs)), completions)

    def pairs(self, state: int) -> tuple[Pair, ...]:
        """Return the kernel pairs (stack node, item set) of a state, without their predictions."""
        return self._contents.configurations.pairs(state)

    def completions(self, state: int) -> tuple[int, ...]:
        """Return the nonterminals that completed into BOTTOM with the byte that led here."""
        return self._contents.configurations.completions(state)

    def step(self, state: int, byte_class: int) -> int:
        """Return the state after a byte of ``byte_class``, DEAD where there is none."""
        found = int(self.next[state, byte_class])
        return found if found != UNKNOWN else self.explorer.explore(state, byte_class)

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
        with self.lock:
            reached: dict[int, list[int]] = {}
            for stack_node, item_set in self.sources(state):
                for move in self.items.token_moves(item_set):
                    if move.terminal in terminals:
                        reached.setdefault(stack_node, []).append(move.after)
            return self._settle(reached)

    def token_terminals(self, state: int) -> frozenset[int]:
        """Return the token terminals expected in a state."""
        if not self.tables.token_terminals:
            return frozenset()
        with self.lock:
            moves = (m for _, items in self.sources(state) for m in self.items.token_moves(items))
            return frozenset(move.terminal for move in moves)

    def merge(self, one: int, other: int) -> int:
        """Return the union of two states."""
        with self.lock:
            reached: dict[int, list[int]] = {}
            for stack_node, item_set in (
                *self._contents.configurations.pairs(one),
                *self._contents.configurations.pairs(other),
            ):
                reached.setdefault(stack_node, []).append(item_set)
            completions = {
                *self._contents.configurations.completions(one),
                *self._contents.configurations.completions(other),
            }
            return self._intern(reached, tuple(sorted(completions)))

    def live_classes(self, state: int) -> list[int]:
        """Return the byte classes with a transition from a state, ascending."""
        return self.explorer.live_classes(state)

    def live_plainly(self, state: int) -> list[int]:
        """Do what ``live_classes`` does, in Python."""
        with self.lock:
            sets = [item_set for _, item_set in self.sources(state)]
            return sorted({c for item_set in sets for c in self.items.classes(item_set)})

    def sources(self, state: int) -> tuple[Pair, ...]:
        """Return the pairs of a state together with the pair that they predict."""
        found = self._sources.get(state)
        if found is None:
            with self.lock:
                found = self._sources[state] = self._find_sources(state)
        return found

    def _find_sources(self, state: int) -> tuple[Pair, ...]:
        pairs = self._contents.configurations.pairs(state)
        edges = [
            (wait.nonterminal, stack_node, wait.after)
            for stack_node, item_set in pairs
            for wait in self.items.waits(item_set)
        ]
        if not edges:
            return pairs
        predicted = self.items.predicted(frozenset(triple[0] for triple in edges))
        inner = [(w.nonterminal, SELF, w.after) for w in self.items.waits(predicted)]
        return (*pairs, (self.stack.intern([*edges, *inner]), predicted))

    def explore_plainly(self, state: int, byte_class: int) -> int:
        """Compute a transition; ``explorer`` does so faster. The caller holds the lock."""
        reached: dict[int, list[int]] = {}
        for stack_node, item_set in self.sources(state):
            moved = self.items.move(item_set, byte_class)
            if moved != EMPTY:
                reached.setdefault(stack_node, []).append(moved)
        return self._settle(reached)

    def _settle(self, reached: dict[int, list[int]]) -> int:
        """Close under completion (GLR's reduce) and intern the result."""
        completed = self.items.completed
        work = {
            (stack_node, report)
            for stack_node, sets in reached.items()
            for item_set in sets
            for report in completed(item_set)
        }
        return self._intern(reached, self._complete(reached, work) if work else ())

    def _complete(
        self, reached: dict[int, list[int]], done: set[tuple[int, int]]
    ) -> tuple[int, ...]:
        """Add to ``reached`` what resumes when ``done``, (stack node, nonterminal), completes.

        Returns the nonterminals that complete into BOTTOM, ascending.
        """
        items, stack = self.items, self.stack
        completions: set[int] = set()
        work = list(done)
        while work:
            stack_node, report = work.pop()
            if stack_node == BOTTOM:
                completions.add(report)
            for outer, after in stack.waiting(stack_node, report):
                reached.setdefault(outer, []).append(after)
                for more in items.completed(after):
                    if (outer, more) not in done:
                        done.add((outer, more))
                        work.append((outer, more))
        return tuple(sorted(completions))

    def _intern(self, reached: dict[int, list[int]], completions: tuple[int, ...]) -> int:
        items, stack = self.items, self.stack
        narrowed: dict[int, list[int]] = {}
        for stack_node, sets in reached.items():
            item_set = items.live(sets[0] if len(sets) == 1 else items.union(sets))
            if item_set != EMPTY:
                target = stack.narrow(stack_node, items.reports(item_set))
                narrowed.setdefault(target, []).append(item_set)
        pairs = [
            (stack_node, sets[0] if len(sets) == 1 else items.union(sets))
            for stack_node, sets in narrowed.items()
        ]
        if len(pairs) > 1:
            pairs.sort()
        return self.number_of(tuple(pairs), completions)

    def number_of(self, pairs: tuple[Pair, ...], completions: tuple[int, ...]) -> int:
        """Return the state with this content, a new one if need be. The caller holds the lock."""
        configurations = self._contents.configurations
        count = len(configurations)
        number = configurations.number(pairs, completions)
        if number == count:
            if number == len(self.next):
                self.grow()
            self.next[number] = UNKNOWN
            self.has_completions[number] = bool(completions)
        return number

    def grow(self) -> None:
        """Make room for more states, by far: to copy rows takes time, to have none does not."""
        count, width = self.next.shape
        longer = unwritten(_GROWTH * count, width)
        longer[:count] = self.next
        # Readers hold no lock: the longer array of flags must be there before its rows are.
        flags = np.zeros(_GROWTH * count, np.uint8)
        flags[:count] = self.has_completions
        self.has_completions = flags
        self.next = longer
