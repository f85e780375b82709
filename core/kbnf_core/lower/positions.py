"""Position automata: the tables that derivations and explanations are read from.

The tables of recognition forget rules on purpose (nonterminals are inlined, automata merged and
minimised). These keep every occurrence of a symbol apart, as Glushkov's construction does ("The
abstract theory of automata", 1961): a state is an occurrence that comes next, and the occurrences
after it are a list in *order of preference*. Alternatives are in written order, and a repetition
prefers one more round to its end. A regular expression is one occurrence, with the states of its
automaton inside; it prefers to go on. Each state knows where in the author's text it is.

A rule that may be empty is not called where it is empty, but passed over: the rules passed over
between two occurrences belongs to the state of the second, so that empty nodes of a tree can be
placed. Where the empty text is not the last choice of a rule, the rule is called in two variants,
one for the choices before the empty one and one for those after it; so preference is a number of an
edge.

Calls are tail calls (Leo 1991) only where nothing else may follow the occurrence, and nothing is
passed over after it: then derivations can be read back from the end of a text without knowing how
many rules end there.

Tests: tests/unit/kernel/test_lowering.py, tests/property
"""

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from kbnf_core.automata.dfa import DEAD, Dfa, join, separate
from kbnf_core.ir import (
    NEVER,
    Call,
    Choice,
    GrammarRules,
    Literal,
    Node,
    Regular,
    Repeat,
    Token,
    TokenTerminal,
)
from kbnf_core.ir import Sequence as Concatenation
from kbnf_core.lower.build import assemble
from kbnf_core.lower.chosen_kernel import lowering
from kbnf_core.lower.facts import Analysis, analyse
from kbnf_core.lower.inline import split_large
from kbnf_core.lower.nfa import Alphabet, ClosedAutomaton, TooManyStatesError
from kbnf_core.lower.tables import Tables
from kbnf_core.text.budget import Budget
from kbnf_core.text.limits import DEFAULT_LIMITS, Limits
from kbnf_core.text.source import Span

Ids = npt.NDArray[np.int32]

HIDDEN = -1
"""The label of a rule that makes no nodes: its children are those of the rule that calls it."""

_EDGE_WORK = 4
"""Steps for an edge: 80 bytes, of which 25 are those of its columns, and less than 1 microsecond.

A state inside of "any name but this one" has 45 of them, one for each class of bytes.
"""

_NODE_WORK = 10
"""Steps for an empty node, which takes 200 to 300 bytes."""

_FIRST = 32
"""Preference of an edge: that of the first occurrence, shifted by this, and that of the next."""

_END = -1
"""In a list of following occurrences: the end of the rule."""

_Passed: TypeAlias = tuple[str, ...]
"""Rules that are passed over as empty, in order."""

_Follow: TypeAlias = list[tuple[int, _Passed]]


class Origin(NamedTuple):
    """A symbol of the source that may occur, ``offset`` bytes of which are read.

    ``called`` is the rule that it calls, empty for a terminal.
    """

    span: Span
    offset: int = 0
    called: str = ""


class _Variant(NamedTuple):
    """A rule without its empty text: its choices before that (0), after it (1), or all (2)."""

    rule: str
    choices: int


_Leaf: TypeAlias = int | Dfa | _Variant | TokenTerminal
"""The symbol of an occurrence: a byte, an automaton, a rule or a token."""


@dataclass(slots=True, eq=False)
class _Rule:
    """One rule: places joined by free edges in order of preference, some of which are occurrences.

    A free edge is a target and the rule that it passes over as empty, or "". ``leaves`` are the
    occurrences, each with its symbol and the state after it; ``origins`` are their symbols in the
    source. ``firsts`` are the first occurrences; ``follows`` those after an occurrence.
    """

    free: list[list[tuple[int, str]]] = field(default_factory=list)
    leaves: dict[int, tuple[_Leaf, int]] = field(default_factory=dict)
    origins: dict[int, tuple[Origin, ...]] = field(default_factory=dict)
    begin: int = 0
    end: int = 0
    firsts: _Follow = field(default_factory=list)
    follows: dict[int, _Follow] = field(default_factory=dict)

    def add(self) -> int:
        """Return a new place."""
        self.free.append([])
        return len(self.free) - 1

    def occur(self, leaf: _Leaf, begin: int, end: int, *origins: Origin) -> None:
        """Let an occurrence lead from one place to another, as the last choice so far."""
        position = self.add()
        self.leaves[position] = (leaf, end)
        self.origins[position] = origins
        self.free[begin].append((position, ""))


@dataclass(frozen=True, eq=False)
class Positions:
    """The tables, and what derivations and explanations need beside them.

    ``rules`` are the rules that the tables' nonterminals are variants of, and ``origins`` has for
    each state the symbols of the source that may occur. ``labels`` are the numbers in ``names`` of
    the nonterminals, or ``HIDDEN``. ``arrive`` has for each state the list in ``passed`` of the
    empty nodes before it; ``before`` for edges, calls and token edges, in this order, the list
    before the first occurrence of a rule, and ``preference`` their order (int64). ``passed`` are
    preorders of (label, nodes below). ``empty`` is the preorder of the empty text, None where it
    does not match.
    """

    tables: Tables
    rules: tuple[str, ...]
    origins: tuple[tuple[Origin, ...], ...]
    names: tuple[str, ...]
    labels: Ids
    arrive: Ids
    before: Ids
    preference: npt.NDArray[np.int64]
    passed: tuple[tuple[tuple[int, int], ...], ...]
    empty: tuple[tuple[int, int], ...] | None

    def without_tail_calls(self) -> "Positions":
        """Return the same with every rule on the stack of the recogniser until it ends."""
        plain = np.zeros_like(self.tables.call_tail)
        return replace(self, tables=replace(self.tables, call_tail=plain))


def build_positions(
    grammar: GrammarRules,
    named: Mapping[str, str | None] | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Positions:
    """Return the position automata of ``grammar``.

    ``named`` has the label of each rule, None for one that makes no nodes; without it, rules have
    their own names. Raises TooManyStatesError or WorkLimitError.
    """
    budget = Budget(limits.work)
    analysis = analyse(grammar, budget)
    split = split_large(grammar, analysis)
    if split is not grammar:
        grammar, analysis = split, analyse(split, budget)
    return _PositionBuilder(grammar, analysis, named, limits, budget).build()


class _PositionBuilder:
    def __init__(
        self,
        grammar: GrammarRules,
        analysis: Analysis,
        named: Mapping[str, str | None] | None,
        limits: Limits,
        budget: Budget,
    ) -> None:
        self._grammar = grammar
        self._analysis = analysis
        self._limits = limits
        self._budget = budget
        self._order = [name for name in analysis.order if analysis.facts[name].productive]
        self._rules: dict[str, _Rule] = {}
        self._empty: dict[str, _Passed] = {}
        self._productive: set[_Variant] = set()
        labels = [None if "#" in name else (named or {}).get(name, name) for name in self._order]
        # In the order of the grammar, so that numbers of labels are those of a listing.
        label_of = dict(zip(self._order, labels, strict=True))
        written = [label_of[name] for name in grammar.rules if name in label_of]
        self._names = tuple(dict.fromkeys(label for label in written if label is not None))
        numbers: dict[str | None, int] = {name: i for i, name in enumerate(self._names)}
        self._label = {name: numbers.get(label, HIDDEN) for name, label in label_of.items()}
        self._preorders: dict[_Passed, int] = {(): 0}
        self._lists: list[tuple[tuple[int, int], ...]] = [()]

    def build(self) -> Positions:
        for name in self._order:
            self._budget.subject = name
            self._rules[name] = self._connect(self._grammar.rules[name])
        self._find_empty()
        for name, rule in self._rules.items():
            self._budget.subject = name
            self._find_follows(rule)
        self._find_productive()
        return self._assemble()

    def _connect(self, body: Node) -> _Rule:
        """Return the places of a rule; preference is the order in which edges are added."""
        rule = _Rule()
        rule.begin, rule.end = rule.add(), rule.add()
        work: list[tuple[Node, int, int]] = [(body, rule.begin, rule.end)]
        while work:
            node, begin, end = work.pop()
            self._budget.spend()
            match node:
                case Literal() | Regular() | Token() | Call():
                    self._occur(rule, node, begin, end)
                case Concatenation(operands):
                    for operand in operands:
                        after = rule.add()
                        work.append((operand, begin, after))
                        begin = after
                    rule.free[begin].append((end, ""))
                case Choice(branches):
                    for branch in branches:
                        first = rule.add()
                        rule.free[begin].append((first, ""))
                        work.append((branch, first, end))
                case Repeat(inner, low, high):
                    work.extend(_copies(rule, inner, low, high, begin, end))
            if len(rule.free) > self._limits.grammar_states:
                raise TooManyStatesError(self._budget.subject)
        return rule

    def _occur(  # noqa: C901 - a case for each kind of leaf
        self, rule: _Rule, node: Literal | Regular | Token | Call, begin: int, end: int
    ) -> None:
        match node:
            case Literal(data, span):
                for offset, byte in enumerate(data):
                    after = rule.add()
                    rule.occur(byte, begin, after, Origin(span, offset))
                    begin = after
                rule.free[begin].append((end, ""))
            case Regular(dfa, span):
                if not dfa.is_empty and any(target != DEAD for target in dfa.rows[0]):
                    rule.occur(dfa, begin, end, Origin(span))
                if dfa.is_nullable:
                    rule.free[begin].append((end, ""))
            case Token(terminal, span):
                rule.occur(terminal, begin, end, *(() if terminal == NEVER else (Origin(span),)))
            case Call(name, span):
                facts, origin = self._analysis.facts[name], Origin(span, called=name)
                if facts.filled:
                    rule.occur(_Variant(name, 0), begin, end, origin)
                if facts.nullable:
                    rule.free[begin].append((end, name))
                    if facts.filled:
                        rule.occur(_Variant(name, 1), begin, end, origin)

    def _find_empty(self) -> None:
        """Find how rules are empty: the first choice that does not need the rule itself."""
        # In rounds, since a rule is empty by others that are empty. Each round finds one at least:
        # facts say that every rule of the list has a finite empty derivation.
        missing = [name for name in self._order if self._analysis.facts[name].nullable]
        while missing:
            for name in missing:
                path = self._empty_path(self._rules[name])
                if path is not None:
                    self._empty[name] = path
            missing = [name for name in missing if name not in self._empty]

    def _empty_path(self, rule: _Rule) -> _Passed | None:
        for position, passed in self._reached(rule, rule.begin, self._empty):
            if position == _END:
                return passed
        return None

    def _reached(
        self, rule: _Rule, begin: int, passable: Mapping[str, _Passed]
    ) -> Iterable[tuple[int, _Passed]]:
        """Yield the occurrences, and the end, that free edges lead to, in order of preference."""
        seen: set[int] = set()
        pending: list[tuple[int, _Passed]] = [(begin, ())]
        while pending:
            position, passed = pending.pop()
            if position in seen:
                continue
            seen.add(position)
            # The rules passed over are a list for each state.
            self._budget.spend(1 + len(passed))
            if position in rule.leaves:
                yield position, passed
            elif position == rule.end:
                yield _END, passed
            # A stack reverses the order, and the first alternative is to be seen first.
            for target, over in reversed(rule.free[position]):
                if not over:
                    pending.append((target, passed))
                elif over in passable:
                    pending.append((target, (*passed, over)))

    def _find_follows(self, rule: _Rule) -> None:
        follows_of: dict[int, _Follow] = {}
        for position, (_, after) in rule.leaves.items():
            # Occurrences of a loop or of alternatives share their following occurrences.
            if after not in follows_of:
                follows_of[after] = list(self._reached(rule, after, self._empty))
            rule.follows[position] = follows_of[after]
        rule.firsts = list(self._reached(rule, rule.begin, self._empty))

    def _find_productive(self) -> None:
        """Keep the occurrences from which a rule can end, and the variants that have some."""
        changed = True
        while changed:
            changed = False
            for name in self._order:
                rule = self._rules[name]
                live = self._live(rule)
                for choices in range(3):
                    variant = _Variant(name, choices)
                    if variant not in self._productive and any(
                        position in live for position, _ in _chosen(rule.firsts, choices)
                    ):
                        self._productive.add(variant)
                        changed = True
        for rule in self._rules.values():
            live = self._live(rule)
            live.add(_END)
            rule.firsts = [first for first in rule.firsts if first[0] in live]
            rule.follows = {
                position: [edge for edge in follow if edge[0] in live]
                for position, follow in rule.follows.items()
                if position in live
            }

    def _live(self, rule: _Rule) -> set[int]:
        sources: dict[int, list[int]] = {}
        for position, follow in rule.follows.items():
            leaf = rule.leaves[position][0]
            if not isinstance(leaf, _Variant) or leaf in self._productive:
                for target, _ in follow:
                    sources.setdefault(target, []).append(position)
        pending = sources.get(_END, [])[:]
        # What waits for a token that never comes goes on for ever.
        pending += [position for position, (leaf, _) in rule.leaves.items() if leaf == NEVER]
        live = set(pending)
        while pending:
            self._budget.spend()
            fresh = [source for source in sources.get(pending.pop(), ()) if source not in live]
            live.update(fresh)
            pending.extend(fresh)
        return live

    def preorder(self, passed: _Passed) -> int:
        """Return the number of the list of nodes that some empty rules make."""
        if passed not in self._preorders:
            nodes: list[list[int]] = []
            # A rule to enter, or the index of a node of which all is there.
            pending: list[str | int] = [*reversed(passed)]
            while pending:
                node = pending.pop()
                self._budget.spend()
                if isinstance(node, int):
                    # All below it follows it in preorder, so its size is the distance.
                    nodes[node][1] = len(nodes) - node - 1
                    continue
                if self._label[node] != HIDDEN:
                    self._budget.spend(_NODE_WORK)
                    pending.append(len(nodes))
                    nodes.append([self._label[node], 0])
                pending.extend(reversed(self._empty[node]))
            self._preorders[passed] = len(self._lists)
            self._lists.append(tuple((label, below) for label, below in nodes))
        return self._preorders[passed]

    def _assemble(self) -> Positions:
        start = self._grammar.start
        classes, written, terminals = lowering.leaves_of(
            [self._analysis.nodes[name] for name in self._order]
        )
        if NEVER in terminals:
            terminals = [*(number for number in terminals if number != NEVER), NEVER]
        # Part 2 of the start has all its choices: nothing outside decides about its empty text.
        variants = [_Variant(start, 2)] + [
            _Variant(name, choices)
            for name in self._order
            for choices in range(2)
            if _Variant(name, choices) in self._productive
        ]
        # A nonterminal's name says which rule it is, and is unique.
        keys = {variant: f"{variant.rule}#{variant.choices}" for variant in variants}
        alphabet = Alphabet(
            join([separate(written), *classes]),
            {keys[variant]: number for number, variant in enumerate(variants)},
            {terminal: number for number, terminal in enumerate(terminals)},
        )
        builders: dict[str, _AutomatonBuilder] = {}
        queue = [variants[0]]
        queued = set(queue)
        states = 0
        for variant in queue:
            rule = self._rules.get(variant.rule, _Rule())
            builder = _AutomatonBuilder(self, rule, alphabet, keys, self._budget)
            builders[keys[variant]] = builder
            called = builder.build(_chosen(rule.firsts, variant.choices))
            states += len(builder.arrive)
            if states > self._limits.grammar_states:
                raise TooManyStatesError(variant.rule)
            queue.extend(number for number in called if number not in queued)
            queued.update(called)
        renamed = GrammarRules(keys[variants[0]], self._grammar.rules)
        facts = {keys[variants[0]]: self._analysis.facts[start]}
        tables = assemble(
            renamed,
            replace(self._analysis, facts=facts),
            alphabet,
            {name: builder.automaton() for name, builder in builders.items()},
        )
        by_rule = [builder.by_kind(alphabet, len(terminals)) for builder in builders.values()]
        # Edges of bytes are before those of calls, and these before those of tokens.
        by_kind = list(zip(*by_rule, strict=True))
        preference, before, _ = (
            np.concatenate(column)
            for column in zip(*(rule for kind in by_kind for rule in kind), strict=True)
        )
        tail = np.concatenate([tail for _, _, tail in by_kind[1]])
        rules = tuple(variant.rule for variant in queue)
        is_empty = self._analysis.facts[start].nullable
        return Positions(
            replace(tables, call_tail=tail),
            rules,
            tuple(origin for builder in builders.values() for origin in builder.origins),
            self._names,
            np.array([self._label[rule] for rule in rules], np.int32),
            np.array(
                [number for builder in builders.values() for number in builder.arrive], np.int32
            ),
            before,
            preference,
            tuple(self._lists),
            self._lists[self.preorder((start,))] if is_empty else None,
        )


def _copies(
    rule: _Rule, body: Node, low: int, high: int | None, begin: int, end: int
) -> list[tuple[Node, int, int]]:
    """Add the free edges of a repetition; return the copies of its body to connect."""
    copies: list[tuple[Node, int, int]] = []
    here = begin
    for _ in range(low):
        after = rule.add()
        copies.append((body, here, after))
        here = after
    if high is None:
        loop, first = rule.add(), rule.add()
        rule.free[here].append((loop, ""))
        rule.free[loop] += [(first, ""), (end, "")]
        copies.append((body, first, loop))
        return copies
    for _ in range(high - low):
        first, after = rule.add(), rule.add()
        # Edges are in order of preference: another round before the end.
        rule.free[here] += [(first, ""), (end, "")]
        copies.append((body, first, after))
        here = after
    rule.free[here].append((end, ""))
    return copies


def _chosen(firsts: _Follow, choices: int) -> _Follow:
    """Return the occurrences that begin a variant of a rule."""
    ends = [index for index, (position, _) in enumerate(firsts) if position == _END]
    if choices == 2 or not ends:
        return [] if choices == 1 else [first for first in firsts if first[0] != _END]
    return firsts[: ends[0]] if choices == 0 else firsts[ends[0] + 1 :]


_Edge: TypeAlias = tuple[int, int, bool]
"""(preference, list before the first occurrence, whether it is a tail call)"""

_Columns: TypeAlias = tuple[npt.NDArray[Any], ...]
"""The three of ``_Edge`` of several edges: int64, int32, and bool."""


class _AutomatonBuilder:
    """The automaton of one variant of a rule; state 0 is its entry."""

    def __init__(
        self,
        builder: _PositionBuilder,
        rule: _Rule,
        alphabet: Alphabet,
        keys: Mapping[_Variant, str],
        budget: Budget,
    ) -> None:
        self._builder = builder
        self._rule = rule
        self._alphabet = alphabet
        self._keys = keys
        self._budget = budget
        self._numbers: dict[tuple[int, int, int], int] = {}
        self._queue: list[tuple[int, int, int]] = []
        # By state: its acceptance, and the list of empty nodes before it.
        self._accepting = bytearray(1)
        self.arrive = [0]
        self.origins: list[tuple[Origin, ...]] = [()]
        # By edge, sorted by state, symbol, and target.
        self._source, self._symbol, self._target, self._before = (array("i") for _ in range(4))
        self._preference, self._tail = array("q"), bytearray()
        self._columns: dict[int, tuple[list[int], list[bool]]] = {}

    def build(self, firsts: Sequence[tuple[int, _Passed]]) -> list[_Variant]:
        """Build all states that ``firsts`` lead to; return the variants that are called."""
        called: dict[_Variant, None] = {}
        begun = (
            origin for position, _ in firsts for origin in self._rule.origins.get(position, ())
        )
        self.origins[0] = tuple(dict.fromkeys(begun))
        entry: dict[tuple[int, int], _Edge] = {}
        for index, (position, passed) in enumerate(firsts):
            before = self._builder.preorder(passed)
            for key, (preference, _, is_tail) in self._leaving(position, 0).items():
                edge = (index << _FIRST | preference, before, is_tail)
                # The same way through a later choice is never preferred.
                entry.setdefault(key, edge)
        self._keep(0, entry)
        for number, (position, inner, _) in enumerate(self._queue, 1):
            if position != _END:
                self._keep(number, self._leaving(position, inner))
        for position, _, _ in [*self._queue, *((position, 0, 0) for position, _ in firsts)]:
            leaf = self._rule.leaves[position][0] if position != _END else None
            if isinstance(leaf, _Variant):
                called[leaf] = None
        return list(called)

    def _number(self, position: int, inner: int, arrive: int) -> int:
        key = (position, inner, arrive)
        if key not in self._numbers:
            self._numbers[key] = len(self._numbers) + 1
            self._queue.append(key)
            self._accepting.append(position == _END)
            self.arrive.append(arrive)
            self.origins.append(self._rule.origins.get(position, ()))
        return self._numbers[key]

    def _leaving(self, position: int, inner: int) -> dict[tuple[int, int], _Edge]:
        """Return the edges of an occurrence by (symbol, target); of an automaton, at a state."""
        leaf = self._rule.leaves[position][0]
        follow = self._rule.follows.get(position, [])
        edges: dict[tuple[int, int], _Edge] = {}
        if isinstance(leaf, Dfa):
            columns, goes_on = self._columns_of(leaf)
            row = leaf.rows[inner]
            for symbol, column in enumerate(columns):
                target = row[column]
                if target == DEAD:
                    continue
                if goes_on[target]:
                    edges[symbol, self._number(position, target, 0)] = (0, 0, False)
                if leaf.accepting[target]:
                    self._follow(edges, symbol, follow, 1)
            return edges
        if isinstance(leaf, int):
            symbol = self._alphabet.columns[leaf]
        elif isinstance(leaf, _Variant):
            symbol = self._alphabet.call_symbols[self._keys[leaf]]
        else:
            symbol = self._alphabet.of_token(leaf)
        self._follow(edges, symbol, follow, 0)
        return edges

    def _follow(
        self, edges: dict[tuple[int, int], _Edge], symbol: int, follow: _Follow, least: int
    ) -> None:
        only = len(follow) == 1
        self._budget.spend(_EDGE_WORK * len(follow))
        for preference, (position, passed) in enumerate(follow, least):
            arrive = self._builder.preorder(passed)
            is_tail = only and position == _END and not arrive
            edges[symbol, self._number(position, 0, arrive)] = (preference, 0, is_tail)

    def _columns_of(self, dfa: Dfa) -> tuple[list[int], list[bool]]:
        """Return an automaton's columns by class of the alphabet, and which states have edges."""
        columns_by_origins = self._columns.get(id(dfa))
        if columns_by_origins is None:
            columns = [dfa.classes[byte] for byte in self._alphabet.first_bytes]
            goes_on = [any(target != DEAD for target in row) for row in dfa.rows]
            columns_by_origins = self._columns[id(dfa)] = (columns, goes_on)
        self._budget.spend(len(columns_by_origins[0]))
        return columns_by_origins

    def _keep(self, state: int, edges: Mapping[tuple[int, int], _Edge]) -> None:
        """Add the edges from a state, the next one."""
        self._budget.spend(_EDGE_WORK * len(edges))
        for (symbol, target), (preference, before, is_tail) in sorted(edges.items()):
            self._source.append(state)
            self._symbol.append(symbol)
            self._target.append(target)
            self._preference.append(preference)
            self._before.append(before)
            self._tail.append(is_tail)

    def automaton(self) -> ClosedAutomaton:
        """Return the columns of the automaton."""
        source, symbol, target = self._source, self._symbol, self._target
        edges = source.tobytes(), symbol.tobytes(), target.tobytes()
        return ClosedAutomaton(*edges, bytes(self._accepting))

    def by_kind(self, alphabet: Alphabet, terminals: int) -> list[_Columns]:
        """Return the edges in the order of the tables: of bytes, of calls, of tokens."""
        symbols = np.frombuffer(self._symbol, np.int32)
        first_token = alphabet.class_count + len(alphabet.nonterminals)
        never = alphabet.terminals.get(NEVER, terminals)
        of_bytes, of_calls = symbols < alphabet.class_count, symbols < first_token
        of_tokens = ~of_calls & (symbols - first_token != never)
        columns = (
            np.frombuffer(self._preference, np.int64),
            np.frombuffer(self._before, np.int32),
            np.frombuffer(self._tail, np.bool_),
        )
        return [
            tuple(column[chosen] for column in columns)
            for chosen in (of_bytes, of_calls & ~of_bytes, of_tokens)
        ]
