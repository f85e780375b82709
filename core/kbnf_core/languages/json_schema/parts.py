"""What converting a sub-schema gave, remembered by content: a known tool is not converted again.

The alternatives of ``anyOf`` are often tools, and the next request has most of them again, among
others and in another order. What a schema says of objects depends on its text, on those of the
schemas that it refers to, on the options and on the dialect; so its rules are named after a digest
of these, are the same in every grammar, and their meanings are shared. Two alternatives with one
content are one rule.
"""

import re
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from threading import Lock

from kbnf_core import ir
from kbnf_core.languages.json_schema.document import Document
from kbnf_core.languages.json_schema.expressions import Ref

LARGEST = 100_000
"""Characters of a schema that is remembered."""

ALL = 32 * 2**20
"""Bytes of all that is remembered, by an estimate."""

STEP = 150
"""Bytes of rules, with their automata, for each step that they took: the mean over maskbench."""


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """The meaning of the rules of a sub-schema, the one called ``start`` first.

    ``shared`` are the rules of the prelude that they call, ``work`` the steps they took.
    """

    start: str
    bodies: Mapping[str, ir.Node]
    shared: tuple[str, ...]
    work: int


class Parts:
    """The parts of a process; the ones used least recently go first."""

    def __init__(self, most: int = ALL) -> None:
        self._most = most
        self._size = 0
        self._known: OrderedDict[str, Known] = OrderedDict()
        self._lock = Lock()
        self.made = 0

    def find(self, key: str) -> Known | None:
        """Return a part that is known."""
        with self._lock:
            part = self._known.get(key)
            if part is not None:
                self._known.move_to_end(key)
            return part

    def keep(self, key: str, part: Known, *, is_new: bool = True) -> None:
        """Remember a part, which need not be new: one may have several keys."""
        with self._lock:
            self.made += is_new
            if key not in self._known:
                self._size += _size_of(key, part)
                self._known[key] = part
            while self._size > self._most:
                self._size -= _size_of(*self._known.popitem(last=False))

    def clear(self) -> None:
        """Forget all."""
        with self._lock:
            self._known.clear()
            self._size = 0


def _size_of(key: str, part: Known) -> int:
    return len(key) + STEP * part.work


PARTS = Parts()


_REFERENCE = re.compile(r"""'\$ref': (?:'([^'\\]*)'|[^{])""")


def key_of(at: Ref, document: Document, settings: str) -> str | None:
    """Return what the rules of a schema depend on; None where that is more than texts.

    None, too, where a schema is less than what it refers to: others of the document may refer to
    that as well, and would write it again. ``settings`` are what else the conversion depends on.
    """
    if at.scope or not document.has_plain_references:
        return None
    if at.pointer.endswith(("/$defs", "/definitions")):
        # What is below it would pass for definitions.
        return None
    settings = f"{settings} {at.closing.value}"
    contents = document.place(at).contents
    if contents.get("type") != "object" or "properties" not in contents:
        return None
    pending = [repr(contents)]
    texts = {"": pending[0]}
    size = 0
    for text in pending:
        size += len(text)
        if size > min(LARGEST, 2 * len(pending[0])):
            return None
        for found in _REFERENCE.finditer(text):
            target = found[1]
            if target in texts:
                continue
            there = None if target is None else document.at(target)
            if there is None:
                return None
            texts[target] = repr(there[1])
            pending.append(texts[target])
    return "\n".join([settings, *(f"{where} {text}" for where, text in texts.items())])


def prefix_of(key: str) -> str:
    """Return what the names of a part's rules begin with."""
    return f"part_{blake2b(key.encode(errors='surrogatepass'), digest_size=16).hexdigest()}_"
