"""Grammars from texts in other languages, schemas and files."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from kbnf_core import Engine, Grammar, Vocabulary, convert
from kbnf_core.languages import (
    ANTLR,
    CHOICE,
    EBNF,
    KBNF,
    LANGUAGES,
    REGEX,
    TOOL_LIST,
    TREE_SITTER,
    Language,
)
from kbnf_core.text.errors import ConfigError, EngineError, GrammarError, SourceError

DROPPED = {"type": "string", "pattern": "(?=a)"}


def takes(grammar: Grammar, text: str) -> bool:
    engine = Engine(grammar, Vocabulary.bytes())
    try:
        engine.try_accept_new_bytes(text.encode())
    except EngineError:
        return False
    return engine.is_finished() or engine.can_finish()


@pytest.mark.parametrize(
    ("schema", "options", "text"),
    [
        ({"type": "array"}, {}, "[1, 2]"),
        ('{"type": "array"}', {"whitespace": "compact"}, "[1,2]"),
        (True, {}, "null"),
        ({"type": "array"}, {"whitespace": "flexible"}, "[1,\n\n2]"),
        ({"properties": {"a": {}, "b": {}}}, {"order": "any"}, '{"b": 1, "a": 2}'),
        ({"format": "date", "type": "string"}, {"formats": "annotation"}, '"x"'),
        (DROPPED, {"lossy": True}, '"x"'),
    ],
    ids=str,
)
def test_from_json_schema(schema: Any, options: dict[str, Any], text: str) -> None:
    assert takes(Grammar.from_json_schema(schema, **options), text)


def test_nothing_is_dropped_silently() -> None:
    with pytest.raises(GrammarError, match="pattern"):
        Grammar.from_json_schema(DROPPED)
    with pytest.raises(GrammarError, match="pattern"):
        Grammar.from_json_schema({**DROPPED, "x-guidance": {"lenient": True}})
    with pytest.raises(GrammarError):
        Grammar.from_gbnf("root ::= !<x>")
    assert Grammar.from_gbnf("root ::= !<x>", lossy=True).start == "root"


@pytest.mark.parametrize("options", [{"whitespace": "some"}, {"indent": 2}, {"order": "random"}])
def test_wrong_options(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        Grammar.from_json_schema({}, **options)


FILES = {
    "a.kbnf": "start ::= 'ab';",
    "a.gbnf": 'root ::= "ab"',
    "a.lark": 'start: "ab"',
    "a.bnf": "<start>::='ab'",
    "a.json": '{"const": "ab"}',
    "list.json": '{"grammars": [{"lark_grammar": "start: \\"ab\\""}]}',
    "gbnf.txt": 'root ::= "ab" # a comment\nother-rule ::= [^x]\n',
    "lark.txt": 'start: "ab"\n',
    "bnf.txt": "<start> ::= 'ab'\n",
    "kbnf.txt": "start ::= 'ab';\n",
    "schema.txt": '{"const": "ab"}',
}


@pytest.mark.parametrize("name", FILES)
def test_from_file(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(FILES[name], encoding="utf-8")
    grammar = Grammar.from_file(path)
    assert takes(grammar, '"ab"' if FILES[name].startswith('{"const') else "ab")


def test_from_file_says_what_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(SourceError):
        Grammar.from_file(tmp_path / "none.kbnf")
    (tmp_path / "a.kbnf").write_bytes(b"\xff")
    with pytest.raises(GrammarError, match="UTF-8"):
        Grammar.from_file(tmp_path / "a.kbnf")
    (tmp_path / "a.json").write_text("[1]")
    with pytest.raises(GrammarError):
        Grammar.from_file(tmp_path / "a.json")


def test_the_other_languages() -> None:
    assert takes(Grammar.from_lark('start: "a" "b"'), "ab")
    assert takes(Grammar.from_bnf("<start>::='a''b'"), "ab")
    any_token = Grammar.from_bnf("<start>::=<any!>'b'", vocabulary=Vocabulary({0: b"a"}, {0: "a"}))
    assert takes(any_token, "ab")
    assert not takes(any_token, "bb")


def names_in(namespace: object, start: str) -> set[str]:
    return {name.removeprefix(start) for name in vars(namespace) if name.startswith(start)}


def plain(languages: Iterable[Language]) -> set[str]:
    return {each.name.lower().replace(" ", "_") for each in languages}


BY_NAME = {ANTLR, EBNF, TREE_SITTER}
"""Languages of other tools, without short forms: ``Grammar.read(text, "antlr")``."""


def test_languages_of_other_tools_are_read_by_name() -> None:
    assert Grammar.read("grammar A; s : 'a' EOF;", "antlr").status("a") == "fits"
    assert Grammar.read("s = 'a';", "ebnf").status("a") == "fits"
    text = '{"rules": {"s": {"type": "STRING", "value": "a"}}}'
    assert Grammar.read(text, "tree-sitter").status("a") == "fits"


def test_each_language_has_its_constructor() -> None:
    others = set(LANGUAGES) - {KBNF, TOOL_LIST} - BY_NAME
    assert names_in(Grammar, "from_") == {*plain(others), "tools", "any", "file", "store"}


def test_each_language_of_files_is_converted() -> None:
    files = set(LANGUAGES) - {KBNF, TOOL_LIST, REGEX, CHOICE} - BY_NAME
    assert names_in(convert, "from_") == plain(files)
    assert names_in(convert, "to_") == plain(
        {each for each in LANGUAGES if each.is_target} - {KBNF}
    )
