"""The grammar as numbers: the result of lowering, on which recognition runs.

Tests: tests/unit/kernel/test_lowering.py, tests/property
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kbnf_core.ir import TokenTerminal
from kbnf_core.text.locks import cached_property

Ids = npt.NDArray[np.int32]


Flags = npt.NDArray[np.uint8]


@dataclass(frozen=True, eq=False, repr=False)
class Loops:
    """The counted loops of tables; see ``lower.counts``. Without loops all arrays are empty.

    By state, int32: ``of``, its loop, -1 outside of all; ``row``, the one that
    it stands for, most for themselves; ``twin``, of a row the one below and vice versa, -1
    without one; ``last``, what a row is in the last repetition, where one begins with it, else -1.
    By state, uint8: ``begins``, whether a repetition begins there, and ``is_below``.
    By loop, int32: ``low`` and ``high``, -1 without one.
    """

    of: Ids
    row: Ids
    twin: Ids
    last: Ids
    begins: Flags
    is_below: Flags
    low: Ids
    high: Ids


NO_LOOPS = Loops(
    *(np.zeros(0, dtype) for dtype in ("i4", "i4", "i4", "i4", "u1", "u1", "i4", "i4"))
)


@dataclass(frozen=True, eq=False, repr=False)
class Tables:
    """One automaton per nonterminal, all numbered together.

    States are 0 .. n-1; ``entry[r]`` is the first state of nonterminal ``r`` and
    ``accepting[s]`` says that the nonterminal of ``s`` may be complete there. The edges of
    state ``s`` are the slices ``x_start[s] : x_start[s + 1]`` of three kinds of columns:

    - ``edge_class``, ``edge_target``: on a byte of that class, go there; by class;
    - ``call_nonterminal``, ``call_return``: after that nonterminal, go there; where ``call_tail``
      nothing can follow the return, so that the caller is complete when the callee is;
    - ``token_terminal``, ``token_target``: on one token of ``token_terminals[...]``, go there.

    Everything is trimmed: each state is reachable and can reach acceptance, and a call consumes at
    least one byte or token (that a nonterminal may be empty is built into its callers). ``classes``
    is uint8[256]; all other arrays are int32, flags bool. The repetitions in ``loops`` are here as
    if they had no bounds.
    """

    names: tuple[str, ...]
    start: int
    start_is_nullable: bool
    classes: npt.NDArray[np.uint8]
    entry: Ids
    accepting: npt.NDArray[np.bool_]
    edge_start: Ids
    edge_class: Ids
    edge_target: Ids
    call_start: Ids
    call_nonterminal: Ids
    call_return: Ids
    call_tail: npt.NDArray[np.bool_]
    token_start: Ids
    token_terminal: Ids
    token_target: Ids
    token_terminals: tuple[TokenTerminal, ...]
    loops: Loops = NO_LOOPS

    @property
    def state_count(self) -> int:
        """Number of states of all nonterminals."""
        return len(self.accepting)

    @cached_property
    def class_count(self) -> int:
        """Number of byte classes."""
        return max(self.classes.tobytes()) + 1

    @property
    def bytes(self) -> int:
        """The memory that the arrays take."""
        arrays = (*vars(self).values(), *vars(self.loops).values())
        return sum(array.nbytes for array in arrays if isinstance(array, np.ndarray))

    def dump(self) -> str:
        """Return a numbered listing, one state a line; ``>`` marks entries, ``*`` acceptance."""
        entries = {int(state): name for state, name in zip(self.entry, self.names, strict=True)}
        return "\n".join(self._dump_state(state, entries) for state in range(self.state_count))

    def _dump_state(self, state: int, entries: dict[int, str]) -> str:
        head = f"{'>' if state in entries else ' '}{'*' if self.accepting[state] else ' '}{state}"
        if state in entries:
            head += f" ({entries[state]})"
        return " ".join([head + ":", *self._dump_edges(state)])

    def _dump_edges(self, state: int) -> list[str]:
        edges = range(self.edge_start[state], self.edge_start[state + 1])
        calls = range(self.call_start[state], self.call_start[state + 1])
        tokens = range(self.token_start[state], self.token_start[state + 1])
        return [
            *(f"{self.edge_class[i]}->{self.edge_target[i]}" for i in edges),
            *(self._dump_call(i) for i in calls),
            *(f"token{self.token_terminal[i]}->{self.token_target[i]}" for i in tokens),
        ]

    def _dump_call(self, call: int) -> str:
        tail = " tail" if self.call_tail[call] else ""
        return f"{self.names[self.call_nonterminal[call]]}{tail}->{self.call_return[call]}"
