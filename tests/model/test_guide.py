"""The guide with a real model: its programs are those of ``examples/``, and run."""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType

import pytest

from kbnf_core import Grammar
from kbnf_testing.pages import ROOT, blocks
from kbnf_testing.small_model import model_path, transformers_model

GUIDE = (ROOT / "docs" / "guides" / "local-model.md").read_text(encoding="utf-8")
PROGRAMS = {each.title: each.text for each in blocks(GUIDE) if each.title}


def output(name: str, folder: Path) -> str:
    """Return what an example prints, run in a folder."""
    model_path()
    command = [sys.executable, str(ROOT / "examples" / name)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
    )
    return done.stdout


def test_examples_are_those_of_the_guide() -> None:
    files = {
        each.name: each.read_text(encoding="utf-8") for each in (ROOT / "examples").glob("*.py")
    }
    assert files == PROGRAMS


@pytest.mark.model
def test_an_answer_from_a_fresh_checkout_and_environment(tmp_path: Path) -> None:
    """What the guide says, word for word; how long it takes is printed (``-s``)."""
    install, _ = (each.text for each in blocks(GUIDE) if each.language == "sh")
    (expected,) = (each.text for each in blocks(GUIDE) if each.text.startswith("free:"))
    environment = {name: each for name, each in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run(["git", "clone", "-q", str(ROOT), str(tmp_path / "kbnf")], check=True)
    seconds, printed = [], ""
    for command in (*install.splitlines(), "cd examples && ../.venv/bin/python answer.py"):
        begun = time.monotonic()
        done = subprocess.run(  # noqa: S602 - lines of the guide
            command,
            shell=True,
            cwd=tmp_path / "kbnf",
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        seconds.append(time.monotonic() - begun)
        printed = done.stdout
    told = " + ".join(f"{each:.0f}" for each in seconds)
    sys.stderr.write(
        f"an answer after {told} = {sum(seconds):.0f} s, load {os.getloadavg()[0]:.1f}\n"
    )
    assert printed == expected


@pytest.mark.model
def test_an_answer(tmp_path: Path) -> None:
    printed = output("answer.py", tmp_path)
    answer = re.search("^constrained: (.*)$", printed, re.MULTILINE)
    assert answer
    assert json.loads(answer[1]) == {"name": "Maria", "age": 34, "city": "Paris"}
    assert "passes of the model" in printed


@pytest.mark.model
def test_a_tool_call(tmp_path: Path) -> None:
    call = json.loads(output("tool_call.py", tmp_path))
    arguments = {"weather": {"city": str}, "timer": {"minutes": int}}[call["name"]]
    assert {name: type(value) for name, value in call["arguments"].items()} == arguments


@pytest.mark.model
def test_a_grammar_and_its_trace(tmp_path: Path) -> None:
    text = output("own_grammar.py", tmp_path)
    assert Grammar(tmp_path.joinpath("steps.kbnf").read_text()).parse(text.strip().encode())
    command = [sys.executable, "-m", "kbnf_cli", "trace", "steps.kbnf", "log.jsonl", "--vocab"]
    done = subprocess.run(
        [*command, str(model_path())], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "tokens in 1 text" in done.stdout


@pytest.mark.model
def test_in_transformers(tmp_path: Path) -> None:
    for name in ("torch", "transformers", "gguf", "accelerate"):
        pytest.importorskip(name)
    printed = output("in_transformers.py", tmp_path)
    values = re.findall(r"\{.*?\}", printed, re.DOTALL)
    assert len(values) == 2
    assert all(json.loads(each).keys() == {"name", "age"} for each in values)


@pytest.mark.model
def test_the_program_of_the_readme_prints_what_the_readme_says(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model, tokenizer = transformers_model()
    transformers = pytest.importorskip("transformers")
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    program = next(each.text for each in blocks(text) if each.title == "answer.py")
    (said,) = re.findall("It prints `(.*?)`", text)
    for kind, loaded in (("AutoModelForCausalLM", model), ("AutoTokenizer", tokenizer)):
        stand_in = type(kind, (), {"from_pretrained": staticmethod(lambda _, it=loaded: it)})
        monkeypatch.setattr(transformers, kind, stand_in)
    module = ModuleType("program")
    monkeypatch.setitem(sys.modules, "program", module)
    exec(compile(program, "answer.py", "exec"), vars(module))  # noqa: S102
    assert capsys.readouterr().out.strip() == said


@pytest.mark.model
def test_an_answer_in_yaml(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "guides" / "indentation.md").read_text(encoding="utf-8")
    (program,) = (each.text for each in blocks(page) if each.title == "yaml_answer.py")
    (expected,) = (each.text for each in blocks(page) if each.text.startswith("dish:"))
    model_path()
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout == expected


@pytest.mark.model
@pytest.mark.parametrize("program", ["alert.py", "others.py"])
def test_a_language_of_ones_own(tmp_path: Path, program: str) -> None:
    page = (ROOT / "docs" / "guides" / "your-language.md").read_text(encoding="utf-8")
    parts = list(blocks(page))
    for each in parts:
        if each.title:
            (tmp_path / each.title).write_text(each.text, encoding="utf-8")
    model_path()
    done = subprocess.run(
        [sys.executable, program], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    expected = [each.text.strip() for each in parts if each.text.startswith("free:")]
    assert done.stdout.strip() == expected[["alert.py", "others.py"].index(program)]
