"""Shapes of single values, for ``const`` and ``enum``."""

from decimal import Decimal

from kbnf_core.languages.json_schema.arrays import Arrays
from kbnf_core.languages.json_schema.atoms import OneOf
from kbnf_core.languages.json_schema.expressions import NOTHING
from kbnf_core.languages.json_schema.normal_form import NormalForm, Plain, Type, shape_of
from kbnf_core.languages.json_schema.objects import KEYS, Objects
from kbnf_core.languages.json_schema.value_sets import Kind, Restricted
from kbnf_core.languages.json_schema.values import Constant, constant


def constant_shape(constant_: Constant) -> NormalForm:
    """Return the shape that holds just this value."""
    value = constant_.value
    match value:
        case None:
            return shape_of(Type.NULL, Plain((None,), (None,)))
        case bool():
            return shape_of(Type.BOOLEAN, Plain((value,), (True, False)))
        case Decimal():
            return shape_of(Type.NUMBER, Restricted(Kind.NUMBER, ((OneOf((value,)), True),)))
        case str():
            return shape_of(Type.STRING, Restricted(Kind.STRING, ((OneOf((value,)), True),)))
        case list():
            items = tuple(map(constant, value))
            return shape_of(Type.ARRAY, Arrays(items, NOTHING, len(items), len(items)))
        case _:
            named = tuple((name, constant(item)) for name, item in value.items())
            found = Objects(named, ((KEYS, NOTHING),), tuple(value))
            return shape_of(Type.OBJECT, found)
