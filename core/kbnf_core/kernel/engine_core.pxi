# The base of ``Engine``: what each token of a text needs, and the steps by whole tokens.
#
# **Layer.** Above all but ``batch.pxi``. Caches that Python has (``mask/token_automaton.py``) are
# asked before anything is computed here.

cdef enum:
    # Steps that are remembered; of more, all are forgotten.
    _MOST_STEPS = 65536


@cython.final
cdef class TokenSteps:
    """Steps by tokens that are nothing but their bytes, for one way to finish.

    A byte of a token that nobody asked for leads on through item sets: states are made only where
    something completes or is called, and after the last byte. That one is remembered; in the table
    the bytes between stay unknown.
    """

    cdef object masks
    cdef MaskAssembler assembler
    cdef LazyTable explorer
    cdef Counting counting
    cdef bint ends_at_bytes
    cdef bint ends_at_tokens
    # A mask alone does not need the tokens' bytes: they are loaded with the first token.
    cdef bint knows_tokens
    cdef const int32_t[::1] starts
    cdef const int32_t[::1] ends
    cdef const uint8_t[::1] blob
    # By state and token: the state after the token, where the table does not have it.
    cdef _Map behind

    def __cinit__(self, masks, rule):
        self.masks = masks
        self.assembler = masks.assembler
        self.explorer = masks.states.explorer
        self.counting = masks.counting
        self.ends_at_bytes, self.ends_at_tokens = rule.ends_at_bytes, rule.ends_at_tokens
        self.behind = _Map()

    @property
    def bytes(self):
        """The memory that remembered steps take."""
        return self.behind.memory()

    cdef long long after(self, int64_t position, token_id) except? UNKNOWN:
        """The position after a token, UNKNOWN where its bytes do not lead to one."""
        cdef LazyTable explorer = self.explorer
        cdef int overflow = 0
        cdef long token = PyLong_AsLongAndOverflow(token_id, &overflow)
        cdef int32_t state, after, i
        if not self.knows_tokens:
            self.starts, self.ends, self.blob = self.masks.plain_tokens
            self.knows_tokens = True
        if overflow or token < 0 or token >= self.ends.shape[0]:
            return UNKNOWN
        # Empty, special, or matched by a token terminal: ``Engine`` decides which.
        if self.starts[token] == self.ends[token]:
            return UNKNOWN
        # Counts are in the upper half of a position.
        state = <int32_t> position
        for i in range(self.starts[token], self.ends[token]):
            if self.ends_at_bytes and i > self.starts[token] and explorer.completions[state]:
                return UNKNOWN
            after = explorer.row_of(state)[explorer.classes[self.blob[i]]]
            if after == UNKNOWN:
                state = self._find_behind(<int32_t> position, <int32_t> token, state, i)
                if state == DEAD:
                    return UNKNOWN
                break
            if after == DEAD:
                return UNKNOWN
            state = after
        if self.ends_at_tokens and explorer.completions[state]:
            return ~state
        if not self.counting.is_needed:
            return state
        i = self.starts[token]
        return self.counting.settle(position, state, &self.blob[i], self.ends[token] - i)

    cdef int32_t _find_behind(
        self, int32_t before, int32_t token, int32_t state, int32_t i
    ) except -2:
        """The state after a token whose bytes up to the ``i``-th led to ``state``; or DEAD."""
        cdef LazyTable explorer = self.explorer
        cdef int32_t begin = self.starts[token], end = self.ends[token]
        cdef uint64_t key = _key(before, token)
        cdef int32_t result = self.behind.get(key)
        if result != UNKNOWN:
            return result
        # A full table: the caller's slow way (``Engine._position_after``) renews it between calls.
        if self.assembler.holds_more_than(1):
            return DEAD
        explorer.acquire()
        try:
            while i < end and state != DEAD:
                if self.ends_at_bytes and i > begin and explorer.completions[state]:
                    return DEAD
                i += explorer.run(&state, &self.blob[i], end - i)
        finally:
            explorer.release()
        if self.behind.count >= _MOST_STEPS:
            self.behind = _Map()
        self.behind.put(key, state)
        return state


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


# The per-token path of an engine. What takes more than a lookup is left to methods of ``Engine``:
# ``_position_after``, ``_mask_here``, ``_last_row``, ``_row_of``, and where tokens are numbered
# ``_fits`` and ``_closing_mask_here``.

import enum

from operator import index


class AcceptTokenResult(enum.Enum):
    """What accepting a token led to."""

    Ongoing = "ongoing"
    Finished = "finished"


# The state before the first byte; see ``recognise/states.py``.
cdef int64_t _INITIAL = 1

cdef object _ONGOING = AcceptTokenResult.Ongoing
cdef object _FINISHED = AcceptTokenResult.Finished


cdef class EngineCore:
    """A position in a text, and the history that led there."""

    cdef public object _automaton
    cdef public long long _position
    cdef public list _accepted
    cdef public list _positions
    # What the last computation found; None where only its position is known, and that.
    cdef public object _row
    cdef public long long _row_at
    # Tokens that are left to the text, -1 for any number; waiting for its beginning takes none.
    cdef public long long _left
    # The worker that fills masks ahead (``mask.ahead.Ahead``), or None.
    cdef public object _ahead
    # The rows of canonical tokens; None where any token of the mask will do.
    cdef public CanonicalRows _canonical
    cdef object words
    cdef StateMasks masks
    cdef TokenSteps steps
    cdef object nothing
    cdef set prepared
    cdef set unasked

    def _use(self, automaton):
        """Switch to ``automaton``, a ``TokenAutomaton``; the caller sets the position."""
        # A position is a number of one automaton: the last row, which is known by its position,
        # has to be made before another automaton replaces it.
        if self._automaton is not None:
            self._row = self._allowed
        self._automaton = automaton
        self.words = automaton.words
        self.masks = automaton.state_masks
        self.nothing = automaton.no_mask()
        self.steps = automaton.token_steps
        self.prepared = automaton.prepared
        self.unasked = automaton.unasked

    def try_accept_new_token(self, token_id):
        """Append a token.

        Raises ``FinishedError``, ``UnknownTokenError`` or ``RejectedError``, tested in that
        order. An empty token changes nothing. The allowed tokens are not recomputed.
        """
        cdef long long after = UNKNOWN
        if not PyLong_CheckExact(token_id):
            token_id = index(token_id)
        if 0 <= self._position < _WAITS:
            after = self.steps.after(self._position, token_id)
        if after == UNKNOWN:
            after = self._position_after(token_id)
        # All that raises comes first: a token that is refused leaves the engine as it was.
        if self._left >= 0:
            self._left = self._left_checked(after, token_id)
        self._accepted.append(token_id)
        self._positions.append(self._position)
        self._position = after
        if self._ahead is not None:
            self._look_ahead()
        return _ONGOING if after >= 0 else _FINISHED

    cpdef _look_ahead(self):
        """Have masks made from here on, unless that was done before or nobody works ahead."""
        # Waiting for the grammar is time for its beginning.
        cdef int64_t state = _state_at(self._position) if self._position < _WAITS else _INITIAL
        if self._ahead is not None and state >= 0 and state not in self.prepared:
            self.prepared.add(state)
            self._ahead.put(id(self), self._automaton, state)

    cdef int64_t _left_after(self, int64_t before, int64_t left, int64_t after) except -2:
        """The budget after a token, -1 where the text could not end within it."""
        if before < _WAITS:
            left -= 1
        if after >= _WAITS or after < 0 or left < 0:
            return left
        return left if self._fits(after, left) else -1

    @property
    def _allowed(self):
        if self._row is None:
            self._row = self._automaton.mask(self._row_at)
        return self._row

    @_allowed.setter
    def _allowed(self, words):
        self._row = words

    def compute_allowed_token_ids(self):
        """Compute the tokens that are allowed next; after the end, none."""
        cdef int64_t state = _state_at(self._position)
        if self._can_find(state) and self.masks.operands_of(state) != NULL:
            self._row, self._row_at = None, state
        else:
            self._row = self._find_allowed()

    cdef bint _can_find(self, int64_t state) except -1:
        """Whether what the mask here consists of is known, or can be found; a hit is counted."""
        if self._ahead is not None and self.unasked and state in self.unasked:
            self.unasked.discard(state)
            self._ahead.hits += 1
        return self._is_plain(self._position, self._left) and self._is_findable(state)

    cdef bint _is_plain(self, int64_t position, int64_t left) except -1:
        """Whether the mask of a position is all that the grammar allows there."""
        if self._canonical is not None:
            return False
        if left < 0:
            return True
        if not 0 <= position < _WAITS:
            return False
        return not (<EndWalker?> self._automaton.nearest_end.walker).binds(position, left)

    cdef bint _is_findable(self, int64_t state) except -1:
        if not 0 <= state < _WAITS:
            return False
        return self.masks.has_number(state) or not self.masks.assembler.holds_more_than(1)

    def fill_bitmask(self, out, row=None):
        """Compute the allowed ids here and write them as bits into ``out``, or a row of it.

        ``out``: int32, contiguous, one-dimensional, or two-dimensional with ``row``, or one row: a
        NumPy array, a torch tensor, an object with the buffer protocol or DLPack. Bit ``id % 32``
        of word ``id // 32``; surplus words become 0. Where no token can come, these are the ids
        that end the sequence; without any, all ids after the end and none before it. Raises
        ``ValueError`` unless ``out`` has a bit for each id, ``TypeError`` for other objects.
        """
        if row is not None or type(out) is not cnp.ndarray or cnp.PyArray_NDIM(out) != 1:
            out = self._row_of(out, row)
        cdef Py_ssize_t length = _checked_length(out, self.masks.rows.width)
        cdef vector[Operand]* operands = self._find_operands()
        if operands != NULL:
            write_union(
                operands[0], <uint32_t*> cnp.PyArray_DATA(out), self.masks.rows.width, length
            )
        else:
            _copy(<char*> cnp.PyArray_DATA(out), 4 * length, self._row_words())

    cdef vector[Operand]* _find_operands(self) except? NULL:
        """Compute the allowed ids here, and return the pieces that write them; NULL without any."""
        cdef int64_t state = _state_at(self._position)
        cdef vector[Operand]* operands = NULL
        if self._can_find(state):
            operands = self.masks.operands_of(state)
        if operands != NULL:
            self._row, self._row_at = None, state
        return operands

    cdef object _row_words(self):
        """The same as a row; that of the end of the sequence where no token is allowed."""
        self._row = self._find_allowed()
        if self._row is not self.nothing:
            return self._row
        return self._last_row(_state_at(self._position))

    cdef object _find_allowed(self):
        cdef int64_t state = _state_at(self._position)
        cdef PyObject* cached
        if self._left >= 0:
            words = self._closing_words(self._position, self._left)
            if words is None:
                words = self._closing_mask_here()
        else:
            cached = PyDict_GetItemWithError(self.words, state)
            words = <object> cached if cached is not NULL else self._mask_here()
        return self._canonical_ones(words, self._position, self._accepted)

    cdef object _closing_words(self, int64_t position, int64_t left):
        """The tokens that can come at a position and leave enough; None where no pieces are known.

        No row is kept for it: there are as many as numbers of tokens that may be left.
        """
        cdef int64_t state = _state_at(position)
        cdef cnp.npy_intp width = self.masks.rows.width
        cdef cnp.ndarray words
        cdef vector[Operand]* operands = NULL
        if self._is_findable(state):
            operands = self.masks.operands_of(state)
        if operands == NULL:
            return None
        words = cnp.PyArray_EMPTY(1, &width, cnp.NPY_UINT32, 0)
        write_union(operands[0], <uint32_t*> cnp.PyArray_DATA(words), width, width)
        return self._automaton.fitting(words, position, left)

    cdef object _canonical_ones(self, cnp.ndarray words, int64_t position, list accepted):
        """The canonical ones among tokens that may come after others; all, where there are none."""
        cdef cnp.ndarray chosen
        cdef int32_t written
        if self._canonical is None or words is self.nothing or position >= _WAITS:
            return words
        chosen = _shared_bits(words, self._canonical.row_behind(accepted, len(accepted)))
        if chosen is None:
            return words
        # Every beginning of forced bytes may come, but only one split of them into tokens is
        # canonical.
        written = self._written_at(position, accepted)
        if written != UNKNOWN:
            return _one_bit(chosen, written)
        self._automaton.narrows.leave_out(chosen, _state_at(position), self._canonical, accepted)
        return chosen

    cdef int32_t _written_at(self, int64_t position, list accepted) except? UNKNOWN:
        cdef Forced forced = self._automaton.forced
        cdef int32_t written = forced.written_at(_state_at(position), accepted)
        if written != UNKNOWN and position != _state_at(position):
            # Far from all bounds of a count; near one it may be another, or none.
            position = self._automaton.masks.counting.exact(position)
            written = forced.written_at(<int32_t> position, accepted)
        return written

    cpdef int64_t _left_checked(self, int64_t after, token) except -1:
        """The same here, or an error."""
        cdef int64_t left = self._left_after(self._position, self._left, after)
        if left < 0:
            self._refuse_late(token)
        return left

    def _fill_tree(
        self,
        cnp.ndarray out,
        Py_ssize_t first,
        const int64_t[::1] parents,
        const int64_t[::1] tokens,
    ):
        """Write the mask after the path to each node into a row; see ``Engine.fill_tree_bitmasks``.

        The rows and the parents are checked. Raises ``TableFullError``.
        """
        cdef vector[int64_t] positions = vector[int64_t](parents.shape[0], DEAD)
        cdef vector[int64_t] lefts = vector[int64_t](parents.shape[0], -1)
        cdef Py_ssize_t width = cnp.PyArray_DIM(out, 1) * 4, length
        cdef vector[Operand]* operands
        cdef Py_ssize_t node
        cdef int64_t parent, state
        cdef char* target
        # A node comes after its parent, so that its position is known.
        for node in range(parents.shape[0]):
            target = <char*> cnp.PyArray_DATA(out) + (first + node) * width
            parent = parents[node]
            if tokens[node] >= 0:
                if parent < 0:
                    positions[node], lefts[node] = self._position, self._left
                elif positions[parent] != DEAD:
                    self._follow(
                        tokens[node], positions[parent], lefts[parent],
                        &positions[node], &lefts[node],
                    )
            if positions[node] == DEAD:
                memset(target, 0, width)
                continue
            state = _state_at(positions[node])
            operands = NULL
            if self._is_plain(positions[node], lefts[node]) and self._is_findable(state):
                operands = self.masks.operands_of(state)
            if operands != NULL:
                length = self.masks.rows.width
                write_union(operands[0], <uint32_t*> target, length, width // 4)
            else:
                path = None if self._canonical is None else self._path(parents, tokens, node)
                _copy(target, width, self._node_words(positions[node], lefts[node], path))

    cdef int _follow(
        self, token_id, int64_t before, int64_t left, int64_t* position, int64_t* left_after
    ) except -1:
        """Find the position after a token and the budget then; DEAD where it cannot come."""
        cdef int64_t after = UNKNOWN
        if 0 <= before < _WAITS:
            after = self.steps.after(before, token_id)
        if after == UNKNOWN:
            after = self._step_from(before, token_id)
        if left >= 0 and after != DEAD:
            left = self._left_after(before, left, after)
            if left < 0:
                after = DEAD
        position[0], left_after[0] = after, left
        return 0

    cdef list _path(self, const int64_t[::1] parents, const int64_t[::1] tokens, Py_ssize_t node):
        """The last tokens up to a node; that of a root was accepted."""
        cdef list path = []
        while parents[node] >= 0 and len(path) < _LOOK_BACK:
            path.insert(0, tokens[node])
            node = parents[node]
        return self._accepted[-_LOOK_BACK:] + path

    cdef object _node_words(self, int64_t position, int64_t left, list path):
        cdef int64_t state = _state_at(position)
        cdef PyObject* cached
        if left >= 0:
            words = self._closing_words(position, left)
            if words is None:
                words = self._closing_mask_at(position, left)
        else:
            cached = PyDict_GetItemWithError(self.words, state)
            words = <object> cached if cached is not NULL else self._mask_at(state)
        if words is self.nothing:
            return self._last_row(state)
        return self._canonical_ones(words, position, path)


cdef cnp.ndarray _shared_bits(cnp.ndarray one, cnp.ndarray other):
    """The words of bits that two have in common; None where there are none."""
    cdef cnp.npy_intp length = cnp.PyArray_DIM(one, 0), i
    cdef cnp.ndarray result = cnp.PyArray_EMPTY(1, &length, cnp.NPY_UINT32, 0)
    cdef const uint32_t* first = <const uint32_t*> cnp.PyArray_DATA(one)
    cdef const uint32_t* second = <const uint32_t*> cnp.PyArray_DATA(other)
    cdef uint32_t* out = <uint32_t*> cnp.PyArray_DATA(result)
    cdef uint32_t any_bit = 0
    for i in range(length):
        out[i] = first[i] & second[i]
        any_bit |= out[i]
    return result if any_bit else None


cdef cnp.ndarray _one_bit(cnp.ndarray words, int32_t index):
    """The words of bits with the one at a place alone, if they have it."""
    cdef uint32_t bit = <uint32_t> 1 << (index % 32)
    cdef uint32_t* data = <uint32_t*> cnp.PyArray_DATA(words)
    if index // 32 < cnp.PyArray_DIM(words, 0) and data[index // 32] & bit:
        memset(data, 0, 4 * cnp.PyArray_DIM(words, 0))
        data[index // 32] = bit
    return words
