"""Dynamic references: what ``$dynamicAnchor`` and ``$recursiveAnchor`` mark, and which is met.

Of the schemas with one mark a dynamic reference means that of the resource that was entered first
on the way to it. So a way is known by that alone: for each mark, which schema it has met first.
There are finitely many such scopes, and a schema is one schema for each scope it is read in.
"""

from collections.abc import Iterable
from typing import Any

Scope = tuple[tuple[str, str], ...]
"""For each mark that was met, in the order of marks, the pointer of the schema that has it."""

RECURSIVE = ""
"""The mark of ``$recursiveAnchor``, which has no name."""


class Marks:
    """The marked schemas of documents, by the resources that they are in."""

    def __init__(self) -> None:
        self._of: dict[int, dict[str, Any]] = {}

    def read(self, root: Any) -> None:
        """Find the marks of a document and of the resources embedded in it."""
        pending: list[tuple[Any, dict[str, Any]]] = [(root, {})]
        for value, around in pending:
            marks = around
            if isinstance(value, dict):
                if isinstance(value.get("$id"), str):
                    marks = {}
                if value.get("$recursiveAnchor") is True:
                    marks[RECURSIVE] = value
                if isinstance(name := value.get("$dynamicAnchor"), str):
                    marks[name] = value
                self._of[id(value)] = marks
            pending.extend((item, marks) for item in _items(value))

    def of(self, schema: Any) -> dict[str, Any]:
        """Return the marked schemas of the resource that a schema is in, by their marks."""
        return self._of.get(id(schema), {})


def has_marks(root: Any) -> bool:
    """Tell whether any schema is marked."""
    pending = [root]
    for value in pending:
        if isinstance(value, dict):
            if "$dynamicAnchor" in value or "$recursiveAnchor" in value:
                return True
            pending += value.values()
        elif isinstance(value, list):
            pending += value
    return False


def _items(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()
