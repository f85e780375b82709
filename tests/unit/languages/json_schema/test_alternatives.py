"""What is known of alternatives by their contents is what looking at them again would tell."""

import json
from random import Random
from typing import Any

import pytest

from kbnf_core.languages.json_schema.alternatives import NONE, alternatives_of
from kbnf_core.languages.json_schema.document import read_json, refuse_deep
from kbnf_core.languages.json_schema.expressions import has_marks
from kbnf_core.languages.json_schema.problems import ProblemError
from kbnf_core.languages.json_schema.quick_validate import is_sound

DRAFTS = (4, 6, 7)
POOL: tuple[Any, ...] = (
    *({"type": "object"}, {"type": "x"}, {"items": [True]}, {"exclusiveMinimum": 1}, {}, True, 3),
    {"anyOf": [{"type": "string"}, {"minimum": "1"}]},
    {"const": [[[[[1]]]]]},
    {"default": {"$dynamicAnchor": "a"}},
    {"properties": {"a": {"properties": {"b": {"enum": []}}}}},
)


def is_deep(value: Any, most: int, known: Any = NONE) -> bool:
    """Tell whether values are nested more deeply than that."""
    try:
        refuse_deep(value, most, known)
    except ProblemError:
        return True
    return False


@pytest.mark.parametrize("seed", range(40))
def test_known_alternatives_are_as_they_are_found(seed: int) -> None:
    random = Random(seed)
    for _ in range(20):
        listed = random.choices(POOL, k=random.randrange(1, 5))
        draft = {"$schema": f"http://json-schema.org/draft-0{random.choice(DRAFTS)}/schema#"}
        schema = {**random.choice([draft, {}]), "anyOf": listed}
        value = read_json(json.dumps(schema))
        known = alternatives_of(value)
        assert len(known) == (
            sum(isinstance(each, dict) for each in listed) if len(listed) > 1 else 0
        )
        for _ in range(2):
            assert is_sound(value, known) is is_sound(value)
            assert has_marks(value, known) is has_marks(value)
            most = random.randrange(9)
            assert is_deep(value, most, known) is is_deep(value, most)
