"""Runs a grammar's examples."""

import copy
from collections.abc import Iterable, Iterator

from kbnf_core.engine import Engine
from kbnf_core.errors import EngineError, RejectedError
from kbnf_core.examples.model import Example, Expectation, Outcome, Status
from kbnf_core.recordings.replay import can_come, show


def run_examples(engine: Engine, examples: Iterable[Example | Expectation]) -> Iterator[Outcome]:
    """Yield what becomes of each example at the beginning of ``engine``, which stays as it is.

    A text is accepted if it is complete under the engine's way to end, taken as one token: with
    ``eager`` its last byte, and none before it, finishes; with ``eos`` it may end there.
    """
    start = copy.copy(engine)
    start.reset()
    for example in examples:
        fresh = copy.copy(start)
        if isinstance(example, Example):
            yield _run_text(fresh, example)
        else:
            yield _run_expectation(fresh, example)


def _run_text(engine: Engine, example: Example) -> Outcome:
    try:
        engine.try_accept_new_bytes(example.data)
    except RejectedError as error:
        if not example.accepted:
            return Outcome(example, Status.PASSED)
        message = f"it is refused: {engine.why(example.data).reason}"
        return Outcome(example, Status.FAILED, message, error.byte_offset)
    if engine.can_finish() == example.accepted:
        return Outcome(example, Status.PASSED)
    if example.accepted:
        message = "it is not complete: more has to follow"
        return Outcome(example, Status.FAILED, message, len(example.data))
    return Outcome(example, Status.FAILED, "it is accepted")


def _run_expectation(engine: Engine, expectation: Expectation) -> Outcome:
    try:
        engine.try_accept_new_bytes(expectation.after)
    except EngineError as error:
        message = f"the text in front of it is refused: {error}"
        return Outcome(expectation, Status.FAILED, message)
    what, vocabulary = expectation.what, engine.vocabulary
    ids = vocabulary.token_ids(what) if isinstance(what, bytes) else (what,)
    if not ids or ids[0] not in vocabulary:
        return Outcome(expectation, Status.SKIPPED, f"the vocabulary has no {_named(what)}")
    if all(can_come(engine, each) == expectation.allowed for each in ids):
        return Outcome(expectation, Status.PASSED)
    verdict = "is not allowed" if expectation.allowed else "is allowed"
    reason = engine.why(ids[0]).reason if expectation.allowed else ""
    return Outcome(
        expectation, Status.FAILED, ": ".join(filter(None, (f"{show(what)} {verdict}", reason)))
    )


def _named(what: int | bytes) -> str:
    return f"token {what}" if isinstance(what, int) else f"token {what!r}"
