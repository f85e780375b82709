"""Named character classes (Perl, POSIX, Unicode), and case folding.

Perl's classes and the orbits of simple case folding, which nearly every pattern needs, are in the
generated file ``classes.txt``; Unicode's other properties in ``properties.txt``.

Tests: tests/unit/automata/test_regex_tables.py
"""

from bisect import bisect_left
from functools import lru_cache
from pathlib import Path

from kbnf_core.automata.codepoints import (
    ANY,
    ASCII,
    CodePoints,
    Range,
    complement,
    from_ranges,
    intersect,
    union,
)

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
    r"""Return the set of ``\d``, ``\s`` or ``\w``.

    Remembered: to read the ranges of ``\w`` again is a fifth of compiling ``\w+``.
    """
    if not unicode:
        return _POSIX[_ASCII_PERL[letter]]
    return tuple(_range(word) for word in stored("classes.txt")[letter].split())


def _range(word: str) -> Range:
    low, _, high = word.partition("-")
    return int(low, 16), int(high or low, 16)


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
    """Return the code points that have case, and for each its orbit as ranges.

    Remembered: to read them again is six times the work of compiling ``(?i)word``.
    """
    orbits: dict[int, list[Range]] = {}
    for word in stored("classes.txt")["orbits"].split():
        orbit = [int(member, 16) for member in word.split("=")]
        for member in orbit:
            orbits[member] = [(other, other) for other in orbit]
    return sorted(orbits), orbits


_BY_VALUE = {
    "generalcategory": "gc",
    "script": "sc",
    "scriptextensions": "scx",
    "graphemeclusterbreak": "gcb",
    "wordbreak": "wb",
    "sentencebreak": "sb",
}
"""Names before ``=`` that Rust knows, by the long one; it also knows Age, which the tables lack."""

_NOT_IN_RUST = frozenset({
    "cs", "surrogate",
    "h", "alnum", "alphanumeric", "blank", "graph", "print", "word", "xdigit",
    "horizspace", "vertspace",
    "posixalnum", "posixdigit", "posixpunct", "posixxdigit",
})  # fmt: skip
"""Names that the tables know beyond Unicode's; and surrogates, which are in no text."""


def named_property(name: str) -> CodePoints | None:
    r"""Return the set of ``\p{name}``: a category, a script or a yes/no property; else None."""
    key = _loose(name)
    if key == "any":
        return ANY
    if key == "ascii":
        return ASCII
    if key == "assigned":
        unassigned = named_property("Cn")
        return None if unassigned is None else complement(unassigned)
    if not key or key in _NOT_IN_RUST:
        return None
    # Rust reads `sc` and the like as categories, then as properties, then as scripts.
    for query in (f"gc={key}", key, f"sc={key}"):
        result = _members(query)
        if result is not None:
            return result
    return None


def property_value(name: str, value: str) -> CodePoints | None:
    r"""Return the set of ``\p{name=value}``; None when there is no such property or value."""
    key = _loose(name)
    key = _BY_VALUE.get(key, key)
    wanted = _loose(value)
    if key not in _BY_VALUE.values() or not wanted:
        return None
    if key == "gc" and wanted in {"any", "ascii", "assigned", "cs"}:
        return named_property(value)
    return _members(f"{key}={wanted}")


def _loose(name: str) -> str:
    """Normalise a name as UAX 44, LM3 says: case, spaces, ``_``, ``-`` and ``is`` do not count."""
    key = "".join(char for char in name.lower() if char not in " _-" and char.isascii())
    return key[2:] if key.startswith("is") and key not in {"isc", "is"} else key


@lru_cache(maxsize=256)
def _members(name: str) -> CodePoints | None:
    r"""Return the set that properties.txt has for ``property=value`` or a property's name.

    Remembered: to read the ranges of ``L`` again is a third of compiling ``\p{L}+``.
    """
    ranges = stored("properties.txt").get(name)
    return None if ranges is None else from_ranges(_range(word) for word in ranges.split())


def regex_version() -> str:
    """Return the version of the package ``regex`` whose Unicode this is."""
    return stored("classes.txt")["regex"]


@lru_cache(maxsize=2)
def stored(name: str) -> dict[str, str]:
    """Return the texts of a generated file by their names."""
    # Not through importlib.resources: importing that takes longer than all of this.
    text = Path(__file__).with_name(name).read_text("ascii")
    lines = (line.partition(":") for line in text.splitlines())
    return {name_or_alias: ranges for names, _, ranges in lines for name_or_alias in names.split()}
