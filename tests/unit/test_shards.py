"""Tests in shards: each test is in one of them, and shards are about equally large."""

from argparse import ArgumentTypeError

import pytest

from kbnf_testing.shards import Shard

TESTS = [f"tests/unit/test_x.py::test_y[{number}]" for number in range(9000)]


def test_a_test_is_in_one_shard() -> None:
    shards = [Shard.parse(f"{index}/9") for index in range(1, 10)]
    sizes = [sum(map(shard.contains, TESTS)) for shard in shards]
    assert sum(sizes) == len(TESTS)
    assert all(sum(shard.contains(test) for shard in shards) == 1 for test in TESTS)
    assert max(sizes) < 1.1 * len(TESTS) / 9


def test_one_shard_has_all() -> None:
    assert all(map(Shard.parse("1/1").contains, TESTS))


@pytest.mark.parametrize("text", ["", "3", "0/9", "10/9", "3/", "/9", "-1/9", "a/b", "1/2/3"])
def test_no_shard(text: str) -> None:
    with pytest.raises(ArgumentTypeError, match="not a shard"):
        Shard.parse(text)
