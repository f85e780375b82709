"""Texts of ``stop`` that are matched again as the prefix of the next lexeme.

LLGuidance hides what ended a lexeme with ``stop``. Where every lexeme that may follow begins with
just this text, it stands in the text once: the next lexeme is what is left of its words. LLGuidance
sees a beginning in the expression, not in the language, and up to the first repetition only: behind
``stop="b"`` it finds that of ``bb*``, and none in ``b+``, ``b{2}`` or an intersection.
"""

from typing import NamedTuple

from kbnf_core.automata.determinise import from_symbols
from kbnf_core.automata.dfa import DEAD, Dfa, SymbolDfa
from kbnf_core.automata.regex.parse import parse_regex
from kbnf_core.automata.regex.syntax import (
    Alternation,
    Characters,
    Node,
    Repetition,
    Sequence,
    children,
)
from kbnf_core.limits import DEFAULT_LIMITS
from kbnf_core.traversal import fold


def beginning(dfa: Dfa) -> bytes:
    """Return the longest text that every word begins with."""
    found = bytearray()
    state = 0
    seen = {state}
    while not dfa.is_empty and not dfa.accepting[state]:
        row = dfa.rows[state]
        ways = [byte for byte, symbol in enumerate(dfa.classes) if row[symbol] != DEAD]
        if len(ways) != 1:
            break
        found.append(ways[0])
        state = row[dfa.classes[ways[0]]]
        if state in seen:
            break
        seen.add(state)
    return bytes(found)


def behind(dfa: Dfa, text: bytes) -> Dfa:
    """Return what is left of the words that begin with ``text``."""
    if not text or dfa.is_empty:
        return dfa
    state = 0
    for byte in text:
        state = DEAD if state == DEAD else dfa.rows[state][dfa.classes[byte]]
    return from_symbols(SymbolDfa(dfa.rows, [*map(int, dfa.accepting)], [state]), dfa.classes)


def common(left: bytes, right: bytes) -> bytes:
    """Return the longest text that both begin with."""
    length = next(
        (place for place, (a, b) in enumerate(zip(left, right, strict=False)) if a != b),
        min(len(left), len(right)),
    )
    return left[:length]


def unrepeated(opening: str | None) -> int:
    """Return how many bytes at least every word has before a repetition; 0 where unknown."""
    if opening is None:
        return 0
    tree, problems = parse_regex(opening, DEFAULT_LIMITS)
    return 0 if problems else fold(tree, children, _reach_of).length


class _Reach(NamedTuple):
    """The bytes before a repetition, and whether there is none, so that what follows counts."""

    length: int
    goes_on: bool


def _reach_of(node: Node, parts: list[_Reach]) -> _Reach:
    match node:
        case Characters():
            least = next(iter(node.points), None)
            return _Reach(0 if least is None else len(chr(least[0]).encode()), goes_on=True)
        case Repetition(_, 1, 1):
            return parts[0]
        case Repetition(_, _, high):
            return _Reach(0, goes_on=high == 0)
        case Alternation():
            length = min((part.length for part in parts), default=0)
            return _Reach(length, length > 0 and all(part.goes_on for part in parts))
        case Sequence():
            stop = next((n for n, part in enumerate(parts, 1) if not part.goes_on), len(parts))
            return _Reach(sum(p.length for p in parts[:stop]), all(p.goes_on for p in parts))
    return _Reach(0, goes_on=True)
