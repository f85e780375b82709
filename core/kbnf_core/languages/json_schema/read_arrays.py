"""The keywords of arrays."""

from kbnf_core.languages.json_schema.arguments import take_count, take_flag, take_list
from kbnf_core.languages.json_schema.arrays import Arrays, Contains
from kbnf_core.languages.json_schema.document import Document, Place
from kbnf_core.languages.json_schema.expressions import ANYTHING, Expression
from kbnf_core.languages.json_schema.limits import SchemaLimits


def read_items(place: Place, document: Document) -> Arrays:
    """Return what ``prefixItems``, ``items`` and ``additionalItems`` allow.

    Before draft 2020-12 an array in ``items`` was what ``prefixItems`` is, and
    ``additionalItems`` what ``items`` is.
    """
    contents = place.contents
    listed = "items" if isinstance(contents.get("items"), list) else "prefixItems"
    rest = "additionalItems" if listed == "items" else "items"
    prefix: tuple[Expression, ...] = ()
    if listed in contents:
        count = len(take_list(place, listed))
        prefix = tuple(document.inside(place, listed, str(i)) for i in range(count))
    after = document.inside(place, rest) if rest in contents else ANYTHING
    return Arrays(prefix=prefix, rest=after)


def read_size(place: Place, limits: SchemaLimits) -> Arrays:
    """Return what ``minItems`` and ``maxItems`` allow."""
    low = take_count(place, "minItems", limits)
    return Arrays(low=low or 0, high=take_count(place, "maxItems", limits))


def read_contains(place: Place, document: Document, limits: SchemaLimits) -> Arrays:
    """Return what ``contains``, ``minContains`` and ``maxContains`` allow."""
    if "contains" not in place.contents:
        return Arrays()
    low = take_count(place, "minContains", limits)
    high = take_count(place, "maxContains", limits)
    item = document.inside(place, "contains")
    return Arrays(contains=(Contains(item, 1 if low is None else low, high),))


def read_unique(place: Place) -> Arrays:
    """Return what ``uniqueItems`` allows."""
    return Arrays(unique=take_flag(place, "uniqueItems"))
