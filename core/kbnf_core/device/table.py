"""Token tables: transitions of a whole grammar over classes of tokens.

Row 0 is dead and column 0 is never allowed. All ways in which a text is over are one row, the
last, which goes on to itself with the ids that end a sequence, so that a batch may be padded.
Where a grammar has more states than are wanted, ``partial`` keeps the first ones, breadth first,
and marks what leads beyond with ``MISS``.

Several tables are after one another in a flat one, over classes that all of them share; its
last row is for what partial tables do not contain, and is masked like a dead one.

Tests: tests/unit/device/test_token_table.py
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from kbnf_core.artifact.manifest import ArtifactError
from kbnf_core.config import Finish
from kbnf_core.container import ContainerError, digest, read_container, write_container
from kbnf_core.device.build import MISS, build_table
from kbnf_core.grammar import Grammar
from kbnf_core.mask.masks import Masks
from kbnf_core.mask.token_automaton import TokenAutomaton
from kbnf_core.recognise.closing import MOST_STATES
from kbnf_core.recognise.states import StateTable
from kbnf_core.vocab.vocabulary import Vocabulary

FORMAT = 2
"""Of files; others are refused."""

KIND = "token-table"
"""The kind of file that the metadata name."""

DEAD = 0
"""The state, and the entry, after which nothing can occur."""

NEVER = 0
"""The class of tokens that are allowed nowhere."""

_Index = npt.NDArray[np.int32]
_Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class TokenTable:
    """The transitions of one grammar over the token classes of one vocabulary.

    ``transitions``: int16 or int32[states + 1, classes]; ``DEAD`` where a class is not allowed,
    ``MISS`` where it is but leads out of a partial table. ``token_class``: int16 or int32[width].
    ``accepting``: bool[states + 1], the text may end here. ``final``: bool[states + 1], it has.
    ``waiting``: bool[states + 1], what the grammar follows has not come, and all is free.
    ``initial``: the state before the first token. ``end``: bool[classes], the classes of ids that
    end a sequence; empty rows are masked to these, so that no row of logits is all minus infinity.
    """

    transitions: npt.NDArray[np.signedinteger[Any]]
    token_class: npt.NDArray[np.signedinteger[Any]]
    accepting: _Flags
    final: _Flags
    waiting: _Flags
    end: _Flags
    initial: int
    fingerprint: str
    finish: Finish

    @classmethod
    def build(
        cls,
        grammar: Grammar,
        vocabulary: Vocabulary,
        finish: Finish | str | None = None,
        max_states: int = MOST_STATES,
        *,
        partial: bool = False,
        width: int | None = None,
        after: str = "",
    ) -> "TokenTable":
        """Return the table of ``grammar``; ``width`` is that of the logits, if they are padded.

        ``after``: a text to wait for, as ``"</think>"``; until it has come, all tokens are allowed
        but those that end the sequence.
        Raises ``TableTooLargeError`` beyond ``max_states`` states, unless ``partial``, and where
        the work for it is bounded out.
        """
        way = grammar.finish if finish is None else Finish.parse(finish)
        size = vocabulary.size if width is None else width
        if size < vocabulary.size:
            raise ValueError(f"width {width} is less than the vocabulary's {vocabulary.size} ids")
        # States of its own: closing would fill up those that engines share. Of tables by
        # themselves: rows are numbered the same whatever this process knows of parts.
        masks = Masks(StateTable(grammar.tables), vocabulary)
        built = build_table(TokenAutomaton(masks, way), max_states, partial, size, after.encode())
        last = len(built.transitions) - 1
        end = np.zeros(built.transitions.shape[1], np.bool_)
        end[built.token_class[sorted(vocabulary.eos_token_ids)]] = True
        return cls(
            _narrow(built.transitions),
            _narrow(built.token_class),
            built.accepting,
            np.arange(last + 1) == last,
            built.waiting,
            end,
            1,
            vocabulary.fingerprint,
            way,
        )

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return sum(value.nbytes for value in self._arrays().values())

    @property
    def is_partial(self) -> bool:
        """Whether some entry leads out of the table."""
        return bool((self.transitions == MISS).any())

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if isinstance(value, np.ndarray)}

    def save(self, path: str | Path) -> None:
        """Write the table to ``path``, whole or not at all; raises ``OSError``."""
        arrays = self._arrays()
        about = {
            "kbnf": KIND,
            "format": FORMAT,
            "initial": self.initial,
            "fingerprint": self.fingerprint,
            "finish": self.finish.value,
            "digest": digest(arrays),
        }
        write_container(path, arrays, about)

    @classmethod
    def load(cls, path: str | Path) -> "TokenTable":
        """Read a table that ``save`` wrote; everything in it is checked.

        Raises ``SourceError`` for a file that cannot be read, ``ArtifactError`` for one that is not
        a table, is damaged, or is of another format.
        """
        try:
            arrays, about = read_container(path)
        except ContainerError as error:
            raise ArtifactError(str(path), error.reason) from None
        return _Checked(path, arrays, about).table()


def is_table(path: str | Path) -> bool:
    """Return whether a file is marked as a table; raises ``SourceError`` if it cannot be read."""
    try:
        return read_container(path)[1].get("kbnf") == KIND
    except ContainerError:
        return False


def _narrow(array: _Index) -> npt.NDArray[np.signedinteger[Any]]:
    """Return the array as int16 where its values fit."""
    fits = int(array.max(initial=0)) <= np.iinfo(np.int16).max
    return array.astype(np.int16) if fits else array


class _Checked:
    """The content of a file, taken apart with a check of each part."""

    def __init__(
        self, path: str | Path, arrays: dict[str, npt.NDArray[Any]], about: dict[str, Any]
    ) -> None:
        self._path = str(path)
        self._arrays = arrays
        self._about = about

    def table(self) -> TokenTable:
        """Return the table."""
        about, arrays = self._about, self._arrays
        if about.get("kbnf") != KIND:
            self._refuse("it is not a token table")
        if type(about.get("format")) is not int or about["format"] != FORMAT:
            self._refuse(f"its format is {about.get('format')!r}, and this version reads {FORMAT}")
        transitions = self._numbers("transitions", 2)
        token_class = self._numbers("token_class", 1)
        states, classes = transitions.shape
        initial = about.get("initial")
        if states < 2 or classes < 1 or type(initial) is not int or not 0 < initial < states:
            self._refuse("damaged: it has no initial state")
        accepting = self._flags("accepting", states)
        final = self._flags("final", states)
        waiting = self._flags("waiting", states)
        end = self._flags("end", classes)
        self._within("transitions", transitions, MISS, states)
        self._within("token_class", token_class, 0, classes)
        if (transitions[DEAD] != DEAD).any() or (transitions[:, NEVER] != DEAD).any():
            self._refuse("damaged: what is dead leads on")
        if about.get("digest") != digest(arrays):
            self._refuse("damaged: its digest is another one")
        fingerprint, finish = about.get("fingerprint"), about.get("finish")
        if not isinstance(fingerprint, str) or finish not in {member.value for member in Finish}:
            self._refuse("damaged: it names no vocabulary or no way to finish")
        way = Finish(finish)
        return TokenTable(
            transitions, token_class, accepting, final, waiting, end, initial, fingerprint, way
        )

    def _numbers(self, name: str, dimensions: int) -> npt.NDArray[np.signedinteger[Any]]:
        array = self._arrays.get(name)
        if array is None or array.ndim != dimensions or array.dtype not in (np.int16, np.int32):
            self._refuse(f"damaged: array {name!r} is missing or of another kind")
        return array

    def _flags(self, name: str, length: int) -> _Flags:
        array = self._arrays.get(name)
        if array is None or array.shape != (length,) or array.dtype != np.bool_:
            self._refuse(f"damaged: array {name!r} is missing or of another kind")
        return array

    def _within(self, name: str, array: npt.NDArray[Any], least: int, beyond: int) -> None:
        if array.size and not least <= int(array.min()) <= int(array.max()) < beyond:
            self._refuse(f"damaged: array {name!r} points outside")

    def _refuse(self, reason: str) -> NoReturn:
        raise ArtifactError(self._path, reason)


_Int64 = npt.NDArray[np.int64]


class FlatTable:
    """The rows of all tables; ``width``: of the logits, at least that of the tables.

    ``transitions``: int32[rows, classes]. ``allowed``: bool[rows, classes], the mask of each row,
    with the ids that end a sequence where nothing can occur. ``starts``: the row of each table's
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
        dead: tuple[npt.NDArray[Any], ...] = (
            np.zeros((1, len(first)), np.int32),
            _or_all(self._ends(tables, first))[None, :],
            *3 * (np.zeros(1, np.bool_),),
        )
        self.missing = sum(len(table.transitions) - 1 for table in tables) + 1
        self.starts: list[int] = []
        blocks, offset = [dead], 0
        for table in tables:
            blocks.append(self._block(table, first, offset, dead[1]))
            self.starts.append(offset + table.initial)
            offset += len(table.transitions) - 1
        blocks.append((dead[0] + self.missing, *dead[1:]))
        whole = map(np.concatenate, zip(*blocks, strict=True))
        self.transitions, self.allowed, self.accepting, self.final, self.waiting = whole

    def _block(
        self, table: TokenTable, first: _Int64, offset: int, ends: npt.NDArray[Any]
    ) -> tuple[npt.NDArray[Any], ...]:
        """Return the rows of a table after ``offset`` others."""
        classes = np.append(self._padded(table), NEVER)[first]
        rows = np.ascontiguousarray(table.transitions[1:, classes], np.int32)
        moved = np.where(rows > DEAD, rows + offset, rows)
        allowed = rows != DEAD
        # No token is allowed: the text is over, or the vocabulary cannot spell the rest.
        allowed[table.final[1:] | ~allowed.any(1)] = ends
        return (
            np.where(rows == MISS, self.missing, moved),
            allowed,
            table.accepting[1:],
            table.final[1:],
            table.waiting[1:],
        )

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

    Tokens beyond the maps get a class of their own, whose token is one after the last.
    """
    classes = np.zeros(len(maps[0]), np.int64)
    for class_map in maps:
        _, classes = np.unique(
            classes * (int(class_map.max()) + 1) + class_map, return_inverse=True
        )
    _, first = np.unique(classes, return_index=True)
    token_class = np.full(width, len(first), np.int32)
    token_class[: len(classes)] = classes
    return token_class, np.append(first, len(classes))
