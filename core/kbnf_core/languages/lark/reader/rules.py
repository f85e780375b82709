"""From gathered definitions to rules over lexemes: templates and parameters become plain rules."""

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias

from kbnf_core.languages.lark.lexer.lark_terminals import LarkFactory
from kbnf_core.languages.lark.lexer.lexeme_rules import is_stopped, lexeme_rule
from kbnf_core.languages.lark.lexer.llguidance_terminals import LlguidanceFactory
from kbnf_core.languages.lark.reader import tree as lark
from kbnf_core.languages.lark.reader.dialect import Dialect
from kbnf_core.languages.lark.reader.embedded import Embedding
from kbnf_core.languages.lark.reader.model import Call, Choice, Node, Repeat, Sequence
from kbnf_core.languages.lark.reader.modules import Entry, Gathered, Module
from kbnf_core.languages.lark.reader.parameters import ParameterError, evaluate, holds
from kbnf_core.languages.lark.reader.report import APPROXIMATE, INVALID, NEVER, Report
from kbnf_core.languages.lark.reader.tree import (
    Alternation,
    Complement,
    Definition,
    Expression,
    GrammarReference,
    Group,
    Guarded,
    Intersection,
    Json,
    Nested,
    Range,
    RegexObject,
    Regexp,
    Special,
    String,
    TemplateUse,
    Use,
)
from kbnf_core.limits import DEFAULT_LIMITS, Limits
from kbnf_core.source import Span
from kbnf_core.traversal import resolve

Factory: TypeAlias = LarkFactory | LlguidanceFactory
"""Makes lexemes of one dialect."""

MOST_RULES = 5_000
"""Rules that templates and parameters may give rise to."""

_SPELT = 2_000
"""Characters of a template's arguments; beyond it they grow with every use."""


@dataclass(frozen=True, slots=True, eq=False)
class _Argument:
    """An argument of a template and the place where its names have their meaning."""

    body: Expression
    scope: "_Scope"
    spelt: str


@dataclass(frozen=True, slots=True, eq=False)
class _Scope:
    """Where a rule's body is read: its file, the template's arguments, the parameter."""

    module: Module
    arguments: Mapping[str, _Argument]
    parameter: int | None


_Part = tuple[Expression, _Scope]
_Steps = Generator[_Part, Node | None, Node | None]


@dataclass(frozen=True, slots=True, eq=False)
class _Instance:
    """A rule still to be built."""

    key: str
    entry: Entry
    scope: _Scope


@dataclass(slots=True)
class RuleBuilder:
    """Builds the rules that the start needs; the terminals among them through ``factory``."""

    gathered: Gathered
    dialect: Dialect
    factory: Factory
    embedder: Embedding
    report: Report
    limits: Limits = DEFAULT_LIMITS
    rules: dict[str, Node] = field(default_factory=dict)
    spans: dict[str, Span] = field(default_factory=dict)
    _pending: list[_Instance] = field(default_factory=list)
    _seen: set[str] = field(default_factory=set)

    def build(self, start: str) -> None:
        """Build ``start`` and all rules that it reaches."""
        entry = self.gathered.entry(start)
        if entry is None:
            return
        self._call(start, entry, _Scope(entry.module, {}, None), start)
        while self._pending:
            instance = self._pending.pop()
            place = instance.entry.module.place(instance.entry.definition.name.span)
            self.spans[instance.key] = place
            node = self._body(instance)
            self.rules[instance.key] = Choice((), place) if node is None else node

    def _body(self, instance: _Instance) -> Node | None:
        definition, scope = instance.entry.definition, instance.scope
        if definition.attributes and isinstance(self.factory, LlguidanceFactory):
            return self._lexeme_rule(definition, scope)
        return self._expression(definition.body, scope)

    def _lexeme_rule(self, definition: Definition, scope: _Scope) -> Node | None:
        inner = self._inner(definition.body)
        if isinstance(inner, Json | Nested | GrammarReference):
            for attribute in definition.attributes:
                place = scope.module.place(attribute.span)
                if attribute.name.value == "max_tokens":
                    self.report.loss(
                        APPROXIMATE, "`max_tokens` counts tokens, which a grammar cannot", place
                    )
            return self._expression(definition.body, scope)
        assert isinstance(self.factory, LlguidanceFactory)  # noqa: S101 - the caller has looked
        plain = partial(self._expression, definition.body, scope)
        return lexeme_rule(definition, scope.module, self.factory, self.report, plain)

    def _inner(self, body: Expression) -> Expression:
        while isinstance(body, Group):
            body = body.body
        return body

    def _expression(self, root: Expression, scope: _Scope) -> Node | None:
        """Return ``root`` as a node; None after a report."""
        return resolve((root, scope), self._steps)

    def _steps(self, part: _Part) -> _Steps:
        """Build a part; yields the parts that it needs."""
        root, scope = part
        place = scope.module.place(root.span)
        match root:
            case Group(body):
                return (yield body, scope)
            case lark.Sequence(items):
                nodes: list[Node | None] = []
                for item in items:
                    node = yield item, scope
                    nodes.append(node)
                whole = tuple(node for node in nodes if node is not None)
                return Sequence(whole, place) if len(whole) == len(nodes) else None
            case Alternation(branches):
                return (yield from self._choice(branches, scope, place))
            case Guarded():
                return (yield from self._choice((root,), scope, place))
            case lark.Repeat():
                return (yield from self._repeat(root, scope, place))
            case Use() if root.name.value in scope.arguments:
                argument = scope.arguments[root.name.value]
                return (yield argument.body, argument.scope)
            case Use():
                return self._use(root, scope)
            case TemplateUse():
                return self._template(root, scope)
            case _:
                return self._leaf(root, scope, place)

    def _leaf(self, node: Expression, scope: _Scope, place: Span) -> Node | None:
        match node:
            case String(raw) if not raw and self.dialect is Dialect.LLGUIDANCE:
                return Sequence((), place)
            case String() | Range() | Regexp() | RegexObject() | Complement():
                return self.factory.anonymous(node, scope.module)
            case Special():
                return self.embedder.special(node, place)
            case Json():
                return self.embedder.json(node, place)
            case Nested():
                return self.embedder.nested(node, place)
            case GrammarReference():
                return self.embedder.reference(node, place)
            case Intersection():
                self.report.error(
                    INVALID,
                    "& is only supported for tokens, not rules; try renaming the rule to UPPERCASE",
                    place,
                )
        return None

    def _choice(self, branches: tuple[Expression, ...], scope: _Scope, place: Span) -> _Steps:
        nodes: list[Node] = []
        for branch in branches:
            body = branch
            if isinstance(branch, Guarded):
                if not self._holds(branch, scope):
                    continue
                body = branch.body
            node = yield body, scope
            if node is None:
                return None
            nodes.append(node)
        return nodes[0] if len(nodes) == 1 else Choice(tuple(nodes), place)

    def _holds(self, branch: Guarded, scope: _Scope) -> bool:
        try:
            return holds(branch.condition, scope.parameter)
        except ParameterError as error:
            self.report.error(INVALID, f"%if: {error}", scope.module.place(branch.span))
            return False

    def _repeat(self, node: lark.Repeat, scope: _Scope, place: Span) -> _Steps:
        low, high = node.low, node.high
        if low < 0:
            self.report.error("E013", f"range start must be >= 0, got {low}", place)
            return None
        if high is not None and high < low:
            self.report.error("E013", f"range end must be >= start, got ({low}, {high})", place)
            return None
        if max(low, high or 0) > self.limits.repetition:
            self.report.error("E013", f"counts go up to {self.limits.repetition:,}", place)
            return None
        body = yield node.body, scope
        if body is None:
            return None
        return Sequence((), place) if high == 0 else Repeat(body, low, high, place)

    def _use(self, node: Use, scope: _Scope) -> Node | None:
        name = node.name.value
        place = scope.module.place(node.span)
        flat = scope.module.names.get(name)
        if flat in self.gathered.declared:
            self.report.note(NEVER, f"`{name}` is declared only; no text ever matches it", place)
            return Choice((), place)
        entry = self.gathered.entry(flat)
        if flat is None or entry is None:
            if name not in self.gathered.broken:
                self.report.error("E101", f"unknown name: `{name}` is used but not defined", place)
            return None
        if entry.definition.template:
            self.report.error(INVALID, f"the template `{name}` needs arguments", place)
            return None
        if node.name.is_terminal:
            return self.factory.named(flat, place)
        return self._parametric(node, flat, entry, scope)

    def _parametric(self, node: Use, flat: str, entry: Entry, scope: _Scope) -> Node | None:
        place = scope.module.place(node.span)
        takes = entry.definition.parameter is not None
        if takes != (node.parameter is not None):
            needs = "needs a parameter: `::...`" if takes else "takes no parameter"
            self.report.error(INVALID, f"`{node.name.value}` {needs}", place)
            return None
        if node.parameter is None:
            inner = _Scope(entry.module, {}, None)
            if isinstance(self.factory, LlguidanceFactory) and is_stopped(entry.definition):
                # What ends the lexeme depends on what follows, so each use is one of its own.
                return self._lexeme_rule(entry.definition, inner)
            return self._call(flat, entry, inner, flat, place)
        try:
            value = evaluate(node.parameter, scope.parameter)
        except ParameterError as error:
            self.report.error(INVALID, str(error), place)
            return None
        return self._call(flat, entry, _Scope(entry.module, {}, value), f"{flat}::{value}", place)

    def _template(self, node: TemplateUse, scope: _Scope) -> Node | None:
        name = node.name.value
        place = scope.module.place(node.span)
        module = scope.module
        if name in scope.arguments:
            # A template that was given as an argument.
            argument = scope.arguments[name]
            body = self._inner(argument.body)
            if isinstance(body, Use):
                name, module = body.name.value, argument.scope.module
        flat = module.names.get(name)
        entry = self.gathered.entry(flat)
        if flat is None or entry is None:
            self.report.error("E101", f"the template `{name}` is used but not defined", place)
            return None
        names = [parameter.value for parameter in entry.definition.template]
        if len(names) != len(node.arguments):
            message = f"`{name}` takes {len(names)} arguments, not {len(node.arguments)}"
            self.report.error(INVALID, message, place)
            return None
        arguments = {
            parameter: self._argument(argument, scope)
            for parameter, argument in zip(names, node.arguments, strict=True)
        }
        spelt = ",".join(argument.spelt for argument in arguments.values())
        if len(spelt) > _SPELT:
            self.report.error("E106", f"the arguments of `{name}` grow without an end", place)
            return None
        return self._call(
            flat, entry, _Scope(entry.module, arguments, None), f"{flat}{{{spelt}}}", place
        )

    def _argument(self, body: Expression, scope: _Scope) -> _Argument:
        """Bind an argument; one that is a parameter of the caller is what the caller was given."""
        inner = self._inner(body)
        if isinstance(inner, Use) and inner.name.value in scope.arguments:
            return scope.arguments[inner.name.value]
        spelt = scope.module.source.slice(body.span)
        for name, argument in scope.arguments.items():
            if name in spelt:
                spelt += f"[{name}={argument.spelt}]"
        return _Argument(body, scope, f"{scope.module.prefix}:{spelt}")

    def _call(
        self, flat: str, entry: Entry, scope: _Scope, key: str, place: Span | None = None
    ) -> Node | None:
        if key not in self._seen:
            if len(self._seen) >= MOST_RULES:
                self.report.error(
                    "E106",
                    f"more than {MOST_RULES:,} rules come of `{flat}` and its parameters",
                    scope.module.place(entry.definition.name.span),
                )
                return None
            self._seen.add(key)
            self._pending.append(_Instance(key, entry, scope))
        return Call(key, entry.module.place(entry.definition.span) if place is None else place)
