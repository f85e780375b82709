"""Builds the syntax tree of KBNF while Lark reduces the rules of ``grammar.lark``.

Spans point into the ABNF text, names are as they are written there. Nothing is checked here, see
``validate``.
"""

from typing import TypeAlias

from lark import Token

from kbnf_core.languages.abnf.values import numbers_leaf, range_leaf, read_value, text_leaf
from kbnf_core.languages.kbnf.build import number
from kbnf_core.source import Span
from kbnf_core.syntax.mistake import span_of
from kbnf_core.syntax.tree import (
    Alternation,
    Bracket,
    BracketKind,
    Definition,
    Expression,
    Name,
    Reference,
    Repetition,
    Sequence,
)

_Parts: TypeAlias = list[Token | Expression]


class AbnfBuilder:
    """The methods that Lark calls; stateless but for what values above 127 are."""

    def __init__(self, octets: bool) -> None:
        self._octets = octets

    def definition(self, parts: tuple[Token, Token, Expression]) -> Definition:
        """``name = alternation``."""
        name, _, body = parts
        return Definition(_name(name), body, span_of(name).cover(body.span))

    def alternation(self, parts: _Parts) -> Expression:
        """``x / y``, or one branch alone."""
        branches = [part for part in parts if not isinstance(part, Token)]
        if len(branches) == 1:
            return branches[0]
        return Alternation(tuple(branches), branches[0].span.cover(branches[-1].span))

    def concatenation(self, items: list[Expression]) -> Expression:
        """``x y``, or one part alone."""
        if len(items) == 1:
            return items[0]
        return Sequence(tuple(items), items[0].span.cover(items[-1].span))

    def repeated(self, parts: tuple[Token, Expression]) -> Repetition:
        """``2*5x``, and other counts in front."""
        repeat, body = parts
        low, high = read_repeat(repeat.value)
        operator = span_of(repeat)
        return Repetition(body, low, high, operator, operator.cover(body.span))

    def reference(self, parts: list[Token]) -> Reference:
        """``name``."""
        return Reference(_name(parts[0]), span_of(parts[0]))

    def prose(self, parts: list[Token]) -> Reference:
        """``<name>``; what is no name has a finding of its own."""
        span = span_of(parts[0])
        inner = Span(span.start + 1, span.end - 1)
        return Reference(Name(parts[0].value[1:-1], inner), span)

    def string(self, parts: list[Token]) -> Expression:
        """``"..."``, ``%i"..."`` or ``%s"..."``."""
        mark, _, text = parts[0].value[:-1].partition('"')
        return text_leaf(text, mark.lower() == "%s", span_of(parts[0]))

    def value(self, parts: list[Token]) -> Expression:
        """``%x41.42`` or ``%x30-39``."""
        span = span_of(parts[0])
        numbers, is_range = read_value(parts[0].value)
        if not is_range:
            return numbers_leaf(numbers, self._octets, span)
        return range_leaf(numbers[0], numbers[1], self._octets, span)

    def group(self, parts: tuple[Token, Expression, Token]) -> Expression:
        """``( x )``, or ``[ x ]``: none or one."""
        start, body, end = parts
        span = span_of(start).cover(span_of(end))
        return Bracket(BracketKind(start.value + end.value), body, span)


def read_repeat(written: str) -> tuple[int, int | None]:
    """Return the bounds of ``2*5``, ``1*``, ``*`` or ``3``."""
    low, star, high = written.partition("*")
    if not star:
        return number(low), number(low)
    return number(low), number(high) if high else None


def _name(token: Token) -> Name:
    return Name(token.value, span_of(token))
