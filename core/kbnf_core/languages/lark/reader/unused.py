"""W101 and W102 in a Lark file: definitions unused, or unreachable from the start.

Said of what was written, because reading begins at the start and leaves out all else.
"""

from collections import defaultdict
from collections.abc import Iterator

from kbnf_core.diagnostics import Diagnostic, Label
from kbnf_core.languages.lark.reader.tree import (
    Definition,
    Document,
    Expression,
    Ignore,
    Name,
    TemplateUse,
    Use,
    postorder,
)


def find_unused(document: Document, start: str) -> Iterator[Diagnostic]:
    """Yield a finding for each definition that does not take part in the language."""
    uses: defaultdict[str, set[str]] = defaultdict(set)
    users: dict[str, Name] = {}
    names: dict[str, Name] = {}
    ignored: set[str] = set()
    for statement in document.statements:
        if isinstance(statement, Ignore):
            ignored.update(_used_in(statement.body))
        elif isinstance(statement, Definition):
            name = names.setdefault(statement.name.value, statement.name)
            own = {parameter.value for parameter in statement.template}
            uses[name.value].update(set(_used_in(statement.body)) - own)
            for used in sorted(uses[name.value] - {name.value}):
                users.setdefault(used, name)
    reached = _reached(uses, {start, *ignored})
    for value, name in names.items():
        if value not in reached:
            yield _finding(document, name, start, users.get(value))


def _used_in(root: Expression) -> Iterator[str]:
    for node in postorder(root):
        if isinstance(node, Use | TemplateUse):
            yield node.name.value


def _reached(uses: dict[str, set[str]], roots: set[str]) -> set[str]:
    seen = set(roots)
    stack = list(roots)
    while stack:
        fresh = uses.get(stack.pop(), set()) - seen
        seen |= fresh
        stack.extend(fresh)
    return seen


def _finding(document: Document, name: Name, start: str, user: Name | None) -> Diagnostic:
    what = f"the {'terminal' if name.is_terminal else 'rule'} `{name.value}`"
    if user is None:
        helps = ("remove it, or use it in a rule that the start can reach",)
        message = f"{what} is never used"
        return Diagnostic("W101", message, document.source, name.span, helps=helps)
    label = Label(user.span, "used only here, which cannot be reached either")
    message = f"{what} cannot be reached from `{start}`"
    return Diagnostic("W102", message, document.source, name.span, labels=(label,))
