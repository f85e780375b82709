"""A grammar's rules as diagrams show them."""

from collections.abc import Collection
from dataclasses import dataclass

from kbnf_core.source import Source
from kbnf_core.syntax.tree import Definition, Document, Exception_, Name, Reference, postorder


@dataclass(frozen=True, slots=True)
class Rule:
    """A name, its definitions, and the names of the rules that use it."""

    name: str
    definitions: tuple[Definition, ...]
    used_by: tuple[str, ...]

    def text(self, source: Source) -> str:
        """Return the definitions as they are written; nothing of what a conversion has made."""
        written = (each.span for each in self.definitions if each.span != each.name.span)
        return "\n".join(map(source.slice, written))


def collect_rules(document: Document) -> tuple[Rule, ...]:
    """Return the rules in the order of their first definitions."""
    definitions: dict[str, list[Definition]] = {}
    for definition in document.definitions:
        definitions.setdefault(definition.name.value, []).append(definition)
    users: dict[str, dict[str, None]] = {name: {} for name in definitions}
    for definition in document.definitions:
        for used in _uses(definition):
            users.setdefault(used, {})[definition.name.value] = None
    return tuple(Rule(name, tuple(each), tuple(users[name])) for name, each in definitions.items())


def _uses(definition: Definition) -> Collection[str]:
    names: list[str] = []
    for node in postorder(definition.body):
        if isinstance(node, Reference):
            names.append(node.name.value)
        elif isinstance(node, Exception_) and isinstance(node.excluded, Name):
            names.append(node.excluded.value)
    return names
