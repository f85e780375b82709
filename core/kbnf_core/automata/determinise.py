"""The subset construction (Rabin & Scott 1959), with a bound on states and on memory."""

from kbnf_core.automata.chosen_kernel import AUTOMATA
from kbnf_core.automata.errors import LimitError
from kbnf_core.automata.machine import Machine, Nfa
from kbnf_core.budget import Budget
from kbnf_core.limits import DEFAULT_LIMITS


def determinise(
    nfa: Nfa, symbols: int, limit: int, stop: int = 0, budget: Budget | None = None
) -> Machine:
    """Return the deterministic automaton of ``nfa``, not yet trimmed.

    A subset whose tags meet ``stop`` counts as dead and is not followed. Raises LimitError
    when there are more than ``limit`` states, or ten times as many elements in all subsets,
    and also, without a budget, beyond as many steps as ``Limits.work`` has by default. Raises
    WorkLimitError where ``budget`` is used up.
    """
    left = DEFAULT_LIMITS.work if budget is None else budget.left
    found, steps = AUTOMATA.determinise(nfa.moves, nfa.tags, nfa.starts, symbols, limit, stop, left)
    if budget is not None:
        budget.spend(steps)
    if steps > left:
        raise LimitError("steps of work", left)
    if found is None:
        raise LimitError("states", limit)
    return Machine(*found)
