"""Texts that come in pieces, and JSON and literals in them.

A reader here is a generator over a ``Pieces``: it consumes the text of a value, reports its JSON by
``made``, and pauses where the text so far does not decide. So the results are the same for every
chunking of the text. It raises ``BrokenError`` for a text that is not such a value, and
``CutError`` where the text is over too early.

Reading is wider than writing: a constant may be written as in Python, a line break may be in a
string, names and strings of literals may be in either quotes, and the digits of a text without any.

Tests: tests/unit/parse/test_messages.py, tests/property/test_tool_values.py.
"""

import json
import re
import sys
from collections.abc import Callable, Generator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from kbnf_core.kbnf.parsed import Shape
from kbnf_core.languages.structural_tag.nested import ValueNotation
from kbnf_core.languages.structural_tag.xml import PYTHON_WORDS

if TYPE_CHECKING:
    import regex

BLANK = " \t\n\r"
NO_BLANK = re.compile(r"\S")
OF_PYTHON = {written: word for word, written in PYTHON_WORDS.items()}
ANYTHING = Shape(("string", "object", "array"))
ANY_OBJECT = Shape(("object",))
TEXTS = {"string", "word"}

Reading: TypeAlias = Generator[None, None, None]
"""A generator that pauses where more text is needed."""

Made: TypeAlias = Callable[[str], object]
"""Takes the JSON that is certain."""


class BrokenError(Exception):
    """A text does not continue the value read so far."""


class CutError(Exception):
    """A text is over too early."""


class Tolerated(NamedTuple):
    """An accepted deviation and its span: offsets in characters."""

    what: str
    start: int
    end: int


class Pieces:
    """A text in chunks: the rest that is not yet consumed is ``text`` from ``at`` on.

    ``base`` is the number of characters before ``text``, ``tolerated`` the accepted deviations.
    """

    __slots__ = ("at", "base", "is_over", "kept", "text", "tolerated")

    def __init__(self) -> None:
        self.text = ""
        self.at = self.base = 0
        self.is_over = False
        # The text consumed since recording began.
        self.kept: list[str] | None = None
        self.tolerated: list[Tolerated] = []

    def note(self, deviation: str, size: int = 0) -> None:
        """Note an accepted deviation: the last characters that were consumed."""
        self.tolerated.append(Tolerated(deviation, self.place - size, self.place))

    def add(self, text: str) -> None:
        """Add the next piece."""
        self.text = self.text[self.at :] + text
        self.base += self.at
        self.at = 0

    def take(self, end: int) -> str:
        """Take and return the text up to a place."""
        taken = self.text[self.at : end]
        self.at = end
        if self.kept is not None:
            self.kept.append(taken)
        return taken

    def give_back(self, text: str) -> None:
        """Undo the taking of a text, which was taken last."""
        if self.at >= len(text):
            self.at -= len(text)
        else:
            self.text = text + self.text[self.at :]
            self.base += self.at - len(text)
            self.at = 0
        if self.kept is not None:
            self.kept = ["".join(self.kept).removesuffix(text)]

    def more(self) -> Reading:
        """Wait for more text. Raises ``CutError`` where there is none."""
        if self.is_over:
            raise CutError
        yield

    @property
    def place(self) -> int:
        """The number of characters that were taken."""
        return self.base + self.at

    @property
    def is_blank(self) -> bool:
        """Whether the rest so far consists of blanks only."""
        return NO_BLANK.search(self.text, self.at) is None

    def char(self) -> Generator[None, None, str]:
        """Return the next character, which is not taken."""
        while self.at >= len(self.text):
            yield from self.more()
        return self.text[self.at]

    def after_blanks(self) -> Generator[None, None, str]:
        """Take blanks; return the character after them."""
        if self.at < len(self.text) and (char := self.text[self.at]) not in BLANK:
            return char
        while (yield from self.char()) in BLANK:
            end = self.at + 1
            while end < len(self.text) and self.text[end] in BLANK:
                end += 1
            self.take(end)
        return self.text[self.at]

    def matching(
        self, pattern: "regex.Pattern[str]"
    ) -> "Generator[None, None, regex.Match[str] | None]":
        """Return the match of a pattern at the next place, None for none; nothing is taken.

        A match that more text might make another one is waited for.
        """
        while True:
            match = pattern.match(self.text, self.at, partial=not self.is_over)
            if match is None or not match.partial:
                return match
            yield


# JSON

_PLAIN = re.compile(r'[^"\\\x00-\x1f]+')
_WHOLE = re.compile(r'"[^"\\\x00-\x1f]*"')
NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_NUMBER_SO_FAR = re.compile(r"-?[0-9]*\.?[0-9]*(?:[eE][-+]?[0-9]*)?")
_LETTERS = re.compile(r"[A-Za-z]+")
_CONSTANTS = {**{word: word for word in PYTHON_WORDS}, **OF_PYTHON}
_CLOSING = {"{": "}", "[": "]", "(": ")"}


def read_json(source: Pieces, made: Made) -> Reading:
    """Read one value of JSON; blanks before it are taken."""
    opened: list[str] = []
    yield from source.after_blanks()
    while True:
        char = yield from source.char()
        if char == '"':
            yield from _string(source, made)
        elif char in "{[":
            opened.append(_CLOSING[char])
            made(source.take(source.at + 1))
        elif char in "}]":
            if not opened or opened.pop() != char:
                raise BrokenError
            made(source.take(source.at + 1))
        elif char in ",:" or char in BLANK:
            if not opened:
                raise BrokenError
            made(source.take(source.at + 1))
        else:
            yield from _scalar(source, made)
        if not opened:
            return


def _string(source: Pieces, made: Made) -> Reading:
    whole = _WHOLE.match(source.text, source.at)
    if whole is not None:
        made(source.take(whole.end()))
        return
    made(source.take(source.at + 1))
    while True:
        char = yield from source.char()
        if char == "\\":
            while source.at + 2 > len(source.text):
                yield from source.more()
            made(source.take(source.at + 2))
        elif char == '"':
            made(source.take(source.at + 1))
            return
        elif char < " ":
            made(characters(source.take(source.at + 1)))
            source.note(f"{char!r} is not escaped", 1)
        else:
            plain = _PLAIN.match(source.text, source.at)
            assert plain is not None  # noqa: S101 - one of its characters is there
            made(source.take(plain.end()))


def _scalar(source: Pieces, made: Made) -> Reading:
    """Read a number or a constant, which is over where something else follows."""
    text = source.text
    pattern = _LETTERS if text[source.at].isalpha() else _NUMBER_SO_FAR
    while True:
        so_far = pattern.match(source.text, source.at)
        if so_far is None or so_far.end() == source.at:
            raise BrokenError
        if so_far.end() < len(source.text) or source.is_over:
            break
        if so_far[0] in _CONSTANTS:
            break
        if pattern is _LETTERS and not any(
            constant.startswith(so_far[0]) for constant in _CONSTANTS
        ):
            raise BrokenError
        yield
    if pattern is _LETTERS:
        word = next((constant for constant in _CONSTANTS if so_far[0].startswith(constant)), None)
        if word is None:
            raise CutError if source.is_over and _is_begun(so_far[0]) else BrokenError
        source.take(source.at + len(word))
        made(_CONSTANTS[word])
        if word in OF_PYTHON:
            source.note(f"`{word}` is Python's", len(word))
        return
    number = NUMBER.match(source.text, source.at)
    if number is None:
        raise CutError if source.is_over and so_far.end() == len(source.text) else BrokenError
    made(source.take(number.end()))


def _is_begun(word: str) -> bool:
    return any(constant.startswith(word) for constant in _CONSTANTS)


def read_arguments(source: Pieces, made: Made) -> Reading:
    """Read arguments in JSON; a text of JSON stands for its value."""
    if (yield from source.after_blanks()) != '"':
        yield from read_json(source, made)
        return
    written: list[str] = []
    yield from _string(source, written.append)
    try:
        inner = json.loads("".join(written))
        value = json.loads(inner)
    except (ValueError, RecursionError):
        made("".join(written))
        return
    made(inner.strip() if isinstance(value, dict) else "".join(written))


# Literals

_PYTHON_ESCAPE = re.compile(
    r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{1,3}|[\n\\'\"abfnrtv])"
)
_PYTHON_CHARACTERS = {
    "\n": "", "\\": "\\", "'": "'", '"': '"', "a": "\a", "b": "\b", "f": "\f", "n": "\n",
    "r": "\r", "t": "\t", "v": "\v",
}  # fmt: skip
_LONGEST_ESCAPE = 10


def _escaped_character(match: re.Match[str]) -> str:
    """Return the character that an escape of Python's is."""
    escape = match[0][1:]
    if escape in _PYTHON_CHARACTERS:
        return _PYTHON_CHARACTERS[escape]
    code = int(escape, 8) if escape[0].isdecimal() else int(escape[1:], 16)
    is_character = code <= sys.maxunicode and not 0xD800 <= code <= 0xDFFF
    return chr(code) if is_character else match[0]


@dataclass(slots=True)
class Container:
    """An object or an array that is open: its shape, the values in it, its end."""

    shape: Shape
    is_object: bool
    closing: str
    count: int = 0

    def inside(self, shapes: tuple[Shape, ...], name: str | None) -> Shape:
        """Return the shape of the next value, a member of this name or an item."""
        number = self.shape.items
        if self.is_object:
            number = self.shape.members.get(name or "", self.shape.other)
        elif self.count < len(self.shape.first):
            number = self.shape.first[self.count]
        return ANYTHING if number is None else shapes[number]


class NotationReader:
    """Reads a notation: the outermost object, with its brackets."""

    def __init__(
        self, source: Pieces, made: Made, notation: ValueNotation, shapes: tuple[Shape, ...] = ()
    ) -> None:
        self._source, self._made, self._quote = source, made, notation.quote
        self._assigned = notation.assigned
        self._first = notation.brackets[0]
        # Brackets that the notation does not have begin names in Gemma's.
        self._opening = f"{{[{self._first}"
        self._closing = "".join(_CLOSING[bracket] for bracket in self._opening)
        ends = r",:{}\[\]<\"" if notation.quote else r"\s,:=(){}\[\]\"'"
        self._word = re.compile(f"[^{ends}]+")
        self._shapes = shapes or (ANY_OBJECT,)
        self._open = [Container(self._shapes[0], True, _CLOSING[self._first])]
        self._name = ""

    def read(self) -> Reading:
        """Read the object."""
        source, made = self._source, self._made
        if (yield from source.char()) != self._first:
            raise BrokenError
        source.take(source.at + 1)
        made("{")
        while self._open:
            char = yield from source.char()
            if char in self._opening:
                source.take(source.at + 1)
                shape = self._open[-1].inside(self._shapes, self._name)
                self._open.append(Container(shape, char == "{", _CLOSING[char]))
                made("{" if char == "{" else "[")
            elif char in self._closing:
                closed = self._open.pop()
                if closed.closing != char:
                    raise BrokenError
                source.take(source.at + 1)
                made("}" if closed.is_object else "]")
            elif char in ",:" or char in BLANK:
                self._open[-1].count += char == ","
                made(source.take(source.at + 1))
            else:
                yield from self._leaf(char)

    def _leaf(self, char: str) -> Reading:
        """Read a string, a name or a scalar, which begins with a character."""
        if self._quote and self._quote.startswith(char):
            yield from self._quoted()
        elif char == '"':
            yield from _string(self._source, self._made)
        elif char == "'" and not self._quote:
            yield from self._apostrophes()
        elif self._word.match(char):
            yield from self._read_word()
        else:
            raise BrokenError

    def _quoted(self) -> Reading:
        """Read a string between the marks of the notation, as it is."""
        source, quote = self._source, self._quote
        while not source.text.startswith(quote, source.at):
            if not quote.startswith(source.text[source.at : source.at + len(quote)]):
                raise BrokenError
            yield from source.more()
        source.take(source.at + len(quote))
        self._made('"')
        yield from up_to(source, quote, (), lambda text: self._made(characters(text)))
        self._made('"')

    def _apostrophes(self) -> Reading:
        """Read a string of Python; an invalid escape is kept as it is."""
        source, made = self._source, self._made
        source.take(source.at + 1)
        made('"')
        while (char := (yield from source.char())) != "'":
            if char != "\\":
                end = source.at + 1
                while end < len(source.text) and source.text[end] not in "\\'":
                    end += 1
                made(characters(source.take(end)))
                continue
            # The longest escape is read once what follows it cannot belong to it.
            while len(source.text) < source.at + _LONGEST_ESCAPE and not source.is_over:
                if source.text.find("'", source.at + 2) >= 0:
                    break
                yield
            match = _PYTHON_ESCAPE.match(source.text, source.at)
            if match is None:
                made(characters(source.take(source.at + 1)))
            else:
                source.take(match.end())
                made(characters(_escaped_character(match)))
        source.take(source.at + 1)
        made('"')

    def _read_word(self) -> Reading:
        """Read a name, a number, a constant, or a string without quotes."""
        source = self._source
        word: list[str] = []
        while True:
            match = self._word.match(source.text, source.at)
            if match is not None:
                word.append(source.take(match.end()))
            if source.at < len(source.text):
                break
            yield from source.more()
        written = "".join(word)
        name = written.strip()
        blanks = written[len(written.rstrip()) :]
        if self._assigned == "=":
            yield from source.after_blanks()
        if source.text[source.at] in (self._assigned, ":"):
            source.take(source.at + 1)
            self._made(f"{json.dumps(name, ensure_ascii=False)}: ")
            self._name = name
        elif name in _CONSTANTS:
            self._made(_CONSTANTS[name] + blanks)
        elif NUMBER.fullmatch(name) and set(self._kinds()) - TEXTS:
            self._made(name + blanks)
        else:
            self._made(json.dumps(name, ensure_ascii=False) + blanks)

    def _kinds(self) -> tuple[str, ...]:
        """Return the kinds of the next value: the digits of a text may be without quotes."""
        return self._open[-1].inside(self._shapes, self._name).kinds


# Texts up to an end


def up_to(
    source: Pieces,
    closing: str,
    ends: tuple[str, ...],
    made: Made,
    is_end: Callable[[str], Generator[None, None, bool]] | None = None,
) -> Generator[None, None, bool]:
    """Read a text up to its closing, which is consumed; return whether that was there.

    Where it is missing, one of ``ends`` closes the text, and is not consumed; the text after such
    an end is withheld until that is certain, or ``is_end`` says so. Raises ``CutError`` where
    neither comes.
    """
    withheld: list[str] | None = None
    words = (closing, *ends)
    first = _first_of(words)
    while True:
        if withheld is None:
            match = first.search(source.text, source.at)
            if match is not None and match[0] != closing:
                made(source.take(match.start()))
                if is_end is not None and (yield from is_end(match[0])):
                    return False
                withheld = []
        at = (
            source.text.find(closing, source.at)
            if withheld is not None or match is not None
            else -1
        )
        if at >= 0:
            taken = source.take(at)
            source.take(at + len(closing))
            made("".join([*(withheld or ()), taken]))
            return True
        overlap = max(_overlap(source.text, word, source.at) for word in words)
        if source.is_over:
            if withheld is None:
                raise CutError
            source.give_back("".join(withheld))
            return False
        (made if withheld is None else withheld.append)(source.take(len(source.text) - overlap))
        yield


@lru_cache(maxsize=256)
def _first_of(words: tuple[str, ...]) -> re.Pattern[str]:
    """Return the pattern of one of some words, the longest where several begin at one place."""
    return re.compile("|".join(map(re.escape, sorted(words, key=len, reverse=True))))


def _overlap(text: str, word: str, start: int) -> int:
    """Return how many characters at the end of ``text`` may begin ``word``."""
    longest = min(len(text) - start, len(word) - 1)
    return next((size for size in range(longest, 0, -1) if word.startswith(text[-size:])), 0)


def characters(text: str) -> str:
    """Return a text as it is within a string of JSON."""
    return json.dumps(text, ensure_ascii=False)[1:-1]
