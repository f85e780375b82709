"""What converting a sub-schema gave, remembered by content: a known tool is not converted again.

The alternatives of ``anyOf`` are often tools, and the next request has most of them again, among
others and in another order. What a schema says of objects depends on its text, on those of the
schemas that it refers to, on the options and on the dialect; so its rules are named after a digest
of these, are the same in every grammar, and their meanings are shared, as is what they are lowered
to (``lower.parts``). Two alternatives with one content are one rule.
"""

import re
from collections import OrderedDict
from hashlib import blake2b
from threading import Lock

from kbnf_core.ir import Part
from kbnf_core.languages.json_schema.document import Document
from kbnf_core.languages.json_schema.expressions import Ref
from kbnf_core.lower.known import Lowered

LARGEST = 100_000
"""Characters of a schema that is remembered."""

ALL = 32 * 2**20
"""Bytes of all that is remembered, by an estimate."""

STEP = 150
"""Bytes of rules, with their automata, for each step that they took: the mean over maskbench."""


Key = str | tuple[str, ...]
"""What the rules of a part depend on."""


class Parts:
    """The parts of a process; the ones used least recently go first."""

    def __init__(self, most: int = ALL) -> None:
        self._most = most
        self._size = 0
        # With the size that is counted, which grows when a part is lowered.
        self._known: OrderedDict[Key, tuple[Part, int]] = OrderedDict()
        # What is likely to be lowered now.
        self._used: set[Key] = set()
        self._lock = Lock()
        self.made = 0

    def find(self, key: Key) -> Part | None:
        """Return a part that is known."""
        with self._lock:
            found = self._known.get(key)
            if found is None:
                return None
            self._known.move_to_end(key)
            if found[0].lowered is None:
                self._used.add(key)
            return found[0]

    def keep(self, key: Key, part: Part, *, is_new: bool = True) -> None:
        """Remember a part, which need not be new: one may have several keys."""
        with self._lock:
            self.made += is_new
            if key not in self._known:
                self._count(key, part)
            self._bound()

    def settle(self) -> None:
        """Count what was lowered of the parts that were kept or found since this was called."""
        with self._lock:
            for key in self._used & self._known.keys():
                self._count(key, self._known[key][0])
            self._used.clear()
            self._bound()

    def _count(self, key: Key, part: Part) -> None:
        size = _size_of(key, part)
        self._size += size - (self._known[key][1] if key in self._known else 0)
        self._known[key] = part, size
        self._used.add(key)

    def _bound(self) -> None:
        while self._size > self._most:
            _, (_, size) = self._known.popitem(last=False)
            self._size -= size

    def clear(self) -> None:
        """Forget all."""
        with self._lock:
            self._known.clear()
            self._size = 0


def _size_of(key: Key, part: Part) -> int:
    lowered = part.lowered.size if isinstance(part.lowered, Lowered) else 0
    return (len(key) if isinstance(key, str) else sum(map(len, key))) + STEP * part.work + lowered


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
