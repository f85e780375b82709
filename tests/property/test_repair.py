"""Repairs cost as little as a search through all texts finds, and name what they lose."""

import json
from random import Random

import pytest

from kbnf_core import Grammar
from kbnf_testing.repairs import GivenUpError, compare
from kbnf_testing.samples import seeds


@pytest.mark.parametrize("seed", seeds(600, ordinary=60, ci=200))
def test_a_repair_costs_the_least(seed: int) -> None:
    try:
        compare(seed)
    except GivenUpError:
        pytest.skip("too many beginnings to try one by one")


OBJECT = Grammar.from_json_schema(
    {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "size": {"type": "number"},
            "list": {"type": "array", "items": {"type": ["integer", "string"]}},
        },
        "required": ["name"],
        "additionalProperties": False,
    },
    whitespace="flexible",
)


@pytest.mark.parametrize("seed", seeds(400, ordinary=30, ci=100))
def test_letters_that_are_not_in_the_result_are_lost(seed: int) -> None:
    random = Random(seed)
    words = ["ab", "12", "c d", 'x "y" z', "5.25", "e: f, g"]
    value = {
        "name": random.choice(words),
        "size": random.randrange(1, 99),
        "list": random.choices(words, k=2),
    }
    text = json.dumps(value)
    for _ in range(random.randrange(1, 4)):
        at = random.randrange(len(text))
        text = text[:at] + random.choice(['"', ",", "x", " ", "}", ""]) + text[at + 1 :]
    for found in OBJECT.repair(text, best=3):
        if not found.lost and all(edit.kind != "swap" for edit in found.edits):
            result = iter(found.text)
            kept = [letter for letter in text if letter.isalnum()]
            assert all(letter in result for letter in kept), (text, found)
