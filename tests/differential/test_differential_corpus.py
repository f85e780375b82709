"""The corpus over the reference engines: the differences are exactly those that are listed."""

from dataclasses import dataclass

import pytest

from kbnf_testing.blame import known_differences
from kbnf_testing.corpus import Case, load_corpus
from kbnf_testing.peer import Answer, Peer
from kbnf_testing.walk import ACCEPTED, Outcome

pytestmark = pytest.mark.differential

_FINISH = {"0.2.9": "eager", "0.4.2": "token"}
_DONE = Outcome.FINISHED.value


@dataclass(frozen=True, slots=True)
class Peered:
    """A case for one version."""

    version: str
    case: Case


def _fits(case: Case, version: str) -> bool:
    """Byte by byte, ``eager`` and ``token`` are the same; the peers know no special tokens."""
    by_bytes = not case.tokens_matter() and case.finish == "eager"
    plain = not case.tokens.special and (by_bytes or not case.tokens.eos)
    return plain and (by_bytes or case.finish == _FINISH[version])


_PEERED = [
    Peered(version, case)
    for version in _FINISH
    for case in load_corpus()
    if _fits(case, version) and case.start == "start"
]


@pytest.mark.parametrize(
    "peered", _PEERED, ids=lambda peered: f"{peered.version}/{peered.case.name}"
)
def test_case(peered: Peered, peers: dict[str, Peer]) -> None:
    known = known_differences(peered.version)
    agrees = _agrees(peered.case, peers[peered.version])
    if peered.case.name not in known.sometimes:
        listed = peered.case.name in known.always
        assert agrees != listed, "gone: take it off the list" if listed else "differs"


@pytest.mark.parametrize("version", _FINISH)
def test_only_cases_that_run_are_listed(version: str) -> None:
    names = {peered.case.name for peered in _PEERED if peered.version == version}
    known = known_differences(version)
    listed = {name for name in known.always | known.sometimes if not name.startswith("file/")}
    assert listed <= names


def _agrees(case: Case, peer: Peer) -> bool:
    if case.error:
        said = peer.run(case.grammar, case.tokens.ordinary, [])
        return bool(said.error) and not said.crashed
    texts = [*case.accept, *case.viable, *case.dead]
    verdicts = [_verdict(peer, case, text) for text in texts]
    right = ["accept"] * len(case.accept) + ["viable"] * len(case.viable)
    right += ["dead"] * len(case.dead)
    return verdicts == right and (not case.tokens_matter() or _same_steps(case, peer))


def _verdict(peer: Peer, case: Case, text: bytes) -> str:
    said = peer.run(case.grammar, case.tokens.ordinary, list(text))
    results = [step.result for step in said.steps]
    if said.error or not {*results} <= {outcome.value for outcome in Outcome}:
        return "crash"
    if not {*results} <= {outcome.value for outcome in ACCEPTED}:
        return "dead"
    return "accept" if results and results[-1] == _DONE else "viable"


def _same_steps(case: Case, peer: Peer) -> bool:
    said = peer.run(case.grammar, case.tokens.ordinary, [step.offer for step in case.steps])
    if said.error or (case.initial is not None and set(case.initial) != set(said.initial)):
        return False
    return _agree(case, said)


def _agree(case: Case, said: Answer) -> bool:
    return all(
        step.result.value == answer.result
        and (step.allowed is None or set(step.allowed) == set(answer.allowed))
        for step, answer in zip(case.steps, said.steps, strict=True)
    )
