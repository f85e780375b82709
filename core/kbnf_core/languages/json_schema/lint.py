"""Lints of a schema: what is valid JSON Schema, and hardly what its author means.

``lint_schema`` finds names that are a letter or two off a known one (W821), schemas inside that no
value satisfies (W822), objects that are open because nothing is said (I823), and JSON that is
hardly a schema (W827). ``contradiction``
says why a whole schema has no value (E803).

A contradiction is told at the innermost schema without a value. Of that the keywords that are not
needed for it to be empty are left out one by one, as in shrinking a failing test; a schema inside
is to blame where the one around it has values once it allows everything. Emptiness is decided as
for ``oneOf`` (``emptiness``): what is told is certain, but not everything is found.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace

from kbnf_core.automata.errors import LimitError
from kbnf_core.languages.json_schema.arguments import pointer_to
from kbnf_core.languages.json_schema.document import Document, Place, escape
from kbnf_core.languages.json_schema.expressions import Ref
from kbnf_core.languages.json_schema.keywords import (
    ANNOTATIONS,
    APPLICATORS,
    CONTENTS,
    LISTS_OF_SCHEMAS,
    LOCAL,
    SCHEMA,
    SCHEMAS_BY_NAME,
    UNEVALUATED,
    subschemas,
)
from kbnf_core.languages.json_schema.options import Options
from kbnf_core.languages.json_schema.problems import UNSATISFIABLE, Problem, ProblemError
from kbnf_core.languages.json_schema.quick_validate import may_hold
from kbnf_core.languages.json_schema.schemas import (
    Reader,
    Schemas,
    is_shape_unsatisfiable,
    is_unsatisfiable,
)
from kbnf_core.languages.json_schema.values import constant
from kbnf_core.text.errors import WorkLimitError
from kbnf_core.text.json_text import Json
from kbnf_core.text.suggest import COMPARISONS, edits

MISSPELT = "W821"
CONTRADICTION = "W822"
OPEN = "I823"
NO_SCHEMA = "W827"

KEYWORDS = (
    ANNOTATIONS
    | APPLICATORS
    | CONTENTS
    | LISTS_OF_SCHEMAS
    | LOCAL
    | SCHEMA
    | SCHEMAS_BY_NAME
    | frozenset(UNEVALUATED)
    | {"$id", "$schema", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$vocabulary", "id"}
)
"""What the drafts from 4 on know."""

_RESTRICTING = KEYWORDS - ANNOTATIONS - {"$id", "$schema", "id"}

_OF_OTHERS = frozenset(
    {
        "disallow", "discriminator", "divisibleBy", "enumNames", "example", "extends",
        "externalDocs", "name", "nullable", "option", "options", "propertyOrdering", "value",
        "values", "xml",
    }
)  # fmt: skip
"""What draft 3, OpenAPI and makers of forms know, though some are near to a keyword."""

_OWN = ("x-", "_")
"""How names begin that are somebody's own, or that were taken out on purpose."""

_SHORT = 5
"""Letters of a name in which one wrong one is as much as two in others."""

_SHOWN = 40
"""Characters of a keyword's value that a message shows."""


def lint_schema(schema: Json, options: Options) -> list[Problem]:
    """Return what is likely a mistake in a sound schema, with the pointers of the places."""
    found = [*_no_schema(schema), *_misspelt(schema), *_open_objects(schema, options)]
    doubts = _Doubts(schema, options)
    # What took too much work so far is left unanswered.
    with suppress(WorkLimitError, ProblemError):
        found += doubts.contradictions()
    return found


def contradiction(schema: Json, options: Options) -> Problem | None:
    """Return why no value satisfies a schema, at the innermost place; None if that is not found."""
    with suppress(WorkLimitError, ProblemError):
        doubts = _Doubts(schema, options)
        root = doubts.document.root()
        if isinstance(root, Ref) and doubts.is_empty(root):
            return doubts.blame(root)._replace(code=UNSATISFIABLE)
    return None


def _places(schema: Json) -> Iterator[tuple[str, dict[str, Json]]]:
    """Yield the pointer and the contents of every schema that is an object, outer ones first."""
    pending: list[tuple[str, Json]] = [("", schema)]
    while pending:
        pointer, value = pending.pop()
        if isinstance(value, dict):
            yield pointer, value
            pending += reversed([(_below(pointer, *s), each) for s, each in subschemas(value)])


def _below(pointer: str, *steps: str) -> str:
    return "/".join((pointer, *map(escape, steps)))


def _no_schema(schema: Json) -> Iterator[Problem]:
    """Yield that an object without a keyword that restricts anything is hardly a schema."""
    if not isinstance(schema, dict) or schema.keys() & _RESTRICTING:
        return
    if any(not name.startswith(_OWN) for name in schema.keys() - KEYWORDS):
        message = "no keyword here restricts anything: every JSON text is allowed"
        help_ = "is this a schema? it is no list of tools and no structural tag"
        yield Problem(NO_SCHEMA, message, "", help_)


def _misspelt(schema: Json) -> Iterator[Problem]:
    left = COMPARISONS
    for pointer, value in _places(schema):
        strange = [name for name in value if name not in KEYWORDS | _OF_OTHERS]
        left -= len(strange) * len(KEYWORDS)
        if left < 0:
            return
        for name in strange:
            meant = None if name.startswith(_OWN) else _nearest(name, KEYWORDS - value.keys())
            if meant is not None and may_hold(meant, value[name]):
                message = f"`{name}` is no keyword and restricts nothing"
                yield _misnamed(message, _below(pointer, name), meant)
        yield from _misspelt_members(value, pointer)


def _misspelt_members(value: dict[str, Json], pointer: str) -> Iterator[Problem]:
    """Yield the required names that are near to that of a property which is not required."""
    required, properties = value.get("required"), value.get("properties")
    if not isinstance(required, list) or not isinstance(properties, dict):
        return
    listed = [name for name in required if isinstance(name, str)]
    free = properties.keys() - set(listed)
    # Few objects have names that are missing, and many of both.
    for number, name in enumerate(required):
        if isinstance(name, str) and name not in properties and len(free) < COMPARISONS // 1_000:
            meant = _nearest(name, free)
            if meant is not None:
                message = f"`{name}` is required, and no property has that name"
                yield _misnamed(message, _below(pointer, "required", str(number)), meant)


def _misnamed(message: str, pointer: str, meant: str) -> Problem:
    return Problem(MISSPELT, message, pointer, f"did you mean `{meant}`?", replacement=meant)


def _nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the one of ``known`` that is a letter or two off, by the length of the name."""
    plain = _plain(name)
    most = 1 if len(plain) <= _SHORT else max(2, len(plain) // 6)
    near = [
        (edits(plain, other), each)
        for each in known
        if abs(len(other := _plain(each)) - len(plain)) <= most
    ]
    cost, found = min(near, default=(most + 1, ""))
    return found if cost <= most else None


def _plain(name: str) -> str:
    """Return a name as it is compared: ``max_length`` is ``maxLength``, ``ref`` is ``$ref``."""
    return re.sub(r"[$_\-\s]", "", name).casefold()


_SAYS_OF_OTHERS = {"additionalProperties", "propertyNames", "unevaluatedProperties"}
_SAYS_NOTHING = ("not", "if")
"""What needs values that fit less than what is around it does."""


def _open_objects(schema: Json, options: Options) -> Iterator[Problem]:
    if options.closed:
        return
    found = []
    pending: list[tuple[str, Json, bool]] = [("", schema, False)]
    while pending:
        pointer, value, is_closed = pending.pop()
        if not isinstance(value, dict):
            continue
        if value.get("properties") and not (is_closed or _SAYS_OF_OTHERS & value.keys()):
            found.append(pointer)
        for steps, each in subschemas(value):
            if steps[0] not in _SAYS_NOTHING:
                # What applies to the same object is closed with it.
                is_same = steps[0] in {"allOf", "anyOf", "oneOf", "then", "else"}
                closed = is_same and (is_closed or "unevaluatedProperties" in value)
                pending.append((_below(pointer, *steps), each, closed))
    if found:
        what = "1 object allows" if len(found) == 1 else f"{len(found):,} objects allow"
        message = f"{what} properties that the schema does not name"
        help_ = "`--closed` (in Python `closed=True`) allows the named ones only"
        yield Problem(OPEN, message, min(found, key=len), help_)


_NAMING = ("properties", "patternProperties")


class _Doubts:
    """Asks which schemas of a document have no value, and why."""

    def __init__(self, schema: Json, options: Options) -> None:
        # What no grammar can keep is left out: what is empty without it is empty with it.
        self._options = replace(options, lossy=True)
        self.document = Document(
            schema, options.limits, options.standard, closed=bool(options.closed)
        )
        self._schemas = Schemas(self.document, self._options)

    def contradictions(self) -> list[Problem]:
        """Return the innermost contradictions that the schema has values in spite of."""
        found: dict[str, Problem] = {}
        root = self.document.root()
        pending = [root]
        for expression in pending:
            if isinstance(expression, Ref):
                place = self.document.place(expression)
                pending += [self.document.inside(place, *s) for s, _ in subschemas(place.contents)]
                if expression is not root and self.is_empty(expression):
                    problem = self.blame(expression)
                    found.setdefault(problem.pointer, problem)
        return list(found.values())

    def is_empty(self, at: Ref) -> bool:
        """Tell whether a schema, which does not say so in as many words, has no value for sure."""
        if self.document.place(at).contents in ({"not": {}}, {"not": True}):
            return False
        try:
            return is_unsatisfiable(self._schemas, at)
        except LimitError:
            return False

    def _has_none(self, place: Place, contents: dict[str, Json]) -> bool:
        """Tell whether a schema would have no value with other contents."""
        place = place._replace(contents=contents)
        try:
            parts = Reader(self._schemas, place, self._options).read()
            shapes = [p if isinstance(p, Mapping) else self._schemas.shape(p) for p in parts]
            return is_shape_unsatisfiable(self._schemas, self._schemas.meet(shapes))
        except (ProblemError, LimitError):
            return False

    def blame(self, at: Ref) -> Problem:
        """Return the contradiction in the innermost schema that makes an empty one empty."""
        seen: set[Ref] = set()
        while True:
            seen.add(at)
            place = self.document.place(at)
            kept = self._needed(place)
            inner = next((each for each in self._guilty(place, kept) if each not in seen), None)
            if inner is None:
                return _contradiction(place, kept, [*self._told(place, kept)])
            at = inner

    def _needed(self, place: Place) -> dict[str, Json]:
        """Return keywords of an empty schema all of which it takes to be empty."""
        kept = dict(place.contents)
        # Without the members that it names, a closed object is empty for another reason.
        for keyword in place.contents:
            if keyword in _NAMING:
                continue
            fewer = {name: value for name, value in kept.items() if name != keyword}
            if self._has_none(place, fewer):
                kept = fewer
        for keyword, instead in (("required", None), ("allOf", True)):
            if isinstance(kept.get(keyword), list):
                kept = self._shortened(place, kept, keyword, instead)
        return kept

    def _told(self, place: Place, kept: dict[str, Json]) -> Iterator[str]:
        """Yield the keywords of an empty schema that contradict each other."""
        for keyword in kept:
            fewer = {name: value for name, value in kept.items() if name != keyword}
            is_rule = keyword in LOCAL | APPLICATORS | {*UNEVALUATED}
            if is_rule and not (keyword in _NAMING and self._has_none(place, fewer)):
                yield keyword

    def _shortened(
        self, place: Place, kept: dict[str, Json], keyword: str, instead: Json
    ) -> dict[str, Json]:
        """Return contents in which a list has ``instead`` for whatever is not needed."""
        values = kept[keyword]
        for number in range(len(values)):
            tried = [*values[:number], instead, *values[number + 1 :]]
            fewer = {**kept, keyword: [each for each in tried if each is not None]}
            if self._has_none(place, fewer):
                values = tried
        return {**kept, keyword: [each for each in values if each is not None]}

    def _guilty(self, place: Place, kept: dict[str, Json]) -> Iterator[Ref]:
        """Yield the empty schemas inside, or referred to, without which there would be values."""
        if "$ref" in kept:
            with suppress(ProblemError):
                target = self.document.follow(place, "$ref")
                if isinstance(target, Ref) and self.is_empty(target):
                    yield target
        for steps, _ in subschemas(kept):
            inner = self.document.inside(place._replace(contents=kept), *steps)
            if not isinstance(inner, Ref) or not self.is_empty(inner):
                continue
            if not self._has_none(place, _with_anything(kept, steps)):
                yield inner


def _with_anything(contents: dict[str, Json], steps: tuple[str, ...]) -> dict[str, Json]:
    """Return a schema in which the one below ``steps`` allows everything."""
    keyword, *rest = steps
    held = contents[keyword]
    if not rest:
        return {**contents, keyword: True}
    if isinstance(held, list):
        changed = [True if str(number) == rest[0] else each for number, each in enumerate(held)]
        return {**contents, keyword: changed}
    return {**contents, keyword: {**held, rest[0]: True}}


_ALONE = {
    "allOf": "the schemas of `allOf` contradict each other",
    "anyOf": "no schema of `anyOf` has a value",
    "oneOf": "no value satisfies exactly one schema of `oneOf`",
    "not": "`not` excludes every value",
    "pattern": "no text matches the pattern",
}


_OF_MEMBERS = frozenset({"additionalProperties", "patternProperties", "propertyNames", "type"})


def _contradiction(place: Place, kept: dict[str, Json], names: list[str]) -> Problem:
    """Return what is wrong with an empty schema, of which the keywords ``names`` are needed."""
    message = "no value is possible here"
    required, properties = kept.get("required", []), kept.get("properties", {})
    if kept.keys() <= _OF_MEMBERS | {"required", "properties", "unevaluatedProperties"}:
        name = next((each for each in required if properties.get(each, False) is False), None)
        if name is not None:
            number = str(place.contents["required"].index(name))
            meant = None if name in properties else _nearest(name, properties)
            return Problem(
                CONTRADICTION,
                f"{message}: `{name}` is required, and no property of that name is allowed",
                pointer_to(place, "required", number),
                f"did you mean `{meant}`?" if meant else "name it in `properties`",
                replacement=meant or "",
            )
    if len(names) == 1:
        why = _ALONE.get(names[0], f"{_shown(names[0], kept)} leaves none")
        return Problem(CONTRADICTION, f"{message}: {why}", pointer_to(place, names[0]))
    if len(names) > 2 and "type" in names:
        # It is needed only because the others are about values of this type.
        names.remove("type")
    if names:
        *first, last = (_shown(name, kept) for name in names)
        message += f": {', '.join(first)} and {last} contradict each other"
    return Problem(CONTRADICTION, message, place.pointer)


def _shown(name: str, contents: dict[str, Json]) -> str:
    text = constant(contents[name]).text
    return f"`{name}: {text}`" if len(text) <= _SHOWN else f"`{name}`"
