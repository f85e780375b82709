"""The hooks for pre-commit: their form, and, where pre-commit is installed, what they do."""

import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml

from kbnf_cli.main import main
from kbnf_core.languages import EXTENSIONS

ROOT = Path(__file__).resolve().parents[2]
HOOKS: dict[str, dict[str, Any]] = {
    hook["id"]: hook
    for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
}


def test_form() -> None:
    for hook in HOOKS.values():
        assert hook.keys() >= {"id", "name", "description", "entry", "language", "files"}
        assert hook["language"] == "python"


def test_hooks_run_commands_that_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    for hook in HOOKS.values():
        command, *arguments = hook["entry"].split()
        assert command == "kbnf"
        assert main([*arguments, "--help"]) == 0


def test_hooks_are_for_the_files_that_their_commands_read() -> None:
    matches = {name: re.compile(hook["files"]).search for name, hook in HOOKS.items()}
    for extension in EXTENSIONS:
        assert matches["kbnf-check"](f"some/where{extension}")
        assert bool(matches["kbnf-fmt"](f"some/where{extension}")) == (extension == ".kbnf")
    assert matches["kbnf-test"]("some/where.examples.toml")
    assert matches["kbnf-check"]("some/where.schema.json")
    assert matches["kbnf-check"]("some/where.tools.json")
    assert not matches["kbnf-check"]("some/package.json")
    assert not matches["kbnf-check"]("some/where.txt")


@pytest.mark.slow
@pytest.mark.skipif(find_spec("pre_commit") is None, reason="pre-commit is not installed")
def test_hooks_in_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Installs the toolkit as pre-commit does, from a copy of this repository: some minutes."""
    monkeypatch.setenv("PRE_COMMIT_HOME", str(tmp_path / "home"))
    toolkit, repository = tmp_path / "toolkit", tmp_path / "repository"
    tracked = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, text=True, check=True
    )
    for name in filter(None, tracked.stdout.split("\0")):
        if (ROOT / name).exists():
            (toolkit / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, toolkit / name)
    _make(toolkit)
    repository.mkdir()
    (repository / "good.kbnf").write_text("(* kbnf: accept 'a' *)\nstart ::= 'a';\n")
    (repository / "with blank.gbnf").write_text('root ::= "a"\n')
    _make(repository)
    assert [_try(toolkit, repository, hook)[0] for hook in HOOKS] == [0, 0, 0]
    (repository / "bad.lark").write_text('start: "a" b\n')
    (repository / "good.kbnf").write_text("(* kbnf: accept 'b' *)\nstart  ::= 'a';\n")
    _git(repository, "add", ".")
    status, out = _try(toolkit, repository, "kbnf-check")
    assert status == 1
    assert "error[E101]" in out
    status, out = _try(toolkit, repository, "kbnf-fmt")
    assert status == 1
    assert "files were modified by this hook" in out
    assert _try(toolkit, repository, "kbnf-test")[0] == 1


def _make(repository: Path) -> None:
    _git(repository, "init", "--quiet")
    _git(repository, "add", ".")
    author = ("-c", "user.name=nobody", "-c", "user.email=nobody@localhost")
    _git(repository, *author, "commit", "--quiet", "--message", "All")


def _git(repository: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(repository), *arguments], check=True)


def _try(toolkit: Path, repository: Path, hook: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "pre_commit", "try-repo", str(toolkit), hook, "--all-files"]
    done = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout
