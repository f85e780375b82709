"""Inserts ``%ignore`` text where the lexer allows it.

Lark allows it anywhere. LLGuidance allows none before the first lexeme, and after the last one
only if any of its parses could continue. So every lexeme is followed by ignored text, but not
those that can only be the end, which takes two questions.

Left corners: could a parser continue where a part has just ended the text? What began at the same
position as that part was predicted with it: other rules that begin with the same part go on after
it (``e: e "+" t | t`` after an ``e``), and so may the same part at another place of the same rule
(``x: (y ",")* y`` after a ``y``).

Other parses: LLGuidance keeps all that match alike, so ignored text may follow a last lexeme where
another terminal that is expected there matches it and goes on. A terminal that matches the empty
text counts as a lexeme, so ignored text may follow it, even at the very beginning.

The text between two lexemes is one terminal, made of everything that ``%ignore`` names.

Tests: tests/unit/languages/lark
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import reduce

from kbnf_core.automata import operations
from kbnf_core.automata.beginnings import exits, members
from kbnf_core.automata.dfa import DEAD, Dfa, class_count, first_bytes, join, rows_over, trimmed
from kbnf_core.automata.explore import explore
from kbnf_core.automata.traversal import fold
from kbnf_core.conversion.automata import as_pattern, write_dfa
from kbnf_core.ir import Call, Choice, Repeat, Sequence, children, rebuild
from kbnf_core.ir.analysis import reachable
from kbnf_core.kbnf import tree
from kbnf_core.languages.lark.lexer.first_follow import LexemePositions, Site, SiteAnalysis, analyse
from kbnf_core.languages.lark.lexer.lookahead import (
    ANYTHING,
    MOST_STATES,
    NOTHING,
    Lookahead,
    after_byte,
    both,
    either,
    outside,
)
from kbnf_core.languages.lark.reader.model import (
    Embedded,
    IndenterTerminals,
    LarkTerminal,
    Lexeme,
    LexicalGrammar,
    Node,
    only_reached,
)
from kbnf_core.languages.lark.reader.report import LEXING, Report
from kbnf_core.text.budget import Budget
from kbnf_core.text.source import Span

_END = "@end"

_MOST_UNROLLED = 8
"""Rounds of a bounded repetition at the end of a text that are written one by one."""

_Symbol = str | LarkTerminal


class _LeftCorners:
    """The sites that each rule may begin with."""

    def __init__(self, grammar: LexicalGrammar, budget: Budget) -> None:
        self._analysis = SiteAnalysis(grammar, budget)
        self._corners: dict[str, list[Site]] = {}
        self._twins: set[int] = set()
        for name in grammar.rules:
            following = [[*after.sites.values()] for after in self._analysis.followings(name)]
            self._corners[name] = following[0]
            self._twins |= self._with_twins(following)
        self._callees = {
            name: [site.nonterminal for site in sites if isinstance(site, Call)]
            for name, sites in self._corners.items()
        }
        self._closures: dict[str, set[str]] = {}

    def has_twin(self, node: Lexeme | Call) -> bool:
        """Return whether, wherever ``node`` is expected, so is its symbol with more to follow."""
        return id(node) in self._twins

    def _with_twins(self, following: list[list[Site]]) -> set[int]:
        twins: set[int] = set()
        lonely: set[int] = set()
        for sites in following:
            going_on: dict[_Symbol | None, set[int]] = {}
            for site in sites:
                if self._analysis.after(site).sites:
                    going_on.setdefault(_symbol(site), set()).add(id(site))
            for site in sites:
                symbol = _symbol(site)
                alike = going_on.get(symbol, set()) if symbol is not None else set()
                (twins if len(alike) > (id(site) in alike) else lonely).add(id(site))
        return twins - lonely

    def goes_on(self, symbol: _Symbol, origin: str) -> bool:
        """Return whether something may follow ``symbol`` where it and ``origin`` began together."""
        if origin not in self._closures:
            self._closures[origin] = reachable([origin], self._callees)
        ended: dict[_Symbol, None] = {symbol: None}
        pending = [symbol]
        while pending:
            symbol_ = pending.pop()
            for rule in self._closures[origin]:
                for site in self._corners[rule]:
                    if _symbol(site) != symbol_:
                        continue
                    after = self._analysis.after(site)
                    if after.sites:
                        return True
                    if after.is_open and rule not in ended:
                        ended[rule] = None
                        pending.append(rule)
        return False


def _symbol(site: Site) -> _Symbol | None:
    """Return the rule or terminal that is used at ``site``; None for an embedded grammar."""
    match site:
        case Call(symbol) | Lexeme(symbol):
            return symbol
    return None


def insert_skipped(
    grammar: LexicalGrammar, budget: Budget, one_by_one: bool = False
) -> LexicalGrammar:
    """Return ``grammar`` with its ignored text as lexemes, as Lark takes it: anywhere.

    ``one_by_one``: the ignored terminals are lexemes of their own, not runs. Newlines that an
    indenter drops are such lexemes, too, of a copy of their terminal.
    """
    dropped = dropped_newline(grammar.layout)
    if grammar.ignored is None and dropped is None:
        return grammar
    one_by_one = one_by_one or dropped is not None
    inserter = _Inserter(grammar, grammar.ignored, budget, one_by_one, dropped)
    rules = {name: inserter.inner(body) for name, body in grammar.rules.items()}
    return inserter.skipping_first(replace(grammar, rules=rules))


def end_bare(grammar: LexicalGrammar, budget: Budget) -> LexicalGrammar:
    """Return ``grammar`` with its ignored text as lexemes, as LLGuidance takes it."""
    if grammar.ignored is None:
        return grammar
    inserter = _Inserter(grammar, grammar.ignored, budget)
    rules = {name: inserter.inner(body) for name, body in grammar.rules.items()}
    start = inserter.end_rule(grammar.start, grammar.start)
    inserter.finish()
    rules.update(inserter.ends)
    spans = {name: grammar.spans[name.partition(_END)[0]] for name in rules}
    whole = replace(grammar, start=start, rules=rules, spans=spans)
    return only_reached(inserter.skipping_first(whole) if grammar.skips_first else whole)


def dropped_newline(layout: IndenterTerminals | None) -> LarkTerminal | None:
    """Return a copy of the newline's terminal where an indenter drops some; else None."""
    return replace(layout.newline) if layout is not None and layout.opening else None


@dataclass(slots=True)
class _Inserter:
    grammar: LexicalGrammar
    ignored: LarkTerminal | None
    budget: Budget
    one_by_one: bool = False
    dropped: LarkTerminal | None = None
    ends: dict[str, Node] = field(default_factory=dict)
    _pending: list[tuple[str, str]] = field(default_factory=list)
    _terminals: tuple[LarkTerminal, ...] = field(init=False)
    _corners: _LeftCorners = field(init=False)

    def __post_init__(self) -> None:
        # Copies: where a rule uses an ignored terminal, that is another thing.
        ignored = () if self.ignored is None else self.ignored.terminals
        dropped = () if self.dropped is None else (self.dropped,)
        self._terminals = (*(replace(terminal) for terminal in ignored), *dropped)
        self._corners = _LeftCorners(self.grammar, self.budget)

    def skip(self, span: Span) -> Node:
        """Return the text between two lexemes; a loop of it is where ``%ignore`` is."""
        ignored = span if self.ignored is None else self.ignored.span
        if self.ignored is not None and not self.one_by_one:
            return Repeat(Lexeme(self.ignored, ignored), 0, 1, span)
        lexemes = tuple(Lexeme(terminal, terminal.span) for terminal in self._terminals)
        return Repeat(Choice(lexemes, ignored), 0, None, ignored)

    def skipping_first(self, grammar: LexicalGrammar) -> LexicalGrammar:
        """Return ``grammar`` with ignored text in front."""
        span = grammar.spans[self.grammar.start]
        first = Sequence((self.skip(span), Call(grammar.start, span)), span)
        rules, spans = {**grammar.rules, "@first": first}, {**grammar.spans, "@first": span}
        return replace(grammar, start="@first", rules=rules, spans=spans)

    def inner(self, node: Node) -> Node:
        """Return a copy of ``node`` with ignored text after each lexeme. Nesting is bounded.

        It shares no part with ``node``: where a part is matters.
        """
        if isinstance(node, Lexeme | Embedded):
            return Sequence((replace(node), self.skip(node.span)), node.span)
        copied = tuple(self.inner(operand) for operand in children(node))
        return rebuild(node, copied) if copied else replace(node)

    def end_rule(self, name: str, origin: str) -> str:
        """Return the rule that is ``name`` at the end of the text.

        ``origin`` is the outermost rule at the end that began where it begins.
        """
        wanted = f"{name}{_END}" if name == origin else f"{name}{_END}{origin}"
        if wanted not in self.ends:
            self.ends[wanted] = Choice((), self.grammar.spans[name])
            self._pending.append((name, origin))
        return wanted

    def finish(self) -> None:
        """Build the rules that are needed at the end."""
        while self._pending:
            name, origin = self._pending.pop()
            wanted = f"{name}{_END}" if name == origin else f"{name}{_END}{origin}"
            self.ends[wanted] = self._end(self.grammar.rules[name], origin)

    def _end(self, node: Node, origin: str | None) -> Node:
        """Return ``node`` as the last part of the text, where nothing follows it in its rule.

        ``origin`` is None where something is before it.
        """
        match node:
            case Lexeme() | Call() if self._corners.has_twin(node):
                return self.inner(node)
            case Lexeme(terminal) if origin and self._corners.goes_on(terminal, origin):
                return self.inner(node)
            case Call(name, span):
                if self._corners.goes_on(name, origin or name):
                    return self.inner(node)
                return Call(self.end_rule(name, origin or name), span)
            case Sequence(items, span) if items:
                # Before an empty last part there is skipped text: the part could have come.
                before = tuple(self.inner(item) for item in items[:-1])
                return Sequence((*before, self._end(items[-1], None if before else origin)), span)
            case Choice(branches, span):
                return Choice(tuple(self._end(branch, origin) for branch in branches), span)
            case Repeat():
                return self._end_of_repeat(node, origin)
            case _:
                # A copy: the same lexeme also is where it is not the end.
                return replace(node)

    def _end_of_repeat(self, node: Repeat[Node], origin: str | None) -> Node:
        """Before the last possible round there could be another, after it there cannot."""
        if node.high is None:
            return self.inner(node)
        if node.high <= _MOST_UNROLLED:
            return self._unrolled(node, node.high, origin)
        high, span = node.high, node.span
        last = self._end(node.body, None)
        full = Sequence((Repeat(self.inner(node.body), high - 1, high - 1, span), last), span)
        if node.low == high:
            return full
        return Choice((Repeat(self.inner(node.body), node.low, high - 1, span), full), span)

    def _unrolled(self, node: Repeat[Node], high: int, origin: str | None) -> Node:
        """Return the rounds one by one: which of them is the last possible one is then plain."""
        rounds = self._end(node.body, origin if high == 1 else None)
        if node.low < high:
            rounds = Repeat(rounds, 0, 1, node.span)
        for number in reversed(range(1, high)):
            rounds = Sequence((self.inner(node.body), rounds), node.span)
            if number > node.low:
                rounds = Repeat(rounds, 0, 1, node.span)
        return rounds


Confusable = Callable[[LarkTerminal, LarkTerminal], bool]


def open_ends(
    grammar: LexicalGrammar, confusable: Confusable, budget: Budget, report: Report
) -> LexicalGrammar:
    """Return ``grammar`` with ignored text after last lexemes where another parse stays alive.

    The grammar has its ignored text already. Reports where that is not certain.
    """
    ignored = grammar.ignored
    if ignored is None:
        return grammar
    positions = analyse(grammar, confusable, budget)
    _check_start(grammar, positions, report)
    opened: dict[int, Node] = {}
    for number, leaf in enumerate(positions.leaves):
        if not (
            positions.last[number] and isinstance(leaf, Lexeme) and leaf.terminal is not ignored
        ):
            continue
        rivals = [*_going_on(number, leaf, positions, ignored, confusable)]
        if not rivals:
            continue
        certain = positions.must[number]
        if not any(certain >> rival & 1 and _covers(positions, rival, leaf) for rival in rivals):
            report.loss(
                LEXING,
                f"LLGuidance takes ignored text after this `{leaf.terminal.title}` only where the"
                " lexemes before it can also be read as a text that goes on; here it is always"
                " allowed",
                leaf.span,
            )
        skip: Node = Repeat(Lexeme(ignored, leaf.span), 0, 1, leaf.span)
        opened[id(leaf)] = Sequence((leaf, skip), leaf.span)
    if not opened:
        return grammar
    rules = {name: _replaced(body, opened) for name, body in grammar.rules.items()}
    return replace(grammar, rules=rules)


def _going_on(
    number: int,
    leaf: Lexeme,
    positions: LexemePositions,
    ignored: LarkTerminal,
    confusable: Confusable,
) -> Iterator[int]:
    """Yield the leaves that may match the same lexeme, and after which more may come."""
    if _goes_on(number, positions, ignored):
        return
    for other in members(positions.may[number] & positions.near(number) & ~(1 << number)):
        rival = positions.leaves[other]
        if not isinstance(rival, Lexeme) or rival.terminal is ignored:
            continue
        if confusable(leaf.terminal, rival.terminal) and _goes_on(other, positions, ignored):
            yield other


def _goes_on(number: int, positions: LexemePositions, ignored: LarkTerminal) -> bool:
    following = (positions.leaves[leaf] for leaf in members(positions.follow[number]))
    return any(not isinstance(n, Lexeme) or n.terminal is not ignored for n in following)


def _covers(positions: LexemePositions, rival: int, leaf: Lexeme) -> bool:
    other = positions.leaves[rival]
    if not isinstance(other, Lexeme):
        return False
    return operations.difference(leaf.terminal.dfa, other.terminal.dfa).is_empty


def _check_start(grammar: LexicalGrammar, positions: LexemePositions, report: Report) -> None:
    """Report terminals at the start that are lexemes even without text."""
    for number in members(positions.first):
        leaf = positions.leaves[number]
        if isinstance(leaf, Lexeme) and leaf.terminal.is_nullable and not grammar.skips_first:
            report.loss(
                LEXING,
                f"`{leaf.terminal.title}` may be empty, and LLGuidance takes ignored text after"
                " that too; here none is allowed before the first text",
                leaf.span,
            )


def _replaced(root: Node, new: dict[int, Node]) -> Node:
    """Return ``root`` with some of its parts replaced, those given by their identities."""

    def replaced(node: Node, operands: list[Node]) -> Node:
        return new.get(id(node)) or rebuild(node, operands)

    return fold(root, children, replaced)


NAME = "ws"


_Thread = tuple[int, int, Lookahead]
"""A pattern, its state, and what the lexeme before lets follow."""

_Threads = frozenset[_Thread]

_BEFORE: _Threads = frozenset()
"""Before a run, which has a start of its own: no run returns to it, and none ends there."""


class _Runs:
    """Runs of ignored lexemes: which patterns are alive, and in which state."""

    def __init__(self, terminals: list[LarkTerminal], together: bool, once: bool) -> None:
        self.terminals = terminals
        self.together = together
        self.once = once
        rests = {rest for terminal in terminals for rest in terminal.rests}
        self.classes = join(
            [
                *(terminal.dfa.classes for terminal in terminals),
                *(rest.dfa.classes for rest in rests),
            ]
        )
        self.bytes = first_bytes(self.classes)
        self.rows = [rows_over(terminal.dfa, self.classes) for terminal in self.terminals]
        self.accepting = [terminal.dfa.accepting for terminal in self.terminals]

    @property
    def start(self) -> _Threads:
        """The threads before a lexeme."""
        return self._begun(ANYTHING)

    def _begun(self, rest: Lookahead) -> _Threads:
        return frozenset((number, 0, rest) for number in range(len(self.terminals)))

    def step(self, state: _Threads, symbol: int) -> _Threads:
        """Return the threads after a byte of class ``symbol``."""
        moved = self.move(state, symbol)
        if self.once or (self.together and moved):
            # One byte of look-ahead decides: whatever can go on does.
            return moved
        for rest in self._ended(state):
            moved |= self.move(self._begun(rest), symbol)
        return moved

    def move(self, state: _Threads, symbol: int) -> _Threads:
        """Return the threads after a byte within their lexemes."""
        moved = set()
        for number, at, rest in state:
            target, left = self.rows[number][at][symbol], after_byte(rest, self.bytes[symbol])
            if target != DEAD and left != NOTHING:
                moved.add((number, target, left))
        return frozenset(moved)

    def _ended(self, state: _Threads) -> set[Lookahead]:
        """Return, for each lexeme that ends in ``state``, the look-ahead that may follow."""
        if self.together:
            return {ANYTHING} if self.ends(state) else set()
        return {
            both(rest, self.terminals[number].rests[at]) for number, at, rest in self.ends(state)
        }

    def ends(self, state: _Threads) -> list[_Thread]:
        """Return the threads that are at the end of a lexeme."""
        return [(number, at, rest) for number, at, rest in state if self.accepting[number][at]]

    def rest(self, state: _Threads) -> Lookahead:
        """Return the look-ahead that may follow a run that ends in ``state``."""
        if not self.together:
            return reduce(either, self._ended(state), NOTHING)
        if not self.ends(state):
            return NOTHING
        alive = 0
        for number, at, _ in state:
            alive |= exits(self.terminals[number].dfa)[at]
        return outside(alive)


def make_skipped(
    terminals: list[LarkTerminal], together: bool, once: bool, span: Span
) -> LarkTerminal:
    """Return the terminal of runs of the ignored ``terminals``.

    ``together``: they are matched as one automaton, as LLGuidance does; else each for itself.
    ``once``: a run is one lexeme.
    """
    runs = _Runs(terminals, together, once)

    symbols = range(class_count(runs.classes))

    def step(state: _Threads) -> Iterator[_Threads | None]:
        for symbol in symbols:
            after = runs.step(state, symbol) if state else runs.move(runs.start, symbol)
            yield after or None

    states, rows = explore([_BEFORE], step, MOST_STATES)
    by_state = [NOTHING, *(runs.rest(state) for state in states[1:])]
    dfa, kept = trimmed(rows, [rest != NOTHING for rest in by_state], runs.classes)
    rests = tuple(by_state[state] for state in kept)
    unit = operations.union(*(terminal.dfa for terminal in terminals))
    written = _written(terminals, dfa, once, span)
    return LarkTerminal(
        NAME, NAME, dfa, span, rests, written, unit=unit, terminals=tuple(terminals)
    )


def _written(
    operands: list[LarkTerminal], dfa: Dfa, once: bool, span: Span
) -> tree.Expression | None:
    texts = [p.written.text.value for p in operands if isinstance(p.written, tree.Pattern)]
    if len(texts) == len(operands):
        whole = "|".join(texts)
        candidates = [whole] if len(texts) == 1 else []
        candidates.append(whole if once else f"(?:{whole})+")
        for candidate in candidates:
            pattern = as_pattern(candidate, dfa, span)
            if pattern is not None:
                return pattern
    return write_dfa(dfa, span)
