"""Values of texts, whole and unfinished."""

import json
from random import Random
from typing import Any

import pytest

from kbnf_core import Engine, Grammar, ParseError, Vocabulary
from kbnf_core.parse.follow import NOTHING_YET, JsonReader

TEXTS = [
    '{"a": [1, -2.5e3, true], "b": {"c": null, "d": ""}, "e": "x\\n\\u00e9\\ud83d\\ude00é😀"}',
    '[[], {}, [[1], "a\\"b\\\\"], "\\ud800", "\\ud800\\u0041", "\\ud800x", 0]',
    '"text"',
    "12",
    " true ",
    '{"a": 1, "a": {"a": "twice"}}',
]


def partial_value(data: bytes) -> Any:
    reader = JsonReader()
    reader.feed(data)
    return reader.value


def contains(whole: Any, part: Any) -> bool:
    """Return whether what is certain of a value is in the value."""
    if part is NOTHING_YET:
        return True
    if isinstance(part, dict):
        return list(part) == list(whole)[: len(part)] and all(
            name == "a" or contains(whole[name], value) for name, value in part.items()
        )
    if isinstance(part, list):
        return len(part) <= len(whole) and all(map(contains, whole, part))
    return bool(whole.startswith(part) if isinstance(part, str) else whole == part)


@pytest.mark.parametrize("text", TEXTS)
def test_a_whole_text_has_the_value_that_json_has(text: str) -> None:
    reader = JsonReader()
    reader.feed(text.encode(), final=True)
    assert reader.value == json.loads(text)
    assert reader.is_complete


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_certain_at_every_byte_stays(text: str) -> None:
    data, value = text.encode(), json.loads(text)
    for end in range(len(data) + 1):
        assert contains(value, partial_value(data[:end])), (end, partial_value(data[:end]))


@pytest.mark.parametrize("text", TEXTS)
def test_every_chunking_has_the_same_values(text: str) -> None:
    data = text.encode()
    for seed in range(20):
        random, reader, at = Random(seed), JsonReader(), 0
        while at < len(data):
            size = random.randint(1, 7)
            reader.feed(data[at : at + size])
            at += size
            assert reader.value == partial_value(data[:at])


def test_values_of_unfinished_texts() -> None:
    assert partial_value(b"") is NOTHING_YET
    assert partial_value(b'{"a": "tex') == {"a": "tex"}
    assert partial_value(b'{"a": 12') == {}
    assert partial_value(b'{"a": 12,') == {"a": 12}
    assert partial_value(b'{"a": tru') == {}
    assert partial_value(b'{"a": {"b') == {"a": {}}
    assert partial_value(b'["\\ud83d') == [""]
    assert partial_value('["é'.encode()[:-1]) == [""]


@pytest.mark.parametrize("data", [b"{]", b"}", b"[1,x!", b'{"a" 1 2}', b'"\\x"', b"\xff"])
def test_what_is_no_json_is_refused(data: bytes) -> None:
    with pytest.raises(ParseError):
        JsonReader().feed(data, final=True)


def test_depth_costs_no_recursion() -> None:
    depth = 50_000
    reader = JsonReader()
    reader.feed(b"[" * depth + b"]" * depth, final=True)
    assert reader.is_complete


SCHEMA = Grammar.from_json_schema(
    {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
)


def test_a_grammar_reads_values() -> None:
    assert SCHEMA.read_value('{"a": "x"}') == {"a": "x"}
    assert SCHEMA.read_value('{"a": "x', partial=True) == {"a": "x"}
    with pytest.raises(ParseError) as raised:
        SCHEMA.read_value('{"b": 1}')
    assert raised.value.offset == 2


def test_an_engine_has_the_value_so_far() -> None:
    engine = Engine(SCHEMA, Vocabulary.bytes())
    said = []
    for byte in b'{"a": "xy"}':
        engine.try_accept_new_bytes(bytes([byte]))
        said.append(json.dumps(engine.values()))
    assert list(dict.fromkeys(said)) == ["{}", '{"a": ""}', '{"a": "x"}', '{"a": "xy"}']
    engine.rollback(3)
    assert engine.values() == {"a": "x"}
