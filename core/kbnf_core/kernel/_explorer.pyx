# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# distutils: language = c++
"""New transitions, worked out over memos of numbers; see ``interface.Kernel.explorer``.

What an item set or an origin *is* stays with ``recognise``: whatever is not known here yet is asked
there, once. Here is only the putting together, which would otherwise be most of the time.
"""

from libc.stdint cimport int32_t, uint8_t, uint64_t
from libcpp.algorithm cimport sort
from libcpp.string cimport string
from libcpp.unordered_map cimport unordered_map
from libcpp.utility cimport pair
from libcpp.vector cimport vector

ctypedef pair[int32_t, int32_t] Pair  # (origin, item set), or (origin, nonterminal)

cdef enum:
    EMPTY = 0
    BOTTOM = 0
    UNKNOWN = -1


cdef inline uint64_t _key(int32_t high, int32_t low) noexcept nogil:
    return (<uint64_t> high << 32) | <uint64_t> low


cdef class Explorer:
    """Works out transitions of one ``recognise.states.StateTable``, whose lock the caller holds."""

    cdef object table
    cdef object items
    cdef object origins
    cdef Py_ssize_t width
    cdef vector[int32_t] moves
    cdef vector[int32_t] live
    cdef vector[uint8_t] is_completed_known
    cdef vector[vector[int32_t]] completed
    cdef vector[uint8_t] is_source_known
    cdef vector[vector[Pair]] sources
    cdef unordered_map[uint64_t, vector[Pair]] waiting
    cdef unordered_map[uint64_t, int32_t] unions
    cdef unordered_map[uint64_t, int32_t] narrowed
    cdef unordered_map[string, int32_t] numbers

    def __cinit__(self, table):
        self.table = table
        self.items = table.items
        self.origins = table.origins
        self.width = table.next.shape[1]

    def explore(self, int32_t state, int32_t byte_class):
        """Return the state after a byte of ``byte_class``."""
        cdef vector[Pair] reached
        cdef Py_ssize_t i
        cdef int32_t moved
        self._know_sources(state)
        for i in range(<Py_ssize_t> self.sources[state].size()):
            moved = self._move(self.sources[state][i].second, byte_class)
            if moved != EMPTY:
                reached.push_back(Pair(self.sources[state][i].first, moved))
        return self._settle(reached)

    cdef int32_t _settle(self, vector[Pair]& reached) except -2:
        cdef vector[int32_t] exits
        cdef vector[Pair] done
        cdef Py_ssize_t i = 0, j
        # The list of pairs grows with what goes on, so each is looked at once, in turn.
        while i < <Py_ssize_t> reached.size():
            self._know_completed(reached[i].second)
            for j in range(<Py_ssize_t> self.completed[reached[i].second].size()):
                self._complete(
                    Pair(reached[i].first, self.completed[reached[i].second][j]),
                    reached,
                    done,
                    exits,
                )
            i += 1
        sort(exits.begin(), exits.end())
        return self._intern(reached, exits)

    cdef int _complete(
        self, Pair what, vector[Pair]& reached, vector[Pair]& done, vector[int32_t]& exits
    ) except -1:
        cdef Py_ssize_t i
        cdef vector[Pair]* pairs
        if _holds(done, what):
            return 0
        done.push_back(what)
        if what.first == BOTTOM:
            exits.push_back(what.second)
            return 0
        pairs = self._waiting(what)
        for i in range(<Py_ssize_t> pairs.size()):
            if not _holds(reached, pairs[0][i]):
                reached.push_back(pairs[0][i])
        return 0

    cdef int32_t _intern(self, vector[Pair]& reached, vector[int32_t]& exits) except -2:
        cdef vector[Pair] merged, pairs
        cdef Py_ssize_t i
        cdef int32_t item_set
        for i in range(<Py_ssize_t> reached.size()):
            self._merge(merged, reached[i])
        for i in range(<Py_ssize_t> merged.size()):
            item_set = self._live(merged[i].second)
            if item_set != EMPTY:
                self._merge(pairs, Pair(self._narrow(merged[i].first, item_set), item_set))
        sort(pairs.begin(), pairs.end())
        return self._number(pairs, exits)

    cdef int _merge(self, vector[Pair]& pairs, Pair added) except -1:
        """Add a pair to a list that has each origin once."""
        cdef Py_ssize_t i
        for i in range(<Py_ssize_t> pairs.size()):
            if pairs[i].first == added.first:
                pairs[i].second = self._union(pairs[i].second, added.second)
                return 0
        pairs.push_back(added)
        return 0

    cdef int32_t _number(self, vector[Pair]& pairs, vector[int32_t]& exits) except -2:
        cdef string key
        cdef size_t count = pairs.size()
        cdef Py_ssize_t i
        # The count of pairs keeps apart what would otherwise run together.
        key.append(<const char*> &count, sizeof(count))
        key.append(<const char*> pairs.data(), count * sizeof(Pair))
        key.append(<const char*> exits.data(), exits.size() * sizeof(int32_t))
        if self.numbers.count(key):
            return self.numbers[key]
        cdef int32_t number = self.table.number_of(
            tuple([(pairs[i].first, pairs[i].second) for i in range(<Py_ssize_t> pairs.size())]),
            tuple([exits[i] for i in range(<Py_ssize_t> exits.size())]),
        )
        self.numbers[key] = number
        return number

    cdef int _know_sources(self, int32_t state) except -1:
        if state >= <int32_t> self.sources.size():
            self.sources.resize(2 * state + 16)
            self.is_source_known.resize(2 * state + 16, 0)
        if not self.is_source_known[state]:
            for origin, item_set in self.table.sources(state):
                self.sources[state].push_back(Pair(<int32_t> origin, <int32_t> item_set))
            self.is_source_known[state] = 1
        return 0

    cdef int _make_room(self, int32_t item_set) except -1:
        cdef size_t size
        if item_set >= <int32_t> self.live.size():
            size = 2 * item_set + 16
            self.moves.resize(size * self.width, UNKNOWN)
            self.live.resize(size, UNKNOWN)
            self.is_completed_known.resize(size, 0)
            self.completed.resize(size)
        return 0

    cdef int32_t _move(self, int32_t item_set, int32_t byte_class) except -2:
        cdef int32_t moved
        self._make_room(item_set)
        moved = self.moves[item_set * self.width + byte_class]
        if moved == UNKNOWN:
            moved = self.items.move(item_set, byte_class)
            self.moves[item_set * self.width + byte_class] = moved
        return moved

    cdef int _know_completed(self, int32_t item_set) except -1:
        self._make_room(item_set)
        if not self.is_completed_known[item_set]:
            for nonterminal in self.items.completed(item_set):
                self.completed[item_set].push_back(<int32_t> nonterminal)
            self.is_completed_known[item_set] = 1
        return 0

    cdef int32_t _live(self, int32_t item_set) except -2:
        self._make_room(item_set)
        if self.live[item_set] == UNKNOWN:
            self.live[item_set] = self.items.live(item_set)
        return self.live[item_set]

    cdef vector[Pair]* _waiting(self, Pair what) except NULL:
        cdef uint64_t key = _key(what.first, what.second)
        if not self.waiting.count(key):
            # operator[] makes the entry, also where nobody waits.
            self.waiting[key].clear()
            for origin, item_set in self.origins.waiting(what.first, what.second):
                self.waiting[key].push_back(Pair(<int32_t> origin, <int32_t> item_set))
        return &self.waiting[key]

    cdef int32_t _union(self, int32_t one, int32_t other) except -2:
        cdef uint64_t key
        if one == other:
            return one
        key = _key(min(one, other), max(one, other))
        if not self.unions.count(key):
            self.unions[key] = self.items.union((one, other))
        return self.unions[key]

    cdef int32_t _narrow(self, int32_t origin, int32_t item_set) except -2:
        cdef uint64_t key
        if origin == BOTTOM:
            return BOTTOM
        key = _key(origin, item_set)
        if not self.narrowed.count(key):
            self.narrowed[key] = self.origins.narrow(origin, self.items.reports(item_set))
        return self.narrowed[key]


cdef bint _holds(vector[Pair]& pairs, Pair what) noexcept nogil:
    """Tell whether a short list has a pair."""
    cdef size_t i
    for i in range(pairs.size()):
        if pairs[i] == what:
            return True
    return False
