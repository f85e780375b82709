# cython: language_level=3, wraparound=False, cdivision=True
# distutils: language = c++
"""Finite automata, compiled: see ``kernel.Automata`` for what each function does."""

from cpython.bytes cimport PyBytes_FromStringAndSize
from cython.operator cimport dereference
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcmp
from libcpp.algorithm cimport is_sorted, sort, unique
from libcpp.string cimport string
from libcpp.unordered_map cimport unordered_map
from libcpp.utility cimport pair
from libcpp.vector cimport vector

cdef enum:
    DEAD = -1
    UNKNOWN = -4
    # States from which on other threads run meanwhile: a shorter call would rather wait for them.
    MANY = 1_000
    # See ``kernel.Automata``.
    ELEMENTS_PER_STATE = 10

ctypedef vector[int32_t] Ints


cdef struct Edges:
    # The edges of state s are first[s] .. first[s + 1], by symbol.
    Ints first
    Ints symbol
    Ints target


include "partition.pxi"
include "subsets.pxi"


cdef class Rows:
    """The rows of an automaton, each a list where it is read; its edges are all that is kept.

    Those of a state have ascending symbols, so that equal rows have equal edges.
    So it lies in three blocks of memory, which go back to the system, and takes a fraction of
    lists.
    """

    cdef Edges edges
    cdef Py_ssize_t count, width
    cdef list empty

    cdef list row(self, Py_ssize_t state):
        cdef list row = self.empty.copy()
        cdef int32_t j
        for j in range(self.edges.first[state], self.edges.first[state + 1]):
            row[self.edges.symbol[j]] = self.edges.target[j]
        return row

    cdef int fill(self, Py_ssize_t state, int32_t* cells) except -1:
        """Write a row."""
        cdef Py_ssize_t i
        cdef int32_t j
        for i in range(self.width):
            cells[i] = DEAD
        for j in range(self.edges.first[state], self.edges.first[state + 1]):
            cells[self.edges.symbol[j]] = self.edges.target[j]
        return 0

    def __len__(self):
        return self.count

    def __getitem__(self, state):
        if isinstance(state, slice):
            return [self.row(chosen) for chosen in range(*state.indices(self.count))]
        return self.row(range(self.count)[state])

    def __iter__(self):
        cdef Py_ssize_t state
        for state in range(self.count):
            yield self.row(state)

    def __eq__(self, other):
        return [*self] == [*other]

    def __reduce__(self):
        return list, ([*self],)

    def flat(self):
        """Return all numbers, as int32."""
        cdef bytes cells = PyBytes_FromStringAndSize(
            NULL, self.count * self.width * sizeof(int32_t)
        )
        cdef Py_ssize_t state
        for state in range(self.count):
            self.fill(state, <int32_t*> <char*> cells + state * self.width)
        return cells


cdef Rows _rows_of(Edges& edges, Py_ssize_t states, Py_ssize_t symbols):
    """Return the rows, DEAD where there is no edge; takes the edges."""
    cdef Rows rows = Rows()
    cdef Ints cells = Ints(<size_t> symbols)
    cdef Py_ssize_t state
    cdef int32_t symbol
    rows.count, rows.width, rows.empty = states, symbols, [DEAD] * symbols
    rows.edges.first.swap(edges.first)
    rows.edges.symbol.swap(edges.symbol)
    rows.edges.target.swap(edges.target)
    rows.edges.first.resize(states + 1)
    if not _are_ascending(rows.edges):
        # Where symbols became one there are edges twice.
        edges.first.push_back(0)
        for state in range(states):
            rows.fill(state, cells.data())
            for symbol in range(<int32_t> symbols):
                if cells[symbol] != DEAD:
                    edges.symbol.push_back(symbol)
                    edges.target.push_back(cells[symbol])
            edges.first.push_back(<int32_t> edges.symbol.size())
        rows.edges = edges
    rows.edges.symbol.shrink_to_fit()
    rows.edges.target.shrink_to_fit()
    return rows


cdef bint _are_ascending(const Edges& edges) noexcept nogil:
    """Whether the edges of each state have ascending symbols, each once."""
    cdef size_t state
    cdef int32_t j
    for state in range(edges.first.size() - 1):
        for j in range(edges.first[state] + 1, edges.first[state + 1]):
            if edges.symbol[j - 1] >= edges.symbol[j]:
                return False
    return True


def between(rows, accepting):
    """See ``kernel.Automata``."""
    cdef Edges edges, marked
    cdef vector[uint64_t] tags
    cdef Ints starts
    cdef Py_ssize_t state, count = len(rows)
    cdef int32_t mark = len(rows[0]), i
    _read_table(rows, accepting, (0,), edges, tags, starts)
    marked.symbol.reserve(edges.symbol.size() + count)
    marked.target.reserve(edges.symbol.size() + count)
    for state in range(count):
        marked.first.push_back(<int32_t> marked.symbol.size())
        for i in range(edges.first[state], edges.first[state + 1]):
            marked.symbol.push_back(edges.symbol[i])
            marked.target.push_back(edges.target[i])
        if tags[state]:
            marked.symbol.push_back(mark)
            marked.target.push_back(<int32_t> count)
    marked.first.push_back(<int32_t> marked.symbol.size())
    marked.first.push_back(<int32_t> marked.symbol.size())
    marked.symbol.push_back(mark)
    marked.target.push_back(0)
    marked.first.push_back(<int32_t> marked.symbol.size())
    return _rows_of(marked, count + 2, mark + 1)


def over_columns(rows, bytes columns):
    """See ``kernel.Automata``."""
    cdef Rows table
    cdef Ints cells
    cdef Py_ssize_t at
    cdef uint8_t column
    if type(rows) is not Rows:
        return [[row[column] for column in columns] for row in rows]
    chosen = []
    table = rows
    cells.resize(table.width)
    for at in range(table.count):
        table.fill(at, cells.data())
        chosen.append([cells[column] for column in columns])
    return chosen


cdef bint _run(_Subsets subsets) except -1:
    """Follow all subsets."""
    cdef int is_over
    if subsets.state_tags.size() <= MANY:
        return subsets.run()
    with nogil:
        is_over = subsets.run()
    return is_over


cdef void _make_minimal(Edges& edges, vector[uint64_t]& tags, Ints& starts) noexcept:
    """Minimise in place."""
    if tags.size() <= MANY:
        _minimise(edges, tags, starts)
        return
    with nogil:
        _minimise(edges, tags, starts)


cdef list _listed(const vector[uint64_t]& tags):
    return [tags[i] for i in range(<Py_ssize_t> tags.size())]


def determinise(
    moves, tags, starts, Py_ssize_t symbols, int64_t limit, uint64_t stop, int64_t work
):
    """See ``kernel.Automata``."""
    cdef _Subsets subsets = _Subsets()
    cdef Py_ssize_t i = 0
    cdef Ints subset, first
    cdef int32_t number
    subsets.work = work
    subsets.stop = stop
    subsets.limit = limit
    for row in moves:
        subsets.edges.first.push_back(<int32_t> subsets.edges.symbol.size())
        for symbol, targets in row.items():
            for target in targets:
                subsets.edges.symbol.push_back(symbol)
                subsets.edges.target.push_back(target)
    subsets.edges.first.push_back(<int32_t> subsets.edges.symbol.size())
    subsets.begin()
    for tag in tags:
        subsets.state_tags[i] = tag
        i += 1
    subsets.close_alone()
    subsets.weigh(False)
    subsets.find_pumps(<int32_t> symbols)
    for start in starts:
        subset.clear()
        for state in start:
            subset.push_back(state)
        number = subsets.number(subset.data(), subset.size())
        if number == -2:
            return None, subsets.steps()
        first.push_back(number)
    if _run(subsets):
        return None, subsets.steps()
    rows = _rows_of(subsets.rows, subsets.tags.size(), symbols)
    numbers = [first[i] for i in range(<Py_ssize_t> first.size())]
    return (rows, _listed(subsets.tags), numbers), subsets.steps()


cdef int _read_table(
    rows, tags, starts, Edges& edges, vector[uint64_t]& kept, Ints& first
) except -1:
    cdef int32_t target, symbol, start
    cdef Rows table
    if type(rows) is Rows:
        table = rows
        edges = table.edges
    else:
        for row in rows:
            edges.first.push_back(<int32_t> edges.symbol.size())
            symbol = 0
            for target in row:
                if target != DEAD:
                    edges.symbol.push_back(symbol)
                    edges.target.push_back(target)
                symbol += 1
        edges.first.push_back(<int32_t> edges.symbol.size())
    for tag in tags:
        kept.push_back(tag)
    for start in starts:
        # An automaton without states may still say where it starts.
        first.push_back(start if start < <int32_t> kept.size() else DEAD)
    return 0


def minimise(rows, tags, starts):
    """See ``kernel.Automata``."""
    cdef Edges edges
    cdef vector[uint64_t] kept
    cdef Ints first
    cdef Py_ssize_t i
    _read_table(rows, tags, starts, edges, kept, first)
    _make_minimal(edges, kept, first)
    smallest = _rows_of(edges, kept.size(), len(rows[0]) if rows else 0)
    return smallest, _listed(kept), [first[i] for i in range(<Py_ssize_t> first.size())]


cdef inline const int32_t* _numbers(bytes column) noexcept:
    return <const int32_t*> <const char*> column


cdef inline Py_ssize_t _length(bytes column) noexcept:
    return len(column) // sizeof(int32_t)


cdef void _gather(
    const int32_t* source,
    const int32_t* symbol,
    const int32_t* target,
    Py_ssize_t count,
    Py_ssize_t states,
    Edges& edges,
) noexcept:
    """Sort edges by their sources."""
    cdef Py_ssize_t i
    edges.first.assign(states + 1, 0)
    edges.symbol.resize(count)
    edges.target.resize(count)
    for i in range(count):
        edges.first[source[i] + 1] += 1
    for i in range(states):
        edges.first[i + 1] += edges.first[i]
    cdef Ints at = edges.first
    for i in range(count):
        edges.symbol[at[source[i]]] = symbol[i]
        edges.target[at[source[i]]] = target[i]
        at[source[i]] += 1


def compact(
    bytes source,
    bytes symbol,
    bytes target,
    bytes free_source,
    bytes free_target,
    Py_ssize_t states,
    int32_t start,
    int32_t accept,
    int64_t limit,
    int64_t closure_limit,
    int64_t work,
):
    """See ``kernel.Automata``."""
    cdef _Subsets subsets = _Subsets()
    cdef const int32_t* targets = _numbers(target)
    cdef Py_ssize_t i, count = _length(target)
    cdef Ints first, sources
    cdef vector[uint8_t] accepting
    cdef int32_t j, number
    _gather(_numbers(source), _numbers(symbol), targets, count, states, subsets.edges)
    _gather(
        _numbers(free_source), _numbers(free_source), _numbers(free_target), _length(free_source),
        states, subsets.free,
    )
    subsets.begin()
    subsets.work = work
    subsets.limit = limit
    subsets.closure_limit = closure_limit
    subsets.state_tags[accept] = 1
    subsets.useful.assign(states, 0)
    for i in range(states):
        subsets.useful[i] = i == accept or subsets.edges.first[i] < subsets.edges.first[i + 1]
    # All closures that some subset may need count, whether a limit stops it first or not.
    for i in range(count):
        if subsets.close(targets[i]):
            return None, subsets.steps()
    if subsets.close(start):
        return None, subsets.steps()
    subsets.weigh(True)
    number = subsets.after(start)
    if number == -2 or _run(subsets):
        return None, subsets.steps()
    subsets.spent += subsets.rows.symbol.size()
    if subsets.is_spent():
        return None, subsets.steps()
    first.push_back(number)
    _make_minimal(subsets.rows, subsets.tags, first)
    sources.reserve(subsets.rows.symbol.size())
    for i in range(<Py_ssize_t> subsets.tags.size()):
        accepting.push_back(subsets.tags[i] != 0)
        for j in range(subsets.rows.first[i], subsets.rows.first[i + 1]):
            sources.push_back(<int32_t> i)
    flags = PyBytes_FromStringAndSize(<const char*> accepting.data(), accepting.size())
    columns = (
        _bytes(sources), _bytes(subsets.rows.symbol), _bytes(subsets.rows.target), flags
    )
    return columns, subsets.steps()


def join(partitions):
    """See ``kernel.Automata``."""
    cdef const uint8_t[::1] classes
    cdef int16_t numbers[256][256]
    cdef uint8_t joined[256]
    cdef int32_t byte, count, before
    for byte in range(256):
        joined[byte] = 0
    for partition in partitions:
        classes = partition
        # The number of each pair of a class so far and one of this partition, by first byte.
        for byte in range(256):
            numbers[joined[byte]][classes[byte]] = DEAD
        count = 0
        for byte in range(256):
            before = joined[byte]
            if numbers[before][classes[byte]] == DEAD:
                numbers[before][classes[byte]] = <int16_t> count
                count += 1
            joined[byte] = <uint8_t> numbers[before][classes[byte]]
    return PyBytes_FromStringAndSize(<const char*> joined, 256)


cdef struct Twig:
    # A node of a trie: its edges by symbol, and the state beside it.
    Ints symbols
    Ints below
    int32_t beside


def leave_out(list rows, words):
    """See ``kernel.Automata``."""
    cdef vector[Twig] trie
    cdef Twig fresh
    cdef unordered_map[string, int32_t] states
    # All cells, row by row; more rows are added.
    cdef Ints cells, state_of, key
    cdef string name
    cdef Py_ssize_t node, i, child, first, width = len(rows[0]) if rows else 0
    cdef int32_t symbol, count, states_made = <int32_t> len(rows), target
    cdef bytes word
    cdef Edges edges
    for row in rows:
        for target in row:
            cells.push_back(target)
    fresh.beside = 0
    trie.push_back(fresh)
    for word in words:
        count = 0
        for symbol in word:
            count = cells[count * width + symbol]
            if count == DEAD:
                break
        # A word that the automaton does not read needs no leaving out, and its trie nodes would
        # have no state beside them.
        if count == DEAD:
            continue
        node = 0
        for symbol in word:
            child = 0
            count = <int32_t> trie[node].symbols.size()
            while child < count and trie[node].symbols[child] < symbol:
                child += 1
            if child == count or trie[node].symbols[child] != symbol:
                fresh.beside = cells[trie[node].beside * width + symbol]
                trie[node].symbols.insert(trie[node].symbols.begin() + child, symbol)
                trie[node].below.insert(
                    trie[node].below.begin() + child, <int32_t> trie.size()
                )
                trie.push_back(fresh)
            node = trie[node].below[child]
    state_of.assign(trie.size(), <int32_t> DEAD)
    for node in range(<Py_ssize_t> trie.size() - 1, -1, -1):
        if trie[node].symbols.empty():
            continue
        key.clear()
        key.push_back(trie[node].beside)
        for i in range(<Py_ssize_t> trie[node].symbols.size()):
            key.push_back(trie[node].symbols[i])
            key.push_back(state_of[trie[node].below[i]])
        name.assign(<const char*> key.data(), key.size() * sizeof(int32_t))
        # From the leaves on, so that equal ends of words are one state, as in a minimal automaton.
        entry = states.find(name)
        if entry != states.end():
            state_of[node] = dereference(entry).second
            continue
        first = cells.size()
        for i in range(width):
            cells.push_back(cells[trie[node].beside * width + i])
        for i in range(<Py_ssize_t> trie[node].symbols.size()):
            cells[first + trie[node].symbols[i]] = state_of[trie[node].below[i]]
        state_of[node] = states[name] = states_made
        states_made += 1
    if not trie[0].symbols.empty():
        # The last one that was added is the first.
        states_made -= 1
        for i in range(width):
            cells[i] = cells[states_made * width + i]
    edges.symbol.reserve(states_made * width)
    edges.target.reserve(states_made * width)
    for node in range(states_made):
        edges.first.push_back(<int32_t> edges.symbol.size())
        for i in range(width):
            if cells[node * width + i] != DEAD:
                edges.symbol.push_back(<int32_t> i)
                edges.target.push_back(cells[node * width + i])
    edges.first.push_back(<int32_t> edges.symbol.size())
    return _rows_of(edges, states_made, width)


cdef _bytes(const Ints& values):
    return PyBytes_FromStringAndSize(
        <const char*> values.data(), values.size() * sizeof(int32_t)
    )


include "products.pxi"
