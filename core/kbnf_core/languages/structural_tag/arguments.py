"""Arguments of tools as JSON, while they come, in whatever style they are written.

A reader of arguments knows by itself where they end: JSON and literals (``pieces``) at their last
bracket, elements where no further element begins. So nobody needs to know beforehand which text
they are.

Reading is wider than writing. A value of XML other than a string is converted from its text by the
shape of the tool's schema, else it is the text: a string ends at the first end of its element, a
value of JSON at the first one outside of its strings, and where the end of an element was
forgotten, the end of the call ends it. The type that an element names counts where the schema
allows that type.

Tests: tests/unit/parse/test_messages.py, tests/property/test_tool_values.py.
"""

import json
import re
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

from kbnf_core.kbnf.parsed import Mark, Shape
from kbnf_core.languages.structural_tag.nested import MARKER, NOTATIONS
from kbnf_core.languages.structural_tag.pieces import (
    ANY_OBJECT,
    BLANK,
    NO_BLANK,
    OF_PYTHON,
    TEXTS,
    BrokenError,
    Chunks,
    Container,
    CutError,
    Made,
    NotationReader,
    Reading,
    characters,
    read_arguments,
    read_json,
    up_to,
)
from kbnf_core.languages.structural_tag.xml import STYLES
from kbnf_core.text.json_text import NoJsonError, parse_json, print_json

if TYPE_CHECKING:
    import regex

OF_BRACKETS = ("json", "call", *NOTATIONS)
"""The styles that end by themselves: a call in one is complete without what closes it."""

_ITEM, _NO_ELEMENT = f"{MARKER}<item>", f"{MARKER}</"
_NESTED = ("object", "array")


class Manner(NamedTuple):
    """The style in which arguments are written, and the language of their constants.

    Of elements ``ends`` end their call, ``around`` ends its section, and line breaks around a value
    belong to it where they are ``is_verbatim``.
    """

    style: str = "json"
    words: str = "json"
    ends: tuple[str, ...] = ()
    around: str = ""
    is_verbatim: bool = False


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
    result = STYLES[style]
    opening = re.escape(result.opening).replace(r"\ ", r"\s+")
    return _Tags(f"{opening}(?P<name>{name}){after}", result.closing, **settings)


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
_DECLARED_TYPES = {"true": "string", "raw": "string", "dict": "object", "list": "array"}
"""The types that attributes name in words of their own; a value is written as JSON without these.
"""


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


_Tree: TypeAlias = list[Any]
"""JSON that is kept, in order: texts, and trees of these."""


@dataclass(slots=True)
class _Element(Container):
    """An element with elements in it.

    ``members`` are the values of an object that is kept up to its end, by their names, and ``into``
    is where it goes then: None where it is given out.
    """

    members: dict[str, list[_Tree]] | None = None
    into: _Tree | None = None


class _Elements:
    """Reads arguments in a style of XML.

    In a style whose elements are named by the members, an element that is repeated is a list, as in
    XML; so an object inside of the arguments is kept up to its end.

    A value may contain the beginning of another element. Where that is one which the schema asks
    for, and which does not follow, the end of the value was forgotten.
    """

    def __init__(
        self, source: Chunks, made: Made, manner: Manner, shapes: tuple[Shape, ...]
    ) -> None:
        style, ends = manner.style, manner.ends
        self._source, self._given, self._ends = source, made, ends
        self._pending: _Tree | None = None
        self._tags = _STYLES[style]
        self._drops_breaks = self._tags.drops_breaks and not manner.is_verbatim
        self._shapes = shapes or (ANY_OBJECT,)
        listed = self._shapes[0].members
        self._opening, self._tag = _patterns(style, tuple(word for word in listed if "<" in word))
        self._is_python = manner.words == "python"
        self._open = [_Element(self._shapes[0], True, "")]
        # What follows an end that is one: where elements nest, anything may.
        is_flat = ends and not self._tags.is_nested
        self._following = _following(style, (*ends, manner.around)) if is_flat else None
        # The beginnings of the elements that are required and have not come, by their names.
        self._awaited = _beginnings(style, self._shapes[0].needed) if is_flat else {}

    def _made(self, text: str) -> None:
        if self._pending is None:
            self._given(text)
        else:
            self._pending.append(text)

    def read(self) -> Reading:
        self._made("{")
        while self._open:
            is_inside = len(self._open) > 1
            match = yield from self._source.matching(self._tag if is_inside else self._opening)
            if match is None and self._is_begun(self._tag if is_inside else self._opening):
                raise CutError
            if match is None and is_inside:
                raise BrokenError
            if match is None:
                self._close()
            elif match.groupdict().get("close") is not None:
                self._source.take(match.end())
                self._close()
            else:
                groups = match.groupdict()
                self._source.take(match.end())
                yield from self._element(groups["name"], groups.get("type"))

    def _is_begun(self, pattern: "regex.Pattern[str]") -> bool:
        """Return whether a text that is over ends within an element's beginning."""
        source = self._source
        if not source.is_over or source.is_blank:
            return False
        match = pattern.match(source.text, source.at, partial=True)
        return match is not None and bool(match.partial)

    def _element(self, name: str | None, declared: str | None) -> Reading:
        holder = self._open[-1]
        closing = self._tags.closing or f"{MARKER}</{name}>"
        if holder.is_object:
            name = _unescaped(name or "") if self._tags.is_escaped else (name or "").strip()
        if holder.members is not None:
            self._pending = []
            holder.members.setdefault(name or "", []).append(self._pending)
        else:
            self._made(", " if holder.count else "")
            self._made(f"{json.dumps(name, ensure_ascii=False)}: " if holder.is_object else "")
        shape = holder.inside(self._shapes, name)
        holder.count += 1
        self._awaited.pop(name or "", None)
        yield from self._value(shape, closing, declared)

    def _value(self, shape: Shape, closing: str, declared: str | None) -> Reading:
        kinds = shape.kinds
        may_be_text = "string" in kinds or "word" in kinds
        declared = None if declared is None else _DECLARED_TYPES.get(declared, declared)
        if declared not in _NESTED and declared != "string" and not set(kinds) - TEXTS:
            # Where the schema requires a text, or excludes one, that counts, whatever type is
            # named.
            declared = None if declared is None else "string"
        elif declared == "string" and not may_be_text:
            declared = None
        if declared in _NESTED and self._tags.is_nested:
            self._enter(shape, closing, declared == "object")
        elif declared == "string" or (declared is None and may_be_text and not set(kinds) - TEXTS):
            yield from self._text(shape, closing)
        elif declared is not None:
            # A named type binds the value in all styles but one.
            is_free = self._tags.is_escaped and not self._tags.is_nested and may_be_text
            yield from self._other((*kinds, declared) if is_free else (), closing, drops=False)
        elif self._tags.is_nested and any(kind in _NESTED for kind in kinds):
            yield from self._unknown(shape, closing)
        else:
            yield from self._other(kinds, closing, drops=self._drops_breaks)

    def _enter(self, shape: Shape, closing: str, is_object: bool) -> None:
        element = _Element(shape, is_object, closing)
        self._open.append(element)
        if is_object and not self._tags.closing:
            element.members, element.into = {}, self._pending
        else:
            self._made("{" if is_object else "[")

    def _close(self) -> None:
        closed = self._open.pop()
        if closed.members is None:
            self._made("}" if closed.is_object else "]")
            return
        whole: _Tree = ["{"]
        for name, values in closed.members.items():
            whole.append(
                f"{', ' if len(whole) > 1 else ''}{json.dumps(name, ensure_ascii=False)}: "
            )
            if len(values) == 1:
                whole += values
            else:
                listed = [pair for value in values for pair in (", ", value)][1:]
                whole += ["[", *listed, "]"]
        whole.append("}")
        self._pending = closed.into
        if self._pending is None:
            self._given("".join(_texts_in(whole)))
        else:
            self._pending.append(whole)

    def _unknown(self, shape: Shape, closing: str) -> Reading:
        """Distinguish elements from another value by their first character."""
        source = self._source
        kinds = [kind for kind in shape.kinds if kind in _NESTED]
        blanks: list[str] = []
        while True:
            match = NO_BLANK.search(source.text, source.at)
            at = len(source.text) if match is None else match.start()
            rest = source.text[at : at + len(_ITEM) + 1]
            if source.is_over or not any(
                end_word.startswith(rest) for end_word in (_ITEM, _NO_ELEMENT)
            ):
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
        """Read a string, which is reported in chunks."""
        is_word = "string" not in shape.kinds and "word" in shape.kinds
        strip = _Strip(BLANK if is_word else "\n" if self._drops_breaks else "", is_word)
        self._made('"')
        yield from self._up_to(closing, lambda text: self._made(characters(strip.feed(text))))
        self._made('"')

    def _up_to(self, closing: str, made: Made) -> Reading:
        """Read a value up to its end; an end only counts if something of the format follows it."""
        source = self._source
        while True:
            ends = (*self._ends, *self._awaited.values())
            is_closed = yield from up_to(source, closing, ends, made, self._is_end)
            if not is_closed:
                source.note(f"`{closing}` is missing")
            if self._following is None or not is_closed:
                return
            match = yield from source.matching(self._following)
            if match is not None or self._is_begun(self._following):
                return
            if source.is_over and source.is_blank:
                return
            made(closing)

    def _is_end(self, word: str) -> Generator[None, None, bool]:
        """Return whether the beginning of an element that is awaited ends the value ahead of it.

        It does not where that element comes later, nor where the text is over too early.
        """
        import regex

        name = next((name for name, begun in self._awaited.items() if begun == word), None)
        if name is None:
            return False
        del self._awaited[name]
        source, closing = self._source, re.escape(self._tags.closing)
        ends = "|".join(map(re.escape, self._ends))
        later = regex.compile(rf"{closing}\s*(?:(?P<again>{re.escape(word)})|{ends})")
        skipped = len(word)
        while True:
            is_over = source.is_over
            match = later.search(source.text, source.at + skipped, partial=not is_over)
            if match is not None and not match.partial:
                return match["again"] is None
            if is_over:
                return False
            skipped = (len(source.text) if match is None else match.start()) - source.at
            yield

    def _other(self, kinds: tuple[str, ...], closing: str, *, drops: bool) -> Reading:
        """Read a value that may be no string, once it is over."""
        chunks: list[str] = []
        yield from self._up_to(closing, chunks.append)
        text = "".join(chunks)
        if text.lstrip(BLANK)[:1] in ("{", "["):
            text = yield from self._rest_of_json(text, closing)
        self._made(self._converted(text, kinds, drops=drops))

    def _rest_of_json(self, plain: str, closing: str) -> Generator[None, None, str]:
        """Return a value of JSON, in whose strings its end may occur.

        A text that is not JSON is over at its first end.
        """
        source = self._source
        strings = _Strings()
        strings.feed(plain)
        chunks = [plain]
        taken = 0
        try:
            while strings.is_inside:
                taken = len(chunks)
                chunks.append(closing)

                def write_text(text: str) -> None:
                    chunks.append(text)
                    strings.feed(text)

                yield from up_to(source, closing, (), write_text)
                taken = len(chunks)
        except (CutError, BrokenError):
            pass
        whole = "".join(chunks)
        if len(chunks) == 1 or (taken == len(chunks) and _is_json(whole)):
            return whole
        # The first end is consumed, and does not belong to the text.
        is_over = taken == len(chunks)
        source.give_back("".join(chunks[2:]) + (closing if is_over else ""))
        return plain

    def _converted(self, text: str, kinds: tuple[str, ...], *, drops: bool) -> str:
        """Return the JSON of a text as a value of some kinds, any if there are none."""
        word = text.strip(BLANK)
        is_text = "string" in kinds or "word" in kinds
        if not is_text or self._is_python:
            word = OF_PYTHON.get(word, word)
        for value_or_separator in (
            word,
            None if is_text else _literal_of(word) or _number_of(word),
        ):
            value = _value_of(value_or_separator)
            if value is not _NOTHING and (not kinds or _kind(value, kinds) in kinds):
                return str(value_or_separator)
        if is_text:
            kept = text.removeprefix("\n").removesuffix("\n") if drops else text
            return json.dumps(kept, ensure_ascii=False)
        value = _value_of(word)
        is_other = value is not _NOTHING and not isinstance(value, str)
        return word if is_other else json.dumps(word, ensure_ascii=False)


def _texts_in(tree: _Tree) -> Iterator[str]:
    """Yield the texts of a tree in order."""
    pending = [iter(tree)]
    while pending:
        for inner in pending[-1]:
            if not isinstance(inner, str):
                pending.append(iter(inner))
                break
            yield inner
        else:
            pending.pop()


class _Strip:
    """Takes the blanks around a text off, while it comes: all, or a line break at each end."""

    def __init__(self, blanks: str, is_all: bool) -> None:
        self._blanks, self._is_all = blanks, is_all
        self._is_begun = not blanks
        self._pending = ""

    def feed(self, text: str) -> str:
        """Return the next characters of the stripped text that are certain."""
        if not self._blanks or not text:
            return text
        if not self._is_begun:
            text = text.lstrip(self._blanks) if self._is_all else text.removeprefix("\n")
            self._is_begun = bool(text) or not self._is_all
        text = self._pending + text
        kept = text.rstrip(self._blanks) if self._is_all else text.removesuffix("\n")
        self._pending = text[len(kept) :]
        return kept


def _beginnings(style: str, names: tuple[str, ...]) -> dict[str, str]:
    """Return the beginnings of elements by their names."""
    result = STYLES[style]
    return {name: f"{result.opening}{name}{result.named}" for name in names}


@cache
def _following(style: str, ends: tuple[str, ...]) -> "regex.Pattern[str]":
    """Return the pattern of the text after an element: another one, or the call's end."""
    import regex

    words = [form.split(maxsplit=1)[0] for form in (STYLES[style].opening, *ends) if form]
    return regex.compile(rf"\s*(?:{'|'.join(map(re.escape, words))})")


def _unescaped(name: str) -> str:
    for written, meant in (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&amp;", "&")):
        name = name.replace(written, meant)
    return name


_QUOTE = re.compile(r'\\.|"', re.DOTALL)
_CONTROL = re.compile(r"[\x00-\x1f]")


class _Strings:
    """Tracks whether a text of JSON that comes in chunks is within a string."""

    def __init__(self) -> None:
        self.is_inside = False
        self._pending = ""

    def feed(self, text: str) -> None:
        """Take the next piece. Raises ``BrokenError`` for a string that cannot go on."""
        text = self._pending + text
        at = 0
        for match in _QUOTE.finditer(text):
            if self.is_inside and _CONTROL.search(text, at, match.start()):
                raise BrokenError
            at = match.end()
            if match[0] == '"' or (not self.is_inside and match[0].endswith('"')):
                self.is_inside = not self.is_inside
        if self.is_inside and _CONTROL.search(text, at):
            raise BrokenError
        self._pending = "\\" if text.endswith("\\") and at < len(text) else ""


_NOTHING = object()


def _value_of(text: str | None) -> Any:
    try:
        return _NOTHING if text is None else json.loads(text)
    except (ValueError, RecursionError):
        return _NOTHING


def _is_json(text: str) -> bool:
    return _value_of(text) is not _NOTHING


def _literal_of(text: str) -> str | None:
    """Return the JSON of a list or a dictionary of Python, None for any other text."""
    if text[:1] not in ("{", "["):
        return None
    source, made = Chunks(), list[str]()
    source.text, source.is_over = f"({text})", True
    try:
        for _ in NotationReader(source, made.append, NOTATIONS["python"]).read():
            return None
    except (BrokenError, CutError):
        return None
    return "".join(made)[1:-1] if source.at == len(source.text) else None


def _number_of(text: str) -> str | None:
    """Return the JSON of a number with a sign or zeros that JSON has not, None for none."""
    match = _WIDE_NUMBER.fullmatch(text)
    return None if match is None else f"{match['sign']}{match['rest']}"


_WIDE_NUMBER = re.compile(r"\+?(?P<sign>-?)0*(?P<rest>[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)")


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


# Arguments in any style


INPUT = "input"
"""The style of the input of a custom tool, which is its only argument, a text."""


def _read_call(source: Chunks, made: Made) -> Reading:
    """Read the arguments in a whole call."""
    written: list[str] = []
    yield from read_json(source, written.append)
    try:
        made(print_json(parse_json("".join(written))["arguments"]))
    except (NoJsonError, KeyError, TypeError):
        raise BrokenError from None


def _read_input(source: Chunks, made: Made) -> Reading:
    """Read all that is left as the input of a custom tool."""
    made('{"input": "')
    while source.at < len(source.text) or not source.is_over:
        made(characters(source.take(len(source.text))))
        if not source.is_over:
            yield
    made('"}')


def reading_of(
    source: Chunks, made: Made, manner: Manner, shapes: tuple[Shape, ...] = ()
) -> Reading:
    """Return a reader of arguments, of a tool whose schema has these shapes."""
    style = manner.style
    if style in NOTATIONS:
        return NotationReader(source, made, NOTATIONS[style], shapes).read()
    if style in _STYLES:
        return _Elements(source, made, manner, shapes).read()
    return _OF_TEXT[style](source, made)


_OF_TEXT: Mapping[str, Callable[[Chunks, Made], Reading]] = {
    "json": read_arguments, "call": _read_call, INPUT: _read_input,
}  # fmt: skip


class Transcriber(Protocol):
    """Makes JSON of the arguments of one call."""

    def feed(self, text: str, *, final: bool) -> str:
        """Take the next piece of the arguments, the last one if ``final``; return more JSON."""
        ...


class _Transcriber:
    def __init__(self, mark: Mark) -> None:
        self._source = Chunks()
        self._made: list[str] = []
        manner = Manner(mark.style, mark.words)
        self._reading = reading_of(self._source, self._made.append, manner, mark.shapes)

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
    """Return a function that makes JSON of the arguments of a call, whose end is known."""
    return _Transcriber(mark)
