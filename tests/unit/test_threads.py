"""Threads that share a grammar find what one alone finds, also where they switch all the time."""

import hashlib
import json
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from random import Random

import numpy as np
import pytest

from kbnf_core import Config, Engine, Grammar, Vocabulary
from kbnf_core.mask import slices

JSON = (Path(__file__).resolve().parents[2] / "grammars" / "json.kbnf").read_text(encoding="utf-8")
SPELLINGS = [*(bytes([value]) for value in range(256)), b'{"', b'":', b'",', b"ab", b"}}", b", "]
VOCABULARIES = (
    Vocabulary(dict(enumerate(SPELLINGS)), eos_token_id=400),
    Vocabulary(dict(enumerate(SPELLINGS[:256])), eos_token_id=300),
)


@pytest.fixture(autouse=True)
def restless(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let threads switch as often as they can, and every walk look for a slice."""
    monkeypatch.setattr(slices, "LEAST_TOKENS", 0)
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def text(random: Random, depth: int = 0) -> object:
    kind = random.random()
    if depth > 3 or kind < 0.4:
        return random.choice([random.randint(-99, 999), 1.5, "ab\n", "né", True, None])
    items = [text(random, depth + 1) for _ in range(random.randint(0, 4))]
    return items if kind < 0.7 else {f"k{place}": item for place, item in enumerate(items)}


def run(grammar: Grammar, vocabulary: Vocabulary, seed: int) -> str:
    """Return a digest of all masks on the way through some documents."""
    random = Random(seed)
    engine = Engine(grammar, vocabulary, Config(finish="eos"))
    bits = np.zeros((vocabulary.size + 31) // 32, np.int32)
    found = hashlib.blake2b()
    for _ in range(6):
        engine.reset()
        for byte in json.dumps(text(random), ensure_ascii=random.random() < 0.5).encode():
            engine.fill_bitmask(bits)
            found.update(bits.data)
            engine.try_accept_new_token(byte)
    return found.hexdigest()


def test_threads_find_what_one_alone_finds() -> None:
    work = [(vocabulary, seed) for seed in range(8) for vocabulary in VOCABULARIES]
    expected = [run(Grammar(JSON), vocabulary, seed) for vocabulary, seed in work]
    for _ in range(3):
        grammar = Grammar(JSON)
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(partial(run, grammar), *zip(*work, strict=True)))
        assert found == expected
