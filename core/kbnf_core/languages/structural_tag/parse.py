"""The reader of structural tags: from JSON to a tree of KBNF with the places of the tag."""

from collections.abc import Iterator
from dataclasses import replace

from kbnf_core.conversion.rewrite import at, placed
from kbnf_core.kbnf.parsed import Loss, Marked, Parsed, Request
from kbnf_core.kbnf.tree import Document
from kbnf_core.languages.json_schema.options import Options, options_of
from kbnf_core.languages.json_schema.parse import diagnostic, guided
from kbnf_core.languages.structural_tag.contents import options_in
from kbnf_core.languages.structural_tag.marks import marked
from kbnf_core.languages.structural_tag.read import Node, Report, read_tag
from kbnf_core.languages.structural_tag.write import OF_SCHEMAS, START, place_of, write_rules
from kbnf_core.text.diagnostics import Diagnostic
from kbnf_core.text.source import Source


def parse_structural_tag(source: Source, request: Request) -> Parsed:
    """Read a structural tag of XGrammar's, a JSON text, also in its older form.

    With a vocabulary tokens that are named by their texts become ids, which all that excludes
    tokens needs. The options are those of JSON Schemas, for those inside. Each finding begins with
    the JSON Pointer of its place. Raises ``ConfigError`` for options that are none.
    """
    report = Report(source)
    options = replace(options_of(request.options), lossy=request.lossy)
    nodes = read_tag(source, report, request.limits, request.imports)
    return TagReading(nodes, report, request, options)


class TagReading(Parsed):
    """The rules of the nodes of a tag, outer ones first, with what was found on the way."""

    def __init__(
        self, nodes: list[Node], report: Report, request: Request, options: Options
    ) -> None:
        source = report.source
        rules = write_rules(nodes, report, request, options) if nodes else ()
        broken = frozenset((START,)) if report.errors else frozenset[str]()
        kept = () if report.errors else tuple(placed(each, at(each.span)) for each in rules)
        generated = frozenset(
            report.span(place_of(each)) for each in nodes if each.kind in OF_SCHEMAS
        )
        losses = tuple(
            Loss(each.code, each.message, each.span, notes=each.notes, helps=each.helps)
            for each in sorted(report.losses, key=Diagnostic.sort_key)
        )
        super().__init__(
            Document(source, kept, (), broken, generated),
            tuple(sorted([*report.errors, *report.notes], key=Diagnostic.sort_key)),
            losses=losses,
        )
        self._nodes = nodes
        self._report = report
        self._request = request
        self._options = options

    def release(self) -> None:
        """Forget what was read of the schemas, which is much to keep."""
        self._report.written.clear()

    def lint(self) -> tuple[Diagnostic, ...]:
        """Return what is suspicious in the schemas of a tag."""
        return () if self._report.errors else tuple(self._suspicious())

    def _suspicious(self) -> Iterator[Diagnostic]:
        from kbnf_core.languages.json_schema.lint import contradictions, oddities
        from kbnf_core.languages.json_schema.schemas import schemas_of

        for node in self._nodes:
            if node.kind in OF_SCHEMAS:
                schema = node.fields["json_schema"]
                options = guided(schema, options_in(node.fields, self._options))
                written = self._report.written.get(id(schema))
                schemas = written[1] if written else schemas_of(schema, options)
                for problem in (*oddities(schema, options), *contradictions(schemas)):
                    pointer = f"{node.pointer}/json_schema{problem.pointer}"
                    source = self._report.source
                    found = diagnostic(problem._replace(pointer=pointer), source)
                    yield replace(found, span=self._report.span(pointer), fixes=())

    def marked(self) -> Marked:
        """Return the marked rules of the tag."""
        return marked(self._nodes, self._request, self._options)
