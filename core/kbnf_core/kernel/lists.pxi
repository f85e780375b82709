# Numbered lists; see ``interface.Lists``.

cdef class Lists:
    """Contents by number and numbers by content; a deque, so that what is handed out stays put."""

    cdef deque[vector[int64_t]] contents
    cdef unordered_map[string, int32_t] numbers
    cdef readonly size_t size

    def __len__(self):
        return self.contents.size()

    def number(self, values):
        """See ``interface.Lists``."""
        cdef vector[int64_t] these = values
        return self.find(these)

    def values(self, size_t number):
        """See ``interface.Lists``."""
        return tuple(self.contents.at(number))

    cdef int32_t find(self, vector[int64_t]& values) except -1:
        """The number of a content, interned if new."""
        cdef string key = string(<const char*> values.data(), values.size() * sizeof(int64_t))
        cdef pair[unordered_map[string, int32_t].iterator, bint] placed = self.numbers.insert(
            pair[string, int32_t](key, <int32_t> self.contents.size())
        )
        if placed.second:
            self.contents.push_back(values)
            self.size += values.size()
        return deref(placed.first).second


lists = Lists
