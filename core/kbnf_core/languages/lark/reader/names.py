"""Names of KBNF nonterminals for what Lark names: no hyphens, no two the same."""

import re
from dataclasses import dataclass, field

_OTHER = re.compile(r"[^A-Za-z0-9_]+")


@dataclass(slots=True)
class Names:
    """Gives out names, each once; what is asked for again gets the same name."""

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
        """Return a name that nothing has yet."""
        base = _OTHER.sub("_", wanted.partition("{")[0]).strip("_") or "rule"
        if wanted.startswith("_"):
            base = f"_{base}"
        if base[0].isdigit():
            base = f"_{base}"
        name, number = base, 2
        while name in self._used:
            name, number = f"{base}_{number}", number + 1
        self._used.add(name)
        return name
