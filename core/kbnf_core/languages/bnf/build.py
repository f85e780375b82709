r"""Builds the syntax tree of KBNF while Lark reduces the productions of ``grammar.lark``.

Names keep what is between their brackets. ``<any!>`` and ``<except!(..)>`` are uses of
nonterminals with the same names; see ``vocabulary`` for what they mean.

Texts have the escapes ``\t \n \r``, ``\xHH`` (one byte), ``\uHHHH``, and ``\`` before itself. The
reference stops with a panic at what is an error here: a backslash at the end or before a character
beyond ASCII, missing digits, halves of surrogate pairs.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias, cast

from kbnf_core.kbnf.build import nothing, text_or_bytes
from kbnf_core.kbnf.statements import Word, span_of
from kbnf_core.kbnf.tree import (
    Alternation,
    ByteString,
    Definition,
    Expression,
    Name,
    Reference,
    Sequence,
    Terminal,
)
from kbnf_core.text.source import Span

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
    """Split ``text``, without its quotes, that is at ``start``."""
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


ANY = "any!"
EXCEPT = "except!"

_Branch: TypeAlias = list[Expression]


class BnfBuilder:
    """The methods that Lark calls; stateless, so one serves every parse."""

    def definition(self, parts: list[Word | list[_Branch]]) -> Definition:
        """``<name>::=alternation``."""
        name = cast(Word, parts[0])
        body = _join(cast(list[_Branch], parts[2]))
        return Definition(_name(name), body, span_of(name).cover(body.span))

    def alternation(self, parts: list[Word | _Branch]) -> list[_Branch]:
        """``x | y``."""
        return [part for part in parts if not isinstance(part, Word)]

    def sequence(self, items: list[Expression]) -> _Branch:
        """``x y``."""
        return items

    def reference(self, parts: list[Word]) -> Reference:
        """``<name>``, ``<any!>`` or ``<except!(..)>``."""
        return Reference(_name(parts[0]), span_of(parts[0]))

    any = reference
    except_ = reference

    def string(self, parts: list[Word]) -> Terminal | ByteString:
        """``'text'``: a text where it is one, else bytes."""
        return text_or_bytes(decode(parts[0].value[1:-1]), span_of(parts[0]))


def _name(word: Word) -> Name:
    return Name(word.value[1:-1], span_of(word))


def _join(branches: list[_Branch]) -> Expression:
    """Return the branches as one expression; a branch of empty texts only matches nothing."""
    found = [_sequence(branch) for branch in branches]
    if len(found) == 1:
        return found[0]
    return Alternation(tuple(found), found[0].span.cover(found[-1].span))


def _sequence(items: _Branch) -> Expression:
    span = items[0].span.cover(items[-1].span)
    kept = [item for item in items if not _is_empty(item)]
    if not kept:
        return nothing(span)
    return kept[0] if len(kept) == 1 else Sequence(tuple(kept), span)


def _is_empty(item: Expression) -> bool:
    return isinstance(item, Terminal) and not item.text.value
