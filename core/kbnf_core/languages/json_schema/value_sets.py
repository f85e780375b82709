"""Sets of strings, or of numbers, as conjunctions of atoms and of complements of atoms."""

import enum
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Protocol

from kbnf_core.automata import operations
from kbnf_core.automata.dfa import Dfa
from kbnf_core.languages.json_schema.atoms import Length, Literal, Matching, OneOf
from kbnf_core.languages.json_schema.lengths import lengths_of
from kbnf_core.text.budget import Budget
from kbnf_core.text.errors import LimitError

SMALL = 512
"""Pairs of states up to which what automata have in common is remembered."""


class _Operation(Protocol):
    def __call__(self, left: Dfa, right: Dfa, /, *, budget: Budget) -> Dfa: ...


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
                combine = _combined if whole.state_count * dfa.state_count <= SMALL else _combine
                whole, steps = combine(operation, whole, dfa)
                budget.spend(steps)
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


def _combine(operation: _Operation, left: Dfa, right: Dfa) -> tuple[Dfa, int]:
    """Return what an operation makes of two automata, and its steps.

    They count also where the result is remembered. Without a bound, as states have one.
    """
    meter = Budget(sys.maxsize)
    return operation(left, right, budget=meter), meter.spent


_combined = lru_cache(maxsize=128)(_combine)
"""Sets that differ in their last literals alone, as regions of names do, share the rest."""


MANY_COUNTED = 8
"""Sets of strings with the same bounds on their lengths that become one before it is counted."""


@dataclass(frozen=True)
class Either:
    """The strings of any of some sets: an atom, for what is written."""

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
