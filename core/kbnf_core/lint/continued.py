"""Texts of a grammar that continue another one, which ``finish=eager`` can never write.

The search goes breadth first over the states of recognition, so the complete text is a shortest
one of those that can be continued; the continuation follows the lengths to the end. Whether there
is such a text is undecidable in general, so the search is bounded.

``finish=token`` writes such a text where a token goes on past the complete one. Over a vocabulary
the search follows, beside the state, the trie nodes of the tokens that may be under way.

Tests: tests/unit/lint/test_token_finish.py
"""

from collections import deque
from functools import partial
from math import inf
from typing import NamedTuple, TypeAlias

from kbnf_core.lower.tables import Tables
from kbnf_core.mask.completion import MAX_LENGTH, readable_bytes, unreadability
from kbnf_core.recognise.closing import DistanceToEnd
from kbnf_core.recognise.states import DEAD, StateTable
from kbnf_core.text.budget import Budget
from kbnf_core.vocab.trie import ROOT, TokenTrie


class Prolonged(NamedTuple):
    """Two texts of a grammar: ``shorter`` is a proper prefix of ``longer``, and not empty."""

    shorter: bytes
    longer: bytes


def find_continued(tables: Tables, budget: Budget) -> Prolonged | None:
    """Return two texts as they are looked for; None where there are none.

    Texts with token terminals are not looked at, nor those beyond ``MAX_LENGTH``. Raises
    WorkLimitError where ``budget`` is used up; parts of states are steps.
    """
    states = StateTable(tables)
    left: DistanceToEnd | None = None
    ways = readable_bytes(tables.classes)
    texts = {states.initial: b""}
    pending = deque(texts)
    while pending:
        state = pending.popleft()
        text = texts[state]
        share = 1 + len(states.pairs(state))
        goes_on = False
        for byte_class, byte in ways:
            budget.spend(share)
            after = states.step(state, byte_class)
            if after != DEAD:
                goes_on = True
                if after not in texts:
                    texts[after] = text + bytes((byte,))
                    pending.append(after)
        if text and goes_on and states.completions(state):
            # Only here, since the lengths of a large grammar take longer than the search.
            left = left or DistanceToEnd(states, inf)
            if left.length(state, budget) <= MAX_LENGTH:
                return Prolonged(text, text + _completion(states, left, state, ways, budget))
    return None


def find_cut(tables: Tables, trie: TokenTrie, budget: Budget) -> Prolonged | None:
    """Return a text that no tokens write with ``finish=token``, and a complete one it begins with.

    None where the tokens that spell a text can always be chosen so that none but the last ends
    where the text is complete. Token terminals are not looked at. Raises WorkLimitError as
    ``find_continued`` does.
    """
    states = StateTable(tables)
    root = frozenset((ROOT,))
    # Nodes of all ways to cut the text into tokens, and of those that do not finish before its end.
    first = (states.initial, root, root)
    texts = {first: b""}
    pending = deque(texts)
    below = partial(_children_by_byte, trie, {})
    while pending:
        state, free, going_on = key = pending.popleft()
        text = texts[key]
        for byte in sorted({byte for node in free for byte in below(node)}, key=unreadability):
            budget.spend(1 + len(states.pairs(state)) + len(free))
            after = states.step(state, tables.classes[byte])
            if after == DEAD:
                continue
            spelled, written = (
                frozenset(below(node)[byte] for node in nodes if byte in below(node))
                for nodes in (free, going_on)
            )
            is_complete = bool(states.completions(after))
            if is_complete and _ends(trie, spelled) and not _ends(trie, written):
                return Prolonged(_first_complete(states, text), text + bytes((byte,)))
            if _ends(trie, spelled):
                spelled |= root
            if _ends(trie, written) and not is_complete:
                written |= root
            following = after, spelled, written
            if following not in texts:
                texts[following] = text + bytes((byte,))
                pending.append(following)
    return None


_Nodes: TypeAlias = frozenset[int]


def _children_by_byte(
    trie: TokenTrie, cache: dict[int, dict[int, int]], node: int
) -> dict[int, int]:
    """Return the children of a node by their bytes, which ``cache`` remembers."""
    if node not in cache:
        children = trie.children(node)
        cache[node] = dict(zip(trie.byte[children].tolist(), children.tolist(), strict=True))
    return cache[node]


def _ends(trie: TokenTrie, nodes: _Nodes) -> bool:
    return any(len(trie.ids(node)) for node in nodes)


def _first_complete(states: StateTable, text: bytes) -> bytes:
    """Return the shortest complete text that ``text`` begins with, which may be ``text`` itself."""
    ends = (end for end in range(1, len(text)) if _is_complete(states, text[:end]))
    return text[: next(ends, len(text))]


def _is_complete(states: StateTable, text: bytes) -> bool:
    state, _ = states.feed(states.initial, text)
    return bool(states.completions(state))


def _completion(
    states: StateTable,
    left: DistanceToEnd,
    state: int,
    ways: list[tuple[int, int]],
    budget: Budget,
) -> bytes:
    """Return a shortest text, not empty, that completes the start from ``state`` on."""
    result = bytearray()
    for distance in range(int(left.length(state, budget)) - 1, -1, -1):
        for byte_class, byte in ways:
            budget.spend(1 + len(states.pairs(state)))
            after = states.step(state, byte_class)
            if after != DEAD and _is_within(states, left, after, distance, budget):
                result.append(byte)
                state = after
                break
    return bytes(result)


def _is_within(
    states: StateTable, left: DistanceToEnd, state: int, distance: int, budget: Budget
) -> bool:
    if distance == 0:
        return bool(states.completions(state))
    return left.length(state, budget) == distance
