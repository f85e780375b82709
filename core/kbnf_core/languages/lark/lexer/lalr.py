r"""The terminals that Lark's LALR parser accepts in each state, from Lark's own analysis.

Its contextual lexer knows the terminals that the parser's state has an action for, which may be
more than can follow; and where the parser could both shift and reduce, it shifts.

Two terminals of one state *collide* where a text matches both, as Lark's strict mode says. Lark
asks interegular, which reads Python's regular expressions as sets of texts; so it is asked here
too. It falls short of ``re``, and of ``regex``, in this: alternation has no order and laziness no
meaning (``a|ab`` may match ``ab``), classes and ``\d``, ``\w`` are ASCII, there is no look-behind,
no ``^``, ``$``, ``\b``, no reference back, no flag but ``ims``; what a look-ahead asks is part of
the text. Hence terminals are not read by it, and an example of it counts only if ``re`` confirms
it; where there is none, our own automata give one.

Tests: tests/unit/languages/lark
"""

import re
import warnings
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, reduce
from itertools import product
from operator import or_
from typing import TYPE_CHECKING, Any

from kbnf_core.automata.beginnings import Beginnings, first_bytes, members
from kbnf_core.automata.explore import common_word
from kbnf_core.ir import Call, Choice, Repeat, Sequence, children, postorder
from kbnf_core.ir.analysis import fixpoint
from kbnf_core.languages.lark.lexer.maximal_munch import COMPARISON, Scanner, is_string, scanner_of
from kbnf_core.languages.lark.reader.model import (
    Embedded,
    LarkTerminal,
    Lexeme,
    LexicalGrammar,
    Node,
)
from kbnf_core.languages.lark.reader.report import COLLISION, Report
from kbnf_core.text.budget import Budget

_MOST_EXPANSIONS = 2_000
"""Alternatives of one rule once its groups are multiplied out."""

_MOST_WORK = 10_000_000
"""Steps of Lark's analysis, which grow with the cube of the length of an alternative."""

_Word = tuple[bool, str]
"""A symbol of a plain rule: whether it is a terminal, and its name."""

_Expansion = tuple[_Word, ...]

_Placed = tuple[tuple[_Word, int], ...]
"""An expansion, each symbol with the identity of its node."""


@dataclass(frozen=True, slots=True)
class Expected:
    """By use of a terminal, as ``by_leaf``: what Lark's lexer may look for at its position.

    ``conflict`` is what Lark says of the rules where it would not parse all that they describe.
    ``scanners`` are those of all its states.
    """

    by_leaf: Mapping[int, frozenset[Scanner]]
    conflict: str | None
    scanners: tuple[Scanner, ...] = ()
    _anywhere: dict[LarkTerminal, frozenset[Scanner]] = field(default_factory=dict)
    """What all scanners are around an ignored terminal; a large grammar has many uses of it."""

    def looked_for(self, leaf: Lexeme) -> Iterable[Scanner]:
        """Return the scanners that may be active at ``leaf``; ignored text may occur anywhere."""
        own = self.by_leaf.get(id(leaf))
        if own:
            return own
        terminal = leaf.terminal
        if terminal not in self._anywhere:
            self._anywhere[terminal] = frozenset(
                scanner.around(terminal) for scanner in self.scanners
            )
        return self._anywhere[terminal]


class TooManyExpansionsError(Exception):
    """More alternatives than the limit, so Lark's analysis is not known."""


def expected(
    grammar: LexicalGrammar, skipped: frozenset[LarkTerminal], always: Iterable[LarkTerminal] = ()
) -> Expected:
    """Return the tables of Lark's LALR parser for the rules; its lexer drops ``skipped``.

    The lexer looks for the terminals of ``always`` in all states of the parser.
    """
    plain = _Plain(skipped)
    for name, body in grammar.rules.items():
        plain.add(name, body)
    if not all(plain.rules.values()):
        # Only a start without any text is left with no alternative.
        return Expected({}, None)
    analyzer, conflict_text = _analysed(plain.rules, grammar.start)
    titles = {name: f"`{terminal.title}`" for name, terminal in plain.terminals.items()}
    conflict = conflict_text and re.sub(
        r"\bT\d+\b", lambda m: titles.get(m[0], m[0]), conflict_text
    )
    if analyzer is None:
        return Expected({}, conflict)
    shifts = _Shifts(analyzer, plain)
    # Most states look for the same.
    reached: dict[frozenset[LarkTerminal], int] = {}
    ignored = grammar.ignored.terminals if grammar.ignored else ()
    for state, leaves in shifts.by_state().items():
        actions = analyzer.parse_table.states[state]
        own = (plain.terminals[name] for name in actions if name in plain.terminals)
        looked_for = frozenset((*own, *ignored, *always))
        reached[looked_for] = reached.get(looked_for, 0) | leaves
    by_leaf: defaultdict[int, set[Scanner]] = defaultdict(set)
    scanners = [scanner_of(looked_for) for looked_for in reached]
    for scanner, leaves in zip(scanners, reached.values(), strict=True):
        for number in members(leaves):
            by_leaf[shifts.leaves[number]].add(scanner)
    frozen = {leaf: frozenset(conflict_text) for leaf, conflict_text in by_leaf.items()}
    return Expected(frozen, conflict, tuple(scanners))


def _analysed(rules: Mapping[str, list[_Expansion]], start: str) -> tuple[Any, str | None]:
    """Return Lark's analysis, None where it refuses the rules; and a conflict, if there is one."""
    from lark.common import ParserConf
    from lark.exceptions import GrammarError
    from lark.grammar import NonTerminal, Rule
    from lark.grammar import Terminal as Word
    from lark.parsers.lalr_analysis import LALR_Analyzer

    made = [
        Rule(
            NonTerminal(origin),
            [Word(name) if is_terminal else NonTerminal(name) for is_terminal, name in expansion],
            order,
        )
        for origin, expansions in rules.items()
        for order, expansion in enumerate(dict.fromkeys(expansions))
    ]
    conf = ParserConf(made, {}, [start])
    if sum(len(rule.expansion) ** 3 for rule in made) > _MOST_WORK:
        raise TooManyExpansionsError
    # With `debug` the table keeps its items.
    analyzer: Any = LALR_Analyzer(conf, debug=True)
    try:
        analyzer.compute_lalr()
    except GrammarError as error:
        return None, min(re.findall("^Reduce/Reduce .*", str(error), re.MULTILINE))
    except RecursionError:
        # Lark follows chains of rules by recursion.
        raise TooManyExpansionsError from None
    both = {
        word.name
        for itemset in analyzer.lr0_itemsets
        for word in itemset.lookaheads
        if word in itemset.transitions
    }
    # Lark's own order is not the same from run to run.
    first = min(both, key=lambda name: (len(name), name), default=None)
    return analyzer, first and f"Shift/Reduce conflict for terminal {first}."


class _Shifts:
    """Which uses of a terminal are shifted in the end where Lark has read it in a state.

    The parser may reduce before it shifts. A state shifts its own leaves, and for each rule that
    it reduces those leaves of the terminals before which it does so that are shifted in a state
    after the reduction: a least fixpoint of sets of leaves, the bits of one number.
    """

    def __init__(self, analyzer: Any, plain: "_Plain") -> None:
        self._plain = plain
        identities = dict.fromkeys(
            leaf for leaves_of in plain.leaves.values() for leaf in leaves_of
        )
        self.leaves = [*identities]
        self._numbers = {leaf: number for number, leaf in enumerate(self.leaves)}
        self._by_name: dict[str, int] = {}
        for (_, expansion, index), leaves_of in plain.leaves.items():
            is_terminal, name = expansion[index]
            if is_terminal:
                self._by_name[name] = self._by_name.get(name, 0) | self._set_of(leaves_of)
        self._sets = {itemset.closure: itemset for itemset in analyzer.lr0_itemsets}
        self._sources: dict[int, list[Any]] = {}
        for itemset in analyzer.lr0_itemsets:
            for target in itemset.transitions.values():
                self._sources.setdefault(id(target), []).append(itemset)
        self._states = analyzer.parse_table.states
        self._own = {state: self._shifts_in(state) for state in self._states}
        self._reductions = {state: self._reductions_in(state) for state in self._states}

    def by_state(self) -> Mapping[Any, int]:
        """Return the leaves that each state leads to, by their numbers in ``leaves``."""
        callees = {
            state: [target for _, targets in reductions for target in targets]
            for state, reductions in self._reductions.items()
        }
        return fixpoint(callees, 0, self._evaluate)

    def _evaluate(self, state: Any, by_state: Mapping[Any, int]) -> int:
        leaves_ = self._own[state]
        for names, targets in self._reductions[state]:
            leaves_ |= reduce(or_, (by_state[target] for target in targets), 0) & names
        return leaves_

    def _set_of(self, leaves: Iterable[int]) -> int:
        return reduce(or_, (1 << self._numbers[leaf] for leaf in leaves), 0)

    def _shifts_in(self, state: Any) -> int:
        shifts = 0
        for item in state:
            if not item.is_satisfied and item.next.is_term:
                expansion = tuple((w.is_term, w.name) for w in item.rule.expansion)
                key = (item.rule.origin.name, expansion, item.index)
                shifts |= self._set_of(self._plain.leaves.get(key, ()))
        return shifts

    def _reductions_in(self, state: Any) -> list[tuple[int, list[Any]]]:
        """Return, for each rule that is reduced, before which leaves, and the states after it."""
        from lark.parsers.lalr_analysis import Shift

        by_rule: dict[Any, int] = {}
        for name, (action, rule) in self._states[state].items():
            if action is not Shift:
                by_rule[rule] = by_rule.get(rule, 0) | self._by_name.get(name, 0)
        return [(names, [*self._after(state, rule)]) for rule, names in by_rule.items()]

    def _after(self, state: Any, rule: Any) -> Iterator[Any]:
        """Yield the states after a reduction, whatever has come before."""
        current = {id(self._sets[state]): self._sets[state]}
        for _ in rule.expansion:
            sources = (s for key in current for s in self._sources.get(key, ()))
            current = {id(source): source for source in sources}
        for itemset in current.values():
            if rule.origin in itemset.transitions:
                yield itemset.transitions[rule.origin].closure


@dataclass(slots=True)
class _Plain:
    """Rules without operators, made as Lark makes them: equal repetitions share a rule."""

    skipped: frozenset[LarkTerminal]
    rules: dict[str, list[_Expansion]] = field(default_factory=dict)
    leaves: dict[tuple[str, _Expansion, int], set[int]] = field(default_factory=dict)
    """The uses of terminals, by identity, at a place of an expansion of a rule."""
    terminals: dict[str, LarkTerminal] = field(default_factory=dict)
    _names: dict[int, str] = field(default_factory=dict)
    _repeated: dict[tuple[_Expansion, ...], str] = field(default_factory=dict)

    def add(self, name: str, body: Node) -> None:
        """Add a rule."""
        self._define(name, self._expansions(body))

    def _define(self, name: str, expansions: list[_Placed]) -> None:
        self.rules[name] = [tuple(word for word, _ in placed) for placed in expansions]
        for expansion, placed in zip(self.rules[name], expansions, strict=True):
            for index, (_, node) in enumerate(placed):
                self.leaves.setdefault((name, expansion, index), set()).add(node)

    def _expansions(self, root: Node) -> list[_Placed]:
        values: list[list[_Placed]] = []
        for node in postorder(root):
            first = len(values) - len(children(node))
            values[first:] = [self._multiplied(node, values[first:])]
            if len(values[-1]) > _MOST_EXPANSIONS:
                raise TooManyExpansionsError
        return values.pop()

    def _multiplied(self, node: Node, expansions: list[list[_Placed]]) -> list[_Placed]:
        match node:
            case Lexeme(terminal) if terminal in self.skipped:
                return [()]
            case Lexeme(terminal):
                return [(((True, self._name(terminal)), id(node)),)]
            case Call(name):
                return [(((False, name), id(node)),)]
            case Sequence():
                return _side_by_side(expansions)
            case Choice():
                return [expansion for expansion_list in expansions for expansion in expansion_list]
            case Repeat(_, low, high):
                skips = bool(expansions[0]) and not any(expansions[0])
                return [()] if skips else self._rounds(expansions[0], low, high)
            case Embedded():
                # Lark has none.
                return []

    def _name(self, terminal: LarkTerminal) -> str:
        if id(terminal) not in self._names:
            self._names[id(terminal)] = f"T{len(self._names)}"
            self.terminals[self._names[id(terminal)]] = terminal
        return self._names[id(terminal)]

    def _rounds(self, body: list[_Placed], low: int, high: int | None) -> list[_Placed]:
        if high is None and low <= 1:
            more: list[_Placed] = [(((False, self._repetition(body)), 0),)]
            return more if low else [*more, ()]
        if high is None or len(body) ** high > _MOST_EXPANSIONS:
            raise TooManyExpansionsError
        return [
            expansion
            for count in range(low, high + 1)
            for expansion in _side_by_side([body] * count)
        ]

    def _repetition(self, body: list[_Placed]) -> str:
        key = tuple(tuple(word for word, _ in placed) for placed in body)
        name = self._repeated.setdefault(key, f"@plus{len(self._repeated)}")
        again = ((False, name), 0)
        self._define(name, [*body, *((again, *placed) for placed in body)])
        return name


def _side_by_side(expansions: list[list[_Placed]]) -> list[_Placed]:
    count = 1
    for expansion_list in expansions:
        count *= len(expansion_list)
    if count > _MOST_EXPANSIONS:
        raise TooManyExpansionsError
    return [tuple(word for one in ways for word in one) for ways in product(*expansions)]


if TYPE_CHECKING:
    from interegular import Pattern

_MOST_STATES, _MOST_LENGTH, _MOST_PAIRS = 100, 400, 40
"""States and characters of terminals that are handed to interegular, whose automata are Python
dicts, and pairs in one grammar; for others our own example serves."""

_SECONDS = 0.2
"""What interegular may search for an example; it counts this in steps, not by a clock."""


APART = "give one of them a priority (`NAME.2`), or let it exclude the other's texts"


def report_collisions(
    scanners: Iterable[Scanner], ignored: Collection[LarkTerminal], budget: Budget, report: Report
) -> None:
    """Note each pair of terminals with one priority that collide in a scanner, with an example."""
    seen: set[frozenset[str]] = set()
    for scanner in scanners:
        _report_ignored(scanner, ignored, report)
        patterns = sorted((t for t in scanner.tried if not is_string(t)), key=lambda t: t.title)
        for one, other in _near_pairs(patterns):
            pair = frozenset((one.title, other.title))
            if pair in seen or len(pair) < 2 or _priority(one) != _priority(other):
                continue
            seen.add(pair)
            if first_bytes(one.dfa) & first_bytes(other.dfa):
                budget.spend(COMPARISON)
                first, second = sorted((one, other), key=_order)
                _report(first, second, len(seen) <= _MOST_PAIRS, report)


def _near_pairs(patterns: list[LarkTerminal]) -> Iterator[tuple[LarkTerminal, LarkTerminal]]:
    """Yield the pairs that may have a word in common, in order."""
    beginnings = Beginnings(terminal.dfa for terminal in patterns)
    for number, one in enumerate(patterns):
        later = beginnings.near(one.dfa) >> number + 1
        yield from ((one, patterns[number + 1 + other]) for other in members(later))


def _report(first: LarkTerminal, second: LarkTerminal, asks: bool, report: Report) -> None:
    """Note a text that both match, before a text that their look-aheads may ask for."""
    word = common_word(first.dfa, second.dfa)
    examples = [*_overlap(first, second)] if asks else []
    if word is not None:
        examples.append((word.decode("utf-8", "replace"), ""))
    for text, following in examples:
        if all(_matches(pair, text, following) for pair in (first, second)):
            before = f" before {following!r}" if following else ""
            report.note(
                COLLISION,
                f"`{first.title}` and `{second.title}` both match {text!r}{before}; Lark's lexer"
                f" takes `{first.title}`, the first in its order",
                second.span,
                APART,
            )
            return


def _report_ignored(scanner: Scanner, ignored: Collection[LarkTerminal], report: Report) -> None:
    """Report pairs of a pattern and a string it matches of which only one is ignored."""
    for pattern, strings in scanner:
        for string in strings:
            if pattern not in ignored and string in ignored:
                message = (
                    f"`{pattern.title}` matches the ignored `{string.title}`, too; where Lark's"
                    " lexer looks for both, it gives that text to the parser, which refuses it"
                    " unless a rule names it"
                )
                report.note(COLLISION, message, pattern.span, APART)
            elif pattern in ignored and string not in ignored:
                message = (
                    f"the ignored `{pattern.title}` matches `{string.title}`, too; what it finds is"
                    " dropped, and never that string"
                )
                report.note(COLLISION, message, string.span, APART)


def _order(terminal: LarkTerminal) -> tuple[int, int, int, str]:
    return terminal.order.key if terminal.order else (0, 0, 0, "")


def _priority(terminal: LarkTerminal) -> int:
    return _order(terminal)[0]


def _matches(terminal: LarkTerminal, text: str, following: str) -> bool:
    """Return whether Python's ``re`` matches exactly ``text`` before ``following``."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        match = re.match(_regexp(terminal), text + following)
    return match is not None and match.end() == len(text)


def _regexp(terminal: LarkTerminal) -> str:
    return terminal.order.regexp if terminal.order else ""


def _overlap(one: LarkTerminal, other: LarkTerminal) -> Iterator[tuple[str, str]]:
    """Yield interegular's example of a text that both match, and the text that must follow."""
    from interegular import Comparator, Unsupported

    readings = (_read(_regexp(terminal)) for terminal in (one, other) if _is_small(terminal))
    patterns = dict(enumerate(reading for reading in readings if reading is not None))
    if len(patterns) < 2:
        return
    comparator = Comparator(patterns)
    try:
        example = comparator.get_example_overlap(0, 1, _SECONDS)
    except (Unsupported, ValueError, TypeError):
        # It cannot say, or there is none; unbounded look-ahead fails with a TypeError.
        return
    if not example.prefix:
        yield example.main_text, example.postfix


def _is_small(terminal: LarkTerminal) -> bool:
    return terminal.dfa.state_count <= _MOST_STATES and len(_regexp(terminal)) <= _MOST_LENGTH


@lru_cache(maxsize=1024)
def _read(regexp: str) -> "Pattern | None":
    """Return interegular's reading of a pattern; None where it has none."""
    from interegular import InvalidSyntax, Unsupported, parse_pattern

    try:
        return parse_pattern(regexp)
    except (Unsupported, InvalidSyntax, AttributeError, RecursionError):
        # A comment is an AttributeError there.
        return None
