"""Reads values that are written as block YAML, in the form that grammars of JSON Schemas have.

That form is a small part of YAML, so its lines say what JSON there is: the column of the first sign
of a line says which collections end before it, a dash begins an item, and a name is before a colon.
Lines are rewritten as JSON, which ``JsonReader`` reads. The value of a line is certain once the
line is over: until then a plain text may go on, and may be another value.

Tests: tests/unit/parse/test_block_values.py
"""

import json
import re
from collections.abc import Iterator

from kbnf_core.parse.follow import JsonReader

_MEMBER = re.compile(r'("(?:[^"\\]|\\.)*"|[^"].*?):(?: (.*))?')
"""A name, and its value in the line; no plain text contains a colon and a blank."""
_SAME = re.compile(r'".*|\{\}|\[\]|true|false|null|-?[0-9].*')
"""Values that are written as in JSON."""


class BlockReader(JsonReader):
    """Reads one text of block YAML in chunks; ``value`` is its certain part."""

    def __init__(self) -> None:
        super().__init__()
        self._line = b""
        # The collections that are open: their columns, and what ends them.
        self._columns: list[tuple[int, str]] = []

    def feed(self, data: bytes, *, final: bool = False) -> None:
        """Read the next bytes; with ``final`` they are the last ones.

        Raises ``ParseError`` for a text of another form.
        """
        *lines, self._line = (self._line + data).split(b"\n")
        if final and self._line:
            lines.append(self._line)
        written = "".join(
            text for line in lines for text in self._as_json(line.decode("utf-8", "replace"))
        )
        if final:
            written += "".join(end for _, end in reversed(self._columns))
            self._columns.clear()
        super().feed(written.encode("utf-8", "surrogatepass"), final=final)

    def _as_json(self, line: str) -> Iterator[str]:
        """Yield the JSON of one line."""
        rest = line.lstrip(" ")
        column = len(line) - len(rest)
        while self._columns and self._columns[-1][0] > column:
            yield self._columns.pop()[1]
        while rest.startswith("- "):
            yield self._next(column, "[", "]")
            column, rest = column + 2, rest[2:]
        member = _MEMBER.fullmatch(rest)
        if member is None:
            yield _scalar(rest)
            return
        yield self._next(column, "{", "}")
        name, value = member.groups()
        is_quoted = name.startswith('"')
        yield f"{name if is_quoted else json.dumps(name)}:"
        if value is not None:
            yield _scalar(value)

    def _next(self, column: int, opening: str, closing: str) -> str:
        """Return the text before a member or an item: a comma, or an opening bracket."""
        if self._columns and self._columns[-1] == (column, closing):
            return ","
        self._columns.append((column, closing))
        return opening


def _scalar(written: str) -> str:
    # What follows keeps a number from being continued by the next line.
    return f"{written if _SAME.fullmatch(written) else json.dumps(written)} "
