"""``kbnf convert``, and what it shares with the ``convert-*`` commands."""

import json
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from kbnf_core import Grammar
from kbnf_core.languages import EXTENSIONS, LANGUAGES
from kbnf_core.languages.structural_tag.models import table
from kbnf_testing.command import Kbnf, Write

GBNF = 'root ::= [0-9]+ "x"\n'
MODEL = """
class Person:
    @staticmethod
    def model_json_schema():
        return {"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"]}

class Other: pass
"""


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("g.gbnf", GBNF),
        ("g.txt", GBNF + "# by its content"),
        ("g.lark", "start: /[0-9]/+ /x/"),
        ("g.bnf", "<start>::='1'"),
        ("g.abnf", "start = %x31"),
        ("g.json", '{"const": 1}'),
        ("g.json", '{"grammars": [{"lark_grammar": "start: /1/"}]}'),
    ],
)
def test_any_file_becomes_kbnf(kbnf: Kbnf, write: Write, name: str, text: str) -> None:
    result = kbnf("convert", write(name, text))
    assert result.status == 0
    assert Grammar(result.out).start == "start"


@pytest.mark.parametrize("text", [GBNF, '{"const": 1}', "start: /x/"])
def test_stdin_is_recognised(kbnf: Kbnf, text: str) -> None:
    result = kbnf("convert", "-", stdin=text.encode())
    assert (result.status, "start ::= " in result.out) == (0, True)


def test_between_two_other_languages(kbnf: Kbnf, write: Write) -> None:
    result = kbnf("convert", write("g.gbnf", GBNF), "--to", "lark")
    assert (result.status, result.out) == (0, 'start: /[0-9]/+ "x"\n')


def test_losses_of_both_steps_are_said(kbnf: Kbnf, write: Write) -> None:
    # This ends at the first token that completes it; llama.cpp may go on.
    file = write("g.bnf", "<start>::='a'|'ab'\n")
    strict = kbnf("convert", file, "--to", "gbnf", "--format", "json")
    value = json.loads(strict.out)
    assert (strict.status, value["output"], value["exact"]) == (1, None, False)
    assert [loss["code"] for loss in value["losses"]] == ["W403"]
    assert kbnf("convert", file, "--to", "gbnf", "--lossy").status == 0


def test_a_regular_expression(kbnf: Kbnf) -> None:
    result = kbnf("convert", "--from", "regex", "-", stdin=b"\\d\\d-[a-z]+\n")
    assert (result.status, "finish=eos" in result.out) == (0, True)
    assert r"start ::= #r'\d\d-[a-z]+';" in result.out
    wrong = kbnf("convert", "--from", "regex", "-", stdin=b"[a-\n")
    assert (wrong.status, "E201" in wrong.stderr) == (1, True)


def test_a_class_of_python(kbnf: Kbnf, write: Write) -> None:
    write("people_of_convert.py", MODEL)
    result = kbnf("convert", "people_of_convert:Person", "--to", "gbnf")
    assert (result.status, "age" in result.out) == (0, True)


def test_a_class_for_an_engine_without_raw_patterns(kbnf: Kbnf, write: Write) -> None:
    write("texts_of_convert.py", MODEL.replace('"integer"', '"string", "pattern": "[a-z]"'))
    command = ("convert-json-schema", "texts_of_convert:Person")
    assert "#r" in kbnf(*command).out
    assert "#r" not in kbnf(*command, "--for", "kbnf-0.4").out


@pytest.mark.parametrize("name", ["no_such_module:Person", "json:NoSuchClass"])
def test_a_class_that_is_not_there(kbnf: Kbnf, name: str) -> None:
    result = kbnf("convert", name)
    assert (result.status, f"cannot import {name}" in result.stderr) == (2, True)


def test_a_class_named_by_its_file(kbnf: Kbnf, write: Write) -> None:
    write("by_file.py", MODEL)
    assert "`by_file:Person`" in kbnf("convert", "by_file.py:Person").stderr


@pytest.mark.skipif(find_spec("pydantic") is None, reason="needs pydantic")
def test_classes_that_pydantic_takes(kbnf: Kbnf, write: Write) -> None:
    write(
        "records_of_convert.py",
        "from dataclasses import dataclass\n@dataclass\nclass Point:\n    x: set[str]\n",
    )
    assert kbnf("convert", "records_of_convert:Point").status == 0
    assert kbnf("diff", "records_of_convert:Point", "records_of_convert:Point").status == 0
    write("plain_of_convert.py", MODEL)
    result = kbnf("convert", "plain_of_convert:Other")
    assert (result.status, "there is no JSON Schema of this" in result.stderr) == (2, True)


def test_kbnf_needs_a_language(kbnf: Kbnf, write: Write) -> None:
    result = kbnf("convert", write("g.kbnf", "start ::= 'a';"))
    assert (result.status, "--to gbnf, lark" in result.stderr) == (2, True)
    same = kbnf("convert", write("g.gbnf", GBNF), "--to", "gbnf")
    assert (same.status, "is written in GBNF already" in same.stderr) == (2, True)


def test_a_directory_and_where_results_go(kbnf: Kbnf, write: Write) -> None:
    write("in/a.gbnf", GBNF)
    write("in/b.lark", "start: /x/")
    result = kbnf("convert", "in", "-o", "out")
    assert (result.status, result.out) == (0, "")
    assert result.stderr == "wrote out/a.kbnf\nwrote out/b.kbnf\n"
    assert sorted(path.name for path in Path("out").iterdir()) == ["a.kbnf", "b.kbnf"]


def test_shipped_grammars(kbnf: Kbnf) -> None:
    assert "root ::= " in kbnf("convert", "builtin:csv", "--to", "gbnf").out


def test_the_list_has_every_language(kbnf: Kbnf) -> None:
    result = kbnf("convert", "--list-formats")
    languages, _, calls = result.out.partition("\n\n")
    rows = {line.split()[0]: line for line in languages.splitlines()}
    assert result.status == 0
    assert {line.split()[0] for line in calls.splitlines()[1:]} == table().keys()
    assert rows.keys() == {
        *(each.name.lower().replace(" ", "-") for each in LANGUAGES),
        "json-schema",
        "regex",
        "model",
    }
    assert all(any(f"*{extension}" in row for row in rows.values()) for extension in EXTENSIONS)
    assert max(map(len, rows.values())) <= 80


@pytest.mark.parametrize(
    ("command", "file", "language"),
    [
        ("convert-lark", "g.gbnf", "GBNF"),
        ("convert-bnf", "g.kbnf", "KBNF"),
        ("convert-json-schema", "g.lark", "Lark"),
    ],
)
def test_a_file_of_the_wrong_kind_names_the_command(
    kbnf: Kbnf, write: Write, command: str, file: str, language: str
) -> None:
    result = kbnf(command, write(file, GBNF))
    assert result.status == 2
    assert f"{file} is written in {language}, not in" in result.stderr
    assert f"`kbnf convert {file}`" in result.stderr


PATTERN = "start: /\\d\\d\\d/\n"


@pytest.mark.parametrize("command", ["convert", "convert-lark"])
def test_patterns_are_raw_unless_the_target_does_not_know_them(
    kbnf: Kbnf, write: Write, command: str
) -> None:
    file = write("g.lark", PATTERN)
    assert r"#r'\d\d\d'" in kbnf(command, file).out
    for target in ("kbnf-0.2", "kbnf-0.4"):
        converted = kbnf(command, file, "--for", target)
        assert (converted.status, r"#'\\d\\d\\d'" in converted.out) == (0, True)
        checked = kbnf("check", "-", "--target", target, "--select", "E", stdin=converted.stdout)
        assert checked.status == 0


SCHEMA = '{"type": "object", "properties": {"a": {"const": 1}}, "required": ["a"]}'


@pytest.mark.parametrize(
    ("name", "text", "options"),
    [
        ("s.json", SCHEMA, ["--whitespace", "compact"]),
        ("s.json", SCHEMA, ["--order", "any"]),
        ("g.lark", 'start: A "b"\nA: /a+/\n', ["--lexing", "scannerless"]),
    ],
)
def test_options_of_a_language_are_passed_on(
    kbnf: Kbnf, write: Write, name: str, text: str, options: list[str]
) -> None:
    file = write(name, text)
    own = {".json": "convert-json-schema", ".lark": "convert-lark"}[file.suffix]
    result = kbnf("convert", file, "--lossy", *options)
    assert result.status == 0, result.stderr
    assert result.out == kbnf(own, file, "--lossy", *options).out


def test_what_a_strict_service_refuses(kbnf: Kbnf, write: Write) -> None:
    file = write("s.json", SCHEMA)
    assert kbnf("convert", file).status == 0
    assert "E809" in kbnf("convert", file, "--strict", "openai").stderr


def test_an_option_of_another_language_is_refused(kbnf: Kbnf, write: Write) -> None:
    result = kbnf("convert", write("s.json", SCHEMA), "--lexing", "lalr")
    assert result.status == 2
    assert "--lexing is for Lark; s.json is JSON Schema" in result.stderr


TOOLS = '[{"name": "get_time", "parameters": {"type": "object", "properties": {}}}]'


def test_calls_of_tools_in_the_format_of_a_model(kbnf: Kbnf, write: Write) -> None:
    written = kbnf("convert", "--tool-calls", "qwen_3", write("tools.json", TOOLS))
    assert (written.status, "get_time" in written.out) == (0, True)
    request = write("request.json", f'{{"model": "x", "tools": {TOOLS}}}')
    assert kbnf("convert", "--tool-calls", "qwen_3", request).out == written.out
    shown = kbnf("convert", "--tool-calls", "qwen_3", "--to", "structural-tag")
    tag = json.loads(shown.out)
    assert tag["format"]["tags"][0]["begin"].startswith('<tool_call>\n{"name": "get_weather"')
    settings = ("--tool-choice", "required", "--reasoning", "enabled", "--single-call")
    more = json.loads(kbnf("convert", "--tool-calls", "qwen_3", *settings, "--to", _TAG).out)
    thoughts, calls = more["format"]["elements"]
    assert thoughts["elements"][0]["end"] == "</think>"
    assert calls["at_least_one"] is calls["stop_after_first"] is True


_TAG = "structural-tag"

_TEMPLATE = (
    "{% for m in messages %}{{ m.content }}{% for call in m.tool_calls %}"
    "[CALL]{{ call.function.name }} {{ call.function.arguments | tojson }}[END]"
    "{% endfor %}{% endfor %}"
)


def test_a_chat_template_says_how_calls_are_written(
    kbnf: Kbnf, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("jinja2")
    tools = write("tools.json", TOOLS)
    template = write("chat.jinja", _TEMPLATE)
    written = kbnf("convert", "--tool-calls", template, tools)
    assert (written.status, "[CALL]get_time " in written.out) == (0, True)
    folder = write("m/tokenizer_config.json", json.dumps({"chat_template": _TEMPLATE})).parent
    assert kbnf("convert", "--tool-calls", folder, tools).out == written.out
    none = kbnf("convert", "--tool-calls", write("plain.jinja", "{{ messages | length }}"), tools)
    assert (none.status, "no format of tool calls follows" in none.stderr) == (2, True)
    assert kbnf("convert", "--tool-calls", "missing.jinja", tools).status == 2
    odd = write(
        "odd.jinja", _TEMPLATE.replace("function.name", "function.name | replace('get_t', 't')")
    )
    for command in ("convert", "check"):
        refused = kbnf(command, "--tool-calls", odd, tools)
        assert (
            refused.status,
            "`get_time` with {} differently" in refused.stderr + refused.out,
        ) == (
            1,
            True,
        )
    monkeypatch.setitem(sys.modules, "xgrammar", None)
    lacking = kbnf("convert", "--tool-calls", "xgrammar:qwen_3", tools)
    assert (lacking.status, "not installed" in lacking.stderr) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (
            ["--tool-calls", "gpt"],
            2,
            "there is no format 'gpt'; did you mean `gpt-oss`? (there are llama",
        ),
        (["--tool-calls", "llama", "--tool-choice", "fly", "tools.json"], 1, "no tool `fly`"),
        (["--tool-calls", "llama", "wrong.json"], 1, "the list is not JSON: "),
        (["--tool-calls", "llama", "schema.json"], 1, "this is not a list of tools"),
        (["--tool-choice", "required", "tools.json"], 2, "`tool_choice` is for `tool_calls`"),
        (["--tool", "fly", "tools.json"], 1, "there is no tool `fly`"),
        (["schema.json", "--to", _TAG], 2, "only --tool-calls are written as structural-tag"),
        ([], 2, "missing argument 'FILE...'"),
    ],
)
def test_wrong_calls_of_tools(
    kbnf: Kbnf, write: Write, arguments: list[str], status: int, message: str
) -> None:
    write("schema.json", '{"type": "string"}')
    write("tools.json", TOOLS)
    write("wrong.json", "[{},]")
    result = kbnf("convert", *arguments)
    assert (result.status, message in result.stderr) == (status, True)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--closed"], "'{' ws (a ws)? '}'"),
        (["--formats", "annotation"], "string"),
        (["--escapes", "any"], "u[0-9A-Fa-f]{4}"),
        (["--standard", "llguidance"], "date"),
        (["--whitespace", "compact", "--order", "any"], "'{'"),
    ],
)
def test_the_options_of_schemas_are_the_same_in_both_commands(
    kbnf: Kbnf, write: Write, options: list[str], text: str
) -> None:
    schema = write("s.json", '{"type": "object", "properties": {"a": {"format": "date"}}}')
    found = kbnf("convert", schema, *options)
    assert (found.status, text in found.out) == (0, True)
    assert kbnf("convert-json-schema", schema, *options).out == found.out
    assert kbnf("convert", schema).out != found.out
    other = kbnf("convert", write("g.gbnf", GBNF), *options)
    flag = "--closed" if "additional" in options[0] else options[0]
    assert (other.status, f"{flag} is for JSON Schema" in other.stderr) == (2, True)


@pytest.mark.parametrize(
    ("body", "status"), [("sys.exit(7)", 7), ("os._exit(42)", 42), ("raise SystemExit", None)]
)
def test_a_module_that_ends_the_process_is_a_message(
    kbnf: Kbnf, write: Write, body: str, status: int | None
) -> None:
    write(f"ending{status}.py", f"import os, sys\nprint('noise')\n{body}\n")
    result = kbnf("convert", f"ending{status}:Person")
    assert result.status == 2
    assert result.out == ""
    assert f"it ends the process with the status {status}" in result.stderr


def test_what_a_module_prints_is_no_part_of_the_result(kbnf: Kbnf, write: Write) -> None:
    write(
        "noisy.py",
        "print('noise')\nclass Person:\n    @staticmethod\n    def json_schema():\n"
        "        print('more')\n        return {'const': 1}\n",
    )
    result = kbnf("convert", "noisy:Person")
    assert result.status == 0
    assert "noise" not in result.out
    assert "more" not in result.out
    assert "noise" in result.stderr
