"""Automata of JSON strings of some lengths, in which each count has states and no rule.

States that count (``Lengths.counted``) are followed by those that need not. Few sets of characters
label all their edges, so these sets, and the quotes around, are the symbols of one automaton. It is
minimised before its symbols are spelt, as each of its states takes many in bytes.
"""

from functools import lru_cache

from kbnf_core.automata.codepoints import CodePoints, Partition, from_ranges, partition
from kbnf_core.automata.determinise import minimise
from kbnf_core.automata.dfa import ACCEPT, DEAD, Dfa, SymbolDfa, empty
from kbnf_core.automata.regex import compile_regex
from kbnf_core.automata.spell import spell
from kbnf_core.budget import Budget
from kbnf_core.languages.json_schema.atoms import Length
from kbnf_core.languages.json_schema.characters import Spelling
from kbnf_core.languages.json_schema.lengths import Lengths

MOST_STATES = 200_000
"""States over bytes of one set of strings."""


def counted(lengths: Lengths, length: Length, most: int, spelling: Spelling, budget: Budget) -> Dfa:
    """Return the JSON texts of the words that have one of some lengths.

    Raises LimitError beyond ``most`` states that count, or ``MOST_STATES`` over bytes.
    """
    words = lengths.words
    states, rows = lengths.counted(length, most, budget, ends=())
    free = len(states)
    sets = list(dict.fromkeys(points for row in words.edges for points, _ in row))
    blocks = partition(sets)
    members = dict(zip(sets, blocks.members, strict=True))
    quote = blocks.block_count
    end, start = free + len(words.edges), free + len(words.edges) + 1
    table = [[DEAD] * (quote + 1) for _ in range(start + 1)]
    edges = [
        *([(points, free - 1 - to if to < 0 else to) for points, to in row] for row in rows),
        *([(points, free + to) for points, to in row] for row in words.edges),
    ]
    ends = [
        *(words.accepting[here] and count >= length.low for here, count in states),
        *words.accepting,
    ]
    for row, leaving, may_end in zip(table, edges, ends, strict=False):
        for points, to in leaving:
            for block in members[points]:
                row[block] = to
        if may_end:
            row[quote] = end
    table[start][quote] = 0
    tags = [ACCEPT * (state == end) for state in range(len(table))]
    small = minimise(SymbolDfa(table, tags, [start]), budget)
    if not small.rows:
        return empty()
    texts = [_text(points, spelling) for points in _sets(blocks)]
    return spell(small, [*texts, _regex('"')], MOST_STATES, budget)


def _sets(blocks: Partition) -> list[CodePoints]:
    """Return the code points of each block."""
    found: list[list[tuple[int, int]]] = [[] for _ in range(blocks.block_count)]
    ends = [start - 1 for start in blocks.starts[1:]]
    for low, high, block in zip(blocks.starts, ends, blocks.blocks, strict=False):
        if block >= 0:
            found[block].append((low, high))
    return [from_ranges(ranges) for ranges in found]


def _text(points: CodePoints, spelling: Spelling) -> Dfa:
    return _regex(spelling.spell(points))


@lru_cache(maxsize=256)
def _regex(text: str) -> Dfa:
    compiled = compile_regex(text)
    assert compiled.dfa is not None  # noqa: S101 - the expression is ours
    return compiled.dfa
