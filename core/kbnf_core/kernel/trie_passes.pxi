# Passes over a trie, for slices: a node comes before those below it, so what is known of its parent
# goes down in a loop forwards, and what is known of its children goes up in one backwards.

cdef object _new(Py_ssize_t rows, Py_ssize_t columns, int kind):
    """An array of zeros of so many rows; of one dimension where there are no columns."""
    cdef cnp.npy_intp[2] shape
    shape[0], shape[1] = rows, columns
    return cnp.PyArray_ZEROS(2 if columns else 1, shape, kind, 0)


def read_down(
    const int32_t[::1] parent, const uint8_t[::1] byte, const int32_t[:, ::1] machine
):
    """Return the state of a machine at each node, uint8[n]; 1 is the start."""
    cdef Py_ssize_t count = parent.shape[0], node
    found = _new(count, 0, cnp.NPY_UINT8)
    cdef uint8_t[::1] state = found
    state[0] = 1
    with nogil:
        for node in range(1, count):
            state[node] = <uint8_t> machine[state[parent[node]], byte[node]]
    return found


def count_starts(const int32_t[::1] parent, const uint8_t[::1] reading):
    """Return how often the machine was at its start on the way to each node, int32[n]."""
    cdef Py_ssize_t count = parent.shape[0], node
    found = _new(count, 0, cnp.NPY_INT32)
    cdef int32_t[::1] begun = found
    begun[0] = 0
    with nogil:
        for node in range(1, count):
            begun[node] = begun[parent[node]] + (reading[parent[node]] == 1)
    return found


def unite_down_and_up(const int32_t[::1] parent, const uint64_t[:, ::1] own):
    """Return the unions of what nodes have: on the way to each, and below it, uint64[n, 2] both."""
    cdef Py_ssize_t count = parent.shape[0], node
    way, under = _new(count, 2, cnp.NPY_UINT64), _new(count, 2, cnp.NPY_UINT64)
    cdef uint64_t[:, ::1] down = way
    cdef uint64_t[:, ::1] up = under
    with nogil:
        for node in range(1, count):
            down[node, 0] = own[node, 0] | down[parent[node], 0]
            down[node, 1] = own[node, 1] | down[parent[node], 1]
        for node in range(count - 1, 0, -1):
            up[parent[node], 0] |= up[node, 0] | own[node, 0]
            up[parent[node], 1] |= up[node, 1] | own[node, 1]
    return way, under


def mark_tokens(
    const uint64_t[:, ::1] characters, const int32_t[::1] ids, uint32_t[:, ::1] rows
):
    """Set the bit of each token in the rows of its characters."""
    cdef Py_ssize_t i, half
    cdef uint64_t left
    with nogil:
        for i in range(ids.shape[0]):
            for half in range(2):
                left = characters[i, half]
                while left:
                    rows[64 * half + _lowest(left), ids[i] >> 5] |= <uint32_t> 1 << (ids[i] & 31)
                    left &= left - 1


def deepest_below(const int32_t[::1] parent, const uint16_t[::1] depth):
    """Return the depth of the deepest node below each, or its own, uint16[n]."""
    cdef Py_ssize_t count = parent.shape[0], node
    found = _new(count, 0, cnp.NPY_UINT16)
    cdef uint16_t[::1] deepest = found
    with nogil:
        deepest[:] = depth
        for node in range(count - 1, 0, -1):
            if deepest[parent[node]] < deepest[node]:
                deepest[parent[node]] = deepest[node]
    return found
