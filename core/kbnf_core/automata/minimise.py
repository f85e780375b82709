"""Minimisation by refining only what changed.

After Jacobs & Wissmann, "Fast Coalgebraic Bisimilarity Minimization" (POPL 2023), for the
deterministic case: a block is split by the signatures of its *dirty* states, the largest part
keeps the block's number, and only predecessors of renumbered states become dirty. So a state
is looked at O(log n) times, and the work on it is a few C-speed calls.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from operator import itemgetter

from kbnf_core.automata.dfa import DEAD
from kbnf_core.automata.machine import Machine, predecessors, trim


def minimise(machine: Machine) -> Machine:
    """Return the smallest automaton that accepts the same from every start, trimmed."""
    trimmed = trim(machine)
    if len(trimmed.rows) < 2:
        return trimmed
    return _quotient(trimmed, _Partition(trimmed).refine())


def _quotient(machine: Machine, block: list[int]) -> Machine:
    representative = {block[state]: state for state in reversed(range(len(machine.rows)))}
    number = {name: index for index, name in enumerate(representative)}
    number[DEAD] = DEAD
    merged = Machine(
        rows=[
            [number[block[target]] for target in machine.rows[state]]
            for state in representative.values()
        ],
        tags=[machine.tags[state] for state in representative.values()],
        starts=[number[block[start]] for start in machine.starts],
    )
    return trim(merged)


def _signature(row: Sequence[int]) -> Callable[[list[int]], tuple[int, ...]]:
    """Return the function from the blocks of all states to the blocks that ``row`` leads to."""
    if len(row) == 1:
        return lambda block: (block[row[0]],)
    return itemgetter(*row)


class _Partition:
    """Blocks of states; ``block`` has one more element, so that ``block[DEAD]`` is DEAD."""

    def __init__(self, machine: Machine) -> None:
        self.sources = predecessors(machine)
        self.signature_of = [_signature(row) for row in machine.rows]
        self.block = [DEAD] * (len(machine.rows) + 1)
        self.members: list[set[int]] = []
        self.dirty: dict[int, set[int]] = {}
        by_tag: dict[int, set[int]] = defaultdict(set)
        for state, tag in enumerate(machine.tags):
            by_tag[tag].add(state)
        for states in by_tag.values():
            self._add(states)
            self.dirty[len(self.members) - 1] = set(states)

    def _add(self, states: set[int]) -> None:
        for state in states:
            self.block[state] = len(self.members)
        self.members.append(states)

    def refine(self) -> list[int]:
        """Return the block of each state, and DEAD last."""
        while self.dirty:
            name, states = self.dirty.popitem()
            if len(self.members[name]) > 1:
                self._split(name, states)
        return self.block

    def _split(self, name: int, dirty: set[int]) -> None:
        members = self.members[name]
        groups: dict[tuple[int, ...], set[int]] = defaultdict(set)
        for state in dirty:
            groups[self.signature_of[state](self.block)].add(state)
        clean = len(members) - len(dirty)
        if clean:
            # Clean states all have the signature that the whole block had before.
            witness = next(state for state in members if state not in dirty)
            same = groups.pop(self.signature_of[witness](self.block), set())
            parts = list(groups.values())
            if not parts:
                return
            largest = max(parts, key=len)
            if clean + len(same) < len(largest):
                parts.remove(largest)
                parts.append(members - dirty | same)
        else:
            parts = sorted(groups.values(), key=len)
            parts.pop()
        for part in parts:
            members -= part
            self._add(part)
        for part in parts:
            self._mark_sources(part)

    def _mark_sources(self, part: set[int]) -> None:
        for state in part:
            for source in self.sources[state]:
                self.dirty.setdefault(self.block[source], set()).add(source)
