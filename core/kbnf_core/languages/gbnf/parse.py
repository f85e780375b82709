"""Parses GBNF: text in, a syntax tree of KBNF and findings out. Never raises.

The tree has the names and spans of the GBNF text, and the meaning that llama.cpp gives it: of
several definitions of a name the last one holds. Time is linear in the length of the text.

``!<text>`` is any one token but the one that ``text`` is: KBNF needs the number of that token,
which a vocabulary knows. Without one it is any token, and that is a loss.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain, pairwise
from typing import TYPE_CHECKING

from lark import Lark

from kbnf_core.diagnostics import Diagnostic
from kbnf_core.languages.conversion.rewrite import rewrite
from kbnf_core.languages.gbnf import explain as about
from kbnf_core.languages.gbnf.build import EXCLUDED_NAME, MAX_TOKEN_ID
from kbnf_core.languages.gbnf.left_recursion import check_left_recursion
from kbnf_core.languages.gbnf.lexer import gbnf_parser, split
from kbnf_core.languages.gbnf.validate import check_definition, check_names, check_words
from kbnf_core.limits import DEFAULT_LIMITS, Limits
from kbnf_core.source import Source
from kbnf_core.syntax.conversion import Loss
from kbnf_core.syntax.mistake import Mistake
from kbnf_core.syntax.parsed import Parsed
from kbnf_core.syntax.statements import Metasyntax, Statement, parse_statements, too_deep
from kbnf_core.syntax.tree import Definition, Document, Leaf, Name, Reference, TokenSet

if TYPE_CHECKING:
    from kbnf_core.vocab.vocabulary import Vocabulary


def parse_gbnf(
    source: Source, limits: Limits = DEFAULT_LIMITS, vocabulary: "Vocabulary | None" = None
) -> Parsed:
    """Parse ``source``; ``vocabulary`` tells the numbers of excluded tokens.

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
    definitions, losses = _with_excluded(source, definitions, vocabulary)
    found = sorted(
        chain(findings, check_left_recursion(source, definitions)), key=Diagnostic.sort_key
    )
    broken = frozenset(read.broken | missing)
    document = Document(source, definitions, comments, broken)
    return Parsed(document, tuple(found), losses=losses)


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


def _with_excluded(
    source: Source, definitions: tuple[Definition, ...], vocabulary: "Vocabulary | None"
) -> tuple[tuple[Definition, ...], tuple[Loss, ...]]:
    """Return the rules with a set of tokens for every ``!<text>``, and the unknown tokens."""
    losses: dict[str, Loss] = {}

    def change(leaf: Leaf) -> Leaf:
        if not (isinstance(leaf, Reference) and leaf.name.value.startswith(EXCLUDED_NAME)):
            return leaf
        ids = _ids(leaf.name.value.removeprefix(EXCLUDED_NAME), vocabulary)
        if ids:
            return TokenSet(tuple((each, each) for each in ids), True, leaf.span)
        losses.setdefault(leaf.name.value, _unknown_token(leaf.name))
        return TokenSet(((0, MAX_TOKEN_ID),), False, leaf.span)

    if "!<" not in source.text:
        return definitions, ()
    changed = tuple(replace(each, body=rewrite(each.body, change)) for each in definitions)
    return changed, tuple(losses.values())


def _ids(text: str, vocabulary: "Vocabulary | None") -> tuple[int, ...]:
    """Return the numbers of the tokens that are spelled ``text``, a special one first."""
    if vocabulary is None:
        return ()
    special = vocabulary.special_id(text)
    return vocabulary.token_ids(text.encode()) if special is None else (special,)


def _unknown_token(name: Name) -> Loss:
    text = name.value.removeprefix(EXCLUDED_NAME)
    return Loss(
        "W402",
        f"`{name.value}` excludes a token whose number is not known",
        name.span,
        notes=(f"without a vocabulary it stands for any token, `{text}` too",),
        helps=("`kbnf convert-gbnf --vocab FILE` finds the number",),
    )
