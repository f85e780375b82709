"""Arguments of tools as JSON, while they come, in whatever style they are written.

A reader of arguments is a generator over a ``Pieces``: it takes what belongs to the arguments, says
the JSON of it by ``made``, and pauses where the text that has come does not decide. It knows by
itself where arguments end: JSON and literals at their last bracket, elements where no further
element begins. So nobody needs to know beforehand which text they are, and the results are the same
for every chunking of the text. It raises ``BrokenError`` for a text that is no arguments, and
``CutError`` where the text is over too early.

Reading is wider than writing: a constant may be written as in Python, a line break may be in a
string, names and strings of literals may be in either quotes. A value of XML that is no string is
what its text converts to by the shape of the tool's schema, else it is the text: a string ends at
the first end of its element, a value of JSON at the first one outside of its strings, and where the
end of an element was forgotten, what ends the call ends it.
"""

import json
import re
import sys
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from kbnf_core.kbnf.parsed import Mark, Shape
from kbnf_core.languages.json_schema.expressions import constant
from kbnf_core.languages.structural_tag.nested import MARKER, NOTATIONS, Notation
from kbnf_core.languages.structural_tag.xml import PYTHON_WORDS, STYLES
from kbnf_core.text.json_text import NoJsonError, parse_json

if TYPE_CHECKING:
    import regex

_BLANK = " \t\n\r"
_NO_BLANK = re.compile(r"\S")
_OF_PYTHON = {written: word for word, written in PYTHON_WORDS.items()}
_ITEM, _NO_ELEMENT = f"{MARKER}<item>", f"{MARKER}</"
_NESTED = ("object", "array")
_ANYTHING = Shape(("string", "object", "array"))

Reading: TypeAlias = Generator[None, None, None]
"""What pauses where more text is needed."""

Made: TypeAlias = Callable[[str], object]
"""Takes the JSON that is certain."""


class BrokenError(Exception):
    """A text is not what was read so far."""


class CutError(Exception):
    """A text is over too early."""


class Pieces:
    """A text that comes in pieces: what has come and is not taken is ``text`` from ``at`` on.

    ``base`` is the number of characters ahead of ``text``.
    """

    __slots__ = ("at", "base", "is_over", "kept", "text")

    def __init__(self) -> None:
        self.text = ""
        self.at = self.base = 0
        self.is_over = False
        # What was taken, since somebody asked for that.
        self.kept: list[str] | None = None

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
        """Whether what has come and is not taken is blanks only."""
        return _NO_BLANK.search(self.text, self.at) is None

    def char(self) -> Generator[None, None, str]:
        """Return the next character, which is not taken."""
        while self.at >= len(self.text):
            yield from self.more()
        return self.text[self.at]

    def after_blanks(self) -> Generator[None, None, str]:
        """Take blanks; return the character after them."""
        if self.at < len(self.text) and (char := self.text[self.at]) not in _BLANK:
            return char
        while (yield from self.char()) in _BLANK:
            end = self.at + 1
            while end < len(self.text) and self.text[end] in _BLANK:
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
            found = pattern.match(self.text, self.at, partial=not self.is_over)
            if found is None or not found.partial:
                return found
            yield


# JSON

_PLAIN = re.compile(r'[^"\\\x00-\x1f]+')
_WHOLE = re.compile(r'"[^"\\\x00-\x1f]*"')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_NUMBER_SO_FAR = re.compile(r"-?[0-9]*\.?[0-9]*(?:[eE][-+]?[0-9]*)?")
_LETTERS = re.compile(r"[A-Za-z]+")
_CONSTANTS = {**{word: word for word in PYTHON_WORDS}, **_OF_PYTHON}
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
        elif char in ",:" or char in _BLANK:
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
            made(_characters(source.take(source.at + 1)))
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
        if pattern is _LETTERS and not any(each.startswith(so_far[0]) for each in _CONSTANTS):
            raise BrokenError
        yield
    if pattern is _LETTERS:
        word = next((each for each in _CONSTANTS if so_far[0].startswith(each)), None)
        if word is None:
            raise CutError if source.is_over and _is_begun(so_far[0]) else BrokenError
        source.take(source.at + len(word))
        made(_CONSTANTS[word])
        return
    number = _NUMBER.match(source.text, source.at)
    if number is None:
        raise CutError if source.is_over and so_far.end() == len(source.text) else BrokenError
    made(source.take(number.end()))


def _is_begun(word: str) -> bool:
    return any(each.startswith(word) for each in _CONSTANTS)


def read_arguments(source: Pieces, made: Made) -> Reading:
    """Read arguments in JSON; a text of JSON stands for what it says."""
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


# Calls whole, and inputs of custom tools

INPUT = "input"
"""The style of the input of a custom tool, which is its only argument, a text."""


def _read_call(source: Pieces, made: Made) -> Reading:
    """Read the arguments in a whole call."""
    written: list[str] = []
    yield from read_json(source, written.append)
    try:
        made(constant(parse_json("".join(written))["arguments"]).text)
    except (NoJsonError, KeyError, TypeError):
        raise BrokenError from None


def _read_input(source: Pieces, made: Made) -> Reading:
    """Read all that is left as the input of a custom tool."""
    made('{"input": "')
    while source.at < len(source.text) or not source.is_over:
        made(_characters(source.take(len(source.text))))
        if not source.is_over:
            yield
    made('"}')


# Literals

_PYTHON_ESCAPE = re.compile(
    r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{1,3}|[\n\\'\"abfnrtv])"
)
_PYTHON_CHARACTERS = {
    "\n": "", "\\": "\\", "'": "'", '"': '"', "a": "\a", "b": "\b", "f": "\f", "n": "\n",
    "r": "\r", "t": "\t", "v": "\v",
}  # fmt: skip
_LONGEST_ESCAPE = 10


def _escaped_character(found: re.Match[str]) -> str:
    """Return the character that an escape of Python's is."""
    escape = found[0][1:]
    if escape in _PYTHON_CHARACTERS:
        return _PYTHON_CHARACTERS[escape]
    code = int(escape, 8) if escape[0].isdecimal() else int(escape[1:], 16)
    is_character = code <= sys.maxunicode and not 0xD800 <= code <= 0xDFFF
    return chr(code) if is_character else found[0]


class _Literal:
    """Reads a notation: the outermost object, with its brackets."""

    def __init__(self, source: Pieces, made: Made, notation: Notation) -> None:
        self._source, self._made, self._quote = source, made, notation.quote
        self._assigned = notation.assigned
        self._first = notation.brackets[0]
        ends = r",:{}\[\]<\"" if notation.quote else r"\s,:=(){}\[\]\"'"
        self._word = re.compile(f"[^{ends}]+")

    def read(self) -> Reading:
        source, made = self._source, self._made
        if (yield from source.char()) != self._first:
            raise BrokenError
        source.take(source.at + 1)
        made("{")
        opened = [(_CLOSING[self._first], "}")]
        while opened:
            char = yield from source.char()
            if char in "{[(":
                source.take(source.at + 1)
                opened.append((_CLOSING[char], "}" if char == "{" else "]"))
                made("{" if char == "{" else "[")
            elif char in "}])":
                closing, written = opened.pop()
                if closing != char:
                    raise BrokenError
                source.take(source.at + 1)
                made(written)
            elif char in ",:" or char in _BLANK:
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
        yield from _up_to(source, quote, (), lambda text: self._made(_characters(text)))
        self._made('"')

    def _apostrophes(self) -> Reading:
        """Read a string of Python; what is no escape is as it is."""
        source, made = self._source, self._made
        source.take(source.at + 1)
        made('"')
        while (char := (yield from source.char())) != "'":
            if char != "\\":
                end = source.at + 1
                while end < len(source.text) and source.text[end] not in "\\'":
                    end += 1
                made(_characters(source.take(end)))
                continue
            # The longest escape is read once what follows it cannot belong to it.
            while len(source.text) < source.at + _LONGEST_ESCAPE and not source.is_over:
                if source.text.find("'", source.at + 2) >= 0:
                    break
                yield
            found = _PYTHON_ESCAPE.match(source.text, source.at)
            if found is None:
                made(_characters(source.take(source.at + 1)))
            else:
                source.take(found.end())
                made(_characters(_escaped_character(found)))
        source.take(source.at + 1)
        made('"')

    def _read_word(self) -> Reading:
        """Read a name, a number, a constant, or a string without quotes."""
        source = self._source
        word: list[str] = []
        while True:
            found = self._word.match(source.text, source.at)
            if found is not None:
                word.append(source.take(found.end()))
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
        elif name in _CONSTANTS:
            self._made(_CONSTANTS[name] + blanks)
        elif _NUMBER.fullmatch(name):
            self._made(name + blanks)
        else:
            self._made(json.dumps(name, ensure_ascii=False) + blanks)


# Elements


@dataclass(frozen=True, slots=True)
class _Tags:
    """The elements of a style: beginnings (``name``, ``type`` the kind), and ends that nest."""

    opening: str
    closing: str
    is_nested: bool = False
    drops_breaks: bool = False
    is_escaped: bool = False


_DEEPSEEK = r'" *string="(?P<type>true|false)"\s*>'


def _flat(style: str, name: str, after: str, **settings: bool) -> _Tags:
    found = STYLES[style]
    opening = re.escape(found.opening).replace(r"\ ", r"\s+")
    return _Tags(f"{opening}(?P<name>{name}){after}", found.closing, **settings)


_STYLES: Mapping[str, _Tags] = {
    "qwen_xml": _flat("qwen_xml", r"[^<>\n]+?", ">", drops_breaks=True),
    "minimax_xml": _flat("minimax_xml", r'[^"\n]+?', '">'),
    "deepseek_xml": _flat("deepseek_xml", r'[^"\n]+?', _DEEPSEEK),
    "deepseek_v4_1_xml": _flat("deepseek_v4_1_xml", r'[^"\n]+?', _DEEPSEEK),
    "glm_xml": _flat("glm_xml", r"[^<\n]+?", r"</arg_key>\s*<arg_value>"),
    "kimi_k3_xml": _flat(
        "kimi_k3_xml", r'[^"\n]+?', r'" +type="(?P<type>\w+)" *<\|sep\|>', is_escaped=True
    ),
    "cohere_xml": _Tags(
        r'<cofl:value(?: name="(?P<name>[^"]*)")? type="(?P<type>\w+)">',
        "</cofl:value>",
        is_nested=True,
        is_escaped=True,
    ),
    "minimax_m3_xml": _Tags(rf"{re.escape(MARKER)}<(?P<name>[^/>][^>]*)>", "", is_nested=True),
}
_TOLD = {"true": "string", "raw": "string", "dict": "object", "list": "array"}
"""What attributes tell of a value in words of their own; it is written as JSON without these."""


@lru_cache(maxsize=64)
def _patterns(
    style: str, odd: tuple[str, ...] = ()
) -> "tuple[regex.Pattern[str], regex.Pattern[str]]":
    """Return the pattern of an element's beginning in a style, and that of one or of an end.

    ``odd`` are the names of listed properties that the names of the style do not have.
    """
    import regex

    tags = _STYLES[style]
    closing = re.escape(tags.closing) or rf"{re.escape(MARKER)}</[^>]*>"
    names = "".join(f"{re.escape(name)}|" for name in odd)
    opening = rf"\s*(?P<open>{tags.opening.replace('(?P<name>', f'(?P<name>{names}')})"
    return regex.compile(opening), regex.compile(rf"{opening}|\s*(?P<close>{closing})")


@dataclass(slots=True)
class _Container:
    """An object or an array that is open: its shape, the values in it, what ends its element."""

    shape: Shape
    is_object: bool
    closing: str
    count: int = 0


class _Elements:
    """Reads arguments in a style of XML; ``ends`` end their call, ``around`` ends its section."""

    def __init__(
        self,
        source: Pieces,
        made: Made,
        style: str,
        shapes: tuple[Shape, ...],
        words: str,
        ends: tuple[str, ...],
        around: str,
    ) -> None:
        self._source, self._made, self._ends = source, made, ends
        self._tags = _STYLES[style]
        self._shapes = shapes or (Shape(("object",)),)
        listed = self._shapes[0].members
        self._opening, self._tag = _patterns(style, tuple(each for each in listed if "<" in each))
        self._is_python = words == "python"
        self._open = [_Container(self._shapes[0], True, "")]
        # What follows an end that is one: where elements nest, anything may.
        is_flat = ends and not self._tags.is_nested
        self._following = _following(style, (*ends, around)) if is_flat else None

    def read(self) -> Reading:
        self._made("{")
        while self._open:
            is_inside = len(self._open) > 1
            found = yield from self._source.matching(self._tag if is_inside else self._opening)
            if found is None and self._is_begun(self._tag if is_inside else self._opening):
                raise CutError
            if found is None and is_inside:
                raise BrokenError
            if found is None:
                self._close()
            elif found.groupdict().get("close") is not None:
                self._source.take(found.end())
                self._close()
            else:
                groups = found.groupdict()
                self._source.take(found.end())
                yield from self._element(groups["name"], groups.get("type"))

    def _is_begun(self, pattern: "regex.Pattern[str]") -> bool:
        """Tell whether a text that is over ends within an element's beginning."""
        source = self._source
        if not source.is_over or source.is_blank:
            return False
        found = pattern.match(source.text, source.at, partial=True)
        return found is not None and bool(found.partial)

    def _element(self, name: str | None, told: str | None) -> Reading:
        holder = self._open[-1]
        closing = self._tags.closing or f"{MARKER}</{name}>"
        self._made(", " if holder.count else "")
        if holder.is_object:
            name = _unescaped(name or "") if self._tags.is_escaped else (name or "").strip()
            self._made(f"{json.dumps(name, ensure_ascii=False)}: ")
        shape = self._inside(holder, name)
        holder.count += 1
        yield from self._value(shape, closing, told)

    def _inside(self, holder: _Container, name: str | None) -> Shape:
        """Return the shape of the next value in an object or an array."""
        shape = holder.shape
        number = shape.items
        if holder.is_object:
            number = shape.members.get(name or "", shape.other)
        elif holder.count < len(shape.first):
            number = shape.first[holder.count]
        return _ANYTHING if number is None else self._shapes[number]

    def _value(self, shape: Shape, closing: str, told: str | None) -> Reading:
        kinds = shape.kinds
        may_be_text = "string" in kinds or "word" in kinds
        told = None if told is None else _TOLD.get(told, told)
        if told in _NESTED and self._tags.is_nested:
            self._enter(shape, closing, told == "object")
        elif told == "string" or (told is None and may_be_text and not set(kinds) - _TEXTS):
            yield from self._text(shape, closing)
        elif told is not None:
            # A type that is told binds the value in all styles but one.
            is_free = self._tags.is_escaped and not self._tags.is_nested and may_be_text
            yield from self._other((*kinds, told) if is_free else (), closing, drops=False)
        elif self._tags.is_nested and any(kind in _NESTED for kind in kinds):
            yield from self._unknown(shape, closing)
        else:
            yield from self._other(kinds, closing, drops=self._tags.drops_breaks)

    def _enter(self, shape: Shape, closing: str, is_object: bool) -> None:
        self._made("{" if is_object else "[")
        self._open.append(_Container(shape, is_object, closing))

    def _close(self) -> None:
        self._made("}" if self._open.pop().is_object else "]")

    def _unknown(self, shape: Shape, closing: str) -> Reading:
        """Tell elements from another value by what comes first."""
        source = self._source
        kinds = [kind for kind in shape.kinds if kind in _NESTED]
        blanks: list[str] = []
        while True:
            found = _NO_BLANK.search(source.text, source.at)
            at = len(source.text) if found is None else found.start()
            rest = source.text[at : at + len(_ITEM) + 1]
            if source.is_over or not any(each.startswith(rest) for each in (_ITEM, _NO_ELEMENT)):
                break
            blanks.append(source.take(at))
            yield
        source.give_back("".join(blanks))
        if rest.startswith(_NO_ELEMENT) and "string" in shape.kinds:
            yield from self._text(shape, closing)
        elif rest.startswith(MARKER):
            is_item = rest.startswith(_ITEM) and "item" not in shape.members
            self._enter(shape, closing, kinds[0] == "object" if len(kinds) == 1 else not is_item)
        else:
            others = tuple(kind for kind in shape.kinds if kind not in _NESTED)
            yield from self._value(shape._replace(kinds=others), closing, None)

    def _text(self, shape: Shape, closing: str) -> Reading:
        """Read a string, which is said while it comes."""
        is_word = "string" not in shape.kinds and "word" in shape.kinds
        strip = _Strip(_BLANK if is_word else "\n" if self._tags.drops_breaks else "", is_word)
        self._made('"')
        yield from self._up_to(closing, lambda text: self._made(_characters(strip.feed(text))))
        self._made('"')

    def _up_to(self, closing: str, said: Made) -> Reading:
        """Read a value up to its end; an end that nothing of the format follows is none."""
        source = self._source
        while True:
            is_closed = yield from _up_to(source, closing, self._ends, said)
            if self._following is None or not is_closed:
                return
            found = yield from source.matching(self._following)
            if found is not None or self._is_begun(self._following):
                return
            if source.is_over and source.is_blank:
                return
            said(closing)

    def _other(self, kinds: tuple[str, ...], closing: str, *, drops: bool) -> Reading:
        """Read a value that may be no string, once it is over."""
        parts: list[str] = []
        yield from self._up_to(closing, parts.append)
        text = "".join(parts)
        if text.lstrip(_BLANK)[:1] in ("{", "["):
            text = yield from self._rest_of_json(text, closing)
        self._made(self._converted(text, kinds, drops=drops))

    def _rest_of_json(self, plain: str, closing: str) -> Generator[None, None, str]:
        """Return a value of JSON, in whose strings its end may occur.

        A text that is no JSON is over at its first end.
        """
        source = self._source
        strings = _Strings()
        strings.feed(plain)
        parts = [plain]
        taken = 0
        try:
            while strings.is_inside:
                taken = len(parts)
                parts.append(closing)

                def said(text: str) -> None:
                    parts.append(text)
                    strings.feed(text)

                yield from _up_to(source, closing, (), said)
                taken = len(parts)
        except (CutError, BrokenError):
            pass
        whole = "".join(parts)
        if len(parts) == 1 or (taken == len(parts) and _is_json(whole)):
            return whole
        # The first end is taken, and is none of the text.
        is_over = taken == len(parts)
        source.give_back("".join(parts[2:]) + (closing if is_over else ""))
        return plain

    def _converted(self, text: str, kinds: tuple[str, ...], *, drops: bool) -> str:
        """Return the JSON of a text as a value of some kinds, any if there are none."""
        word = text.strip(_BLANK)
        is_text = "string" in kinds or "word" in kinds
        if not is_text or self._is_python:
            word = _OF_PYTHON.get(word, word)
        for each in (word, None if is_text else _literal_of(word)):
            value = _value_of(each)
            if value is not _NOTHING and (not kinds or _kind(value, kinds) in kinds):
                return str(each)
        if is_text:
            kept = text.removeprefix("\n").removesuffix("\n") if drops else text
            return json.dumps(kept, ensure_ascii=False)
        value = _value_of(word)
        is_other = value is not _NOTHING and not isinstance(value, str)
        return word if is_other else json.dumps(word, ensure_ascii=False)


_TEXTS = {"string", "word"}


class _Strip:
    """Takes the blanks around a text off, while it comes: all, or a line break at each end."""

    def __init__(self, blanks: str, is_all: bool) -> None:
        self._blanks, self._is_all = blanks, is_all
        self._is_begun = not blanks
        self._held = ""

    def feed(self, text: str) -> str:
        """Return what is certain to be in it."""
        if not self._blanks or not text:
            return text
        if not self._is_begun:
            text = text.lstrip(self._blanks) if self._is_all else text.removeprefix("\n")
            self._is_begun = bool(text) or not self._is_all
        text = self._held + text
        kept = text.rstrip(self._blanks) if self._is_all else text.removesuffix("\n")
        self._held = text[len(kept) :]
        return kept


@cache
def _following(style: str, ends: tuple[str, ...]) -> "regex.Pattern[str]":
    """Return the pattern of what follows the end of an element: another one, or the call's end."""
    import regex

    words = [each.split(maxsplit=1)[0] for each in (STYLES[style].opening, *ends) if each]
    return regex.compile(rf"\s*(?:{'|'.join(map(re.escape, words))})")


def _up_to(
    source: Pieces, closing: str, ends: tuple[str, ...], said: Made
) -> Generator[None, None, bool]:
    """Read a text up to what closes it, which is taken; return whether that was there.

    Where it is missing, one of ``ends`` closes the text, which is not taken; what follows such an
    end is held back until that is known. Raises ``CutError`` where neither comes.
    """
    held: list[str] | None = None
    words = (closing, *ends)
    first = _first_of(words)
    while True:
        if held is None:
            found = first.search(source.text, source.at)
            if found is not None and found[0] != closing:
                said(source.take(found.start()))
                held = []
        at = source.text.find(closing, source.at) if held is not None or found is not None else -1
        if at >= 0:
            taken = source.take(at)
            source.take(at + len(closing))
            said("".join([*(held or ()), taken]))
            return True
        overlap = max(_overlap(source.text, each, source.at) for each in words)
        if source.is_over:
            if held is None:
                raise CutError
            source.give_back("".join(held))
            return False
        (said if held is None else held.append)(source.take(len(source.text) - overlap))
        yield


@lru_cache(maxsize=256)
def _first_of(words: tuple[str, ...]) -> re.Pattern[str]:
    """Return the pattern of one of some words, the longest where several begin at one place."""
    return re.compile("|".join(map(re.escape, sorted(words, key=len, reverse=True))))


def _overlap(text: str, word: str, start: int) -> int:
    """Return how many characters at the end of ``text`` may begin ``word``."""
    longest = min(len(text) - start, len(word) - 1)
    return next((size for size in range(longest, 0, -1) if word.startswith(text[-size:])), 0)


def _characters(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _unescaped(name: str) -> str:
    for written, meant in (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&amp;", "&")):
        name = name.replace(written, meant)
    return name


_QUOTE = re.compile(r'\\.|"', re.DOTALL)
_CONTROL = re.compile(r"[\x00-\x1f]")


class _Strings:
    """Tells whether a text of JSON that comes in pieces is within a string."""

    def __init__(self) -> None:
        self.is_inside = False
        self._held = ""

    def feed(self, text: str) -> None:
        """Take the next piece. Raises ``BrokenError`` for a string that cannot go on."""
        text = self._held + text
        at = 0
        for found in _QUOTE.finditer(text):
            if self.is_inside and _CONTROL.search(text, at, found.start()):
                raise BrokenError
            at = found.end()
            if found[0] == '"' or (not self.is_inside and found[0].endswith('"')):
                self.is_inside = not self.is_inside
        if self.is_inside and _CONTROL.search(text, at):
            raise BrokenError
        self._held = "\\" if text.endswith("\\") and at < len(text) else ""


_NOTHING = object()


def _value_of(text: str | None) -> Any:
    try:
        return _NOTHING if text is None else json.loads(text)
    except (ValueError, RecursionError):
        return _NOTHING


def _is_json(text: str) -> bool:
    return _value_of(text) is not _NOTHING


def _literal_of(text: str) -> str | None:
    """Return the JSON of a list or a dictionary of Python, None where a text is none."""
    if text[:1] not in ("{", "["):
        return None
    source, made = Pieces(), list[str]()
    source.text, source.is_over = f"({text})", True
    try:
        for _ in _Literal(source, made.append, NOTATIONS["python"]).read():
            return None
    except (BrokenError, CutError):
        return None
    return "".join(made)[1:-1] if source.at == len(source.text) else None


def _kind(value: Any, kinds: tuple[str, ...]) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int() | float():
            is_whole = isinstance(value, int) or value.is_integer()
            return "integer" if is_whole and "integer" in kinds else "number"
        case dict():
            return "object"
        case list():
            return "array"
        case _:
            return ""


# Readers by style

OF_BRACKETS = ("json", "call", *NOTATIONS)
"""The styles that end by themselves: a call in one is complete without what closes it."""


def reading_of(
    source: Pieces,
    made: Made,
    style: str,
    shapes: tuple[Shape, ...] = (),
    words: str = "json",
    ends: tuple[str, ...] = (),
    around: str = "",
) -> Reading:
    """Return what reads arguments in a style, of a tool whose schema has these shapes."""
    if style in NOTATIONS:
        return _Literal(source, made, NOTATIONS[style]).read()
    if style in _STYLES:
        return _Elements(source, made, style, shapes, words, ends, around).read()
    return _OF_TEXT[style](source, made)


_OF_TEXT: Mapping[str, Callable[[Pieces, Made], Reading]] = {
    "json": read_arguments, "call": _read_call, INPUT: _read_input,
}  # fmt: skip


class Transcriber(Protocol):
    """Makes JSON of the arguments of one call."""

    def feed(self, text: str, *, final: bool) -> str:
        """Take the next piece of the arguments, the last one if ``final``; return more JSON."""
        ...


class _Transcriber:
    def __init__(self, mark: Mark) -> None:
        self._source = Pieces()
        self._made: list[str] = []
        self._reading = reading_of(
            self._source, self._made.append, mark.style, mark.shapes, mark.words
        )

    def feed(self, text: str, *, final: bool) -> str:
        self._source.add(text)
        self._source.is_over = final
        try:
            next(self._reading, None)
        except (BrokenError, CutError):
            self._reading = iter(())  # type: ignore[assignment]
        made = "".join(self._made)
        self._made.clear()
        return made


def transcriber_of(mark: Mark) -> Transcriber:
    """Return what makes JSON of the arguments of a call, whose end is known."""
    return _Transcriber(mark)
