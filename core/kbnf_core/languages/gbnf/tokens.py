"""``!<text>``, any one token but the one that ``text`` is: KBNF needs the number of that token.

Such a reference is the use of a nonterminal, whose definition is what can be said without a
vocabulary: any token. A conversion that has one puts the right definition in its place.
"""

from kbnf_core.diagnostics import Diagnostic
from kbnf_core.languages.gbnf.build import EXCLUDED_NAME, MAX_TOKEN_ID
from kbnf_core.source import Source
from kbnf_core.syntax.tree import Definition, Name, Reference, TokenSet, postorder


def define_excluded(
    source: Source, definitions: tuple[Definition, ...]
) -> tuple[list[Definition], list[Diagnostic]]:
    """Return a definition for every ``!<text>``, and a W402 for each."""
    uses: dict[str, Name] = {}
    for definition in definitions:
        for node in postorder(definition.body):
            if isinstance(node, Reference) and node.name.value.startswith(EXCLUDED_NAME):
                uses.setdefault(node.name.value, node.name)
    found = [_any_token(name) for name in uses.values()]
    return found, [_unknown_token(source, name) for name in uses.values()]


def _any_token(name: Name) -> Definition:
    anything = TokenSet(((0, MAX_TOKEN_ID),), False, name.span)
    return Definition(name, anything, name.span)


def _unknown_token(source: Source, name: Name) -> Diagnostic:
    text = name.value.removeprefix(EXCLUDED_NAME)
    return Diagnostic(
        "W402",
        f"`{name.value}` excludes a token whose number is not known",
        source,
        name.span,
        notes=(f"without a vocabulary it stands for any token, `{text}` too",),
        helps=("`kbnf convert-gbnf --vocab FILE` finds the number",),
    )
