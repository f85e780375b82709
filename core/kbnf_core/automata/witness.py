"""Example words of automata: the evidence that a finding shows."""

from collections.abc import Iterator

from kbnf_core.automata.columns import join, rows_over
from kbnf_core.automata.dfa import DEAD, Dfa
from kbnf_core.automata.errors import LimitError
from kbnf_core.limits import DEFAULT_LIMITS, Limits


def legible_bytes(columns: bytes) -> list[int]:
    """Return a byte of each class: a letter or digit if it has one, else what can be printed."""
    chosen: dict[int, int] = {}
    for byte in _MOST_LEGIBLE_FIRST:
        chosen.setdefault(columns[byte], byte)
    return [chosen[number] for number in range(len(chosen))]


def _legibility(byte: int) -> tuple[bool, bool, int]:
    char = chr(byte)
    return (
        not (char.isascii() and char.isalnum()),
        not (char.isascii() and char.isprintable()),
        byte,
    )


_MOST_LEGIBLE_FIRST = sorted(range(256), key=_legibility)


def common_word(left: Dfa, right: Dfa, limits: Limits = DEFAULT_LIMITS) -> bytes | None:
    """Return a shortest word of both, None if they have none in common.

    Walks both at once, breadth first. Raises LimitError beyond ``limits.regex_states`` pairs.
    """
    if left.is_empty or right.is_empty:
        return None
    columns = join([left.columns, right.columns])
    left_rows, right_rows = rows_over(left, columns), rows_over(right, columns)
    symbols = legible_bytes(columns)
    words: dict[tuple[int, int], bytes] = {(0, 0): b""}
    queue = [(0, 0)]
    for i, j in queue:
        if left.ends[i] and right.ends[j]:
            return words[i, j]
        for byte, pair in zip(symbols, zip(left_rows[i], right_rows[j], strict=True), strict=True):
            if DEAD not in pair and pair not in words:
                words[pair] = words[i, j] + bytes([byte])
                queue.append(pair)
        if len(queue) > limits.regex_states:
            raise LimitError("pairs of states", limits.regex_states)
    return None


def short_words(dfa: Dfa, symbols: list[tuple[int, int]], steps: int) -> Iterator[bytes]:
    """Yield words of ``dfa`` over a few bytes, shortest first, until ``steps`` prefixes are seen.

    ``symbols`` holds a byte to spell with and a class of ``dfa`` for each.
    """
    if dfa.is_empty:
        return
    queue = [(0, b"")]
    for state, word in queue:
        if dfa.ends[state]:
            yield word
        row = dfa.rows[state]
        for byte, symbol in symbols:
            target = row[symbol]
            if target != DEAD and len(queue) < steps:
                queue.append((target, word + bytes([byte])))
