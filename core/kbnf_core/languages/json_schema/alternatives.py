"""The alternatives at the top of a schema: what was found out about one is known by its contents.

They are often tools, and the next request has most of them again. Whether one is sound, how deeply
values are nested in it and whether it names schemas depends on what it says alone. So each is
spelled once; what spells alike is alike.
"""

from collections.abc import Mapping
from types import MappingProxyType

from kbnf_core.text.json_text import Json
from kbnf_core.text.remembered import Remembered

FEWEST = 2
"""Alternatives from which on they are told apart."""

ALL = 2**21
"""Characters of the alternatives that are remembered."""


class Alternative:
    """What is known of an alternative: ``text`` spells it; None is what nobody has found out yet.

    ``drafts`` are those in which it is sound; ``depth`` is that of the values in one another, and
    ``is_marked`` tells whether a schema in it is marked (``expressions.Marks``).
    """

    __slots__ = ("depth", "drafts", "is_marked", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.drafts: frozenset[int] = frozenset()
        self.depth: int | None = None
        self.is_marked: bool | None = None


Alternatives = Mapping[int, Alternative]
"""Alternatives by the identity of their values, which must stay alive."""

NONE: Alternatives = MappingProxyType({})


_KNOWN = Remembered[str, Alternative](ALL, lambda text, _: len(text))


def _alternative(text: str) -> Alternative:
    found = _KNOWN.find(text)
    if found is None:
        found = Alternative(text)
        _KNOWN.keep(text, found)
    return found


def alternatives_of(schema: Json) -> Alternatives:
    """Return the objects in the ``anyOf`` of a schema, if there are several."""
    listed = schema.get("anyOf") if isinstance(schema, dict) else None
    if not isinstance(listed, list) or len(listed) < FEWEST:
        return NONE
    objects = [each for each in listed if isinstance(each, dict)]
    try:
        texts = [repr(each) for each in objects]
    except RecursionError:
        return NONE
    return dict(zip(map(id, objects), map(_alternative, texts), strict=True))
