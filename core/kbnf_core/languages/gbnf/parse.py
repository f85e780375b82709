"""Parses GBNF: text in, a syntax tree of KBNF and findings out. Never raises.

The tree has the names and spans of the GBNF text, and the meaning that llama.cpp gives it: of
several definitions of a name the last one holds. Time is linear in the length of the text.

``!<text>`` is any one token but the one that ``text`` is: KBNF needs the number of that token.
Such a reference is the use of a nonterminal, whose definition is what can be said without a
vocabulary: any token. A conversion that has one puts the right definition in its place.
"""

from collections.abc import Iterable, Iterator
from itertools import chain, pairwise

from lark import Lark

from kbnf_core.diagnostics import Diagnostic
from kbnf_core.languages.gbnf import explain as about
from kbnf_core.languages.gbnf.build import EXCLUDED_NAME, MAX_TOKEN_ID
from kbnf_core.languages.gbnf.left_recursion import check_left_recursion
from kbnf_core.languages.gbnf.lexer import gbnf_parser, split
from kbnf_core.languages.gbnf.validate import check_definition, check_names, check_words
from kbnf_core.limits import DEFAULT_LIMITS, Limits
from kbnf_core.source import Source
from kbnf_core.syntax.language import Parsed
from kbnf_core.syntax.mistake import Mistake
from kbnf_core.syntax.statements import Metasyntax, Statement, parse_statements, too_deep
from kbnf_core.syntax.tree import Definition, Document, Name, Reference, TokenSet, postorder


def parse_gbnf(source: Source, limits: Limits = DEFAULT_LIMITS) -> Parsed:
    """Parse ``source``.

    Rules with mistakes are left out of the document, and their names are kept in its
    ``broken_names``, as are names that are used and not defined at all.
    """
    statements, comments = split(source.text)
    read = parse_statements(statements, _Gbnf(source, limits))
    kept = {definition.name.value: definition for definition in read.trees}
    missing, misnamed = check_names(source, read.trees, kept, read.broken)
    findings = [*read.findings, *_check_last_lines(source, statements), *misnamed]
    if not (read.trees or findings):
        findings.append(about.no_rules(source))
    definitions = tuple(d for d in read.trees if kept[d.name.value] is d)
    excluded, losses = define_excluded(source, definitions)
    found = sorted(
        chain(findings, check_left_recursion(source, definitions), losses), key=Diagnostic.sort_key
    )
    broken = frozenset(read.broken | missing)
    return Parsed(Document(source, (*definitions, *excluded), comments, broken), tuple(found))


class _Gbnf(Metasyntax[Definition]):
    """The rules of a text."""

    def parser(self) -> Lark:
        return gbnf_parser()

    def refuse(self, statement: Statement) -> Iterable[Diagnostic] | None:
        if not statement.is_definition:
            return (about.no_name(self.source, statement.words[0]),)
        sign = statement.words[1]
        return (about.wrong_sign(self.source, sign),) if sign.type == "WRONG_SIGN" else None

    def explain(self, statement: Statement, mistake: Mistake) -> Iterable[Diagnostic]:
        del statement
        return (too_deep(mistake, self.limits) or about.explain(mistake),)

    def validate(self, statement: Statement, tree: Definition) -> Iterator[Diagnostic]:
        yield from check_words(self.source, statement)
        yield from check_definition(self.source, tree, self.limits)

    def names(self, statement: Statement) -> Iterable[str]:
        return super().names(statement) if statement.is_definition else ()


def _check_last_lines(source: Source, statements: list[Statement]) -> Iterator[Diagnostic]:
    """Yield rules that end in ``::=`` or ``|`` before another: there llama.cpp reads on."""
    for statement, _ in pairwise(statements):
        last = statement.words[-1]
        if statement.is_definition and last.type in ("DEFINE", "OR"):
            yield about.reads_on(source, last)


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
