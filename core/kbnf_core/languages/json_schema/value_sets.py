"""Sets of strings and of numbers, which the keywords of these types restrict.

*Atoms* are what one keyword says: listed values, a pattern, lengths, bounds, multiples. Each can
return whether a value is in it and can be an automaton: over the characters of a string, or over
the decimal texts of a number (see ``automata.decimals``). A set (``Restricted``) is a conjunction
of atoms and of complements of atoms.

*Lengths.* A bound on the length of words multiplies the states of an automaton, so it is put into
one only where words may pass it, and no longer than they may: ``Lengths`` has the characters of the
words of an automaton.

A pattern that counts characters (``^[a-z].{0,2000}$``) is taken apart: which may occur, and how
many in all (``without_count``). So a count is a number, as in ``maxLength``, and no copies of a
state.

*Shipped patterns.* Automata of the patterns that every process would compile, of JSON's texts and
formats, are data in ``patterns.json``, which ``kbnf_testing.shipped_patterns`` writes. Each is a
text: the automaton's classes, a byte for each state (1 where it accepts), and its rows as integers
of 16 bits, compressed. A pattern that is not there is compiled.

Tests: tests/unit/languages/json_schema/test_counts_in_patterns.py,
test_shipped_patterns.py
"""

import enum
import json
import re
import sys
from array import array
from base64 import b64decode
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache, lru_cache
from hashlib import blake2b
from operator import itemgetter
from pathlib import Path
from sys import byteorder
from typing import Any, Generic, Protocol, TypeAlias, TypeVar, cast
from zlib import decompress

from kbnf_core.automata import operations
from kbnf_core.automata.algebra import Choice, Repeat, fold
from kbnf_core.automata.algebra import Sequence as Items
from kbnf_core.automata.chosen_kernel import AUTOMATA
from kbnf_core.automata.codepoints import ANY
from kbnf_core.automata.decimals import EQUAL, GREATER, LESS, compared, multiples
from kbnf_core.automata.dfa import DEAD, Dfa, class_count
from kbnf_core.automata.explore import explore
from kbnf_core.automata.expression import Builder, Expression, print_expression
from kbnf_core.automata.regex.compile import REMEMBERED, Compiled, compile_regex, size_of
from kbnf_core.automata.regex.syntax import CharacterSet
from kbnf_core.automata.to_regex import CharacterDfa, Edge, to_characters
from kbnf_core.ir.analysis import cyclic_components
from kbnf_core.text.budget import Budget
from kbnf_core.text.errors import LimitError
from kbnf_core.text.limits import DEFAULT_LIMITS
from kbnf_core.text.locks import cached_property
from kbnf_core.text.remembered import remembered

PATTERNS = Path(__file__).with_name("patterns.json")


@remembered(REMEMBERED, size_of)
def compiled_pattern(pattern: str) -> Compiled:
    """Return what ``compile_regex`` returns.

    A process keeps as many bytes of automata as ``compile_regex`` does: without them 150 schemas of
    MaskBench take 1.2 times as long.
    """
    found = _shipped().get(key_of(pattern))
    return compile_regex(pattern) if found is None else Compiled(_unpacked(found[1]), (), found[0])


@cache
def _shipped() -> dict[str, tuple[int, str]]:
    """Return the work and the automaton of each pattern."""
    found: dict[str, tuple[int, str]] = json.loads(PATTERNS.read_text("ascii"))
    return found


def key_of(pattern: str) -> str:
    """Return what a pattern is called in the file."""
    return blake2b(pattern.encode(errors="surrogatepass"), digest_size=12).hexdigest()


def _unpacked(text: str) -> Dfa:
    data = decompress(b64decode(text))
    classes = data[:256]
    width = max(classes) + 1
    states = (len(data) - 256) // (1 + 2 * width)
    rows = array("h", data[256 + states :])
    if byteorder == "big":
        rows.byteswap()
    listed = rows.tolist()
    accepting = list(map(bool, data[256 : 256 + states]))
    return Dfa(classes, [listed[i : i + width] for i in range(0, len(listed), width)], accepting)


V = TypeVar("V", str, Decimal)


class Atom(Protocol):
    """A set of strings or of numbers."""

    def holds(self, value: object) -> bool:
        """Return whether a value is in the set."""

    def dfa(self) -> Dfa:
        """Return the set as an automaton; raises LimitError where it is too large."""


@dataclass(frozen=True)
class OneOf(Generic[V]):
    """A finite set, in the order of writing."""

    values: tuple[V, ...]

    @cached_property
    def _members(self) -> frozenset[object]:
        return frozenset(self.values)

    def holds(self, value: object) -> bool:
        """Return whether a value is in the set."""
        return value in self._members

    def dfa(self) -> Dfa:
        """Return the automaton of the values."""
        values: tuple[str | Decimal, ...] = self.values
        words = [value.encode() for value in values if isinstance(value, str)]
        numbers = [compared(value, EQUAL) for value in values if isinstance(value, Decimal)]
        return operations.union(*numbers) if numbers else operations.literals(words)


MOST_KNOWN = 1_000
"""Texts of which a pattern remembers whether it matches them."""


@dataclass(frozen=True)
class Matching:
    """Strings that a regular expression of our dialect matches as a whole."""

    regex: str

    def holds(self, value: object) -> bool:
        """Return whether a value is in the set; of names of members it is asked again and again."""
        text = str(value)
        known = self._known.get(text)
        if known is None:
            known = self._dfa.accepts(text.encode())
            if len(self._known) < MOST_KNOWN:
                self._known[text] = known
        return known

    @cached_property
    def _known(self) -> dict[str, bool]:
        return {}

    def dfa(self) -> Dfa:
        """Return the automaton of the strings."""
        return self._dfa

    @cached_property
    def _dfa(self) -> Dfa:
        compiled = compiled_pattern(self.regex)
        if compiled.dfa is None:
            raise LimitError("states", DEFAULT_LIMITS.regex_states)
        return compiled.dfa


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
        return Matching(f"(?s:.){{{self.low},{high}}}").dfa()

    def remainder(self) -> Iterator["Length"]:
        """Yield all other lengths."""
        if self.low:
            yield Length(0, self.low - 1)
        if self.high is not None:
            yield Length(self.high + 1, None)


def word_lengths(root: Expression) -> Length:
    """Return the lengths of the shortest and of the longest word of an expression."""
    return fold(root, _length)


def _length(item: Expression, parts: list[Length]) -> Length:
    lows = [part.low for part in parts]
    highs = [part.high for part in parts if part.high is not None]
    is_bounded = len(highs) == len(parts) > 0
    match item:
        case CharacterSet():
            return Length(1, 1)
        case Repeat(_, low, high):
            most = None if high is None or not is_bounded else high * highs[0]
            return Length(low * lows[0], 0 if highs == [0] else most)
        case Choice():
            return Length(min(lows, default=0), max(highs) if is_bounded else None)
        case _:
            return Length(sum(lows), sum(highs) if len(highs) == len(parts) else None)


@dataclass(frozen=True, slots=True)
class Compared:
    """Numbers below, at or above a bound: ``wanted`` adds up LESS, EQUAL and GREATER."""

    bound: Decimal
    wanted: int

    def holds(self, value: object) -> bool:
        """Return whether a value is in the set."""
        number = cast(Decimal, value)
        found = LESS if number < self.bound else GREATER if number > self.bound else EQUAL
        return bool(found & self.wanted)

    def dfa(self) -> Dfa:
        """Return the automaton of the numbers."""
        return compared(self.bound, self.wanted)


@dataclass(frozen=True, slots=True)
class Multiple:
    """Multiples of a positive number; of 1, the integers."""

    divisor: Decimal

    def holds(self, value: object) -> bool:
        """Return whether a value is in the set."""
        top, bottom = cast(Decimal, value).as_integer_ratio()
        over, under = self.divisor.as_integer_ratio()
        return top * under % (bottom * over) == 0

    def dfa(self) -> Dfa:
        """Return the automaton of the numbers."""
        return multiples(self.divisor)


INTEGER = Multiple(Decimal(1))

Literal: TypeAlias = tuple[Atom, bool]
"""An atom, and whether values are in it (or outside)."""


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
    """Return the lengths of an automaton's words.

    A process keeps those of 16 automata, since formats come again with other lengths: without them
    such a schema takes 1.8 times as long (`email`).
    """
    return Lengths(dfa)


STEPS = 8
"""What looking at one value, member or part is counted as."""


MANY_STRINGS = 1_000_000
"""Fewer strings than there are of each length above 0."""


class Kind(enum.Enum):
    """The kind of a set's values; the value is the regular expression of all texts of the kind."""

    STRING = "(?s:.)*"
    NUMBER = "-?(?:0|[1-9][0-9]*)(?:\\.[0-9]+)?"


@dataclass(frozen=True)
class Restricted:
    """All values that every literal allows; without any, all of the kind.

    At most one finite atom is wanted, at most one range of lengths: ``restrict`` sees to it.
    """

    kind: Kind
    literals: tuple[Literal, ...] = ()

    @property
    def finite(self) -> tuple[Any, ...] | None:
        """The values, where they are listed."""
        for atom, wanted in self.literals:
            if wanted and isinstance(atom, OneOf):
                return atom.values
        return None

    @property
    def excluded(self) -> tuple[Any, ...]:
        """The values that are left out by name."""
        return tuple(
            value
            for atom, wanted in self.literals
            if not wanted and isinstance(atom, OneOf)
            for value in atom.values
        )

    def holds(self, value: object) -> bool:
        """Return whether a value is in the set."""
        return all(atom.holds(value) == wanted for atom, wanted in self.literals)

    @property
    def length(self) -> Length | None:
        """The length that is asked for beside something else."""
        if len(self.literals) == 1:
            return None
        lengths = (atom for atom, wanted in self.literals if wanted and isinstance(atom, Length))
        return next(lengths, None)

    @cached_property
    def of_any_length(self) -> "Restricted":
        """The values without that restriction."""
        length = self.length
        return Restricted(self.kind, tuple(each for each in self.literals if each[0] != length))

    def is_empty(self, budget: Budget) -> bool:
        """Return whether there is no such value; raises LimitError as ``dfa`` does."""
        if self._leaves_out_few:
            return False
        length = self.length
        if length is None:
            return self.dfa(budget).is_empty
        rest = self.of_any_length.dfa(budget)
        return rest.is_empty or not lengths_of(rest).has_word(length, budget)

    @property
    def _leaves_out_few(self) -> bool:
        """Whether these are the strings of some lengths, above 0 too, but for fewer than many."""
        return (
            self.kind is Kind.STRING
            and len(self.excluded) < MANY_STRINGS
            and all(
                isinstance(atom, Length) and atom.high != 0 if wanted else isinstance(atom, OneOf)
                for atom, wanted in self.literals
            )
        )

    def few(self, most: int, budget: Budget) -> tuple[str, ...] | None:
        """Return the strings that are listed or match patterns; None for more than ``most``."""
        if self.finite is not None:
            return self.finite if len(self.finite) <= most else None
        patterns = any(wanted and isinstance(atom, Matching) for atom, wanted in self.literals)
        if not patterns:
            return None
        dfa = self.of_any_length.dfa(budget)
        length = self.length or Length(0, None)
        return () if dfa.is_empty else lengths_of(dfa).few_words(length, most, budget)

    def dfa(self, budget: Budget) -> Dfa:
        """Return the set as an automaton; raises LimitError where it is too large."""
        known: Dfa | None = vars(self).get("_dfa")
        if known is None:
            known = vars(self)["_dfa"] = self._product(budget)
        return known

    def _product(self, budget: Budget) -> Dfa:
        # Small ones first: what they leave out is not multiplied by the others.
        wanted = [atom.dfa() for atom, positive in self.literals if positive]
        wanted.sort(key=lambda dfa: dfa.state_count)
        unwanted = [atom.dfa() for atom, positive in self.literals if not positive]
        whole, *others = wanted or [Matching(self.kind.value).dfa()]
        for operation, dfas in ((operations.intersect, others), (operations.difference, unwanted)):
            for dfa in dfas:
                # Without a bound of its own, as states have one.
                meter = Budget(sys.maxsize)
                whole = operation(whole, dfa, budget=meter)
                budget.spend(meter.spent)
        return whole

    def meet(self, other: "Restricted", budget: Budget) -> "Restricted | None":
        """Return the common values; None where there is certainly none."""
        if not self.literals or not other.literals:
            return self if self.literals else other
        literals = [*self.literals, *other.literals]
        budget.spend(STEPS * len(literals) * (1 + len(self.finite or other.finite or ())))
        return restrict(self.kind, literals)

    def remainder(self, budget: Budget) -> tuple["Restricted", ...]:
        """Return all other values, in disjoint parts."""
        budget.spend(STEPS * len(self.literals) ** 2)
        parts: list[Restricted] = []
        before: list[Literal] = []
        for atom, wanted in self.literals:
            # Lengths stay ranges: they need no automaton.
            others: list[Literal] = [(atom, not wanted)]
            if isinstance(atom, Length) and wanted:
                others = [(each, True) for each in atom.remainder()]
            found = (restrict(self.kind, [*before, each]) for each in others)
            parts += [part for part in found if part is not None]
            before.append((atom, wanted))
        return tuple(parts)


MANY_COUNTED = 8
"""Sets of strings with the same bounds on their lengths that become one before it is counted."""


@dataclass(frozen=True)
class Either:
    """The strings of any of some sets: an atom, for writing."""

    parts: tuple[Restricted, ...]

    def holds(self, value: object) -> bool:
        """Return whether a value is in the set."""
        return any(part.holds(value) for part in self.parts)

    def dfa(self) -> Dfa:
        """Return the set as an automaton; raises LimitError where it is too large."""
        return self._dfa

    @cached_property
    def _dfa(self) -> Dfa:
        return operations.union(*(part.dfa(Budget(sys.maxsize)) for part in self.parts))


def counted_together(parts: Sequence[Restricted], budget: Budget) -> Sequence[Restricted]:
    """Return parts with the same strings; many that have the same bounds on lengths are one.

    Alternatives of alternatives overlap, and their union is often smaller than any of them.
    """
    by_length: dict[Length, list[Restricted]] = {}
    for part in parts:
        length = part.length
        has_pattern = any(wanted and isinstance(atom, Matching) for atom, wanted in part.literals)
        if has_pattern and length is not None and length.high is not None:
            by_length.setdefault(length, []).append(part)
    for length, some in by_length.items():
        if len(some) < MANY_COUNTED:
            continue
        free = tuple(part.of_any_length for part in some)
        budget.spend(sum(part.dfa(budget).state_count for part in free))
        whole = Either(free)
        try:
            whole.dfa()
        except LimitError:
            continue
        one = Restricted(some[0].kind, ((whole, True), (length, True)))
        parts = [one, *(part for part in parts if part not in some)]
    return parts


def united(parts: Sequence[Restricted]) -> tuple[Restricted, ...]:
    """Return parts with the same values together, each once; all listed values are one part."""
    first: Restricted | None = None
    values: dict[Any, None] = {}
    for part in parts:
        if part.finite is not None:
            first = first or part
            values.update(dict.fromkeys(part.finite))
    if first is None:
        return tuple(dict.fromkeys(parts))
    listed = Restricted(first.kind, ((OneOf(tuple(values)), True),))
    # None for the lists: hashing all their values once for each would take the square of them.
    kept = dict.fromkeys(None if part.finite is not None else part for part in parts)
    return tuple(part or listed for part in kept)


def restrict(kind: Kind, literals: Iterable[Literal]) -> Restricted | None:
    """Return the values that all literals allow; None where there is certainly none."""
    kept = dict.fromkeys(literals)
    if any((atom, not wanted) in kept for atom, wanted in kept):
        return None
    lists = [atom.values for atom, wanted in kept if wanted and isinstance(atom, OneOf)]
    if lists:
        values = min(lists, key=len)
        for atom, wanted in kept:
            values = tuple([value for value in values if atom.holds(value) == wanted])
        return Restricted(kind, ((OneOf(values), True),)) if values else None
    return _with_one_length(kind, kept)


def _with_one_length(kind: Kind, kept: dict[Literal, None]) -> Restricted | None:
    lengths = [atom for atom, wanted in kept if wanted and isinstance(atom, Length)]
    if any(length.high is not None and length.high < length.low for length in lengths):
        return None
    if len(lengths) < 2:
        return Restricted(kind, tuple(kept))
    low = max(length.low for length in lengths)
    highs = [length.high for length in lengths if length.high is not None]
    high = min(highs, default=None)
    if high is not None and high < low:
        return None
    rest = [literal for literal in kept if literal[0] not in lengths or not literal[1]]
    return Restricted(kind, (*rest, (Length(low, high), True)))


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
    loops = [place for place, item in enumerate(items) if _is_large(item)]
    around = [_fixed_length(item) for place, item in enumerate(items) if place not in loops]
    lengths = [length for length in around if length is not None]
    if len(loops) != 1 or len(lengths) < len(around):
        return print_expression(builder.sequence(items)), None
    loop = items[loops[0]]
    assert isinstance(loop, Repeat)  # noqa: S101 - as a large count is
    high = None if loop.high is None else loop.high + sum(lengths)
    items[loops[0]] = builder.repetition(loop.body, 0, None)
    found = print_expression(builder.sequence(items))
    return found, Length(loop.low + sum(lengths), high)


def _at_least_beside_any(builder: Builder, read: Expression) -> list[Expression]:
    """Return the items of a sequence; beside any text it is enough to repeat as often as needed."""
    items = list(read.parts if isinstance(read, Items) else (read,))
    for place, item in enumerate(items):
        beside = [*items[max(place - 1, 0) : place], *items[place + 1 : place + 2]]
        if isinstance(item, Repeat) and item.high is not None and any(map(_is_any, beside)):
            items[place] = builder.repetition(item.body, item.low, item.low)
    whole = builder.sequence(items)
    return list(whole.parts if isinstance(whole, Items) else (whole,))


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


def _fixed_length(item: Expression) -> int | None:
    """Return how many characters an item has, where that is one number that is quickly found."""
    if isinstance(item, CharacterSet):
        return 1
    if isinstance(item, Repeat) and isinstance(item.body, CharacterSet) and item.low == item.high:
        return item.low
    return None
