"""The engine: one position in one text, over a grammar and a vocabulary that many may share."""

import enum
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from kbnf_core.config import Config, Finish
from kbnf_core.errors import (
    EngineError,
    FinishedError,
    RejectedError,
    UnknownTokenError,
)
from kbnf_core.grammar import Grammar
from kbnf_core.mask.bits import Words, ids_of, word_count
from kbnf_core.mask.finish import finish_rule
from kbnf_core.mask.logits import apply_mask, check_logits
from kbnf_core.recognise.states import DEAD
from kbnf_core.vocab.vocabulary import Vocabulary

if TYPE_CHECKING:
    from kbnf_core.mask.why import Explanation, Why

L = TypeVar("L")


class AcceptTokenResult(enum.Enum):
    """What accepting a token led to."""

    Ongoing = "ongoing"
    Finished = "finished"


class Step(NamedTuple):
    """One accepted token (``token_id`` None: bytes), and the position before it."""

    token_id: int | None
    data: bytes
    state: int


class Engine:
    """Constrains one text to a grammar, token by token.

    ``grammar`` is KBNF text or a ``Grammar``; give a ``Grammar`` to share what it remembers
    between engines. ``copy.copy`` gives an engine at the same position that moves on its own and
    shares all caches.

    Grammars, vocabularies and their caches may be shared by threads; an engine, being a position,
    belongs to one thread at a time. Every method that raises leaves the engine as it was.

    Coming from elsewhere: ``Engine(...)`` is *initialize*, ``mask_logits`` is
    *modify_possible_logits*, ``try_accept_new_token`` is *advance*,
    ``get_allowed_token_ids_from_last_computation`` is *current_possible_tokens*,
    ``update_logits`` is *update_logits_from_tokens*, ``reset`` and ``copy.copy`` are *reset* and
    *clone* of the engine's design post; the methods of the Rust crate's ``EngineLike`` have the
    names they have there.

    Raises ``GrammarError`` for a grammar that cannot be used, ``VocabularyError`` where it names
    tokens that the vocabulary does not have, ``ConfigError`` for an impossible setting.
    """

    def __init__(
        self, grammar: str | Grammar, vocabulary: Vocabulary, config: Config | None = None
    ) -> None:
        config = config or Config()
        if isinstance(grammar, str):
            grammar = Grammar(
                grammar, start=config.start_nonterminal, finish=config.finish, limits=config.limits
            )
        finish = grammar.finish if config.finish is None else Finish.parse(config.finish)
        self._grammar = grammar
        self._finish = finish
        self._rule = finish_rule(finish)
        self._masks = grammar.masks(vocabulary)
        self._states = grammar.states
        self._state = self._states.initial
        self._finished = False
        self._steps: list[Step] = []
        self._allowed: Words = self._no_tokens()

    def __copy__(self) -> "Engine":
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin._steps = self._steps.copy()
        return twin

    def __deepcopy__(self, memo: dict[int, Any]) -> "Engine":
        del memo
        return self.__copy__()

    @property
    def grammar(self) -> Grammar:
        """The grammar."""
        return self._grammar

    @property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary."""
        return self._masks.vocabulary

    @property
    def finish(self) -> Finish:
        """The way to end in force."""
        return self._finish

    @cached_property
    def _why(self) -> "Why":
        from kbnf_core.mask.why import Why

        return Why(self._grammar.plain_tables, self.vocabulary, self._rule)

    @property
    def accepted(self) -> tuple[Step, ...]:
        """What has been accepted since the start or the last reset."""
        return tuple(self._steps)

    def get_vocab(self) -> Vocabulary:
        """Return the vocabulary."""
        return self.vocabulary

    def is_finished(self) -> bool:
        """Tell whether the text is over: nothing can be accepted any more."""
        return self._finished

    def can_finish(self) -> bool:
        """Tell whether the text may end here: it is over or, with ``finish="eos"``, complete."""
        return self._finished or self._rule.takes_eos(self._is_complete())

    def try_accept_new_token(self, token_id: int) -> AcceptTokenResult:
        """Append a token.

        Raises ``FinishedError``, ``UnknownTokenError`` or ``RejectedError``, tested in that
        order. An empty token changes nothing. The allowed tokens are not recomputed.
        """
        state, finished = self._after_token(token_id)
        return self._advance(token_id, self.vocabulary.token(token_id) or b"", state, finished)

    def try_accept_new_bytes(self, data: bytes) -> AcceptTokenResult:
        """Append bytes, as if they were one token with that spelling.

        Raises ``FinishedError`` or ``RejectedError``. No bytes at all change nothing.
        """
        if self._finished:
            raise FinishedError
        state, taken = self._rule.feed(self._states, self._state, data)
        if state == DEAD:
            raise RejectedError(None, data, taken)
        return self._advance(None, data, state, bool(data) and self._ends(state))

    def compute_allowed_token_ids(self) -> None:
        """Work out which tokens can come next; after the end, none."""
        self._allowed = self._mask()

    def get_allowed_token_ids_from_last_computation(self) -> list[int]:
        """Return the allowed ids, ascending; none before the first computation or after a reset."""
        ids: list[int] = ids_of(self._allowed, self.vocabulary.size).tolist()
        return ids

    def get_disallowed_token_ids_from_last_computation(self) -> list[int]:
        """Return all other ids below the vocabulary's size, ascending."""
        ids: list[int] = ids_of(~self._allowed, self.vocabulary.size).tolist()
        return ids

    def mask_logits(self, logits: L) -> L:
        """Set the logits of ids that the last computation does not allow to minus infinity.

        ``logits``: NumPy array or torch tensor, floating point, shape (n,) or (1, n); changed in
        place where it can be, and returned. Entries beyond the vocabulary become minus infinity.
        Raises ``InvalidLogitsError`` where n is less than the vocabulary's size.
        """
        return apply_mask(self._allowed, self.vocabulary.size, logits)

    def update_logits(self, token_id: int, logits: L) -> tuple[L, AcceptTokenResult]:
        """Append a token and, unless that finishes, compute and mask.

        Returns the logits and the result. Raises what the steps raise, before anything changes.
        """
        state, finished = self._after_token(token_id)
        if not finished:
            check_logits(self.vocabulary.size, logits)
        data = self.vocabulary.token(token_id) or b""
        result = self._advance(token_id, data, state, finished)
        if result is AcceptTokenResult.Finished:
            return logits, result
        self.compute_allowed_token_ids()
        return self.mask_logits(logits), result

    def fill_bitmask(self, out: npt.NDArray[np.int32]) -> None:
        """Compute what is allowed here and write it as bits into ``out``, int32[words].

        Bit ``id % 32`` of word ``id // 32``; surplus words become 0. Raises ``EngineError`` where
        ``out`` has too few words or is not int32.
        """
        words = self._mask()
        if out.dtype != np.int32 or out.ndim != 1 or len(out) < len(words):
            raise EngineError(
                f"out must be int32 with at least {len(words)} words in one dimension"
            )
        self._allowed = words
        out[: len(words)] = words.view(np.int32)
        out[len(words) :] = 0

    def reset(self) -> None:
        """Go back to the beginning; caches are kept."""
        self._state = self._states.initial
        self._finished = False
        self._steps = []
        self._allowed = self._no_tokens()

    def rollback(self, count: int = 1) -> None:
        """Undo the last ``count`` accepted tokens or byte strings, also one that finished.

        Raises ``EngineError`` where fewer were accepted.
        """
        if not 0 <= count <= len(self._steps):
            raise EngineError(f"cannot undo {count} of {len(self._steps)} accepted tokens")
        if count:
            self._state = self._steps[-count].state
            del self._steps[-count:]
            self._finished = False

    def why(self, what: int | bytes | str) -> "Explanation":
        """Explain why a token (by id), or bytes or text, can or cannot come next.

        Raises ``UnknownTokenError`` for an id that the vocabulary does not have.
        """
        token_id = what if isinstance(what, int) else None
        data = what.encode() if isinstance(what, str) else what
        if isinstance(data, int):
            data = self.vocabulary.token(data) or b""
        allowed, reason = self._verdict(token_id, data)
        state = self._why.replay([(step.token_id, step.data) for step in self._steps])
        return self._why.explain(state, token_id, data, allowed, reason)

    def _verdict(self, token_id: int | None, data: bytes) -> tuple[bool, str | None]:
        """Return whether something can come, and why not where bytes are not the reason."""
        probe = self.__copy__()
        try:
            if token_id is None:
                probe.try_accept_new_bytes(data)
            else:
                probe.try_accept_new_token(token_id)
        except FinishedError:
            return False, "the text is over: nothing can follow"
        except RejectedError:
            return False, self._special_reason(token_id)
        if not data and token_id is not None and not self.vocabulary.is_special(token_id):
            return False, "the token is empty: it is never offered, and accepting it does nothing"
        return True, None if data else "it can come here"

    def _special_reason(self, token_id: int | None) -> str | None:
        if token_id in self.vocabulary.eos_token_ids:
            if self._finish is not Finish.EOS:
                return f"with `finish={self._finish.value}` the engine itself ends the text"
            return "the text is not complete here"
        if token_id is not None and self.vocabulary.is_special(token_id):
            return "it is a special token, and the grammar does not name it here"
        return None

    def _after_token(self, token_id: int) -> tuple[int, bool]:
        """Return the state after a token, and whether that finishes; raise if it cannot come."""
        if self._finished:
            raise FinishedError
        vocabulary = self.vocabulary
        data = vocabulary.token(token_id)
        if data is None and not vocabulary.is_special(token_id):
            raise UnknownTokenError(token_id)
        if token_id in vocabulary.eos_token_ids and self.can_finish():
            return self._state, True
        if data == b"":
            return self._state, False
        state, taken = self._rule.feed(self._states, self._state, data) if data else (DEAD, 0)
        terminals = self._masks.terminals.matching(token_id)
        if terminals:
            named = self._states.step_token(self._state, terminals)
            state = self._states.merge(state, named)
        if state == DEAD:
            raise RejectedError(token_id, data or b"", taken)
        return state, self._ends(state)

    def _advance(
        self, token_id: int | None, data: bytes, state: int, finished: bool
    ) -> AcceptTokenResult:
        self._steps.append(Step(token_id, data, self._state))
        self._state = state
        self._finished = finished
        return AcceptTokenResult.Finished if finished else AcceptTokenResult.Ongoing

    def _is_complete(self) -> bool:
        return self._masks.is_complete(self._state)

    def _ends(self, state: int) -> bool:
        return self._rule.is_over(self._masks.is_complete(state))

    def _mask(self) -> Words:
        return self._no_tokens() if self._finished else self._rule.mask(self._masks, self._state)

    def _no_tokens(self) -> Words:
        return np.zeros(word_count(self.vocabulary.size), np.uint32)
