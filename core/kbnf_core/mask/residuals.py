"""Residuals: the walks that the mask of one state needs, down the stack by its completions.

This is the plain form, in Python; the compiled kernel has the same.
"""

from collections.abc import Callable

from kbnf_core.mask.trie_walk import EMPTY_ROW, ROOT_SET, Walk
from kbnf_core.recognise.stack import BOTTOM
from kbnf_core.recognise.states import StateTable


def gather(
    states: StateTable, walk: Callable[[int, int], Walk], state: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return what ``MaskAssembler.gather`` does; ``walk`` takes an item set and a node set."""
    rows: set[int] = set()
    completions: set[int] = set()
    frames = _Frames(states)
    frames.begin(state)
    while frames.work:
        stack_node, item_set, nodes = frames.work.pop()
        found = walk(item_set, nodes)
        rows.add(found.row)
        for nonterminal, ended in found.completions:
            if frames.leave(stack_node, nonterminal, ended):
                completions.add(ended)
    return tuple(sorted(rows - {EMPTY_ROW})), tuple(sorted(completions))


class _Frames:
    """The work list of walks: item sets, each from a set of trie nodes.

    ``work`` holds (stack node, item set, number of the node set), each at most once.
    """

    def __init__(self, states: StateTable) -> None:
        self._states = states
        self._entered: set[tuple[int, int, int]] = set()
        self._left: set[tuple[int, int, int]] = set()
        self.work: list[tuple[int, int, int]] = []

    def begin(self, state: int) -> None:
        """Schedule a walk of every item set of ``state`` from the trie's root."""
        for stack_node, item_set in self._states.pairs(state):
            self._enter(stack_node, item_set, ROOT_SET)

    def leave(self, stack_node: int, nonterminal: int, nodes: int) -> bool:
        """Resume what waits in a stack node for ``nonterminal`` when it is complete at ``nodes``.

        Returns whether the start is complete there.
        """
        at_bottom = False
        complete = [(stack_node, nonterminal)]
        while complete:
            here, name = complete.pop()
            if (here, name, nodes) in self._left:
                continue
            self._left.add((here, name, nodes))
            at_bottom = at_bottom or here == BOTTOM
            for outer, after in self._states.stack.waiting(here, name):
                self._enter(outer, after, nodes)
                # What waited may be complete at once, with nothing more to come.
                complete.extend((outer, more) for more in self._states.items.completed(after))
        return at_bottom

    def _enter(self, stack_node: int, item_set: int, nodes: int) -> None:
        frame = (stack_node, item_set, nodes)
        if frame not in self._entered:
            self._entered.add(frame)
            self.work.append(frame)
