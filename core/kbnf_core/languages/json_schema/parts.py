"""What converting a sub-schema gave, remembered by content: a known tool is not converted again.

The alternatives of ``anyOf`` are often tools, and the next request has most of them again, among
others and in another order. What a schema says of objects depends on its text, on those of the
schemas that it refers to, on the options and on the dialect; so its rules are named after a digest
of these, are the same in every grammar, and their meanings are shared. Two alternatives with one
content are one rule.
"""

import re
from hashlib import blake2b

from kbnf_core.ir import Part, Regular
from kbnf_core.languages.json_schema.document import Document
from kbnf_core.languages.json_schema.expressions import Ref
from kbnf_core.text.remembered import Remembered

LARGEST = 100_000
"""Characters of a schema that is remembered."""

ALL, MOST = 12 * 2**20, 2**20
"""Bytes of all that is remembered, by an estimate, and of one part."""

RULE, SHARED = 3_000, 100
"""Bytes of a rule beside its automaton, a mean; and of one that others have, too."""

Key = str | tuple[str, ...]
"""What the rules of a part depend on."""


class Parts(Remembered[Key, Part]):
    """The parts of a process; ``made`` counts them."""

    def __init__(self, most: int = ALL) -> None:
        super().__init__(most, _size_of, MOST)
        self.made = 0

    def keep(self, key: Key, value: Part, *, is_new: bool = True) -> None:
        """Remember a part, which need not be new: one may have several keys."""
        self.made += is_new
        super().keep(key, value)


def _size_of(key: Key, part: Part) -> int:
    if isinstance(key, tuple):
        # What has all of a text's rules shares them with the parts that they are.
        return sum(map(len, key)) + SHARED * len(part.bodies)
    automata = sum(body.dfa.size for body in part.bodies.values() if type(body) is Regular)
    return len(key) + RULE * len(part.bodies) + automata


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
