"""Builds the syntax tree of KBNF while Lark reduces the rules of ``grammar.lark``.

Spans point into the GBNF text, names are those of the GBNF text. Nothing is checked here, see
``validate``. A part that is written as nothing becomes the empty text where it would stand.
"""

import re
from typing import TypeAlias

from lark import Token

from kbnf_core.languages.conversion.build_tree import terminal
from kbnf_core.languages.gbnf.patterns import any_leaf, class_leaf, string_leaf
from kbnf_core.languages.kbnf.build import MANY
from kbnf_core.source import Span
from kbnf_core.syntax.mistake import span_of
from kbnf_core.syntax.tree import (
    Alternation,
    Bracket,
    BracketKind,
    Definition,
    Expression,
    Leaf,
    Name,
    Reference,
    Repetition,
    Sequence,
    Text,
    TokenName,
    TokenSet,
)

_Branch: TypeAlias = Expression | Token | None

_BOUNDS: dict[str, tuple[int, int | None]] = {
    "QUESTION": (0, 1),
    "STAR": (0, None),
    "PLUS": (1, None),
}

COUNT = re.compile(
    r"\{\s*(?P<low>[0-9]*)\s*(?:(?P<comma>,)\s*(?P<high>[0-9]*)\s*)?\}",
)
"""A count; llama.cpp wants its lower bound."""

MAX_TOKEN_ID = 2**32 - 1
EXCLUDED_NAME = "!"
"""Names of nonterminals that stand for ``!<text>``, any token but one, begin with it."""


class GbnfBuilder:
    """The methods that Lark calls; stateless, so one serves every parse."""

    def definition(self, parts: tuple[Token, Token, list[_Branch]]) -> Definition:
        """``name ::= alternation``."""
        name, sign, branches = parts
        body = _join(branches, span_of(sign).end)
        span = span_of(name).cover(span_of(sign)).cover(body.span)
        return Definition(Name(name.value, span_of(name)), body, span)

    def alternation(self, branches: list[_Branch]) -> list[_Branch]:
        """``x | y``: the branches, None for empty ones, and the bars between them."""
        return branches

    def sequence(self, items: list[Expression]) -> Expression | None:
        """``x y``, one symbol alone, or nothing."""
        if len(items) <= 1:
            return items[0] if items else None
        return Sequence(tuple(items), items[0].span.cover(items[-1].span))

    def repetition(self, parts: tuple[Expression, Token]) -> Repetition:
        """``x`` and its operator; a count that is none has a finding of its own."""
        body, operator = parts
        low, high = _BOUNDS.get(operator.type) or read_count(operator.value) or (0, 0)
        place = span_of(operator)
        return Repetition(body, low, high, place, body.span.cover(place))

    def reference(self, parts: list[Token]) -> Reference:
        """``name``."""
        span = span_of(parts[0])
        return Reference(Name(parts[0].value, span), span)

    def string(self, parts: list[Token]) -> Leaf:
        """``"..."``."""
        return string_leaf(parts[0].value, span_of(parts[0]))

    def class_(self, parts: list[Token]) -> Leaf:
        """``[...]``."""
        return class_leaf(parts[0].value, span_of(parts[0]))

    def any(self, parts: list[Token]) -> Leaf:
        """``.``."""
        return any_leaf(span_of(parts[0]))

    def token(self, parts: list[Token]) -> Leaf:
        """``<[id]>``, ``<text>``, ``!<[id]>`` or ``!<text>``."""
        span = span_of(parts[0])
        excluded = parts[0].value.startswith("!")
        text = parts[0].value.removeprefix("!")
        if text.startswith("<["):
            number = min(int(text[2:-2]), MAX_TOKEN_ID)
            return TokenSet(((number, number),), excluded, span)
        if excluded:
            return Reference(Name(EXCLUDED_NAME + text, span), span)
        return TokenName(Text(text, span, tuple(range(span.start, span.end))), span)

    def group(self, parts: tuple[Token, list[_Branch], Token]) -> Bracket:
        """``( x )``."""
        opening, branches, closing = parts
        body = _join(branches, span_of(opening).end)
        return Bracket(BracketKind.GROUP, body, span_of(opening).cover(span_of(closing)))


def read_count(written: str) -> tuple[int, int | None] | None:
    """Return the bounds of ``{...}``, numbers beyond reason as MANY; None if it is no count."""
    match = COUNT.fullmatch(written)
    if match is None or not (match["low"] or match["high"]):
        return None
    low = _number(match["low"] or "0")
    if not match["comma"]:
        return low, low
    return low, _number(match["high"]) if match["high"] else None


def _number(digits: str) -> int:
    return int(digits) if len(digits) < len(str(MANY)) else MANY


def _join(parts: list[_Branch], start: int) -> Expression:
    """Return the branches as one expression; the first would stand at ``start``."""
    branches: list[Expression] = []
    for part in parts:
        if isinstance(part, Token):
            start = span_of(part).end
        else:
            branches.append(part or terminal("", Span(start, start)))
            start = branches[-1].span.end
    if len(branches) == 1:
        return branches[0]
    return Alternation(tuple(branches), branches[0].span.cover(branches[-1].span))
