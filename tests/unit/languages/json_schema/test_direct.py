"""A grammar made from a schema at once is that of the text that the conversion writes."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from kbnf_core import Engine, Grammar, Vocabulary
from kbnf_core.automata.expression import Builder, print_expression
from kbnf_core.automata.operations import is_equal
from kbnf_core.automata.regex import compile_regex
from kbnf_core.errors import GrammarError
from kbnf_core.languages.json_schema import from_json_schema, json_schema_grammar
from kbnf_core.languages.json_schema.additional_names import all_but, regex_but
from kbnf_core.languages.json_schema.characters import Spelling
from kbnf_core.lower.tables import Tables

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


def in_order(tables: Tables) -> list[tuple[object, ...]]:
    """Return the states of each nonterminal in the order in which they are met."""
    found: list[tuple[object, ...]] = []
    for entry in tables.entry.tolist():
        numbers = {entry: 0}
        for state in numbers_of(numbers):
            row: list[object] = [bool(tables.accepting[state])]
            for i in range(tables.edge_start[state], tables.edge_start[state + 1]):
                target = int(tables.edge_target[i])
                row.append((int(tables.edge_class[i]), numbers.setdefault(target, len(numbers))))
            for i in range(tables.call_start[state], tables.call_start[state + 1]):
                target = int(tables.call_return[i])
                name = tables.names[tables.call_nonterminal[i]]
                row.append((name, numbers.setdefault(target, len(numbers))))
            found.append(tuple(row))
    return found


def numbers_of(numbers: dict[int, int]) -> Iterator[int]:
    """Yield the keys, also those that come while they are yielded."""
    place = 0
    while place < len(numbers):
        yield list(numbers)[place]
        place += 1


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_grammar_is_that_of_the_text(name: str) -> None:
    schema = json.dumps(SCHEMAS[name])
    grammar = json_schema_grammar(schema)
    text = from_json_schema(schema).text
    read = Grammar(text)
    assert grammar.tables.names == read.tables.names
    assert in_order(grammar.tables) == in_order(read.tables)
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
    compiled = compile_regex(
        f'"(?:{print_expression(regex_but(words, Builder()), Spelling().spell)})"'
    )
    assert compiled.dfa is not None
    found = all_but(words, Spelling())
    several = words == ("\x1f",)  # It may be written \u001f or \u001F.
    assert (found is None) == several
    assert several or (found is not None and is_equal(found, compiled.dfa))


def test_a_name_with_half_a_character_has_no_automaton() -> None:
    assert all_but(("\ud800",), Spelling()) is None
