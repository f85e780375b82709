"""Values of block YAML are read back, in chunks of any size."""

from collections.abc import Sequence
from itertools import cycle
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.yaml_values import printed
from kbnf_core.parse.block_values import BlockReader
from kbnf_core.parse.follow import NOTHING_YET
from kbnf_core.text.errors import ParseError

STRINGS = (
    "", "yes", "a", "a b", "http://x:1", "1", "- x", "x: y", '"q"', "\n", "é", "\u2028", "null",
    "a:", "#", "C#", "a #b", "[]", "{}", "\\", "tab\t", "true story", "\U0001f600", "'", "? k", "~",
)  # fmt: skip
OTHERS = (1, -2, 1.5, 1e30, -1e-7, True, False, None, 10**30, 0)


strings = st.one_of(st.sampled_from(STRINGS), st.text(st.characters(codec="utf-8")))
values = st.recursive(
    st.one_of(strings, st.sampled_from(OTHERS)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(strings, inner, max_size=4)
    ),
)


def read(text: str, sizes: Sequence[int]) -> Any:
    """Return the value of a text that comes in pieces of these sizes, one after another."""
    reader, data, at = BlockReader(), text.encode(), 0
    for size in cycle(sizes):
        if at >= len(data):
            break
        reader.feed(data[at : at + size])
        at += size
    reader.feed(b"", final=True)
    return reader.value


@given(values, st.lists(st.integers(1, 30), min_size=1, max_size=5))
def test_what_is_printed_is_read_back(value: Any, sizes: list[int]) -> None:
    text = f"{printed(value)}\n"
    assert read(text, sizes) == value
    assert yaml.safe_load(text) == value


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
    assert read(text, [3, 1, 7]) == value


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
