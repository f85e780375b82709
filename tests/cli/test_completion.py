"""Shell completion, as docs/guides/install.md tells to turn it on."""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "guides" / "install.md"
COMPLETIONS = ROOT / "completions"
"""Written by ``_KBNF_COMPLETE=bash_source kbnf`` and so on."""
BASH, ZSH, FISH = map(shutil.which, ("bash", "zsh", "fish"))


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
        (["kbnf", "convert", "--to", ""], ["kbnf", "gbnf", "lark", "structural-tag"]),
        (["kbnf", "help", "lang"], ["language"]),
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


@pytest.mark.skipif(BASH is None, reason="needs bash")
def test_bash_from_the_file_of_the_wheel(environment: dict[str, str]) -> None:
    program = f"""
        source {shlex.quote(str(COMPLETIONS / "kbnf"))}
        COMP_WORDS=(kbnf fm) COMP_CWORD=1
        _kbnf_completion kbnf
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    assert run(["bash", "--norc", "-c", program], environment) == "fmt\n"


def test_grammars_are_files_and_what_is_shipped(environment: dict[str, str]) -> None:
    asked = {"COMP_WORDS": "kbnf sample js", "COMP_CWORD": "2"}
    found = run(["kbnf"], {**environment, **asked, "_KBNF_COMPLETE": "bash_complete"})
    assert found.splitlines() == ["plain,json", "plain,json_lines"]


@pytest.mark.parametrize(
    ("shell", "sign", "answer"),
    [
        ("zsh", "#compdef kbnf", "plain\nfmt\nFormat grammars."),
        ("fish", "complete --no-files --command kbnf", "plain,fmt\tFormat grammars."),
    ],
)
def test_other_shells(environment: dict[str, str], shell: str, sign: str, answer: str) -> None:
    asked = {"COMP_WORDS": "kbnf fm", "COMP_CWORD": "1" if shell == "zsh" else "fm"}
    script = run(["kbnf"], {**environment, "_KBNF_COMPLETE": f"{shell}_source"})
    shipped = COMPLETIONS / ("_kbnf" if shell == "zsh" else "kbnf.fish")
    assert sign in shipped.read_text(encoding="utf-8")
    found = run(["kbnf"], {**environment, **asked, "_KBNF_COMPLETE": f"{shell}_complete"})
    assert sign in script
    assert found.strip() == answer


@pytest.mark.skipif(FISH is None, reason="needs fish")
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("kbnf fm", ["fmt\tFormat grammars."]),
        ("kbnf fmt --dif", ["--diff\tShow what would change; otherwise like --check."]),
        ("kbnf mask --finish e", ["eager", "eos"]),
    ],
)
def test_fish(environment: dict[str, str], line: str, expected: list[str]) -> None:
    program = f"_KBNF_COMPLETE=fish_source kbnf | source; complete -C {shlex.quote(line)}"
    assert run([str(FISH), "--no-config", "-c", program], environment).splitlines() == expected


@pytest.mark.skipif(ZSH is None, reason="needs zsh")
@pytest.mark.parametrize(
    ("typed", "completed"), [("kbnf fm", "kbnf fmt "), ("kbnf fmt --dif", "kbnf fmt --diff ")]
)
def test_zsh(environment: dict[str, str], tmp_path: Path, typed: str, completed: str) -> None:
    settings = (
        'autoload -U compinit; compinit -D -u; eval "$(_KBNF_COMPLETE=zsh_source kbnf)"; PS1="> "'
    )
    quiet = {**environment, "ZDOTDIR": str(tmp_path), "TERM": "dumb"}
    with pexpect.spawn(str(ZSH), ["-f"], env=quiet, encoding="utf-8", timeout=30) as shell:
        shell.sendline(f"unsetopt prompt_sp; {settings}; print ready")
        shell.expect("ready\r\n")
        shell.expect_exact("> ")
        shell.send(f"{typed}\t")
        shell.expect_exact(completed.removeprefix(typed))


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_page_tells_how(shell: str) -> None:
    assert f"_KBNF_COMPLETE={shell}_source kbnf" in PAGE.read_text(encoding="utf-8")
