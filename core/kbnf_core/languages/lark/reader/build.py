"""Builds the tree of a Lark statement while Lark reduces the rules of ``grammar.lark``.

Each method is called with the parts of the rule (or alias) of its name. Optional parts that are
missing are left out, so parts are told apart by their kinds. Nothing is checked here.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

from kbnf_core.ir import Choice, Repeat, Sequence
from kbnf_core.kbnf.read import MANY, number
from kbnf_core.kbnf.statements import Word, span_of
from kbnf_core.languages.lark.reader import tree as lark
from kbnf_core.text.source import Span

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
        return lark.Import(dots, tuple(each.value for each in module), ((old, new),), span)

    def import_many(self, parts: Parts) -> lark.Import:
        """``%import a.b (X, Y)``."""
        dots, path = parts[1]
        names = tuple((name, name) for name in _names(parts[2:]))
        return lark.Import(dots, tuple(each.value for each in path), names, _cover(parts))

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
