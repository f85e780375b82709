"""Automata over characters, how many characters their words have, and bounds on that.

A bound on the length of words multiplies the states of an automaton, so it is put into one only
where words may pass it, and no longer than they may.

JSON strings of some lengths are automata in which a count is a state and not a rule. After the
states that count (``Lengths.counted``) come those that need not. Few sets of characters label all
of their edges, so these sets and the quotes are the symbols of one automaton, which is minimised
before its symbols are spelled in bytes: then it is small.
"""

from collections.abc import Container, Iterator, Sequence
from functools import cached_property, lru_cache
from operator import itemgetter

from kbnf_core.automata.chosen_kernel import AUTOMATA
from kbnf_core.automata.codepoints import CodePoints, from_ranges, partition
from kbnf_core.automata.dfa import ACCEPT, DEAD, Dfa, SymbolDfa, class_count
from kbnf_core.automata.explore import explore
from kbnf_core.automata.nfa import minimise
from kbnf_core.automata.spell import letters_of, spell
from kbnf_core.automata.to_regex import CharacterDfa, Edge, to_characters
from kbnf_core.ir.analysis import cyclic_components
from kbnf_core.languages.json_schema.atoms import Length, compiled_pattern
from kbnf_core.languages.json_schema.characters import Spelling
from kbnf_core.text.budget import Budget
from kbnf_core.text.errors import LimitError

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
        found = [0 if end else far for end in self.words.accepting]
        sources = self._sources
        queue = [state for state, end in enumerate(self.words.accepting) if end]
        for state in queue:
            for source in sources[state]:
                if found[source] == far:
                    found[source] = found[state] + 1
                    queue.append(source)
        return found

    @cached_property
    def longest(self) -> Sequence[int | None]:
        """The characters that each state leads to at most; None where there is no bound."""
        waiting = [len(edges) for edges in self.words.edges]
        sources = self._sources
        order = [state for state, count in enumerate(waiting) if not count]
        found: list[int | None] = [None] * len(waiting)
        for state in order:
            ends = [found[target] or 0 for _, target in self.words.edges[state]]
            found[state] = 1 + max(ends) if ends else 0
            for source in sources[state]:
                waiting[source] -= 1
                if not waiting[source]:
                    order.append(source)
        return found

    @cached_property
    def _sources(self) -> Sequence[Sequence[int]]:
        found: list[list[int]] = [[] for _ in self.words.edges]
        for state, edges in enumerate(self.words.edges):
            for _, target in edges:
                found[target].append(state)
        return found

    def left_of(self, length: Length) -> Length | None:
        """Return what of a restriction the words do not fulfil anyway; None for nothing."""
        fewest, most = self.bounds.low, self.bounds.high
        low = 0 if length.low <= fewest else length.low
        implied = length.high is None or (most is not None and most <= length.high)
        high = None if implied else length.high
        return Length(low, high) if low or high is not None else None

    def has_word(self, length: Length, budget: Budget) -> bool:
        """Return whether a word has a length that is allowed."""
        for count, here in enumerate(self._levels()):
            budget.spend(1 + len(here))
            # Every state goes on to the end of some word.
            if count >= length.low and (length.high is None or self._ends(here)):
                return True
            if count == length.high:
                break
        return False

    def _ends(self, states: set[int]) -> bool:
        return any(self._dfa.accepting[state] for state in states)

    def few_words(self, length: Length, most: int, budget: Budget) -> tuple[str, ...] | None:
        """Return the words of some lengths, the shortest first, where they are short.

        None where there are more than ``most``, or may be.
        """
        if length.high is None and self.bounds.high is None:
            return None
        found: list[str] = []
        level = [("", 0)]
        count = 0
        while level:
            if count >= length.low:
                found += [word for word, state in level if self.words.accepting[state]]
            count += 1
            if count > MOST_LETTERS:
                return None
            longer: list[tuple[str, int]] = []
            for word, state in level:
                for points, target in self.words.edges[state]:
                    if not self._fits(target, count, length):
                        continue
                    if sum(last - first for first, last in points) > most:
                        return None
                    codes = (code for first, last in points for code in range(first, last + 1))
                    longer += [(word + chr(code), target) for code in codes]
                    budget.spend(1 + len(points))
            # Each beginning goes on to a word of its own.
            if len(found) + len(longer) > most:
                return None
            level = longer
        return tuple(found)

    def _fits(self, state: int, count: int, length: Length) -> bool:
        return length.high is None or count + self.shortest[state] <= length.high

    def behind(self, state: int) -> CharacterDfa:
        """Return the automaton of what may follow a state."""
        states, rows = explore([state], lambda here: [to for _, to in self.words.edges[here]])
        edges = tuple(
            tuple((points, to) for (points, _), to in zip(self.words.edges[here], row, strict=True))
            for here, row in zip(states, rows, strict=True)
        )
        return CharacterDfa(edges, tuple(self.words.accepting[here] for here in states))

    @cached_property
    def ways(self) -> int | None:
        """How many ways there are at least through an expression, each of them with one loop.

        Ways differ in the lengths of what comes before the loop, or of their words where there is
        none. None where some word goes through one loop and then another.
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
        found, steps = AUTOMATA.count(
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
        if found is None:
            raise LimitError("states", most)
        states, rows = found
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
    """Return the lengths of an automaton's words; formats come again in other schemas."""
    return Lengths(dfa)


MOST_STATES = 200_000
"""States over bytes."""


def counted(lengths: Lengths, length: Length, most: int, spelling: Spelling, budget: Budget) -> Dfa:
    """Return the JSON texts of the words, of which there are some, that have some length.

    Raises LimitError beyond ``most`` states that count, or ``MOST_STATES``.
    """
    sets = dict.fromkeys(points for row in lengths.words.edges for points, _ in row)
    blocks = partition(list(sets))
    members = dict(zip(sets, blocks.members, strict=True))
    dfa = _over_blocks(lengths, length, most, members, blocks.block_count, budget)
    texts = [_automaton(spelling.spell(from_ranges(points))) for points in blocks.ranges()]
    return spell(minimise(dfa, budget), letters_of([*texts, _automaton('"')]), MOST_STATES, budget)


def _over_blocks(
    lengths: Lengths,
    length: Length,
    most: int,
    members: dict[CodePoints, tuple[int, ...]],
    quote: int,
    budget: Budget,
) -> SymbolDfa:
    """Return the words in quotes; ``quote`` is the symbol after those of the blocks."""
    words = lengths.words
    counting, leaving = lengths.counted(length, most, budget, ends=())
    free = len(counting)
    edges = [[(points, to if to >= 0 else free - 1 - to) for points, to in row] for row in leaving]
    edges += [[(points, free + to) for points, to in row] for row in words.edges]
    accepting = [words.accepting[here] and count >= length.low for here, count in counting]
    accepting += words.accepting
    start, end = len(edges), len(edges) + 1
    rows = [[DEAD] * (quote + 1) for _ in range(end + 1)]
    for state, may_end in enumerate(accepting):
        row = rows[state]
        for points, target in edges[state]:
            for block in members[points]:
                row[block] = target
        if may_end:
            row[quote] = end
    rows[start][quote] = 0
    return SymbolDfa(rows, [*([0] * end), ACCEPT], [start])


def _automaton(regex: str) -> Dfa:
    compiled = compiled_pattern(regex)
    assert compiled.dfa is not None  # noqa: S101 - the expression is ours
    return compiled.dfa
