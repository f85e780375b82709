# Configurations of states, interned: sorted (stack node, item set) pairs, and sorted completions.

cdef class Configurations:
    """Contents by number and numbers by content; a deque, so that what is handed out stays put.

    ``size``: the number of pairs and completions of all states.
    Read with ``at``: a number that is none is an IndexError, whatever an artifact led to.
    """

    cdef deque[vector[Pair]] all_pairs
    cdef deque[vector[int32_t]] all_exits
    cdef _Index index
    cdef readonly size_t size

    def __cinit__(self):
        self.index = _Index()

    cdef size_t held(self) noexcept:
        return held(self.all_pairs) + held(self.all_exits) + self.index.held()

    def __len__(self):
        return self.all_pairs.size()

    def number(self, pairs, completions):
        """Return the number of a content, the next free one if it is new."""
        cdef vector[Pair] these = pairs
        cdef vector[int32_t] ends = completions
        return self.find(these, ends)

    def pairs(self, size_t number):
        """Return the (stack node, item set) pairs of a state."""
        return tuple(self.all_pairs.at(number))

    def completions(self, size_t number):
        """Return the nonterminals that completed into BOTTOM with the byte that led here."""
        return tuple(self.all_exits.at(number))

    cdef int32_t find(self, vector[Pair]& pairs, vector[int32_t]& completions) except -1:
        """The number of a content, interned if new."""
        cdef uint64_t hashed = _hash_bytes(
            pairs.size(), pairs.data(), pairs.size() * sizeof(Pair)
        )
        cdef size_t at
        cdef int32_t number
        hashed = _hash_bytes(hashed, completions.data(), completions.size() * sizeof(int32_t))
        at = hashed
        number = self.index.next(hashed, &at)
        while number != UNKNOWN:
            if self.all_pairs[number] == pairs and self.all_exits[number] == completions:
                return number
            number = self.index.next(hashed, &at)
        self.all_pairs.push_back(pairs)
        self.all_exits.push_back(completions)
        self.size += pairs.size() + completions.size()
        return self.index.add(hashed)
