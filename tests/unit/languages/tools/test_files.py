"""References to files in the schemas of lists, requests and structural tags."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kbnf_core import Grammar, GrammarError
from kbnf_core.frontend import Language
from kbnf_core.languages import LANGUAGES, STRUCTURAL_TAG, TOOL_LIST
from kbnf_core.languages.json_schema import document
from kbnf_core.text.files import ANYWHERE
from kbnf_core.text.limits import DEFAULT_LIMITS

CITY = {
    "type": "object",
    "properties": {"city": {"type": "string", "maxLength": 5}},
    "required": ["city"],
    "additionalProperties": False,
}
REFERENCE = {"$ref": "args.json"}
FUNCTION = {"type": "function", "function": {"name": "w", "parameters": REFERENCE}}
FORMAT = {"type": "json_schema", "json_schema": {"name": "n", "schema": REFERENCE}}
TAG = {
    "type": "structural_tag",
    "format": {
        "type": "tag",
        "begin": "<a>",
        "content": {"type": "json_schema", "json_schema": REFERENCE},
        "end": "</a>",
    },
}
OLDER = {"structures": [{"begin": "<a>", "schema": REFERENCE, "end": "</a>"}], "triggers": ["<a>"]}
CALL = '{"name": "w", "arguments": VALUE}'
TEXTS: Mapping[str, tuple[Any, Language, str]] = {
    "list": ([FUNCTION], TOOL_LIST, CALL),
    "deep": (
        [{"name": "w", "inputSchema": {"type": "object", "properties": {"p": REFERENCE}}}],
        TOOL_LIST,
        CALL.replace("VALUE", '{"p": VALUE}'),
    ),
    "request": ({"model": "m", "messages": [], "tools": [FUNCTION]}, TOOL_LIST, CALL),
    "gemini": (
        {"tools": [{"functionDeclarations": [{"name": "w", "parametersJsonSchema": REFERENCE}]}]},
        TOOL_LIST,
        CALL,
    ),
    "answer": ({"response_format": FORMAT}, TOOL_LIST, "VALUE"),
    "tag in an answer": ({"response_format": TAG}, TOOL_LIST, "<a>VALUE</a>"),
    "tag": (TAG, STRUCTURAL_TAG, "<a>VALUE</a>"),
    "older tag": (OLDER, STRUCTURAL_TAG, "<a>VALUE</a>"),
}


def read(name: str, folder: Path, **options: Any) -> Grammar:
    value, language, _ = TEXTS[name]
    path = folder / "x.json"
    path.write_text(json.dumps(value), "utf-8")
    return Grammar.read(path.read_text("utf-8"), language, path=str(path), options=options)


def check_texts(name: str, grammar: Grammar) -> None:
    form = TEXTS[name][2]
    assert grammar.status(form.replace("VALUE", '{"city": "Paris"}')) == "fits"
    assert grammar.status(form.replace("VALUE", '{"city": "Parisx"}')) == "wrong"
    assert grammar.status(form.replace("VALUE", "{}")) == "wrong"


@pytest.mark.parametrize("name", TEXTS)
def test_files_beside_a_text_are_read(name: str, tmp_path: Path) -> None:
    (tmp_path / "args.json").write_text(json.dumps(CITY), "utf-8")
    check_texts(name, read(name, tmp_path))


@pytest.mark.parametrize("form", ["hermes", "qwen_3_coder", "gemma_4", "cohere"])
def test_formats_of_calls_have_the_files(form: str, tmp_path: Path) -> None:
    (tmp_path / "args.json").write_text(json.dumps(CITY), "utf-8")
    grammar = read("list", tmp_path, tool_calls=form, tool_choice="required")
    assert not grammar.is_endless


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_without_its_files_is_the_same(name: str, tmp_path: Path) -> None:
    (tmp_path / "args.json").write_text(json.dumps(CITY), "utf-8")
    value, language, _ = TEXTS[name]
    path = str(tmp_path / "x.json")
    whole = language.self_contained(json.dumps(value), path, ANYWHERE)
    assert "args.json" not in whole
    check_texts(name, Grammar.read(whole, language))
    assert language.self_contained(whole, path, ANYWHERE) == whole


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize(
    ("content", "code"), [(None, "E805"), ("{", "E802"), ('{"type": 3}', "E802")]
)
def test_files_that_cannot_be_used_are_errors(
    name: str, content: str | None, code: str, tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / "args.json").write_text(content, "utf-8")
    with pytest.raises(GrammarError) as refused:
        read(name, tmp_path)
    assert code in {each.code for each in refused.value.diagnostics}


def test_files_above_the_folder_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "args.json").write_text(json.dumps(CITY), "utf-8")
    text = json.dumps([{"name": "w", "inputSchema": {"$ref": "../args.json"}}])
    with pytest.raises(GrammarError, match="leads nowhere"):
        Grammar.read(text, TOOL_LIST, path=str(tmp_path / "in" / "x.json"))


def test_the_files_of_all_tools_are_limited_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "args.json").write_text(json.dumps(CITY), "utf-8")
    tools = [{"name": f"w{n}", "inputSchema": {"$ref": "args.json"}} for n in range(5)]
    most = len(json.dumps(CITY)) * 4
    monkeypatch.setattr(document, "DEFAULT_LIMITS", replace(DEFAULT_LIMITS, source_bytes=most))
    with pytest.raises(GrammarError, match=r"/4/inputSchema/\$ref: .*characters in files"):
        Grammar.read(json.dumps(tools), TOOL_LIST, path=str(tmp_path / "x.json"))


def test_every_language_says_which_schemas_are_in_a_text() -> None:
    for each in LANGUAGES:
        assert each.self_contained("[1]", "x.json", ANYWHERE) == "[1]"
