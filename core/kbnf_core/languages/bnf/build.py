"""Builds the syntax tree of KBNF while Lark reduces the productions of ``grammar.lark``.

Names keep what stands between their brackets. ``<any!>`` and ``<except!(..)>`` are uses of
nonterminals with the same names; see ``vocabulary`` for what they stand for.
"""

from typing import TypeAlias, cast

from lark import Token

from kbnf_core.languages.bnf.escapes import decode
from kbnf_core.languages.conversion.build_tree import nothing, text_or_bytes
from kbnf_core.syntax.mistake import span_of
from kbnf_core.syntax.tree import (
    Alternation,
    ByteString,
    Definition,
    Expression,
    Name,
    Reference,
    Sequence,
    Terminal,
)

ANY = "any!"
EXCEPT = "except!"

_Branch: TypeAlias = list[Expression]


class BnfBuilder:
    """The methods that Lark calls; stateless, so one serves every parse."""

    def definition(self, parts: list[Token | list[_Branch]]) -> Definition:
        """``<name>::=alternation``."""
        name = cast(Token, parts[0])
        body = _join(cast(list[_Branch], parts[2]))
        return Definition(_name(name), body, span_of(name).cover(body.span))

    def alternation(self, parts: list[Token | _Branch]) -> list[_Branch]:
        """``x | y``."""
        return [part for part in parts if not isinstance(part, Token)]

    def sequence(self, items: list[Expression]) -> _Branch:
        """``x y``."""
        return items

    def reference(self, parts: list[Token]) -> Reference:
        """``<name>``, ``<any!>`` or ``<except!(..)>``."""
        return Reference(_name(parts[0]), span_of(parts[0]))

    any = reference
    except_ = reference

    def string(self, parts: list[Token]) -> Terminal | ByteString:
        """``'text'``: a text where it is one, else bytes."""
        return text_or_bytes(decode(parts[0].value[1:-1]), span_of(parts[0]))


def _name(word: Token) -> Name:
    return Name(word.value[1:-1], span_of(word))


def _join(branches: list[_Branch]) -> Expression:
    """Return the branches as one expression; a branch of empty texts only matches nothing."""
    found = [_sequence(branch) for branch in branches]
    if len(found) == 1:
        return found[0]
    return Alternation(tuple(found), found[0].span.cover(found[-1].span))


def _sequence(items: _Branch) -> Expression:
    span = items[0].span.cover(items[-1].span)
    kept = [item for item in items if not _is_empty(item)]
    if not kept:
        return nothing(span)
    return kept[0] if len(kept) == 1 else Sequence(tuple(kept), span)


def _is_empty(item: Expression) -> bool:
    return isinstance(item, Terminal) and not item.text.value
