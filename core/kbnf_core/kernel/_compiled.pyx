# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""The kernel, compiled: see ``kernel.Kernel`` for what each function does."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t
from libc.string cimport memcpy, memset
from libcpp.vector cimport vector


from kbnf_core.kernel._explorer import Explorer

cimport numpy as cnp

cnp.import_array()

NAME = "compiled"

cdef enum:
    DEAD = 0
    UNKNOWN = -1


def explorer(table):
    """Return the function that works out the transitions of ``table``."""
    return Explorer(table).explore


cdef class _Rows:
    """The table's arrays as pointers; looked up again whenever the table may have grown."""

    cdef object table
    cdef const int32_t[:, ::1] next_view
    cdef const uint8_t[::1] exits_view
    cdef const int32_t* rows
    cdef const uint8_t* exits
    cdef Py_ssize_t width

    def __cinit__(self, table):
        self.table = table
        self.refresh()

    cdef refresh(self):
        self.next_view = self.table.next
        self.exits_view = self.table.has_exits
        self.width = self.next_view.shape[1]
        self.rows = &self.next_view[0, 0]
        self.exits = &self.exits_view[0]

    cdef int32_t explore(self, int32_t state, uint8_t byte_class) except -2:
        cdef int32_t found = self.table.step(state, byte_class)
        self.refresh()
        return found


def walk(
    table,
    trie,
    const uint8_t[::1] classes,
    int32_t start,
    const int32_t[::1] roots,
    uint32_t[::1] words,
):
    """Depth first: down to ``node + 1`` while alive, past the subtree when dead.

    ``states[d]`` is the state at depth d of the path to the current node.
    """
    cdef const uint8_t[::1] byte = trie.byte
    cdef const int32_t[::1] skip = trie.skip
    cdef const uint16_t[::1] depth = trie.depth
    cdef const int32_t[::1] token_start = trie.token_start
    cdef const int32_t[::1] token_ids = trie.token_ids
    cdef _Rows rows = _Rows(table)
    cdef vector[int32_t] states
    cdef vector[int32_t] exit_nodes
    cdef vector[int32_t] exit_states
    cdef Py_ssize_t i
    cdef int32_t node, end, root, after, token, k
    states.resize(trie.max_depth + 1)
    words[:] = 0
    for i in range(roots.shape[0]):
        root = roots[i]
        end = skip[root]
        states[depth[root]] = start
        node = root + 1
        while node < end:
            after = rows.rows[states[depth[node] - 1] * rows.width + classes[byte[node]]]
            if after == UNKNOWN:
                after = rows.explore(states[depth[node] - 1], classes[byte[node]])
            if after == DEAD:
                node = skip[node]
                continue
            states[depth[node]] = after
            for k in range(token_start[node], token_start[node + 1]):
                token = token_ids[k]
                words[token >> 5] |= <uint32_t> 1 << (token & 31)
            if rows.exits[after]:
                exit_nodes.push_back(node)
                exit_states.push_back(after)
            node += 1
    return _to_array(exit_nodes), _to_array(exit_states)


cdef _to_array(const vector[int32_t]& values):
    cdef cnp.npy_intp length = values.size()
    cdef cnp.ndarray array = cnp.PyArray_EMPTY(1, &length, cnp.NPY_INT32, 0)
    if length:
        memcpy(cnp.PyArray_DATA(array), values.data(), length * sizeof(int32_t))
    return array


def fill(cnp.ndarray out not None, cnp.ndarray words not None):
    """Copy words; the checks read the array's header only, so they cost next to nothing."""
    cdef Py_ssize_t length, count
    if (
        cnp.PyArray_TYPE(out) != cnp.NPY_INT32
        or cnp.PyArray_NDIM(out) != 1
        or not cnp.PyArray_ISCARRAY(out)
    ):
        raise ValueError("a bitmask is a contiguous one-dimensional int32 array")
    length = cnp.PyArray_DIM(out, 0)
    count = cnp.PyArray_DIM(words, 0)
    if length < count:
        raise ValueError(f"a bitmask of {length} words is too short for {count}")
    cdef char* target = <char*> cnp.PyArray_DATA(out)
    memcpy(target, cnp.PyArray_DATA(words), count * 4)
    if length > count:
        memset(target + count * 4, 0, (length - count) * 4)


ctypedef fused real:
    float
    double


cdef extern from *:
    """
    #include <math.h>
    #include <stddef.h>
    #include <stdint.h>

    /* With wider registers, where the processor has them: the compiler makes both, and the loader
       chooses. Elsewhere the plain loop has to do. */
    #if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__linux__)
    #define KBNF_CLONES __attribute__((target_clones("avx2", "default")))
    #else
    #define KBNF_CLONES
    #endif

    /* Whole words that are empty or full are most of a mask, and need no look at their bits. */
    #define KBNF_APPLY(name, real)                                                          \
        KBNF_CLONES static void name(const uint32_t *words, ptrdiff_t count, real *logits) { \
            for (ptrdiff_t word = 0; word < count; ++word, logits += 32) {                  \
                const uint32_t bits = words[word];                                          \
                if (bits == 0xFFFFFFFFu) continue;                                          \
                if (bits == 0) {                                                            \
                    for (int i = 0; i < 32; ++i) logits[i] = (real)-INFINITY;               \
                } else {                                                                    \
                    for (int i = 0; i < 32; ++i)                                            \
                        logits[i] = (bits >> i) & 1 ? logits[i] : (real)-INFINITY;          \
                }                                                                           \
            }                                                                               \
        }

    KBNF_APPLY(kbnf_apply_float, float)
    KBNF_APPLY(kbnf_apply_double, double)
    """
    void kbnf_apply_float(const uint32_t* words, Py_ssize_t count, float* logits) noexcept nogil
    void kbnf_apply_double(const uint32_t* words, Py_ssize_t count, double* logits) noexcept nogil


cdef void _apply(
    const uint32_t* words, Py_ssize_t size, real* logits, Py_ssize_t length
) noexcept nogil:
    cdef Py_ssize_t i
    if real is float:
        kbnf_apply_float(words, size // 32, logits)
    else:
        kbnf_apply_double(words, size // 32, logits)
    for i in range(size // 32 * 32, size):
        if not (words[i // 32] >> (i % 32)) & 1:
            logits[i] = <real> -INFINITY
    for i in range(size, length):
        logits[i] = <real> -INFINITY


def apply(const uint32_t[::1] words, Py_ssize_t size, real[::1] logits):
    """Apply a mask; see ``_apply``."""
    if size > words.shape[0] * 32 or size > logits.shape[0]:
        raise ValueError("the mask and the logits are shorter than the vocabulary")
    if logits.shape[0] == 0:
        return
    cdef const uint32_t* bits = &words[0] if words.shape[0] else NULL
    with nogil:
        _apply(bits, size, &logits[0], logits.shape[0])
