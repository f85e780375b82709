# Transitions by whole tokens from a list of states, for tables on a device (``device/build.py``).
#
# **Layer.** Above ``lazy_table.pxi`` and ``arrays.pxi``.
#
# **Terms.** A *vector* has the states after the same bytes from each state of the list. A *column*
# is the vector of a token; tokens with equal vectors share it.

cdef enum:
    _NOWHERE = 0
    _IDENTITY = 1
    # Numbers in all vectors together; a number takes four bytes.
    _MOST_STORED = 1 << 26


@cython.final
cdef class _Vectors:
    """Interns vectors of states, as (place, state) of the live ones, and steps them by bytes.

    Each is computed once for a byte class, however many trie nodes it belongs to: that is what
    makes a table cost little more than one pass over the trie.
    """

    cdef LazyTable explorer
    cdef bint eager
    cdef int64_t left
    cdef size_t stored
    cdef Py_ssize_t classes
    cdef deque[vector[int32_t]] contents
    cdef unordered_map[uint64_t, vector[int32_t]] numbers_of
    # By vector and byte class: the vector after it.
    cdef vector[int32_t] after

    def __cinit__(self, LazyTable explorer, const int32_t[::1] states, bint eager, int64_t work):
        cdef vector[int32_t] content
        cdef Py_ssize_t i
        self.explorer = explorer
        self.eager = eager
        self.left = work
        self.classes = explorer.width
        self._insert(content)
        for i in range(states.shape[0]):
            content.push_back(<int32_t> i)
            content.push_back(states[i])
        # Not found by content, so no token leads back to it: only before the first byte may a
        # complete state go on under ``eager``.
        self.contents.push_back(content)
        self.after.resize(2 * self.classes, UNKNOWN)

    cdef inline int32_t step(self, int32_t number, uint8_t byte_class) except -2:
        """The vector after a byte of a class, -1 once the work is used up."""
        cdef int32_t result = self.after[number * self.classes + byte_class]
        return result if result != UNKNOWN else self._find(number, byte_class)

    cdef int32_t _find(self, int32_t number, uint8_t byte_class) except -2:
        cdef vector[int32_t]* before = &self.contents[number]
        cdef vector[int32_t] content
        cdef int32_t state
        cdef size_t i
        self.left -= before.size() // 2 + 1
        if self.left < 0 or self.stored > _MOST_STORED:
            return -1
        for i in range(0, before.size(), 2):
            state = before[0][i + 1]
            if self.eager and number != _IDENTITY and self.explorer.completions[state]:
                continue
            state = self.explorer.step(state, byte_class)
            if state != DEAD:
                content.push_back(before[0][i])
                content.push_back(state)
        self.after[number * self.classes + byte_class] = self._number(content)
        return self.after[number * self.classes + byte_class]

    cdef int32_t _number(self, vector[int32_t]& content) except -1:
        cdef vector[int32_t]* numbers
        cdef size_t i
        if content.empty():
            return _NOWHERE
        numbers = &self.numbers_of[_hash(content)]
        for i in range(numbers.size()):
            if self.contents[numbers[0][i]] == content:
                return numbers[0][i]
        numbers.push_back(<int32_t> self.contents.size())
        return self._insert(content)

    cdef int32_t _insert(self, vector[int32_t]& content) except -1:
        self.contents.push_back(content)
        self.stored += content.size()
        self.after.resize(self.contents.size() * self.classes, UNKNOWN)
        return <int32_t> self.contents.size() - 1


def columns(table, trie, const int32_t[::1] states, bint eager, int64_t work):
    """Return which column each token of a trie has, and the columns, int32[count, states].

    A column has the state of ``table`` after the token from each of ``states``, DEAD where it
    cannot come; no two are equal, and column 0 is dead throughout. The first is as long as
    ``trie.token_ids``. With ``eager`` a byte after one that completed the start is refused. None
    where more than ``work`` transitions would be followed, or too much be stored.
    """
    cdef _Vectors vectors = _Vectors(table.explorer, states, eager, work)
    cdef _Trie nodes = _Trie()
    cdef const uint8_t* classes = vectors.explorer.classes
    cdef vector[int32_t] at = vector[int32_t](<size_t> trie.max_depth + 1, _IDENTITY)
    cdef vector[int32_t] of = vector[int32_t](<size_t> trie.token_ids.shape[0], 0)
    cdef int32_t node = 1, count, after, k
    nodes.bind(trie)
    count = <int32_t> nodes.byte.shape[0]
    while node < count:
        after = vectors.step(at[nodes.depth[node] - 1], classes[nodes.byte[node]])
        if after < 0:
            return None
        # No state of the list reads on: the tokens below have the dead column.
        if after == _NOWHERE:
            node = nodes.skip[node]
            continue
        at[nodes.depth[node]] = after
        for k in range(nodes.token_start[node], nodes.token_start[node + 1]):
            of[k] = after
        node += 1
    return _dense(vectors, of, states.shape[0])


cdef _dense(_Vectors vectors, vector[int32_t]& of, Py_ssize_t width):
    """The vectors in use, numbered in order of use, as rows of a matrix after a row of zeros."""
    cdef vector[int32_t] number = vector[int32_t](vectors.contents.size(), 0)
    cdef vector[int32_t] used = vector[int32_t](1, _NOWHERE)
    cdef vector[int32_t]* content
    cdef int32_t[:, ::1] view
    cdef size_t i, j
    for i in range(of.size()):
        if of[i] != _NOWHERE:
            if not number[of[i]]:
                number[of[i]] = <int32_t> used.size()
                used.push_back(of[i])
            of[i] = number[of[i]]
    # The matrix has a cell also for each state that a vector leaves out, so it can be the larger
    # one.
    if used.size() * <size_t> width > _MOST_STORED:
        return None
    cdef cnp.npy_intp[2] shape = [<cnp.npy_intp> used.size(), width]
    matrix = cnp.PyArray_ZEROS(2, shape, cnp.NPY_INT32, 0)
    view = matrix
    for i in range(1, used.size()):
        content = &vectors.contents[used[i]]
        for j in range(0, content.size(), 2):
            view[i, content[0][j]] = content[0][j + 1]
    return _as_array(of), matrix
