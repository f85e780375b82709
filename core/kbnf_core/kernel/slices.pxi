# A vocabulary in slices, laid out for walks, and the blocks that masks are made of.
#
# **Layer.** Above ``arrays.pxi``; one ``SliceSet`` serves the walks of all grammars.
#
# **Terms** (``mask/slices.py``). A *slice* has the tokens that one small automaton, its *machine*,
# reads; the last slice has all others. A *block* is a row of bits: the tokens of a slice of at most
# so many characters. A *tail* is the end of a token of the last slice, after text.

cdef enum:
    # Unions of blocks that are kept; strings with and without a bound take a few, each class of
    # characters that patterns repeat one.
    _MOST_UNIONS = 128


cdef struct Taken:
    # Of one slice, what a mask has: one more than the number of a block, 0 without one; but not the
    # tokens that have these characters.
    Characters without
    int32_t block
    int32_t unused


cdef struct _Bytes:
    # A set of bytes.
    uint64_t[4] bits


cdef inline void _add_byte(_Bytes* these, uint8_t byte) noexcept nogil:
    these.bits[byte >> 6] |= <uint64_t> 1 << (byte & 63)


@cython.final
cdef class _Slice(_Trie):
    """A slice of the vocabulary."""

    cdef const int32_t[:, ::1] machine
    # Whether a machine reads it: then where there is inclusion, a subtree is admitted at once.
    cdef bint reads
    # By node: its number in the whole trie, the state of the machine, the height of its subtree.
    cdef const int32_t[::1] nodes
    cdef const uint8_t[::1] reading
    cdef const uint16_t[::1] height
    # Sets of characters, and by node the one with those below.
    cdef const uint64_t[:, ::1] sets
    cdef const uint16_t[::1] below
    # By node: how many bytes of its last character were read; and its number in the whole trie if
    # the character is whole and something is below it there, else 0.
    cdef vector[uint8_t] length
    cdef vector[int32_t] behind
    # The number of the character that begins with each byte.
    cdef object numbers
    # By node: the characters before or below.
    cdef const uint64_t[:, ::1] around
    # By number of a character: the bits of the tokens that have it.
    cdef const uint32_t[:, ::1] having
    # Of tails, in the order of their trie, as ``nodes`` is then, too: the characters before, and
    # the token of the node after, -1 where it has several or none.
    cdef const uint64_t[:, ::1] before
    cdef const int32_t[::1] only_token
    # Of the whole trie: the node before each, the depth of the deepest one below, and all nodes by
    # byte.
    cdef const int32_t[::1] parent
    cdef const uint16_t[::1] deepest
    cdef vector[int32_t] of_byte
    cdef int32_t[257] byte_start
    # Its place among the slices, and what of it may be admitted at once.
    cdef int32_t number
    cdef const uint32_t[:, ::1] blocks
    # The bytes that lead from the root to a child, and those that the machine reads first.
    cdef _Bytes first
    cdef _Bytes read_first

    cdef int lay_out(self, trie) except -1:
        cdef int32_t i
        self.bind(trie)
        self.nodes = None
        memset(&self.first, 0, sizeof(_Bytes))
        for i in range(self.child_start[1]):
            _add_byte(&self.first, self.child_byte[i])
        return 0

    cdef int index(self, trie) except -1:
        """Find the nodes of each byte."""
        cdef int32_t node, byte
        self.parent, self.deepest = trie.parent, deepest_below(trie.parent, trie.depth)
        memset(self.byte_start, 0, sizeof(self.byte_start))
        for node in range(1, <int32_t> self.byte.shape[0]):
            self.byte_start[self.byte[node] + 1] += 1
        for byte in range(256):
            self.byte_start[byte + 1] += self.byte_start[byte]
        self.of_byte.resize(self.byte_start[256])
        for node in range(<int32_t> self.byte.shape[0] - 1, 0, -1):
            self.byte_start[self.byte[node] + 1] -= 1
            self.of_byte[self.byte_start[self.byte[node] + 1]] = node
        for byte in range(256):
            self.byte_start[byte] = self.byte_start[byte + 1]
        self.byte_start[256] = <int32_t> self.of_byte.size()
        return 0

    cdef inline bint has_below(self, int32_t node, const Characters* these) noexcept:
        """Whether some of these characters may be below a node."""
        cdef const uint64_t* result = &self.sets[self.below[node], 0]
        return result[0] & these.low or result[1] & these.high

    cdef inline bint has_around(self, int32_t node, const Characters* these) noexcept:
        """Whether some of these characters are on the way to a node or below it."""
        cdef const uint64_t* result = &self.around[node, 0]
        return result[0] & these.low or result[1] & these.high

    cdef void add_without(
        self, const uint32_t* block, const Characters* without, uint32_t* words, size_t count
    ) noexcept:
        """Set the bits of a block but for those of tokens that have some of these characters."""
        cdef vector[uint32_t] refused = vector[uint32_t](count)
        cdef const uint32_t* having
        cdef uint64_t left
        cdef size_t i
        cdef int half
        for half in range(2):
            left = without.high if half else without.low
            while left:
                having = &self.having[64 * half + _lowest(left), 0]
                for i in range(count):
                    refused[i] |= having[i]
                left &= left - 1
        for i in range(count):
            words[i] |= block[i] & ~refused[i]

    cdef int read(self, source, _Slice whole) except -1:
        """Take what an inclusion check needs."""
        cdef const int32_t[:, ::1] machine = source.machine
        cdef const int32_t[::1] parent = source.subset.trie.parent
        cdef int32_t byte, node, inner
        memset(&self.read_first, 0, sizeof(_Bytes))
        for byte in range(256):
            if machine[1, byte] != DEAD:
                _add_byte(&self.read_first, byte)
        self.reads = True
        self.machine = source.machine
        self.reading = source.reading
        self.sets, self.below = source.sets, source.below
        self.numbers, self.having = source.number, source.having
        self.length.resize(parent.shape[0])
        self.behind.resize(parent.shape[0])
        for node in range(1, <int32_t> parent.shape[0]):
            inner = parent[node]
            self.length[node] = 1 + (0 if self.reading[inner] == 1 else self.length[inner])
            inner = self.nodes[node]
            if self.reading[node] == 1 and whole.skip[inner] > inner + 1:
                self.behind[node] = inner
        return 0


@cython.final
cdef class SliceSet:
    """A vocabulary, whole and in slices, laid out once for the walkers of all tables."""

    cdef _Slice whole
    cdef list slices
    # What some tokens of the last slice end with.
    cdef _Slice tails
    cdef Py_ssize_t depth
    cdef Py_ssize_t width
    # How many words the nodes of the trie take, as bits.
    cdef int32_t node_width
    # How many numbers the blocks that a mask has take in its content.
    cdef Py_ssize_t head
    # By what a mask has of each slice, as bytes: the union.
    cdef unordered_map[string, vector[uint32_t]] unions

    def __init__(self, trie, slices, tails):
        cdef _Slice slice_
        self.whole = _Slice()
        self.whole.lay_out(trie)
        self.whole.index(trie)
        self.slices = []
        for source in slices:
            slice_ = _Slice()
            slice_.lay_out(source.subset.trie)
            slice_.nodes = source.subset.nodes
            slice_.number = <int32_t> len(self.slices)
            slice_.blocks = source.blocks
            slice_.height, slice_.around = source.height, source.around
            if source.machine is not None:
                slice_.read(source, self.whole)
            self.slices.append(slice_)
        self.tails = _Slice()
        self.tails.lay_out(tails.trie)
        nodes = tails.nodes[tails.trie.token_ids]
        self.tails.nodes, self.tails.before = nodes, tails.before[tails.trie.token_ids]
        first = trie.token_start[nodes]
        only_token = trie.token_ids.take(first, mode="clip")
        only_token[trie.token_start[nodes + 1] - first != 1] = -1
        self.tails.only_token = only_token
        self.depth = trie.max_depth
        self.node_width = (trie.node_count + 31) // 32
        self.head = len(self.slices) * sizeof(Taken) // sizeof(int32_t)
        self.width = slice_.blocks.shape[1]

    cdef bint find_blocks(self, const Taken* taken, vector[const uint32_t*]& blocks) except -1:
        """Find rows whose union is what a mask has of all slices: one, as a rule; they are kept.

        Return whether there are any: without certain characters only kept unions are rows.
        """
        cdef string key
        cdef vector[uint32_t]* united
        cdef size_t first = blocks.size()
        cdef bint is_whole = True
        cdef _Slice slice_
        for slice_ in self.slices:
            if taken[slice_.number].block:
                blocks.push_back(&slice_.blocks[taken[slice_.number].block - 1, 0])
                is_whole = is_whole and not _is_any(taken[slice_.number].without)
        if is_whole and blocks.size() < first + 2:
            return True
        key.assign(<const char*> taken, self.head * sizeof(int32_t))
        # Unions are never given up, since masks point to their words; hence the bound.
        if self.unions.size() >= _MOST_UNIONS and not self.unions.count(key):
            return is_whole
        united = &self.unions[key]
        if united.empty():
            united.resize(self.width)
            self.add_taken(taken, united.data())
        blocks.resize(first)
        blocks.push_back(united.data())
        return True

    cdef bint add_taken(self, const Taken* taken, uint32_t* words) except -1:
        """Set the bits of the blocks of all slices in ``words`` too; return whether any had one."""
        cdef const uint32_t* block
        cdef _Slice slice_
        cdef Py_ssize_t i
        cdef bint result = False
        for slice_ in self.slices:
            if not taken[slice_.number].block:
                continue
            result = True
            block = &slice_.blocks[taken[slice_.number].block - 1, 0]
            if _is_any(taken[slice_.number].without):
                slice_.add_without(block, &taken[slice_.number].without, words, self.width)
                continue
            for i in range(self.width):
                words[i] |= block[i]
        return result


# Passes over a trie, for slices: a node comes before those below it, so facts about its parent go
# down in a loop forwards, and facts about its children go up in one backwards.

cdef object _new(Py_ssize_t rows, Py_ssize_t columns, int kind):
    """An array of zeros of so many rows; of one dimension where there are no columns."""
    cdef cnp.npy_intp[2] shape
    shape[0], shape[1] = rows, columns
    return cnp.PyArray_ZEROS(2 if columns else 1, shape, kind, 0)


def read_down(
    const int32_t[::1] parent, const uint8_t[::1] byte, const int32_t[:, ::1] machine
):
    """Return the state of a machine at each node, uint8[n]; 1 is the start."""
    cdef Py_ssize_t count = parent.shape[0], node
    result = _new(count, 0, cnp.NPY_UINT8)
    cdef uint8_t[::1] state = result
    state[0] = 1
    with nogil:
        for node in range(1, count):
            state[node] = <uint8_t> machine[state[parent[node]], byte[node]]
    return result


def count_starts(const int32_t[::1] parent, const uint8_t[::1] reading):
    """Return how often the machine was at its start on the way to each node, int32[n]."""
    cdef Py_ssize_t count = parent.shape[0], node
    result = _new(count, 0, cnp.NPY_INT32)
    cdef int32_t[::1] begun = result
    begun[0] = 0
    with nogil:
        for node in range(1, count):
            begun[node] = begun[parent[node]] + (reading[parent[node]] == 1)
    return result


def unite_down_and_up(const int32_t[::1] parent, const uint64_t[:, ::1] own):
    """Return the unions of what nodes have: on the way to each, and below it, uint64[n, 2] both."""
    cdef Py_ssize_t count = parent.shape[0], node
    way, under = _new(count, 2, cnp.NPY_UINT64), _new(count, 2, cnp.NPY_UINT64)
    cdef uint64_t[:, ::1] down = way
    cdef uint64_t[:, ::1] up = under
    with nogil:
        for node in range(1, count):
            down[node, 0] = own[node, 0] | down[parent[node], 0]
            down[node, 1] = own[node, 1] | down[parent[node], 1]
        for node in range(count - 1, 0, -1):
            up[parent[node], 0] |= up[node, 0] | own[node, 0]
            up[parent[node], 1] |= up[node, 1] | own[node, 1]
    return way, under


def mark_tokens(
    const uint64_t[:, ::1] characters, const int32_t[::1] ids, uint32_t[:, ::1] rows
):
    """Set the bit of each token in the rows of its characters."""
    cdef Py_ssize_t i, half
    cdef uint64_t left
    with nogil:
        for i in range(ids.shape[0]):
            for half in range(2):
                left = characters[i, half]
                while left:
                    rows[64 * half + _lowest(left), ids[i] >> 5] |= <uint32_t> 1 << (ids[i] & 31)
                    left &= left - 1


def deepest_below(const int32_t[::1] parent, const uint16_t[::1] depth):
    """Return the depth of the deepest node below each, or its own, uint16[n]."""
    cdef Py_ssize_t count = parent.shape[0], node
    result = _new(count, 0, cnp.NPY_UINT16)
    cdef uint16_t[::1] deepest = result
    with nogil:
        deepest[:] = depth
        for node in range(count - 1, 0, -1):
            if deepest[parent[node]] < deepest[node]:
                deepest[parent[node]] = deepest[node]
    return result
