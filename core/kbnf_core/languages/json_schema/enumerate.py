"""Lists the values of an expression, where they are few."""

from collections.abc import Hashable, Iterable
from decimal import ROUND_FLOOR, Decimal
from typing import TYPE_CHECKING

from kbnf_core.automata.decimals import GREATER, LESS
from kbnf_core.languages.json_schema.atoms import INTEGER, Compared
from kbnf_core.languages.json_schema.expressions import ANYTHING, AllOf, AnyOf, Expression
from kbnf_core.languages.json_schema.normal_form import Part, Plain
from kbnf_core.languages.json_schema.value_sets import Restricted
from kbnf_core.languages.json_schema.values import Constant, constant

if TYPE_CHECKING:
    from kbnf_core.languages.json_schema.schemas import Schemas

MOST_INTEGERS = 100
"""Integers between two bounds that are listed one by one."""


def list_values(
    schemas: "Schemas", expressions: Iterable[Expression]
) -> tuple[Constant, ...] | None:
    """Return every value that some expression allows, each once; None if they are not listed."""
    found: dict[Hashable, Constant] = {}
    for expression in expressions:
        if expression == ANYTHING or (isinstance(expression, AllOf) and not expression.parts):
            return None
        if isinstance(expression, Constant):
            found[expression.key] = expression
            continue
        if isinstance(expression, AnyOf):
            inner = list_values(schemas, expression.parts)
            if inner is None:
                return None
            found.update((each.key, each) for each in inner)
            continue
        for parts in schemas.shape(expression).values():
            for part in parts:
                values = _values(part)
                if values is None:
                    return None
                listed = map(constant, values)
                found.update((each.key, each) for each in listed)
    return tuple(found.values())


def _values(part: Part) -> tuple[object, ...] | None:
    if isinstance(part, Plain):
        return part.values
    if not isinstance(part, Restricted):
        return None
    return part.finite if part.finite is not None else _integers(part)


def _integers(part: Restricted) -> tuple[object, ...] | None:
    """Return the integers between two bounds, where they are few."""
    wanted = [atom for atom, positive in part.literals if positive]
    bounds = [atom for atom in wanted if isinstance(atom, Compared)]
    lows = [atom.bound for atom in bounds if atom.wanted & GREATER]
    highs = [atom.bound for atom in bounds if atom.wanted & LESS]
    if INTEGER not in wanted or not lows or not highs or min(highs) - max(lows) > MOST_INTEGERS:
        return None
    first = int(max(lows).to_integral_value(ROUND_FLOOR))
    near = map(Decimal, range(first, first + MOST_INTEGERS + 2))
    return tuple(value for value in near if part.holds(value))
