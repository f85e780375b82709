"""``--watch`` at a terminal: clears, shows the latest state, and ends without a complaint."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kbnf_testing.command import Kbnf, Write

pexpect = pytest.importorskip("pexpect")

CLEARED = "\x1b\\[2J"
WAITS = "Ctrl-C ends\r\n"
BAD = "start ::= missing;\n"


class Watch:
    """A command that watches in a terminal."""

    def __init__(self, *arguments: str) -> None:
        command = ["-m", "kbnf_cli", *arguments, "--color", "never"]
        self._process = pexpect.spawn(sys.executable, command, encoding="utf-8", timeout=30)

    def shows(self, pattern: str) -> str:
        """Return what is shown up to the pattern."""
        self._process.expect(pattern)
        return f"{self._process.before}{self._process.after}"

    def interrupted(self) -> tuple[str, int | None]:
        """Return what is said at an interrupt, and the exit status."""
        self._process.sendintr()
        self._process.expect(pexpect.EOF)
        said = str(self._process.before)
        self._process.close()
        return said, self._process.exitstatus

    def end(self) -> None:
        """End it, where a test has failed before."""
        self._process.close(force=True)


@pytest.fixture
def watch() -> Iterator[Callable[..., Watch]]:
    started = []

    def start(*arguments: str) -> Watch:
        started.append(Watch(*arguments))
        return started[-1]

    yield start
    for each in started:
        each.end()


def test_check_clears_and_ends(watch: Callable[..., Watch], write: Write) -> None:
    write("a.kbnf", "start ::= 'a';\n")
    watched = watch("check", "--watch")
    assert "\x1b" not in watched.shows(WAITS)
    write("a.kbnf", BAD)
    assert "E101" not in watched.shows(CLEARED)
    assert "E101" in watched.shows(WAITS)
    write("b.kbnf", "start ::= 'b';\n")
    watched.shows(CLEARED)
    assert "1 error in 2 files" in watched.shows(WAITS)
    said, status = watched.interrupted()
    assert "error" not in said
    assert "Traceback" not in said
    assert status == 130


def test_a_changed_configuration_counts(watch: Callable[..., Watch], write: Write) -> None:
    write("a.kbnf", BAD)
    watched = watch("check", "--watch")
    assert "E101" in watched.shows(WAITS)
    write("kbnf.toml", 'ignore = ["E"')
    assert "error: kbnf.toml" in watched.shows(WAITS).replace(str(Path.cwd()) + "/", "")
    write("kbnf.toml", 'ignore = ["E"]')
    assert "no problems" in watched.shows(WAITS)
    write("kbnf.toml", 'exclude = ["*.kbnf"]')
    watched.shows(CLEARED)
    watched.shows(WAITS)
    Path("kbnf.toml").unlink()
    assert "E101" in watched.shows(WAITS)
    assert watched.interrupted()[1] == 130


def test_test_watches_examples(watch: Callable[..., Watch], write: Write) -> None:
    write("a.kbnf", "start ::= 'a'; (* kbnf: accept \"a\" *)\n")
    watched = watch("test", "--watch", "a.kbnf")
    assert "1 passed" in watched.shows(WAITS)
    write("a.examples.toml", '[[accept]]\ntext = "b"\n')
    watched.shows(CLEARED)
    assert "1 failed" in watched.shows(WAITS)
    write("a.examples.toml", "[[accept]\n")
    watched.shows(CLEARED)
    watched.shows(WAITS)
    Path("a.examples.toml").unlink()
    assert "1 passed" in watched.shows(WAITS)
    assert watched.interrupted()[1] == 130


def test_stdin_cannot_be_watched(kbnf: Kbnf) -> None:
    assert kbnf("test", "--watch", "-").status == 2
