# Bitmasks: copied into a row, and applied to logits.

cdef Py_ssize_t _checked_length(cnp.ndarray out, Py_ssize_t count) except -1:
    """The words of a bitmask that has so many at least; the checks read the array's header only."""
    if (
        cnp.PyArray_TYPE(out) != cnp.NPY_INT32
        or cnp.PyArray_NDIM(out) != 1
        or not cnp.PyArray_ISCARRAY(out)
    ):
        raise ValueError("a bitmask is a contiguous one-dimensional int32 array")
    if cnp.PyArray_DIM(out, 0) < count:
        raise ValueError(f"a bitmask of {len(out)} words is too short for {count}")
    return cnp.PyArray_DIM(out, 0)


cdef int _copy(char* target, Py_ssize_t width, cnp.ndarray words) except -1:
    """Copy words to the front of ``width`` bytes, and zeros to the rest."""
    cdef Py_ssize_t length = cnp.PyArray_DIM(words, 0) * 4
    memcpy(target, cnp.PyArray_DATA(words), length)
    memset(target + length, 0, width - length)
    return 0


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
    """Set logits whose bit is not set, and all from ``size`` on, to minus infinity, in place.

    ``logits`` is contiguous, writable, one-dimensional float32 or float64, at least ``size``.
    """
    if size > words.shape[0] * 32 or size > logits.shape[0]:
        raise ValueError("the mask and the logits are shorter than the vocabulary")
    if logits.shape[0] == 0:
        return
    cdef const uint32_t* bits = &words[0] if words.shape[0] else NULL
    with nogil:
        _apply(bits, size, &logits[0], logits.shape[0])
