"""Sets of bytes and of the end of the text as the bits of one number.

Bits 0 to 255 stand for bytes, bit 256 for the end of the text.
"""

from functools import lru_cache

from kbnf_core.automata.alphabet import class_count
from kbnf_core.automata.dfa import DEAD, Dfa

END = 1 << 256
ALL_BYTES = END - 1


@lru_cache(maxsize=4096)
def exits(dfa: Dfa) -> tuple[int, ...]:
    """Return, for each state, the bytes that lead on."""
    by_class = [0] * class_count(dfa.classes)
    for byte, symbol in enumerate(dfa.classes):
        by_class[symbol] |= 1 << byte
    return tuple(
        sum(bits for bits, target in zip(by_class, row, strict=True) if target != DEAD)
        for row in dfa.rows
    )


def first_bytes(dfa: Dfa) -> int:
    """Return the bytes that words start with."""
    return 0 if dfa.is_empty else exits(dfa)[0]


def shown(mask: int) -> str:
    """Return a few members of a set, for a message."""
    chars = [repr(chr(byte)) for byte in range(32, 127) if mask >> byte & 1]
    more = ", ..." if len(chars) > 5 else ""
    return ", ".join(chars[:5]) + more
