"""Reads the examples of a grammar: in its comments, and in ``NAME.examples.toml`` beside it.

In comments, ``(* kbnf: accept "text" *)`` and ``(* kbnf: reject "text" why *)``; several texts may
stand in one comment, either quote may be used, and escapes are those of KBNF. In the file::

    accept = ['{"a": 1}', { hex = "5b5d" }]
    reject = ['{', { text = '01', why = "a leading zero" }]

    [[next]]
    after = '{'
    allowed = ['"', 125]
    rejected = [',']

``accept`` and ``reject`` hold texts, as strings or as tables with ``text`` or ``hex`` and ``why``.
``next`` says which tokens can follow a text, by their own text or by their id.
"""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kbnf_core.examples.model import Example, ExampleError, Expectation, What
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


SUFFIX = ".examples.toml"


def examples_path(grammar: Path) -> Path:
    """Return where the examples of a grammar file are."""
    return grammar.with_name(grammar.stem + SUFFIX)


def read_toml(text: str, name: str) -> tuple[Example | Expectation, ...]:
    """Return the examples in a text, in the order of the docstring above.

    Raises ``ExampleError`` for text that is not TOML, and for any other key or type; ``name``
    stands for the file.
    """
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ExampleError(name, str(error)) from None
    return tuple(_Reader(name).read(document))


class _Reader:
    """Takes the document apart; ``name`` stands for the file in errors."""

    def __init__(self, name: str) -> None:
        self._name = name

    def read(self, document: dict[str, Any]) -> Iterator[Example | Expectation]:
        self._check_keys(document, {"accept", "reject", "next"}, "the file")
        for key, accepted in (("accept", True), ("reject", False)):
            for index, item in enumerate(self._list(document, key)):
                yield self._example(item, f"{key}[{index}]", accepted)
        for index, item in enumerate(self._list(document, "next")):
            yield from self._expectations(item, f"next[{index}]")

    def _example(self, item: Any, place: str, accepted: bool) -> Example:
        if isinstance(item, str):
            return Example(place, item.encode(), accepted)
        self._check_keys(item, {"text", "hex", "why"}, place)
        why = item.get("why", "")
        if not isinstance(why, str):
            raise self._error(f"`why` of {place} is not a text")
        return Example(place, self._data(item, place), accepted, why)

    def _data(self, item: dict[str, Any], place: str) -> bytes:
        match item.get("text"), item.get("hex"):
            case str(text), None:
                return text.encode()
            case None, str(digits):
                return self._from_hex(digits, place)
            case _:
                raise self._error(f"{place} needs a `text` or its bytes as `hex`")

    def _from_hex(self, digits: str, place: str) -> bytes:
        try:
            return bytes.fromhex(digits)
        except ValueError:
            raise self._error(f"`hex` of {place} is not made of hexadecimal digits") from None

    def _expectations(self, item: Any, place: str) -> Iterator[Expectation]:
        self._check_keys(item, {"after", "allowed", "rejected"}, place)
        after = item.get("after", "")
        if not isinstance(after, str):
            raise self._error(f"`after` of {place} is not a text")
        for key, allowed in (("allowed", True), ("rejected", False)):
            for index, what in enumerate(self._list(item, key)):
                name = f"{place}.{key}[{index}]"
                yield Expectation(name, after.encode(), self._what(what, name), allowed)

    def _what(self, value: Any, place: str) -> What:
        if isinstance(value, str) and value:
            return value.encode()
        if type(value) is int and value >= 0:
            return value
        raise self._error(f"{place} is neither the text nor the id of a token")

    def _list(self, table: dict[str, Any], key: str) -> list[Any]:
        value = table.get(key, [])
        if not isinstance(value, list):
            raise self._error(f"`{key}` is not a list")
        return value

    def _check_keys(self, table: Any, keys: set[str], place: str) -> None:
        if not isinstance(table, dict):
            raise self._error(f"{place} is not a text or a table")
        unknown = sorted(table.keys() - keys)
        if unknown:
            raise self._error(f"unknown key `{unknown[0]}` in {place}")

    def _error(self, reason: str) -> ExampleError:
        return ExampleError(self._name, reason)
