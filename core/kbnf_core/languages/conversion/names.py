"""Names in one language for the names of another."""

import re
from collections.abc import Callable, Iterable, Mapping

TABLE_HEAD = "Renamed:"
"""Begins the comment with the table of new names; it is not carried over to a third text."""

_NO_IDENTIFIER = re.compile(r"[^A-Za-z0-9_]+")


def kbnf_names(names: Iterable[str], fixed: Mapping[str, str]) -> dict[str, str]:
    """Return an identifier of KBNF for each name, each different.

    ``fixed`` holds those that are settled. Other names stay as they are where they can.
    """
    return _distinct(names, fixed, _identifier, "_")


def gbnf_names(names: Iterable[str], fixed: Mapping[str, str]) -> dict[str, str]:
    """Return a name of GBNF for each identifier of KBNF, each different; as ``kbnf_names``.

    Names with a hyphen are those of rules made for another one, whose name stands before it.
    """
    ordered = list(names)
    written = [name for name in ordered if "-" not in name]
    chosen = _distinct(written, fixed, lambda name: name.replace("_", "-"), "-")

    def change(name: str) -> str:
        owner, _, rest = name.partition("-")
        return f"{chosen.get(owner, owner)}-{rest.replace('_', '-')}"

    made = [name for name in ordered if "-" in name]
    return _distinct(made, chosen, change, "-")


def _identifier(name: str) -> str:
    """Return ``name`` with one `_` for every run of other characters, none at its ends."""
    plain = (
        name if _NO_IDENTIFIER.search(name) is None else _NO_IDENTIFIER.sub("_", name).strip("_")
    )
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
