"""Where a lexeme may end, given what else could have gone on: one lexeme against its companions.

The automaton of a terminal runs together with those of the companions that matter. Its accepting
states fall into classes by the bytes that must not follow (``stop``); the words of each class are
a regular language of their own. What only may be expected together makes a doubt, with a
shortest word and a byte that show it.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from kbnf_core.automata import operations
from kbnf_core.automata.classes import class_count, join_classes, rows_over
from kbnf_core.automata.dfa import DEAD, Dfa
from kbnf_core.automata.errors import LimitError
from kbnf_core.automata.machine import Machine
from kbnf_core.automata.witness import common_word
from kbnf_core.convert.lark.masks import END, completions, exits
from kbnf_core.convert.lark.model import Lexing, Terminal

_MOST_STATES = 20_000


@dataclass(frozen=True, slots=True, eq=False)
class Class:
    """Words of one terminal after which the same bytes must not follow."""

    stop: int
    dfa: Dfa
    is_whole: bool


@dataclass(frozen=True, slots=True)
class Doubt:
    """``word`` may or may not be a lexeme before ``following`` (a byte, or END).

    ``companion`` is the terminal that could go on; None where the pattern itself is the reason.
    """

    word: bytes
    following: int
    companion: Terminal | None


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """The words of a terminal at one place, by what must not follow them; and the doubts."""

    classes: tuple[Class, ...]
    doubts: tuple[Doubt, ...]


@dataclass(slots=True)
class Cutter:
    """Cuts terminals; remembers what it has worked out.

    ``LLGUIDANCE`` and ``LALR`` know companions; with the other lexers a lexeme has only itself.
    """

    lexing: Lexing
    _cuts: dict[tuple[int, tuple[int, ...], tuple[int, ...], int], Cut] = field(
        default_factory=dict
    )
    _meetings: dict[tuple[int, int], list[tuple[int, int]]] = field(default_factory=dict)
    _shared: dict[tuple[int, int], bool] = field(default_factory=dict)

    def confusable(self, one: Terminal, other: Terminal) -> bool:
        """Tell whether the two have a word in common."""
        if one is other:
            return True
        key = (min(id(one), id(other)), max(id(one), id(other)))
        if key not in self._shared:
            self._shared[key] = common_word(one.dfa, other.dfa) is not None
        return self._shared[key]

    def cut(
        self, terminal: Terminal, must: Iterable[Terminal], may: Iterable[Terminal], following: int
    ) -> Cut:
        """Return the words of ``terminal`` before the bytes ``following``.

        ``must`` are terminals that are certainly expected with it, ``may`` others that might be.
        """
        if self.lexing is Lexing.LALR:
            # Lark's scanner knows the ignored terminals one by one.
            must, may = ([*_split(each)] for each in (must, may))
        certain = self._relevant(terminal, must, following)
        possible = [c for c in self._relevant(terminal, may, following) if c not in certain]
        key = (
            id(terminal),
            tuple(sorted(map(id, certain))),
            tuple(sorted(map(id, possible))),
            following,
        )
        if key not in self._cuts:
            self._cuts[key] = self._cut(terminal, certain, possible, following)
        return self._cuts[key]

    def _relevant(
        self, terminal: Terminal, others: Iterable[Terminal], following: int
    ) -> list[Terminal]:
        if self.lexing not in (Lexing.LLGUIDANCE, Lexing.LALR):
            return []
        found = {
            id(other): other
            for other in others
            if other is not terminal and self._matters(terminal, other, following)
        }
        return [found[key] for key in sorted(found, key=lambda k: found[k].title)]

    def _matters(self, terminal: Terminal, other: Terminal, following: int) -> bool:
        if self.lexing is Lexing.LALR or other.is_lazy or other.unit is not None:
            return self._touches(terminal, other)
        return any(alive & following & ~stops for stops, alive in self._meet(terminal, other))

    def _touches(self, terminal: Terminal, other: Terminal) -> bool:
        """Tell whether the two start alike, so that one could be taken for the other."""
        unit = other.unit or other.dfa
        return bool(exits(terminal.dfa)[0] & exits(unit)[0])

    def _meet(self, terminal: Terminal, other: Terminal) -> list[tuple[int, int]]:
        """Return the stops and the live bytes of ``other`` wherever ``terminal`` has a word."""
        key = (id(terminal), id(other))
        if key not in self._meetings:
            walk = _Walk([terminal.dfa, other.unit or other.dfa], 0)
            alive = exits(other.unit or other.dfa)
            self._meetings[key] = list(
                {
                    (terminal.stops[i], alive[j] if j != DEAD else 0)
                    for (i, j), _ in walk.states
                    if terminal.dfa.accepting[i]
                }
            )
        return self._meetings[key]

    def _cut(
        self, terminal: Terminal, certain: list[Terminal], possible: list[Terminal], following: int
    ) -> Cut:
        companions = [*certain, *possible]
        judge = _Judge(self.lexing, terminal, companions, len(certain))
        watched = judge.watched()
        walk = _Walk([terminal.dfa, *(c.unit or c.dfa for c in companions)], watched)
        groups: dict[int, list[int]] = {}
        doubts: dict[Terminal | None, Doubt] = {}
        endings = 0
        for number, (states, passed) in enumerate(walk.states):
            if not terminal.dfa.accepting[states[0]]:
                continue
            endings += 1
            stop, unsure = judge.judge(states, passed)
            stop &= following
            for companion, mask in unsure.items():
                left = mask & following & ~stop
                if left and companion not in doubts:
                    doubts[companion] = Doubt(walk.words[number], _pick(left), companion)
            if stop != following:
                groups.setdefault(stop, []).append(number)
        classes = []
        for stop, numbers in sorted(groups.items()):
            whole = len(numbers) == endings
            classes.append(Class(stop, terminal.dfa if whole else walk.dfa(numbers), whole))
        return Cut(tuple(classes), tuple(doubts.values()))


def _split(terminals: Iterable[Terminal]) -> Iterable[Terminal]:
    for terminal in terminals:
        yield from terminal.parts or (terminal,)


def _pick(mask: int) -> int:
    """Return one member of a set, a printable byte if there is one."""
    printable = mask & (((1 << 127) - 1) >> 32 << 32)
    chosen = printable or mask
    return END if chosen == END else (chosen & -chosen).bit_length() - 1


class _Walk:
    """Several automata side by side, as long as the first is alive.

    ``states`` are those met, in the order of a shortest word, which ``words`` holds: the state of
    each automaton, and which of the ``watched`` (a bit each) have matched a shorter word.
    """

    def __init__(self, dfas: list[Dfa], watched: int) -> None:
        self.classes = join_classes([dfa.classes for dfa in dfas])
        self._dfas = dfas
        self._watched = watched
        self._tables = [
            [] if dfa.is_empty else rows_over(dfa, self.classes).tolist() for dfa in dfas
        ]
        self.rows: list[list[int]] = []
        first = (tuple(DEAD if dfa.is_empty else 0 for dfa in dfas), 0)
        self.states = [first]
        self.words = [b""]
        self._run(first)

    def _run(self, first: tuple[tuple[int, ...], int]) -> None:
        symbols = class_count(self.classes)
        spelling = _spelling(self.classes.tolist(), symbols)
        numbers = {first: 0}
        for index, (states, passed) in enumerate(self.states):
            row = []
            passing = passed | (self._matched(states) if index else 0)
            for symbol in range(symbols):
                target = (self._step(states, symbol), passing)
                if target[0][0] == DEAD:
                    row.append(DEAD)
                    continue
                if target not in numbers:
                    if len(self.states) >= _MOST_STATES:
                        raise LimitError("states", _MOST_STATES)
                    numbers[target] = len(self.states)
                    self.states.append(target)
                    self.words.append(self.words[index] + spelling[symbol])
                row.append(numbers[target])
            self.rows.append(row)

    def _step(self, states: tuple[int, ...], symbol: int) -> tuple[int, ...]:
        return tuple(
            DEAD if at == DEAD else table[at][symbol]
            for at, table in zip(states, self._tables, strict=True)
        )

    def _matched(self, states: tuple[int, ...]) -> int:
        found = 0
        for index, (dfa, at) in enumerate(zip(self._dfas, states, strict=True)):
            if self._watched >> index & 1 and at != DEAD and dfa.accepting[at]:
                found |= 1 << index
        return found

    def dfa(self, accepting: Iterable[int]) -> Dfa:
        """Return the automaton of the words that end in the numbered states."""
        tags = [0] * len(self.rows)
        for number in accepting:
            tags[number] = 1
        return operations.from_machine(Machine(self.rows, tags, [0]), self.classes)


def _spelling(classes: list[int], symbols: int) -> list[bytes]:
    """Return a byte of each class, a letter where there is one."""
    order = sorted(
        range(256), key=lambda b: (not chr(b).isalnum() or b > 127, not 32 <= b < 127, b)
    )
    chosen: dict[int, bytes] = {}
    for byte in order:
        chosen.setdefault(classes[byte], bytes([byte]))
    return [chosen[symbol] for symbol in range(symbols)]


@dataclass(slots=True)
class _Judge:
    """Decides for one state of a walk which bytes must not follow."""

    lexing: Lexing
    terminal: Terminal
    companions: list[Terminal]
    certain: int

    def watched(self) -> int:
        """Return the companions, as bits, whose shorter words take a lexeme's place."""
        bits = 0
        for index, companion in enumerate(self.companions):
            if self.lexing is Lexing.LALR or companion.is_lazy:
                bits |= 1 << (index + 1)
        return bits

    def judge(self, states: tuple[int, ...], passed: int) -> tuple[int, dict[Terminal | None, int]]:
        """Return the bytes that must not follow, and by companion those that may not."""
        stop = self.terminal.stops[states[0]]
        unsure: dict[Terminal | None, int] = {}
        if self.terminal.doubts[states[0]]:
            unsure[None] = self.terminal.doubts[states[0]]
        for index, (companion, state) in enumerate(zip(self.companions, states[1:], strict=True)):
            ban, doubt = self._verdict(companion, state, bool(passed >> (index + 1) & 1))
            if index < self.certain:
                stop |= ban
                if doubt:
                    unsure[companion] = doubt
            elif ban | doubt:
                unsure[companion] = ban | doubt
        return stop, unsure

    def _verdict(self, companion: Terminal, state: int, passed: bool) -> tuple[int, int]:
        everything = END - 1 | END
        unit = companion.unit or companion.dfa
        is_word = state != DEAD and bool(unit.accepting[state])
        if self.lexing is Lexing.LALR:
            return self._by_order(companion, state, passed, is_word)
        if companion.is_lazy and (passed or (is_word and not self.terminal.is_lazy)):
            return everything, 0
        if companion.unit is not None and is_word:
            # The same text as ignored text is taken for ignored text.
            return everything, 0
        if self.terminal.is_lazy or state == DEAD:
            return 0, 0
        return exits(unit)[state], 0

    def _by_order(
        self, companion: Terminal, state: int, passed: bool, is_word: bool
    ) -> tuple[int, int]:
        everything = END - 1 | END
        if self.terminal.parts:
            # A run of ignored text has no place of its own in the order.
            return (0, 0) if companion in self.terminal.parts else (0, everything)
        if _embeds(companion, self.terminal):
            # The keyword is found by the companion's pattern, so that must end here too.
            if not is_word:
                return everything, 0
            return companion.stops[state], companion.doubts[state]
        if _embeds(self.terminal, companion):
            return (everything, 0) if is_word else (0, 0)
        if not _precedes(companion, self.terminal):
            return 0, 0
        if passed or is_word:
            return everything, 0
        if state == DEAD:
            return 0, 0
        unit = companion.unit or companion.dfa
        done = completions(unit)[state]
        return done, exits(unit)[state] & ~done


def _precedes(one: Terminal, other: Terminal) -> bool:
    if one.order is None or other.order is None:
        return False
    return one.order.key < other.order.key


def _embeds(pattern: Terminal, keyword: Terminal) -> bool:
    """Tell whether Lark finds the string ``keyword`` by the pattern, as it does with keywords."""
    if pattern.order is None or keyword.order is None:
        return False
    text = keyword.order.keyword
    if text is None or pattern.order.keyword is not None:
        return False
    same = pattern.order.key[0] == keyword.order.key[0]
    return same and keyword.order.flags <= pattern.order.flags and pattern.dfa.accepts(text)
