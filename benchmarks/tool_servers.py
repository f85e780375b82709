"""Lists of tools of public servers: ``python -m benchmarks.tool_servers FOLDER``.

Each server of ``tool_servers.json`` (a package of npm with a fixed version, its licence, and its
arguments) is started in an empty folder, with placeholders for the keys that servers ask for. Its
answer to MCP's ``tools/list`` becomes ``FOLDER/NAME.json``, unless that file exists.
"""

import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Mapping
from contextlib import closing, suppress
from importlib.metadata import version
from pathlib import Path
from threading import Timer
from typing import IO, Any, cast

import click

SERVERS = Path(__file__).with_name("tool_servers.json")
PROTOCOL = "2025-06-18"
_TO_ANSWER = 120.0
"""Seconds for a server, with the download of its package."""

_MOST_TOOLS = 10_000


class Server:
    """A server that is started in a folder, and speaks JSON-RPC in lines."""

    def __init__(self, command: list[str], environment: Mapping[str, str], folder: str) -> None:
        self._process = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, **environment, "HOME": folder},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._timer = Timer(_TO_ANSWER, os.killpg, (self._process.pid, signal.SIGKILL))
        self._timer.start()
        self._calls = 0

    def send(self, message: dict[str, Any]) -> None:
        """Send a message."""
        stdin = cast("IO[bytes]", self._process.stdin)
        stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        stdin.flush()

    def call(self, method: str, **params: Any) -> Any:
        """Return the result of a method. Raises ``OSError`` where there is none."""
        self._calls += 1
        self.send({"id": self._calls, "method": method, "params": params})
        for line in cast("IO[bytes]", self._process.stdout):
            try:
                message = json.loads(line)
            except ValueError:  # What it logs.
                continue
            if isinstance(message, dict) and message.get("id") == self._calls:
                if "result" in message:
                    return message["result"]
                break
        raise OSError(f"no result of {method}")

    def close(self) -> None:
        """End the server, and what it has started."""
        self._timer.cancel()
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


def tools_of(command: list[str], environment: Mapping[str, str]) -> list[Any]:
    """Return the tools of a server. Raises ``OSError`` where it does not answer."""
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(Server(command, environment, folder)) as (server),
    ):
        client = {"name": "kbnf", "version": version("kbnf-toolkit")}
        server.call("initialize", protocolVersion=PROTOCOL, capabilities={}, clientInfo=client)
        server.send({"method": "notifications/initialized"})
        tools: list[Any] = []
        page = server.call("tools/list")
        while page.get("nextCursor") and len(tools) < _MOST_TOOLS:
            tools += page["tools"]
            page = server.call("tools/list", cursor=page["nextCursor"])
        return [*tools, *page["tools"]]


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
def main(folder: Path) -> None:
    """Write the list of each server that has none in FOLDER."""
    folder.mkdir(exist_ok=True)
    listed = json.loads(SERVERS.read_text(encoding="utf-8"))
    for each in listed["servers"]:
        file = folder / f"{each['name']}.json"
        if file.exists():
            continue
        try:
            command = ["npx", "--yes", each["package"], *each.get("arguments", ())]
            tools = tools_of(command, listed["environment"])
        except OSError as error:
            print(f"{each['name']}: {error}", flush=True)
            continue
        file.write_text(json.dumps({"tools": tools}), encoding="utf-8")
        print(f"{each['name']}: {len(tools)} tools", flush=True)


if __name__ == "__main__":
    main()
