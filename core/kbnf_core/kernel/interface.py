"""The protocols of a kernel, and of the values that it works on."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from kbnf_core.kernel.engine_core import EngineCore

Ids = npt.NDArray[np.int32]
Bitmask = npt.NDArray[np.uint32]
Completions = list[tuple[int, Ids]]
"""(nonterminal, trie nodes with others below at which it completes), both ascending"""

Walked = tuple[int, tuple[tuple[int, int], ...]]
"""The number of a mask, and completions: (nonterminal, number of a node set), ascending"""


ARRAY_BYTES = 256
"""The overhead of an array in a pool, besides its content."""

S = TypeVar("S", np.int32, np.uint32)


class Lock(Protocol):
    """The type of ``threading.RLock()``."""

    def acquire(self) -> bool:
        """Wait for the lock."""

    def release(self) -> None:
        """Give it back."""


class LazyTable(Protocol):
    """Steps through a transition table filled on demand, as a lazy DFA is."""

    def explore(self, state: int, byte_class: int) -> int:
        """Compute the state after a byte of ``byte_class``, store it in the table, return it."""

    def feed(self, state: int, data: bytes, eager: bool) -> tuple[int, int]:
        """Return the state after ``data``, and the number of bytes consumed.

        The state is DEAD unless all were. With ``eager`` a byte after one that completed the
        start is refused.
        """

    def live_classes(self, state: int) -> list[int]:
        """Return the byte classes with a transition from a state, ascending."""

    def begin(self, item_set: int) -> int:
        """Return the state of ``item_set`` alone, over BOTTOM."""

    def enter(self, nonterminals: Sequence[int]) -> int:
        """Return the state at the entries of nonterminals, each reporting itself, over BOTTOM."""

    def signature(self, item_set: int, blocks: Ids) -> bytes:
        """Return a key under which item sets equivalent modulo ``blocks`` collide."""

    def sizes(self) -> tuple[int, int]:
        """Return the numbers of states, and of all pairs, completions, items and triples."""


class Inclusion(Protocol):
    """Bounded language inclusion of a small automaton (``machine``) in the states of a table."""

    def covered(self, state: int, reading: int, most: int) -> int:
        """Return a length, at most ``most``, up to which the machine's language is viable.

        Every string of at most so many bytes that the machine reads from ``reading`` on is
        viable in ``state`` and completes nothing. It is a lower bound: the search is bounded.
        """


class Pool(Protocol[S]):
    """Interned one-dimensional arrays of one type; ``added_bytes``: the growth since it was made.

    Those of masks all have one width; the others may be of any length.
    """

    @property
    def added_bytes(self) -> int:
        """Return the number of bytes added, with ``ARRAY_BYTES`` for each array."""

    def __len__(self) -> int:
        """Return the number of arrays."""

    def __getitem__(self, number: int) -> npt.NDArray[S]:
        """Return the array with that number; it is not to be written to."""

    def number(self, array: npt.NDArray[S]) -> int:
        """Return the number of an array's content, the next free one if it is new."""

    def unite(self, numbers: Iterable[int]) -> npt.NDArray[S]:
        """Return the union of masks, as an array of its own."""

    def sparse(self, numbers: Iterable[int]) -> bytes | None:
        """Return the union of masks in few numbers: what it has of each slice, and other words.

        ``Parts.row`` reads it. Empty for the empty mask. None where there would be many numbers,
        or nothing was searched for or added yet.
        """


class TriePart(Protocol):
    """A trie of some tokens of a trie; see ``vocab.part.Part``."""

    @property
    def trie(self) -> "TrieArrays":
        """Return the trie."""

    @property
    def nodes(self) -> Ids:
        """Return its nodes' numbers in the whole trie."""


class Slice(Protocol):
    """See ``mask.slices.Slice``."""

    @property
    def part(self) -> TriePart:
        """Return the tokens' trie."""

    @property
    def blocks(self) -> Bitmask:
        """Return uint32[k, words], the tokens of at most 0, 1, .. characters, and all; or none."""

    @property
    def characters(self) -> npt.NDArray[np.uint64]:
        """Return uint64[m, 2], the characters of each token, a bit for each by its number."""

    @property
    def number(self) -> npt.NDArray[np.uint8]:
        """Return uint8[256], the number of the character that begins with a byte, or 255."""

    @property
    def sets(self) -> npt.NDArray[np.uint64]:
        """Return uint64[k, 2], sets of characters by these numbers; the first has all."""

    @property
    def below(self) -> npt.NDArray[np.uint16]:
        """Return uint16[n], the set that has the characters below each node, and maybe others."""

    @property
    def longer(self) -> npt.NDArray[np.uint16]:
        """Return uint16[n], characters of several bytes before or below, by their numbers."""

    @property
    def fronts(self) -> Bitmask:
        """Return uint32[k, words], the bits of the first 0, 1, 2, .. runs of tokens."""

    @property
    def run(self) -> int:
        """Return the number of tokens in a run."""

    @property
    def machine(self) -> Ids | None:
        """Return the automaton that accepts all of them, None if there is none."""

    @property
    def reading(self) -> npt.NDArray[np.uint8]:
        """Return the automaton's state at each node."""

    @property
    def height(self) -> npt.NDArray[np.uint16]:
        """Return the bytes from each node to the deepest one below."""


class Configurations(Protocol):
    """Interned configurations: sorted (stack node, item set) pairs, and sorted completions.

    ``size``: the number of pairs and completions of all states.
    """

    size: int

    def __len__(self) -> int:
        """Return the number of states."""

    def number(self, pairs: tuple[tuple[int, int], ...], completions: tuple[int, ...]) -> int:
        """Return the number of a content, the next free one if it is new."""

    def pairs(self, number: int) -> tuple[tuple[int, int], ...]:
        """Return the (stack node, item set) pairs of a state."""

    def completions(self, number: int) -> tuple[int, ...]:
        """Return the nonterminals that completed into BOTTOM with the byte that led here."""


class Lists(Protocol):
    """Interned lists of integers.

    ``size``: the number of integers in all of them.
    """

    size: int

    def __len__(self) -> int:
        """Return the number of lists."""

    def number(self, values: tuple[int, ...]) -> int:
        """Return the number of a content, the next free one if it is new."""

    def values(self, number: int) -> tuple[int, ...]:
        """Return a content."""


class Table(Protocol):
    """A transition table; see ``recognise.states.StateTable``.

    ``given``: of the second of ``LazyTable.sizes``, what was stored or carried over.
    """

    next: Ids
    has_completions: npt.NDArray[np.uint8]
    lock: Lock
    given: int

    @property
    def classes(self) -> npt.NDArray[np.uint8]:
        """Return uint8[256], the class of each byte."""

    @property
    def explorer(self) -> LazyTable:
        """Return this table's stepper, made by ``Kernel.explorer``."""

    @property
    def configurations(self) -> Configurations:
        """Return the configurations of the states."""

    def completions(self, state: int) -> tuple[int, ...]:
        """Return the nonterminals that completed into BOTTOM with the byte that led here."""

    def grow(self) -> None:
        """Replace the arrays by longer ones."""

    def token_terminals(self, state: int) -> frozenset[int]:
        """Return the token terminals expected in a state."""

    def live_plainly(self, state: int) -> list[int]:
        """Return what ``live_classes`` returns, computed in Python."""

    def enter_plainly(self, nonterminals: Sequence[int]) -> int:
        """Do what ``LazyTable.enter`` does, in Python."""

    def begin_plainly(self, item_set: int) -> int:
        """Return what ``begin`` returns, computed in Python."""

    def signature_plainly(self, item_set: int, blocks: Ids) -> bytes:
        """Return the signature of an item set, computed in Python."""

    def sizes_plainly(self) -> tuple[int, int]:
        """Return what ``sizes`` returns, counted in Python."""

    def explore_plainly(self, state: int, byte_class: int) -> int:
        """Return the state after a byte of ``byte_class``, computed in Python."""


class TrieArrays(Protocol):
    """The arrays of a ``vocab.trie.TokenTrie`` that a walk reads."""

    @property
    def byte(self) -> npt.NDArray[np.uint8]:
        """Return uint8[n], the byte on the edge into the node."""

    @property
    def skip(self) -> Ids:
        """Return int32[n], the first node behind the subtree."""

    @property
    def depth(self) -> npt.NDArray[np.uint16]:
        """Return uint16[n], bytes from the root."""

    @property
    def child_start(self) -> Ids:
        """Return int32[n + 1]."""

    @property
    def child(self) -> Ids:
        """Return int32[n - 1]."""

    @property
    def child_byte(self) -> npt.NDArray[np.uint8]:
        """Return uint8[n - 1], the bytes that lead to ``child``."""

    def children(self, node: int) -> Ids:
        """Return the children of a node, in the order of their bytes."""

    @property
    def token_start(self) -> Ids:
        """Return int32[n + 1]."""

    @property
    def token_ids(self) -> Ids:
        """Return int32[m]."""


class Parts(Protocol):
    """A vocabulary as a kernel's walkers take it, made once for all tables."""

    def row(self, key: bytes) -> Bitmask:
        """Return the mask that ``Pool.sparse`` tells of."""


class Walker(Protocol):
    """Follows a trie and a table side by side; one walk at a time."""

    @property
    def visited(self) -> int:
        """Return the number of trie nodes visited by all walks."""

    def walk(self, start: int, roots: Ids, words: Bitmask) -> Completions:
        """Walk below each of the nodes ``roots``, in each from state ``start``.

        Tokens whose node was reached are written to ``words``, which is overwritten.
        Returns where nonterminals completed into BOTTOM and tokens go on.
        """

    def find(
        self, item_set: int, roots: int, node_sets: Pool[np.int32], rows: Pool[np.uint32]
    ) -> Walked:
        """Walk from an item set above BOTTOM; node sets and masks are named by number."""


class Texts(Protocol):
    """What the tokens of a vocabulary spell, and the texts that its tokenizer cut."""


class Forced(Protocol):
    """Finds what must come in one token automaton, and remembers the tokens."""

    def bytes_from(self, position: int, limit: int) -> bytes:
        """Return the longest bytes, at most ``limit``, that all texts from a position begin with.

        It stops where the text may end, and where a token terminal may come.
        """

    def find(self, position: int, accepted: list[int | bytes], limit: int) -> list[int]:
        """Return the tokens that come from ``position`` on, at most ``limit``.

        Those that the tokenizer writes for the forced bytes after what was ``accepted``, and
        single ones that can come alone.
        """


class MaskAssembler(Protocol):
    """Gathers the walks that the mask of a state needs, over a memo of the walks made.

    The caller of ``walk`` and ``gather`` holds the table's lock.
    """

    @property
    def walk_count(self) -> int:
        """Return how many walks were made; those recalled do not count."""

    def holds_more_than(self, share: float) -> bool:
        """Tell whether more than a share of one of the limits is reached."""

    def __len__(self) -> int:
        """Return the number of walks in the memo."""

    def known(self) -> dict[tuple[int, int], Walked]:
        """Return the memo, by item set and node set."""

    def walk(self, item_set: int, nodes: int) -> Walked:
        """Return the walk of an item set below the nodes of a set."""

    def gather(self, state: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return numbers of masks, and of node sets, both ascending.

        The union of the masks has the tokens that can come in ``state``; the node sets are those
        at which the start is complete.
        """

    def mask(self, state: int, more: tuple[int, ...]) -> Bitmask:
        """Return the union of the masks of ``gather`` and of those with the numbers ``more``.

        Equal masks of few tokens are one array, as are those of the same numbers.
        """

    def prefix_free(self, state: int) -> Bitmask:
        """Return the same without more, and without tokens that go on behind a complete text."""

    def gathered(self) -> list[int]:
        """Return the states for which walks were gathered, ascending."""


class Gatherable(Protocol):
    """What an assembler works for; see ``mask.masks.Masks``.

    ``has_stored``: whether ``recall`` may know walks before any was made, and ``share_from``: from
    how many visited nodes on it may know them by those of other item sets.
    """

    @property
    def walker(self) -> Walker:
        """Return the walker of the vocabulary's trie."""

    @property
    def found(self) -> tuple[Pool[np.int32], Pool[np.uint32]]:
        """Return the node sets and masks that walks name by number."""

    @property
    def states(self) -> Table:
        """Return the table."""

    @property
    def state_limit(self) -> int:
        """Return how many states there may be."""

    @property
    def part_limit(self) -> int:
        """Return how many pairs, items and triples, besides those given, they may have."""

    @property
    def byte_limit(self) -> int:
        """Return how much node sets and masks may grow."""

    @property
    def shared_rows(self) -> dict[bytes, Bitmask]:
        """Return masks by what ``Pool.sparse`` returns; it makes what is missing."""

    @property
    def unions(self) -> dict[tuple[int, ...], Bitmask]:
        """Return the other masks by numbers; it makes what is missing."""

    @property
    def no_words(self) -> Bitmask:
        """Return the mask in which nothing is allowed."""

    @property
    def mask_capacity(self) -> int:
        """Return how many walks a memo may hold."""

    @property
    def has_stored(self) -> bool:
        """Return whether an artifact holds walks."""

    @property
    def share_from(self) -> float:
        """Return that number of visited nodes."""

    def recall(self, item_set: int, nodes: int) -> Walked | None:
        """Return a walk that need not be made, None for others."""

    def gather_plainly(self, state: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Do what a ``MaskAssembler`` does."""

    def union(self, rows: tuple[int, ...]) -> Bitmask:
        """Return the union of masks, by their numbers."""

    def cut_off(self, rows: tuple[int, ...], completions: tuple[int, ...], state: int) -> Bitmask:
        """Return the union of masks without the tokens below the nodes of some sets."""


class Kernel(Protocol):
    """The functions of a kernel, besides its class ``EngineCore``, the base of ``Engine``."""

    NAME: str

    def explorer(self, table: Any) -> LazyTable:
        """Return the stepper that computes the transitions of ``table``, a ``Table``.

        Its results are those of ``explore_plainly``. It takes the table's lock.
        """

    def unwritten(self, count: int, width: int) -> Ids:
        """Return int32[count, width] for rows of transitions, with nothing sensible in it.

        It takes up no memory where nothing was written yet.
        """

    def configurations(self) -> Configurations:
        """Return an empty table."""

    def lists(self) -> Lists:
        """Return an empty table."""

    def pool(self, known: Sequence[npt.NDArray[Any]], parts: Parts | None = None) -> Pool[Any]:
        """Return a pool that begins with ``known``; ``parts``: of the vocabulary, for masks."""

    def reader(self, table: Any, machine: Ids, number: npt.NDArray[np.uint8]) -> Inclusion:
        """Return the inclusion check of a machine in states of ``table``, a ``Table``.

        ``machine`` is int32[n, 256], the state after a byte: 0 is dead, 1 the start. ``number``:
        see ``Slice``.
        """

    def parts(self, trie: TrieArrays, slices: Sequence[Slice]) -> Parts:
        """Lay out a trie for walkers; ``slices``: the same tokens, each in one of them."""

    def walker(self, table: Any, parts: Parts) -> Walker:
        """Return the walker of ``parts`` over the states of ``table``, a ``Table``."""

    def assembler(self, masks: Any) -> MaskAssembler:
        """Return the assembler for states of ``masks``, which is ``Gatherable``.

        Its results are those of ``gather_plainly``.
        """

    def texts(self, vocabulary: Any, encoded: Mapping[bytes, tuple[int, ...]]) -> Texts:
        """Return what ``forced`` needs of a vocabulary; ``encoded``: the tokens of any text.

        The vocabulary itself is not kept.
        """

    def forced(self, automaton: Any, texts: Texts) -> Forced:
        """Return the finder of what must come in a ``mask.token_automaton.TokenAutomaton``."""

    def columns(
        self, table: Any, trie: TrieArrays, states: Ids, eager: bool, work: int
    ) -> tuple[Ids, Ids] | None:
        """Return which column each token of a trie has, and the columns, int32[count, states].

        A column has the state of ``table`` after the token from each of ``states``, DEAD where it
        cannot come; no two are equal, and column 0 is dead throughout. The first is as long as
        ``trie.token_ids``. With ``eager`` a byte after one that completed the start is refused.
        None where more than ``work`` transitions would be followed, or too much be stored.
        """

    def fill(self, out: npt.NDArray[np.int32], words: Bitmask) -> None:
        """Copy ``words`` to the front of ``out``, and zeros to the rest.

        Raises ValueError unless ``out`` is one-dimensional contiguous int32 and long enough.
        """

    def fill_rows(
        self,
        out: npt.NDArray[np.int32],
        rows: npt.NDArray[np.int64],
        engines: list[EngineCore | None],
        threads: int,
    ) -> None:
        """Do for ``out[rows[i]]`` what ``engines[i].fill_bitmask`` does, if possible without GIL.

        Without an engine a row allows everything. ``threads`` share the copying, at most one
        for each processor; they are kept. Raises ValueError, before anything is written, unless
        ``out`` is two-dimensional contiguous int32 and has all these rows, each long enough.
        """

    def apply(self, words: Bitmask, size: int, logits: npt.NDArray[Any]) -> None:
        """Set logits whose bit is not set, and all from ``size`` on, to minus infinity, in place.

        ``logits`` is contiguous, writable, one-dimensional float32 or float64, at least ``size``.
        """
