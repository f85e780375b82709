# Interned arrays; see ``interface.Pool``.

cdef enum:
    # Words that are not zero of a mask that ``sparse`` returns.
    _MOST_SPARSE = 64


cdef class Pool:
    """Interns arrays; a mask that is mostly zero is stored sparsely, by its nonzero words.

    Sparse content is (index, word) pairs, which are fewer than all words; else all words.
    """

    cdef object known
    cdef readonly Py_ssize_t added_bytes
    cdef int32_t width
    cdef bint awake
    cdef deque[vector[int32_t]] contents
    cdef unordered_map[uint64_t, vector[int32_t]] places

    def __cinit__(self, known, int32_t width=0):
        self.known = known
        self.width = width

    def __len__(self):
        return self.contents.size() if self.awake else len(self.known)

    def __getitem__(self, Py_ssize_t number):
        if number < len(self.known):
            return self.known[number]
        if number >= len(self):
            raise IndexError(number)
        return self.unite((number,)) if self.width else _as_array(self.contents[number])

    def number(self, array):
        """See ``interface.Pool``."""
        self._wake()
        return self._number(array)

    def unite(self, numbers):
        """See ``interface.Pool``."""
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
        """See ``interface.Pool``."""
        cdef vector[int32_t] these = numbers
        return self.sparse_of(these) if self.awake else None

    cdef object sparse_of(self, vector[int32_t]& numbers):
        """See ``sparse``."""
        cdef vector[Pair] words
        cdef vector[int32_t]* content
        cdef size_t i, j, count = 0
        for j in range(numbers.size()):
            content = &self.contents.at(numbers[j])
            if content.size() == <size_t> self.width or words.size() > _MOST_SPARSE:
                return None
            for i in range(0, content.size(), 2):
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
        return PyBytes_FromStringAndSize(<const char*> words.data(), count * sizeof(Pair))

    cdef int add(self, int32_t number, uint32_t* words) except -1:
        """Set the bits of a mask in ``words`` too."""
        cdef vector[int32_t]* content = &self.contents.at(number)
        cdef size_t i
        if content.size() == <size_t> self.width:
            for i in range(content.size()):
                words[i] |= <uint32_t> content[0][i]
        else:
            for i in range(0, content.size(), 2):
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
        cdef vector[int32_t] content
        cdef Py_ssize_t i, count = 0
        for i in range(values.shape[0]):
            count += values[i] != 0
        if self.width and 2 * count < self.width:
            for i in range(values.shape[0]):
                if values[i]:
                    content.push_back(<int32_t> i)
                    content.push_back(values[i])
        elif values.shape[0]:
            content.assign(&values[0], &values[0] + values.shape[0])
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
        self.added_bytes += content.size() * sizeof(int32_t) + 256
        return number


pool = Pool


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
