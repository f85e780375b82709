# Sets of tokens and of trie nodes, stored once each.
#
# **Layer.** Above ``containers.pxi`` and ``slices.pxi``, whose blocks a set of tokens is made of.

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
    struct Operand {
        const uint32_t *words;
        const std::pair<int32_t, int32_t> *pairs;
        size_t count;

        Operand() = default;
        explicit Operand(const uint32_t *all) : words(all), pairs(nullptr), count(0) {}
        Operand(const std::pair<int32_t, int32_t> *some, size_t number)
            : words(nullptr), pairs(some), count(number) {}
    };

    /* Write the union of operands, ``width`` words; those after it, ``all`` in all, become 0. */
    inline void write_union(
        const std::vector<Operand> &operands, uint32_t *out, size_t width, size_t all
    ) {
        bool is_begun = false;
        for (const Operand &operand : operands) {
            const uint32_t *words = operand.words;
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
        for (const Operand &operand : operands)
            for (size_t k = 0; k < operand.count; ++k)
                out[operand.pairs[k].first] |= (uint32_t)operand.pairs[k].second;
    }

    }
    """
    cppclass Operand "kbnf::Operand":
        Operand()
        Operand(const uint32_t* words)
        Operand(const Pair* pairs, size_t count)

    void write_union "kbnf::write_union"(
        const vector[Operand]& operands, uint32_t* out, size_t width, size_t all
    ) noexcept nogil


@cython.final
cdef class Pool:
    """Interns sets of numbers: masks, which are arrays of words, or ascending arrays of numbers.

    It begins with ``first``. ``numbers``: how many there are, for sets of numbers. ``added_bytes``:
    the growth since it was made, with ``ARRAY_BYTES`` for each set. An array that is handed out is
    not to be written to.

    The content of a set is, of a mask, what it has of each slice (``Taken``) and then, if they are
    fewer than all words, (index, word) pairs of words with other bits; else all words.
    """

    cdef readonly Py_ssize_t added_bytes
    cdef SliceSet slice_set
    cdef int32_t width
    cdef int32_t head
    cdef deque[vector[int32_t]] contents
    cdef unordered_map[uint64_t, vector[int32_t]] numbers_of

    def __cinit__(self, first, SliceSet slice_set=None, int32_t numbers=0):
        self.slice_set = slice_set
        self.width = (numbers + 31) // 32
        if slice_set is not None:
            self.width, self.head = <int32_t> slice_set.width, <int32_t> slice_set.head
        self._insert(self._content(first))
        self.added_bytes = 0

    @property
    def bytes(self):
        """The memory that the sets take."""
        return memory_of(self.contents) + memory_of(self.numbers_of)

    def __len__(self):
        return self.contents.size()

    def __getitem__(self, Py_ssize_t number):
        if not 0 <= number < len(self):
            raise IndexError(number)
        if self.slice_set is not None:
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

    cdef int find_operands(self, vector[int32_t]& numbers, vector[Operand]& operands) except -1:
        """Find what the union of masks is written from; they stay where they are."""
        if not self._take_operands(numbers, operands):
            # Blocks less some characters, of which no more unions are kept: the union of the masks
            # is interned instead, once for the state that asks.
            numbers.assign(1, self._united(numbers))
            self._take_operands(numbers, operands)
        return 0

    cdef bint _take_operands(self, vector[int32_t]& numbers, vector[Operand]& operands) except -1:
        """Find the same, if all of it is kept."""
        cdef vector[int32_t]* content
        cdef vector[const uint32_t*] blocks
        cdef const int32_t* words
        cdef size_t i, count
        operands.clear()
        for i in range(numbers.size()):
            content = &self.contents.at(numbers[i])
            if not self.slice_set.find_blocks(<const Taken*> content.data(), blocks):
                return False
            words = content.data() + self.head
            count = content.size() - self.head
            if self._is_dense(content[0]):
                operands.push_back(Operand(<const uint32_t*> words))
            elif count:
                operands.push_back(Operand(<const Pair*> words, count // 2))
        # Masks of several pairs share blocks, and a block is united word by word: each once.
        sort(blocks.begin(), blocks.end())
        for i in range(blocks.size()):
            if i == 0 or blocks[i] != blocks[i - 1]:
                operands.push_back(Operand(blocks[i]))
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
        self.slice_set.add_taken(<const Taken*> content.data(), words)
        if self._is_dense(content[0]):
            for i in range(<size_t> self.width):
                words[i] |= <uint32_t> content[0][i + self.head]
        else:
            for i in range(self.head, content.size(), 2):
                words[content[0][i]] |= <uint32_t> content[0][i + 1]
        return 0

    cdef vector[int32_t] _content(self, cnp.ndarray array) except *:
        cdef const int32_t[::1] values = array.view("int32")
        cdef vector[int32_t] content, numbers
        cdef Py_ssize_t i
        if self.slice_set is not None:
            self._take_content(<const uint32_t*> cnp.PyArray_DATA(array), content)
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
        numbers = &self.numbers_of[_hash(content)]
        for i in range(numbers.size()):
            if self.contents[numbers[0][i]] == content:
                return numbers[0][i]
        return self._insert(content)

    cdef int32_t _insert(self, const vector[int32_t]& content) except -1:
        cdef int32_t number = self.contents.size()
        self.contents.push_back(content)
        self.numbers_of[_hash(content)].push_back(number)
        self.added_bytes += content.size() * sizeof(int32_t) + _ARRAY_BYTES
        return number


cdef int _write_words(
    const uint32_t* words, int32_t width, vector[int32_t]& content
) except -1:
    """Write so many words to the end of a content, as ``Pool`` has it."""
    cdef int32_t i, count = 0
    for i in range(width):
        count += words[i] != 0
    # A pair takes two numbers: from half of the words on, all of them are not longer.
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
    if width and content.size() == <size_t> width:
        memcpy(words.data(), content.data(), width * sizeof(uint32_t))
    else:
        for i in range(0, content.size(), 2):
            words[content[i]] = <uint32_t> content[i + 1]
    return words


cdef int _take_new(
    const vector[int32_t]& content, vector[uint32_t]& words, vector[int32_t]& left
) except -1:
    """Write the numbers of a content that words do not have, as a content, and add them there."""
    cdef vector[uint32_t] fresh
    cdef uint32_t word
    cdef size_t i
    if content.size() == words.size():
        fresh.resize(words.size())
        for i in range(words.size()):
            fresh[i] = <uint32_t> content[i] & ~words[i]
            words[i] |= <uint32_t> content[i]
        return _write_words(fresh.data(), <int32_t> words.size(), left)
    for i in range(0, content.size(), 2):
        word = <uint32_t> content[i + 1] & ~words[content[i]]
        if word:
            words[content[i]] |= word
            left.push_back(content[i])
            left.push_back(<int32_t> word)
    return 0


cdef bint _is_root(const vector[int32_t]& content, int32_t width) noexcept:
    """Whether 0 is the only number in a content without blocks."""
    if content.size() == <size_t> width:
        # A single word is stored with all others where there are two at most.
        return content[0] == 1 and (width == 1 or (width == 2 and content[1] == 0))
    return content.size() == 2 and content[0] == 0 and content[1] == 1


cdef size_t _count_numbers(const vector[int32_t]& content, int32_t width) noexcept:
    """How many numbers are in a content without blocks."""
    cdef size_t i, result = 0
    cdef bint is_dense = content.size() == <size_t> width
    for i in range(0 if is_dense else 1, content.size(), 1 if is_dense else 2):
        result += _count_bits(<uint32_t> content[i])
    return result


cdef vector[int32_t] _numbers_in(const vector[int32_t]& content, int32_t width) except *:
    """The numbers in a content without blocks, ascending."""
    cdef vector[int32_t] numbers
    cdef bint is_dense = content.size() == <size_t> width
    cdef uint64_t left
    cdef int32_t index
    cdef size_t i
    for i in range(0, content.size(), 1 if is_dense else 2):
        index = <int32_t> i if is_dense else content[i]
        left = <uint32_t> content[i if is_dense else i + 1]
        while left:
            numbers.push_back(32 * index + _lowest(left))
            left &= left - 1
    return numbers
