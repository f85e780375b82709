"""Unicode properties as sets of code points, from the ``regex`` package's tables."""

from functools import lru_cache

from kbnf_core.automata.codepoints import ANY, ASCII, CodePoints, complement, from_ranges

_BY_VALUE = frozenset({
    "gc", "generalcategory", "sc", "script", "scx", "scriptextensions",
    "gcb", "graphemeclusterbreak", "wb", "wordbreak", "sb", "sentencebreak",
})  # fmt: skip
"""Names before ``=`` that Rust knows; it also knows Age, which the tables do not have."""

_NOT_IN_RUST = frozenset({
    "cs", "surrogate",
    "h", "alnum", "alphanumeric", "blank", "graph", "print", "word", "xdigit",
    "horizspace", "vertspace",
    "posixalnum", "posixdigit", "posixpunct", "posixxdigit",
})  # fmt: skip
"""Names that the tables know beyond Unicode's; and surrogates, which are in no text."""


@lru_cache(maxsize=256)
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
    for query in _queries(key):
        found = _members(query)
        if found is not None:
            return found
    return None


def property_value(name: str, value: str) -> CodePoints | None:
    r"""Return the set of ``\p{name=value}``; None when there is no such property or value."""
    key = _loose(name)
    wanted = _loose(value)
    if key not in _BY_VALUE or not wanted:
        return None
    if key in {"gc", "generalcategory"} and wanted in {"any", "ascii", "assigned", "cs"}:
        return named_property(value)
    return _members(f"{key}={wanted}")


def _queries(key: str) -> list[str]:
    """Rust reads ``sc`` and the like as categories, then as properties, then as scripts."""
    return [f"gc={key}", f"{key}=yes", f"sc={key}"]


def _loose(name: str) -> str:
    """Normalise a name as UAX 44, LM3 says: case, spaces, ``_``, ``-`` and ``is`` do not count."""
    key = "".join(char for char in name.lower() if char not in " _-" and char.isascii())
    return key[2:] if key.startswith("is") and key not in {"isc", "is"} else key


@lru_cache(maxsize=256)
def _members(query: str) -> CodePoints | None:
    import regex

    if not query.replace("=", "").isalnum():
        return None
    try:
        pattern = regex.compile(rf"\p{{{query}}}+")
    except regex.error:
        return None
    matches = pattern.finditer(every_code_point())
    return from_ranges((match.start(), match.end() - 1) for match in matches)


@lru_cache(maxsize=1)
def every_code_point() -> str:
    """Return the text in which the code point at index i is i."""
    import numpy as np

    return np.arange(0x110000, dtype="<u4").tobytes().decode("utf-32-le", "surrogatepass")
