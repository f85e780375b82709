"""Places of a schema's grammar: JSON Pointers, and spans of the text that the author wrote."""

import json
from dataclasses import replace
from typing import Any

import pytest

from kbnf_core import Engine, Grammar, Vocabulary
from kbnf_core.languages import JSON_SCHEMA
from kbnf_core.languages.json_schema import SchemaLimits
from kbnf_core.text.diagnostics.formats import findings_value
from kbnf_core.text.errors import GrammarError
from kbnf_core.text.limits import DEFAULT_LIMITS
from kbnf_core.text.source import Source, pointers
from kbnf_testing.schemas import json_schema_grammar

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "a": {"type": "integer"},
        "b": {"type": "integer"},
        "kind": {"enum": ["circle", "square"]},
        "list": {"type": "array", "items": {"$ref": "#/$defs/Thing"}},
        "mail": {"type": "string", "format": "email"},
        "more": {"type": "string", "format": "email"},
        "x/y": {"allOf": [{"minimum": 3}, {"type": "integer"}]},
    },
    "required": ["a", "b"],
    "additionalProperties": False,
    "$defs": {
        "Thing": {
            "anyOf": [
                {"type": "object", "properties": {"x": {"type": "string", "maxLength": 5}}},
                {"type": "boolean"},
            ]
        }
    },
}


def places_after(schema: dict[str, Any], prefix: str) -> set[str | None]:
    """Return the JSON Pointers of the symbols that may come after a text."""
    grammar = json_schema_grammar(json.dumps(schema, indent=2))
    engine = Engine(grammar, Vocabulary.bytes())
    engine.try_accept_new_bytes(prefix.encode())
    return {grammar.source.pointer(site.span) for site in engine.why(b"").sites}


@pytest.mark.parametrize(
    ("prefix", "expected"),
    [
        ('{"a": ', {"/properties/a"}),
        ('{"a": 1, "b": ', {"/properties/b"}),
        ('{"a": 1, "b": 1, "kind": "s', {"/properties/kind"}),
        ('{"a": 1, "b": 1, "list": ', {"/properties/list"}),
        (
            '{"a": 1, "b": 1, "list": [',
            {"/properties/list", "/$defs/Thing/anyOf/0", "/$defs/Thing/anyOf/1"},
        ),
        ('{"a": 1, "b": 1, "list": [t', {"/$defs/Thing/anyOf/1"}),
        ('{"a": 1, "b": 1, "list": [{"x": "', {"/$defs/Thing/anyOf/0/properties/x"}),
        ('{"a": 1, "b": 1, "mail": "', {"/properties/mail"}),
        ('{"a": 1, "b": 1, "more": "', {"/properties/more"}),
        ('{"a": 1, "b": 1, "x/y": ', {"/properties/x~1y"}),
    ],
)
def test_what_may_come_is_at_its_schema(prefix: str, expected: set[str]) -> None:
    assert places_after(SCHEMA, prefix) == expected


def test_the_span_is_that_of_the_name_in_the_text() -> None:
    text = json.dumps(SCHEMA, indent=2)
    source = json_schema_grammar(text).source
    assert source.slice(source.locate("/properties/x~1y")) == '"x/y"'
    assert source.slice(source.locate("/required/1")) == '"b"'
    assert source.locate("") == source.locate("/no/where") == (0, 1)
    assert dict(pointers(text))["/properties/x~1y"] == source.locate("/properties/x~1y")
    assert Source(text).pointer(source.locate("/required/1")) is None


def test_places_are_not_looked_for_until_somebody_asks() -> None:
    grammar = json_schema_grammar(json.dumps(SCHEMA))
    Engine(grammar, Vocabulary.bytes()).compute_allowed_token_ids()
    assert "places" not in vars(grammar.source)
    assert "named" not in vars(grammar.reading)


def test_the_rules_of_members_do_not_count_to_the_limit_of_rules() -> None:
    members = {"properties": {name: {"type": "integer"} for name in "abc"}, "required": ["a"]}
    objects = {f"o{number}": {"type": "object", **members} for number in range(60)}
    schema = {"properties": objects, "required": ["o0"]}
    grammar = Grammar.from_json_schema(schema, limits=SchemaLimits(rules=100))
    assert len(grammar.rules.rules) < 100
    assert grammar.reading.named is not None
    assert {"o0", "o59_value", "a"} <= grammar.reading.named.rules.keys()


@pytest.mark.parametrize(
    ("limits", "code"), [({"grammar_states": 200}, "E106"), ({"work": 10_000}, "E107")]
)
def test_a_limit_names_the_schema_that_passes_it(limits: dict[str, int], code: str) -> None:
    large = {"enum": [f"a rather long text {number * number}" for number in range(60)]}
    properties = {"small": {"type": "integer"}, "large": {"items": large}}
    schema = {"properties": properties, "maxProperties": 9}
    text = json.dumps(schema, indent=2)
    own = {"whitespace": "compact"}
    bounds = replace(DEFAULT_LIMITS, **limits)
    with pytest.raises(GrammarError) as caught:
        _ = Grammar.read(text, JSON_SCHEMA, limits=bounds, options=own).tables
    (finding,) = caught.value.diagnostics
    assert (finding.code, finding.pointer) == (code, "/properties/large")
    (value,) = findings_value([finding], 1)["diagnostics"]
    assert value["pointer"] == "/properties/large"
    assert value["span"]["start"]["line"] == 6


@pytest.mark.parametrize("keyword", ["format", "pattern"])
def test_the_rules_of_a_text_are_at_the_schemas_that_have_it(keyword: str) -> None:
    text = {"type": "string", keyword: {"format": "uri", "pattern": "^(?:ab){40}[^x]*$"}[keyword]}
    schema = {"properties": {"a": text, "b": text}, "required": ["a", "b"]}
    assert places_after(schema, '{"a": "') == {"/properties/a"}
