"""The static page says what the toolkit says: in Node, and in a browser.

Needs Node, and the packages of ``docs/page`` (``npm install`` there); the browser is Chromium.
"""

import importlib.util
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
SOURCE = ROOT / "docs" / "page"
BROWSER = shutil.which("chromium") or shutil.which("google-chrome")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        shutil.which("node") is None or not (SOURCE / "node_modules").is_dir(),
        reason="needs Node, and `npm install` in docs/page",
    ),
]

TEXTS = [
    ("KBNF", path.read_text(encoding="utf-8"))
    for path in sorted((ROOT / "grammars").glob("*.kbnf"))
    if path.stem != "reasoned_answer"  # minutes in plain Python
]
BROKEN = [
    ("KBNF", "start ::= '😀' unknown;\n"),
    ("KBNF", "start ::= #'\\p{Greek}+' #'(?i)straße' except!('end', 50);\n"),
    ("GBNF", 'root ::= "a" [0-9]+ | missing\n'),
    ("Lark", 'start: "a" NAME | "b"\nNAME: /[a-z]+/i\n%import common.INT\n'),
    ("Lark", "%import .file (x)\nstart: x\n"),
    ("BNF", '<start> ::= "a" <start> | "b"\n'),
    ("ABNF", 'start = "a" 1*DIGIT\n'),
]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the built page."""
    folder = tmp_path_factory.mktemp("page")
    subprocess.run([sys.executable, str(SOURCE / "build.py"), str(folder)], check=True)
    return folder


def calls() -> list[list[str]]:
    read = [
        [name, text, language]
        for language, text in (*TEXTS, *BROKEN)
        for name in ("checked", "formatted", "diagram")
    ]
    to_kbnf = [
        ["converted", text, language, "KBNF"] for language, text in BROKEN if language != "KBNF"
    ]
    return [["languages"], *read, *to_kbnf]


def with_numpy() -> ModuleType:
    """Return the page's program as this Python runs it."""
    spec = importlib.util.spec_from_file_location("kbnf_page", SOURCE / "kbnf_page.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def comparable(value: dict[str, Any]) -> dict[str, Any]:
    """Leave out W307, which takes tables, and so the summary, which counts it."""
    if "findings" not in value:
        return value
    findings = [each for each in value["findings"] if each["code"] != "W307"]
    return {"findings": findings, "text": value["text"]}


def test_the_page_says_what_the_toolkit_says(page: Path, tmp_path: Path) -> None:
    asked = calls()
    file = tmp_path / "calls.json"
    file.write_text(json.dumps(asked), encoding="utf-8")
    ran = subprocess.run(
        ["node", str(HERE / "in_node.mjs"), str(page), str(file)],
        check=False,
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    here = with_numpy()
    for (name, *texts), value in zip(asked, json.loads(ran.stdout), strict=True):
        expected = json.loads(getattr(here, name)(*texts))
        assert comparable(value) == comparable(expected), (name, texts)


@pytest.fixture
def address(page: Path) -> Iterator[str]:
    """Serve the page."""
    handler = partial(SimpleHTTPRequestHandler, directory=str(page))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.mark.skipif(BROWSER is None, reason="needs Chromium")
def test_a_reader_uses_the_page(address: str, tmp_path: Path) -> None:
    puppeteer = SOURCE / "node_modules/puppeteer-core/lib/esm/puppeteer/puppeteer-core.js"
    ran = subprocess.run(
        ["node", str(HERE / "in_browser.mjs"), puppeteer, str(BROWSER), address, str(tmp_path)],
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    seen = json.loads(ran.stdout)
    assert seen.pop("complaints") == []
    assert seen.pop("finding").startswith("error[E101]: the nonterminal `unknown` is not defined")
    assert seen.pop("converted").startswith('root ::= "a"+ "b"')
    assert seen == {
        "first": "no problems in 1 file",
        "broken": "1 error in 1 file",
        "selected": "unknown",
        "formatted": "start ::= 'a'+ 'b';\n",
        "drawn": 1,
        "linked": "start ::= 'a'+   'b';\n",
        "linkedTab": "diagram",
    }
