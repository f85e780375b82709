"""Random schemas and values: the grammar agrees with the ``jsonschema`` library.

Values are written with members in the order of the schema, which is the one that grammars take.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import extend

from kbnf_core import Engine, Grammar, Vocabulary
from kbnf_core.convert import from_json_schema
from kbnf_core.languages.json_schema import Options, Whitespace
from kbnf_core.text.errors import EmptyGrammarError, EngineError, GrammarError
from kbnf_testing.samples import examples


def _fits_pattern(_: object, pattern: str, value: object, __: object) -> Iterator[ValidationError]:
    """``$`` is the end, as in ECMA-262; Python's is also before a last line end."""
    if isinstance(value, str) and not re.search(pattern.replace("$", r"\Z"), value):
        yield ValidationError(f"{value!r} does not match")


VALIDATOR = extend(Draft202012Validator, {"pattern": _fits_pattern})  # type: ignore[no-untyped-call]

ANCHORED = ["^a|^b", "^$|^ab$", "^a$|^b", "a$|b$", "a|^b$", "^a|(b$)", "^|a", r"a\$|b$", "^a|^|^b$"]

NAMES = st.sampled_from(["a", "b", "ab", "c"])
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-12, 25),
    st.sampled_from(["", "a", "b", "ab", "aab", "é", 'q"', "\n"]),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=3)),
    max_leaves=6,
)

NUMBERS = st.fixed_dictionaries(
    {"type": st.sampled_from(["integer", "number"])},
    optional={
        "minimum": st.integers(-12, 12),
        "exclusiveMaximum": st.integers(-12, 25),
        "multipleOf": st.integers(1, 7),
    },
)
STRINGS = st.fixed_dictionaries(
    {"type": st.just("string")},
    optional={
        "minLength": st.integers(0, 2),
        "maxLength": st.integers(1, 3),
        "pattern": st.sampled_from(["a", "^a", "b$", "^(a|b)*$", "[^a]", "^.?$", *ANCHORED]),
    },
)
LEAVES = st.one_of(
    NUMBERS,
    STRINGS,
    st.just({}),
    st.sampled_from([{"type": "null"}, {"type": "boolean"}, {"type": ["string", "null"]}]),
    st.lists(SCALARS, min_size=1, max_size=3, unique_by=repr).map(lambda items: {"enum": items}),
)


def arrays(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries(
        {"type": st.just("array")},
        optional={
            "items": inner,
            "prefixItems": st.lists(inner, min_size=1, max_size=2),
            "minItems": st.integers(0, 2),
            "maxItems": st.integers(1, 3),
        },
    )


def objects(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries(
        {"type": st.just("object")},
        optional={
            "properties": st.fixed_dictionaries(
                {}, optional={"a": inner, "ab": inner, "b": inner, "c": inner}
            ),
            "required": st.lists(NAMES, unique=True, max_size=2).map(sorted),
            "additionalProperties": st.one_of(st.booleans(), inner),
            "patternProperties": st.dictionaries(st.sampled_from(["^a", "b"]), inner, max_size=2),
            "minProperties": st.integers(0, 2),
            "maxProperties": st.integers(1, 3),
        },
    )


def combined(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    several = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        arrays(inner),
        objects(inner),
        several.map(lambda parts: {"allOf": parts}),
        several.map(lambda parts: {"anyOf": parts}),
        several.map(lambda parts: {"oneOf": parts}),
        inner.map(lambda part: {"not": part}),
        st.tuples(inner, inner).map(lambda pair: {"if": pair[0], "then": pair[1]}),
    )


SCHEMAS = st.recursive(LEAVES, combined, max_leaves=5)


def allows(grammar: Grammar, value: Any) -> bool:
    engine = Engine(grammar, Vocabulary.bytes())
    try:
        engine.try_accept_new_bytes(json.dumps(value, ensure_ascii=False).encode())
    except EngineError:
        return False
    return engine.is_finished() or engine.can_finish()


def orders(value: Any) -> list[Any]:
    """Return a value with the members of its outermost object in every order."""
    from itertools import permutations

    if not isinstance(value, dict):
        return [value]
    return [dict(members) for members in permutations(value.items())]


@settings(max_examples=examples(150), deadline=None)
@given(SCHEMAS, st.lists(VALUES, min_size=1, max_size=8))
def test_agrees_with_jsonschema(schema: Any, values: list[Any]) -> None:
    try:
        text = from_json_schema(json.dumps(schema), Options(Whitespace.FLEXIBLE)).text
        grammar: Grammar | None = Grammar(text)
    except EmptyGrammarError:
        grammar = None
    except GrammarError as error:
        assume(error.diagnostics[0].code == "E803")
        grammar = None
    validator = VALIDATOR(schema)
    for value in values:
        valid = validator.is_valid(value)
        found = grammar is not None and [allows(grammar, each) for each in orders(value)]
        if valid and not nests_objects(value):
            assert found
            assert any(found), (schema, value)
        elif not valid:
            assert not found or not any(found), (schema, value)


@settings(max_examples=examples(100), deadline=None)
@given(SCHEMAS, st.lists(VALUES, min_size=1, max_size=8))
def test_closed_objects_are_valid_and_have_what_properties_name(
    schema: Any, values: list[Any]
) -> None:
    try:
        grammar = Grammar.from_json_schema(schema, closed=True)
    except (EmptyGrammarError, GrammarError):
        return
    validator = VALIDATOR(schema)
    # In a schema without others in place, this is what closing is.
    closed = VALIDATOR({"unevaluatedProperties": False, **schema})
    is_plain = schema.get("type") == "object" and "properties" in schema
    for value in values:
        if any(allows(grammar, each) for each in orders(value)):
            assert validator.is_valid(value), (schema, value)
            if is_plain:
                assert closed.is_valid(value), (schema, value)


def nests_objects(value: Any) -> bool:
    """Return whether an object is inside, whose members may be in the wrong order."""
    inner = list(value.values()) if isinstance(value, dict) else value
    return isinstance(inner, list) and any(isinstance(item, dict | list) for item in inner)
