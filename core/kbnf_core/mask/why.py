"""Explanations of masks: why a token, or bytes, can or cannot occur (``mask --why``, ``play``).

Tests: tests/unit/mask
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from kbnf_core.config import Finish
from kbnf_core.lower.positions import Positions
from kbnf_core.mask.boundary import WaitingAutomaton
from kbnf_core.mask.masks import Masks
from kbnf_core.mask.token_automaton import TokenAutomaton
from kbnf_core.recognise.explain import Explainer, LiveSite
from kbnf_core.recognise.states import DEAD, Migration, StateTable
from kbnf_core.text.errors import FinishedError, RejectedError
from kbnf_core.text.limits import DEFAULT_LIMITS, Limits
from kbnf_core.vocab.vocabulary import Vocabulary

Ranges: TypeAlias = tuple[tuple[int, int], ...]
"""Inclusive ranges of bytes."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why something is, or is not, allowed at a position.

    ``accepted``: how many bytes of ``data`` can occur. ``expected``: inclusive ranges of the bytes
    expected at that point; ``sites``: where in the grammar each is expected. ``reason``
    is one sentence.
    """

    allowed: bool
    token_id: int | None
    data: bytes
    accepted: int
    expected: Ranges
    sites: tuple[LiveSite, ...]
    reason: str

    @property
    def rules(self) -> frozenset[str]:
        """The rules of the sites."""
        return frozenset(name for site in self.sites for name in site.rules)


class Why:
    """Explains positions of one grammar over one vocabulary, by replaying them on its positions.

    It has a table of its own, which is reset when it is full, as those of engines are.
    """

    def __init__(
        self,
        positions: Positions,
        vocabulary: Vocabulary,
        finish: Finish,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        self._positions = positions.without_tail_calls()
        self._finish = finish
        self._vocabulary = vocabulary
        self._limits = limits
        self._begin()

    def _begin(self) -> None:
        self._states = StateTable(self._positions.tables, self._limits)
        self._explainer = Explainer(self._positions, self._states)
        masks = Masks(self._states, self._vocabulary, self._limits)
        self._automaton = TokenAutomaton(masks, self._finish, self._limits)

    def explain(self, accepted: Iterable[int | bytes], symbol: int | bytes | str) -> Explanation:
        """Explain a token id, bytes or text at the position after ``accepted``.

        Raises ``UnknownTokenError`` for an id that the vocabulary does not have.
        """
        position = self._replay(accepted)
        data = self._spell(symbol)
        token_id = symbol if isinstance(symbol, int) else None
        allowed, reason = self._judge(position, symbol, data)
        state = position if position >= 0 else DEAD
        taken = self._automaton.rule.feed(self._states, state, data)[1] if state != DEAD else 0
        reached = self._states.feed(state, data[:taken])[0]
        expected = self._explainer.expected(reached)
        return Explanation(
            allowed,
            token_id,
            data,
            taken,
            expected,
            self._explainer.live_sites(reached),
            reason or self._byte_reason(reached, data, taken, expected),
        )

    def explain_waiting(
        self, automaton: WaitingAutomaton, position: int, symbol: int | bytes | str
    ) -> Explanation:
        """Explain which tokens are allowed before the grammar begins."""
        token_id = symbol if isinstance(symbol, int) else None
        data, allowed = self._spell(symbol), True
        try:
            automaton.append(position, data) if token_id is None else automaton.step(
                position, token_id
            )
        except RejectedError:
            allowed = False
        expected, reason = automaton.expected(position)
        return Explanation(allowed, token_id, data, len(data) * allowed, expected, (), reason)

    def _replay(self, accepted: Iterable[int | bytes]) -> int:
        position = self._automaton.beginning
        for step in accepted:
            position = self.after(position, step)
        return self._with_room(position)

    @property
    def beginning(self) -> int:
        """The position before the first byte."""
        return self._automaton.beginning

    def after(self, position: int, symbol: int | bytes) -> int:
        """Return the position after a token, or bytes, that can occur."""
        position = self._with_room(position)
        if isinstance(symbol, bytes):
            return self._automaton.append(position, symbol)
        return self._automaton.step(position, symbol)

    def sites(self, position: int) -> tuple[LiveSite, ...]:
        """Return where in the grammar a position is."""
        return self._explainer.live_sites(position) if position >= 0 else ()

    def _with_room(self, position: int) -> int:
        """Return ``position``, in a fresh table where the one in use is full."""
        if not self._automaton.masks.is_full:
            return position
        old = self._states
        self._begin()
        return Migration(old, self._states).position(position)

    def _spell(self, symbol: int | bytes | str) -> bytes:
        if isinstance(symbol, int):
            return self._vocabulary.token(symbol) or b""
        return symbol.encode() if isinstance(symbol, str) else symbol

    def _judge(self, position: int, symbol: int | bytes | str, data: bytes) -> tuple[bool, str]:
        """Return whether ``symbol`` is allowed, and the reason unless its bytes show it."""
        try:
            if isinstance(symbol, int):
                self._automaton.step(position, symbol)
            else:
                self._automaton.append(position, data)
        except FinishedError:
            return False, "the text is over: nothing can follow"
        except RejectedError:
            return False, self._special_reason(symbol) if isinstance(symbol, int) else ""
        if data:
            return True, "it fits the grammar here"
        if isinstance(symbol, int) and symbol in self._vocabulary.special_ids:
            return True, "the grammar accepts this special token here, or the text may end"
        return False, "it is empty: never offered, and accepting it changes nothing"

    def _special_reason(self, token_id: int) -> str:
        if token_id in self._vocabulary.eos_token_ids:
            if self._finish is not Finish.EOS:
                return f"with `finish={self._finish.value}` the engine itself ends the text"
            return "the text is not complete here"
        if token_id in self._vocabulary.special_ids:
            return "it is a special token, and the grammar does not name it here"
        return ""

    def _byte_reason(self, reached: int, data: bytes, taken: int, expected: Ranges) -> str:
        if self._states.feed(reached, data[taken : taken + 1])[0] != DEAD:
            return (
                f"the text is complete after {taken} byte{'' if taken == 1 else 's'}, and"
                " `finish=eager` ends it there:"
                " `(* kbnf: finish=eos *)`, or `--finish eos`, lets the model choose the end"
            )
        return unexpected(data, taken, expected)


class RuleFollower:
    """Follows one text, and names the rule in which it is."""

    def __init__(self, why: Why) -> None:
        self._why = why
        self._position = why.beginning
        self._names: dict[int, str] = {}

    def append(self, symbol: int | bytes) -> None:
        """Append a token, or bytes, that can occur."""
        self._position = self._why.after(self._position, symbol)

    def rule(self) -> str:
        """Return the innermost rule of the first site at which the text may go on."""
        name = self._names.get(self._position)
        if name is None:
            sites = self._why.sites(self._position)
            name = self._names[self._position] = sites[0].rules[-1] if sites else ""
        return name


def unexpected(data: bytes, at: int, expected: Ranges) -> str:
    """Return why bytes end at the one at an offset, where others are ``expected``."""
    message = f"byte {at} ({show_byte(data[at])}) is not expected here"
    other = data[at : at + 1].swapcase()
    is_case = other != data[at : at + 1] and any(low <= other[0] <= high for low, high in expected)
    return f"{message}, but {chr(other[0])!r} is: case matters" if is_case else message


def show_byte(value: int) -> str:
    """Return a byte as its character and number, or as its number alone."""
    return f"{chr(value)!r}, 0x{value:02x}" if 0x20 <= value < 0x7F else f"0x{value:02x}"
