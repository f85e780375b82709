"""``kbnf mask -i``: the mask that follows what is typed."""

import os
import sys
from typing import TYPE_CHECKING

import pexpect
import pytest

from kbnf_cli.mask_live import look, look_rows
from kbnf_core import Engine, Grammar, Vocabulary
from kbnf_core.text.diagnostics.segments import Role, cells, plain
from kbnf_testing.command import Kbnf, Write

if TYPE_CHECKING:
    from pathlib import Path

GRAMMAR = '(* kbnf: finish=eos *)\nstart ::= "SELECT " ("*" | name) ";";\nname ::= #"[a-z]+";\n'


def rows(typed: str, finish: str = "eos", columns: int = 80, height: int = 20) -> str:
    engine = Engine(Grammar(GRAMMAR, finish=finish), Vocabulary.bytes())
    return plain(look_rows(look(engine, typed), columns, height))


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("", 'status    ongoing\nforced    "SELECT "\nallowed   1 of 257 tokens\n'),
        ("SELECT ", "allowed   27 of 257 tokens\n"),
        ("SELECT ", 'name #"[a-z]+"      26: 97 "a" 98 "b"'),
        ("SELECT ", 'start "*"       1: 42 "*"\n'),
        ("SELECT a;", "status    can finish\n"),
        ("SELECT é", "refused   0xc3: byte 7 (0xc3) is not expected here\n"),
        ("SELECT 1", "refused   \"1\": byte 7 ('1', 0x31) is not expected here\nallowed   27"),
    ],
)
def test_what_is_shown_below_a_text(typed: str, shown: str) -> None:
    assert shown in rows(typed)


def test_a_finished_text() -> None:
    assert rows("SELECT *;", "eager") == "status    finished (finish=eager)\n"
    assert "refused" in rows("SELECT *;x", "eager")


def test_what_is_shown_fits_the_terminal() -> None:
    shown = rows("SELECT ", columns=30, height=4)
    assert max(map(cells, shown.splitlines())) <= 30
    assert shown.endswith("... 1 more line\n")


def test_the_roles() -> None:
    engine = Engine(Grammar(GRAMMAR, finish="eos"), Vocabulary.bytes())
    roles = dict(look_rows(look(engine, "SEL"), 80, 20))
    assert roles['"ECT "\n'] is Role.FORCED
    assert roles["ongoing\n"] is Role.STATE


def test_a_terminal_is_needed(kbnf: Kbnf, write: Write) -> None:
    result = kbnf("mask", write("g.kbnf", GRAMMAR), "-i")
    assert (result.status, result.out) == (2, "")
    assert "--interactive needs a terminal" in result.stderr


@pytest.mark.parametrize("columns", [80, 140])
def test_the_mask_follows_what_is_typed(
    write: Write, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    grammar: Path = write("g.kbnf", GRAMMAR)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("PROMPT_TOOLKIT_NO_CPR", "1")
    child = pexpect.spawn(
        sys.executable,
        ["-m", "kbnf_cli", "mask", str(grammar), "-i"],
        dimensions=(24, columns),
        timeout=30,
        encoding="utf-8",
        env=dict(os.environ),
    )
    child.expect("Ctrl-C leaves")
    child.send("S")
    child.expect('ELECT "')
    child.send("\t")
    child.send("7")
    child.expect("is not expected here")
    child.send("\x7f*;")
    child.expect("can finish")
    child.sendcontrol("d")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
