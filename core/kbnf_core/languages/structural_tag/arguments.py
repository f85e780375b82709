"""Arguments of tools as JSON, while they come, in whatever style they are written.

A transcriber takes the text of one call's arguments in pieces and returns the JSON that is certain
by then; the pieces that it returns are one JSON text together, whatever the pieces that it takes.
JSON is passed on as it is. In the styles of XML the delimiters say where values begin and end: a
string ends at the first end of its element, a value of JSON at the first one outside of its
strings. What a value is, an attribute says, or else the shape of the tool's schema; where it may
be a string or another value, it is the other value if it reads as that.
"""

import json
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from kbnf_core.kbnf.parsed import Mark, Shape
from kbnf_core.languages.json_schema.expressions import constant
from kbnf_core.languages.structural_tag.nested import MARKER, NOTATIONS, Notation
from kbnf_core.languages.structural_tag.xml import PYTHON_WORDS, STYLES
from kbnf_core.text.json_text import NoJsonError, parse_json

_BLANK = " \t\n\r"
_OF_PYTHON = {written: word for word, written in PYTHON_WORDS.items()}
_PYTHON_LETTERS = {each[0] for each in _OF_PYTHON}
_ITEM, _NO_ELEMENT = f"{MARKER}<item>", f"{MARKER}</"
_NESTED = ("object", "array")
_ANYTHING = Shape(("string", "object", "array"))


class Transcriber(Protocol):
    """Makes JSON of the arguments of one call."""

    def feed(self, text: str, *, final: bool) -> str:
        """Take the next piece of the arguments, the last one if ``final``; return more JSON."""
        ...


class _Json:
    def feed(self, text: str, *, final: bool) -> str:
        del final
        return text


@dataclass(frozen=True, slots=True)
class _Tags:
    """The elements of a style: beginnings (``name``, ``type`` the kind), and ends that nest."""

    opening: str
    closing: str
    name: str
    is_nested: bool = False
    drops_breaks: bool = False
    is_escaped: bool = False


_WORD = "[a-zA-Z_][a-zA-Z0-9_]*"
_DEEPSEEK = r'" string="(?P<type>true|false)">'


def _flat(style: str, after: str, **settings: bool) -> _Tags:
    found = STYLES[style]
    return _Tags(f"{re.escape(found.opening)}<NAME>{after}", found.closing, _WORD, **settings)


_STYLES: Mapping[str, _Tags] = {
    "qwen_xml": _flat("qwen_xml", ">", drops_breaks=True),
    "minimax_xml": _flat("minimax_xml", '">'),
    "deepseek_xml": _flat("deepseek_xml", _DEEPSEEK),
    "deepseek_v4_1_xml": _flat("deepseek_v4_1_xml", _DEEPSEEK),
    "glm_xml": _flat("glm_xml", r"</arg_key>\s*<arg_value>"),
    "kimi_k3_xml": _flat("kimi_k3_xml", r'" type="(?P<type>\w+)"<\|sep\|>', is_escaped=True),
    "cohere_xml": _Tags(
        r'<cofl:value(?: name="<NAME>")? type="(?P<type>\w+)">',
        "</cofl:value>",
        '[^"]*',
        is_nested=True,
        is_escaped=True,
    ),
    "minimax_m3_xml": _Tags(rf"{re.escape(MARKER)}<<NAME>>", "", "[^/>][^>]*", is_nested=True),
}
_TOLD = {"true": "string", "raw": "string", "dict": "object", "list": "array"}
"""What attributes tell of a value in words of their own; it is written as JSON without these."""


def transcriber_of(mark: Mark) -> Transcriber:
    """Return what makes JSON of the arguments of a call."""
    if mark.style in _OF_JSON:
        return _OF_JSON[mark.style]()
    notation = NOTATIONS.get(mark.style)
    if notation is not None:
        return _Literal(notation)
    return _Xml(_STYLES[mark.style], mark.shapes, mark.words)


class _Call:
    """Makes the arguments of a whole call, once it is over."""

    def __init__(self) -> None:
        self._text = ""

    def feed(self, text: str, *, final: bool) -> str:
        self._text += text
        if not final:
            return ""
        try:
            return constant(parse_json(self._text)["arguments"]).text
        except NoJsonError:
            return ""


INPUT = "input"
"""The style of the input of a custom tool, which is its only argument, a text."""


class _Input:
    """Makes the argument of a custom tool of its text."""

    def __init__(self) -> None:
        self._begun = '{"input": "'

    def feed(self, text: str, *, final: bool) -> str:
        made = self._begun + json.dumps(text, ensure_ascii=False)[1:-1] + ('"}' if final else "")
        self._begun = ""
        return made


_OF_JSON: Mapping[str, Callable[[], Transcriber]] = {"json": _Json, "call": _Call, INPUT: _Input}

_JSON_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_PYTHON_STRING = re.compile(r"'(?:[^'\\]|\\.)*'", re.DOTALL)

_PYTHON_ESCAPE = re.compile(
    r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{1,3}|[\n\\'\"abfnrtv])"
)
_PYTHON_CHARACTERS = {
    "\n": "", "\\": "\\", "'": "'", '"': '"', "a": "\a", "b": "\b", "f": "\f", "n": "\n",
    "r": "\r", "t": "\t", "v": "\v",
}  # fmt: skip


def _escapes_read(text: str) -> str:
    """Return the JSON of the characters in a string of Python; what is no escape is as it is."""
    return _characters(_PYTHON_ESCAPE.sub(_escaped_character, text))


def _escaped_character(found: re.Match[str]) -> str:
    escape = found[0][1:]
    if escape in _PYTHON_CHARACTERS:
        return _PYTHON_CHARACTERS[escape]
    code = int(escape, 8) if escape[0].isdecimal() else int(escape[1:], 16)
    is_character = code <= sys.maxunicode and not 0xD800 <= code <= 0xDFFF
    return chr(code) if is_character else found[0]


class _Literal:
    """Reads a notation: strings are passed on while they come, other words once they are over."""

    def __init__(self, notation: Notation) -> None:
        self._notation = notation
        self._meant = _OF_PYTHON
        first, last = notation.brackets
        self._brackets = {first: "{", last: "}"}
        self._word = re.compile(notation.name if notation.quote else r"[^\s,:=(){}\[\]\"']+")
        self._text = ""
        self._is_string = False

    def feed(self, text: str, *, final: bool) -> str:
        self._text += text
        made: list[str] = []
        while self._text and (piece := self._step(final)) is not None:
            made.append(piece)
        return "".join(made)

    def _step(self, final: bool) -> str | None:
        """Return the JSON of what comes next, None where that is not certain."""
        quote = self._notation.quote
        if self._is_string:
            return self._rest_of_string(final)
        if quote and self._text.startswith(quote):
            self._text, self._is_string = self._text.removeprefix(quote), True
            return '"'
        if quote and not final and quote.startswith(self._text):
            return None
        if self._text[0] == '"':
            string = _JSON_STRING.match(self._text)
            return None if string is None else self._take(string.end())
        if self._text[0] == "'" and self._notation.is_mixed:
            string = _PYTHON_STRING.match(self._text)
            return None if string is None else f'"{_escapes_read(self._take(string.end())[1:-1])}"'
        word = self._word.match(self._text)
        if word is None:
            char = self._take(1)
            return self._brackets.get(char, char)
        end = word.end()
        if end == len(self._text) and not final:
            return None
        found = self._take(end)
        if self._text.startswith(self._notation.assigned):
            self._take(len(self._notation.assigned))
            return f"{json.dumps(found, ensure_ascii=False)}: "
        return self._meant.get(found, found)

    def _rest_of_string(self, final: bool) -> str | None:
        quote = self._notation.quote
        at = self._text.find(quote)
        if at >= 0 or final:
            text = self._take(at if at >= 0 else len(self._text))
            self._text, self._is_string = self._text.removeprefix(quote), False
            return f'{_characters(text)}"'
        size = len(self._text) - _overlap(self._text, quote)
        return _characters(self._take(size)) if size else None

    def _take(self, size: int) -> str:
        found, self._text = self._text[:size], self._text[size:]
        return found


@dataclass(slots=True)
class _Container:
    """An object or an array that is open: its shape, the values in it, what ends its element."""

    shape: Shape
    is_object: bool
    closing: str
    count: int = 0


@dataclass(slots=True)
class _Value:
    """An element whose value comes: what that may be, its end, how far it was read and said.

    ``how`` is ``string``, ``json``, ``either`` or, where elements may come, ``unknown``.
    """

    how: str
    shape: Shape
    closing: str
    is_begun: bool = False
    scanned: int = 0
    said: int = 0


class _Xml:
    def __init__(self, tags: _Tags, shapes: tuple[Shape, ...], words: str) -> None:
        self._tags = tags
        self._meant = _OF_PYTHON if words == "python" else {}
        self._shapes = shapes or (Shape(("object",)),)
        listed = {name for shape in self._shapes for name in shape.members}
        if tags.is_escaped:
            listed = {written for name in listed for written in _escaped(name)}
        names = [*map(re.escape, sorted(listed, key=len, reverse=True)), tags.name]
        opening = tags.opening.replace("<NAME>", f"(?P<name>{'|'.join(names)})")
        closing = re.escape(tags.closing) or rf"{re.escape(MARKER)}</[^>]*>"
        self._tag = re.compile(f"(?P<open>{opening})|(?P<close>{closing})")
        self._text = ""
        self._made: list[str] = ["{"]
        self._open = [_Container(self._shapes[0], True, "")]
        self._value: _Value | None = None

    def feed(self, text: str, *, final: bool) -> str:
        self._text += text
        while self._step(final):
            pass
        if final:
            while self._open:
                self._close()
        made, self._made = "".join(self._made), []
        return made

    def _step(self, final: bool) -> bool:
        value = self._value
        if value is None:
            return self._next_tag()
        if value.how == "unknown":
            return self._find_out(value, final)
        if value.how == "string":
            return self._string(value, final)
        return self._json(value, final) if value.how == "json" else self._either(value, final)

    # Elements

    def _next_tag(self) -> bool:
        found = self._tag.search(self._text)
        if found is None:
            return False
        self._text = self._text[found.end() :]
        if found["close"] is not None:
            if len(self._open) > 1:
                self._close()
            return True
        holder = self._open[-1]
        groups = found.groupdict()
        name = groups["name"]
        closing = self._tags.closing or f"{MARKER}</{name}>"
        self._made.append(", " if holder.count else "")
        if holder.is_object:
            name = _unescaped(name or "") if self._tags.is_escaped else name
            self._made.append(f"{json.dumps(name, ensure_ascii=False)}: ")
        shape = self._inside(holder, name)
        holder.count += 1
        self._begin(_Value("", shape, closing), groups.get("type"))
        return True

    def _inside(self, holder: _Container, name: str | None) -> Shape:
        """Return the shape of the next value in an object or an array."""
        shape = holder.shape
        number = shape.items
        if holder.is_object:
            number = shape.members.get(name or "", shape.other)
        elif holder.count < len(shape.first):
            number = shape.first[holder.count]
        return _ANYTHING if number is None else self._shapes[number]

    def _begin(self, value: _Value, told: str | None) -> None:
        kinds = value.shape.kinds
        may_be_text = "string" in kinds or "word" in kinds
        told = None if told is None else _TOLD.get(told, told)
        if told is not None:
            if told in _NESTED and self._tags.is_nested:
                self._enter(value, told == "object")
                return
            # A type that is told binds the value in all styles but one.
            value.how = "string" if told == "string" else "json"
            if self._tags.is_escaped and not self._tags.is_nested and told != "string":
                value.how = "either" if may_be_text else "json"
        elif self._tags.is_nested and any(kind in _NESTED for kind in kinds):
            value.how = "unknown"
        elif may_be_text:
            value.how = "either" if set(kinds) - {"string", "word"} else "string"
        else:
            value.how = "json"
        if value.how == "string":
            self._made.append('"')
        self._value = value

    def _enter(self, value: _Value, is_object: bool) -> None:
        self._made.append("{" if is_object else "[")
        self._open.append(_Container(value.shape, is_object, value.closing))
        self._value = None

    def _close(self) -> None:
        self._made.append("}" if self._open.pop().is_object else "]")

    def _find_out(self, value: _Value, final: bool) -> bool:
        """Tell elements from another value by what comes first."""
        kinds = [kind for kind in value.shape.kinds if kind in _NESTED]
        text = self._text.lstrip(_BLANK)
        if not final and any(each.startswith(text) for each in (_ITEM, _NO_ELEMENT)):
            return False
        if text.startswith(_NO_ELEMENT) and "string" in value.shape.kinds:
            value.how = "string"
            self._made.append('"')
        elif text.startswith(MARKER):
            is_item = text.startswith(_ITEM) and "item" not in value.shape.members
            self._enter(value, kinds[0] == "object" if len(kinds) == 1 else not is_item)
        else:
            rest = tuple(kind for kind in value.shape.kinds if kind not in _NESTED)
            self._begin(_Value("", value.shape._replace(kinds=rest), value.closing), None)
        return True

    # Values

    def _string(self, value: _Value, final: bool) -> bool:
        at = self._text.find(value.closing)
        is_over = at >= 0 or final
        end = at if at >= 0 else len(self._text)
        if not is_over:
            end -= _overlap(self._text, value.closing)
        is_word = "string" not in value.shape.kinds and "word" in value.shape.kinds
        dropped = _BLANK if is_word else "\n" if self._tags.drops_breaks else ""
        start = 0
        if dropped and not value.is_begun:
            text = self._text[:end]
            start = len(text) - len(text.lstrip(dropped)) if is_word else text.startswith("\n")
            value.is_begun = bool(text[start:]) or (not is_word and bool(text))
        stop = end
        if dropped:
            text = self._text[start:end]
            kept = len(text.rstrip(_BLANK)) if is_word else len(text.removesuffix("\n"))
            stop = start + kept
        self._made.append(_characters(self._text[start:stop]))
        if not is_over:
            self._text = self._text[stop:]
            return False
        self._made.append('"')
        self._end(end, value.closing)
        return True

    def _json(self, value: _Value, final: bool) -> bool:
        end = self._end_of_json(value)
        if not value.is_begun and self._text.lstrip(_BLANK)[:1] in _PYTHON_LETTERS:
            return self._python_word(value, end, final)
        if end is None and not final:
            # A string that is not over is kept until its end is found, and said meanwhile.
            is_string = self._text[value.scanned : value.scanned + 1] == '"'
            size = len(self._text)
            stop = size - _overlap(self._text, value.closing)
            stop = size if is_string else len(self._text[:stop].rstrip(_BLANK))
            cut = value.scanned if is_string else stop
            self._say(value, stop)
            self._text, value.said, value.scanned = self._text[cut:], stop - cut, 0
            return False
        end = len(self._text) if end is None else end
        self._say(value, len(self._text[:end].rstrip(_BLANK)))
        self._end(end, value.closing)
        return True

    def _python_word(self, value: _Value, end: int | None, final: bool) -> bool:
        """Read a constant that is written as in Python, once it is over."""
        if end is None and not final:
            return False
        end = len(self._text) if end is None else end
        word = self._text[:end].strip(_BLANK)
        self._made.append(_OF_PYTHON.get(word, word))
        self._end(end, value.closing)
        return True

    def _say(self, value: _Value, stop: int) -> None:
        """Pass JSON on, without the space before it."""
        text = self._text[value.said : stop]
        text = text if value.is_begun else text.lstrip(_BLANK)
        value.is_begun = value.is_begun or bool(text)
        self._made.append(text)

    def _either(self, value: _Value, final: bool) -> bool:
        kinds = value.shape.kinds
        plain = self._text.find(value.closing)
        if plain < 0 and not final:
            return False
        begin = self._text.lstrip(_BLANK)[:1]
        may_go_on = (begin == "{" and "object" in kinds) or (begin == "[" and "array" in kinds)
        end = self._end_of_json(value) if may_go_on else plain
        if end is None and not final:
            return False
        for stop in (end, plain):
            if stop is None or stop < 0:
                continue
            written = self._text[:stop].strip(_BLANK)
            written = self._meant.get(written, written)
            if _is_one_of(written, kinds):
                self._made.append(written)
                self._end(stop, value.closing)
                return True
        self._made.append('"')
        value.how = "string"
        return True

    def _end_of_json(self, value: _Value) -> int | None:
        """Return where a value of JSON ends, None where that has not come."""
        pattern = re.compile(
            rf'"(?:[^"\\]|\\.)*\\?(?P<quote>"|\Z)|(?P<end>{re.escape(value.closing)})', re.DOTALL
        )
        for found in pattern.finditer(self._text, value.scanned):
            if found["end"] is not None:
                return found.start()
            if not found["quote"]:
                value.scanned = found.start()
                break
            value.scanned = found.end()
        return None

    def _end(self, at: int, closing: str) -> None:
        self._text = self._text[at + len(closing) :]
        self._value = None


def _overlap(text: str, word: str) -> int:
    """Return how many characters at the end of ``text`` may begin ``word``."""
    longest = min(len(text), len(word) - 1)
    return next((size for size in range(longest, 0, -1) if word.startswith(text[-size:])), 0)


def _characters(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _escaped(name: str) -> tuple[str, str]:
    """Return a name as it is written in an attribute, by either of two styles."""
    plain = name.replace("&", "&amp;").replace('"', "&quot;")
    return plain, plain.replace("<", "&lt;").replace(">", "&gt;")


def _unescaped(name: str) -> str:
    for written, meant in (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&amp;", "&")):
        name = name.replace(written, meant)
    return name


def _is_one_of(text: str, kinds: tuple[str, ...]) -> bool:
    try:
        value = json.loads(text)
    except ValueError:
        return False
    return _kind(value, kinds) in kinds


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
