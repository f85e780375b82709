"""Automata of decimal numbers agree with exact arithmetic on the texts of numbers."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbnf_core.automata.decimals import (
    EQUAL,
    GREATER,
    LESS,
    MOST_DIGITS,
    MOST_REMAINDERS,
    compared,
    multiples,
)
from kbnf_core.text.errors import LimitError

TEXTS = st.from_regex(r"\A-?(0|[1-9][0-9]{0,4})(\.[0-9]{1,4})?\Z")
NUMBERS = st.builds(lambda whole, places: Decimal(whole).scaleb(-places),
                    st.integers(-20_000, 20_000), st.integers(-1, 4))  # fmt: skip


@given(NUMBERS, TEXTS)
def test_comparison(bound: Decimal, text: str) -> None:
    value = Decimal(text)
    expected = LESS if value < bound else GREATER if value > bound else EQUAL
    for wanted in (LESS, EQUAL, GREATER):
        assert compared(bound, wanted).accepts(text.encode()) == (wanted == expected)


@given(NUMBERS)
def test_a_number_compares_equal_with_itself(bound: Decimal) -> None:
    assert compared(bound, EQUAL).accepts(format(bound, "f").encode())


@given(st.builds(lambda n, k: Decimal(n).scaleb(-k), st.integers(1, 60), st.integers(0, 2)), TEXTS)
def test_multiples(divisor: Decimal, text: str) -> None:
    expected = (Fraction(text) / Fraction(divisor)).denominator == 1
    assert multiples(divisor).accepts(text.encode()) == expected


@pytest.mark.parametrize(
    "text", ["", "-", ".5", "1.", "01", "--1", "1.2.3", "+1", "1e5", "1-", "a"]
)
def test_what_is_no_number_is_in_no_set(text: str) -> None:
    assert not compared(Decimal(3), LESS | EQUAL | GREATER).accepts(text.encode())
    assert not multiples(Decimal("0.5")).accepts(text.encode())


def test_limits() -> None:
    with pytest.raises(LimitError):
        compared(Decimal(10) ** MOST_DIGITS, LESS)
    with pytest.raises(LimitError):
        multiples(Decimal(MOST_REMAINDERS + 1))
    with pytest.raises(LimitError):
        multiples(Decimal("1e-99999"))
