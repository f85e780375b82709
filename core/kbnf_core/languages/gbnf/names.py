"""Checks of the names of a GBNF file: duplicates and undefined ones."""

from collections.abc import Iterator, Mapping

from kbnf_core.diagnostics import Diagnostic, Label
from kbnf_core.languages.gbnf.build import EXCLUDED_NAME
from kbnf_core.languages.gbnf.explain import llama_says
from kbnf_core.source import Source
from kbnf_core.syntax.suggest import Suggestions
from kbnf_core.syntax.tree import Definition, Name, Reference, postorder


def check_names(
    source: Source,
    definitions: list[Definition],
    kept: Mapping[str, Definition],
    broken: set[str],
) -> tuple[set[str], list[Diagnostic]]:
    """Return the names that are used and not defined, and the findings about all names."""
    defined = frozenset(kept) | broken
    missing = _undefined(definitions, defined)
    suggestions = Suggestions(defined)
    return set(missing), [
        *_check_redefinitions(source, definitions, kept),
        *(_undefined_finding(source, name, suggestions) for name in missing.values()),
    ]


def _check_redefinitions(
    source: Source, definitions: list[Definition], kept: Mapping[str, Definition]
) -> Iterator[Diagnostic]:
    """Yield a W412 for every definition that a later one replaces."""
    for definition in definitions:
        last = kept[definition.name.value]
        if definition is not last:
            name = definition.name
            message = f"this definition of `{name.value}` is replaced by a later one"
            label = Label(last.name.span, "this one holds")
            notes = ("llama.cpp says nothing; other readers refuse the file, KBNF joins them",)
            yield Diagnostic("W412", message, source, name.span, labels=(label,), notes=notes)


def _undefined(definitions: list[Definition], defined: frozenset[str]) -> dict[str, Name]:
    """Return the first use of every name that has no definition."""
    found: dict[str, Name] = {}
    for definition in definitions:
        for node in postorder(definition.body):
            if isinstance(node, Reference) and not _is_known(node.name.value, defined):
                found.setdefault(node.name.value, node.name)
    return found


def _is_known(name: str, defined: frozenset[str]) -> bool:
    return name in defined or name.startswith(EXCLUDED_NAME)


def _undefined_finding(source: Source, name: Name, suggestions: Suggestions) -> Diagnostic:
    """Return the E101 for a name that is used and not defined."""
    close = suggestions.closest(name.value)
    return Diagnostic(
        "E101",
        f"the rule `{name.value}` is not defined",
        source,
        name.span,
        notes=(llama_says(f"Undefined rule identifier '{name.value}'"),),
        helps=(f"did you mean `{close}`?" if close else f"define it: `{name.value} ::= ...`",),
    )
