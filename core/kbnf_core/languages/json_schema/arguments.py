"""Validated access to the values of keywords."""

from decimal import Decimal

from kbnf_core.languages.json_schema.document import Place, escape
from kbnf_core.languages.json_schema.options import SchemaLimits
from kbnf_core.languages.json_schema.problems import invalid, too_large
from kbnf_core.text.json_text import Json


def pointer_to(place: Place, *steps: str) -> str:
    """Return the JSON Pointer of something in a schema."""
    return "/".join((place.pointer, *map(escape, steps)))


def take_count(place: Place, keyword: str, limits: SchemaLimits) -> int | None:
    """Return a count of items or members; None where the keyword is missing."""
    return _count(place, keyword, limits.bound, "bound")


def take_length(place: Place, keyword: str, limits: SchemaLimits) -> int | None:
    """Return a count of characters; None where the keyword is missing."""
    return _count(place, keyword, limits.length, "length")


def _count(place: Place, keyword: str, most: int, name: str) -> int | None:
    """Return a count that is not negative; ``name`` is the limit that it must not pass."""
    if keyword not in place.contents:
        return None
    value = _number(place.contents[keyword])
    if value is None or value < 0 or value != value.to_integral_value():
        raise invalid(f"`{keyword}` is a whole number, 0 or more", pointer_to(place, keyword))
    if value > most:
        raise too_large(f"as `{keyword}`", most, name, pointer_to(place, keyword))
    return int(value)


def take_number(place: Place, keyword: str) -> Decimal | None:
    """Return a number; None where the keyword is missing."""
    if keyword not in place.contents:
        return None
    value = _number(place.contents[keyword])
    if value is None:
        raise invalid(f"`{keyword}` is a number", pointer_to(place, keyword))
    return value


def _number(value: Json) -> Decimal | None:
    """Return a number of the document, or of a meta-schema, which has Python's own."""
    if isinstance(value, bool) or not isinstance(value, Decimal | int | float):
        return None
    return Decimal(str(value))


def take_object(place: Place, keyword: str) -> dict[str, Json]:
    """Return an object; an empty one where the keyword is missing."""
    value = place.contents.get(keyword, {})
    if not isinstance(value, dict):
        raise invalid(f"`{keyword}` is an object", pointer_to(place, keyword))
    return value


def take_list(place: Place, keyword: str) -> list[Json]:
    """Return an array that is not empty."""
    value = place.contents[keyword]
    if not isinstance(value, list):
        raise invalid(f"`{keyword}` is an array", pointer_to(place, keyword))
    return value


def take_names(value: Json, pointer: str) -> tuple[str, ...]:
    """Return an array of strings, each once."""
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise invalid("an array of strings belongs here", pointer)
    return tuple(dict.fromkeys(value))


def take_flag(place: Place, keyword: str) -> bool:
    """Return true or false; false where the keyword is missing."""
    value = place.contents.get(keyword, False)
    if not isinstance(value, bool):
        raise invalid(f"`{keyword}` is true or false", pointer_to(place, keyword))
    return value
