"""Families of rules for the columns of lines, out of rules with newlines and blocks.

The rules have been through the lexer: a newline is one lexeme up to the first token of the next
line, as an indenter reads it, and a block is a rule. The number of a rule is the column of the
lines around it. A block is called with a greater number, chosen once: its column.

The blanks at the end of a newline belong to the next line, whose column is known only once all
blocks have ended that end there. So a newline is cut after its last line feed, and the blanks are
written where the next token is. Between the two a text is in a *state*: a line has ended
(``LINE``), then a block has begun (``OPENED``) or blocks have ended (``BACK``). A rule is written
once for each pair of states before and after it. Mostly only the rules of statements have several:
blanks are written as soon as something follows that is neither empty nor begins with a block.

At the end of the text Lark closes all blocks without a newline (``ENDED``): after that nothing may
follow but the ends of others.

Tests: tests/unit/languages/lark/test_indenter.py
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import NamedTuple

from kbnf_core.automata.traversal import fold
from kbnf_core.conversion.rewrite import rebuild
from kbnf_core.ir.analysis import fixpoint, reachable
from kbnf_core.kbnf import build, tree
from kbnf_core.languages.lark.lexer.columns import Newlines, family, number
from kbnf_core.languages.lark.reader.model import MOST_VARIANTS, TooManyVariantsError
from kbnf_core.text.source import Span

_MOST_ROUNDS = 64
"""Lines of a count that are written one by one."""


class LineKind(Enum):
    """What a text has come to, as far as lines are concerned."""

    WITHIN = "within a line"
    LINE = "after a newline"
    OPENED = "at the first token of a block"
    BACK = "after the end of a block"
    ENDED = "at the end of the text"


class LineState(NamedTuple):
    """A kind, and for those between lines the blanks that are to be written."""

    kind: LineKind
    blanks: str = ""


WITHIN, ENDED = LineState(LineKind.WITHIN), LineState(LineKind.ENDED)
States = frozenset[LineState]
_CLOSED = {
    LineKind.LINE: LineKind.BACK,
    LineKind.BACK: LineKind.BACK,
    LineKind.WITHIN: LineKind.ENDED,
    LineKind.ENDED: LineKind.ENDED,
}


def _closed(state: LineState) -> LineState | None:
    """Return the state after the end of a block."""
    kind = _CLOSED.get(state.kind)
    return None if kind is None else LineState(kind, state.blanks)


@dataclass(frozen=True, slots=True)
class _Facts:
    """Whether a node has a newline or block, may begin with a block, and may be empty."""

    has_lines: bool = False
    opens: bool = False
    nullable: bool = False


_PLAIN = _Facts()


class Numbered(NamedTuple):
    """Definitions of families and plain rules, and the names of the rules they were made of."""

    definitions: list[tree.Definition]
    origins: dict[str, str]


def numbered(
    definitions: Iterable[tree.Definition], blocks: frozenset[str], newlines: Newlines
) -> Numbered:
    """Return the rules with families; the first one is the start, and no rule calls it.

    ``blocks`` are the names of the rules that are blocks. Raises ``TooManyVariantsError``.
    """
    writer = _NumberedWriter(list(definitions), blocks, newlines)
    return writer.written()


class _NumberedWriter:
    """Writes the rules of one grammar for the states before and after them."""

    def __init__(
        self, definitions: list[tree.Definition], blocks: frozenset[str], newlines: Newlines
    ) -> None:
        self._definitions = {definition.name.value: definition for definition in definitions}
        self._start = definitions[0]
        self._blocks = blocks
        self._newlines = newlines
        # By identity, of nodes that are kept.
        self._facts: dict[int, _Facts] = {}
        self._kept: list[tree.Expression] = []
        self._rules = self._facts_of_rules()
        self._bodies = {name: self._unrolled(item.body) for name, item in self._definitions.items()}
        self._before_blocks = self._rules_before_blocks()
        self._targets: dict[tuple[str, LineState], States] = {}
        self._names: dict[_Key, str] = {}
        self._given = {self._start.name.value}
        self._pending: list[_Key] = []
        self._blanks: dict[str, None] = {}
        self._is_start = True

    def written(self) -> Numbered:
        """Return all definitions, the start first."""
        start = self._start
        if not self._rules[start.name.value].has_lines:
            return Numbered(list(self._definitions.values()), {})
        self._solve(start.name.value)
        whole = self._bodies[start.name.value]
        written = self._write(whole, WITHIN, frozenset((WITHIN, ENDED)))
        body = _either([written, *self._up_to_blanks(whole, WITHIN)], start.span)
        top = replace(start, body=build.nothing(start.span) if body is None else body)
        self._is_start = False
        origins: dict[str, str] = {}
        families: list[tree.Definition] = []
        for key in self._pending:
            families.append(self._variant(key))
            origins[self._names[key]] = key.subject if isinstance(key.subject, str) else ""
        plain = [
            item
            for name, item in self._definitions.items()
            if item is not start and not self._rules[name].has_lines
        ]
        return Numbered(
            [top, *families, *self._newlines.definitions(self._blanks), *plain], origins
        )

    # ---- Facts -----------------------------------------------------------------------------

    def _facts_of_rules(self) -> dict[str, _Facts]:
        callees = {
            name: [use.value for use in tree.uses_in(item.body) if use.value in self._definitions]
            for name, item in self._definitions.items()
        }

        def evaluate(name: str, values: Mapping[str, _Facts]) -> _Facts:
            body = self._definitions[name].body
            return fold(body, tree.children, lambda node, inner: self._fact(node, inner, values))

        return fixpoint(callees, _PLAIN, evaluate)

    def _fact(
        self, node: tree.Expression, inner: list[_Facts], values: Mapping[str, _Facts]
    ) -> _Facts:
        match node:
            case tree.Reference(tree.Name(name)):
                if self._newlines.blanks_after(name) is not None:
                    return _Facts(has_lines=True)
                if name in self._blocks:
                    return _Facts(has_lines=True, opens=True)
                return values.get(name, _PLAIN)
            case tree.Concatenation():
                begins = [
                    child.opens
                    for at, child in enumerate(inner)
                    if all(before.nullable for before in inner[:at])
                ]
                nullable = all(child.nullable for child in inner)
            case tree.Terminal(text):
                return _Facts(nullable=not text.value)
            case _:
                begins = [child.opens for child in inner]
                skips = isinstance(node, tree.Repetition) and node.low == 0
                nullable = skips or any(child.nullable for child in inner)
        return _Facts(any(child.has_lines for child in inner), any(begins), nullable)

    def _unrolled(self, root: tree.Expression) -> tree.Expression:
        """Return ``root`` with counts of lines written out, and keep the facts of its nodes."""

        def unroll(node: tree.Expression, inner: list[tree.Expression]) -> tree.Expression:
            whole = rebuild(node, inner, lambda leaf: leaf) if inner else node
            if isinstance(whole, tree.Repetition) and self._facts[id(whole.body)].has_lines:
                whole = _rounds(whole)
            for item in tree.postorder(whole):
                if id(item) not in self._facts:
                    facts = [self._facts[id(child)] for child in tree.children(item)]
                    self._facts[id(item)] = self._fact(item, facts, self._rules)
                    self._kept.append(item)
            return whole

        return fold(root, tree.children, unroll)

    def _rules_before_blocks(self) -> frozenset[str]:
        """Return the rules after which a block may begin."""
        last: dict[str, list[str]] = {name: [] for name in self._bodies}
        result: list[str] = []
        # Each node with whether a block may begin after it, and whether its rule may end there.
        for rule, body in self._bodies.items():
            pending = [(body, False, True)]
            for node, opens, is_last in pending:
                pending.extend(self._with_followers(node, opens, is_last))
                if isinstance(node, tree.Reference) and node.name.value in last:
                    result += [node.name.value] * opens
                    last[rule] += [node.name.value] * is_last
        return frozenset(reachable(result, last))

    def _with_followers(
        self, node: tree.Expression, opens: bool, is_last: bool
    ) -> Iterator[tuple[tree.Expression, bool, bool]]:
        for child in reversed(tree.children(node)):
            again = isinstance(node, tree.Repetition) and node.high != 1
            yield child, opens or (again and self._facts[id(child)].opens), is_last
            if isinstance(node, tree.Concatenation):
                facts = self._facts[id(child)]
                opens = facts.opens or (facts.nullable and opens)
                is_last = is_last and facts.nullable

    # ---- States ----------------------------------------------------------------------------

    def _solve(self, start: str) -> None:
        """Compute the states after each rule in each state that it is called in."""
        self._targets[start, WITHIN] = frozenset()
        is_solved = False
        while not is_solved:
            is_solved = True
            for rule, before in list(self._targets):
                count = len(self._targets)
                result = self._after_body(rule, before)
                if result != self._targets[rule, before] or len(self._targets) != count:
                    self._targets[rule, before] = result
                    is_solved = False

    def _after_body(self, rule: str, before: LineState) -> States:
        result = self._after(self._bodies[rule], before)
        if rule in self._blocks:
            # The text may end there, after the blanks of a line.
            return result | {WITHIN for state in result if state.blanks}
        return frozenset(self._leaving(rule, state) for state in result)

    def _leaving(self, rule: str, after: LineState) -> LineState:
        """Return a state after a rule as far as it makes a difference to what follows."""
        is_back = after.kind is LineKind.BACK and rule not in self._before_blocks
        return after._replace(kind=LineKind.LINE) if is_back else after

    def _after_rule(self, rule: str, before: LineState) -> States:
        return self._targets.setdefault((rule, before), frozenset())

    def _after(self, node: tree.Expression, before: LineState) -> States:
        """Return the states after ``node``. Nesting is bounded."""
        facts = self._facts[id(node)]
        if not facts.has_lines:
            stays = frozenset((before,)) if facts.nullable or before == WITHIN else frozenset()
            goes_on = before.blanks and not build.is_empty(node)
            return stays | {WITHIN} if goes_on else stays
        if self._is_token_next(facts, before):
            return self._after(node, WITHIN)
        match node:
            case tree.Reference(tree.Name(name)):
                return frozenset(self._after_name(name, before))
            case tree.Concatenation(items):
                states = frozenset((before,))
                for item in items:
                    states = frozenset(s for state in states for s in self._after(item, state))
                return states
            case tree.Repetition(body, _, high):
                return self._rounds_after(body, before, high)
            case _:
                inner = tree.children(node)
                return frozenset(s for child in inner for s in self._after(child, before))

    def _is_token_next(self, facts: _Facts, before: LineState) -> bool:
        """Return whether blanks are written before a node: it begins with a token."""
        return bool(before.blanks) and not facts.nullable and not facts.opens

    def _after_name(self, name: str, before: LineState) -> Iterator[LineState]:
        blanks = self._newlines.blanks_after(name)
        if blanks is not None:
            yield from (LineState(LineKind.LINE, item) for item in blanks if before == WITHIN)
        elif name not in self._blocks:
            yield from self._after_rule(name, before)
        elif before.kind is LineKind.LINE:
            ends = self._after_rule(name, LineState(LineKind.OPENED, before.blanks))
            yield from (after for end in ends if (after := _closed(end)) is not None)

    def _rounds_after(self, body: tree.Expression, before: LineState, high: int | None) -> States:
        result = {before}
        pending = [before]
        for state in pending:
            fresh = self._after(body, state) - result
            result |= fresh
            if high is None:
                pending.extend(fresh)
        return frozenset(result)

    # ---- Writing ---------------------------------------------------------------------------

    def _variant(self, key: "_Key") -> tree.Definition:
        subject, before, afters = key
        if isinstance(subject, tree.Repetition):
            body, span = self._more_rounds(subject, before, afters), subject.span
        else:
            span, whole = self._definitions[subject].span, self._bodies[subject]
            if subject in self._blocks:
                more = self._up_to_blanks(whole, before) if WITHIN in afters else ()
                body = _either([self._write(whole, before, afters), *more], span)
            else:
                ends = frozenset(
                    state
                    for state in self._after(whole, before)
                    if self._leaving(subject, state) in afters
                )
                body = self._write(whole, before, ends)
        return family(self._names[key], build.nothing(span) if body is None else body, span)

    def _up_to_blanks(self, body: tree.Expression, before: LineState) -> Iterator[tree.Expression]:
        """Write what ``body`` matches up to the blanks at the end of the text, and these."""
        ends = self._after(body, before)
        for blanks in sorted({state.blanks for state in ends} - {""}):
            alike = frozenset(state for state in ends if state.blanks == blanks)
            written = self._write(body, before, alike)
            if written is not None:
                end = self._blanks_before(LineState(LineKind.LINE, blanks), body.span)
                yield build.sequence(written, end, span=body.span)

    def _call(self, key: "_Key", span: Span, relation: str = "") -> tree.Expression:
        if key not in self._names:
            wanted = key.subject if isinstance(key.subject, str) else "lines"
            is_free = wanted in self._definitions and wanted not in self._given
            self._names[key] = wanted if is_free else self._newlines.names.fresh(wanted)
            self._given.add(wanted)
            self._pending.append(key)
            if len(self._pending) > MOST_VARIANTS:
                raise TooManyVariantsError
        return tree.Reference(tree.Name(self._names[key], span), span, self._number(span, relation))

    def _number(self, span: Span, relation: str = "") -> tree.Number:
        """Return the number of the rule that is written; the start is at the left margin."""
        if self._is_start:
            return tree.Number(None, 0, relation, span)
        return number(span, 0, relation)

    def _blanks_before(self, state: LineState, span: Span) -> tree.Expression:
        """Return the blanks before the next token, or before the end of the text."""
        if not state.blanks:
            return build.text("", span)
        self._blanks.setdefault(state.blanks)
        return tree.Reference(tree.Name(state.blanks, span), span, self._number(span))

    def _write(
        self, node: tree.Expression, before: LineState, afters: States
    ) -> tree.Expression | None:
        """Write what ``node`` matches from a state to any of others; None if nothing."""
        afters &= self._after(node, before)
        if not afters:
            return None
        facts, span = self._facts[id(node)], node.span
        if not facts.has_lines:
            return self._write_plain(node, before, afters)
        if self._is_token_next(facts, before):
            written = self._write(node, WITHIN, afters)
            blanks = self._blanks_before(before, span)
            return None if written is None else build.sequence(blanks, written, span=span)
        match node:
            case tree.Reference(tree.Name(name)):
                return self._write_name(name, before, afters, span)
            case tree.Concatenation(items):
                return self._write_items(items, before, afters, span)
            case tree.Repetition():
                return self._write_rounds(node, before, afters)
            case _:
                inner = tree.children(node)
                return _either((self._write(child, before, afters) for child in inner), span)

    def _write_plain(
        self, node: tree.Expression, before: LineState, afters: States
    ) -> tree.Expression | None:
        if before == WITHIN:
            return node
        ways: list[tree.Expression] = []
        if before in afters:
            ways.append(build.text("", node.span))
        if WITHIN in afters:
            blanks = self._blanks_before(before, node.span)
            ways.append(build.sequence(blanks, _longer(node), span=node.span))
        return _either(ways, node.span)

    def _write_name(
        self, name: str, before: LineState, afters: States, span: Span
    ) -> tree.Expression | None:
        if self._newlines.blanks_after(name) is not None:
            kinds = sorted({after.blanks for after in afters})
            ways = (self._newlines.up_to_line_feed(name, blanks, span) for blanks in kinds)
            return _either(ways, span)
        if name not in self._blocks:
            return self._call(_Key(name, before, afters), span)
        opened = LineState(LineKind.OPENED, before.blanks)
        ends = self._after_rule(name, opened)
        wanted = frozenset(end for end in ends if _closed(end) in afters)
        return self._call(_Key(name, opened, wanted), span, ">")

    def _write_items(
        self, items: tuple[tree.Expression, ...], before: LineState, afters: States, span: Span
    ) -> tree.Expression | None:
        """Join the items over all states between them, from the back."""
        layers = [frozenset((before,))]
        for item in items[:-1]:
            layers.append(frozenset(s for state in layers[-1] for s in self._after(item, state)))
        nothing_left: tree.Expression = build.text("", span)
        rest = dict.fromkeys(afters, nothing_left)
        for item, states in zip(reversed(items), reversed(layers), strict=True):
            in_order = sorted(states, key=_order)
            result = {state: self._before_rest(item, state, rest, span) for state in in_order}
            rest = {state: way for state, way in result.items() if way is not None}
        return rest.get(before)

    def _before_rest(
        self,
        item: tree.Expression,
        before: LineState,
        rest: Mapping[LineState, tree.Expression],
        span: Span,
    ) -> tree.Expression | None:
        """Write an item with each of the rests that it leads to."""
        groups: dict[int, set[LineState]] = {}
        for middle in sorted(self._after(item, before), key=_order):
            if middle in rest:
                groups.setdefault(id(rest[middle]), set()).add(middle)
        ways: list[tree.Expression] = []
        for group in groups.values():
            first = self._write(item, before, frozenset(group))
            if first is not None:
                ways.append(build.sequence(first, rest[min(group, key=_order)], span=span))
        return _either(ways, span)

    def _write_rounds(
        self, node: tree.Repetition, before: LineState, afters: States
    ) -> tree.Expression | None:
        """Write any number of rounds, or at most one."""
        ways: list[tree.Expression | None] = []
        if before in afters:
            ways.append(build.text("", node.span))
        if node.high == 1:
            ways.append(self._write(node.body, before, afters))
            return _either(ways, node.span)
        useful = {
            middle
            for middle in self._after(node.body, before)
            if self._rounds_after(node.body, middle, None) & afters
        }
        if useful == {before}:
            body = self._write(node.body, before, frozenset(useful))
            return None if body is None else build.repeated(body, 0, None, node.span)
        if not useful:
            return _either(ways, node.span)
        return self._call(_Key(node, before, afters), node.span)

    def _more_rounds(
        self, node: tree.Repetition, before: LineState, afters: States
    ) -> tree.Expression | None:
        """Write ``rounds(before) = empty | body(before, s) rounds(s)``."""
        rest: dict[LineState, tree.Expression] = {}
        for middle in sorted(self._after(node.body, before), key=_order):
            wanted = self._rounds_after(node.body, middle, None) & afters
            written = self._write_rounds(node, middle, wanted) if wanted else None
            if written is not None:
                rest[middle] = written
        ways = [build.text("", node.span)] if before in afters else []
        return _either([*ways, self._before_rest(node.body, before, rest, node.span)], node.span)


class _Key(NamedTuple):
    """A rule, or any number of rounds of a repetition, from a state to any of others."""

    subject: str | tree.Repetition
    before: LineState
    afters: States


def _order(state: LineState) -> tuple[str, str]:
    return state.kind.name, state.blanks


def _either(ways: Iterable[tree.Expression | None], span: Span) -> tree.Expression | None:
    written = [way for way in ways if way is not None]
    return build.alternation(written, span) if written else None


def _longer(node: tree.Expression) -> tree.Expression:
    """Return what a node without lines matches but the empty text, where that is a repetition."""
    if isinstance(node, tree.Repetition) and node.low == 0:
        return build.repeated(node.body, 1, node.high, node.span)
    return node


def _rounds(node: tree.Repetition) -> tree.Expression:
    """Return a repetition as one that may be left out, or may go on without end."""
    if (node.low, node.high) in ((0, 1), (0, None)):
        return node
    if (node.low if node.high is None else node.high) > _MOST_ROUNDS:
        raise TooManyVariantsError
    least = [node.body] * node.low
    if node.high is None:
        return build.sequence(*least, build.repeated(node.body, 0, None, node.span), span=node.span)
    rest: tree.Expression = build.text("", node.span)
    for _ in range(node.high - node.low):
        more = build.sequence(node.body, rest, span=node.span)
        rest = tree.Repetition(more, 0, 1, node.span, node.span)
    return build.sequence(*least, rest, span=node.span)
