r"""Sets of decimal numbers as automata over their texts, as JSON writes them without an exponent.

A text is ``-?(0|[1-9][0-9]*)(\.[0-9]+)?``. All texts of a number are treated alike (``1``,
``1.0``, ``1.00``; ``0``, ``-0``), so complement and intersection mean what they mean for numbers.

Tests: tests/property/test_automata_decimals.py
"""

from collections.abc import Callable
from decimal import Decimal

from kbnf_core.automata.dfa import Dfa, SymbolDfa, separate
from kbnf_core.automata.explore import explore
from kbnf_core.automata.nfa import from_symbols
from kbnf_core.text.errors import LimitError

LESS, EQUAL, GREATER = 1, 2, 4
"""How a number compares with a bound; add them up."""

MOST_DIGITS = 400
"""Digits of a bound: as many as a double needs."""

MOST_REMAINDERS = 10_000
"""The limit on distinct remainders of a divisor."""

_CLASSES = separate(b"-.0123456789")
"""Numbered in the order of the bytes, any other byte first."""


def compared(bound: Decimal, wanted: int) -> Dfa:
    """Return the numbers that compare with ``bound`` as ``wanted`` says, of LESS, EQUAL, GREATER.

    A process keeps 512 of these and as many of ``multiples``, for those of 0 and 1 come again: 6 %
    of the time of schemas with bounded integers.

    Raises LimitError for a bound with more than MOST_DIGITS digits.
    """
    comparison = _Comparison(bound)
    return _automaton(comparison.step, comparison.result, wanted)


def multiples(divisor: Decimal) -> Dfa:
    """Return the multiples of a positive number; of 1, the integers.

    Raises LimitError where more than MOST_REMAINDERS remainders must be told apart.
    """
    whole, decimals = _split(divisor)
    if whole * (decimals + 1) > MOST_REMAINDERS:
        raise LimitError("remainders", MOST_REMAINDERS)
    division = _Division(whole, decimals)
    return _automaton(division.step, division.result, EQUAL)


_NumberState = tuple[str, int, int]
"""The part of a number that a text is in, the digits read there, and their comparison."""

_Row = list[_NumberState | None]
"""Where the symbols lead: any other byte, the minus, the point, the ten digits."""

_NO_DIGITS = [None] * 10
_ORDERS = [[(other > digit) - (other < digit) for other in range(10)] for digit in range(10)]
"""How the ten digits compare with each digit."""


class _Comparison:
    """Compares a text with a bound while it is read.

    The state has the sign in the name of its part; digits are counted as far as the bound has some,
    and the third element compares the digits read with as many digits of the bound.
    """

    def __init__(self, bound: Decimal) -> None:
        digits = format(abs(bound), "f")
        whole, _, fraction = digits.partition(".")
        self._whole, self._fraction = whole.lstrip("0") or "0", fraction.rstrip("0")
        self._sign = (bound > 0) - (bound < 0)
        if len(self._whole) + len(self._fraction) > MOST_DIGITS:
            raise LimitError("digits of a bound", MOST_DIGITS)

    def step(self, state: _NumberState) -> _Row:
        """Return where the symbols lead."""
        name, count, order = state
        sign, section = ("-", name[1:]) if name.startswith("-") else ("", name)
        digits = self._fraction if section in {"point", "fraction"} else self._whole
        digit = int(digits[count]) if count < len(digits) else 0
        if section in {"point", "fraction"}:
            orders = [order] * 10 if order else _ORDERS[digit]
            count = min(count + 1, len(digits))
            after = [(f"{sign}fraction", 0 if order else count, order) for order in orders]
            return [None, None, None, *after]
        size = (count > len(digits)) - (count < len(digits)) or order
        point = (f"{sign}point", 0, size)
        if section == "zero":
            return [None, None, point, *_NO_DIGITS]
        orders = [order] * 10 if order or count >= len(digits) else _ORDERS[digit]
        count = min(count + 1, len(digits) + 1)
        after = [(f"{sign}whole", count, order) for order in orders]
        if section == "whole":
            return [None, None, point, *after]
        after[0] = (f"{sign}zero", count, orders[0])
        return [None, ("-minus", 0, 0) if section == "start" else None, None, *after]

    def result(self, state: _NumberState) -> int:
        """Return how the text so far compares, 0 where it is not a number."""
        name, count, order = state
        section = name.removeprefix("-")
        if section in {"start", "minus", "point"}:
            return 0
        if section == "fraction":
            size = order or -(count < len(self._fraction))
        else:
            whole = len(self._whole)
            size = (count > whole) - (count < whole) or order or -bool(self._fraction)
        # Of numbers with other signs than the bound the sizes do not matter.
        if name.startswith("-"):
            size = -1 if self._sign > 0 else -size
        elif self._sign < 0:
            size = 1
        return LESS if size < 0 else GREATER if size else EQUAL


def _split(divisor: Decimal) -> tuple[int, int]:
    """Return ``(whole, places)`` with ``divisor == whole / 10**places``."""
    if divisor > MOST_REMAINDERS or divisor.adjusted() < -MOST_REMAINDERS:
        raise LimitError("remainders", MOST_REMAINDERS)
    _, _, fraction = format(divisor.normalize(), "f").partition(".")
    return int(divisor.scaleb(len(fraction))), len(fraction)


class _Division:
    """Divides a text by ``whole / 10**places`` while it is read; keeps the remainder."""

    def __init__(self, whole: int, decimals: int) -> None:
        self._whole, self._decimals = whole, decimals

    def step(self, state: _NumberState) -> _Row:
        """Return where the symbols lead."""
        section, count, remainder = state
        after = [(remainder * 10 + digit) % self._whole for digit in range(10)]
        if section in {"point", "fraction"}:
            if count == self._decimals:
                return [None, None, None, ("fraction", count, remainder), *_NO_DIGITS[1:]]
            return [None, None, None, *[("fraction", count + 1, left) for left in after]]
        point = ("point", 0, remainder)
        if section == "zero":
            return [None, None, point, *_NO_DIGITS]
        whole: _Row = [("whole", 0, left) for left in after]
        if section == "whole":
            return [None, None, point, *whole]
        whole[0] = ("zero", 0, after[0])
        return [None, ("minus", 0, 0) if section == "start" else None, None, *whole]

    def result(self, state: _NumberState) -> int:
        """Return EQUAL for a multiple, 0 for any other text."""
        section, count, remainder = state
        is_number = section in {"zero", "whole", "fraction"}
        return (
            EQUAL
            if is_number and not remainder * 10 ** (self._decimals - count) % self._whole
            else 0
        )


def _automaton(
    step: Callable[[_NumberState], _Row], result: Callable[[_NumberState], int], wanted: int
) -> Dfa:
    """Return the automaton of the numbers that have a result that is ``wanted``."""
    states, rows = explore([("start", 0, 0)], step)
    tags = [int(result(state) & wanted > 0) for state in states]
    return from_symbols(SymbolDfa(rows, tags, [0]), _CLASSES)
