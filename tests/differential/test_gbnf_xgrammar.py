"""Converted grammars decide like xgrammar, on examples, on random members and on near misses.

Every grammar goes KBNF -> GBNF -> xgrammar, those of GBNF by way of KBNF, which also takes what
xgrammar's dialect lacks (empty alternatives, stacked operators, raw line breaks) out of them.
``.`` xgrammar does not know, so it is written as a class; token references it has no form for.
"""

import json
import re
from pathlib import Path
from random import Random
from typing import Any

import pytest

from kbnf_core import Config, Engine
from kbnf_core.convert import from_gbnf, to_gbnf
from kbnf_testing.data import DATA, SPEC
from kbnf_testing.membership import BYTES, Language

xgrammar = pytest.importorskip("xgrammar", reason="the peer is an extra of the tests")

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = [
    json.loads(line) for line in (SPEC / "examples-gbnf.jsonl").read_text("utf-8").splitlines()
]
VALID = [e for e in EXAMPLES if not e.get("invalid") and len(e["grammar"]) < 1_000]
FILES = sorted((DATA / "gbnf" / "valid").glob("*.gbnf"))
GRAMMARS = sorted((ROOT / "grammars").glob("*.kbnf"))
LONGEST = 40
MEMBERS = 12

WORD = re.compile(r'"(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\]|#[^\n]*|\.')
ANY = "[\\u0001-\\U0010FFFF]"


def differences(kbnf: str, texts: list[str]) -> list[str]:
    """Return the texts, given or random, on which xgrammar decides differently."""
    peer = xgrammar.Grammar.from_ebnf(without_dots(to_gbnf(kbnf).text))
    accepts = xgrammar.testing._is_grammar_accept_string
    language = Language(kbnf)
    drawn = [*texts, *random_texts(kbnf, Random(kbnf))]
    return [text for text in drawn if accepts(peer, text) != language.has(text)]


def without_dots(gbnf: str) -> str:
    """Return ``gbnf`` with a class for every ``.``."""
    return WORD.sub(lambda word: ANY if word[0] == "." else word[0], gbnf)


def random_texts(kbnf: str, random: Random) -> list[str]:
    """Return texts made by walking the automaton, and each with one character changed."""
    engine = Engine(kbnf, BYTES, Config(finish="eos"))
    texts = [text for _ in range(MEMBERS) if (text := walk(engine, random)) is not None]
    return [*texts, *(spoiled(text, random) for text in texts)]


def walk(engine: Engine, random: Random) -> str | None:
    """Return a random text; it is a member if a walk comes to an end soon enough."""
    engine.reset()
    data = bytearray()
    while len(data) < LONGEST and not (engine.can_finish() and random.random() < 0.3):
        engine.compute_allowed_token_ids()
        allowed = engine.get_allowed_token_ids_from_last_computation()
        allowed = [byte for byte in allowed if 0 < byte < 256]
        if not allowed:
            break
        data.append(random.choice(allowed))
        engine.try_accept_new_bytes(bytes(data[-1:]))
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def spoiled(text: str, random: Random) -> str:
    """Return ``text`` with one character left out, doubled, or replaced."""
    place = random.randrange(len(text)) if text else 0
    char = text[place : place + 1]
    return text[:place] + random.choice(("", char * 2, "x", "é")) + text[place + 1 :]


@pytest.mark.parametrize("example", VALID, ids=lambda example: example["note"][:40])
def test_example(example: dict[str, Any]) -> None:
    kbnf = from_gbnf(example["grammar"]).text
    assert differences(kbnf, example["accept"] + example["reject"]) == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_real_gbnf(path: Path) -> None:
    samples = path.with_suffix(".samples.json")
    wanted = json.loads(samples.read_text("utf-8")) if samples.exists() else {}
    texts = [*wanted.get("accept", ()), *wanted.get("reject", ())]
    assert differences(from_gbnf(path.read_text("utf-8")).text, texts) == []


@pytest.mark.parametrize(
    "path",
    [
        # xgrammar takes a quarter of a minute for this one.
        pytest.param(path, marks=[pytest.mark.slow] if path.stem == "reasoned_answer" else ())
        for path in GRAMMARS
    ],
    ids=lambda path: path.stem,
)
def test_own_grammar(path: Path) -> None:
    assert differences(path.read_text("utf-8"), []) == []
