"""What is written for typing gives the same bytes back."""

import contextlib

import hypothesis.strategies as st
import pytest
from hypothesis import given

from kbnf_cli.escaped import TypingError, read_typed, write_typed


@given(
    st.binary(max_size=12) | st.text(max_size=8).map(lambda text: text.encode("utf-8", "replace"))
)
def test_bytes_survive_being_typed(data: bytes) -> None:
    line = write_typed(data)
    assert read_typed(line) == data
    assert line == line.rstrip() or not data
    assert "\n" not in line
    assert not line.startswith((":", "#"))


@given(st.text(max_size=8))
def test_anything_typed_is_bytes_or_refused_with_a_reason(text: str) -> None:
    with contextlib.suppress(TypingError):
        assert isinstance(read_typed(text), bytes)


@pytest.mark.parametrize(
    ("typed", "data"),
    [
        (r"\t\n\r", b"\t\n\r"),
        (r"\x41\xFf", b"A\xff"),
        (r"\u00e9\u{1F600}", "é😀".encode()),
        (r"\q\"\\\:\#", b'q"\\:#'),
        ("\\\u00e9", "é".encode()),
        ("caf\udcc3", b"caf\xc3"),
    ],
)
def test_escapes(typed: str, data: bytes) -> None:
    assert read_typed(typed) == data
