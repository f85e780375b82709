"""The cost of a grammar's masks, counted in trie nodes: the same on every machine.

A mask is assembled from walks, one for each item set of a state. The count is of the walk from each
single position of a rule. A rule that lowering inlined is counted in its callers.

*Equivalent positions*, those that no token of the vocabulary is long enough to tell apart, count
once: in ``x{0,100}``, whose count an engine keeps as a number, a position far from both bounds
behaves like its neighbours for as long as one token lasts. Partition refinement (Moore 1956),
stopped after as many rounds as the longest token has bytes, finds which are equal for that long.

Tests: tests/unit/lint/test_cost.py
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from kbnf_core.automata.chosen_kernel import AUTOMATA
from kbnf_core.lower.tables import Tables
from kbnf_core.mask.masks import Masks
from kbnf_core.recognise.states import DEAD
from kbnf_core.text.budget import Budget
from kbnf_core.vocab.trie import ROOT, TokenTrie

Ids = npt.NDArray[np.int32]

MOST_EDGES = 1_000_000
"""Edges of a grammar in which equivalent positions are looked for."""


@dataclass(slots=True)
class RuleWork:
    """The walks of one rule.

    ``positions``: places in it that differ, each with a walk. ``nodes``: trie nodes that all of
    these look at, with what they call; ``most``: that one of them looks at. ``mask_bytes``: what
    their masks take.
    """

    name: str
    positions: int = 0
    nodes: int = 0
    most: int = 0
    mask_bytes: int = 0


def rule_works(masks: Masks, budget: Budget) -> tuple[list[RuleWork], bool]:
    """Return the work of each rule, and whether ``budget``, in nodes, was enough for all.

    The last walk is counted whole, so that a little more may be spent.
    """
    works: dict[str, RuleWork] = {}
    rows: defaultdict[str, set[int]] = defaultdict(set)
    by_block: dict[int, tuple[int, int]] = {}
    for name, block, item_set in _positions(masks):
        if budget.left <= 0:
            return list(works.values()), False
        if block not in by_block:
            rows_here = masks.viable(masks.states.begin(item_set))
            row = masks.results.rows.number(masks.union(rows_here))
            by_block[block] = _count(masks, item_set), row
            budget.spent += by_block[block][0]
        nodes, row = by_block[block]
        rows[name].add(row)
        work = works.setdefault(name, RuleWork(name))
        work.positions += 1
        work.nodes += nodes
        work.most = max(work.most, nodes)
        work.mask_bytes = 4 * masks.word_count * len(rows[name])
    return list(works.values()), True


def _positions(masks: Masks) -> Iterator[tuple[str, int, int]]:
    """Yield the positions that differ within each rule: its name, their block and item set."""
    tables = masks.states.tables
    block_of = _blocks_of(tables, masks.vocabulary.trie.max_depth)
    for nonterminal, positions in _positions_of(tables):
        name = tables.names[nonterminal].partition("#")[0]
        blocks = {block_of[position]: position for position in reversed(positions)}
        for block, position in sorted(blocks.items()):
            yield (
                name,
                block,
                masks.states.items.intern([masks.states.items.pack(position, nonterminal)]),
            )


def _blocks_of(tables: Tables, rounds: int) -> list[int]:
    """Return the block of each automaton state: its class of equivalence for ``rounds`` bytes."""
    if len(tables.edge_target) > MOST_EDGES:
        return list(range(tables.state_count))
    source = np.concatenate((_sources(tables.edge_start), _sources(tables.call_start)))
    # A call is a symbol after the byte classes.
    calls = tables.class_count + 2 * tables.call_nonterminal + tables.call_tail
    symbol = np.concatenate((tables.edge_class, calls)).astype(np.int32)
    target = np.concatenate((tables.edge_target, tables.call_return))
    columns = (source.tobytes(), symbol.tobytes(), target.tobytes())
    return AUTOMATA.blocks(*columns, tables.accepting.tobytes(), rounds)


def _sources(starts: Ids) -> Ids:
    """Return the state of each edge."""
    return np.repeat(np.arange(len(starts) - 1, dtype=np.int32), np.diff(starts))


def _positions_of(tables: Tables) -> list[tuple[int, range]]:
    entries = sorted((first, number) for number, first in enumerate(tables.entry.tolist()))
    return [
        (number, range(first, end))
        for (first, number), (end, _) in pairwise([*entries, (tables.state_count, 0)])
    ]


def _count(masks: Masks, item_set: int) -> int:
    """Return how many trie nodes a walk from the root looks at."""
    states, trie = masks.states, masks.vocabulary.trie
    classes = states.tables.classes[trie.byte]
    nodes = trie.children(ROOT)
    before = np.full(len(nodes), states.begin(item_set), np.int32)
    count = 0
    while len(nodes):
        count += len(nodes)
        after = states.explorer.step_all(before, classes[nodes])
        alive = after != DEAD
        nodes, before = _children(trie, nodes[alive], after[alive])
    return count


def _children(trie: TokenTrie, nodes: Ids, states: Ids) -> tuple[Ids, Ids]:
    """Return the children of all nodes, each with the state at its parent."""
    begin, end = trie.child_start[nodes], trie.child_start[nodes + 1]
    count = end - begin
    shift = np.repeat(begin - (np.cumsum(count) - count), count)
    return trie.child[shift + np.arange(len(shift))], np.repeat(states, count)
