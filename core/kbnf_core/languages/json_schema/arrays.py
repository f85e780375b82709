"""Sets of arrays, closed under intersection, with complements as unions."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import NamedTuple

from kbnf_core.languages.json_schema.expressions import ANYTHING, NOTHING, Expression, both, other
from kbnf_core.languages.json_schema.problems import NarrowableError, unsupported
from kbnf_core.languages.json_schema.value_sets import STEPS
from kbnf_core.text.budget import Budget


class Contains(NamedTuple):
    """``low`` to ``high`` items have a value of ``item``; None has no bound."""

    item: Expression
    low: int
    high: int | None


@dataclass(frozen=True, slots=True)
class Arrays:
    """Arrays whose items are as ``prefix`` says, then as ``rest`` says, ``low`` to ``high`` many.

    ``unique`` asks that no two items are equal.
    """

    prefix: tuple[Expression, ...] = ()
    rest: Expression = ANYTHING
    low: int = 0
    high: int | None = None
    contains: tuple[Contains, ...] = ()
    unique: bool = False

    def item(self, place: int) -> Expression:
        """Return the expression of the item at an index."""
        return self.prefix[place] if place < len(self.prefix) else self.rest

    def meet(self, more: "Arrays", budget: Budget) -> "Arrays | None":
        """Return the common arrays; None where there is certainly none."""
        sizes = (self.prefix, more.prefix, self.contains, more.contains)
        budget.spend(STEPS * (1 + sum(map(len, sizes))))
        pairs = zip_longest(self.prefix, more.prefix)
        prefix = [both((a or self.rest, b or more.rest)) for a, b in pairs]
        highs = [high for high in (self.high, more.high) if high is not None]
        return _checked(
            Arrays(
                tuple(prefix),
                both((self.rest, more.rest)),
                max(self.low, more.low),
                min(highs, default=None),
                tuple(dict.fromkeys((*self.contains, *more.contains))),
                self.unique or more.unique,
            )
        )

    def remainder(self, budget: Budget) -> tuple["Arrays", ...]:
        """Return all other arrays."""
        # Every item of the prefix is met by an array that is as long.
        budget.spend(STEPS + len(self.prefix) ** 2)
        if self.unique:
            said = "arrays that repeat an item (`uniqueItems` under `not`)"
            raise NarrowableError(unsupported(said, "").problem)
        found = [*self._of_other_size(), *self._with_other_items()]
        for each in self.contains:
            if each.low:
                found.append(Arrays(contains=(each._replace(low=0, high=each.low - 1),)))
            if each.high is not None:
                found.append(Arrays(contains=(each._replace(low=each.high + 1, high=None),)))
        return tuple(found)

    def _of_other_size(self) -> Iterator["Arrays"]:
        if self.low:
            yield Arrays(high=self.low - 1)
        if self.high is not None:
            yield Arrays(low=self.high + 1)

    def _with_other_items(self) -> Iterator["Arrays"]:
        for place, item in enumerate(self.prefix):
            if item != ANYTHING:
                yield Arrays((*(ANYTHING,) * place, other(item)), low=place + 1)
        if self.rest == NOTHING:
            yield Arrays(low=len(self.prefix) + 1)
        elif self.rest != ANYTHING:
            if self.prefix:
                raise unsupported("`not` over `items` after `prefixItems`", "")
            yield Arrays(contains=(Contains(other(self.rest), 1, None),))


def _checked(found: Arrays) -> Arrays | None:
    """Close off items that cannot be; None where so many are needed."""
    closed = next((i for i, item in enumerate(found.prefix) if item == NOTHING), None)
    if closed is None and found.rest == NOTHING:
        closed = len(found.prefix)
    if closed is not None:
        high = closed if found.high is None else min(found.high, closed)
        found = replace(found, prefix=found.prefix[:closed], rest=NOTHING, high=high)
    return None if found.high is not None and found.high < found.low else found
