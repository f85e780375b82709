"""Advice is true: each command that a message names works as it is printed."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from kbnf_testing.command import Kbnf, Write

COMMAND = re.compile(r"`([^`]*\bkbnf [^`]*)`")


def run_in_shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command as a message prints it, in a folder."""
    kbnf = f"{sys.executable} -m kbnf_cli"
    line = re.sub(r"(^|\| )kbnf ", rf"\1{kbnf} ", command)
    return subprocess.run(
        ["sh", "-c", line], cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("explain", "[a-z]+"), "a regular expression is part of a grammar"),
        (("check", r"\d{3}"), "a regular expression is part of a grammar"),
        (("sample", "start ::= 'it''s';"), "reads a grammar from stdin"),
        (("mask", '{"type": "object"}'), "a JSON Schema is read from a file or stdin"),
        (("sample", "jsno"), "did you mean `json`?"),
        (("sample", "g.kbnff"), "did you mean `g.kbnf`?"),
        (("sample", "what"), "`kbnf help grammars`"),
        (("sample", "m:Order"), "imports a class, as do check and diff"),
    ],
)
def test_what_is_no_file_gets_an_answer_that_says_how(
    kbnf: Kbnf, write: Write, tmp_path: Path, arguments: tuple[str, str], said: str
) -> None:
    write("g.kbnf", 'start ::= "a";')
    write("m.py", "from pydantic import BaseModel\nclass Order(BaseModel):\n    n: int\n")
    result = kbnf(*arguments)
    assert (result.status, result.out) == (2, "")
    assert said in result.stderr
    for command in COMMAND.findall(result.stderr):
        done = run_in_shell(command, tmp_path)
        assert (done.returncode, done.stderr) == (0, ""), command


@pytest.mark.parametrize(
    "text",
    [
        "# a comment\nroot ::= [a-z]+\n",
        "start: move+\nmove: /[a-z]/\n",
        '<start> ::= "a" | <b>\n<b> ::= "c"\n',
        'start = "a" / %x41-5A\n',
        '{"type": "string"}',
    ],
)
def test_a_file_of_another_language_is_read_and_converted_as_the_finding_says(
    kbnf: Kbnf, write: Write, tmp_path: Path, text: str
) -> None:
    write("g.kbnf", text)
    found = kbnf("check", "g.kbnf")
    assert "E008" in found.out
    commands = [each for each in COMMAND.findall(found.out) if "g.kbnf" in each]
    assert len(commands) == 2
    for command in commands:
        done = run_in_shell(command, tmp_path)
        assert done.returncode == 0, (command, done.stderr)
    language = commands[0].split()[3]
    for command in ("sample", "match", "mask", "explain", "diagram", "test", "compile"):
        more = ("--text", "a") if command == "match" else ()
        result = kbnf(command, "--from", language, *more, "g.kbnf")
        assert "E008" not in result.stderr + result.out, command
    assert kbnf("play", "--from", language, "g.kbnf", "-c", ":show").status == 0


def test_a_text_in_place_of_a_file_is_told_of_the_option(kbnf: Kbnf) -> None:
    result = kbnf("match", "json", '{"name": 1}')
    assert result.status == 2
    assert "help: --text TEXT gives a text directly" in result.stderr
    assert kbnf("match", "json", "--text", '{"name": 1}').out == "<text>: fits\n"
