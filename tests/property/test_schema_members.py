"""Rules that are run have the language of the text for people, which is read again as KBNF.

Objects that only name members are written without a normal form.
"""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbnf_core import Grammar, GrammarError
from kbnf_core.convert import from_json_schema
from kbnf_core.languages.json_schema import Options, Standard, Whitespace
from kbnf_testing.schemas import json_schema_grammar, masks_differ

LETTERS = b"abqnx1\\"
NAMES = ("a", "ab", "b", 'q"', "n\n", "é", "\U0001f600", "")
OPTIONS = (
    Options(),
    Options(whitespace=Whitespace.COMPACT),
    Options(closed=True, item_separator=", ?"),
    Options(standard=Standard.LLGUIDANCE, whitespace=Whitespace.FLEXIBLE),
    Options(allowed_escapes='"\\'),
)

TYPES = st.sampled_from(["string", "number", "integer", "boolean", "null", "array", "object"])
TEXTS = st.lists(st.sampled_from([*NAMES, *map(str, range(20))]), min_size=1, unique=True)
LEAVES = st.one_of(
    st.just(True),
    st.builds(dict, description=st.just("anything")),
    st.builds(dict, type=TYPES),
    st.builds(dict, type=st.lists(TYPES, min_size=1, max_size=3, unique=True)),
    st.builds(dict, enum=TEXTS),
    st.builds(dict, type=st.just("string"), const=st.sampled_from(NAMES)),
    st.just({"$ref": "#/$defs/point"}),
    st.just({"type": "string", "maxLength": 2}),
    st.just({"type": "string", "pattern": "^[a-q]+$", "minLength": 2}),
    st.just({"type": "string", "format": "date"}),
    st.just({"type": "number", "minimum": 0, "exclusiveMaximum": 12}),
    st.just({"type": "integer", "multipleOf": 4}),
    st.just({"type": ["string", "null"], "maxLength": 2, "minimum": 1}),
    st.just({"type": ["null", "integer", "number"], "minimum": 0, "maximum": 20}),
    st.just({"maximum": 2, "maxLength": 1}),
    st.just({"type": ["string", "null"], "enum": ["a", None, 1, True]}),
    st.just({"enum": [1, 1.0, 2.5, 1e30, False]}),
    st.just({"type": "integer", "enum": [1, 12, 3.0]}),
    st.just({"type": ["boolean", "integer"], "const": True}),
    # Not simple, so that an object with it is written by the other writer.
    st.just({"not": {"type": "string"}}),
)


@st.composite
def objects(draw: st.DrawFn, inner: st.SearchStrategy[Any]) -> dict[str, Any]:
    names = draw(st.lists(st.sampled_from(NAMES), max_size=5, unique=True))
    found: dict[str, Any] = {"type": "object", "properties": {name: draw(inner) for name in names}}
    if draw(st.booleans()):
        found["type"] = draw(st.sampled_from([["object", "null"], ["array", "object"]]))
    if draw(st.booleans()):
        found["required"] = draw(st.lists(st.sampled_from(NAMES), max_size=3, unique=True))
    if draw(st.booleans()):
        others: st.SearchStrategy[Any] = st.one_of(st.booleans(), inner)
        found["additionalProperties"] = draw(others)
    return found


def arrays(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    bounds = st.fixed_dictionaries(
        {}, optional={"minItems": st.integers(0, 2), "maxItems": st.integers(0, 3)}
    )
    return st.builds(lambda item, more: {"type": "array", "items": item, **more}, inner, bounds)


def unions(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    several = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(st.builds(dict, anyOf=several), st.builds(dict, oneOf=several))


SCHEMAS = objects(
    st.recursive(
        LEAVES, lambda inner: st.one_of(objects(inner), arrays(inner), unions(inner)), max_leaves=6
    )
)
DEFINED = {"point": {"type": "object", "properties": {"x": {"type": "integer"}}}}


@given(SCHEMAS, st.sampled_from(OPTIONS), st.integers(0, 1_000))
def test_the_rules_of_schemas_have_the_language_of_the_text_for_people(
    schema: dict[str, Any], options: Options, seed: int
) -> None:
    text = json.dumps({**schema, "$defs": DEFINED})
    try:
        read = Grammar(from_json_schema(text, options).text)
    except GrammarError:
        # An array has fewer items than it must have, where it must be.
        with pytest.raises(GrammarError):
            json_schema_grammar(text, options)
        return
    grammar = json_schema_grammar(text, options)
    walks = [masks_differ(grammar, read, seed + number, letters=LETTERS) for number in range(4)]
    assert walks == [None] * 4
    assert grammar.finish == read.finish
