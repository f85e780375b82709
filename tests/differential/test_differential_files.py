"""Real grammars out of the reference's own test suites, with samples where there are any.

Both engines get one token a byte; at every place of a text their masks must be the same.
"""

import json
from pathlib import Path
from random import Random

import pytest

from kbnf_core import Config, Engine, Vocabulary
from kbnf_core.text.errors import GrammarError
from kbnf_testing import subject
from kbnf_testing.blame import known_differences
from kbnf_testing.corpus import BYTE_TOKENS
from kbnf_testing.data import DATA
from kbnf_testing.peer import Answer, Peer, PeerStep
from kbnf_testing.walk import Outcome

_FILES = sorted((DATA / "kbnf").glob("*.kbnf"))
_BYTES = {value: bytes([value]) for value in range(256)}
_FINISH = {"0.2.9": "eager", "0.4.2": "token"}

pytestmark = [
    pytest.mark.differential,
]


def _samples(path: Path) -> dict[str, list[str]]:
    found = path.with_suffix(".samples.json")
    return json.loads(found.read_text(encoding="utf-8")) if found.exists() else {}


_SAMPLED = [path for path in _FILES if _samples(path)]


def _stem(path: Path) -> str:
    return path.stem


@pytest.mark.parametrize("version", _FINISH)
@pytest.mark.parametrize("path", _FILES, ids=_stem)
def test_same_answers(path: Path, version: str, peers: dict[str, Peer]) -> None:
    grammar = path.read_text(encoding="utf-8")
    alike = _is_alike(path, grammar, peers[version])
    listed = f"file/{path.stem}" in known_differences(version).always
    assert alike != listed, "gone: take it off the list" if listed else "differs"


def _is_alike(path: Path, grammar: str, peer: Peer) -> bool:
    engine = _engine(grammar, _FINISH[peer.version])
    if engine is None:
        said = peer.run(grammar, _BYTES, [], timeout=30)
        return bool(said.error) and not said.crashed
    return all(
        peer.run(grammar, _BYTES, list(text), timeout=30) == _walk(engine, text)
        for text in _texts(path, engine)
    )


@pytest.mark.parametrize("path", _SAMPLED, ids=_stem)
def test_samples(path: Path) -> None:
    grammar = path.read_text(encoding="utf-8")
    samples = _samples(path)
    for text in samples["accept"]:
        assert _finishes(grammar, text), text
    for text in samples["reject"]:
        assert not _finishes(grammar, text), text


def _finishes(grammar: str, text: str) -> bool:
    engine = subject.engine_of(grammar, BYTE_TOKENS, "token")
    outcomes = [subject.offer_bytes(engine, bytes([value])) for value in text.encode()]
    return outcomes[-1:] == [Outcome.FINISHED] and set(outcomes[:-1]) <= {Outcome.ONGOING}


def _engine(grammar: str, finish: str) -> Engine | None:
    try:
        return Engine(grammar, Vocabulary(_BYTES), Config(finish=finish))
    except GrammarError:
        return None


def _texts(path: Path, engine: Engine) -> list[bytes]:
    """Return the samples, and what a few random walks of the engine write."""
    samples = _samples(path)
    texts = [text.encode() for text in [*samples.get("accept", []), *samples.get("reject", [])]]
    return texts + [_random_text(engine, Random(seed)) for seed in range(3)]


def _random_text(engine: Engine, random: Random) -> bytes:
    engine.reset()
    text = b""
    while len(text) < 40 and (allowed := subject.allowed(engine)):
        # Letters and marks keep a walk going longer than bytes of all kinds.
        plain = [value for value in allowed if 32 <= value < 127]
        text += bytes([random.choice(plain or allowed)])
        engine.try_accept_new_bytes(text[-1:])
    return text


def _walk(engine: Engine, text: bytes) -> Answer:
    engine.reset()
    initial = tuple(subject.allowed(engine))
    steps = tuple(
        PeerStep(subject.offer(engine, value).value, tuple(subject.allowed(engine)))
        for value in text
    )
    return Answer(initial=initial, steps=steps)
