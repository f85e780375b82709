"""Writes sets of arrays; values that are to differ are listed, where they are few."""

from collections.abc import Hashable, Iterable
from decimal import ROUND_FLOOR, Decimal
from typing import TYPE_CHECKING

from kbnf_core.automata.decimals import GREATER, LESS
from kbnf_core.languages.json_schema.arrays import Arrays
from kbnf_core.languages.json_schema.atoms import INTEGER, Compared
from kbnf_core.languages.json_schema.build_tree import (
    EMPTY,
    Form,
    optional,
    repeated,
    sequence,
)
from kbnf_core.languages.json_schema.expressions import (
    ANYTHING,
    NOTHING,
    AllOf,
    AnyOf,
    Expression,
    both,
    other,
)
from kbnf_core.languages.json_schema.linear import Step, write_linear
from kbnf_core.languages.json_schema.normal_form import Part, Plain
from kbnf_core.languages.json_schema.problems import unsupported
from kbnf_core.languages.json_schema.value_sets import STEPS, Restricted
from kbnf_core.languages.json_schema.values import Constant, constant

if TYPE_CHECKING:
    from kbnf_core.languages.json_schema.schemas import Schemas
    from kbnf_core.languages.json_schema.writer import Writer

_State = tuple[int, tuple[int, ...], tuple[int, ...]]
"""Items so far (as far as it matters), how many fit each ``contains``, which values are left."""


def write_array(part: Arrays, writer: "Writer", wish: str) -> Form | None:
    """Return the JSON texts of a set of arrays; None if there is none."""
    contains = [each for each in part.contains if each.low or each.high is not None]
    if part.unique and part.high != 0 and part.high != 1:
        return _Counted(part, writer, wish).write()
    if contains:
        return _Counted(part, writer, wish).write()
    return _plain(part, writer, wish)


def _plain(part: Arrays, writer: "Writer", wish: str) -> Form | None:
    """Write prefix items, each but the first behind a comma, and then the rest."""
    comma, items = writer.prelude.comma, f"{wish.removesuffix('_value')}_item"
    count = len(part.prefix)
    rest = _rest(part, writer, items)
    if rest is None:
        return None
    whole = rest
    for place in reversed(range(count if part.high is None else min(count, part.high))):
        item = writer.place(part.prefix[place], items)
        if item is None:
            if place < part.low:
                return None
            whole = EMPTY
            continue
        whole = sequence(comma if place else EMPTY, item, whole)
        if place >= part.low:
            whole = optional(whole)
    return writer.prelude.enclosed("[", "]", whole)


def _rest(part: Arrays, writer: "Writer", wish: str) -> Form | None:
    """Return what comes behind the prefix; None where it must come and cannot."""
    count = len(part.prefix)
    low = max(part.low - count, 0)
    high = None if part.high is None else max(part.high - count, 0)
    if high == 0 or part.rest == NOTHING:
        return None if low else EMPTY
    item = writer.place(part.rest, wish)
    if item is None:
        return None if low else EMPTY
    following = sequence(writer.prelude.comma, item)
    if count:
        return repeated(following, low, high)
    more = repeated(following, max(low - 1, 0), None if high is None else high - 1)
    whole = sequence(item, more)
    return whole if low else optional(whole)


class _Counted:
    """Arrays as an automaton over items: for ``contains`` and ``uniqueItems``.

    Of many different values each comes or not, in their order: every subset would be a state.
    """

    def __init__(self, part: Arrays, writer: "Writer", wish: str) -> None:
        self._part = part
        self._writer = writer
        self._wish = wish
        self._limits = writer.limits
        self._budget = writer.schemas.budget
        self._contains = [each for each in part.contains if each.low or each.high is not None]
        self._values = self._listed() if part.unique else ()
        self._in_order = len(self._values) > self._limits.distinct
        self._most = max(len(part.prefix), part.low, part.high or 0)

    def _listed(self) -> tuple[Expression, ...]:
        found = list_values(self._writer.schemas, (*self._part.prefix, self._part.rest))
        if found is None:
            raise unsupported(
                "`uniqueItems` over values that are not listed", "",
                "list the values with `enum`, or let at most one come (`maxItems`)",
            )  # fmt: skip
        if len(found) > self._limits.distinct:
            message = f"more than {self._limits.distinct} different values come in one order only"
            self._writer.left_out(message, "uniqueItems")
        return found

    def write(self) -> Form | None:
        """Return the whole array."""
        start: _State = (0, (0,) * len(self._contains), tuple(range(len(self._values))))
        content = write_linear(
            start, self._step, self._writer.rules, f"{self._wish}_items", self._limits.steps
        )
        return None if content is None else self._writer.prelude.enclosed("[", "]", content)

    def _step(self, state: _State) -> Step[_State]:
        count, fitting, left = state
        enough = all(n >= each.low for n, each in zip(fitting, self._contains, strict=True))
        edges: list[tuple[Form, _State]] = []
        if self._part.high is None or count < self._part.high:
            for item, fits, after in self._choices(count, left):
                fit = self._count(fitting, fits)
                form = None if fit is None else self._writer.place(item, f"{self._wish}_item")
                if fit is not None and form is not None:
                    comma = self._writer.prelude.comma if count else EMPTY
                    edges.append((sequence(comma, form), (self._after(count), fit, after)))
            if self._in_order and len(left) > 1:
                edges.append((EMPTY, (count, fitting, left[1:])))
        return Step(count >= self._part.low and enough, edges)

    def _after(self, count: int) -> int:
        """Return the next count; one that only says "enough" stays, but never as the first."""
        return min(count + 1, max(self._most, 1))

    def _choices(
        self, count: int, left: tuple[int, ...]
    ) -> list[tuple[Expression, tuple[bool, ...], tuple[int, ...]]]:
        """Return the kinds of items that may come: what, which ``contains`` fit, what is left."""
        item = self._part.item(count)
        kinds: list[tuple[Expression, tuple[bool, ...]]] = [(item, ())]
        for each in self._contains:
            # Where only a lower bound matters, an item that fits may as well not be counted.
            unfit = ANYTHING if each.high is None else other(each.item)
            kinds = [
                (both((known, each.item if fits else unfit)), (*before, fits))
                for known, before in kinds
                for fits in (True, False)
            ]
            self._budget.spend(STEPS * len(kinds) * (1 + len(self._contains)))
        if not self._part.unique:
            return [(known, fits, left) for known, fits in kinds]
        return [
            (both((known, self._values[left[place]])), fits, self._without(left, place))
            for known, fits in kinds
            for place in range(min(len(left), 1 if self._in_order else len(left)))
        ]

    def _without(self, left: tuple[int, ...], place: int) -> tuple[int, ...]:
        return left[place + 1 :] if self._in_order else left[:place] + left[place + 1 :]

    def _count(self, fitting: tuple[int, ...], fits: tuple[bool, ...]) -> tuple[int, ...] | None:
        found = []
        for n, one, each in zip(fitting, fits, self._contains, strict=True):
            top = each.low if each.high is None else each.high
            if one and each.high is not None and n == each.high:
                return None
            found.append(min(n + one, top))
        return tuple(found)


MOST_INTEGERS = 100
"""Integers between two bounds that are listed one by one."""


def list_values(
    schemas: "Schemas", expressions: Iterable[Expression]
) -> tuple[Constant, ...] | None:
    """Return every value that some expression allows, each once; None if they are not listed."""
    found: dict[Hashable, Constant] = {}
    for expression in expressions:
        if expression == ANYTHING or (isinstance(expression, AllOf) and not expression.parts):
            return None
        if isinstance(expression, Constant):
            found[expression.key] = expression
            continue
        if isinstance(expression, AnyOf):
            inner = list_values(schemas, expression.parts)
            if inner is None:
                return None
            found.update((each.key, each) for each in inner)
            continue
        for parts in schemas.shape(expression).values():
            for part in parts:
                values = _values(part)
                if values is None:
                    return None
                listed = map(constant, values)
                found.update((each.key, each) for each in listed)
    return tuple(found.values())


def _values(part: Part) -> tuple[object, ...] | None:
    if isinstance(part, Plain):
        return part.values
    if not isinstance(part, Restricted):
        return None
    return part.finite if part.finite is not None else _integers(part)


def _integers(part: Restricted) -> tuple[object, ...] | None:
    """Return the integers between two bounds, where they are few."""
    wanted = [atom for atom, positive in part.literals if positive]
    bounds = [atom for atom in wanted if isinstance(atom, Compared)]
    lows = [atom.bound for atom in bounds if atom.wanted & GREATER]
    highs = [atom.bound for atom in bounds if atom.wanted & LESS]
    if INTEGER not in wanted or not lows or not highs or min(highs) - max(lows) > MOST_INTEGERS:
        return None
    first = int(max(lows).to_integral_value(ROUND_FLOOR))
    near = map(Decimal, range(first, first + MOST_INTEGERS + 2))
    return tuple(value for value in near if part.holds(value))
