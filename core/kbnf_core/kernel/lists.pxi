# Numbered lists of integers.

cdef class _Lists:
    """Contents by number and numbers by content; a deque, so that what is handed out stays put.

    ``size``: the number of integers in all of them.
    """

    cdef deque[vector[int64_t]] contents
    cdef _Index index
    cdef size_t size

    def __cinit__(self):
        self.index = _Index()

    cdef size_t held(self) noexcept:
        return held(self.contents) + self.index.held()

    cdef int32_t find(self, vector[int64_t]& values) except -1:
        """The number of a content, interned if new."""
        cdef uint64_t hashed = _hash_bytes(
            values.size(), values.data(), values.size() * sizeof(int64_t)
        )
        cdef size_t at = hashed
        cdef int32_t number = self.index.next(hashed, &at)
        while number != UNKNOWN:
            if self.contents[number] == values:
                return number
            number = self.index.next(hashed, &at)
        self.contents.push_back(values)
        self.size += values.size()
        return self.index.add(hashed)
