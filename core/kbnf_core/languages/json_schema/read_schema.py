"""Reads one schema object: which keywords it has, and what they mean together."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from kbnf_core.languages.json_schema import (
    normal_form,
    type_keywords,
)
from kbnf_core.languages.json_schema.applicators import read_applicator
from kbnf_core.languages.json_schema.arguments import pointer_to, take_list, take_names
from kbnf_core.languages.json_schema.arrays import Arrays
from kbnf_core.languages.json_schema.atoms import INTEGER, Literal, OneOf
from kbnf_core.languages.json_schema.document import Place
from kbnf_core.languages.json_schema.expressions import ANYTHING, NOTHING, Closing, Expression
from kbnf_core.languages.json_schema.formats import formats_of
from kbnf_core.languages.json_schema.keywords import (
    APPLICATORS,
    ARRAYS,
    CONTENTS,
    LOCAL,
    MEMBERS,
    NUMBERS,
    REFUSED_BY_LLGUIDANCE,
    STRINGS,
    UNEVALUATED,
)
from kbnf_core.languages.json_schema.normal_form import ANY_SHAPE, FULL, NormalForm, Type, shape_of
from kbnf_core.languages.json_schema.objects import Objects, checked
from kbnf_core.languages.json_schema.options import Formats, Options, Standard
from kbnf_core.languages.json_schema.problems import (
    UNSUPPORTED,
    ProblemError,
    invalid,
    unsupported,
    without_effect,
)
from kbnf_core.languages.json_schema.problems import dropped as dropped_problem
from kbnf_core.languages.json_schema.unevaluated import read_closed, read_unevaluated
from kbnf_core.languages.json_schema.value_sets import Kind, Restricted, restrict

if TYPE_CHECKING:
    from kbnf_core.languages.json_schema.schemas import Schemas

R = TypeVar("R")
_TYPES = tuple(type_.value for type_ in Type)
_NAMES = frozenset((*_TYPES, "integer"))


class Reader:
    """Reads one schema object."""

    def __init__(self, schemas: "Schemas", place: Place, options: Options) -> None:
        self._schemas = schemas
        self._place = place
        self._options = options
        if options.lenient and options.standard is Standard.LLGUIDANCE:
            self._ignore_what_llguidance_refuses()
        old = schemas.document.refused(place.contents)
        if old is not None:
            hint = "name draft 4 or later as `$schema`, and say it with the keywords of that"
            message = f"`{old}` of draft 3 is not read"
            raise unsupported(message, pointer_to(place, old), hint)
        for keyword in CONTENTS & place.contents.keys():
            message = f"nothing enforces `{keyword}`"
            schemas.notes.append(without_effect(message, pointer_to(place, keyword)))

    def _ignore_what_llguidance_refuses(self) -> None:
        place = self._place
        kept = dict(place.contents)
        for keyword in REFUSED_BY_LLGUIDANCE & place.contents.keys():
            found = unsupported(f"LLGuidance ignores `{keyword}`", pointer_to(place, keyword))
            self._schemas.losses.append(dropped_problem(found.problem))
            del kept[keyword]
        self._place = replace(place, contents=kept)

    def read(self) -> Iterator[NormalForm | Expression]:
        """Yield what the keywords mean, in their order; those of one type together."""
        contents = self._place.contents
        # Members come in the order of the keywords that name them.
        first = next((keyword for keyword in contents if keyword in MEMBERS), None)
        first = first or next((keyword for keyword in contents if keyword in LOCAL), None)
        for keyword in contents:
            if keyword == "enum" and (texts := self._texts):
                yield shape_of(Type.STRING, restrict(Kind.STRING, [(OneOf(texts), True)]))
            elif keyword in APPLICATORS:
                yield self._applied(keyword)
            elif keyword == first:
                shape = self._local()
                if shape != ANY_SHAPE:
                    yield shape
        if self._place.closing is Closing.WHOLE and not self._place.is_closed_by_parts:
            yield read_closed(self._schemas, self._place)
        # What they leave is known when everything else was read; it says nothing of an order.
        for keyword in UNEVALUATED:
            if keyword in contents:
                yield self._unevaluated(keyword)

    @property
    def _texts(self) -> tuple[str, ...]:
        """The values of an ``enum`` of strings, which needs no expression for each."""
        values = take_list(self._place, "enum")
        is_simple = all(isinstance(value, str) for value in values)
        return tuple(dict.fromkeys(values)) if is_simple else ()

    def _unevaluated(self, keyword: str) -> Expression:
        if keyword not in self._schemas.document.keywords_for_the_rest:
            return ANYTHING
        dropped: Expression = ANYTHING
        return self._try(
            keyword, lambda: read_unevaluated(self._schemas, self._place, keyword), dropped
        )

    def _applied(self, keyword: str) -> Expression:
        dropped: Expression = ANYTHING
        with self._schemas.working_at(pointer_to(self._place, keyword)):
            return self._try(
                keyword,
                lambda: read_applicator(self._schemas, self._place, keyword, self._siblings),
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
            pointer = problem.pointer or pointer_to(self._place, keyword)
            found = replace(problem, pointer=pointer, can_be_dropped=True)
            if not (self._options.lossy or self._options.lenient):
                raise ProblemError(found) from None
            self._schemas.losses.append(dropped_problem(found))
            return dropped

    def _siblings(self) -> NormalForm:
        return self._local() if self._place.contents.keys() & LOCAL else ANY_SHAPE

    def _local(self) -> NormalForm:
        if len(self._types) == 1:
            return self._of_type(self._types[0])
        return normal_form.union(self._of_type(name) for name in self._types)

    @cached_property
    def _types(self) -> tuple[str, ...]:
        value = self._place.contents.get("type", "any")
        if value == "any":
            # Draft 3 has a word for it.
            return _TYPES
        pointer = pointer_to(self._place, "type")
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
        place = self._place
        nothing: list[Literal] = []
        if not place.contents.keys() & NUMBERS:
            return nothing
        return [
            *self._try("minimum", lambda: list(type_keywords.read_bounds(place)), nothing),
            *self._try("multipleOf", lambda: list(type_keywords.read_multiple(place)), nothing),
        ]

    @cached_property
    def _string_literals(self) -> list[Literal]:
        place = self._place
        nothing: list[Literal] = []
        if not place.contents.keys() & STRINGS:
            return nothing
        return [
            *type_keywords.read_length(place, self._options.limits),
            *self._try("pattern", lambda: list(type_keywords.read_pattern(place)), nothing),
            *self._formats(),
        ]

    def _formats(self) -> Iterator[Literal]:
        if self._options.formats is not Formats.ANNOTATION:
            formats = formats_of(self._options.standard, self._options.formats)
            yield from type_keywords.read_format(self._place, formats, self._schemas.notes)

    @property
    def _arrays(self) -> Arrays | None:
        place, document, limits = self._place, self._schemas.document, self._options.limits
        if not place.contents.keys() & ARRAYS:
            return Arrays()
        parts = (
            type_keywords.read_size(place, limits),
            type_keywords.read_contains(place, document, limits),
            type_keywords.read_unique(place),
        )
        found: Arrays | None = type_keywords.read_items(place, document)
        for part in parts:
            found = found and found.meet(part, self._schemas.budget)
        return found

    @cached_property
    def _objects(self) -> Objects | None:
        place, document, limits = self._place, self._schemas.document, self._options.limits
        found: Objects | None = self._try(
            "patternProperties",
            lambda: type_keywords.read_members(
                place, document, self._additional, limits, self._schemas.budget
            ),
            Objects(),
        )
        parts = [type_keywords.read_required(place), type_keywords.read_count(place, limits)]
        if "propertyNames" in place.contents:
            names = self._schemas.shape(document.inside(place, "propertyNames"))
            strings = [part for part in names.get(Type.STRING, ()) if isinstance(part, Restricted)]
            parts.append(type_keywords.read_names(tuple(strings), self._schemas.budget))
        for part in parts:
            if part != Objects():
                found = found and found.meet(part, self._schemas.budget)
        return found and checked(found)

    @property
    def _additional(self) -> Expression:
        if "additionalProperties" in self._place.contents:
            return self._schemas.document.inside(self._place, "additionalProperties")
        # Where other keywords evaluate members, too, they say together what is additional.
        place = self._place
        alone = place.closing is Closing.WHOLE and place.evaluators <= {
            "properties",
            "patternProperties",
        }
        return NOTHING if alone and "properties" in place.contents else ANYTHING
