"""Why a token, or bytes, can or cannot come: one function behind ``mask --why`` and ``play``."""

from collections.abc import Sequence
from dataclasses import dataclass

from kbnf_core.lower.build import PlainTables
from kbnf_core.mask.finish import FinishRule
from kbnf_core.mask.terminals import TokenTerminals
from kbnf_core.recognise.explain import Explainer, LivePlace
from kbnf_core.recognise.states import DEAD
from kbnf_core.vocab.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why something is, or is not, allowed at a position.

    ``accepted``: how many bytes of ``data`` can come. ``expected``: inclusive ranges of the bytes
    that could come at that point; ``places``: where in the grammar each is expected. ``reason``
    is one sentence.
    """

    allowed: bool
    token_id: int | None
    data: bytes
    accepted: int
    expected: tuple[tuple[int, int], ...]
    places: tuple[LivePlace, ...]
    reason: str


class Why:
    """Explains positions of one grammar over one vocabulary."""

    def __init__(self, plain: PlainTables, vocabulary: Vocabulary, rule: FinishRule) -> None:
        self._explainer = Explainer(plain)
        self._vocabulary = vocabulary
        self._rule = rule
        self._terminals = TokenTerminals(plain.tables.token_terminals, vocabulary)

    def replay(self, steps: Sequence[tuple[int | None, bytes]]) -> int:
        """Return the state after accepted tokens (None for plain bytes) with their bytes."""
        state = self._explainer.states.initial
        for token_id, data in steps:
            state = self.after(state, token_id, data)[0]
        return state

    def after(self, state: int, token_id: int | None, data: bytes) -> tuple[int, int]:
        """Return the state after one token or bytes, and how many bytes could come."""
        states = self._explainer.states
        if token_id in self._vocabulary.eos_token_ids:
            return state, 0
        after, taken = self._rule.feed(states, state, data) if data else (DEAD, 0)
        terminals = frozenset() if token_id is None else self._terminals.matching(token_id)
        if terminals:
            after = states.merge(after, states.step_token(state, terminals))
        return (state if not data and after == DEAD else after), taken

    def explain(
        self, state: int, token_id: int | None, data: bytes, allowed: bool, reason: str | None
    ) -> Explanation:
        """Explain ``data`` at ``state``; ``reason`` replaces the sentence about bytes."""
        states = self._explainer.states
        taken = self._rule.feed(states, state, data)[1]
        reached = states.feed(state, data[:taken])[0]
        over = taken < len(data) and states.feed(state, data[: taken + 1])[0] != DEAD
        if reason is None:
            reason = _reason(data, taken, over)
        return Explanation(
            allowed,
            token_id,
            data,
            taken,
            self._explainer.expected(reached),
            self._explainer.live_places(reached),
            reason,
        )


def _reason(data: bytes, taken: int, over: bool) -> str:
    if taken == len(data):
        return "every byte can come here"
    if over:
        return f"the text is complete after {taken} bytes, and `finish=eager` ends it there"
    return f"byte {taken} ({show_byte(data[taken])}) cannot come here"


def show_byte(value: int) -> str:
    """Return a byte as its character and number, or as its number alone."""
    return f"{chr(value)!r}, 0x{value:02x}" if 0x20 <= value < 0x7F else f"0x{value:02x}"
