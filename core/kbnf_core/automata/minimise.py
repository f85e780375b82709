"""Minimisation: the one smallest automaton of a language, numbered in one way."""

from kbnf_core.automata.chosen_kernel import AUTOMATA
from kbnf_core.automata.machine import Machine
from kbnf_core.budget import Budget


def minimise(machine: Machine, budget: Budget | None = None) -> Machine:
    """Return the smallest automaton that accepts the same from every start, trimmed.

    States are in breadth-first order, so equal languages have equal automata. What it costs is
    nearly linear, so the size of its input is what ``budget`` is charged.
    """
    if budget is not None and machine.rows:
        budget.spend(len(machine.rows) * len(machine.rows[0]))
    return Machine(*AUTOMATA.minimise(machine.rows, machine.tags, machine.starts))
