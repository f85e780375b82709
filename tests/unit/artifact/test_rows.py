"""Rows of bits in artifacts: those that are mostly zero are stored as pairs."""

import numpy as np
import pytest

from kbnf_core.artifact.snapshot import Rows, pack_words

ROWS = [
    np.zeros(5, np.uint32),
    np.array([0, 0, 2**31, 0, 0], np.uint32),
    np.array([1, 0, 0, 0, 7], np.uint32),
    np.array([1, 2, 3, 0, 0], np.uint32),
    np.full(5, 2**32 - 1, np.uint32),
]


def test_rows_are_read_as_they_were_packed() -> None:
    start, elements = pack_words(ROWS)
    rows = Rows(start, elements, 5)
    assert len(rows) == len(ROWS)
    assert [row.tolist() for row in rows] == [row.tolist() for row in ROWS]
    assert [row.tolist() for row in rows[1:3]] == [row.tolist() for row in ROWS[1:3]]
    with pytest.raises(IndexError):
        rows[len(ROWS)]


def test_a_row_takes_no_more_than_its_nonzero_words_twice() -> None:
    start, _ = pack_words(ROWS)
    assert np.diff(start).tolist() == [0, 2, 4, 5, 5]
