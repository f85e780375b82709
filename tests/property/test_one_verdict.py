"""A schema has one verdict: a check, a conversion and the library refuse it for the same reasons.

The schemas are those of the JSON Schema test suite, and random ones with faults: keywords that are
misspelt or have another's value, that no grammar keeps, or that contradict each other.
"""

import json
from collections.abc import Callable, Iterable
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import example, given, settings

from kbnf_core import Grammar
from kbnf_core.convert import convert
from kbnf_core.languages import JSON_SCHEMA, TOOL_LIST
from kbnf_core.languages.structural_tag.presets import schema_of_arguments
from kbnf_core.lint.check import check
from kbnf_core.text.diagnostics import Diagnostic, Severity
from kbnf_core.text.errors import GrammarError
from kbnf_testing.data import DATA
from kbnf_testing.samples import examples

Verdict = set[tuple[str, str]]

SUITE = DATA / "json-schema-test-suite" / "draft2020-12"
GROUPS = [
    group["schema"]
    for file in sorted(SUITE.rglob("*.json"))
    for group in json.loads(file.read_text(encoding="utf-8"))
]
DROPPED = "W807"


def errors(found: Iterable[Diagnostic]) -> Verdict:
    return {(each.code, each.message) for each in found if each.severity is Severity.ERROR}


def raised(make: Callable[[], object]) -> Verdict:
    try:
        make()
    except GrammarError as error:
        return errors(error.diagnostics)
    return set()


def judge(schema: Any) -> Verdict:
    """Return the verdict on a schema, which all who read it share."""
    text = json.dumps(schema)
    found = errors(check(text, language=JSON_SCHEMA))
    assert raised(lambda: Grammar.from_json_schema(text)) == found
    assert raised(lambda: convert(text, JSON_SCHEMA, lossy=False)) == found
    if not found:
        assert convert(text, JSON_SCHEMA, lossy=False).losses == ()
    elif {code for code, _ in found} == {"E801"}:
        # What `--lossy` drops is an error without it.
        others = raised(lambda: convert(text, JSON_SCHEMA))
        assert "E801" not in {code for code, _ in others}
        if not others:
            assert {each.code for each in convert(text, JSON_SCHEMA).losses} == {DROPPED}
            assert Grammar.from_json_schema(text, lossy=True).losses
    return found


@pytest.mark.parametrize(
    "part",
    [number if number < 2 else pytest.param(number, marks=pytest.mark.ci) for number in range(8)],
)
def test_schemas_of_the_suite(part: int) -> None:
    verdicts = [judge(schema) for schema in GROUPS[part::8]]
    assert any(verdicts)
    assert not all(verdicts)


KEYWORDS = st.sampled_from(
    ["type", "items", "properties", "required", "minLength", "maxLength", "uniqueItems", "enum",
     "pattern", "additionalProperties", "anyOf", "oneOf", "not", "$ref", "minItems", "propertes"]
)  # fmt: skip
VALUES = st.sampled_from(
    ["string", "integer", "array", "strng", ["string", "null"], 1, 3, -1, True, False, {}, [],
     ["a"], ["a", "b"], {"type": "string"}, {"a": {"type": "integer"}}, [{"type": "string"}, {}],
     "#", "#/properties/a", "#/$defs/x", "^a$", "(?=a)b", None]
)  # fmt: skip
FITTING: dict[str, list[Any]] = {
    "type": ["string", "integer", "array", "object", ["string", "null"]],
    "items": [{"type": "string"}, {"enum": ["a", "b"]}, {"type": "array", "uniqueItems": True}],
    "properties": [{"a": {"type": "string", "minLength": 2}, "b": {"$ref": "#"}}],
    "required": [["a"], ["b"], ["c"]],
    "minLength": [0, 3],
    "maxLength": [1, 5],
    "uniqueItems": [True],
    "enum": [["a", "abc"], [1, 2]],
    "pattern": ["^a*$", "(?=a)b", "(a)\\1"],
    "additionalProperties": [False, {"type": "null"}],
    "minItems": [1, 3],
    "anyOf": [[{"type": "string"}, {"minLength": 9, "maxLength": 1}], [{"maxLength": 2}]],
    "not": [{}, {"type": "array"}],
    "$ref": ["#/properties/a", "#/missing"],
}
SOUND = st.fixed_dictionaries({}, optional={k: st.sampled_from(v) for k, v in FITTING.items()})
FAULTY = st.builds(
    lambda sound, faults: {**sound, **faults},
    SOUND,
    st.dictionaries(KEYWORDS, VALUES, max_size=1),
)


@settings(max_examples=examples(100), deadline=None)
@given(FAULTY)
def test_random_schemas(schema: Any) -> None:
    judge(schema)


@pytest.mark.slow
@settings(max_examples=examples(1_000), deadline=None)
@given(FAULTY)
def test_a_thousand_random_schemas(schema: Any) -> None:
    judge(schema)


@settings(max_examples=examples(40), deadline=None)
@given(st.lists(FAULTY, min_size=1, max_size=3))
@example([{"not": {}}])
@example([{"type": "string"}, {"not": {}}])
def test_a_list_of_tools_is_refused_where_one_of_its_schemas_is(schemas: list[Any]) -> None:
    tools = [{"name": f"t{n}", "input_schema": schema} for n, schema in enumerate(schemas)]
    text = json.dumps(tools)
    found = errors(check(text, language=TOOL_LIST))
    assert raised(lambda: Grammar.from_tools(text)) == found
    assert raised(lambda: convert(text, TOOL_LIST, lossy=False)) == found
    for number, schema in enumerate(schemas):
        alone = judge(schema_of_arguments(schema))
        here = {code for code, message in found if message.startswith(f"/{number}/")}
        assert {code for code, _ in alone} == here, schema
