"""Writes sets of objects: the named members in their order, then all others.

A text may repeat a name, and of such members readers keep the last. Named members come once.
Others may repeat, which hurts where some number of members must come, or a member that fits: then
an automaton remembers which of the names came, if they are few. No grammar can tell all names
apart, so otherwise they may repeat, and a note says so.
"""

from collections.abc import Iterable, Iterator
from functools import cached_property
from math import comb
from typing import TYPE_CHECKING

from kbnf_core.languages.json_schema.atoms import OneOf
from kbnf_core.languages.json_schema.build_tree import (
    EMPTY,
    Form,
    alternation,
    call,
    optional,
    repeated,
    sequence,
)
from kbnf_core.languages.json_schema.emptiness import is_void
from kbnf_core.languages.json_schema.expressions import (
    ANYTHING,
    NOTHING,
    Expression,
    both,
    other,
)
from kbnf_core.languages.json_schema.linear import Step, write_linear
from kbnf_core.languages.json_schema.objects import Objects, Region, without
from kbnf_core.languages.json_schema.options import Order, Standard
from kbnf_core.languages.json_schema.problems import narrowed, too_large, unsupported
from kbnf_core.languages.json_schema.value_sets import STEPS, Restricted

if TYPE_CHECKING:
    from kbnf_core.languages.json_schema.writer import Writer

FEW = 3
"""Optional members, none of them required, that are written without rules of their own."""

MOST_NAMES = 64
"""Names of members without a say of their own that are listed to be told apart."""

MOST_EDGES = 16_384
"""Edges of the automaton that tells them apart."""

Member = tuple[Form, bool]
"""A named member, and whether it must be there."""


def write_object(part: Objects, writer: "Writer", wish: str) -> Form | None:
    """Return the JSON texts of a set of objects; None if there is none."""
    layout = _Layout(part, writer, wish)
    if layout.impossible:
        return None
    if layout.any_order or part.present or part.high is not None or part.low > 1:
        content = _Counted(layout).write()
    else:
        content = _plain(layout)
    return None if content is None else writer.prelude.enclosed("{", "}", content)


class _Layout:
    """The members of an object as forms."""

    def __init__(self, part: Objects, writer: "Writer", wish: str) -> None:
        self.part = part
        self.writer = writer
        self.wish = wish
        self._budget = writer.schemas.budget
        self.impossible = False
        self.names: list[str] = []
        self.members: list[Member] = []
        self._used = dict(part.named)
        needed = frozenset(part.required)
        # Without a required member each gets a rule.
        if not needed and len(self._used) > writer.limits.rules:
            most = writer.limits.rules
            raise too_large("rules", most, "rules", writer.pointer("properties"))
        unnamed = [name for name in part.required if name not in self._used]
        self._all = (*self._used, *unnamed)
        for name in self._all:
            required = name in needed
            form = self.member(name, part.lookup(name))
            if form is not None:
                self.names.append(name)
                self.members.append((form, required))
            elif required:
                self.impossible = True

    @cached_property
    def any_order(self) -> bool:
        """Whether the named members come in any order; a note tells of objects with too many."""
        if self.writer.options.order is Order.DECLARED or len(self.names) < 2:
            return False
        most = self.writer.limits.orders
        if len(self.names) > most:
            message = f"objects with more than {most} properties have them in the declared order"
            pointer = self.writer.pointer("properties")
            self.writer.schemas.notes.append(narrowed(message, pointer))
        return len(self.names) <= most

    def member(self, name: str, value: Expression) -> Form | None:
        """Return a named member; None if it cannot be."""
        return None if value == NOTHING else self.writer.member(name, value)

    def unnamed(self, present: Iterable[Region] = ()) -> Form | None:
        """Return any member that is not named, and fits ``present``; None if there is none."""
        if not self._all and not present and self.part.regions == Objects().regions:
            return self.writer.prelude.use("member")
        return self.of_regions(self.part.regions, present)

    def of_regions(self, regions: Iterable[Region], present: Iterable[Region] = ()) -> Form | None:
        """Return any member of some regions that is not named, and fits ``present``."""
        forms = [self._of_region(region, tuple(present)) for region in regions]
        found = [form for form in forms if form is not None]
        return alternation(found) if found else None

    def single_names(self) -> tuple[list[Region], list[Region]]:
        """Return the regions with few names as one for each name, and the others."""
        single: list[Region] = []
        rest: list[Region] = []
        for keys, value in self.part.regions:
            few = MOST_NAMES + len(self._all)
            names = None if value == NOTHING else keys.few(few, self._budget)
            if names is None:
                rest.append((keys, value))
                continue
            listed = (name for name in names if name not in self._all)
            single += [(Restricted(keys.kind, ((OneOf((name,)), True),)), value) for name in listed]
        return single, rest

    def _of_region(self, region: Region, present: tuple[Region, ...]) -> Form | None:
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
        form = None if value == NOTHING else self.writer.place(value, f"{self.wish}_value")
        if form is None or keys_left is None:
            return None
        key = self._key(keys_left)
        return None if key is None else sequence(key, self.writer.prelude.colon, form)

    def _key(self, keys: Restricted) -> Form | None:
        """Return the JSON texts of names; LLGuidance leaves names out as they are spelt."""
        key = self.writer.key(keys, f"{self.wish}_key")
        if self.writer.options.standard is not Standard.LLGUIDANCE or key is None:
            return key
        needless = self.writer.prelude.spelling.with_needless
        takes_any = not any(wanted for _, wanted in keys.literals)
        if not takes_any or needless is None or not (self._all or keys.literals):
            return key
        return alternation([key, self.writer.prelude.use("other_name")])


def _plain(layout: _Layout) -> Form | None:
    """Write an object in which only the named members are counted."""
    extra = layout.unnamed()
    comma = layout.writer.prelude.comma
    first = next((i for i, (_, required) in enumerate(layout.members) if required), None)
    if first is not None:
        return _around(layout.members, first, extra, comma)
    content = _some(layout, extra, comma)
    if content is None:
        return None if layout.part.low else EMPTY
    return content if layout.part.low else optional(content)


def _around(members: list[Member], first: int, extra: Form | None, comma: Form) -> Form:
    """Write members of which one is required: those before it have commas behind them."""
    before = [optional(sequence(form, comma)) for form, _ in members[:first]]
    after = [
        sequence(comma, form) if required else optional(sequence(comma, form))
        for form, required in members[first + 1 :]
    ]
    more = EMPTY if extra is None else repeated(sequence(comma, extra), 0, None)
    return sequence(*before, members[first][0], *after, more)


def _some(layout: _Layout, extra: Form | None, comma: Form) -> Form | None:
    """Write one or more optional members: the last, or one before it and maybe more."""
    more: Form | None = None
    if extra is not None:
        more = sequence(extra, repeated(sequence(comma, extra), 0, None))
    rules = layout.writer.rules
    for place, (form, _) in reversed(list(enumerate(layout.members))):
        if more is None:
            more = form
            continue
        if len(layout.members) > FEW:
            name = rules.fresh(f"{layout.wish}_from_{layout.names[place]}")
            rules.add(name, alternation([form, sequence(optional(sequence(form, comma)), more)]))
            more = call(name)
        else:
            more = alternation([form, sequence(optional(sequence(form, comma)), more)])
    return more


_State = tuple[int, int, int, int]
"""Which named members are done, how many members there are (as far as it matters), which of
``present`` are met, and which single names may not come again: all but the second as bits. Where
order counts, the first is a place."""


class _Counted:
    """Objects as an automaton over members: counted, in any order, or with some that must be."""

    def __init__(self, layout: _Layout) -> None:
        self._layout = layout
        self._part = layout.part
        self._any = layout.any_order
        limits = layout.writer.limits
        if len(self._part.present) > limits.orders:
            raise unsupported("too many members that must be there", layout.writer.pointer())
        self._most = max(self._part.low, self._part.high or 0, 1)
        self._all_met = (1 << len(self._part.present)) - 1
        # That members with the required names are there says no more of one other member.
        self._counts_names = self._part.low > len(self._part.required) + 1
        self._single, self._others = self._told_apart()
        # The same in all states.
        self._known: dict[int | None, list[tuple[Form, int]]] = {}

    def _told_apart(self) -> tuple[list[Region], list[Region]]:
        """Return the regions that are single names, and others; note where those may repeat."""
        together: tuple[list[Region], list[Region]] = [], list(self._part.regions)
        if not self._counts_names and all(value == ANYTHING for _, value in self._part.present):
            return together
        single, others = self._layout.single_names()
        if not self._is_small(len(single)):
            single, others = together
        if any(self._may_hurt(region) for region in others):
            self._layout.writer.may_repeat()
        return single, others

    def _is_small(self, names: int) -> bool:
        """Tell whether an automaton that tells so many names apart is certainly small."""
        members, present = len(self._layout.members), len(self._part.present)
        claimed = present + (self._part.low if self._counts_names else 1) - 1
        sets = sum(comb(names, count) for count in range(min(claimed, names) + 1))
        states = (sets << members if self._any else sets + members) * (self._most + 1) << present
        few = states <= self._layout.writer.limits.steps
        return few and states * (names + members) <= MOST_EDGES

    def _may_hurt(self, region: Region) -> bool:
        """Tell whether it may matter that a name of a region comes twice."""
        if self._layout.of_regions([region]) is None:
            return False
        if self._counts_names:
            return True
        keys, held = region
        schemas = self._layout.writer.schemas
        return any(
            keys.meet(more, schemas.budget) is not None
            and not is_void(schemas, both((held, other(value))))
            for more, value in self._part.present
        )

    def write(self) -> Form | None:
        """Return the members."""
        writer = self._layout.writer
        return write_linear(
            (0, 0, 0, 0), self._step, writer.rules, f"{self._layout.wish}_members",
            writer.limits.steps,
        )  # fmt: skip

    def _step(self, state: _State) -> Step[_State]:
        done, count, met, taken = state
        edges: list[tuple[Form, _State]] = []
        if self._part.high is None or count < self._part.high:
            comma = self._layout.writer.prelude.comma if count else EMPTY
            after = min(count + 1, self._most)
            for form, now, fits, name in self._next(done, taken):
                # What was met before needs no other member; one that comes may fit it or not.
                if not fits & met:
                    all_taken = self._taken(taken, count, name, needed=fits > 0)
                    edges.append((sequence(comma, form), (now, after, met | fits, all_taken)))
        enough = count >= self._part.low and met == self._all_met
        return Step(enough and not self._missing(done), edges)

    def _taken(self, taken: int, count: int, name: int, *, needed: bool) -> int:
        """Return the names that may not come again; ``name``, a bit, came behind ``count`` members.

        They are those that were counted, until enough are, and those of members that must be.
        """
        is_counted = self._counts_names and count < self._part.low
        found = taken | name if is_counted or needed else taken
        return 0 if count + 1 >= self._part.low and not self._part.present else found

    def _missing(self, done: int) -> bool:
        """Tell whether a required member is still to come."""
        return any(required and not done >> i & 1 for i, (_, required) in self._numbered())

    def _numbered(self) -> list[tuple[int, Member]]:
        return list(enumerate(self._layout.members))

    def _next(self, done: int, taken: int) -> Iterator[tuple[Form, int, int, int]]:
        """Yield the members that may come: what, what is done then, which of ``present`` fit.

        Last comes the single name that the member has, as a bit; 0 for others.
        """
        for place, (_, required) in self._numbered():
            if done >> place & 1:
                continue
            # In the declared order, whatever is passed over is done with.
            now = done | 1 << place if self._any else (2 << place) - 1
            for form, fits in self._forms(place):
                yield form, now, fits, 0
            if required and not self._any:
                return
        now = done if self._any else (1 << len(self._layout.members)) - 1
        for number in range(len(self._single)):
            if not taken >> number & 1:
                for form, fits in self._forms(len(self._layout.members) + number):
                    yield form, now, fits, 1 << number
        for form, fits in self._forms(None):
            yield form, now, fits, 0

    def _forms(self, place: int | None) -> list[tuple[Form, int]]:
        """Return the forms of a member, and which of ``present`` fit.

        Behind the places of named members come those of single names; None is for the others.
        """
        known = self._known.get(place)
        if known is None:
            every = range(self._all_met + 1)
            forms = [(self._fitting(place, fits), fits) for fits in every]
            known = [(form, fits) for form, fits in forms if form is not None]
            self._known[place] = known
        return known

    def _chosen(self, fits: int) -> list[Region]:
        return [region for i, region in enumerate(self._part.present) if fits >> i & 1]

    def _fitting(self, place: int | None, fits: int) -> Form | None:
        if place is None and not self._single:
            return self._layout.unnamed(self._chosen(fits))
        if place is None:
            return self._layout.of_regions(self._others, self._chosen(fits))
        if place >= len(self._layout.members):
            single = self._single[place - len(self._layout.members)]
            return self._layout.of_regions([single], self._chosen(fits))
        if not fits:
            return self._layout.members[place][0]
        name = self._layout.names[place]
        chosen = self._chosen(fits)
        if not all(keys.holds(name) for keys, _ in chosen):
            return None
        value = both([self._part.lookup(name), *(value for _, value in chosen)])
        return self._layout.member(name, value)
