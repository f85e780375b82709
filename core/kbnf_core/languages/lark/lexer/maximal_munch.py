"""Where a lexeme may end: maximal munch, and the rules of Lark's contextual lexer.

Maximal munch: given the terminals that could match a longer text, the automaton of a terminal runs
together with those of the companions that matter. Its accepting states fall into classes by the
texts that may follow; the words of each class are a regular language of their own. What only may be
expected together makes a doubt, with a shortest word and a text after it that show it.

Lark's contextual lexer (``Scanner``) looks for some terminals. They are tried in order: by
priority, by the length of the longest text, by that of the pattern, by name. The first one that
matches is found, as ``re`` matches it, however much more another could match. Two rules are about
plain strings:

* A pattern *retypes* what it has found: where that is a spelling of a string of the same priority
  whose text, alone, the pattern matches from end to end, it becomes that string, whatever the flags
  of either. Beside a pattern that does so and has all of its flags, a string is not tried itself.
* What an ignored terminal has found is dropped, whatever it becomes. An ignored string that another
  pattern has found is not: it goes to the parser, which seldom expects it.

Tests: tests/unit/languages/lark
"""

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import reduce

from kbnf_core.automata import operations
from kbnf_core.automata.beginnings import Beginnings, exits, first_bytes, members
from kbnf_core.automata.dfa import DEAD, Dfa, class_count, legible_bytes
from kbnf_core.automata.explore import Product, States, explore, meet, words_to
from kbnf_core.automata.nfa import ending_in
from kbnf_core.automata.to_regex import NotTextError, to_characters
from kbnf_core.languages.lark.lexer.lookahead import (
    ANYTHING,
    NOTHING,
    Lookahead,
    after,
    both,
    either,
    others,
    outside,
    refused,
    relaxed,
)
from kbnf_core.languages.lark.reader.model import LarkTerminal, Lexing, TerminalOrder
from kbnf_core.text.budget import Budget
from kbnf_core.text.locks import cached_property


def is_character(dfa: Dfa) -> bool:
    """Return whether all words of an automaton are texts of one character."""
    try:
        characters = to_characters(dfa)
    except NotTextError:
        return False
    targets = {target for _, target in characters.edges[0]}
    return not characters.accepting[0] and not any(characters.edges[to] for to in targets)


def is_string(terminal: LarkTerminal) -> bool:
    """Return whether Lark keeps a terminal as a plain string, and not as a regular expression."""
    return terminal.order is not None and terminal.order.keyword is not None


def retypes(pattern: LarkTerminal, string: LarkTerminal) -> bool:
    """Return whether what ``pattern`` has found can become ``string``."""
    if pattern.order is None or string.order is None or string.order.keyword is None:
        return False
    if is_string(pattern) or pattern.order.key[0] != string.order.key[0]:
        return False
    state = DEAD if pattern.dfa.is_empty else 0
    for symbol in string.order.keyword.translate(pattern.dfa.classes):
        state = DEAD if state == DEAD else pattern.dfa.rows[state][symbol]
    return _before(pattern, state).allows_end


def _before(terminal: LarkTerminal, state: int) -> Lookahead:
    """Return the texts before which a terminal matches the word that leads to ``state``."""
    is_word = state != DEAD and terminal.dfa.accepting[state]
    return terminal.rests[state] if is_word else NOTHING


@dataclass(frozen=True)
class Scanner:
    """The terminals that are tried, in order, and the strings that each retypes, in order."""

    tried: tuple[LarkTerminal, ...]
    strings: tuple[tuple[LarkTerminal, ...], ...]

    def __iter__(self) -> Iterator[tuple[LarkTerminal, tuple[LarkTerminal, ...]]]:
        return zip(self.tried, self.strings, strict=True)

    @property
    def key(self) -> tuple[list[tuple[int, int, int, str]], ...]:
        """What to sort by: a row for each terminal, with its strings."""
        return tuple(
            [
                terminal.order.key
                for terminal in (tried_terminal, *strings)
                if terminal.order is not None
            ]
            for tried_terminal, strings in self
        )

    @cached_property
    def beginnings(self) -> Beginnings:
        """The index of the terminals that are tried."""
        return Beginnings(tried_terminal.dfa for tried_terminal in self.tried)

    def around(self, terminal: LarkTerminal) -> "Scanner":
        """Return the scanner as far as it decides which words of ``terminal`` are found."""
        rows: list[tuple[LarkTerminal, tuple[LarkTerminal, ...]]] = []
        length = 0
        for number in members(self.beginnings.near(terminal.dfa)):
            tried_terminal, strings = self.tried[number], self.strings[number]
            finds = any(is_same(terminal, other) for other in (tried_terminal, *strings))
            if finds or first_bytes(tried_terminal.dfa) & first_bytes(terminal.dfa):
                rows.append((tried_terminal, strings if finds else ()))
            if finds:
                length = len(rows)
        # Terminals that are tried after the last one that finds a word decide nothing about it.
        del rows[length:]
        return Scanner(tuple(row[0] for row in rows), tuple(row[1] for row in rows))


def scanner_of(looked_for: Iterable[LarkTerminal]) -> Scanner:
    """Return the scanner of some terminals."""
    by_order = {terminal.order: terminal for terminal in looked_for if terminal.order is not None}
    ordered = [by_order[order] for order in sorted(by_order, key=lambda order: order.key)]
    strings = {terminal: [s for s in ordered if retypes(terminal, s)] for terminal in ordered}
    hidden = {
        string.order
        for order, pattern in by_order.items()
        for string in strings[pattern]
        if string.order is not None and string.order.flags <= order.flags
    }
    tried = tuple(terminal for terminal in ordered if terminal.order not in hidden)
    return Scanner(tried, tuple(tuple(strings[terminal]) for terminal in tried))


def is_same(one: LarkTerminal, other: LarkTerminal) -> bool:
    """Return whether two are one terminal of Lark's, as ignored text and a use of it are."""
    return one.order is other.order


@dataclass(slots=True)
class ScannerJudge:
    """Decides which texts may follow a word of ``terminal`` so that scanners find it.

    ``dropped`` are the orders of the ignored terminals, ``is_dropped`` distinguishes ignored text
    from a use of its terminal in a rule.
    """

    terminal: LarkTerminal
    scanners: tuple[Scanner, ...]
    dropped: frozenset[TerminalOrder | None]
    is_dropped: bool
    automata: list[Dfa] = field(default_factory=list)
    _begun: dict[LarkTerminal, int] = field(default_factory=dict)
    _words: dict[LarkTerminal, int] = field(default_factory=dict)

    watched = 0

    def __post_init__(self) -> None:
        for terminal, strings in (row for scanner in self.scanners for row in scanner):
            if is_same(terminal, self.terminal):
                self._words[terminal] = 0
            elif terminal.beginnings is not None and terminal not in self._begun:
                self._begun[terminal] = self._run(terminal.beginnings.dfa)
            for word in (terminal, *strings) if strings else ():
                if word not in self._words:
                    self._words[word] = 0 if is_same(word, self.terminal) else self._run(word.dfa)

    def _run(self, dfa: Dfa) -> int:
        self.automata.append(dfa)
        return len(self.automata)

    @property
    def is_alone(self) -> bool:
        """Whether all words of the terminal are found."""
        rows = {row for scanner in self.scanners for row in scanner}
        return all(
            not strings and self._is_wanted(tried_terminal, tried_terminal)
            for tried_terminal, strings in rows
        )

    @property
    def blamed(self) -> list[LarkTerminal]:
        """What makes the difference between each scanner and the others."""
        tried_by_scanner = [
            {t: None for tried_terminal, strings in s for t in (tried_terminal, *strings)}
            for s in self.scanners
        ]
        everywhere = reduce(lambda a, b: {t: None for t in a if t in b}, tried_by_scanner)
        differing = [t for some in tried_by_scanner for t in some if t not in everywhere]
        usual = next(iter(differing), self.terminal)
        return [next((t for t in some if t not in everywhere), usual) for some in tried_by_scanner]

    def verdicts(self, states: States, _: int) -> tuple[Lookahead, list[Lookahead]]:
        """Return the texts before which any scanner finds the word, and before which each does."""
        result = [self._rest_in(scanner, states) for scanner in self.scanners]
        return reduce(either, result, NOTHING), result

    def _rest_in(self, scanner: Scanner, states: States) -> Lookahead:
        result, left = NOTHING, ANYTHING
        for terminal, strings in scanner:
            if terminal in self._words:
                becomes = (s for s in strings if self._before(s, states) != NOTHING)
                if self._is_wanted(terminal, next(becomes, terminal)):
                    result = either(result, both(left, self._before(terminal, states)))
            if terminal not in self._begun:
                break
            state = states[self._begun[terminal]]
            if state != DEAD and terminal.beginnings is not None:
                left = both(left, others(after(terminal.beginnings, state)))
        return result

    def _before(self, terminal: LarkTerminal, states: States) -> Lookahead:
        own = self.terminal if is_same(terminal, self.terminal) else terminal
        return _before(own, states[self._words[terminal]])

    def _is_wanted(self, finder: LarkTerminal, becomes: LarkTerminal) -> bool:
        if self.is_dropped:
            return is_same(finder, self.terminal)
        return finder.order not in self.dropped and is_same(becomes, self.terminal)


@dataclass(frozen=True, slots=True, eq=False)
class Class:
    """Words of one terminal that may be before the same texts."""

    rest: Lookahead
    dfa: Dfa


@dataclass(frozen=True, slots=True)
class Doubt:
    """Undecided: is ``word`` a lexeme before ``following``? ``companion`` could match more."""

    word: bytes
    following: bytes
    companion: LarkTerminal


@dataclass(frozen=True, slots=True, eq=False)
class LexemeSplit:
    """The words of a terminal at one position, by the texts that may follow; and the doubts."""

    classes: tuple[Class, ...]
    doubts: tuple[Doubt, ...]


COMPARISON = 100
"""What comparing two small automata is counted as."""

MOST_STATES = 20_000
"""States of a terminal and its companions side by side."""


class _MunchWalk:
    """The product of several automata, as long as the first is alive.

    ``states`` are those reached, in the order of a shortest word, which is in ``words``: the state
    of each automaton, and which of the ``watched`` (a bit each) have matched a shorter word.
    """

    def __init__(self, dfas: list[Dfa], budget: Budget, watched: int = 0) -> None:
        self._product = Product(*dfas)
        self._watched = watched
        self._budget = budget
        self._symbols = class_count(self._product.classes)
        self._start = (self._product.start, 0)
        self.states, self._rows = explore([self._start], self._step, MOST_STATES)

    def _step(self, state: tuple[States, int]) -> Iterator[tuple[States, int] | None]:
        states, passed = state
        self._budget.spend(self._symbols * (1 + len(states)))
        if state != self._start:
            passed |= self._matched(states)
        for target in self._product.while_first(states):
            yield None if target is None else (target, passed)

    def _matched(self, states: States) -> int:
        flags = self._product.accepting(states)
        return sum(1 << at for at, yes in enumerate(flags) if yes) & self._watched

    @cached_property
    def words(self) -> list[bytes]:
        """A shortest word to each state."""
        return words_to(self._rows, legible_bytes(self._product.classes))

    def dfa(self, accepting: Iterable[int]) -> Dfa:
        """Return the automaton of the words that end in the numbered states."""
        return ending_in(accepting, self._rows, self._product.classes)


@dataclass(slots=True)
class LexemeSplitter:
    """Splits the words of terminals by the texts that may follow them; memoised.

    ``LLGUIDANCE`` and ``LALR`` know companions; with the other lexers a lexeme has only itself.
    ``dropped`` are the ignored terminals.
    """

    lexing: Lexing
    budget: Budget
    dropped: tuple[LarkTerminal, ...] = ()
    _cuts: dict[tuple[int, Hashable, int], LexemeSplit] = field(default_factory=dict)
    # By the numbers of languages: terminals are many, and a few languages mostly.
    _meetings: dict[tuple[int, int], int] = field(default_factory=dict)
    _shared: dict[tuple[int, int], bool] = field(default_factory=dict)
    _languages: dict[Hashable, int] = field(default_factory=dict)
    _numbers: dict[int, tuple[Dfa, int]] = field(default_factory=dict)

    def confusable(self, one: LarkTerminal, other: LarkTerminal) -> bool:
        """Return whether the two have a word in common."""
        if one is other:
            return True
        if not first_bytes(one.dfa) & first_bytes(other.dfa):
            return False
        numbers = self._number(one.dfa), self._number(other.dfa)
        key = (min(numbers), max(numbers))
        if key not in self._shared:
            self._shared[key] = meet(one.dfa, other.dfa, self.budget)
        return self._shared[key]

    def _number(self, dfa: Dfa) -> int:
        """Return the number of a language: automata are minimal, so equal ones are one."""
        if id(dfa) not in self._numbers:
            content = dfa.classes, tuple(map(tuple, dfa.rows)), tuple(dfa.accepting)
            number = self._languages.setdefault(content, len(self._languages))
            # With the automaton itself, or its identity could become that of another one.
            self._numbers[id(dfa)] = dfa, number
        return self._numbers[id(dfa)][1]

    def cut(
        self,
        terminal: LarkTerminal,
        must: Iterable[LarkTerminal],
        may: Iterable[LarkTerminal],
        following: int,
    ) -> LexemeSplit:
        """Return the words of ``terminal`` before the bytes ``following``.

        ``must`` are terminals that are certainly expected with it, ``may`` others that might be.
        """
        certain = self._relevant(terminal, must, following)
        possible = [c for c in self._relevant(terminal, may, following) if c not in certain]
        key = (tuple(sorted(map(id, certain))), tuple(sorted(map(id, possible))))
        return self._memoised(_MunchJudge(terminal, certain, possible), key, following)

    def scanned(
        self, terminal: LarkTerminal, scanners: Iterable[Scanner], following: int
    ) -> LexemeSplit:
        """Return the words of ``terminal`` that any of the scanners finds before ``following``."""
        around = {terminal_.around(terminal) for terminal_ in scanners}
        scanners = tuple(sorted(around, key=lambda scanner: scanner.key))
        dropped = frozenset(dropped_terminal.order for dropped_terminal in self.dropped)
        is_dropped = terminal not in self.dropped and terminal.order in dropped
        judge = ScannerJudge(terminal, scanners, dropped, is_dropped)
        return self._memoised(judge, scanners, following)

    def _memoised(self, judge: "_Judge", key: Hashable, following: int) -> LexemeSplit:
        whole = (id(judge.terminal), key, following)
        if whole not in self._cuts:
            self._cuts[whole] = self._cut(judge, following)
        return self._cuts[whole]

    def _relevant(
        self, terminal: LarkTerminal, companions: Iterable[LarkTerminal], following: int
    ) -> list[LarkTerminal]:
        if self.lexing is not Lexing.LLGUIDANCE:
            return []
        result = {
            id(other): other
            for other in companions
            if other is not terminal and self._matters(terminal, other, following)
        }
        return [result[key] for key in sorted(result, key=lambda k: result[k].title)]

    def _matters(self, terminal: LarkTerminal, other: LarkTerminal, following: int) -> bool:
        if not first_bytes(terminal.dfa) & first_bytes(other.unit or other.dfa):
            return False
        if other.is_lazy or other.unit is not None:
            return True
        return bool(self._going_on(terminal, other) & following)

    def _going_on(self, terminal: LarkTerminal, other: LarkTerminal) -> int:
        """Return the bytes with which ``other`` alone goes on where ``terminal`` has a word."""
        key = (self._number(terminal.dfa), self._number(other.dfa))
        if key not in self._meetings:
            self.budget.spend(COMPARISON)
            alive, product = exits(other.dfa), Product(terminal.dfa, other.dfa)
            cost = 3 * class_count(product.classes)

            def step(states: States) -> list[States | None]:
                self.budget.spend(cost)
                return product.while_all(states)

            words = 0
            for i, j in explore([product.start], step, MOST_STATES)[0]:
                if terminal.dfa.accepting[i] and j != DEAD:
                    words |= alive[j] & ~refused(terminal.rests[i])
            self._meetings[key] = words
        return self._meetings[key]

    def _cut(self, judge: "_Judge", following: int) -> LexemeSplit:
        terminal = judge.terminal
        if judge.is_alone:
            return LexemeSplit(tuple(_by_rest(terminal, following)), ())
        self.budget.subject = terminal.title
        walk = _MunchWalk([terminal.dfa, *judge.automata], self.budget, judge.watched)
        groups: dict[Lookahead, list[int]] = {}
        doubts: dict[LarkTerminal, Doubt] = {}
        for number, (states, passed) in enumerate(walk.states):
            if not terminal.dfa.accepting[states[0]]:
                continue
            sure, cases = judge.verdicts(states, passed)
            rest = relaxed(sure, following)
            groups.setdefault(rest, []).append(number)
            for companion, case in zip(judge.blamed, cases, strict=True):
                left = both(both(rest, others(case)), others(outside(following)))
                if left != NOTHING and companion not in doubts:
                    text = operations.shortest_word(left.dfa) or b""
                    doubts[companion] = Doubt(walk.words[number], text, companion)
        whole = len(groups) == 1
        classes = tuple(
            Class(rest, terminal.dfa if whole else walk.dfa(numbers))
            for rest, numbers in groups.items()
            if rest != NOTHING
        )
        return LexemeSplit(classes, tuple(doubts.values()))


def _by_rest(terminal: LarkTerminal, following: int) -> Iterable[Class]:
    """Yield the words of a terminal without companions."""
    groups: dict[Lookahead, list[int]] = {}
    for state, rest in enumerate(terminal.rests):
        if terminal.dfa.accepting[state]:
            groups.setdefault(relaxed(rest, following), []).append(state)
    for rest, states in groups.items():
        if rest != NOTHING:
            dfa = terminal.dfa
            yield Class(rest, dfa if len(groups) == 1 else ending_in(states, dfa.rows, dfa.classes))


class _MunchJudge:
    """Decides which texts may follow a word of ``terminal``, given the states of its companions."""

    def __init__(
        self, terminal: LarkTerminal, certain: list[LarkTerminal], possible: list[LarkTerminal]
    ) -> None:
        self.terminal = terminal
        self.blamed = possible
        self._companions = [*certain, *possible]
        self.automata = [companion.unit or companion.dfa for companion in self._companions]
        self.is_alone = not self._companions
        self.watched = sum(
            1 << n for n, companion in enumerate(self._companions, 1) if companion.is_lazy
        )

    def verdicts(self, states: States, passed: int) -> tuple[Lookahead, list[Lookahead]]:
        """Return the texts that may follow, and those with each of the possible companions.

        ``passed`` are the companions, as bits, that have matched a shorter word.
        """
        rests = [
            self._verdict(companion, at, bool(passed >> index & 1))
            for index, (companion, at) in enumerate(
                zip(self._companions, states[1:], strict=True), 1
            )
        ]
        certain = len(rests) - len(self.blamed)
        sure = reduce(both, rests[:certain], self.terminal.rests[states[0]])
        return sure, [both(sure, verdict) for verdict in rests[certain:]]

    def _verdict(self, companion: LarkTerminal, state: int, passed: bool) -> Lookahead:
        unit = companion.unit or companion.dfa
        is_word = state != DEAD and bool(unit.accepting[state])
        if companion.is_lazy and (passed or (is_word and not self.terminal.is_lazy)):
            return NOTHING
        if companion.unit is not None and is_word:
            # The same text as ignored text is taken for ignored text.
            return NOTHING
        if self.terminal.is_lazy or state == DEAD:
            return ANYTHING
        return outside(exits(unit)[state])


_Judge = _MunchJudge | ScannerJudge
