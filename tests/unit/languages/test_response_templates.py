"""Response templates: what is refused and what is noted, messages, grammars, and hostile ones."""

import json
import pickle
import re
import time
from pathlib import Path
from typing import Any

import pytest

from kbnf_core import Grammar, GrammarError, ParseError, check, compile_artifact, load_artifact
from kbnf_core.languages import RESPONSE_TEMPLATE, TOOL_LIST, detect
from kbnf_core.languages.response_template.message import message_of
from kbnf_core.languages.response_template.parse import format_of_model
from kbnf_core.languages.response_template.template import template_of
from kbnf_core.text.diagnostics import CATALOGUE
from kbnf_core.text.diagnostics.catalogue import read_page
from kbnf_core.text.errors import ConfigError, MessageError, WorkLimitError
from kbnf_core.text.limits import Limits
from kbnf_testing.response_templates import TEMPLATES, TOOLS


def of(*, top: Any = None, **fields: Any) -> dict[str, Any]:
    return {"start_anchor": "<bot>", "fields": {**fields, "content": {}}, **(top or {})}


def errors(value: Any) -> list[str]:
    with pytest.raises(GrammarError) as raised:
        template_of(value)
    assert {each.code for each in raised.value.diagnostics} == {"E443"}
    return [each.message for each in raised.value.diagnostics]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("{", "a response template must be JSON"),
        ([], "a response template is an object"),
        ({"fields": {}}, "/fields: `fields` is an object that is not empty"),
        ({"fields": {"content": {}}}, "has `start_anchor` or `start_anchor_pattern`"),
        (of(top={"version": 2}), "/version: only version 1"),
        (of(top={"anchor": 1}), "/anchor: a response template has no `anchor`"),
        (of(a={}), "/fields/content: one field has no opening, and that is `a` already"),
        (of(a={"open": ""}), "/fields/a/open: `open` is a text that is not empty"),
        (of(a={"open": []}), "/fields/a/open: `open` is a text"),
        (of(a={"open": "<", "open_pattern": "<"}), "`open` and `open_pattern` are there"),
        (of(a={"open_pattern": "a*"}), "matches the empty text"),
        (of(a={"open_pattern": "(?:a*)*b"}), "repetitions of what can be empty"),
        (of(a={"open_pattern": "a(?=b)"}), "look-ahead is not supported"),
        (of(a={"open_pattern": "a$"}), "assertions are not supported"),
        (of(a={"open_pattern": "a++"}), "there is nothing to repeat"),
        (of(a={"open_pattern": "(?i:a)"}), "flags are not supported"),
        (of(a={"open_pattern": "[a&&b]"}), "operators of sets"),
        (of(a={"open_pattern": "(?P<x>a)"}), "the group `x` is lost without a `transform`"),
        (of(a={"open": "<", "content": "yaml"}), "there is no content 'yaml'"),
        (of(a={"open": "<", "content": "xml-inline"}), "a pattern is a text"),
        (of(a={"open": "<", "content_args": {"strip": 1}}), "`strip` is `true` or `false`"),
        (of(a={"open": "<", "transform": "a {content}"}), "is a placeholder and more"),
        (of(a={"open": "<", "join": ","}), "`join` is a text, of a field with `repeats`"),
        (of(a={"opens": "<"}), "/fields/a/opens: a field has no `opens`"),
        (of(a=1), "/fields/a: a field is an object"),
    ],
)
def test_what_cannot_be_read_is_an_error_at_its_place(value: Any, message: str) -> None:
    assert message in errors(value)[0]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (of(a={"open": "<a>"}), "nothing closes `a`"),
        (of(a={"open": "<a>", "close": ">"}, b={"open": "<a>", "close": ">"}), "never `b`"),
        (
            {"start_anchor": "<", "fields": {
                "a": {"open": "|", "close": "|"}, "content": {"close": "|"},
            }},
            "`|` opens `a`, and never closes `content`",
        ),
    ],
)  # fmt: skip
def test_a_region_that_cannot_close_or_open_is_noted(value: Any, message: str) -> None:
    text = json.dumps(value)
    assert detect(text, "x.json") is RESPONSE_TEMPLATE
    found = [each for each in check(text, language=RESPONSE_TEMPLATE) if each.code == "W443"]
    assert message in found[0].message


@pytest.mark.parametrize("code", ["E443", "W443"])
def test_page_examples(code: str) -> None:
    page = read_page(CATALOGUE[code])
    wrong, right = re.findall(r"^```json\n(.*?)\n```$", page, re.MULTILINE | re.DOTALL)
    assert code in [each.code for each in check(wrong, language=RESPONSE_TEMPLATE)]
    assert check(right, language=RESPONSE_TEMPLATE) == []


CHAT = (
    "{% for m in messages %}<bot>{{ m.content }}{% for c in m.tool_calls or [] %}"
    "{{ '\\n<call>' }}"
    "{{ {'name': c.function.name, 'arguments': c.function.arguments} | tojson }}</call>"
    "{% endfor %}<end>{% endfor %}{% if add_generation_prompt %}<bot>{% endif %}"
)


def test_a_template_is_held_against_the_chat_template_beside_it() -> None:
    pytest.importorskip("jinja2")
    fields = dict(TEMPLATES["objects"]["fields"])
    right = {"start_anchor": "<bot>", "fields": fields}
    calls = {**fields["tool_calls"], "open": "<call>"}
    del calls["open_pattern"]
    wrong = {"start_anchor": "<bot>", "fields": {**fields, "tool_calls": calls}}

    def findings(value: Any) -> list[str]:
        text = json.dumps({"response_template": value, "chat_template": CHAT})
        return [each.message for each in check(text, language=RESPONSE_TEMPLATE)]

    assert findings(right) == []
    assert findings(wrong) == [
        "/response_template: the calls after text that the chat template writes is read as "
        "{'text': '', 'calls': [('qz_first', {'qzone': 'a \"b\"', 'qztwo': 3}), "
        "('qz_second', {'qzone': 'a \"b\"', 'qztwo': 3})]}"
    ]


def test_calls_of_tools_are_constrained_and_read(tmp_path: Path) -> None:
    format_ = format_of_model(json.dumps({"response_template": TEMPLATES["elements"]}))
    grammar = Grammar.from_tools(TOOLS, tool_calls=format_, tool_choice="required")
    text = (
        "<call><function=get_weather>\n<parameter=city>\nKöln\n</parameter>\n<parameter=days>\n3\n"
        "</parameter>\n</function></call>"
    )
    call = {"name": "get_weather", "arguments": {"city": "Köln", "days": 3}}
    message = {"tool_calls": [{"type": "function", "function": call}]}
    path = tmp_path / "a.kbnf"
    compile_artifact(grammar, None, path)
    again = pickle.loads(pickle.dumps(grammar))  # noqa: S301 - pickled right here
    for each in (grammar, again, load_artifact(path)):
        assert each.read_value(text) == [call]
        assert each.read_message(text) == message
    with pytest.raises(ParseError):
        grammar.read_value(text.replace("get_weather", "get_wether"), exact=True)
    with pytest.raises(ConfigError, match="there is none"):
        Grammar("json").read_message("{}")


def test_a_name_that_the_opening_cannot_read_is_an_error() -> None:
    format_ = format_of_model(json.dumps(TEMPLATES["notation"]))
    with pytest.raises(GrammarError, match="cannot read this name"):
        Grammar.from_tools([{"name": "get-weather"}], tool_calls=format_)


def test_a_message_that_lacks_a_field_or_cannot_be_read_is_an_error() -> None:
    channels = template_of(TEMPLATES["channels"])
    with pytest.raises(MessageError, match="has no `count`"):
        message_of(channels, "")
    with pytest.raises(MessageError, match="`count` cannot be read"):
        message_of(channels, "<n>three</n>")


def test_openings_that_no_text_is_in_are_refused_for_grammars_only() -> None:
    value = of(a={"open_pattern": "[<>]", "close": "|"})
    assert message_of(template_of(value), ">b|c") == {"a": "b", "content": "c"}
    with pytest.raises(GrammarError, match="no text is in all matches"):
        Grammar.from_response_template(value)


# Hostile ones: limits are those of elsewhere, met early, with one message


def test_patterns_that_backtrack_are_searched_in_linear_time() -> None:
    value = of(a={"open_pattern": "(?:a+)+b", "close_pattern": r"(?:\s|\n)+<"})
    template, started = template_of(value), time.process_time()
    assert message_of(template, "a" * 30_000)["content"] == "a" * 30_000
    assert message_of(template, "aab" + " \n" * 15_000) == {}
    assert time.process_time() - started < 20


def test_work_is_counted() -> None:
    template = template_of(of(a={"open_pattern": "(?:a|aa)+b"}))
    with pytest.raises(WorkLimitError):
        message_of(template, "a" * 10_000, limits=Limits(work=10_000))


def test_opening_equal_to_closing() -> None:
    template = template_of(of(a={"open": "|", "close": "|"}))
    assert message_of(template, "x|y||z|") == {"content": "x", "a": "z"}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (of(**{f"f{i}": {"open": f"<{i}>"} for i in range(10_000)}), "at most 1,000 fields"),
        (of(a={"open_pattern": "a{5000}{5000}"}), "there is nothing to repeat"),
        (of(a={"open_pattern": "(?:(?:a{999}){999}){999}"}), "at most 10,000 steps"),
        (of(a={"open_pattern": "(?:" * 99 + "a" + ")" * 99}), "nested deeper than 64"),
        (of(a={"open": "<", "transform": json.loads("[" * 99 + "]" * 99)}), "64 values nested"),
    ],
)
def test_what_is_too_large_is_refused(value: Any, message: str) -> None:
    found = errors(value)
    assert len(found) == 1
    assert message in found[0]


def test_many_fields_are_read() -> None:
    value = of(**{f"f{i}": {"open": f"<{i}>", "close": ">"} for i in range(200)})
    template = template_of(value)
    assert len(message_of(template, "".join(f"<{i}>x>" for i in range(200)))) == 200


def test_lists_of_tools_take_a_response_template_ahead_of_the_chat_template(tmp_path: Path) -> None:
    config = {"response_template": TEMPLATES["python"], "chat_template": CHAT}
    format_ = format_of_model("{{ messages }}", json.dumps(config))
    grammar = Grammar.from_tools(TOOLS, tool_calls=format_, tool_choice="noop")
    assert grammar.language is TOOL_LIST
    assert grammar.read_message("<|calls|>[noop()]<|end|>")["tool_calls"][0]["function"] == {
        "name": "noop", "arguments": {},
    }  # fmt: skip
