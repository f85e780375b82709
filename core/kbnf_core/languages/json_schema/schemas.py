"""From expressions to normal forms: schemas are read lazily, keyword by keyword."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from decimal import Decimal

from kbnf_core.automata.errors import LimitError
from kbnf_core.budget import Budget
from kbnf_core.languages.json_schema import normal_form
from kbnf_core.languages.json_schema.arrays import Arrays
from kbnf_core.languages.json_schema.atoms import INTEGER, OneOf
from kbnf_core.languages.json_schema.document import Document
from kbnf_core.languages.json_schema.emptiness import is_part_void
from kbnf_core.languages.json_schema.expressions import (
    ANYTHING,
    NOTHING,
    AllOf,
    AnyOf,
    Expression,
    Not,
    Others,
    OthersBehind,
    Ref,
    WithoutProperty,
    both,
)
from kbnf_core.languages.json_schema.normal_form import (
    ANY_SHAPE,
    FULL,
    NormalForm,
    Plain,
    Type,
    shape_of,
)
from kbnf_core.languages.json_schema.objects import KEYS, Objects
from kbnf_core.languages.json_schema.options import Options
from kbnf_core.languages.json_schema.problems import (
    UNSATISFIABLE,
    Problem,
    ProblemError,
    too_large,
    unsupported,
)
from kbnf_core.languages.json_schema.read_schema import Reader
from kbnf_core.languages.json_schema.type_keywords import read_others
from kbnf_core.languages.json_schema.value_sets import STEPS, Kind, Restricted, restrict
from kbnf_core.languages.json_schema.values import Constant, constant


def constant_shape(constant_: Constant) -> NormalForm:
    """Return the shape that holds just this value."""
    value = constant_.value
    match value:
        case None:
            return shape_of(Type.NULL, Plain((None,), (None,)))
        case bool():
            return shape_of(Type.BOOLEAN, Plain((value,), (True, False)))
        case Decimal():
            return shape_of(Type.NUMBER, Restricted(Kind.NUMBER, ((OneOf((value,)), True),)))
        case str():
            return shape_of(Type.STRING, Restricted(Kind.STRING, ((OneOf((value,)), True),)))
        case list():
            items = tuple(map(constant, value))
            return shape_of(Type.ARRAY, Arrays(items, NOTHING, len(items), len(items)))
        case _:
            named = tuple((name, constant(item)) for name, item in value.items())
            found = Objects(named, ((KEYS, NOTHING),), tuple(value))
            return shape_of(Type.OBJECT, found)


_TYPES: Mapping[str, NormalForm] = {
    **{type_.value: shape_of(type_, part) for type_, part in FULL.items()},
    "integer": shape_of(Type.NUMBER, restrict(Kind.NUMBER, [(INTEGER, True)])),
}
"""The shapes of schemas that name a type and nothing else."""

FEW_PARTS = 4
"""Parts of a type that are kept without asking whether they have a value."""

PRUNING_DEPTH = 2
"""Values inside values that are looked at when parts are left out."""


@dataclass(slots=True)
class _Reading:
    """A schema as it was read: its own restrictions, and the expressions of its applicators.

    ``parts`` holds them in the order in which their keywords stand.
    """

    parts: list["NormalForm | Expression"] = field(default_factory=list)


class Schemas:
    """The schemas of a document and their shapes; ``losses`` are keywords that were dropped.

    ``budget`` counts the work of the whole conversion; its part is the JSON Pointer of what is
    being read. ``notes`` are keywords that say nothing about values, though it may seem so.
    ``voids`` tells whether an expression is void where that is certain, ``guesses`` how often it
    was not (``emptiness``).
    """

    def __init__(self, document: Document, options: Options) -> None:
        self.document = document
        self.losses: list[Problem] = []
        self.notes: list[Problem] = []
        self.options = options
        self.limits = options.limits
        self.budget = Budget(options.limits.work)
        self._readings: dict[Ref, _Reading] = {}
        self._shapes: dict[Expression, NormalForm] = {}
        self._open: dict[Expression, None] = {}
        self.voids: dict[Expression, bool] = {}
        self.guesses = 0

    @contextmanager
    def working_at(self, pointer: str) -> Iterator[None]:
        """Name what is being worked at; an error leaves the name as it is."""
        before, self.budget.part = self.budget.part, pointer
        yield
        self.budget.part = before

    def alias(self, at: Ref) -> Expression | None:
        """Return the expression that a schema merely stands for; None if it has more to say."""
        parts = self._read(at).parts
        if any(isinstance(part, Mapping) for part in parts):
            return None
        return both([part for part in parts if not isinstance(part, Mapping)])

    def shape(self, expression: Expression) -> NormalForm:
        """Return the normal form of an expression. Raises ProblemError."""
        known = self._shapes.get(expression)
        if known is None:
            known = self._shapes[expression] = self._find(expression)
        return known

    def _find(self, expression: Expression) -> NormalForm:
        if expression in self._open:
            pointer = next((e.pointer for e in self._open if isinstance(e, Ref)), "")
            message = "a schema refers to itself without a value in between"
            raise ProblemError(Problem(UNSATISFIABLE, message, pointer))
        if len(self._open) >= self.limits.applied:
            raise too_large("schemas applied to one value", self.limits.applied, "applied")
        self._open[expression] = None
        self.budget.spend(STEPS * (1 + len(getattr(expression, "parts", ()))))
        try:
            before = self.budget.part
            self.budget.part = _pointer_of(expression) or before
            found = self._work_out(expression)
            # An error leaves the name as it is.
            self.budget.part = before
            return found
        except LimitError as error:
            raise unsupported(f"an automaton needs {error}", _pointer_of(expression)) from None
        finally:
            del self._open[expression]

    def _work_out(self, expression: Expression) -> NormalForm:
        most = self.limits.alternatives
        match expression:
            case Ref():
                parts = self._read(expression).parts
                return self.meet([p if isinstance(p, Mapping) else self.shape(p) for p in parts])
            case AllOf(members):
                return self._all_of(members)
            case AnyOf(members):
                return normal_form.union(self.shape(part) for part in members)
            case Not(part):
                return normal_form.complement(self.shape(part), most, self.budget)
            case WithoutProperty(name):
                return {**ANY_SHAPE, Type.OBJECT: (Objects(((name, NOTHING),)),)}
            case Others(names, patterns, value):
                others = read_others(names, patterns, value, self.limits, self.budget)
                return {**ANY_SHAPE, Type.OBJECT: (others,)}
            case OthersBehind(count, value):
                items = Arrays((ANYTHING,) * count, value)
                closed = replace(items, high=count) if value == NOTHING else items
                return {**ANY_SHAPE, Type.ARRAY: (closed,)}
            case Constant():
                return constant_shape(expression)

    def _all_of(self, members: tuple[Expression, ...]) -> NormalForm:
        """Return what all members hold.

        Of many, what the first ones hold is remembered: where conditions come one by one, all of
        them would else be met for each.
        """
        shapes = [self.shape(part) for part in members]
        if len(members) <= FEW_PARTS:
            return self.meet(shapes)
        lengths = range(len(members) - 1, 0, -1)
        count = next((n for n in lengths if AllOf(members[:n]) in self._shapes), 0)
        whole = self._shapes[AllOf(members[:count])] if count else ANY_SHAPE
        for number, shape in enumerate(shapes[count:], count + 1):
            whole = self._shapes[AllOf(members[:number])] = self.meet([whole, shape])
        return whole

    def meet(self, parts: list[NormalForm]) -> NormalForm:
        """Return what all the shapes hold."""
        if len(parts) == 1 and len(parts[0]) == 1:
            self.budget.spend(STEPS * (len(ANY_SHAPE) + 1))
            return self._without_void(parts[0])
        whole = ANY_SHAPE
        for part in parts:
            self.budget.spend(STEPS * (len(whole) + len(part)))
            common = normal_form.meet(whole, part, self.limits.alternatives, self.budget)
            whole = self._without_void(common)
        return whole

    def _without_void(self, shape: NormalForm) -> NormalForm:
        """Drop empty parts, where there are enough of them that the check pays."""
        if all(len(parts) <= FEW_PARTS for parts in shape.values()):
            return shape
        kept = {
            type_: tuple(part for part in parts if not is_part_void(self, part, PRUNING_DEPTH))
            for type_, parts in shape.items()
        }
        return {type_: parts for type_, parts in kept.items() if parts}

    def _read(self, at: Ref) -> _Reading:
        known = self._readings.get(at)
        if known is None:
            place = self.document.place(at)
            alone = _TYPES.get(place.type_alone or "")
            parts: list[NormalForm | Expression] = []
            if alone is None:
                parts += Reader(self, place, self.options).read()
            else:
                parts.append(alone)
            known = self._readings[at] = _Reading(parts)
        return known


def _pointer_of(expression: Expression) -> str:
    return expression.pointer if isinstance(expression, Ref) else ""
