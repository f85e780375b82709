"""The certain part of a text that is still coming: rules begun and ended, captures, JSON values.

A follower is a view of the text that an engine has accepted. It reads it over position automata
when it is asked, from where it stopped; an engine that nobody asks has none.

A reader of JSON receives bytes as they come and contains the value so far. Its content is certain:
a string is as long as its characters are known, a number is there once something follows it or the
text is over, a name is there together with its value, and nothing that was there goes away. Arrays
and objects are there from their first bracket. The rules of a grammar are not asked: a text that
fits a JSON Schema is JSON, and JSON says by itself where values begin and end. So a reader costs
the same for any schema, and needs no derivations.

Tests: tests/unit/parse/test_follow.py, tests/unit/parse/test_values.py
"""

import copy
import marshal
import re
from codecs import getincrementaldecoder
from collections.abc import Iterable, Mapping
from json import loads
from typing import Any

import numpy as np

from kbnf_core.kernel import Trace
from kbnf_core.mask.masks import TokenTerminals
from kbnf_core.parse.parser import Parser, tree_of_events
from kbnf_core.parse.tree import Event, Tree
from kbnf_core.text.errors import ConfigError, ParseError
from kbnf_core.vocab.vocabulary import Vocabulary


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


def copied(value: Any) -> Any:
    """Return a copy of a value of JSON: in compiled code, but where it is too deep for that."""
    try:
        return marshal.loads(marshal.dumps(value))  # noqa: S302 - dumped right here
    except ValueError:
        return _copied_in_steps(value)


def _copied_in_steps(value: Any) -> Any:
    """Return a copy of a value of JSON, of any depth."""
    root: list[Any] = [value]
    pending: list[tuple[Any, Any]] = [(root, 0)]
    while pending:
        holder, key = pending.pop()
        inner = holder[key]
        if isinstance(inner, dict):
            inner = dict(inner)
            pending += [
                (inner, name) for name, child in inner.items() if isinstance(child, _HOLDERS)
            ]
        elif isinstance(inner, list):
            inner = list(inner)
            pending += [
                (inner, at) for at, child in enumerate(inner) if isinstance(child, _HOLDERS)
            ]
        holder[key] = inner
    return root[0]


_HOLDERS = (dict, list)


class JsonReader:
    """Reads one JSON text in chunks; ``value`` is its certain part.

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

        Raises ``ParseError`` for a text that is not JSON, with its offset in characters.
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
        match = _SCALAR.match(self._text, self._at)
        if match is None:
            raise ParseError(self._text.encode(), self._at, ())
        word = match[0]
        is_over = final or match.end() < len(self._text) or word in _WORDS
        if not is_over:
            return False
        try:
            self._put(loads(word))
        except ValueError:
            raise ParseError(self._text.encode(), self._at, ()) from None
        self._at = match.end()
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
        """Put the certain characters of an unfinished string where it belongs."""
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


class Follower:
    """Reads the tokens and bytes that an engine accepted; rollback and copies work.

    ``events`` are all that are certain, of which ``given`` were given to the caller.
    """

    def __init__(self, parser: Parser, vocabulary: Vocabulary | None) -> None:
        """Follow texts of a parser; without a vocabulary they come as bytes only."""
        self._parser = parser
        self._vocabulary = vocabulary
        self._terminals = (
            None if vocabulary is None else TokenTerminals(parser.token_terminals, vocabulary)
        )
        self._trace = self._parser.streamed_trace()
        self._data = bytearray()
        # The bytes and tokens read, and after each chunk the positions read and the events given.
        self._read: list[int | bytes] = []
        self._marks: list[tuple[int, int]] = []
        self._events: list[Event] = []
        self._given = 0
        self._is_over = False

    @property
    def count(self) -> int:
        """The number of parts read: tokens, and byte strings."""
        return len(self._read)

    def __copy__(self) -> "Follower":
        twin = object.__new__(Follower)
        twin.__dict__.update(self.__dict__)
        twin._trace = copy.copy(self._trace)
        twin._data = self._data[:]
        twin._read = self._read[:]
        twin._marks = self._marks[:]
        twin._events = self._events[:]
        return twin

    def roll_back(self, size: int) -> None:
        """Forget all but the first parts; events given since then are given once more."""
        if size >= len(self._read):
            return
        step_count, given = self._marks[size]
        del self._read[size:], self._marks[size:]
        self._trace.cut_to(step_count)
        del self._data[self._trace.size :]
        self._events = []
        self._given = given

    def follow(self, accepted: Iterable[int | bytes], *, is_over: bool) -> None:
        """Read the text accepted since the last call, and determine the certain events.

        Where that raises, for too much work or an interrupt, nothing was read.
        """
        before = len(self._read)
        try:
            for symbol in accepted:
                self._marks.append((len(self._trace), self._given))
                self._read.append(symbol)
                data = bytes_of(symbol, self._vocabulary)
                self._data += data
                self._take(self._trace, symbol, data)
            self._find_events(is_over=is_over)
        except BaseException:
            self.roll_back(before)
            raise

    def _find_events(self, *, is_over: bool) -> None:
        self._is_over = is_over and self._trace.is_complete()
        if not self._is_over:
            self._events += self._parser.certain(self._trace)
            return
        # The tables of a whole text: they have fewer derivations for rules that derive themselves,
        # and it is read as ``Grammar.parse`` reads it.
        whole = self._parser.trace()
        for symbol in self._read:
            self._take(whole, symbol, bytes_of(symbol, self._vocabulary))
        self._events = list(self._parser.tree_of(whole, bytes(self._data)).events())

    def _take(self, trace: Trace, symbol: int | bytes, data: bytes) -> None:
        if not isinstance(symbol, bytes) and self._terminals is not None:
            terminals = self._terminals.matching(symbol)
            if terminals and trace.read_token(terminals, symbol, len(data)):
                return
        if self._parser.read(trace, data) < len(data):
            raise self._parser.error(trace, bytes(self._data))

    @property
    def front(self) -> int:
        """Up to which byte it is certain which rules are open."""
        return len(self._data) if self._is_over else self._trace.front

    def tree(self) -> Tree | None:
        """Return the tree of a complete text, else its certain part, None if there is none."""
        names = self._parser.names
        labels = {name: label for label, name in enumerate(names)}
        events = [
            labels[event.rule] if event.kind == "open" else ~labels[event.rule]
            for event in self._events
        ]
        offsets = [event.offset for event in self._events]
        columns = (np.array(column, np.int32) for column in (events, offsets))
        return tree_of_events(bytes(self._data), names, *columns)

    def data(self, start: int, end: int) -> bytes:
        """Return bytes that were read."""
        return bytes(self._data[start:end])

    def require_end(self) -> None:
        """Raise ``ParseError`` unless the text so far is complete."""
        if not self._trace.is_complete():
            raise self._parser.error(self._trace, bytes(self._data))

    def new_events(self) -> list[Event]:
        """Return the events that were not given yet."""
        fresh = self._events[self._given :]
        self._given = max(self._given, len(self._events))
        return fresh

    def captures(self, name: str, groups: Mapping[str, frozenset[str]]) -> list[bytes]:
        """Return the texts of a rule whose ends are certain, in the order in which they end.

        ``groups``: the rules that are captured under one name. Raises ``ConfigError`` for no rule.
        """
        rules = groups.get(name, frozenset((name,)))
        if rules.isdisjoint(self._parser.names):
            raise ConfigError(f"the grammar has no rule `{name}`")
        result = []
        opened: list[Event] = []
        for event in self._events:
            if event.kind == "open":
                opened.append(event)
            else:
                begin = opened.pop()
                if event.rule in rules:
                    result.append(bytes(self._data[begin.offset : event.offset]))
        return result


class ValueReader:
    """Reads one JSON text in chunks; ``value`` is its certain part, None if there is none.

    With ``reader`` it is a text of another syntax.
    """

    def __init__(
        self, vocabulary: Vocabulary | None = None, reader: JsonReader | None = None
    ) -> None:
        self._vocabulary = vocabulary
        self._reader = reader or JsonReader()
        self.count = 0
        """The number of parts that ``read`` has read."""
        self._is_over = False

    def feed(self, chunk: str | bytes | int) -> None:
        """Read the next piece: text, bytes, or a token. Raises ``ParseError`` for no JSON."""
        data = chunk.encode() if isinstance(chunk, str) else chunk
        self._reader.feed(bytes_of(data, self._vocabulary))

    def finish(self) -> None:
        """Say that the text is over. Raises ``ParseError`` for one that ends too early."""
        self._reader.feed(b"", final=True)

    def read(self, accepted: Iterable[int | bytes], *, is_over: bool) -> Any:
        """Read the text accepted since the last call; return the value."""
        for symbol in accepted:
            self.count += 1
            self.feed(symbol)
        if is_over and not self._is_over:
            self._is_over = True
            self.finish()
        return self.value

    @property
    def value(self) -> Any:
        """The value so far."""
        value = self._reader.value
        return None if value is NOTHING_YET else value


def bytes_of(symbol: int | bytes, vocabulary: Vocabulary | None) -> bytes:
    """Return the bytes of a piece of text; a special token has none."""
    if isinstance(symbol, bytes):
        return symbol
    if vocabulary is None:
        raise ConfigError("tokens are read with a vocabulary: give one, or bytes")
    return b"" if symbol in vocabulary.special_ids else vocabulary.token(symbol) or b""
