"""Source text and positions in it.

Everything else speaks of spans: half-open ranges of code points in ``Source.text``.
Line, column and byte offset are computed here, when a span is displayed.

Tests: tests/unit/text/test_excerpt.py, tests/unit/text/test_json.py
"""

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from kbnf_core.text.locks import cached_property


class Span(NamedTuple):
    """A half-open range ``[start, end)`` of code points."""

    start: int
    end: int

    def cover(self, other: "Span") -> "Span":
        """Return the smallest span that contains both."""
        return Span(min(self.start, other.start), max(self.end, other.end))


NOWHERE = Span(0, 0)
"""The span of rules that a language adds to every text, such as those of JSON's strings."""


class Position(NamedTuple):
    """A position as users count it.

    ``offset`` is in bytes of the UTF-8 text; ``line`` and ``column`` are 1-based, in code points.
    """

    offset: int
    line: int
    column: int


_HALF = "[\ud800-\udfff]"
# Here and below a pattern is compiled at its first use: most texts need none.


def half_of_pair(text: str) -> Span | None:
    """Return where a text has half of a surrogate pair, which UTF-8 does not have."""
    result = None if text.isascii() else re.search(_HALF, text)
    return None if result is None else Span(*result.span())


@dataclass(frozen=True, eq=False)
class Source:
    """A text and its origin (``path`` is None for text that is not in a file).

    Places in a text that ``is_json`` have JSON Pointers.
    """

    text: str
    path: str | None = None
    is_json: bool = False

    @property
    def name(self) -> str:
        """The name of this text in messages."""
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
    def spans(self) -> Mapping[str, Span]:
        """The spans of the JSON Pointers; none in other texts."""
        return dict(pointers(self.text)) if self.is_json else {}

    @cached_property
    def _pointers(self) -> Mapping[Span, str]:
        return {span: pointer for pointer, span in self.spans.items()}

    def pointer(self, span: Span) -> str | None:
        """Return the JSON Pointer that a span stands for."""
        return self._pointers.get(span)

    def locate(self, pointer: str) -> Span:
        """Return the span of a JSON Pointer.

        Where the pointer leads nowhere, as into another document, it is the nearest value around.
        """
        while pointer and pointer not in self.spans:
            pointer = pointer.rpartition("/")[0]
        if not pointer:
            # It comes first, so that all others need not be looked for.
            return next((span for _, span in pointers(self.text)), NOWHERE)
        return self.spans[pointer]

    def slice(self, span: Span) -> str:
        """Return the text of ``span``."""
        return self.text[span.start : span.end]


_TOKEN = r'(?s)\s*(?P<token>"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+)'


def pointers(text: str) -> Iterator[tuple[str, Span]]:
    """Yield every JSON Pointer (RFC 6901) of a text of JSON with its span, in order.

    The span is that of a member's name, or of an item's first token.
    """
    # For each open array and object, the pointer of the next item or member, and its number; an
    # object has none. At the bottom is the whole text.
    path, numbers = [""], [-1]
    named = False
    for match in re.finditer(_TOKEN, text):
        token = match["token"]
        if token in "}]":
            if len(path) > 1:
                del path[-1], numbers[-1]
            named = False
        elif token == ",":
            if numbers[-1] >= 0:
                numbers[-1] += 1
                path[-1] = f"{path[-2]}/{numbers[-1]}"
            named = False
        elif token == ":":
            named = True
        elif len(path) > 1 and numbers[-1] < 0 and not named:
            path[-1] = f"{path[-2]}/{_name(token).replace('~', '~0').replace('/', '~1')}"
            yield path[-1], Span(*match.span("token"))
        else:
            if not named:
                yield path[-1], Span(*match.span("token"))
            if token in "{[":
                numbers.append(0 if token == "[" else -1)
                path.append(f"{path[-1]}/0" if token == "[" else f"{path[-1]}/")
                named = False


def _name(token: str) -> str:
    try:
        return str(json.loads(token))
    except ValueError:
        return token
