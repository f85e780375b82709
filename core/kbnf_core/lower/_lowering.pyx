# cython: language_level=3, wraparound=False, cdivision=True
# distutils: language = c++
"""Lowering, compiled; a function that says so is that of the same name in a module of ``lower``.

Nodes and automata are Python objects; the traversal of them and the columns of edges are compiled.
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
cdef type _Items = tree.Concatenation, _Alternation = tree.Alternation, _Bracket = tree.Bracket
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
include "counts.pxi"
include "graphs.pxi"
include "positions.pxi"


# Automata of nonterminals as columns, put into tables.

def nonterminals_in(bytes symbols, int32_t class_count, int32_t count):
    """Return the numbers of the nonterminals in a column of symbols, each once, in order."""
    cdef const int32_t* column = <const int32_t*> <const char*> symbols
    cdef vector[uint8_t] seen
    cdef Py_ssize_t i
    cdef uint32_t number
    cdef list numbers = []
    seen.assign(count, 0)
    for i in range(<Py_ssize_t> (len(symbols) // sizeof(int32_t))):
        # Unsigned, a symbol below the first one is far above the last.
        number = <uint32_t> column[i] - <uint32_t> class_count
        if number < <uint32_t> count:
            seen[number] = 1
    for i in range(count):
        if seen[i]:
            numbers.append(i)
    return numbers


cdef void _finish_starts(Ints& starts) noexcept:
    """Let states without edges end where those before them do."""
    cdef Py_ssize_t i
    for i in range(1, <Py_ssize_t> starts.size()):
        starts[i] = max(starts[i], starts[i - 1])


def split_edges(automata, int32_t class_count, numbers, int32_t terminals):
    """Return the columns of tables from ``entry`` to ``token_target``, but for ``classes``.

    ``numbers`` are those of the nonterminals, by symbol; ``terminals`` is the number of token
    terminals.

    A call that nothing can follow is a tail call, but for one at the beginning of a rule of a rule
    that begins with itself. In n levels of operators (``sum ::= sum '+' term | term``) each level
    would otherwise be predicted once for each level above, as its tail, beside the one that it
    predicts itself for its left recursion: n * n items in place of n. Such a call leads to no new
    stack node, so right recursion gains nothing from it.
    """
    cdef Ints entry, edge_start, calls, call_start, call_return, nonterminals
    cdef Ints token_start, token_terminal, token_target
    cdef vector[uint8_t] accepting, call_tail, is_entry, calls_itself
    cdef const int32_t* source
    cdef const int32_t* symbol
    cdef const int32_t* target
    # After each state, how many edges came so far.
    cdef int32_t* behind
    cdef int32_t* classes
    cdef int32_t* targets
    cdef bytes flags, edge_class, edge_target
    cdef int32_t base = 0, first_token, here, read, there, number, edges = 0
    cdef Py_ssize_t i, count, states
    cdef bint is_tail
    for number in numbers:
        nonterminals.push_back(number)
    first_token = class_count + <int32_t> nonterminals.size()
    for automaton in automata:
        flags = automaton.accepting
        states = len(flags)
        entry.push_back(base)
        accepting.insert(accepting.end(), <const uint8_t*> flags, <const uint8_t*> flags + states)
        base += <int32_t> states
        symbol, count = _numbers(automaton.symbol), len(automaton.symbol) // sizeof(int32_t)
        for i in range(count):
            edges += symbol[i] < class_count
    edge_start.assign(base + 1, 0)
    call_start.assign(base + 1, 0)
    token_start.assign(base + 1, 0)
    # These are large: they are written where they stay.
    edge_class, edge_target = _room(edges), _room(edges)
    classes, targets = _cells(edge_class), _cells(edge_target)
    base, edges = 0, 0
    for automaton in automata:
        count = len(automaton.source) // sizeof(int32_t)
        source, symbol = _numbers(automaton.source), _numbers(automaton.symbol)
        target = _numbers(automaton.target)
        behind = edge_start.data() + base + 1
        for i in range(count):
            here, read, there = source[i], symbol[i], base + target[i]
            if read < class_count:
                classes[edges], targets[edges] = read, there
                edges += 1
                behind[here] = edges
            elif read < first_token:
                calls.push_back(nonterminals[read - class_count])
                call_return.push_back(there)
                call_start[base + here + 1] = <int32_t> calls.size()
            elif read < first_token + terminals:
                token_terminal.push_back(read - first_token)
                token_target.push_back(there)
                token_start[base + here + 1] = <int32_t> token_target.size()
        base += <int32_t> len(automaton.accepting)
    _finish_starts(edge_start)
    _finish_starts(call_start)
    _finish_starts(token_start)
    is_entry.assign(base, False)
    for number in range(<int32_t> entry.size()):
        here = entry[number]
        is_entry[here] = True
        calls_itself.push_back(False)
        for i in range(call_start[here], call_start[here + 1]):
            calls_itself[number] |= calls[i] == number
    for here in range(base):
        for i in range(call_start[here], call_start[here + 1]):
            there = call_return[i]
            is_tail = (
                accepting[there]
                and edge_start[there] == edge_start[there + 1]
                and call_start[there] == call_start[there + 1]
                and token_start[there] == token_start[there + 1]
                and not (is_entry[here] and calls_itself[calls[i]])
            )
            call_tail.push_back(is_tail)
    return (
        _bytes(entry), _flags(accepting), _bytes(edge_start), edge_class, edge_target,
        _bytes(call_start), _bytes(calls), _bytes(call_return), _flags(call_tail),
        _bytes(token_start), _bytes(token_terminal), _bytes(token_target),
    )


def give_back():
    """Return free memory to the system, where the allocator keeps it: it has holes by then."""
    with nogil:
        GIVE_BACK()
