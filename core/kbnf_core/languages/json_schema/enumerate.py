"""Lists the values of an expression, where they are few."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from kbnf_core.languages.json_schema.expressions import ANYTHING, AllOf, AnyOf, Expression
from kbnf_core.languages.json_schema.normal_form import Part, Plain
from kbnf_core.languages.json_schema.value_sets import Restricted
from kbnf_core.languages.json_schema.values import Constant, constant

if TYPE_CHECKING:
    from kbnf_core.languages.json_schema.schemas import Schemas


def list_values(
    schemas: "Schemas", expressions: Iterable[Expression]
) -> tuple[Constant, ...] | None:
    """Return every value that some expression allows, each once; None if they are not listed."""
    found: dict[Constant, None] = {}
    for expression in expressions:
        if expression == ANYTHING or (isinstance(expression, AllOf) and not expression.parts):
            return None
        if isinstance(expression, Constant):
            found[expression] = None
            continue
        if isinstance(expression, AnyOf):
            inner = list_values(schemas, expression.parts)
            if inner is None:
                return None
            found.update(dict.fromkeys(inner))
            continue
        for parts in schemas.shape(expression).values():
            for part in parts:
                values = _values(part)
                if values is None:
                    return None
                found.update((constant(value), None) for value in values)
    return tuple(found)


def _values(part: Part) -> tuple[object, ...] | None:
    if isinstance(part, Plain):
        return part.values
    return part.finite if isinstance(part, Restricted) else None
