"""Invariants of an engine at every position of every text, for any grammar and vocabulary."""

import copy
import pickle
from random import Random

import numpy as np

from kbnf_core import Config, Engine
from kbnf_core.text.errors import EngineError, GrammarError
from kbnf_testing import subject
from kbnf_testing.agreement import FINISHES
from kbnf_testing.generate import Features, GrammarMaker, random_tokens
from kbnf_testing.printer import to_kbnf
from kbnf_testing.walk import ACCEPTED

_UNKNOWN_IDS = (25, 200)


class Invariants:
    """A random grammar, vocabulary and way to finish, walked at random, and checked on the way.

    ``checks`` counts the answers that were compared.
    """

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self.engine = _random_engine(self._random)
        self._start = copy.copy(self.engine)
        self._ids = [*range(self.engine.vocabulary.size), *_UNKNOWN_IDS]
        self.checks = 0

    def walk(self, steps: int) -> None:
        """Check everything at every place of one random text, then the way back."""
        seen = [self._check_place()]
        while len(seen) <= steps:
            step = self._next()
            if step is None:
                break
            self._accept(step)
            seen.append(self._check_place())
        self._check_ways_back(seen)

    def _next(self) -> int | bytes | None:
        """Return a token that can come, or now and then its bytes."""
        ids = subject.allowed(self.engine)
        if not ids:
            return None
        token_id = self._random.choice(ids)
        data = self.engine.vocabulary.token(token_id)
        is_bytes = data and self._random.random() < 0.2
        if is_bytes and data and subject.offer_bytes(copy.copy(self.engine), data) in ACCEPTED:
            return data
        return token_id

    def _accept(self, step: int | bytes) -> None:
        if isinstance(step, bytes):
            self.engine.try_accept_new_bytes(step)
        else:
            self.engine.try_accept_new_token(step)

    def _check_place(self) -> tuple[object, ...]:
        mask = self._check_mask()
        self._check_bytes()
        self._check_forced(mask)
        self._check_completion()
        assert _observe(copy.copy(self.engine)) == _observe(self.engine)
        assert _observe(_pickled(self.engine)) == _observe(self.engine)
        self.checks += 2
        return _observe(self.engine)

    def _check_mask(self) -> list[int]:
        """Compare the bits with acceptance; a refused token changes nothing."""
        before = _observe(self.engine)
        outcomes = subject.outcomes(self.engine, self._ids)
        assert _observe(self.engine) == before
        empty = {i for i in self._ids if self.engine.vocabulary.token(i) == b""}
        mask = [i for i, outcome in outcomes.items() if outcome in ACCEPTED and i not in empty]
        assert subject.allowed(self.engine) == mask
        bits = np.zeros((self.engine.vocabulary.size + 31) // 32, np.int32)
        self.engine.fill_bitmask(bits)
        flags = np.unpackbits(bits.view(np.uint8), bitorder="little")
        assert np.flatnonzero(flags).tolist() == (mask or _ids_of_last_row(self.engine))
        logits = self.engine.mask_logits(np.zeros(self.engine.vocabulary.size, np.float32))
        assert np.flatnonzero(logits == 0).tolist() == mask
        self.checks += len(outcomes) + 3
        return mask

    def _check_bytes(self) -> None:
        """Compare tokens that the grammar does not name with their bytes."""
        named = self.engine._automaton.masks.terminals.ids()
        for token_id, data in self.engine.vocabulary.tokens.items():
            if token_id not in named and data:
                by_id = subject.offer(copy.copy(self.engine), token_id)
                assert by_id is subject.offer_bytes(copy.copy(self.engine), data)
                self.checks += 1

    def _check_forced(self, mask: list[int]) -> None:
        forced = self.engine.forced_tokens()[:20]
        assert bool(forced) == (len(mask) == 1)
        twin = copy.copy(self.engine)
        for token_id in forced:
            assert subject.allowed(twin) == [token_id]
            twin.try_accept_new_token(token_id)
        data = self.engine.forced_bytes()[:20]
        if data:
            assert subject.offer_bytes(copy.copy(self.engine), data) in ACCEPTED
            assert not self.engine.can_finish()
        self.checks += len(forced) + 2

    def _check_completion(self) -> None:
        try:
            completion = self.engine.shortest_completion()
        except EngineError:
            return
        for way in (completion.data, completion.tokens):
            if way is not None:
                twin = copy.copy(self.engine)
                for step in ([way] if way else []) if isinstance(way, bytes) else way:
                    assert not twin.can_finish()
                    if isinstance(step, bytes):
                        twin.try_accept_new_bytes(step)
                    else:
                        twin.try_accept_new_token(step)
                assert twin.can_finish()
                self.checks += 1

    def _check_ways_back(self, seen: list[tuple[object, ...]]) -> None:
        """Undoing leads where the text was; beginning anew and accepting the same, too."""
        accepted = self.engine.accepted
        for count in range(len(seen)):
            twin = copy.copy(self.engine)
            twin.rollback(count)
            assert _observe(twin) == seen[-1 - count]
        self.engine.reset()
        assert _observe(self.engine) == seen[0] == _observe(self._start)
        for step in accepted:
            self._accept(step)
        assert _observe(self.engine) == seen[-1]
        self.engine.reset()
        self.checks += len(seen) + 2


def _random_engine(random: Random) -> Engine:
    """Return an engine over a grammar that has words; named tokens are often spelled as well."""
    while True:
        maker = GrammarMaker(random, Features())
        text = to_kbnf(maker.grammar())
        tokens = random_tokens(random, maker.alphabet)
        config = Config(finish=random.choice(FINISHES))
        try:
            return Engine(text, subject.vocabulary_of(tokens), config)
        except GrammarError:
            continue


def _observe(engine: Engine) -> tuple[object, ...]:
    return (
        tuple(subject.allowed(engine)),
        engine.accepted,
        engine.is_finished(),
        engine.can_finish(),
    )


def _pickled(engine: Engine) -> Engine:
    twin = pickle.loads(pickle.dumps(engine))  # noqa: S301 - pickled right here
    assert isinstance(twin, Engine)
    return twin


def _ids_of_last_row(engine: Engine) -> list[int]:
    """Return the ids in a row of a bitmask where no token can come."""
    ends = sorted(engine.vocabulary.eos_token_ids)
    return ends or list(range(engine.vocabulary.size) if engine.can_finish() else ())
