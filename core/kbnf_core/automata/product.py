"""Products: several automata over bytes run side by side.

A state of the product is a tuple with a state of each automaton, ``DEAD`` for one that has died.
Which tuples are worth following is for the caller to say: an intersection ends where any has died,
a difference where the left one has (Rabin & Scott 1959). Only tuples that are met are made, so
products cost what the automata have in common, not the product of their sizes.
"""

from collections.abc import Callable, Iterator

from kbnf_core.automata.alphabet import class_count, join, legible_bytes
from kbnf_core.automata.dfa import DEAD, Dfa, rows_over
from kbnf_core.automata.explore import explore, shortest_word_to
from kbnf_core.budget import Budget
from kbnf_core.limits import DEFAULT_LIMITS, Limits

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
        """Yield what each class leads to."""
        return zip(*(rows[at] for rows, at in zip(self._rows, states, strict=True)), strict=True)

    def accepting(self, states: States) -> tuple[bool, ...]:
        """Tell for each automaton whether a word may end."""
        return tuple([flags[at] for flags, at in zip(self._accepting, states, strict=True)])

    def explore(
        self,
        alive: Callable[[States], bool],
        limit: int | None = None,
        budget: Budget | None = None,
    ) -> tuple[list[States], list[list[int]]]:
        """Return the states that are met while they are ``alive``, and their rows.

        Each element of a row is a step of ``budget``.
        """
        symbols = class_count(self.classes)

        def step(states: States) -> list[States | None]:
            if budget is not None:
                budget.spend(symbols)
            return [each if alive(each) else None for each in self.row(states)]

        return explore([self.start], step, limit)


def all_alive(states: States) -> bool:
    """Tell whether no automaton has died."""
    return DEAD not in states


def first_alive(states: States) -> bool:
    """Tell whether the first automaton has not died."""
    return states[0] != DEAD


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
            for byte, each in zip(symbols, product.row(states), strict=True)
            if DEAD not in each
        )

    found = shortest_word_to(
        product.start,
        lambda states: all(product.accepting(states)),
        steps,
        limits.regex_states,
        "pairs of states",
    )
    return found and found[0]
