"""The smallest part of a schema that an engine refuses, by leaving out all else.

Parts are left out from the outside in: the schema of a member as the whole, then each keyword and
member; ``type`` stays where another keyword does, as many are read by it. The engine must refuse
the rest in the same words, apart from what they quote. Then the part is taken out of the schema,
and the engine is asked about the rest, until it accepts it: a schema may have several. At last each
must be needed: with the others left out, the engine refuses the schema for it.

Tests: tests/unit/targets/test_exam.py
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from kbnf_core.languages.json_schema import Options
from kbnf_core.languages.json_schema.document import SchemaDocument
from kbnf_core.targets.judges import Json, at, pointer_to, removed
from kbnf_core.targets.process import Asked, EngineAnswer, How
from kbnf_core.text.json_text import steps_of

_MOST = 8
_ASKED = 400


@dataclass(frozen=True, slots=True)
class Refused:
    """A part that is refused: its pointer, the keyword if it is one, and the least of it."""

    pointer: str
    keyword: str
    subschema: Json
    answer: EngineAnswer


def refused_fragments(
    schema: Json, asked: Asked, answer: EngineAnswer, is_over: Callable[[], bool]
) -> list[Refused]:
    """Return the parts of a schema that the engine refuses; there is at least one.

    The search ends where ``is_over``: the result is the smallest part so far.
    """
    rest, result = schema, list[Refused]()
    for _ in range(_MOST):
        least = _RefusalSearch(asked, answer, is_over).run(rest)
        again = asked.compile(json.dumps(least.least)) if answer.how is not How.HANGS else answer
        if again.takes:
            # A part that cannot be replayed is not reported; the refusal of the whole is.
            result = result or [Refused("", "", schema, answer)]
            break
        pointer = _in_original(schema, least.least, least.pointer)
        result.append(Refused(pointer, least.keyword, least.subschema, again))
        pointer_in_original = _in_original(rest, least.least, least.pointer)
        if not pointer_in_original or is_over() or answer.how is How.HANGS:
            break
        rest = removed(rest, pointer_in_original)
        answer = asked.compile(json.dumps(rest))
        if answer.takes:
            result = _needed(schema, result, asked)
        if answer.takes or answer.how is How.HANGS:
            # A part has less time than the whole: one that is late is not refused for that.
            break
    return result


def _needed(schema: Json, candidates: list[Refused], asked: Asked) -> list[Refused]:
    """Return those of several parts for which the schema is refused without the others."""
    kept = list(candidates)
    for refused in candidates if len(candidates) > 1 else ():
        others = sorted((other.pointer for other in kept if other is not refused), reverse=True)
        rest = schema
        for pointer in others:
            if not refused.pointer.startswith(f"{pointer}/"):
                rest = _without(rest, pointer)
        if asked.compile(json.dumps(rest)).takes:
            kept.remove(refused)
    return kept


def _without(schema: Json, pointer: str) -> Json:
    try:
        at(schema, pointer)
    except (LookupError, TypeError, ValueError):
        # It was removed with a part left out before, or is an item that has another pointer now.
        return schema
    return removed(schema, pointer)


@dataclass(frozen=True, slots=True)
class _Least:
    pointer: str
    keyword: str
    subschema: Json
    least: Json


_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'|`[^`]*`|/[^ ]*/?|\d+|\{.*\}|\[.*\]|[^\w\s]")


def _kind(words: str) -> str:
    """Return what a message says apart from what it quotes."""
    return " ".join(_QUOTED.sub(" ", words).split())[:24]


class _RefusalSearch:
    def __init__(self, asked: Asked, answer: EngineAnswer, is_over: Callable[[], bool]) -> None:
        self._asked = asked
        self._answer = answer
        self._is_over = is_over
        self._left = _ASKED

    def run(self, schema: Json) -> _Least:
        if self._answer.how is How.HANGS:
            return self._hanging(schema)
        least = self._least(schema)
        return self._locate(least)

    def _still(self, schema: Json) -> bool:
        """Return whether a smaller schema is refused for the same reason."""
        self._left -= 1
        if self._left < 0 or self._is_over():
            return False
        answer = self._asked.compile(json.dumps(schema))
        if self._answer.how is not How.REFUSES:
            return answer.how is self._answer.how
        return answer.how is How.REFUSES and _kind(answer.words) == _kind(self._answer.words)

    def _least(self, schema: Json) -> Json:
        """Leave out members and items, large ones first, as long as it is refused still."""
        changed = True
        while changed and self._left > 0:
            changed = False
            for pointer in _pointers(schema):
                smaller = _without(schema, pointer)
                if smaller is not schema and not _bares(schema, pointer) and self._still(smaller):
                    schema, changed = smaller, True
        return schema

    def _locate(self, least: Json) -> _Least:
        """Return the keyword or schema at the end of the only path of a least schema."""
        pointer, value, keyword = "", _apart_from_definitions(least), ""
        document = SchemaDocument(least, Options())
        is_schema, seen = True, set[str]()
        while isinstance(value, dict | list):
            members = _members(value)
            if is_schema and len(members) > 1:
                # The type is there for the keyword beside it.
                members = [member for member in members if member[0] != "type"]
            if len(members) != 1:
                break
            step, inner = members[0]
            target = document.target(inner) if is_schema and step == "$ref" else None
            if target is not None and target.is_inside and target.pointer not in seen:
                pointer, value, keyword = target.pointer, target.value, ""
                seen.add(pointer)
                continue
            if is_schema and step not in _HOLDERS:
                return _Least(pointer + pointer_to(step), str(step), value, least)
            keyword = step if is_schema else ""
            is_schema = not is_schema or (step in _SINGLE and isinstance(inner, dict))
            pointer += pointer_to(step)
            value = inner
        if not value:
            return _Least(pointer, keyword, {keyword: value} if keyword else value, least)
        return _Least(pointer, "", value, least)

    def _hanging(self, schema: Json) -> _Least:
        """Return the keyword without which the engine answers: bounds first, the largest one."""
        for pointer in _bounds(schema):
            if self._is_over():
                break
            if self._asked.compile(json.dumps(removed(schema, pointer))).how is not How.HANGS:
                keyword = steps_of(pointer)[-1]
                return _Least(pointer, keyword, {keyword: at(schema, pointer)}, schema)
        return _Least("", "", schema, schema)


_SINGLE = frozenset(
    ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames",
     "additionalItems", "unevaluatedItems", "unevaluatedProperties")
)  # fmt: skip
_HOLDERS = _SINGLE | frozenset(
    ("properties", "patternProperties", "$defs", "definitions", "anyOf", "oneOf", "allOf",
     "prefixItems", "dependentSchemas", "dependencies")
)  # fmt: skip


def _in_original(schema: Json, least: Json, pointer: str) -> str:
    """Return the pointer in a schema of the value at ``pointer`` of its rest.

    Items have other places there, as others were left out.
    """
    result = ""
    for step in steps_of(pointer):
        key: str | int = step
        if isinstance(least, list):
            least = least[int(step)]
            indices = (index for index, item in enumerate(schema) if _is_within(least, item))
            key = next(indices, int(step))
        else:
            least = least[step]
        schema = schema[key]
        result += pointer_to(key)
    return result


def _is_within(least: Json, whole: Json) -> bool:
    """Return whether one value is another one with something left out."""
    if isinstance(least, dict):
        return isinstance(whole, dict) and all(
            name in whole and _is_within(inner, whole[name]) for name, inner in least.items()
        )
    if isinstance(least, list):
        rest: Iterator[Json] = iter(whole if isinstance(whole, list) else ())
        return all(any(_is_within(item, candidate) for candidate in rest) for item in least)
    return bool(least == whole)


def _members(value: Json) -> list[tuple[str, Json]]:
    """Return the members of an object, or the items of an array, by the steps to them."""
    if isinstance(value, dict):
        return list(value.items())
    return [(str(index), inner) for index, inner in enumerate(value)]


def _bares(schema: Json, pointer: str) -> bool:
    """Return whether a pointer leads to a ``type`` beside which another keyword is."""
    *path, last = steps_of(pointer)
    if last != "type" or not isinstance(at(schema, pointer), str | list):
        return False
    return len(at(schema, pointer_to(*path))) > 1


def _apart_from_definitions(schema: Json) -> Json:
    """Return a schema without definitions, where something else refers to them."""
    if not isinstance(schema, dict):
        return schema
    rest = {key: inner for key, inner in schema.items() if key not in ("$defs", "definitions")}
    return rest or schema


def _pointers(schema: Json) -> list[str]:
    """Return the pointers of all members and items, the outer ones first."""
    result: list[str] = []
    pending: list[tuple[str, Json]] = [("", schema)]
    while pending:
        following: list[tuple[str, Json]] = []
        for pointer, value in pending:
            if not isinstance(value, dict | list):
                continue
            members = [(pointer + pointer_to(step), inner) for step, inner in _members(value)]
            # Items from the end: the places of the others stay.
            members = members[::-1] if isinstance(value, list) else members
            result += [inner_pointer for inner_pointer, _ in members]
            following += members
        pending = following
    return result


_COUNTS = ("maxLength", "minLength", "maxItems", "minItems", "maxProperties", "minProperties")


def _bounds(schema: Json) -> list[str]:
    """Return the pointers of counts and patterns, the largest numbers first."""
    result: list[tuple[float, str]] = []
    for pointer in _pointers(schema):
        keyword = steps_of(pointer)[-1]
        value = at(schema, pointer)
        if keyword in _COUNTS and isinstance(value, int | float):
            result.append((-float(value), pointer))
        elif keyword == "pattern" and isinstance(value, str):
            counts = [int(text) for text in re.findall(r"\d+", value)]
            result.append((-float(max(counts, default=1)), pointer))
    return [pointer for _, pointer in sorted(result)][:3]
