"""Names in a JSON text that is read piece by piece, and what is written after it."""

import json
from random import Random
from typing import Any

import pytest

from kbnf_core import Engine, Grammar, Vocabulary
from kbnf_core.text.member_names import MemberNames

BYTES = Vocabulary.bytes()

REPEATS = [
    '{"a":1,"a":2}',
    '{"a":1, "b":{"c":0,"c":0}}',
    '[{"a":1},{"b":1,"b":2}]',
    '{"a":1,"\\u0061":2}',
    '{"":0,"":0}',
    ' \n{"a\\"":1,"a\\"":2}',
    '{"é":1,"\\u00e9":2}',
    '{"b":["x","y"],"b":0}',
]
DIFFERS = [
    '{"a":1,"b":{"a":1},"c":[{"a":1},{"a":2}]}',
    '{"a":"a","b":"a"}',
    '["a","a"]',
    '{"a":"{\\"a\\":1,\\"a\\":2}"}',
    '{"a\\\\":1,"a":2}',
    '"a"',
    '{"a":["b","b",{"b":0}],"b":1}',
]
NO_JSON = ['x {"a":1,"a":2}', "}{", '"a","a"', ""]


def pieces(text: bytes, random: Random) -> list[bytes]:
    cuts = sorted(random.sample(range(len(text) + 1), min(3, len(text))))
    return [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]


@pytest.mark.parametrize("text", [*REPEATS, *DIFFERS, *NO_JSON])
def test_a_name_that_repeats_is_seen_however_a_text_is_cut(text: str) -> None:
    for seed in range(20):
        names = MemberNames()
        read = [names.read(piece) for piece in pieces(text.encode(), Random(seed))]
        assert any(read) is (text in REPEATS)
    assert MemberNames().read(text.encode()) is (text in REPEATS)


def test_a_copy_is_read_on_its_own() -> None:
    names = MemberNames(b'{"a":{"b":1,')
    twin = names.copy()
    assert not twin.read(b'"c":1},"d":1,')
    assert twin.read(b'"a":')
    assert names.holds(b'"b"')
    assert not names.holds(b'"c"')
    assert names.read(b'"b"')


def test_what_is_begun() -> None:
    assert MemberNames(b'{"a":1,"b').begun == b'"b'
    assert MemberNames(b'{"a":"b').begun == b""
    assert MemberNames(b'{"a":1,').is_between
    assert MemberNames(b'{"a":1,"b').is_between
    assert not MemberNames(b'{"').is_between
    assert not MemberNames(b'{"a":1').is_between
    assert not MemberNames(b'{"a":[1,').is_between


def repeats(text: bytes) -> bool:
    return MemberNames().read(text)


SCHEMAS: list[Any] = [
    {"type": "object"},
    {"type": "object", "minProperties": 4},
    {"type": "object", "propertyNames": {"pattern": "^a"}, "minProperties": 3},
    {"type": "object", "propertyNames": {"enum": ["a", "b", "ab"]}},
    {"type": "object", "propertyNames": {"pattern": "^[ab]{1,2}$"}, "minProperties": 5},
    {"type": "object", "additionalProperties": {"type": "object", "minProperties": 2}},
]
BEFORE = ["", "{", '{"a":1,', '{"a":1,"a', '{"a":1,"', '{"a":{"b":1,', '{"a":{"b":1,"c":2,"']


def engine_behind(schema: Any, text: str) -> Engine | None:
    engine = Engine(Grammar.from_json_schema(schema), BYTES, finish="eos")
    return engine if engine.accept_tokens(text.encode()) == len(text) else None


@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize("schema", SCHEMAS, ids=str)
def test_what_is_written_behind_a_text_repeats_no_name(schema: Any, before: str) -> None:
    engine = engine_behind(schema, before)
    if engine is None:
        # No text of the schema begins so.
        return
    completion = engine.shortest_completion()
    assert completion.data is not None
    assert completion.tokens is not None
    texts = [completion.data, bytes(completion.tokens), *engine.shortest_texts(3).texts]
    for seed in range(4):
        drawn = engine.sample(Random(seed), 24)
        assert drawn.is_complete
        texts.append(bytes(each for each in drawn.tokens if each not in BYTES.eos_token_ids))
    for text in texts:
        assert not repeats(before.encode() + text), text
        assert engine.validate_tokens(text) == len(text)
        json.loads(before.encode() + text)


def test_names_repeat_where_they_must_and_where_that_is_asked_for() -> None:
    only = Engine('start ::= \'{"a":0,"a":\' ("0" | "1") "}";', BYTES)
    assert only.shortest_completion().data == b'{"a":0,"a":0}'
    assert only.shortest_texts(9).texts == (b'{"a":0,"a":0}', b'{"a":0,"a":1}')
    assert only.shortest_texts(9).is_all
    assert only.sample(Random(1)).is_complete
    pair = Engine(Grammar.from_json_schema({"type": "object", "minProperties": 2}), BYTES)
    assert pair.shortest_completion(repeats=True).data == b'{"":0,"":0}'
    assert pair.shortest_completion().data == b'{"":0,"0":0}'


def test_texts_that_repeat_a_name_come_last() -> None:
    longer = '\'{"a":0,"b":\' [0-9]{3} "}"'.replace("[0-9]{3}", "'000'")
    engine = Engine(f'start ::= \'{{"a":0,"a":0}}\' | {longer};', BYTES)
    assert engine.shortest_texts(5).texts == (b'{"a":0,"b":000}', b'{"a":0,"a":0}')


def test_a_completion_of_tokens_repeats_no_name_either() -> None:
    spelled = [*(bytes((byte,)) for byte in range(256)), b'{"":0,"":0}']
    vocabulary = Vocabulary(dict(enumerate(spelled)))
    engine = Engine(Grammar.from_json_schema({"type": "object", "minProperties": 2}), vocabulary)
    found = engine.shortest_completion()
    assert found.data == vocabulary.decode(found.tokens or ())
    assert engine.shortest_completion(repeats=True).tokens == (256,)
