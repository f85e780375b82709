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
