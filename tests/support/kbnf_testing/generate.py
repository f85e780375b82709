"""Random grammars, vocabularies and token strings.

Everything is drawn from a ``random.Random``: a seeded one gives a fixed run, the one of
``hypothesis.strategies.randoms`` gives examples that shrink.
"""

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from kbnf_testing import grammar as g
from kbnf_testing.vocabulary import Tokens
from kbnf_testing.walk import Outcome, Position, ReferenceEngine

if TYPE_CHECKING:
    from collections.abc import Callable

_ALPHABETS = ("AB", "AB", "ABC", "Aé", "A你", "你A", "AB\n", "'A\\")
_TEXT_LENGTHS = ((0, 0), (1, 1), (1, 1), (1, 1), (1, 2), (1, 2), (2, 3))
_NAMES = ("start", "X", "Y", "Z")
_EXCLUDED_NAME = "Excluded"
SPECIAL = {"<|x|>": 60, "<|y|>": 61}
EOS = (62, 63)


@dataclass(frozen=True, slots=True)
class Features:
    """Features of random grammars; the reference engines know fewer forms than KBNF has."""

    counts: bool = True
    tokens: bool = True
    raw_bytes: bool = True
    exceptions: bool = True
    patterns: bool = True
    regexes: bool = True
    nullable: bool = True


class GrammarMaker:
    """Makes one random grammar; ``alphabet`` is what its texts are written in."""

    def __init__(self, random: Random, features: Features) -> None:
        self._random = random
        self._features = features
        self.alphabet = random.choice(_ALPHABETS)
        self._names = _NAMES[: random.choice((1, 2, 2, 3, 4))]
        self._excluded: tuple[bytes, ...] = ()

    def grammar(self) -> g.Grammar:
        """Return the grammar."""
        rules = {name: self._rule(name) for name in self._names}
        if self._excluded:
            branches = tuple(g.Literal(text) for text in self._excluded)
            rules[_EXCLUDED_NAME] = g.Choice(branches)
        return g.Grammar(rules)

    def _rule(self, name: str) -> g.Expression:
        if self._random.random() < 0.4:
            return self._recursive(name)
        return self._choice(depth=self._random.choice((0, 1, 1, 2)))

    def _recursive(self, name: str) -> g.Expression:
        """One of the textbook shapes of recursion, with random parts."""
        itself = g.Reference(name)
        other = g.Reference(self._random.choice(self._names))
        part, base = self._sequence(0), self._sequence(1)
        shapes: list[tuple[g.Expression, ...]] = [
            (_sequence(itself, part), base),
            (_sequence(part, itself), base),
            (_sequence(part, itself, self._leaf()), base),
            (_sequence(other, part), base),
            (_sequence(part, other), base),
            (other, base),
            (_sequence(itself, itself), base),
            (itself, base),
            (_sequence(itself, part),),
        ]
        if self._features.nullable:
            hidden = g.Repeat(self._leaf(), 0, 1)
            shapes += [
                (_sequence(part, itself, self._leaf()), g.Sequence(())),
                (_sequence(hidden, itself, part), base),
            ]
        return g.Choice(self._random.choice(shapes))

    def _choice(self, depth: int) -> g.Expression:
        count = self._random.choice((1, 1, 2, 2, 3))
        branches = tuple(self._sequence(depth) for _ in range(count))
        return branches[0] if count == 1 else g.Choice(branches)

    def _sequence(self, depth: int) -> g.Expression:
        count = self._random.choice((1, 1, 2, 2, 3))
        parts = tuple(self._item(depth) for _ in range(count))
        return parts[0] if count == 1 else g.Sequence(parts)

    def _item(self, depth: int) -> g.Expression:
        roll = self._random.random()
        if roll < 0.25:
            return g.Reference(self._random.choice(self._names))
        if roll < 0.5 and depth:
            return self._repeat(depth - 1)
        if roll < 0.6 and depth:
            return self._choice(depth - 1)
        return self._leaf()

    def _repeat(self, depth: int) -> g.Expression:
        bounds: list[tuple[int, int | None]] = [(1, None)]
        if self._features.nullable:
            bounds += [(0, 1), (0, None)]
        if self._features.counts:
            bounds += [(2, 2), (1, 3), (2, None), (0, 2)]
        return g.Repeat(self._choice(depth), *self._random.choice(bounds))

    def _leaf(self) -> g.Expression:
        make: list[Callable[[], g.Expression]] = [self._literal] * 8
        if self._features.regexes:
            make += [self._regex] * 3
        if self._features.exceptions:
            make += [self._except]
        if self._features.patterns:
            make += [self._early, self._never]
        if self._features.patterns and self._features.nullable:
            make += [self._substrings]
        if self._features.tokens:
            make += [self._token]
        if self._features.raw_bytes:
            make += [self._raw]
        return self._random.choice(make)()

    def _text(self, shortest: int, longest: int) -> str:
        count = self._random.randint(shortest, longest)
        return "".join(self._random.choice(self.alphabet) for _ in range(count))

    def _literal(self) -> g.Expression:
        lengths = _TEXT_LENGTHS if self._features.nullable else _TEXT_LENGTHS[1:]
        return g.Literal(self._text(*self._random.choice(lengths)).encode())

    def _raw(self) -> g.Expression:
        # A piece of a character, or a byte that no text has.
        data = self._random.choice(self.alphabet).encode()
        return g.Literal(self._random.choice((data[:1], data[1:] or b"\xff", b"\xff")))

    def _except(self) -> g.Expression:
        limit = self._random.choice((0, 0, 1, 2, 3))
        if not self._excluded and self._random.random() < 0.5:
            self._excluded = (self._text(1, 2).encode(), self._text(1, 2).encode())
        if self._excluded and self._random.random() < 0.5:
            return g.Except(self._excluded, limit, _EXCLUDED_NAME)
        return g.Except((self._text(1, 2).encode(),), limit)

    def _token(self) -> g.Expression:
        name = self._random.choice(sorted(SPECIAL))
        if self._random.random() < 0.5:
            return g.Token(frozenset({SPECIAL[name]}), name=name)
        ids = frozenset(self._random.sample([*range(8), *SPECIAL.values()], 2))
        return g.Token(ids, negated=self._random.random() < 0.3)

    def _regex(self) -> g.Expression:
        return g.Regex(self._pattern(2))

    def _early(self) -> g.Expression:
        return g.Early(self._pattern(2))

    def _never(self) -> g.Expression:
        return g.Never(self._pattern(1))

    def _substrings(self) -> g.Expression:
        return g.Substrings(self._text(1, 4).encode())

    def _pattern(self, depth: int) -> g.Expression:
        roll = self._random.random()
        if depth == 0 or roll < 0.3:
            return self._pattern_leaf()
        parts = tuple(self._pattern(depth - 1) for _ in range(self._random.choice((1, 2, 2))))
        if roll < 0.6:
            return g.Sequence(parts)
        if roll < 0.75:
            return g.Choice(parts)
        bounds: list[tuple[int, int | None]] = [(1, None), (1, 2)]
        if self._features.nullable:
            bounds += [(0, 1), (0, None)]
        return g.Repeat(g.Sequence(parts), *self._random.choice(bounds))

    def _pattern_leaf(self) -> g.Expression:
        roll = self._random.random()
        if roll < 0.6:
            return g.Literal(self._text(1, 2).encode())
        if roll < 0.75:
            return g.Chars(frozenset({"\n"}), negated=True)
        chars = frozenset(self._random.sample(self.alphabet, self._random.choice((1, 2))))
        return g.Chars(chars, negated=self._random.random() < 0.4)


def _sequence(*parts: g.Expression) -> g.Expression:
    return g.Sequence(parts)


def random_tokens(random: Random, alphabet: str) -> Tokens:
    """Return a vocabulary for texts in ``alphabet``.

    It has gaps, duplicates, pieces of characters, an empty token now and then, special tokens,
    and none, one or two ids that end the sequence.
    """
    texts = [letter.encode() for letter in alphabet if random.random() < 0.9]
    for _ in range(random.randint(2, 6)):
        length = random.randint(2, 4)
        texts.append("".join(random.choice(alphabet) for _ in range(length)).encode())
    texts += [_piece(random, text) for text in random.sample(texts, min(3, len(texts)))]
    if random.random() < 0.3:
        texts.append(b"")
    if random.random() < 0.3:
        texts.append(random.choice((b"\xff", b"x", b"\x00")))
    ids = random.sample(range(24), len(texts))
    eos = frozenset(random.sample(EOS, random.choice((0, 1, 1, 2))))
    return Tokens(dict(zip(ids, texts, strict=True)), SPECIAL, eos)


def _piece(random: Random, text: bytes) -> bytes:
    start, end = sorted(random.sample(range(len(text) + 1), 2))
    return text[start:end]


def random_string(random: Random, engine: ReferenceEngine, longest: int) -> list[int]:
    """Return token ids to offer: mostly ones that can come, some near misses, some unknown."""
    position = Position()
    string: list[int] = []
    for _ in range(random.randint(1, longest)):
        allowed = engine.allowed(position)
        if allowed and random.random() < 0.8:
            token_id = random.choice(allowed)
        else:
            token_id = random.choice([*engine.tokens.ids(), 100])
        string.append(token_id)
        outcome, position = engine.offer(position, token_id)
        if outcome is Outcome.FINISHED:
            break
    return string
