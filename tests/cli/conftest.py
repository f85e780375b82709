"""Running the command: in this process for speed, in one of its own where that matters."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from kbnf_cli.main import main
from kbnf_testing.command import Kbnf, Result, Write


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in an empty folder, with nothing set that changes the output."""
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR", "KBNF_DEBUG"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def kbnf() -> Kbnf:
    """Run the command in this process."""

    def invoke(*arguments: object, stdin: bytes = b"") -> Result:
        with CliRunner().isolation(input=stdin) as (out, err, _):
            status = main([str(argument) for argument in arguments])
            sys.stderr.flush()
        return Result(status, out.getvalue(), err.getvalue().decode("utf-8"))

    return invoke


@pytest.fixture
def kbnf_process() -> Kbnf:
    """Run the command as a process of its own."""

    def invoke(*arguments: object, stdin: bytes = b"") -> Result:
        command = [sys.executable, "-m", "kbnf_cli", *map(str, arguments)]
        done = subprocess.run(command, input=stdin, capture_output=True, check=False, timeout=60)
        return Result(done.returncode, done.stdout, done.stderr.decode("utf-8"))

    return invoke


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a file below the current folder and return its path, relative to it."""

    def create(name: str, content: str | bytes) -> Path:
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        return Path(os.path.relpath(file))

    return create
