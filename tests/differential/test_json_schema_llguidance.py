"""The same schemas to llguidance, byte by byte: one verdict on JSON texts and near misses."""

import importlib
import json
import random
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import pytest

from kbnf_core import Engine, Grammar, Vocabulary
from kbnf_core.errors import EngineError
from kbnf_core.languages.json_schema import Options, Standard, from_json_schema

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


def our_judge(schema: Any) -> Callable[[bytes], bool]:
    options = Options(standard=Standard.LLGUIDANCE)
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
