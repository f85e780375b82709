"""The reader of structural tags: from JSON to rules, and to a tree with the places of the tag.

Tests: tests/unit/languages/test_structural_tag.py, tests/unit/languages/tools
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from kbnf_core.conversion.rewrite import at, placed
from kbnf_core.ir import TokenTerminal
from kbnf_core.ir.analysis import reachable
from kbnf_core.kbnf.build import Form, definition
from kbnf_core.kbnf.parsed import Loss, Marked, Parsed, Request
from kbnf_core.kbnf.tree import Definition, Document
from kbnf_core.languages.json_schema import Options, options_of
from kbnf_core.languages.json_schema.parse import diagnostic, guided
from kbnf_core.languages.structural_tag.contents import (
    RuleContents,
    TreeContents,
    called_in,
    options_in,
)
from kbnf_core.languages.structural_tag.read import FormatNode, Report, read_tag
from kbnf_core.languages.structural_tag.write import (
    OF_SCHEMAS,
    START,
    TagRule,
    TagWriter,
    pointer_of,
)
from kbnf_core.text.diagnostics import Diagnostic
from kbnf_core.text.errors import GrammarError
from kbnf_core.text.source import Source, Span

if TYPE_CHECKING:
    from kbnf_core.languages.structural_tag.reading import CallLanguage


def parse_structural_tag(source: Source, request: Request) -> Parsed:
    """Read a structural tag of XGrammar's, a JSON text, also in its older form.

    With a vocabulary tokens that are named by their texts become ids, which all that excludes
    tokens needs. The options are those of JSON Schemas, for those inside. Each finding begins with
    the JSON Pointer of its place. Raises ``ConfigError`` for unknown options.
    """
    report = Report(source)
    options = replace(options_of(request.options), lossy=request.lossy)
    nodes = read_tag(source, report, request.limits, request.imports)
    return TagReading(nodes, report, request, options)


def tree_of(rules: Sequence[TagRule[Form]], report: Report) -> tuple[Definition, ...]:
    """Return the rules that the start leads to, each at its place."""
    called: dict[str, set[str]] = {}
    for rule in rules:
        called.setdefault(rule.name, set()).update(called_in(rule.body))
    used = reachable([START], called)
    spans = [(rule, report.span(rule.pointer)) for rule in rules if rule.name in used]
    return tuple(placed(definition(*rule[:2], span), at(span)) for rule, span in spans)


class TagReading(Parsed):
    """The rules of the nodes of a tag, outer ones first, with the findings.

    ``markers`` are texts that are one token each. It has the rules that are run. The tree of the
    same texts is made where it is asked for, at once by a request for a tree, or for a start, whose
    name is one in the tree.
    """

    def __init__(
        self,
        nodes: list[FormatNode],
        report: Report,
        request: Request,
        options: Options,
        markers: Mapping[str, TokenTerminal] = MappingProxyType({}),
    ) -> None:
        self._nodes = nodes
        self._markers = markers
        self._report = report
        self._request = request
        self._options = options
        self._pointers: dict[str, str] = {}
        source = report.source
        document = Document(source, (), (), frozenset((START,)))
        if request.as_tree or request.start not in (None, START) or not nodes:
            document = self._tree(report)
        else:
            rules = TagWriter(RuleContents, nodes, report, request, options, markers).write()
            if not report.errors:
                self.rules = {rule.name: rule.body for rule in rules}
                self._pointers = {rule.name: rule.pointer for rule in rules}
        losses = tuple(
            Loss(loss.code, loss.message, loss.span, notes=loss.notes, helps=loss.helps)
            for loss in sorted(report.losses, key=Diagnostic.sort_key)
        )
        findings = tuple(sorted([*report.errors, *report.notes], key=Diagnostic.sort_key))
        super().__init__(document, findings, losses=losses)

    def _tree(self, report: Report) -> Document:
        """Return the tree; where there are errors, one without rules."""
        nodes = self._nodes
        if nodes:
            writer = TagWriter(
                TreeContents, nodes, report, self._request, self._options, self._markers
            )
            rules = writer.write()
        if report.errors or not nodes:
            return Document(report.source, (), (), frozenset((START,)))
        generated = frozenset(
            report.span(pointer_of(node)) for node in nodes if node.kind in OF_SCHEMAS
        )
        return Document(report.source, tree_of(rules, report), (), generated=generated)

    @property
    def document(self) -> Document:
        """The tree, which may have been read to rules alone."""
        if self.rules is not None and not self._document.definitions:
            self._document = self._tree(self._report.again())
        return self._document

    def readable(self) -> Document:
        """Return the tree. Raises GrammarError for one that passes a limit."""
        result = self.document
        if self.rules is not None and not result.definitions:
            report = self._report.again()
            self._tree(report)
            raise GrammarError(report.errors)
        return result

    def place(self, rule: str) -> Span:
        """Return where the format of a rule is."""
        if self.rules is None:
            return super().place(rule)
        return self._report.span(self._pointers.get(rule, ""))

    def release(self) -> None:
        """Drop the data read from the schemas, which are large."""
        self._report.written.clear()

    def lint(self) -> tuple[Diagnostic, ...]:
        """Return the warnings about the schemas of a tag."""
        return () if self._report.errors else tuple(self._suspicious())

    def _suspicious(self) -> Iterator[Diagnostic]:
        from kbnf_core.languages.json_schema.advice import contradictions, oddities
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
                    finding = diagnostic(problem._replace(pointer=pointer), source)
                    yield replace(finding, span=self._report.span(pointer), fixes=())

    def language(self) -> "CallLanguage | None":
        """Return the reading language of the tag, None where it has none."""
        from kbnf_core.languages.structural_tag.reading import language_of

        return language_of(self._nodes)

    def marked(self) -> Marked:
        """Return the reading language of the tag, or its marked rules where it has none."""
        from kbnf_core.languages.structural_tag.marks import MarkedWriter
        from kbnf_core.languages.structural_tag.reading import dumped

        language = self.language()
        if language is not None:
            return Marked(None, {}, language=dumped(language))
        report = self._report.again()
        writer = MarkedWriter(self._nodes, report, self._request, self._options)
        return Marked(Document(Source(""), tree_of(writer.write(), report), ()), writer.marks)
