"""Which tokens can come, by accepting bytes: the judge of masks, tables, artifacts.

A token can come where its bytes can, one after another; where a text is over with the first byte
that completes it, none of them but the last may do so. There are no walks here, no slices and no
memory of masks: an engine over single bytes is asked about each byte, once at each of its
positions, and the tokens follow its answers, prefix by prefix. So every token of a real vocabulary
is judged in some milliseconds.
"""

from collections.abc import Iterable
from copy import copy

import numpy as np
import numpy.typing as npt

from kbnf_core import Engine, Grammar, Vocabulary
from kbnf_core.mask.bits import unpack
from kbnf_core.text.errors import RejectedError

Flags = npt.NDArray[np.bool_]
"""bool[size], by token id."""

DEAD = 0
"""The position of a text that does not begin any text of the language."""

START = 1
"""Where the empty text is."""

FINISHES = ("eager", "token", "eos")

MOST_PLACES = 1_000
"""Places of texts of one grammar; very ambiguous ones have more, and a table that is reset."""

BYTES = [bytes([value]) for value in range(256)]


class TooManyPlacesError(Exception):
    """There are more than ``MOST_PLACES``, and the result is unknown."""


class Prefixes:
    """The prefixes of a vocabulary's tokens, numbered from 0, the empty one, by length.

    ``levels``: for those of 1, 2, .. bytes, the prefix that each prolongs, int32[n], and the byte
    that does, uint8[n]. ``last``: the prefix that is all of each token, int32[size], 0 for those
    without bytes.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        ids = np.array(list(vocabulary.tokens), np.int64)
        lengths = np.array([len(data) for data in vocabulary.tokens.values()], np.int64)
        data = np.frombuffer(b"".join(vocabulary.tokens.values()), np.uint8)
        begins = np.cumsum(lengths) - lengths
        reached = np.zeros(len(ids), np.int64)
        self.levels: list[tuple[npt.NDArray[np.int32], npt.NDArray[np.uint8]]] = []
        self.count = 1
        for depth in range(int(lengths.max(initial=0))):
            longer = np.flatnonzero(lengths > depth)
            pairs = reached[longer] << 8 | data[begins[longer] + depth]
            unique, inverse = np.unique(pairs, return_inverse=True)
            self.levels.append(((unique >> 8).astype(np.int32), (unique & 255).astype(np.uint8)))
            reached[longer] = self.count + inverse
            self.count += len(unique)
        self.last = np.zeros(vocabulary.size, np.int32)
        self.last[ids] = reached


class Acceptance:
    """Where texts of one grammar are: a number for each position of an engine over single bytes.

    ``START`` is where ``text`` leads to, which must begin a text of the language.
    """

    def __init__(self, grammar: Grammar, prefixes: Prefixes, text: bytes = b"") -> None:
        self._prefixes = prefixes
        start = Engine(grammar, Vocabulary.bytes(), finish="eos")
        start.try_accept_new_bytes(text)
        self._engines: list[Engine | None] = [None, start]
        self._numbers = {start._position: START}
        self._after = np.full((2, 256), -1, np.int32)
        self._after[DEAD] = DEAD
        self._complete = np.array([False, start.can_finish()])

    def after(self, place: int, data: bytes) -> int:
        """Return where a text is that goes on with ``data``."""
        for byte in data:
            self._ask([place])
            place = int(self._after[place, byte])
        return place

    def is_complete(self, place: int) -> bool:
        """Return whether a text is in the language."""
        return bool(self._complete[place])

    def allowed(self, place: int, finish: str) -> Flags:
        """Return the tokens that can come where a text is that is not over."""
        reached = np.zeros(self._prefixes.count, np.int32)
        reached[0] = place
        count = 1
        for depth, (before, byte) in enumerate(self._prefixes.levels):
            places = reached[before]
            if depth and finish == "eager":
                places[self._complete[places]] = DEAD
            self._ask(np.flatnonzero(np.bincount(places)))
            alive = np.flatnonzero(places)
            reached[count + alive] = self._after[places[alive], byte[alive]]
            count += len(before)
        reached[0] = DEAD
        found: Flags = (reached != DEAD)[self._prefixes.last]
        if finish == "eos" and self.is_complete(place):
            found[sorted(self._prefixes.vocabulary.eos_token_ids)] = True
        return found

    def _ask(self, places: Iterable[int]) -> None:
        """Ask what every byte does at places where nobody asked yet."""
        for place in places:
            if len(self._engines) > MOST_PLACES:
                raise TooManyPlacesError
            if self._after[place, 0] < 0:
                self._after[place] = [self._accept(place, data) for data in BYTES]
        new = self._engines[len(self._after) :]
        if new:
            self._after = np.pad(self._after, ((0, len(new)), (0, 0)), constant_values=-1)
            complete = [engine is not None and engine.can_finish() for engine in new]
            self._complete = np.append(self._complete, complete)

    def _accept(self, place: int, data: bytes) -> int:
        engine = self._engines[place]
        assert engine is not None
        try:
            engine.try_accept_new_bytes(data)
        except RejectedError:
            return DEAD
        number = self._numbers.setdefault(engine._position, len(self._engines))
        if number == len(self._engines):
            self._engines.append(copy(engine))
        engine.rollback()
        return number


def mask_of(engine: Engine) -> Flags:
    """Return the mask of an engine where it is; rows of masks are never empty, this may be."""
    size = engine.vocabulary.size
    if engine.is_stuck():
        return np.zeros(size, np.bool_)
    words = np.zeros((size + 31) // 32, np.int32)
    engine.fill_bitmask(words)
    return unpack(words.view(np.uint32), size)


def accepted_by(engine: Engine, ids: Iterable[int]) -> list[int]:
    """Return the ids of tokens with bytes that an engine accepts, tried one by one."""
    found = []
    for token_id in ids:
        try:
            engine.try_accept_new_token(token_id)
        except RejectedError:
            continue
        engine.rollback()
        if engine.vocabulary.token(token_id) != b"":
            found.append(token_id)
    return found


def spelled(difference: Flags, vocabulary: Vocabulary) -> str:
    """Return how many tokens differ, and some of them."""
    ids = np.flatnonzero(difference).tolist()
    return f"{len(ids)} tokens: {[vocabulary.token(each) for each in ids[:8]]}"
