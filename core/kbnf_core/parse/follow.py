"""What is certain of a text while it comes: the rules that have begun and ended, and captures.

A follower is a view of what an engine has accepted. It reads it over position automata when it is
asked, from where it stopped; an engine that nobody asks has none.
"""

import copy
from collections.abc import Iterable
from typing import Any

import numpy as np

from kbnf_core.kernel import Trace
from kbnf_core.mask.terminals import TokenTerminals
from kbnf_core.parse.parser import Parser, tree_of_events
from kbnf_core.parse.tree import Event, Tree
from kbnf_core.parse.values import NOTHING_YET, JsonReader
from kbnf_core.text.errors import ConfigError
from kbnf_core.vocab.vocabulary import Vocabulary


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
        # What was read, and after each of its parts the places read and the events given.
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
        places, given = self._marks[size]
        del self._read[size:], self._marks[size:]
        self._trace.cut_to(places)
        del self._data[self._trace.size :]
        self._events = []
        self._given = given

    def follow(self, accepted: Iterable[int | bytes], *, is_over: bool) -> None:
        """Read what was accepted since the last call, and find what is certain.

        Where that raises, for too much work or an interrupt, nothing was read.
        """
        before = len(self._read)
        try:
            for what in accepted:
                self._marks.append((len(self._trace), self._given))
                self._read.append(what)
                data = bytes_of(what, self._vocabulary)
                self._data += data
                self._take(self._trace, what, data)
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
        for what in self._read:
            self._take(whole, what, bytes_of(what, self._vocabulary))
        self._events = list(self._parser.tree_of(whole, bytes(self._data)).events())

    def _take(self, trace: Trace, what: int | bytes, data: bytes) -> None:
        if not isinstance(what, bytes) and self._terminals is not None:
            terminals = self._terminals.matching(what)
            if terminals and trace.read_token(terminals, what, len(data)):
                return
        if self._parser.read(trace, data) < len(data):
            raise self._parser.error(trace, bytes(self._data))

    @property
    def front(self) -> int:
        """Up to which byte it is certain which rules are open."""
        return len(self._data) if self._is_over else self._trace.front

    def tree(self) -> Tree | None:
        """Return the tree of a text that is over, else what is certain of it, None for nothing."""
        names = self._parser.names
        labels = {name: label for label, name in enumerate(names)}
        events = [
            labels[each.rule] if each.kind == "open" else ~labels[each.rule]
            for each in self._events
        ]
        offsets = [each.offset for each in self._events]
        columns = (np.array(each, np.int32) for each in (events, offsets))
        return tree_of_events(bytes(self._data), names, *columns)

    def data(self, start: int, end: int) -> bytes:
        """Return bytes that were read."""
        return bytes(self._data[start:end])

    def require_end(self) -> None:
        """Raise ``ParseError`` unless what was read is a whole text."""
        if not self._trace.is_complete():
            raise self._parser.error(self._trace, bytes(self._data))

    def new_events(self) -> list[Event]:
        """Return the events that were not given yet."""
        fresh = self._events[self._given :]
        self._given = max(self._given, len(self._events))
        return fresh

    def captures(self, rule: str) -> list[bytes]:
        """Return the texts of a rule whose ends are certain, in the order in which they end."""
        found = []
        opened: list[Event] = []
        for event in self._events:
            if event.kind == "open":
                opened.append(event)
            else:
                begin = opened.pop()
                if event.rule == rule:
                    found.append(bytes(self._data[begin.offset : event.offset]))
        return found


class ValueReader:
    """Reads one JSON text in pieces; ``value`` is what is certain of it, None where nothing is."""

    def __init__(self, vocabulary: Vocabulary | None = None) -> None:
        self._vocabulary = vocabulary
        self._reader = JsonReader()
        self.count = 0
        """The number of parts that ``read`` has read."""
        self._is_over = False

    def feed(self, piece: str | bytes | int) -> None:
        """Read the next piece: text, bytes, or a token. Raises ``ParseError`` for no JSON."""
        data = piece.encode() if isinstance(piece, str) else piece
        self._reader.feed(bytes_of(data, self._vocabulary))

    def finish(self) -> None:
        """Say that the text is over. Raises ``ParseError`` for one that ends too early."""
        self._reader.feed(b"", final=True)

    def read(self, accepted: Iterable[int | bytes], *, is_over: bool) -> Any:
        """Read what was accepted since the last call; return the value."""
        for what in accepted:
            self.count += 1
            self.feed(what)
        if is_over and not self._is_over:
            self._is_over = True
            self.finish()
        return self.value

    @property
    def value(self) -> Any:
        """The value so far."""
        value = self._reader.value
        return None if value is NOTHING_YET else value


def bytes_of(piece: int | bytes, vocabulary: Vocabulary | None) -> bytes:
    """Return the bytes of a piece of text; a special token has none."""
    if isinstance(piece, bytes):
        return piece
    if vocabulary is None:
        raise ConfigError("tokens are read with a vocabulary: give one, or bytes")
    return b"" if piece in vocabulary.special_ids else vocabulary.token(piece) or b""
