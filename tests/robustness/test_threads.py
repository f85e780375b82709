"""Threads that share a grammar find what one alone finds, also where they switch all the time.

Engines of two vocabularies and of all finishes work over one grammar, whose caches are of the
usual size or as small as they can be. Each test runs in a forked child: a deadlock is an outcome.
"""

import hashlib
import json
import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import product
from pathlib import Path
from random import Random

import numpy as np
import pytest

from kbnf_core import Config, Engine, Grammar, Limits, Vocabulary
from kbnf_core import engine as engine_module
from kbnf_core.mask import slices
from kbnf_core.recognise import states
from kbnf_core.text.errors import EngineError
from kbnf_testing import forked, robustness

pytestmark = forked.needed

JSON = (Path(__file__).resolve().parents[2] / "grammars" / "json.kbnf").read_text(encoding="utf-8")
SPELLINGS = [*(bytes([value]) for value in range(256)), b'{"', b'":', b'",', b"ab", b"}}", b", "]
VOCABULARIES = (
    Vocabulary(dict(enumerate(SPELLINGS)), eos_token_id=400),
    Vocabulary(dict(enumerate(SPELLINGS[:256])), eos_token_id=300),
)
THREADS = 8
USUAL = Limits()
SMALLEST = Limits(cached_states=1, cached_steps=1, mask_bytes=1)


@pytest.fixture(autouse=True)
def _small_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let small tables be renewed often, and every walk look for a slice."""
    monkeypatch.setattr(slices, "LEAST_TOKENS", 0)
    monkeypatch.setattr(states, "LEAST_STATES", 1)
    monkeypatch.setattr(engine_module, "KEPT_POSITIONS", 3)


def text(random: Random, depth: int = 0) -> object:
    kind = random.random()
    if depth > 3 or kind < 0.4:
        return random.choice([random.randint(-99, 999), 1.5, "ab\n", "né", True, None])
    items = [text(random, depth + 1) for _ in range(random.randint(0, 4))]
    return items if kind < 0.7 else {f"k{place}": item for place, item in enumerate(items)}


def write_documents(grammar: Grammar, vocabulary: Vocabulary, finish: str, seed: int) -> str:
    """Return a digest of all masks on the way through some documents."""
    random = Random(seed)
    engine = Engine(grammar, vocabulary, Config(finish=finish))
    bits = np.zeros((vocabulary.size + 31) // 32, np.int32)
    found = hashlib.blake2b()
    for _ in range(3):
        engine.reset()
        for byte in json.dumps(text(random), ensure_ascii=random.random() < 0.5).encode():
            if engine.is_finished():
                break
            engine.fill_bitmask(bits)
            found.update(bits.data)
            engine.try_accept_new_token(byte)
    return found.hexdigest()


def walk(grammar: Grammar, vocabulary: Vocabulary, finish: str, seed: int) -> str:
    """Return a digest of a random walk that goes back, forks and asks for what is forced."""
    random = Random(seed)
    engine = Engine(grammar, vocabulary, Config(finish=finish))
    found = hashlib.blake2b()
    for _ in range(60):
        engine.compute_allowed_token_ids()
        allowed = engine.get_allowed_token_ids_from_last_computation()
        found.update(repr((allowed, engine.can_finish())).encode())
        if random.random() < 0.1:
            found.update(engine.forced_bytes())
        if random.random() < 0.1 and engine.accepted:
            engine.rollback(random.randint(1, len(engine.accepted)))
        elif engine.is_finished() or not allowed:
            engine.reset()
        else:
            if random.random() < 0.1:
                engine = engine.__copy__()
            engine.try_accept_new_token(random.choice(allowed))
    return found.hexdigest()


def disagreements(run: Callable[..., str], limits: Limits, case: int) -> list[object]:
    """Return the work whose digest threads found otherwise than one thread with usual caches."""
    sys.setswitchinterval(1e-6)
    seeds = (robustness.generator("threads", case).random() for _ in range(3))
    work = list(product(VOCABULARIES, ("eager", "token", "eos"), seeds))
    expected = [run(Grammar(JSON), *item) for item in work]
    grammar = Grammar(JSON, limits=limits)
    with ThreadPoolExecutor(THREADS) as pool:
        found = list(pool.map(partial(run, grammar), *zip(*work, strict=True)))
    return [item for item, mine, other in zip(work, found, expected, strict=True) if mine != other]


@pytest.mark.parametrize(
    ("run", "limits"),
    [
        pytest.param(write_documents, USUAL, id="documents-usual"),
        pytest.param(write_documents, SMALLEST, id="documents-smallest", marks=pytest.mark.ci),
        pytest.param(walk, USUAL, id="walk-usual", marks=pytest.mark.ci),
        pytest.param(walk, SMALLEST, id="walk-smallest"),
    ],
)
def test_threads_find_what_one_alone_finds(run: Callable[..., str], limits: Limits) -> None:
    outcomes = forked.run(partial(disagreements, run, limits), robustness.cases(4), seconds=120)
    assert forked.failures(outcomes) == []
    assert [outcome for outcome in outcomes if outcome.value] == []


def test_threads_that_fail_do_not_stop_the_others() -> None:
    """A refusal in one thread leaves no lock behind."""

    def work(_: int) -> int:
        sys.setswitchinterval(1e-6)
        grammar = Grammar(JSON, limits=SMALLEST)

        def attempt(number: int) -> int:
            engine = Engine(grammar, VOCABULARIES[number % 2], Config(finish="eos"))
            refused = 0
            for token_id in b'{"a":1,':
                try:
                    engine.try_accept_new_token(10_000 if number % 3 else token_id)
                except EngineError:
                    refused += 1
            return refused

        with ThreadPoolExecutor(THREADS) as pool:
            return sum(pool.map(attempt, range(24)))

    (outcome,) = forked.run(work, [0], seconds=60)
    assert outcome.value == 16 * 7, outcome


def test_a_forked_child_goes_on_with_the_engine_of_its_parent() -> None:
    """Servers fork their workers after the build."""

    def work(_: int) -> bool:
        grammar = Grammar(JSON)
        expected = walk(Grammar(JSON), VOCABULARIES[0], "eos", 1)
        walk(grammar, VOCABULARIES[0], "eos", 0)
        child = os.fork()
        if child == 0:
            os._exit(0 if walk(grammar, VOCABULARIES[0], "eos", 1) == expected else 1)
        return os.waitpid(child, 0)[1] == 0

    (outcome,) = forked.run(work, [0], seconds=60)
    assert outcome.value, outcome
