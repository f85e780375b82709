"""Of more kinds of values in one place than are told apart some are written, and never a wrong one.

The limit is set so low here that random combinations of objects and arrays have too many.
"""

import json
from decimal import Decimal
from random import Random
from typing import Any

import jsonschema_rs
import pytest

from kbnf_core import Engine, Grammar, Vocabulary
from kbnf_core.languages.json_schema import Options, SchemaLimits
from kbnf_core.text.errors import GrammarError
from kbnf_testing.schemas import json_schema_grammar

BYTES = Vocabulary.bytes()
TYPES: tuple[Any, ...] = ({"type": "integer"}, {"type": "null"}, {"const": 1}, {"type": "string"})
SAID = "kinds of values in one place"


def drawn_object(random: Random) -> Any:
    names = random.sample("abc", random.randint(1, 3))
    found: dict[str, Any] = {
        "type": "object",
        "properties": {name: random.choice(TYPES) for name in names},
        "required": random.sample(names, random.randint(0, len(names))),
    }
    if random.random() < 0.5:
        found["additionalProperties"] = False
    return found


def drawn(random: Random, depth: int) -> Any:
    """Return a schema of objects and arrays in ``oneOf``, ``not``, ``if`` and the like."""
    kind = random.choice(("object", "oneOf", "anyOf", "allOf", "not", "if", "array"))
    if depth == 0 or kind == "object":
        return drawn_object(random)
    parts = [drawn(random, depth - 1) for _ in range(3)]
    match kind:
        case "not":
            return {"type": "object", "properties": parts[0].get("properties", {}), "not": parts[1]}
        case "if":
            return {"if": parts[0], "then": parts[1], "else": parts[2]}
        case "array":
            return {"type": "array", "prefixItems": parts, "minItems": random.randint(0, 3)}
        case _:
            return {kind: parts}


def value_of(data: bytes) -> Any:
    """Return a value in which a fraction is one, however many digits are before it."""

    def number(text: str) -> float:
        _, below = Decimal(text).as_integer_ratio()
        return 0.5 if below > 1 else float(text)

    return json.loads(data, parse_float=number)


def narrowed(schema: Any, most: int) -> Grammar | None:
    """Return the grammar of a schema, told apart so many kinds; None where all were written."""
    options = Options(limits=SchemaLimits(alternatives=most))
    try:
        grammar = json_schema_grammar(json.dumps(schema), options)
    except GrammarError:
        return None
    return grammar if any(SAID in each.message for each in grammar.diagnostics) else None


@pytest.mark.parametrize("most", [2, 3, 5])
def test_what_is_written_of_too_many_kinds_is_valid(most: int) -> None:
    random = Random(most)
    found = 0
    for _ in range(60):
        schema = drawn(random, 2)
        grammar = narrowed(schema, most)
        if grammar is None:
            continue
        found += 1
        judge = jsonschema_rs.validator_for(schema)
        engine = Engine(grammar, BYTES)
        for length in (8, 60, 200):
            sample = engine.sample(random, length)
            tokens = [each for each in sample.tokens if each not in BYTES.eos_token_ids]
            data = BYTES.decode(tokens)
            if sample.is_complete:
                assert judge.is_valid(value_of(data)), (schema, data)
    assert found > 5


def test_a_schema_that_was_refused_for_its_kinds_is_written_in_part() -> None:
    parts = [
        {"properties": {name: {"type": kind} for name in names}}
        for names, kind in (
            ("abc", "integer"),
            ("bcd", "null"),
            ("cda", "string"),
            ("dab", "array"),
        )
    ]
    schema = {"type": "object", "oneOf": parts}
    grammar = narrowed(schema, 2)
    assert grammar is not None
    (note,) = {each.message for each in grammar.diagnostics if SAID in each.message}
    assert note.endswith("of more than 2 kinds of values in one place only some are written")
    assert narrowed(schema, 256) is None


def test_of_exponentially_many_kinds_some_are_written() -> None:
    pairs = [{"anyOf": [{"required": [f"{name}{i}"]} for name in "xy"]} for i in range(30)]
    grammar = narrowed({"type": "object", "allOf": pairs}, SchemaLimits().alternatives)
    assert grammar is not None
    completion = Engine(grammar, BYTES).shortest_completion()
    assert completion is not None
    assert completion.data is not None
    assert all({f"x{i}", f"y{i}"} & json.loads(completion.data).keys() for i in range(30))
