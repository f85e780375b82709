"""The reader of structural tags: from JSON to a tree of KBNF with the places of the tag."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from kbnf_core.kbnf.parsed import Loss, Parsed
from kbnf_core.kbnf.tree import Document
from kbnf_core.languages.conversion.rewrite import at, placed
from kbnf_core.languages.json_schema.guidance import guided
from kbnf_core.languages.json_schema.parse import diagnostic
from kbnf_core.languages.structural_tag.contents import options_of
from kbnf_core.languages.structural_tag.marks import marked
from kbnf_core.languages.structural_tag.read import Node, Report, read_tag
from kbnf_core.languages.structural_tag.write import OF_SCHEMAS, START, write_rules
from kbnf_core.text.diagnostics import Diagnostic
from kbnf_core.text.limits import DEFAULT_LIMITS, Limits
from kbnf_core.text.source import Source

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
    found = parsed(read_tag(source, report, limits), report, limits, vocabulary)
    if report.errors:
        return found
    return found._replace(lint=lambda: tuple(_lint(source, limits)))


def _lint(source: Source, limits: Limits) -> Iterator[Diagnostic]:
    """Yield what is suspicious in the schemas of a tag, which is read again."""
    from kbnf_core.languages.json_schema.lint import lint_schema

    report = Report(source)
    for node in read_tag(source, report, limits):
        if node.kind in OF_SCHEMAS:
            schema = node.fields["json_schema"]
            options = guided(schema, options_of({"style": "qwen_xml", **node.fields}))
            for problem in lint_schema(schema, options):
                pointer = f"{node.pointer}/json_schema{problem.pointer}"
                found = diagnostic(problem._replace(pointer=pointer), source)
                yield replace(found, span=report.span(pointer), fixes=())


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
    return Parsed(
        document,
        tuple(found),
        losses=losses,
        marked=lambda: marked(nodes, limits, vocabulary),
    )
