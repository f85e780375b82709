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

from kbnf_cli.lsp.analysis import LIMITS
from kbnf_core.text.errors import install_command
from kbnf_testing.alive import descendants, is_alive

INVALID_PARAMETERS = -32602

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
        """Open a session."""
        self.ask("initialize", {"capabilities": {}, "processId": None, "rootUri": None})
        self.tell("initialized", {})

    def open(self, name: str, text: str) -> None:
        """Open a text that is in no file."""
        document = {"uri": f"untitled:{name}", "languageId": "kbnf", "version": 0, "text": text}
        self.tell("textDocument/didOpen", {"textDocument": document})

    def findings(self, name: str) -> list[dict[str, Any]]:
        """Return the next findings of a text; what comes before is dropped."""
        while True:
            message = self._read()
            parameters = message.get("params") or {}
            if "diagnostics" in parameters and parameters["uri"] == f"untitled:{name}":
                return [*parameters["diagnostics"]]

    def end(self) -> str:
        """End the session; return what was written to stderr."""
        assert self.ask("shutdown", None)["result"] is None
        self.tell("exit", None)
        _, told = self.process.communicate(timeout=30)
        assert self.process.returncode == 0
        return told.decode()

    def children(self) -> list[int]:
        """Return the processes that this one has started."""
        return sorted(descendants(self.process.pid))


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.process.kill()
    server.process.communicate()


def test_shutdown_ends_what_is_under_way(server: Server) -> None:
    server.begin()
    server.open("a.kbnf", SLOW)
    time.sleep(1)
    assert "resource_tracker" not in server.end()


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="finds processes in /proc")
def test_nothing_outlives_a_killed_server(server: Server) -> None:
    server.begin()
    server.open("a.kbnf", SLOW)
    deadline = time.monotonic() + 30
    while not (children := server.children()) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert children
    time.sleep(1)
    os.kill(server.process.pid, signal.SIGKILL)
    deadline = time.monotonic() + 30
    while any(map(is_alive, children)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(map(is_alive, children))


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="finds processes in /proc")
def test_texts_whose_process_hangs_or_is_killed_are_looked_at_again(server: Server) -> None:
    server.begin()
    server.open("a.kbnf", "start ::= nope;")
    assert codes(server.findings("a.kbnf")) == ["E101"]
    [worker] = server.children()
    os.kill(worker, signal.SIGSTOP)
    server.open("b.kbnf", "start ::= nope;")
    server.open("c.kbnf", "start ::= nope;")
    # The first of them has its turn, then the process is replaced, for both.
    assert codes(server.findings("c.kbnf")) == ["E101"]
    assert codes(server.findings("b.kbnf")) == ["E101"]
    [other] = server.children()
    assert other != worker
    os.kill(other, signal.SIGKILL)
    server.open("d.kbnf", "start ::= nope;")
    assert codes(server.findings("d.kbnf")) == ["E101"]
    assert "resource_tracker" not in server.end()


def codes(found: list[dict[str, Any]]) -> list[str | None]:
    return [each.get("code") for each in found]


def test_a_text_that_is_too_large_is_a_finding(server: Server) -> None:
    server.begin()
    server.open("a.kbnf", "start ::= '" + "a" * LIMITS.source_bytes + "';")
    assert codes(server.findings("a.kbnf")) == ["E017"]


POSITIONS: list[object] = [
    {"line": -1, "character": 0},
    {"line": 2**31, "character": 0},
    {"line": "a", "character": 0},
    {"line": 0},
    None,
]


@pytest.mark.parametrize(
    "method",
    ["hover", "definition", "references", "rename", "completion", "codeAction", "inlayHint"],
)
def test_parameters_that_do_not_fit_are_refused(server: Server, method: str) -> None:
    server.begin()
    server.open("a.kbnf", "start ::= nope;")
    for position in POSITIONS:
        parameters = {
            "textDocument": {"uri": "untitled:a.kbnf"},
            "position": position,
            "range": {"start": position, "end": position},
            "context": {"includeDeclaration": True, "diagnostics": []},
            "newName": "other",
        }
        answer = server.ask(f"textDocument/{method}", parameters)
        assert answer["error"]["code"] == INVALID_PARAMETERS
    assert server.ask("textDocument/hover", "odd")["error"]["code"] == INVALID_PARAMETERS
    assert server.ask("textDocument/hover", None)["error"]["code"] == INVALID_PARAMETERS


def test_a_missing_extra_is_named() -> None:
    code = (
        "import sys; sys.modules['pygls'] = None\n"
        "from kbnf_cli.main import main; sys.exit(main(['lsp']))"
    )
    command = [sys.executable, "-c", code]
    ran = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 2
    assert install_command("lsp") in ran.stderr
    assert "Traceback" not in ran.stderr
