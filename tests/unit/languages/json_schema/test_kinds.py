"""Schemas of the kinds that models are asked to write: calls, extraction, configuration, trees.

``jsonschema`` says the same of every value in ``kinds.json``; so does the grammar, of its compact
and its indented text. Members of the valid values are in the order of the schema.
"""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from kbnf_core import Engine, Grammar, Vocabulary
from kbnf_core.text.errors import EngineError
from kbnf_testing.schemas import json_schema_grammar

KINDS: list[dict[str, Any]] = json.loads(
    (Path(__file__).with_name("kinds.json")).read_text(encoding="utf-8")
)


def allows(grammar: Grammar, text: str) -> bool:
    engine = Engine(grammar, Vocabulary.bytes())
    try:
        engine.try_accept_new_bytes(text.encode())
    except EngineError:
        return False
    return engine.is_finished() or engine.can_finish()


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: str(kind["name"]))
def test_values_are_judged_as_jsonschema_judges_them(kind: dict[str, Any]) -> None:
    grammar = json_schema_grammar(json.dumps(kind["schema"]))
    judge = jsonschema.Draft202012Validator(kind["schema"])
    for is_valid, values in ((True, kind["valid"]), (False, kind["invalid"])):
        assert values
        for value in values:
            assert judge.is_valid(value) == is_valid, value
            for indent in (None, 2):
                text = json.dumps(value, ensure_ascii=False, indent=indent)
                assert allows(grammar, text) == is_valid, text
