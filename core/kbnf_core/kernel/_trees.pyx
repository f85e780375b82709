# cython: language_level=3, wraparound=False, cdivision=True
# distutils: language = c++
"""Trees of texts, and the texts nearest to one: searches through the states of ``_engine``.

**Layers**, each of which calls those above it in this list only, and ``_engine``:

- ``derivations``: the sources of each item of a state, and of each step between states;
- ``trace``: a text over position automata, and its trees;
- ``streamed_trace``: a text that grows, and the events that are certain;
- ``repairs``: the texts of a language that are nearest to a text; independent of the others.

**Terms.** Those of ``_engine``. *Position automaton* (``lower/positions.py``): one state for each
occurrence of a symbol in a rule, so that a path through it is a derivation.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcmp, memcpy, memset
from libcpp.algorithm cimport reverse
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

from cpython.exc cimport PyErr_CheckSignals

cimport numpy as cnp

from kbnf_core.kernel._engine cimport (
    _NEVER, BOTTOM, DEAD, EMPTY, SELF, UNKNOWN, ItemSets, LazyTable, Pair, Span, Triple, _has,
    _hash_bytes, _Index, _key, _Map, _mixed, _resuming, _StateCosts,
)

from kbnf_core.text.errors import WorkLimitError

cnp.import_array()


include "derivations.pxi"
include "trace.pxi"
include "streamed_trace.pxi"
include "repairs.pxi"
