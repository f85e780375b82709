"""Processes that the command starts: what ends them is a message, and none is left behind.

The engine that is asked here is one that misbehaves as schemas tell it to (``fake_engine``), under
the name of one that is known; the command is a process of its own, as users run it.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import kbnf_testing
from kbnf_testing.alive import descendants, is_alive
from kbnf_testing.farm import wait_for

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/status").exists() or not hasattr(os, "fork"),
    reason="needs POSIX and /proc",
)
pytest.importorskip("llguidance")

SUPPORT = str(Path(kbnf_testing.__file__).parents[1])
# Undoes `nohup`, which would be inherited.
PROGRAM = """
import signal, sys
signal.signal(signal.SIGHUP, signal.SIG_DFL)
from kbnf_core.targets import engines
from kbnf_testing import fake_engine
name = "xgrammar"
load = getattr(fake_engine, sys.argv.pop(1))
engines.ENGINES[name] = engines.TargetEngine(name, (("json", name),), name, "asked", None, load)
from kbnf_cli import check, main
if "-j" in sys.argv:
    check.FileCheck = fake_engine.KillingCheck
main.run()
"""
GOOD = {"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": False}
BAD = {"type": "string", "pattern": "^(?!b)c$"}


def command(load: str, *arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-P", "-c", PROGRAM, load, *arguments],
        env={**os.environ, "PYTHONPATH": SUPPORT},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(load: str, *arguments: str) -> tuple[int, str, str]:
    process = command(load, *arguments)
    out, said = process.communicate(timeout=120)
    return process.returncode, out, said


def schema(folder: Path, name: str, value: object) -> str:
    file = folder / f"{name}.schema.json"
    file.write_text(json.dumps(value), encoding="utf-8")
    return str(file)


CHECK = ("check", "--no-cache", "--target", "xgrammar,llguidance", "--format", "concise")


def test_an_engine_that_is_killed_while_it_loads(tmp_path: Path) -> None:
    """Other engines are asked, other files are checked, and the status is that of trouble."""
    files = [schema(tmp_path, "bad", BAD), schema(tmp_path, "good", GOOD)]
    status, out, said = run("killed_while_loading", *CHECK, *files)
    assert status == 2
    assert "E503" in out
    assert "llguidance" in out
    message = "error: xgrammar cannot be loaded: it ended its process with SIGKILL: out of memory"
    assert said.splitlines().count(message) == 1
    assert "checked with llguidance" in said
    status, out, said = run("killed_while_loading", *CHECK[:3], "xgrammar", files[0])
    assert (status, message in said) == (2, True)


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("kill", "it crashes: it ended its process with SIGKILL: these were its last words"),
        ("leave", None),
    ],
)
def test_an_engine_that_ends_while_it_is_asked(
    tmp_path: Path, word: str, found: str | None
) -> None:
    """Its end is a finding, or unnoticed between two questions: never the end of the command."""
    strange = {"type": "object", "properties": {word: {"type": "string", "maxLength": 3}}}
    files = [schema(tmp_path, "a", strange), schema(tmp_path, "b", BAD)]
    for _ in range(3):
        status, out, said = run("load", *CHECK, *files)
        assert (status, "Traceback" in said) == (1, False)
        assert "b.schema.json" in out
        assert "llguidance" in out
        assert found is None or found in out


def test_converting_for_an_engine_that_ends(tmp_path: Path) -> None:
    file = schema(tmp_path, "a", {"type": "object", "properties": {"kill": {"type": "string"}}})
    status, out, said = run("load", "convert", "--for", "xgrammar", file)
    assert (status, out) == (1, "")
    assert "it ended its process with SIGKILL" in said
    status, out, said = run("killed_while_loading", "convert", "--for", "xgrammar", file)
    assert (status, out) == (2, "")
    assert "error: xgrammar cannot be loaded: it ended its process with SIGKILL" in said


@pytest.mark.parametrize("sent", ["SIGTERM", "SIGINT", "SIGHUP", "SIGKILL"])
def test_no_engine_outlives_the_command(tmp_path: Path, sent: str) -> None:
    file = schema(tmp_path, "a", {"type": "object", "properties": {"spin": {"type": "string"}}})
    process = command("load", *CHECK[:3], "xgrammar", file)
    try:
        assert wait_for(lambda: len(descendants(process.pid)) == 1, 60)
        [engine] = descendants(process.pid)
        time.sleep(2)
    finally:
        process.send_signal(getattr(signal, sent))
        process.communicate(timeout=60)
    assert process.returncode == (130 if sent == "SIGINT" else -getattr(signal, sent))
    assert wait_for(lambda: not is_alive(engine), 10)


def test_a_job_whose_process_is_killed_is_an_error_beside_the_others(tmp_path: Path) -> None:
    for number in range(40):
        (tmp_path / f"g{number:02}.kbnf").write_text(f"start ::= nope{number};", encoding="utf-8")
    status, out, said = run("load", "check", "--no-cache", "-j", "2", str(tmp_path))
    assert status == 2
    assert out.count("error[E101]") == 39
    [line] = [line for line in said.splitlines() if line.startswith("error")]
    assert line.endswith("g07.kbnf was not checked: it ended its process with SIGKILL")


def test_no_job_outlives_the_command_nor_the_engines_that_it_asks(tmp_path: Path) -> None:
    for number in range(40):
        properties = {f"spin{number}": {"type": "string"}}
        schema(tmp_path, f"s{number}", {"type": "object", "properties": properties})
    process = command("load", *CHECK[:3], "llguidance", "--jobs", "2", str(tmp_path))
    try:
        assert wait_for(lambda: len(descendants(process.pid)) >= 3, 60)
        started = descendants(process.pid)
    finally:
        process.kill()
        process.communicate(timeout=60)
    assert wait_for(lambda: not any(map(is_alive, started)), 10)


TEMPLATES = {
    "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}": "too long",
    "{{ 'a' * (2 * 10 ** 9) }}": "it takes more than 512 MB of memory",
    "{{ raise_exception('\x1b[31mred\n' * 1000) }}": "no format of tool calls",
}


@pytest.mark.parametrize("template", TEMPLATES, ids=["time", "memory", "words"])
def test_a_template_that_takes_too_much_is_one_message(tmp_path: Path, template: str) -> None:
    pytest.importorskip("jinja2")
    tools = tmp_path / "a.tools.json"
    tools.write_text('[{"name": "f", "input_schema": {"type": "object"}}]', encoding="utf-8")
    (tmp_path / "model").mkdir()
    config = tmp_path / "model" / "tokenizer_config.json"
    config.write_text(json.dumps({"chat_template": template}), encoding="utf-8")
    folder = str(config.parent)
    status, out, said = run("load", "convert", str(tools), "--to", "gbnf", "--tool-calls", folder)
    assert (status, out) == (2, "")
    assert TEMPLATES[template] in said
    assert sum(line.startswith("error:") for line in said.splitlines()) == 1
    assert "\x1b" not in said
