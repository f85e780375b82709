"""How bytes are shown."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbnf_cli.escaped import describe_bytes, escaped


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (b"", '""'),
        (b"a b", '"a b"'),
        (b'"\\\n\r\t', r'"\"\\\n\r\t"'),
        (b"\x00\x1b\x7f", r'"\x00\x1b\x7f"'),
        ("é你🙂".encode(), '"é你🙂"'),
        (b"caf\xc3", r'"caf\xc3"'),
        ("\u202e\u0085".encode(), r'"\u{202e}\u{85}"'),
    ],
)
def test_escaped(data: bytes, shown: str) -> None:
    assert escaped(data) == shown


@given(st.binary())
def test_shown_text_is_printable(data: bytes) -> None:
    assert escaped(data).isprintable()


@given(st.binary().map(lambda data: bytes(each & 0x7F for each in data)))
def test_ascii_can_be_read_back(data: bytes) -> None:
    assert ast.literal_eval("b" + escaped(data)) == data


@pytest.mark.parametrize(
    ("ranges", "shown"),
    [
        ([], "nothing"),
        ([(97, 97)], '"a"'),
        ([(97, 122), (0, 31)], r'"a"-"z", "\x00"-"\x1f"'),
        ([(0x80, 0xBF)], "0x80-0xbf"),
        ([(42, 43), (45, 57)], '"*", "+", "-"-"9"'),
        ([(40, 43)], '"(", ")", "*", "+"'),
        ([(0, 255)], "any byte"),
        ([(0, 59), (61, 255)], 'any byte but "<"'),
        ([(0, 9), (11, 127), (0xC2, 0xF4)], 'any character but "\\n"'),
        ([(0, 127), (0xC2, 0xF4)], "any character"),
        ([(97, 122), (0xC2, 0xF4)], '"a"-"z", any character beyond ASCII'),
        ([(0xC2, 0xF4)], "any character beyond ASCII"),
        ([(0x61, 0x90)], '"a"-"\\x7f", 0x80-0x90'),
    ],
)
def test_describe_bytes(ranges: list[tuple[int, int]], shown: str) -> None:
    assert describe_bytes(ranges) == shown
