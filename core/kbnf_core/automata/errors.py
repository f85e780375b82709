"""LimitError, the one error that automata raise."""

from kbnf_core.text.errors import KbnfError


class LimitError(KbnfError, ValueError):
    """A construction that passed its bound; ``what`` is counted, ``limit`` is the bound."""

    def __init__(self, what: str, limit: int) -> None:
        self.what = what
        self.limit = limit
        super().__init__(f"more than {limit} {what}")


def states_within(states: int, memory: int | None, width: int) -> int:
    """Return the smaller bound on states: ``states``, or ``memory`` bytes with rows of ``width``.

    A transition takes four bytes.
    """
    return states if memory is None else min(states, memory // (4 * width))
