"""What is written is UTF-8 with line feeds, whatever the encoding of the console."""

import io
import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from kbnf_cli.app import app
from kbnf_cli.main import main, prepare_encodings
from kbnf_testing.command import Kbnf, Write

FILES = {
    "a.kbnf": '(* naïve *)\n(* kbnf: finish=eos *)\n(* kbnf: accept "é" *)\n'
    "start ::= e | '😀';\ne ::= 'é';\n",
    "b.kbnf": "(* kbnf: finish=eos *)\nstart ::= '😀' | 'ñ';\n",
    "wrong.kbnf": "start ::= '你' b;\n",
    "a.gbnf": '# naïve\nroot ::= "é" | "😀"\n',
    "a.lark": '// naïve\nstart: "é" | "😀"\n',
    "a.bnf": "<start>::='é'|'😀'\n",
    "a.abnf": "; naïve\nstart = %xE9 / %x1F600\n",
    "a.json": '{"title": "naïve", "enum": ["é", "😀"]}',
    "text": "ñ",
    "log": '{"token": "ñ", "logprob": -0.1, "top_logprobs": [{"token": "ñ", "logprob": -0.1}]}\n',
}
"""Grammars and texts beyond ASCII."""

RUNS: dict[str, tuple[str, ...]] = {
    "check": ("check", "wrong.kbnf"),
    "compile": ("compile", "a.kbnf"),
    "complete": ("complete", "a.kbnf", "--text", ""),
    "convert": ("convert", "a.gbnf"),
    "convert-abnf": ("convert-abnf", "a.abnf"),
    "convert-bnf": ("convert-bnf", "a.bnf"),
    "convert-gbnf": ("convert-gbnf", "a.gbnf"),
    "convert-json-schema": ("convert-json-schema", "a.json"),
    "convert-lark": ("convert-lark", "a.lark"),
    "diagram": ("diagram", "a.kbnf"),
    "diff": ("diff", "a.kbnf", "b.kbnf"),
    "explain": ("explain", "a.kbnf"),
    "fmt": ("fmt", "-"),
    "help": ("help", "language"),
    "init": ("init", "--help"),
    "mask": ("mask", "a.kbnf", "--text", "ñ", "--format", "json"),
    "match": ("match", "a.kbnf", "text"),
    "parse": ("parse", "a.kbnf", "--text", "é"),
    "play": ("play", "b.kbnf"),
    "repair": ("repair", "a.kbnf", "--text", "ñ"),
    "rule": ("rule", "E101"),
    "sample": ("sample", "a.kbnf"),
    "store": ("store", "ls", "."),
    "test": ("test", "a.kbnf"),
    "trace": ("trace", "b.kbnf", "log"),
    "vocab": ("vocab", "bytes"),
}
SERVERS = {"lsp"}
"""Commands that write no text: the protocol is made of bytes."""
SILENT = {"compile", "store"}
"""Runs that say what they do on stderr."""

ENCODINGS = ("cp1252", "ascii")
SETTINGS = (
    *({"PYTHONIOENCODING": encoding} for encoding in ENCODINGS),
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
)


@pytest.fixture(autouse=True)
def _files(write: Write) -> None:
    for name, text in FILES.items():
        write(name, text)


def test_every_command_has_a_run() -> None:
    assert RUNS.keys() | SERVERS == {*app.list_commands(click.Context(app))}


@pytest.mark.parametrize("name", RUNS)
def test_output_does_not_depend_on_the_console(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = written(name, "utf-8", "\n", monkeypatch)
    assert expected or name in SILENT
    for encoding in ENCODINGS:
        # As on Windows.
        assert written(name, encoding, "\r\n", monkeypatch) == expected


def written(name: str, encoding: str, newline: str, monkeypatch: pytest.MonkeyPatch) -> bytes:
    """Return what a command writes to streams that are opened so."""
    out = io.BytesIO()
    streams = {
        "stdin": io.TextIOWrapper(io.BytesIO(FILES["b.kbnf"].encode()), encoding),
        "stdout": io.TextIOWrapper(out, encoding, newline=newline),
        "stderr": io.TextIOWrapper(io.BytesIO(), encoding),
    }
    with monkeypatch.context() as patched:
        for stream, opened in streams.items():
            patched.setattr(sys, stream, opened)
        prepare_encodings()
        status = main([*RUNS[name]])
        streams["stdout"].flush()
    assert status in (0, 1)
    return re.sub(rb"\d+(\.\d+)? (ms|s|KiB|bytes)\b", b"", out.getvalue())


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("name", ["convert", "fmt"])
def test_grammars_that_are_written_can_be_read(
    name: str,
    settings: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    kbnf: Kbnf,
    kbnf_process: Kbnf,
) -> None:
    stdin = FILES["b.kbnf"].encode()
    expected = kbnf(*RUNS[name], stdin=stdin).stdout
    with monkeypatch.context() as patched:
        for variable, value in settings.items():
            patched.setenv(variable, value)
        done = kbnf_process(*RUNS[name], stdin=stdin)
    assert (done.status, done.stdout) == (0, expected)
    Path("again.kbnf").write_bytes(done.stdout)
    assert kbnf("match", "again.kbnf", "-", stdin="😀".encode()).status == 0


def test_scripts_of_a_console_are_utf_8(
    monkeypatch: pytest.MonkeyPatch, kbnf_process: Kbnf
) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "cp1252")
    done = kbnf_process("play", "b.kbnf", stdin="ñ\n".encode())
    assert 'text      "ñ" (2 tokens)' in done.out


def test_a_terminal_keeps_its_encoding(monkeypatch: pytest.MonkeyPatch) -> None:
    pty = pytest.importorskip("pty", reason="needs terminals")
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "kbnf_cli", "check", "wrong.kbnf"]
    done = subprocess.run(command, stdout=theirs, stderr=subprocess.PIPE, check=False, timeout=60)
    os.close(theirs)
    assert done.returncode == 1
    assert b"\\u4f60" in os.read(ours, 65_536)
    os.close(ours)
