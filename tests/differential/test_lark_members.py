"""Converted Lark grammars against llguidance and lark, on members and near misses at random.

The members are drawn from our own engine, so a conversion that takes too much shows itself; near
misses are a character away from them.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from kbnf_core.convert import Conversion
from kbnf_testing.data import SPEC
from kbnf_testing.lark_files import FILES, SLOW, file_converted, lexing_of, shown, start_of
from kbnf_testing.lark_peers import Accepts, lark_accepts, llguidance_accepts
from kbnf_testing.lark_subject import LEXING, accepts_of, converted
from kbnf_testing.lark_texts import all_near

EXAMPLES = SPEC / "examples-lark.jsonl"
CASES: list[dict[str, Any]] = [
    json.loads(line) for line in EXAMPLES.read_text("utf-8").splitlines()
]
VALID = [case for case in CASES if not case.get("invalid")]


def differing(conversion: Conversion, peer: Accepts, seed: int) -> list[str]:
    """Return texts that one takes and the other refuses; with a loss we may take more."""
    ours = accepts_of(conversion.text)
    texts = all_near(conversion.text, seed, count=6, misses=5)
    assert texts
    if conversion.exact:
        return [text for text in texts if ours(text) != peer(text)]
    return [text for text in texts if peer(text) and not ours(text)]


@pytest.mark.parametrize("case", VALID, ids=lambda case: str(case["grammar"]))
def test_examples_agree(case: dict[str, Any]) -> None:
    grammar, lexing = case["grammar"], LEXING.get(case.get("mode", ""), "llguidance")
    conversion = converted(grammar, lexing)
    if isinstance(conversion, set):
        assert conversion == {"E105"}
        return
    peer = llguidance_accepts(grammar) if lexing == "llguidance" else lark_accepts(grammar, lexing)
    assert differing(conversion, peer, seed=1) == []


@pytest.mark.parametrize(
    "path",
    [pytest.param(p, marks=[pytest.mark.slow] if p.stem in SLOW else []) for p in FILES],
    ids=shown,
)
def test_real_files_agree(path: Path) -> None:
    conversion = file_converted(path)
    if isinstance(conversion, set):
        return
    text = path.read_text("utf-8")
    if lexing_of(path) == "llguidance":
        peer = llguidance_accepts(text)
    else:
        peer = lark_accepts(text, "earley", start_of(path) or "start", str(path))
    assert differing(conversion, peer, seed=2) == []
