"""What only shows in a process of its own: start-up, streams, signals."""

import os
import re
import signal
import subprocess
import sys

import click
import pytest

from kbnf_cli.app import app
from kbnf_core import __version__
from kbnf_testing.command import Kbnf, Write

_KBNF = [sys.executable, "-m", "kbnf_cli"]
_HEAVY = {"numpy", "lark", "rich", "regex", "tokenizers", "pathspec"}


def _imported_by(*arguments: str) -> set[str]:
    """Return the top-level modules that a run of the command loads."""
    script = (
        "import sys; from kbnf_cli.main import main; main(sys.argv[1:]);"
        "print(*{name.partition('.')[0] for name in sys.modules}, file=sys.stderr)"
    )
    command = [sys.executable, "-c", script, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    return set(done.stderr.split())


@pytest.mark.parametrize(
    "arguments",
    [("--version",), ("--help",), ("rule", "E101"), ("rule",), ("help",), ("help", "language")],
)
def test_quick_commands_load_nothing_heavy(arguments: tuple[str, ...]) -> None:
    assert _imported_by(*arguments) & _HEAVY == set()


def test_check_of_a_file_needs_no_terminal_library(write: Write) -> None:
    file = write("a.kbnf", "start ::= b;")
    assert _imported_by("check", "-q", str(file)) & {"rich", "pathspec"} == set()


def test_version(kbnf_process: Kbnf) -> None:
    out = kbnf_process("--version").out
    python = ".".join(map(str, sys.version_info[:3]))
    assert re.fullmatch(
        rf"kbnf {re.escape(__version__)} \(compiled engine, Python {python}\)\n", out
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ("rule",),
        ("mask", "a.kbnf", "--format", "ids"),
        ("vocab",),
        ("check", "b.kbnf"),
        ("sample", "a.kbnf"),
        ("match", "a.kbnf", "b.kbnf"),
        ("explain", "a.kbnf"),
        ("convert", "builtin:json", "--to", "gbnf"),
        ("help", "language"),
    ],
)
def test_closed_pipe_ends_it_silently(write: Write, arguments: tuple[str, ...]) -> None:
    write("a.kbnf", 'start ::= #"(?s)."+ "\\n" "end";')
    write("b.kbnf", "start ::= b;" * 2000)
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [*_KBNF, *arguments], stdout=writer, stderr=subprocess.PIPE, check=False, timeout=60
    )
    os.close(writer)
    assert done.stderr == b""
    assert done.returncode == -13


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_full_disk() -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*_KBNF, "rule"], stdout=full, stderr=subprocess.PIPE, check=False, timeout=60
        )
    assert done.returncode == 2
    assert done.stderr == b"error: no space left on device\n"


def test_interrupt() -> None:
    process = subprocess.Popen(
        [*_KBNF, "check", "-v", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    assert process.stderr.readline() == b"checking <stdin>\n"
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"Traceback" not in stderr


def test_an_interrupt_that_python_swallows_is_raised_again() -> None:
    # As in the callbacks of its import system, which end without an error.
    done = run_with_main("reference = weakref.ref(Value(), swallow); time.sleep(60)")
    assert (done.returncode, done.stderr) == (130, "error: interrupted\n")


def test_other_errors_that_python_swallows_are_shown() -> None:
    done = run_with_main("reference = weakref.ref(Value(), lambda _: 1 / 0)")
    assert done.returncode == 0
    assert "ZeroDivisionError" in done.stderr


def run_with_main(body: str) -> "subprocess.CompletedProcess[str]":
    """Run the process with another thing to do."""
    script = f"""
import time, weakref
from kbnf_cli import main

class Value:
    pass

def swallow(_):
    raise KeyboardInterrupt

def body(arguments):
    {body}

main.main = body
main.run()
"""
    command = [sys.executable, "-P", "-c", script]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def test_nothing_is_imported_before_interrupts_are_met() -> None:
    script = (
        "import sys; before = {*sys.modules}; import kbnf_cli.main;"
        "print(*sorted({*sys.modules} - before))"
    )
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert {*done.stdout.split()} <= {"kbnf_cli", "kbnf_cli.main", "gc"}


def test_processes_that_it_starts_import_nothing_from_the_current_folder(
    write: Write,
) -> None:
    for name in ("multiprocessing", "pickle", "kbnf_cli"):
        write(f"{name}.py", "open('imported', 'w')")
    code = "import os; os.system(f'{sys.executable} -c \"import pickle\"')"
    assert run_with_main(f"import sys; {code}").returncode == 0
    assert not os.path.exists("imported")


@pytest.mark.parametrize(
    ("options", "environment", "coloured"),
    [
        ((), {}, False),
        ((), {"FORCE_COLOR": "1"}, True),
        ((), {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (("--color", "always"), {"NO_COLOR": "1"}, True),
        (("--color", "never"), {"FORCE_COLOR": "1"}, False),
    ],
)
def test_colour(
    kbnf: Kbnf,
    write: Write,
    monkeypatch: pytest.MonkeyPatch,
    options: tuple[str, ...],
    environment: dict[str, str],
    coloured: bool,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    file = write("a.kbnf", "start ::= b;")
    for arguments in (("check", *options, file), (*options, "check", file)):
        result = kbnf(*arguments)
        assert ("\x1b[" in result.out) is coloured
        assert re.sub(r"\x1b\[[\d;]*m", "", result.out) == kbnf(
            "check", "--color", "never", file
        ).out  # fmt: skip


@pytest.mark.parametrize(
    "command", [(), *((name,) for name in app.list_commands(click.Context(app)))]
)
def test_help(kbnf: Kbnf, command: tuple[str, ...]) -> None:
    short, long = kbnf(*command, "-h"), kbnf(*command, "--help")
    assert short.status == 0
    assert short.out == long.out
    assert short.out.startswith("Usage: kbnf")
    assert "--color" in short.out


def test_no_command_shows_help(kbnf: Kbnf) -> None:
    result = kbnf()
    assert result.status == 2
    assert "Usage: kbnf" in result.out + result.stderr


def test_completion_exists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_KBNF_COMPLETE", "bash_source")
    script = "from kbnf_cli.main import main; main([])"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60
    )
    assert "_kbnf_completion" in done.stdout


def test_a_misspelt_command_is_known_again(kbnf: Kbnf) -> None:
    result = kbnf("chek", "a.kbnf")
    assert result.status == 2
    assert "Did you mean 'check'?" in result.stderr
    assert "Did you mean" not in kbnf("xyzzy").stderr
