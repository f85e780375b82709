"""A grammar made from a schema at once is that of the text that the conversion writes."""

import json
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest

from kbnf_core import Engine, Grammar, Vocabulary
from kbnf_core.automata.expression import Builder, print_expression
from kbnf_core.automata.json_strings import Spelling, quoted, spell_text
from kbnf_core.automata.lengths import MOST_BRANCHES, Lengths, is_looped, lengths_of
from kbnf_core.automata.operations import difference, is_equal, literals
from kbnf_core.automata.regex.compile import compile_regex
from kbnf_core.automata.to_regex import to_expression
from kbnf_core.convert import from_json_schema
from kbnf_core.languages import JSON_SCHEMA
from kbnf_core.languages.json_schema import Options, readable, scalars
from kbnf_core.languages.json_schema import document as document_module
from kbnf_core.languages.json_schema.algebra import AllOf, NormalForm, Objects, Products, Ref, Type
from kbnf_core.languages.json_schema.document import SchemaDocument, read_json
from kbnf_core.languages.json_schema.scalars import all_but
from kbnf_core.languages.json_schema.schemas import Schemas
from kbnf_core.lint import LintOptions
from kbnf_core.lint.check import findings_of
from kbnf_core.lower.facts import analyse
from kbnf_core.text.errors import GrammarError
from kbnf_core.text.limits import Limits
from kbnf_testing.membership import Language
from kbnf_testing.schemas import json_schema_grammar, masks_differ

SCHEMAS: dict[str, Any] = {
    "closed": {"type": "object", "properties": {"a": {}}, "additionalProperties": False},
    "named": {
        "type": "object",
        "properties": {"start": {"type": "integer"}, "stop": {"enum": [1, "x"]}, "": True},
        "required": ["stop"],
    },
    "recursive": {"properties": {"next": {"$ref": "#"}, "text": {"type": "string"}}},
    "patterns": {"patternProperties": {"^x": {"type": "null"}}, "properties": {"xy": {}}},
    "others of several": {
        "properties": {name: {"type": "null"} for name in ("a", "ab", 'b"', "n\n", "é", "stop")},
        "additionalProperties": {"type": "boolean"},
    },
    "long names": {
        "properties": dict.fromkeys(("n" * 30, "n" * 20 + "x", "n" * 9), True),
        "minProperties": 1,
    },
    "number": {"type": "number", "minimum": 3},
    "numbers": {"type": "number", "multipleOf": 0.05, "maximum": 20, "exclusiveMinimum": -1},
    "pattern": {"type": "string", "pattern": '^[":x\\\\\\s\x7f]{2,9}$|stop'},
    "excluded": {"type": "string", "not": {"pattern": "[nx]"}},
    "pattern and length": {"type": "string", "pattern": "^(?:[nx]+ ){0,3}[cé]+$", "maxLength": 9},
    "pattern and lengths": {
        "type": "string",
        "pattern": '^(?:[nx"]+\\s){0,3}[^x]+$',
        "minLength": 3,
        "maxLength": 6,
    },
    "format and length": {"type": "string", "format": "hostname", "maxLength": 12},
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_grammar_allows_what_that_of_the_text_allows(name: str) -> None:
    schema = json.dumps(SCHEMAS[name])
    grammar = json_schema_grammar(schema)
    text = from_json_schema(schema).text
    read = Grammar(text)
    assert [masks_differ(grammar, read, seed) for seed in range(30)] == [None] * 30
    assert (grammar.start, grammar.finish) == (read.start, read.finish)
    assert (grammar.source.text, grammar.to_kbnf()) == (schema, text)


@pytest.mark.parametrize("name", SCHEMAS)
def test_explanations_are_of_the_language_that_is_run(name: str) -> None:
    grammar = json_schema_grammar(json.dumps(SCHEMAS[name]))
    rules = grammar.reading.named
    assert rules is not None
    assert rules.rules is not grammar.rules.rules
    explained = Grammar.of(replace(grammar.reading, grammar=rules, analysis=analyse(rules)))
    assert [masks_differ(grammar, explained, seed) for seed in range(10)] == [None] * 10


def test_the_comparison_sees_a_difference() -> None:
    closed, opened = (
        json_schema_grammar(json.dumps({"type": "object", "properties": {"a": {}}, **more}))
        for more in ({"additionalProperties": False}, {})
    )
    assert any(masks_differ(closed, opened, seed) is not None for seed in range(30))


def test_nothing_is_written_or_read_to_make_masks(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("this writes KBNF")

    monkeypatch.setattr(readable, "ReadableSchema", fail)
    grammar = json_schema_grammar(json.dumps(SCHEMAS["named"]))
    engine = Engine(grammar, Vocabulary.bytes())
    engine.compute_allowed_token_ids()
    # Nor for questions about a text, nor by a check.
    engine.why(b"{")
    grammar.parse('{"stop": 1}')
    assert not grammar.names
    assert not grammar.reading.written
    options = LintOptions(max_states=1, vocabulary=Vocabulary.bytes(), reports_cost=True)
    assert {"I702"} <= {each.code for each in findings_of(grammar.reading, options)}
    assert not JSON_SCHEMA.outline(grammar.source, Limits()).definitions
    with pytest.raises(AssertionError):
        grammar.to_kbnf()


def test_problems_are_those_of_the_conversion() -> None:
    with pytest.raises(GrammarError) as caught:
        json_schema_grammar('{"type": "strin"}')
    assert caught.value.diagnostics[0].code == "E802"


@pytest.mark.parametrize(
    "words",
    [("a",), ("",), ("ab", "a", "abc", "b"), ('"', "\\", "\n", "é", "漢字", "漢", "😀"), ("\x1f",)],
    ids=repr,
)
def test_other_names_are_all_strings_but_some(words: tuple[str, ...]) -> None:
    strings = compile_regex(f'"{Spelling().character}*"').dfa
    assert strings is not None
    found = all_but(words, Spelling())
    several = words == ("\x1f",)  # It may be written \u001f or \u001F.
    assert (found is None) == several
    expected = difference(strings, literals(spell_text(word).encode() for word in words))
    assert several or (found is not None and is_equal(found, expected))


@pytest.mark.parametrize(
    "spelling",
    [Spelling(), Spelling(by_llguidance=True), Spelling('bn"\\'), Spelling('u"\\'), Spelling("")],
    ids=repr,
)
@pytest.mark.parametrize(
    "pattern", ["(?s:.)*", "[^a]*", "\\x00|[\\x1f-\\x22\\\\]+é?", "b{3}", "", '(?s:.)*"']
)
def test_strings_as_automata_and_as_expressions(pattern: str, spelling: Spelling) -> None:
    plain, read = compile_regex(pattern).dfa, Builder().read(pattern)
    assert plain is not None
    assert read is not None
    written = compile_regex(f'"(?:{print_expression(read, spelling.spell)})"').dfa
    assert written is not None
    assert is_equal(quoted(plain, spelling), written)


def test_restricted_values_are_not_written_as_expressions(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(scalars, "to_expression", refuse)
    monkeypatch.setattr(scalars, "print_expression", refuse)
    for name in ("pattern", "excluded", "number", "numbers", "others of several"):
        assert json_schema_grammar(json.dumps(SCHEMAS[name])).tables.state_count


def test_a_format_with_a_length_is_worked_out_once() -> None:
    for length in (12, 13):
        before = lengths_of.cache_info().misses
        json_schema_grammar(json.dumps(SCHEMAS["format and length"] | {"maxLength": length}))
    assert lengths_of.cache_info().misses == before


@pytest.mark.parametrize(
    "pattern",
    ["a*b*", "(?:ab|a)*c", "[a-z]+@[a-z]+", "a*c|[ab]*d", "x(?:a*|b{3})y", "(?:a|bc)*", "[ab]*abb"],
)
def test_lone_loops_are_looked_for_wherever_they_are(pattern: str) -> None:
    dfa = compile_regex(pattern).dfa
    assert dfa is not None
    lengths = Lengths(dfa)
    turning = [
        state
        for state, edges in enumerate(lengths.words.edges)
        if any(target == state for _, target in edges)
    ]
    alone = {s for s in turning if is_looped(to_expression(lengths.behind(s), Builder()))}
    assert alone <= set(lengths.loops()) <= set(turning)


@pytest.mark.parametrize(
    ("pattern", "ways"),
    [
        *(("a*b*", None), ("[a-z]+@[a-z]+", None), ("(?:a|bc)*", 1), ("x(?:a*|b{3})y", 2)),
        *(("(?:a?){13}b*", 13), ("a{0,12}", 13), ("[ab]*abb", 1), ("a?b?[cd]*", 2)),
    ],
)
def test_ways_are_counted_before_an_expression_is_made(pattern: str, ways: int | None) -> None:
    dfa = compile_regex(pattern).dfa
    assert dfa is not None
    lengths = Lengths(dfa)
    assert lengths.ways == ways
    if ways is None or ways > MOST_BRANCHES:
        assert not is_looped(to_expression(lengths.words, Builder()))


def test_conditions_that_come_one_by_one_are_not_met_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    count = 30
    not_one = {"allOf": [{"not": {"const": number}} for number in range(count)]}
    document = SchemaDocument(read_json(json.dumps(not_one)), Options())
    root = document.root()
    assert isinstance(root, Ref)
    parts = [document.inside(document.subschema(root), "allOf", str(n)) for n in range(count)]
    schemas = Schemas(document, Options())
    whole = schemas.meet([schemas.shape(part) for part in parts])
    meets: list[NormalForm] = []
    meet = Products.meet

    def counted(self: Products, left: NormalForm, right: NormalForm) -> NormalForm:
        meets.append(right)
        return meet(self, left, right)

    monkeypatch.setattr(Products, "meet", counted)
    for last in range(1, count + 1):
        shape = schemas.shape(AllOf(tuple(parts[:last])))
    assert shape == whole
    assert len(meets) < 4 * count


def test_plain_references_are_resolved_without_a_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str) -> None:
        raise AssertionError(name)

    monkeypatch.setattr(document_module, "import_module", refuse)
    schema = {
        "$id": "https://example.org/a",
        "$defs": {"a/b": {"const": 1}, "~": {"$ref": "#/$defs/a~1b"}},
        "$ref": "#/$defs/~0",
    }
    assert shortest(schema) == "1"


def test_references_through_a_named_schema_are_relative_to_it() -> None:
    named = {
        "$id": "https://example.org/a/",
        "$defs": {"b": {"$ref": "c"}, "c": {"$id": "c", "const": 2}},
    }
    assert shortest({"$defs": {"a": named}, "$ref": "#/$defs/a/$defs/b"}) == "2"


def shortest(schema: Any) -> str:
    grammar = json_schema_grammar(json.dumps(schema))
    data = Engine(grammar, Vocabulary.bytes()).shortest_completion().data
    return "" if data is None else data.decode()


def test_many_listed_strings_are_one_automaton() -> None:
    values = [f"value {number}/\u00e9" for number in range(40)]
    grammar = json_schema_grammar(json.dumps({"enum": values}))
    texts = [json.dumps(value, ensure_ascii=False) for value in (*values, "value 40/\u00e9")]
    accepted = [
        Engine(grammar, Vocabulary.bytes()).validate_tokens(text.encode()) for text in texts
    ]
    assert [count == len(text.encode()) for count, text in zip(accepted, texts, strict=True)] == [
        *([True] * 40),
        False,
    ]


def test_a_name_with_half_a_character_has_no_automaton() -> None:
    assert all_but(("\ud800",), Spelling()) is None


def test_what_only_texts_need_is_not_imported() -> None:
    program = (
        "import sys; from kbnf_core import Grammar;"
        " Grammar.from_json_schema({'type': 'string', 'format': 'email', 'maxLength': 255}).tables;"
        " print({'lark', 'kbnf_core.languages.json_schema.readable'} & sys.modules.keys())"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert found.stdout.strip() == b"set()"


def test_patterns_without_a_common_name_need_no_condition_on_each_other() -> None:
    """Each kept all others as conditions: 32 patterns took 297 ms, now 98."""
    patterns = {f"^x{number}-": {"minimum": number} for number in range(12)}
    schema = {"patternProperties": patterns, "additionalProperties": False}
    options = Options()
    document = SchemaDocument(read_json(json.dumps(schema)), options)
    root = document.root()
    assert isinstance(root, Ref)
    (objects,) = Schemas(document, options).shape(root)[Type.OBJECT]
    assert isinstance(objects, Objects)
    assert sorted(len(keys.literals) for keys, _ in objects.regions) == [*[1] * 12, 12]
    common = {"patternProperties": {"^a": {"minimum": 1}, "b$": {"minimum": 2}}}
    text = json.dumps(common)
    language = Language(json_schema_grammar(text))
    assert language.has('{"ab":2,"a":1,"b":2,"c":0}')
    assert not language.has('{"ab":1}')
    assert not language.has('{"b":1}')
