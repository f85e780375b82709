r"""JSON values of texts that are still coming.

A reader takes bytes as they come and contains the value so far. What it contains is certain: a
string is as long as its characters are known, a number is there once something follows it or the
text is over, a name is there together with its value, and nothing that was there goes away. Arrays
and objects are there from their first bracket.

The rules of a grammar are not asked: a text that fits a JSON Schema is JSON, and JSON says by
itself where values begin and end. So a reader costs the same for any schema, and needs no
derivations.
"""

import re
from codecs import getincrementaldecoder
from json import loads
from typing import Any

from kbnf_core.text.errors import ParseError


class NothingYet:
    """The value of a text of which nothing is certain."""

    def __repr__(self) -> str:
        return "NOTHING_YET"


NOTHING_YET = NothingYet()

_BLANK = " \t\n\r"
_SCALAR = re.compile(r"[-+.0-9A-Za-z]+")
_PLAIN = re.compile(r'[^"\\]+')
_ESCAPE = re.compile(r"\\(?:u[0-9A-Fa-f]{4}|[^u])")
_HIGH, _LOW = (0xD800, 0xDC00), (0xDC00, 0xE000)
_WORDS = {"true": True, "false": False, "null": None}


class JsonReader:
    """Reads one JSON text in pieces; ``value`` is what is certain of it.

    ``value`` is ``NOTHING_YET`` at first, and the same object to the end where it is an array or an
    object: copy it to keep it. Names that come twice have their last value, as in ``json.loads``.
    """

    def __init__(self) -> None:
        self._decoder = getincrementaldecoder("utf-8")("strict")
        self._text = ""
        self._at = 0
        self._root: list[Any] = []
        # The containers that are open, each with the name that waits for its value.
        self._open: list[Any] = [self._root]
        self._names: list[str | None] = [None]
        # Of a string that is not over: its pieces, and whether it is a name.
        self._string: list[str] | None = None
        self._is_name = False
        self._is_shown = False

    @property
    def value(self) -> Any:
        """The value so far."""
        self._show_string()
        return self._root[0] if self._root else NOTHING_YET

    @property
    def is_complete(self) -> bool:
        """Whether the value is all there."""
        return bool(self._root) and len(self._open) == 1 and self._string is None

    def feed(self, data: bytes, *, final: bool = False) -> None:
        """Read the next bytes; with ``final`` they are the last ones.

        Raises ``ParseError`` for what is no JSON, with its offset in characters.
        """
        try:
            self._text = self._text[self._at :] + self._decoder.decode(data, final)
        except UnicodeDecodeError as error:
            raise ParseError(data, error.start, ()) from None
        self._at = 0
        while self._at < len(self._text):
            if not (self._read_string() if self._string is not None else self._read(final)):
                break
        if final and not self.is_complete:
            raise ParseError(data, len(data), ())

    def _read(self, final: bool) -> bool:
        """Read one word or sign; False where it is not known to be over."""
        char = self._text[self._at]
        if char in "{[":
            self._enter({} if char == "{" else [])
        elif char in "}]":
            is_object = isinstance(self._open[-1], dict)
            if len(self._open) == 1 or is_object != (char == "}"):
                raise ParseError(self._text.encode(), self._at, ())
            self._open.pop()
            self._names.pop()
        elif char == '"':
            is_object = isinstance(self._open[-1], dict)
            self._string, self._is_shown = [], False
            self._is_name = is_object and self._names[-1] is None
        elif char not in _BLANK and char not in ",:":
            return self._read_scalar(final)
        self._at += 1
        return True

    def _read_scalar(self, final: bool) -> bool:
        found = _SCALAR.match(self._text, self._at)
        if found is None:
            raise ParseError(self._text.encode(), self._at, ())
        word = found[0]
        is_over = final or found.end() < len(self._text) or word in _WORDS
        if not is_over:
            return False
        try:
            self._put(loads(word))
        except ValueError:
            raise ParseError(self._text.encode(), self._at, ()) from None
        self._at = found.end()
        return True

    def _read_string(self) -> bool:
        assert self._string is not None  # noqa: S101 - asked for then only
        plain = _PLAIN.match(self._text, self._at)
        if plain is not None:
            self._string.append(plain[0])
            self._at = plain.end()
            return True
        if self._text[self._at] == '"':
            self._end_string()
            self._at += 1
            return True
        escape = _ESCAPE.match(self._text, self._at)
        if escape is None:
            return False
        code = int(escape[0][2:], 16) if escape[0][1] == "u" else 0
        end = escape.end()
        if _HIGH[0] <= code < _HIGH[1]:
            # The other half may follow.
            rest = self._text[end : end + 6]
            if len(rest) < 6 and "\\u"[: len(rest)] == rest[:2]:
                return False
            other = _ESCAPE.match(self._text, end)
            if other is not None and other[0][1] == "u":
                low = int(other[0][2:], 16)
                end = other.end() if _LOW[0] <= low < _LOW[1] else end
        try:
            self._string.append(loads(f'"{self._text[self._at : end]}"'))
        except ValueError:
            raise ParseError(self._text.encode(), self._at, ()) from None
        self._at = end
        return True

    def _enter(self, value: Any) -> None:
        self._put(value)
        self._open.append(value)
        self._names.append(None)

    def _put(self, value: Any) -> None:
        """Put a value where the next one belongs."""
        container = self._open[-1]
        if isinstance(container, dict):
            name = self._names[-1]
            if name is None:
                raise ParseError(self._text.encode(), self._at, ())
            container[name] = value
            self._names[-1] = None
        else:
            container.append(value)

    def _end_string(self) -> None:
        assert self._string is not None  # noqa: S101 - asked for then only
        text = "".join(self._string)
        self._string = None
        if self._is_name:
            self._names[-1] = text
        elif self._is_shown:
            self._replace(text)
            self._names[-1] = None
        else:
            self._put(text)

    def _show_string(self) -> None:
        """Put what is known of a string that is not over where it belongs."""
        if self._string is None or self._is_name:
            return
        self._string = ["".join(self._string)]
        if self._is_shown:
            self._replace(self._string[0])
            return
        name = self._names[-1]
        self._put(self._string[0])
        # It still waits for the rest.
        self._names[-1] = name
        self._is_shown = True

    def _replace(self, text: str) -> None:
        container = self._open[-1]
        if isinstance(container, dict):
            container[self._names[-1]] = text
        else:
            container[-1] = text
