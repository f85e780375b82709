"""The excluded words of an ``except!``: of a terminal, or a nonterminal made of terminals only."""

from collections.abc import Iterator

from kbnf_core.diagnostics import Diagnostic, Label
from kbnf_core.source import Source
from kbnf_core.syntax.tree import (
    Document,
    Exception_,
    Expression,
    Name,
    Sequence,
    Terminal,
)


def excluded_words(node: Exception_, document: Document) -> tuple[list[bytes], list[Diagnostic]]:
    """Return the excluded byte strings, or findings (E103, E104) that say why there are none.

    A nonterminal may have branches of terminals; neighbours in a branch are joined to one string.
    """
    if isinstance(node.excluded, Terminal):
        return _check_words([node.excluded], [node.excluded.text.value], node, document.source)
    branches = list(_branches(node.excluded, document))
    for branch in branches:
        if not _is_plain(branch):
            return [], [_not_plain(node.excluded, branch, document.source)]
    return _check_words(branches, [_spell(b) for b in branches], node, document.source)


def _branches(name: Name, document: Document) -> Iterator[Expression]:
    for definition in document.definitions:
        if definition.name.value == name.value:
            yield from definition.branches


def _is_plain(branch: Expression) -> bool:
    parts = branch.items if isinstance(branch, Sequence) else (branch,)
    return all(isinstance(part, Terminal) for part in parts)


def _spell(branch: Expression) -> str:
    parts = branch.items if isinstance(branch, Sequence) else (branch,)
    return "".join(part.text.value for part in parts if isinstance(part, Terminal))


def _check_words(
    places: list[Expression] | list[Terminal], words: list[str], node: Exception_, source: Source
) -> tuple[list[bytes], list[Diagnostic]]:
    for place, word in zip(places, words, strict=True):
        if not word:
            return [], [
                Diagnostic(
                    "E104",
                    "`except!` cannot exclude the empty text",
                    source,
                    node.span,
                    labels=(Label(place.span, "this is empty"),),
                    notes=("every text contains the empty one, so nothing would be left",),
                )
            ]
    return [word.encode() for word in words], []


def _not_plain(name: Name, branch: Expression, source: Source) -> Diagnostic:
    return Diagnostic(
        "E103",
        f"`except!({name.value})`: `{name.value}` must be made of terminals only",
        source,
        name.span,
        labels=(Label(branch.span, "this is not a terminal"),),
        helps=('exclude a regular expression with `#ex"..."` instead',),
    )
