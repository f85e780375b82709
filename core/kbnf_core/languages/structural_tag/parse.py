"""The reader of structural tags: from JSON to rules, and to a tree with the places of the tag.

Tests: tests/unit/languages/test_structural_tag.py, tests/unit/languages/tools
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from kbnf_core.ir import GrammarRules, Node, TokenTerminal
from kbnf_core.ir.build import moved
from kbnf_core.kbnf.parsed import Expressed, Loss, Marked, Parsed, Request
from kbnf_core.kbnf.tree import Document
from kbnf_core.languages.json_schema import Options, options_of
from kbnf_core.languages.json_schema.parse import diagnostic, guided
from kbnf_core.languages.structural_tag.contents import START, RuleSet, options_in
from kbnf_core.languages.structural_tag.read import FormatNode, TagReport, read_tag
from kbnf_core.languages.structural_tag.tree import TagTree
from kbnf_core.languages.structural_tag.write import OF_SCHEMAS, TagWriter, pointer_of
from kbnf_core.lower.translate import translate
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
    report = TagReport(source)
    options = replace(options_of(request.options), lossy=request.lossy)
    nodes = read_tag(source, report, request.limits, request.imports)
    return TagReading(nodes, report, request, options)


class TagReading(Parsed):
    """The rules of the nodes of a tag, outer ones first, with the findings.

    ``markers`` are texts that are one token each. It has the rules that are run, which have names
    for people. The tree is made of them on demand, and for a start with another name.
    """

    def __init__(
        self,
        nodes: list[FormatNode],
        report: TagReport,
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
        self._made: list[RuleSet] = []
        if nodes:
            self._made = made = self._written(report)
            if not report.errors:
                rules = [(*rule, rule_set.pointer) for rule_set in made for rule in rule_set.rules]
                self.rules = {name: body for name, body, _ in rules}
                self._pointers = {name: pointer for name, _, pointer in rules}
        document = Document(report.source, (), (), frozenset((START,)))
        if self.rules is not None and request.start not in (None, *self.rules):
            # A rule that only the tree has, or none.
            self.rules, document = None, self._tree(report)
        losses = tuple(
            Loss(loss.code, loss.message, loss.span, notes=loss.notes, helps=loss.helps)
            for loss in sorted(report.losses, key=Diagnostic.sort_key)
        )
        findings = tuple(sorted([*report.errors, *report.notes], key=Diagnostic.sort_key))
        super().__init__(document, findings, losses=losses)

    def _written(self, report: TagReport) -> list[RuleSet]:
        nodes, request = self._nodes, self._request
        return TagWriter(nodes, report, request, self._options, self._markers).write()

    def _tree(self, report: TagReport) -> Document:
        """Return the tree; where there are errors, one without rules."""
        definitions = TagTree(self._made or self._written(report), report).definitions()
        if report.errors:
            return Document(report.source, (), (), frozenset((START,)))
        generated = frozenset(
            report.span(pointer_of(node)) for node in self._nodes if node.kind in OF_SCHEMAS
        )
        return Document(report.source, definitions, (), generated=generated)

    @property
    def document(self) -> Document:
        """The tree. Raises GrammarError for one that passes a limit."""
        if self.rules is not None and not self._document.definitions:
            report = self._report.again()
            result = self._tree(report)
            if report.errors:
                raise GrammarError(report.errors)
            self._document = result
        return self._document

    def named(self) -> Mapping[str, Node] | None:
        """Return the rules that are run, each with the span of its format."""
        if self.rules is None:
            return None
        return {name: moved(body, {}, self.rule_span(name)) for name, body in self.rules.items()}

    @property
    def names(self) -> Mapping[str, Span]:
        """The span of the format of each rule."""
        if self.rules is None:
            return super().names
        return {name: self.rule_span(name) for name in self.rules}

    def expressed(self) -> Expressed | None:
        """Return the rules of the tree; None where that passes a limit."""
        try:
            grammar = translate(self.document, START, self._request.limits).grammar
        except GrammarError:
            return None
        return None if grammar is None else Expressed(grammar.rules)

    def rule_span(self, rule: str) -> Span:
        """Return where the format of a rule is."""
        if self.rules is None:
            return super().rule_span(rule)
        return self._report.span(self._pointers.get(rule, ""))

    def release(self) -> None:
        """Drop what the tree is made of, which is large; it is written again on demand."""
        self._made = []
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
        rules = dict(rule for rule_set in writer.write() for rule in rule_set.rules)
        return Marked(GrammarRules(START, rules), writer.marks)
