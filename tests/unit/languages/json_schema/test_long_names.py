"""Names other than long ones: their rules are as long as the names, and mean the same."""

import json
import pickle
from itertools import product
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbnf_core import Engine, Grammar, ParseError, Vocabulary, check
from kbnf_core.convert import convert
from kbnf_core.languages import GBNF, JSON_SCHEMA, LARK
from kbnf_core.languages.json_schema import readable
from kbnf_testing.samples import examples

MANY = {
    "properties": {f"property{number:04}": {"type": "integer"} for number in range(600)},
    "required": ["property0003"],
}

NAMES = ["".join(name) for size in range(6) for name in product("ab", repeat=size)]


def without(words: list[str]) -> Grammar:
    """Return the grammar of objects without some keys."""
    return Grammar.from_json_schema({"type": "object", "properties": dict.fromkeys(words, False)})


@settings(max_examples=examples(30), deadline=None)
@given(words=st.lists(st.sampled_from(NAMES), min_size=1, unique=True), chunk=st.integers(1, 4))
def test_names_are_cut_anywhere(words: list[str], chunk: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(readable, "CHUNK", chunk)
        grammar = without(words)
        again = Grammar(grammar.to_kbnf())
    texts = [f'{{"{name}": 1}}' for name in [*NAMES, "ab\\n", "\\nab", "aaaaaaa", "c", "aac"]]
    for text in texts:
        allowed = text[2 : text.index('"', 2)] not in words
        for each in (grammar, again):
            try:
                each.parse(text)
            except ParseError:
                assert not allowed, (text, words)
            else:
                assert allowed, (text, words)


def test_texts_and_parsers_grow_with_long_names() -> None:
    sizes = [len(without(["x" * size]).to_kbnf()) for size in (1_000, 2_000, 4_000)]
    assert sizes[2] - sizes[1] < 2.2 * (sizes[1] - sizes[0])
    grammar = Grammar.from_json_schema({"required": ["x" * 2_000]})
    again = pickle.loads(pickle.dumps(grammar))  # noqa: S301 - our own
    text = f'{{"{"x" * 2_000}": 2, "{"x" * 1_999}": 1}}'
    for each in (grammar, again):
        assert each.read_value(text) == {"x" * 1_999: 1, "x" * 2_000: 2}
        engine = Engine(each, Vocabulary.bytes())
        engine.try_accept_new_bytes(text.encode())
        assert engine.captures("start") == [text.encode()]


@pytest.mark.parametrize("schema", [{"required": ["x" * 60_000]}, MANY], ids=["long", "many"])
def test_texts_of_schemas_with_very_many_letters_are_parsed(schema: dict[str, Any]) -> None:
    # Texts for people write "any key but those" letter by letter, past the limit of work.
    grammar = Grammar.from_json_schema(schema)
    text = json.dumps({**dict.fromkeys(schema["required"], 1), "other": [1, 2]})
    assert grammar.read_value(text) == json.loads(text)
    assert grammar.parse(text).end == len(text)


def test_the_names_other_than_those_of_many_members_are_one_lexeme_in_lark() -> None:
    names = ["".join(Random(number).choices("abcdefgh", k=12)) for number in range(40)]
    schema = json.dumps({"properties": {name: {"type": "string"} for name in names}})
    written = convert(schema, JSON_SCHEMA, LARK).text
    assert "OTHER_KEY:" in written
    assert "chars" not in written
    assert len(written) < len(convert(schema, JSON_SCHEMA, GBNF).text) * 3 / 2
    assert not list(check(written, language=LARK))
