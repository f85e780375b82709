"""The process of ``kbnf lsp``: how it ends, and what it leaves."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pygls", reason="needs the extra `lsp`")

SLOW = "start ::= a0;\n" + "".join(
    f"a{index} ::= #'[a-z]{{1,50}}' a{index + 1} | #'[a-z]{{2,60}}' ;\n" for index in range(3000)
)


class Server:
    """A server, and the messages of the protocol."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "kbnf_cli", "lsp"]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self._count = 0

    def tell(self, method: str, parameters: object, **more: object) -> None:
        """Send a notification."""
        message = {"jsonrpc": "2.0", "method": method, "params": parameters, **more}
        data = json.dumps(message).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(data), data))
        self.process.stdin.flush()

    def ask(self, method: str, parameters: object) -> Any:
        """Send a request and return its answer; notifications before it are dropped."""
        self._count += 1
        self.tell(method, parameters, id=self._count)
        while (answer := self._read()).get("id") != self._count:
            pass
        return answer

    def _read(self) -> Any:
        assert self.process.stdout is not None
        length = 0
        while header := self.process.stdout.readline().strip():
            name, _, value = header.partition(b":")
            length = int(value) if name == b"Content-Length" else length
        return json.loads(self.process.stdout.read(length))

    def begin(self) -> None:
        """Open a text that takes a while."""
        self.ask("initialize", {"capabilities": {}, "processId": None, "rootUri": None})
        self.tell("initialized", {})
        document = {"uri": "untitled:a.kbnf", "languageId": "kbnf", "version": 0, "text": SLOW}
        self.tell("textDocument/didOpen", {"textDocument": document})

    def children(self) -> list[int]:
        """Return the processes that this one has started."""
        task = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(each) for each in task.read_text().split()]


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.process.kill()
    server.process.communicate()


def test_shutdown_ends_what_is_under_way(server: Server) -> None:
    server.begin()
    time.sleep(1)
    assert server.ask("shutdown", None)["result"] is None
    server.tell("exit", None)
    assert server.process.wait(30) == 0


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="finds processes in /proc")
def test_nothing_outlives_a_killed_server(server: Server) -> None:
    server.begin()
    deadline = time.monotonic() + 30
    while not (children := server.children()) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert children
    time.sleep(1)
    os.kill(server.process.pid, signal.SIGKILL)
    deadline = time.monotonic() + 30
    while any(map(_lives, children)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(map(_lives, children))


def _lives(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_a_missing_extra_is_named() -> None:
    code = (
        "import sys; sys.modules['pygls'] = None\n"
        "from kbnf_cli.main import main; sys.exit(main(['lsp']))"
    )
    command = [sys.executable, "-c", code]
    ran = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 2
    assert "pip install 'kbnf-toolkit[lsp]'" in ran.stderr
    assert "Traceback" not in ran.stderr
