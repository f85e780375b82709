"""LLGuidance's lists of grammars as JSON."""

import json

import pytest

from kbnf_core import check
from kbnf_core.convert import from_lark

LIST = json.dumps(
    {"grammars": [{"lark_grammar": 'start: "a" @x'}, {"name": "x", "lark_grammar": 'start: "c"'}]}
)


def test_a_list_is_read() -> None:
    assert "x_start ::= 'c';" in from_lark(LIST).text
    assert check(LIST, "a.lark") == []


def test_a_schema_may_be_at_the_top() -> None:
    text = json.dumps({"grammars": [{"json_schema": {"const": "ab"}}]})
    assert '"ab"' in from_lark(text).text


@pytest.mark.parametrize("broken", [LIST[:-2] + ",]}", LIST.replace("}, {", ",}, {"), LIST[:-1]])
def test_what_is_no_json_has_its_place(broken: str) -> None:
    with pytest.raises(json.JSONDecodeError) as caught:
        json.loads(broken)
    (finding,) = check(broken, "a.lark")
    assert finding.code == "E001"
    assert "JSON" in finding.message
    assert finding.span.start == caught.value.pos


WRITTEN = r"""{"grammars": [
  {"lark_grammar": "start: \"\u00e9\ud83d\ude00\" WS @x\nWS: /[ ]+/\n"},
  {"name": "x", "lark_grammar": "start: \"<\" N @y\nN: /[0-9]+/ // a comment"},
  {"name": "y", "json_schema": {"type": "object"}}]}"""


def test_a_finding_is_where_its_grammar_is_in_the_list() -> None:
    found = check(WRITTEN, "a.lark")
    assert [(each.code, each.span.start) for each in found] == [
        ("W302", WRITTEN.index("WS")),
        ("I303", WRITTEN.index("N @y")),
    ]
    assert {each.source.text for each in found} == {WRITTEN}


def test_an_error_is_where_its_grammar_is_in_the_list() -> None:
    text = WRITTEN.replace("@y", "@z")
    (finding,) = check(text, "a.lark")
    assert (finding.code, text[finding.span.start : finding.span.end]) == ("E421", "@z")


def test_the_schema_of_a_list_has_its_place() -> None:
    text = WRITTEN.replace('"object"', '"objet"')
    (finding,) = check(text, "a.lark")
    assert finding.code == "E802"
    assert text[finding.span.start : finding.span.end] == '"json_schema": {"type": "objet"}'


def test_a_comment_in_a_grammar_of_a_list_silences() -> None:
    text = WRITTEN.replace("a comment", "kbnf: ignore[I303]")
    assert [each.code for each in check(text, "a.lark")] == ["W302"]
    quoted = WRITTEN.replace("a comment", r"kbnf: ignore[I303] \"x\"")
    assert [each.code for each in check(quoted, "a.lark")] == ["W302", "I303"]
