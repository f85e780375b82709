"""From a nondeterministic automaton to the minimal deterministic one.

The subset construction (Rabin & Scott 1959) follows sets of states, with a bound on their number
and on the memory, as there may be exponentially many. Minimisation merges
states that accept the same, and numbers what is left breadth first: the one smallest automaton of
a language, numbered in one way. Both are the kernel's (``kernel.Automata``).
"""

from collections.abc import Iterable, Sequence

from kbnf_core.automata.alphabet import ByteClasses
from kbnf_core.automata.chosen_kernel import AUTOMATA
from kbnf_core.automata.dfa import Dfa, SymbolDfa
from kbnf_core.automata.errors import LimitError
from kbnf_core.automata.nfa import Nfa
from kbnf_core.text.budget import Budget
from kbnf_core.text.limits import DEFAULT_LIMITS


def determinise(
    nfa: Nfa, symbols: int, limit: int, stop: int = 0, budget: Budget | None = None
) -> SymbolDfa:
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
    return SymbolDfa(*found)


def minimise(dfa: SymbolDfa, budget: Budget | None = None) -> SymbolDfa:
    """Return the smallest automaton that accepts the same from every start, trimmed.

    States are in breadth-first order, so equal languages have equal automata. What it costs is
    nearly linear, so the size of its input is what ``budget`` is charged.
    """
    if budget is not None and dfa.rows:
        budget.spend(len(dfa.rows) * len(dfa.rows[0]))
    return SymbolDfa(*AUTOMATA.minimise(dfa.rows, dfa.tags, dfa.starts))


def from_symbols(dfa: SymbolDfa, classes: ByteClasses, budget: Budget | None = None) -> Dfa:
    """Return the minimal automaton of one with one start, whose symbols are classes of bytes."""
    if budget is not None and dfa.rows:
        budget.spend(len(dfa.rows) * len(dfa.rows[0]))
    return Dfa(*AUTOMATA.smallest(dfa.rows, dfa.tags, dfa.starts[0], classes))


def ending_in(
    states: Iterable[int], rows: Sequence[Sequence[int]], classes: ByteClasses, start: int = 0
) -> Dfa:
    """Return the minimal automaton of the words that lead from ``start`` to any of ``states``."""
    ends = set(states)
    return from_symbols(
        SymbolDfa(rows, [int(s in ends) for s in range(len(rows))], [start]), classes
    )
