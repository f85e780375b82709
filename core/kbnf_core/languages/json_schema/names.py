"""Unique names for rules, after definitions and properties."""

import re

_NO_NAME = re.compile(r"_*[^A-Za-z0-9_]+_*")
_LONGEST = 48


class Names:
    """Generates unique identifiers that begin with ``prefix``."""

    def __init__(self, prefix: str, reserved: frozenset[str]) -> None:
        self._prefix = prefix
        self._used = {prefix + name: 1 for name in reserved}

    def fresh(self, wish: str) -> str:
        """Return an identifier like ``wish`` that was not given out before."""
        base = _NO_NAME.sub("_", wish).strip("_")[:_LONGEST] or "rule"
        if base[0].isdigit():
            base = f"_{base}"
        base = self._prefix + base
        name = base
        count = self._used.get(base, 0)
        while name in self._used:
            count += 1
            name = f"{base}_{count}"
        self._used[base] = max(count, 1)
        self._used.setdefault(name, 1)
        return name


def last_step(pointer: str) -> str:
    """Return the name that a JSON Pointer ends with, of a definition or property."""
    step = pointer.rpartition("/")[2]
    return step.replace("~1", "/").replace("~0", "~")


def is_definition(pointer: str) -> bool:
    """Tell whether a pointer names a definition."""
    return pointer.rpartition("/")[0].endswith(("/$defs", "/definitions"))
