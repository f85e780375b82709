"""Representative bytes for examples: a readable one for each byte class of the terminals."""

from collections.abc import Iterable

from kbnf_core.automata.alphabet import join, legible_bytes, separate
from kbnf_core.ir import Literal, Node, Regular, postorder


def spelling_bytes(bodies: Iterable[Node]) -> list[int]:
    """Return a byte of each class of bytes that the terminals in ``bodies`` make, readable ones."""
    leaves = [node for body in bodies for node in postorder(body)]
    dfas = {id(node.dfa): node.dfa for node in leaves if isinstance(node, Regular)}
    written = b"".join(node.data for node in leaves if isinstance(node, Literal))
    return legible_bytes(join([separate(written), *(dfa.classes for dfa in dfas.values())]))
