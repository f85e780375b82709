"""From gathered definitions to rules over lexemes: templates and parameters become plain rules.

A parameter is one number of 64 bits; ``[a:b]`` names its bits a up to b, exclusive. A rule with one
is a family: there is a rule for each value that is used, as for those of KBNF (``ir.families``).

Tests: tests/unit/languages/lark
"""

import operator
import re
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from kbnf_core.automata.traversal import resolve
from kbnf_core.ir import Call, Choice, Repeat, Sequence
from kbnf_core.ir.families import Members, TooManyMembersError, member_name
from kbnf_core.kbnf.read import number
from kbnf_core.languages.lark.lexer.lark_terminals import LarkFactory
from kbnf_core.languages.lark.lexer.llguidance_terminals import (
    LlguidanceFactory,
    is_stopped,
    lexeme_rule,
    plain_words,
)
from kbnf_core.languages.lark.reader import tree as lark
from kbnf_core.languages.lark.reader.dialect import Dialect
from kbnf_core.languages.lark.reader.embedded import GRAMMARS, Embedding
from kbnf_core.languages.lark.reader.marks import Marks
from kbnf_core.languages.lark.reader.model import Lexeme, Node
from kbnf_core.languages.lark.reader.modules import Entry, Gathered, Module
from kbnf_core.languages.lark.reader.report import (
    APPROXIMATE,
    INVALID,
    NEVER,
    LarkRefusedError,
    Report,
    check_counts,
)
from kbnf_core.text.limits import DEFAULT_LIMITS, Limits
from kbnf_core.text.source import Span

_ALL = 2**64 - 1
_PARAMETER_WORD = re.compile(
    r"(?P<number>0x[0-9A-Fa-f]{1,20}|\d{1,20})|\[\s*(?P<low>\d{1,2})\s*:\s*(?P<high>\d{1,2})\s*\]"
    r"|(?P<name>[A-Za-z_]\w*)\s*(?P<open>\()?|(?P<close>\))|[,\s]+"
)


class _Bits(NamedTuple):
    """Bits ``low`` up to ``high`` of a parameter."""

    low: int
    high: int

    @property
    def full(self) -> int:
        """The greatest value."""
        return (1 << (self.high - self.low)) - 1

    def of(self, parameter: int) -> int:
        """Return the value of these bits."""
        return parameter >> self.low & self.full

    def put(self, parameter: int, value: int) -> int:
        """Return ``parameter`` with other bits."""
        return parameter & ~(self.full << self.low) | value << self.low


_Value = tuple[str, Any]
"""A kind and a value: a number, some bits, a condition, or a parameter, by their first letters."""

_FUNCTIONS: dict[str, tuple[str, str, Callable[..., int]]] = {
    "set_bit": ("n", "p", lambda p, bit: p | 1 << bit),
    "clear_bit": ("n", "p", lambda p, bit: p & ~(1 << bit)),
    "bit_and": ("n", "p", lambda p, mask: p & mask),
    "bit_or": ("n", "p", lambda p, mask: p | mask),
    "incr": ("b", "p", lambda p, bits: bits.put(p, min(bits.of(p) + 1, bits.full))),
    "decr": ("b", "p", lambda p, bits: bits.put(p, max(bits.of(p) - 1, 0))),
    "true": ("", "c", lambda _: True),
    "not": ("c", "c", lambda _, holds: not holds),
    "and": ("c+", "c", lambda _, *all_hold: all(all_hold)),
    "or": ("c+", "c", lambda _, *any_holds: any(any_holds)),
    "bit_set": ("n", "c", lambda p, bit: p >> bit & 1),
    "bit_clear": ("n", "c", lambda p, bit: not p >> bit & 1),
    "is_ones": ("b", "c", lambda p, bits: bits.of(p) == bits.full),
    "is_zeros": ("b", "c", lambda p, bits: bits.of(p) == 0),
}
"""What functions take, what they give, and how, from the parameter and their arguments."""

for _relation in (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge):
    _FUNCTIONS[_relation.__name__] = (
        "bn",
        "c",
        lambda p, bits, number, relation=_relation: relation(bits.of(p), number),
    )
    _FUNCTIONS[f"bit_count_{_relation.__name__}"] = (
        "bn",
        "c",
        lambda p, bits, number, relation=_relation: relation(bits.of(p).bit_count(), number),
    )


def evaluate(expression: str, parameter: int | None) -> int:
    """Return the parameter that an expression gives, as ``set_bit(0)``, in rules with one."""
    kind, value = _value(expression, parameter)
    if kind == "c":
        raise LarkRefusedError(INVALID, f"`{expression.strip()}` changes no parameter")
    return parameter if kind == "b" and parameter is not None else value & _ALL


def holds(condition: str, parameter: int | None) -> bool:
    """Return whether the condition after ``%if`` applies."""
    kind, value = _value(condition, parameter)
    if kind != "c":
        raise LarkRefusedError(INVALID, f"`{condition.strip()}` is not a condition")
    return bool(value)


def _value(text: str, parameter: int | None) -> _Value:
    """Evaluate an expression: each call as its bracket is closed."""
    calls: list[tuple[str, list[_Value]]] = [("", [])]
    offset = 0
    while offset < len(text):
        word = _PARAMETER_WORD.match(text, offset)
        if word is None:
            raise LarkRefusedError(INVALID, f"`{text[offset:].strip()}` cannot be read")
        offset = word.end()
        if word["open"]:
            calls.append((word["name"], []))
        elif word["close"]:
            name, arguments = calls.pop()
            if not calls:
                raise LarkRefusedError(INVALID, "a bracket is closed that is not open")
            calls[-1][1].append(_called(name, arguments, parameter))
        elif word.lastgroup:
            calls[-1][1].append(_one(word, parameter))
    if len(calls) != 1 or len(calls[0][1]) != 1:
        raise LarkRefusedError(INVALID, f"`{text.strip()}` cannot be read")
    (call,) = calls[0][1]
    if parameter is None and call[0] != "n":
        raise LarkRefusedError(INVALID, "there is no parameter here")
    return call


def _one(word: re.Match[str], parameter: int | None) -> _Value:
    """Return the value of a number, of some bits, or of a name without arguments."""
    if word["number"]:
        written = word["number"]
        return "n", int(written, 16) if "x" in written else number(written)
    bounds = number(word["low"] or ""), number(word["high"] or "")
    low, high = (0, 64) if word["name"] == "_" else bounds
    if low < high <= 64:
        return "b", _Bits(low, high)
    if word["name"]:
        return _called(word["name"], [], parameter)
    raise LarkRefusedError(INVALID, "bits are written as `[low:high]`, low < high <= 64")


def _called(name: str, arguments: list[_Value], parameter: int | None) -> _Value:
    takes, gives, function = _FUNCTIONS.get(name, ("?", "", int))
    kinds = "".join(kind for kind, _ in arguments)
    if not (kinds == takes or (takes == "c+" and set(kinds) == {"c"})):
        raise LarkRefusedError(INVALID, f"`{name}` with these arguments cannot be read")
    if name in ("set_bit", "clear_bit") and arguments[0][1] > 63:
        raise LarkRefusedError(INVALID, "a parameter has 64 bits")
    return gives, function(parameter or 0, *(value for _, value in arguments))


Factory: TypeAlias = LarkFactory | LlguidanceFactory
"""Makes lexemes of one dialect."""

_SPELT = 2_000
"""Characters of a template's arguments; beyond it they grow with every use."""


@dataclass(frozen=True, slots=True, eq=False)
class _Argument:
    """An argument of a template and the place where its names have their meaning."""

    body: lark.Expression
    scope: "_Scope"
    spelt: str


@dataclass(frozen=True, slots=True, eq=False)
class _Scope:
    """Where a rule's body is read: its file, the template's arguments, the parameter."""

    module: Module
    arguments: Mapping[str, _Argument]
    parameter: int | None


_Expansion = tuple[lark.Expression, _Scope]
_Steps = Generator[_Expansion, Node | None, Node | None]


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
    marks: Marks | None
    report: Report
    limits: Limits = DEFAULT_LIMITS
    rules: dict[str, Node] = field(default_factory=dict)
    spans: dict[str, Span] = field(default_factory=dict)
    _members: Members[_Instance] = field(init=False)

    def __post_init__(self) -> None:
        self._members = Members(self.limits.family_rules)

    def build(self, start: str) -> None:
        """Build ``start`` and all rules that it reaches."""
        entry = self.gathered.entry(start)
        if entry is None:
            return
        self._call(start, entry, _Scope(entry.module, {}, None), start)
        for instance in self._members:
            span = instance.entry.module.main_span(instance.entry.definition.name.span)
            self.spans[instance.key] = span
            node = self._body(instance)
            self.rules[instance.key] = Choice((), span) if node is None else node

    def _body(self, instance: _Instance) -> Node | None:
        definition, scope = instance.entry.definition, instance.scope
        if definition.attributes and isinstance(self.factory, LlguidanceFactory):
            return self._lexeme_rule(definition, scope)
        return self._expression(definition.body, scope)

    def _lexeme_rule(self, definition: lark.LarkDefinition, scope: _Scope) -> Node | None:
        inner = self._inner(definition.body)
        if isinstance(inner, lark.Foreign) and inner.kind in GRAMMARS:
            for attribute in definition.attributes:
                span = scope.module.main_span(attribute.span)
                if attribute.name.value == "max_tokens":
                    self.report.loss(
                        APPROXIMATE, "`max_tokens` counts tokens, which a grammar cannot", span
                    )
            return self._expression(definition.body, scope)
        assert isinstance(self.factory, LlguidanceFactory)  # noqa: S101 - the caller has looked
        plain = partial(self._expression, definition.body, scope)
        return lexeme_rule(definition, scope.module, self.factory, self.report, plain)

    def _inner(self, body: lark.Expression) -> lark.Expression:
        while isinstance(body, lark.Group):
            body = body.body
        return body

    def _expression(self, root: lark.Expression, scope: _Scope) -> Node | None:
        """Return ``root`` as a node; None after a report."""
        return resolve((root, scope), self._steps)

    def _steps(self, expansion: _Expansion) -> _Steps:
        """Build a part; yields the parts that it needs."""
        try:
            return (yield from self._expand(*expansion))
        except LarkRefusedError as error:
            self.report.refused(error, expansion[1].module.main_span(expansion[0].span))
            return None

    def _expand(self, root: lark.Expression, scope: _Scope) -> _Steps:
        span = scope.module.main_span(root.span)
        match root:
            case lark.Group(body):
                return (yield body, scope)
            case Sequence(items):
                nodes: list[Node | None] = []
                for item in items:
                    node = yield item, scope
                    nodes.append(node)
                whole = tuple(node for node in nodes if node is not None)
                return Sequence(whole, span) if len(whole) == len(nodes) else None
            case Choice() | lark.Guarded() if not self._is_trie(root):
                branches = root.branches if isinstance(root, Choice) else (root,)
                return (yield from self._choice(branches, scope, span))
            case Repeat():
                return (yield from self._repeat(root, scope, span))
            case lark.Use() if root.name.value in scope.arguments:
                argument = scope.arguments[root.name.value]
                return (yield argument.body, argument.scope)
            case lark.Use():
                return self._use(root, scope)
            case lark.TemplateUse():
                return self._template(root, scope)
            case _:
                return self._leaf(root, scope, span)

    def _is_trie(self, node: lark.Expression) -> bool:
        """Return whether a choice is of texts alone: LLGuidance lexes them side by side."""
        return self.dialect is Dialect.LLGUIDANCE and plain_words(node) is not None

    def _leaf(self, node: lark.Expression, scope: _Scope, span: Span) -> Node | None:
        match node:
            case lark.String(raw) if not raw and self.dialect is Dialect.LLGUIDANCE:
                return Sequence((), span)
            case lark.Foreign(kind) if kind is not lark.ForeignKind.REGEX:
                return self.embedder.embed(node, span)
            case lark.Intersection():
                raise LarkRefusedError(
                    INVALID,
                    "& is only supported for tokens, not rules; try renaming the rule to UPPERCASE",
                )
        return self.factory.anonymous(node, scope.module)

    def _choice(self, branches: tuple[lark.Expression, ...], scope: _Scope, span: Span) -> _Steps:
        nodes: list[Node] = []
        for branch in branches:
            body = branch
            if isinstance(branch, lark.Guarded):
                if not self._holds(branch, scope):
                    continue
                body = branch.body
            node = yield body, scope
            if node is None:
                return None
            nodes.append(node)
        return nodes[0] if len(nodes) == 1 else Choice(tuple(nodes), span)

    def _holds(self, branch: lark.Guarded, scope: _Scope) -> bool:
        try:
            return holds(branch.condition, scope.parameter)
        except LarkRefusedError as error:
            self.report.error(INVALID, f"%if: {error}", scope.module.main_span(branch.span))
            return False

    def _repeat(self, node: Repeat[lark.Expression], scope: _Scope, span: Span) -> _Steps:
        low, high = node.low, node.high
        check_counts(low, high, self.limits.repetition)
        body = yield node.body, scope
        if body is None:
            return None
        return Sequence((), span) if high == 0 else Repeat(body, low, high, span)

    def _use(self, node: lark.Use, scope: _Scope) -> Node | None:
        name = node.name.value
        span = scope.module.main_span(node.span)
        flat = scope.module.names.get(name)
        mark = self.marks and self.marks.named(flat or name)
        if mark is not None:
            return Lexeme(mark, span)
        if flat in self.gathered.declared:
            self.report.note(NEVER, f"`{name}` is declared only; no text ever matches it", span)
            return Choice((), span)
        entry = self.gathered.entry(flat)
        if flat is None or entry is None:
            if name in self.gathered.broken:
                return None
            raise LarkRefusedError("E101", f"unknown name: `{name}` is used but not defined")
        if entry.definition.template:
            raise LarkRefusedError(INVALID, f"the template `{name}` needs arguments")
        if node.name.is_terminal:
            return self.factory.named(flat, span)
        return self._parametric(node, flat, entry, scope)

    def _parametric(self, node: lark.Use, flat: str, entry: Entry, scope: _Scope) -> Node | None:
        span = scope.module.main_span(node.span)
        takes = entry.definition.parameter is not None
        if takes != (node.parameter is not None):
            needs = "needs a parameter: `::...`" if takes else "has no parameters"
            raise LarkRefusedError(INVALID, f"`{node.name.value}` {needs}")
        if node.parameter is None:
            inner = _Scope(entry.module, {}, None)
            if isinstance(self.factory, LlguidanceFactory) and is_stopped(entry.definition):
                # What ends the lexeme depends on what follows, so each use is one of its own.
                return self._lexeme_rule(entry.definition, inner)
            return self._call(flat, entry, inner, flat, span)
        value = evaluate(node.parameter, scope.parameter)
        return self._call(
            flat, entry, _Scope(entry.module, {}, value), member_name(flat, value), span
        )

    def _template(self, node: lark.TemplateUse, scope: _Scope) -> Node | None:
        name = node.name.value
        span = scope.module.main_span(node.span)
        module = scope.module
        if name in scope.arguments:
            # A template that was given as an argument.
            argument = scope.arguments[name]
            body = self._inner(argument.body)
            if isinstance(body, lark.Use):
                name, module = body.name.value, argument.scope.module
        flat = module.names.get(name)
        entry = self.gathered.entry(flat)
        if flat is None or entry is None:
            raise LarkRefusedError("E101", f"the template `{name}` is used but not defined")
        names = [parameter.value for parameter in entry.definition.template]
        if len(names) != len(node.arguments):
            message = f"`{name}` takes {len(names)} arguments, not {len(node.arguments)}"
            raise LarkRefusedError(INVALID, message)
        arguments = {
            parameter: self._argument(argument, scope)
            for parameter, argument in zip(names, node.arguments, strict=True)
        }
        spelt = ",".join(argument.spelt for argument in arguments.values())
        if len(spelt) > _SPELT:
            raise LarkRefusedError("E106", f"the arguments of `{name}` grow without an end")
        return self._call(
            flat, entry, _Scope(entry.module, arguments, None), f"{flat}{{{spelt}}}", span
        )

    def _argument(self, body: lark.Expression, scope: _Scope) -> _Argument:
        """Bind an argument; one that is a parameter of the caller is what the caller was given."""
        inner = self._inner(body)
        if isinstance(inner, lark.Use) and inner.name.value in scope.arguments:
            return scope.arguments[inner.name.value]
        spelt = scope.module.source.slice(body.span)
        for name, argument in scope.arguments.items():
            if name in spelt:
                spelt += f"[{name}={argument.spelt}]"
        return _Argument(body, scope, f"{scope.module.prefix}:{spelt}")

    def _call(
        self, flat: str, entry: Entry, scope: _Scope, key: str, span: Span | None = None
    ) -> Node | None:
        try:
            self._members.add(key, _Instance(key, entry, scope), flat)
        except TooManyMembersError:
            self.report.error(
                "E106",
                f"more than {self.limits.family_rules:,} rules come of `{flat}` and its parameters",
                scope.module.main_span(entry.definition.name.span),
                "use fewer parameters, or raise `Limits.family_rules`",
            )
            return None
        return Call(key, entry.module.main_span(entry.definition.span) if span is None else span)
