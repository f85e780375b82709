"""Values of texts of tags that have no reading language (``messages``), while they come.

The parts are free text, reasoning and calls: those that the marked rules of a grammar match
(``languages.structural_tag.marks``). A part is reported as soon as it has certainly begun, with its
certain content: a possible beginning of a call is not text yet. Nothing is withdrawn.

Tests: tests/unit/parse/test_calls.py
"""

from codecs import getincrementaldecoder
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from kbnf_core.ir import GrammarRules
from kbnf_core.kbnf.parsed import Mark
from kbnf_core.languages.structural_tag.arguments import transcriber_of
from kbnf_core.parse.follow import NOTHING_YET, Follower, JsonReader
from kbnf_core.parse.parser import Parser
from kbnf_core.text.limits import Limits
from kbnf_core.vocab.vocabulary import Vocabulary


class Delta(NamedTuple):
    """New content of a text: ``text``, ``reasoning``, or of a call its ``name`` or ``arguments``.

    The texts of the arguments of one ``call``, which are counted from 0, are JSON together. ``cut``
    says that a call that was begun is not one, ``invalid`` that its arguments do not fit the schema
    of the tool: its text is the pointer of the first value that does not.
    """

    kind: str
    text: str
    call: int | None = None


class MessageText:
    """Free text, or reasoning."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.texts: list[str] = []

    @property
    def value(self) -> Any:
        """The text so far, or an object with it by its kind."""
        self.texts = ["".join(self.texts)]
        return self.texts[0] if self.kind == "text" else {self.kind: self.texts[0]}


class OpenCall:
    """A call that is read; ``number`` is None until the call is reported."""

    def __init__(self) -> None:
        self.name: str | None = None
        self.number: int | None = None
        self.may_be_given = False
        self.written: list[str] = []
        self.has_arguments = False
        self.keys: list[str] = []
        # Whether its element has no arguments and ends itself.
        self.is_closed = False
        # The pointer of a member that the arguments have twice.
        self.repeated: str | None = None
        self.whole: dict[str, Any] | None = None
        self._shown = 0
        self._reader = JsonReader()

    @property
    def value(self) -> dict[str, Any]:
        """The call so far; the same object from its end on."""
        if self.whole is not None:
            return self.whole
        added = "".join(self.written[self._shown :])
        self._shown = len(self.written)
        self._reader.feed(added.encode("utf-8", "surrogatepass"))
        arguments = self._reader.value
        return {"name": self.name, "arguments": None if arguments is NOTHING_YET else arguments}

    def finish(self, arguments: Any) -> None:
        """Take the whole value of the arguments."""
        self.whole = {"name": self.name, "arguments": arguments}

    def misfit(self, pointer: str) -> None:
        """Say where the arguments do not fit the schema of the tool."""
        self.whole = {**(self.whole or {}), "valid": False, "pointer": pointer}


_WHOLE = "text"
"""The name of the start; those of marks are numbers."""


class CallParser:
    """Parses texts to parts. Threads may share it."""

    def __init__(self, grammar: GrammarRules, marks: Mapping[str, Mark], limits: Limits) -> None:
        # Rules with equal marks have one name: which of them has matched is the same to a reader.
        names: dict[str, str | None] = {**dict.fromkeys(grammar.rules), grammar.start: _WHOLE}
        self.marks: dict[str, Mark] = {}
        distinct: list[Mark] = []
        for rule, mark in marks.items():
            if mark not in distinct:
                distinct.append(mark)
            name = str(distinct.index(mark))
            self.marks[name] = mark
            names[rule] = name
        self.parser = Parser(grammar, limits, names)


class CallReader:
    """Reads one text in pieces; ``value`` is the list of the parts that are certain.

    Free text is a string, reasoning ``{"reasoning": text}``, and a call ``{"name", "arguments"}``;
    arguments are None until some of them are certain, and the same object from then on where they
    are an object or an array.
    """

    def __init__(self, parser: CallParser, vocabulary: Vocabulary | None = None) -> None:
        self._parser, self._vocabulary = parser, vocabulary
        self._follower = Follower(parser.parser, vocabulary)
        self._items: list[_Text | _Call] = []
        self._deltas: list[Delta] = []
        self._calls = 0
        self._at = 0
        self._is_open = False

    def feed(self, chunk: str | bytes | int) -> None:
        """Read the next piece: text, bytes, or a token. Raises ``ParseError`` where none fits."""
        self.read([chunk.encode() if isinstance(chunk, str) else chunk], is_over=False)

    def finish(self) -> None:
        """Say that the text is over. Raises ``ParseError`` for one that ends too early."""
        self._follower.require_end()
        self.read([], is_over=True)

    @property
    def count(self) -> int:
        """The number of pieces read."""
        return self._follower.count

    def read(self, accepted: Iterable[int | bytes], *, is_over: bool) -> list[Any]:
        """Read the text accepted since the last call; return the value."""
        follower = self._follower
        follower.follow(accepted, is_over=is_over)
        for event in follower.new_events():
            if event.rule == _WHOLE:
                continue
            if event.kind == "open":
                self._begin(self._parser.marks[event.rule])
                self._at = event.offset
            else:
                self._feed(event.offset, final=True)
                self._is_open = False
        if self._is_open:
            self._feed(follower.front, final=False)
        return self.value

    @property
    def value(self) -> list[Any]:
        """The parts so far."""
        return [item.value for item in self._items if item.is_there]

    def deltas(self) -> list[Delta]:
        """Return the new content since the last call, in the order of the text."""
        result, self._deltas = self._deltas, []
        return result

    def _begin(self, mark: Mark) -> None:
        self._is_open = True
        last = self._items[-1] if self._items else None
        if mark.kind == "call":
            self._items.append(_Call(mark, self._calls))
            self._deltas.append(Delta("name", mark.name or "", self._calls))
            self._calls += 1
        elif isinstance(last, _Text) and last.mark.kind == mark.kind:
            last.mark = mark
        else:
            self._items.append(_Text(mark))

    def _feed(self, end: int, *, final: bool) -> None:
        item = self._items[-1]
        data = self._follower.data(self._at, end)
        self._at = end
        added = item.feed(data, final=final)
        if added:
            number = item.number if isinstance(item, _Call) else None
            kind = "arguments" if isinstance(item, _Call) else item.mark.kind
            self._deltas.append(Delta(kind, added, number))


class _Text:
    """Free text, or reasoning."""

    def __init__(self, mark: Mark) -> None:
        self.mark = mark
        self._decoder = getincrementaldecoder("utf-8")("replace")
        self._chunks: list[str] = []
        self._withheld = ""

    def feed(self, data: bytes, *, final: bool) -> str:
        """Take the next bytes; return those that are certainly text."""
        self._withheld += self._decoder.decode(data, final)
        trigger = self.mark.trigger
        # A possible trigger at the end of the part does not belong to the text.
        end = (
            len(self._withheld.removesuffix(trigger))
            if final
            else len(self._withheld) - len(trigger)
        )
        added = self._withheld[: max(end, 0)]
        self._withheld = "" if final else self._withheld[len(added) :]
        self._chunks.append(added)
        return added

    @property
    def is_there(self) -> bool:
        return any(self._chunks)

    @property
    def value(self) -> Any:
        self._chunks = ["".join(self._chunks)]
        text = self._chunks[0]
        return text if self.mark.kind == "text" else {self.mark.kind: text}


class _Call:
    """A call of a tool."""

    is_there = True

    def __init__(self, mark: Mark, number: int) -> None:
        self.number = number
        self._decoder = getincrementaldecoder("utf-8")("replace")
        self._transcriber = transcriber_of(mark)
        self._reader = JsonReader()
        self._value = {"name": mark.name, "arguments": None}

    def feed(self, data: bytes, *, final: bool) -> str:
        """Take the next bytes; return the JSON that they add."""
        text = self._decoder.decode(data, final)
        added = self._transcriber.feed(text, final=final)
        self._reader.feed(added.encode(), final=final)
        return added

    @property
    def value(self) -> dict[str, Any]:
        value = self._reader.value
        self._value["arguments"] = None if value is NOTHING_YET else value
        return self._value
