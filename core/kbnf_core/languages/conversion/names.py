"""Names in one language for the names of another."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

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


@dataclass(slots=True)
class Names:
    """Gives out identifiers of KBNF, each once; what is asked for again gets the same name."""

    _given: dict[object, str] = field(default_factory=dict)
    _used: set[str] = field(default_factory=set)

    def copy(self) -> "Names":
        """Return the same state, to come back to."""
        return Names(dict(self._given), set(self._used))

    def of(self, key: object, wanted: str) -> str:
        """Return the name of ``key``, as close to ``wanted`` as is left."""
        if key not in self._given:
            self._given[key] = self.fresh(wanted)
        return self._given[key]

    def fresh(self, wanted: str) -> str:
        """Return a name that nothing has yet; an underscore in front is kept."""
        base = _NO_IDENTIFIER.sub("_", wanted).strip("_") or "rule"
        if wanted.startswith("_") or base[0].isdigit():
            base = f"_{base}"
        name = _free(base, self._used, "_")
        self._used.add(name)
        return name


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
