"""Writes expressions as rules: one for each definition, object, array and long text.

An expression gets a name where it is first met, and its rule when its turn in a queue comes: so
schemas may refer to themselves. Short values are written where they are.

*Places.* What is refused or left out is reported of the schema that is being written then.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from typing import NoReturn, cast

from kbnf_core import ir
from kbnf_core.ir import Node, calls
from kbnf_core.ir.build import alternation, call, sequence, text
from kbnf_core.languages.json_schema.document import Place
from kbnf_core.languages.json_schema.expressions import (
    ANYTHING,
    AnyOf,
    Expression,
    Ref,
)
from kbnf_core.languages.json_schema.names import Names, is_definition, last_step
from kbnf_core.languages.json_schema.normal_form import (
    ANY_SHAPE,
    FULL,
    Arrays,
    NormalForm,
    Objects,
    Part,
    Plain,
    Type,
)
from kbnf_core.languages.json_schema.options import Order
from kbnf_core.languages.json_schema.prelude import NAMES, Prelude, spell_text
from kbnf_core.languages.json_schema.problems import (
    UNSUPPORTED,
    Problem,
    ProblemError,
    may_repeat,
    narrowed,
    refers_to_itself,
    too_large,
    too_many_kinds,
    unsatisfiable,
    unsupported,
)
from kbnf_core.languages.json_schema.schemas import Reader, Schemas, is_unsatisfiable
from kbnf_core.languages.json_schema.simple_schemas import SimpleSchemas
from kbnf_core.languages.json_schema.value_sets import (
    MANY_COUNTED,
    STEPS,
    Kind,
    OneOf,
    Restricted,
    counted_together,
)
from kbnf_core.languages.json_schema.write_counts import Rules
from kbnf_core.languages.json_schema.write_nested import write_array, write_object
from kbnf_core.languages.json_schema.write_scalars import ScalarWriter
from kbnf_core.text.collecting import weakly
from kbnf_core.text.errors import LimitError
from kbnf_core.text.json_text import Json
from kbnf_core.text.locks import cached_property
from kbnf_core.text.source import NOWHERE

_SPELLED = {None: "null", True: "true", False: "false"}
_NESTED = frozenset({Arrays, Objects})
_OF_TYPES = frozenset({"object", "array", "string", "number", "integer", "boolean"})
_SHARED = {Type.OBJECT: "object", Type.ARRAY: "array"}


class _NeedsPlaceError(Exception):
    """A rule needs a name of its own in the grammar, or something is to be said of a place."""


def _refuse_name(said: object) -> NoReturn:
    raise _NeedsPlaceError(said)


class Writer:
    """Writes the rules that the schemas of one document need.

    One that ``remembers`` has simple schemas written apart (``simple_schemas``), which are known
    from one document to the next.
    """

    _is_run = True
    """Whether the rules are to be run, not read."""

    def __init__(
        self,
        schemas: Schemas,
        prefix: str = "",
        *,
        start: str = "start",
        remembers: bool = False,
    ) -> None:
        self.schemas = schemas
        self.options = options = schemas.options
        self.limits = options.limits
        has_whole_fractions = schemas.document.has_whole_fractions
        self.prelude = Prelude(options, prefix, has_whole_fractions=has_whole_fractions)
        self._names = Names(prefix, NAMES | {start})
        self._start = prefix + start
        self._prefix = prefix
        self.bodies: dict[str, Node] = {}
        self.rules = Rules(self._names.fresh, weakly(self._add), self.schemas.budget)
        rules = Rules(self._names.fresh, weakly(self._add_text), self.schemas.budget)
        self.scalars = ScalarWriter(
            self.prelude,
            rules,
            options.limits,
            weakly(self.note),
            prefix=prefix,
            apart=self._is_run,
        )
        self._remembers = remembers
        # Calls of the rules of parts; equal alternatives are one.
        self._parts_called: dict[str, Node] = {}
        # Whose schemas the rules are that have none of their own.
        self._owners: dict[str, Expression] = {}
        self._known: dict[Expression, str] = {}
        self._queue: list[Expression] = []
        self._objects: dict[Objects, Node | None] = {}
        self._current: Expression = ANYTHING
        self._placed_last: Ref | None = None
        # Schemas that merely stand for what is being written in their place.
        self._passed: set[Expression] = set()
        self._shared: set[str] = set()

    def rules_for(self, root: Expression) -> Mapping[str, Node]:
        """Return the rules for ``root``, its own first, called like the start.

        Raises ProblemError and WorkLimitError.
        """
        self.write_all(root)
        return self.all_rules()

    def all_rules(self) -> dict[str, Node]:
        """Return the rules that were written or used."""
        return {**self.bodies, **self.prelude.bodies()}

    def pointers_of(self, names: Iterable[str], rules: Mapping[str, Node]) -> dict[str, str]:
        """Return the JSON Pointers of rules: of the schema of each, or of the first that calls it.

        ``rules`` are the meanings of all.
        """
        owners = {**self._owners, **{rule: each for each, rule in self._known.items()}}
        callers: dict[str, str] = {}
        for rule, body in rules.items():
            for each in calls(body):
                callers.setdefault(each.nonterminal, rule)
        found: dict[str, str] = {}
        for name in names:
            at, way = name, {name: None}
            while at not in owners and at not in found and callers.get(at, at) not in way:
                at = callers[at]
                way[at] = None
            known = found[at] if at in found else self._pointer_in(owners.get(at, ANYTHING))
            found.update(dict.fromkeys(way, known))
        return found

    def write_all(self, root: Expression) -> str:
        """Make the rules for ``root``; return the name of the first. Raises ProblemError."""
        start = self._start
        self._known[root] = start
        self.bodies[start] = call(start)
        self._queue.append(root)
        for expression in self._queue:
            with self.placing(expression):
                self.schemas.budget.part = self.pointer()
                self.bodies[self._known[expression]] = self._body(expression)
            self._check_count()
        return start

    @contextmanager
    def placing(self, expression: Expression) -> Iterator[None]:
        """Name the schema that is written in what is raised meanwhile."""
        self._current = expression
        self._placed_last = expression if isinstance(expression, Ref) else None
        try:
            yield
        except LimitError as error:
            raise unsupported(f"an automaton needs {error}", self.pointer()) from None
        except ProblemError as error:
            raise ProblemError(self._placed(error.problem)) from None

    def body(self, name: str) -> Node:
        """Return a rule, also one of the prelude, as somebody reads it."""
        return self.bodies.get(name) or self.prelude.rules[name.removeprefix(self._prefix)]

    def owner(self, name: str) -> Expression:
        """Return the schema that a rule was written for."""
        return self._owners.get(name, ANYTHING)

    def _check_count(self) -> None:
        if len(self.bodies) > self.limits.rules:
            raise too_large("rules", self.limits.rules, "rules", self.pointer())

    def _placed(self, problem: Problem) -> Problem:
        return problem._replace(pointer=problem.pointer or self.pointer())

    def pointer(self, keyword: str = "") -> str:
        """Return the JSON Pointer of the schema being written, or of a keyword of it."""
        return self._pointer_in(self._current, keyword)

    def _pointer_in(self, expression: Expression, keyword: str = "") -> str:
        inner = [expression, *getattr(expression, "parts", ())]
        places = [self.schemas.document.place(e) for e in inner if isinstance(e, Ref)]
        for place in places:
            if keyword and keyword in place.contents:
                return f"{place.pointer}/{keyword}"
        return places[0].pointer if places else ""

    def left_out(self, message: str, keyword: str = "maxLength") -> None:
        """Note that values are left out which the schema allows."""
        self.note(narrowed(message, keyword))

    def note(self, problem: Problem) -> None:
        """Note what is reported of a keyword, its pointer, of the value being written."""
        placed = problem._replace(pointer=self.inner_pointer(problem.pointer))
        self.schemas.notes.append(placed)

    def inner_pointer(self, keyword: str = "") -> str:
        """Return the JSON Pointer of the value being written, or of a keyword of its schema."""
        if self._placed_last is None:
            return self.pointer(keyword)
        place = self.schemas.document.place(self._placed_last)
        return place.pointer + (f"/{keyword}" if keyword and keyword in place.contents else "")

    def may_repeat(self) -> None:
        """Note that names of members may repeat where they should not."""
        self.schemas.notes.append(may_repeat(self.pointer("minProperties")))

    def _add(self, name: str, form: Node) -> None:
        self.bodies[name] = form
        self._owners[name] = self._current
        self._check_count()

    def _add_text(self, name: str, form: Node) -> None:
        self.bodies[name] = form
        self._owners.setdefault(name, self._placed_last or self._current)
        self._check_count()

    def member(self, name: str, value: Expression) -> Node | None:
        """Return a named member; None if it cannot be."""
        form = self.place(value, name)
        return None if form is None else sequence(text(spell_text(name)), self.prelude.colon, form)

    def place(self, expression: Expression, hint: str) -> Node | None:
        """Return how a value is written where it is in another; None if there is none."""
        if not isinstance(expression, Ref) and expression == ANYTHING:
            return self.prelude.use("value")
        known = self._known.get(expression)
        form = self._simply(expression) if known is None else call(known)
        if form is not None:
            return form
        self.schemas.budget.spend(STEPS)
        if isinstance(expression, AnyOf):
            return self._either(expression.parts, hint)
        if isinstance(expression, Ref) and not is_definition(expression.pointer):
            name = self.schemas.document.place(expression).type_alone
            if name in _OF_TYPES:
                return self.prelude.use(name)
        if is_unsatisfiable(self.schemas, expression):
            return None
        if isinstance(expression, Ref):
            self._placed_last = expression
            if is_definition(expression.pointer):
                return self._rule(expression, last_step(expression.pointer))
            alias = self.schemas.alias(expression)
            if alias is not None:
                return self._through(expression, alias, hint)
        shape = self._shape(expression)
        simple = all(
            type(part) not in _NESTED or part == FULL[type_]
            for type_, parts in shape.items()
            for part in parts
        )
        return self._parts(shape, hint) if simple else self._rule(expression, hint)

    def _through(self, at: Ref, alias: Expression, hint: str) -> Node | None:
        """Return how what a schema merely stands for is written in its place."""
        if at in self._passed:
            raise refers_to_itself(at.pointer)
        if len(self._passed) >= self.limits.applied:
            what, most = "schemas applied to one value", self.limits.applied
            raise too_large(what, most, "applied", at.pointer)
        self._passed.add(at)
        try:
            return self.place(alias, hint)
        finally:
            self._passed.remove(at)

    def _either(self, parts: Iterable[Expression], hint: str) -> Node | None:
        written = (self.place(part, self._hint(part, hint)) for part in parts)
        forms = [form for form in written if form is not None]
        return alternation(dict.fromkeys(forms)) if forms else None

    def _hint(self, expression: Expression, hint: str) -> str:
        """Return the name hint of an alternative; ``expression`` is for writers that read it."""
        del expression
        return hint

    @cached_property
    def _simple(self) -> SimpleSchemas | None:
        """Who writes simple schemas; None where other words count in them, or another order.

        None for people, too, who read the names of properties in those of rules.
        """
        document = self.schemas.document
        is_ordered = self.options.order is Order.DECLARED
        if not self._remembers or not is_ordered or document.dialect == "draft-03":
            return None
        return SimpleSchemas(
            self.prelude, self.options, self._settings, self.schemas.budget, document,
            weakly(self._scalar_part), weakly(self.use),
        )  # fmt: skip

    def _scalar_part(self, name: str, contents: dict[str, Json]) -> ir.Part | None:
        """Return the rules of strings or numbers; None where something is to be said of them.

        Errors and notes need the place in the schema, which the other way knows.
        """
        schemas = self.schemas
        before, notes, losses = schemas.budget.spent, len(schemas.notes), len(schemas.losses)
        rules: dict[str, Node] = {}
        collected = Rules(_refuse_name, rules.__setitem__, schemas.budget)
        writer = ScalarWriter(self.prelude, collected, self.limits, _refuse_name, prefix=f"{name}_")
        try:
            if "enum" in contents:
                listed = OneOf(tuple(contents["enum"]))
                parts: list[Part] = [Restricted(Kind.NUMBER, ((listed, True),))]
            else:
                read = Reader(schemas, Place(contents, "", None), self.options).read()
                shapes = cast(Iterator[NormalForm], read)
                parts = [part for shape in shapes for part in chain(*shape.values())]
            form = writer.write(cast(Restricted, parts[0]), name) if len(parts) == 1 else None
            if form is None or schemas.notes[notes:] or schemas.losses[losses:]:
                return None
            if isinstance(form, ir.Call) and form.nonterminal in rules:
                form = rules.pop(form.nonterminal)
            # What it was made of is not to be kept.
            bodies = {
                each: ir.Regular(body.dfa, NOWHERE) if isinstance(body, ir.Regular) else body
                for each, body in {name: form, **rules}.items()
            }
        except (ProblemError, LimitError, _NeedsPlaceError):
            return None
        finally:
            del schemas.notes[notes:], schemas.losses[losses:]
        called = {each.nonterminal for body in bodies.values() for each in calls(body)}
        return ir.Part(name, bodies, tuple(sorted(called & NAMES)), schemas.budget.spent - before)

    def use(self, part: ir.Part) -> None:
        """Add the rules of a part."""
        if not self._shared.issuperset(part.shared):
            self._shared.update(part.shared)
            for name in part.shared:
                self.prelude.use(name)
        self.bodies.update(part.bodies)
        self._check_count()

    def _simply(self, expression: Expression) -> Node | None:
        """Return a call of the rule of a simple object; None for all else."""
        if not isinstance(expression, Ref) or self._simple is None:
            return None
        name = self._simple.rule(self.schemas.document.place(expression))
        if name is None:
            return None
        self._known.setdefault(expression, name)
        return self._parts_called.setdefault(name, call(name))

    @cached_property
    def _settings(self) -> str:
        return f"{self.prelude.said} {self.schemas.document.dialect} {self.prelude.whole_fraction}"

    def _rule(self, expression: Expression, hint: str) -> Node:
        name = self._known[expression] = self._names.fresh(hint)
        # The place in the text is that of the first call.
        self._add(name, call(name))
        self._queue.append(expression)
        return call(name)

    def _body(self, expression: Expression) -> Node:
        simple = self._simply(expression)
        if simple is not None:
            return simple
        name = self._known[expression]
        alias = self.schemas.alias(expression) if isinstance(expression, Ref) else None
        if alias is not None and isinstance(alias, Ref | AnyOf) and alias != expression:
            form = self.place(alias, name)
        else:
            form = self._parts(self._shape(expression), name)
        if form is None and expression != self._queue[0]:
            # Unproductive; the grammar's analysis removes it with all its callers.
            return call(name)
        if form is None and self.schemas.has_narrowed:
            raise too_many_kinds("value", self.limits.alternatives)
        if form is None:
            raise ProblemError(unsatisfiable(self.pointer()))
        return form

    def _shape(self, expression: Expression) -> NormalForm:
        """Return what is written of an expression; note where that is not all of it."""
        shape = self.schemas.some(expression)
        if self.schemas.is_narrowed(expression):
            most = self.limits.alternatives
            message = f"of more than {most} kinds of values in one place only some are written"
            self.schemas.notes.append(narrowed(message, self.pointer()))
        return shape

    def _parts(self, shape: NormalForm, hint: str) -> Node | None:
        """Return a shape as alternatives."""
        if shape == ANY_SHAPE:
            return self.prelude.use("value")
        hint = hint.removeprefix(self._prefix)
        forms = [
            form
            for type_, parts in shape.items()
            for part in self._to_write(type_, parts)
            if (form := self._part(type_, part, hint)) is not None
        ]
        return alternation(forms) if forms else None

    def _to_write(self, type_: Type, parts: Sequence[Part]) -> Sequence[Part]:
        """Return parts as they are written."""
        strings = [part for part in parts if isinstance(part, Restricted)]
        is_many = type_ is Type.STRING and len(strings) >= MANY_COUNTED
        return counted_together(strings, self.rules.budget) if is_many else parts

    def _part(self, type_: Type, part: Part, hint: str) -> Node | None:
        if part == FULL[type_] and type_ in _SHARED:
            return self.prelude.use(_SHARED[type_])
        match part:
            case Plain(values, everything):
                if len(values) == 2 and values == everything:
                    return self.prelude.use("boolean")
                return alternation(text(_SPELLED[value]) for value in values)
            case Restricted():
                return self._scalar(part, hint)
            case Arrays():
                return self._array(part, hint)
            case Objects():
                if part not in self._objects:
                    self._objects[part] = write_object(part, self, hint)
                return self._objects[part]

    def _scalar(self, part: Restricted, hint: str) -> Node | None:
        try:
            return self.scalars.write(part, hint)
        except ProblemError as error:
            pointer = error.problem.pointer or self.inner_pointer("enum")
            raise ProblemError(error.problem._replace(pointer=pointer)) from None

    def _array(self, part: Arrays, hint: str) -> Node | None:
        try:
            return write_array(part, self, hint)
        except ProblemError as error:
            if error.problem.code != UNSUPPORTED or error.problem.pointer:
                raise
            problem = error.problem._replace(
                pointer=self.pointer("uniqueItems"), can_be_dropped=True
            )
            if not (self.options.lossy or self.options.lenient):
                raise ProblemError(problem) from None
        self.schemas.losses.append(problem)
        return write_array(replace(part, unique=False), self, hint)

    def key(self, keys: Restricted, hint: str) -> Node | None:
        """Return the JSON texts of the names of members."""
        return self.scalars.write(keys, hint)
