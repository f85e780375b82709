"""Source text and positions in it.

Everything else speaks of spans: half-open ranges of code points in ``Source.text``.
Line, column and byte offset are computed here, when a span is displayed.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple


class Span(NamedTuple):
    """A half-open range ``[start, end)`` of code points."""

    start: int
    end: int

    def cover(self, other: "Span") -> "Span":
        """Return the smallest span that holds both."""
        return Span(min(self.start, other.start), max(self.end, other.end))


NOWHERE = Span(0, 0)
"""The span of what a language adds to every text, such as the rules of JSON's strings."""


class Position(NamedTuple):
    """A position as users count it.

    ``offset`` is in bytes of the UTF-8 text; ``line`` and ``column`` are 1-based, in code points.
    """

    offset: int
    line: int
    column: int


_HALF = re.compile("[\ud800-\udfff]")


def half_of_pair(text: str) -> Span | None:
    """Return where a text has half of a surrogate pair, which UTF-8 does not have."""
    found = None if text.isascii() else _HALF.search(text)
    return None if found is None else Span(*found.span())


@dataclass(frozen=True, eq=False)
class Source:
    """A text and where it came from (``path`` is None for text that is in no file).

    Places in a text that ``is_json`` have JSON Pointers.
    """

    text: str
    path: str | None = None
    is_json: bool = False

    @property
    def name(self) -> str:
        """What to call this text in a message."""
        return self.path if self.path is not None else "<text>"

    @cached_property
    def _line_starts(self) -> list[int]:
        starts = [0]
        index = self.text.find("\n")
        while index >= 0:
            starts.append(index + 1)
            index = self.text.find("\n", index + 1)
        return starts

    @cached_property
    def _line_offsets(self) -> list[int]:
        """Byte offset of each line's start."""
        offsets = [0]
        starts = self._line_starts
        for begin, end in pairwise(starts):
            offsets.append(offsets[-1] + len(self.text[begin:end].encode("utf-8", "surrogatepass")))
        return offsets

    @property
    def line_count(self) -> int:
        """Number of lines; an empty text has one."""
        return len(self._line_starts)

    def position(self, index: int) -> Position:
        """Return the position of code point ``index`` (0 up to and including the length)."""
        line = self.line_number(index) - 1
        start = self._line_starts[line]
        before = self.text[start:index].encode("utf-8", "surrogatepass")
        return Position(self._line_offsets[line] + len(before), line + 1, index - start + 1)

    def line_number(self, index: int) -> int:
        """Return the 1-based line of code point ``index``."""
        return bisect_right(self._line_starts, index)

    def line(self, number: int) -> str:
        """Return the text of 1-based line ``number`` without its line ending."""
        start = self._line_starts[number - 1]
        end = self._line_starts[number] if number < self.line_count else len(self.text)
        return self.text[start:end].rstrip("\r\n")

    def line_start(self, number: int) -> int:
        """Return the code point index at which 1-based line ``number`` starts."""
        return self._line_starts[number - 1]

    @cached_property
    def places(self) -> Mapping[str, Span]:
        """The spans of the JSON Pointers; none in other texts."""
        return dict(pointers(self.text)) if self.is_json else {}

    @cached_property
    def _pointers(self) -> Mapping[Span, str]:
        return {span: pointer for pointer, span in self.places.items()}

    def pointer(self, span: Span) -> str | None:
        """Return the JSON Pointer that a span stands for."""
        return self._pointers.get(span)

    def locate(self, pointer: str) -> Span:
        """Return the span of a JSON Pointer.

        Where the pointer leads nowhere, or into another document, it is the text's first token.
        """
        if not pointer:
            # It comes first, so that all others need not be looked for.
            return next((span for _, span in pointers(self.text)), NOWHERE)
        return self.places.get(pointer) or self.locate("")

    def slice(self, span: Span) -> str:
        """Return the text of ``span``."""
        return self.text[span.start : span.end]


_TOKEN = re.compile(r'\s*(?P<token>"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+)', re.DOTALL)


def pointers(text: str) -> Iterator[tuple[str, Span]]:
    """Yield every JSON Pointer (RFC 6901) of a text of JSON with its span, in order.

    The span is that of a member's name, or of an item's first token.
    """
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
