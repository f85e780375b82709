"""The same schemas to llguidance, byte by byte: one verdict on JSON texts and near misses."""

import importlib
import itertools
import json
import random
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import pytest

from kbnf_core import Engine, Grammar, Vocabulary
from kbnf_core.convert import from_json_schema, from_lark
from kbnf_core.languages.json_schema import schema_options
from kbnf_core.text.errors import EngineError, GrammarError

pytestmark = pytest.mark.skipif(
    find_spec("llguidance") is None, reason="llguidance is not installed (extra `bench`)"
)

OBJECT = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "string"}, "c": {}},
    "required": ["b"],
}
SCHEMAS: list[Any] = [
    {},
    {"type": "number"},
    {"type": "integer"},
    {"type": "integer", "minimum": -5, "maximum": 120},
    {"type": "integer", "exclusiveMinimum": 0},
    {"type": "number", "minimum": -1.5, "exclusiveMaximum": 10.25},
    {"type": "number", "multipleOf": 0.5},
    {"type": "integer", "multipleOf": 3},
    {"type": "string"},
    {"type": "string", "minLength": 1, "maxLength": 3},
    {"type": "string", "pattern": "^a|b$"},
    {"type": "string", "pattern": "[^a]\\d", "maxLength": 4},
    *({"type": "string", "format": name} for name in ("date", "time", "date-time", "uuid")),
    *({"type": "string", "format": name} for name in ("ipv4", "ipv6", "hostname", "email")),
    {"enum": [1, "a", None, {"b": [1, 2]}]},
    {"type": "array", "items": {"type": "boolean"}, "minItems": 1, "maxItems": 3},
    {"type": "array", "prefixItems": [{"type": "null"}, {"type": "integer"}], "items": False},
    OBJECT,
    {**OBJECT, "additionalProperties": False},
    {**OBJECT, "additionalProperties": {"type": "null"}},
    {"type": "object", "patternProperties": {"^x": {"type": "integer"}}},
    {"type": "object", "required": ["q", "p"]},
    {"type": "object", "minProperties": 1},
    {"anyOf": [OBJECT, {"type": "integer"}]},
    {"allOf": [OBJECT, {"properties": {"c": {"type": "null"}}}]},
    {"$ref": "#/$defs/t", "$defs": {"t": {"type": "array", "items": {"$ref": "#/$defs/t"}}}},
]
SEEDS = [
    "0", "-0", "12", "120", "121", "-5", "1.5", "10.25", "10.2", "-1.50", "1e3", "2.00", "3", "9",
    '""', '"a"', '"ab"', '"b1"', '"xb"', '"abcd"', '"é"',
    '"\\n"', '"\\u0001"', '"\\u0041"', '"\\/"',
    '"2024-02-29"', '"2024-02-29T10:00:00Z"', '"10:00:60.5+01:00"', '"127.0.0.1"', '"::1"',
    '"1:2:3:4:5:6:7:8"', '"a-b.example"', '"x.y+z@a.example"', '"a@[127.0.0.1]"',
    '"123e4567-e89b-12d3-a456-426614174000"',
    "null", "true", "[]", "[true, false]", "[null, 1]", "[[], [[]]]", "{}", '{"b": [1, 2]}',
    '{"b": ""}', '{"a": 1, "b": "x", "c": null}', '{"b": "x", "d": null}', '{"xa": 1, "y": "s"}',
    '{"q": 1, "p": 2}', '{ "a" :1 ,\n"b": "" }',
]  # fmt: skip


def near_misses(text: str, count: int) -> list[str]:
    """Return texts with one character taken out, doubled or replaced."""
    rng = random.Random(text)
    found = [text]
    for _ in range(count):
        place = rng.randrange(len(text))
        middle = rng.choice(["", text[place] * 2, rng.choice('0159-.,:"\\{}[]eabT \t\x7f')])
        found.append(text[:place] + middle + text[place + 1 :])
    return found


TEXTS = sorted({text for seed in SEEDS for text in near_misses(seed, 12)})


THEIR_ERRORS = {
    '{"type": "number", "minimum": -1.5, "exclusiveMaximum": 10.25}': {"-0", "-1.50", "10.2"},
}
"""Numbers within bounds that llguidance refuses: signed zero, other decimals than the bound."""


def their_judge(schema: Any) -> Callable[[bytes], bool]:
    library = importlib.import_module("llguidance")
    tokenizer = library.LLTokenizer("byte")
    grammar = library.LLMatcher.grammar_from_json_schema(schema)
    assert not library.LLMatcher(tokenizer, grammar, log_level=0).is_error()

    def judge(data: bytes) -> bool:
        matcher = library.LLMatcher(tokenizer, grammar, log_level=0)
        return bool(matcher.try_consume_tokens(list(data)) == len(data) and matcher.is_accepting())

    return judge


def our_judge(schema: Any, **wanted: Any) -> Callable[[bytes], bool]:
    options = schema_options(**wanted or {"standard": "llguidance"})
    grammar = Grammar(from_json_schema(json.dumps(schema), options).text, finish="eos")
    vocabulary = Vocabulary.bytes()

    def judge(data: bytes) -> bool:
        engine = Engine(grammar, vocabulary)
        try:
            engine.try_accept_new_bytes(data)
        except EngineError:
            return False
        return engine.can_finish()

    return judge


@pytest.mark.parametrize("schema", SCHEMAS, ids=json.dumps)
def test_same_verdicts(schema: Any) -> None:
    ours, theirs = our_judge(schema), their_judge(schema)
    differing = {
        text: (ours(text.encode()), theirs(text.encode()))
        for text in TEXTS
        if ours(text.encode()) != theirs(text.encode())
        and text not in THEIR_ERRORS.get(json.dumps(schema), ())
    }
    assert differing == {}


REASONS: dict[str, dict[str, Any]] = {
    "whitespace": {"whitespace": "flexible"},
    "digits": {"digits": "any"},
    "formats": {"formats": "rfc"},
}
"""Why a text that llguidance takes is not written by default, or the other way round, by name."""

LEAP_SECONDS = {'"10:00:60.5+01:00"'}
"""Seconds of 60 at any time, which llguidance alone takes."""


@pytest.mark.parametrize("schema", SCHEMAS, ids=json.dumps)
def test_each_difference_by_default_has_a_reason(schema: Any) -> None:
    theirs = their_judge(schema)
    by_default = {"": {"order": "declared"}}
    ours = {why: our_judge(schema, **wanted) for why, wanted in {**by_default, **REASONS}.items()}
    known = THEIR_ERRORS.get(json.dumps(schema), set())
    unnamed = [
        text
        for text in set(TEXTS) - LEAP_SECONDS
        if ours[""](data := text.encode()) != (theirs(data) or text in known)
        and not any(ours[reason](data) == theirs(data) for reason in REASONS)
        # U+007F is itself in our strings (RFC 8259), in theirs an escape only.
        and not (ours[""](data) and theirs(data.replace(b"\x7f", rb"\u007f")))
    ]
    assert unnamed == []


GUIDANCE: list[dict[str, Any]] = [
    {},
    {"item_separator": ", "},
    {"key_separator": ": "},
    {"item_separator": ", ", "key_separator": ": ", "whitespace_flexible": False},
    {"item_separator": "[,;]", "whitespace_flexible": False},
    {"whitespace_flexible": False},
    {"whitespace_pattern": " "},
    {"whitespace_pattern": " ?", "whitespace_flexible": False},
    {"whitespace_pattern": ""},
    {"whitespace_pattern": None},
    {"json_allowed_escapes": "n"},
    {"json_allowed_escapes": "nu"},
    {"json_allowed_escapes": ""},
    {"json_allow_general_unicode_escapes": True},
    {"json_allow_general_unicode_escapes": True, "json_allowed_escapes": "n"},
    {"json_allow_general_unicode_escapes": True, "json_allowed_escapes": "nu"},
]
GUIDED: list[tuple[dict[str, Any], list[str]]] = [
    (
        {
            "properties": {"a": {"type": "integer"}, "b": {"items": {"type": "integer"}}},
            "required": ["a"],
        },
        [
            '{"a":1}', '{ "a":1}', '{"a": 1}', '{"a":1,"b":[1,2]}', '{"a":1, "b":[1, 2]}',
            '{"a": 1, "b": [1, 2]}', '{"a":1;"b":[1;2]}', '{"a":1 ,"b":[1,2]}', '{"a" :1}',
            '{"a":1\n,"b":[1,2]}', '{"a"  :1}', '{"a":1 }', '{"a":1, "b":[ ]}',
            '{"a":1,"x":{"y":1,"z":[1,2]}}', '{"a":1, "x":{"y":1, "z":[1, 2]}}',
            '{"a":1,"\\u0062":1}', '{"a":1,"\\u0062x":1}', '{"a":1,"\\u000a":1}', '{"a":1,"\\n":1}',
        ],
    ),
    *(
        (
            schema,
            [
                '"\\u0041"', '"\\u0001"', '"\\n"', '"\\/"', '"\\""', '"\\\\"', '"a"', '"A"',
                '"\\u000A"', '"\\u007f"', '"\\t"', '"\x7f"', '"\\b"', '"\\ud800"',
                '"\\ud83d\\ude00"', '"\\u005c"', '"\\u0009"',
            ],
        )
        for schema in (
            {"type": "string"},
            {"type": "string", "maxLength": 1},
            {"type": "string", "pattern": "."},
            {"enum": ["A", "\n", "/", "\x7f", "\x01"]},
            {},
        )
    ),
]  # fmt: skip


@pytest.mark.parametrize("guidance", GUIDANCE, ids=json.dumps)
@pytest.mark.parametrize(("schema", "texts"), GUIDED, ids=str)
def test_guidance(schema: dict[str, Any], texts: list[str], guidance: dict[str, Any]) -> None:
    guided = {**schema, "x-guidance": guidance}
    ours, theirs = our_judge(guided), their_judge(guided)
    verdicts = {text: (ours(text.encode()), theirs(text.encode())) for text in texts}
    assert {text: both for text, both in verdicts.items() if both[0] != both[1]} == {}


@pytest.mark.parametrize(
    "guidance",
    [
        1,
        None,
        {"foo": 1},
        {"lenient": 1},
        {"whitespace_flexible": "no"},
        {"item_separator": 1},
        {"item_separator": "["},
        {"key_separator": "(?=x)"},
        {"json_allowed_escapes": "/"},
        {"json_allowed_escapes": "q"},
    ],
    ids=json.dumps,
)
def test_wrong_guidance_is_refused_by_both(guidance: Any) -> None:
    schema = {"type": "array", "x-guidance": guidance}
    library = importlib.import_module("llguidance")
    grammar = library.LLMatcher.grammar_from_json_schema(schema)
    assert library.LLMatcher(library.LLTokenizer("byte"), grammar, log_level=0).is_error()
    embedded = "start: %json " + json.dumps(schema) + "\n"
    for refused in (lambda: our_judge(schema), lambda: from_lark(embedded)):
        with pytest.raises(GrammarError, match="x-guidance"):
            refused()


@pytest.mark.parametrize(
    ("schema", "texts"),
    [
        ({"oneOf": [{"type": "integer"}, {"minimum": 2}]}, ["1", "3", '"a"']),
        ({"type": "string", "not": {"const": "a"}}, ['"a"', '"b"', "1"]),
        ({"type": "array", "uniqueItems": True, "items": {"type": "null"}}, ["[]", "[null,null]"]),
    ],
    ids=str,
)
def test_lenient_drops_and_says_so(schema: dict[str, Any], texts: list[str]) -> None:
    lenient = {**schema, "x-guidance": {"lenient": True}}
    options = schema_options(standard="llguidance")
    ours, theirs = our_judge(lenient), their_judge(lenient)
    assert [ours(text.encode()) for text in texts] == [theirs(text.encode()) for text in texts]
    losses = from_json_schema(json.dumps(lenient), options).losses
    assert bool(losses) == ("oneOf" not in schema)
    conversion = from_lark("start: %json " + json.dumps(lenient) + "\n")
    assert conversion.exact == ("oneOf" in schema)


@pytest.mark.parametrize(
    "schema",
    [
        {"allOf": [{"properties": {"b": {"type": "integer"}}}], "properties": {"a": {}}},
        {"type": "object", "anyOf": [{"properties": {"b": {}}}], "properties": {"a": {}}},
        {"oneOf": [{"properties": {"b": {}}}], "required": ["z"], "properties": {"a": {}}},
        {"required": ["z"], "anyOf": [{"properties": {"b": {}}}], "properties": {"a": {}}},
        {
            "additionalProperties": {"type": "integer"},
            "anyOf": [{"properties": {"b": {}}}],
            "properties": {"a": {}},
        },
        {"$ref": "#/$defs/b", "$defs": {"b": {"properties": {"b": {}}}}, "properties": {"a": {}}},
    ],
    ids=json.dumps,
)
def test_members_come_in_the_order_of_the_keywords(schema: dict[str, Any]) -> None:
    ours, theirs = our_judge(schema), their_judge(schema)
    for names in itertools.permutations(("a", "b", "z")):
        for count in range(4):
            text = json.dumps(dict.fromkeys(names[:count], 1)).encode()
            assert ours(text) == theirs(text), text
