"""The reader of structural tags: from JSON to a tree of KBNF with the places of the tag."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from kbnf_core.kbnf.parsed import Loss, Parsed, Request
from kbnf_core.kbnf.tree import Document
from kbnf_core.languages.conversion.rewrite import at, placed
from kbnf_core.languages.json_schema.guidance import guided
from kbnf_core.languages.json_schema.options import Options, options_of
from kbnf_core.languages.json_schema.parse import diagnostic
from kbnf_core.languages.structural_tag.contents import options_in
from kbnf_core.languages.structural_tag.marks import marked
from kbnf_core.languages.structural_tag.read import Node, Report, read_tag
from kbnf_core.languages.structural_tag.write import OF_SCHEMAS, START, place_of, write_rules
from kbnf_core.text.diagnostics import Diagnostic
from kbnf_core.text.limits import Limits
from kbnf_core.text.source import Source


def parse_structural_tag(source: Source, request: Request) -> Parsed:
    """Read a structural tag of XGrammar's, a JSON text, also in its older form.

    With a vocabulary tokens that are named by their texts become ids, which all that excludes
    tokens needs. The options are those of JSON Schemas, for those inside. Each finding begins with
    the JSON Pointer of its place. Raises ``ConfigError`` for options that are none.
    """
    report = Report(source)
    options = options_of_schemas(request.options, lossy=request.lossy)
    found = parsed(read_tag(source, report, request.limits), report, request, options)
    if report.errors:
        return found
    return found._replace(lint=lambda: tuple(_lint(source, request.limits, options)))


def options_of_schemas(options: Mapping[str, Any], *, lossy: bool) -> Options:
    """Return how the schemas in a tag are read: objects are closed, unless a request says no."""
    found = replace(options_of(options), lossy=lossy)
    return replace(found, closed=True) if found.closed is None else found


def _lint(source: Source, limits: Limits, wanted: Options) -> Iterator[Diagnostic]:
    """Yield what is suspicious in the schemas of a tag, which is read again."""
    from kbnf_core.languages.json_schema.lint import lint_schema

    report = Report(source)
    for node in read_tag(source, report, limits):
        if node.kind in OF_SCHEMAS:
            schema = node.fields["json_schema"]
            options = guided(schema, options_in(node.fields, wanted))
            for problem in lint_schema(schema, options):
                pointer = f"{node.pointer}/json_schema{problem.pointer}"
                found = diagnostic(problem._replace(pointer=pointer), source)
                yield replace(found, span=report.span(pointer), fixes=())


def parsed(nodes: list[Node], report: Report, request: Request, options: Options) -> Parsed:
    """Return the rules of the nodes of a tag, outer ones first, with what was found on the way."""
    source = report.source
    rules = write_rules(nodes, report, request, options) if nodes else ()
    broken = frozenset((START,)) if report.errors else frozenset[str]()
    kept = () if report.errors else tuple(placed(each, at(each.span)) for each in rules)
    generated = frozenset(report.span(place_of(each)) for each in nodes if each.kind in OF_SCHEMAS)
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
        marked=lambda: marked(nodes, request, options),
    )
