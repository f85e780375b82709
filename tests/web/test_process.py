"""``kbnf play --web`` as a process: what it prints, how it ends, what it refuses."""

import asyncio
import json
import socket
import subprocess
import sys
import urllib.request
from contextlib import ExitStack
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="needs the extra `web`")
pytest.importorskip("starlette", reason="needs the extra `web`")

import uvicorn
from starlette.responses import PlainTextResponse
from starlette.types import Message, Receive, Scope, Send

from kbnf_cli.web import server
from kbnf_cli.web.server import MAX_CONNECTIONS, Connection

from .conftest import JSON, Playground


def ask(playground: Playground, path: str, value: object) -> dict[str, object]:
    """Ask as the page does."""
    headers = {"Origin": playground.address.rstrip("/"), "X-Kbnf-Token": playground.token}
    data = json.dumps(value).encode()
    request = urllib.request.Request(playground.address + path, data, headers)  # noqa: S310
    with urllib.request.urlopen(request, timeout=60) as reply:  # noqa: S310
        found: dict[str, object] = json.load(reply)
    return found


def test_it_serves_on_loopback_until_it_is_interrupted() -> None:
    playground = Playground(JSON, "--start", "value")
    assert playground.url.startswith("http://127.0.0.1:")
    assert len(playground.token) > 40
    begun = ask(playground, "begin", {})
    assert begun["grammar"] == JSON.read_text(encoding="utf-8")
    assert (begun["start"], begun["vocabularies"]) == ("value", ["bytes"])
    question = {"grammar": begun["grammar"], "text": "[1", "vocabulary": "bytes"}
    assert ask(playground, "ask", question)["is_checked"]
    status, told = playground.interrupt()
    assert status == 0
    assert told == "open this address in a browser; Ctrl-C ends the server\n"


def test_another_host_is_warned_of_and_has_a_token_of_its_own() -> None:
    first, second = Playground(), Playground("--host", "0.0.0.0")  # noqa: S104
    assert first.token != second.token
    assert first.interrupt()[1].startswith("open this address")
    assert second.interrupt()[1].startswith("warning: other machines may reach this host")


def test_a_project_s_settings_are_part_of_what_the_page_begins_with(tmp_path: Path) -> None:
    (tmp_path / "kbnf.toml").write_text('finish = "eos"\n', encoding="utf-8")
    (tmp_path / "a.kbnf").write_text("start ::= #'[0-9]+'\n", encoding="utf-8")
    playground = Playground(tmp_path / "a.kbnf")
    assert ask(playground, "begin", {})["finish"] == "eos"
    playground.interrupt()


def test_a_schema_stays_in_its_language(tmp_path: Path) -> None:
    schema = '{"type": "object", "properties": {"city": {"type": "string"}}}'
    (tmp_path / "s.json").write_text(schema, encoding="utf-8")
    playground = Playground(tmp_path / "s.json")
    begun = ask(playground, "begin", {})
    playground.interrupt()
    assert (begun["language"], begun["grammar"]) == ("JSON Schema", schema)
    # The page has no options, so that it shows what the schema means with these.
    playground = Playground(tmp_path / "s.json", "--order", "any")
    assert ask(playground, "begin", {})["language"] == "KBNF"
    playground.interrupt()


def test_connections_without_a_request_keep_nobody_out(playground: Playground) -> None:
    port = int(playground.address.rstrip("/").rpartition(":")[2])
    question = {"grammar": "start ::= 'a';", "vocabulary": "bytes"}
    with ExitStack() as stack:
        for index in range(MAX_CONNECTIONS + 50):
            idle = stack.enter_context(socket.create_connection(("127.0.0.1", port), 30))
            if index % 2:
                idle.sendall(b"GET / HTTP/1.1\r\nHost: 127")
        assert ask(playground, "ask", question)["is_checked"]


def test_a_connection_without_a_request_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "PATIENCE", 0.3)
    begun = asyncio.Event()

    async def page(scope: Scope, receive: Receive, send: Send) -> None:
        del scope, receive
        begun.set()
        await asyncio.sleep(1.0)
        await PlainTextResponse("late")({"type": "http"}, no_more, send)

    async def no_more() -> Message:
        return {"type": "http.disconnect"}

    async def run() -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            config = uvicorn.Config(page, http=Connection, lifespan="off", log_level="critical")
            serving = uvicorn.Server(config)
            task = asyncio.create_task(serving.serve(sockets=[listener]))
            address = listener.getsockname()
            for sent in (b"", b"GET / HTTP/1.1\r\nHost: 127", b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"):
                reader, writer = await asyncio.open_connection(*address)
                writer.write(sent)
                begun.clear()
                try:
                    answer = await asyncio.wait_for(reader.read(), 60)
                except ConnectionResetError:
                    answer = b""
                # A request is answered however long that takes, then idleness counts again.
                assert (b"late" in answer) == begun.is_set() == sent.endswith(b"\r\n\r\n")
                writer.close()
            serving.should_exit = True
            await task

    asyncio.run(run())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--web", "-c", ":help"], "--web excludes -c"),
        (["--host", "0.0.0.0", "g.kbnf"], "--also-vocab and --host go with --web"),  # noqa: S104
        (["--web", "--also-vocab", "missing.json"], "missing.json"),
        (["--web", "missing.kbnf"], "missing.kbnf"),
        (["--web", "--host", "no such host"], "error: "),
    ],
)
def test_wrong_usage_is_said(arguments: list[str], said: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "kbnf_cli", "play", *arguments]
    done = subprocess.run(command, capture_output=True, check=False, timeout=60, cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr.decode()
    assert "Traceback" not in done.stderr.decode()
    assert done.stdout == b""
