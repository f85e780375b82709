"""The engine under test, after the same words as the reference."""

import copy
from collections.abc import Callable
from pathlib import Path

from kbnf_core import (
    AcceptTokenResult,
    Config,
    Engine,
    Grammar,
    Vocabulary,
    compile_artifact,
    load_artifact,
)
from kbnf_core.text.diagnostics import Severity
from kbnf_core.text.errors import FinishedError, GrammarError, RejectedError, UnknownTokenError
from kbnf_testing.corpus import Case
from kbnf_testing.runners import RefusedError
from kbnf_testing.vocabulary import Tokens
from kbnf_testing.walk import ACCEPTED, Outcome

_OUTCOMES = {
    AcceptTokenResult.Ongoing: Outcome.ONGOING,
    AcceptTokenResult.Finished: Outcome.FINISHED,
}


def vocabulary_of(tokens: Tokens) -> Vocabulary:
    """Return the engine's vocabulary for ``tokens``."""
    return Vocabulary(tokens.ordinary, special_tokens=tokens.special, eos_token_id=tokens.eos)


def engine_of(grammar: str, tokens: Tokens, finish: str, start: str = "start") -> Engine:
    """Return a fresh engine."""
    config = Config(finish=finish, start_nonterminal=start)
    return Engine(grammar, vocabulary_of(tokens), config)


def offer(engine: Engine, token_id: int) -> Outcome:
    """Offer a token; the engine moves if it is accepted."""
    return _outcome(lambda: engine.try_accept_new_token(token_id))


def offer_bytes(engine: Engine, data: bytes) -> Outcome:
    """Offer plain bytes; the engine moves if they are accepted."""
    return _outcome(lambda: engine.try_accept_new_bytes(data))


def _outcome(accept: Callable[[], AcceptTokenResult]) -> Outcome:
    try:
        return _OUTCOMES[accept()]
    except FinishedError:
        return Outcome.AFTER_END
    except UnknownTokenError:
        return Outcome.UNKNOWN
    except RejectedError:
        return Outcome.REJECTED


def allowed(engine: Engine) -> list[int]:
    """Compute the mask; return its ids, ascending."""
    engine.compute_allowed_token_ids()
    return engine.get_allowed_token_ids_from_last_computation()


def outcomes(engine: Engine, token_ids: list[int]) -> dict[int, Outcome]:
    """Return what each token would lead to, one by one, and leave the engine where it is.

    A token that is refused is offered to the engine itself, which has to stay as it is.
    """
    results: dict[int, Outcome] = {}
    for token_id in token_ids:
        trial = copy.copy(engine)
        results[token_id] = offer(trial, token_id)
        if results[token_id] not in ACCEPTED:
            assert offer(engine, token_id) is results[token_id]
    return results


def _engine_from_text(case: Case) -> Engine:
    return engine_of(case.grammar, case.tokens, case.finish, case.start)


class SubjectRunner:
    """The engine under test as a runner of corpus cases."""

    def __init__(self, case: Case, make_engine: Callable[[Case], Engine] | None = None) -> None:
        try:
            self._engine = (make_engine or _engine_from_text)(case)
        except GrammarError as error:
            raise RefusedError(error_codes(error)) from error

    def offer(self, what: int | bytes) -> Outcome:
        """Offer a token or bytes."""
        return (
            offer(self._engine, what) if isinstance(what, int) else offer_bytes(self._engine, what)
        )

    def allowed(self) -> list[int]:
        """Return the ids that can come next, ascending."""
        return allowed(self._engine)

    def can_finish(self) -> bool:
        """Return whether the text may end here."""
        return self._engine.can_finish()


def error_codes(error: GrammarError) -> frozenset[str]:
    """Return the codes of the findings that are errors."""
    return frozenset(
        diagnostic.code for diagnostic in error.diagnostics if diagnostic.severity is Severity.ERROR
    )


def artifact_runner(path: Path) -> Callable[[Case], SubjectRunner]:
    """Return a maker of runners whose engine comes from an artifact, written to ``path`` once."""

    def make_engine(case: Case) -> Engine:
        vocabulary = vocabulary_of(case.tokens)
        if not path.exists():
            grammar = Grammar(case.grammar, start=case.start, finish=case.finish)
            compile_artifact(grammar, vocabulary, path)
        return Engine(load_artifact(path), vocabulary)

    return lambda case: SubjectRunner(case, make_engine)
