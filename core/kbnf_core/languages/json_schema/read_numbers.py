"""``minimum``, ``maximum``, their exclusive forms, and ``multipleOf``."""

from collections.abc import Iterator
from decimal import Decimal

from kbnf_core.automata.decimals import (
    EQUAL,
    GREATER,
    LESS,
    MOST_DIGITS,
    MOST_REMAINDERS,
    multiples,
)
from kbnf_core.automata.errors import LimitError
from kbnf_core.languages.json_schema.arguments import pointer_to, take_number
from kbnf_core.languages.json_schema.atoms import Compared, Literal, Multiple
from kbnf_core.languages.json_schema.document import Place
from kbnf_core.languages.json_schema.problems import invalid, unsupported

_BOUNDS = (
    ("minimum", "exclusiveMinimum", GREATER),
    ("maximum", "exclusiveMaximum", LESS),
)


def read_bounds(place: Place) -> Iterator[Literal]:
    """Yield the restrictions of the bounds; draft 4 has flags that make them exclusive."""
    for inclusive, exclusive, side in _BOUNDS:
        flag = place.contents.get(exclusive)
        strict = isinstance(flag, bool)
        bound = take_number(place, inclusive)
        if bound is not None:
            _check_digits(bound, pointer_to(place, inclusive))
            yield Compared(bound, side if strict and flag else side | EQUAL), True
        bound = None if strict else take_number(place, exclusive)
        if bound is not None:
            _check_digits(bound, pointer_to(place, exclusive))
            yield Compared(bound, side), True


def _check_digits(bound: Decimal, pointer: str) -> None:
    exponent = bound.as_tuple().exponent
    size = bound.adjusted() if bound else 0
    if isinstance(exponent, int) and max(size, 0) - min(exponent, 0) >= MOST_DIGITS:
        raise unsupported(f"a bound of more than {MOST_DIGITS} digits", pointer)


def read_multiple(place: Place) -> Iterator[Literal]:
    """Yield the restriction of ``multipleOf``."""
    divisor = take_number(place, "multipleOf")
    pointer = pointer_to(place, "multipleOf")
    if divisor is None:
        return
    if divisor <= 0:
        raise invalid("`multipleOf` is greater than 0", pointer)
    try:
        multiples(divisor)
    except LimitError:
        message = f"more than {MOST_REMAINDERS:,} remainders to tell apart"
        raise unsupported(message, pointer) from None
    yield Multiple(divisor), True
