"""Refusing, copying, resetting and rolling back, and applying a mask to logits."""

import copy
from random import Random
from typing import TYPE_CHECKING

import numpy as np
import pytest

from kbnf_core import AcceptTokenResult, Config, Engine
from kbnf_core.text.errors import (
    EngineError,
    FinishedError,
    InvalidLogitsError,
    RejectedError,
    UnknownTokenError,
)
from kbnf_testing import subject
from kbnf_testing.agreement import FINISHES, Sample, random_sample
from kbnf_testing.generate import Features, random_string, random_tokens
from kbnf_testing.walk import ACCEPTED, ReferenceEngine

if TYPE_CHECKING:
    from kbnf_testing.vocabulary import Tokens

_SEEDS = range(40)
_BYTES = [b"A", b"AB", b"AAA", b"\xe4\xbd", b"A" * 9, b"\xff\xff\xff\xff"]


class _Drawn:
    """A random grammar, vocabulary and string."""

    def __init__(self, seed: int) -> None:
        random = Random(seed)
        self.sample: Sample = random_sample(random, Features())
        self.tokens: Tokens = random_tokens(random, self.sample.alphabet)
        reference = ReferenceEngine(self.sample.recogniser, self.tokens, "eos")
        self.string = random_string(random, reference, longest=8)
        self.finish = random.choice(FINISHES)

    def engine(self) -> Engine:
        vocabulary = subject.vocabulary_of(self.tokens)
        return Engine(self.sample.compiled, vocabulary, Config(finish=self.finish))


def _observe(engine: Engine, drawn: _Drawn) -> tuple[object, ...]:
    """Everything that can be seen of an engine's position."""
    every_id = [*drawn.tokens.ids(), 25, 200]
    return (
        subject.allowed(engine),
        subject.outcomes(engine, every_id),
        engine.is_finished(),
        engine.can_finish(),
    )


@pytest.mark.parametrize("seed", _SEEDS)
def test_what_is_refused_changes_nothing(seed: int) -> None:
    drawn = _Drawn(seed)
    engine = drawn.engine()
    for token_id in drawn.string:
        before = _observe(engine, drawn)
        for refused in [*drawn.tokens.ids(), 25, 200]:
            if subject.offer(copy.copy(engine), refused) not in ACCEPTED:
                with pytest.raises((RejectedError, UnknownTokenError, FinishedError)):
                    engine.try_accept_new_token(refused)
        for data in _BYTES:
            if subject.offer_bytes(copy.copy(engine), data) not in ACCEPTED:
                with pytest.raises((RejectedError, FinishedError)):
                    engine.try_accept_new_bytes(data)
        assert _observe(engine, drawn) == before
        subject.offer(engine, token_id)


@pytest.mark.parametrize("seed", _SEEDS)
def test_a_copy_moves_on_its_own(seed: int) -> None:
    drawn = _Drawn(seed)
    engine = drawn.engine()
    for token_id in drawn.string:
        twin = copy.copy(engine)
        before = _observe(engine, drawn)
        assert _observe(twin, drawn) == before
        subject.offer(twin, token_id)
        assert _observe(engine, drawn) == before
        subject.offer(engine, token_id)
        assert _observe(engine, drawn) == _observe(twin, drawn)


@pytest.mark.parametrize("seed", _SEEDS)
def test_reset_is_a_fresh_engine(seed: int) -> None:
    drawn = _Drawn(seed)
    engine, fresh = drawn.engine(), drawn.engine()
    for token_id in drawn.string:
        subject.offer(engine, token_id)
    engine.reset()
    assert engine.get_allowed_token_ids_from_last_computation() == []
    assert _observe(engine, drawn) == _observe(fresh, drawn)


@pytest.mark.parametrize("seed", _SEEDS)
def test_rollback_undoes_each_accepted_token(seed: int) -> None:
    drawn = _Drawn(seed)
    engine = drawn.engine()
    seen = [_observe(engine, drawn)]
    accepted = (i for i in drawn.string if subject.offer(engine, i) in ACCEPTED)
    seen.extend(_observe(engine, drawn) for _ in accepted)
    for count in range(len(seen)):
        twin = copy.copy(engine)
        twin.rollback(count)
        assert _observe(twin, drawn) == seen[-1 - count]
    with pytest.raises(EngineError):
        engine.rollback(len(seen))
    assert _observe(engine, drawn) == seen[-1]


@pytest.mark.parametrize("seed", _SEEDS)
def test_rolling_back_in_turns_is_rolling_back_at_once(seed: int) -> None:
    drawn = _Drawn(seed)
    engine = drawn.engine()
    accepted = sum(subject.offer(engine, token_id) in ACCEPTED for token_id in drawn.string)
    twin = copy.copy(engine)
    for _ in range(accepted):
        engine.rollback(1)
    twin.rollback(accepted)
    assert _observe(engine, drawn) == _observe(twin, drawn) == _observe(drawn.engine(), drawn)


@pytest.mark.parametrize("seed", _SEEDS)
def test_logits_are_masked_as_the_ids_say(seed: int) -> None:
    drawn = _Drawn(seed)
    engine, twin = drawn.engine(), drawn.engine()
    width = max(drawn.tokens.ids()) + 4
    for token_id in drawn.string:
        allowed = subject.allowed(engine)
        expected = np.full(width, -np.inf, np.float32)
        expected[allowed] = 1
        assert np.array_equal(engine.mask_logits(np.ones(width, np.float32)), expected)
        result = subject.offer(engine, token_id)
        if result in ACCEPTED:
            _check_update(twin, engine, token_id, width)


def _check_update(twin: Engine, engine: Engine, token_id: int, width: int) -> None:
    """``engine`` has just accepted the token; ``twin`` is one step after and updates logits."""
    if not engine.is_finished():
        with pytest.raises(InvalidLogitsError):
            twin.update_logits(token_id, np.ones(1, np.float32))
    logits, result = twin.update_logits(token_id, np.ones(width, np.float32))
    assert (result is AcceptTokenResult.Finished) == engine.is_finished()
    expected = np.ones(width, np.float32)
    if not engine.is_finished():
        expected[:] = -np.inf
        expected[subject.allowed(engine)] = 1
    assert np.array_equal(logits, expected)


@pytest.mark.parametrize("seed", _SEEDS)
def test_bytes_and_tokens_with_the_same_bytes_are_the_same(seed: int) -> None:
    random = Random(seed)
    sample = random_sample(random, Features(tokens=False))
    drawn = _Drawn(seed)
    vocabulary = subject.vocabulary_of(random_tokens(random, sample.alphabet))
    config = Config(finish=drawn.finish)
    engine = Engine(sample.compiled, vocabulary, config)
    twin = Engine(sample.compiled, vocabulary, config)
    for _ in range(8):
        token_id = random.choice(sorted(vocabulary.tokens))
        data = vocabulary.tokens[token_id]
        assert subject.offer(engine, token_id) is subject.offer_bytes(twin, data)
        assert subject.allowed(engine) == subject.allowed(twin)
