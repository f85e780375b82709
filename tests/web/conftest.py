"""The playground as a process, at the address that it prints."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

JSON = Path(__file__).resolve().parents[2] / "grammars" / "json.kbnf"


class Playground:
    """A server in a process of its own."""

    def __init__(self, *arguments: object) -> None:
        command = [sys.executable, "-m", "kbnf_cli", "play", "--web", *map(str, arguments)]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
        )
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().decode().strip()
        self.address, _, self.token = self.url.partition("#token=")

    def interrupt(self) -> tuple[int, str]:
        """Interrupt it and its worker, as a terminal does; return its exit status and stderr."""
        os.killpg(self.process.pid, signal.SIGINT)
        _, told = self.process.communicate(timeout=30)
        return self.process.returncode, told.decode()


@pytest.fixture(scope="module")
def playground() -> Iterator[Playground]:
    pytest.importorskip("uvicorn", reason="needs the extra `web`")
    playground = Playground(JSON)
    yield playground
    playground.interrupt()
