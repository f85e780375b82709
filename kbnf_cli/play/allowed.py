"""The allowed tokens as lines: in groups by what they begin with, or one by one."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, overload

import numpy as np
import numpy.typing as npt

from kbnf_cli.escaped import escaped
from kbnf_cli.play.order import order_of
from kbnf_core.diagnostics.visible import cells, visible

if TYPE_CHECKING:
    from kbnf_core import Engine, Vocabulary

_EXAMPLES = 16
"""Tokens that a group's line shows at most."""


def allowed_ids(engine: "Engine") -> list[int]:
    """Return the ids allowed at the engine's position, ascending."""
    engine.compute_allowed_token_ids()
    return engine.get_allowed_token_ids_from_last_computation()


class Lines(Sequence[str]):
    """Lines that are made when they are shown: of many, only a page ever is."""

    def __init__(self, makers: Sequence[Callable[[], str]]) -> None:
        self._makers = makers

    def __len__(self) -> int:
        return len(self._makers)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> "Lines": ...
    def __getitem__(self, index: int | slice) -> "str | Lines":
        if isinstance(index, slice):
            return Lines(self._makers[index])
        return self._makers[index]()


def token_lines(vocabulary: "Vocabulary", ids: list[int], columns: int) -> Lines:
    """Return a line for each token, special ones first, then in the order of their bytes."""
    order = order_of(vocabulary)
    flags, special = order.split(ids)
    ordered = special + order.by_bytes[flags[order.by_bytes]].tolist()
    return Lines([partial(_token_line, vocabulary, each, columns) for each in ordered])


def _token_line(vocabulary: "Vocabulary", token_id: int, columns: int) -> str:
    return clip(f"{token_id:>8}  {spelled(vocabulary, token_id)}", columns)


def grouped_lines(vocabulary: "Vocabulary", ids: list[int], columns: int) -> Lines:
    """Return a line for each special token, and one for each first byte of the others."""
    titles = [escaped(bytes((byte,))) for byte in range(256)]
    return _grouped(vocabulary, ids, columns, np.arange(256), titles)


def summary_lines(vocabulary: "Vocabulary", ids: list[int], columns: int) -> Lines:
    """Return a line for each special token, and one for each kind that the others begin with."""
    return _grouped(vocabulary, ids, columns, _KIND_OF_BYTE, _KINDS)


def _grouped(
    vocabulary: "Vocabulary",
    ids: list[int],
    columns: int,
    group_of_byte: npt.NDArray[np.int64],
    titles: Sequence[str],
) -> Lines:
    order = order_of(vocabulary)
    flags, special = order.split(ids)
    ordered = order.by_length[flags[order.by_length]]
    groups = group_of_byte[order.first_byte[ordered]]
    makers = [partial(_token_line, vocabulary, each, columns) for each in special]
    for group in np.unique(groups).tolist():
        members = ordered[groups == group]
        makers.append(partial(_group, vocabulary, titles[group], members, columns))
    return Lines(makers)


_KINDS = ("blank", "digit", "letter", "sign", "control", "other")


def _kind(first: int) -> int:
    """Return the number of the kind of a first byte."""
    character = chr(first)
    tests = (
        character in " \t\n\r",
        character.isdigit(),
        character.isalpha(),
        character.isprintable(),
        True,
    )
    return tests.index(True) if first < 0x80 else len(tests)


_KIND_OF_BYTE = np.array([_kind(first) for first in range(256)])


def _group(vocabulary: "Vocabulary", title: str, ids: npt.NDArray[np.int32], columns: int) -> str:
    """Return the line of a group whose tokens are given by length: how many, and the first."""
    nearest = ids[:_EXAMPLES].tolist()
    parts = (f" {each} {spelled(vocabulary, each)}" for each in nearest)
    return "".join(_fitting(f"{title:>8} {len(ids):>7,}:", parts, columns))


def _fitting(head: str, parts: Iterable[str], columns: int) -> Iterator[str]:
    """Yield ``head`` and as many parts as the line has room for."""
    yield head
    room = columns - cells(head)
    for part in parts:
        room -= cells(part)
        if room < 0:
            return
        yield part


def spelled(vocabulary: "Vocabulary", token_id: int) -> str:
    """Return what to show for a token: its bytes in quotes, or the name of a special one."""
    data = vocabulary.token(token_id)
    if data is not None:
        return escaped(data)
    name = vocabulary.token_string(token_id)
    kind = "end of sequence" if token_id in vocabulary.eos_token_ids else "special"
    return kind if name is None else f"{visible(name)} ({kind})"


def clip(line: str, columns: int) -> str:
    """Return a line, cut off with an ellipsis where it is wider than ``columns`` cells."""
    if cells(line) <= columns:
        return line
    kept = []
    room = columns - 1
    for character in line:
        room -= cells(character)
        if room < 0:
            break
        kept.append(character)
    return "".join(kept) + "…"
