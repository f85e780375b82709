r"""Decodes the texts of bnf_sampler: ``\t \n \r``, ``\xHH`` (one byte), ``\uHHHH``, ``\`` + itself.

The reference stops with a panic at what is an error here: a backslash at the end or before a
character beyond ASCII, missing digits, halves of surrogate pairs.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from kbnf_core.source import Span

_SIMPLE = {"t": b"\t", "n": b"\n", "r": b"\r"}

_PIECE = re.compile(
    r"""(?P<plain>[^\\]+)
      | \\(?:x(?P<byte>[0-9A-Fa-f]{2}) | u(?P<four>(?![dD][89a-fA-F])[0-9A-Fa-f]{4})
      | (?P<simple>[^xu\x80-\U0010ffff]))
      | (?P<bad>\\.|.)""",
    re.VERBOSE | re.DOTALL,
)


class Piece(NamedTuple):
    """A part of a text: its bytes, None for what is no escape, and its place."""

    data: bytes | None
    span: Span


def pieces(text: str, start: int) -> Iterator[Piece]:
    """Split ``text``, without its quotes, that stands at ``start``."""
    for match in _PIECE.finditer(text):
        span = Span(start + match.start(), start + match.end())
        kind = match.lastgroup or "bad"
        yield Piece(_data(kind, match[kind]), span)


def decode(text: str) -> bytes:
    """Return the bytes that ``text`` spells; what is no escape counts as nothing."""
    return b"".join(piece.data or b"" for piece in pieces(text, 0))


def _data(kind: str, written: str) -> bytes | None:
    match kind:
        case "plain":
            return written.encode()
        case "byte":
            return bytes([int(written, 16)])
        case "four":
            return chr(int(written, 16)).encode()
        case "simple":
            return _SIMPLE.get(written, written.encode())
        case _:
            return None
