"""Classes of bytes as plain bytes: ``columns[byte]`` is the column of a byte in automata's rows.

Small automata are put together faster from lists than from arrays, and without waiting for NumPy.
"""

from collections.abc import Iterable, Sequence

from kbnf_core.automata.dfa import Dfa


def join(parts: Iterable[bytes]) -> bytes:
    """Return the coarsest classes that refine all the given ones.

    They are numbered from 0 without gaps, by first byte. Without any, all bytes are class 0.
    """
    distinct = list(dict.fromkeys(parts))
    if not distinct:
        return bytes(256)
    return _numbered(list(zip(*distinct, strict=True)))


def _numbered(keys: list[tuple[int, ...]]) -> bytes:
    """Return for each key the number of its first occurrence."""
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    return bytes(map(numbers.__getitem__, keys))


def separate(used: Iterable[int]) -> bytes:
    """Return classes in which every used byte is alone, and all others are together."""
    distinct = sorted(set(used))
    first = 0 if len(distinct) == 256 else 1
    columns = bytearray(256)
    for number, byte in enumerate(distinct, first):
        columns[byte] = number
    return bytes(columns)


def width(columns: bytes) -> int:
    """Return the number of classes."""
    return max(columns) + 1


def first_bytes(columns: bytes) -> list[int]:
    """Return the first byte of each class."""
    return [columns.index(number) for number in range(width(columns))]


def rows_over(dfa: Dfa, columns: bytes) -> list[list[int]]:
    """Return ``dfa.rows`` with one column per class of ``columns``, which refine its own."""
    chosen = [dfa.columns[byte] for byte in first_bytes(columns)]
    return [[row[column] for column in chosen] for row in dfa.rows]


def reduced(columns: bytes, rows: Sequence[Sequence[int]], ends: Sequence[bool]) -> Dfa:
    """Return an automaton in which the classes are one that it does not tell apart."""
    merged = _numbered(list(zip(*rows, strict=True)))
    joined = join([bytes(map(merged.__getitem__, columns))])
    chosen = [columns[byte] for byte in first_bytes(joined)]
    return Dfa.of_rows(joined, [[row[column] for column in chosen] for row in rows], ends)
