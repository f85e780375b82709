"""Writes sets of objects: the named members in their order, then all others."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from kbnf_core.languages.json_schema.build_tree import (
    EMPTY,
    Form,
    alternation,
    call,
    optional,
    repeated,
    sequence,
)
from kbnf_core.languages.json_schema.expressions import NOTHING, Expression, both
from kbnf_core.languages.json_schema.linear import Step, write_linear
from kbnf_core.languages.json_schema.objects import Objects, Region, without
from kbnf_core.languages.json_schema.options import Order, Standard
from kbnf_core.languages.json_schema.problems import unsupported
from kbnf_core.languages.json_schema.value_sets import STEPS, Restricted

if TYPE_CHECKING:
    from kbnf_core.languages.json_schema.writer import Writer

FEW = 3
"""Optional members, none of them required, that are written without rules of their own."""

Member = tuple[Form, bool]
"""A named member, and whether it must be there."""


def write_object(part: Objects, writer: "Writer", wish: str) -> Form | None:
    """Return the JSON texts of a set of objects; None if there is none."""
    layout = _Layout(part, writer, wish)
    if layout.impossible:
        return None
    any_order = writer.options.order is Order.ANY and len(layout.names) > 1
    if any_order or part.present or part.high is not None or part.low > 1:
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

    def member(self, name: str, value: Expression) -> Form | None:
        """Return a named member; None if it cannot be."""
        return None if value == NOTHING else self.writer.member(name, value)

    def unnamed(self, present: Iterable[Region] = ()) -> Form | None:
        """Return any member that is not named, and fits ``present``; None if there is none."""
        if not self._all and not present and self.part.regions == Objects().regions:
            return self.writer.prelude.use("member")
        forms = [self._of_region(region, tuple(present)) for region in self.part.regions]
        found = [form for form in forms if form is not None]
        return alternation(found) if found else None

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


_State = tuple[int, int, int]
"""Which named members are done, how many members there are (as far as it matters), and which of
``present`` are met: the first and the last as bits, or the first as a place where order counts."""


class _Counted:
    """Objects as an automaton over members: counted, in any order, or with some that must be."""

    def __init__(self, layout: _Layout) -> None:
        self._layout = layout
        self._part = layout.part
        self._any = layout.writer.options.order is Order.ANY
        limits = layout.writer.limits
        if self._any and len(layout.members) > limits.orders:
            raise unsupported(
                f"more than {limits.orders} properties in any order", layout.writer.pointer(),
                "use the declared order",
            )  # fmt: skip
        if len(self._part.present) > limits.orders:
            raise unsupported("too many members that must be there", layout.writer.pointer())
        self._most = max(self._part.low, self._part.high or 0, 1)
        self._all_met = (1 << len(self._part.present)) - 1
        # The same in all states.
        self._known: dict[int | None, list[tuple[Form, int]]] = {}

    def write(self) -> Form | None:
        """Return the members."""
        writer = self._layout.writer
        return write_linear(
            (0, 0, 0), self._step, writer.rules, f"{self._layout.wish}_members", writer.limits.steps
        )

    def _step(self, state: _State) -> Step[_State]:
        done, count, met = state
        edges: list[tuple[Form, _State]] = []
        if self._part.high is None or count < self._part.high:
            comma = self._layout.writer.prelude.comma if count else EMPTY
            after = min(count + 1, self._most)
            for form, now, fits in self._next(done):
                edges.append((sequence(comma, form), (now, after, met | fits)))
        enough = count >= self._part.low and met == self._all_met
        return Step(enough and not self._missing(done), edges)

    def _missing(self, done: int) -> bool:
        """Tell whether a required member is still to come."""
        return any(required and not done >> i & 1 for i, (_, required) in self._numbered())

    def _numbered(self) -> list[tuple[int, Member]]:
        return list(enumerate(self._layout.members))

    def _next(self, done: int) -> Iterator[tuple[Form, int, int]]:
        """Yield the members that may come: what, what is done then, which of ``present`` fit."""
        for place, (_, required) in self._numbered():
            if done >> place & 1:
                continue
            # In the declared order, whatever is passed over is done with.
            now = done | 1 << place if self._any else (2 << place) - 1
            for form, fits in self._forms(place):
                yield form, now, fits
            if required and not self._any:
                return
        everything = (1 << len(self._layout.members)) - 1
        for form, fits in self._forms(None):
            yield form, done if self._any else everything, fits

    def _forms(self, place: int | None) -> list[tuple[Form, int]]:
        """Return the forms of a named member, or of the others, and which of ``present`` fit."""
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
        if place is None:
            return self._layout.unnamed(self._chosen(fits))
        if not fits:
            return self._layout.members[place][0]
        name = self._layout.names[place]
        chosen = self._chosen(fits)
        if not all(keys.holds(name) for keys, _ in chosen):
            return None
        value = both([self._part.lookup(name), *(value for _, value in chosen)])
        return self._layout.member(name, value)
