"""Writes the Unicode tables: classes.txt, which nearly every pattern needs, and properties.txt.

Run ``PYTHONPATH=tests/support python -m kbnf_testing.unicode_tables`` after a new ``regex``
package; a test compares the files with it. Nothing in ``automata`` knows the package: what a
pattern means does not depend on what is installed.
"""

from functools import lru_cache
from importlib import import_module
from pathlib import Path

import regex

from kbnf_core.automata.codepoints import CodePoints, from_ranges
from kbnf_core.automata.regex import unicode

CLASSES = Path(unicode.__file__).with_name("classes.txt")
PROPERTIES = Path(unicode.__file__).with_name("properties.txt")
_CLASSES = {
    "w": r"[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]",
    "d": r"\p{Nd}",
    "s": r"\p{White_Space}",
}
_TURKIC = "İı"
"""The package folds these to i and I; they have no simple case folding in Unicode."""


_WITH_VALUES = ("gc", "sc", "scx", "gcb", "wb", "sb")
"""Properties whose values are sets; of all others that have two values, ``yes`` is one."""


@lru_cache(maxsize=1)
def every_code_point() -> str:
    """Return the text in which the code point at index i is i."""
    return "".join(map(chr, range(0x110000)))


def members(pattern: str) -> CodePoints:
    """Return the code points that a pattern of one character matches."""
    matches = regex.finditer(pattern + "+", every_code_point())
    return from_ranges((match.start(), match.end() - 1) for match in matches)


def case_orbits() -> list[str]:
    """Return the sets of characters that are equal but for case, each and all in order."""
    cased = "".join(
        char
        for char in regex.findall(r"[\p{CWCF}\p{CWCM}\p{Cased}]", every_code_point())
        if char not in _TURKIC
    )
    orbits = {"".join(regex.findall("(?i)" + regex.escape(char), cased)) for char in cased}
    return sorted(orbit for orbit in orbits if len(orbit) > 1)


def _property_names() -> dict[tuple[int, int], list[str]]:
    r"""Return the possible contents of ``\p{...}``, as in properties.txt: ``gc=lu``, ``math``.

    Names of one set are together, by the package's numbers of a property and its value.
    """
    known = import_module("regex._regex_core").PROPERTIES
    names: dict[tuple[int, int], list[str]] = {}
    for each in _WITH_VALUES:
        number, values = known[each.upper()]
        for value in filter(str.isalnum, values):
            names.setdefault((number, values[value]), []).append(f"{each}={value.lower()}")
    for each, (number, values) in known.items():
        if "YES" in values and each.isalnum():
            names.setdefault((number, values["YES"]), []).append(each.lower())
    return names


def render_properties() -> str:
    """Return the text of properties.txt: a line for each set, its names before the colon."""
    named: dict[CodePoints, list[str]] = {}
    for names in _property_names().values():
        query = names[0] if "=" in names[0] else f"{names[0]}=yes"
        named.setdefault(members(rf"\p{{{query}}}"), []).extend(names)
    lines = sorted(f"{' '.join(sorted(names))}:{_spelled(sets)}" for sets, names in named.items())
    return "\n".join(lines) + "\n"


def _spelled(points: CodePoints) -> str:
    return " ".join(f"{low:x}" if low == high else f"{low:x}-{high:x}" for low, high in points)


def render_classes() -> str:
    """Return the text of classes.txt: the package's version, Perl's classes, orbits of case."""
    orbits = ("=".join(f"{ord(char):x}" for char in orbit) for orbit in case_orbits())
    lines = {
        "regex": regex.__version__,
        **{name: _spelled(members(pattern)) for name, pattern in _CLASSES.items()},
        "orbits": " ".join(orbits),
    }
    return "".join(f"{name}:{text}\n" for name, text in lines.items())


if __name__ == "__main__":
    CLASSES.write_text(render_classes(), encoding="utf-8")
    PROPERTIES.write_text(render_properties(), encoding="utf-8")
