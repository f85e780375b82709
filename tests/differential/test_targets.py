"""Which constructs engines take, asked again: `kbnf check --target` says what is stored of it.

``pytest tests/differential/test_targets.py --update-golden`` stores the answers.
"""

import json
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from random import Random

import pytest

from kbnf_core import check
from kbnf_core.convert import to_gbnf
from kbnf_core.languages.gbnf.parse import parse_gbnf
from kbnf_core.lint import LintOptions
from kbnf_core.text.source import Source
from kbnf_testing.data import DATA
from kbnf_testing.peer import Peer
from kbnf_testing.target_verdicts import (
    Verdicts,
    kbnf_verdicts,
    llama_takes,
    llama_verdicts,
    llguidance_verdicts,
    xgrammar_takes,
    xgrammar_verdicts,
)

STORED = Path(__file__).resolve().parents[1] / "golden" / "lint" / "targets.json"
_LLAMA = Path(__file__).with_name("llama_cpp.py")
_LLAMA_VERSION = "0.3.36"
_CHECKER = (
    Path(__file__).resolve().parents[2]
    / ".peers"
    / f"llama-cpp-python-{_LLAMA_VERSION}"
    / "gbnf-check"
)

REAL = sorted((DATA / "gbnf").rglob("*.gbnf"))

pytestmark = pytest.mark.differential
needs_llama = pytest.mark.skipif(
    not _CHECKER.exists(), reason="tests/differential/llama_cpp.py has not made llama.cpp's parser"
)


def _compare(request: pytest.FixtureRequest, target: str, engine: str, found: Verdicts) -> None:
    stored = json.loads(STORED.read_text(encoding="utf-8"))
    if request.config.getoption("--update-golden"):
        stored[target] = {"engine": engine, "verdicts": found}
        text = json.dumps(stored, indent=2, sort_keys=True, ensure_ascii=False)
        STORED.write_text(f"{text}\n", encoding="utf-8")
    assert {"engine": engine, "verdicts": found} == stored[target]


@pytest.mark.parametrize(("target", "number"), [("kbnf-0.2", "0.2.9"), ("kbnf-0.4", "0.4.2")])
def test_kbnf(
    request: pytest.FixtureRequest, peers: dict[str, Peer], target: str, number: str
) -> None:
    _compare(request, target, f"kbnf {number}", kbnf_verdicts(peers[number]))


def test_llguidance(request: pytest.FixtureRequest) -> None:
    pytest.importorskip("llguidance")
    engine = f"llguidance {version('llguidance')}"
    _compare(request, "llguidance", engine, llguidance_verdicts())


def test_xgrammar(request: pytest.FixtureRequest) -> None:
    pytest.importorskip("xgrammar")
    _compare(request, "xgrammar", f"xgrammar {version('xgrammar')}", xgrammar_verdicts())


def _has_errors(path: Path, target: str) -> bool:
    options = LintOptions(targets=(target,))
    text = path.read_bytes().decode("utf-8")
    return any(each.code[0] == "E" for each in check(text, str(path), options=options))


@pytest.mark.parametrize("path", REAL, ids=lambda path: path.name)
def test_real_gbnf_in_xgrammar(path: Path) -> None:
    pytest.importorskip("xgrammar")
    taken = xgrammar_takes(path.read_bytes().decode("utf-8"))
    assert taken != _has_errors(path, "xgrammar")


@needs_llama
@pytest.mark.parametrize("path", REAL, ids=lambda path: path.name)
def test_real_gbnf_in_llama_cpp(path: Path) -> None:
    if path.stem == "llama_think_tokens":
        pytest.skip("names of tokens need a model")
    taken = llama_takes(_CHECKER, path.read_bytes().decode("utf-8"))
    assert taken != _has_errors(path, "llama.cpp")


_NAMES = "abcd"


def _random_rule(random: Random, depth: int, quote: str) -> str:
    """Return a rule with counts, in GBNF or, with `'`, in KBNF."""
    kind = random.random()
    if depth == 0 or kind < 0.25:
        return str(random.choice([f"{quote}x{quote}", f"{quote}xyz{quote}", *_NAMES]))
    if kind < 0.5:
        parts = (_random_rule(random, depth - 1, quote) for _ in range(random.randint(1, 3)))
        return " ".join(parts)
    inner = _random_rule(random, depth - 1, quote)
    if kind < 0.6:
        return f"({inner} | {_random_rule(random, depth - 1, quote)})"
    low = random.choice((0, 1, 3, 40, 200))
    high = low + random.choice((1, 5, 50, 500, 1200))
    counts = ("*", "+", "?", f"{{{low or 2}}}", f"{{{low},}}", f"{{{low},{high}}}")
    return f"({inner}){random.choice(counts)}"


@needs_llama
def test_which_counts_llama_cpp_takes() -> None:
    random = Random(1)
    refused = 0
    for _ in range(300):
        text = 'root ::= "s" ' + _random_rule(random, 3, '"') + "\n"
        text += "".join(f'{name} ::= "q"\n' for name in _NAMES)
        codes = {each.code for each in parse_gbnf(Source(text)).diagnostics}
        refused += "W414" in codes
        assert llama_takes(_CHECKER, text) == ("W414" not in codes), text
    assert refused > 5


@needs_llama
def test_llama_cpp_takes_the_counts_that_are_written() -> None:
    random = Random(2)
    for _ in range(200):
        text = "start ::= 's' " + _random_rule(random, 3, "'") + ";\n"
        text += "".join(f"{name} ::= 'q'{{0,1500}} 'r' | '{name}' {name};\n" for name in _NAMES)
        assert llama_takes(_CHECKER, to_gbnf(text, start="start").text), text


@needs_llama
def test_llama_cpp(request: pytest.FixtureRequest) -> None:
    made = subprocess.run([sys.executable, str(_LLAMA)], check=True, capture_output=True, text=True)
    assert Path(made.stdout.strip()) == _CHECKER
    engine = f"llama.cpp in llama-cpp-python {_LLAMA_VERSION}"
    _compare(request, "llama.cpp", engine, llama_verdicts(_CHECKER))
