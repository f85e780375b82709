# Interned one-dimensional arrays of one type.

cdef enum:
    # The overhead of an array, besides its content.
    _ARRAY_BYTES = 256
    # Words, beside those of blocks, of a mask that ``sparse`` returns.
    _MOST_SPARSE = 512

ARRAY_BYTES = _ARRAY_BYTES


cdef class Pool:
    """Interns arrays; those of masks all have one width, others may be of any length.

    ``added_bytes``: the growth since it was made, with ``ARRAY_BYTES`` for each array. An array that
    is handed out is not to be written to.

    The content of a mask is what it has of each slice (``Taken``) and then, if they are fewer than
    all words, (index, word) pairs of words with other bits; else all words.
    """

    cdef object known
    cdef readonly Py_ssize_t added_bytes
    cdef Parts parts
    cdef int32_t width
    cdef int32_t head
    cdef bint awake
    cdef deque[vector[int32_t]] contents
    cdef unordered_map[uint64_t, vector[int32_t]] places

    def __cinit__(self, known, Parts parts=None):
        self.known = known
        self.parts = parts
        if parts is not None:
            self.width, self.head = <int32_t> parts.width, <int32_t> parts.head

    def __len__(self):
        return self.contents.size() if self.awake else len(self.known)

    def __getitem__(self, Py_ssize_t number):
        if number < len(self.known):
            return self.known[number]
        if number >= len(self):
            raise IndexError(number)
        return self.unite((number,)) if self.width else _as_array(self.contents[number])

    def number(self, array):
        """Return the number of an array's content, the next free one if it is new."""
        self._wake()
        return self._number(array)

    def unite(self, numbers):
        """Return the union of masks, as an array of its own."""
        cdef cnp.npy_intp length = self.width
        cdef cnp.ndarray words = cnp.PyArray_ZEROS(1, &length, cnp.NPY_UINT32, 0)
        cdef int32_t number
        if not self.awake:
            for number in numbers:
                words |= self.known[number]
            return words
        for number in numbers:
            self.add(number, <uint32_t*> cnp.PyArray_DATA(words))
        return words

    def sparse(self, numbers):
        """Return the union of masks in few numbers: what it has of each slice, and other words.

        ``Parts.row`` reads it. Empty for the empty mask. None where there would be many numbers,
        or nothing was searched for or added yet.
        """
        cdef vector[int32_t] these = numbers
        return self.sparse_of(these) if self.awake else None

    cdef object sparse_of(self, vector[int32_t]& numbers):
        """See ``sparse``."""
        cdef vector[Pair] words
        cdef vector[Taken] taken = vector[Taken](<size_t> len(self.parts.slices))
        cdef vector[int32_t]* content
        cdef size_t i, j, count = 0
        cdef bint is_any = False
        for j in range(numbers.size()):
            content = &self.contents.at(numbers[j])
            if self._is_dense(content[0]) or words.size() > _MOST_SPARSE:
                return None
            if not self._take(taken, <const Taken*> content.data(), &is_any):
                return None
            for i in range(self.head, content.size(), 2):
                words.push_back(Pair(content[0][i], content[0][i + 1]))
        if numbers.size() > 1:
            sort(words.begin(), words.end())
        for i in range(words.size()):
            if count and words[count - 1].first == words[i].first:
                words[count - 1].second |= words[i].second
            else:
                words[count] = words[i]
                count += 1
        if count > _MOST_SPARSE:
            return None
        if not count and not is_any:
            return b""
        head = PyBytes_FromStringAndSize(<const char*> taken.data(), self.head * sizeof(int32_t))
        return head + PyBytes_FromStringAndSize(<const char*> words.data(), count * sizeof(Pair))

    cdef bint _take(self, vector[Taken]& taken, const Taken* more, bint* is_any) noexcept:
        """Unite what masks have of each slice; return whether that is one block of each."""
        cdef size_t i
        for i in range(len(self.parts.slices)):
            if not more[i].block:
                continue
            is_any[0] = True
            if not taken[i].block:
                taken[i] = more[i]
            elif memcmp(&taken[i], &more[i], sizeof(Taken)):
                return False
        return True

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

    cdef int _wake(self) except -1:
        """Index the stored arrays on the first search or addition."""
        if not self.awake:
            self.awake = True
            for array in self.known:
                # Equal ones keep their own numbers.
                self._place(self._content(array))
            self.added_bytes = 0
        return 0

    cdef int32_t _number(self, array) except -1:
        cdef vector[int32_t] content = self._content(array)
        return self.find(content)

    cdef vector[int32_t] _content(self, array) except *:
        cdef const int32_t[::1] values = array.view("int32")
        cdef const int32_t* each = &values[0] if values.shape[0] else NULL
        cdef vector[int32_t] content
        cdef Py_ssize_t i, count = 0
        if self.width:
            content.resize(self.head, 0)
        for i in range(values.shape[0]):
            count += each[i] != 0
        if self.width and 2 * count < self.width:
            for i in range(values.shape[0]):
                if values[i]:
                    content.push_back(<int32_t> i)
                    content.push_back(values[i])
        elif values.shape[0]:
            content.insert(content.end(), &values[0], &values[0] + values.shape[0])
        return content

    cdef int32_t find(self, vector[int32_t]& content) except -1:
        """The number of a content, interned if new."""
        cdef vector[int32_t]* numbers
        cdef size_t i
        self._wake()
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
