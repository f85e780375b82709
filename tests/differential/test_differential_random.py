"""Random grammars: where an engine of reference differs from ours, the recogniser decides.

Our engine must always be right; a peer may be wrong only in a way that is listed.
"""

from collections import Counter
from dataclasses import dataclass
from random import Random

import pytest

from kbnf_core import Config, Engine
from kbnf_testing import subject
from kbnf_testing.agreement import Sample, random_sample
from kbnf_testing.blame import Difference, blame
from kbnf_testing.features import has_nullable_part, has_unit_cycle
from kbnf_testing.generate import Features, random_string, random_tokens
from kbnf_testing.peer import Answer, Peer, PeerStep
from kbnf_testing.reader import read_kbnf
from kbnf_testing.vocabulary import Tokens
from kbnf_testing.walk import Outcome, Position, ReferenceEngine

_ALIKE = "alike"
_UNLISTED = "seed"

pytestmark = pytest.mark.differential


@dataclass(frozen=True, slots=True)
class Batch:
    """Grammars of one kind for one version, and how many must be answered as by us."""

    version: str
    finish: str
    features: Features
    grammars: int
    alike: int


# Parts that can be empty bring out so many bugs of the peers that they have batches of their own.
_BATCHES = {
    "seed": Batch(
        "0.2.9",
        "eager",
        Features(counts=False, tokens=False, raw_bytes=False, patterns=False, nullable=False),
        grammars=400,
        alike=330,
    ),
    "seed, nullable": Batch(
        "0.2.9",
        "eager",
        Features(counts=False, tokens=False, raw_bytes=False, patterns=False),
        grammars=200,
        alike=140,
    ),
    "newest": Batch(
        "0.4.2",
        "token",
        Features(counts=False, tokens=False, raw_bytes=False, exceptions=False, nullable=False),
        grammars=300,
        alike=220,
    ),
    "newest, nullable": Batch(
        "0.4.2",
        "token",
        Features(counts=False, tokens=False, raw_bytes=False, exceptions=False),
        grammars=80,
        alike=40,
    ),
}


@pytest.mark.parametrize(
    "part", [2, pytest.param(1, marks=pytest.mark.slow)], ids=["half", "whole"]
)
@pytest.mark.parametrize("batch", _BATCHES.values(), ids=_BATCHES.keys())
def test_differences_are_known_bugs(batch: Batch, part: int, peers: dict[str, Peer]) -> None:
    peer = peers[batch.version]
    verdicts = Counter(_compare(batch, seed, peer) for seed in range(batch.grammars // part))
    unlisted = [verdict for verdict in verdicts if verdict.startswith(_UNLISTED)]
    assert not unlisted, "\n\n".join(unlisted)
    assert verdicts[_ALIKE] >= batch.alike // part, verdicts


def _compare(batch: Batch, seed: int, peer: Peer) -> str:
    """Return ``_ALIKE``, the name of the bug to blame, or a description of what is unlisted."""
    random = Random(seed)
    sample = random_sample(random, batch.features)
    tokens = Tokens(random_tokens(random, sample.alphabet).ordinary)
    reference = ReferenceEngine(sample.recogniser, tokens, batch.finish)
    offers = random_string(random, reference, longest=6)
    right = _right_answer(reference, offers)
    offers = offers[: len(right.steps)]
    assert _our_answer(sample, tokens, batch.finish, offers) == right, sample.text
    grammar = read_kbnf(sample.text, {})
    # Where something can be empty, or derive itself, a peer often hangs: do not wait for long.
    patience = 0.7 if has_nullable_part(grammar) or has_unit_cycle(grammar) else 20
    said = peer.run(sample.text, tokens.ordinary, offers, patience)
    if said == right:
        return _ALIKE
    found = Difference(
        grammar, sample.recogniser, dict(tokens.ordinary), tuple(offers), right, said
    )
    bug = blame(found, batch.version)
    if bug is None:
        return f"{_UNLISTED} {seed}\n{sample.text}\n{tokens}\n{offers}\n{right}\n{said}"
    return bug.name


def _right_answer(reference: ReferenceEngine, offers: list[int]) -> Answer:
    """Return what is right, up to the first token that is refused."""
    position = Position()
    steps: list[PeerStep] = []
    for offer in offers:
        outcome, position = reference.offer(position, offer)
        steps.append(PeerStep(outcome.value, tuple(reference.allowed(position))))
        if outcome is Outcome.REJECTED:
            break
    return Answer(initial=tuple(reference.allowed(Position())), steps=tuple(steps))


def _our_answer(sample: Sample, tokens: Tokens, finish: str, offers: list[int]) -> Answer:
    vocabulary = subject.vocabulary_of(tokens)
    engine = Engine(sample.compiled, vocabulary, Config(finish=finish))
    initial = tuple(subject.allowed(engine))
    steps = tuple(
        PeerStep(subject.offer(engine, offer).value, tuple(subject.allowed(engine)))
        for offer in offers
    )
    return Answer(initial=initial, steps=steps)
