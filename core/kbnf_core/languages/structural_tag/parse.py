"""The reader of structural tags: from JSON to a tree of KBNF with the places of the tag."""

from typing import TYPE_CHECKING

from kbnf_core.diagnostics import Diagnostic
from kbnf_core.languages.conversion.rewrite import at, placed
from kbnf_core.languages.structural_tag.read import Node, Report, read_tag
from kbnf_core.languages.structural_tag.write import OF_SCHEMAS, START, write_rules
from kbnf_core.limits import DEFAULT_LIMITS, Limits
from kbnf_core.source import Source
from kbnf_core.syntax.conversion import Loss
from kbnf_core.syntax.parsed import Parsed
from kbnf_core.syntax.tree import Document

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
    return parsed(read_tag(source, report, limits), report, limits, vocabulary)


def parsed(
    nodes: list[Node], report: Report, limits: Limits, vocabulary: "Vocabulary | None"
) -> Parsed:
    """Return the rules of the nodes of a tag, outer ones first, with what was found on the way."""
    source = report.source
    rules = write_rules(nodes, report, limits, vocabulary) if nodes else ()
    broken = frozenset((START,)) if report.errors else frozenset[str]()
    kept = () if report.errors else tuple(placed(each, at(each.span)) for each in rules)
    generated = frozenset(report.span(node.pointer) for node in nodes if node.kind in OF_SCHEMAS)
    document = Document(source, kept, (), broken, generated)
    found = sorted([*report.errors, *report.notes], key=Diagnostic.sort_key)
    lost = sorted(report.losses, key=Diagnostic.sort_key)
    losses = tuple(
        Loss(each.code, each.message, each.span, notes=each.notes, helps=each.helps)
        for each in lost
    )
    return Parsed(document, tuple(found), losses=losses)
