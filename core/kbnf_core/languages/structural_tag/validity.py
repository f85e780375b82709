"""Whether arguments fit the schema of their tool: by ``jsonschema``, within bounds.

Nothing is fetched: a reference to another document refuses nothing. Patterns are searched in
counted steps. A schema that cannot be used refuses nothing, either: its tool was offered with it.

Tests: tests/unit/parse/test_messages.py.
"""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from importlib import import_module
from typing import Any, TypeAlias

from kbnf_core.automata.regex.search import read_pattern
from kbnf_core.languages.json_schema import Options
from kbnf_core.languages.structural_tag.contents import SchemaContents, is_sound
from kbnf_core.languages.structural_tag.read import TagReport
from kbnf_core.text.budget import Budget
from kbnf_core.text.errors import WorkLimitError
from kbnf_core.text.json_text import NoJsonError, escape, objects_in, parse_json
from kbnf_core.text.limits import DEFAULT_LIMITS
from kbnf_core.text.source import Source

_LONGEST = 1_000_000
"""Characters of arguments that are checked, at most."""

_Steps: TypeAlias = "tuple[()] | tuple[str | int, _Steps]"
"""The names and numbers that lead to a value, the last one first."""

_WORK = 1_000_000
"""Steps of the search for one pattern."""

_ANY_WAYS = re.compile(r"\||\\\$$")
"""Operators that leave it open to which part of a pattern its anchors belong."""


def validator_of(schema: Any) -> Any:
    """Return the validator of a schema, None where it allows anything or is unusable."""
    if not isinstance(schema, dict) or not schema:
        return None
    try:
        return _validator(json.dumps(schema, default=float))
    except (RecursionError, TypeError, ValueError, KeyError, AttributeError):
        return None


@lru_cache(maxsize=256)
def problem_of(text: str) -> str:
    """Return why a schema, a text of JSON, cannot be used, and where; nothing where it can."""
    report = TagReport(Source("{}", is_json=True))
    try:
        schema = parse_json(text)
    except NoJsonError as error:
        return error.reason
    if is_sound(schema, "", report, Options()):
        schemas = SchemaContents(schema, "", report, Options())
        for schema_ in objects_in(schema):
            # One to another document may lead somewhere where that is known.
            if str(schema_.get("$ref")).startswith("#"):
                schemas.followed(schema_, "")
    return report.errors[0].message if report.errors else ""


class _RepeatedNameError(Exception):
    """An object has a name twice."""


def _unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        raise _RepeatedNameError
    return result


_DECODER = json.JSONDecoder(object_pairs_hook=_unrepeated)


def value_of(text: str) -> tuple[Any, str | None]:
    """Return the value of a text of JSON, and the pointer of a name that an object has twice.

    Of the values of such a name the last counts. Raises ``ValueError`` or ``RecursionError``.
    """
    with suppress(_RepeatedNameError):
        return _DECODER.decode(text), None
    repeating: list[tuple[dict[str, Any], str]] = []

    def object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for name, value in pairs:
            if name in result:
                repeating.append((result, name))
            result[name] = value
        return result

    value = json.loads(text, object_pairs_hook=object_of)
    return value, _pointer_to(value, *repeating[0])


def _pointer_to(value: Any, wanted: dict[str, Any], name: str) -> str:
    """Return the pointer of a name in an object, one of those inside of a value."""
    pending: list[tuple[Any, _Steps]] = [(value, ())]
    for value_, steps in pending:
        if value_ is wanted:
            names, rest = [name], steps
            while rest:
                names.append(str(rest[0]))
                rest = rest[1]
            return "".join(f"/{escape(value_)}" for value_ in reversed(names))
        if isinstance(value_, dict | list):
            items = value_.items() if isinstance(value_, dict) else enumerate(value_)
            pending += [(inner, (step, steps)) for step, inner in items]
    raise AssertionError("an object is in the value that has it")


def misfit(validator: Any, value: Any, size: int) -> str | None:
    """Return the pointer of the first value that a schema refuses, None where it refuses none.

    ``size`` is the number of characters that the value has as JSON.
    """
    if validator is None or size > _LONGEST:
        return None
    unusable = import_module("jsonschema.exceptions").UnknownType
    dangling = import_module("referencing.exceptions").Unresolvable
    try:
        error = next(validator.iter_errors(value), None)
    except (unusable, dangling, RecursionError, TypeError, ValueError, KeyError, AttributeError):
        return None
    if error is None:
        return None
    return "".join(f"/{escape(str(error_))}" for error_ in error.path)


@lru_cache(maxsize=256)
def _validator(text: str) -> Any:
    """Return the validator of a schema."""
    validators = import_module("jsonschema.validators")
    registry = import_module("jsonschema_specifications").REGISTRY
    schema = json.loads(text)
    kind = validators.validator_for(schema, default=validators.Draft202012Validator)
    bounded = validators.extend(kind, {"pattern": _pattern, "patternProperties": _nothing})
    return bounded(schema, registry=registry)


def _pattern(validator: Any, pattern: Any, instance: Any, schema: Any) -> Iterator[Any]:
    del schema
    if validator.is_type(instance, "string") and not _has(str(pattern), instance):
        yield import_module("jsonschema.exceptions").ValidationError("the pattern does not match")


def _has(pattern: str, text: str) -> bool:
    """Return whether a pattern matches in a text; an unknown or too expensive one does."""
    is_whole = pattern[:1] == "^" and pattern[-1:] == "$" and not _ANY_WAYS.search(pattern)
    read, _ = read_pattern(pattern[1:-1] if is_whole else pattern, DEFAULT_LIMITS)
    if read is None:
        return True
    budget = Budget(_WORK)
    try:
        result = read.match(text, budget) if is_whole else read.find(text, 0, budget)
    except WorkLimitError:
        return True
    return result is not None


def _nothing(*_: Any) -> Iterator[Any]:
    yield from ()
