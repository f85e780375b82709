"""Bytes in quotes: no two of them look alike."""

from itertools import product

import pytest

from kbnf_core.text.diagnostics.segments import in_quotes

SHOWN = {
    b"\xf0": r"'\xf0'",
    rb"\xf0": r"'\\xf0'",
    "\xf0".encode(): "'\xf0'",
    "\x85".encode(): r"'\u0085'",
    b"\x85": r"'\x85'",
    b"it's\n": r'''"it's\n"''',
}
PIECES = (b"", b"\\", b"x85", b"\x85", "\x85".encode(), b"u0085", b"\xf0", b"'", b'"', b"udcf0")


@pytest.mark.parametrize("data", SHOWN)
def test_bytes_are_told_from_characters(data: bytes) -> None:
    assert in_quotes(data) == SHOWN[data]


def test_no_two_look_alike() -> None:
    texts = {b"".join(each) for each in product(PIECES, repeat=3)}
    assert len({in_quotes(each) for each in texts}) == len(texts)


def test_the_middle_of_a_long_text_is_left_out() -> None:
    assert in_quotes(b"a" * 9 + b"\xf0", 4) == r"'aa...a\xf0'"
