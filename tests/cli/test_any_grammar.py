"""Commands take grammars in any language, artifacts, and those that are shipped."""

from pathlib import Path

import pytest

from kbnf_core.shipped import grammar_file, grammar_names
from kbnf_testing.command import Kbnf, Write

TEXTS = {
    "g.kbnf": 'start ::= "a" "b";',
    "g.gbnf": 'root ::= "a" "b"',
    "g.lark": 'start: "a" "b"',
    "g.bnf": "<start>::=<x>'b'\n<x>::='a'",
    "g.abnf": 'start = %s"ab"',
    "g.json": '{"const": "ab"}',
    "g.txt": 'root ::= [a] "b" # by its content',
    "schema": '{"const": "ab"}',
}
"""Each has one text, that of JSON with quotes."""

JSON = ("g.json", "schema")


@pytest.fixture(params=sorted(TEXTS))
def grammar(request: pytest.FixtureRequest, write: Write) -> Path:
    """Return a grammar in one of the languages."""
    return write(request.param, TEXTS[request.param])


def text_of(grammar: Path) -> str:
    return '"ab"' if grammar.name in JSON else "ab"


@pytest.mark.parametrize("command", ["check", "mask", "sample", "explain", "diagram"])
def test_commands_that_read(kbnf: Kbnf, grammar: Path, command: str) -> None:
    result = kbnf(command, grammar)
    assert (result.status, result.stderr.count("error")) == (0, 0), result.stderr


def test_match(kbnf: Kbnf, grammar: Path) -> None:
    assert kbnf("match", grammar, stdin=text_of(grammar).encode()).status == 0
    assert kbnf("match", grammar, stdin=b"ac").status == 1


def test_compile_and_what_is_made(kbnf: Kbnf, grammar: Path) -> None:
    assert kbnf("compile", grammar, "-o", "out.kbnfc").status == 0
    assert kbnf("match", "out.kbnfc", stdin=text_of(grammar).encode()).status == 0
    for command in ("check", "explain", "diagram", "sample", "mask"):
        result = kbnf(command, "out.kbnfc")
        assert (result.status, "error" in result.stderr) == (0, False), result.stderr


def test_test(kbnf: Kbnf, write: Write, grammar: Path) -> None:
    write(f"{grammar.stem}.examples.toml", f"accept = ['{text_of(grammar)}']\nreject = ['a']\n")
    result = kbnf("test", grammar)
    assert (result.status, "2 passed" in result.out) == (0, True)


def test_play(kbnf: Kbnf, grammar: Path) -> None:
    assert kbnf("play", grammar, "-c", f":text {text_of(grammar)}").status == 0


def test_directories_hold_all_languages(kbnf: Kbnf, write: Write) -> None:
    for folder, name in enumerate(TEXTS):
        write(f"all/{folder}/{name}", TEXTS[name])
    assert kbnf("check", "--show-files", "all").out.count("\n") == 5
    assert kbnf("compile", "all/0", "all/1", "-o", ".").status == 2
    Path("out").mkdir()
    assert kbnf("compile", "all/0", "-o", "out").status == 0
    write("all/1/g.examples.toml", "accept = ['ab']\n")
    assert "1 passed" in kbnf("test", "all").out


def test_a_schema_that_loses_something_is_used_and_said(kbnf: Kbnf, write: Write) -> None:
    schema = write("s.json", '{"type": "array", "items": {"type": "string"}, "uniqueItems": true}')
    for command in ("mask", "sample"):
        result = kbnf(command, schema)
        assert result.status == 0
        assert "W807" in result.out + result.stderr
    result = kbnf("check", schema)
    assert (result.status, "E801" in result.out) == (1, True)


def test_errors_of_a_schema_are_findings(kbnf: Kbnf, write: Write) -> None:
    schema = write("s.json", '{"type": "strin"}')
    result = kbnf("check", schema)
    assert (result.status, "s.json:1:" in result.out) == (1, True)


def test_shipped_grammars_by_name(kbnf: Kbnf, write: Write) -> None:
    assert "json" in grammar_names()
    assert "status      ongoing" in kbnf("mask", "json", "--text", "[").out
    assert "at builtin:json:" in kbnf("mask", "json", "--why", "x").out
    assert kbnf("test", "csv").out.startswith("builtin:csv: ")
    assert kbnf("play", "csv", "-c", ":text a,b").status == 0
    write("json", "start ::= 'x';")
    assert kbnf("match", "json", stdin=b"x").status == 0
    assert kbnf("match", "builtin:json", stdin=b"[1]").status == 0


def test_an_unknown_name_lists_those_that_there_are(kbnf: Kbnf) -> None:
    result = kbnf("mask", "builtin:jsn")
    assert (result.status, "there is no grammar 'builtin:jsn'" in result.stderr) == (2, True)
    assert "json" in result.stderr


def test_shipped_grammars_are_those_of_the_checkout() -> None:
    folder = Path(__file__).resolve().parents[2] / "grammars"
    assert grammar_names() == sorted(file.stem for file in folder.glob("*.kbnf"))
    assert grammar_file("builtin:json") == folder / "json.kbnf"
    assert grammar_file("../grammars/json") is None


def test_stdin_is_kbnf_and_says_what_else_it_looks_like(kbnf: Kbnf) -> None:
    found = kbnf("check", "-", stdin=b'{"type": "string"}')
    assert (found.status, "JSON Schema, not KBNF" in found.out) == (1, True)
    named = kbnf("check", "-", "--stdin-filename", "s.json", stdin=b'{"type": "string"}')
    assert named.status == 0


_BROKEN = '{"grammars": [\n  {"lark_grammar": "start: /a/",}\n]}'


@pytest.mark.parametrize(("name", "code"), [("list.lark", "E001"), ("list.json", "E001")])
@pytest.mark.parametrize(
    "command", ["check", "mask", "compile", "test", "sample", "match", "explain", "convert"]
)
def test_a_fault_in_a_list_of_grammars_has_its_place(
    kbnf: Kbnf, write: Write, command: str, name: str, code: str
) -> None:
    result = kbnf(command, write(name, _BROKEN))
    assert result.status == 1
    shown = result.out + result.stderr
    assert f"error[{code}]: this list of grammars is not JSON" in shown
    assert f"{name}:2:33" in shown


def test_a_fault_in_a_schema_has_its_place(kbnf: Kbnf, write: Write) -> None:
    result = kbnf("convert", write("schema.json", '{\n  "type": "string",\n}'))
    assert (result.status, "schema.json:3:1" in result.stderr) == (1, True)


def test_a_list_of_grammars_is_not_laid_out(kbnf: Kbnf, write: Write) -> None:
    result = kbnf("fmt", write("list.lark", '{"grammars": [{"lark_grammar": "start: /a/"}]}'))
    assert (result.status, "this is Lark, not KBNF" in result.stderr) == (1, True)
