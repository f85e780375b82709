"""Writing bytes as tokens without knowing the tokenizer: as few as can be, or always the longest.

Neither need be what the model's own tokenizer makes of the same bytes.
"""

from collections.abc import Iterator
from math import inf

from kbnf_core.vocab.trie import ABSENT, ROOT, TokenTrie


def fewest_tokens(trie: TokenTrie, data: bytes) -> tuple[int, ...] | None:
    """Return the fewest tokens that spell ``data``, None if none do."""
    counts = [0.0] + [inf] * len(data)
    last: list[tuple[int, int]] = [(0, 0)] * (len(data) + 1)
    for begin in range(len(data)):
        if counts[begin] == inf:
            continue
        for end, token_id in _tokens_at(trie, data, begin):
            if counts[begin] + 1 < counts[end]:
                counts[end] = counts[begin] + 1
                last[end] = begin, token_id
    return None if counts[-1] == inf else _trace(last)


def _trace(last: list[tuple[int, int]]) -> tuple[int, ...]:
    tokens, end = [], len(last) - 1
    while end:
        end, token_id = last[end]
        tokens.append(token_id)
    return tuple(reversed(tokens))


def _tokens_at(trie: TokenTrie, data: bytes, begin: int) -> Iterator[tuple[int, int]]:
    """Yield the tokens that stand at ``begin``, shortest first, as (where it ends, lowest id)."""
    node = ROOT
    for end in range(begin, len(data)):
        node = trie.child_on(node, data[end])
        if node == ABSENT:
            break
        if len(ids := trie.ids(node)):
            yield end + 1, int(ids[0])


def longest_tokens(trie: TokenTrie, data: bytes) -> tuple[int, ...] | None:
    """Return ``data`` as tokens, each the longest that stands there; None where none does."""
    tokens = []
    begin = 0
    while begin < len(data):
        longest = max(_tokens_at(trie, data, begin), default=None)
        if longest is None:
            return None
        begin, token_id = longest
        tokens.append(token_id)
    return tuple(tokens)
