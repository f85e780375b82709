"""Walks an engine and the reference side by side and demands the same answers everywhere."""

from dataclasses import dataclass
from random import Random

import kbnf_core
from kbnf_core import Config, Engine
from kbnf_testing import subject
from kbnf_testing.earley import Recogniser
from kbnf_testing.generate import Features, GrammarMaker, random_string, random_tokens
from kbnf_testing.printer import to_kbnf
from kbnf_testing.vocabulary import Tokens
from kbnf_testing.walk import ACCEPTED, Position, ReferenceEngine

FINISHES = ("eager", "token", "eos")
_UNKNOWN_IDS = (25, 200)


@dataclass(frozen=True, slots=True)
class Sample:
    """A random grammar that has words, and the alphabet of its texts."""

    text: str
    alphabet: str
    recogniser: Recogniser
    compiled: kbnf_core.Grammar


def random_sample(random: Random, features: Features) -> Sample:
    """Return the first random grammar that is not empty."""
    while True:
        maker = GrammarMaker(random, features)
        grammar = maker.grammar()
        recogniser = Recogniser(grammar)
        if not recogniser.is_empty():
            text = to_kbnf(grammar)
            return Sample(text, maker.alphabet, recogniser, kbnf_core.Grammar(text))


class Comparison:
    """One grammar and one vocabulary, under all ways to finish; the engines share their caches."""

    def __init__(self, sample: Sample, tokens: Tokens) -> None:
        self.sample = sample
        self.tokens = tokens
        vocabulary = subject.vocabulary_of(tokens)
        self._engines = {
            finish: Engine(sample.compiled, vocabulary, Config(finish=finish))
            for finish in FINISHES
        }
        self._seen: set[tuple[str, tuple[int, ...]]] = set()

    def walk(self, string: list[int]) -> None:
        """Offer the tokens of ``string`` in turn, comparing everything at every step."""
        for finish in FINISHES:
            self._walk(finish, string)

    def _walk(self, finish: str, string: list[int]) -> None:
        reference = ReferenceEngine(self.sample.recogniser, self.tokens, finish)
        engine = self._engines[finish]
        engine.reset()
        position = Position()
        path: tuple[int, ...] = ()
        self._compare(reference, position, path)
        for token_id in string:
            expected, position = reference.offer(position, token_id)
            path = (*path, token_id)
            assert subject.offer(engine, token_id) is expected, self._describe(finish, path)
            self._compare(reference, position, path)

    def _compare(
        self, reference: ReferenceEngine, position: Position, path: tuple[int, ...]
    ) -> None:
        key = (reference.finish, path)
        if key in self._seen:
            return
        self._seen.add(key)
        engine = self._engines[reference.finish]
        where = self._describe(*key)
        expected = {
            token_id: reference.offer(position, token_id)[0]
            for token_id in (*self.tokens.ids(), *_UNKNOWN_IDS)
        }
        mask = [
            token_id
            for token_id, outcome in expected.items()
            if outcome in ACCEPTED and self.tokens.ordinary.get(token_id) != b""
        ]
        assert subject.allowed(engine) == mask, where
        assert subject.outcomes(engine, list(expected)) == expected, where
        assert engine.is_finished() == position.finished, where
        assert engine.can_finish() == reference.can_finish(position), where
        assert subject.allowed(engine) == mask, where

    def _describe(self, finish: str, path: tuple[int, ...]) -> str:
        spelled = [self.tokens.ordinary.get(token_id, token_id) for token_id in path]
        return f"finish={finish}\n{self.sample.text}\n{self.tokens}\nafter {path} {spelled}"


def compare_at_random(random: Random, features: Features, vocabularies: int, strings: int) -> int:
    """Compare on one random grammar; return the number of triples that were walked."""
    sample = random_sample(random, features)
    for _ in range(vocabularies):
        tokens = random_tokens(random, sample.alphabet)
        comparison = Comparison(sample, tokens)
        reference = ReferenceEngine(sample.recogniser, tokens, "eos")
        for _ in range(strings):
            comparison.walk(random_string(random, reference, longest=6))
    return vocabularies * strings
