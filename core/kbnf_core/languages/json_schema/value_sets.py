"""Sets of strings and of numbers, which the keywords of these types restrict.

*Atoms* are what one keyword says: listed values, a pattern, lengths, bounds, multiples. Each can
return whether a value is in it and can be an automaton: over the characters of a string, or over
the decimal texts of a number (see ``automata.decimals``). A set (``Restricted``) is a conjunction
of atoms and of complements of atoms.

*Lengths.* A bound on the length of words is put into an automaton only where words may pass it
(``automata.lengths``). The regular expressions of numbers are here, those of strings in
``automata.json_strings``.

*Shipped patterns.* Automata of the patterns that every process would compile, of JSON's texts and
formats, are data in ``patterns.json``, which ``kbnf_testing.shipped_patterns`` writes. Each is a
text: the automaton's classes, a byte for each state (1 where it accepts), and its rows as integers
of 16 bits, compressed. A pattern that is not there is compiled.

Tests: tests/unit/languages/json_schema/test_counts_in_patterns.py,
test_shipped_patterns.py
"""

import enum
import json
import sys
from array import array
from base64 import b64decode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from hashlib import blake2b
from pathlib import Path
from sys import byteorder
from typing import Any, Generic, Protocol, TypeAlias, TypeVar, cast
from zlib import decompress

from kbnf_core.automata import operations
from kbnf_core.automata.decimals import EQUAL, GREATER, LESS, compared, multiples
from kbnf_core.automata.dfa import Dfa
from kbnf_core.automata.expression import print_characters
from kbnf_core.automata.lengths import Length, lengths_of
from kbnf_core.automata.regex.compile import REMEMBERED, Compiled, compile_regex, size_of
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
    shipped = _shipped().get(key_of(pattern))
    return (
        compile_regex(pattern)
        if shipped is None
        else Compiled(_unpacked(shipped[1]), (), shipped[0])
    )


@cache
def _shipped() -> dict[str, tuple[int, str]]:
    """Return the work and the automaton of each pattern."""
    patterns: dict[str, tuple[int, str]] = json.loads(PATTERNS.read_text("ascii"))
    return patterns


def key_of(pattern: str) -> str:
    """Return the key of a pattern in the file."""
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


MOST_ANSWERS = 1_000
"""Texts of which a pattern remembers whether it matches them."""


@dataclass(frozen=True)
class Matching:
    """Strings that a regular expression of our dialect matches as a whole."""

    regex: str

    def holds(self, value: object) -> bool:
        """Return whether a value is in the set; of names of members it is asked again and again."""
        text = str(value)
        cached = self._answers.get(text)
        if cached is None:
            cached = self._dfa.accepts(text.encode())
            if len(self._answers) < MOST_ANSWERS:
                self._answers[text] = cached
        return cached

    @cached_property
    def _answers(self) -> dict[str, bool]:
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
class Compared:
    """Numbers below, at or above a bound: ``wanted`` adds up LESS, EQUAL and GREATER."""

    bound: Decimal
    wanted: int

    def holds(self, value: object) -> bool:
        """Return whether a value is in the set."""
        number = cast(Decimal, value)
        order = LESS if number < self.bound else GREATER if number > self.bound else EQUAL
        return bool(order & self.wanted)

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


STEPS = 8
"""Steps of work for one value, member or branch."""


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
        return Restricted(
            self.kind, tuple(literal for literal in self.literals if literal[0] != length)
        )

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
        cached: Dfa | None = vars(self).get("_dfa")
        if cached is None:
            cached = vars(self)["_dfa"] = self._product(budget)
        return cached

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
        """Return all other values, in disjoint sets."""
        budget.spend(STEPS * len(self.literals) ** 2)
        disjoint: list[Restricted] = []
        before: list[Literal] = []
        for atom, wanted in self.literals:
            # Lengths stay ranges: they need no automaton.
            others: list[Literal] = [(atom, not wanted)]
            if isinstance(atom, Length) and wanted:
                others = [(literal, True) for literal in atom.remainder()]
            restricted = (restrict(self.kind, [*before, literal]) for literal in others)
            disjoint += [other for other in restricted if other is not None]
            before.append((atom, wanted))
        return tuple(disjoint)


MANY_COUNTED = 8
"""Sets of strings with the same bounds on their lengths that become one before it is counted."""


@dataclass(frozen=True)
class Either:
    """The strings of any of some sets: an atom, for writing."""

    sets: tuple[Restricted, ...]

    def holds(self, value: object) -> bool:
        """Return whether a value is in the set."""
        return any(one_set.holds(value) for one_set in self.sets)

    def dfa(self) -> Dfa:
        """Return the set as an automaton; raises LimitError where it is too large."""
        return self._dfa

    @cached_property
    def _dfa(self) -> Dfa:
        return operations.union(*(one_set.dfa(Budget(sys.maxsize)) for one_set in self.sets))


def counted_together(sets: Sequence[Restricted], budget: Budget) -> Sequence[Restricted]:
    """Return sets with the same strings; many that have the same bounds on lengths are one.

    Alternatives of alternatives overlap, and their union is often smaller than any of them.
    """
    by_length: dict[Length, list[Restricted]] = {}
    for one_set in sets:
        length = one_set.length
        has_pattern = any(
            wanted and isinstance(atom, Matching) for atom, wanted in one_set.literals
        )
        if has_pattern and length is not None and length.high is not None:
            by_length.setdefault(length, []).append(one_set)
    for length, some in by_length.items():
        if len(some) < MANY_COUNTED:
            continue
        free = tuple(one_set.of_any_length for one_set in some)
        budget.spend(sum(one_set.dfa(budget).state_count for one_set in free))
        whole = Either(free)
        try:
            whole.dfa()
        except LimitError:
            continue
        one = Restricted(some[0].kind, ((whole, True), (length, True)))
        sets = [one, *(one_set for one_set in sets if one_set not in some)]
    return sets


def united(sets: Sequence[Restricted]) -> tuple[Restricted, ...]:
    """Return sets with the same values together, each once; all listed values are one set."""
    first: Restricted | None = None
    values: dict[Any, None] = {}
    for one_set in sets:
        if one_set.finite is not None:
            first = first or one_set
            values.update(dict.fromkeys(one_set.finite))
    if first is None:
        return tuple(dict.fromkeys(sets))
    listed = Restricted(first.kind, ((OneOf(tuple(values)), True),))
    # None for the lists: hashing all their values once for each would take the square of them.
    kept = dict.fromkeys(None if one_set.finite is not None else one_set for one_set in sets)
    return tuple(one_set or listed for one_set in kept)


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


# The texts of numbers

FRACTION_DIGITS = 17
"""Digits after the point of a number, where they are bounded: a double is known by them."""
LOWEST, HIGHEST = -(2**63), 2**63 - 1
"""The integers of 64 bits."""


def _at_most(digits: str) -> str:
    """Return the regular expression of the texts of as many digits that are not above these."""
    pattern = _up_to(int(digits[-1]))
    for behind, digit in enumerate(reversed(digits[:-1]), 1):
        same = f"{digit}{pattern}"
        rest = "[0-9]" if behind == 1 else f"[0-9]{{{behind}}}"
        pattern = same if digit == "0" else f"(?:{_up_to(int(digit) - 1)}{rest}|{same})"
    return pattern


def _up_to(digit: int) -> str:
    return print_characters(((0x30, 0x30 + digit),))


SHORT_WHOLE = "-?(?:0|[1-9][0-9]{0,17}|[1-8][0-9]{18})"
"""Integers of 64 bits but for those next to the bounds, whose text would be as long again."""
LONG_HIGH = (
    f"9{_at_most('2232')}[0-9]{{14}}",
    f"92233{_at_most('72035')}[0-9]{{9}}",
    f"9223372036{_at_most('8546')}[0-9]{{5}}",
    f"92233720368547{_at_most('75807')}",
)
"""Integers of 64 bits that begin with 9 and have 19 digits, in lines that are not long."""
WHOLE = f"(?:{SHORT_WHOLE}|-?(?:{'|'.join(LONG_HIGH)})|{LOWEST})"
"""Integers of 64 bits."""
FAR = {"int64_high": b"9" + b"0" * 18, "int64_low": b"-9" + b"0" * 18}
"""The rules of the integers next to the bounds of 64 bits, with a text of each."""
EXPONENT = r"[eE](?:-[0-9]{1,3}|\+?1?[0-9]{1,2})"
"""An exponent with which a number of so many digits is a finite double."""


def digits(most: int | None) -> str:
    """Return the regular expression of one digit or more."""
    return "[0-9]+" if most is None else f"[0-9]{{1,{most}}}"


def integers(most: int | None) -> str:
    """Return the regular expression of an integer with so many digits."""
    return f"-?(?:0|[1-9][0-9]{'*' if most is None else f'{{0,{most - 1}}}'})"


@cache
def automaton_within(whole: str, behind: str = r"(?:\.[0-9]+)?") -> Dfa:
    """Return the numbers without an exponent whose whole part a regular expression matches.

    A process keeps the three that are asked for.
    """
    dfa = compiled_pattern(whole + behind).dfa
    assert dfa is not None  # noqa: S101 - of constants
    return dfa
