"""Carry states from one table to a new one of the same grammar, by content."""

from kbnf_core.recognise.states import BOTTOM, SELF, StateTable, Triple


class Migration:
    """Copies the configurations of single states from ``old`` into ``new``, and nothing else."""

    def __init__(self, old: StateTable, new: StateTable) -> None:
        self._old = old
        self._new = new
        self._stack = {BOTTOM: BOTTOM}

    def position(self, position: int) -> int:
        """Return the new number of a state, or the complement of it for one that is over.

        What is counted beside a state, in the bits above, is kept.
        """
        if position < 0:
            return ~self.state(~position)
        count = position >> 32 << 32
        return count | self.state(position - count)

    def state(self, state: int) -> int:
        """Return the number in the new table of a state of the old one."""
        pairs = self._old.pairs(state)
        for stack_node, _ in pairs:
            self._copy_node(stack_node)
        moved = [(self._stack[stack_node], self._items(items)) for stack_node, items in pairs]
        return self._new.adopt(moved, self._old.completions(state))

    def _items(self, number: int) -> int:
        return self._new.items.number(self._old.items.items(number))

    def _copy_node(self, root: int) -> None:
        """Copy a stack node after the nodes it refers to; references form no cycle."""
        stack = [root]
        while stack:
            stack_node = stack[-1]
            edges = self._old.stack.edges(stack_node)
            missing = [t[1] for t in edges if t[1] != SELF and t[1] not in self._stack]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            if stack_node not in self._stack:
                self._stack[stack_node] = self._new.stack.intern(map(self._triple, edges))

    def _triple(self, triple: Triple) -> Triple:
        nonterminal, stack_node, after = triple
        return (
            nonterminal,
            SELF if stack_node == SELF else self._stack[stack_node],
            self._items(after),
        )
