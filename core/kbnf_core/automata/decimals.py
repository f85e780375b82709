r"""Sets of decimal numbers as automata over their texts, as JSON writes them without an exponent.

A text is ``-?(0|[1-9][0-9]*)(\.[0-9]+)?``. All texts of a number are treated alike (``1``,
``1.0``, ``1.00``; ``0``, ``-0``), so complement and intersection mean what they mean for numbers.
"""

from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache

from kbnf_core.automata.dfa import Dfa, SymbolDfa, class_count, separate
from kbnf_core.automata.explore import explore
from kbnf_core.automata.nfa import from_symbols
from kbnf_core.text.errors import LimitError

LESS, EQUAL, GREATER = 1, 2, 4
"""How a number compares with a bound; add them up."""

MOST_DIGITS = 400
"""Digits of a bound: as many as a double needs."""

MOST_REMAINDERS = 10_000
"""The limit on distinct remainders of a divisor."""

_BYTES = b"-.0123456789"


@lru_cache(maxsize=512)
def compared(bound: Decimal, wanted: int) -> Dfa:
    """Return the numbers that compare with ``bound`` as ``wanted`` says, of LESS, EQUAL, GREATER.

    Raises LimitError for a bound with more than MOST_DIGITS digits.
    """
    comparison = _Comparison(bound)
    return _automaton(comparison.step, lambda state: bool(comparison.result(state) & wanted))


@lru_cache(maxsize=512)
def multiples(divisor: Decimal) -> Dfa:
    """Return the multiples of a positive number; of 1, the integers.

    Raises LimitError where more than MOST_REMAINDERS remainders must be told apart.
    """
    whole, places = _split(divisor)
    if whole * (places + 1) > MOST_REMAINDERS:
        raise LimitError("remainders", MOST_REMAINDERS)
    division = _Division(whole, places)
    return _automaton(division.step, division.accepts)


_Place = tuple[str, int, int]
"""Where in a number a text is, how many digits were read there, and what is known of them."""


def _next_part(part: str, char: str) -> str | None:
    """Return the part of a number that a character leads to: its grammar as an automaton."""
    if char == "-":
        return "minus" if part == "start" else None
    if char == ".":
        return "point" if part in {"zero", "whole"} else None
    if part in {"start", "minus"}:
        return "zero" if char == "0" else "whole"
    if part in {"point", "fraction"}:
        return "fraction"
    return "whole" if part == "whole" else None


class _Comparison:
    """Compares a text with a bound while it is read.

    The state has the sign in the name of its part; digits are counted as far as the bound has
    some, and the third element compares what was read with as many digits of the bound.
    """

    def __init__(self, bound: Decimal) -> None:
        digits = format(abs(bound), "f")
        whole, _, fraction = digits.partition(".")
        self._whole, self._fraction = whole.lstrip("0") or "0", fraction.rstrip("0")
        self._sign = (bound > 0) - (bound < 0)
        if len(self._whole) + len(self._fraction) > MOST_DIGITS:
            raise LimitError("digits of a bound", MOST_DIGITS)

    def step(self, state: _Place, char: str) -> _Place | None:
        name, count, known = state
        sign, part = ("-", name[1:]) if name.startswith("-") else ("", name)
        after = _next_part(part, char)
        if after is None:
            return None
        if after == "minus":
            return ("-minus", 0, 0)
        if after == "point":
            return (sign + after, 0, _order(count - len(self._whole)) or known)
        if after == "fraction":
            return self._read_fraction(sign, count, known, char)
        if count < len(self._whole):
            known = known or _order(int(char) - int(self._whole[count]))
        return (sign + after, min(count + 1, len(self._whole) + 1), known)

    def _read_fraction(self, sign: str, count: int, known: int, char: str) -> _Place:
        if known:
            return (sign + "fraction", 0, known)
        digit = int(self._fraction[count]) if count < len(self._fraction) else 0
        known = _order(int(char) - digit)
        return (sign + "fraction", 0 if known else min(count + 1, len(self._fraction)), known)

    def result(self, state: _Place) -> int:
        """Return how the text so far compares, 0 where it is no number."""
        name, count, known = state
        part = name.removeprefix("-")
        if part in {"start", "minus", "point"}:
            return 0
        if part == "fraction":
            size = known or -(count < len(self._fraction))
        else:
            size = _order(count - len(self._whole)) or known or -bool(self._fraction)
        return {-1: LESS, 0: EQUAL, 1: GREATER}[self._signed(name.startswith("-"), size)]

    def _signed(self, negative: bool, size: int) -> int:
        """Return the comparison of a signed number from that of the sizes."""
        if negative:
            return -1 if self._sign > 0 else -size
        return 1 if self._sign < 0 else size


def _order(difference: int) -> int:
    return (difference > 0) - (difference < 0)


def _split(divisor: Decimal) -> tuple[int, int]:
    """Return ``(whole, places)`` with ``divisor == whole / 10**places``."""
    if divisor > MOST_REMAINDERS or divisor.adjusted() < -MOST_REMAINDERS:
        raise LimitError("remainders", MOST_REMAINDERS)
    _, _, fraction = format(divisor.normalize(), "f").partition(".")
    return int(divisor.scaleb(len(fraction))), len(fraction)


class _Division:
    """Divides a text by ``whole / 10**places`` while it is read; keeps the remainder."""

    def __init__(self, whole: int, places: int) -> None:
        self._whole, self._places = whole, places

    def step(self, state: _Place, char: str) -> _Place | None:
        part, count, remainder = state
        after = _next_part(part, char)
        if after is None or char in "-.":
            return None if after is None else (after, 0, remainder)
        if after != "fraction":
            return (after, 0, (remainder * 10 + int(char)) % self._whole)
        if count == self._places:
            return None if char != "0" else (after, count, remainder)
        return (after, count + 1, (remainder * 10 + int(char)) % self._whole)

    def accepts(self, state: _Place) -> bool:
        part, count, remainder = state
        missing = self._places - count
        return part in {"zero", "whole", "fraction"} and (
            remainder * 10**missing % self._whole == 0
        )


def _automaton(
    step: Callable[[_Place, str], _Place | None], accepts: Callable[[_Place], bool]
) -> Dfa:
    """Return the automaton of the places that are met from the start of a number."""
    classes = separate(_BYTES)
    chars: list[str | None] = [None] * class_count(classes)
    for byte in _BYTES:
        chars[classes[byte]] = chr(byte)
    places, rows = explore(
        [("start", 0, 0)], lambda place: [step(place, char) if char else None for char in chars]
    )
    tags = [int(accepts(place)) for place in places]
    return from_symbols(SymbolDfa(rows, tags, [0]), classes)
