"""Forced continuations: the bytes, or tokens, with which every text from a position begins.

A byte is forced where no other can come. Forced *tokens* are those that the tokenizer itself writes
for these bytes. What it writes for the last of them depends on what follows: a longer token may
stand there. With every tokenizer here (byte pairs, unigrams, longest match) the tokens up to a
boundary are those of the text up to that boundary. So each place at which a token can begin that
reaches beyond the forced bytes is tried as the last boundary, and the tokens on which all these
encodings agree are certain.

This is the plain form; the compiled kernel has the same two classes.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from kbnf_core.kernel.interface import TrieArrays

Context: TypeAlias = tuple[int | bytes, ...]

_CONTEXT = 8
"""Tokens of the past that are encoded along: the first new token depends on a few at most."""

_MOST_BYTES = 1_024
"""Forced bytes that are looked at together; after their tokens it goes on with the next ones."""

_MOST_KNOWN = 65_536
"""Positions, with texts before them, that are remembered."""

_DEAD = 0

_CONTINUES = 0b10
"""The first two bits of a byte of UTF-8 that continues a character."""


class _Certain(NamedTuple):
    """``tokens`` come for certain; the text is at ``after`` then."""

    tokens: tuple[int, ...]
    after: int


_NOTHING = _Certain((), _DEAD)


class PlainTexts:
    """See ``interface.Texts``."""

    def __init__(self, vocabulary: Any, encoded: Mapping[bytes, tuple[int, ...]]) -> None:
        self.trie: TrieArrays = vocabulary.trie
        self.can_encode: bool = vocabulary.can_encode
        self.ends: frozenset[int] = vocabulary.eos_token_ids
        self._spellings = vocabulary.spellings
        self._encoded = encoded

    def context(self, before: Sequence[int | bytes]) -> Context:
        """Return the last of what comes before, behind the last token without bytes."""
        last = before[-_CONTEXT:]
        is_empty = [isinstance(what, int) and not self._spelled(what) for what in last]
        return tuple(last[len(last) - [*reversed(is_empty), True].index(True) :])

    def boundaries(self, tokens: Sequence[int]) -> list[int]:
        """Return the places in the text of ``tokens`` at which they end."""
        return list(accumulate(len(self._spelled(each)) for each in tokens))

    def encode_after(self, context: Context, data: bytes) -> tuple[int, ...]:
        """Return the tokens of ``data`` after ``context``; none where none begins with it."""
        before = [each if isinstance(each, bytes) else self._spelled(each) for each in context]
        tokens = self._encoded[b"".join(before) + data]
        found = tokens[self._end_of_context(tokens, context, len(data)) :]
        spelled = [self._spelled(each) for each in found]
        return found if all(spelled) and b"".join(spelled) == data else ()

    def _end_of_context(self, tokens: tuple[int, ...], context: Context, left: int) -> int:
        """Return how many tokens the context has; all where none ends with it."""
        if tokens[: len(context)] == context:
            return len(context)
        # A context that begins within a text may be cut in another way at its beginning.
        count = len(tokens)
        while left > 0 and count:
            count -= 1
            left -= len(self._spelled(tokens[count]))
        # The tokenizer must have written the token before as it was accepted.
        last = context[-1] if context else None
        is_same = isinstance(last, bytes) or tokens[count - 1 : count] == (last,)
        return count if is_same and not left else len(tokens)

    def _spelled(self, token_id: int) -> bytes:
        starts, blob = self._spellings
        if token_id + 1 >= len(starts):
            return b""
        return bytes(blob[starts[token_id] : starts[token_id + 1]])


class PlainForced:
    """See ``interface.Forced``."""

    def __init__(self, automaton: Any, texts: PlainTexts) -> None:
        self._automaton = automaton
        self._table = automaton.masks.states
        self._texts = texts
        self._trie = texts.trie
        self._bytes: list[list[int]] = [[] for _ in range(self._table.next.shape[1])]
        for value, byte_class in enumerate(self._table.classes.tolist()):
            self._bytes[byte_class].append(value)
        self._written: dict[tuple[int, Context], _Certain] = {}

    def bytes_from(self, position: int, limit: int) -> bytes:
        """See ``interface.Forced``."""
        return self._follow(position, limit)[0]

    def find(self, position: int, accepted: Sequence[int | bytes], limit: int) -> list[int]:
        """See ``interface.Forced``."""
        forced: list[int] = []
        while position >= 0 and len(forced) < limit:
            written = _NOTHING
            if self._texts.can_encode and self._follow(position, 1)[0]:
                before = [*accepted[-_CONTEXT:], *forced[-_CONTEXT:]]
                written = self._find_written(position, self._texts.context(before))
            found, position = written if written.tokens else self._find_single(position)
            if not found:
                break
            forced.extend(found)
        return forced[: max(limit, 0)]

    def _follow(self, state: int, limit: int) -> tuple[bytes, list[int]]:
        """Return the forced bytes, and the state after each."""
        data, states = bytearray(), list[int]()
        while state >= 0 and len(data) < limit:
            values = self._values(state)
            over = self._table.has_completions[state] or self._automaton.can_finish(state)
            if len(values) != 1 or over or self._table.token_terminals(state):
                break
            state = self._step(state, values[0])
            data.append(values[0])
            states.append(state)
        return bytes(data), states

    def _find_single(self, position: int) -> _Certain:
        """Return the one token that can come; nothing where there are several."""
        automaton = self._automaton
        if self._table.token_terminals(position):
            only = automaton.only_token(position)
            ids = [] if only is None else [only]
        else:
            ids = self._tokens(position)
            if automaton.can_finish(position):
                ids += self._texts.ends
        if len(ids) != 1:
            return _NOTHING
        return _Certain((ids[0],), automaton.step(position, ids[0]))

    def _tokens(self, state: int) -> list[int]:
        """Return the tokens whose bytes may come, some two where there are more."""
        trie, found, eager = self._trie, list[int](), self._automaton.rule.ends_at_bytes
        open_nodes = [(0, state)]
        while open_nodes and len(found) < 2:
            node, before = open_nodes.pop()
            found += trie.token_ids[trie.token_start[node] : trie.token_start[node + 1]].tolist()
            if node and eager and self._table.has_completions[before]:
                continue
            for child in reversed(trie.children(node).tolist()):
                after = self._step(before, int(trie.byte[child]))
                if after != _DEAD:
                    open_nodes.append((child, after))
        return found

    def _find_written(self, position: int, context: Context) -> _Certain:
        """Return what the tokenizer certainly writes at a position after a context."""
        found = self._written.get((position, context))
        if found is None:
            if len(self._written) >= _MOST_KNOWN:
                self._written.clear()
            found = self._written[position, context] = self._write(position, context)
        return found

    def _write(self, position: int, context: Context) -> _Certain:
        data, states = self._follow(position, _MOST_BYTES)
        found = self._find_certain(context, data, self._automaton.settle(states[-1]))
        if not found:
            return _NOTHING
        # Where the forced bytes were looked at whole, none is certain after the last of these
        # tokens: the encodings part there.
        return self._keep(context, found, states, is_whole=len(data) < _MOST_BYTES)

    def _find_certain(self, context: Context, data: bytes, after: int) -> tuple[int, ...]:
        """Return the tokens on which the encodings up to each possible last boundary agree."""
        ends = sorted({_whole_characters(data, end) for end in self._last_ends(data, after)})
        if not ends[0]:
            return ()
        longest = ends.pop()
        shared = self._texts.encode_after(context, data[:longest])
        known = {end: count for count, end in enumerate(self._texts.boundaries(shared), 1)}
        for end in reversed(ends):
            # The tokens up to a boundary are those of the text up to there.
            if end in known:
                shared = shared[: known[end]]
            else:
                shared = _shared_start(shared, self._texts.encode_after(context, data[:end]))
        return shared

    def _last_ends(self, data: bytes, after: int) -> Iterator[int]:
        """Yield where in ``data`` the last token may end, if ``after`` is the position after it.

        At its end, or where a token begins that goes on with a byte that may come.
        """
        coming = set(self._values(after)) if after > _DEAD else set()
        for place in range(max(0, len(data) - int(self._trie.depth.max())), len(data)):
            if coming & self._children(data[place:]).keys():
                yield place
        yield len(data)

    def _keep(
        self, context: Context, found: tuple[int, ...], states: Sequence[int], *, is_whole: bool
    ) -> _Certain:
        """Return tokens of forced bytes with the position after them, and remember what is between.

        Whoever asks before every token asks there next.
        """
        *between, last = self._texts.boundaries(found)
        after = self._automaton.settle(states[last - 1])
        for count, end in enumerate(between, 1):
            before = self._texts.context((*context, *found[:count]))
            self._written[states[end - 1], before] = _Certain(found[count:], after)
        if is_whole:
            self._written[after, self._texts.context((*context, *found))] = _NOTHING
        return _Certain(found, after)

    def _values(self, state: int) -> list[int]:
        return [value for each in self._table.live_plainly(state) for value in self._bytes[each]]

    def _step(self, state: int, value: int) -> int:
        after: int = self._table.explorer.feed(state, bytes((value,)), False)[0]
        return after

    def _children(self, data: bytes) -> dict[int, int]:
        """Return the nodes one byte below the node that ``data`` leads to, by that byte."""
        node = 0
        for value in data:
            node = self._below(node).get(value, 0)
            if not node:
                return {}
        return self._below(node)

    def _below(self, node: int) -> dict[int, int]:
        children = self._trie.children(node)
        return dict(zip(self._trie.byte[children].tolist(), children.tolist(), strict=True))


def _shared_start(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    """Return the longest tuple with which both begin."""
    pairs = enumerate(zip(one, other, strict=False))
    return one[: next((i for i, (a, b) in pairs if a != b), min(len(one), len(other)))]


def _whole_characters(data: bytes, end: int) -> int:
    """Return the greatest place up to ``end`` that is not within a character of UTF-8."""
    begin = end
    while begin and data[begin - 1] >> 6 == _CONTINUES:
        begin -= 1
    if begin and data[begin - 1] >= 0xC0:
        begin -= 1
    try:
        data[begin:end].decode()
    except UnicodeDecodeError:
        return begin
    return end
