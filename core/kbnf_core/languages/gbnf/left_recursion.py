"""I411: left recursion, which KBNF takes and llama.cpp refuses, or never ends on.

llama.cpp finds a nullable prefix only where a rule has an alternative that is written empty;
grammars with other nullable prefixes pass its test and make it loop for ever. Here both count.
"""

from collections.abc import Iterable, Iterator, Mapping

from kbnf_core.ir.analysis import cycles, fixpoint
from kbnf_core.kbnf.tree import (
    Alternation,
    Bracket,
    BracketKind,
    Definition,
    Expression,
    Pattern,
    Reference,
    Repetition,
    Sequence,
    Terminal,
    children,
    postorder,
)
from kbnf_core.languages.gbnf.explain import llama_says
from kbnf_core.text.diagnostics import Diagnostic
from kbnf_core.text.source import Source

_SAYS = "unsupported grammar, left recursion detected"


def check_left_recursion(
    source: Source, definitions: tuple[Definition, ...]
) -> Iterator[Diagnostic]:
    """Yield a finding for every rule that can begin with itself, or repeats an empty part."""
    nullable = _nullable_names(definitions)
    first = {d.name.value: _leftmost(d.body, nullable) for d in definitions}
    recursive = {name for members in cycles(first) for name in members}
    bare = {d.name.value for d in definitions if _has_empty_branch(d.body)}
    for definition in definitions:
        if definition.name.value in recursive:
            name = definition.name
            message = f"`{name.value}` is left recursive"
            notes = (llama_says(_SAYS), "KBNF accepts it")
            yield Diagnostic("I411", message, source, name.span, notes=notes)
        for node in postorder(definition.body):
            if isinstance(node, Repetition) and node.high is None and _is_bare(node.body, bare):
                message = "this repeats a part that may be empty, without a bound"
                notes = (llama_says(_SAYS), "KBNF accepts it")
                yield Diagnostic("I411", message, source, node.operator, notes=notes)


def _is_bare(node: Expression, bare: set[str]) -> bool:
    """Return whether a part has an alternative that is written empty, one level deep."""
    if isinstance(node, Reference):
        return node.name.value in bare
    return isinstance(node, Bracket) and _has_empty_branch(node.body)


def _has_empty_branch(body: Expression) -> bool:
    branches = body.branches if isinstance(body, Alternation) else (body,)
    return any(isinstance(each, Terminal) and not each.text.value for each in branches)


def _nullable_names(definitions: Iterable[Definition]) -> set[str]:
    """Return the names that may be empty."""
    bodies = {d.name.value: d.body for d in definitions}

    def evaluate(name: str, known: Mapping[str, bool]) -> bool:
        names = {callee for callee in callees[name] if known.get(callee)}
        return _nullable(bodies[name], names)[id(bodies[name])]

    callees = {name: set(_references(body)) for name, body in bodies.items()}
    found = fixpoint(callees, bottom=False, evaluate=evaluate)
    return {name for name, is_nullable in found.items() if is_nullable}


def _references(body: Expression) -> Iterator[str]:
    return (node.name.value for node in postorder(body) if isinstance(node, Reference))


def _nullable(body: Expression, names: set[str]) -> dict[int, bool]:
    """Return for every part of ``body``, by identity, whether it may be empty."""
    known: dict[int, bool] = {}
    for node in postorder(body):
        known[id(node)] = _is_nullable(node, names, known)
    return known


def _is_nullable(node: Expression, names: set[str], known: dict[int, bool]) -> bool:
    match node:
        case Terminal():
            return not node.text.value
        case Pattern():
            return False
        case Reference():
            return node.name.value in names
        case Alternation():
            return any(known[id(part)] for part in node.branches)
        case Repetition():
            return node.low == 0 or known[id(node.body)]
        case Bracket():
            return node.kind is not BracketKind.GROUP or known[id(node.body)]
        case Sequence():
            return all(known[id(part)] for part in node.items)
        case _:
            return False


def _leftmost(body: Expression, names: set[str]) -> set[str]:
    """Return the names that ``body`` may begin with."""
    nullable = _nullable(body, names)
    found: set[str] = set()
    pending = [body]
    while pending:
        node = pending.pop()
        if isinstance(node, Reference):
            found.add(node.name.value)
        elif isinstance(node, Sequence):
            for part in node.items:
                pending.append(part)
                if not nullable[id(part)]:
                    break
        else:
            pending.extend(children(node))
    return found
