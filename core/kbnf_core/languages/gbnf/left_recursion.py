"""I411: left recursion, which KBNF takes and llama.cpp refuses, or never ends on.

llama.cpp finds a nullable prefix only where a rule has an alternative that is written empty;
grammars with other nullable prefixes pass its test and make it loop for ever. Here both count.

Tests: tests/unit/languages/gbnf
"""

from collections.abc import Iterator

from kbnf_core import ir
from kbnf_core.ir.analysis import cycles
from kbnf_core.kbnf.tree import (
    Alternation,
    Bracket,
    Definition,
    Expression,
    OtherLeaf,
    Reference,
    Repetition,
    Terminal,
    postorder,
)
from kbnf_core.languages.gbnf.explain import llama_says
from kbnf_core.lower.facts import first_calls, nullable_names
from kbnf_core.lower.translate import meaning_of
from kbnf_core.text.budget import Budget
from kbnf_core.text.diagnostics import Diagnostic
from kbnf_core.text.limits import DEFAULT_LIMITS
from kbnf_core.text.source import Source

_SAYS = "unsupported grammar, left recursion detected"


def check_left_recursion(
    source: Source, definitions: tuple[Definition, ...]
) -> Iterator[Diagnostic]:
    """Yield a finding for every rule that can begin with itself, or repeats an empty part."""
    defined, budget = (
        {defined_rule.name.value for defined_rule in definitions},
        Budget(DEFAULT_LIMITS.work),
    )
    rules = {d.name.value: meaning_of(d.body, _leaf, defined, budget) for d in definitions}
    first = first_calls(rules, nullable_names(rules))
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
    return any(isinstance(branch, Terminal) and not branch.text.value for branch in branches)


def _leaf(node: OtherLeaf) -> ir.Node:
    """Return something nonempty."""
    return ir.Token(ir.NEVER, node.span)
