# cython: language_level=3, wraparound=False, cdivision=True
# distutils: language = c++
"""The recogniser and the masks: one extension module of the files that it includes.

**Layers**, each of which calls those above it in this list only:

- ``containers``, ``arrays``: hash tables, numbered lists; the arrays of tables and tries;
- ``items``, ``lazy_table``, ``counting``: item sets, stack nodes, states, positions;
- ``inclusion``, ``slices``, ``pools``, ``walk``, ``state_masks``: masks of states;
- ``end_crossings``, ``end_costs``, ``ends``: the tokens to the end of a text;
- ``columns``, ``forced``, ``canonical``: device tables, forced text, canonical tokens;
- ``engine_core``, ``batch``: the base of ``Engine``, the rows of many engines.

**Terms.** *Byte class*: bytes that no automaton of a grammar tells apart. *State*: a configuration
of the recogniser, by number; 0 is ``DEAD``. *Position*: a state, and above its 32 bits a count.
*Content*: a list of integers that is stored once, and has a number. *Row*: the states after a state
by byte class, or the words of a mask.

**Locks.** ``LazyTable.acquire`` takes the lock of a grammar's table, which a thread may take again.
Whatever adds to the table needs it; a method that does not take it is called under it. Rows and
contents are in arenas, where they never move, so reading a known row needs no lock.

**Speed.** A class that nothing extends is final: its methods are called directly, and inlined,
instead of by its method table (the search of a repair takes 0.85 of the time).
"""

from libc.math cimport INFINITY
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcmp, memcpy, memset
from libcpp.algorithm cimport count, equal, lower_bound, reverse, sort, unique
from libcpp.deque cimport deque
from libcpp.map cimport map as ordered_map
from libcpp.queue cimport priority_queue
from libcpp.set cimport set as ordered_set
from libcpp.string cimport string
from libcpp.unordered_map cimport unordered_map
from libcpp.unordered_set cimport unordered_set
from libcpp.utility cimport pair
from libcpp.vector cimport vector

cimport cython
from cython.operator cimport dereference as deref

from cpython.dict cimport PyDict_GetItemWithError
from cpython.long cimport PyLong_AsLongAndOverflow, PyLong_CheckExact
from cpython.ref cimport PyObject

from weakref import proxy

from kbnf_core.text.locks import new_lock

from kbnf_core.text.errors import WorkLimitError

cimport numpy as cnp

cnp.import_array()

cdef enum:
    _WAITING = -2


cdef inline uint64_t _key_of(Pair both) noexcept nogil:
    return _key(both.first, both.second)


include "containers.pxi"
include "arrays.pxi"
include "items.pxi"
include "lazy_table.pxi"
include "counting.pxi"
include "inclusion.pxi"
include "slices.pxi"
include "pools.pxi"
include "walk.pxi"
include "state_masks.pxi"
include "end_crossings.pxi"
include "end_costs.pxi"
include "ends.pxi"
include "columns.pxi"
include "forced.pxi"
include "canonical.pxi"
include "engine_core.pxi"
include "batch.pxi"
