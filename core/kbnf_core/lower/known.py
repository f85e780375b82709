"""What is remembered of parts that were lowered (``lower.parts``), and grammars without those."""

from typing import TYPE_CHECKING, NamedTuple

from kbnf_core.ir import Grammar, Node
from kbnf_core.lower.facts import Analysis, Facts, analyse, parts_of
from kbnf_core.text.budget import Budget
from kbnf_core.text.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kbnf_core.automata.alphabet import ByteClasses
    from kbnf_core.lower.compact import Piece


class Lowered(NamedTuple):
    """What a part is lowered to, with these limits.

    Symbols of the ``pieces``, of which the first is that of the start, are ``classes`` of bytes
    and, behind them, ``names``. ``called`` are those of other rules. ``steps`` were taken. ``size``
    is in bytes, nearly.
    """

    limits: Limits
    facts: Facts
    classes: "ByteClasses"
    names: tuple[str, ...]
    pieces: "Mapping[str, Piece]"
    called: tuple[str, ...]
    steps: int
    size: int


def size_of(pieces: "Mapping[str, Piece]") -> int:
    """Return the bytes that a part takes, nearly."""
    return 2_000 + sum(_BYTES + piece.size for piece in pieces.values())


_BYTES = 500
"""What a piece takes beside its columns."""


def rules_outside(
    grammar: Grammar, callees: "Mapping[str, list[str]] | None" = None
) -> dict[str, Node]:
    """Return the rules that are in no part, and those of parts that they call beside a start.

    A rule may be in several parts, and outside as well. ``callees`` are those of all that is
    returned, where they are known.
    """
    inside = set[str]().union(*[part.bodies for part in grammar.parts.values()])
    found = {name: body for name, body in grammar.rules.items() if name not in inside}
    pending = list(found)
    for caller in pending:
        called = parts_of(found[caller])[1] if callees is None else callees[caller]
        for name in called:
            if name not in grammar.parts and name not in found:
                found[name] = grammar.rules[name]
                pending.append(name)
    return found


def analyse_unknown(grammar: Grammar, budget: Budget) -> Analysis:
    """Return what ``analyse`` does, without the rules that are only in parts that are known."""
    if not grammar.parts:
        return analyse(grammar, budget)
    known: dict[str, Lowered] = {}
    rules = rules_outside(grammar)
    for part in grammar.parts.values():
        if isinstance(part.lowered, Lowered):
            known[part.start] = part.lowered
        else:
            rules.update(part.bodies)
            # And what they may hold.
            rules.update((name, grammar.rules[name]) for name in part.shared)
    given = {name: part.facts for name, part in known.items()}
    called = {name: None for part in known.values() for name in part.called}
    return analyse(Grammar(grammar.start, rules), budget, given, called)
