"""A schema is read, checked and made a document once, whatever is made of it."""

import json
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from kbnf_core.automata.regex.parse import parse_regex
from kbnf_core.convert import convert
from kbnf_core.grammar import Grammar
from kbnf_core.kbnf.read import parse_kbnf
from kbnf_core.languages import (
    GBNF,
    JSON_SCHEMA,
    KBNF,
    LARK,
    STRUCTURAL_TAG,
    TOOL_LIST,
    Language,
)
from kbnf_core.languages.gbnf import writer as gbnf_writer
from kbnf_core.languages.json_schema import parse
from kbnf_core.languages.json_schema.document import SchemaDocument, read_json
from kbnf_core.languages.json_schema.keywords import review
from kbnf_core.languages.json_schema.schemas import Schemas
from kbnf_core.languages.tools import parse as tools
from kbnf_core.lint.check import check
from kbnf_core.text.json_text import parse_json
from kbnf_core.text.limits import DEFAULT_LIMITS, Limits

SCHEMA = {
    "type": "object",
    "title": "An order",
    "properties": {
        "name": {"type": "string", "maxLength": 20},
        "when": {"type": "string", "format": "date"},
        "lines": {"type": "array", "items": {"$ref": "#/$defs/line"}, "uniqueItems": False},
        "next": {"anyOf": [{"$ref": "#"}, {"type": "null"}]},
    },
    "required": ["name"],
    "$defs": {"line": {"type": "object", "properties": {"count": {"type": "integer"}}}},
}

TOOLS = [
    {"type": "function", "function": {"name": f"tool{number}", "parameters": SCHEMA}}
    for number in range(8)
]

RESPONSE_FORMAT = {
    "type": "json_schema",
    "json_schema": {"name": "order", "schema": SCHEMA},
}


def _tag(style: str) -> dict[str, Any]:
    """Return a tag around two schemas in this style."""
    tags = [
        {
            "type": "tag",
            "begin": f"<{name}>",
            "content": {"type": "json_schema", "json_schema": SCHEMA, "style": style},
            "end": f"</{name}>",
        }
        for name in ("first", "second")
    ]
    return {
        "type": "structural_tag",
        "format": {"type": "triggered_tags", "triggers": ["<"], "tags": tags},
    }


READING = (read_json, parse_json, review, parse_kbnf)


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often schemas are read, checked and made documents, and texts of KBNF are read."""
    found = Counter[str]()

    def counted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def called(*args: Any, **kwargs: Any) -> Any:
            found[name] += 1
            return function(*args, **kwargs)

        return called

    modules = [each for name, each in list(sys.modules.items()) if name.startswith("kbnf_core")]
    for function in READING:
        name = function.__name__
        for module in modules:
            if vars(module).get(name) is function:
                monkeypatch.setattr(module, name, counted(name, function))
    for kind in (SchemaDocument, Schemas):
        monkeypatch.setattr(kind, "__init__", counted(kind.__name__, kind.__init__))
    return found


@pytest.mark.parametrize("target", [None, KBNF, GBNF, LARK], ids=lambda each: each and each.name)
@pytest.mark.parametrize(
    ("language", "value", "reviewed", "made", "written"),
    [
        (JSON_SCHEMA, SCHEMA, 1, 1, 1),
        (TOOL_LIST, TOOLS, 8, 1, 1),
        (TOOL_LIST, RESPONSE_FORMAT, 1, 1, 1),
        (STRUCTURAL_TAG, _tag("json"), 2, 2, 2),
        # Each of four arguments is written, two of them without a document of their own.
        (STRUCTURAL_TAG, _tag("qwen_xml"), 4, 4, 8),
    ],
    ids=["schema", "tools", "response_format", "tag", "tag-xml"],
)
def test_a_schema_is_read_once(
    counts: Counter[str],
    language: Language,
    value: Any,
    reviewed: int,
    made: int,
    written: int,
    target: Language | None,
) -> None:
    text = json.dumps(value)
    if target is None:
        assert Grammar.read(text, language).rules.rules
    else:
        assert convert(text, language, target, lossy=False).text
    # What has formats shows the rules of a library, which a process reads once.
    assert counts.pop("parse_kbnf", 0) <= (target is not None)
    assert counts.pop("read_json", 1) == 1
    assert counts == {
        "parse_json": 1,
        "review": reviewed,
        "SchemaDocument": made,
        "Schemas": written,
    }


@pytest.mark.parametrize("made", ["to_kbnf", "parser"])
def test_a_grammar_does_not_read_its_schema_again(counts: Counter[str], made: str) -> None:
    grammar = Grammar.from_json_schema(SCHEMA)
    counts.clear()
    made_of_it = getattr(grammar, made)
    assert made_of_it() if callable(made_of_it) else made_of_it
    assert not counts.keys() & {"read_json", "parse_json", "review"}


CONTRADICTORY = {
    "properties": {
        "low": {"type": "integer", "minimum": 5, "maximum": 2},
        "again": {"items": {"type": "integer", "minimum": 5, "maximum": 2}},
        "inside": {"allOf": [{"type": "string", "pattern": "^[a-z]+$"}, {"maxLength": 0}]},
        "endless": {"$ref": "#/$defs/endless"},
        **{f"text{i}": {"type": "string", "pattern": f"^{i}\\s*x+$"} for i in range(3)},
    },
    "$defs": {
        "endless": {
            "type": "object",
            "properties": {"more": {"$ref": "#/$defs/endless"}},
            "required": ["more"],
        }
    },
}


@pytest.mark.parametrize("value", [SCHEMA, CONTRADICTORY, False], ids=["sound", "dead", "empty"])
def test_a_check_reads_a_schema_once(counts: Counter[str], value: Any) -> None:
    assert check(json.dumps(value), language=JSON_SCHEMA)
    assert counts.pop("parse_kbnf", 0) <= 1
    assert counts == dict.fromkeys(("read_json", "parse_json", "SchemaDocument", "Schemas"), 1) | {
        "review": 1
    }


def test_the_lints_of_a_schema_name_every_place() -> None:
    """Also those with the contents of another place, which are read once."""
    found = check(json.dumps(CONTRADICTORY), language=JSON_SCHEMA)
    named = {each.message.partition(":")[0] for each in found if each.code == "W822"}
    assert named == {
        "/properties/low",
        "/properties/again/items",
        "/properties/inside/allOf",
        "/$defs/endless",
    }


def test_a_schema_that_a_program_writes_is_not_read_again_for_warnings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read, loads = list[str](), json.loads

    def counted(text: str, **options: Any) -> Any:
        read.append(text)
        return loads(text, **options)

    monkeypatch.setattr(json, "loads", counted)
    with pytest.warns(UserWarning, match="did you mean `maxLength`"):
        Grammar.from_json_schema({"maxLenght": 3})
    assert read == ['{"maxLenght": 3}']


def test_the_count_sees_a_second_reading(counts: Counter[str]) -> None:
    for number in range(2):
        vars(parse)["read_json"]("{}")
        vars(tools)["parse_json"](f"{number}")
    assert counts == {"read_json": 2, "parse_json": 4}


def test_patterns_are_read_once_for_gbnf_and_names_not_at_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[str] = []

    def noted(pattern: str, limits: Limits) -> Any:
        read.append(pattern)
        return parse_regex(pattern, limits)

    monkeypatch.setattr(f"{gbnf_writer.__name__}.parse_regex", noted)
    gbnf_writer._read.cache_clear()
    found = convert(json.dumps(SCHEMA), JSON_SCHEMA, GBNF).text
    assert 1 < len(read) == len(set(read))
    assert '"lin" [^' in found
    assert not any("lin" in pattern for pattern in read)
    assert convert(json.dumps(SCHEMA), JSON_SCHEMA, GBNF).text == found


def test_equal_alternatives_are_one_in_gbnf_whatever_was_read_before() -> None:
    schema = {"items": {"anyOf": [{"multipleOf": 3, "minimum": 0}, {"pattern": "^[ab]x$"}]}}
    texts = set()
    for size in (0, 2):
        gbnf_writer._read.cache_clear()
        for number in range(200 * size):
            gbnf_writer._read(f"a{number}", DEFAULT_LIMITS)
        texts.add(convert(json.dumps(schema), JSON_SCHEMA, GBNF).text)
    assert len(texts) == 1
