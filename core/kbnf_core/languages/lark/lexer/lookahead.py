"""Lookahead sets: regular languages of the texts that may follow a lexeme.

A lexer's lookahead is a condition on all the text that follows, often on one byte, at times on
more; a regular language says it exactly. Equal sets are equal values, so that they can be states of
the lexer between two lexemes, with which the rules are multiplied.

Sets of bytes are the bits of one number; bit 256 stands for the end of the text.

Tests: tests/unit/languages/lark
"""

from array import array
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from kbnf_core.automata import operations
from kbnf_core.automata.beginnings import first_bytes
from kbnf_core.automata.dfa import DEAD, ByteClasses, Dfa, SymbolDfa, join
from kbnf_core.automata.dfa import first_bytes as representatives
from kbnf_core.automata.explore import Product, explore
from kbnf_core.automata.nfa import ending_in, from_symbols

END = 1 << 256
ALL_BYTES = END - 1


_REMEMBERED = 8192
"""Sets of a kind that are kept; without them Lark grammars are read in 1.5 to 3 times the time."""

MOST_STATES = 5_000
"""States of one automaton that is followed thread by thread."""


class Lookahead(tuple[bytes, bytes, bytes]):
    """A set of texts: its canonical automaton as bytes, the same for the same set.

    A tuple, as ``State``, because states are hashed and compared more often than anything else, and
    tuples do it without a call.
    """

    dfa: Dfa

    @classmethod
    def of(cls, dfa: Dfa) -> "Lookahead":
        """Return the words of a minimal automaton whose classes and states are in their order."""
        table = array("i", chain.from_iterable(dfa.rows)).tobytes()
        result = cls((dfa.classes, table, bytes(dfa.accepting)))
        result.dfa = dfa
        return result

    @property
    def allows_end(self) -> bool:
        """Whether the text may end here."""
        return self.dfa.is_nullable


def rest_of(dfa: Dfa) -> Lookahead:
    """Return the words of ``dfa`` as a value."""
    if dfa.is_empty:
        return NOTHING
    # Classes are numbered by their first byte, and states in breadth-first order, so equal
    # languages have equal tables and are equal values.
    return numbered(SymbolDfa(dfa.rows, [*map(int, dfa.accepting)], [0]), dfa.classes)


def numbered(automaton: SymbolDfa, classes: ByteClasses) -> Lookahead:
    """Return the words of an automaton over classes that ``join`` has numbered."""
    return Lookahead.of(from_symbols(automaton, classes))


@lru_cache(maxsize=_REMEMBERED)
def outside(mask: int) -> Lookahead:
    """Return the texts that start with no byte of ``mask``; they are not empty if END is in it."""
    digits = f"{mask & ALL_BYTES:0256b}"[::-1]
    classes = join([bytes(map(int, digits))])
    barred = [bool(mask >> byte & 1) for byte in representatives(classes)]
    first = [DEAD if bar else 1 for bar in barred]
    return numbered(SymbolDfa([first, [1] * len(barred)], [int(not mask & END), 1], [0]), classes)


def beginning_with(data: bytes) -> Lookahead:
    """Return the texts that begin with ``data``."""
    dfa = operations.literal(data)
    rows = [*dfa.rows[:-1], [len(data)] * len(dfa.rows[-1])]
    return numbered(SymbolDfa(rows, [*map(int, dfa.accepting)], [0]), dfa.classes)


ANYTHING = outside(0)
NOTHING = outside(ALL_BYTES | END)


@lru_cache(maxsize=_REMEMBERED)
def both(left: Lookahead, right: Lookahead) -> Lookahead:
    """Return the texts in both sets."""
    if left in (ANYTHING, right) or right == NOTHING:
        return right
    if right == ANYTHING or left == NOTHING:
        return left
    return rest_of(operations.intersect(left.dfa, right.dfa))


@lru_cache(maxsize=_REMEMBERED)
def either(left: Lookahead, right: Lookahead) -> Lookahead:
    """Return the texts in any of the two sets."""
    if left in (NOTHING, right) or right == ANYTHING:
        return right
    if right == NOTHING or left == ANYTHING:
        return left
    return rest_of(operations.union(left.dfa, right.dfa))


@lru_cache(maxsize=_REMEMBERED)
def others(rest: Lookahead) -> Lookahead:
    """Return all texts but these."""
    return rest_of(operations.complement(rest.dfa))


def relaxed(rest: Lookahead, following: int) -> Lookahead:
    """Return ``rest`` and all texts that cannot follow, as only the bytes ``following`` can.

    Sets that make no difference there become equal; but where nothing may follow, no token may
    either, which has no bytes.
    """
    if rest == NOTHING:
        return NOTHING
    return either(rest, outside(following)) if touched(rest) & following else ANYTHING


@lru_cache(maxsize=_REMEMBERED)
def touched(rest: Lookahead) -> int:
    """Return the first bytes that make a difference; END where the text may not end."""
    mask = 0 if rest.allows_end else END
    if rest.dfa.is_empty:
        return ALL_BYTES | END
    free = [after(rest, state) == ANYTHING for state in range(rest.dfa.state_count)]
    row = rest.dfa.rows[0]
    for byte, symbol in enumerate(rest.dfa.classes):
        if row[symbol] == DEAD or not free[row[symbol]]:
            mask |= 1 << byte
    return mask


@lru_cache(maxsize=_REMEMBERED)
def refused(rest: Lookahead) -> int:
    """Return the bytes that may not come first; END where the text may not end."""
    return (ALL_BYTES & ~first_bytes(rest.dfa)) | (0 if rest.allows_end else END)


@lru_cache(maxsize=_REMEMBERED)
def after(rest: Lookahead, state: int) -> Lookahead:
    """Return the look-ahead that is left where the automaton of ``rest`` is in ``state``."""
    dfa = rest.dfa
    return numbered(SymbolDfa(dfa.rows, [*map(int, dfa.accepting)], [state]), dfa.classes)


def after_byte(rest: Lookahead, byte: int) -> Lookahead:
    """Return the look-ahead that is left of ``rest`` after ``byte``."""
    if rest.dfa.is_empty:
        return NOTHING
    state = rest.dfa.rows[0][rest.dfa.classes[byte]]
    return NOTHING if state == DEAD else after(rest, state)


def cut(dfa: Dfa, rest: Lookahead) -> list[tuple[Lookahead, Dfa]]:
    """Return the words of ``dfa`` that agree with ``rest``, by the look-ahead after them."""
    if dfa.is_empty or not first_bytes(dfa) & touched(rest):
        return [(ANYTHING, dfa)]
    if rest.dfa.is_empty:
        return []
    product = Product(dfa, rest.dfa)
    pairs, rows = explore([product.start], product.while_all)
    ends: dict[Lookahead, list[int]] = {}
    for number, (i, j) in enumerate(pairs):
        if dfa.accepting[i]:
            ends.setdefault(after(rest, j), []).append(number)
    by_rest = {left: ending_in(numbers, rows, product.classes) for left, numbers in ends.items()}
    classes_of = [*by_rest.items()]
    if len(classes_of) == 1 and operations.is_equal(classes_of[0][1], dfa):
        return [(classes_of[0][0], dfa)]
    return classes_of


def union(dfas: list[Dfa]) -> Dfa:
    """Return the words of any; one automaton alone stays what it is."""
    return dfas[0] if len(dfas) == 1 else operations.union(*dfas)


class State(NamedTuple):
    """The look-ahead between two lexemes.

    ``is_start``: no lexeme has come yet, and no ignored text may. ``is_skipped``: ignored text
    has come, so that no embedded grammar may, as none may follow ignored text. ``hidden`` is the
    text of a ``stop`` that is matched again as the beginning of the next lexeme.
    """

    rest: Lookahead = ANYTHING
    is_start: bool = False
    is_skipped: bool = False
    hidden: bytes = b""

    @property
    def order(self) -> tuple[int, tuple[bytes, bytes, bytes], bool, bool, bytes]:
        """A key to sort by, the simplest first."""
        return len(self.rest[1]), self.rest, self.is_start, self.is_skipped, self.hidden


def in_order(states: frozenset[State]) -> list[State]:
    """Return ``states`` in a deterministic order."""
    return sorted(states, key=lambda state: state.order)
