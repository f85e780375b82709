"""Bits copied and applied to logits."""

from typing import Any

import numpy as np
import pytest

from kbnf_core import Engine, Vocabulary, kernel
from kbnf_core.mask.bits import ids_of

SIZES = [0, 1, 31, 32, 33, 63, 64, 65, 100, 1000, 4096, 4099]
INF = float("inf")


def random_words(size: int, seed: int) -> np.ndarray[Any, np.dtype[np.uint32]]:
    """Return words for ``size`` bits: some empty, some full, some mixed."""
    random = np.random.default_rng(seed)
    words = random.integers(0, 2**32, (size + 31) // 32, np.uint32)
    kinds = random.integers(0, 3, len(words))
    words[kinds == 0] = 0
    words[kinds == 1] = 2**32 - 1
    return words


def is_set(words: np.ndarray[Any, np.dtype[np.uint32]], token_id: int) -> bool:
    return bool(int(words[token_id // 32]) >> token_id % 32 & 1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("surplus", [0, 1, 77])
@pytest.mark.parametrize("size", SIZES)
def test_what_is_not_allowed_becomes_minus_infinity(size: int, surplus: int, dtype: type) -> None:
    words = random_words(size, seed=size + surplus)
    logits: np.ndarray[Any, Any] = (
        np.random.default_rng(1).normal(size=size + surplus).astype(dtype)
    )
    expected = [
        value if place < size and is_set(words, place) else -INF
        for place, value in enumerate(logits.tolist())
    ]
    kernel.apply(words, size, logits)
    assert logits.tolist() == expected


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_is_allowed_keeps_its_bits(dtype: type) -> None:
    special: np.ndarray[Any, Any] = np.array(
        [np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40, 3.5], dtype
    )
    logits = np.resize(special, 1001)
    words = random_words(1001, seed=5)
    expected = logits.copy()
    expected[[place for place in range(1001) if not is_set(words, place)]] = -INF
    kernel.apply(words, 1001, logits)
    assert logits.tobytes() == expected.tobytes()


def test_bits_beyond_the_size_do_not_matter() -> None:
    logits = np.ones(40, np.float32)
    kernel.apply(np.full(2, 2**32 - 1, np.uint32), 33, logits)
    assert logits.tolist() == [1.0] * 33 + [-INF] * 7


def engine_of(size: int) -> tuple[Engine, list[int]]:
    """Return an engine over so many tokens, and those that it allows."""
    words = random_words(size, seed=size)
    ids = [0, *(place for place in range(1, size) if is_set(words, place))]
    tokens = dict.fromkeys(range(size), b"b") | dict.fromkeys(ids, b"a")
    return Engine("start ::= 'a';", Vocabulary(tokens)), ids


@pytest.mark.parametrize("surplus", [0, 1, 5])
@pytest.mark.parametrize("size", SIZES[1:])
def test_bits_are_copied_and_the_rest_is_zero(size: int, surplus: int) -> None:
    engine, ids = engine_of(size)
    out = np.full((size + 31) // 32 + surplus, -1, np.int32)
    engine.fill_bitmask(out)
    assert ids_of(out.view(np.uint32), 32 * len(out)).tolist() == ids


BAD = {
    "too short": np.zeros(2, np.int32),
    "other type": np.zeros(3, np.uint32),
    "wider": np.zeros(3, np.int64),
    "two rows": np.zeros((2, 3), np.int32),
    "gaps": np.zeros(6, np.int32)[::2],
}


@pytest.mark.parametrize("out", BAD.values(), ids=BAD)
def test_what_cannot_be_filled(out: np.ndarray[Any, Any]) -> None:
    engine, _ = engine_of(96)
    with pytest.raises(ValueError, match="bitmask"):
        engine.fill_bitmask(out)
    assert not out.any()
