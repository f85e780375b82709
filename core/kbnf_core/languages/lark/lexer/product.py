"""The grammar times its lexer: rules whose lexemes end only where the lexer ends them.

After a lexeme only certain texts may follow; that is all the lexer remembers, so it is a state,
and the rules are multiplied with the states (Bar-Hillel, Perles & Shamir 1961): a variant of a
rule is what it matches from one state to any of some others. Where nothing can be confused there
is one state, and the rules stay as they are.

First it is computed which states each part leads to, from the one before (``Reach``). A state is
restricted to the differences that the part depends on, and so is the one after it: most parts do
not depend on the text before. The look-ahead is kept whole, or else up to the next byte, or not at
all (``Assembly``), as the limits permit: each needs fewer variants.

Tests: tests/unit/languages/lark
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from heapq import heappop, heappush
from itertools import pairwise
from typing import NamedTuple

from kbnf_core.automata.dfa import Dfa
from kbnf_core.automata.traversal import fold
from kbnf_core.conversion.automata import write_dfa, write_rules
from kbnf_core.conversion.rewrite import merge_variants
from kbnf_core.conversion.scannerless import TokenKind, without_lexer
from kbnf_core.conversion.to_kbnf import Identifiers
from kbnf_core.ir import Call, Choice, Repeat, Sequence, children, postorder
from kbnf_core.kbnf import build, tree
from kbnf_core.kbnf.printer import print_expression
from kbnf_core.languages.lark.lexer.columns import Newlines
from kbnf_core.languages.lark.lexer.ignore import end_bare, insert_skipped, open_ends
from kbnf_core.languages.lark.lexer.indentation import numbered
from kbnf_core.languages.lark.lexer.lalr import (
    Expected,
    TooManyExpansionsError,
    expected,
    report_collisions,
)
from kbnf_core.languages.lark.lexer.layout import laid_out
from kbnf_core.languages.lark.lexer.lexer import Lexed, apply_lexer
from kbnf_core.languages.lark.lexer.lookahead import State, in_order
from kbnf_core.languages.lark.lexer.maximal_munch import LexemeSplitter
from kbnf_core.languages.lark.reader.dialect import Dialect
from kbnf_core.languages.lark.reader.model import (
    Embedded,
    LarkTerminal,
    Lexeme,
    LexicalGrammar,
    Lexing,
    Node,
    TooManyVariantsError,
    is_endless,
    only_useful,
)
from kbnf_core.languages.lark.reader.report import INVALID, LEXING, NEVER, Report
from kbnf_core.text.budget import Budget
from kbnf_core.text.errors import WorkLimitError
from kbnf_core.text.limits import Limits
from kbnf_core.text.source import Source, Span

MOST_STATES = 64
"""States before rules; beyond it what the lexer looks at does not end soon."""

_ROUNDS = 1_000
"""Rounds of a repetition that are followed; states recur long before."""

States = frozenset[State]


@dataclass(slots=True, eq=False)
class Reach:
    """The states after each part; ``solve`` before asking."""

    grammar: LexicalGrammar
    lexed: Lexed
    _targets: dict[tuple[str, State], States] = field(default_factory=dict)
    _numbers: dict[tuple[str, State], int] = field(default_factory=dict)
    _after_nodes: dict[tuple[int, State], States] = field(default_factory=dict)
    _pending: set[tuple[str, State]] = field(default_factory=set)
    _queue: list[tuple[int, tuple[str, State]]] = field(default_factory=list)
    _callers: dict[tuple[str, State], dict[tuple[str, State], None]] = field(default_factory=dict)
    _current: tuple[str, State] = ("", State())
    _is_solved: bool = False

    def solve(self) -> States:
        """Compute the states that all rules lead to; return those after the start."""
        first = (self.grammar.start, self.lexed.start)
        self._ask(first)
        befores: set[State] = set()
        while self._queue:
            self._current = heappop(self._queue)[1]
            self._pending.discard(self._current)
            befores.add(self._current[1])
            states = self._after_rule(*self._current)
            # A least fixpoint: the states after a rule only grow with those after its callees, and
            # there are finitely many, so this ends.
            if states != self._targets[self._current]:
                self._targets[self._current] = states
                for caller in self._callers.get(self._current, ()):
                    self._schedule(caller)
            if len(self._targets) > self.grammar.most_variants or len(befores) > MOST_STATES:
                raise TooManyVariantsError
        self._is_solved = True
        return self._targets[first]

    def _ask(self, key: tuple[str, State]) -> None:
        if key not in self._targets:
            self._targets[key] = frozenset()
            self._numbers[key] = len(self._numbers)
            self._schedule(key)

    def _schedule(self, key: tuple[str, State]) -> None:
        """Put a rule into the queue, those requested last first: they are called by the others.

        So a choice is looked at again once its branches are known, not after each of them.
        """
        if key not in self._pending:
            self._pending.add(key)
            heappush(self._queue, (-self._numbers[key], key))

    def _after_rule(self, rule: str, before: State) -> States:
        states = self.after(self.grammar.rules[rule], before)
        return frozenset(self.lexed.leaving(rule, state) for state in states)

    def of_rule(self, rule: str, before: State) -> States:
        """Return the states after a rule, as seen where it ends."""
        key = (rule, self.lexed.entering(rule, before))
        if not self._is_solved:
            self._ask(key)
            self._callers.setdefault(key, {})[self._current] = None
        return self._targets[key]

    def after(self, node: Node, before: State) -> States:
        """Return the states after ``node``, restricted to it; memoised once rules are solved."""
        before = self.lexed.entering(node, before)
        if not self._is_solved:
            return self._after(node, before)
        key = (id(node), before)
        if key not in self._after_nodes:
            self._after_nodes[key] = self._after(node, before)
        return self._after_nodes[key]

    def _after(self, node: Node, before: State) -> States:
        """Return the states after a node; the parser bounds the depth of the recursion."""
        match node:
            case Lexeme() | Embedded():
                return frozenset(self.lexed.after(node, before))
            case Call(name):
                states = self.of_rule(name, before)
            case Sequence(items):
                states = frozenset((before,))
                for item in items:
                    states = frozenset(s for state in states for s in self.after(item, state))
            case Choice(branches):
                states = frozenset(s for branch in branches for s in self.after(branch, before))
            case Repeat(_, low, high):
                states = self.rounds(node, before, low, high)
        return frozenset(self.lexed.leaving(node, state) for state in states)

    def rounds(self, node: Repeat[Node], before: State, low: int, high: int | None) -> States:
        """Return the states after ``low`` to ``high`` rounds, as seen between rounds."""
        current = frozenset((self.lexed.entering(node, before),))
        for _ in range(min(low, _ROUNDS)):
            following = self._round(node, current)
            if following == current:
                break
            current = following
        everything, fresh = current, current
        left = _ROUNDS if high is None else min(high - low, _ROUNDS)
        while fresh and left:
            # Only states that are new in a round are followed, each once.
            fresh = self._round(node, fresh) - everything
            everything |= fresh
            left -= 1
        return everything

    def _round(self, node: Repeat[Node], states: States) -> States:
        return frozenset(after for before in states for after in self.round(node, before))

    def round(self, node: Repeat[Node], before: State) -> dict[State, States]:
        """Return the states after one round, as restricted between rounds, with their sources."""
        return self.grouped(node, self.after(node.body, before))

    def grouped(self, node: Node, states: States) -> dict[State, States]:
        """Return how ``states`` are seen where ``node`` begins, and which are seen so."""
        groups: dict[State, list[State]] = {}
        for state in in_order(states):
            groups.setdefault(self.lexed.entering(node, state), []).append(state)
        return {seen: frozenset(group) for seen, group in groups.items()}


MOST_OPERANDS = 30_000
"""Parts of all variants, beyond one for each part of the rules; more, and the lexer is given up."""

MOST_NODES = 300_000
"""Nodes of all variants, beyond one for each part of the rules; those that several ways through a
sequence share are counted for each."""

_MOST_UNROLLED = 8
"""Rounds of a bounded repetition that are written one by one."""


class Key(NamedTuple):
    """A variant: what a rule, or the rounds of a repetition, match from a state to others."""

    rule: str
    before: State
    afters: States


@dataclass(slots=True, eq=False)
class RuleProduct:
    """Writes the variants of rules that are needed; ``write`` writes words of a lexeme."""

    grammar: LexicalGrammar
    lexed: Lexed
    write: Callable[[Lexeme, Dfa, bool], tree.Expression]
    name: Callable[[Key], str]
    _reach: Reach = field(init=False)
    _rounds: dict[str, Repeat[Node]] = field(default_factory=dict)
    _round_names: dict[int, str] = field(default_factory=dict)
    _wanted: dict[Key, None] = field(default_factory=dict)
    _node_count: int = 0
    _operands: int = 0
    has_text: bool = False
    """Whether anything but the empty text has been written."""

    def __post_init__(self) -> None:
        self._reach = Reach(self.grammar, self.lexed)
        self._node_count = sum(1 for body in self.grammar.rules.values() for _ in postorder(body))

    def run(self) -> tuple[list[tuple[Key, tree.Expression]], Key | None]:
        """Return the definitions of all variants needed, and the variant of the start.

        There is none if no text matches.
        """
        ends = frozenset(state for state in self._reach.solve() if state.rest.allows_end)
        if not ends:
            return [], None
        start = Key(self.grammar.start, self.lexed.start, ends)
        self._want(start)
        written: list[tuple[Key, tree.Expression]] = []
        # Writing one variant asks for others.
        while len(written) < len(self._wanted):
            fresh = list(self._wanted)[len(written) :]
            written.extend((key, self._variant(key)) for key in fresh)
        if _size([body for _, body in written]) > MOST_NODES + self._node_count:
            raise TooManyVariantsError
        return written, start

    def _want(self, key: Key) -> None:
        self._wanted.setdefault(key)
        if len(self._wanted) > self.grammar.most_variants:
            raise TooManyVariantsError

    def _variant(self, key: Key) -> tree.Expression:
        if key.rule in self._rounds:
            return self._next_round(key)
        body = self.grammar.rules[key.rule]
        afters = frozenset(
            state
            for state in self._reach.after(body, key.before)
            if self.lexed.leaving(key.rule, state) in key.afters
        )
        return self._between(body, key.before, afters)

    def _between(self, node: Node, before: State, afters: States) -> tree.Expression:
        """Write what ``node`` matches from a state to any of others, all of them reachable."""
        self._operands += 1
        if self._operands > MOST_OPERANDS + self._node_count:
            raise TooManyVariantsError
        before = self.lexed.entering(node, before)
        match node:
            case Lexeme():
                self.has_text = True
                dfa = self.lexed.words(node, before, afters)
                return self.write(node, dfa, dfa is node.terminal.dfa)
            case Embedded(expression):
                self.has_text = True
                return expression
            case Call(name, span):
                return self._call(node, name, before, afters, span)
            case Sequence(items, span):
                return build.sequence(*self._sequence(items, before, afters, span), span=span)
            case Choice(branches, span):
                written = [
                    self._between(branch, before, reached)
                    for branch in branches
                    if (reached := self._reach.after(branch, before) & afters)
                ]
                return build.alternation(written, span)
            case Repeat():
                return self._repeat(node, before, afters)

    def _call(
        self, node: Call, name: str, before: State, afters: States, span: Span
    ) -> tree.Expression:
        states = self._reach.of_rule(name, before)
        wanted = frozenset(s for s in states if self.lexed.leaving(node, s) in afters)
        key = Key(name, self.lexed.entering(name, before), wanted)
        self._want(key)
        return build.call(self.name(key), span)

    def _sequence(
        self, items: tuple[Node, ...], before: State, afters: States, span: Span
    ) -> list[tree.Expression]:
        """Join the items over all ways through states between them, from the back."""
        if not items:
            return []
        layers = [frozenset((before,))]
        for item, following in pairwise(items):
            reached = (s for state in layers[-1] for s in self._reach.after(item, state))
            layers.append(frozenset(self.lexed.entering(following, s) for s in reached))
        # From the back, so that a rest is written once for all ways that lead to its state.
        last = items[-1]
        rest = {
            state: [self._between(last, state, afters_reached)]
            for state in in_order(layers[-1])
            if (afters_reached := self._reach.after(last, state) & afters)
        }
        for (item, following), states in zip(
            reversed([*pairwise(items)]), reversed(layers[:-1]), strict=True
        ):
            rest = {
                state: self._joined(ways, span)
                for state in in_order(states)
                if (ways := self._ways(item, following, state, rest))
            }
        return rest[before]

    def _ways(
        self, item: Node, following: Node, before: State, rest: dict[State, list[tree.Expression]]
    ) -> list[list[tree.Expression]]:
        """Write ``item`` with each of the rests that it leads to."""
        groups = self._reach.grouped(following, self._reach.after(item, before))
        return [
            [self._between(item, before, group), *rest[seen]]
            for seen, group in groups.items()
            if seen in rest
        ]

    def _joined(self, ways: list[list[tree.Expression]], span: Span) -> list[tree.Expression]:
        if len(ways) == 1:
            return ways[0]
        return [build.alternation([build.sequence(*way, span=span) for way in ways], span)]

    # ---- Repetitions -----------------------------------------------------------------------

    def _repeat(self, node: Repeat[Node], before: State, afters: States) -> tree.Expression:
        afters = frozenset(
            state
            for state in self._reach.rounds(node, before, node.low, node.high)
            if self.lexed.leaving(node, state) in afters
        )
        return self._times(node, node.low, node.high, before, afters)

    def _times(
        self, node: Repeat[Node], low: int, high: int | None, before: State, afters: States
    ) -> tree.Expression:
        """Write ``low`` to ``high`` rounds; states are as seen between rounds."""
        span = node.span
        empty = low == 0 and before in afters
        direct = self._steady(node, low, high, before, afters)
        if direct is None and high is None and low == 0:
            direct = self._more_rounds(node, before, afters)
            empty = False
        if direct is None:
            if (low if high is None else high) > _MOST_UNROLLED:
                raise TooManyVariantsError
            direct = self._unrolled(node, low, high, before, afters)
        branches = [build.text("", span)] if empty else []
        return build.alternation([*branches, *direct], span)

    def _steady(
        self, node: Repeat[Node], low: int, high: int | None, before: State, afters: States
    ) -> list[tree.Expression] | None:
        """Write rounds of which all, or all but the first, keep the state; else None."""
        if high == 0:
            return []
        groups = self._reach.round(node, before)
        if not groups:
            return []
        if len(groups) > 1:
            return None
        ((middle, group),) = groups.items()
        once = self._between(node.body, before, group)
        if middle == before:
            return [build.repeated(once, low, high, node.span)] if before in afters else []
        least, most = max(low - 1, 0), None if high is None else high - 1
        again = {} if most == 0 else self._reach.round(node, middle)
        if not again:
            return [once] if least == 0 and middle in afters else []
        if list(again) != [middle]:
            return None
        more = self._between(node.body, middle, again[middle])
        rounds = build.repeated(more, least, most, node.span)
        return [build.sequence(once, rounds, span=node.span)] if middle in afters else []

    def _unrolled(
        self, node: Repeat[Node], low: int, high: int | None, before: State, afters: States
    ) -> list[tree.Expression]:
        least, most = max(low - 1, 0), None if high is None else high - 1
        return self._rounds_from(
            node, before, afters, least, most, partial(self._times, node, least, most)
        )

    def _more_rounds(
        self, node: Repeat[Node], before: State, afters: States
    ) -> list[tree.Expression]:
        """Write any number of rounds as a call of a rule."""
        if id(node) not in self._round_names:
            name = f"@rounds{len(self._round_names)}"
            self._round_names[id(node)] = name
            self._rounds[name] = node
        return [self._call_rounds(node, before, afters)]

    def _call_rounds(self, node: Repeat[Node], before: State, afters: States) -> tree.Expression:
        key = Key(self._round_names[id(node)], before, afters)
        self._want(key)
        return build.call(self.name(key), node.span)

    def _next_round(self, key: Key) -> tree.Expression:
        """Write ``rounds(before) = empty | body(before, s) rounds(s)``."""
        node = self._rounds[key.rule]
        more = partial(self._call_rounds, node)
        branches = self._rounds_from(node, key.before, key.afters, 0, None, more)
        if key.before in key.afters:
            branches.insert(0, build.text("", node.span))
        return build.alternation(branches, node.span)

    def _rounds_from(
        self,
        node: Repeat[Node],
        before: State,
        afters: States,
        least: int,
        most: int | None,
        more: Callable[[State, States], tree.Expression],
    ) -> list[tree.Expression]:
        """Write a round, and ``more`` of them, ``least`` to ``most``, after each state."""
        return [
            build.sequence(
                self._between(node.body, before, group), more(middle, reached), span=node.span
            )
            for middle, group in self._reach.round(node, before).items()
            if (reached := self._reach.rounds(node, middle, least, most) & afters)
        ]


@dataclass(slots=True)
class LexemeWriter:
    """Writes lexemes: short ones where they are, named ones as definitions of their own."""

    names: Identifiers
    definitions: list[tuple[str, tree.Expression, Span]] = field(default_factory=list)
    families: dict[str, str] = field(default_factory=dict)
    """The terminals that named lexemes are variants of."""
    _written: dict[int, tuple[Dfa, tree.Expression]] = field(default_factory=dict)

    def lexeme(self, node: Lexeme, dfa: Dfa, is_whole: bool) -> tree.Expression:
        """Return ``dfa``, all or some words of the lexeme's terminal, as KBNF."""
        if id(dfa) not in self._written:
            # With the automaton itself, or its identity could become that of another one.
            self._written[id(dfa)] = (dfa, self._write(node.terminal, dfa, is_whole))
        written = self._written[id(dfa)][1]
        if isinstance(written, tree.Reference):
            return build.call(written.name.value, node.span)
        return replace(written, span=node.span)

    def _write(self, terminal: LarkTerminal, dfa: Dfa, is_whole: bool) -> tree.Expression:
        span = terminal.span
        symbol = terminal.written if is_whole else None
        if symbol is None or _is_long(symbol):
            symbol = _shorter(write_dfa(dfa, span), symbol)
        if symbol is None:
            return self._rules(terminal, dfa)
        if terminal.name is None or (not is_whole and isinstance(symbol, tree.Terminal)):
            return symbol
        name = self.names.fresh(terminal.name)
        self.definitions.append((name, symbol, span))
        self.families[name] = terminal.name
        return build.call(name, span)

    def _rules(self, terminal: LarkTerminal, dfa: Dfa) -> tree.Expression:
        """Write an automaton whose words are not UTF-8, state by state."""
        name = self.names.fresh(terminal.name or "bytes")
        states = write_rules(dfa, name, terminal.span)
        for state, body in states:
            self.definitions.append((state, body, terminal.span))
        return build.call(name, terminal.span)


def _is_long(symbol: tree.Expression) -> bool:
    return isinstance(symbol, tree.Pattern) and len(symbol.text.value) > _LONG


def _shorter(
    automaton: tree.Expression | None, written: tree.Expression | None
) -> tree.Expression | None:
    """Return a terminal as its automaton has it, unless it is written shorter, or only so."""
    if automaton is None or written is None:
        return written if automaton is None else automaton
    return min(written, automaton, key=lambda form: len(print_expression(form)))


def wanted_name(key: Key) -> str:
    """Return the name of a variant."""
    if key.rule.startswith("@"):
        return key.rule[1:]
    name, at_end, _ = key.rule.partition("@end")
    return name.replace("::", "_") + ("_end" if at_end else "")


def _origin(rule: str, start: str) -> str:
    """Return the name that the author gave to a rule; none to the turns of a loop."""
    if rule.startswith("@"):
        return start if rule == "@first" else ""
    return rule.partition("@")[0].partition("::")[0].partition("{")[0]


def definition(name: str, body: tree.Expression, span: Span) -> tree.Definition:
    """Return ``name ::= body;``."""
    return tree.Definition(tree.Name(name, span), body, span)


_LONG = 100
"""Characters of a pattern from which on a shorter form of it is looked for."""

_MANY, _TIMES = 100, 3
"""Definitions, and times as many as rules, from which on the output says what they are for."""


@dataclass(frozen=True, slots=True)
class Assembly:
    """What the grammar is written with."""

    source: Source
    dialect: Dialect
    lexing: Lexing
    names: Identifiers
    report: Report
    limits: Limits
    budget: Budget

    def document(self, grammar: LexicalGrammar, is_exact: bool) -> tree.Document | None:
        """Return the document; None after a report.

        The look-ahead is first kept whole, then up to the next byte: each needs fewer variants of
        the rules. Where both pass the limits, or ignored text does not end as the lexer ends it
        (``is_exact``), no product is made; with an indenter that is an error.
        """
        if grammar.layout is None and is_endless(grammar):
            return self._endless(grammar)
        with suppress(TooManyVariantsError, WorkLimitError):
            if is_exact:
                return self._multiplied(grammar)
        if grammar.layout is not None:
            self.report.error(
                "E106",
                "the lexer and the indenter would need too many variants of the rules",
                grammar.spans[grammar.start],
                "let fewer terminals match the same text, or choose the lexing `scannerless`",
            )
            return None
        return self._apart(grammar)

    def _multiplied(self, grammar: LexicalGrammar) -> tree.Document | None:
        """Return the product of rules and lexer states; None after a report.

        Raises ``TooManyVariantsError`` or ``WorkLimitError`` where both attempts pass the limits.
        """
        common = Report(self.source)
        lexed = self._lexed(grammar, self.lexing, common)
        if common.errors:
            self.report.add(common)
            return None
        # The findings of an attempt that passes the limits go with it.
        report = Report(self.source)
        try:
            document_ = self._written(grammar, lexed.reported(report), report)
        except (TooManyVariantsError, WorkLimitError):
            report = Report(self.source)
            document_ = self._written(grammar, lexed.reported(report, byte_only=True), report)
        self.report.add(common)
        self.report.add(report)
        return document_

    def _apart(self, grammar: LexicalGrammar) -> tree.Document:
        """Return the rules without a product of rules and lexer states.

        A lexeme is separated from what all terminals together would read on into, or under Lark's
        dynamic lexer, which finds each terminal for itself, from what its own terminal would. This
        is reported, with the first place where two lexemes may touch all the same.
        """
        rules, writer, terminals = self._plain(only_useful(grammar))
        leaves: dict[str, tree.Expression] = {}
        skipped = set[str]()
        for terminal in grammar.ignored.terminals if grammar.ignored else ():
            form = writer.lexeme(Lexeme(terminal, terminal.span), terminal.dfa, True)
            if isinstance(form, tree.Reference):
                name = form.name.value
                terminals.add(name)
            else:
                name = writer.names.fresh("ignored")
                leaves[name] = form
            skipped.add(name)
        others: list[tree.Definition] = []
        for name, body, span in writer.definitions:
            if name in terminals:
                leaves[name] = body
            else:
                others.append(definition(name, body, span))
        tokens = [
            TokenKind(tree.Name(name, body.span), body, body.span, name in skipped)
            for name, body in leaves.items()
        ]
        rivals, whose = skipped, "its own terminal"
        if self.lexing is not Lexing.EARLEY:
            nodes = (terminal for rule in rules for terminal in tree.postorder(rule.body))
            written = (
                terminal for terminal in nodes if isinstance(terminal, tree.Terminal | tree.Pattern)
            )
            rivals, whose = leaves.keys() | set(map(print_expression, written)), "any terminal"
        start, budget = rules[0].name.value, Budget(self.limits.work)
        apart = without_lexer(rules, tokens, start, self.limits, budget, rivals)
        loss = next(iter(apart.losses), None)
        shown = "" if loss is None else f", but {loss.message}"
        self.report.loss(
            LEXING,
            "the lexer would need too many variants of the rules, or too much work; here a lexeme"
            f" ends where {whose} would not go on, whatever else is expected{shown}."
            " `--lexing auto` accepts this with a warning; with `--lexing scannerless` any cut"
            " will do",
            grammar.spans[grammar.start] if loss is None else loss.span,
        )
        kept = apart.reached().definitions
        return tree.Document(self.source, (*kept, *others), (), generated=apart.generated)

    def _endless(self, grammar: LexicalGrammar) -> tree.Document:
        """Return the rules as they are, since a product has states at the ends of texts only."""
        if self._lexed(grammar, self.lexing, Report(self.source)).conflict() is not None:
            self._lose_lexer(grammar, "of rules that never end the lexer is not kept")
        lexed = self._lexed(grammar, Lexing.SCANNERLESS, Report(self.source))
        rules, writer, _ = self._plain(lexed.grammar)
        more = (definition(*entry) for entry in writer.definitions)
        return tree.Document(self.source, (*rules, *more), ())

    def _plain(
        self, grammar: LexicalGrammar
    ) -> tuple[list[tree.Definition], LexemeWriter, set[str]]:
        """Return the rules as they are, the start first, and the names of terminals."""
        writer = LexemeWriter(self.names.copy())
        rules = {grammar.start: None, **dict.fromkeys(grammar.rules)}
        names = {
            rule: writer.names.of(key, wanted_name(key))
            for rule in rules
            if rule != grammar.start
            for key in (Key(rule, State(), frozenset()),)
        }
        names[grammar.start] = writer.names.of(("start",), grammar.start)
        terminals = set[str]()

        def write(node: Node, operands: list[tree.Expression]) -> tree.Expression:
            match node:
                case Lexeme(terminal):
                    written = writer.lexeme(node, terminal.dfa, True)
                    if isinstance(written, tree.Reference):
                        terminals.add(written.name.value)
                    return written
                case Embedded(expression):
                    return expression
                case Call(name, span):
                    return build.call(names[name], span)
                case Sequence(_, span):
                    return build.sequence(*operands, span=span)
                case Choice(_, span):
                    return build.alternation(operands, span) if operands else build.nothing(span)
                case Repeat(_, low, high, span):
                    return build.repeated(operands[0], low, high, span)

        bodies = {rule: fold(grammar.rules[rule], children, write) for rule in rules}
        spans = grammar.spans
        own = [definition(names[rule], body, spans[rule]) for rule, body in bodies.items()]
        return own, writer, terminals

    def _lose_lexer(self, grammar: LexicalGrammar, why: str) -> None:
        lexed = self._lexed(grammar, self.lexing, Report(self.source))
        conflict = lexed.conflict()
        shown = "" if conflict is None else f", as where {conflict}"
        self.report.loss(
            LEXING,
            f"{why}; here any cut will do{shown}",
            grammar.spans[grammar.start],
        )

    def _lexed(self, grammar: LexicalGrammar, lexing: Lexing, report: Report) -> Lexed:
        ignored = grammar.ignored.terminals if grammar.ignored else ()
        cutter = LexemeSplitter(lexing, self.budget, ignored)
        useful = only_useful(grammar)
        if self.dialect is Dialect.LLGUIDANCE:
            bare = end_bare(useful, self.budget)
            skipping = open_ends(bare, cutter.confusable, self.budget, report)
            return apply_lexer(skipping, cutter, report)
        one_by_one = lexing is Lexing.LALR
        skipping = insert_skipped(useful, self.budget, one_by_one)
        expected = self._expected(skipping, useful, report) if one_by_one else None
        if grammar.layout is not None:
            skipping, expected = laid_out(skipping, expected, report)
        return apply_lexer(skipping, cutter, report, expected)

    def _expected(
        self, grammar: LexicalGrammar, original: LexicalGrammar, report: Report
    ) -> Expected | None:
        span = grammar.spans[grammar.start]
        skipped = _terminals(grammar) - _terminals(original)
        try:
            newline = () if grammar.layout is None else (grammar.layout.newline,)
            lalr = expected(grammar, skipped, newline)
        except TooManyExpansionsError:
            report.loss(LEXING, "Lark's LALR analysis of these rules is too large to know", span)
            return None
        ignored = grammar.ignored.terminals if grammar.ignored else ()
        report_collisions(lalr.scanners, ignored, self.budget, report)
        if lalr.conflict is not None and lalr.conflict.startswith("Reduce/Reduce"):
            report.error(INVALID, f"Lark's LALR parser refuses these rules: {lalr.conflict}", span)
        elif lalr.conflict is not None:
            report.loss(
                LEXING, f"Lark's LALR parser does not follow all rules: {lalr.conflict}", span
            )
        return lalr

    def _written(
        self, grammar: LexicalGrammar, lexed: Lexed, report: Report
    ) -> tree.Document | None:
        names = self.names.copy()
        writer = LexemeWriter(names)

        def name(key: Key) -> str:
            top = key.rule == lexed.grammar.start and key.before == lexed.start
            wanted = f"{wanted_name(key)}_body" if top else wanted_name(key)
            return names.of(key, wanted.partition("{")[0])

        newlines = self._newlines(grammar, writer)
        write = writer.lexeme if newlines is None else newlines.lexeme
        product = RuleProduct(lexed.grammar, lexed, write, name)
        written, start = product.run()
        lexed.report_doubts()
        lexed.report_awaited_ends()
        if start is None or not product.has_text:
            self._report_empty(grammar, report, "no" if start is None else "only the empty")
            return None
        bodies = dict(written)
        _report_always_empty(lexed.grammar, bodies.values(), report)
        called = name(start)
        first: tree.Expression = build.call(called, lexed.grammar.spans[start.rule])
        if not any(_calls(body, called) for body in bodies.values()):
            first = bodies.pop(start)
        top = names.of(("start",), start.rule)
        definitions = [definition(top, first, lexed.grammar.spans[start.rule])]
        for key, body in bodies.items():
            span = lexed.grammar.spans.get(key.rule, lexed.grammar.spans[start.rule])
            definitions.append(definition(name(key), body, span))
        definitions += [definition(*entry) for entry in writer.definitions]
        families = {name(key): wanted_name(key) for key in bodies} | writer.families
        definitions = _start_written_out(merge_variants(definitions, families), families)
        origins = {name(key): _origin(key.rule, top) for key in bodies}
        if newlines is not None:
            blocks = frozenset(name(key) for key in bodies if key.rule in lexed.grammar.blocks)
            count = len(writer.definitions)
            numbered_rules = numbered(definitions, blocks, newlines)
            more = [definition(*entry) for entry in writer.definitions[count:]]
            definitions = [*numbered_rules.definitions, *more]
            origins |= {name: origins.get(of, top) for name, of in numbered_rules.origins.items()}
        many = len(definitions) > max(_MANY, _TIMES * len(grammar.rules))
        if many and lexed.lexing is not Lexing.SCANNERLESS:
            report.remark = _explosion(len(grammar.rules), len(definitions), lexed)
        origins = writer.families | origins
        origins = {name: origin for name, origin in origins.items() if name != origin}
        return tree.Document(self.source, tuple(definitions), (), origins=origins)

    def _newlines(self, grammar: LexicalGrammar, writer: LexemeWriter) -> Newlines | None:
        if grammar.layout is None:
            return None
        return Newlines(grammar.layout.newline, grammar.layout.tab, writer.names, writer.lexeme)

    def _report_empty(self, grammar: LexicalGrammar, report: Report, which: str) -> None:
        report.error(
            "E105",
            f"{which} text matches `{grammar.start}`: every other way through it has no end"
            " or needs a lexeme that the lexer never ends there",
            grammar.spans[grammar.start],
            "a terminal matches as much as possible; let it exclude what follows it",
        )


def _report_always_empty(
    grammar: LexicalGrammar, written: Iterable[tree.Expression], report: Report
) -> None:
    """Report the terminals that may be empty, and of which no other word is ever a lexeme."""
    nodes = (node for body in grammar.rules.values() for node in postorder(body))
    uses = [node for node in nodes if isinstance(node, Lexeme) and node.terminal.is_nullable]
    if not uses:
        return
    leaves = (leaf for body in written for leaf in tree.postorder(body) if not tree.children(leaf))
    there = {
        leaf.span
        for leaf in leaves
        if not (isinstance(leaf, tree.Terminal) and not leaf.text.value)
    }
    lexemes = {use.terminal for use in uses if use.span in there}
    for terminal in dict.fromkeys(use.terminal for use in uses):
        if terminal not in lexemes:
            message = (
                f"`{terminal.title}` can only be empty: a longer lexeme goes on through what"
                " follows it"
            )
            report.note(NEVER, message, terminal.span, "let it exclude what follows it")


def _explosion(before: int, after: int, lexed: Lexed) -> str:
    """Return what exact lexing costs in rules, and what one would lose without it."""
    conflict = lexed.conflict()
    loss = f", even where {conflict}" if conflict else ""
    return (
        f"{before:,} rules became {after:,}, so that lexemes end just where the lexer"
        f" ({lexed.lexing.value}) ends them; `--lexing scannerless` keeps them few, and takes any"
        f" cut into lexemes{loss}"
    )


def _start_written_out(
    definitions: list[tree.Definition], families: Mapping[str, str]
) -> list[tree.Definition]:
    """Return the rules without the variant of the start that only the first rule calls."""
    top, *rest = definitions
    used = Counter(name.value for rule in definitions for name in tree.uses_in(rule.body))
    items = top.body.items if isinstance(top.body, tree.Concatenation) else (top.body,)
    called = {rule.name.value for rule in items if isinstance(rule, tree.Reference)}
    own = families.get(top.name.value, top.name.value)
    bodies = {
        rule.name.value: rule.body
        for rule in rest
        if (name := rule.name.value) in called and used[name] == 1 and families.get(name) == own
    }
    written = [
        bodies.get(rule.name.value, rule) if isinstance(rule, tree.Reference) else rule
        for rule in items
    ]
    body = build.sequence(*written, span=top.body.span)
    left = [rule for rule in rest if rule.name.value not in bodies]
    return [definition(top.name.value, body, top.span), *left] if bodies else definitions


def _size(roots: list[tree.Expression]) -> int:
    """Return how many nodes trees have that share parts, each part looked at once."""
    sizes: dict[int, int] = {}
    pending = list(roots)
    while pending:
        node = pending[-1]
        operands = tree.children(node)
        unknown = [operand for operand in operands if id(operand) not in sizes]
        pending.extend(unknown)
        if not unknown:
            sizes[id(node)] = 1 + sum(sizes[id(operand)] for operand in operands)
            pending.pop()
    return sum(sizes[id(root)] for root in roots)


def _calls(body: tree.Expression, name: str) -> bool:
    return any(
        isinstance(node, tree.Reference) and node.name.value == name
        for node in tree.postorder(body)
    )


def _terminals(grammar: LexicalGrammar) -> frozenset[LarkTerminal]:
    return frozenset(
        node.terminal
        for body in grammar.rules.values()
        for node in postorder(body)
        if isinstance(node, Lexeme)
    )
