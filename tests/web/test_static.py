"""The static page says what the toolkit says: in Node, and in a browser.

Needs Node, and the package of ``docs/page`` (``npm install`` there).
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from kbnf_cli.web.answers import answer, begin, read_question

from .conftest import ROOT, Open, run_in_node

SOURCE = ROOT / "docs" / "page"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (SOURCE / "node_modules").is_dir(), reason="needs `npm install` in docs/page"
    ),
]

TEXTS = [
    ("KBNF", path.read_text(encoding="utf-8"))
    for path in sorted((ROOT / "grammars").glob("*.kbnf"))
    if path.stem != "reasoned_answer"  # minutes in plain Python
]
OTHERS = [
    ("KBNF", "start ::= '😀' unknown;\n"),
    ("KBNF", "start ::= #'\\p{Greek}+' #'(?i)straße' except!('end', 50);\n"),
    ("GBNF", 'root ::= "a" [0-9]+ | missing\n'),
    ("GBNF", 'root ::= "a" [0-9]+\n'),
    ("Lark", 'start: "a" NAME | "b"\nNAME: /[a-z]+/i\n%import common.INT\n'),
    ("Lark", "%import .file (x)\nstart: x\n"),
    ("BNF", "<start> ::= 'a'<start> | 'b'\n"),
    ("ABNF", 'start = "a" 1*DIGIT\n'),
    ("ANTLR", "grammar G;\nstart : 'a'+ NAME;\nNAME : [a-z]+;\nWS : ' ' -> skip;\n"),
    ("EBNF", 'start ::= "a" [b-z]* | missing\n'),
]
SAID_BY_THE_ENGINE = {"W307", "W403"}
"""W307 takes it to be found, W403 to be ruled out."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the built page."""
    folder = tmp_path_factory.mktemp("page")
    subprocess.run([sys.executable, str(SOURCE / "build.py"), str(folder)], check=True)
    return folder


def questions() -> list[dict[str, str]]:
    return [
        {"grammar": text, "language": language, "show": show}
        for language, text in (*TEXTS, *OTHERS)
        for show in ("explanation", "diagram", "KBNF")
    ]


def comparable(value: Any) -> Any:
    """Leave out what takes the engine."""
    if isinstance(value, dict):
        return {key: comparable(each) for key, each in value.items()}
    if isinstance(value, list):
        kept = (each for each in value if not isinstance(each, dict) or not _is_left_out(each))
        return [comparable(each) for each in kept]
    return value


def _is_left_out(value: dict[str, Any]) -> bool:
    return value.get("code") in SAID_BY_THE_ENGINE


def test_the_page_says_what_the_toolkit_says(site: Path, tmp_path: Path) -> None:
    asked = [None, *questions()]
    file = tmp_path / "questions.json"
    file.write_text(json.dumps(asked), encoding="utf-8")
    begun, *found = json.loads(run_in_node("in_node.mjs", str(site), str(file), timeout=500))
    assert begun["examples"] == json.loads(json.dumps(begin()))["examples"]
    assert begun["languages"] == ["KBNF", "GBNF", "BNF", "Lark", "ABNF", "ANTLR", "EBNF"]
    for question, value in zip(questions(), found, strict=True):
        *_, expected = answer(read_question(question, {"bytes": ("bytes", ())}))
        assert comparable(value) == comparable(expected), question


@pytest.fixture
def address(site: Path) -> Iterator[str]:
    """Serve the page."""
    handler = partial(SimpleHTTPRequestHandler, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def test_a_reader_uses_the_page(address: str, opened: Open) -> None:
    from playwright.sync_api import expect

    page = opened(address)
    expect(page.locator("#verdict")).to_have_text("no findings")
    page.locator("#grammar").fill("start ::= '😀' unknown;\n")
    expect(page.locator("#findings .error")).to_contain_text("`unknown` is not defined")
    page.locator("#grammar").fill("start ::= 'a'+   'b';\n")
    page.get_by_role("button", name="Format").click()
    expect(page.locator(".result")).to_have_text("start ::= 'a'+ 'b';")
    page.get_by_role("button", name="To GBNF").click()
    expect(page.locator(".result")).to_contain_text('root ::= "a"+ "b"')
    page.get_by_role("button", name="Diagram").click()
    expect(page.locator("figure svg")).to_have_count(1)
    expect(page.get_by_role("button", name="Other engines")).to_have_count(0)
    for name in ("Texts", "Tokens"):
        page.get_by_role("tab", name=name).click()
        expect(page.locator(".needs:visible")).to_contain_text("kbnf play --web")
    expect(page.locator("#trouble")).to_be_hidden()
    # A link holds the grammar, and what was shown.
    other = opened(page.url)
    expect(other.locator("#grammar")).to_have_value("start ::= 'a'+   'b';\n")
    other.get_by_role("tab", name="Grammar").click()
    expect(other.locator("figure svg")).to_have_count(1)
