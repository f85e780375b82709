"""The playground as a process, at the address that it prints, and a browser to open it in.

Browsers need `pip install playwright` and a Chromium, found on the path or named by KBNF_CHROMIUM.
"""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
JSON = ROOT / "grammars" / "json.kbnf"
STATIC = ROOT / "kbnf_cli" / "web" / "static"


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
        """Interrupt it and its workers, as a terminal does; return its exit status and stderr."""
        os.killpg(self.process.pid, signal.SIGINT)
        _, told = self.process.communicate(timeout=30)
        return self.process.returncode, told.decode()


@pytest.fixture(scope="module")
def playground() -> Iterator[Playground]:
    pytest.importorskip("uvicorn", reason="needs the extra `web`")
    playground = Playground(JSON)
    yield playground
    playground.interrupt()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Return a headless Chromium, as playwright has it."""
    api = pytest.importorskip("playwright.sync_api", reason="needs `pip install playwright`")
    named = [os.environ.get("KBNF_CHROMIUM"), *map(shutil.which, ("chromium", "google-chrome"))]
    program = next(filter(None, named), None)
    if program is None:
        pytest.skip("needs a Chromium on the path, or named by KBNF_CHROMIUM")
    with api.sync_playwright() as playwright:
        # In a container there is no second sandbox to be had.
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


Open = Callable[..., Any]


@pytest.fixture
def opened(browser: Any) -> Iterator[Open]:
    """Return what opens a page at an address; what its console complains of fails the test."""
    with opening(browser) as open_page:
        yield open_page


@contextmanager
def opening(browser: Any) -> Iterator[Open]:
    contexts: list[Any] = []
    complaints: list[str] = []

    def open_page(address: str, width: int = 1280, height: int = 800, scheme: str = "light") -> Any:
        context = browser.new_context(
            color_scheme=scheme,
            viewport={"width": width, "height": height},
            permissions=["clipboard-read", "clipboard-write"],
        )
        contexts.append(context)
        page = context.new_page()
        own = address.partition("#")[0]
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: complaints.append(message.text))
        page.on("request", lambda sent: complaints.extend(_elsewhere(sent.url, own)))
        page.goto(address)
        page.locator("#verdict:not(:empty)").wait_for(timeout=60_000)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


def _elsewhere(url: str, own: str) -> list[str]:
    return [] if url.startswith(own) else [url]


def run_in_node(script: str, *arguments: str, given: str = "", timeout: float = 60) -> str:
    """Return what a script of this folder prints, ``given`` its stdin."""
    if shutil.which("node") is None:
        pytest.skip("needs Node")
    command = ["node", str(Path(__file__).with_name(script)), *arguments]
    done = subprocess.run(
        command, input=given, capture_output=True, text=True, check=False, timeout=timeout
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout
