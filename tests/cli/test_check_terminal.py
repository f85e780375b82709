"""``kbnf check`` on a pseudo-terminal: what is shown fits, and carets stay under their text."""

import os
import sys
from pathlib import Path

import pexpect
import pytest

from kbnf_testing.command import Kbnf, Write

LONG = "start ::= " + " | ".join(f"'word{number}'" for number in range(30)) + " | litral;\n"
CLASS = 'start ::= digits; digits ::= "0".."9";\n'


def _on_terminal(columns: int, *arguments: object, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    child = pexpect.spawn(
        sys.executable,
        ["-m", "kbnf_cli", "check", *map(str, arguments)],
        dimensions=(60, columns),
        timeout=60,
        encoding="utf-8",
        env=dict(os.environ),
    )
    try:
        child.expect(pexpect.EOF)
    finally:
        child.close(force=True)
    return str(child.before).replace("\r", "").splitlines()


def _marked(lines: list[str]) -> str:
    """Return what the carets are under."""
    number = next(number for number, line in enumerate(lines) if "^" in line)
    start, end = lines[number].index("^"), lines[number].rindex("^") + 1
    return lines[number - 1][start:end]


@pytest.mark.parametrize("columns", [80, 160])
def test_excerpts_are_cut_to_the_terminal(
    columns: int, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = _on_terminal(columns, write("a.kbnf", LONG), monkeypatch=monkeypatch)
    code = next(line for line in lines if "'word29'" in line)
    assert columns - 10 < len(code) <= columns
    assert _marked(lines) == "litral"


@pytest.mark.parametrize("columns", [80, 160])
def test_prose_is_wrapped_at_words(
    columns: int, kbnf: Kbnf, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    # W307 says a lot.
    file = write("a.kbnf", "start ::= start '+' term | term; term ::= #'[0-9]+';\n")
    whole = kbnf("check", file).out
    widest = max(map(len, whole.splitlines()))
    assert 80 < widest < 160
    lines = _on_terminal(columns, file, monkeypatch=monkeypatch)
    assert max(map(len, lines)) <= columns
    assert set(whole.split()) <= set(" ".join(lines).split())
    assert (whole.splitlines() == lines[: len(whole.splitlines())]) is (widest <= columns)


def test_a_file_is_cut_as_ever(kbnf: Kbnf, write: Write) -> None:
    file = write("a.kbnf", LONG)
    kbnf("check", "-o", "out.txt", file)
    assert Path("out.txt").read_text(encoding="utf-8") == kbnf("check", file).out
