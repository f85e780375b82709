"""Spans of JSON Pointers in a JSON text, for messages about schemas."""

import json
import re
from collections.abc import Iterator

from kbnf_core.source import Span

_TOKEN = re.compile(r'\s*(?P<token>"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+)', re.DOTALL)


def locate(text: str, pointer: str) -> Span:
    """Return the span of a member's name, or of an item's first token.

    Where the pointer leads nowhere, or into another document, it is the text's first token.
    """
    first = None
    for found, span in pointers(text):
        first = first or span
        if found == pointer:
            return span
    return first or Span(0, 0)


def pointers(text: str) -> Iterator[tuple[str, Span]]:
    """Yield every pointer of a text and the span that stands for it, without recursion."""
    path: list[str | int] = []
    opened: list[str] = []
    named = False
    for match in _TOKEN.finditer(text):
        token = match["token"]
        span = Span(*match.span("token"))
        if token in "}]":
            _close(path, opened)
            named = False
        elif token == ",":
            if opened and opened[-1] == "[" and isinstance(path[-1], int):
                path[-1] += 1
            named = False
        elif token == ":":
            named = True
        elif opened and opened[-1] == "{" and not named:
            path[-1] = _name(token)
            yield _pointer(path), span
        else:
            if not named:
                yield _pointer(path), span
            if token in "{[":
                opened.append(token)
                path.append(0 if token == "[" else "")
                named = False


def _close(path: list[str | int], opened: list[str]) -> None:
    if opened:
        opened.pop()
        path.pop()


def _name(token: str) -> str:
    try:
        return str(json.loads(token))
    except ValueError:
        return token


def _pointer(path: list[str | int]) -> str:
    steps = (str(step).replace("~", "~0").replace("/", "~1") for step in path)
    return "".join(f"/{step}" for step in steps)
