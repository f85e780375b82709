"""References of a schema to files beside it."""

import json
from pathlib import Path
from typing import Any

import pytest

from kbnf_core import Grammar
from kbnf_core.languages import JSON_SCHEMA, TOOL_LIST
from kbnf_core.store.keys import recipe_of
from kbnf_core.text.errors import GrammarError
from kbnf_core.text.files import ANYWHERE, BELOW, Imports
from kbnf_testing.membership import Language

_OLD = "http://json-schema.org/draft-07/schema#"


def _written(folder: Path, files: dict[str, Any]) -> Path:
    for name, value in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(value if isinstance(value, str) else json.dumps(value))
    return folder / next(iter(files))


def _read(file: Path, imports: Imports = BELOW) -> Grammar:
    return Grammar.read(file.read_text(), JSON_SCHEMA, path=str(file), imports=imports)


def _fits(grammar: Grammar, text: str) -> bool:
    return Language(grammar).has(text)


_CASES: dict[str, tuple[dict[str, Any], list[str], list[str]]] = {
    "whole file": ({"a.json": {"$ref": "b.json"}, "b.json": {"const": 1}}, ["1"], ["2"]),
    "dot": ({"a.json": {"$ref": "./b.json#"}, "b.json": {"const": 1}}, ["1"], ["2"]),
    "boolean": (
        {"a.json": {"items": {"$ref": "b.json"}, "type": "array"}, "b.json": False},
        ["[]"],
        ["[1]"],
    ),
    "pointer": (
        {"a.json": {"$ref": "b.json#/$defs/x~1y"}, "b.json": {"$defs": {"x/y": {"const": 1}}}},
        ["1"],
        ["2"],
    ),
    "percent": (
        {"a.json": {"$ref": "b%20c.json#/$defs/x%22"}, "b c.json": {"$defs": {'x"': {"const": 1}}}},
        ["1"],
        ["2"],
    ),
    "anchor": (
        {"a.json": {"$ref": "b.json#x"}, "b.json": {"$defs": {"y": {"$anchor": "x", "const": 1}}}},
        ["1"],
        ["2"],
    ),
    "pointers in a file": (
        {
            "a.json": {"$ref": "sub/b.json"},
            "sub/b.json": {
                "type": "array", "items": {"$ref": "#/$defs/x"}, "minItems": 1,
                "$defs": {"x": {"$ref": "../c.json"}},
            },
            "c.json": {"const": 3},
        },
        ["[3]"],
        ["[]", "[4]"],
    ),
    "circle": (
        {
            "a.json": {
                "type": "object", "properties": {"next": {"$ref": "b.json"}},
                "additionalProperties": False, "required": ["next"],
            },
            "b.json": {"anyOf": [{"type": "null"}, {"$ref": "a.json"}, {"$ref": "#/$defs/x"}],
                       "$defs": {"x": {"const": 7}}},
        },
        ['{"next":null}', '{"next":{"next":7}}'],
        ["null", '{"next":8}'],
    ),
    "addresses": (
        {
            "a.json": {"$id": "https://example.com/s/a.json", "$ref": "b.json"},
            "b.json": {"$id": "https://example.com/s/b.json", "$ref": "https://example.com/s/d/c.json"},
            "d/c.json": {"const": 1},
        },
        ["1"],
        ["2"],
    ),
    "address without a host": (
        {"a.json": {"$id": "/s/a.json", "$ref": "b.json"}, "b.json": {"const": 1}},
        ["1"],
        ["2"],
    ),
    "from an identifier inside": (
        {
            "a.json": {
                "$id": "https://example.com/a.json",
                "$ref": "#/$defs/x",
                "$defs": {"x": {"$id": "n/x.json", "$ref": "../b.json"}},
            },
            "b.json": {"const": 1},
        },
        ["1"],
        ["2"],
    ),
    "own identifier inside": (
        {
            "a.json": {"$ref": "b.json"},
            "b.json": {"$ref": "#/$defs/x", "$defs": {"x": {"$id": "n.json", "$ref": "#/$defs/y",
                                                           "$defs": {"y": {"const": 5}}}}},
        },
        ["5"],
        ["6"],
    ),
    "old draft": (
        {
            "a.json": {"$schema": _OLD, "$ref": "b.json"},
            "b.json": {"$ref": "#/definitions/x", "definitions": {"x": {"const": 1}}},
        },
        ["1"],
        ["2"],
    ),
    "same stem": (
        {
            "a.json": {"$ref": "b.json", "$defs": {"b": {"const": 2}}},
            "b.json": {"items": {"$ref": "c/b.json"}, "type": "array", "minItems": 1},
            "c/b.json": {"const": 1},
        },
        ["[1]"],
        ["[2]"],
    ),
    "data": (
        {"a.json": {"const": {"$ref": "b.json"}}, "b.json": {"const": 1}},
        ['{"$ref":"b.json"}'],
        ["1"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", _CASES)
def test_files_are_part_of_the_schema(tmp_path: Path, case: str) -> None:
    files, accepted, refused = _CASES[case]
    file = _written(tmp_path, files)
    whole = JSON_SCHEMA.self_contained(file.read_text(), str(file), BELOW)
    for grammar in (_read(file), Grammar.from_json_schema(whole)):
        assert [text for text in accepted if not _fits(grammar, text)] == []
        assert [text for text in refused if _fits(grammar, text)] == []


def test_a_text_without_a_path_has_no_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _written(tmp_path, {"b.json": {"const": 1}})
    monkeypatch.chdir(tmp_path)
    with pytest.raises(GrammarError, match="E805"):
        Grammar.from_json_schema('{"$ref": "b.json"}')


@pytest.mark.parametrize(
    "reference", ["../b.json", "file:///etc/hostname", "/etc/hostname", "no.json"]
)
def test_nothing_is_read_outside_of_the_folder(tmp_path: Path, reference: str) -> None:
    file = _written(tmp_path, {"in/a.json": {"$ref": reference}, "b.json": {"const": 1}})
    with pytest.raises(GrammarError, match="E805"):
        _read(file)
    if reference == "../b.json":
        assert _fits(_read(file, ANYWHERE), "1")


@pytest.mark.parametrize("schemas", [1, 20])
def test_a_file_that_cannot_be_read_is_tried_once(tmp_path: Path, schemas: int) -> None:
    tried: list[str] = []

    def load(path: str) -> str | None:
        tried.append(path)
        return None

    schema = {"properties": {name: {"$ref": f"b.json#/{name}"} for name in "abcdef"}}
    tools = [{"name": f"t{number}", "parameters": schema} for number in range(schemas)]
    path = str(tmp_path / "tools.json")
    with pytest.raises(GrammarError, match="E805"):
        Grammar.read(json.dumps(tools), TOOL_LIST, path=path, imports=Imports(load))
    assert tried == [str(tmp_path / "b.json")]


def test_errors_in_a_file_are_shown_at_the_reference(tmp_path: Path) -> None:
    files = {"a.json": {"items": {"$ref": "b.json"}}, "b.json": '{"type": "string",'}
    file = _written(tmp_path, files)
    with pytest.raises(GrammarError) as raised:
        _read(file)
    (found,) = raised.value.diagnostics
    assert (found.code, found.source.slice(found.span)) == ("E802", '"$ref"')
    assert "`b.json`: the schema is not JSON" in found.message
    (tmp_path / "b.json").write_text('{"maxLength": "x"}')
    with pytest.raises(GrammarError) as raised:
        _read(file)
    (found,) = raised.value.diagnostics
    assert found.message.startswith("/items/$ref/maxLength: `maxLength` must be")
    assert found.source.slice(found.span) == '"$ref"'


def test_a_store_has_the_files_in_its_recipe(tmp_path: Path) -> None:
    file = _written(tmp_path, {"a.json": {"$ref": "b.json"}, "b.json": {"const": 1}})
    before = recipe_of(file)
    assert _fits(before.read_by(Grammar.read, None), "1")
    (tmp_path / "b.json").write_text('{"const": 2}')
    assert recipe_of(file).key("") != before.key("")


def test_an_identifier_that_is_no_address_leads_to_no_file(tmp_path: Path) -> None:
    schema = {"$id": "http://[", "$ref": "b.json", "properties": {"a": {"$ref": "//["}}}
    file = _written(tmp_path, {"a.json": schema, "b.json": {}})
    with pytest.raises(GrammarError, match="E80"):
        _read(file)
