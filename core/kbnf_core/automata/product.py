"""Products: several automata over bytes run side by side.

A state of the product is a tuple with a state of each automaton, ``DEAD`` for one that has died.
Which tuples are worth following differs: an intersection ends where any has died, a difference
where the left one has (Rabin & Scott 1959). Only tuples that are seen are made (``explore``), so
products cost what the automata have in common, not the product of their sizes.
"""

from collections.abc import Iterator

from kbnf_core.automata.alphabet import class_count, join, legible_bytes
from kbnf_core.automata.dfa import DEAD, Dfa, rows_over
from kbnf_core.automata.explore import shortest_word_to
from kbnf_core.text.limits import DEFAULT_LIMITS, Limits

States = tuple[int, ...]
"""A state of each automaton, or DEAD."""


class Product:
    """Automata side by side; ``classes`` is their common alphabet."""

    def __init__(self, *dfas: Dfa) -> None:
        self.classes = join(dfa.classes for dfa in dfas)
        # The row and the flag of DEAD, -1, are the last ones.
        dead = [DEAD] * class_count(self.classes)
        self._rows = [[*rows_over(dfa, self.classes), dead] for dfa in dfas]
        self._accepting = [[*dfa.accepting, False] for dfa in dfas]
        self.start: States = tuple(DEAD if dfa.is_empty else 0 for dfa in dfas)

    def row(self, states: States) -> Iterator[States]:
        """Yield the successor on each class."""
        # Not strict: this is the inner loop, and all rows have the same length.
        return zip(*[rows[at] for rows, at in zip(self._rows, states)])  # noqa: B905 - hot loop

    def accepting(self, states: States) -> tuple[bool, ...]:
        """Return for each automaton whether a word may end."""
        return tuple([flags[at] for flags, at in zip(self._accepting, states, strict=True)])

    def while_all(self, states: States) -> list[States | None]:
        """Return the successor on each class, None where any automaton dies."""
        return [each if DEAD not in each else None for each in self.row(states)]

    def while_first(self, states: States) -> list[States | None]:
        """Return the successor on each class, None where the first automaton dies."""
        return [each if each[0] != DEAD else None for each in self.row(states)]


def common_word(left: Dfa, right: Dfa, limits: Limits = DEFAULT_LIMITS) -> bytes | None:
    """Return a shortest word of both, None if they have none in common.

    Walks both at once, breadth first. Raises LimitError beyond ``limits.regex_states`` pairs.
    """
    if left.is_empty or right.is_empty:
        return None
    product = Product(left, right)
    symbols = legible_bytes(product.classes)

    def steps(states: States) -> Iterator[tuple[int, States]]:
        return (
            (byte, each)
            for byte, each in zip(symbols, product.while_all(states), strict=True)
            if each is not None
        )

    found = shortest_word_to(
        product.start,
        lambda states: all(product.accepting(states)),
        steps,
        limits.regex_states,
        "pairs of states",
    )
    return found and found[0]
