# The memory that containers take from the allocator, so that it is counted and not guessed.
#
# Capacities as the GNU library has them, with what its allocator adds to a block; another library
# differs by little. Numbers, pointers and structures of them take nothing beside their container.

cdef extern from *:
    """
    #include <deque>
    #include <map>
    #include <set>
    #include <string>
    #include <unordered_map>
    #include <utility>
    #include <vector>

    namespace kbnf {

    inline size_t block(size_t bytes) {
        return bytes == 0 ? 0 : bytes <= 24 ? 32 : (bytes + 8 + 15) & ~(size_t)15;
    }

    template <class T> inline size_t held(const T &) { return 0; }
    inline size_t held(const std::string &text);
    template <class A, class B> size_t held(const std::pair<A, B> &both);
    template <class T> size_t held(const std::vector<T> &list);
    template <class T> size_t held(const std::deque<T> &list);
    template <class T> size_t held(const std::set<T> &members);
    template <class K, class V> size_t held(const std::map<K, V> &map);
    template <class K, class V> size_t held(const std::unordered_map<K, V> &map);

    template <class C> inline size_t held_within(const C &container) {
        size_t bytes = 0;
        for (const auto &each : container) bytes += held(each);
        return bytes;
    }
    inline size_t held(const std::string &text) {
        return text.capacity() > 15 ? block(text.capacity() + 1) : 0;
    }
    template <class A, class B> size_t held(const std::pair<A, B> &both) {
        return held(both.first) + held(both.second);
    }
    template <class T> size_t held(const std::vector<T> &list) {
        return block(list.capacity() * sizeof(T)) + held_within(list);
    }
    template <class T> size_t held(const std::deque<T> &list) {
        const size_t in_block = sizeof(T) < 512 ? 512 / sizeof(T) : 1;
        const size_t blocks = list.size() / in_block + 1;
        return blocks * block(in_block * sizeof(T)) + block(sizeof(void *) * (blocks + 8))
            + held_within(list);
    }
    template <class T> size_t held(const std::set<T> &members) {
        return members.size() * block(32 + sizeof(T)) + held_within(members);
    }
    template <class K, class V> size_t held(const std::map<K, V> &map) {
        return map.size() * block(32 + sizeof(std::pair<const K, V>)) + held_within(map);
    }
    template <class K, class V> size_t held(const std::unordered_map<K, V> &map) {
        const size_t node = sizeof(void *) + sizeof(size_t) + sizeof(std::pair<const K, V>);
        return map.size() * block(node) + block(sizeof(void *) * map.bucket_count())
            + held_within(map);
    }
    // Cython names the type of what it calls, which would hide the kinds of containers above.
    template <class C> inline size_t memory_of(const C &container) { return held(container); }

    }
    """
    size_t held "kbnf::memory_of"[T](const T& container) noexcept nogil
    size_t block "kbnf::block"(size_t size) noexcept nogil


# Hash tables with open addressing, for what a cold step looks up most: no allocation on a hit.

cdef enum:
    _LEAST_SLOTS = 64


cdef extern from *:
    """
    #include <stdint.h>

    static inline int kbnf_lowest(uint64_t bits) {
    #if defined(__GNUC__)
        return __builtin_ctzll(bits);
    #else
        int place = 0;
        while (!((bits >> place) & 1)) ++place;
        return place;
    #endif
    }

    static inline int kbnf_count(uint64_t bits) {
    #if defined(__GNUC__)
        return __builtin_popcountll(bits);
    #else
        int count = 0;
        for (; bits; bits &= bits - 1) ++count;
        return count;
    #endif
    }
    """
    int _lowest "kbnf_lowest"(uint64_t bits) noexcept nogil
    int _count_bits "kbnf_count"(uint64_t bits) noexcept nogil


cdef inline uint64_t _mixed(uint64_t value) noexcept nogil:
    """A value whose low bits depend on all of it."""
    value = (value ^ (value >> 32)) * <uint64_t> 0x9E3779B97F4A7C15ULL
    return value ^ (value >> 29)


cdef uint64_t _hash_bytes(uint64_t seed, const void* data, size_t size) noexcept nogil:
    """A hash of integers; ``size`` is in bytes, a multiple of four."""
    cdef const uint32_t* values = <const uint32_t*> data
    cdef size_t i
    for i in range(size // 4):
        seed = (seed ^ values[i]) * <uint64_t> 0x9E3779B97F4A7C15ULL
        seed ^= seed >> 32
    return seed


cdef class _Index:
    """Numbers, 0, 1, .. in order, by the hashes of their contents; the caller compares contents."""

    cdef vector[int32_t] slots
    cdef vector[uint64_t] hashes

    def __cinit__(self):
        self.slots.resize(_LEAST_SLOTS, UNKNOWN)

    cdef size_t held(self) noexcept:
        return held(self.slots) + held(self.hashes)

    cdef inline int32_t next(self, uint64_t hashed, size_t* at) noexcept:
        """The next number of that hash, UNKNOWN behind the last; ``at`` begins as the hash."""
        cdef size_t mask = self.slots.size() - 1
        cdef int32_t number
        while True:
            number = self.slots[at[0] & mask]
            at[0] += 1
            if number == UNKNOWN or self.hashes[number] == hashed:
                return number

    cdef int32_t add(self, uint64_t hashed) except -1:
        """Give the next number to a hash."""
        cdef int32_t number = <int32_t> self.hashes.size()
        cdef int32_t each
        self.hashes.push_back(hashed)
        if 2 * self.hashes.size() > self.slots.size():
            self.slots.assign(4 * self.slots.size(), UNKNOWN)
            for each in range(number + 1):
                self._place(each)
        else:
            self._place(number)
        return number

    cdef inline void _place(self, int32_t number) noexcept:
        cdef size_t mask = self.slots.size() - 1
        cdef size_t at = self.hashes[number] & mask
        while self.slots[at] != UNKNOWN:
            at = (at + 1) & mask
        self.slots[at] = number


cdef class _Map:
    """Numbers by integers of 64 bits."""

    cdef vector[uint64_t] keys
    cdef vector[int32_t] values
    cdef size_t count

    def __cinit__(self):
        self.keys.resize(_LEAST_SLOTS)
        self.values.resize(_LEAST_SLOTS, UNKNOWN)

    cdef size_t held(self) noexcept:
        return held(self.keys) + held(self.values)

    cdef inline int32_t get(self, uint64_t key) noexcept:
        """The number of a key, UNKNOWN if it has none."""
        return self.values[self._slot(key)]

    cdef inline size_t _slot(self, uint64_t key) noexcept:
        cdef size_t mask = self.keys.size() - 1
        cdef size_t at = _mixed(key) & mask
        while self.values[at] != UNKNOWN and self.keys[at] != key:
            at = (at + 1) & mask
        return at

    cdef int put(self, uint64_t key, int32_t value) except -1:
        """Give a key its number, which is not negative."""
        cdef vector[uint64_t] keys
        cdef vector[int32_t] values
        cdef size_t i, at
        if 2 * self.count >= self.keys.size():
            keys.swap(self.keys)
            values.swap(self.values)
            self.keys.resize(4 * keys.size())
            self.values.resize(4 * keys.size(), UNKNOWN)
            for i in range(keys.size()):
                if values[i] != UNKNOWN:
                    at = self._slot(keys[i])
                    self.keys[at], self.values[at] = keys[i], values[i]
        at = self._slot(key)
        self.count += self.values[at] == UNKNOWN
        self.keys[at], self.values[at] = key, value
        return 0


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
