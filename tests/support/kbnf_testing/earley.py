"""The reference recogniser: Earley's algorithm as in the textbooks, on a reduced grammar.

Because every symbol that is kept derives some word, a word can be completed to one of the
language exactly when something of it is still alive after its last symbol (the valid-prefix
property of Earley's algorithm). ``definition`` checks this file on small grammars.
"""

from collections import defaultdict
from itertools import islice
from typing import TypeAlias

from kbnf_testing import grammar as g
from kbnf_testing.bnf import Productions, to_productions
from kbnf_testing.leaves import Matcher, matcher_of

_EVERY_BYTE = [chr(value) for value in range(256)]


_Item: TypeAlias = tuple[int, int, int]
"""A production, the place of the dot in it, and where its recognition began."""


class _Set:
    """The items at one position of a word."""

    def __init__(self) -> None:
        self.waiting: dict[int, list[_Item]] = defaultdict(list)
        self.leaves: set[tuple[int, int]] = set()
        self.complete: set[tuple[int, int]] = set()


class Recogniser:
    """Decides membership and viability; answers are remembered by word."""

    def __init__(self, grammar: g.Grammar) -> None:
        self._productions: Productions = to_productions(grammar)
        self._matchers: dict[int, Matcher] = {}
        for symbol, leaf in self._productions.leaves.items():
            self._matchers[symbol] = matcher_of(leaf, _compile_body)
        self._useful = self._find_useful()
        self._charts: dict[str, list[_Set] | None] = {"": self._first_chart()}

    def viable(self, word: str) -> bool:
        """Return whether some completion of ``word``, possibly empty, is in the language."""
        return self._chart(word) is not None

    def contains(self, word: str) -> bool:
        """Return whether ``word`` is in the language."""
        chart = self._chart(word)
        return chart is not None and (self._productions.start, 0) in chart[-1].complete

    def is_empty(self) -> bool:
        """Return whether there is no word, or only the empty one."""
        chart = self._chart("")
        if chart is None:
            return True
        takes_token = any(
            isinstance(self._productions.leaves[leaf], g.Token) for leaf, _ in chart[0].leaves
        )
        return not takes_token and not any(self.viable(byte) for byte in _EVERY_BYTE)

    def is_endless(self) -> bool:
        """Return whether there is a word without an end, each beginning of which can go on.

        It goes from symbol to symbol, after others that derive words, to a leaf with words of any
        length, or round and round past what is not empty.
        """
        heads = {self._productions.rules[number][0] for number in self._useful}
        derives = heads | {leaf for leaf, found in self._matchers.items() if found.viable("")}
        consumes = self._find_consuming(derives)
        after: dict[int, set[tuple[int, bool]]] = defaultdict(set)
        for head, body in self._productions.rules:
            for place, symbol in enumerate(body):
                after[head].add((symbol, not consumes.isdisjoint(body[:place])))
                if symbol not in derives:
                    break
        reached = _reached(after, self._productions.start)
        return any(
            (symbol in self._matchers and _is_boundless(self._matchers[symbol]))
            or any(past and symbol in _reached(after, to) for to, past in after[symbol])
            for symbol in reached
        )

    def _find_consuming(self, derives: set[int]) -> set[int]:
        """Return the symbols that derive some word that is not empty."""
        found = {
            symbol
            for symbol, leaf in self._matchers.items()
            if isinstance(self._productions.leaves[symbol], g.Token)
            or any(leaf.viable(byte) for byte in _EVERY_BYTE)
        }
        while True:
            more = {
                head
                for head, body in self._productions.rules
                if derives.issuperset(body) and not found.isdisjoint(body)
            } - found
            if not more:
                return found & derives
            found |= more

    def has_unproductive_part(self) -> bool:
        """Return whether some alternative, reachable or not, can never be completed."""
        return len(self._useful) < len(self._productions.rules)

    def _find_useful(self) -> set[int]:
        """Return the productions of which every symbol derives some word."""
        derives = {symbol for symbol, leaf in self._matchers.items() if leaf.viable("")}
        useful: set[int] = set()
        while True:
            found = {
                number
                for number, (_, body) in enumerate(self._productions.rules)
                if derives.issuperset(body)
            }
            if found == useful:
                return useful
            useful = found
            derives |= {self._productions.rules[number][0] for number in found}

    def _first_chart(self) -> list[_Set] | None:
        chart: list[_Set] = []
        self._close(chart, "", [], self._predict(self._productions.start, 0))
        return chart if chart[0].complete or chart[0].leaves else None

    def _chart(self, word: str) -> list[_Set] | None:
        if word not in self._charts:
            before = self._chart(word[:-1])
            self._charts[word] = None if before is None else self._extend(before, word)
        return self._charts[word]

    def _extend(self, before: list[_Set], word: str) -> list[_Set] | None:
        alive = [
            (leaf, origin)
            for leaf, origin in before[-1].leaves
            if self._matchers[leaf].viable(word[origin:])
        ]
        if not alive:
            return None
        chart = list(before)
        self._close(chart, word, alive, [])
        return chart

    def _close(
        self, chart: list[_Set], word: str, alive: list[tuple[int, int]], items: list[_Item]
    ) -> None:
        """Append the set after ``word``: leaves alive there, ``items``, and all that follows."""
        here = len(word)
        current = _Set()
        chart.append(current)
        seen: set[_Item] = set()
        agenda = list(items)
        for leaf, origin in alive:
            agenda += self._meet_leaf(chart, word, leaf, origin)
        while agenda:
            item = agenda.pop()
            if item in seen:
                continue
            seen.add(item)
            production, dot, origin = item
            head, body = self._productions.rules[production]
            if dot == len(body):
                agenda += _complete(chart, head, origin)
                continue
            symbol = body[dot]
            current.waiting[symbol].append(item)
            if (symbol, here) in current.complete:
                agenda.append((production, dot + 1, origin))
            elif symbol in self._matchers:
                agenda += self._meet_leaf(chart, word, symbol, here)
            else:
                agenda += self._predict(symbol, here)

    def _meet_leaf(self, chart: list[_Set], word: str, leaf: int, origin: int) -> list[_Item]:
        chart[-1].leaves.add((leaf, origin))
        if self._matchers[leaf].contains(word[origin:]):
            return _complete(chart, leaf, origin)
        return []

    def _predict(self, symbol: int, here: int) -> list[_Item]:
        numbers = self._productions.by_head[symbol]
        return [(number, 0, here) for number in numbers if number in self._useful]


def _complete(chart: list[_Set], symbol: int, origin: int) -> list[_Item]:
    """Note that ``symbol`` spans from ``origin`` to here; return the items that go on."""
    chart[-1].complete.add((symbol, origin))
    waiting = chart[origin].waiting[symbol]
    return [(production, dot + 1, began) for production, dot, began in waiting]


def _compile_body(body: g.Expression) -> Matcher:
    return Recogniser(g.Grammar({"start": body}))


def _reached(after: dict[int, set[tuple[int, bool]]], start: int) -> set[int]:
    """Return ``start`` and all symbols that lead on from it."""
    reached = {start}
    agenda = [start]
    while agenda:
        fresh = {symbol for symbol, _ in after[agenda.pop()]} - reached
        reached |= fresh
        agenda += fresh
    return reached


def _is_boundless(leaf: Matcher) -> bool:
    """Return whether a leaf has words longer than any bound in the grammars that are made here."""
    words = [""]
    for _ in range(40):
        longer = (word + byte for word in words for byte in _EVERY_BYTE if leaf.viable(word + byte))
        words = list(islice(longer, 16))
    return bool(words)
