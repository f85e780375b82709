"""Item sets: which positions, and what each reports when its nonterminal is complete.

An item is (automaton state, nonterminal to report), packed into one integer. An item set is a
sorted tuple of items with one common origin, interned to a small number. Everything here depends
on the item set alone, never on the origin, so it is worked out once and kept.
"""

from collections.abc import Iterable
from typing import NamedTuple

from kbnf_core.tables import Tables

EMPTY = 0
"""The number of the empty item set."""


class Wait(NamedTuple):
    """A call: when ``nonterminal`` is complete, item set ``after`` goes on."""

    nonterminal: int
    after: int


class TokenMove(NamedTuple):
    """On one token of ``terminal``, item set ``after`` goes on."""

    terminal: int
    after: int


class ItemSets:
    """All item sets met so far, closed under tail calls, and what follows from each."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._radix = len(tables.names)
        self._numbers: dict[tuple[int, ...], int] = {(): EMPTY}
        self._items: list[tuple[int, ...]] = [()]
        self._moves: list[dict[int, tuple[int, ...]]] = [{}]
        self._closures: dict[int, tuple[int, ...]] = {}
        self._waits: dict[int, tuple[Wait, ...]] = {}
        self._token_moves: dict[int, tuple[TokenMove, ...]] = {}
        self._predicted: dict[frozenset[int], int] = {}
        self._completed: dict[int, tuple[int, ...]] = {}
        self._live: dict[int, int] = {}
        self._edge_start: list[int] = tables.edge_start.tolist()
        self._call_start: list[int] = tables.call_start.tolist()
        self._token_start: list[int] = tables.token_start.tolist()

    def __len__(self) -> int:
        return len(self._items)

    def items(self, number: int) -> tuple[int, ...]:
        """Return the packed items of a set."""
        return self._items[number]

    def unpack(self, item: int) -> tuple[int, int]:
        """Return (automaton state, nonterminal to report)."""
        return divmod(item, self._radix)

    def entry(self, nonterminals: Iterable[int]) -> int:
        """Return the item set in which each of ``nonterminals`` begins and reports itself."""
        entry = self._tables.entry
        return self.intern(int(entry[n]) * self._radix + n for n in nonterminals)

    def intern(self, items: Iterable[int]) -> int:
        """Return the number of the set of ``items``, closed under tail calls."""
        closed: set[int] = set()
        for item in items:
            closed.update(self._close(item))
        return self._number(tuple(sorted(closed)))

    def union(self, numbers: Iterable[int]) -> int:
        """Return the number of the union of item sets."""
        joined = {item for number in numbers for item in self._items[number]}
        return self._number(tuple(sorted(joined)))

    def _number(self, key: tuple[int, ...]) -> int:
        number = self._numbers.setdefault(key, len(self._items))
        if number == len(self._items):
            self._items.append(key)
            self._moves.append(self._find_moves(key))
        return number

    def _close(self, item: int) -> tuple[int, ...]:
        found = self._closures.get(item)
        if found is None:
            found = self._closures[item] = self._find_closure(item)
        return found

    def _find_closure(self, item: int) -> tuple[int, ...]:
        tables, radix = self._tables, self._radix
        seen = {item}
        stack = [item]
        while stack:
            state, report = divmod(stack.pop(), radix)
            for i in range(self._call_start[state], self._call_start[state + 1]):
                if tables.call_tail[i]:
                    callee = int(tables.entry[tables.call_nonterminal[i]]) * radix + report
                    if callee not in seen:
                        seen.add(callee)
                        stack.append(callee)
        return tuple(seen)

    def _find_moves(self, items: tuple[int, ...]) -> dict[int, tuple[int, ...]]:
        """Return, by byte class, the items after the byte (not yet closed)."""
        moves: dict[int, list[int]] = {}
        for item in items:
            state, report = divmod(item, self._radix)
            begin, end = self._edge_start[state], self._edge_start[state + 1]
            classes = self._tables.edge_class[begin:end].tolist()
            targets = self._tables.edge_target[begin:end].tolist()
            for byte_class, target in zip(classes, targets, strict=True):
                moves.setdefault(byte_class, []).append(target * self._radix + report)
        return {byte_class: tuple(targets) for byte_class, targets in moves.items()}

    def classes(self, number: int) -> Iterable[int]:
        """Return the byte classes on which a set can move."""
        return self._moves[number].keys()

    def move(self, number: int, byte_class: int) -> int:
        """Return the item set after a byte of ``byte_class``, EMPTY where there is none."""
        targets = self._moves[number].get(byte_class, ())
        return self.intern(targets) if targets else EMPTY

    def waits(self, number: int) -> tuple[Wait, ...]:
        """Return the calls of a set that are not tail calls."""
        found = self._waits.get(number)
        if found is None:
            found = self._waits[number] = tuple(self._find_waits(number))
        return found

    def _find_waits(self, number: int) -> list[Wait]:
        tables = self._tables
        after: dict[int, set[int]] = {}
        for item in self._items[number]:
            state, report = divmod(item, self._radix)
            for i in range(self._call_start[state], self._call_start[state + 1]):
                if not tables.call_tail[i]:
                    returned = int(tables.call_return[i]) * self._radix + report
                    after.setdefault(int(tables.call_nonterminal[i]), set()).add(returned)
        return [Wait(callee, self.intern(items)) for callee, items in sorted(after.items())]

    def token_moves(self, number: int) -> tuple[TokenMove, ...]:
        """Return what single tokens do from a set."""
        found = self._token_moves.get(number)
        if found is None:
            found = self._token_moves[number] = tuple(self._find_token_moves(number))
        return found

    def _find_token_moves(self, number: int) -> list[TokenMove]:
        tables = self._tables
        after: dict[int, set[int]] = {}
        for item in self._items[number]:
            state, report = divmod(item, self._radix)
            for i in range(self._token_start[state], self._token_start[state + 1]):
                target = int(tables.token_target[i]) * self._radix + report
                after.setdefault(int(tables.token_terminal[i]), set()).add(target)
        return [
            TokenMove(terminal, self.intern(items)) for terminal, items in sorted(after.items())
        ]

    def predicted(self, called: frozenset[int]) -> int:
        """Return the item set of everything predicted when ``called`` nonterminals may begin."""
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

    def completed(self, number: int) -> tuple[int, ...]:
        """Return the nonterminals that are complete in a set."""
        found = self._completed.get(number)
        if found is None:
            accepting = self._tables.accepting
            pairs = (divmod(item, self._radix) for item in self._items[number])
            reports = {report for state, report in pairs if accepting[state]}
            found = self._completed[number] = tuple(sorted(reports))
        return found

    def live(self, number: int) -> int:
        """Return the set without the items that can only complete: they have had their say."""
        found = self._live.get(number)
        if found is None:
            kept = tuple(item for item in self._items[number] if self._goes_on(item))
            found = self._live[number] = self._number(kept)
        return found

    def _goes_on(self, item: int) -> bool:
        state = item // self._radix
        starts = (self._edge_start, self._call_start, self._token_start)
        return any(start[state] < start[state + 1] for start in starts)

    def reports(self, number: int) -> frozenset[int]:
        """Return the nonterminals that the items of a set report."""
        return frozenset(item % self._radix for item in self._items[number])
