# Walks that other grammars made: positions in strings are in most of them.
#
# What a walk from an item set above BOTTOM finds depends on the rows that can be reached from it, on
# nothing else of the grammar. So its *structure* gets a name in which no number of a row or of a byte
# class appears: rows are numbered as they are met, and a byte leads on from a row with a key of its
# own, so that it does not matter how bytes are put into classes. The name is a hash of 128 bits whose
# keys are drawn anew in each process (Carter and Wegman, 1979): no grammar can be written that has
# the name of another one.

from os import urandom

cdef enum:
    # Of a structure that is named: rows and edges. To name a larger one takes as long as to walk.
    _MOST_ROWS = 48
    _MOST_EDGES = 256
    # Edges of the first row; what begins with fewer is walked as fast.
    _LEAST_EDGES = 12
    _SLOTS = 256
    # Walks that are kept, and numbers that one may take; of more walks, all are forgotten.
    _MOST_KEPT = 256
    _LARGEST = 4096


cdef struct Name:
    uint64_t one
    uint64_t other


cdef cppclass KnownWalk:
    # ``content``: of the mask; see ``Pool``. ``nodes``: where the nonterminal that all items report
    # completes into BOTTOM and tokens go on. ``visited``: the trie nodes that the walk visited.
    uint64_t checked
    long long visited
    vector[int32_t] content
    vector[int32_t] nodes


cdef Name[256] _byte_keys
cdef Name[_MOST_ROWS + 1] _row_keys
cdef bytes _drawn = urandom(sizeof(_byte_keys) + sizeof(_row_keys))
memcpy(_byte_keys, <const char*> _drawn, sizeof(_byte_keys))
memcpy(_row_keys, <const char*> _drawn + sizeof(_byte_keys), sizeof(_row_keys))


cdef class Names:
    """Names the structures of one grammar."""

    cdef ItemSets items
    # By byte class: the sum of its bytes' keys.
    cdef vector[Name] class_keys
    # Of the structure in progress: its rows, and by hash the number of each, from 1 on.
    cdef int32_t[_MOST_ROWS] rows
    cdef int32_t count
    cdef int32_t[_SLOTS] slots

    def __cinit__(self, LazyTable explorer):
        cdef Name* key
        cdef int32_t byte
        self.items = explorer.items
        self.class_keys.resize(explorer.width, Name(0, 0))
        for byte in range(256):
            key = &self.class_keys[explorer.classes[byte]]
            key.one += _byte_keys[byte].one
            key.other += _byte_keys[byte].other

    cdef bint find(self, int32_t item_set, Name* name) except -1:
        """Find the name of the structure of an item set; tell whether it has one.

        It has where all items report the same nonterminal, nothing is called or counted, no token
        terminal can come, and it is small.
        """
        cdef ItemSets items = self.items
        cdef vector[int64_t]* members = items.of(item_set)
        cdef int32_t edges = 0, done = 0, edge, row, last, after = 0
        cdef Name total
        cdef size_t i
        if members.empty() or items.edge_count(members[0][0] // items.radix) < _LEAST_EDGES:
            return False
        self.count = 0
        memset(self.slots, 0, sizeof(self.slots))
        for i in range(members.size()):
            if members[0][i] % items.radix != members[0][0] % items.radix:
                return False
            if self._number(members[0][i] // items.radix) == 0:
                return False
        # There are at most so many rows, so at most so many items.
        name[0] = _row_keys[members.size()]
        while done < self.count:
            row = self.rows[done]
            done += 1
            edges += items.edge_count(row)
            if edges > _MOST_EDGES or items.has_calls(row) or items.has_tokens(row):
                return False
            total = Name(items.accepting[row], 0)
            last = UNKNOWN
            for edge in range(items.edge_start[row], items.edge_start[row + 1]):
                # Most edges of a row lead to the same one as the edge before.
                if items.edge_target[edge] != last:
                    last = items.edge_target[edge]
                    after = self._number(last)
                    if after == 0:
                        return False
                total.one += self.class_keys[items.edge_class[edge]].one * _row_keys[after].one
                total.other += self.class_keys[items.edge_class[edge]].other * _row_keys[after].other
            _mix(name, total)
        return True

    cdef inline int32_t _number(self, int64_t row) noexcept:
        """The number of a row, from 1 on; 0 where there are too many, or something is counted."""
        cdef int32_t at = (<int32_t> row * 0x9E3779B1 >> 7) & (_SLOTS - 1)
        if row >= self.items.states or (self.items.has_loops and self.items.loop_of[row] >= 0):
            return 0
        while self.slots[at]:
            if self.rows[self.slots[at] - 1] == row:
                return self.slots[at]
            at = (at + 1) & (_SLOTS - 1)
        if self.count == _MOST_ROWS:
            return 0
        self.rows[self.count] = <int32_t> row
        self.count += 1
        self.slots[at] = self.count
        return self.count


cdef inline void _mix(Name* name, Name more) noexcept nogil:
    """Mix what comes next into a name."""
    name.one = _mixed(name.one ^ _mixed(more.one)) + _row_keys[0].one
    name.other = _mixed(name.other ^ _mixed(more.other ^ more.one)) + _row_keys[0].other
