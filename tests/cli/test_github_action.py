"""The composite action: its form is what GitHub asks for, and its steps do what they say.

The steps are run as a runner does it: expressions are filled in, ``env`` is set, ``shell: bash``
is ``bash --noprofile --norc -eo pipefail FILE``.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from kbnf_testing.command import Write

ROOT = Path(__file__).resolve().parents[2]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]
_EXPRESSION = re.compile(r"\$\{\{ *(.*?) *\}\}")


def test_form() -> None:
    """See "Metadata syntax" in GitHub's documentation of actions."""
    assert set(ACTION) == {"name", "description", "inputs", "runs"}
    assert ACTION["runs"]["using"] == "composite"
    for settings in ACTION["inputs"].values():
        assert set(settings) == {"description", "default"}
        assert isinstance(settings["default"], str)
    for step in STEPS:
        assert set(step) <= {"id", "name", "if", "uses", "with", "run", "shell", "env"}
        assert ("uses" in step) != ("run" in step)
        assert ("shell" in step) == ("run" in step)


def test_scripts_hold_no_expression() -> None:
    """What callers write reaches a script through its environment only, so it cannot be code."""
    assert [step for step in STEPS if "run" in step and _EXPRESSION.search(step["run"])] == []


def test_expressions_name_what_there_is() -> None:
    known = {f"inputs.{name}" for name in ACTION["inputs"]} | {
        "steps.python.outputs.python-path",
        "steps.python.outputs.python-version",
        "steps.sources.outputs.digest",
        "runner.os",
        "runner.temp",
    }
    used = {name for step in STEPS for name in _EXPRESSION.findall(json.dumps(step))}
    assert used == known
    conditions = {step["if"] for step in STEPS if "if" in step}
    assert conditions == {"inputs.sarif-file != ''", "steps.kept.outputs.cache-hit != 'true'"}


def test_what_was_installed_is_kept_by_the_sources(tmp_path: Path) -> None:
    step = next(each for each in STEPS if each.get("id") == "sources")
    copy = tmp_path / "action"
    (copy / "core").mkdir(parents=True)
    keys = []
    for text in ("a", "a", "b"):
        (copy / "core" / "x.py").write_text(text, encoding="utf-8")
        output = tmp_path / "output"
        output.unlink(missing_ok=True)
        environment = {"GITHUB_ACTION_PATH": str(copy), "GITHUB_OUTPUT": str(output)}
        done = subprocess.run(
            ["bash", "-eo", "pipefail", "-c", step["run"]],
            env={**os.environ, **environment, "PYTHON": sys.executable},
            check=False,
        )
        assert done.returncode == 0
        keys.append(output.read_text(encoding="utf-8"))
    assert keys[0] == keys[1] != keys[2]
    assert re.fullmatch(r"digest=[0-9a-f]{32}\n", keys[0])


class Runner:
    """Runs the steps that have scripts, in the current directory, until one fails."""

    def __init__(self, temporary: Path) -> None:
        self._temporary = temporary
        self.out = ""

    def run(self, skipped: set[str], **inputs: str) -> int:
        """Return the status of the last step; keep what the steps wrote to stdout."""
        values = {f"inputs.{name}": each["default"] for name, each in ACTION["inputs"].items()}
        values |= {f"inputs.{name.replace('_', '-')}": value for name, value in inputs.items()}
        values["steps.python.outputs.python-path"] = sys.executable
        self.out = ""
        for step in STEPS:
            if "run" not in step or step.get("name") in skipped:
                continue
            if "sarif-file" in step.get("if", "") and not values["inputs.sarif-file"]:
                continue
            status = self._run(step, values)
            if status:
                return status
        return 0

    def _run(self, step: dict[str, Any], values: dict[str, str]) -> int:
        script = self._temporary / "step.sh"
        script.write_text(step["run"], encoding="utf-8")
        own = {
            name: _EXPRESSION.sub(lambda found: values[found[1]], value)
            for name, value in step["env"].items()
        }
        home = {
            "GITHUB_ACTION_PATH": str(ROOT),
            "GITHUB_OUTPUT": str(self._temporary / "output"),
            "RUNNER_TEMP": str(self._temporary),
        }
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
            env={**os.environ, **home, **own},
            capture_output=True,
            text=True,
            check=False,
        )
        self.out += done.stdout
        return done.returncode


@pytest.fixture
def runner(tmp_path_factory: pytest.TempPathFactory) -> Runner:
    return Runner(tmp_path_factory.mktemp("runner"))


# The toolkit that is tested is found without installing it; that takes a network and a minute.
INSTALLED = {"Install"}


def test_good_grammars_pass(runner: Runner, write: Write) -> None:
    write("a.kbnf", "start ::= 'a';\n")
    assert runner.run(INSTALLED) == 0
    assert runner.out == ""


def test_errors_are_annotations(runner: Runner, write: Write) -> None:
    write("sub/a.kbnf", "start ::= b;\n")
    assert runner.run(INSTALLED) == 1
    assert runner.out.startswith("::error file=sub/a.kbnf,line=1,endLine=1,col=11,endColumn=11,")


def test_paths_and_arguments_are_lists_of_words(runner: Runner, write: Write) -> None:
    write("a.kbnf", "start ::= 'a' | 'a';\n")
    write("b.gbnf", 'root ::= "b"\n')
    write("c.kbnf", "start ::= missing;\n")
    assert runner.run(INSTALLED, paths="a.kbnf b.gbnf") == 0
    assert runner.out.startswith("::warning file=a.kbnf,")
    arguments = "--fail-on warning --ignore E"
    assert runner.run(INSTALLED, paths="a.kbnf b.gbnf", arguments=arguments) == 1


def test_what_callers_write_is_no_code(runner: Runner, write: Write) -> None:
    write("a.kbnf", "start ::= 'a';\n")
    assert runner.run(INSTALLED, paths="a.kbnf; touch made $(touch made)") == 2
    assert not Path("made").exists()


@pytest.mark.parametrize(("text", "status"), [("start ::= b;\n", 1), ("start ::= 'a';\n", 0)])
def test_sarif_is_written_and_the_check_decides(
    runner: Runner, write: Write, text: str, status: int
) -> None:
    write("a.kbnf", text)
    assert runner.run(INSTALLED, sarif_file="found.sarif") == status
    log = json.loads(Path("found.sarif").read_text(encoding="utf-8"))
    assert len(log["runs"][0]["results"]) == status


def test_failures_are_failures(runner: Runner) -> None:
    assert runner.run(INSTALLED, paths="nowhere", sarif_file="found.sarif") != 0
    assert not Path("found.sarif").exists()
