"""Reads EBNF to rules. There is no lexer: rules match characters.

A difference (``x - y``) is kept where both of its parts are regular: as the automaton of the texts
of ``x`` that are not texts of ``y``. Differences inside of others, or in rules that these use, are
worked out first. The start is the first rule.
"""

from collections.abc import Mapping
from dataclasses import replace

from kbnf_core import ir
from kbnf_core.automata import operations
from kbnf_core.automata.expression import print_characters
from kbnf_core.automata.traversal import fold
from kbnf_core.conversion.automata import write_dfa
from kbnf_core.conversion.rewrite import rewrite
from kbnf_core.frontend import too_much_work
from kbnf_core.kbnf import build
from kbnf_core.kbnf.parsed import Loss, Parsed, Request
from kbnf_core.kbnf.tree import (
    Definition,
    Document,
    Expression,
    Leaf,
    Name,
    Pattern,
    Reference,
    uses_in,
)
from kbnf_core.languages.ebnf import tree
from kbnf_core.languages.ebnf.parse import parse_ebnf
from kbnf_core.lower.regular import NotRegularError, Regulars
from kbnf_core.lower.translate import translate
from kbnf_core.text.budget import Budget
from kbnf_core.text.diagnostics import Diagnostic
from kbnf_core.text.errors import LimitError, WorkLimitError
from kbnf_core.text.source import Source, Span

UNSUPPORTED, APPROXIMATE = "E451", "W451"


def read_ebnf(source: Source, request: Request) -> Parsed:
    """Read a grammar; findings are in the result. Never raises."""
    read, comments = parse_ebnf(source, request.limits)
    findings = list(read.findings)
    if not (read.trees or findings):
        helps = ("a rule is written `name ::= ...` (W3C) or `name = ... ;` (ISO/IEC 14977)",)
        message = "this file defines no rule"
        findings.append(Diagnostic("E010", message, source, Span(0, 0), helps=helps))
    reader = _Reader(source, request)
    definitions = [reader.definition(rule) for rule in read.trees]
    try:
        definitions = reader.without_differences(definitions)
    except WorkLimitError as error:
        findings.append(too_much_work(Parsed(Document(source, (), ()), ()), error))
    findings = sorted([*findings, *reader.findings], key=Diagnostic.sort_key)
    document = Document(source, tuple(definitions), comments, frozenset(read.broken))
    start = request.start or (read.trees[0].name if read.trees else None)
    return Parsed(document, tuple(findings), start, tuple(reader.losses))


class _Reader:
    """Makes trees of KBNF; a difference is by the name of a rule until its automaton is known."""

    def __init__(self, source: Source, request: Request) -> None:
        self._source = source
        self._request = request
        self.findings: list[Diagnostic] = []
        self.losses: list[Loss] = []
        self._differences: dict[str, tuple[Expression, Expression, Span]] = {}

    def definition(self, rule: tree.Rule) -> Definition:
        """Return a rule, in which a difference is a use of a rule that nobody can name."""
        body = fold(rule.body, tree.children, self._form)
        placed = build.placed(body, rule.span) if body is build.EMPTY else body
        return Definition(Name(rule.name, rule.name_span), placed, rule.span)

    def _form(self, node: tree.Node, parts: list[Expression]) -> Expression:
        match node:
            case tree.Use(name):
                return build.call(name, node.span)
            case tree.Text(value):
                return build.text(value, node.span)
            case tree.Characters(points):
                if not points:
                    return build.nothing(node.span)
                return build.regex(print_characters(points), node.span)
            case tree.Special(text):
                return self._refuse(f"`? {text} ?` is described in prose", node.span)
            case tree.Difference():
                name = f"-{len(self._differences)}"
                self._differences[name] = (parts[0], parts[1], node.span)
                return build.call(name, node.span)
            case ir.Sequence():
                return build.sequence(*parts, span=node.span)
            case ir.Choice():
                return build.alternation(parts, node.span)
            case ir.Repeat(_, low, high):
                return build.repeated(parts[0], low, high, node.span)

    def _refuse(self, message: str, span: Span) -> Expression:
        """Report a part without an equivalent, and return what matches nothing in its place."""
        if self._request.lossy:
            self.losses.append(Loss(APPROXIMATE, f"{message}: it cannot match", span))
        else:
            helps = ("with `--lossy` it matches nothing",)
            finding = Diagnostic(UNSUPPORTED, message, self._source, span, helps=helps)
            self.findings.append(finding)
        return build.nothing(span)

    def without_differences(self, definitions: list[Definition]) -> list[Definition]:
        """Return rules with the automata of differences. Raises WorkLimitError."""
        budget = Budget(self._request.limits.work)
        pending = dict(self._differences)
        while pending:
            rules = self._rules(definitions, pending, budget)
            regulars = Regulars(rules, self._request.limits, budget)
            forms: dict[str, Expression] = {}
            for name, (_, _, span) in pending.items():
                try:
                    kept, excluded = (rules[f"{name}{side}"] for side in "+-")
                    forms[name] = self._difference(regulars, kept, excluded, span, budget)
                except (KeyError, NotRegularError):
                    continue
            if not forms:
                for name, (_, _, span) in pending.items():
                    message = "a difference of texts that are not regular"
                    forms[name] = self._refuse(message, span)
            pending = {
                name: (_replaced(kept, forms), _replaced(excluded, forms), span)
                for name, (kept, excluded, span) in pending.items()
                if name not in forms
            }
            definitions = [replace(each, body=_replaced(each.body, forms)) for each in definitions]
        return definitions

    def _rules(
        self,
        definitions: list[Definition],
        pending: Mapping[str, tuple[Expression, Expression, Span]],
        budget: Budget,
    ) -> dict[str, ir.Node]:
        """Return the rules, and each side of a difference that waits for no other, in the IR."""
        sides = [
            build.definition(f"{name}{mark}", side, span)
            for name, (kept, excluded, span) in pending.items()
            for mark, side in (("+", kept), ("-", excluded))
        ]
        everything = [*definitions, *sides]
        usable: set[str] = {each.name.value for each in everything}
        grown = True
        while grown:
            uses = {
                each.name.value
                for each in everything
                if any(use.value not in usable for use in uses_in(each.body))
            }
            grown = bool(uses & usable)
            usable -= uses
        chosen = [each for each in everything if each.name.value in usable]
        if not chosen:
            return {}
        document = Document(self._source, tuple(chosen), ())
        grammar = translate(document, chosen[0].name.value, self._request.limits, budget).grammar
        return dict(grammar.rules) if grammar is not None else {}

    def _difference(
        self, regulars: Regulars, kept: ir.Node, excluded: ir.Node, span: Span, budget: Budget
    ) -> Expression:
        limits = self._request.limits
        try:
            dfa = operations.difference(regulars.of(kept), regulars.of(excluded), limits, budget)
        except LimitError:
            raise NotRegularError from None
        form = build.nothing(span) if dfa.is_empty else write_dfa(dfa, span)
        if form is None:
            raise NotRegularError
        return replace(form, dfa=dfa) if isinstance(form, Pattern) else form


def _replaced(root: Expression, forms: Mapping[str, Expression]) -> Expression:
    def change(leaf: Leaf) -> Expression:
        return forms.get(leaf.name.value, leaf) if isinstance(leaf, Reference) else leaf

    return rewrite(root, change)
