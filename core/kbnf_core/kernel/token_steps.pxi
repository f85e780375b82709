# Where tokens lead by their bytes: the path of most accepted tokens.

cdef enum:
    # Steps that are remembered; of more, all are forgotten.
    _MOST_STEPS = 65536


cdef class TokenSteps:
    """Steps by tokens that are nothing but their bytes, for one way to finish.

    A byte of a token that nobody asked for leads on through item sets: states are made only where
    something completes or is called, and behind the last byte. That one is remembered; in the table
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
    # By state and token: the state behind it, where the table does not say it.
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
        return self.behind.held()

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
        if self.starts[token] == self.ends[token]:
            return UNKNOWN
        # What is counted is above.
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
        """The state behind a token whose bytes up to the ``i``-th led to ``state``; or DEAD."""
        cdef LazyTable explorer = self.explorer
        cdef int32_t begin = self.starts[token], end = self.ends[token]
        cdef uint64_t key = _key(before, token)
        cdef int32_t found = self.behind.get(key)
        if found != UNKNOWN:
            return found
        if self.assembler.holds_more_than(1):
            return DEAD
        explorer.acquire()
        try:
            explorer._wake()
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
