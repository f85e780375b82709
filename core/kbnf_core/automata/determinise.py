"""The subset construction (Rabin & Scott 1959), with a bound on states and on memory."""

from kbnf_core.automata.errors import LimitError
from kbnf_core.automata.machine import Machine, Nfa
from kbnf_core.kernel.chosen_automata import AUTOMATA


def determinise(nfa: Nfa, symbols: int, limit: int, stop: int = 0) -> Machine:
    """Return the deterministic automaton of ``nfa``, not yet trimmed.

    A subset whose tags meet ``stop`` counts as dead and is not followed. Raises LimitError
    when there are more than ``limit`` states, or ten times as many elements in all subsets.
    """
    found = AUTOMATA.determinise(nfa.moves, nfa.tags, nfa.starts, symbols, limit, stop)
    if found is None:
        raise LimitError("states", limit)
    return Machine(*found)
