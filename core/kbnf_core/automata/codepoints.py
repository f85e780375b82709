"""Sets of Unicode scalar values as sorted, disjoint, non-adjacent, inclusive ranges.

Surrogates are not scalar values: no set contains them, and complements leave them out, so that
everything built from these sets is valid UTF-8.

The sets of one regular expression make a *partition* of all code points, as byte classes do of
bytes. Its blocks are the symbols of the automata that regular expressions become first: one for
all code points that the same sets contain. What no set contains belongs to no block.

Tests: tests/unit/kbnf/test_describe.py
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

Range = tuple[int, int]
CodePoints = tuple[Range, ...]

NOTHING: CodePoints = ()
ANY: CodePoints = ((0, 0xD7FF), (0xE000, 0x10FFFF))
ASCII: CodePoints = ((0, 0x7F),)


def from_ranges(ranges: Iterable[Range]) -> CodePoints:
    """Return the set that covers ``ranges``; they may overlap, and a reversed one is empty.

    What they have beyond Unicode's characters, surrogates too, is left out.
    """
    return _without_surrogates(_merge(ranges))


def _without_surrogates(points: CodePoints) -> CodePoints:
    """Return the characters among ordered ranges, without visiting all of them."""
    if points and points[-1][1] > 0x10FFFF:
        return intersect(points, ANY)
    first = bisect_left(points, (0xD800,))
    first -= first > 0 and points[first - 1][1] >= 0xD800
    last = bisect_left(points, (0xE000,), first)
    return points[:first] + intersect(points[first:last], ANY) + points[last:]


def _merge(ranges: Iterable[Range]) -> CodePoints:
    merged: list[Range] = []
    for low, high in sorted(ranges):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        elif low <= high:
            merged.append((low, high))
    return tuple(merged)


def from_text(characters: str) -> CodePoints:
    """Return the set of the characters of a text."""
    return from_ranges((ord(character), ord(character)) for character in characters)


def union(left: CodePoints, right: CodePoints) -> CodePoints:
    """Return the code points in either set."""
    if not left or not right:
        return left or right
    return _merge(left + right)


def intersect(left: CodePoints, right: CodePoints) -> CodePoints:
    """Return the code points in both sets."""
    common: list[Range] = []
    i = j = 0
    while i < len(left) and j < len(right):
        low = max(left[i][0], right[j][0])
        high = min(left[i][1], right[j][1])
        if low <= high:
            common.append((low, high))
        if left[i][1] < right[j][1]:
            i += 1
        else:
            j += 1
    return tuple(common)


def complement(points: CodePoints) -> CodePoints:
    """Return every scalar value that is not in the set."""
    gaps: list[Range] = []
    low = 0
    for first, last in points:
        if low < first:
            gaps.append((low, first - 1))
        low = last + 1
    if low <= 0x10FFFF:
        gaps.append((low, 0x10FFFF))
    return _without_surrogates(tuple(gaps))


def difference(left: CodePoints, right: CodePoints) -> CodePoints:
    """Return the code points in the left set only."""
    return intersect(left, complement(right))


def symmetric_difference(left: CodePoints, right: CodePoints) -> CodePoints:
    """Return the code points in exactly one of the two sets."""
    return union(difference(left, right), difference(right, left))


def is_ascii(points: CodePoints) -> bool:
    """Return whether nothing beyond U+007F is in the set."""
    return not points or points[-1][1] <= 0x7F


NO_BLOCK = -1


class Partition(NamedTuple):
    """The coarsest partition of code points that some sets cannot see into.

    ``blocks[i]`` is the block of the code points from ``starts[i]`` to before ``starts[i+1]``.

    ``starts`` begins with 0; ``members[k]`` are the blocks that set ``k`` consists of.
    """

    starts: tuple[int, ...]
    blocks: tuple[int, ...]
    members: tuple[tuple[int, ...], ...]
    block_count: int

    @property
    def is_ascii(self) -> bool:
        """Whether no set contains anything beyond U+007F."""
        return self.starts[-1] <= 0x80 and self.blocks[-1] == NO_BLOCK

    def ranges(self) -> list[list[Range]]:
        """Return the code points of each block."""
        result: list[list[Range]] = [[] for _ in range(self.block_count)]
        for index, block in enumerate(self.blocks):
            # The code points in no set are the last block.
            if block != NO_BLOCK:
                result[block].append((self.starts[index], self.starts[index + 1] - 1))
        return result


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
    members: list[list[int]] = [[] for _ in sets]
    for set_bits, block in numbers.items():
        for index in _bits(set_bits):
            members[index].append(block)
    return Partition(tuple(starts), tuple(blocks), tuple(map(tuple, members)), len(numbers) - 1)


def _bits(number: int) -> Iterator[int]:
    """Yield the places of the ones: a scan of digits, as each shift would copy the number."""
    digits = f"{number:b}"[::-1]
    index = digits.find("1")
    while index >= 0:
        yield index
        index = digits.find("1", index + 1)
