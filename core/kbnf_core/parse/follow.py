"""What is certain of a text while it comes: the rules that have begun and ended, and captures.

A follower is a view of what an engine has accepted. It reads it over position automata when it is
asked, from where it stopped; an engine that nobody asks has none.
"""

import copy
from collections.abc import Sequence
from itertools import islice
from typing import Any

from kbnf_core.mask.terminals import TokenTerminals
from kbnf_core.parse.parser import Parser
from kbnf_core.parse.tree import Event
from kbnf_core.parse.values import NOTHING_YET, JsonReader
from kbnf_core.vocab.vocabulary import Vocabulary


class Follower:
    """Reads the tokens and bytes that an engine accepted; rollback and copies hold.

    ``events`` are all that are certain, of which ``given`` were given to the caller.
    """

    def __init__(self, parser: Parser, vocabulary: Vocabulary) -> None:
        self._parser = parser
        self._vocabulary = vocabulary
        self._terminals = TokenTerminals(parser.token_terminals, vocabulary)
        self._begin()

    def _begin(self) -> None:
        self._trace = self._parser.trace(streamed=True)
        self._data = bytearray()
        # What was read, and after each of its parts the places read and the events given.
        self._read: list[int | bytes] = []
        self._marks: list[tuple[int, int]] = []
        self._events: list[Event] = []
        self._given = 0

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

    def follow(self, accepted: Sequence[int | bytes], *, is_over: bool) -> None:
        """Read what was accepted since the last call, and find what is certain."""
        for what in islice(accepted, len(self._read), None):
            self._marks.append((len(self._trace), self._given))
            self._read.append(what)
            self._take(what)
        if is_over and self._trace.is_complete():
            tree = self._parser.tree_of(self._trace, bytes(self._data))
            self._events = list(tree.events())
        else:
            self._events += self._parser.certain(self._trace)

    def _take(self, what: int | bytes) -> None:
        data = what if isinstance(what, bytes) else self._vocabulary.token(what) or b""
        if not isinstance(what, bytes):
            terminals = self._terminals.matching(what)
            if terminals and self._trace.read_token(terminals, what, len(data)):
                self._data += data
                return
        self._trace.read(data)
        self._data += data

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


class ValueFollower:
    """The JSON value of what an engine accepted."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._reader = JsonReader()
        self._read = 0
        self._is_over = False

    def read(self, accepted: Sequence[int | bytes], *, is_over: bool) -> Any:
        """Read what was accepted since the last call; return the value, None without any."""
        for what in islice(accepted, self._read, None):
            self._read += 1
            data = what if isinstance(what, bytes) else self._vocabulary.token(what) or b""
            if isinstance(what, int) and self._vocabulary.is_special(what):
                data = b""
            self._reader.feed(data)
        if is_over and not self._is_over:
            self._is_over = True
            self._reader.feed(b"", final=True)
        value = self._reader.value
        return None if value is NOTHING_YET else value
