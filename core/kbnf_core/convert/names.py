"""Names in one language for the names of another."""

import re
from collections.abc import Callable, Iterable, Mapping

_NO_IDENTIFIER = re.compile(r"[^A-Za-z0-9_]")
_NO_GBNF_NAME = re.compile(r"[^A-Za-z0-9-]")


def kbnf_names(names: Iterable[str], fixed: Mapping[str, str]) -> dict[str, str]:
    """Return an identifier of KBNF for each name, each different.

    ``fixed`` holds those that are settled. Other names stay as they are where they can.
    """
    return _distinct(names, fixed, _identifier, "_")


def gbnf_names(names: Iterable[str], fixed: Mapping[str, str]) -> dict[str, str]:
    """Return a name of GBNF for each name, each different; as ``kbnf_names``."""
    return _distinct(names, fixed, lambda name: _NO_GBNF_NAME.sub("-", name), "-")


def _identifier(name: str) -> str:
    plain = _NO_IDENTIFIER.sub("_", name)
    return plain if plain[:1].isalpha() or plain[:1] == "_" else f"r{plain}"


def _distinct(
    names: Iterable[str], fixed: Mapping[str, str], change: Callable[[str], str], joint: str
) -> dict[str, str]:
    ordered = list(dict.fromkeys(names))
    chosen = dict(fixed)
    taken = set(fixed.values())
    # Names that can stay go first, so that none of them gives way to one that must change.
    for name in sorted(ordered, key=lambda name: change(name) != name):
        if name not in chosen:
            chosen[name] = _free(change(name), taken, joint)
            taken.add(chosen[name])
    return chosen


def _free(wanted: str, taken: set[str], joint: str) -> str:
    number = 2
    name = wanted
    while name in taken:
        name = f"{wanted}{joint}{number}"
        number += 1
    return name
