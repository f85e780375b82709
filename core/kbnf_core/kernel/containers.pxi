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


cdef class _Index:
    """Numbers, 0, 1, .. in order, by the hashes of their contents; the caller compares contents."""

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


# The parts of one table: items, triples and pairs, within a bound.

cdef class _Room:
    """The parts that may still be made: ``names`` are those of nonterminals, for the error.

    Full tables are renewed between calls, so that only a single call comes to the end of it: one
    state has as many parts as pairs of rules that lie side by side, however short the grammar.
    """

    def __cinit__(self, int64_t left, int64_t limit, names):
        self.left, self.limit, self.names = left, limit, names

    cdef inline int check(self, size_t parts, int64_t nonterminal) except -1:
        """Raise WorkLimitError where so many parts are more than are left."""
        if parts > self.left:
            self._refuse(nonterminal)
        return 0

    cdef inline int take(self, size_t parts, int64_t nonterminal) except -1:
        """Count parts before they are kept."""
        self.check(parts, nonterminal)
        self.left -= parts
        return 0

    cdef int _refuse(self, int64_t nonterminal) except -1:
        name = self.names[nonterminal].partition("#")[0]
        raise WorkLimitError(self.limit, name, _SIDE_BY_SIDE)


cdef str _SIDE_BY_SIDE = (
    "too many rules lie side by side at one byte of a text; rules that may be empty in a row, each"
    " of which calls the others, can be one rule in a loop, `( a | b )*`"
)


# Numbered lists of integers.

cdef class _Lists:
    """Contents by number and numbers by content; a deque, so that what is handed out stays put.

    ``size``: the number of integers in all of them.
    """

    def __cinit__(self, _Room room, int64_t radix):
        # The remainder of a first number by the radix is a nonterminal.
        self.room, self.radix = room, radix
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
        if not values.empty():
            self.room.take(values.size(), values[0] % self.radix)
        self.contents.push_back(values)
        self.size += values.size()
        return self.index.add(hashed)


# Interned one-dimensional arrays of one type.

cdef enum:
    # The overhead of an array, besides its content.
    _ARRAY_BYTES = 256

ARRAY_BYTES = _ARRAY_BYTES


cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>
    #include <utility>
    #include <vector>

    namespace kbnf {

    /* Of a mask: all its words, or some, as (index, word) pairs. */
    struct Piece {
        const uint32_t *words;
        const std::pair<int32_t, int32_t> *pairs;
        size_t count;

        Piece() = default;
        explicit Piece(const uint32_t *all) : words(all), pairs(nullptr), count(0) {}
        Piece(const std::pair<int32_t, int32_t> *some, size_t number)
            : words(nullptr), pairs(some), count(number) {}
    };

    /* Write the union of pieces, ``width`` words; those behind it, ``all`` in all, become 0. */
    inline void write_pieces(
        const std::vector<Piece> &pieces, uint32_t *out, size_t width, size_t all
    ) {
        bool is_begun = false;
        for (const Piece &piece : pieces) {
            const uint32_t *words = piece.words;
            if (words == nullptr) continue;
            if (is_begun) {
                for (size_t k = 0; k < width; ++k) out[k] |= words[k];
            } else {
                memcpy(out, words, width * sizeof(uint32_t));
                is_begun = true;
            }
        }
        if (is_begun) {
            memset(out + width, 0, (all - width) * sizeof(uint32_t));
        } else {
            memset(out, 0, all * sizeof(uint32_t));
        }
        for (const Piece &piece : pieces)
            for (size_t k = 0; k < piece.count; ++k)
                out[piece.pairs[k].first] |= (uint32_t)piece.pairs[k].second;
    }

    }
    """
    cppclass Piece "kbnf::Piece":
        Piece()
        Piece(const uint32_t* words)
        Piece(const Pair* pairs, size_t count)

    void write_pieces "kbnf::write_pieces"(
        const vector[Piece]& pieces, uint32_t* out, size_t width, size_t all
    ) noexcept nogil


cdef class Pool:
    """Interns sets of numbers: masks, which are arrays of words, or ascending arrays of numbers.

    It begins with ``first``. ``numbers``: how many there are, for sets of numbers. ``added_bytes``:
    the growth since it was made, with ``ARRAY_BYTES`` for each set. An array that is handed out is
    not to be written to.

    The content of a set is, of a mask, what it has of each slice (``Taken``) and then, if they are
    fewer than all words, (index, word) pairs of words with other bits; else all words.
    """

    cdef readonly Py_ssize_t added_bytes
    cdef Parts parts
    cdef int32_t width
    cdef int32_t head
    cdef deque[vector[int32_t]] contents
    cdef unordered_map[uint64_t, vector[int32_t]] places

    def __cinit__(self, first, Parts parts=None, int32_t numbers=0):
        self.parts = parts
        self.width = (numbers + 31) // 32
        if parts is not None:
            self.width, self.head = <int32_t> parts.width, <int32_t> parts.head
        self._place(self._content(first))
        self.added_bytes = 0

    @property
    def bytes(self):
        """The memory that the sets take."""
        return held(self.contents) + held(self.places)

    def __len__(self):
        return self.contents.size()

    def __getitem__(self, Py_ssize_t number):
        if not 0 <= number < len(self):
            raise IndexError(number)
        if self.parts is not None:
            return self.unite((number,))
        return _as_array(_numbers_in(self.contents[number], self.width))

    def number(self, array):
        """Return the number of an array's content, the next free one if it is new."""
        cdef vector[int32_t] content = self._content(array)
        return self.find(content)

    def unite(self, numbers):
        """Return the union of masks, as an array of its own."""
        cdef cnp.npy_intp length = self.width
        cdef cnp.ndarray words = cnp.PyArray_ZEROS(1, &length, cnp.NPY_UINT32, 0)
        cdef int32_t number
        for number in numbers:
            self.add(number, <uint32_t*> cnp.PyArray_DATA(words))
        return words

    cdef int find_pieces(self, vector[int32_t]& numbers, vector[Piece]& pieces) except -1:
        """Find what the union of masks is written from; they stay where they are."""
        if not self._take_pieces(numbers, pieces):
            numbers.assign(1, self._united(numbers))
            self._take_pieces(numbers, pieces)
        return 0

    cdef bint _take_pieces(self, vector[int32_t]& numbers, vector[Piece]& pieces) except -1:
        """Find the same, if all of it is kept."""
        cdef vector[int32_t]* content
        cdef vector[const uint32_t*] blocks
        cdef const int32_t* words
        cdef size_t i, count
        pieces.clear()
        for i in range(numbers.size()):
            content = &self.contents.at(numbers[i])
            if not self.parts.find_blocks(<const Taken*> content.data(), blocks):
                return False
            words = content.data() + self.head
            count = content.size() - self.head
            if self._is_dense(content[0]):
                pieces.push_back(Piece(<const uint32_t*> words))
            elif count:
                pieces.push_back(Piece(<const Pair*> words, count // 2))
        sort(blocks.begin(), blocks.end())
        for i in range(blocks.size()):
            if i == 0 or blocks[i] != blocks[i - 1]:
                pieces.push_back(Piece(blocks[i]))
        return True

    cdef int32_t _united(self, const vector[int32_t]& numbers) except -1:
        """The number of the union of masks."""
        cdef vector[uint32_t] words = vector[uint32_t](<size_t> self.width)
        cdef vector[int32_t] content
        cdef size_t i
        for i in range(numbers.size()):
            self.add(numbers[i], words.data())
        self._take_content(words.data(), content)
        return self.find(content)

    cdef inline bint _is_dense(self, const vector[int32_t]& content) noexcept:
        return content.size() == <size_t> (self.width + self.head)

    cdef int add(self, int32_t number, uint32_t* words) except -1:
        """Set the bits of a mask in ``words`` too."""
        cdef vector[int32_t]* content = &self.contents.at(number)
        cdef size_t i
        self.parts.add_taken(<const Taken*> content.data(), words)
        if self._is_dense(content[0]):
            for i in range(<size_t> self.width):
                words[i] |= <uint32_t> content[0][i + self.head]
        else:
            for i in range(self.head, content.size(), 2):
                words[content[0][i]] |= <uint32_t> content[0][i + 1]
        return 0

    cdef vector[int32_t] _content(self, array) except *:
        cdef const int32_t[::1] values = array.view("int32")
        cdef vector[int32_t] content, numbers
        cdef Py_ssize_t i
        if self.parts is not None:
            self._take_content(<const uint32_t*> &values[0], content)
            return content
        for i in range(values.shape[0]):
            if not 0 <= values[i] < 32 * self.width:
                raise IndexError(values[i])
            numbers.push_back(values[i])
        _write_numbers(numbers, self.width, content)
        return content

    cdef int _take_content(self, const uint32_t* words, vector[int32_t]& content) except -1:
        """Write the words of a mask as its content, without blocks."""
        content.assign(self.head, 0)
        return _write_words(words, self.width, content)

    cdef int32_t find(self, vector[int32_t]& content) except -1:
        """The number of a content, interned if new."""
        cdef vector[int32_t]* numbers
        cdef size_t i
        numbers = &self.places[_hash(content)]
        for i in range(numbers.size()):
            if self.contents[numbers[0][i]] == content:
                return numbers[0][i]
        return self._place(content)

    cdef int32_t _place(self, const vector[int32_t]& content) except -1:
        cdef int32_t number = self.contents.size()
        self.contents.push_back(content)
        self.places[_hash(content)].push_back(number)
        self.added_bytes += content.size() * sizeof(int32_t) + _ARRAY_BYTES
        return number


cdef int _write_words(
    const uint32_t* words, int32_t width, vector[int32_t]& content
) except -1:
    """Write so many words to the end of a content, as ``Pool`` has it."""
    cdef int32_t i, count = 0
    for i in range(width):
        count += words[i] != 0
    if 2 * count >= width:
        content.insert(content.end(), <const int32_t*> words, <const int32_t*> words + width)
        return 0
    for i in range(width):
        if words[i]:
            content.push_back(i)
            content.push_back(<int32_t> words[i])
    return 0


cdef int _write_numbers(
    vector[int32_t]& numbers, int32_t width, vector[int32_t]& content
) except -1:
    """Write the same for numbers, which may come in any order and more than once."""
    cdef vector[uint32_t] words
    cdef int32_t number
    if 2 * numbers.size() >= <size_t> width:
        words.resize(width)
        for number in numbers:
            words[number >> 5] |= <uint32_t> 1 << (number & 31)
        return _write_words(words.data(), width, content)
    sort(numbers.begin(), numbers.end())
    for number in numbers:
        if content.empty() or content[content.size() - 2] != number >> 5:
            content.push_back(number >> 5)
            content.push_back(0)
        content[content.size() - 1] |= <int32_t> (<uint32_t> 1 << (number & 31))
    return 0


cdef vector[uint32_t] _words_in(const vector[int32_t]& content, int32_t width) except *:
    """All words of a content without blocks."""
    cdef vector[uint32_t] words = vector[uint32_t](<size_t> width)
    cdef size_t i
    if content.size() == <size_t> width:
        memcpy(words.data(), content.data(), width * sizeof(uint32_t))
    else:
        for i in range(0, content.size(), 2):
            words[content[i]] = <uint32_t> content[i + 1]
    return words


cdef bint _is_root(const vector[int32_t]& content, int32_t width) noexcept:
    """Whether 0 is the only number in a content without blocks."""
    if content.size() == <size_t> width:
        return content[0] == 1 and (width == 1 or (width == 2 and content[1] == 0))
    return content.size() == 2 and content[0] == 0 and content[1] == 1


cdef size_t _count_numbers(const vector[int32_t]& content, int32_t width) noexcept:
    """How many numbers are in a content without blocks."""
    cdef size_t i, found = 0
    cdef bint is_dense = content.size() == <size_t> width
    for i in range(0 if is_dense else 1, content.size(), 1 if is_dense else 2):
        found += _count_bits(<uint32_t> content[i])
    return found


cdef vector[int32_t] _numbers_in(const vector[int32_t]& content, int32_t width) except *:
    """The numbers in a content without blocks, ascending."""
    cdef vector[int32_t] numbers
    cdef bint is_dense = content.size() == <size_t> width
    cdef uint64_t left
    cdef int32_t place
    cdef size_t i
    for i in range(0, content.size(), 1 if is_dense else 2):
        place = <int32_t> i if is_dense else content[i]
        left = <uint32_t> content[i if is_dense else i + 1]
        while left:
            numbers.push_back(32 * place + _lowest(left))
            left &= left - 1
    return numbers


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
