"""Reads the examples in the comments of a grammar.

``(* kbnf: accept "text" *)`` and ``(* kbnf: reject "text" why *)``; several texts may stand in
one comment, either quote may be used, and escapes are those of KBNF.
"""

import re
from collections.abc import Iterator

from kbnf_core.examples.model import Example, ExampleError
from kbnf_core.languages.kbnf.escapes import pieces
from kbnf_core.syntax.tree import Document

_HEAD = re.compile(r"\s*kbnf:\s*(accept|reject)\b")
_TEXT = re.compile(r"""\s*('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""", re.DOTALL)


def read_comments(document: Document) -> Iterator[Example]:
    """Yield the examples in a grammar, in order; raise ``ExampleError`` for a malformed one."""
    for comment in document.comments:
        head = _HEAD.match(comment.text)
        if head is not None:
            line = document.source.position(comment.span.start).line
            place = f"{document.source.name}:{line}"
            yield from _read(comment.text, head, line, place)


def _read(text: str, head: re.Match[str], line: int, place: str) -> Iterator[Example]:
    found: list[str] = []
    end = head.end()
    while (match := _TEXT.match(text, end)) is not None:
        found.append(_decode(match[1], place))
        end = match.end()
    if not found:
        raise ExampleError(place, f"`{head[1]}` needs a quoted text")
    for each in found:
        why = " ".join(text[end:].split())
        yield Example(f"line {line}", each.encode(), head[1] == "accept", why)


def _decode(raw: str, place: str) -> str:
    values = []
    for piece in pieces(raw, 0):
        if piece.value is None:
            raise ExampleError(place, f"no such escape: {raw[piece.span.start : piece.span.end]}")
        values.append(piece.value)
    return "".join(values)
