"""``Grammar.status``, ``complete`` and ``repair``: languages, messages, and what is hostile."""

import json
from typing import Any

import pytest

from kbnf_core import EngineError, Grammar, KbnfError, Limits, ParseError
from kbnf_core.repair import Repair
from kbnf_core.repair.weights import OUTSIDE, Rewrite, Weights
from kbnf_core.text.errors import ConfigError, NoValueError, WorkLimitError

SCHEMA = {
    "type": "object",
    "properties": {
        "a": {"type": "integer"},
        "b": {"type": "string"},
        "c": {"type": "array", "items": {"type": "integer"}},
        "d": {"type": ["boolean", "null"]},
    },
    "required": ["a"],
    "additionalProperties": False,
}
OBJECT = Grammar.from_json_schema(SCHEMA)

SQL = Grammar(
    """
(* kbnf: finish=eos *)
start ::= "SELECT " columns " FROM " name (" WHERE " name " = " value)? ";";
columns ::= "*" | name (", " name)*;
name ::= #"[a-z_]+";
value ::= #"[0-9]+" | "'" #"[^']*" "'";
"""
)
LARK = 'start: "(" (start | WORD)* ")"\nWORD: /[a-z]+ ?/\n'
GBNF = 'root ::= "<b>" [a-z ]* "</b>"\n'


def nearest(grammar: Grammar, text: str, **options: Any) -> Repair:
    return grammar.repair(text, **options)[0]


def test_status() -> None:
    grammar = Grammar('start ::= "a" "b"*;', finish="eos")
    assert [grammar.status(each) for each in ("ab", "", "b", b"a\xff")] == [
        "fits",
        "cut",
        "wrong",
        "wrong",
    ]
    eager = Grammar('start ::= "a" "b"*;')
    assert [eager.status(each) for each in ("a", "ab")] == ["fits", "wrong"]


@pytest.mark.parametrize(("text", "status"), [("[1", "cut"), ("[1;", "wrong")])
def test_errors_have_it(text: str, status: str) -> None:
    with pytest.raises(ParseError) as parsed:
        Grammar("json").parse(text)
    assert parsed.value.status == status == Grammar("json").status(text)
    assert NoValueError(b"").status == "fits"


def test_complete() -> None:
    found = OBJECT.complete('{"a": 1, "b": "é')
    assert (found.data, found.text) == (b'"}', '{"a": 1, "b": "é"}')
    assert OBJECT.complete('{"a": 1}').data == b""
    cut = '{"a": 1, "b": "é'.encode()[:-1]
    assert OBJECT.status(OBJECT.complete(cut).text) == "fits"
    with pytest.raises(ParseError) as refused:
        OBJECT.complete('{"a": x')
    assert (refused.value.offset, refused.value.status) == (6, "wrong")
    with pytest.raises(EngineError, match="needs a token"):
        Grammar("start ::= 'a' #token[7];", finish="eos").complete("a")


@pytest.mark.parametrize(
    ("text", "repaired"),
    [
        ('{"a": 1 "b": "x"}', '{"a": 1, "b": "x"}'),
        ('{"a": 1, "b": "x, "d": true}', '{"a": 1, "b": "x", "d": true}'),
        ('{"a": 1, "c": [1, 2, "d": true}', '{"a": 1, "c": [1, 2], "d": true}'),
        ("{'a': 1, 'b': 'x'}", '{"a": 1, "b": "x"}'),
        ('{a: 1, "d": None,}', '{"a": 1, "d": null}'),
        ('```json\n{"a": 1}\n```', '{"a": 1}'),
        ('Sure! Here: {"a": 1}\nIs that all?', '{"a": 1}'),
        ('{"a": 1, "b": "he said "hi""}', '{"a": 1, "b": "he said \\"hi\\""}'),
        ('{"a": 1, "b": "two\nlines"}', '{"a": 1, "b": "two\\nlines"}'),
        ('{"a": 1, "b": "c:\\work"}', '{"a": 1, "b": "c:\\\\work"}'),
        ('{"a": 1, "b": "x"', '{"a": 1, "b": "x"}'),
        ('{"a": 1, "d": ture}', '{"a": 1, "d": true}'),
        ('{"a": 1, "b": “x”}', '{"a": 1, "b": "x"}'),
    ],
)
def test_what_models_write(text: str, repaired: str) -> None:
    found = nearest(OBJECT, text)
    assert (found.text, found.invented) == (repaired, False)


@pytest.mark.parametrize(
    ("grammar", "text", "repaired"),
    [
        (SQL, "SELEC a, b FRM t;", "SELECT a, b FROM t;"),
        (SQL, "SELECT a b FROM t WHERE a = 'x;", "SELECT a, b FROM t WHERE a = 'x';"),
        (Grammar.from_lark(LARK), "((ab (c)", "((ab (c)))"),
        (Grammar.from_lark(LARK), "(ab]", "(ab)"),
        (Grammar.from_gbnf(GBNF), "<b>two words<b>", "<b>two words</b>"),
        (Grammar.from_gbnf(GBNF), "<b>two words</i>", "<b>two words</b>"),
        (Grammar("arithmetic"), "1+(2*3", "1+(2*3)"),
        (Grammar('start ::= "日本" #"[0-9]";', finish="eos"), "日木1", "日本1"),
    ],
)
def test_other_languages(grammar: Grammar, text: str, repaired: str) -> None:
    assert nearest(grammar, text).text == repaired


def test_what_is_invented_is_said() -> None:
    for text in ('{"a": , "b": "x"}', '{"b": "x"}', '{"a": 1, "c": [1,,2]}'[:8], ""):
        assert nearest(OBJECT, text).invented
        assert not any(each.invented for each in OBJECT.repair(text, invent=False))
    assert nearest(OBJECT, '{"a": 1, "b": }').invented
    forced = Grammar.from_json_schema({"const": {"kind": "x"}})
    assert not nearest(forced, '{"knd": "x"}').invented


def test_the_latest_of_equal_repairs_is_first() -> None:
    grammar = Grammar('start ::= ("a" ","?)* "!";', finish="eos")
    assert nearest(grammar, "a,,a!").edits[0].start == 2


def test_several_are_distinct_and_ascend() -> None:
    found = OBJECT.repair('{"a": 1 "b": "x"}', best=50)
    assert len({each.data for each in found}) == len(found) == 50
    assert sorted(each.cost for each in found) == [each.cost for each in found]
    assert {OBJECT.status(each.data) for each in found} == {"fits"}


def test_a_cut_text_is_completed_never_repaired() -> None:
    text = '{"a": 1, "b": "it\'s, [1]", "c": [1, 2], "d": null}'
    for end in range(len(text)):
        found = nearest(OBJECT, text[:end])
        assert [edit.kind for edit in found.edits] == ["complete"], text[:end]
        assert OBJECT.status(found.text) == "fits"


TOOLS = [{"type": "function", "function": {"name": "set_value", "parameters": SCHEMA}}]


def test_messages_with_calls_of_tools() -> None:
    grammar = Grammar.from_tools(TOOLS, tool_calls="qwen_3")
    text = (
        "I set it.\n<tool_call>\n"
        '{"name": "set_value", "arguments": {"a": 1, "b": "x}}\n</tool_call>'
    )
    found = nearest(grammar, text.replace('"x}', "'x'}"))
    value = grammar.read_value(found.text)
    assert value[-1] == {"name": "set_value", "arguments": {"a": 1, "b": "x"}}
    assert found.text.startswith("I set it.\n<tool_call>")
    reader = grammar.value_reader()
    reader.feed(found.text)
    reader.finish()
    assert reader.value == value


@pytest.mark.parametrize("wrong", ["set_valeu", "put_value", "get_weather", "value"])
@pytest.mark.parametrize("before", ["", "I set it.\n"])
def test_a_call_of_a_wrong_tool_does_not_become_free_text(wrong: str, before: str) -> None:
    grammar = Grammar.from_tools(TOOLS, tool_calls="qwen_3")
    text = before + '<tool_call>\n{"name": "set_value", "arguments": {"a": 1}}\n</tool_call>'
    assert nearest(grammar, text.replace("set_value", wrong)).text == text


def test_free_text_is_left_only_at_the_price_of_a_marker() -> None:
    grammar = Grammar('start ::= except!("<f>") | #"[^<]*" "<f>" #"[0-9]{9}";', finish="eos")
    assert nearest(grammar, "so <f>xy", most=9).cost == 9
    assert grammar.repair("so <f>xy", most=8.9) == []


def test_structural_tags() -> None:
    tag = {
        "type": "structural_tag",
        "format": {
            "type": "triggered_tags",
            "triggers": ["<f="],
            "tags": [
                {
                    "begin": "<f=set>",
                    "content": {"type": "json_schema", "json_schema": SCHEMA},
                    "end": "</f>",
                }
            ],
        },
    }
    grammar = Grammar.from_structural_tag(tag)
    found = nearest(grammar, 'So: <f=set>{"a": 1, "d": None}</f> done')
    assert found.text == 'So: <f=set>{"a": 1, "d": null}</f> done'


def test_weights_are_data() -> None:
    grammar = Grammar('start ::= "a" ("," "a")* "!";', finish="eos")
    assert nearest(grammar, "a a!").cost == 1.1
    cheap = Weights(rewrites=(Rewrite(rb" (?=a)", b",", 0.25, OUTSIDE),))
    assert nearest(grammar, "a a!", weights=cheap).cost == 0.25
    longer = Weights(rewrites=(Rewrite(b" ", b"," + b"a," * 9 + b"a", 0.25),))
    assert nearest(grammar, "a a!", weights=longer).cost == 1.1
    upper = Weights(rewrites=(Rewrite(b"[A-Z]", lambda match: match[0].lower(), 0.25),))
    assert nearest(grammar, "A,a!", weights=upper).cost == 0.25
    with pytest.raises(ConfigError, match="a cost of an edit"):
        Weights(sign=0.0)
    with pytest.raises(ConfigError, match="the pattern"):
        Weights(rewrites=(Rewrite(b"(", b"", 1.0),))
    with pytest.raises(ConfigError):
        grammar.repair("a", best=0)


HOSTILE: dict[str, str | bytes] = {
    "brackets": "[" * 100_000,
    "closing": "]" * 100_000,
    "quotes": '"' * 100_000,
    "keys": '{"a":' * 20_000,
    "escapes": '"' + "\\" * 99_999,
    "program": "def f(x):\n    return [y for y in x if 'a' == \"b\"]\n" * 2_000,
    "nul": "\0" * 100_000,
    "not utf-8": b"\x80\xff\xc3" * 33_000,
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("grammar", [Grammar("json"), OBJECT], ids=["json", "schema"])
def test_hostile_texts_end(grammar: Grammar, name: str) -> None:
    try:
        found = grammar.repair(HOSTILE[name], best=3)
    except (EngineError, WorkLimitError):
        return
    assert all(grammar.status(each.data) == "fits" for each in found)


def test_many_repairs_of_a_large_grammar() -> None:
    words = " | ".join(f'"word{n}" #"[a-z]{{3,9}}" "x{n}"' for n in range(3_000))
    grammar = Grammar(f'start ::= ({words}) ";";', finish="eos")
    assert grammar.repair("wodr2999abcx2999;")[0].text == "word2999abcx2999;"
    assert grammar.repair("word29abcx29", best=1_000)


def test_a_search_is_within_its_work() -> None:
    grammar = Grammar("json", limits=Limits(work=100_000))
    text = json.dumps([{"a": [n, "x"]} for n in range(300)]).replace(":", "", 2)
    with pytest.raises(KbnfError, match="the repair of a text"):
        grammar.repair(text.replace("]", ")"))
