"""``<any!>`` and ``<except!(..)>`` of bnf_sampler, which take one token of the vocabulary.

Without a vocabulary they stand for any text, and any text without the excluded one: both may
span several tokens. A conversion that has the vocabulary puts its tokens in their place.
"""

from collections.abc import Iterable, Mapping
from collections.abc import Sequence as Several
from typing import TypeAlias

from kbnf_core.diagnostics import Diagnostic
from kbnf_core.ir.analysis import cyclic_components
from kbnf_core.languages.bnf.build import ANY, EXCEPT
from kbnf_core.languages.bnf.escapes import decode
from kbnf_core.languages.conversion.build_tree import escaped, pattern, terminal, text_of
from kbnf_core.source import Source
from kbnf_core.syntax.tree import (
    Definition,
    Exception_,
    Expression,
    Name,
    Pattern,
    PatternKind,
    Reference,
    Sequence,
    Terminal,
    postorder,
)

_ANY_TEXT = "(?s:.)+"

_Branches: TypeAlias = Mapping[str, Several[Expression]]
"""The alternatives of each name."""


def is_vocabulary(name: str) -> bool:
    """Tell whether ``name`` stands for a token; a definition of it is not looked at."""
    return name == ANY or name.startswith(EXCEPT)


def excluded_text(name: str) -> bytes | None:
    """Return the text that ``except!('text')`` excludes, None for ``except!([name])``."""
    inner = name.removeprefix(EXCEPT)[1:-1]
    return None if inner.startswith("[") else decode(inner[1:-1])


def excluded_name(name: str) -> str:
    """Return the name in ``except!([name])``."""
    return name.removeprefix(EXCEPT)[2:-2]


def excluded_rule(name: str) -> str | None:
    """Return the rule that a name ``except!([rule])`` asks about; None for other names."""
    asks = name.startswith(f"{EXCEPT}([") and name.endswith("])")
    return excluded_name(name) if asks else None


def define_vocabulary(
    source: Source, definitions: list[Definition]
) -> tuple[list[Definition], list[Diagnostic]]:
    """Return a definition for every such name that is used, and a finding for each.

    That is a W405, the E101 of an excluded name that is not defined, or the E103 of one that is
    made of what excludes it.
    """
    uses: dict[str, Name] = {}
    called: dict[str, set[str]] = {}
    branches: dict[str, list[Expression]] = {}
    for definition in definitions:
        branches.setdefault(definition.name.value, []).extend(definition.branches)
        calls = called.setdefault(definition.name.value, set())
        for node in postorder(definition.body):
            if isinstance(node, Reference):
                calls.add(node.name.value)
                if is_vocabulary(node.name.value):
                    uses.setdefault(node.name.value, node.name)
    found = [Definition(name, _body(name, branches), name.span) for name in uses.values()]
    circular = _excluding_themselves(called, uses)
    return found, [_finding(source, name, called, circular) for name in uses.values()]


def _excluding_themselves(called: Mapping[str, set[str]], uses: Iterable[str]) -> set[str]:
    """Return the names, among others, that exclude a rule which is made of them."""
    graph: dict[str, set[str]] = {name: {excluded_rule(name) or name} - {name} for name in uses}
    graph = {**called, **graph}
    within = {name: names & graph.keys() for name, names in graph.items()}
    return {name for names in cyclic_components(within) for name in names}


def _body(name: Name, branches: _Branches) -> Expression:
    if name.value != ANY:
        text = excluded_text(name.value)
        if text is not None:
            excluded = terminal(text.decode("utf-8", "replace"), name.span)
            return Exception_(excluded, 0, name.span)
        inner = excluded_name(name.value)
        if _is_plain(branches.get(inner, ())):
            return Exception_(Name(inner, name.span), 0, name.span)
        words = _words(inner, branches)
        if words:
            excluding = text_of("|".join(map(escaped, words)), name.span)
            return Pattern(PatternKind.COMPLEMENT, excluding, name.span)
    return pattern(_ANY_TEXT, name.span)


def _is_plain(branches: Iterable[Expression]) -> bool:
    """Tell whether the alternatives of a name are made of texts only."""
    parts = [p for b in branches for p in (b.items if isinstance(b, Sequence) else (b,))]
    return bool(parts) and all(isinstance(part, Terminal) for part in parts)


def _words(name: str, branches: _Branches) -> list[str]:
    """Return the texts of a name whose alternatives are texts and such names; else none."""
    words: list[str] = []
    waiting, seen = [name], {name}
    while waiting:
        each = waiting.pop()
        for branch in branches.get(each, ()):
            parts = branch.items if isinstance(branch, Sequence) else (branch,)
            texts = [part.text.value for part in parts if isinstance(part, Terminal)]
            if len(texts) == len(parts):
                words.append("".join(texts))
            elif isinstance(branch, Reference) and not is_vocabulary(branch.name.value):
                waiting += {branch.name.value} - seen
                seen.add(branch.name.value)
            else:
                return []
    return words


def _finding(
    source: Source, name: Name, called: Mapping[str, set[str]], circular: set[str]
) -> Diagnostic:
    inner = excluded_name(name.value)
    if name.value != ANY and excluded_text(name.value) is None and inner not in called:
        message = f"the nonterminal `{inner}` is not defined"
        return Diagnostic("E101", message, source, name.span)
    if name.value in circular:
        message = f"`<{inner}>` is made of `<{name.value}>`, which excludes it"
        helps = ("exclude a nonterminal that does not lead back here, or a text",)
        return Diagnostic("E103", message, source, name.span, helps=helps)
    return Diagnostic(
        "W405",
        f"`<{name.value}>` takes one token of a vocabulary that is not known",
        source,
        name.span,
        notes=("without it any text is taken that fits, of several tokens too",),
        helps=("commands that take `--vocab FILE` read it over that vocabulary",),
    )
