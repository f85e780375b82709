"""The lengths of words, in characters: of expressions, and of automata.

*Expressions.* ``word_lengths`` has the shortest and the longest word. A pattern that counts
characters (``^[a-z].{0,2000}$``) is taken apart: which may occur, and how many in all
(``without_count``). So a count is a number, and no copies of a state. ``ways_of`` lists the ways
through an expression of which each repeats at most one thing, so that the words of some lengths are
a count of it.

*Automata.* A bound on the length of words multiplies the states of an automaton, so it is put into
one only where words may pass it, and no longer than they may: ``Lengths`` has the characters of the
words of an automaton, and the states that count them.

Tests: tests/unit/languages/json_schema/test_counts_in_patterns.py, test_counted.py
"""

import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter

from kbnf_core.automata.algebra import Choice, Repeat, fold
from kbnf_core.automata.algebra import Sequence as Items
from kbnf_core.automata.chosen_kernel import AUTOMATA
from kbnf_core.automata.codepoints import ANY
from kbnf_core.automata.dfa import DEAD, Dfa, class_count
from kbnf_core.automata.explore import explore
from kbnf_core.automata.expression import Builder, Expression, print_expression
from kbnf_core.automata.regex.compile import compile_regex
from kbnf_core.automata.regex.syntax import CharacterSet
from kbnf_core.automata.to_regex import CharacterDfa, Edge, to_characters
from kbnf_core.automata.traversal import cyclic_components
from kbnf_core.text.budget import Budget
from kbnf_core.text.errors import LimitError
from kbnf_core.text.limits import DEFAULT_LIMITS
from kbnf_core.text.locks import cached_property


@dataclass(frozen=True, slots=True)
class Length:
    """Strings of so many characters; None has no bound."""

    low: int
    high: int | None

    def holds(self, value: object) -> bool:
        """Return whether a value is in the set."""
        count = len(str(value))
        return self.low <= count and (self.high is None or count <= self.high)

    def dfa(self) -> Dfa:
        """Return the automaton of the strings."""
        high = "" if self.high is None else self.high
        compiled = compile_regex(f"(?s:.){{{self.low},{high}}}").dfa
        if compiled is None:
            raise LimitError("states", DEFAULT_LIMITS.regex_states)
        return compiled

    def remainder(self) -> Iterator["Length"]:
        """Yield all other lengths."""
        if self.low:
            yield Length(0, self.low - 1)
        if self.high is not None:
            yield Length(self.high + 1, None)


def word_lengths(root: Expression) -> Length:
    """Return the lengths of the shortest and of the longest word of an expression."""
    return fold(root, _length)


def _length(item: Expression, lengths: list[Length]) -> Length:
    lows = [length.low for length in lengths]
    highs = [length.high for length in lengths if length.high is not None]
    is_bounded = len(highs) == len(lengths) > 0
    match item:
        case CharacterSet():
            return Length(1, 1)
        case Repeat(_, low, high):
            most = None if high is None or not is_bounded else high * highs[0]
            return Length(low * lows[0], 0 if highs == [0] else most)
        case Choice():
            return Length(min(lows, default=0), max(highs) if is_bounded else None)
        case _:
            return Length(sum(lows), sum(highs) if len(highs) == len(lengths) else None)


Counted = tuple[int, int]
"""A state, and how many characters came."""

MOST_LETTERS = 1_000
"""Characters of a word that is listed."""

OFTEN = 2
"""How often states are seen on the average, in automata whose words have a bound."""


class Lengths:
    """The lengths of the words of an automaton, which is trimmed and has words."""

    def __init__(self, dfa: Dfa) -> None:
        self._dfa = dfa
        self._rows = dfa.rows if dfa.spelled is None else dfa.spelled[0].rows

    @cached_property
    def words(self) -> CharacterDfa:
        """The automaton over characters."""
        return to_characters(self._dfa)

    def _levels(self) -> Iterator[set[int]]:
        """Yield the states after no character, after one, and so on, as long as there are some.

        They are states of the automaton over bytes, which is there without ``words``, or of the one
        that was spelled in bytes.
        """
        rows, inside = self._rows, self._inside
        here = {0}
        while here:
            yield here
            pending, here = here, set()
            while pending:
                met = set().union(*(rows[state] for state in pending)) - {DEAD}
                pending = met & inside
                here |= met - inside

    @cached_property
    def _inside(self) -> set[int]:
        """The states inside of characters: bytes that begin none lead on from them alone."""
        if self._dfa.spelled is not None:
            return set()
        rest = itemgetter(*set(self._dfa.classes[0x80:0xC0]))
        dead = rest([DEAD] * class_count(self._dfa.classes))
        return {state for state, row in enumerate(self._rows) if rest(row) != dead}

    @cached_property
    def bounds(self) -> Length:
        """The characters of the shortest word and of the longest one, if there is such.

        Levels show it where no state is seen often, and else the graph of ``words``.
        """
        fewest: int | None = None
        met = most = 0
        for count, here in enumerate(self._levels()):
            most = count
            met += len(here)
            if fewest is None and self._ends(here):
                fewest = count
            if fewest is not None and met > OFTEN * len(self._rows):
                return Length(fewest, self.longest[0])
        return Length(fewest or 0, most)

    @cached_property
    def shortest(self) -> Sequence[int]:
        """The characters that each state needs at least."""
        far = len(self.words.edges)
        least = [0 if end else far for end in self.words.accepting]
        sources = self._sources
        queue = [state for state, end in enumerate(self.words.accepting) if end]
        for state in queue:
            for source in sources[state]:
                if least[source] == far:
                    least[source] = least[state] + 1
                    queue.append(source)
        return least

    @cached_property
    def longest(self) -> Sequence[int | None]:
        """The characters that each state leads to at most; None where there is no bound."""
        waiting = [len(edges) for edges in self.words.edges]
        sources = self._sources
        # From the ends on. States of a cycle, and those before one, wait for ever and have no
        # bound.
        order = [state for state, count in enumerate(waiting) if not count]
        most: list[int | None] = [None] * len(waiting)
        for state in order:
            ends = [most[target] or 0 for _, target in self.words.edges[state]]
            most[state] = 1 + max(ends) if ends else 0
            for source in sources[state]:
                waiting[source] -= 1
                if not waiting[source]:
                    order.append(source)
        return most

    @cached_property
    def _sources(self) -> Sequence[Sequence[int]]:
        sources: list[list[int]] = [[] for _ in self.words.edges]
        for state, edges in enumerate(self.words.edges):
            for _, target in edges:
                sources[target].append(state)
        return sources

    def left_of(self, length: Length) -> Length | None:
        """Return what of a restriction the words do not fulfil anyway; None for nothing."""
        fewest, most = self.bounds.low, self.bounds.high
        low = 0 if length.low <= fewest else length.low
        implied = length.high is None or (most is not None and most <= length.high)
        high = None if implied else length.high
        return Length(low, high) if low or high is not None else None

    def has_word(self, length: Length, budget: Budget) -> bool:
        """Return whether a word has a length that is allowed.

        A level leads to the next one alone, so where one comes again (Brent's search: it is
        compared with the last one whose number is a power of two) whole circles are passed over.
        """
        earlier: set[int] = set()
        count, since, lap = 0, 0, 1
        for here in self._levels():
            budget.spend(1 + len(here))
            if since and here == earlier:
                count += max(0, length.low - count) // since * since
            # Every state goes on to the end of some word.
            if count >= length.low and (length.high is None or self._ends(here)):
                return True
            if count == length.high:
                break
            if since == lap:
                earlier, since, lap = here, 0, 2 * lap
            count, since = count + 1, since + 1
        return False

    def _ends(self, states: set[int]) -> bool:
        return any(self._dfa.accepting[state] for state in states)

    def few_words(self, length: Length, most: int, budget: Budget) -> tuple[str, ...] | None:
        """Return the words of some lengths, the shortest first, where they are short.

        None where there are more than ``most``, or may be.
        """
        if length.high is None and self.bounds.high is None:
            return None
        words: list[str] = []
        level = [("", 0)]
        count = 0
        while level:
            if count >= length.low:
                words += [word for word, state in level if self.words.accepting[state]]
            count += 1
            if count > MOST_LETTERS:
                return None
            longer: list[tuple[str, int]] = []
            for word, state in level:
                for points, target in self.words.edges[state]:
                    if not self._fits(target, count, length):
                        continue
                    # Before they are listed: a set may have a million characters.
                    if sum(last - first for first, last in points) > most:
                        return None
                    codes = (code for first, last in points for code in range(first, last + 1))
                    longer += [(word + chr(code), target) for code in codes]
                    budget.spend(1 + len(points))
            # Each beginning goes on to a word of its own.
            if len(words) + len(longer) > most:
                return None
            level = longer
        return tuple(words)

    def _fits(self, state: int, count: int, length: Length) -> bool:
        return length.high is None or count + self.shortest[state] <= length.high

    def behind(self, state: int) -> CharacterDfa:
        """Return the automaton of the texts after a state."""
        states, rows = explore([state], lambda here: [to for _, to in self.words.edges[here]])
        edges = tuple(
            tuple((points, to) for (points, _), to in zip(self.words.edges[here], row, strict=True))
            for here, row in zip(states, rows, strict=True)
        )
        return CharacterDfa(edges, tuple(self.words.accepting[here] for here in states))

    @cached_property
    def ways(self) -> int | None:
        """How many ways there are at least through an expression, each of them with one loop.

        Ways differ in the lengths before the loop, or of their words where there is no loop. None
        where some word goes through one loop and then another.
        """
        graph = dict(enumerate(self._targets))
        cycles = list(cyclic_components(graph))
        for members in cycles:
            behind = {target for state in members for target in graph[state]} - members
            if any(self.longest[target] is None for target in behind):
                return None
        looping = frozenset().union(*cycles)
        entered = ended = 0
        here = {0}
        while here:
            entered += not here.isdisjoint(looping)
            here -= looping
            ended += any(self.words.accepting[state] for state in here)
            here = {target for state in here for target in graph[state]}
        return max(entered, ended)

    def loops(self) -> list[int]:
        """Return the states that a character leaves as they are, and after which nothing repeats.

        After others no expression has one loop alone: a path with two cycles is one with two
        loops, and of two cycles through one state that of one character has another length.
        """
        return [
            state
            for state, edges in enumerate(self.words.edges)
            if any(target == state for _, target in edges)
            and all(target == state or self.longest[target] is not None for _, target in edges)
        ]

    def counted(
        self, length: Length, most: int, budget: Budget, ends: Container[int]
    ) -> tuple[Sequence[Counted], Sequence[Sequence[Edge]]]:
        """Return the states that count, and their edges; a target is a number, or free.

        A target that is free is ``-1 - state``. States of ``ends`` have no edges. Raises
        LimitError beyond ``most`` states.
        """
        rows_by_state, steps = AUTOMATA.count(
            self._targets,
            self.shortest,
            self.longest,
            length.low,
            -1 if length.high is None else length.high,
            ends,
            most,
            budget.left,
        )
        budget.spend(steps)
        if rows_by_state is None:
            raise LimitError("states", most)
        states, rows = rows_by_state
        edges = self.words.edges
        return states, [
            [(edges[here][edge][0], to) for edge, to in row]
            for (here, _), row in zip(states, rows, strict=True)
        ]

    @cached_property
    def _targets(self) -> Sequence[Sequence[int]]:
        return [[target for _, target in edges] for edges in self.words.edges]


@lru_cache(maxsize=16)
def lengths_of(dfa: Dfa) -> Lengths:
    """Return the lengths of an automaton's words.

    A process keeps those of 16 automata, since formats come again with other lengths: without them
    such a schema takes 1.8 times as long (`email`).
    """
    return Lengths(dfa)


LARGE = 64
"""Counts up to this one are states."""

_COUNT = re.compile(r"\{(?:[0-9]*,)?0*[1-9][0-9]+\}|\{0*[1-9][0-9]+,\}")
"""A count that may be large."""


def without_count(whole: str) -> tuple[str, Length | None]:
    """Return a regular expression of whole strings without its large count, and the lengths.

    The strings of both together are those of ``whole``: one character is repeated, and whatever is
    around it has one length. None where there is no such count.
    """
    if not _COUNT.search(whole):
        return whole, None
    builder = Builder()
    read = builder.read(whole)
    if read is None:
        return whole, None
    items = _at_least_beside_any(builder, read)
    loops = [index for index, item in enumerate(items) if _is_large(item)]
    around = [length_of(item) for index, item in enumerate(items) if index not in loops]
    lengths = [length for length in around if length is not None]
    if len(loops) != 1 or len(lengths) < len(around):
        return print_expression(builder.sequence(items)), None
    loop = items[loops[0]]
    assert isinstance(loop, Repeat)  # noqa: S101 - as a large count is
    high = None if loop.high is None else loop.high + sum(lengths)
    items[loops[0]] = builder.repetition(loop.body, 0, None)
    uncounted = print_expression(builder.sequence(items))
    return uncounted, Length(loop.low + sum(lengths), high)


def _at_least_beside_any(builder: Builder, read: Expression) -> list[Expression]:
    """Return the items of a sequence; beside any text it is enough to repeat as often as needed."""
    items = list(read.operands if isinstance(read, Items) else (read,))
    for index, item in enumerate(items):
        beside = [*items[max(index - 1, 0) : index], *items[index + 1 : index + 2]]
        if isinstance(item, Repeat) and item.high is not None and any(map(_is_any, beside)):
            items[index] = builder.repetition(item.body, item.low, item.low)
    whole = builder.sequence(items)
    return list(whole.operands if isinstance(whole, Items) else (whole,))


def _is_any(item: Expression) -> bool:
    """Return whether an item is any text, or all texts from some length on."""
    return (
        isinstance(item, Repeat)
        and item.high is None
        and isinstance(item.body, CharacterSet)
        and item.body.points == ANY
    )


def _is_large(item: Expression) -> bool:
    """Return whether an item is a character that is repeated, to a large bound."""
    if not isinstance(item, Repeat) or not isinstance(item.body, CharacterSet):
        return False
    return item.low != item.high and max(item.low, item.high or 0) > LARGE


MOST_BRANCHES = 12
"""Ways through an expression that are counted one by one."""


def is_implied(length: Length, whole: Expression) -> bool:
    """Return whether no word of an expression is too short or too long."""
    lengths = word_lengths(whole)
    is_short = length.high is None or (lengths.high is not None and lengths.high <= length.high)
    return is_short and length.low <= lengths.low


def is_looped(whole: Expression) -> bool:
    """Return whether an expression has few ways, each of which repeats at most one thing."""
    return ways_of([whole]) is not None


def ways_of(items: Sequence[Expression]) -> list[tuple[Expression, ...]] | None:
    """Return the ways through a sequence, each of parts with one length and at most one loop."""
    joined: list[tuple[Expression, ...]] = [()]
    for item in items:
        ways = _ways(item)
        if ways is None:
            return None
        joined = [(*before, *way) for before in joined for way in ways]
        if len(joined) > MOST_BRANCHES:
            return None
    return joined if all(sum(map(is_loop, way)) < 2 for way in joined) else None


def _ways(item: Expression) -> list[tuple[Expression, ...]] | None:
    if length_of(item) is not None or is_loop(item):
        return [(item,)]
    match item:
        case Items(items):
            return ways_of(items)
        case Choice(items):
            branches = [_ways(operand) for operand in items]
            return (
                None if None in branches else [way for branch in branches for way in branch or ()]
            )
        case Repeat(inner, 0, 1):
            ways = _ways(inner)
            return None if ways is None else [(), *ways]
        case _:
            return None


def is_loop(item: Expression) -> bool:
    """Return whether an item repeats words of one length without a bound."""
    return isinstance(item, Repeat) and item.high is None and (length_of(item.body) or 0) > 0


def length_of(item: Expression) -> int | None:
    """Return the one length that an expression's words have; None where they have several."""
    length = word_lengths(item)
    return length.low if length.low == length.high else None
