"""Parses Lark and LLGuidance-Lark: text in, tree and findings out. Never raises.

Each statement is parsed for itself, so that every mistake of a file is found.

A statement ends with its line, unless the next line that has text starts with ``|``. Objects
(``%json {...}``), nested grammars and conditions go on to their closing bracket. Every text falls
into words, so nothing here can fail: any other character is ``JUNK``.

``LarkTreeBuilder`` makes the tree while Lark reduces the rules of ``grammar.lark``: each method is
called with the parts of the rule (or alias) of its name. Optional parts that are missing are left
out, so parts are told apart by their kinds.

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

Values: TypeAlias = list[Any]
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


def _foreign(kind: lark.ForeignKind) -> Callable[["LarkTreeBuilder", Values], lark.Foreign]:
    def build(_: "LarkTreeBuilder", values: Values) -> lark.Foreign:
        text = _MARK.sub("", values[0].value, count=1)
        return lark.Foreign(
            kind, text[:-1] if kind is lark.ForeignKind.NESTED else text, _cover(values)
        )

    return build


class LarkTreeBuilder:
    """The methods that Lark calls; stateless, so one serves every parse."""

    special = _foreign(lark.ForeignKind.SPECIAL)
    json = _foreign(lark.ForeignKind.JSON)
    regex_object = _foreign(lark.ForeignKind.REGEX)
    nested = _foreign(lark.ForeignKind.NESTED)
    grammar_reference = _foreign(lark.ForeignKind.GRAMMAR)

    def definition(self, values: Values) -> lark.LarkDefinition:
        """Return the definition, with its ``%override`` or ``%extend``."""
        *definer, definition = values
        if definer:
            span = span_of(definer[0]).cover(definition.span)
            definition = replace(definition, definer=lark.Definer(definer[0].value), span=span)
        return definition  # type: ignore[no-any-return] # the grammar has no other part here

    def rule(self, values: Values) -> lark.LarkDefinition:
        """``name{x}.2[lazy]: body``."""
        words = {value.type: value for value in values if isinstance(value, Word)}
        head: dict[str, Any] = dict(value for value in values if isinstance(value, tuple))
        name, parameter = words["NAME"], words.get("PARAMETER")
        return lark.LarkDefinition(
            lark.Definer.NEW,
            _name(name),
            head.get("template", ()),
            parameter.value[2:].strip() if parameter else None,
            head.get("priority"),
            head.get("attributes", ()),
            head["sign"],
            values[-1],
            span_of(name).cover(values[-1].span),
        )

    def template_parameters(self, values: Values) -> _Head:
        """``{x, y}``."""
        return "template", _names(values)

    def priority(self, values: Values) -> _Head:
        """``.2``."""
        # By way of a float: Python refuses an ``int`` of more than 4,300 digits, and a float may be
        # infinite.
        return "priority", int(max(-MANY, min(float(values[-1].value), MANY)))

    def attributes(self, values: Values) -> _Head:
        """``[lazy, suffix="x"]``."""
        return "attributes", tuple(value for value in values if isinstance(value, lark.Attribute))

    def attribute(self, values: Values) -> lark.Attribute:
        """``name`` or ``name=value``."""
        value = _value(values[-1]) if len(values) > 1 else None
        return lark.Attribute(_name(values[0]), value, _cover(values))

    def sign(self, values: Values) -> _Head:
        """``:`` or ``::=``."""
        return "sign", values[0].value

    def ignore(self, values: Values) -> lark.IgnoreStatement:
        """``%ignore x``."""
        return lark.IgnoreStatement(values[1], _cover(values))

    def declare(self, values: Values) -> lark.Declare:
        """``%declare A B``."""
        return lark.Declare(_names(values), _cover(values))

    def import_one(self, values: Values) -> lark.Import:
        """``%import a.b.X -> Y``."""
        dots, (*module, old) = values[1]
        new = _name(values[-1]) if isinstance(values[-1], Word) else old
        span = span_of(values[0]).cover(new.span).cover(old.span)
        return lark.Import(dots, tuple(word.value for word in module), ((old, new),), span)

    def import_many(self, values: Values) -> lark.Import:
        """``%import a.b (X, Y)``."""
        dots, path = values[1]
        names = tuple((name, name) for name in _names(values[2:]))
        return lark.Import(dots, tuple(word.value for word in path), names, _cover(values))

    def path(self, values: Values) -> tuple[int, tuple[lark.LarkName, ...]]:
        """``.a.b``: the number of dots in front, and the names."""
        first = next(i for i, word in enumerate(values) if word.type == "NAME")
        return sum(len(value.value) for value in values[:first]), _names(values)

    def options(self, values: Values) -> lark.OptionsStatement:
        """``%llguidance {...}``."""
        return lark.OptionsStatement(_MARK.sub("", values[0].value, count=1), _cover(values))

    def alternation(self, values: Values) -> lark.Expression:
        """``x | y``."""
        return Choice(tuple(values[::2]), _cover(values))

    def branch(self, values: Values) -> lark.Expression:
        """``x %if condition -> alias``; the alias names a node of Lark's tree only."""
        body = values[0]
        if values[1].type == "CONDITION":
            condition = values[1].value.removeprefix("%if").strip()
            return lark.Guarded(body, condition, body.span.cover(span_of(values[1])))
        # An alias is seen by its span: what a group spans ends with a bracket.
        alias = span_of(values[-1])
        return lark.Group(body, alias if body.span.start < 0 else body.span.cover(alias))

    def conjunction(self, values: Values) -> lark.Expression:
        """``x & y``."""
        return lark.Intersection(tuple(values[::2]), _cover(values))

    def sequence(self, items: list[lark.Expression]) -> lark.Expression:
        """Items side by side, none or several."""
        return Sequence(tuple(items), _cover(items) if items else Span(-1, -1))

    def item(self, values: Values) -> lark.Expression:
        """``~x*``: the complement binds tighter."""
        operator = values.pop() if isinstance(values[-1], _Operator) else None
        node: lark.Expression = values.pop()
        for tilde in reversed(values):
            node = lark.Complement(node, span_of(tilde).cover(node.span))
        if operator is None:
            return node
        return Repeat(node, operator.low, operator.high, node.span.cover(operator.span))

    def operator(self, values: Values) -> _Operator:
        """``?``, ``*``, ``+`` or ``{2,3}``."""
        word = values[0]
        if word.type in _BOUNDS:
            return _Operator(*_BOUNDS[word.type], span_of(word))
        count = _COUNT.fullmatch(word.value)
        assert count is not None  # noqa: S101 - the word has this form
        low = _signed(count["low"] or "0")
        high = _signed(count["high"]) if count["high"] else (None if count["comma"] else low)
        return _Operator(low, high, span_of(word))

    def times(self, values: Values) -> _Operator:
        """``~2`` or ``~2..3``."""
        return _Operator(_signed(values[1]), _signed(values[-1]), _cover(values))

    def group(self, values: Values) -> lark.Group:
        """``( x )``."""
        return lark.Group(values[1], _cover(values))

    def optional(self, values: Values) -> lark.Expression:
        """``[ x ]``."""
        return Repeat(values[1], 0, 1, _cover(values))

    def name(self, values: Values) -> lark.Use:
        """``name``."""
        return lark.Use(_name(values[0]), None, _cover(values))

    def parametric(self, values: Values) -> lark.Use:
        """``name::expression``."""
        return lark.Use(_name(values[0]), values[1].value[2:].strip(), _cover(values))

    def template(self, values: Values) -> lark.TemplateUse:
        """``name{a, b}``."""
        return lark.TemplateUse(_name(values[0]), tuple(values[2::2]), _cover(values))

    def string(self, values: Values) -> lark.String:
        """``"text"i``."""
        return _string(values[0])

    def range(self, values: Values) -> lark.Range:
        """``"a".."z"``."""
        return lark.Range(_string(values[0]), _string(values[2]), _cover(values))

    def regexp(self, values: Values) -> lark.Regexp:
        """``/pattern/flags``."""
        return _regexp(values[0])


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


def _name(word: Word) -> lark.LarkName:
    return lark.LarkName(word.value, span_of(word))


def _names(values: Values) -> tuple[lark.LarkName, ...]:
    return tuple(_name(p) for p in values if isinstance(p, Word) and p.type == "NAME")


def _cover(values: Values) -> Span:
    first, last = (
        span_of(value) if isinstance(value, Word) else value.span
        for value in (values[0], values[-1])
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
    """Reads the words of ``text`` from ``position`` on."""

    text: str
    position: int = 0
    is_unclosed: bool = False

    def words(self) -> Iterator[Word]:
        while self.position < len(self.text):
            match = _WORDS.match(self.text, self.position)
            assert match is not None  # noqa: S101 - the last branch takes any character
            kind = match.lastgroup or "JUNK"
            start, end = match.span()
            if kind == "DIRECTIVE":
                kind, end = self._directive(match[0], end)
            elif kind == "PARAMETER":
                end = self._parameter(end)
            self.position = end
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
        position = _skip_blanks(self.text, end)
        try:
            stop = end_of_json(self.text, position)
        except (json.JSONDecodeError, RecursionError):
            return "JUNK", self._end_of_braces(end) or end
        return kind, stop

    def _nested(self, end: int) -> tuple[str, int]:
        stop = self._end_of_braces(end)
        return ("JUNK", end) if stop is None else ("NESTED", stop)

    def _end_of_braces(self, end: int) -> int | None:
        position = _skip_blanks(self.text, end)
        if self.is_unclosed or not self.text.startswith("{", position):
            return None
        depth = 0
        for word in _NESTED_WORD.finditer(self.text, position):
            depth += {"{": 1, "}": -1}.get(word[0], 0)
            if depth == 0:
                return word.end()
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
        for position in range(end, len(self.text)):
            char = self.text[position]
            depth += {"(": 1, ")": -1}.get(char, 0)
            if depth == 0:
                return position + 1 if char == ")" else end
        return end


def _skip_blanks(text: str, position: int) -> int:
    match = _BLANKS.match(text, position)
    return match.end() if match else position


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
class ParsedLark:
    """The tree, and the findings in order of position."""

    document: lark.LarkDocument
    diagnostics: tuple[Diagnostic, ...]


@cache
def lark_dialect_parser() -> StatementParser:
    """Return the parser of one statement."""
    return StatementParser(Path(__file__).parent, LarkTreeBuilder())


def parse_lark(source: Source, limits: Limits = DEFAULT_LIMITS) -> ParsedLark:
    """Parse ``source``; statements with mistakes are left out of the document."""
    split = (Statement(words) for words in statements(source.text))
    read = parse_statements(split, _LarkMetasyntax(source, limits))
    document = lark.LarkDocument(source, tuple(read.trees), frozenset(read.broken))
    return ParsedLark(document, tuple(read.findings))


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
    position = _skip_blanks(source.text, span_of(word).start + len(directive))
    helps: tuple[str, ...] = ()
    try:
        end_of_json(source.text, position)
        why = "it is not complete"
    except json.JSONDecodeError as error:
        position, why = error.pos, error.msg.removesuffix(" at")
        if source.text.startswith(("#", "/"), position):
            helps = ("JSON has no comments",)
    except RecursionError:
        why = "it is nested too deeply"
    span = Span(min(position, len(source.text)), min(position + 1, len(source.text)))
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
