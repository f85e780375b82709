"""Rules of two modes, and of blocks, for the marks and brackets of an indenter.

The rules have ignored text already, and newlines beside it, which only brackets allow. A rule that
is called between brackets is another one: there newlines are ignored, and neither they nor marks
are ever given to the parser. So a grammar is doubled by *inside brackets* at most.

The part of a sequence from an ``_INDENT`` to its ``_DEDENT`` becomes a rule of its own, a *block*.
Its lines begin at a greater column than those around it; after the lexer has been applied,
``indentation`` makes a family of it. Brackets and marks must come in pairs: where they do not, the
depth at a place in a rule is not one number, and the grammar is refused there.

Lark's parser does not know of modes. What it looks for at a lexeme is known before
(``lalr.expected``), and carried over to the copies here.

Tests: tests/unit/languages/lark/test_indenter.py
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from kbnf_core.ir import Call, Choice, Repeat, Sequence
from kbnf_core.languages.lark.lexer.lalr import Expected
from kbnf_core.languages.lark.lexer.maximal_munch import Scanner
from kbnf_core.languages.lark.reader.model import (
    Embedded,
    IndenterTerminals,
    Lexeme,
    LexicalGrammar,
    Node,
    only_useful,
)
from kbnf_core.languages.lark.reader.report import UNSUPPORTED, Report
from kbnf_core.text.source import Span

_INSIDE, _BLOCK = "@inside", "@block"

_Walked = tuple[Node, int | None]
"""A copy of a node, and how many more brackets it opens than closes; None if it never matches."""


def laid_out(
    grammar: LexicalGrammar, expected: Expected | None, report: Report
) -> tuple[LexicalGrammar, Expected | None]:
    """Return the rules by mode, with blocks, and the scanners of Lark's parser in them.

    ``grammar`` has a layout. Reports marks and brackets that are not in pairs.
    """
    assert grammar.layout is not None  # noqa: S101 - the caller has looked
    rules = _LayoutRules(grammar, grammar.layout, expected, report)
    rules.call(grammar.start, is_inside=False)
    for name, is_inside in rules.pending:
        rules.add(name, is_inside)
    by_leaf = rules.by_leaf
    whole = replace(grammar, rules=rules.made, spans=rules.spans, blocks=frozenset(rules.blocks))
    return only_useful(whole), expected and replace(expected, by_leaf=by_leaf)


@dataclass(slots=True)
class _LayoutRules:
    grammar: LexicalGrammar
    layout: IndenterTerminals
    expected: Expected | None
    report: Report
    made: dict[str, Node] = field(default_factory=dict)
    spans: dict[str, Span] = field(default_factory=dict)
    by_leaf: dict[int, frozenset[Scanner]] = field(default_factory=dict)
    blocks: list[str] = field(default_factory=list)
    pending: list[tuple[str, bool]] = field(default_factory=list)
    _asked: set[str] = field(default_factory=set)

    def call(self, rule: str, is_inside: bool) -> str:
        """Return the name of a rule in a mode, which is made if it is new."""
        name = rule + _INSIDE * is_inside
        if name not in self._asked:
            self._asked.add(name)
            self.pending.append((rule, is_inside))
        return name

    def add(self, rule: str, is_inside: bool) -> None:
        """Make a rule in a mode."""
        name, span = rule + _INSIDE * is_inside, self.grammar.spans[rule]
        walk = _LayoutWalk(self, rule, is_inside)
        node, net = walk.of(self.grammar.rules[rule], 0)
        if net:
            self.unpaired("brackets", span)
        self.made[name], self.spans[name] = node, span

    def block(self, rule: str, items: list[Node], span: Span) -> Node:
        """Return the call of a new block."""
        name = f"{rule}{_BLOCK}{len(self.blocks)}"
        self.made[name], self.spans[name] = Sequence(tuple(items), span), span
        self.blocks.append(name)
        return Call(name, span)

    def unpaired(self, kind: str, span: Span) -> None:
        """Report a place at which something is not in pairs."""
        self.report.error(
            UNSUPPORTED,
            f"the {kind} of an indenter are not in pairs here, so that the depth depends on the"
            " text",
            span,
            "open and close in one alternative of a rule",
        )


@dataclass(slots=True)
class _LayoutWalk:
    """Copies one rule; a depth is the number of brackets that are open in it."""

    rules: _LayoutRules
    rule: str
    is_inside: bool

    def of(self, node: Node, depth: int) -> _Walked:
        """Return a copy of ``node``, which begins at a depth. Nesting is bounded."""
        match node:
            case Lexeme():
                return self._lexeme(node, depth)
            case Embedded():
                return replace(node), 0
            case Call(name, span):
                return Call(self.rules.call(name, self._is_inside(depth)), span), 0
            case Sequence(items, span):
                return self._sequence(items, depth, span)
            case Choice(branches, span):
                return self._choice(branches, depth, span)
            case Repeat(body, low):
                copy, net = self.of(body, depth)
                if net:
                    self.rules.unpaired("brackets", node.span)
                if net is None and low == 0:
                    return Sequence((), node.span), 0
                return replace(node, body=copy), net

    def _is_inside(self, depth: int) -> bool:
        return self.is_inside or depth > 0

    def _lexeme(self, node: Lexeme, depth: int) -> _Walked:
        layout, terminal = self.rules.layout, node.terminal
        is_mark = terminal in (layout.indent, layout.dedent)
        is_newline = terminal.order is layout.newline.order
        # The newlines beside ignored text are those of a copy.
        is_dropped = is_newline and terminal is not layout.newline
        if is_dropped != self._is_inside(depth) and (is_dropped or is_newline or is_mark):
            return Choice((), node.span), None
        copy = replace(node)
        if self.rules.expected is not None and id(node) in self.rules.expected.by_leaf:
            self.rules.by_leaf[id(copy)] = self.rules.expected.by_leaf[id(node)]
        title = terminal.order.key[-1] if terminal.order else ""
        if title in layout.closing and depth == 0:
            self.rules.unpaired("brackets", node.span)
        return copy, (title in layout.opening) - (title in layout.closing)

    def _choice(self, branches: tuple[Node, ...], depth: int, span: Span) -> _Walked:
        walked = [self.of(branch, depth) for branch in branches]
        useful = [(copy, net) for copy, net in walked if net is not None]
        nets = {net for _, net in useful}
        if len(nets) > 1:
            self.rules.unpaired("brackets", span)
        return Choice(tuple(copy for copy, _ in useful), span), next(iter(nets), None)

    def _sequence(self, items: tuple[Node, ...], depth: int, span: Span) -> _Walked:
        net, is_useful = 0, True
        blocks = _Blocks(self.rules, self.rule)
        for item in _flat(items):
            copy, change = self.of(item, depth + net)
            is_useful = is_useful and change is not None
            net += change or 0
            blocks.add(copy)
        return Sequence(blocks.closed(), span), net if is_useful else None


def _flat(items: tuple[Node, ...]) -> Iterator[Node]:
    """Yield the items of a sequence, also of those inside it."""
    pending = [*reversed(items)]
    while pending:
        item = pending.pop()
        if isinstance(item, Sequence):
            pending.extend(reversed(item.operands))
        else:
            yield item


@dataclass(slots=True)
class _Blocks:
    """Makes blocks of the items of one sequence that are between marks."""

    rules: _LayoutRules
    rule: str
    _open: list[Lexeme] = field(default_factory=list)
    _items: list[list[Node]] = field(default_factory=lambda: [[]])

    def add(self, item: Node) -> None:
        """Add the next item."""
        mark = item.terminal if isinstance(item, Lexeme) else None
        if isinstance(item, Lexeme) and mark is self.rules.layout.indent:
            self._open.append(item)
            self._items.append([])
        elif mark is not self.rules.layout.dedent:
            self._items[-1].append(item)
        elif self._open:
            inner, first = self._items.pop(), self._open.pop().span
            whole = Span(min(first.start, item.span.start), max(first.end, item.span.end))
            self._items[-1].append(self.rules.block(self.rule, inner, whole))
        else:
            self.rules.unpaired("marks", item.span)

    def closed(self) -> tuple[Node, ...]:
        """Return the items outside all blocks; reports blocks that do not end."""
        for mark in self._open:
            self.rules.unpaired("marks", mark.span)
        return tuple(self._items[0])
