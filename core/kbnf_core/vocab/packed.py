"""The bytes of tokens in three arrays, which stand for a hundred thousand objects."""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, ValuesView
from itertools import pairwise
from operator import index
from typing import NamedTuple

import numpy as np
import numpy.typing as npt


class PackedTokens(Mapping[int, bytes]):
    """A mapping of ids to bytes, ascending, that makes the bytes when they are asked for.

    ``ids``: int32[n], ascending. ``starts``: int32[n + 1] and ``blob``: uint8; token i spells
    ``blob[starts[i]:starts[i + 1]]``. The arrays are not checked and not copied.
    """

    def __init__(
        self,
        ids: npt.NDArray[np.int32],
        starts: npt.NDArray[np.int32],
        blob: npt.NDArray[np.uint8],
    ) -> None:
        self.ids = ids
        self.starts = starts
        self.blob = blob
        # Single elements of a memoryview are read several times faster than those of an array.
        self._ids = ids.data
        self._starts = starts.data
        self._blob = blob.data

    def __getitem__(self, token_id: int) -> bytes:
        place = self._place(token_id)
        if place < 0:
            raise KeyError(token_id)
        return bytes(self._blob[self._starts[place] : self._starts[place + 1]])

    def __contains__(self, token_id: object) -> bool:
        return self._place(token_id) >= 0

    def __iter__(self) -> Iterator[int]:
        return iter(self._ids.tolist())

    def __len__(self) -> int:
        return len(self._ids)

    def values(self) -> ValuesView[bytes]:
        """Return the bytes of all tokens, which are read in one pass."""
        return _Spelled(self)

    def __reduce__(self) -> tuple[object, ...]:
        return PackedTokens, (self.ids, self.starts, self.blob)

    def _place(self, token_id: object) -> int:
        """Return where an id is in ``ids``, -1 if it is not there."""
        try:
            number = index(token_id)  # type: ignore[arg-type] # what is no number is no id
        except TypeError:
            return -1
        ids = self._ids
        # Most vocabularies number their tokens without a gap.
        place = number - ids[0] if len(ids) else 0
        if not 0 <= place < len(ids) or ids[place] != number:
            place = bisect_left(ids, number)
        return place if place < len(ids) and ids[place] == number else -1


class _Spelled(ValuesView[bytes]):
    _mapping: PackedTokens

    def __iter__(self) -> Iterator[bytes]:
        blob = self._mapping.blob.tobytes()
        return (blob[start:end] for start, end in pairwise(self._mapping.starts.tolist()))


class Spellings(NamedTuple):
    """The bytes of token i are ``blob[starts[i]:starts[i + 1]]``; of ids without any, none.

    ``starts``: int32[size + 1]. ``blob``: uint8.
    """

    starts: npt.NDArray[np.int32]
    blob: npt.NDArray[np.uint8]


def spell(tokens: PackedTokens, size: int) -> Spellings:
    """Return the tokens by id, below ``size``, which is above all ids."""
    ids, starts = tokens.ids, np.zeros(size + 1, np.int32)
    if len(ids) and ids[-1] - ids[0] == len(ids) - 1:
        # As almost always: one number after the other.
        starts[ids[0] : ids[-1] + 2] = tokens.starts
        starts[ids[-1] + 2 :] = tokens.starts[-1]
    else:
        starts[1:][ids] = np.diff(tokens.starts)
        np.cumsum(starts, out=starts)
    return Spellings(starts, tokens.blob)


def pack_tokens(tokens: Mapping[int, bytes]) -> PackedTokens:
    """Return the same tokens, packed. All of them together are shorter than 2**31 bytes."""
    ids = sorted(tokens)
    spellings = [tokens[token_id] for token_id in ids]
    starts = np.zeros(len(ids) + 1, np.int32)
    np.cumsum([len(data) for data in spellings], out=starts[1:])
    blob = np.frombuffer(b"".join(spellings), np.uint8)
    return PackedTokens(np.array(ids, np.int32), starts, blob)
