"""Of more kinds of values in one place than are told apart some are written, and never a wrong one.

The limit is set so low here that schemas of the suite have too many.
"""

import json
from typing import Any

import pytest

from kbnf_core import Engine, Grammar, Vocabulary
from kbnf_core.languages.json_schema import Options, SchemaLimits
from kbnf_core.text.errors import EngineError, GrammarError
from kbnf_testing.data import DATA
from kbnf_testing.schemas import json_schema_grammar

SUITE = DATA / "json-schema-test-suite" / "draft2020-12"
GROUPS = [
    group
    for file in sorted(SUITE.glob("*.json"))
    for group in json.loads(file.read_text(encoding="utf-8"))
    if any(f'"{word}"' in json.dumps(group["schema"]) for word in ("not", "oneOf", "if", "anyOf"))
]


def narrow(schema: Any, most: int) -> tuple[Grammar | None, bool]:
    """Return the grammar of a schema with so many kinds, and whether some were left out."""
    options = Options(limits=SchemaLimits(alternatives=most))
    try:
        grammar = json_schema_grammar(json.dumps(schema), options)
    except GrammarError:
        return None, False
    told = (
        each.code == "W808" and "kinds of values" in each.message for each in grammar.diagnostics
    )
    return grammar, any(told)


def allows(grammar: Grammar, value: Any) -> bool:
    engine = Engine(grammar, Vocabulary.bytes())
    try:
        engine.try_accept_new_bytes(json.dumps(value, ensure_ascii=False).encode())
    except EngineError:
        return False
    return engine.is_finished() or engine.can_finish()


@pytest.mark.parametrize("most", [1, 2, 3])
def test_no_invalid_value_of_the_suite_is_accepted(most: int) -> None:
    narrowed = kept = 0
    for group in GROUPS:
        grammar, is_narrowed = narrow(group["schema"], most)
        narrowed += is_narrowed
        for test in group["tests"] if grammar is not None and is_narrowed else ():
            found = allows(grammar, test["data"])
            kept += found
            assert not found or test["valid"], (group["description"], test["description"])
    assert narrowed >= 3
    assert kept >= 3
