"""Values of block YAML are read back, in chunks of any size."""

import random
from typing import Any

import pytest
import yaml

from benchmarks.yaml_values import printed
from kbnf_core.parse.block_values import BlockReader
from kbnf_core.parse.follow import NOTHING_YET
from kbnf_core.text.errors import ParseError

STRINGS = (
    "", "yes", "a", "a b", "http://x:1", "1", "- x", "x: y", '"q"', "\n", "é", "\u2028", "null",
    "a:", "#", "C#", "a #b", "[]", "{}", "\\", "tab\t", "true story", "\U0001f600", "'", "? k", "~",
)  # fmt: skip
OTHERS = (1, -2, 1.5, 1e30, -1e-7, True, False, None, 10**30, 0)


def a_value(rng: random.Random, depth: int) -> Any:
    kind = rng.random()
    if not depth or kind < 0.4:
        return rng.choice(STRINGS + OTHERS)
    if kind < 0.7:
        return [a_value(rng, depth - 1) for _ in range(rng.randrange(4))]
    return {rng.choice(STRINGS): a_value(rng, depth - 1) for _ in range(rng.randrange(4))}


def read(text: str, rng: random.Random) -> Any:
    reader, data, at = BlockReader(), text.encode(), 0
    while at < len(data):
        length = rng.randrange(1, 30)
        reader.feed(data[at : at + length])
        at += length
    reader.feed(b"", final=True)
    return reader.value


def test_what_is_printed_is_read_back() -> None:
    rng = random.Random(2)
    for _ in range(1_500):
        value = a_value(rng, rng.randrange(6))
        text = f"{printed(value)}\n"
        assert read(text, rng) == value, text
        assert yaml.safe_load(text) == value, text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: 1\n", {"a": 1}),
        (
            "a:\n  - - b\n    - c: d\n      e: {}\n  - []\nf: g",
            {"a": [["b", {"c": "d", "e": {}}], []], "f": "g"},
        ),
        ('"a: b": "c: d"\n', {"a: b": "c: d"}),
        ("a: b:c\nd:e: f\n", {"a": "b:c", "d:e": "f"}),
        ('a"b": "c: d"\nc": e"f\n', {'a"b"': "c: d", 'c"': 'e"f'}),
        ("- a:b\n- 1.0e+5\n", ["a:b", 1e5]),
        ("plain text\n", "plain text"),
    ],
)
def test_lines(text: str, value: Any) -> None:
    assert read(text, random.Random(1)) == value


def test_lines_are_certain_once_they_are_over() -> None:
    reader = BlockReader()
    for piece, value in (
        (b"a: on", NOTHING_YET),
        (b"e\nb:\n  - tw", {"a": "one"}),
        (b"o\n", {"a": "one", "b": ["two"]}),
    ):
        reader.feed(piece)
        assert reader.value == value


@pytest.mark.parametrize("text", ["", "a: 1\n- b\n", "a:\n  b: 1\n c: 2\n", '"a'])
def test_other_texts_are_errors(text: str) -> None:
    with pytest.raises(ParseError):
        BlockReader().feed(text.encode(), final=True)
