"""Several tables as one: behind one another, over classes that all of them share.

Row 0 is dead in all tables; the last row is for what a partial table does not hold, and is masked
like a dead one.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from kbnf_core.device.build import MISS
from kbnf_core.device.table import DEAD, NEVER, TokenTable

_Int64 = npt.NDArray[np.int64]


class FlatTable:
    """The rows of all tables; ``width``: of the logits, at least that of the tables.

    ``transitions``: int32[rows, classes]. ``allowed``: bool[rows, classes], what is masked, with
    the ids that end a sequence where nothing can come. ``starts``: the row of each table's
    beginning. ``missing``: the last row. Raises ``ValueError`` for tables over several
    vocabularies.
    """

    def __init__(self, tables: Sequence[TokenTable], width: int | None) -> None:
        if not tables:
            raise ValueError("a group needs at least one table")
        if len({table.fingerprint for table in tables}) > 1:
            raise ValueError("the tables of a group must be over one vocabulary")
        self._size = max(len(table.token_class) for table in tables)
        if width is not None and width < self._size:
            raise ValueError(f"width {width} is less than the tables' {self._size}")
        joint = _common_classes([self._padded(table) for table in tables], width or self._size)
        self.token_class, first = joint
        self.transitions = np.zeros((1, len(first)), np.int32)
        self.allowed = _or_all(self._ends(tables, first))[None, :]
        self.accepting = np.zeros(1, np.bool_)
        self.final = np.zeros(1, np.bool_)
        self.waiting = np.zeros(1, np.bool_)
        self.starts: list[int] = []
        count = sum(len(table.transitions) - 1 for table in tables) + 1
        for table in tables:
            self._append(table, first, count)
        self.missing = count
        self.transitions = np.concatenate(
            (self.transitions, np.full((1, len(first)), count, np.int32))
        )
        self.allowed = np.concatenate((self.allowed, self.allowed[:1]))
        self.accepting = np.append(self.accepting, False)
        self.final = np.append(self.final, False)
        self.waiting = np.append(self.waiting, False)

    def _append(self, table: TokenTable, first: _Int64, count: int) -> None:
        offset = len(self.transitions) - 1
        classes = np.append(self._padded(table), NEVER)[first]
        rows = np.ascontiguousarray(table.transitions[1:, classes], np.int32)
        moved = np.where(rows > DEAD, rows + offset, rows)
        allowed = rows != DEAD
        # Nothing to go on with: the text is over, or the vocabulary cannot spell what comes.
        allowed[table.final[1:] | ~allowed.any(1)] = self.allowed[0]
        self.transitions = np.concatenate((self.transitions, np.where(rows == MISS, count, moved)))
        self.allowed = np.concatenate((self.allowed, allowed))
        self.accepting = np.concatenate((self.accepting, table.accepting[1:]))
        self.final = np.concatenate((self.final, table.final[1:]))
        self.waiting = np.concatenate((self.waiting, table.waiting[1:]))
        self.starts.append(offset + table.initial)

    def _padded(self, table: TokenTable) -> npt.NDArray[np.int32]:
        beyond = self._size - len(table.token_class)
        return np.pad(table.token_class.astype(np.int32), (0, beyond), constant_values=NEVER)

    def _ends(self, tables: Sequence[TokenTable], first: _Int64) -> npt.NDArray[np.bool_]:
        classes = np.append(self._padded(tables[0]), NEVER)[first]
        ends: npt.NDArray[np.bool_] = tables[0].end[classes]
        return ends


def _or_all(ends: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Return the classes that empty rows are masked to: without an end, nothing is constrained."""
    return ends if ends.any() else np.ones_like(ends)


def _common_classes(
    maps: Sequence[npt.NDArray[np.int32]], width: int
) -> tuple[npt.NDArray[np.int32], _Int64]:
    """Return the coarsest classes that refine all maps, int32[width], and a token of each.

    Tokens beyond the maps get a class of their own, whose token is one behind the last.
    """
    classes = np.zeros(len(maps[0]), np.int64)
    for each in maps:
        _, classes = np.unique(classes * (int(each.max()) + 1) + each, return_inverse=True)
    _, first = np.unique(classes, return_index=True)
    token_class = np.full(width, len(first), np.int32)
    token_class[: len(classes)] = classes
    return token_class, np.append(first, len(classes))
