"""The classes and the case folding that are built in: generated tables, decoded when needed."""

from bisect import bisect_left
from functools import lru_cache

from kbnf_core.automata.codepoints import ANY, CodePoints, Range, from_ranges, intersect, union
from kbnf_core.automata.regex import tables

ASCII_LETTERS: CodePoints = ((0x41, 0x5A), (0x61, 0x7A))

_POSIX: dict[str, CodePoints] = {
    "alnum": ((0x30, 0x39), *ASCII_LETTERS),
    "alpha": ASCII_LETTERS,
    "ascii": ((0, 0x7F),),
    "blank": ((0x09, 0x09), (0x20, 0x20)),
    "cntrl": ((0, 0x1F), (0x7F, 0x7F)),
    "digit": ((0x30, 0x39),),
    "graph": ((0x21, 0x7E),),
    "lower": ((0x61, 0x7A),),
    "print": ((0x20, 0x7E),),
    "punct": ((0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E)),
    "space": ((0x09, 0x0D), (0x20, 0x20)),
    "upper": ((0x41, 0x5A),),
    "word": ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)),
    "xdigit": ((0x30, 0x39), (0x41, 0x46), (0x61, 0x66)),
}
_ASCII_PERL = {"d": "digit", "s": "space", "w": "word"}


def posix_class(name: str) -> CodePoints | None:
    """Return the set of ``[:name:]``; None for an unknown name."""
    return _POSIX.get(name)


@lru_cache(maxsize=8)
def perl_class(letter: str, unicode: bool) -> CodePoints:
    r"""Return the set of ``\d``, ``\s`` or ``\w``."""
    if not unicode:
        return _POSIX[_ASCII_PERL[letter]]
    text = {"d": tables.DIGIT, "s": tables.SPACE, "w": tables.WORD}[letter]
    return tuple(_range(word) for word in text.split())


def _range(word: str) -> Range:
    low, _, high = word.partition("-")
    return int(low, 16), int(high, 16)


def fold_case(points: CodePoints, unicode: bool) -> CodePoints:
    """Add every character that differs in case only, by simple case folding.

    Without ``unicode``, for ASCII letters only.
    """
    if not unicode:
        return union(points, _fold_ascii(points))
    if points == ANY:
        return points
    cased, orbits = _orbits()
    added: list[Range] = []
    for low, high in points:
        for index in range(bisect_left(cased, low), bisect_left(cased, high + 1)):
            added.extend(orbits[cased[index]])
    return union(points, from_ranges(added))


def _fold_ascii(points: CodePoints) -> CodePoints:
    letters = intersect(points, ASCII_LETTERS)
    return from_ranges((low ^ 0x20, high ^ 0x20) for low, high in letters)


@lru_cache(maxsize=1)
def _orbits() -> tuple[list[int], dict[int, list[Range]]]:
    """Return the code points that have case, and for each its orbit as ranges."""
    orbits: dict[int, list[Range]] = {}
    for word in tables.CASE_ORBITS.split():
        orbit = [int(member, 16) for member in word.split("=")]
        for member in orbit:
            orbits[member] = [(other, other) for other in orbit]
    return sorted(orbits), orbits
