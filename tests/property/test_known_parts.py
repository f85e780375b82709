"""Sets of tools have the masks that they have where nothing is remembered."""

from random import Random
from typing import Any

import pytest

from kbnf_core import Grammar, Vocabulary
from kbnf_core.languages.json_schema.simple_schemas import PARTS
from kbnf_testing.schemas import masks_differ

NAMES = ("a", "ab", "abc", "b", "é", 'q"')
TOKENS = ('{"name":"', '"arguments":', '","', '":"', '":', "{}", "}}", '"ab', "abc", "12", "true,")
BYTES = [bytes([byte]) for byte in range(256)]
END = 256 + len(TOKENS)
VOCABULARY = Vocabulary(dict(enumerate([*BYTES, *map(str.encode, TOKENS)])), eos_token_id=END)
TEXTS = ({"type": "string", "pattern": "^[a-c]{3,40}x"}, {"type": "string", "maxLength": 200})
INNER = {"v": {"type": "integer"}, "next": {"$ref": "#/$defs/tree"}}
TREE = {"type": "object", "properties": INNER}


def value(chance: Random, depth: int) -> Any:
    """Return a schema of any kind: simple ones, counted ones, open and closed objects."""
    kinds: list[Any] = [
        {"type": "string"}, {"type": "integer"}, {"type": "number"}, {"type": "boolean"}, True,
        {"enum": ["a", "ab", "x"]}, {"enum": [1, None, "a"]}, {"const": "b"},
        {"type": "string", "maxLength": chance.choice([3, 200])},
        {"type": "string", "pattern": "^[ab]*c$"}, {"type": ["string", "null"]},
        {"type": "integer", "minimum": 3, "maximum": 40}, {"$ref": "#/$defs/tree"},
    ]  # fmt: skip
    if depth:
        array = {"type": "array", "items": value(chance, depth - 1)}
        kinds += [
            {**array, "maxItems": chance.choice([2, 150])}, array,
            *[object_of(chance, depth - 1) for _ in range(3)],
        ]  # fmt: skip
    return chance.choice(kinds)


def object_of(chance: Random, depth: int) -> dict[str, Any]:
    """Return a schema of objects with a few members."""
    names = chance.sample(NAMES, chance.randrange(4))
    found: dict[str, Any] = {
        "type": "object",
        "properties": {name: value(chance, depth) for name in names},
        "required": chance.sample(names, chance.randrange(len(names) + 1)),
    }
    if chance.random() < 0.2 and depth:
        # That is a part of another kind, with names that others outside of it may have.
        found["properties"]["b"] = chance.choice(TEXTS)
        found["minProperties"] = 1
    if chance.random() < 0.6:
        found["additionalProperties"] = chance.choice([False, {"type": "null"}])
    return found


def tool(chance: Random, name: str) -> dict[str, Any]:
    """Return a schema of calls, or of any objects."""
    if chance.random() < 0.2:
        return object_of(chance, 1)
    properties = {"name": {"const": name}, "arguments": object_of(chance, 2)}
    closed = {"additionalProperties": False} if chance.random() < 0.7 else {}
    return {"type": "object", "properties": properties, "required": [*properties], **closed}


@pytest.mark.parametrize("seed", range(40))
def test_known_tools_have_the_same_masks(seed: int) -> None:
    chance = Random(seed)
    count = chance.choice([2, 3, 6])
    names = [f"{chance.choice(NAMES)}{chance.choice(NAMES)}" for _ in range(count)]
    tools = [tool(chance, name) for name in names]
    lists = [{"type": "array", "items": each, "minItems": 1} for each in TEXTS]
    others = [{"type": "null"}, {"enum": ["a", 1]}, {"type": "array"}, *TEXTS, *lists]

    def grammar(chosen: list[Any]) -> Grammar:
        # What is nothing but alternatives is known by texts.
        named = {"$defs": {"tree": TREE}} if "$ref" in str(chosen) else {}
        schema = {"anyOf": chosen, **named}
        found = Grammar.from_json_schema(schema, lossy=True, whitespace="flexible")
        _ = found.tables
        return found

    more = [*tools, *chance.sample(others, chance.randrange(3))]
    sets = [chance.sample(more, len(more)), chance.sample(more, len(more) - 1), more]
    plain = []
    for each in sets:
        PARTS.clear()
        plain.append(grammar(each))
    PARTS.clear()
    for wanted, chosen in zip(plain, sets, strict=True):
        found = grammar(chosen)
        assert [masks_differ(wanted, found, walk, VOCABULARY) for walk in range(6)] == [None] * 6
