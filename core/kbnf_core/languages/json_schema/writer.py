"""Writes expressions as rules: one for each definition, object, array and long text."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from kbnf_core.automata.errors import LimitError
from kbnf_core.languages.json_schema.arrays import Arrays
from kbnf_core.languages.json_schema.build_tree import (
    Form,
    alternation,
    call,
    definition,
    sequence,
    text,
)
from kbnf_core.languages.json_schema.characters import spell_text
from kbnf_core.languages.json_schema.document import Document
from kbnf_core.languages.json_schema.emptiness import is_void
from kbnf_core.languages.json_schema.expressions import (
    ANYTHING,
    AnyOf,
    Expression,
    Ref,
)
from kbnf_core.languages.json_schema.linear import Rules
from kbnf_core.languages.json_schema.names import Names, is_definition, last_step
from kbnf_core.languages.json_schema.normal_form import (
    ANY_SHAPE,
    FULL,
    NormalForm,
    Part,
    Plain,
    Type,
)
from kbnf_core.languages.json_schema.objects import Objects
from kbnf_core.languages.json_schema.options import Options
from kbnf_core.languages.json_schema.prelude import NAMES, Prelude
from kbnf_core.languages.json_schema.problems import (
    UNSATISFIABLE,
    UNSUPPORTED,
    Problem,
    ProblemError,
    dropped,
    narrowed,
    repeated,
    too_large,
    unsupported,
)
from kbnf_core.languages.json_schema.schemas import Schemas
from kbnf_core.languages.json_schema.value_sets import STEPS, Restricted
from kbnf_core.languages.json_schema.write_arrays import write_array
from kbnf_core.languages.json_schema.write_objects import write_object
from kbnf_core.languages.json_schema.write_scalars import ScalarWriter
from kbnf_core.syntax import tree

if TYPE_CHECKING:
    from kbnf_core import ir

_SPELLED = {None: "null", True: "true", False: "false"}
_NESTED = frozenset({Arrays, Objects})
_OF_TYPES = frozenset({"object", "array", "string", "number", "integer", "boolean"})
_SHARED = {Type.OBJECT: "object", Type.ARRAY: "array"}


def called(form: Form) -> Iterator[str]:
    """Yield the names that a form calls."""
    pending = [form]
    while pending:
        part = pending.pop()
        if isinstance(part, tree.Reference):
            yield part.name.value
        else:
            pending.extend(tree.children(part))


def reachable(start: str, rules: Mapping[str, Form]) -> dict[str, Form]:
    """Return the rules that ``start`` calls, directly or not, in the order of ``rules``."""
    queue = [start]
    used = {start}
    for name in queue:
        if name in rules:
            fresh = dict.fromkeys(each for each in called(rules[name]) if each not in used)
            queue.extend(fresh)
            used.update(fresh)
    return {name: form for name, form in rules.items() if name in used}


class Writer:
    """Writes the rules that one document needs."""

    def __init__(
        self,
        document: Document,
        options: Options,
        prefix: str = "",
        schemas: Schemas | None = None,
        prelude: Prelude | None = None,
    ) -> None:
        self.options = options
        self.limits = options.limits
        self.schemas = schemas or Schemas(document, options)
        self.prelude = prelude or Prelude(
            options, prefix, has_whole_fractions=document.has_whole_fractions
        )
        self._names = Names(prefix, NAMES)
        self._prefix = prefix
        self._rules: dict[str, Form] = {}
        self.rules = Rules(self._names.fresh, self._add, self.schemas.budget)
        self._scalars = ScalarWriter(self.prelude, self.rules, options.limits, self.left_out)
        self._known: dict[Expression, str] = {}
        self._queue: list[Expression] = []
        self._current: Expression = ANYTHING
        self._placed_last: Ref | None = None
        self.comments: dict[str, str] = {}
        # Rules whose meaning is known already.
        self.bodies: dict[str, ir.Node] = {}

    def write(self, root: Expression) -> list[tree.Definition]:
        """Return the rules for ``root``, its own first, called ``start``. Raises ProblemError."""
        start = self._write_all(root)
        shared = {self._prefix + name: form for name, form in self.prelude.rules.items()}
        return [definition(*rule) for rule in reachable(start, self._rules | shared).items()]

    def _write_all(self, root: Expression) -> str:
        """Make the rules for ``root``; return the name of the first. Raises ProblemError."""
        start = self._prefix + "start"
        self._known[root] = start
        self._rules[start] = call(start)
        self._queue.append(root)
        for expression in self._queue:
            self._current = expression
            self._placed_last = expression if isinstance(expression, Ref) else None
            try:
                self.schemas.budget.part = self.pointer()
                self._rules[self._known[expression]] = self._body(expression)
            except LimitError as error:
                raise unsupported(f"an automaton needs {error}", self.pointer()) from None
            except ProblemError as error:
                raise ProblemError(self._placed(error.problem)) from None
            self._check_count()
        return start

    def _check_count(self) -> None:
        if len(self._rules) + len(self.bodies) > self.limits.rules:
            raise too_large("rules", self.limits.rules, "rules", self.pointer())

    def _placed(self, problem: Problem) -> Problem:
        return replace(problem, pointer=problem.pointer or self.pointer())

    def pointer(self, keyword: str = "") -> str:
        """Return the JSON Pointer of the schema being written, or of a keyword of it."""
        inner = [self._current, *getattr(self._current, "parts", ())]
        places = [self.schemas.document.place(e) for e in inner if isinstance(e, Ref)]
        for place in places:
            if keyword and keyword in place.contents:
                return f"{place.pointer}/{keyword}"
        return places[0].pointer if places else ""

    def left_out(self, message: str, keyword: str = "maxLength") -> None:
        """Note that values are left out which the schema allows."""
        self.schemas.notes.append(narrowed(message, self._inner_pointer(keyword)))

    def _inner_pointer(self, keyword: str) -> str:
        """Return the JSON Pointer of the value being written, or of a keyword of its schema."""
        if self._placed_last is None:
            return self.pointer(keyword)
        place = self.schemas.document.place(self._placed_last)
        return place.pointer + (f"/{keyword}" if keyword in place.contents else "")

    def may_repeat(self) -> None:
        """Note that names of members may repeat where they should not."""
        self.schemas.notes.append(repeated(self.pointer("minProperties")))

    def _add(self, name: str, form: Form) -> None:
        self._rules[name] = form
        self._check_count()

    def member(self, name: str, value: Expression) -> Form | None:
        """Return a named member; None if it cannot be."""
        form = self.place(value, name)
        return None if form is None else sequence(text(spell_text(name)), self.prelude.colon, form)

    def place(self, expression: Expression, wish: str) -> Form | None:
        """Return how a value is written where it stands in another; None if there is none."""
        if not isinstance(expression, Ref) and expression == ANYTHING:
            return self.prelude.use("value")
        if expression in self._known:
            return call(self._known[expression])
        self.schemas.budget.spend(STEPS)
        if isinstance(expression, AnyOf):
            return self._either(expression.parts, wish)
        if isinstance(expression, Ref) and not is_definition(expression.pointer):
            name = self.schemas.document.place(expression).type_alone
            if name in _OF_TYPES:
                return self.prelude.use(name)
        if is_void(self.schemas, expression):
            return None
        if isinstance(expression, Ref):
            self._placed_last = expression
            if is_definition(expression.pointer):
                return self._rule(expression, last_step(expression.pointer))
            alias = self.schemas.alias(expression)
            if alias is not None:
                return self.place(alias, wish)
        shape = self.schemas.shape(expression)
        simple = all(
            type(part) not in _NESTED or part == FULL[type_]
            for type_, parts in shape.items()
            for part in parts
        )
        return self._parts(shape, wish) if simple else self._rule(expression, wish)

    def _either(self, parts: Iterable[Expression], wish: str) -> Form | None:
        forms = [form for part in parts if (form := self._alternative(part, wish)) is not None]
        return alternation(self._distinct(forms)) if forms else None

    def _distinct(self, forms: Iterable[Form]) -> Iterable[Form]:
        return dict.fromkeys(forms)

    def _alternative(self, expression: Expression, wish: str) -> Form | None:
        return self.place(expression, wish)

    def _rule(self, expression: Expression, wish: str) -> Form:
        name = self._known[expression] = self._names.fresh(wish)
        # The place in the text is that of the first call.
        self._add(name, call(name))
        self._queue.append(expression)
        return call(name)

    def _body(self, expression: Expression) -> Form:
        name = self._known[expression]
        alias = self.schemas.alias(expression) if isinstance(expression, Ref) else None
        if alias is not None and isinstance(alias, Ref | AnyOf) and alias != expression:
            form = self.place(alias, name)
        else:
            form = self._parts(self.schemas.shape(expression), name)
        if form is None and expression != self._queue[0]:
            # Unproductive; the grammar's analysis removes it with all its callers.
            return call(name)
        if form is None:
            message = "no value is possible here"
            raise ProblemError(Problem(UNSATISFIABLE, message, self.pointer()))
        return form

    def _parts(self, shape: NormalForm, wish: str) -> Form | None:
        """Return a shape as alternatives."""
        if shape == ANY_SHAPE:
            return self.prelude.use("value")
        wish = wish.removeprefix(self._prefix)
        forms = [
            form
            for type_, parts in shape.items()
            for part in parts
            if (form := self._part(type_, part, wish)) is not None
        ]
        return alternation(forms) if forms else None

    def _part(self, type_: Type, part: Part, wish: str) -> Form | None:
        if part == FULL[type_] and type_ in _SHARED:
            return self.prelude.use(_SHARED[type_])
        match part:
            case Plain(values, everything):
                if len(values) == 2 and values == everything:
                    return self.prelude.use("boolean")
                return alternation(text(_SPELLED[value]) for value in values)
            case Restricted():
                return self._scalar(part, wish)
            case Arrays():
                return self._array(part, wish)
            case Objects():
                return write_object(part, self, wish)

    def _scalar(self, part: Restricted, wish: str) -> Form | None:
        try:
            return self._scalars.write(part, wish)
        except ProblemError as error:
            pointer = error.problem.pointer or self._inner_pointer("enum")
            raise ProblemError(replace(error.problem, pointer=pointer)) from None

    def _array(self, part: Arrays, wish: str) -> Form | None:
        try:
            return write_array(part, self, wish)
        except ProblemError as error:
            if error.problem.code != UNSUPPORTED or error.problem.pointer:
                raise
            problem = replace(
                error.problem, pointer=self.pointer("uniqueItems"), can_be_dropped=True
            )
            if not (self.options.lossy or self.options.lenient):
                raise ProblemError(problem) from None
        self.schemas.losses.append(dropped(problem))
        return write_array(replace(part, unique=False), self, wish)

    def key(self, keys: Restricted, wish: str) -> Form | None:
        """Return the JSON texts of the names of members."""
        return self._scalars.write(keys, wish)
