"""The coarsest partition of code points that a list of sets cannot see into.

Its blocks are the symbols of the automata that regular expressions become first: one for
all code points that the same sets hold. What no set holds belongs to no block.
"""

from collections.abc import Sequence
from typing import NamedTuple

from kbnf_core.automata.codepoints import CodePoints

NO_BLOCK = -1


class Partition(NamedTuple):
    """``blocks[i]`` is the block of the code points from ``starts[i]`` to before ``starts[i+1]``.

    ``starts`` begins with 0; ``members[k]`` are the blocks that set ``k`` consists of.
    """

    starts: tuple[int, ...]
    blocks: tuple[int, ...]
    members: tuple[tuple[int, ...], ...]
    block_count: int


def partition(sets: Sequence[CodePoints]) -> Partition:
    """Return the coarsest partition for ``sets``, by one sweep over their borders."""
    toggles = {0: 0}
    for index, points in enumerate(sets):
        bit = 1 << index
        for low, high in points:
            toggles[low] = toggles.get(low, 0) ^ bit
            toggles[high + 1] = toggles.get(high + 1, 0) ^ bit
    numbers = {0: NO_BLOCK}
    starts = sorted(toggles)
    blocks = []
    inside = 0
    for start in starts:
        inside ^= toggles[start]
        blocks.append(numbers.setdefault(inside, len(numbers) - 1))
    members = tuple(
        tuple(block for held, block in numbers.items() if held >> index & 1)
        for index in range(len(sets))
    )
    return Partition(tuple(starts), tuple(blocks), members, len(numbers) - 1)
