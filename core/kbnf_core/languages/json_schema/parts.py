"""What converting a sub-schema gave, remembered by content: a known tool is not converted again.

The alternatives of ``anyOf`` are often tools, and the next request has most of them again, among
others and in another order. The rules of a simple schema (``simple_schemas``) depend on its text,
the options and the dialect; so they are named after a digest of these, are the same in every
grammar, and their meanings are shared.

``PARTS`` is the one dictionary of them, of the process; 1,000 tools fit in it. With it one tool
more than 500 costs a quarter of what the 500 cost to convert.
"""

from kbnf_core.ir import Part, Regular
from kbnf_core.text.remembered import Remembered

LARGEST = 100_000
"""Characters of a schema that is remembered."""

ALL, MOST = 24 * 2**20, 2**20
"""Bytes of all that is remembered, by an estimate, and of one part."""

RULE = 1_000
"""Bytes of a rule beside its automaton, a mean."""


def _size_of(key: str, part: Part) -> int:
    automata = sum(body.dfa.size for body in part.bodies.values() if type(body) is Regular)
    return len(key) + RULE * len(part.bodies) + automata


PARTS = Remembered[str, Part](ALL, _size_of, MOST)
