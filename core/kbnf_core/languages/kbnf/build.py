"""Builds the syntax tree, part by part, while Lark reduces the rules of ``grammar.lark``.

Each method is called with the parts of the rule (or alias) of its name: tokens, and what the
methods made of inner rules. Nothing is checked here, see ``validate``.
"""

from typing import NamedTuple, TypeAlias, cast

from lark import Token

from kbnf_core.languages.kbnf.escapes import decode, decode_bytes, decode_raw
from kbnf_core.source import Span
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


Tokens: TypeAlias = list[Token]

_BOUNDS: dict[str, tuple[int, int | None]] = {
    "QUESTION": (0, 1),
    "STAR": (0, None),
    "PLUS": (1, None),
}

MANY = 10**18
"""Every number of more digits counts as this one, which is above every limit."""


class Builder:
    """The methods that Lark calls; stateless, so one serves every parse."""

    def definition(self, parts: tuple[Token, Token, Expression, Token]) -> Definition:
        """``name ::= alternation ;``."""
        name, _, body, end = parts
        return Definition(_name(name), body, _cover(name, end))

    def alternation(self, branches: list[Expression]) -> Alternation:
        """``x | y``."""
        return Alternation(tuple(branches), _from(branches[0], branches[-1]))

    def sequence(self, items: list[Expression]) -> Sequence:
        """``x y``."""
        return Sequence(tuple(items), _from(items[0], items[-1]))

    def repetition(self, parts: tuple[Expression, Operator]) -> Repetition:
        """``x`` and its operator."""
        body, (low, high, operator) = parts
        return Repetition(body, low, high, operator, Span(body.span.start, operator.end))

    def operator(self, parts: Tokens) -> Operator:
        """``?``, ``*`` or ``+``."""
        low, high = _BOUNDS[parts[0].type]
        return Operator(low, high, _span(parts[0]))

    def exactly(self, parts: Tokens) -> Operator:
        """``{3}``."""
        start, count, end = parts
        return Operator(number(count), number(count), _cover(start, end))

    def at_least(self, parts: Tokens) -> Operator:
        """``{2,}``."""
        start, low, end = parts
        return Operator(number(low), None, _cover(start, end))

    def at_most(self, parts: Tokens) -> Operator:
        """``{,5}``."""
        start, high, end = parts
        return Operator(0, number(high), _cover(start, end))

    def between(self, parts: Tokens) -> Operator:
        """``{2,5}``."""
        start, low, high, end = parts
        return Operator(number(low), number(high), _cover(start, end))

    def reference(self, parts: Tokens) -> Reference:
        """``name``, used as a symbol."""
        name = _name(parts[0])
        return Reference(name, name.span)

    def name(self, parts: Tokens) -> Name:
        """``name``, as the argument of `except!`."""
        return _name(parts[0])

    def terminal(self, parts: Tokens) -> Terminal:
        """``"text"`` alone."""
        text = _text(parts[0])
        return Terminal(text, text.span)

    def byte_string(self, parts: Tokens) -> ByteString:
        """``#b"..."``."""
        mark, text = parts
        return ByteString(decode_bytes(text.value, _span(text).start), _cover(mark, text))

    def pattern(self, parts: Tokens) -> Pattern:
        """``#"..."`` and its relatives."""
        mark, text = parts
        return Pattern(PatternKind(mark.value), _text(text), _cover(mark, text))

    def raw_pattern(self, parts: Tokens) -> Pattern:
        """``#r"..."``."""
        span = _span(parts[0])
        value, origins = decode_raw(parts[0].value, span.start)
        text = Text(value, Span(span.start + len("#r"), span.end), origins)
        return Pattern(PatternKind.REGEX, text, span, is_raw=True)

    def bracket(self, parts: tuple[Token, Expression, Token]) -> Bracket:
        """``(x)``, ``[x]`` or ``{x}``."""
        start, body, end = parts
        return Bracket(BracketKind(start.value + end.value), body, _cover(start, end))

    def exception(self, parts: list[Token | Terminal | Name]) -> Exception_:
        """``except!(x)`` or ``except!(x, limit)``: the third part is x, the fourth the limit."""
        excluded = cast(Terminal | Name, parts[2])
        limit = parts[3] if len(parts) > 4 else "0"
        return Exception_(excluded, number(cast(str, limit)), _ends(parts))

    def token_name(self, parts: Tokens) -> TokenName:
        """``#token"..."``."""
        mark, text = parts
        return TokenName(_text(text), _cover(mark, text))

    def token_set(self, parts: list[Token | tuple[int, int]]) -> TokenSet:
        """``#token[...]``."""
        ranges = tuple(part for part in parts if not isinstance(part, Token))
        negated = isinstance(parts[1], Token)
        return TokenSet(ranges, negated, _ends(parts))

    def ids(self, parts: Tokens) -> tuple[int, int]:
        """``5`` or ``1-5`` in a token set."""
        return number(parts[0]), number(parts[-1])


def number(digits: str) -> int:
    """Return the value of decimal ``digits``, however many there are; at most `MANY`."""
    significant = digits.lstrip("0")
    return int(significant or "0") if len(significant) <= len(str(MANY)) - 1 else MANY


def _span(token: Token) -> Span:
    return _cover(token, token)


def _cover(first: Token, last: Token) -> Span:
    return Span(first.start_pos, last.end_pos)  # type: ignore[arg-type] # words have places


def _from(first: Expression, last: Expression) -> Span:
    return Span(first.span.start, last.span.end)


def _ends(parts: object) -> Span:
    """Return the span of a list of parts that starts and ends with a token."""
    tokens = cast(Tokens, parts)
    return _cover(tokens[0], tokens[-1])


def _name(token: Token) -> Name:
    return Name(token.value, _span(token))


def _text(token: Token) -> Text:
    span = _span(token)
    value, origins = decode(token.value, span.start)
    return Text(value, span, origins)
