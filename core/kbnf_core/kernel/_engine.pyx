# cython: language_level=3, wraparound=False, cdivision=True
# distutils: language = c++
"""The recogniser and the masks.

One extension module; each file that is included holds one class or a few functions, in the order
in which they need each other.
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

from cython.operator cimport dereference as deref

from cpython.dict cimport PyDict_GetItemWithError
from cpython.exc cimport PyErr_CheckSignals
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
