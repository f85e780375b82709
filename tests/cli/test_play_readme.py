"""The transcript in the README is what its own command prints."""

import shlex
from pathlib import Path

import pytest

from kbnf_testing.command import Kbnf

ROOT = Path(__file__).resolve().parents[2]
MARK = "<!-- made by its first line -->"


def test_the_transcript_is_current(kbnf: Kbnf, monkeypatch: pytest.MonkeyPatch) -> None:
    block = (ROOT / "README.md").read_text(encoding="utf-8").partition(MARK)[2].split("```")[1]
    command, _, shown = block.lstrip("\n").partition("\n")
    program, *arguments = shlex.split(command.removeprefix("$ "))
    assert program == "kbnf"
    monkeypatch.chdir(ROOT)
    result = kbnf(*arguments)
    assert (result.out, result.stderr, result.status) == (shown, "", 0)
