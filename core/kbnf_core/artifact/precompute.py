"""Precomputation of all walks: they depend on item sets, not on input.

The exploration follows item sets instead of texts: every state one byte behind an item set yields
further ones, until there are no new ones. Then completions are followed to every item set that can
wait for them.
"""

from collections.abc import Callable

from kbnf_core.mask.masks import Masks
from kbnf_core.recognise.items import EMPTY
from kbnf_core.recognise.stack import BOTTOM
from kbnf_core.recognise.states import StateTable

Progress = Callable[[int, int], None]
"""Called with the number of walks done, and of those known to be needed."""

MAX_WALKS = 20_000
"""Walks to precompute at most; the rest of a larger grammar is computed on demand."""


def precompute(masks: Masks, progress: Progress | None = None) -> None:
    """Compute the walks that ``masks`` can need, and the mask of the initial state."""
    masks.viable(masks.states.initial)
    known = _walk_item_sets(masks, progress)
    _walk_exits(masks, known, progress)


def _walk_item_sets(masks: Masks, progress: Progress | None) -> list[int]:
    """Walk every item set from the trie's root; return them in the order they were met."""
    found: list[int] = []
    seen = {EMPTY}
    scanner = _Scanner(masks.states)
    done = 0
    while done < MAX_WALKS:
        fresh = scanner.scan() - seen
        found.extend(sorted(fresh))
        seen |= fresh
        if done == len(found):
            break
        _step(masks.states, found[done])
        masks.walk(found[done])
        done += 1
        if progress:
            progress(done, len(found))
    return found[:done]


def _step(states: StateTable, item_set: int) -> None:
    """Find the states one byte behind an item set."""
    state = states.explorer.begin(item_set)
    for byte_class in states.explorer.live_classes(state):
        states.explorer.explore(state, byte_class)


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
            found.update(self._states.items.live(after) for _, _, after in stack.edges(stack_node))
        self._next_node = len(stack)
        return found


def _walk_exits(masks: Masks, item_sets: list[int], progress: Progress | None) -> None:
    """Walk from every completion on, for every item set that waits for it somewhere."""
    waiting = _waiting(masks)
    work = [exit_ for item_set in item_sets for exit_ in masks.walk(item_set).completions]
    seen = set(work)
    done = len(item_sets)
    while work:
        nonterminal, nodes = work.pop()
        for after in waiting.get(nonterminal, ()):
            if done == MAX_WALKS:
                return
            fresh = [exit_ for exit_ in masks.walk(after, nodes).completions if exit_ not in seen]
            # What completes at once leaves from the same nodes.
            completed = masks.states.items.completed(after)
            fresh += [(more, nodes) for more in completed if (more, nodes) not in seen]
            seen.update(fresh)
            work.extend(fresh)
            done += 1
            if progress:
                progress(done, done + len(work))


def _waiting(masks: Masks) -> dict[int, list[int]]:
    """Return, per nonterminal, the item sets that wait for it in any stack node."""
    waiting: dict[int, dict[int, None]] = {}
    stack = masks.states.stack
    for stack_node in range(BOTTOM + 1, len(stack)):
        for nonterminal, _, after in stack.edges(stack_node):
            waiting.setdefault(nonterminal, {})[after] = None
    return {nonterminal: list(sets) for nonterminal, sets in waiting.items()}
