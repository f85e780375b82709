# Configurations of states, interned; see ``interface.Configurations``.

cdef class Configurations:
    """Contents by number and numbers by content; a deque, so that what is handed out stays put.

    Read with ``at``: a number that is none is an IndexError, whatever an artifact led to.
    """

    cdef deque[vector[Pair]] all_pairs
    cdef deque[vector[int32_t]] all_exits
    cdef unordered_map[string, int32_t] numbers
    cdef readonly size_t size

    def __len__(self):
        return self.all_pairs.size()

    def number(self, pairs, completions):
        """See ``interface.Configurations``."""
        cdef vector[Pair] these = pairs
        cdef vector[int32_t] ends = completions
        return self.find(these, ends)

    def pairs(self, size_t number):
        """See ``interface.Configurations``."""
        return tuple(self.all_pairs.at(number))

    def completions(self, size_t number):
        """See ``interface.Configurations``."""
        return tuple(self.all_exits.at(number))

    cdef int32_t find(self, vector[Pair]& pairs, vector[int32_t]& completions) except -1:
        """The number of a content, interned if new."""
        cdef string key
        cdef size_t count = pairs.size()
        # The count of pairs separates pairs from completions, which makes the key unambiguous.
        key.append(<const char*> &count, sizeof(count))
        key.append(<const char*> pairs.data(), count * sizeof(Pair))
        key.append(<const char*> completions.data(), completions.size() * sizeof(int32_t))
        if not self.numbers.count(key):
            self.numbers[key] = self.all_pairs.size()
            self.all_pairs.push_back(pairs)
            self.all_exits.push_back(completions)
            self.size += pairs.size() + completions.size()
        return self.numbers[key]


configurations = Configurations
