"""The rules of structural tags that are run: the texts of their tree, and as little work again."""

import cProfile
import json
import pickle
import pstats
import time
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any

import pytest

from kbnf_core import Engine, Grammar, GrammarError, Vocabulary, check
from kbnf_core.convert import convert
from kbnf_core.diff.comparison import Relation, compare
from kbnf_core.ir import postorder
from kbnf_core.languages import STRUCTURAL_TAG
from kbnf_core.languages.json_schema.readable import Expressions
from kbnf_core.languages.structural_tag.tree import TagTree
from kbnf_core.text.limits import Limits


def schema(value: Any, **fields: Any) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": value, **fields}


def tag(name: str, content: Any) -> dict[str, Any]:
    return {"type": "tag", "begin": f"<{name}>", "content": content, "end": "</>"}


def tags(*elements: Any) -> dict[str, Any]:
    return {"type": "structural_tag", "format": {"type": "sequence", "elements": [*elements]}}


def rules_of(value: Any, **options: Any) -> Grammar:
    found = Grammar.from_structural_tag(value, **options)
    assert found.reading.parsed.rules is not None
    return found


NAMED = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}}
AS = {"type": "string", "pattern": "^a+$"}
NESTED = {"type": "object", "properties": {"v": AS}, "patternProperties": {"^x": AS}}
RECURSIVE = {
    "type": "object",
    "properties": {"n": {"$ref": "#"}, "a": {"allOf": [AS, {"maxLength": 4}]}},
}
GBNF = {"type": "grammar", "grammar": 'root ::= string "x"\nstring ::= [a-z]+ | "(" root ")"'}
ARGUMENTS = {
    "type": "object",
    "properties": {
        "a": {"type": "string"},
        "b": {"enum": ["x", 1, None]},
        "c": {"type": "object", "properties": {"d": {"type": "boolean"}}},
        "e": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["a"],
}
STYLES = ("qwen_xml", "deepseek_xml", "cohere_xml", "minimax_m3_xml", "gemma", "python")
OF_TAGS = {
    "equal schemas under different options": tags(
        tag("a", schema(NAMED)),
        tag("b", schema(NAMED, max_whitespace_cnt=2)),
        tag("c", schema(NAMED, any_order=True, escapes="any")),
    ),
    "rules of one name": tags(tag("a", schema(NESTED)), tag("b", schema({**NESTED, "title": "t"}))),
    "recursive schemas": tags(tag("a", schema(RECURSIVE)), tag("b", schema(RECURSIVE))),
    "tags called like rules": tags(
        tag("string", schema(NESTED)), tag("value", schema({})), tag("start", schema(RECURSIVE))
    ),
    "grammars": tags(GBNF, schema(NAMED), GBNF),
    "a grammar that never ends": {
        "format": {
            "type": "or",
            "elements": [
                {"type": "grammar", "grammar": 'root ::= "a" root'},
                {"type": "const_string", "value": "b"},
            ],
        }
    },
    "short text": tags({"type": "any_text", "max_chars": 7, "excludes": ["ab"]}),
    "a trigger in a trigger": {
        "format": {
            "type": "triggered_tags",
            "triggers": ["<t"],
            "excludes": ["t<"],
            "tags": [tag("t", schema(NAMED)), tag("tt", {"type": "any_text"})],
        }
    },
    "several words": tags({"type": "any_text", "excludes": ["ab", "bc", "abcd", "é"]}),
    **{style: tags(tag("a", schema(ARGUMENTS, style=style))) for style in STYLES},
}


@pytest.mark.parametrize("name", OF_TAGS)
def test_rules_have_the_texts_of_the_tree(name: str) -> None:
    found = rules_of(OF_TAGS[name], lossy=True)
    assert compare(found, Grammar(found.to_kbnf())).relation is Relation.EQUAL
    assert pickle.loads(pickle.dumps(found)).tables.dump() == found.tables.dump()  # noqa: S301


@pytest.mark.parametrize("name", ["deepseek_v4", "qwen_3", "qwen_3_coder", "llama_4"])
def test_an_argument_of_any_type_has_the_texts_of_the_tree(name: str) -> None:
    parameters = {"type": "object", "properties": {"v": {}, "n": {"type": "integer"}}}
    tools = [{"name": "f", "parameters": parameters}, {"name": "g", "parameters": parameters}]
    found = Grammar.from_tools(tools, tool_calls=name)
    written, random = Grammar(found.to_kbnf()), Random(1)
    for sampled, other in [(found, written), (written, found)] * 10:
        sample = Engine(sampled, Vocabulary.bytes()).sample(random)
        text = bytes(token for token in sample.tokens if token < 256)
        assert other.status(text) == ("fits" if sample.is_complete else "cut")


def test_a_tree_is_made_only_where_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[TagTree] = []
    definitions = TagTree.definitions

    def noted(tree: TagTree) -> Any:
        made.append(tree)
        return definitions(tree)

    monkeypatch.setattr(TagTree, "definitions", noted)
    found = rules_of(tags(tag("a", schema(NAMED))))
    assert found.tables.state_count
    assert not made
    assert {"start", "a", "a_json"} <= found.names.keys()
    assert found.parse('<a>{"a": "b"}</>')
    assert not made
    assert "a_json ::= " in found.to_kbnf()
    assert made


def test_rules_of_schemas_do_not_change_the_names_in_the_tree() -> None:
    """Rules that are run have names of their own, as schemas with a rule ``value`` do."""
    free = tag("text", {"type": "any_text"})
    named = {**NAMED, "$defs": {"text": NAMED}, "additionalProperties": {"$ref": "#/$defs/text"}}
    found = rules_of(tags(tag("a", schema(named)), tag("value", schema({})), free))
    text = found.to_kbnf()
    assert {"a", "a_json", "a_json_text", "value", "text", "text_2"} <= found.names.keys()
    assert text == convert(found.source.text, STRUCTURAL_TAG, "KBNF").text


@pytest.mark.parametrize("name", OF_TAGS)
def test_explanations_are_of_the_rules_that_run(name: str) -> None:
    found = rules_of(OF_TAGS[name], lossy=True)
    named = found.reading.named
    assert named is not None
    assert named.rules.keys() == found.rules.rules.keys() or found.is_endless
    spans = {node.span for body in named.rules.values() for node in postorder(body)}
    assert spans <= set(found.names.values())


def test_a_start_is_a_rule_that_runs_or_one_of_the_tree() -> None:
    dated = {"type": "object", "properties": {"d": {"type": "string", "format": "date"}}}
    for start, text in {
        "a_json": '{"d": "2020-01-01"}',
        "a_json_date_string": '"2020-01-01"',
    }.items():
        found = Grammar.from_structural_tag(tags(tag("a", schema(dated))), start=start)
        assert found.start == start
        assert found.status(text) == "fits"
        assert (found.reading.parsed.rules is None) == (start != "a_json")
    with pytest.raises(GrammarError) as raised:
        Grammar.from_structural_tag(tags(tag("a", schema(dated))), start="b")
    assert [each.code for each in raised.value.diagnostics] == ["E102"]


def _calls(value: Any, **options: Any) -> int:
    """Return how often functions of the toolkit are called."""
    profile = cProfile.Profile()
    if options:
        profile.runcall(Grammar.from_tools, value, **options)
    else:
        profile.runcall(Grammar.from_structural_tag, value)
    found = pstats.Stats(profile).stats  # type: ignore[attr-defined] # typeshed has none
    return sum(each[1] for place, each in found.items() if "kbnf_core" in place[0])


def _tools(word: str) -> list[Any]:
    return [
        {
            "name": f"{word}{number}",
            "parameters": {
                "type": "object",
                "properties": {f"{word}{number}": {"type": "integer", "minimum": number}},
            },
        }
        for number in range(8)
    ]


def test_what_is_known_of_a_tag_costs_little_again() -> None:
    """Guards the walk: 522 calls for another tag, 769 with one tag more; trees took 4,105."""
    first, second, third = (
        tag(name, schema({**NAMED, "properties": {name: AS}, "required": [name]}))
        for name in ("one", "two", "three")
    )
    _calls(tags(first))
    assert _calls(tags(second)) < 1_000
    again, more = _calls(tags(second)), _calls(tags(second, third))
    assert again < 700
    assert more - again < 500
    _calls(_tools("a"), tool_calls="qwen_3")
    assert _calls(_tools("b"), tool_calls="qwen_3") < 6_000


@pytest.mark.parametrize(
    ("limits", "code"), [(Limits(work=20), "E107"), (Limits(grammar_states=20), "E203")]
)
def test_limits_are_met_while_rules_are_written(limits: Limits, code: str) -> None:
    text = json.dumps(tags({"type": "any_text", "max_chars": 30, "excludes": ["ab"]}))
    with pytest.raises(GrammarError) as raised:
        Grammar.read(text, STRUCTURAL_TAG, lossy=True, limits=limits)
    assert code in {each.code for each in raised.value.diagnostics}


@pytest.mark.parametrize("excludes", [[], ["q"]])
@pytest.mark.parametrize("style", ["qwen_xml", "python", "gemma"])
def test_a_property_that_nothing_satisfies_is_an_error(style: str, excludes: list[str]) -> None:
    value = {"type": "object", "properties": {"a": False}}
    text = json.dumps(tags(tag("t", schema(value, style=style, excludes=excludes))))
    [error] = [each for each in check(text, language=STRUCTURAL_TAG) if each.code == "E803"]
    assert "/json_schema/properties/a" in error.message


def test_a_tree_that_passes_a_limit_is_a_finding_of_a_check(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def too_large(tree: TagTree) -> tuple[()]:
        tree._report.error("", "too large", code="E203")
        return ()

    monkeypatch.setattr(TagTree, "definitions", too_large)
    found = rules_of(tags(tag("a", schema(NAMED))))
    [finding] = check(found.source.text, language=STRUCTURAL_TAG)
    assert finding.code == "I901"
    with pytest.raises(GrammarError):
        found.to_kbnf()
    blanks = tags(tag("a", {"type": "regex", "pattern": "[ \\n]*"}))
    codes = {each.code for each in check(json.dumps(blanks), language=STRUCTURAL_TAG)}
    assert codes == {"W302", "I901"}


@pytest.mark.parametrize("read", [Grammar.from_json_schema, rules_of])
def test_threads_that_ask_at_once_get_one_tree(read: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    writing: list[Expressions] = []
    write = Expressions.write

    def slowly(expressions: Expressions, *arguments: Any) -> Any:
        writing.append(expressions)
        result = write(expressions, *arguments)
        time.sleep(0.05)
        return result

    monkeypatch.setattr(Expressions, "write", slowly)
    value = NAMED if read == Grammar.from_json_schema else tags(tag("a", schema(NAMED)))
    alone = read(value).to_kbnf()
    found = read(value)
    writing.clear()
    with ThreadPoolExecutor(4) as threads:
        texts = [threads.submit(found.to_kbnf) for _ in range(4)]
    assert {text.result() for text in texts} == {alone}
    assert len(writing) == 1


def test_lints_look_at_the_formats_of_a_tag() -> None:
    twice = {"type": "or", "elements": [{"type": "const_string", "value": "a"}] * 2}
    found = check(json.dumps({"format": twice}), language=STRUCTURAL_TAG)
    assert [each.code for each in found] == ["W104"]
