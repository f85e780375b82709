"""Builds the tree of a Lark statement while Lark reduces the rules of ``grammar.lark``.

Each method is called with the parts of the rule (or alias) of its name. Optional parts that are
missing are left out, so parts are told apart by their kinds. Nothing is checked here.
"""

import re
from typing import Any, NamedTuple, TypeAlias

from lark import Token

from kbnf_core.languages.kbnf.build import number
from kbnf_core.languages.lark.reader import tree as lark
from kbnf_core.source import Span
from kbnf_core.syntax.mistake import span_of

Parts: TypeAlias = list[Any]
"""Tokens, and what the methods made of inner rules; the grammar says which."""


class Operator(NamedTuple):
    """A postfix operator: its bounds, and where it stands."""

    low: int
    high: int | None
    span: Span


_BOUNDS: dict[str, tuple[int, int | None]] = {
    "QUESTION": (0, 1),
    "STAR": (0, None),
    "PLUS": (1, None),
}
_COUNT = re.compile(r"\{\s*(?P<low>-?\d+)?\s*(?P<comma>,)?\s*(?P<high>-?\d+)?\s*\}")


class Template(NamedTuple):
    """The parameters of a template definition."""

    names: tuple[lark.Name, ...]


class Priority(NamedTuple):
    """``.2`` behind a name."""

    value: int


class Attributes(NamedTuple):
    """``[lazy, suffix="x"]`` behind a name."""

    items: tuple[lark.Attribute, ...]


class Sign(NamedTuple):
    """``:`` or ``::=``."""

    value: str


class Builder:
    """The methods that Lark calls; stateless, so one serves every parse."""

    def definition(self, parts: Parts) -> lark.Definition:
        """Return the definition, with its ``%override`` or ``%extend``."""
        *definer, definition = parts
        if not definer:
            return definition  # type: ignore[no-any-return] # the grammar has no other part here
        return lark.Definition(
            lark.Definer(definer[0].value),
            definition.name,
            definition.template,
            definition.parameter,
            definition.priority,
            definition.attributes,
            definition.sign,
            definition.body,
            span_of(definer[0]).cover(definition.span),
        )

    def rule(self, parts: Parts) -> lark.Definition:
        """``name{x}.2[lazy]: body``."""
        given = {type(part): part for part in parts}
        words = {part.type: part for part in parts if isinstance(part, Token)}
        template, priority = given.get(Template), given.get(Priority)
        attributes, parameter = given.get(Attributes), words.get("PARAMETER")
        return lark.Definition(
            lark.Definer.NEW,
            _name(words["NAME"]),
            template.names if template else (),
            parameter.value[2:].strip() if parameter else None,
            priority.value if priority else None,
            attributes.items if attributes else (),
            given[Sign].value,
            parts[-1],
            span_of(words["NAME"]).cover(parts[-1].span),
        )

    def template_parameters(self, parts: Parts) -> Template:
        """``{x, y}``."""
        return Template(tuple(_names(parts)))

    def priority(self, parts: Parts) -> Priority:
        """``.2``."""
        return Priority(int(float(parts[-1].value)))

    def attributes(self, parts: Parts) -> Attributes:
        """Return the attributes in ``[a, b]``."""
        return Attributes(tuple(part for part in parts if isinstance(part, lark.Attribute)))

    def attribute(self, parts: Parts) -> lark.Attribute:
        """``name`` or ``name=value``."""
        name, last = parts[0], parts[-1]
        value = _value(last) if len(parts) > 1 else None
        return lark.Attribute(_name(name), value, span_of(name).cover(span_of(last)))

    def sign(self, parts: Parts) -> Sign:
        """``:`` or ``::=``."""
        return Sign(parts[0].value)

    def ignore(self, parts: Parts) -> lark.Ignore:
        """``%ignore x``."""
        return lark.Ignore(parts[1], span_of(parts[0]).cover(parts[1].span))

    def declare(self, parts: Parts) -> lark.Declare:
        """``%declare A B``."""
        return lark.Declare(tuple(_names(parts)), _cover(parts))

    def import_one(self, parts: Parts) -> lark.Import:
        """``%import a.b.X -> Y``."""
        dots, path = parts[1]
        last = parts[-1]
        new = _name(last) if isinstance(last, Token) and last.type == "NAME" else path[-1]
        span = span_of(parts[0]).cover(new.span).cover(path[-1].span)
        return lark.Import(dots, tuple(p.value for p in path[:-1]), ((path[-1], new),), span)

    def import_many(self, parts: Parts) -> lark.Import:
        """``%import a.b (X, Y)``."""
        dots, path = parts[1]
        names = tuple((name, name) for name in _names(parts[2:]))
        span = span_of(parts[0]).cover(span_of(parts[-1]))
        return lark.Import(dots, tuple(p.value for p in path), names, span)

    def path(self, parts: Parts) -> tuple[int, tuple[lark.Name, ...]]:
        """``.a.b``: the number of dots in front, and the names."""
        first = next(i for i, part in enumerate(parts) if part.type == "NAME")
        dots = sum(len(part.value) for part in parts[:first])
        return dots, tuple(_names(parts))

    def options(self, parts: Parts) -> lark.Options:
        """``%llguidance {...}``."""
        return lark.Options(_split_object(parts[0])[0], span_of(parts[0]))

    def alternation(self, parts: Parts) -> lark.Expression:
        """``x | y``, or one branch alone."""
        branches = tuple(part for part in parts if not isinstance(part, Token))
        if len(branches) == 1:
            return branches[0]  # type: ignore[no-any-return] # parts are what methods returned
        return lark.Alternation(branches, _cover(parts))

    def branch(self, parts: Parts) -> lark.Expression:
        """``x %if condition -> alias``; the alias names a node of Lark's tree only."""
        body = parts[0]
        for part in parts[1:]:
            if isinstance(part, Token) and part.type == "CONDITION":
                condition = part.value.removeprefix("%if").strip()
                return lark.Guarded(body, condition, body.span.cover(span_of(part)))
        if len(parts) > 1:
            # An alias is seen by its span: what a group spans ends with a bracket.
            alias = span_of(parts[-1])
            return lark.Group(body, alias if body.span.start < 0 else body.span.cover(alias))
        return body  # type: ignore[no-any-return] # parts are what methods returned

    def conjunction(self, parts: Parts) -> lark.Expression:
        """``x & y``."""
        operands = tuple(part for part in parts if not isinstance(part, Token))
        if len(operands) == 1:
            return operands[0]  # type: ignore[no-any-return] # parts are what methods returned
        return lark.Intersection(operands, _cover(parts))

    def sequence(self, items: list[lark.Expression]) -> lark.Expression:
        """Items side by side."""
        if len(items) == 1:
            return items[0]
        span = items[0].span.cover(items[-1].span) if items else Span(-1, -1)
        return lark.Sequence(tuple(items), span)

    def item(self, parts: Parts) -> lark.Expression:
        """``~x*``: the complement binds tighter."""
        operator = parts.pop() if isinstance(parts[-1], Operator) else None
        node: lark.Expression = parts.pop()
        for tilde in reversed(parts):
            node = lark.Complement(node, span_of(tilde).cover(node.span))
        if operator is None:
            return node
        return lark.Repeat(node, operator.low, operator.high, node.span.cover(operator.span))

    def operator(self, parts: Parts) -> Operator:
        """``?``, ``*``, ``+`` or ``{2,3}``."""
        word = parts[0]
        if word.type in _BOUNDS:
            return Operator(*_BOUNDS[word.type], span_of(word))
        count = _COUNT.fullmatch(word.value)
        assert count is not None  # noqa: S101 - the word has this form
        low = signed(count["low"] or "0")
        high = signed(count["high"]) if count["high"] else (None if count["comma"] else low)
        return Operator(low, high, span_of(word))

    def times(self, parts: Parts) -> Operator:
        """``~2`` or ``~2..3``."""
        numbers = [part for part in parts if isinstance(part, Token) and part.type == "NUMBER"]
        return Operator(signed(numbers[0]), signed(numbers[-1]), _cover(parts))

    def group(self, parts: Parts) -> lark.Group:
        """``( x )``."""
        return lark.Group(parts[1], _cover(parts))

    def optional(self, parts: Parts) -> lark.Repeat:
        """``[ x ]``."""
        return lark.Repeat(parts[1], 0, 1, _cover(parts))

    def name(self, parts: Parts) -> lark.Use:
        """``name``."""
        return lark.Use(_name(parts[0]), None, span_of(parts[0]))

    def parametric(self, parts: Parts) -> lark.Use:
        """``name::expression``."""
        return lark.Use(_name(parts[0]), parts[1].value[2:].strip(), _cover(parts))

    def template(self, parts: Parts) -> lark.TemplateUse:
        """``name{a, b}``."""
        arguments = tuple(part for part in parts[1:] if not isinstance(part, Token))
        return lark.TemplateUse(_name(parts[0]), arguments, _cover(parts))

    def argument(self, parts: Parts) -> lark.Expression:
        """One argument of a template."""
        return parts[0]  # type: ignore[no-any-return] # parts are what methods returned

    def string(self, parts: Parts) -> lark.String:
        """``"text"i``."""
        return _string(parts[0])

    def range(self, parts: Parts) -> lark.Range:
        """``"a".."z"``."""
        return lark.Range(_string(parts[0]), _string(parts[2]), _cover(parts))

    def regexp(self, parts: Parts) -> lark.Regexp:
        """``/pattern/flags``."""
        return _regexp(parts[0])

    def special(self, parts: Parts) -> lark.Special:
        """``<...>``."""
        return lark.Special(parts[0].value, span_of(parts[0]))

    def json(self, parts: Parts) -> lark.Json:
        """``%json {...}``."""
        return lark.Json(_split_object(parts[0])[0], span_of(parts[0]))

    def regex_object(self, parts: Parts) -> lark.RegexObject:
        """``%regex {...}``."""
        return lark.RegexObject(_split_object(parts[0])[0], span_of(parts[0]))

    def nested(self, parts: Parts) -> lark.Nested:
        """``%lark {...}``."""
        text, start = _split_object(parts[0])
        return lark.Nested(text[1:-1], start + 1, span_of(parts[0]))

    def grammar_reference(self, parts: Parts) -> lark.GrammarReference:
        """``@name``."""
        return lark.GrammarReference(parts[0].value[1:], span_of(parts[0]))


def signed(digits: str) -> int:
    """Return the value of digits with an optional sign, however many there are."""
    value = number(digits.lstrip("+-"))
    return -value if digits.startswith("-") else value


def _value(part: object) -> lark.String | lark.Regexp | lark.Use | float | None:
    if not isinstance(part, Token):
        return None
    match part.type:
        case "STRING":
            return _string(part)
        case "REGEXP":
            return _regexp(part)
        case "NUMBER":
            return float(part.value)
        case "NAME":
            return lark.Use(_name(part), None, span_of(part))
        case _:
            return None


def _string(word: Token) -> lark.String:
    raw, _, flag = word.value[1:].rpartition('"')
    return lark.String(raw, flag == "i", span_of(word))


def _regexp(word: Token) -> lark.Regexp:
    raw, _, flags = word.value[1:].rpartition("/")
    return lark.Regexp(raw, flags, span_of(word))


def _name(word: Token) -> lark.Name:
    return lark.Name(word.value, span_of(word))


def _names(parts: Parts) -> list[lark.Name]:
    return [_name(p) for p in parts if isinstance(p, Token) and p.type == "NAME"]


def _cover(parts: Parts) -> Span:
    first, last = (
        span_of(part) if isinstance(part, Token) else part.span
        for part in (parts[0], next(p for p in reversed(parts) if p is not None))
    )
    return first.cover(last)


def _split_object(word: Token) -> tuple[str, int]:
    """Return what follows the directive in ``%json {...}``, and where it starts."""
    name = re.match(r"%[a-z]+\s*", word.value)
    skipped = name.end() if name else 0
    return word.value[skipped:], span_of(word).start + skipped
