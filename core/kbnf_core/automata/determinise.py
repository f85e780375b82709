"""The subset construction (Rabin & Scott 1959), with a bound on states and on memory."""

from kbnf_core.automata.errors import LimitError
from kbnf_core.automata.machine import Machine, Nfa
from kbnf_core.budget import Budget
from kbnf_core.kernel.chosen_automata import AUTOMATA
from kbnf_core.limits import DEFAULT_LIMITS


def determinise(
    nfa: Nfa, symbols: int, limit: int, stop: int = 0, budget: Budget | None = None
) -> Machine:
    """Return the deterministic automaton of ``nfa``, not yet trimmed.

    A subset whose tags meet ``stop`` counts as dead and is not followed. Raises LimitError
    when there are more than ``limit`` states, or ten times as many elements in all subsets,
    WorkLimitError where ``budget``, or else the default one, is used up.
    """
    budget = budget or Budget(DEFAULT_LIMITS.work)
    found, steps = AUTOMATA.determinise(
        nfa.moves, nfa.tags, nfa.starts, symbols, limit, stop, budget.left
    )
    budget.spend(steps)
    if found is None:
        raise LimitError("states", limit)
    return Machine(*found)
