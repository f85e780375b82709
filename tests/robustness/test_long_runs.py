"""Long runs with memory watched: what an engine keeps is bounded by its limits, not by its use.

Memory is read in the forked child that does the work, at even steps. A bound is a plateau: the
second half of a run may add a little to what the first half reached, never as much again.
"""

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from random import Random

import pytest

from kbnf_core import Config, Engine, Grammar, Limits, Vocabulary
from kbnf_testing import forked, robustness

STATUS = Path("/proc/self/statm")

pytestmark = [
    forked.needed,
    pytest.mark.slow,
    pytest.mark.skipif(not STATUS.exists(), reason="needs /proc to read its memory"),
]

JSON = (Path(__file__).resolve().parents[2] / "grammars" / "json.kbnf").read_text(encoding="utf-8")
SPELLINGS = [*(bytes([value]) for value in range(256)), b'{"', b'":', b'",', b"ab", b"}}", b", "]
VOCABULARY = Vocabulary(dict(enumerate(SPELLINGS)), eos_token_id=400)
LIMITS = Limits(cached_states=2_000, cached_steps=2_000, mask_bytes=2**18)
STEPS = 20
SLACK = 16 * 2**20
"""Bytes that an allocator may keep here and there."""


def random_tokens(random: Random, limits: Limits = LIMITS) -> Iterator[None]:
    """Accept random tokens, texts of which some nest deep; every 5,000 tokens a new one begins."""
    engine = Engine(Grammar(JSON, limits=limits), VOCABULARY, Config(finish="eos"))
    for place in count(1):
        engine.compute_allowed_token_ids()
        allowed = engine.get_allowed_token_ids_from_last_computation()
        if engine.is_finished() or not allowed or place % 5_000 == 0:
            engine.reset()
        else:
            engine.try_accept_new_token(random.choice(allowed))
        yield


def usual_limits(random: Random) -> Iterator[None]:
    """Accept random tokens with the limits that everybody has."""
    return random_tokens(random, Limits())


def new_engines(random: Random) -> Iterator[None]:
    """Make an engine for a few tokens, over one grammar."""
    grammar = Grammar(JSON, limits=LIMITS)
    while True:
        engine = Engine(grammar, VOCABULARY, Config(finish=random.choice(("eos", "token"))))
        engine.try_accept_new_bytes(b'{"a": [')
        engine.compute_allowed_token_ids()
        yield


def new_grammars(random: Random) -> Iterator[None]:
    """Make a grammar and an engine, and drop both."""
    while True:
        text = f"start ::= #'[a-f]{{1,{random.randint(1, 40)}}}' {{ ',' start }} ';';"
        engine = Engine(text, VOCABULARY)
        engine.compute_allowed_token_ids()
        yield


def new_vocabularies(random: Random) -> Iterator[None]:
    """Use one grammar over vocabularies that are all different."""
    grammar = Grammar(JSON, limits=LIMITS)
    while True:
        extra = bytes(random.randrange(256) for _ in range(5))
        Engine(
            grammar, Vocabulary(dict(enumerate([*SPELLINGS, extra])))
        ).compute_allowed_token_ids()
        yield


def resident() -> int:
    return int(STATUS.read_text(encoding="ascii").split()[1]) * 4096


@pytest.mark.parametrize(
    ("use", "times"),
    [
        (random_tokens, 2_000_000),
        (usual_limits, 2_000_000),
        (new_engines, 200_000),
        (new_grammars, 10_000),
        (new_vocabularies, 5_000),
    ],
)
def test_memory_reaches_a_plateau(use: Callable[[Random], Iterator[None]], times: int) -> None:
    def work(case: int) -> list[int]:
        running = use(robustness.generator("long runs", case))
        sizes = []
        for _ in range(STEPS):
            for _ in range(times // STEPS):
                next(running)
            sizes.append(resident())
        return sizes

    for outcome in forked.run(work, robustness.cases(1), seconds=600):
        assert outcome.value is not None, outcome
        half = STEPS // 2
        assert max(outcome.value[half:]) <= max(outcome.value[:half]) + SLACK, outcome
