"""The alternatives at the top of a schema: what was found out about one is known by its contents.

They are often tools, and the next request has most of them again. Whether one is sound, how deeply
values are nested in it and whether it names schemas depends on what it says alone. So each is
spelled once; what spells alike is alike.
"""

from collections import OrderedDict
from collections.abc import Mapping
from threading import Lock
from types import MappingProxyType

from kbnf_core.text.json_text import Json

FEWEST = 2
"""Alternatives from which on they are told apart."""

ALL = 2**23
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


class _Memory:
    """The alternatives of a process; the ones used least recently go first."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, Alternative] = OrderedDict()
        self._size = 0
        self._lock = Lock()

    def find(self, texts: list[str]) -> list[Alternative]:
        """Return what is known of the alternatives with these texts."""
        found = []
        with self._lock:
            for text in texts:
                known = self._known.get(text)
                if known is None:
                    known = self._known[text] = Alternative(text)
                    self._size += len(text)
                else:
                    self._known.move_to_end(text)
                found.append(known)
            while self._size > ALL:
                self._size -= len(self._known.popitem(last=False)[0])
        return found


_MEMORY = _Memory()


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
    return dict(zip(map(id, objects), _MEMORY.find(texts), strict=True))
