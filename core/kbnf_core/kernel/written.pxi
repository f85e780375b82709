# What tokenizers certainly write at positions, remembered for ``Forced``.

cdef enum:
    _MOST_KNOWN = 65536


cdef struct _Entry:
    # At ``position``, after the context that is ``tokens[first:begin]``, the tokens up to ``end`` are
    # certain; the text is at ``after`` then.
    int32_t position
    int32_t after
    size_t first
    size_t begin
    size_t end


cdef class _Written:
    """Certain tokens by position and context; where there are too many, all are forgotten."""

    cdef vector[int32_t] tokens
    cdef vector[_Entry] entries
    # By a hash of position and context, the last entry.
    cdef _Map places

    def __cinit__(self):
        self.places = _Map()

    cdef size_t held(self) noexcept:
        return held(self.tokens) + held(self.entries) + self.places.held()

    cdef bint recall(
        self, int32_t* position, vector[int32_t]& before, vector[int32_t]& found
    ) except -1:
        """Find what is certain, and the position after it; tell whether that is known."""
        cdef int32_t place = self.places.get(_hash_of(position[0], before.data(), before.size()))
        cdef size_t size = before.size()
        cdef _Entry known
        if place == UNKNOWN:
            return False
        known = self.entries[place]
        if known.position != position[0] or _context_size(known) != size:
            return False
        if not equal(before.begin(), before.end(), self.tokens.begin() + (known.begin - size)):
            return False
        found.assign(self.tokens.begin() + known.begin, self.tokens.begin() + known.end)
        position[0] = known.after
        return True

    cdef int keep(
        self,
        vector[int32_t]& positions,
        int32_t after,
        vector[int32_t]& before,
        vector[int32_t]& found,
    ) except -1:
        """Remember tokens after a context: all at the first position, one less at each next one.

        Whoever asks before every token asks there next.
        """
        cdef size_t i, first, begin
        if count(before.begin(), before.end(), <int32_t> _BYTES):
            return 0
        if self.entries.size() >= _MOST_KNOWN:
            self.tokens.clear()
            self.entries.clear()
            self.places = _Map()
        first = self.tokens.size()
        begin = first + before.size()
        self.tokens.insert(self.tokens.end(), before.begin(), before.end())
        self.tokens.insert(self.tokens.end(), found.begin(), found.end())
        for i in range(positions.size()):
            self._add(_Entry(positions[i], after, first, begin + i, begin + found.size()))
        return 0

    cdef int _add(self, _Entry entry) except -1:
        cdef size_t size = _context_size(entry)
        cdef const int32_t* context = self.tokens.data() + (entry.begin - size)
        self.places.put(_hash_of(entry.position, context, size), <int32_t> self.entries.size())
        self.entries.push_back(entry)
        return 0


cdef inline size_t _context_size(_Entry entry) noexcept nogil:
    return min(entry.begin - entry.first, <size_t> _CONTEXT)


cdef inline uint64_t _hash_of(int32_t position, const int32_t* tokens, size_t count) noexcept nogil:
    return _hash_bytes(<uint32_t> position, tokens, count * sizeof(int32_t))
