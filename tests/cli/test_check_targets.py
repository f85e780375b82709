"""``kbnf check --target`` with JSON Schemas: formats, the matrix, baselines, what is missing."""

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

import kbnf_core
from kbnf_core.targets.engines import ENGINES
from kbnf_core.targets.process import installed
from kbnf_core.text.errors import install_command
from kbnf_testing.command import Kbnf, Write

pytest.importorskip("llguidance")

SCHEMA = """{
  "type": "object",
  "properties": {"a": {"type": "string", "pattern": "^(?!b)c$"}},
  "additionalProperties": false
}
"""
TOOLS = """[
  {"name": "good", "input_schema": {"type": "object", "properties": {"n": {"type": "integer"}}}},
  {"name": "bad", "input_schema": {
    "type": "object", "properties": {"a": {"type": "string", "pattern": "^(?!b)c$"}}}}
]
"""
GOOD = '{"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": false}'
CHECK = ("check", "--no-cache", "--target")


def test_a_refusal_has_the_engines_words_and_the_place(kbnf: Kbnf, write: Write) -> None:
    result = kbnf(*CHECK, "llguidance", write("a.schema.json", SCHEMA))
    assert result.status == 1
    assert "error[E503]: llguidance" in result.out
    assert "look-around" in result.out
    assert "a.schema.json:3:42" in result.out
    assert 'it refuses: `{"type": "string", "pattern": "^(?!b)c$"}`' in result.out
    assert "checked with llguidance" in result.stderr.splitlines()[-1]


def test_what_works_is_no_problem_and_says_who_was_asked(kbnf: Kbnf, write: Write) -> None:
    result = kbnf(*CHECK, "llguidance", write("a.schema.json", GOOD))
    assert (result.status, result.out) == (0, "")
    assert "checked with llguidance" in result.stderr


def test_several_targets_print_a_matrix(kbnf: Kbnf, write: Write) -> None:
    files = write("a.schema.json", SCHEMA), write("b.schema.json", GOOD)
    lines = kbnf(*CHECK, "llguidance,gemini", *files).out.splitlines()
    assert [line.split() for line in lines[-3:]] == [
        ["llguidance", "gemini"],
        [str(files[0]), "refuses", "refuses"],
        [str(files[1]), "ok", "ok"],
    ]


def test_each_tool_of_a_list_is_asked_about(kbnf: Kbnf, write: Write) -> None:
    file = write("tools.json", TOOLS)
    result = kbnf(*CHECK, "llguidance,openai", "--format", "json", file)
    value = json.loads(result.out)
    rows = [(each["tool"], each["engine"], each["verdict"]) for each in value["matrix"]]
    assert ("good", "llguidance", "ok") in rows
    assert ("bad", "llguidance", "refuses") in rows
    [found] = [each for each in value["diagnostics"] if each["code"] == "E503"]
    place = "/1/input_schema/properties/a/pattern"
    assert (found["tool"], found["pointer"], found["keyword"]) == ("bad", place, "pattern")
    assert found["span"]["start"]["line"] == 4
    lines = kbnf(*CHECK, "llguidance,openai", file).out.splitlines()
    assert lines[-2].split()[:2] == ["good", "ok"]
    assert lines[-1].split()[:2] == ["bad", "refuses"]


def test_tools_of_gemini_are_asked_about_as_json_schemas(kbnf: Kbnf, write: Write) -> None:
    schema = '{"type": "OBJECT", "properties": {"a": {"type": "STRING", "maxLength": "3"}}}'
    tools = f'[{{"functionDeclarations": [{{"name": "f", "parameters": {schema}}}]}}]'
    result = kbnf(*CHECK, "llguidance", write("t.json", tools))
    assert (result.status, "E503" in result.out) == (0, False)


def test_what_we_cannot_keep_is_no_finding_about_an_engine(kbnf: Kbnf, write: Write) -> None:
    schema = '{"type": "array", "items": {"type": "string"}, "uniqueItems": true}'
    file = write("a.schema.json", schema)
    assert "E801" in kbnf("check", "--no-cache", file).out
    out = kbnf(*CHECK, "llguidance", file).out
    assert ("E801" in out, "E503" in out) == (False, True)


def test_a_class_is_asked_about_as_its_schema(kbnf: Kbnf, write: Write) -> None:
    pytest.importorskip("pydantic")
    write(
        "models.py",
        """
from pydantic import BaseModel, Field
class Bag(BaseModel):
    words: list[str] = Field(json_schema_extra={"uniqueItems": True})
""",
    )
    result = kbnf(*CHECK, "llguidance", "models:Bag")
    assert result.status == 1
    assert "llguidance" in result.out
    assert "models:Bag" in result.out
    assert "uniqueItems" in result.out
    assert kbnf("check", "--no-cache", "models:Missing").status == 2


def test_a_class_is_closed_for_check_as_for_convert(kbnf: Kbnf, write: Write) -> None:
    pytest.importorskip("pydantic")
    write("shapes.py", "from pydantic import BaseModel\nclass Dot(BaseModel):\n    x: int\n")
    assert "no problems" in kbnf("check", "--no-cache", "shapes:Dot").stderr
    assert "I823" in kbnf("check", "--no-cache", "--open", "shapes:Dot").out
    result = kbnf("sample", "shapes:Dot")
    assert (result.status, "`kbnf convert shapes:Dot` imports a class" in result.stderr) == (
        2,
        True,
    )


def test_json_is_as_its_schema_says(kbnf: Kbnf, write: Write) -> None:
    file = write("a.schema.json", SCHEMA)
    result = kbnf(*CHECK, "llguidance", "--target", "openai", "--format", "json", file)
    value = json.loads(result.out)
    schema = Path(kbnf_core.__path__[0]) / "text" / "diagnostics" / "check.schema.json"
    jsonschema.validate(value, json.loads(schema.read_text(encoding="utf-8")))
    [found] = [each for each in value["diagnostics"] if each["code"] == "E503"]
    assert (found["code"], found["engine"], found["fault"]) == ("E503", "llguidance", "refuses")
    assert (found["pointer"], found["keyword"]) == ("/properties/a/pattern", "pattern")
    assert [each["engine"] for each in value["targets"]] == ["llguidance", "openai"]
    assert {each["verdict"] for each in value["matrix"]} == {"refuses"}


@pytest.mark.parametrize("format_", ["sarif", "github", "junit"])
def test_formats_say_who_was_asked(kbnf: Kbnf, write: Write, format_: str) -> None:
    result = kbnf(*CHECK, "llguidance", "--format", format_, write("a.schema.json", SCHEMA))
    assert "E503" in result.out
    assert "llguidance" in result.out.replace("llguidance refuses", "")
    if format_ == "sarif":
        [run] = json.loads(result.out)["runs"]
        assert run["results"][0]["properties"]["fault"] == "refuses"
        assert run["properties"]["targets"][0]["engine"] == "llguidance"


def test_baselines_and_selection(kbnf: Kbnf, write: Write) -> None:
    file = write("a.schema.json", SCHEMA)
    baseline = write("base.json", "")
    assert kbnf(*CHECK, "llguidance", "--write-baseline", baseline, file).status == 0
    assert kbnf(*CHECK, "llguidance", "--baseline", baseline, file).status == 0
    assert kbnf(*CHECK, "llguidance", "--ignore", "E503", file).status == 0
    ignored = SCHEMA.replace('"type"', '"$comment": "kbnf: ignore[E503]", "type"', 1)
    assert kbnf(*CHECK, "llguidance", write("b.schema.json", ignored)).status == 0


def test_services_are_asked_by_their_documents(kbnf: Kbnf, write: Write) -> None:
    out = kbnf(*CHECK, "anthropic,openai", write("a.schema.json", SCHEMA)).out
    assert "E809" in out
    assert "as anthropic documented it on 20" in out


def test_what_is_not_known_is_an_error(kbnf: Kbnf, write: Write) -> None:
    result = kbnf(*CHECK, "llguidance,nobody", write("a.schema.json", GOOD))
    assert result.status == 2
    assert "'nobody' is not one of xgrammar" in result.stderr


_WITHOUT = """
import sys
from importlib.util import find_spec
import kbnf_core.targets.engines as engines
engines.find_spec = lambda name: None
from kbnf_cli.main import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    ("target", "message"),
    [("xgrammar", "xgrammar is not installed"), ("all", "no engine is installed")],
)
def test_what_is_not_installed_is_an_error(write: Write, target: str, message: str) -> None:
    command = [sys.executable, "-c", _WITHOUT, *CHECK, target, str(write("a.schema.json", GOOD))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert f"{message}: {install_command('xgrammar')}" in done.stderr


def test_an_engine_that_is_not_installed_has_a_column(kbnf: Kbnf, write: Write) -> None:
    pytest.importorskip("llguidance", reason="llguidance is not installed (extra `peers`)")
    result = kbnf(*CHECK, "all", write("a.schema.json", GOOD))
    titles, row = result.out.splitlines()[-2:]
    missing = set(ENGINES) - set(installed())
    assert sorted(titles.split()) == sorted(ENGINES)
    assert row.count("not installed") == len(missing)


def test_settings_name_targets(kbnf: Kbnf, write: Write) -> None:
    write("kbnf.toml", 'target = ["llguidance"]\n')
    assert "E503" in kbnf("check", "--no-cache", write("a.schema.json", SCHEMA)).out


@pytest.mark.slow
def test_a_host_is_asked_by_its_engines(kbnf: Kbnf, write: Write) -> None:
    file = write("a.schema.json", SCHEMA)
    for name in ("vllm", "vllm@0.33"):
        result = kbnf(*CHECK, name, file)
        assert result.status == 1
        assert "llguidance" in result.out
        noted = " ".join(result.stderr.split())
        assert "vllm@0.33 has 1.7 and tries it after xgrammar" in noted
    assert kbnf(*CHECK, "vllm@0.1", file).status == 2
    grammar = write("a.kbnf", "(* kbnf: finish=eos *) start ::= 'a';")
    assert "llguidance" in kbnf(*CHECK, "vllm", grammar).stderr


def test_a_service_that_is_asked_has_its_rules_and_not_those_of_the_form(
    kbnf: Kbnf, write: Write
) -> None:
    loose = {"type": "object", "properties": {"a": {"type": "string"}}}
    function = {"name": "21st:magic", "parameters": loose, "strict": True}
    file = write("a.tools.json", json.dumps([{"type": "function", "function": function}]))

    def said(*options: str) -> list[tuple[str, str]]:
        lines = kbnf("check", "--no-cache", "--format", "json", *options, file).out
        found = json.loads(lines)["diagnostics"]
        return [(each["code"], each["message"]) for each in found]

    assert [code for code, message in said() if "OpenAI" in message or "openai" in message]
    for service in ("gemini", "anthropic"):
        messages = [message for _, message in said("--target", service)]
        assert not [each for each in messages if "openai" in each.lower()]
    assert [code for code, _ in said("--target", "openai")].count("W825") == 1
    assert "E809" in [code for code, _ in said("--target", "openai")]
    assert "E809" in [code for code, _ in said("--target", "gemini", "--strict", "openai")]
