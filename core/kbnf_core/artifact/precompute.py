"""Masks made ahead for an artifact: walks, nearest the start first, within counted work and bytes.

Walks depend on item sets, not on input. The exploration follows item sets instead of texts: every
state one byte after an item set yields further ones, until there are no new ones. Then completions
are followed to every item set that can wait for them. What is left is made when an engine asks.

Work is that of ``mask.ahead``, trie nodes and states; a walk that another grammar made in this
process counts as if it were made here, so that equal input ends at the same place.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from kbnf_core.artifact.snapshot import packed_size
from kbnf_core.mask.ahead import counted_work
from kbnf_core.mask.masks import Masks
from kbnf_core.recognise.states import BOTTOM, EMPTY, StateTable

Progress = Callable[[int, int], None]
"""Called with the number of walks done, and of those known to be needed."""

_WALK_BYTES, _END_BYTES = 16, 8
"""What a walk takes, and each of its completions."""


@dataclass(slots=True)
class Made:
    """What was made ahead: the ``walks``; how many more were known to be needed; why they are left.

    ``limit``: ``work`` or ``bytes``, empty where none is left. ``states``: states that had no room
    in the artifact, of which there may be some all the same.
    """

    walks: int = 0
    left: int = 0
    limit: str = ""
    states: int = 0

    @property
    def is_cut(self) -> bool:
        """Whether anything is left."""
        return bool(self.limit or self.states)

    def __str__(self) -> str:
        what = f"{self.walks:,} walks were made ahead"
        if self.is_cut:
            what += f"; {self.left:,} or more, and {self.states:,} states, are left to be made"
            what += f" when they are needed (limit of {self.limit or 'bytes'})"
        return what


class Precompute:
    """The walks that ``masks`` can need, within ``work`` and within ``room`` bytes."""

    def __init__(self, masks: Masks, work: int, room: int, progress: Progress | None) -> None:
        self.made = Made()
        self.size = 0
        self._masks = masks
        self._work = work
        self._room = room
        self._progress = progress
        self._rows = self._node_sets = 0

    def run(self) -> Made:
        """Make them, and the mask of the initial state."""
        masks, made = self._masks, self.made
        masks.viable(masks.states.initial)
        self._count(0)
        # Everybody needs that one.
        self._work += counted_work(masks)
        for walk in (self._item_sets, self._exits):
            for completions, left in walk():
                made.walks += 1
                made.left = left
                self._count(completions)
                if self._progress:
                    self._progress(made.walks, made.walks + left)
                if left and self._is_over():
                    return made
        return made

    def _is_over(self) -> bool:
        if counted_work(self._masks) >= self._work:
            self.made.limit = "work"
        elif self.size >= self._room:
            self.made.limit = "bytes"
        return bool(self.made.limit)

    def _count(self, completions: int) -> None:
        """Add what the last walk takes in the file."""
        rows, node_sets = self._masks.found.rows, self._masks.found.node_sets
        self.size += _WALK_BYTES + _END_BYTES * completions
        self.size += sum(packed_size(rows[i]) for i in range(self._rows, len(rows)))
        self.size += sum(4 * len(node_sets[i]) + 4 for i in range(self._node_sets, len(node_sets)))
        self._rows, self._node_sets = len(rows), len(node_sets)

    def _item_sets(self) -> Iterator[tuple[int, int]]:
        """Walk every item set from the trie's root, in the order in which they are met.

        Yields the number of completions, and of the walks that are left.
        """
        masks = self._masks
        found: list[int] = []
        seen = {EMPTY}
        # What is far from all bounds of a count has the same walk and goes on in the same way.
        far = masks.counting.far_items
        scanner = _Scanner(masks.states)
        done = 0
        while True:
            fresh = set(map(far, scanner.scan())) - seen
            found.extend(sorted(fresh))
            seen |= fresh
            if done == len(found):
                break
            _step(masks.states, found[done])
            completions = masks.walk(found[done]).completions
            done += 1
            yield len(completions), len(found) - done
        self._walked = found

    def _exits(self) -> Iterator[tuple[int, int]]:
        """Walk from every completion on, for every item set that waits for it somewhere."""
        masks = self._masks
        waiting = _waiting(masks)
        work = [exit_ for item_set in self._walked for exit_ in masks.walk(item_set).completions]
        seen = set(work)
        while work:
            nonterminal, nodes = work.pop()
            for after in waiting.get(nonterminal, ()):
                found = masks.walk(after, nodes).completions
                # What completes at once leaves from the same nodes.
                more = [(each, nodes) for each in masks.states.items.completions(after)]
                fresh = [exit_ for exit_ in (*found, *more) if exit_ not in seen]
                seen.update(fresh)
                work.extend(fresh)
                yield len(found), len(work)


def _step(states: StateTable, item_set: int) -> None:
    """Find the states one byte after an item set."""
    state = states.explorer.begin(item_set)
    for byte_class in states.explorer.live_classes(state):
        states.explorer.after(state, byte_class)


class _Scanner:
    """Scans a growing table for reachable item sets."""

    def __init__(self, states: StateTable) -> None:
        self._states = states
        self._next_state = 0
        self._next_node = 0

    def scan(self) -> set[int]:
        """Return the item sets of the states and stack nodes added since the last call."""
        found = {
            item_set
            for state in range(self._next_state, len(self._states))
            for _, item_set in self._states.pairs(state)
        }
        self._next_state = len(self._states)
        stack = self._states.stack
        for stack_node in range(self._next_node, len(stack)):
            # What waits goes on as soon as a nonterminal ends, perhaps with the token.
            found.update(
                self._states.items.without_ends(after) for _, _, after in stack.edges(stack_node)
            )
        self._next_node = len(stack)
        return found


def _waiting(masks: Masks) -> dict[int, list[int]]:
    """Return, per nonterminal, the item sets that wait for it in any stack node."""
    waiting: dict[int, dict[int, None]] = {}
    stack = masks.states.stack
    for stack_node in range(BOTTOM + 1, len(stack)):
        for nonterminal, _, after in stack.edges(stack_node):
            waiting.setdefault(nonterminal, {})[after] = None
    return {nonterminal: list(sets) for nonterminal, sets in waiting.items()}
