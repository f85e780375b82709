"""The definition itself: the least solution of a grammar's equations, by iterating them.

``words_up_to`` solves them over sets of words (Kleene), cut at a length; ``is_viable`` over
relations between the places of a word (Bar-Hillel, Perles and Shamir), where the last place
stands for every continuation. Both are too slow for anything but checking the reference.
"""

from collections.abc import Hashable, Iterable
from functools import cached_property
from itertools import product
from typing import Generic, Protocol, TypeVar

from kbnf_testing import grammar as g
from kbnf_testing.leaves import Matcher, matcher_of

T = TypeVar("T", bound=Hashable)


def words_up_to(grammar: g.Grammar, alphabet: str, length: int) -> frozenset[str]:
    """Return the words of ``grammar`` over ``alphabet`` that have at most ``length`` symbols."""
    return _Equations(_Words(alphabet, length)).solve(grammar)


def is_viable(grammar: g.Grammar, word: str) -> bool:
    """Return whether some completion of ``word``, possibly the empty one, is in the language."""
    return (0, len(word)) in _Equations(_Spans(word)).solve(grammar)


class _Algebra(Protocol[T]):
    """What symbols mean; ``turns`` repetitions of anything reach all that more can reach."""

    turns: int

    @property
    def unit(self) -> frozenset[T]: ...

    def leaf(self, leaf: g.Leaf) -> frozenset[T]: ...

    def join(self, left: frozenset[T], right: frozenset[T]) -> frozenset[T]: ...


class _Equations(Generic[T]):
    def __init__(self, algebra: _Algebra[T]) -> None:
        self._algebra = algebra
        self._leaves: dict[g.Leaf, frozenset[T]] = {}

    def solve(self, grammar: g.Grammar) -> frozenset[T]:
        known: dict[str, frozenset[T]] = dict.fromkeys(grammar.rules, frozenset())
        while True:
            following = {name: self._meaning(body, known) for name, body in grammar.rules.items()}
            if following == known:
                return known[grammar.start]
            known = following

    def _meaning(self, node: g.Expression, known: dict[str, frozenset[T]]) -> frozenset[T]:
        match node:
            case g.Reference():
                return known[node.name]
            case g.Regex():
                return self._meaning(node.body, known)
            case g.Choice():
                return _union(self._meaning(branch, known) for branch in node.branches)
            case g.Sequence():
                return self._join_all(self._meaning(part, known) for part in node.parts)
            case g.Repeat():
                return self._repeat(self._meaning(node.body, known), node.low, node.high)
            case _:
                if node not in self._leaves:
                    self._leaves[node] = self._algebra.leaf(node)
                return self._leaves[node]

    def _join_all(self, parts: Iterable[frozenset[T]]) -> frozenset[T]:
        result = self._algebra.unit
        for part in parts:
            result = self._algebra.join(result, part)
        return result

    def _repeat(self, body: frozenset[T], low: int, high: int | None) -> frozenset[T]:
        last = low + self._algebra.turns if high is None else high
        return _union(self._join_all([body] * count) for count in range(low, last + 1))


class _Words:
    """A set of words; all those over the alphabet, up to the length, exist."""

    def __init__(self, alphabet: str, length: int) -> None:
        self.turns = length
        self.unit = frozenset({""})
        self._all = [
            "".join(symbols) for n in range(length + 1) for symbols in product(alphabet, repeat=n)
        ]

    def join(self, left: frozenset[str], right: frozenset[str]) -> frozenset[str]:
        joined = (a + b for a in left for b in right)
        return frozenset(word for word in joined if len(word) <= self.turns)

    def leaf(self, leaf: g.Leaf) -> frozenset[str]:
        return frozenset(word for word in self._all if _is_word(leaf, word))


class _Spans:
    """A set of pairs of places between which a word of the language lies."""

    def __init__(self, word: str) -> None:
        self._word = word
        self.turns = len(word) + 1

    @cached_property
    def unit(self) -> frozenset[tuple[int, int]]:
        return frozenset((place, place) for place in range(len(self._word) + 1))

    def join(
        self, left: frozenset[tuple[int, int]], right: frozenset[tuple[int, int]]
    ) -> frozenset[tuple[int, int]]:
        return frozenset((i, k) for i, j in left for start, k in right if start == j)

    def leaf(self, leaf: g.Leaf) -> frozenset[tuple[int, int]]:
        matcher = matcher_of(leaf, _BodyByDefinition)
        end = len(self._word)
        inside = {
            (i, j)
            for i in range(end + 1)
            for j in range(i, end + 1)
            if matcher.contains(self._word[i:j])
        }
        beyond = {(i, end) for i in range(end + 1) if matcher.viable(self._word[i:])}
        return frozenset(inside | beyond)


class _BodyByDefinition(Matcher):
    """The regex inside ``#e`` or ``#ex``."""

    def __init__(self, body: g.Expression) -> None:
        self._grammar = g.Grammar({"start": body})

    def contains(self, word: str) -> bool:
        return _is_member(self._grammar.rules["start"], word)

    def viable(self, word: str) -> bool:
        return is_viable(self._grammar, word)


def _is_member(body: g.Expression, word: str) -> bool:
    alphabet = "".join(sorted(set(word)))
    return word in words_up_to(g.Grammar({"start": body}), alphabet, len(word))


def _union(sets: Iterable[frozenset[T]]) -> frozenset[T]:
    return frozenset[T]().union(*sets)


def _is_word(leaf: g.Leaf, word: str) -> bool:
    if isinstance(leaf, g.Token):
        symbol = ord(word) if len(word) == 1 else 0
        return symbol >= g.TOKEN_BASE and ((symbol - g.TOKEN_BASE) in leaf.ids) != leaf.negated
    if any(ord(symbol) >= g.TOKEN_BASE for symbol in word):
        return False
    return _is_byte_word(leaf, word.encode("latin-1"))


def _is_byte_word(leaf: g.Leaf, data: bytes) -> bool:
    match leaf:
        case g.Literal():
            return data == leaf.data
        case g.Chars():
            return _is_character_of(leaf, data)
        case g.Substrings():
            return data in leaf.data
        case g.Except():
            fits = leaf.limit == 0 or len(data) <= leaf.limit
            return bool(data) and fits and not any(text in data for text in leaf.excluded)
        case g.Never():
            return bool(data) and not any(_is_member(leaf.body, part) for part in _factors(data))
        case g.Early():
            word = g.word_of(data)
            before = (word[:end] for end in range(1, len(word)))
            is_member = bool(data) and _is_member(leaf.body, word)
            return is_member and not any(_is_member(leaf.body, prefix) for prefix in before)
        case g.Token():
            return False


def _is_character_of(leaf: g.Chars, data: bytes) -> bool:
    try:
        character = data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return len(character) == 1 and (character in leaf.chars) != leaf.negated


def _factors(data: bytes) -> list[str]:
    word = g.word_of(data)
    return [word[i:j] for i in range(len(word) + 1) for j in range(i, len(word) + 1)]
