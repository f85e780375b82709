"""Integers of 64 bits: all of them, and their automata beside arithmetic."""

import json
from random import Random
from typing import Any

import pytest

from kbnf_core import Engine, Grammar, Vocabulary
from kbnf_core.convert import from_json_schema
from kbnf_core.languages.json_schema.value_sets import HIGHEST, LOWEST
from kbnf_core.text.errors import EngineError

VOCABULARY = Vocabulary.bytes()
SCHEMAS: dict[str, tuple[dict[str, Any], int, int, int]] = {
    "all": ({}, LOWEST, HIGHEST, 1),
    "from a bound": ({"minimum": -5}, -5, HIGHEST, 1),
    "to a bound": ({"exclusiveMaximum": 100}, LOWEST, 99, 1),
    "next to the highest": ({"maximum": HIGHEST - 1, "minimum": 3}, 3, HIGHEST - 1, 1),
    "next to the lowest": ({"minimum": LOWEST + 1}, LOWEST + 1, HIGHEST, 1),
    "only high ones": ({"minimum": 91 * 10**17}, 91 * 10**17, HIGHEST, 1),
    "multiples": ({"multipleOf": 5}, LOWEST, HIGHEST, 5),
}


def _near(rng: Random) -> int:
    power = 10 ** rng.randint(0, 18)
    middles = 0, 9 * 10**18, -9 * 10**18, 92233 * 10**14, HIGHEST // power * power
    around = rng.choice((LOWEST, HIGHEST, *middles))
    return around + rng.choice((0, 1, -1, rng.randint(-power, power)))


def _accepts(engine: Engine, text: str) -> bool:
    engine.reset()
    try:
        engine.try_accept_new_bytes(text.encode())
    except EngineError:
        return False
    return engine.is_finished() or engine.can_finish()


@pytest.mark.parametrize("name", SCHEMAS)
def test_masks_and_texts_agree_with_arithmetic(name: str) -> None:
    keywords, low, high, divisor = SCHEMAS[name]
    schema = json.dumps({"type": "integer", **keywords})
    run = Engine(Grammar.from_json_schema(schema), VOCABULARY)
    written = Engine(Grammar(from_json_schema(schema).text), VOCABULARY)
    rng = Random(63)
    bounds = {low - 1, low, high, high + 1, LOWEST - 1, HIGHEST + 1}
    numbers = bounds | {_near(rng) for _ in range(200)}
    for number in numbers:
        wanted = low <= number <= high and number % divisor == 0
        for engine in (run, written):
            assert _accepts(engine, str(number)) is wanted, number


def test_the_text_of_a_bound_calls_the_shared_rule() -> None:
    text = from_json_schema(json.dumps({"type": "integer", "minimum": 1})).text
    assert "start ::= #'[1-8]|(?:9|[1-8][0-9])[0-9]{0,17}' | int64_high;" in text
    bounded = from_json_schema('{"type": "integer", "maximum": 9, "minimum": 1}')
    assert "int64" not in bounded.text
