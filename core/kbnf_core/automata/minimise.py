"""Minimisation: the one smallest automaton of a language, numbered in one way."""

from kbnf_core.automata.machine import Machine
from kbnf_core.kernel.chosen_automata import AUTOMATA


def minimise(machine: Machine) -> Machine:
    """Return the smallest automaton that accepts the same from every start, trimmed.

    States are in breadth-first order, so equal languages have equal automata.
    """
    return Machine(*AUTOMATA.minimise(machine.rows, machine.tags, machine.starts))
