"""Patterns that count characters: what may come, and how many, are together the same strings."""

import json
import re
from random import Random

import pytest

from kbnf_core import Engine, Vocabulary
from kbnf_core.automata import operations
from kbnf_core.automata.regex import compile_regex
from kbnf_core.languages.json_schema import patterns
from kbnf_core.languages.json_schema.atoms import Matching
from kbnf_core.languages.json_schema.patterns import conditions, without_count
from kbnf_testing.schemas import json_schema_grammar

BYTES = Vocabulary({value: bytes([value]) for value in range(256)})
COUNTS = ["", "", "", "*", "?", "{2}", "{0,3}", "{5,6}", "{3,6}", "{6,}", "{10}"]
ITEMS = ["a", ".", "[a-c]", "[^a]", "(?:a|b)", "(?:ab|c)", "[\\s\\S]", "é", "(?:a|bc)"]


def random_pattern(random: Random) -> str:
    parts = [random.choice(ITEMS) + random.choice(COUNTS) for _ in range(random.randint(1, 4))]
    return random.choice(["^", ""]) + "".join(parts) + random.choice(["$", ""])


@pytest.mark.parametrize("seed", range(80))
def test_both_parts_are_the_pattern(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "LARGE", 4)
    monkeypatch.setattr(patterns, "_COUNT", re.compile("{"))
    ((whole, _),) = conditions(random_pattern(Random(seed)))
    rest, length = without_count(whole)
    found = Matching(rest).dfa()
    if length is not None:
        found = operations.intersect(found, length.dfa())
    wanted = compile_regex(whole).dfa
    assert wanted is not None
    assert operations.is_equal(found, wanted), (whole, rest, length)


def test_many_are_taken_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "LARGE", 4)
    monkeypatch.setattr(patterns, "_COUNT", re.compile("{"))
    drawn = [conditions(random_pattern(Random(seed)))[0][0] for seed in range(80)]
    assert sum(without_count(whole)[1] is not None for whole in drawn) > 4


@pytest.mark.parametrize(
    "pattern",
    [
        "^.{0,32767}$",
        "^[\\s\\S]{1,60000}$",
        "^a[a-z]{0,5000}$",
        "^(.|\\n){3,20000}$",
        "^(?!x).{0,9000}$",
        ".{1,60000}",
    ],
)
def test_a_count_is_no_states(pattern: str) -> None:
    grammar = json_schema_grammar(json.dumps({"pattern": pattern, "type": "string"}))
    assert grammar.tables.state_count < 6_000


def test_bounds_hold_to_the_character() -> None:
    pattern = "^x[a-zé]{99,120}-$"
    grammar = json_schema_grammar(json.dumps({"type": "string", "pattern": pattern}))
    for count in (0, 98, 99, 100, 119, 120, 121):
        for letter in "aé":
            value = f"x{letter * count}-"
            engine = Engine(grammar, BYTES)
            text = json.dumps(value, ensure_ascii=False).encode()
            fits = engine.accept_tokens(text) == len(text) and engine.can_finish()
            assert fits == bool(re.match(pattern, value))
