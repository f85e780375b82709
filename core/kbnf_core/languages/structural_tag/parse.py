"""The reader of structural tags: from JSON to a tree of KBNF with the places of the tag."""

from dataclasses import replace
from typing import TYPE_CHECKING

from kbnf_core.diagnostics import Diagnostic
from kbnf_core.languages.structural_tag.read import Report, read_tag
from kbnf_core.languages.structural_tag.write import START, write_rules
from kbnf_core.limits import DEFAULT_LIMITS, Limits
from kbnf_core.source import Source, Span
from kbnf_core.syntax import tree
from kbnf_core.syntax.conversion import Loss
from kbnf_core.syntax.parsed import Parsed
from kbnf_core.syntax.tree import Definition, Document
from kbnf_core.traversal import fold

if TYPE_CHECKING:
    from kbnf_core.vocab.vocabulary import Vocabulary


def parse_structural_tag(
    source: Source, limits: Limits = DEFAULT_LIMITS, vocabulary: "Vocabulary | None" = None
) -> Parsed:
    """Read a structural tag of XGrammar's, a JSON text, also in its older form; never raises.

    With a ``vocabulary`` tokens that are named by their texts become ids, which all that excludes
    tokens needs. Each finding begins with the JSON Pointer of its place.
    """
    report = Report(source)
    rules = _rules(source, report, limits, vocabulary)
    broken = frozenset((START,)) if report.errors else frozenset[str]()
    kept = () if report.errors else tuple(placed(each, each.span) for each in rules)
    document = Document(source, kept, (), broken)
    found = sorted([*report.errors, *report.notes], key=Diagnostic.sort_key)
    lost = sorted(report.losses, key=Diagnostic.sort_key)
    losses = tuple(
        Loss(each.code, each.message, each.span, notes=each.notes, helps=each.helps)
        for each in lost
    )
    return Parsed(document, tuple(found), losses=losses)


def _rules(
    source: Source, report: Report, limits: Limits, vocabulary: "Vocabulary | None"
) -> tuple[Definition, ...]:
    nodes = read_tag(source, report, limits)
    return write_rules(nodes, report, limits, vocabulary) if nodes else ()


def placed(rule: tree.Definition, span: Span) -> tree.Definition:
    """Return ``rule`` with all its parts at ``span``."""
    body = fold(rule.body, tree.children, lambda node, parts: _moved(node, parts, span))
    return tree.Definition(tree.Name(rule.name.value, span), body, span)


def _moved(node: tree.Expression, parts: list[tree.Expression], span: Span) -> tree.Expression:
    match node:
        case tree.Bracket():
            return replace(node, body=parts[0], span=span)
        case tree.Repetition():
            return replace(node, body=parts[0], operator=span, span=span)
        case tree.Sequence():
            return tree.Sequence(tuple(parts), span)
        case tree.Alternation():
            return tree.Alternation(tuple(parts), span)
        case tree.Terminal() | tree.Pattern() | tree.TokenName():
            return replace(node, text=_text(node.text, span), span=span)
        case tree.Exception_(tree.Terminal() as excluded):
            moved = tree.Terminal(_text(excluded.text, span), span)
            return replace(node, excluded=moved, span=span)
        case tree.Exception_(tree.Name(name)):
            return replace(node, excluded=tree.Name(name, span), span=span)
        case tree.Reference(tree.Name(name)):
            return tree.Reference(tree.Name(name, span), span)
        case _:
            return replace(node, span=span)


def _text(text: tree.Text, span: Span) -> tree.Text:
    return tree.Text(text.value, span, (span.start,) * (len(text.value) + 1))
