"""Parses Lark and LLGuidance-Lark: text in, tree and findings out. Never raises.

Each statement is parsed for itself, so that every mistake of a file is found.

A statement ends with its line, unless the next line that has text starts with ``|``. Objects
(``%json {...}``), nested grammars and conditions go on to their closing bracket. Every text falls
into words, so nothing here can fail: any other character is ``JUNK``.

``Builder`` makes the tree while Lark reduces the rules of ``grammar.lark``: each method is called
with the parts of the rule (or alias) of its name. Optional parts that are missing are left out, so
parts are told apart by their kinds.

Tests: tests/unit/languages/lark
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from kbnf_core.ir import Choice, Repeat, Sequence
from kbnf_core.kbnf.read import MANY, number
from kbnf_core.kbnf.statements import (
    Metasyntax,
    Mistake,
    Statement,
    StatementParser,
    Word,
    parse_statements,
    span_of,
    too_deep,
)
from kbnf_core.languages.lark.reader import tree as lark
from kbnf_core.text.diagnostics import Diagnostic
from kbnf_core.text.json_text import end_of_json
from kbnf_core.text.limits import DEFAULT_LIMITS, Limits
from kbnf_core.text.source import Source, Span
from kbnf_core.text.suggest import Suggestions

Parts: TypeAlias = list[Any]
"""Tokens, and what the methods made of inner rules; the grammar says which."""

_Head = tuple[str, Any]
"""Something that is before the colon of a rule, by the name of its field."""


class _Operator(NamedTuple):
    """A postfix operator: its bounds, and where it is."""

    low: int
    high: int | None
    span: Span


_BOUNDS: dict[str, tuple[int, int | None]] = {
    "QUESTION": (0, 1),
    "STAR": (0, None),
    "PLUS": (1, None),
}
_COUNT = re.compile(r"\{\s*(?P<low>-?\d+)?\s*(?P<comma>,)?\s*(?P<high>-?\d+)?\s*\}")
_MARK = re.compile(r"%lark\s*\{|(?:%[a-z]+\s*|@)?")


def _foreign(kind: lark.Kind) -> Callable[["Builder", Parts], lark.Foreign]:
    def build(_: "Builder", parts: Parts) -> lark.Foreign:
        text = _MARK.sub("", parts[0].value, count=1)
        return lark.Foreign(kind, text[:-1] if kind is lark.Kind.NESTED else text, _cover(parts))

    return build


class Builder:
    """The methods that Lark calls; stateless, so one serves every parse."""

    special = _foreign(lark.Kind.SPECIAL)
    json = _foreign(lark.Kind.JSON)
    regex_object = _foreign(lark.Kind.REGEX)
    nested = _foreign(lark.Kind.NESTED)
    grammar_reference = _foreign(lark.Kind.GRAMMAR)

    def definition(self, parts: Parts) -> lark.Definition:
        """Return the definition, with its ``%override`` or ``%extend``."""
        *definer, definition = parts
        if definer:
            span = span_of(definer[0]).cover(definition.span)
            definition = replace(definition, definer=lark.Definer(definer[0].value), span=span)
        return definition  # type: ignore[no-any-return] # the grammar has no other part here

    def rule(self, parts: Parts) -> lark.Definition:
        """``name{x}.2[lazy]: body``."""
        words = {part.type: part for part in parts if isinstance(part, Word)}
        head: dict[str, Any] = dict(part for part in parts if isinstance(part, tuple))
        name, parameter = words["NAME"], words.get("PARAMETER")
        return lark.Definition(
            lark.Definer.NEW,
            _name(name),
            head.get("template", ()),
            parameter.value[2:].strip() if parameter else None,
            head.get("priority"),
            head.get("attributes", ()),
            head["sign"],
            parts[-1],
            span_of(name).cover(parts[-1].span),
        )

    def template_parameters(self, parts: Parts) -> _Head:
        """``{x, y}``."""
        return "template", _names(parts)

    def priority(self, parts: Parts) -> _Head:
        """``.2``."""
        return "priority", int(max(-MANY, min(float(parts[-1].value), MANY)))

    def attributes(self, parts: Parts) -> _Head:
        """``[lazy, suffix="x"]``."""
        return "attributes", tuple(part for part in parts if isinstance(part, lark.Attribute))

    def attribute(self, parts: Parts) -> lark.Attribute:
        """``name`` or ``name=value``."""
        value = _value(parts[-1]) if len(parts) > 1 else None
        return lark.Attribute(_name(parts[0]), value, _cover(parts))

    def sign(self, parts: Parts) -> _Head:
        """``:`` or ``::=``."""
        return "sign", parts[0].value

    def ignore(self, parts: Parts) -> lark.Ignore:
        """``%ignore x``."""
        return lark.Ignore(parts[1], _cover(parts))

    def declare(self, parts: Parts) -> lark.Declare:
        """``%declare A B``."""
        return lark.Declare(_names(parts), _cover(parts))

    def import_one(self, parts: Parts) -> lark.Import:
        """``%import a.b.X -> Y``."""
        dots, (*module, old) = parts[1]
        new = _name(parts[-1]) if isinstance(parts[-1], Word) else old
        span = span_of(parts[0]).cover(new.span).cover(old.span)
        return lark.Import(dots, tuple(word.value for word in module), ((old, new),), span)

    def import_many(self, parts: Parts) -> lark.Import:
        """``%import a.b (X, Y)``."""
        dots, path = parts[1]
        names = tuple((name, name) for name in _names(parts[2:]))
        return lark.Import(dots, tuple(word.value for word in path), names, _cover(parts))

    def path(self, parts: Parts) -> tuple[int, tuple[lark.Name, ...]]:
        """``.a.b``: the number of dots in front, and the names."""
        first = next(i for i, part in enumerate(parts) if part.type == "NAME")
        return sum(len(part.value) for part in parts[:first]), _names(parts)

    def options(self, parts: Parts) -> lark.Options:
        """``%llguidance {...}``."""
        return lark.Options(_MARK.sub("", parts[0].value, count=1), _cover(parts))

    def alternation(self, parts: Parts) -> lark.Expression:
        """``x | y``."""
        return Choice(tuple(parts[::2]), _cover(parts))

    def branch(self, parts: Parts) -> lark.Expression:
        """``x %if condition -> alias``; the alias names a node of Lark's tree only."""
        body = parts[0]
        if parts[1].type == "CONDITION":
            condition = parts[1].value.removeprefix("%if").strip()
            return lark.Guarded(body, condition, body.span.cover(span_of(parts[1])))
        # An alias is seen by its span: what a group spans ends with a bracket.
        alias = span_of(parts[-1])
        return lark.Group(body, alias if body.span.start < 0 else body.span.cover(alias))

    def conjunction(self, parts: Parts) -> lark.Expression:
        """``x & y``."""
        return lark.Intersection(tuple(parts[::2]), _cover(parts))

    def sequence(self, items: list[lark.Expression]) -> lark.Expression:
        """Items side by side, none or several."""
        return Sequence(tuple(items), _cover(items) if items else Span(-1, -1))

    def item(self, parts: Parts) -> lark.Expression:
        """``~x*``: the complement binds tighter."""
        operator = parts.pop() if isinstance(parts[-1], _Operator) else None
        node: lark.Expression = parts.pop()
        for tilde in reversed(parts):
            node = lark.Complement(node, span_of(tilde).cover(node.span))
        if operator is None:
            return node
        return Repeat(node, operator.low, operator.high, node.span.cover(operator.span))

    def operator(self, parts: Parts) -> _Operator:
        """``?``, ``*``, ``+`` or ``{2,3}``."""
        word = parts[0]
        if word.type in _BOUNDS:
            return _Operator(*_BOUNDS[word.type], span_of(word))
        count = _COUNT.fullmatch(word.value)
        assert count is not None  # noqa: S101 - the word has this form
        low = _signed(count["low"] or "0")
        high = _signed(count["high"]) if count["high"] else (None if count["comma"] else low)
        return _Operator(low, high, span_of(word))

    def times(self, parts: Parts) -> _Operator:
        """``~2`` or ``~2..3``."""
        return _Operator(_signed(parts[1]), _signed(parts[-1]), _cover(parts))

    def group(self, parts: Parts) -> lark.Group:
        """``( x )``."""
        return lark.Group(parts[1], _cover(parts))

    def optional(self, parts: Parts) -> lark.Expression:
        """``[ x ]``."""
        return Repeat(parts[1], 0, 1, _cover(parts))

    def name(self, parts: Parts) -> lark.Use:
        """``name``."""
        return lark.Use(_name(parts[0]), None, _cover(parts))

    def parametric(self, parts: Parts) -> lark.Use:
        """``name::expression``."""
        return lark.Use(_name(parts[0]), parts[1].value[2:].strip(), _cover(parts))

    def template(self, parts: Parts) -> lark.TemplateUse:
        """``name{a, b}``."""
        return lark.TemplateUse(_name(parts[0]), tuple(parts[2::2]), _cover(parts))

    def string(self, parts: Parts) -> lark.String:
        """``"text"i``."""
        return _string(parts[0])

    def range(self, parts: Parts) -> lark.Range:
        """``"a".."z"``."""
        return lark.Range(_string(parts[0]), _string(parts[2]), _cover(parts))

    def regexp(self, parts: Parts) -> lark.Regexp:
        """``/pattern/flags``."""
        return _regexp(parts[0])


def _signed(digits: str) -> int:
    """Return the value of digits with an optional sign, however many there are."""
    value = number(digits.lstrip("+-"))
    return -value if digits.startswith("-") else value


def _value(word: Word) -> lark.String | lark.Regexp | lark.Use | float:
    match word.type:
        case "STRING":
            return _string(word)
        case "REGEXP":
            return _regexp(word)
        case "NUMBER":
            return float(word.value)
    return lark.Use(_name(word), None, span_of(word))


def _string(word: Word) -> lark.String:
    raw, _, flag = word.value[1:].rpartition('"')
    return lark.String(raw, flag == "i", span_of(word))


def _regexp(word: Word) -> lark.Regexp:
    raw, _, flags = word.value[1:].rpartition("/")
    return lark.Regexp(raw, flags, span_of(word))


def _name(word: Word) -> lark.Name:
    return lark.Name(word.value, span_of(word))


def _names(parts: Parts) -> tuple[lark.Name, ...]:
    return tuple(_name(p) for p in parts if isinstance(p, Word) and p.type == "NAME")


def _cover(parts: Parts) -> Span:
    first, last = (
        span_of(part) if isinstance(part, Word) else part.span for part in (parts[0], parts[-1])
    )
    return first.cover(last)


_WORDS = re.compile(
    r"""
    (?P<COMMENT>(?://|\#)[^\n]*)
  | (?P<BLANK>(?:[ \t\f\r]|\\[ \t]*\r?\n)+)
  | (?P<LINE>\n)
  | (?P<REGEXP>/(?!/)(?:\\.|[^/\\\n])+/[imslux]*
      |/(?!/)(?:\\.|[^/\\])+?/(?=[imslux]*x)[imslux]*)
  | (?P<STRING>"(?:\\.|[^"\\\n])*"i?)
  | (?P<DIRECTIVE>%[a-z]+)
  | (?P<SPECIAL><[^<>\s]+>)
  | (?P<PARAMETER>::(?![=])[ \t]*)
  | (?P<DEFINE>::=)
  | (?P<COLON>:)
  | (?P<ARROW>->)
  | (?P<COUNT>\{[ \t]*(?:-?\d+[ \t]*(?:,[ \t]*(?:-?\d+)?)?|,[ \t]*-?\d+)[ \t]*\})
  | (?P<TIMES>~(?=[ \t]*-?\d))
  | (?P<TILDE>~)
  | (?P<GRAMMAR>@[A-Za-z0-9_-]+)
  | (?P<NUMBER>[+-]?\d+(?:\.\d+)?(?![A-Za-z_]))
  | (?P<NAME>[A-Za-z_](?:\w|-(?=\w))*)
  | (?P<DOTDOT>\.\.)
  | (?P<DOT>\.)
  | (?P<QUESTION>\?) | (?P<BANG>!) | (?P<STAR>\*) | (?P<PLUS>\+)
  | (?P<LPAR>\() | (?P<RPAR>\)) | (?P<LSQB>\[) | (?P<RSQB>\]) | (?P<LBRACE>\{) | (?P<RBRACE>\})
  | (?P<COMMA>,) | (?P<EQUALS>=) | (?P<VBAR>\|) | (?P<AMPERSAND>&)
  | (?P<JUNK>.)
    """,
    re.VERBOSE | re.DOTALL,
)

_STATEMENTS = {
    "%ignore": "IGNORE",
    "%import": "IMPORT",
    "%declare": "DECLARE",
    "%override": "OVERRIDE",
    "%extend": "EXTEND",
}
_OBJECTS = {"%json": "JSON", "%regex": "REGEX_OBJECT", "%llguidance": "OPTIONS"}

_DIRECTIVE = re.compile("%[a-z]*")
_DIRECTIVES = (*_STATEMENTS, *_OBJECTS, "%lark", "%if")

_STARTS = frozenset(_STATEMENTS.values()) | {"OPTIONS"}

_BLANKS = re.compile(r"\s*")
_PARAMETER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|0x[0-9A-Fa-f]+|\d+")
_CONDITION = re.compile(r"[ \t]*[A-Za-z_][A-Za-z0-9_]*[ \t]*")
_NESTED_WORD = re.compile(
    r'"(?:\\.|[^"\\\n])*"|/(?!/)(?:\\.|[^/\\\n])+/|(?://|\#)[^\n]*|[{}]|\n|.', re.DOTALL
)


@dataclass(slots=True)
class _WordReader:
    """Reads the words of ``text`` from ``place`` on."""

    text: str
    place: int = 0
    is_unclosed: bool = False

    def words(self) -> Iterator[Word]:
        while self.place < len(self.text):
            match = _WORDS.match(self.text, self.place)
            assert match is not None  # noqa: S101 - the last branch takes any character
            kind = match.lastgroup or "JUNK"
            start, end = match.span()
            if kind == "DIRECTIVE":
                kind, end = self._directive(match[0], end)
            elif kind == "PARAMETER":
                end = self._parameter(end)
            self.place = end
            if kind != "BLANK":
                yield Word(kind, self.text[start:end], start, end)

    def _directive(self, word: str, end: int) -> tuple[str, int]:
        if word in _OBJECTS:
            return self._object(_OBJECTS[word], end)
        if word == "%lark":
            return self._nested(end)
        if word == "%if":
            return self._condition(end)
        return (_STATEMENTS[word], end) if word in _STATEMENTS else ("JUNK", end)

    def _object(self, kind: str, end: int) -> tuple[str, int]:
        """Take the JSON value after the directive; braces without one are junk as a whole."""
        place = _skip_blanks(self.text, end)
        try:
            stop = end_of_json(self.text, place)
        except (json.JSONDecodeError, RecursionError):
            return "JUNK", self._end_of_braces(end) or end
        return kind, stop

    def _nested(self, end: int) -> tuple[str, int]:
        stop = self._end_of_braces(end)
        return ("JUNK", end) if stop is None else ("NESTED", stop)

    def _end_of_braces(self, end: int) -> int | None:
        place = _skip_blanks(self.text, end)
        if self.is_unclosed or not self.text.startswith("{", place):
            return None
        depth = 0
        for part in _NESTED_WORD.finditer(self.text, place):
            depth += {"{": 1, "}": -1}.get(part[0], 0)
            if depth == 0:
                return part.end()
        # Looked for once: a text may open many and close none.
        self.is_unclosed = True
        return None

    def _condition(self, end: int) -> tuple[str, int]:
        match = _CONDITION.match(self.text, end)
        if match is None:
            return "JUNK", end
        return "CONDITION", self._arguments(match.end())

    def _parameter(self, end: int) -> int:
        match = _PARAMETER.match(self.text, end)
        return self._arguments(match.end()) if match else end

    def _arguments(self, end: int) -> int:
        """Return the end of the bracketed arguments that start at ``end``, if any do."""
        depth = 0
        for place in range(end, len(self.text)):
            char = self.text[place]
            depth += {"(": 1, ")": -1}.get(char, 0)
            if depth == 0:
                return place + 1 if char == ")" else end
        return end


def _skip_blanks(text: str, place: int) -> int:
    match = _BLANKS.match(text, place)
    return match.end() if match else place


def statements(text: str) -> Iterator[list[Word]]:
    """Yield the words of each statement."""
    words = [word for word in _words(text) if word.type != "COMMENT"]
    current: list[Word] = []
    for index, word in enumerate(words):
        if word.type != "LINE":
            current.append(word)
        elif current and not _goes_on(words, index):
            yield current
            current = []
    if current:
        yield current


def _words(text: str) -> Iterator[Word]:
    return _WordReader(text, 1 if text.startswith("\ufeff") else 0).words()


def comments(text: str) -> Iterator[tuple[str, Span]]:
    """Yield the text of each comment, without its mark, and its span; also in nested grammars."""
    has_signs = "#" in text or "//" in text
    for word in _words(text) if has_signs else ():
        if word.type == "COMMENT":
            yield word.value.removeprefix("#").removeprefix("//"), span_of(word)
        elif word.type == "NESTED":
            for match in _NESTED_WORD.finditer(word.value):
                if match[0].startswith(("#", "//")):
                    start, end = (span_of(word).start + offset for offset in match.span())
                    yield match[0].removeprefix("#").removeprefix("//"), Span(start, end)


def is_gbnf(text: str) -> bool:
    """Return whether a text defines its rules, ``root`` among them, with ``::=`` alone."""
    if "::=" not in text:
        return False
    heads = [words[:2] for words in statements(text) if len(words) > 1]
    signs = {second.type for first, second in heads if first.type == "NAME"}
    return signs == {"DEFINE"} and any(first.value == "root" for first, _ in heads)


def _goes_on(words: list[Word], line: int) -> bool:
    """Return whether the next line that has text starts with ``|``."""
    following = (words[index].type for index in range(line, len(words)))
    return next((kind for kind in following if kind != "LINE"), "") == "VBAR"


@dataclass(frozen=True, slots=True)
class Parsed:
    """The tree, and the findings in order of position."""

    document: lark.Document
    diagnostics: tuple[Diagnostic, ...]


@cache
def lark_dialect_parser() -> StatementParser:
    """Return the parser of one statement."""
    return StatementParser(Path(__file__).parent, Builder())


def parse_lark(source: Source, limits: Limits = DEFAULT_LIMITS) -> Parsed:
    """Parse ``source``; statements with mistakes are left out of the document."""
    split = (Statement(words) for words in statements(source.text))
    read = parse_statements(split, _LarkMetasyntax(source, limits))
    document = lark.Document(source, tuple(read.trees), frozenset(read.broken))
    return Parsed(document, tuple(read.findings))


class _LarkMetasyntax(Metasyntax[lark.Statement]):
    """The statements of a text."""

    def parser(self) -> StatementParser:
        return lark_dialect_parser()

    def explain(self, statement: Statement, mistake: Mistake) -> Iterable[Diagnostic]:
        del statement
        return (too_deep(mistake, self.limits) or _unexpected(self.source, mistake),)

    def names(self, statement: Statement) -> Iterable[str]:
        return (word.value for word in statement.words[:3] if word.type == "NAME")


def _unexpected(source: Source, mistake: Mistake) -> Diagnostic:
    word = mistake.word or Word("$END", "", mistake.span.start, mistake.span.end)
    expected = sorted(_SHOWN[name] for name in mistake.expected if name in _SHOWN)
    word_shown = f"`{word.value}`" if word.value else "the end of the line"
    helps = (f"expected {', '.join(expected)}",) if expected else ()
    message = f"{word_shown} is not allowed here in a Lark grammar"
    if word.type == "DEFINE":
        message = "`::=` does not define Lark rules; this is `:`, or the file is GBNF"
        helps = ("convert GBNF with `kbnf convert --from gbnf FILE`",)
    elif word.type == "JUNK" and word.value == '"':
        return Diagnostic("E004", "this string has no closing quote", source, span_of(word))
    elif word.type == "JUNK" and word.value.startswith("%"):
        directive = _DIRECTIVE.findall(word.value)[0]
        if directive in _OBJECTS:
            return _no_json(source, word, directive)
        close = Suggestions(_DIRECTIVES).closest(directive)
        helps = (f"did you mean `{close}`?",) if close else helps
    return _finding("E001", message, source, word, helps)


def _no_json(source: Source, word: Word, directive: str) -> Diagnostic:
    """Return the finding for a directive with something else than JSON after it."""
    place = _skip_blanks(source.text, span_of(word).start + len(directive))
    helps: tuple[str, ...] = ()
    try:
        end_of_json(source.text, place)
        why = "it is not complete"
    except json.JSONDecodeError as error:
        place, why = error.pos, error.msg.removesuffix(" at")
        if source.text.startswith(("#", "/"), place):
            helps = ("JSON has no comments",)
    except RecursionError:
        why = "it is nested too deeply"
    span = Span(min(place, len(source.text)), min(place + 1, len(source.text)))
    message = f"the JSON of `{directive}` cannot be read: {why}"
    return Diagnostic("E001", message, source, span, helps=helps)


def _finding(
    code: str, message: str, source: Source, word: Word, helps: tuple[str, ...] = ()
) -> Diagnostic:
    span = span_of(word)
    shown = span if span.end > span.start else Span(max(span.start - 1, 0), span.end)
    return Diagnostic(code, message, source, shown, helps=helps)


_SHOWN = {
    "COLON": "`:`",
    "LPAR": "`(`",
    "RPAR": "`)`",
    "RSQB": "`]`",
    "RBRACE": "`}`",
    "VBAR": "`|`",
    "NAME": "a name",
    "STRING": "a string",
    "REGEXP": "a regular expression",
    "NUMBER": "a number",
}
