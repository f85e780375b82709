"""Texts of converted schemas: formats as rules, short lines, comments, what `fmt` would write."""

import cProfile
import datetime
import json
import pstats
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pydantic
import pytest

from kbnf_core import Engine, Vocabulary, check, ir
from kbnf_core.automata import operations
from kbnf_core.automata.expression import Builder, print_expression
from kbnf_core.automata.json_strings import Spelling
from kbnf_core.automata.lengths import Length, Lengths
from kbnf_core.automata.operations import difference, is_equal
from kbnf_core.automata.regex.compile import compile_regex
from kbnf_core.automata.to_regex import to_characters, to_expression
from kbnf_core.convert import convert, from_json_schema
from kbnf_core.frontend import read_grammar
from kbnf_core.grammar import Grammar
from kbnf_core.ir import build
from kbnf_core.ir.build import EMPTY, Uncompiled, call, sequence, text
from kbnf_core.kbnf.build import of_ir
from kbnf_core.kbnf.format import format_kbnf
from kbnf_core.kbnf.parsed import Expressed, Request
from kbnf_core.kbnf.printer import print_expression as print_expression_of_kbnf
from kbnf_core.languages import JSON_SCHEMA
from kbnf_core.languages.json_schema import (
    Digits,
    Escapes,
    Formats,
    Options,
    Standard,
    Whitespace,
    as_mapping,
)
from kbnf_core.languages.json_schema.readable import called, leaf_of, tidied
from kbnf_core.languages.json_schema.scalars import all_but
from kbnf_core.languages.json_schema.type_keywords import NAMES, PLAIN, bounded_format, formats_of
from kbnf_core.languages.json_schema.value_sets import Matching
from kbnf_core.lower.regular import Regulars
from kbnf_core.text.errors import GrammarError, LimitError
from kbnf_core.text.source import Source, Span
from kbnf_testing.data import DATA

EVENT: dict[str, Any] = {
    "title": "Event",
    "type": "object",
    "properties": {
        "title": {"type": "string", "minLength": 1, "description": "What it is about. *) (* "},
        "where": {"$ref": "#/$defs/Place"},
        "value": {"type": "string", "pattern": "^fo{2}11-a$"},
    },
    "required": ["title"],
    "$defs": {"Place": {"type": "object", "properties": {"city": {}}, "title": "kbnf: start=x"}},
}


@pytest.mark.parametrize("standard", list(Standard))
@pytest.mark.parametrize("formats", [Formats.PLAIN, Formats.RFC])
@pytest.mark.parametrize("name", sorted(NAMES[PLAIN]))
def test_the_rules_of_a_format_have_its_language(
    name: str, formats: Formats, standard: Standard
) -> None:
    pattern = formats_of(standard, formats).get(name)
    if not pattern:
        return
    schema = json.dumps({"type": "string", "format": name})
    grammar = Grammar(from_json_schema(schema, Options(formats=formats, standard=standard)).text)
    rules = grammar.rules.rules
    found = Builder().read(pattern)
    assert found is not None
    spelling = Spelling(by_llguidance=standard is Standard.LLGUIDANCE)
    spelled = compile_regex(f'"(?:{print_expression(found, spelling.spell)})"').dfa
    assert spelled is not None
    assert is_equal(Regulars(rules).of(rules["start"]), spelled)


@pytest.mark.parametrize("most", [48, 64, 100, 255, 2083])
@pytest.mark.parametrize(
    "name", ["email", "hostname", "uri", "uri-reference", "iri", "date-time", "time"]
)
@pytest.mark.parametrize("formats", [Formats.PLAIN, Formats.RFC])
def test_a_bounded_format_is_part_of_the_format(name: str, most: int, formats: Formats) -> None:
    pattern = formats_of(Standard.JSON_SCHEMA, formats)[name]
    bounded = bounded_format(pattern, Length(0, most))
    if bounded is None:
        assert Lengths(Matching(pattern).dfa()).longest[0] is not None, "a format without a bound"
        return
    part, whole = Matching(bounded.regex).dfa(), Matching(pattern).dfa()
    assert difference(part, whole).is_empty
    longest = Lengths(part).longest[0]
    assert longest is not None
    assert longest <= most


def test_lengths_of_words() -> None:
    lengths = Lengths(Matching("a(?:bc|d)?|x{2,4}").dfa())
    assert (lengths.shortest[0], lengths.longest[0]) == (1, 4)
    assert Lengths(Matching("ab*").dfa()).longest[0] is None


def test_a_property_has_a_rule_and_a_comment() -> None:
    text = from_json_schema(json.dumps(EVENT)).text
    assert "(* the whole schema: Event *)\nstart ::= '{' ws title" in text
    assert "(* /properties/title: What it is about. * ) ( * *)\ntitle ::= " in text
    assert "\nwhere ::= '\"where\"' colon Place;\n" in text
    assert "/properties/where" not in text, "a comment that says no more than the rule"
    assert "(* /$defs/Place: kbnf: start=x *)\nPlace ::= " in text
    assert "colon '\"' character+ '\"';" in text
    assert "#'\"foo11-a\"'" in text or "'\"foo11-a\"'" in text


@pytest.mark.parametrize("name", ["event", *sorted(NAMES[PLAIN])])
def test_the_text_is_laid_out_as_fmt_would(name: str) -> None:
    schema = EVENT if name == "event" else {"properties": {"a": {"format": name}}}
    text = from_json_schema(json.dumps(schema)).text
    assert format_kbnf(Source(text)).text == text
    lines = text.splitlines()
    assert max(map(len, lines)) <= 200
    assert [line for line in lines if len(line) > 120 and line.count("#r'") != 1] == []


def test_one_character_is_written_out_and_no_escape_is_needless() -> None:
    builder = Builder()
    dfa = compile_regex("foo11[-._~#&/]~-").dfa
    assert dfa is not None
    found = to_expression(to_characters(dfa), builder)
    assert print_expression(found) == "foo11[#&./_~-]~-"


def test_no_rule_is_empty_or_a_second_name_of_another() -> None:
    rules = {"start": call("a"), "a": sequence(call("b"), text("x")), "b": EMPTY, "kept": call("b")}
    (body,) = tidied("start", rules, {"kept"}, lambda body: called(ir.postorder(body))).values()
    assert print_expression_of_kbnf(of_ir(body, leaf_of)) == "'x'"
    schema = {"$ref": "#/$defs/a", "$defs": {"a": {"type": "string", "pattern": "^[0-9]{9}(x|y)$"}}}
    assert "a_2" not in from_json_schema(json.dumps(schema)).text


def _expressed(schema: object, **options: object) -> Expressed:
    reading = read_grammar(Source(json.dumps(schema)), JSON_SCHEMA, Request(options=options))
    expressed = reading.parsed.expressed()
    assert expressed is not None
    return expressed


EXPRESSED: dict[str, Any] = {
    **{
        name: {"type": "string", "format": name}
        for name in ("date-time", "duration", "email", "ipv6", "json-pointer", "uri", "uuid")
    },
    "event": EVENT,
    "anything": {},
    "bounds": {"properties": {"a": {"type": "integer", "maximum": 150}, "b": {"minimum": 0.5}}},
    "lengths": {"type": "string", "pattern": "^(ab?)+$", "minLength": 3, "maxLength": 900},
    "names": {"properties": {"one": {}, "other": {}}, "additionalProperties": {"type": "null"}},
    "many": {"enum": [f"value {number}" for number in range(200)]},
    "products": {"type": "number", "multipleOf": 7, "minimum": 100},
}


@pytest.mark.parametrize("name", EXPRESSED)
def test_the_expression_of_an_automaton_has_its_language(name: str) -> None:
    """Lark is written from the automata of rules, of which only the expressions are printed."""
    _compare(_expressed(EXPRESSED[name]))


@pytest.mark.parametrize("format_", ["email", "idn-email", "iri", "uri-reference", "uri", "time"])
def test_the_expressions_of_formats_as_standards_have_them(format_: str) -> None:
    schema = {"type": "string", "format": format_}
    _compare(_expressed(schema, formats=Formats.RFC))


def _compare(expressed: Expressed) -> None:
    rules, automata = expressed
    languages = Regulars(rules)
    for rule, body in rules.items():
        assert rule not in automata or is_equal(languages.of(body), automata[rule])
        for node in ir.postorder(body):
            if isinstance(node, ir.Regular):
                written = compile_regex(str(node.notation)).dfa
                assert written is not None
                assert is_equal(written, node.dfa)


def test_lark_asks_no_more_than_rules_need() -> None:
    """It asked 48,600 calls where KBNF asked 23,300, as the tree of KBNF was read again."""

    def calls(maximum: int, pattern: str, target: str) -> int:
        properties = {
            "age": {"type": "integer", "minimum": 0, "maximum": maximum},
            "when": {"type": "string", "format": "date"},
            "code": {"type": "string", "pattern": pattern},
            "value": {"oneOf": [{"type": "string"}, {"type": "integer"}]},
        }
        shape = {"type": "object", "required": ["age"], "additionalProperties": False}
        schema = {**shape, "properties": properties}
        profile = cProfile.Profile()
        profile.runcall(convert, json.dumps(schema), JSON_SCHEMA, target)
        return int(pstats.Stats(profile).prim_calls)  # type: ignore[attr-defined] # of typeshed

    for target, most in (("KBNF", 20_000), ("Lark", 27_000)):
        calls(99, "^[a-z]{3}-[0-9]+$", target)
        assert calls(150, "^[A-Z]{2}[0-9]{4}$", target) < most


def test_regular_expressions_are_compiled_on_demand(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("this compiles")

    schema = {"properties": {"one": {}, "other": {}}, "additionalProperties": {"type": "null"}}
    rules = _expressed(schema).rules
    node = next(
        node
        for body in rules.values()
        for node in ir.postorder(body)
        if isinstance(node, Uncompiled)
    )
    moved = replace(node, span=Span(1, 2))
    assert isinstance(moved, Uncompiled)
    with monkeypatch.context() as patch:
        patch.setattr(build, "compile_regex", fail)
        assert "other_key ::= " in from_json_schema(json.dumps(schema)).text
    assert is_equal(moved.dfa, node.dfa)
    with pytest.raises(AttributeError):
        getattr(node, "automaton")  # noqa: B009 - a name that the class does not have
    large = build.pattern("(?:a?){9}{9}{9}{9}{9}")
    assert isinstance(large, Uncompiled)
    with pytest.raises(LimitError):
        assert large.dfa


def test_a_rule_without_a_title_stands_behind_the_one_that_it_is_part_of() -> None:
    schema = {"properties": {name: {"type": "null"} for name in "abcdef"}}
    written = from_json_schema(json.dumps(schema)).text
    order = [line.split()[0] for line in written.splitlines() if " ::=" in line]
    names = [f"start_from_{name}" for name in "abcdef"]
    assert [name for name in order if name.startswith("start_from")] == names
    assert order.index("start_from_f") < order.index("a") < order.index("f")


def test_equal_automata_are_written_once() -> None:
    """Three copies of these numbers were three times the text; 22 in a real schema, 7.5 MB."""
    number = {"allOf": [{"type": "number", "multipleOf": n} for n in (7, 3)], "minimum": 100}
    few, many = (
        from_json_schema(json.dumps({"properties": dict.fromkeys(names, number)})).text
        for names in ("a", "abc")
    )
    assert few.count("::=") > 100
    assert len(many) < 1.2 * len(few)
    one, three = (Grammar(text) for text in (few, many))
    for number_text in ("126", "127", "21", "147.0", "-126"):
        value = f'{{"a": {number_text}}}'
        assert one.status(value) == three.status(value)


class Item(pydantic.BaseModel):
    """One of a list."""

    name: str
    quantity: int = pydantic.Field(ge=1, le=99)


class Order(pydantic.BaseModel):
    """Five fields: one datetime, a list of models, bounds, an optional one."""

    id: int
    created: datetime.datetime
    items: list[Item]
    total: float = pydantic.Field(ge=0)
    note: str | None = None


def test_a_model_of_five_fields_is_a_page() -> None:
    text = Grammar.from_json_schema(Order).to_kbnf()
    own, terminals = text.split("(* Formats *)")
    assert len([line for line in own.splitlines() if "::=" in line]) == 10
    assert len(own.splitlines()) <= 17
    assert len(text.splitlines()) <= 40
    assert [each.code for each in check(text, "order.kbnf")] == []
    assert "leap_second" not in terminals


def test_other_keys_are_one_rule_below_a_line() -> None:
    text = Grammar.from_json_schema(Item, closed=False).to_kbnf()
    assert '(* Other keys. All but "name", "quantity" *)\nother_key ::= ' in text
    assert text.index("Other keys") < text.index("(* JSON *)")
    assert text.count("other_key") == 2


@pytest.mark.parametrize(
    "words",
    [
        ("a",),
        ("",),
        ("ab", "a", "abc", "b"),
        ("é", "漢字", "漢", "😀"),
        ("a-b", "a.b", "$ref", "]"),
        ('a"b', "\n", "c"),
        ("word" * 20, "word" * 20 + "s", "wo"),
    ],
    ids=repr,
)
@pytest.mark.parametrize(
    "options",
    [
        Options(Whitespace.COMPACT),
        Options(Whitespace.COMPACT, standard=Standard.LLGUIDANCE, escapes=Escapes.ANY),
        Options(Whitespace.COMPACT, allowed_escapes='"\\'),
        Options(Whitespace.COMPACT, allowed_escapes=""),
    ],
    ids=["usual", "llguidance", "few escapes", "no escapes"],
)
def test_other_keys_have_their_language(words: tuple[str, ...], options: Options) -> None:
    schema = {
        "type": "object", "properties": dict.fromkeys(words, False), "required": [],
        "additionalProperties": {"type": "null"}, "minProperties": 1, "maxProperties": 1,
    }  # fmt: skip
    text = json.dumps(schema)
    run = Grammar.read(text, JSON_SCHEMA, options=as_mapping(options)).rules.rules
    found = Grammar(from_json_schema(text, options).text).rules.rules
    assert is_equal(Regulars(found).of(found["start"]), Regulars(run).of(run["start"]))
    if options == Options(Whitespace.COMPACT):
        expected = all_but(words, Spelling())
        assert expected is not None
        texts = operations.concatenate(
            operations.literals([b"{"]), expected, operations.literals([b":null}"])
        )
        assert is_equal(Regulars(found).of(found["start"]), texts)


@pytest.mark.parametrize("path", sorted((DATA / "json-schemas").glob("*.kbnf")))
def test_a_converted_text_has_no_finding(path: Path) -> None:
    assert [each.code for each in check(path.read_text(encoding="utf-8"), path.name)] == []


SUITE = [
    case["schema"]
    for file in sorted((DATA / "json-schema-test-suite" / "draft2020-12").glob("*.json"))
    for case in json.loads(file.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize("part", range(4))
def test_converted_texts_of_the_suite_have_no_finding(part: int) -> None:
    checked = 0
    for schema in SUITE[part::16]:
        try:
            text = from_json_schema(json.dumps(schema)).text
        except GrammarError:
            continue
        checked += 1
        assert [each.code for each in check(text, "x.kbnf")] == [], schema
    assert checked > 10


@pytest.mark.parametrize(
    "pattern",
    [r"^\d+$", r"^[0-9]+(\.[0-9]*)?$", "^ *x +$", r"\s*(\d*\.?\d+)", r"^$|^\d+$", "^ *a|^b"],
)
def test_loops_of_digits_and_blanks_in_patterns_have_an_end(pattern: str) -> None:
    schema = json.dumps({"type": "string", "pattern": pattern})
    longer = json.dumps({"type": "string", "pattern": pattern, "minLength": 1})
    assert [each.code for each in check(from_json_schema(longer).text, "x.kbnf")] == []
    assert [each.code for each in check(from_json_schema(schema).text, "x.kbnf")] == []
    any_digits = from_json_schema(schema, Options(digits=Digits.ANY))
    assert {each.code for each in check(any_digits.text, "x.kbnf")} & {"I303", "W302"}


@pytest.mark.parametrize(
    ("pattern", "code"),
    [
        (r" \s*b", "W302"),
        (r"[^. ]\s*\.", "W302"),
        (r"[a ]\s+b", "W302"),
        (r"^\s*[ a]\s*b$", "W302"),
        (r"^\d*[1a]\d*b$", "I303"),
    ],
)
def test_a_loop_whose_bound_takes_too_many_states_has_none(pattern: str, code: str) -> None:
    schema = {"type": "string", "pattern": pattern}
    found = from_json_schema(json.dumps({"items": schema}))
    assert [(note.code, note.pointer) for note in found.notes] == [(code, "/items/pattern")]
    assert {each.code for each in check(found.text, "x.kbnf")} <= {code}
    grammar = Grammar.from_json_schema(schema, whitespace="compact")
    strings = [
        "",
        "b",
        " b",
        "a b",
        "a. .",
        "a\t\t.",
        "1b",
        "11b",
        "xa  b",
        f"a{' ' * 99}b",
        f"{'1' * 99}b",
    ]
    for string in strings:
        engine = Engine(grammar, Vocabulary.bytes())
        written = json.dumps(string).encode()
        taken = engine.validate_tokens(written) == len(written)
        assert taken == (re.search(pattern, string) is not None), string


def test_what_is_run_has_a_text_however_many_states_it_has() -> None:
    """Grammar.from_json_schema takes it."""
    some = "^z9((.){10,10}){10,10}z9$"
    patterns = [some, "^([a-z][0-9])+$", "((c1d3g3).{4,8}){6,6}", "(t|8){10,10}..$"]
    schema = {"type": "string", "allOf": [{"pattern": pattern} for pattern in patterns]}
    assert from_json_schema(json.dumps(schema)).text.count("::=") > 4_000


def test_a_long_run_that_a_schema_asks_for_is_kept() -> None:
    schema = {"type": "string", "pattern": "^[0-9]+$", "minLength": 100}
    completion = Engine(Grammar.from_json_schema(schema), Vocabulary.bytes()).shortest_completion()
    assert completion is not None
    assert completion.data is not None
    assert len(completion.data) == 102
