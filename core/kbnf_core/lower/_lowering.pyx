# cython: language_level=3, wraparound=False, cdivision=True
# distutils: language = c++
"""Lowering, compiled; a function that says so is that of the same name in a module of ``lower``.

Nodes and automata are Python's; what is compiled is the way over them, and the columns of edges.
"""

from importlib import import_module

from cpython.bytes cimport PyBytes_FromStringAndSize
from cython.operator cimport dereference
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libcpp.algorithm cimport sort
from libcpp.string cimport string
from libcpp.unordered_map cimport unordered_map
from libcpp.unordered_set cimport unordered_set
from libcpp.utility cimport pair
from libcpp.vector cimport vector

from kbnf_core.ir import (NEVER, Call, Choice, Counted, Literal, Regular, Repeat, Sequence, Token)
from kbnf_core.ir.build import choice_of
from kbnf_core.kbnf import tree

cdef extern from *:
    """
    #include <stdlib.h>
    #if defined(__GLIBC__)
    #include <malloc.h>
    #define GIVE_BACK() malloc_trim(0)
    #else
    #define GIVE_BACK() 0
    #endif
    """
    int GIVE_BACK() nogil

ctypedef vector[int32_t] Ints
ctypedef pair[int32_t, int32_t] Ends

cdef object _NEVER = NEVER
# All facts, found when they are first needed: their module asks for this one.
cdef object _FACTS = None
cdef type _Call = Call, _Choice = Choice, _Literal = Literal, _Regular = Regular
cdef type _Counted = Counted, _Repeat = Repeat, _Sequence = Sequence, _Token = Token

cdef type _Reference = tree.Reference, _Terminal = tree.Terminal, _Repetition = tree.Repetition
cdef type _Items = tree.Sequence, _Alternation = tree.Alternation, _Bracket = tree.Bracket
cdef object _OPTIONAL = tree.BracketKind.OPTIONAL, _REPEATED = tree.BracketKind.REPEATED

cdef enum:
    NULLABLE = 1
    FILLED = 2
    DEAD = -1
    START = 0
    ACCEPT = 1
    COUNTED_COPIES = 2
    FREE_TEXT = 32
    LARGE = 1_000
    SMALL_TOTAL = 512
    HUGE = 1 << 30


cdef inline const uint8_t* _letters(bytes data) noexcept:
    return <const uint8_t*> <const char*> data


cdef bytes _bytes(const Ints& values):
    return PyBytes_FromStringAndSize(
        <const char*> values.data(), values.size() * sizeof(int32_t)
    )


cdef bytes _room(Py_ssize_t count):
    """Return room for so many numbers, to be written before anybody looks at it."""
    return PyBytes_FromStringAndSize(NULL, count * sizeof(int32_t))


cdef int32_t* _cells(bytes column) noexcept:
    return <int32_t*> <char*> column


cdef bytes _flags(const vector[uint8_t]& values):
    return PyBytes_FromStringAndSize(<const char*> values.data(), values.size())


cdef inline const int32_t* _numbers(bytes column) noexcept:
    return <const int32_t*> <const char*> column


include "nodes.pxi"
include "connect.pxi"
include "pieces.pxi"
include "counts.pxi"


def give_back():
    """Return free memory to the system, where the allocator keeps it: it has holes by then."""
    with nogil:
        GIVE_BACK()
