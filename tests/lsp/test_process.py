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

    def begin(self, **workspace: object) -> None:
        """Open a session."""
        parameters = {"capabilities": {}, "processId": None, "rootUri": None, **workspace}
        self.ask("initialize", parameters)
        self.tell("initialized", {})

    def open(self, name: str, text: str) -> None:
        """Open a text that is in no file, or in that of a URI."""
        document = {"uri": uri_of(name), "languageId": "kbnf", "version": 0, "text": text}
        self.tell("textDocument/didOpen", {"textDocument": document})

    def type(self, name: str, text: str, version: int) -> None:
        """Replace an open text."""
        document = {"uri": uri_of(name), "version": version}
        changes = {"textDocument": document, "contentChanges": [{"text": text}]}
        self.tell("textDocument/didChange", changes)

    def published(self, name: str) -> dict[str, Any]:
        """Return what is published next of a text; what comes before is dropped."""
        while True:
            parameters = self._read().get("params") or {}
            if "diagnostics" in parameters and parameters["uri"] == uri_of(name):
                return {**parameters}

    def findings(self, name: str) -> list[dict[str, Any]]:
        """Return the next findings of a text."""
        return [*self.published(name)["diagnostics"]]

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


def uri_of(name: str) -> str:
    return name if name.startswith("file:") else f"untitled:{name}"


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
    assert "Traceback" not in server.end()


def test_what_is_refused_leaves_no_trace_on_stderr(server: Server) -> None:
    """It is in the answer."""
    server.begin()
    server.open("a.kbnf", "start ::= 'a';")
    assert server.findings("a.kbnf") == []
    renaming = {
        "textDocument": {"uri": "untitled:a.kbnf"},
        "position": {"line": 0, "character": 1},
        "newName": "no name",
    }
    assert (
        server.ask("textDocument/rename", renaming)["error"]["message"] == "`no name` is not a name"
    )
    server.tell("textDocument/didChange", {"odd": 1})
    assert server.ask("no/such", {})["error"]
    assert "Traceback" not in server.end()


def test_findings_name_the_version_that_they_are_of(server: Server) -> None:
    server.begin()
    server.open("a.kbnf", "start ::= nope;")
    assert server.published("a.kbnf")["version"] == 0
    for version in (1, 5, 9):
        server.type("a.kbnf", f"start ::= nope{version};", version)
    published = server.published("a.kbnf")
    assert published["version"] == 9
    assert "nope9" in published["diagnostics"][0]["message"]


@pytest.mark.parametrize("workspace", ["folders", "root", "path", "none"])
def test_settings_of_every_kind_of_workspace(
    server: Server, workspace: str, tmp_path: Path
) -> None:
    """The nearest above a file, as `kbnf check` has it; of a workspace, none above that."""
    root = tmp_path / "work"
    (root / "below").mkdir(parents=True)
    (tmp_path / "kbnf.toml").write_text('ignore = ["E101"]\n')
    (root / "word.lark").write_text('WORD: "x"\n')
    kinds: dict[str, dict[str, object]] = {
        "folders": {"workspaceFolders": [{"uri": root.as_uri(), "name": "work"}]},
        "root": {"rootUri": root.as_uri()},
        "path": {"rootPath": str(root)},
        "none": {},
    }
    server.begin(**kinds[workspace])
    name = (root / "below" / "a.kbnf").as_uri()
    server.open(name, "start ::= nope;")
    assert codes(server.findings(name)) == ([] if workspace == "none" else ["E101"])
    (root / "kbnf.toml").write_text('ignore = ["E101"]\n')
    server.type(name, "start ::= nope2;", 1)
    assert codes(server.findings(name)) == []
    importing = (root / "below" / "a.lark").as_uri()
    server.open(importing, "%import ..word.WORD\nstart: WORD\n")
    assert codes(server.findings(importing)) == (["E422"] if workspace == "none" else [])


def test_settings_of_a_file_outside_of_the_workspace(server: Server, tmp_path: Path) -> None:
    for name in ("work", "other"):
        (tmp_path / name).mkdir()
    (tmp_path / "other" / "kbnf.toml").write_text('ignore = ["E101"]\n')
    server.begin(rootUri=(tmp_path / "work").as_uri())
    outside = (tmp_path / "other" / "a.kbnf").as_uri()
    server.open(outside, "start ::= nope;")
    assert codes(server.findings(outside)) == []


@pytest.mark.ci
def test_a_workspace_of_ten_thousand_files(server: Server, tmp_path: Path) -> None:
    """Files that are not open cost nothing."""
    for number in range(10_000):
        folder = tmp_path / f"{number % 100}"
        folder.mkdir(exist_ok=True)
        (folder / f"{number}.kbnf").write_text(f"start ::= nope{number};")
    server.begin(workspaceFolders=[{"uri": tmp_path.as_uri(), "name": "work"}])
    names = [(tmp_path / f"{number % 100}/{number}.kbnf").as_uri() for number in range(200)]
    for number, name in enumerate(names):
        server.open(name, f"start ::= nope{number};")
    assert codes(server.findings(names[-1])) == ["E101"]
    server.type(names[0], "start ::= 'a';", 1)
    assert server.findings(names[0]) == []


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


@pytest.mark.parametrize(
    "junk",
    [
        b"\0" * 1_000,
        b"Content-Length: 99999999999999999999\r\n\r\n",
        b"Content-Length: " + b"9" * 5_000 + b"\r\n\r\n{}",
        b"Content-Length: 1000000000\r\n\r\n{}\r\n",
        b"Content-Length: 5\r\n\r\n\0\0\0\0\0",
        b"Content-Length: -5\r\n\r\n",
    ],
)
def test_what_is_no_message_is_passed_over(junk: bytes, server: Server) -> None:
    assert server.process.stdin is not None
    server.process.stdin.write(junk)
    server.process.stdin.flush()
    answer = server.ask("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
    assert "capabilities" in answer["result"]
