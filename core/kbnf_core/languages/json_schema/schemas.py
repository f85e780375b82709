"""From schemas to expressions, and from expressions to normal forms, read lazily.

*Reading.* A schema object becomes what its keywords mean together; keywords that combine schemas
become expressions.

*Too many kinds.* Where the normal form of an expression has too many branches, only some of its
values are written (``Schemas.some``): alternatives are left out only where more of them allow more,
and a refused schema is refused as a whole.

*Emptiness* of expressions is decided conservatively: enough for ``oneOf`` and for pruning.

Tests: tests/unit/languages/json_schema/test_direct.py,
tests/unit/languages/json_schema/test_products.py
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import TypeAlias, TypeVar, cast

from kbnf_core.languages.json_schema import Formats, Options, Standard, algebra, type_keywords
from kbnf_core.languages.json_schema.algebra import (
    ANY_SHAPE,
    ANYTHING,
    FULL,
    NOTHING,
    AllOf,
    AnyOf,
    Arrays,
    Branch,
    Closing,
    Constant,
    Expression,
    NormalForm,
    Not,
    Objects,
    Others,
    OthersBehind,
    Plain,
    Ref,
    Signs,
    Type,
    WithoutProperty,
    both,
    checked,
    checked_array,
    constant,
    constant_shape,
    either,
    other,
    shape_of,
    sharers,
    signs_of,
)
from kbnf_core.languages.json_schema.document import SchemaDocument, Subschema
from kbnf_core.languages.json_schema.keywords import (
    APPLICATORS,
    ARRAYS,
    CONTENTS,
    LOCAL,
    MEMBERS,
    NUMBERS,
    OBJECTS,
    REFUSED_BY_LLGUIDANCE,
    STRINGS,
    UNEVALUATED,
    UNSUPPORTED,
    NarrowableError,
    Problem,
    ProblemError,
    Review,
    invalid,
    refers_to_itself,
    too_large,
    too_many_states,
    unsupported,
    without_effect,
)
from kbnf_core.languages.json_schema.type_keywords import (
    formats_of,
    pointer_to,
    read_closed,
    read_others,
    read_unevaluated,
    take_list,
    take_names,
)
from kbnf_core.languages.json_schema.value_sets import (
    INTEGER,
    STEPS,
    Kind,
    Literal,
    OneOf,
    Restricted,
    restrict,
)
from kbnf_core.text.budget import Budget
from kbnf_core.text.errors import LimitError
from kbnf_core.text.json_text import Json
from kbnf_core.text.locks import cached_property

_FORMS_OF_TYPES: Mapping[str, NormalForm] = {
    **{type_.value: shape_of(type_, branch) for type_, branch in FULL.items()},
    "integer": shape_of(Type.NUMBER, restrict(Kind.NUMBER, [(INTEGER, True)])),
}
"""The shapes of schemas that name a type and nothing else."""

_TYPES = tuple(type_.value for type_ in Type)
_NAMES = frozenset((*_TYPES, "integer"))

FEW_BRANCHES = 4
"""Branches of a type that are kept without asking whether they have a value."""

FEW_KINDS = 8
"""Kinds of objects or arrays that are kept of those that are too many."""

PRUNING_DEPTH = 2
"""Values inside values that are looked at when branches are left out."""


_LISTS = frozenset({"const", "enum"})
_SCALARS = (str, bool, Decimal, type(None))


@dataclass(slots=True)
class _Reading:
    """A schema as it was read: its own restrictions, and the expressions of its applicators.

    ``conditions`` contains them in the order of their keywords. Where a keyword was dropped,
    ``is_weak``, they allow more than the schema.
    """

    conditions: list["NormalForm | Expression"] = field(default_factory=list)
    is_weak: bool = False


_FirstOnes: TypeAlias = "dict[Expression, tuple[NormalForm, _FirstOnes]]"
"""By a first member: its values, and those that it shares with the next ones, by these."""


def schemas_of(schema: Json, options: Options, facts: Review | None = None) -> "Schemas":
    """Return the schemas of a document; ``facts`` are those of its review, if that was made."""
    return Schemas(SchemaDocument(schema, options, facts), options)


class Schemas:
    """The schemas of a document and their shapes; ``losses`` are keywords that were dropped.

    ``budget`` counts the work of the whole conversion; its subject is the current JSON Pointer.
    ``notes`` are keywords that do not restrict values, though it may seem so. ``unsatisfiable``
    says of expressions whether they are, where that is certain, ``guesses`` how often it was not.
    """

    def __init__(self, document: SchemaDocument, options: Options) -> None:
        self.document = document
        self.losses: list[Problem] = []
        self.notes: list[Problem] = []
        self.options = options
        self.limits = options.limits
        self.budget = Budget(options.limits.work)
        self._readings: dict[Ref, _Reading] = {}
        self._shapes: dict[Expression, NormalForm] = {}
        self._first_ones: _FirstOnes = {}
        self._too_large: dict[Expression, Problem] = {}
        self._narrowed: dict[Expression, NormalForm] = {}
        self._open: dict[Expression, None] = {}
        self._signs: dict[Expression, Signs | None] = {}
        self.unsatisfiable: dict[Expression, bool] = {}
        self.guesses = 0

    @contextmanager
    def working_at(self, pointer: str) -> Iterator[None]:
        """Name the current subject; an error leaves the name as it is."""
        before, self.budget.subject = self.budget.subject, pointer
        yield
        self.budget.subject = before

    def alias(self, at: Ref) -> Expression | None:
        """Return the expression that is all of a schema; None if the schema restricts more."""
        conditions = self._read(at).conditions
        if any(isinstance(condition, Mapping) for condition in conditions):
            return None
        return both([condition for condition in conditions if not isinstance(condition, Mapping)])

    def plain(self, at: Ref) -> NormalForm | None:
        """Return the normal form of a schema whose keywords need none but their own.

        None where it applies others to the same value, or both restricts and lists values. Whether
        it has a value is unknown.
        """
        conditions = self._read(at).conditions
        whole = conditions[0] if len(conditions) == 1 else None
        return whole if isinstance(whole, Mapping) else None

    def shape(self, expression: Expression) -> NormalForm:
        """Return the normal form of an expression. Raises ProblemError.

        That one is too large is remembered, too: each product that ends so was as large as allowed.
        """
        cached = self._shapes.get(expression)
        if cached is None:
            if expression in self._too_large:
                raise NarrowableError(self._too_large[expression])
            try:
                cached = self._shapes[expression] = self._find(expression)
            except NarrowableError as error:
                self._too_large[expression] = error.problem
                raise
        return cached

    def _find(self, expression: Expression) -> NormalForm:
        # Members are expressions that are read later. So only a schema that applies itself to the
        # same value comes back here, or a question about emptiness, which takes this error for
        # unknown.
        if expression in self._open:
            pointer = next((e.pointer for e in self._open if isinstance(e, Ref)), "")
            raise refers_to_itself(pointer)
        if len(self._open) >= self.limits.applied:
            raise too_large("schemas applied to one value", self.limits.applied, "applied")
        self._open[expression] = None
        self.budget.spend(STEPS * (1 + len(getattr(expression, "operands", ()))))
        try:
            before = self.budget.subject
            self.budget.subject = _pointer_of(expression) or before
            shape = self._work_out(expression)
            # An error leaves the name as it is.
            self.budget.subject = before
            return shape
        except LimitError as error:
            raise unsupported(f"an automaton needs {error}", _pointer_of(expression)) from None
        finally:
            del self._open[expression]

    def some(self, expression: Expression) -> NormalForm:
        """Return the normal form of an expression, or of some of its values if it is too large.

        Raises ProblemError.
        """
        cached = self._narrowed.get(expression)
        if cached is None:
            try:
                return self.shape(expression)
            except NarrowableError:
                self._open[expression] = None
            try:
                cached = self._narrowed[expression] = self._work_out(expression, is_narrow=True)
            finally:
                del self._open[expression]
        return cached

    def is_narrowed(self, expression: Expression) -> bool:
        """Return whether ``some`` has left values of an expression out."""
        return expression in self._narrowed

    @property
    def has_narrowed(self) -> bool:
        """Whether values were left out of any expression."""
        return bool(self._narrowed)

    def _work_out(self, expression: Expression, *, is_narrow: bool = False) -> NormalForm:
        """Return the values of an expression; some of them where ``is_narrow`` and it is large."""
        find = self.some if is_narrow else self.shape
        match expression:
            case Ref():
                conditions = self._read(expression).conditions
                forms = [p if isinstance(p, Mapping) else find(p) for p in conditions]
                return self.meet(forms, is_narrow=is_narrow)
            case AllOf(members):
                if is_narrow or len(members) <= 2:
                    return self.meet([find(operand) for operand in members], is_narrow=is_narrow)
                return self._all_of(members)
            case AnyOf(members):
                return algebra.union(find(operand) for operand in members)
            case Not(operand):
                return self._all_but(operand, is_narrow=is_narrow)
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

    def _all_but(self, operand: Expression, *, is_narrow: bool) -> NormalForm:
        if is_narrow and isinstance(operand, Ref) and not self._is_weak(operand):
            # All that the schema allows is too large: what each of its keywords refuses.
            return algebra.union(map(self._refused_by, self._read(operand).conditions))
        shape = self.shape(operand)
        # A schema without a dropped keyword allows more than its author meant, so its complement
        # would refuse what the author allowed.
        return ANY_SHAPE if self._is_weak(operand) else self._products().complement(shape)

    def _refused_by(self, condition: "NormalForm | Expression") -> NormalForm:
        if not isinstance(condition, Mapping):
            return self.some(other(condition))
        return self._products(is_narrow=True).complement(condition)

    def _all_of(self, members: tuple[Expression, ...]) -> NormalForm:
        """Return the values that all of more than two members allow.

        The intersection of the first ones of many is cached: if conditions are added one by one,
        each call would intersect them all again.
        """
        whole, more, count = ANY_SHAPE, self._first_ones, 0
        while count < len(members) and members[count] in more:
            whole, more = more[members[count]]
            count += 1
        shapes = [self.shape(member) for member in members[count:]]
        for member, shape in zip(members[count:], shapes, strict=True):
            whole = self.meet([whole, shape])
            more[member] = whole, {}
            more = more[member][1]
        return whole

    def meet(self, shapes: list[NormalForm], *, is_narrow: bool = False) -> NormalForm:
        """Return what all the shapes contain; some of it where ``is_narrow`` and it is large."""
        if len(shapes) == 1:
            self.budget.spend(STEPS * (len(ANY_SHAPE) + len(shapes[0])))
            return self._without_unsatisfiable(shapes[0])
        whole = ANY_SHAPE
        for shape in shapes:
            self.budget.spend(STEPS * (len(whole) + len(shape)))
            products = self._products(is_narrow=is_narrow)
            whole = self._without_unsatisfiable(products.meet(whole, shape))
        return whole

    def _products(self, *, is_narrow: bool = False) -> algebra.Products:
        """Return what makes products; kept here it would be a circle that lives on until a pass."""
        most = min(FEW_KINDS, self.limits.alternatives) if is_narrow else self.limits.alternatives
        return algebra.Products(most, self.budget, self.excludes, is_narrow=is_narrow)

    def excludes(self, one: Expression, two: Expression) -> bool:
        """Return of two schemas that only list their values whether none is common."""
        signs = self._listed_by(two)
        others = None if signs is None else self._listed_by(one)
        return signs is not None and others is not None and signs.isdisjoint(others)

    def _listed_by(self, expression: Expression) -> Signs | None:
        if not isinstance(expression, Ref | Constant):
            return None
        if expression not in self._signs:
            keywords = {"const"}
            if isinstance(expression, Ref):
                keywords = set(self.document.subschema(expression).contents)
            signs = None
            if keywords & _LISTS and not keywords & (APPLICATORS - _LISTS):
                try:
                    signs = signs_of(self.shape, self.shape(expression))
                except ProblemError:
                    # Its evaluation is in progress, or fails; the caller that needs it says so.
                    return None
            self._signs[expression] = signs
        return self._signs[expression]

    def _without_unsatisfiable(self, shape: NormalForm) -> NormalForm:
        """Drop empty branches, where there are enough of them that the check pays."""
        if all(len(branches) <= FEW_BRANCHES for branches in shape.values()):
            return shape
        kept = {
            type_: tuple(
                branch
                for branch in branches
                if not is_branch_unsatisfiable(self, branch, PRUNING_DEPTH)
            )
            for type_, branches in shape.items()
        }
        return {type_: branches for type_, branches in kept.items() if branches}

    def _read(self, at: Ref) -> _Reading:
        cached = self._readings.get(at)
        if cached is None:
            subschema = self.document.subschema(at)
            alone = _FORMS_OF_TYPES.get(subschema.type_alone or "")
            conditions: list[NormalForm | Expression] = []
            lost = len(self.losses)
            if alone is None:
                conditions += SchemaReader(self, subschema, self.options).read()
            else:
                conditions.append(alone)
            cached = self._readings[at] = _Reading(conditions, len(self.losses) > lost)
        return cached

    def _is_weak(self, expression: Expression) -> bool:
        """Return whether an expression of known shape allows more than its schemas do."""
        pending, seen = [expression], set[Expression]()
        while self.losses and pending:
            one = pending.pop()
            if one in seen:
                continue
            seen.add(one)
            match one:
                case Ref():
                    reading = self._read(one)
                    if reading.is_weak:
                        return True
                    pending += (
                        operand
                        for operand in reading.conditions
                        if not isinstance(operand, Mapping)
                    )
                case AllOf(operands) | AnyOf(operands):
                    pending += operands
                case Not(operand):
                    pending.append(operand)
        return False


def _pointer_of(expression: Expression) -> str:
    return expression.pointer if isinstance(expression, Ref) else ""


DEPTH = 6
"""Values inside values that are looked at; below, everything is thought to be possible."""


def is_unsatisfiable(schemas: "Schemas", expression: Expression, depth: int = DEPTH) -> bool:
    """Return True if provably unsatisfiable; False means unknown."""
    if not isinstance(expression, Ref) and expression == NOTHING:
        return True
    cached = schemas.unsatisfiable.get(expression)
    if cached is not None:
        return cached
    if depth == 0:
        schemas.guesses += 1
        return False
    schemas.budget.spend(STEPS)
    before = schemas.guesses
    try:
        shape = schemas.shape(expression)
    except ProblemError:
        # Its evaluation is in progress, or fails; the caller that needs it reports that.
        schemas.guesses += 1
        return False
    answer = is_shape_unsatisfiable(schemas, shape, depth)
    # Only certain answers are kept: a guess depends on the depth that was left for it.
    if schemas.guesses == before:
        schemas.unsatisfiable[expression] = answer
    return answer


def is_shape_unsatisfiable(schemas: "Schemas", shape: NormalForm, depth: int = DEPTH) -> bool:
    """Return True if a shape provably has no value; False means unknown."""
    return all(
        is_branch_unsatisfiable(schemas, branch, depth)
        for branches in shape.values()
        for branch in branches
    )


def is_branch_unsatisfiable(schemas: "Schemas", branch: Branch, depth: int = DEPTH) -> bool:
    """Return whether one branch of a shape has no value."""
    match branch:
        case Restricted(literals=literals):
            return len(literals) > 1 and branch.is_empty(schemas.budget)
        case Objects():
            return _is_object_unsatisfiable(schemas, branch, depth - 1)
        case Arrays():
            return _is_array_unsatisfiable(schemas, branch, depth - 1)
        case _:
            return False


def _is_object_unsatisfiable(schemas: "Schemas", objects: Objects, depth: int) -> bool:
    if objects.low and all(value == NOTHING for _, value in objects.regions):
        possible = sum(not is_unsatisfiable(schemas, value, depth) for _, value in objects.named)
        if possible < objects.low:
            return True
    return any(
        is_unsatisfiable(schemas, objects.lookup(name), depth) for name in objects.required
    ) or any(
        (not keys.finite and is_branch_unsatisfiable(schemas, keys))
        or all(
            is_unsatisfiable(schemas, both((member, value)), depth)
            for member in _members_of(schemas, objects, keys)
        )
        for keys, value in objects.present
    )


def _members_of(schemas: "Schemas", objects: Objects, keys: Restricted) -> list[Expression]:
    """Return the expressions of members whose names may be in ``keys``."""
    budget = schemas.budget
    budget.spend(STEPS * len(objects.named))
    named = [value for name, value in objects.named if keys.holds(name)]
    return named + [
        value for names, value in objects.regions if names.meet(keys, budget) is not None
    ]


def _is_array_unsatisfiable(schemas: "Schemas", arrays: Arrays, depth: int) -> bool:
    # Items after the prefix are all alike: the first one stands for them.
    indices = range(min(arrays.low, len(arrays.prefix) + 1))
    if any(is_unsatisfiable(schemas, arrays.item(index), depth) for index in indices):
        return True
    needed = [contained.item for contained in arrays.contains if contained.low]
    return any(
        all(
            is_unsatisfiable(schemas, both((item_value, item)), depth)
            for item_value in (*arrays.prefix, arrays.rest)
        )
        for item in needed
    )


def read_applicator(
    schemas: "Schemas", subschema: Subschema, keyword: str, siblings: Callable[[], NormalForm]
) -> Expression:
    """Return what one keyword of APPLICATORS means.

    ``siblings`` returns the values that the keywords beside it allow: alternatives that differ only
    outside of these are as good as disjoint.
    """
    document = schemas.document
    match keyword:
        case "$ref":
            return document.follow(subschema, keyword)
        case "$dynamicRef" | "$recursiveRef":
            return document.follow_dynamic(subschema, keyword)
        case "allOf":
            operands = _subschemas_of(subschema, document, keyword)
            return both(_beside(schemas, operand, siblings) for operand in operands)
        case "anyOf":
            return either(_subschemas_of(subschema, document, keyword))
        case "oneOf":
            operands = _subschemas_of(subschema, document, keyword)
            coerced = schemas.options.coerce_one_of
            return either(operands) if coerced else exactly_one(schemas, operands, siblings())
        case "not":
            return other(document.inside(subschema, keyword))
        case "if":
            return _conditional(subschema, document)
        case "const":
            return constant(subschema.contents[keyword])
        case "enum":
            return either(_listed_values(subschema, schemas.limits.states))
        case _:
            return type_keywords.read_dependencies(subschema, document, keyword)


def _beside(
    schemas: "Schemas", operand: Expression, siblings: Callable[[], NormalForm]
) -> Expression:
    """Return a schema of ``allOf``; keywords beside it distinguish its only alternatives.

    They are often told apart by a member that is required there alone.
    """
    subschema = schemas.document.subschema(operand) if isinstance(operand, Ref) else None
    if subschema is None or subschema.contents.keys() & _SAYING != {"oneOf"}:
        return operand
    (alternatives,) = SchemaReader(schemas, subschema, schemas.options, siblings).read()
    return cast(Expression, alternatives)


def _listed_values(subschema: Subschema, most: int) -> Iterator[Expression]:
    values = take_list(subschema, "enum")
    if sum(len(str(value)) for value in values if isinstance(value, Decimal)) > most:
        raise too_many_states(most, pointer_to(subschema, "enum"))
    return map(constant, values)


def _subschemas_of(
    subschema: Subschema, document: SchemaDocument, keyword: str
) -> list[Expression]:
    count = len(take_list(subschema, keyword))
    if not count:
        raise invalid(f"`{keyword}` contains at least one schema", pointer_to(subschema, keyword))
    return [document.inside(subschema, keyword, str(i)) for i in range(count)]


def exactly_one(
    schemas: "Schemas", alternatives: list[Expression], siblings: NormalForm = ANY_SHAPE
) -> Expression:
    """Return what one alternative allows and all others refuse; disjoint ones stay as they are."""
    named = [name for alternative in alternatives for name in _named_types(schemas, alternative)]
    # The types alone often differ: no alternative needs a normal form then.
    if len(named) == len(set(named)):
        return either(alternatives)
    # What others refuse is what they refuse as they are written, however closed.
    written = [schemas.document.as_written(alternative) for alternative in alternatives]
    shapes = [_shape_if_small(schemas, siblings, alternative) for alternative in written]
    overlaps: list[list[Expression]] = [[] for _ in alternatives]
    for i, later in enumerate(sharers(schemas.shape, shapes)):
        for j in later:
            # Only alternatives that may share values refuse each other: refusing all the others
            # would make a product of all.
            if _may_share(schemas, shapes[i], shapes[j]):
                overlaps[i].append(other(written[j]))
                overlaps[j].append(other(written[i]))
        most = schemas.limits.overlaps
        if len(overlaps[i]) > most:
            raise too_large("schemas of `oneOf` that share values with one", most, "overlaps")
    return either(
        both((alternative, *others))
        for alternative, others in zip(alternatives, overlaps, strict=True)
    )


def _named_types(schemas: "Schemas", alternative: Expression) -> Collection[str]:
    """Return the types that a schema names, integers being numbers; all where it names none."""
    contents = (
        schemas.document.subschema(alternative).contents if isinstance(alternative, Ref) else {}
    )
    value = contents.get("type")
    names = value if isinstance(value, list) else [value]
    types = [name for name in names if isinstance(name, str) and name in _NAMES]
    if len(types) < len(names):
        return _TYPES
    return {"number" if name == "integer" else name for name in types}


def _shape_if_small(
    schemas: "Schemas", siblings: NormalForm, alternative: Expression
) -> NormalForm | None:
    """Return the shape of an alternative beside its siblings; None where it is too large."""
    try:
        return schemas.meet([siblings, schemas.shape(alternative)])
    except NarrowableError:
        return None


def _may_share(schemas: "Schemas", one: NormalForm | None, two: NormalForm | None) -> bool:
    """Return whether two alternatives may have a value in common."""
    if one is None or two is None:
        return True
    try:
        return not is_shape_unsatisfiable(schemas, schemas.meet([one, two]))
    except NarrowableError:
        return True


def _conditional(subschema: Subschema, document: SchemaDocument) -> Expression:
    condition = document.inside(subschema, "if")
    then, otherwise = (
        document.inside(subschema, word) if word in subschema.contents else ANYTHING
        for word in ("then", "else")
    )
    # The condition makes no difference, and its complement may be large.
    if then == otherwise:
        return then
    return either((both((condition, then)), both((other(condition), otherwise))))


_SAYING = LOCAL | APPLICATORS | CONTENTS | frozenset(UNEVALUATED)
"""Keywords that have a meaning, or of which something is reported."""


R = TypeVar("R")


class SchemaReader:
    """Reads one schema object."""

    def __init__(
        self,
        schemas: "Schemas",
        subschema: Subschema,
        options: Options,
        around: Callable[[], NormalForm] = lambda: ANY_SHAPE,
    ) -> None:
        self._schemas = schemas
        self._subschema = subschema
        self._options = options
        self._around = around
        if options.lenient and options.standard is Standard.LLGUIDANCE:
            self._drop_refused_by_llguidance()
        old = schemas.document.refused(subschema.contents)
        if old is not None:
            hint = "name draft 4 or later as `$schema`, and say it with the keywords of that"
            message = f"`{old}` of draft 3 is not read"
            raise unsupported(message, pointer_to(subschema, old), hint)
        for keyword in CONTENTS & subschema.contents.keys():
            message = f"nothing enforces `{keyword}`"
            schemas.notes.append(without_effect(message, pointer_to(subschema, keyword)))

    def _drop_refused_by_llguidance(self) -> None:
        subschema = self._subschema
        kept = dict(subschema.contents)
        for keyword in REFUSED_BY_LLGUIDANCE & subschema.contents.keys():
            error = unsupported(f"LLGuidance ignores `{keyword}`", pointer_to(subschema, keyword))
            self._schemas.losses.append(error.problem)
            del kept[keyword]
        self._subschema = subschema._replace(contents=kept)

    def read(self) -> Iterator[NormalForm | Expression]:
        """Yield what the keywords mean, in their order; those of one type together."""
        contents = self._subschema.contents
        # Members come in the order of the keywords that name them.
        first = next((keyword for keyword in contents if keyword in MEMBERS), None)
        first = first or next((keyword for keyword in contents if keyword in LOCAL), None)
        for keyword in contents:
            if keyword in _LISTS and (listed := self._listed(keyword)) is not None:
                yield listed
            elif keyword in APPLICATORS:
                yield self._applied(keyword)
            elif keyword == first:
                shape = self._local()
                if shape != ANY_SHAPE:
                    yield shape
        if self._subschema.closing is Closing.WHOLE and not self._subschema.is_closed_within:
            yield read_closed(self._schemas.document, self._options.limits, self._subschema)
        # What they leave is known when everything else was read; it says nothing of an order.
        for keyword in UNEVALUATED:
            if keyword in contents:
                yield self._unevaluated(keyword)

    def _listed(self, keyword: str) -> NormalForm | None:
        """Return the values of ``enum`` or ``const``; None where some of them contain others."""
        subschema = self._subschema
        values = (
            take_list(subschema, keyword) if keyword == "enum" else [subschema.contents[keyword]]
        )
        # Numbers of meta-schemas are Python's own.
        if not values or not all(isinstance(value, _SCALARS) for value in values):
            return None
        texts = dict.fromkeys(value for value in values if isinstance(value, str))
        numbers = [value for value in values if isinstance(value, Decimal)]
        flags = dict.fromkeys(value for value in values if isinstance(value, bool))
        if sum(len(str(value)) for value in numbers) > self._schemas.limits.states:
            raise too_many_states(self._schemas.limits.states, pointer_to(subschema, keyword))
        shape: dict[Type, tuple[Branch, ...]] = {}
        if None in values:
            shape[Type.NULL] = (FULL[Type.NULL],)
        if flags:
            shape[Type.BOOLEAN] = (Plain(tuple(flags), (True, False)),)
        if numbers:
            shape[Type.NUMBER] = (Restricted(Kind.NUMBER, ((OneOf(tuple(numbers)), True),)),)
        if texts:
            shape[Type.STRING] = (Restricted(Kind.STRING, ((OneOf(tuple(texts)), True),)),)
        return shape

    def _unevaluated(self, keyword: str) -> Expression:
        if keyword not in self._schemas.document.keywords_for_the_rest:
            return ANYTHING
        dropped: Expression = ANYTHING
        return self._try(
            keyword,
            lambda: read_unevaluated(
                self._schemas.document, self._options.limits, self._subschema, keyword
            ),
            dropped,
        )

    def _applied(self, keyword: str) -> Expression:
        dropped: Expression = ANYTHING
        with self._schemas.working_at(pointer_to(self._subschema, keyword)):
            return self._try(
                keyword,
                lambda: read_applicator(self._schemas, self._subschema, keyword, self._siblings),
                dropped,
            )

    def _try(self, keyword: str, read: Callable[[], R], dropped: R) -> R:
        """Return what ``read`` returns; where it is unsupported, report it and maybe go on."""
        try:
            return read()
        except ProblemError as error:
            problem = error.problem
            if problem.code != UNSUPPORTED:
                raise
            pointer = problem.pointer or pointer_to(self._subschema, keyword)
            placed = problem._replace(pointer=pointer, can_be_dropped=True)
            if not (self._options.lossy or self._options.lenient):
                raise ProblemError(placed) from None
            self._schemas.losses.append(placed)
            return dropped

    def _siblings(self) -> NormalForm:
        """Return the values allowed beside applicators, here or around one of these."""
        return self._local() if self._subschema.contents.keys() & LOCAL else self._around()

    def _local(self) -> NormalForm:
        if len(self._types) == 1:
            return self._of_type(self._types[0])
        shape = algebra.union(self._of_type(name) for name in self._types)
        return {type_: shape[type_] for type_ in FULL if type_ in shape}

    @cached_property
    def _types(self) -> tuple[str, ...]:
        value = self._subschema.contents.get("type", "any")
        if value == "any":
            # Draft 3 has a word for it.
            return _TYPES
        pointer = pointer_to(self._subschema, "type")
        names = (value,) if isinstance(value, str) else take_names(value, pointer)
        for name in names:
            if name not in _NAMES:
                raise invalid(f"there is no type `{name}`", pointer)
        return names

    def _of_type(self, name: str) -> NormalForm:
        if name == "integer":
            literals: list[Literal] = [(INTEGER, True), *self._number_literals]
            return shape_of(Type.NUMBER, restrict(Kind.NUMBER, literals))
        type_ = Type(name)
        match type_:
            case Type.NUMBER:
                return shape_of(type_, restrict(Kind.NUMBER, self._number_literals))
            case Type.STRING:
                return shape_of(type_, restrict(Kind.STRING, self._string_literals))
            case Type.ARRAY:
                return shape_of(type_, self._arrays)
            case Type.OBJECT:
                return shape_of(type_, self._objects)
            case _:
                return shape_of(type_, FULL[type_])

    @cached_property
    def _number_literals(self) -> list[Literal]:
        subschema = self._subschema
        nothing: list[Literal] = []
        if not subschema.contents.keys() & NUMBERS:
            return nothing
        return [
            *self._try("minimum", lambda: list(type_keywords.read_bounds(subschema)), nothing),
            *self._try("multipleOf", lambda: list(type_keywords.read_multiple(subschema)), nothing),
        ]

    @cached_property
    def _string_literals(self) -> list[Literal]:
        subschema = self._subschema
        nothing: list[Literal] = []
        if not subschema.contents.keys() & STRINGS:
            return nothing
        budget = self._schemas.budget
        return [
            *type_keywords.read_length(subschema, self._options.limits),
            *self._try(
                "pattern", lambda: list(type_keywords.read_pattern(subschema, budget)), nothing
            ),
            *self._formats(),
        ]

    def _formats(self) -> Iterator[Literal]:
        if self._options.formats is not Formats.ANNOTATION:
            formats = formats_of(self._options.standard, self._options.formats)
            yield from type_keywords.read_format(self._subschema, formats, self._schemas.notes)

    @property
    def _arrays(self) -> Arrays | None:
        subschema, document, limits = self._subschema, self._schemas.document, self._options.limits
        if not subschema.contents.keys() & ARRAYS:
            return Arrays()
        prefix, rest = type_keywords.read_items(subschema, document)
        low, high = type_keywords.read_counts(subschema, "minItems", "maxItems", limits)
        contains = type_keywords.read_contains(subschema, document, limits)
        unique = type_keywords.take_flag(subschema, "uniqueItems")
        self._schemas.budget.spend(STEPS * (1 + len(prefix)))
        return checked_array(Arrays(prefix, rest, low or 0, high, contains, unique))

    @cached_property
    def _objects(self) -> Objects | None:
        subschema, document, limits = self._subschema, self._schemas.document, self._options.limits
        if not subschema.contents.keys() & OBJECTS:
            return Objects()
        budget, nothing = self._schemas.budget, Objects()
        members: Objects = self._try(
            "patternProperties",
            lambda: type_keywords.read_members(
                subschema, document, self._additional, limits, budget
            ),
            nothing,
        )
        required = type_keywords.read_required(subschema)
        low, high = type_keywords.read_counts(subschema, "minProperties", "maxProperties", limits)
        objects = Objects(members.named, members.regions, required, low or 0, high)
        if "propertyNames" in subschema.contents:
            names = self._schemas.shape(document.inside(subschema, "propertyNames"))
            strings = [
                branch for branch in names.get(Type.STRING, ()) if isinstance(branch, Restricted)
            ]
            of_names = type_keywords.read_names(tuple(strings), budget)
            return objects.meet(of_names, budget)
        return checked(objects)

    @property
    def _additional(self) -> Expression:
        if "additionalProperties" in self._subschema.contents:
            return self._schemas.document.inside(self._subschema, "additionalProperties")
        # Where other keywords evaluate members, too, all of them together decide which are
        # additional.
        subschema = self._subschema
        alone = subschema.closing is Closing.WHOLE and subschema.evaluators <= {
            "properties",
            "patternProperties",
        }
        return NOTHING if alone and "properties" in subschema.contents else ANYTHING
