"""Arrays and objects that are counted: automata over items and over members, as rules.

*Rules.* An automaton over expressions (``write_linear``) is right-linear rules, one for each state
that is reached twice.

*Arrays.* Items that are to differ are listed where their values are few.

*Objects.* A text may repeat a name, and of such members readers keep the last. Named members come
once. Others may repeat, which matters where some number of members is required, or a member that
fits: then an automaton remembers which of the names came, if they are few. No grammar can
distinguish all names, so otherwise they may repeat, and a note says so.

At least n of m optional members in their order take n (m - n) states, and no automaton has fewer:
two beginnings with another last member, or with another count below n, go on differently. The
counts of the engine (``lower/counts``) are of one thing that repeats, and have no order of members.

Tests: tests/unit/languages/json_schema/test_repeated_names.py, test_counted.py
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from decimal import ROUND_FLOOR, Decimal
from math import comb
from typing import Generic, NamedTuple, Protocol, TypeVar

from kbnf_core.automata.decimals import GREATER, LESS
from kbnf_core.ir import Node
from kbnf_core.ir.build import EMPTY, alternation, call, distinct, sequence
from kbnf_core.languages.json_schema import Options, Order, SchemaLimits, Standard
from kbnf_core.languages.json_schema.algebra import (
    ANYTHING,
    NOTHING,
    AllOf,
    AnyOf,
    Arrays,
    Branch,
    Constant,
    Expression,
    Objects,
    Plain,
    Region,
    both,
    constant,
    is_within,
    other,
    without,
)
from kbnf_core.languages.json_schema.keywords import (
    NarrowableError,
    may_repeat,
    narrowed,
    too_large,
    unsupported,
)
from kbnf_core.languages.json_schema.rules import Prelude, SchemaRules
from kbnf_core.languages.json_schema.schemas import Schemas, is_unsatisfiable
from kbnf_core.languages.json_schema.value_sets import (
    INTEGER,
    STEPS,
    Compared,
    Kind,
    OneOf,
    Restricted,
)
from kbnf_core.text.budget import Budget
from kbnf_core.text.locks import cached_property

S = TypeVar("S", bound=Hashable)


class Step(NamedTuple, Generic[S]):
    """What a state can do: end here, or read an expression and be in the next state."""

    accepting: bool
    edges: Sequence[tuple[Node, S]]


EDGE = 50
"""What an edge is counted as: it is followed, and its expression is made, twice."""


def write_linear(
    start: S, step: Callable[[S], Step[S]], rules: SchemaRules, hint: str, most: int
) -> Node | None:
    """Return what an automaton accepts, its other states being rules; None for nothing.

    Raises ProblemError where it has more than ``most`` states.
    """
    steps = {start: step(start)}
    order = [start]
    for state in order:
        rules.budget.spend(EDGE * (1 + len(steps[state].edges)))
        for _, after in steps[state].edges:
            if after not in steps:
                steps[after] = step(after)
                order.append(after)
        if len(order) > most:
            raise too_large("states of a counted value", most, "steps")
    live = _live(steps)
    if start not in live:
        return None
    again = any(after == start for state in live for _, after in steps[state].edges)
    names: dict[S, str] = {}
    for state in order:
        # A state in which a text only ends is the empty text, and needs no rule.
        ends = not any(after in live for _, after in steps[state].edges)
        if state in live and not ends and (state != start or again):
            names[state] = rules.fresh(hint)
    forms = {state: call(names[state]) if state in names else EMPTY for state in live}
    for state, name in names.items():
        rules.add(name, _body(steps[state], forms, live))
    return forms[start] if again else _body(steps[start], forms, live)


def _body(step: Step[S], forms: dict[S, Node], live: set[S]) -> Node:
    """Return the edges of a state; those to one target are together."""
    by_target: dict[S, list[Node]] = {}
    for form, after in step.edges:
        if after in live:
            by_target.setdefault(after, []).append(form)
    branches = [
        sequence(alternation(distinct(read)), forms[after]) for after, read in by_target.items()
    ]
    return alternation([*branches, EMPTY] if step.accepting else branches)


def _live(steps: dict[S, Step[S]]) -> set[S]:
    """Return the states from which an accepting one is reached."""
    sources: dict[S, list[S]] = {}
    for state, step in steps.items():
        for _, after in step.edges:
            sources.setdefault(after, []).append(state)
    live = {state for state, step in steps.items() if step.accepting}
    queue = list(live)
    for state in queue:
        for source in sources.get(state, ()):
            if source not in live:
                live.add(source)
                queue.append(source)
    return live


class MemberWriter(Protocol):
    """Writes the contents of arrays and objects."""

    schemas: Schemas
    prelude: Prelude
    options: Options
    limits: SchemaLimits
    rules: SchemaRules

    def value(self, expression: Expression, hint: str) -> Node | None:
        """Return how a value is written; None if there is none."""

    def member(self, name: str, value: Expression) -> Node | None:
        """Return a named member; None if it cannot be."""

    def key(self, keys: Restricted, hint: str) -> Node | None:
        """Return the JSON texts of the names of members; None if there is none."""


_ArrayState = tuple[int, tuple[int, ...], tuple[int, ...]]
"""Items so far (as far as it matters), how many fit each ``contains``, which values are left."""

_ItemKind = tuple[Expression, tuple[bool, ...]]
"""What an item is, and which ``contains`` it fits."""


class CountedItems:
    """Arrays as an automaton over items: for ``contains`` and ``uniqueItems``.

    Of many different values each comes or not, in their order: every subset would be a state.
    """

    def __init__(self, arrays: Arrays, writer: MemberWriter, hint: str) -> None:
        self._arrays = arrays
        self._writer = writer
        self._hint = hint
        self._limits = writer.limits
        self._budget = writer.schemas.budget
        self._contains = [
            contained
            for contained in arrays.contains
            if contained.low or contained.high is not None
        ]
        self._values = self._listed() if arrays.unique else ()
        self._in_order = len(self._values) > self._limits.distinct
        self._most = max(len(arrays.prefix), arrays.low, arrays.high or 0)
        self._memo: dict[Expression, list[_ItemKind]] = {}
        self._forms: dict[Expression, Node | None] = {}

    def _listed(self) -> tuple[Expression, ...]:
        values = list_values(self._writer.schemas, (*self._arrays.prefix, self._arrays.rest))
        if values is None:
            raise unsupported(
                "`uniqueItems` over values that are not listed", "",
                "list the values with `enum`, allow at most one (`maxItems`), or leave it out"
                " and check the value afterwards",
            )  # fmt: skip
        if len(values) > self._limits.distinct:
            message = (
                f"more than {self._limits.distinct} different values are allowed in one order only"
            )
            self._writer.rules.note(narrowed(message, "uniqueItems"))
        return values

    def write(self) -> Node | None:
        """Return the whole array."""
        start: _ArrayState = (0, (0,) * len(self._contains), tuple(range(len(self._values))))
        content = write_linear(
            start, self._step, self._writer.rules, f"{self._hint}_items", self._limits.steps
        )
        return None if content is None else self._writer.prelude.enclosed("[", "]", content)

    def _step(self, state: _ArrayState) -> Step[_ArrayState]:
        count, fitting, left = state
        enough = all(
            n >= contained.low for n, contained in zip(fitting, self._contains, strict=True)
        )
        edges: list[tuple[Node, _ArrayState]] = []
        if self._arrays.high is None or count < self._arrays.high:
            for kind, fits, after in self._choices(count, left):
                fit = self._count(fitting, fits)
                form = None if fit is None else self._form(kind)
                if fit is not None and form is not None:
                    prelude = self._writer.prelude
                    item = sequence(prelude.comma if count else EMPTY, prelude.item(form))
                    edges.append((item, (self._after(count), fit, after)))
            if self._in_order and len(left) > 1:
                edges.append((EMPTY, (count, fitting, left[1:])))
        return Step(count >= self._arrays.low and enough, edges)

    def _after(self, count: int) -> int:
        """Return the next count; one that only says "enough" stays, but never as the first."""
        return min(count + 1, max(self._most, 1))

    def _choices(
        self, count: int, left: tuple[int, ...]
    ) -> list[tuple[Expression, tuple[bool, ...], tuple[int, ...]]]:
        """Return the kinds of items that may come: schema, ``contains`` that fit, values left."""
        kinds = self._kinds(self._arrays.item(count))
        self._budget.spend(STEPS * len(kinds) * (1 + len(self._contains)))
        if not self._arrays.unique:
            return [(kind_of, fits, left) for kind_of, fits in kinds]
        return [
            (both((kind_of, self._values[left[index]])), fits, self._without(left, index))
            for kind_of, fits in kinds
            for index in range(min(len(left), 1 if self._in_order else len(left)))
        ]

    def _kinds(self, item: Expression) -> list[_ItemKind]:
        if item not in self._memo:
            excludes = self._writer.schemas.excludes
            kinds: list[_ItemKind] = [(item, ())]
            for contained in self._contains:
                # Where only a lower bound matters, an item that fits may as well not be counted.
                unfit = ANYTHING if contained.high is None else other(contained.item)
                kinds = [
                    (both((expression, contained.item if fits else unfit)), (*before, fits))
                    for expression, before in kinds
                    for fits in (
                        (True,) if is_within(item, contained.item, excludes) else (True, False)
                    )
                ]
                self._budget.spend(STEPS * len(kinds) * (1 + len(self._contains)))
            self._memo[item] = kinds
        return self._memo[item]

    def _form(self, item: Expression) -> Node | None:
        if item not in self._forms:
            self._forms[item] = self._writer.value(item, f"{self._hint}_item")
        return self._forms[item]

    def _without(self, left: tuple[int, ...], index: int) -> tuple[int, ...]:
        return left[index + 1 :] if self._in_order else left[:index] + left[index + 1 :]

    def _count(self, fitting: tuple[int, ...], fits: tuple[bool, ...]) -> tuple[int, ...] | None:
        counts = []
        for n, one, contained in zip(fitting, fits, self._contains, strict=True):
            top = contained.low if contained.high is None else contained.high
            if one and contained.high is not None and n == contained.high:
                return None
            counts.append(min(n + one, top))
        return tuple(counts)


MOST_STRINGS = 100
"""Strings of a pattern that are listed one by one."""

MOST_INTEGERS = 100
"""Integers between two bounds that are listed one by one."""


def list_values(
    schemas: "Schemas", expressions: Iterable[Expression]
) -> tuple[Constant, ...] | None:
    """Return every value that some expression allows, each once; None if they are not listed."""
    listed_values: dict[Hashable, Constant] = {}
    for expression in expressions:
        if expression == ANYTHING or (isinstance(expression, AllOf) and not expression.operands):
            return None
        if isinstance(expression, Constant):
            listed_values[expression.key] = expression
            continue
        if isinstance(expression, AnyOf):
            inner = list_values(schemas, expression.operands)
            if inner is None:
                return None
            listed_values.update((value.key, value) for value in inner)
            continue
        try:
            shape = schemas.shape(expression)
        except NarrowableError:
            return None
        for branches in shape.values():
            for branch in branches:
                values = _values(branch, schemas.budget)
                if values is None:
                    return None
                listed = map(constant, values)
                listed_values.update((value.key, value) for value in listed)
    return tuple(listed_values.values())


def _values(branch: Branch, budget: Budget) -> tuple[object, ...] | None:
    if isinstance(branch, Plain):
        return branch.values
    if not isinstance(branch, Restricted):
        return None
    if branch.finite is not None:
        return branch.finite
    return _integers(branch) if branch.kind is Kind.NUMBER else branch.few(MOST_STRINGS, budget)


def _integers(numbers: Restricted) -> tuple[object, ...] | None:
    """Return the integers between two bounds, where they are few."""
    wanted = [atom for atom, positive in numbers.literals if positive]
    bounds = [atom for atom in wanted if isinstance(atom, Compared)]
    lows = [atom.bound for atom in bounds if atom.wanted & GREATER]
    highs = [atom.bound for atom in bounds if atom.wanted & LESS]
    if INTEGER not in wanted or not lows or not highs or min(highs) - max(lows) > MOST_INTEGERS:
        return None
    first = int(max(lows).to_integral_value(ROUND_FLOOR))
    near = map(Decimal, range(first, first + MOST_INTEGERS + 2))
    return tuple(value for value in near if numbers.holds(value))


Member = tuple[Node, bool]
"""A named member of an object, and whether it must be there."""

MOST_NAMES = 64
"""Names of members without a say of their own that are listed to be told apart."""

MOST_EDGES = 16_384
"""Edges of the automaton that distinguishes them."""


class MemberLayout:
    """The members of an object as forms."""

    def __init__(self, objects: Objects, writer: MemberWriter, hint: str) -> None:
        self.objects = objects
        self.writer = writer
        self.hint = hint
        self._budget = writer.schemas.budget
        self.impossible = False
        self.names: list[str] = []
        self.members: list[Member] = []
        self._used = dict(objects.named)
        needed = frozenset(objects.required)
        # Without a required member each gets a rule.
        if not needed and len(self._used) > writer.limits.rules:
            most = writer.limits.rules
            raise too_large("rules", most, "rules", writer.rules.pointer("properties"))
        unnamed = [name for name in objects.required if name not in self._used]
        self._all = (*self._used, *unnamed)
        for name in self._all:
            required = name in needed
            form = self.member(name, objects.lookup(name))
            if form is not None:
                self.names.append(name)
                self.members.append((form, required))
            elif required:
                self.impossible = True

    @cached_property
    def any_order(self) -> bool:
        """Whether the named members come in any order; a note names objects with too many."""
        if self.writer.options.order is Order.DECLARED or not self.names:
            return False
        most = self.writer.limits.orders
        if len(self.names) > most:
            message = f"objects with more than {most} properties have them in the declared order"
            pointer = self.writer.rules.pointer("properties")
            self.writer.schemas.notes.append(narrowed(message, pointer))
        return len(self.names) <= most

    def member(self, name: str, value: Expression) -> Node | None:
        """Return a named member; None if it cannot be."""
        return None if value == NOTHING else self.writer.member(name, value)

    def unnamed(self, present: Iterable[Region] = ()) -> Node | None:
        """Return any member that is not named, and fits ``present``; None if there is none."""
        if not self._all and not present and self.objects.regions == Objects().regions:
            return self.writer.prelude.use("member")
        return self.of_regions(self.objects.regions, present)

    def of_regions(self, regions: Iterable[Region], present: Iterable[Region] = ()) -> Node | None:
        """Return any member of some regions that is not named, and fits ``present``."""
        forms = [self._of_region(region, tuple(present)) for region in regions]
        nodes = [form for form in forms if form is not None]
        return alternation(nodes) if nodes else None

    def single_names(self) -> tuple[list[Region], list[Region]]:
        """Return the regions with few names as one for each name, and the others."""
        single: list[Region] = []
        rest: list[Region] = []
        for keys, value in self.objects.regions:
            few = MOST_NAMES + len(self._all)
            names = None if value == NOTHING else keys.few(few, self._budget)
            if names is None:
                rest.append((keys, value))
                continue
            listed = (name for name in names if name not in self._all)
            single += [(Restricted(keys.kind, ((OneOf((name,)), True),)), value) for name in listed]
        return single, rest

    def leaves_out_named(self, keys: Restricted) -> bool:
        """Return whether names are all but some of those that are named."""
        wanted = any(wanted for _, wanted in keys.literals)
        listed = all(isinstance(atom, OneOf) for atom, _ in keys.literals)
        return listed and not wanted and set(keys.excluded).issubset(self._all)

    def _of_region(self, region: Region, present: tuple[Region, ...]) -> Node | None:
        keys, value = region
        for more, also in present:
            shared = keys.meet(more, self._budget)
            if shared is None:
                return None
            keys, value = shared, both((value, also))
        # A finite set is written as listed names; others leave the named ones out.
        self._budget.spend(STEPS * (1 + len(self._all)))
        left = [name for name in self._all if keys.holds(name)]
        keys_left = keys.meet(without(keys, tuple(left)), self._budget)
        form = None if value == NOTHING else self.writer.value(value, f"{self.hint}_value")
        if form is None or keys_left is None:
            return None
        key = self._key(keys_left)
        return None if key is None else sequence(key, self.writer.prelude.colon, form)

    def _key(self, keys: Restricted) -> Node | None:
        """Return the JSON texts of names."""
        has_literals = bool(self._all or keys.literals)
        return write_key(keys, self.writer, self.hint, is_all_but=has_literals)


def write_key(
    keys: Restricted, writer: MemberWriter, hint: str, *, is_all_but: bool
) -> Node | None:
    """Return the JSON texts of names; LLGuidance leaves names out as they are spelt."""
    key = writer.key(keys, f"{hint}_key")
    if writer.options.standard is not Standard.LLGUIDANCE or key is None:
        return key
    needless = writer.prelude.spelling.with_needless
    takes_any = not any(wanted for _, wanted in keys.literals)
    if not takes_any or needless is None or not is_all_but:
        return key
    return alternation([key, writer.prelude.use("other_name")])


_ObjectState = tuple[int, int, int, int]
"""Which named members are done, how many members there are (as far as it matters), which of
``present`` are fulfilled, and which single names may not come again: all but the second as bits.
Where order counts, the first is the index of a member, as a bit."""


_FittingNode = tuple[Node, int, int]
"""A member, which of ``present`` it is to fit, and which it fits anyway: as bits."""


class CountedMembers:
    """Objects as an automaton over members: counted, in any order, or with some that must be."""

    def __init__(self, layout: MemberLayout) -> None:
        self._layout = layout
        self._objects = layout.objects
        self._any = layout.any_order
        limits = layout.writer.limits
        if len(self._objects.present) > limits.orders:
            raise unsupported("too many members that must be there", layout.writer.rules.pointer())
        self._most = max(self._objects.low, self._objects.high or 0, 1)
        self._all_met = (1 << len(self._objects.present)) - 1
        # That members with the required names are there says no more of one other member.
        self._counts_names = self._objects.low > len(self._objects.required) + 1
        self._single, self._others = self._singles_and_others()
        # The same in all states, but that the first member has no comma before it.
        self._memo: dict[tuple[int | None, bool], list[_FittingNode]] = {}

    def _singles_and_others(self) -> tuple[list[Region], list[Region]]:
        """Return the regions that are single names, and others; note where those may repeat."""
        together: tuple[list[Region], list[Region]] = [], list(self._objects.regions)
        if not self._counts_names and all(value == ANYTHING for _, value in self._objects.present):
            return together
        single, others = self._layout.single_names()
        if not self._is_small(len(single)):
            single, others = together
        if any(self._may_hurt(region) for region in others):
            rules = self._layout.writer.rules
            rules.schemas.notes.append(may_repeat(rules.pointer("minProperties")))
        return single, others

    def _is_small(self, names: int) -> bool:
        """Return whether an automaton that distinguishes so many names is certainly small."""
        members, present = len(self._layout.members), len(self._objects.present)
        claimed = present + (self._objects.low if self._counts_names else 1) - 1
        sets = sum(comb(names, count) for count in range(min(claimed, names) + 1))
        states = (sets << members if self._any else sets + members) * (self._most + 1) << present
        few = states <= self._layout.writer.limits.steps
        return few and states * (names + members) <= MOST_EDGES

    def _may_hurt(self, region: Region) -> bool:
        """Return whether it may matter that a name of a region comes twice."""
        if self._layout.of_regions([region]) is None:
            return False
        if self._counts_names:
            return True
        keys, member_value = region
        schemas = self._layout.writer.schemas
        return any(
            keys.meet(more, schemas.budget) is not None
            and not is_unsatisfiable(schemas, both((member_value, other(value))))
            for more, value in self._objects.present
        )

    def write(self) -> Node | None:
        """Return the members."""
        writer = self._layout.writer
        return write_linear(
            (0, 0, 0, 0), self._step, writer.rules, f"{self._layout.hint}_members",
            writer.limits.steps,
        )  # fmt: skip

    def _step(self, state: _ObjectState) -> Step[_ObjectState]:
        done, count, met, taken = state
        edges: list[tuple[Node, _ObjectState]] = []
        if self._objects.high is None or count < self._objects.high:
            after = min(count + 1, self._most)
            for (form, chosen, sure), now, name in self._next(done, taken, count == 0):
                # A schema fulfilled before needs no other member; a further one may fit it or not.
                if not chosen & met:
                    all_taken = self._taken(taken, count, name, needed=chosen > 0)
                    edges.append((form, (now, after, met | chosen | sure, all_taken)))
            if (passed := self._passed(done)) is not None:
                # An object that may end here may end after all members passed over.
                return Step(False, [*edges, (EMPTY, (passed, count, met, taken))])
        enough = count >= self._objects.low and met == self._all_met
        return Step(enough and not self._missing(done), edges)

    def _passed(self, done: int) -> int | None:
        """Return the members done where the next one in the declared order is left out.

        None where it is required, or there is no other. Passed over one by one, members need
        edges in proportion to their number, not to its square.
        """
        members = self._layout.members
        index = done.bit_length()
        if self._any or index == len(members) or members[index][1]:
            return None
        return done | 1 << index

    def _taken(self, taken: int, count: int, name: int, *, needed: bool) -> int:
        """Return the names that may not come again; ``name``, a bit, came after ``count`` members.

        They are those that were counted, until enough are, and those of members that must be.
        """
        is_counted = self._counts_names and count < self._objects.low
        counted = taken | name if is_counted or needed else taken
        return 0 if count + 1 >= self._objects.low and not self._objects.present else counted

    def _missing(self, done: int) -> bool:
        """Return whether a required member is still to come."""
        members = enumerate(self._layout.members)
        return any(required and not done >> i & 1 for i, (_, required) in members)

    def _next(
        self, done: int, taken: int, is_first: bool
    ) -> Iterator[tuple[_FittingNode, int, int]]:
        """Yield the members that may come, and the members done then.

        Last comes the single name that the member has, as a bit; 0 for others.
        """
        count = len(self._layout.members)
        indices = [index for index in range(count) if not done >> index & 1]
        for index in indices if self._any else indices[:1]:
            for form in self._forms(index, is_first):
                yield form, done | 1 << index, 0
        if indices and not self._any:
            return
        for number in range(len(self._single)):
            if not taken >> number & 1:
                for form in self._forms(count + number, is_first):
                    yield form, done, 1 << number
        for form in self._forms(None, is_first):
            yield form, done, 0

    def _forms(self, index: int | None, is_first: bool) -> list[_FittingNode]:
        """Return the forms of a member.

        After the indices of named members come those of single names; None is for the others.
        """
        cached = self._memo.get((index, is_first))
        if cached is None and is_first:
            sure = self._sure(index)
            every = (fits for fits in range(self._all_met + 1) if not fits & sure)
            forms = [(self._fitting(index, fits), fits) for fits in every]
            cached = [(form, fits, sure) for form, fits in forms if form is not None]
        elif cached is None:
            comma = self._layout.writer.prelude.comma
            forms_first = self._forms(index, True)
            cached = [(sequence(comma, form), fits, sure) for form, fits, sure in forms_first]
        self._memo[index, is_first] = cached
        return cached

    def _sure(self, index: int | None) -> int:
        """Return which of ``present`` a member fits whatever its value, as bits."""
        objects, excludes = self._objects, self._layout.writer.schemas.excludes
        names: tuple[str, ...] = ()
        member_values = [value for _, value in self._others if value != NOTHING]
        if index is not None and index < len(self._layout.members):
            names = (self._layout.names[index],)
            member_values = [objects.lookup(names[0])]
        elif index is not None:
            keys, value = self._single[index - len(self._layout.members)]
            names, member_values = keys.finite or (), [value]
        return sum(
            1 << i
            for i, (keys, value) in enumerate(objects.present)
            if all(is_within(member_value, value, excludes) for member_value in member_values)
            and (all(map(keys.holds, names)) if names else self._layout.leaves_out_named(keys))
        )

    def _chosen(self, fits: int) -> list[Region]:
        return [region for i, region in enumerate(self._objects.present) if fits >> i & 1]

    def _fitting(self, index: int | None, fits: int) -> Node | None:
        if index is None and not self._single:
            return self._layout.unnamed(self._chosen(fits))
        if index is None:
            return self._layout.of_regions(self._others, self._chosen(fits))
        if index >= len(self._layout.members):
            single = self._single[index - len(self._layout.members)]
            return self._layout.of_regions([single], self._chosen(fits))
        if not fits:
            return self._layout.members[index][0]
        name = self._layout.names[index]
        chosen = self._chosen(fits)
        if not all(keys.holds(name) for keys, _ in chosen):
            return None
        value = both([self._objects.lookup(name), *(value for _, value in chosen)])
        return self._layout.member(name, value)
