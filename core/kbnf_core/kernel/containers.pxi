# Containers: hash tables, numbered lists, and the memory that they take.
#
# **Layer.** The lowest: all files of both modules use them.
#
# **Terms.** A *content* is a list of integers that is stored once. Its *number* counts from 0 in
# the order of first use and is never given anew, so a number can stand for a content in other
# contents.
#
# Memory is counted, not guessed, because limits are in bytes: capacities as the GNU library has
# them, with what its allocator adds to a block; another library differs by little. Numbers,
# pointers and structures of them take nothing beside their container.

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

    /* A block has a header of eight bytes, is aligned to sixteen, and has 32 at least. */
    inline size_t block(size_t bytes) {
        return bytes == 0 ? 0 : bytes <= 24 ? 32 : (bytes + 8 + 15) & ~(size_t)15;
    }

    template <class T> inline size_t heap_bytes(const T &) { return 0; }
    inline size_t heap_bytes(const std::string &text);
    template <class A, class B> size_t heap_bytes(const std::pair<A, B> &both);
    template <class T> size_t heap_bytes(const std::vector<T> &list);
    template <class T> size_t heap_bytes(const std::deque<T> &list);
    template <class T> size_t heap_bytes(const Arena<T> &arena);
    template <class T> size_t heap_bytes(const std::set<T> &members);
    template <class K, class V> size_t heap_bytes(const std::map<K, V> &map);
    template <class K, class V> size_t heap_bytes(const std::unordered_map<K, V> &map);

    template <class C> inline size_t heap_bytes_within(const C &container) {
        size_t bytes = 0;
        for (const auto &element : container) bytes += heap_bytes(element);
        return bytes;
    }
    inline size_t heap_bytes(const std::string &text) {
        return text.capacity() > 15 ? block(text.capacity() + 1) : 0;
    }
    template <class A, class B> size_t heap_bytes(const std::pair<A, B> &both) {
        return heap_bytes(both.first) + heap_bytes(both.second);
    }
    template <class T> size_t heap_bytes(const std::vector<T> &list) {
        return block(list.capacity() * sizeof(T)) + heap_bytes_within(list);
    }
    template <class T> size_t heap_bytes(const std::deque<T> &list) {
        const size_t in_block = sizeof(T) < 512 ? 512 / sizeof(T) : 1;
        const size_t blocks = list.size() / in_block + 1;
        return blocks * block(in_block * sizeof(T)) + block(sizeof(void *) * (blocks + 8))
            + heap_bytes_within(list);
    }
    template <class T> size_t heap_bytes(const Arena<T> &arena) { return arena.bytes(); }
    template <class T> size_t heap_bytes(const std::set<T> &members) {
        return members.size() * block(32 + sizeof(T)) + heap_bytes_within(members);
    }
    template <class K, class V> size_t heap_bytes(const std::map<K, V> &map) {
        return map.size() * block(32 + sizeof(std::pair<const K, V>)) + heap_bytes_within(map);
    }
    template <class K, class V> size_t heap_bytes(const std::unordered_map<K, V> &map) {
        const size_t node = sizeof(void *) + sizeof(size_t) + sizeof(std::pair<const K, V>);
        return map.size() * block(node) + block(sizeof(void *) * map.bucket_count())
            + heap_bytes_within(map);
    }
    // Cython gives the type of its argument in a call, which would hide the overloads above.
    template <class C> inline size_t memory_of(const C &container) { return heap_bytes(container); }

    }
    """
    size_t memory_of "kbnf::memory_of"[T](const T& container) noexcept nogil
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


@cython.final
cdef class _Index:
    """Numbers, 0, 1, .. in order, by the hashes of their contents; the caller compares contents."""

    def __cinit__(self):
        self.slots.resize(_LEAST_SLOTS, UNKNOWN)

    cdef size_t memory(self) noexcept:
        return memory_of(self.slots) + memory_of(self.hashes)

    cdef inline int32_t next(self, uint64_t hashed, size_t* at) noexcept:
        """The next number of that hash, UNKNOWN after the last; ``at`` begins as the hash."""
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
        cdef int32_t earlier
        self.hashes.push_back(hashed)
        # At most half full, so that probes are short; fourfold, since all is placed anew.
        if 2 * self.hashes.size() > self.slots.size():
            self.slots.assign(4 * self.slots.size(), UNKNOWN)
            for earlier in range(number + 1):
                self._insert(earlier)
        else:
            self._insert(number)
        return number

    cdef inline void _insert(self, int32_t number) noexcept:
        cdef size_t mask = self.slots.size() - 1
        cdef size_t at = self.hashes[number] & mask
        while self.slots[at] != UNKNOWN:
            at = (at + 1) & mask
        self.slots[at] = number


@cython.final
cdef class _Map:
    """Numbers by integers of 64 bits."""

    def __cinit__(self):
        self.keys.resize(_LEAST_SLOTS)
        self.values.resize(_LEAST_SLOTS, UNKNOWN)

    cdef size_t memory(self) noexcept:
        return memory_of(self.keys) + memory_of(self.values)

    cdef inline int32_t get(self, uint64_t key) noexcept:
        """The number of a key, UNKNOWN if it has none."""
        return self.values[self._slot(key)]

    cdef inline size_t _slot(self, uint64_t key) noexcept:
        cdef size_t mask = self.keys.size() - 1
        # Keys are pairs of small numbers, whose low bits would put most of them in few places.
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


# The parts of one table: items, triples and pairs, within a bound.

@cython.final
cdef class _Room:
    """The parts that may still be made: ``names`` are those of nonterminals, for the error.

    Full tables are renewed between calls, so that only a single call comes to the end of it: one
    state has as many parts as pairs of rules that lie side by side, however short the grammar.
    """

    def __cinit__(self, int64_t left, int64_t limit, names):
        self.left, self.limit, self.names = left, limit, names

    cdef inline int check(self, size_t count, int64_t nonterminal) except -1:
        """Raise WorkLimitError where so many parts are more than are left."""
        if count > self.left:
            self._refuse(nonterminal)
        return 0

    cdef inline int take(self, size_t count, int64_t nonterminal) except -1:
        """Count parts before they are kept."""
        self.check(count, nonterminal)
        self.left -= count
        return 0

    cdef int _refuse(self, int64_t nonterminal) except -1:
        name = self.names[nonterminal].partition("#")[0]
        raise WorkLimitError(self.limit, name, _SIDE_BY_SIDE)


cdef str _SIDE_BY_SIDE = (
    "too many rules lie side by side at one byte of a text; rules that may be empty in a row, each"
    " of which calls the others, can be one rule in a loop, `( a | b )*`"
)


# Numbered lists of integers.

@cython.final
cdef class _Lists:
    """Contents by number and numbers by content; ``size``: the integers in all of them."""

    def __cinit__(self, _Room room, int64_t radix):
        # The remainder of a first number by the radix is a nonterminal.
        self.room, self.radix = room, radix
        self.index = _Index()

    cdef size_t memory(self) noexcept:
        return memory_of(self.contents) + memory_of(self.arena) + self.index.memory()

    cdef int32_t find(self, vector[int64_t]& values) except -1:
        """The number of a content, interned if new."""
        cdef uint64_t hashed = _hash_bytes(
            values.size(), values.data(), values.size() * sizeof(int64_t)
        )
        cdef size_t at = hashed
        cdef int32_t number = self.index.next(hashed, &at)
        while number != UNKNOWN:
            if self.contents[number].equals(values):
                return number
            number = self.index.next(hashed, &at)
        if not values.empty():
            self.room.take(values.size(), values[0] % self.radix)
        self.contents.push_back(self.arena.keep(values))
        self.size += values.size()
        return self.index.add(hashed)


cdef uint64_t _hash(const vector[int32_t]& content) noexcept nogil:
    """A hash in four independent lanes, so that none waits for the one before."""
    cdef uint64_t sums[4]
    cdef size_t i, j, size = content.size()
    for j in range(4):
        sums[j] = <uint64_t> 0x9E3779B97F4A7C15ULL + j
    for i in range(0, size - size % 4, 4):
        for j in range(4):
            sums[j] = (sums[j] ^ <uint32_t> content[i + j]) * <uint64_t> 0x100000001B3ULL
    for i in range(size - size % 4, size):
        sums[0] = (sums[0] ^ <uint32_t> content[i]) * <uint64_t> 0x100000001B3ULL
    return ((sums[0] * 31 + sums[1]) * 31 + sums[2]) * 31 + sums[3] + size


cdef cnp.ndarray _as_array(const vector[int32_t]& values):
    cdef cnp.npy_intp length = values.size()
    cdef cnp.ndarray array = cnp.PyArray_EMPTY(1, &length, cnp.NPY_INT32, 0)
    if length:
        memcpy(cnp.PyArray_DATA(array), values.data(), length * sizeof(int32_t))
    return array
