"""The types of the compiled module; the ``*.pxi`` files document what it does.

A table is a ``recognise.states.StateTable``, which imports this package: its type is ``Any`` here.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from kbnf_core.kernel._engine import Ends, Ids

class Derivations:
    positions: Any
    lists: Any
    made: int
    def __init__(self, table: Any, positions: Any) -> None: ...
    def size(self) -> tuple[int, int]: ...

class Trace:
    derived: Derivations
    size: int
    def __init__(self, derived: Derivations, most: int) -> None: ...
    def __len__(self) -> int: ...
    def read(self, data: bytes) -> int: ...
    def read_token(self, terminals: frozenset[int], token_id: int, size: int) -> bool: ...
    def expected(self) -> list[int]: ...
    def is_complete(self) -> bool: ...
    def tree(self) -> tuple[Ids, Ids, Ids, Ids]: ...
    def derivations(self, most: int) -> tuple[int, tuple[Ids, Ids, Ids, Ids] | None]: ...

class StreamedTrace(Trace):
    reported: int
    front: int
    settled: int
    def __copy__(self) -> StreamedTrace: ...
    def cut_to(self, size: int) -> None: ...
    def certain_events(self) -> tuple[Ids, Ids]: ...

INSERT: int
DELETE: int
REPLACE: int
SWAP: int
REWRITE: int
LEAD: int
CLOSE: int
TRAIL: int
STRIPPED: int

class Repairs:
    is_cut: bool
    spent: int
    def __init__(
        self,
        table: Any,
        ends: Ends,
        text: bytes,
        weights: Any,
        rewriters: tuple[Any, Any],
        spelled: npt.NDArray[np.uint8],
        order: npt.NDArray[np.uint8],
        count: int,
        most: float,
        work: int,
        states: int,
        is_eager: bool,
        may_be_empty: bool,
        invents: bool,
        is_begun: bool,
    ) -> None: ...
    def next(self) -> tuple[int, list[tuple[int, int, int, bytes, bool, int, int]], int] | None: ...
    def chooses(self, state: int, data: bytes) -> bool: ...
