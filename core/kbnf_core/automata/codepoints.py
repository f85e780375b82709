"""Sets of Unicode scalar values as sorted, disjoint, non-adjacent, inclusive ranges.

Surrogates are no scalar values: no set holds them, and complements leave them out, so that
whatever is built from these sets is valid UTF-8.
"""

from collections.abc import Iterable

Range = tuple[int, int]
CodePoints = tuple[Range, ...]

NOTHING: CodePoints = ()
ANY: CodePoints = ((0, 0xD7FF), (0xE000, 0x10FFFF))
ASCII: CodePoints = ((0, 0x7F),)


def from_ranges(ranges: Iterable[Range]) -> CodePoints:
    """Return the set that covers ``ranges``, which may overlap and hold surrogates."""
    return intersect(_merge(ranges), ANY)


def _merge(ranges: Iterable[Range]) -> CodePoints:
    merged: list[Range] = []
    for low, high in sorted(ranges):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return tuple(merged)


def from_text(characters: str) -> CodePoints:
    """Return the set of the characters of a text."""
    return from_ranges((ord(character), ord(character)) for character in characters)


def union(left: CodePoints, right: CodePoints) -> CodePoints:
    """Return what is in either."""
    if not left or not right:
        return left or right
    return _merge(left + right)


def intersect(left: CodePoints, right: CodePoints) -> CodePoints:
    """Return what is in both."""
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
    gaps.append((low, 0x10FFFF))
    return intersect(tuple(gaps), ANY)


def difference(left: CodePoints, right: CodePoints) -> CodePoints:
    """Return what is in the left set only."""
    return intersect(left, complement(right))


def symmetric_difference(left: CodePoints, right: CodePoints) -> CodePoints:
    """Return what is in exactly one of the two."""
    return union(difference(left, right), difference(right, left))


def is_ascii(points: CodePoints) -> bool:
    """Tell whether nothing beyond U+007F is in the set."""
    return not points or points[-1][1] <= 0x7F
