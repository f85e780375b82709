"""What Lark's contextual lexer finds, by Lark's own rules.

A scanner looks for some terminals. They are tried in order: by priority, by the length of the
longest text, by that of the pattern, by name. The first one that matches is found, as ``re``
matches it, however much more another could match. Two rules are about plain strings:

* A pattern *retypes* what it has found: where that is a spelling of a string of the same priority
  whose text, alone, the pattern matches from end to end, it becomes that string, whatever the flags
  of either. Beside a pattern that does so and has all of its flags, a string is not tried itself.
* What an ignored terminal has found is dropped, whatever it becomes. An ignored string that another
  pattern has found is not: it goes to the parser, which seldom expects it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import reduce

from kbnf_core.automata.dfa import DEAD, Dfa
from kbnf_core.automata.explore import States
from kbnf_core.languages.lark.lexer.lookahead import (
    ANYTHING,
    NOTHING,
    Lookahead,
    after,
    both,
    either,
    first_bytes,
    others,
)
from kbnf_core.languages.lark.reader.model import Order, Terminal


def is_string(terminal: Terminal) -> bool:
    """Return whether Lark keeps a terminal as a plain string, and not as a regular expression."""
    return terminal.order is not None and terminal.order.keyword is not None


def retypes(pattern: Terminal, string: Terminal) -> bool:
    """Return whether what ``pattern`` has found can become ``string``."""
    if pattern.order is None or string.order is None or string.order.keyword is None:
        return False
    if is_string(pattern) or pattern.order.key[0] != string.order.key[0]:
        return False
    state = DEAD if pattern.dfa.is_empty else 0
    for symbol in string.order.keyword.translate(pattern.dfa.classes):
        state = DEAD if state == DEAD else pattern.dfa.rows[state][symbol]
    return _before(pattern, state).allows_end


def _before(terminal: Terminal, state: int) -> Lookahead:
    """Return the texts before which a terminal matches the word that leads to ``state``."""
    is_word = state != DEAD and terminal.dfa.accepting[state]
    return terminal.rests[state] if is_word else NOTHING


@dataclass(frozen=True, slots=True)
class Scanner:
    """The terminals that are tried, in order, and the strings that each retypes, in order."""

    tried: tuple[Terminal, ...]
    strings: tuple[tuple[Terminal, ...], ...]

    def __iter__(self) -> Iterator[tuple[Terminal, tuple[Terminal, ...]]]:
        return zip(self.tried, self.strings, strict=True)

    @property
    def key(self) -> tuple[tuple[int, int, int, str], ...]:
        """What to sort by."""
        return tuple(each.order.key for each in self.tried if each.order is not None)

    def around(self, terminal: Terminal) -> "Scanner":
        """Return the scanner as far as it decides which words of ``terminal`` are found."""
        rows: list[tuple[Terminal, tuple[Terminal, ...]]] = []
        length = 0
        for each, strings in self:
            finds = any(is_same(terminal, other) for other in (each, *strings))
            if finds or first_bytes(each.dfa) & first_bytes(terminal.dfa):
                rows.append((each, strings if finds else ()))
            if finds:
                length = len(rows)
        del rows[length:]
        return Scanner(tuple(row[0] for row in rows), tuple(row[1] for row in rows))


def scanner_of(looked_for: Iterable[Terminal]) -> Scanner:
    """Return the scanner of some terminals."""
    by_order = {each.order: each for each in looked_for if each.order is not None}
    ordered = [by_order[order] for order in sorted(by_order, key=lambda order: order.key)]
    strings = {each: [s for s in ordered if retypes(each, s)] for each in ordered}
    hidden = {
        string.order
        for order, pattern in by_order.items()
        for string in strings[pattern]
        if string.order is not None and string.order.flags <= order.flags
    }
    tried = tuple(each for each in ordered if each.order not in hidden)
    return Scanner(tried, tuple(tuple(strings[each]) for each in tried))


def is_same(one: Terminal, other: Terminal) -> bool:
    """Return whether two are one terminal of Lark's, as ignored text and a use of it are."""
    return one.order is other.order


@dataclass(slots=True)
class ScannerJudge:
    """Decides what may follow a word of ``terminal`` so that scanners find it.

    ``dropped`` are the orders of the ignored terminals, ``is_dropped`` distinguishes ignored text
    from a use of its terminal in a rule.
    """

    terminal: Terminal
    scanners: tuple[Scanner, ...]
    dropped: frozenset[Order | None]
    is_dropped: bool
    automata: list[Dfa] = field(default_factory=list)
    _begun: dict[Terminal, int] = field(default_factory=dict)
    _words: dict[Terminal, int] = field(default_factory=dict)

    watched = 0

    def __post_init__(self) -> None:
        for each, strings in (row for scanner in self.scanners for row in scanner):
            if is_same(each, self.terminal):
                self._words[each] = 0
            elif each.beginnings is not None and each not in self._begun:
                self._begun[each] = self._run(each.beginnings.dfa)
            for word in (each, *strings) if strings else ():
                if word not in self._words:
                    self._words[word] = 0 if is_same(word, self.terminal) else self._run(word.dfa)

    def _run(self, dfa: Dfa) -> int:
        self.automata.append(dfa)
        return len(self.automata)

    @property
    def is_alone(self) -> bool:
        """Whether all words of the terminal are found."""
        rows = {row for scanner in self.scanners for row in scanner}
        return all(not strings and self._is_wanted(each, each) for each, strings in rows)

    @property
    def blamed(self) -> list[Terminal]:
        """What makes the difference between each scanner and the others."""
        known = [{t: None for each, strings in s for t in (each, *strings)} for s in self.scanners]
        everywhere = reduce(lambda a, b: {t: None for t in a if t in b}, known)
        differing = [t for some in known for t in some if t not in everywhere]
        usual = next(iter(differing), self.terminal)
        return [next((t for t in some if t not in everywhere), usual) for some in known]

    def verdicts(self, states: States, _: int) -> tuple[Lookahead, list[Lookahead]]:
        """Return the texts before which any scanner finds the word, and before which each does."""
        found = [self._found(scanner, states) for scanner in self.scanners]
        return reduce(either, found, NOTHING), found

    def _found(self, scanner: Scanner, states: States) -> Lookahead:
        found, left = NOTHING, ANYTHING
        for each, strings in scanner:
            if each in self._words:
                becomes = (s for s in strings if self._before(s, states) != NOTHING)
                if self._is_wanted(each, next(becomes, each)):
                    found = either(found, both(left, self._before(each, states)))
            if each not in self._begun:
                break
            state = states[self._begun[each]]
            if state != DEAD and each.beginnings is not None:
                left = both(left, others(after(each.beginnings, state)))
        return found

    def _before(self, terminal: Terminal, states: States) -> Lookahead:
        own = self.terminal if is_same(terminal, self.terminal) else terminal
        return _before(own, states[self._words[terminal]])

    def _is_wanted(self, finder: Terminal, becomes: Terminal) -> bool:
        if self.is_dropped:
            return is_same(finder, self.terminal)
        return finder.order not in self.dropped and is_same(becomes, self.terminal)
