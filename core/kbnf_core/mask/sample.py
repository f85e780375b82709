"""Texts at random: some steps of a random walk, then the shortest way to the end."""

from dataclasses import dataclass
from random import Random

import numpy as np

from kbnf_core.mask.bits import Bitmask, unpack
from kbnf_core.mask.shortest import shortest_completion
from kbnf_core.mask.token_automaton import TokenAutomaton
from kbnf_core.vocab.trie import ROOT
from kbnf_core.vocab.vocabulary import Vocabulary

_READABLE = 16
"""Of so many draws, all but one take a printable character of ASCII if there is one."""


@dataclass(frozen=True, slots=True)
class Sample:
    """``tokens`` that were drawn; ``is_complete`` tells whether the text may end behind them."""

    tokens: tuple[int, ...]
    is_complete: bool


def sample(automaton: TokenAutomaton, position: int, random: Random, length: int) -> Sample:
    """Return tokens that can follow at ``position``: ``length`` of them, and then the soonest end.

    Fewer where the text ends before. What is drawn first is the first byte, all that can come
    being equally likely, and then a token that begins with it, so that the many tokens of one
    letter do not drown the few that close a bracket. Most draws keep to bytes that can be read.
    """
    tokens: list[int] = []
    while position >= 0 and len(tokens) < length:
        words = automaton.rule.mask(automaton.masks, position)
        if not words.any():
            return Sample(tuple(tokens), automaton.can_finish(position))
        tokens.append(_draw(automaton.masks.vocabulary, words, random))
        position = automaton.step(position, tokens[-1])
    rest = shortest_completion(automaton, position).tokens
    return Sample((*tokens, *(rest or ())), rest is not None)


def _draw(vocabulary: Vocabulary, words: Bitmask, random: Random) -> int:
    """Return one of the tokens of a mask that allows some; those without bytes are one group."""
    trie = vocabulary.trie
    flags = unpack(words, vocabulary.size)
    # allowed[i]: how many of the first i tokens, in the order of the trie, are allowed.
    allowed = np.concatenate(([0], np.cumsum(flags[trie.token_ids])))
    first = trie.children(ROOT)
    begin, end = trie.token_start[first], trie.token_start[trie.skip[first]]
    groups = np.flatnonzero(allowed[end] > allowed[begin]).tolist()
    if random.randrange(_READABLE):
        groups = [g for g in groups if 0x20 <= trie.byte[first[g]] < 0x7F] or groups
    flags[trie.token_ids] = False
    others = np.flatnonzero(flags).tolist()
    chosen = random.randrange(len(groups) + bool(others))
    if chosen == len(groups):
        return int(random.choice(others))
    group = groups[chosen]
    nth = random.randrange(int(allowed[begin[group]]), int(allowed[end[group]]))
    return int(trie.token_ids[np.searchsorted(allowed, nth, side="right") - 1])
