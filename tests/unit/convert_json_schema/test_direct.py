"""A grammar made from a schema at once is that of the text that the conversion writes."""

import json
from typing import Any

import pytest

from kbnf_core import Engine, Grammar, Vocabulary
from kbnf_core.automata.expression import Builder, print_expression
from kbnf_core.automata.operations import is_equal
from kbnf_core.automata.regex import compile_regex
from kbnf_core.convert.json_schema import from_json_schema, json_schema_grammar
from kbnf_core.convert.json_schema.characters import spell
from kbnf_core.convert.json_schema.other_names import all_but, regex_but
from kbnf_core.errors import GrammarError

SCHEMAS: dict[str, Any] = {
    "closed": {"type": "object", "properties": {"a": {}}, "additionalProperties": False},
    "named": {
        "type": "object",
        "properties": {"start": {"type": "integer"}, "stop": {"enum": [1, "x"]}, "": True},
        "required": ["stop"],
    },
    "recursive": {"properties": {"next": {"$ref": "#"}, "text": {"type": "string"}}},
    "patterns": {"patternProperties": {"^x": {"type": "null"}}, "properties": {"xy": {}}},
    "number": {"type": "number", "minimum": 3},
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_grammar_is_that_of_the_text(name: str) -> None:
    schema = json.dumps(SCHEMAS[name])
    grammar = json_schema_grammar(schema)
    text = from_json_schema(schema).text
    read = Grammar(text)
    assert grammar.tables.dump() == read.tables.dump()
    assert (grammar.start, grammar.finish) == (read.start, read.finish)
    assert grammar.source.text == text
    assert grammar.plain_tables.tables.dump() == read.plain_tables.tables.dump()


def test_nothing_is_written_or_read_to_make_masks() -> None:
    grammar = json_schema_grammar(json.dumps(SCHEMAS["named"]))
    Engine(grammar, Vocabulary.bytes()).compute_allowed_token_ids()
    assert not {"source", "reading"} & vars(grammar).keys()


def test_problems_are_those_of_the_conversion() -> None:
    with pytest.raises(GrammarError) as caught:
        json_schema_grammar('{"type": "strin"}')
    assert caught.value.diagnostics[0].code == "E802"


@pytest.mark.parametrize(
    "words",
    [("a",), ("",), ("ab", "a", "abc", "b"), ('"', "\\", "\n", "é", "漢字", "漢", "😀"), ("\x1f",)],
    ids=repr,
)
def test_other_names_as_automaton_and_as_expression(words: tuple[str, ...]) -> None:
    compiled = compile_regex(f'"(?:{print_expression(regex_but(words, Builder()), spell)})"')
    assert compiled.dfa is not None
    found = all_but(words)
    several = words == ("\x1f",)  # It may be written \u001f or \u001F.
    assert (found is None) == several
    assert several or (found is not None and is_equal(found, compiled.dfa))


def test_a_name_with_half_a_character_has_no_automaton() -> None:
    assert all_but(("\ud800",)) is None
