"""Runs corpus cases over anything that answers like an engine."""

from collections.abc import Callable
from typing import Protocol

import pytest

from kbnf_testing.corpus import Case
from kbnf_testing.earley import Recogniser
from kbnf_testing.reader import read_kbnf
from kbnf_testing.walk import Outcome, Position, ReferenceEngine


class RefusedError(Exception):
    """A grammar was refused; ``codes`` are those of the errors."""

    def __init__(self, codes: frozenset[str]) -> None:
        self.codes = codes
        super().__init__(", ".join(sorted(codes)))


class Runner(Protocol):
    """A position in one text."""

    def offer(self, what: int | bytes) -> Outcome:
        """Offer a token or bytes."""

    def allowed(self) -> list[int]:
        """Return the ids that can come next, ascending."""

    def can_finish(self) -> bool:
        """Return whether the text may end here."""


class ReferenceRunner:
    """The reference recogniser as a runner."""

    def __init__(self, case: Case) -> None:
        recogniser = Recogniser(read_kbnf(case.grammar, case.tokens.special, case.start))
        if recogniser.is_empty():
            raise RefusedError(frozenset({"E105"}))
        self._engine = ReferenceEngine(recogniser, case.tokens, case.finish)
        self._position = Position()

    def offer(self, what: int | bytes) -> Outcome:
        """Offer a token or bytes."""
        if isinstance(what, int):
            outcome, self._position = self._engine.offer(self._position, what)
        else:
            outcome, self._position = self._engine.offer_bytes(self._position, what)
        return outcome

    def allowed(self) -> list[int]:
        """Return the ids that can come next, ascending."""
        return self._engine.allowed(self._position)

    def can_finish(self) -> bool:
        """Return whether the text may end here."""
        return self._engine.can_finish(self._position)


def run_case(case: Case, make: Callable[[Case], Runner]) -> None:
    """Assert everything that ``case`` says; ``make`` gives a fresh runner for it."""
    if case.error:
        with pytest.raises(RefusedError) as caught:
            make(case)
        assert caught.value.codes == case.error
        return
    for verdict, texts in _by_verdict(case).items():
        for text in texts:
            assert _judge(make(case), text) == verdict, text
    if case.tokens_matter():
        _run_steps(case, make(case))


def _by_verdict(case: Case) -> dict[str, tuple[bytes, ...]]:
    return {"accept": case.accept, "viable": case.viable, "dead": case.dead}


def _judge(runner: Runner, text: bytes) -> str:
    for value in text:
        if runner.offer(bytes([value])) not in (Outcome.ONGOING, Outcome.FINISHED):
            return "dead"
    return "accept" if runner.can_finish() else "viable"


def _run_steps(case: Case, runner: Runner) -> None:
    if case.initial is not None:
        assert runner.allowed() == sorted(case.initial)
    for number, step in enumerate(case.steps):
        assert runner.offer(step.offer) is step.result, number
        if step.allowed is not None:
            assert runner.allowed() == sorted(step.allowed), number
