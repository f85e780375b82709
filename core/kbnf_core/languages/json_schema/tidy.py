"""Rewrites converted rules that say little: rules of nothing, and names of one other rule."""

from collections import Counter
from collections.abc import Callable, Container, Mapping

from kbnf_core.languages.json_schema.build_tree import (
    EMPTY,
    Form,
    alternation,
    call,
    repeated,
    sequence,
)
from kbnf_core.syntax import tree
from kbnf_core.traversal import fold


def tidied(start: str, rules: Mapping[str, Form], kept: Container[str]) -> dict[str, Form]:
    """Return rules of the same texts, without those of nothing and those of one use as a whole.

    ``kept`` are names that stay, ``start`` is the rule that is not called.
    """
    found = dict(rules)
    while void := {name for name, form in found.items() if form is EMPTY and name != start}:
        for name in void:
            del found[name]
        found = {
            name: replaced(form, lambda called: EMPTY if called in void else call(called))
            for name, form in found.items()
        }
    calls = Counter(called for form in found.values() for called in called_by(form))
    for name in list(found):
        form = found.get(name)
        while isinstance(form, tree.Reference):
            only = form.name.value
            if only in kept or calls[only] > 1 or only in (name, start):
                break
            form = found[name] = found.pop(only)
    return found


def called_by(form: Form) -> list[str]:
    """Return the names that a form calls, in order, as often as it does."""
    nodes = tree.postorder(form)
    return [node.name.value for node in nodes if isinstance(node, tree.Reference)]


def replaced(root: Form, of: Callable[[str], Form]) -> Form:
    """Return a form with ``of(name)`` for each call, and without brackets."""

    def one(form: Form, parts: list[Form]) -> Form:
        match form:
            case tree.Reference(name):
                return of(name.value)
            case tree.Sequence():
                return sequence(*parts)
            case tree.Alternation():
                return alternation(parts)
            case tree.Repetition(_, low, high):
                return repeated(parts[0], low, high)
            case tree.Bracket():
                return parts[0]
            case _:
                return form

    return fold(root, tree.children, one)
