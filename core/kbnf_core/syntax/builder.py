"""Builds the syntax tree, part by part, while Lark reduces the rules of ``kbnf.lark``.

Each method is called with the parts of the rule (or alias) of its name: tokens, and what the
methods made of inner rules. Nothing is checked here, see ``checks``.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias, cast

from lark import Token

from kbnf_core.source import Span
from kbnf_core.syntax.escapes import decode, decode_bytes
from kbnf_core.syntax.tree import (
    Alternation,
    Bracket,
    BracketKind,
    ByteString,
    Definition,
    Exception_,
    Expression,
    Name,
    Pattern,
    PatternKind,
    Reference,
    Repetition,
    Sequence,
    Terminal,
    Text,
    TokenName,
    TokenSet,
)


class Operator(NamedTuple):
    """A postfix operator: its bounds, and where it stands."""

    low: int
    high: int | None
    span: Span


Part: TypeAlias = Token | Expression | Name | Operator | tuple[int, int] | PatternKind

_MANY = 10**18
"""Every number that is too long to be of use counts as this one."""


class Builder:
    """The methods that Lark calls; stateless, so one serves every parse."""

    def definition(self, parts: list[Part]) -> Definition:
        name, _, body, end = cast(tuple[Token, Token, Expression, Token], parts)
        return Definition(_name(name), body, _span(name).cover(_span(end)))

    def alternation(self, parts: list[Part]) -> Expression:
        branches = cast(tuple[Expression, ...], tuple(parts))
        return branches[0] if len(branches) == 1 else Alternation(branches, _cover(branches))

    def sequence(self, parts: list[Part]) -> Expression:
        items = cast(tuple[Expression, ...], tuple(parts))
        return items[0] if len(items) == 1 else Sequence(items, _cover(items))

    def repetition(self, parts: list[Part]) -> Repetition:
        body, operator = cast(tuple[Expression, Operator], parts)
        span = body.span.cover(operator.span)
        return Repetition(body, operator.low, operator.high, operator.span, span)

    def operator(self, parts: list[Part]) -> Operator:
        (token,) = cast(list[Token], parts)
        low, high = _BOUNDS[token.type]
        return Operator(low, high, _span(token))

    def exactly(self, parts: list[Part]) -> Operator:
        start, count, end = cast(list[Token], parts)
        return Operator(number(count), number(count), _span(start).cover(_span(end)))

    def at_least(self, parts: list[Part]) -> Operator:
        start, low, end = cast(list[Token], parts)
        return Operator(number(low), None, _span(start).cover(_span(end)))

    def at_most(self, parts: list[Part]) -> Operator:
        start, high, end = cast(list[Token], parts)
        return Operator(0, number(high), _span(start).cover(_span(end)))

    def between(self, parts: list[Part]) -> Operator:
        start, low, high, end = cast(list[Token], parts)
        return Operator(number(low), number(high), _span(start).cover(_span(end)))

    def reference(self, parts: list[Part]) -> Reference:
        (token,) = cast(list[Token], parts)
        return Reference(_name(token), _span(token))

    def name(self, parts: list[Part]) -> Name:
        (token,) = cast(list[Token], parts)
        return _name(token)

    def terminal(self, parts: list[Part]) -> Terminal:
        (token,) = cast(list[Token], parts)
        return Terminal(_text(token), _span(token))

    def byte_string(self, parts: list[Part]) -> ByteString:
        mark, text = cast(list[Token], parts)
        value = decode_bytes(text.value, _start(text))
        return ByteString(value, _span(mark).cover(_span(text)))

    def pattern(self, parts: list[Part]) -> Pattern:
        mark, text = cast(list[Token], parts)
        kind = PatternKind(mark.value)
        return Pattern(kind, _text(text), _span(mark).cover(_span(text)))

    def bracket(self, parts: list[Part]) -> Bracket:
        start, body, end = cast(tuple[Token, Expression, Token], parts)
        kind = BracketKind(start.value + end.value)
        return Bracket(kind, body, _span(start).cover(_span(end)))

    def exception(self, parts: list[Part]) -> Exception_:
        excluded = cast(Terminal | Name, parts[2])
        limit = number(cast(Token, parts[3])) if len(parts) > 4 else 0
        return Exception_(excluded, limit, _ends(parts))

    def token_name(self, parts: list[Part]) -> TokenName:
        mark, text = cast(list[Token], parts)
        return TokenName(_text(text), _span(mark).cover(_span(text)))

    def token_set(self, parts: list[Part]) -> TokenSet:
        ranges = tuple(part for part in parts if type(part) is tuple)
        negated = cast(Token, parts[1]).type == "CARET" if type(parts[1]) is Token else False
        return TokenSet(ranges, negated, _ends(parts))

    def ids(self, parts: list[Part]) -> tuple[int, int]:
        numbers = cast(list[Token], parts)
        return number(numbers[0]), number(numbers[-1])


_BOUNDS: dict[str, tuple[int, int | None]] = {
    "QUESTION": (0, 1),
    "STAR": (0, None),
    "PLUS": (1, None),
}

Callback: TypeAlias = Callable[[list[Part]], object]


def number(digits: str) -> int:
    """Return the value of decimal ``digits``, however many, or a bound beyond every limit."""
    significant = digits.lstrip("0")
    return int(significant or "0") if len(significant) <= 18 else _MANY


def _start(token: Token) -> int:
    return cast(int, token.start_pos)


def _span(token: Token) -> Span:
    return Span(_start(token), cast(int, token.end_pos))


def _cover(parts: tuple[Expression, ...]) -> Span:
    return parts[0].span.cover(parts[-1].span)


def _ends(parts: list[Part]) -> Span:
    return _span(cast(Token, parts[0])).cover(_span(cast(Token, parts[-1])))


def _name(token: Token) -> Name:
    return Name(token.value, _span(token))


def _text(token: Token) -> Text:
    value, origins = decode(token.value, _start(token))
    return Text(value, _span(token), origins)
