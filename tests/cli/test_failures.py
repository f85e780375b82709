"""Every way to fail ends in one place."""

import click
import pytest

from kbnf_core.text.errors import ConfigError
from kbnf_testing.command import Kbnf


@pytest.mark.parametrize(
    ("error", "status", "stderr"),
    [
        (KeyboardInterrupt(), 130, "error: interrupted\n"),
        (click.Abort(), 130, "error: interrupted\n"),
        (
            MemoryError(),
            2,
            "error: out of memory\nhelp: a smaller grammar, vocabulary or input is needed\n",
        ),
        (
            RecursionError(),
            2,
            "error: the input is nested too deeply\nhelp: write it with less nesting\n",
        ),
        (OSError(28, "No space left on device"), 2, "error: no space left on device\n"),
        (
            PermissionError(13, "Permission denied", "x"),
            2,
            "error: cannot use x: permission denied\n",
        ),
        (ConfigError("no"), 2, "error: no\n"),
        (
            ZeroDivisionError("oops \x1b[2J"),
            2,
            "error: internal failure: ZeroDivisionError: oops ␛[2J\n"
            "help: this is a bug in kbnf; please report it with the command and the files it read\n"
            "help: KBNF_DEBUG=1 shows where it happened\n",
        ),
    ],
)
def test_message_and_status(
    kbnf: Kbnf, monkeypatch: pytest.MonkeyPatch, error: BaseException, status: int, stderr: str
) -> None:
    _fail_with(monkeypatch, error)
    result = kbnf("check", "-")
    assert result.status == status
    assert result.stderr.lstrip("\n") == stderr


def test_what_an_interrupt_breaks_is_interrupted(
    kbnf: Kbnf, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrapped = RuntimeError("Error calling __set_name__")
    wrapped.__cause__ = KeyboardInterrupt()
    _fail_with(monkeypatch, wrapped)
    result = kbnf("check", "-")
    assert (result.status, result.stderr.lstrip("\n")) == (130, "error: interrupted\n")


def test_debug_shows_where(kbnf: Kbnf, monkeypatch: pytest.MonkeyPatch) -> None:
    _fail_with(monkeypatch, ZeroDivisionError("oops"))
    monkeypatch.setenv("KBNF_DEBUG", "1")
    result = kbnf("check", "-")
    assert "Traceback" in result.stderr
    assert result.status == 2


def _fail_with(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def fail(*_: object) -> object:
        raise error

    monkeypatch.setattr("kbnf_cli.checking.read_source", fail)
