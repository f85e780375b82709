"""``kbnf play`` on a pseudo-terminal."""

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import pexpect
import pytest

from kbnf_testing.command import Write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

GRAMMAR = '(* kbnf: finish=eos *)\nstart ::= "a" ("b" | "c"){1,9} "d";\n'
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>()][A-Z0-9]?|[\r\x07]")
_TIMEOUT = 30
_READY = r"\x1b\[\?2004h"
"""What switches the pasting of whole texts on, just before a prompt."""

Spawn: TypeAlias = "Callable[..., pexpect.spawn[str]]"


@pytest.fixture
def spawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> "Iterator[Spawn]":
    """Run ``kbnf play`` on a terminal, with a history of its own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    # Nobody answers here when it asks where the cursor is.
    monkeypatch.setenv("PROMPT_TOOLKIT_NO_CPR", "1")
    children: list[pexpect.spawn[str]] = []

    def start(*arguments: object, columns: int = 80, rows: int = 24) -> "pexpect.spawn[str]":
        child = pexpect.spawn(
            sys.executable,
            ["-m", "kbnf_cli", "play", *map(str, arguments)],
            dimensions=(rows, columns),
            timeout=_TIMEOUT,
            encoding="utf-8",
            env=dict(os.environ),
        )
        children.append(child)
        child.expect("Ctrl-D leaves")
        child.expect(_READY)
        return child

    yield start
    for child in children:
        child.close(force=True)


@pytest.fixture
def grammar(write: Write) -> Path:
    return write("g.kbnf", GRAMMAR)


def enter(child: "pexpect.spawn[str]", keys: str, *shown: str) -> None:
    """Press keys and Enter; wait for what is to be shown, and for the next prompt."""
    child.send(f"{keys}\r")
    for each in (*shown, _READY):
        child.expect(each)


def leave(child: "pexpect.spawn[str]") -> tuple[str, int | None]:
    """Leave with Ctrl-D; return what was shown before, and the exit status."""
    child.sendcontrol("d")
    child.expect(pexpect.EOF)
    child.close()
    return _CONTROL.sub("", child.before or ""), child.exitstatus


@pytest.mark.parametrize("rows", [5, 24])
def test_a_start_that_is_refused_is_reported_last(spawn: Spawn, grammar: Path, rows: int) -> None:
    child = spawn(grammar, rows=rows)
    enter(child, "a")
    child.send(":start nope\r")
    child.expect("error: E102: the start nonterminal `nope` is not defined; nothing was changed")
    child.expect(_READY)
    assert _CONTROL.sub("", child.before or "").strip() == ""
    assert leave(child)[1] == 0


def test_tokens_are_typed_and_shown(spawn: Spawn, grammar: Path) -> None:
    child = spawn(grammar)
    enter(child, "a", r'text      "a" \(1 token\)', '98  "b"')
    enter(child, "b", r'text      "ab" \(2 tokens\)')
    assert leave(child)[1] == 0


def test_the_toolbar_tells_the_mode_and_the_status(
    spawn: Spawn, grammar: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PROMPT_TOOLKIT_NO_CPR")
    child = spawn(grammar)
    for line, shown in [
        (":text", r"token \| ongoing \| 0 tokens \| g.kbnf \| bytes"),
        ("abd", r"text \| ongoing"),
        ("", r"text \| can finish \| 3 tokens"),
    ]:
        # There is room for a toolbar when it is known where the cursor is.
        child.send("\x1b[1;1R")
        child.expect(shown)
        enter(child, line)
    assert leave(child)[1] == 0


def test_what_is_refused_leaves_the_console(spawn: Spawn, grammar: Path) -> None:
    child = spawn(grammar)
    for line, shown in [
        ("x", "error: rejected: byte 0"),
        ("#999", "error: the vocabulary has no token 999"),
        (":nonsense", "error: there is no command"),
        ("\\x", "error: "),
    ]:
        enter(child, line, shown)
    enter(child, "")
    enter(child, "   ", r"3 tokens \(longest match\)", "error: rejected")
    enter(child, "help", "the allowed tokens", "leave")
    enter(child, "a", r'text      "a" \(1 token\)')
    assert leave(child)[1] == 0


def test_control_c_clears_the_line(spawn: Spawn, grammar: Path) -> None:
    child = spawn(grammar)
    child.send("xyz")
    child.expect("xyz")
    child.sendcontrol("c")
    child.expect(_READY)
    enter(child, "a", r'text      "a" \(1 token\)')
    assert leave(child)[1] == 0


@pytest.mark.parametrize("word", [":quit", "exit", "quit"])
def test_quit_leaves(spawn: Spawn, grammar: Path, word: str) -> None:
    child = spawn(grammar)
    child.send(f"{word}\r")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0


def test_several_lines_can_be_pasted(spawn: Spawn, grammar: Path) -> None:
    child = spawn(grammar)
    pasted = "\x1b[200~a\nb\nc\x1b[201~"
    enter(child, pasted, *(rf'text      "{text}" \(' for text in ("a", "ab", "abc")))
    assert leave(child)[1] == 0


def test_the_history_is_kept(spawn: Spawn, grammar: Path) -> None:
    child = spawn(grammar)
    enter(child, "a", r'text      "a" \(1 token\)')
    leave(child)
    child = spawn(grammar)
    enter(child, "\x1b[A", r'text      "a" \(1 token\)')
    assert leave(child)[1] == 0


def test_the_tabulator_offers_allowed_tokens(spawn: Spawn, grammar: Path) -> None:
    child = spawn(grammar)
    child.send("\t")
    child.expect("a")
    enter(child, "", r'text      "a" \(1 token\)')
    child.send(":forc\t")
    # What was typed may have been drawn before what is completed.
    child.expect("ed")
    enter(child, "", "none is forced")
    assert leave(child)[1] == 0


def test_a_narrow_terminal_that_changes_its_size(spawn: Spawn, grammar: Path) -> None:
    child = spawn(grammar, columns=40, rows=8)
    enter(child, ":help", ":quit, :q")
    child.setwinsize(5, 20)
    enter(child, "a", 'text      "a" \\(1')
    child.setwinsize(50, 200)
    enter(child, ":stack", "takes")
    assert leave(child)[1] == 0


def test_a_grammar_that_is_deleted_under_it(spawn: Spawn, grammar: Path) -> None:
    child = spawn(grammar)
    enter(child, "a", r'text      "a" \(1 token\)')
    grammar.unlink()
    enter(child, ":reload", "error: cannot read g.kbnf")
    enter(child, "b", r'text      "ab" \(2 tokens\)')
    grammar.write_text(GRAMMAR.replace('"c"', '"c" | "e"'))
    enter(child, ":reload", "2 steps made again")
    assert leave(child)[1] == 0


def test_where_no_history_can_be_kept(
    spawn: Spawn, grammar: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "state").write_text("a file, not a folder")
    child = spawn(grammar)
    enter(child, "a", r'text      "a" \(1 token\)')
    assert leave(child)[1] == 0
