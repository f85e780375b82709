"""Shell completion, as the README tells to turn it on."""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).resolve().parents[2] / "README.md"
BASH = shutil.which("bash")


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Return an environment in which `kbnf` is a command."""
    command = tmp_path / "bin" / "kbnf"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m kbnf_cli "$@"\n')
    command.chmod(0o755)
    return {**os.environ, "PATH": f"{command.parent}{os.pathsep}{os.environ['PATH']}"}


def run(command: list[str], environment: dict[str, str]) -> str:
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stderr == ""
    return done.stdout


@pytest.mark.skipif(BASH is None, reason="needs bash")
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["kbnf", "fm"], ["fmt"]),
        (["kbnf", "fmt", "--d"], ["--diff"]),
        (["kbnf", "test", "--format", "j"], ["json", "junit"]),
        (["kbnf", "mask", "--finish", ""], ["eager", "token", "eos"]),
    ],
)
def test_bash(environment: dict[str, str], words: list[str], expected: list[str]) -> None:
    program = f"""
        eval "$(_KBNF_COMPLETE=bash_source kbnf)"
        COMP_WORDS=({shlex.join(words)})
        COMP_CWORD={len(words) - 1}
        _kbnf_completion kbnf
        printf '%s\\n' "${{COMPREPLY[@]}}"
        complete -p kbnf
    """
    *found, registered = run(["bash", "--norc", "-c", program], environment).splitlines()
    assert found == expected
    assert registered.endswith("-F _kbnf_completion kbnf")


@pytest.mark.parametrize(
    ("shell", "sign", "answer"),
    [
        ("zsh", "#compdef kbnf", "plain\nfmt\nLay out grammars."),
        ("fish", "complete --no-files --command kbnf", "plain,fmt\tLay out grammars."),
    ],
)
def test_other_shells(environment: dict[str, str], shell: str, sign: str, answer: str) -> None:
    asked = {"COMP_WORDS": "kbnf fm", "COMP_CWORD": "1" if shell == "zsh" else "fm"}
    script = run(["kbnf"], {**environment, "_KBNF_COMPLETE": f"{shell}_source"})
    found = run(["kbnf"], {**environment, **asked, "_KBNF_COMPLETE": f"{shell}_complete"})
    assert sign in script
    assert found.strip() == answer


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_readme_tells_how(shell: str) -> None:
    assert f"_KBNF_COMPLETE={shell}_source kbnf" in README.read_text(encoding="utf-8")
