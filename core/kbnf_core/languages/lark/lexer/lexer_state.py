"""States of the lexer between two lexemes, with which the rules are multiplied."""

from dataclasses import dataclass

from kbnf_core.languages.lark.lexer.lookahead import ANYTHING, Lookahead


@dataclass(frozen=True, slots=True)
class State:
    """Between two lexemes: what may follow.

    ``is_start``: no lexeme has come yet, and no ignored text may. ``is_skipped``: ignored text
    has come, so that no embedded grammar may, as none may follow ignored text. ``hidden`` is the
    text of a ``stop`` that is matched again as the beginning of the next lexeme.
    """

    rest: Lookahead = ANYTHING
    is_start: bool = False
    is_skipped: bool = False
    hidden: bytes = b""

    @property
    def order(self) -> tuple[int, tuple[bytes, bytes, bytes], bool, bool, bytes]:
        """A key to sort by, the simplest first."""
        return len(self.rest.key[1]), self.rest.key, self.is_start, self.is_skipped, self.hidden


def in_order(states: frozenset[State]) -> list[State]:
    """Return ``states`` in a deterministic order."""
    return sorted(states, key=lambda state: state.order)
