"""Automata of JSON strings of some lengths, in which a count is a state and not a rule.

Behind the states that count (``Lengths.counted``) come those that need not. Few sets of characters
label all of their edges, so these sets and the quotes are the symbols of one automaton, which is
minimised before its symbols are spelt in bytes: then it is small.
"""

from functools import lru_cache

from kbnf_core.automata.codepoints import NO_BLOCK, CodePoints, Partition, from_ranges, partition
from kbnf_core.automata.determinise import minimise
from kbnf_core.automata.dfa import ACCEPT, DEAD, Dfa, SymbolDfa
from kbnf_core.automata.regex import compile_regex
from kbnf_core.automata.spell import letters_of, spell
from kbnf_core.budget import Budget
from kbnf_core.languages.json_schema.atoms import Length
from kbnf_core.languages.json_schema.characters import Spelling
from kbnf_core.languages.json_schema.lengths import Lengths

MOST_STATES = 200_000
"""States over bytes."""


def counted(lengths: Lengths, length: Length, most: int, spelling: Spelling, budget: Budget) -> Dfa:
    """Return the JSON texts of the words, of which there are some, that have some length.

    Raises LimitError beyond ``most`` states that count, or ``MOST_STATES``.
    """
    sets = dict.fromkeys(points for row in lengths.words.edges for points, _ in row)
    blocks = partition(list(sets))
    members = dict(zip(sets, blocks.members, strict=True))
    dfa = _over_blocks(lengths, length, most, members, blocks.block_count, budget)
    texts = [_automaton(spelling.spell(points)) for points in _points(blocks)]
    return spell(minimise(dfa, budget), letters_of([*texts, _automaton('"')]), MOST_STATES, budget)


def _over_blocks(
    lengths: Lengths,
    length: Length,
    most: int,
    members: dict[CodePoints, tuple[int, ...]],
    quote: int,
    budget: Budget,
) -> SymbolDfa:
    """Return the words in quotes; ``quote`` is the symbol behind those of the blocks."""
    words = lengths.words
    counting, leaving = lengths.counted(length, most, budget, ends=())
    free = len(counting)
    edges = [[(points, to if to >= 0 else free - 1 - to) for points, to in row] for row in leaving]
    edges += [[(points, free + to) for points, to in row] for row in words.edges]
    accepting = [words.accepting[here] and count >= length.low for here, count in counting]
    accepting += words.accepting
    start, end = len(edges), len(edges) + 1
    rows = [[DEAD] * (quote + 1) for _ in range(end + 1)]
    for state, may_end in enumerate(accepting):
        row = rows[state]
        for points, target in edges[state]:
            for block in members[points]:
                row[block] = target
        if may_end:
            row[quote] = end
    rows[start][quote] = 0
    return SymbolDfa(rows, [*([0] * end), ACCEPT], [start])


def _points(blocks: Partition) -> list[CodePoints]:
    """Return the code points of each block."""
    found: list[list[tuple[int, int]]] = [[] for _ in range(blocks.block_count)]
    for place, block in enumerate(blocks.blocks):
        # What no set holds is last.
        if block != NO_BLOCK:
            found[block].append((blocks.starts[place], blocks.starts[place + 1] - 1))
    return [from_ranges(ranges) for ranges in found]


@lru_cache(maxsize=256)
def _automaton(regex: str) -> Dfa:
    compiled = compile_regex(regex)
    assert compiled.dfa is not None  # noqa: S101 - the expression is ours
    return compiled.dfa
