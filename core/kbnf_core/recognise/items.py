"""Item sets: sorted, interned sets of automaton states and the nonterminals they report.

An item is (automaton state, nonterminal to report on completion), packed into one integer. All
items of a set share one stack node. Everything computed here depends on the item set alone, never
on that node, so it is memoised per item set.
"""

from collections.abc import Iterable
from typing import NamedTuple

from kbnf_core.kernel import Lists
from kbnf_core.lower.tables import Tables

EMPTY = 0
"""The number of the empty item set."""


class Wait(NamedTuple):
    """A call: when ``nonterminal`` completes, item set ``after`` resumes."""

    nonterminal: int
    after: int


class TokenMove(NamedTuple):
    """A transition on one token of ``terminal`` to item set ``after``."""

    terminal: int
    after: int


class ItemSets:
    """Interns item sets, closed under tail calls, and memoises their transitions and calls.

    Sets are named by number; results are memoised. Not locked: ``StateTable`` is.
    An item is ``state * radix + nonterminal to report``. ``sets`` are their contents; the compiled
    kernel reads and adds to them, too.
    """

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self.radix = len(tables.names)
        self.sets = Lists()
        self._completed: dict[int, tuple[int, ...]] = {}
        self._reports: dict[int, frozenset[int]] = {}
        self._live: dict[int, int] = {}
        self._targets: dict[int, dict[int, list[int]]] = {}
        self._moves: dict[tuple[int, int], int] = {}
        self._waits: dict[int, tuple[Wait, ...]] = {}
        self._token_moves: dict[int, tuple[TokenMove, ...]] = {}
        self._tail_called: dict[int, tuple[int, ...]] = {}
        self._predicted: dict[frozenset[int], int] = {}
        self.number(())

    def __len__(self) -> int:
        return len(self.sets)

    @property
    def size(self) -> int:
        """The number of items in all sets."""
        return self.sets.size

    def items(self, number: int) -> tuple[int, ...]:
        """Return the packed items of a set, ascending."""
        return self.sets.values(number)

    def pack(self, state: int, nonterminal: int) -> int:
        """Return the item of an automaton state and the nonterminal to report."""
        return state * self.radix + nonterminal

    def unpack(self, item: int) -> tuple[int, int]:
        """Return (automaton state, nonterminal to report)."""
        return divmod(item, self.radix)

    def completed(self, number: int) -> tuple[int, ...]:
        """Return the nonterminals that a set completes, ascending."""
        found = self._completed.get(number)
        if found is None:
            accepting, radix = self._tables.accepting, self.radix
            complete = {i % radix for i in self.items(number) if accepting[i // radix]}
            found = self._completed[number] = tuple(sorted(complete))
        return found

    def reports(self, number: int) -> frozenset[int]:
        """Return the nonterminals that the items of a set report."""
        found = self._reports.get(number)
        if found is None:
            items = self.items(number)
            found = self._reports[number] = frozenset(item % self.radix for item in items)
        return found

    def entry(self, nonterminals: Iterable[int]) -> int:
        """Return the item set at the entries of ``nonterminals``, each reporting itself."""
        entry = self._tables.entry
        return self.intern(int(entry[n]) * self.radix + n for n in nonterminals)

    def intern(self, items: Iterable[int]) -> int:
        """Return the number of the set of ``items``, closed under tail calls."""
        radix = self.radix
        closed = {
            state * radix + item % radix
            for item in items
            for state in self._with_tail_calls(item // radix)
        }
        return self.number(tuple(sorted(closed)))

    def union(self, numbers: Iterable[int]) -> int:
        """Return the number of the union of item sets."""
        joined = {item for number in numbers for item in self.items(number)}
        return self.number(tuple(sorted(joined)))

    def number(self, items: tuple[int, ...]) -> int:
        """Intern a set that is closed and sorted already."""
        return self.sets.number(items)

    def _with_tail_calls(self, state: int) -> tuple[int, ...]:
        """Return the closure of an automaton state under tail calls."""
        found = self._tail_called.get(state)
        if found is None:
            found = self._tail_called[state] = self._find_tail_calls(state)
        return found

    def _find_tail_calls(self, state: int) -> tuple[int, ...]:
        tables = self._tables
        seen = {state}
        stack = [state]
        while stack:
            at = stack.pop()
            calls = slice(*tables.call_start[at : at + 2].tolist())
            called = tables.call_nonterminal[calls][tables.call_tail[calls] != 0]
            fresh = set(tables.entry[called].tolist()) - seen
            seen |= fresh
            stack.extend(fresh)
        return tuple(seen)

    def classes(self, number: int) -> Iterable[int]:
        """Return the byte classes with a transition from a set."""
        return self._targets_of(number).keys()

    def move(self, number: int, byte_class: int) -> int:
        """Return the item set after a byte of ``byte_class``, EMPTY where there is none."""
        found = self._moves.get((number, byte_class))
        if found is None:
            targets = self._targets_of(number).get(byte_class, ())
            found = self._moves[number, byte_class] = self.intern(targets) if targets else EMPTY
        return found

    def _targets_of(self, number: int) -> dict[int, list[int]]:
        """Return, by byte class, the items after the byte (not yet closed)."""
        found = self._targets.get(number)
        if found is None:
            found = self._targets[number] = {}
            for item in self.items(number):
                state, report = divmod(item, self.radix)
                for byte_class, target in self._edges(state):
                    found.setdefault(byte_class, []).append(target * self.radix + report)
        return found

    def _edges(self, state: int) -> Iterable[tuple[int, int]]:
        tables = self._tables
        edges = slice(tables.edge_start[state], tables.edge_start[state + 1])
        classes, targets = tables.edge_class[edges].tolist(), tables.edge_target[edges].tolist()
        return zip(classes, targets, strict=True)

    def waits(self, number: int) -> tuple[Wait, ...]:
        """Return the calls of a set that are not tail calls."""
        found = self._waits.get(number)
        if found is None:
            found = self._waits[number] = tuple(self._find_waits(self.items(number)))
        return found

    def _find_waits(self, items: tuple[int, ...]) -> list[Wait]:
        tables = self._tables
        after: dict[int, set[int]] = {}
        for item in items:
            state, report = divmod(item, self.radix)
            for i in range(tables.call_start[state], tables.call_start[state + 1]):
                if not tables.call_tail[i]:
                    returned = int(tables.call_return[i]) * self.radix + report
                    after.setdefault(int(tables.call_nonterminal[i]), set()).add(returned)
        return [Wait(callee, self.intern(items)) for callee, items in sorted(after.items())]

    def token_moves(self, number: int) -> tuple[TokenMove, ...]:
        """Return the transitions of a set on token terminals."""
        found = self._token_moves.get(number)
        if found is None:
            moves = self._find_token_moves(self.items(number))
            found = self._token_moves[number] = tuple(moves)
        return found

    def _find_token_moves(self, items: tuple[int, ...]) -> list[TokenMove]:
        tables = self._tables
        after: dict[int, set[int]] = {}
        for item in items:
            state, report = divmod(item, self.radix)
            for i in range(tables.token_start[state], tables.token_start[state + 1]):
                target = int(tables.token_target[i]) * self.radix + report
                after.setdefault(int(tables.token_terminal[i]), set()).add(target)
        return [TokenMove(terminal, self.intern(to)) for terminal, to in sorted(after.items())]

    def predicted(self, called: frozenset[int]) -> int:
        """Return the item set predicted by calls of ``called``, transitively."""
        found = self._predicted.get(called)
        if found is None:
            found = self._predicted[called] = self._predict(called)
        return found

    def _predict(self, called: frozenset[int]) -> int:
        seen = set(called)
        while True:
            number = self.entry(seen)
            more = {wait.nonterminal for wait in self.waits(number)} - seen
            if not more:
                return number
            seen |= more

    def live(self, number: int) -> int:
        """Drop items without outgoing edges; their completions are recorded already."""
        found = self._live.get(number)
        if found is None:
            items = tuple(item for item in self.items(number) if self._goes_on(item))
            found = self._live[number] = self.number(items)
        return found

    def _goes_on(self, item: int) -> bool:
        state = item // self.radix
        tables = self._tables
        starts = (tables.edge_start, tables.call_start, tables.token_start)
        return any(start[state] < start[state + 1] for start in starts)
