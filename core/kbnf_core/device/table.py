"""Token tables: transitions of a whole grammar over classes of tokens.

States are closed breadth first from the start. Each state's row gives the state after every token;
tokens whose columns agree so far share a class, and each new row splits classes where it tells
their tokens apart (partition refinement, one row at a time, linear in the vocabulary). What ends
is a table ``transitions[state, class]`` and ``token_class[token]``.

Row 0 is dead and column 0 is never allowed. All ways in which a text is over are one row, which
goes on to itself with the ids that end a sequence, so that a batch may be padded. Where a grammar
has more states than are wanted, ``partial`` keeps the first ones, breadth first, and marks what
leads beyond with ``MISS``.
"""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from kbnf_core.artifact.errors import ArtifactError
from kbnf_core.budget import Budget
from kbnf_core.config import Finish
from kbnf_core.container import ContainerError, digest, read_container, write_container
from kbnf_core.errors import KbnfError, WorkLimitError
from kbnf_core.grammar import Grammar
from kbnf_core.mask.successors import Successors
from kbnf_core.mask.token_automaton import TokenAutomaton
from kbnf_core.vocab.vocabulary import Vocabulary

FORMAT = 1
"""Of files; others are refused."""

DEAD = 0
"""The state, and the entry, after which nothing can come."""

MISS = -1
"""An entry that leads to a state which a partial table does not hold."""

NEVER = 0
"""The class of tokens that are allowed nowhere."""

MAX_WORK = 2**31
"""Trie nodes that building one table may follow; a state takes some hundred thousand."""

_Index = npt.NDArray[np.int32]
_Flags = npt.NDArray[np.bool_]


class TableTooLargeError(KbnfError, ValueError):
    """A grammar with more states than asked for; ``states`` were met before it was given up."""

    def __init__(self, states: int, reason: str) -> None:
        self.states = states
        super().__init__(
            f"the grammar does not close: {reason} (recursion and open objects have no end;"
            " `partial=True` keeps the first states)"
        )


@dataclass(frozen=True, eq=False)
class TokenTable:
    """The transitions of one grammar over the token classes of one vocabulary.

    ``transitions``: int16 or int32[states + 1, classes]; ``DEAD`` where a class is not allowed,
    ``MISS`` where it is but leads out of a partial table. ``token_class``: int16 or int32[width].
    ``accepting``: bool[states + 1], the text may end here. ``final``: bool[states + 1], it has.
    ``initial``: the state before the first token. ``end``: bool[classes], the classes of ids that
    end a sequence; empty rows are masked to these, so that no row of logits is all minus infinity.
    """

    transitions: npt.NDArray[np.signedinteger[Any]]
    token_class: npt.NDArray[np.signedinteger[Any]]
    accepting: _Flags
    final: _Flags
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
        max_states: int = 4096,
        *,
        partial: bool = False,
        width: int | None = None,
    ) -> "TokenTable":
        """Return the table of ``grammar``; ``width`` is that of the logits, if they are padded.

        Raises ``TableTooLargeError`` beyond ``max_states`` states, unless ``partial``, and where
        ``MAX_WORK`` is used up.
        """
        way = grammar.finish if finish is None else Finish.parse(finish)
        size = vocabulary.size if width is None else width
        if size < vocabulary.size:
            raise ValueError(f"width {width} is less than the vocabulary's {vocabulary.size} ids")
        builder = _Builder(grammar.token_automata.get(vocabulary, way), max_states, partial, size)
        return builder.build(vocabulary.fingerprint, way)

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
            "kbnf": "token-table",
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

        Raises ``SourceError`` for a file that cannot be read, ``ArtifactError`` for one that is
        no table, is damaged, or is of another format.
        """
        try:
            arrays, about = read_container(path)
        except ContainerError as error:
            raise ArtifactError(str(path), error.reason) from None
        return _Checked(path, arrays, about).table()


class _Builder:
    """Closes the states of one token automaton and refines the classes of its tokens."""

    def __init__(
        self, automaton: TokenAutomaton, max_states: int, partial: bool, width: int
    ) -> None:
        self._automaton = automaton
        self._vocabulary = automaton.masks.vocabulary
        self._max_states = max_states
        self._partial = partial
        self._budget = Budget(MAX_WORK)
        self._successors = Successors(automaton, self._budget)
        self._classes = _Classes(width)
        self._numbers: dict[int, int] = {automaton.beginning: 1}
        self._queue = [automaton.beginning]
        self._rows: list[tuple[_Index, _Index]] = []
        self._final = 0

    def build(self, fingerprint: str, finish: Finish) -> TokenTable:
        """Return the table."""
        ends = np.array(sorted(self._vocabulary.eos_token_ids), np.int32)
        self._classes.refine(ends, np.ones(len(ends), np.int32))
        try:
            for position in self._queue:
                self._rows.append(self._row(position, ends))
        except WorkLimitError:
            count = len(self._numbers)
            raise TableTooLargeError(count, f"{MAX_WORK:,} trie nodes were followed") from None
        return self._table(ends, fingerprint, finish)

    def _row(self, position: int, ends: _Index) -> tuple[_Index, _Index]:
        """Return a token of each way on from a position, and the states that they lead to."""
        if position < 0:
            ids, after = ends, np.full(len(ends), self._numbers[position], np.int32)
        else:
            ids, positions = self._successors.tokens(position)
            after = self._numbered(positions)
        self._classes.refine(ids, after)
        return ids, after

    def _numbered(self, positions: _Index) -> _Index:
        """Return the table's states of positions; new ones are put in the queue."""
        distinct, inverse = _distinct(positions)
        return np.array([self._number(p) for p in distinct.tolist()], np.int32)[inverse]

    def _number(self, position: int) -> int:
        over = position < 0
        if over and self._final:
            return self._final
        found = self._numbers.get(position)
        if found is not None:
            return found
        number = len(self._numbers) + 1
        # The row of what is over is one more, and always there.
        if not over and len(self._numbers) >= self._max_states:
            if self._partial:
                return MISS
            raise TableTooLargeError(number, f"it has more than {self._max_states:,} states")
        self._numbers[position] = number
        self._queue.append(position)
        if over:
            self._final = number
        return number

    def _table(self, ends: _Index, fingerprint: str, finish: Finish) -> TokenTable:
        token_class = self._classes.of
        transitions = np.zeros((len(self._queue) + 1, self._classes.count), np.int32)
        for state, (ids, after) in enumerate(self._rows, start=1):
            transitions[state, token_class[ids]] = after
        accepting = [False, *(self._automaton.can_finish(each) for each in self._queue)]
        final = [False, *(each < 0 for each in self._queue)]
        end = np.zeros(self._classes.count, np.bool_)
        end[token_class[ends]] = True
        return TokenTable(
            _narrow(transitions),
            _narrow(token_class),
            np.array(accepting, np.bool_),
            np.array(final, np.bool_),
            end,
            1,
            fingerprint,
            finish,
        )


class _Classes:
    """Partition refinement of tokens by rows; class 0 is for tokens that no row has met."""

    def __init__(self, width: int) -> None:
        self.of = np.zeros(width, np.int32)
        self._sizes = [width]

    @property
    def count(self) -> int:
        """Number of classes."""
        return len(self._sizes)

    def refine(self, ids: _Index, after: _Index) -> None:
        """Split classes so that tokens with different ``after`` are apart, and from the others."""
        if not len(ids):
            return
        distinct, code = _distinct(after)
        old = self.of[ids]
        keys = old.astype(np.int64) * len(distinct) + code
        counts = np.bincount(keys, minlength=self.count * len(distinct))
        fresh = np.zeros(len(counts), np.int32)
        for key in np.flatnonzero(counts).tolist():
            fresh[key] = self._split(key // len(distinct), int(counts[key]))
        self.of[ids] = fresh[keys]

    def _split(self, old: int, count: int) -> int:
        """Return the class of ``count`` tokens of ``old``: a new one unless they are all of it."""
        if old != NEVER and self._sizes[old] == count:
            return old
        self._sizes[old] -= count
        self._sizes.append(count)
        return len(self._sizes) - 1


def _distinct(values: _Index) -> tuple[_Index, _Index]:
    """Return the distinct values, ascending, and where each value is among them; no sorting."""
    if not len(values):
        return values, values
    least = int(values.min())
    present = np.zeros(int(values.max()) - least + 1, np.int32)
    present[values - least] = 1
    distinct = np.flatnonzero(present).astype(np.int32)
    return distinct + np.int32(least), (np.cumsum(present, dtype=np.int32) - 1)[values - least]


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
        if about.get("kbnf") != "token-table":
            self._refuse("it is no token table")
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
        end = self._flags("end", classes)
        self._within("transitions", transitions, MISS, states)
        self._within("token_class", token_class, 0, classes)
        if (transitions[DEAD] != DEAD).any() or (transitions[:, NEVER] != DEAD).any():
            self._refuse("damaged: what is dead leads on")
        if about.get("digest") != digest(arrays):
            self._refuse("damaged: its digest is another one")
        fingerprint, finish = about.get("fingerprint"), about.get("finish")
        if not isinstance(fingerprint, str) or finish not in {each.value for each in Finish}:
            self._refuse("damaged: it names no vocabulary or no way to finish")
        return TokenTable(
            transitions, token_class, accepting, final, end, initial, fingerprint, Finish(finish)
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
