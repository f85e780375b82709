# What a vocabulary's tokens spell, and how its tokenizer cuts texts.

cdef enum:
    # Tokens of the past that are encoded along: the first new token depends on a few at most.
    _CONTEXT = 8
    # In a context: bytes that were accepted without a token.
    _BYTES = -1


cdef class Texts:
    """What a vocabulary's tokens spell, and texts that its tokenizer cut."""

    cdef const uint8_t[::1] byte
    cdef const int32_t[::1] skip
    cdef const uint16_t[::1] depth
    cdef const int32_t[::1] child_start
    cdef const int32_t[::1] child
    cdef const int32_t[::1] token_start
    cdef const int32_t[::1] token_ids
    cdef Py_ssize_t longest
    cdef const int32_t[::1] starts
    cdef const uint8_t[::1] blob
    cdef vector[int32_t] ends
    # By byte: the node that it leads to from the root, 0 where no token begins with it.
    cdef vector[int32_t] roots
    # By two bytes: whether some token has them side by side.
    cdef vector[uint8_t] pairs
    cdef bint can_encode
    cdef object encoded

    def __cinit__(self, vocabulary, encoded):
        trie = vocabulary.trie
        self.byte = trie.byte
        self.skip = trie.skip
        self.depth = trie.depth
        self.child_start = trie.child_start
        self.child = trie.child
        self.token_start = trie.token_start
        self.token_ids = trie.token_ids
        self.longest = trie.max_depth
        self.starts, self.blob = vocabulary.spellings
        self.ends = vocabulary.eos_token_ids
        self.can_encode = vocabulary.can_encode
        self.encoded = encoded
        self._look_up(trie.parent)

    cdef int _look_up(self, const int32_t[::1] parent) except -1:
        cdef int32_t node
        self.roots.resize(256)
        self.pairs.resize(256 * 256)
        for node in range(1, self.byte.shape[0]):
            if parent[node]:
                self.pairs[256 * self.byte[parent[node]] + self.byte[node]] = True
            else:
                self.roots[self.byte[node]] = node
        return 0

    cdef int look_back(
        self, list accepted, vector[int32_t]& forced, vector[int32_t]& before
    ) except -1:
        """Find the context of what comes next: the last tokens, after any without bytes."""
        cdef Py_ssize_t count = len(accepted) + forced.size()
        cdef Py_ssize_t place = count
        cdef int32_t token
        before.reserve(_CONTEXT)
        while place > max(count - _CONTEXT, 0):
            place -= 1
            token = _token_at(accepted, forced, place)
            if token != _BYTES and not self.length(token):
                break
            before.push_back(token)
        reverse(before.begin(), before.end())
        return 0

    cdef int add_context(
        self, string& text, list accepted, vector[int32_t]& forced, size_t size
    ) except -1:
        """Append the bytes of the last ``size`` tokens."""
        cdef Py_ssize_t place, count = len(accepted) + forced.size()
        cdef int32_t token
        for place in range(count - size, count):
            token = _token_at(accepted, forced, place)
            if token == _BYTES:
                text.append(<string> accepted[place])
            else:
                self.add_spelled(text, token)
        return 0

    cdef int add_ids(self, int32_t node, vector[int32_t]& found) except -1:
        """Add the tokens that end at a node."""
        cdef int32_t k
        for k in range(self.token_start[node], self.token_start[node + 1]):
            found.push_back(self.token_ids[k])
        return 0

    cdef int add_spelled(self, string& text, int32_t token) except -1:
        """Append the bytes of a token."""
        cdef size_t length = self.length(token)
        if length:
            text.append(<const char*> &self.blob[self.starts[token]], length)
        return 0

    cdef inline size_t length(self, int32_t token) noexcept:
        """The number of a token's bytes, 0 for what has none."""
        if token < 0 or token + 1 >= self.starts.shape[0]:
            return 0
        return self.starts[token + 1] - self.starts[token]

    cdef int32_t child_of(self, int32_t node, uint8_t value) noexcept:
        """The child of a node on a byte, 0 where there is none."""
        cdef int32_t low, high, middle
        if not node:
            return self.roots[value]
        low, high = self.child_start[node], self.child_start[node + 1]
        while low < high:
            middle = (low + high) // 2
            if self.byte[self.child[middle]] < value:
                low = middle + 1
            else:
                high = middle
        if low < self.child_start[node + 1] and self.byte[self.child[low]] == value:
            return self.child[low]
        return 0

    cdef inline bint goes_on(self, string& data, size_t place) noexcept:
        """Whether a token may have the bytes before and behind a place."""
        return self.pairs[256 * <uint8_t> data[place - 1] + <uint8_t> data[place]]

    cdef int32_t find_from(self, string& data, size_t place) noexcept:
        """The node that the end of a text leads to, 0 where there is none."""
        cdef int32_t node = 0
        while place < data.size():
            node = self.child_of(node, data[place])
            if not node:
                break
            place += 1
        return node

    cdef int encode_after(
        self, string& text, vector[int32_t]& before, string& data, vector[int32_t]& found
    ) except -1:
        """Find the tokens of ``data`` after a context, none where none begins with it."""
        cdef vector[int32_t] tokens = self.encoded[text + data]
        cdef string spelled
        cdef size_t i, begin = self._end_of_context(tokens, before, data.size())
        found.assign(tokens.begin() + begin, tokens.end())
        for i in range(found.size()):
            if not self.length(found[i]):
                found.clear()
                return 0
            self.add_spelled(spelled, found[i])
        if spelled != data:
            found.clear()
        return 0

    cdef size_t _end_of_context(
        self, vector[int32_t]& tokens, vector[int32_t]& before, size_t size
    ) except? 0:
        """How many tokens the context has; all where none ends with it."""
        cdef size_t count = tokens.size(), taken = 0
        if before.size() <= count and equal(before.begin(), before.end(), tokens.begin()):
            return before.size()
        # A context that begins within a text may be cut in another way at its beginning.
        while taken < size and count:
            count -= 1
            taken += self.length(tokens[count])
        # The tokenizer must have written the token before as it was accepted.
        if taken != size or before.empty():
            return tokens.size()
        if before.back() != _BYTES and (not count or tokens[count - 1] != before.back()):
            return tokens.size()
        return count



cdef int32_t _token_at(list accepted, vector[int32_t]& forced, Py_ssize_t place) except? _BYTES:
    """What is at a place of what was accepted and is forced after it: its id, or ``_BYTES``."""
    if place >= len(accepted):
        return forced[place - len(accepted)]
    return _BYTES if isinstance(accepted[place], bytes) else accepted[place]


cdef size_t _whole_characters(string& data, size_t end) except? 0:
    """The greatest place up to ``end`` that is not within a character of UTF-8."""
    cdef size_t begin = end
    while begin and (<uint8_t> data[begin - 1]) >> 6 == 0b10:
        begin -= 1
    if begin and <uint8_t> data[begin - 1] >= 0xC0:
        begin -= 1
    if begin == end:
        return end
    try:
        data.substr(begin, end - begin).decode()
    except UnicodeDecodeError:
        return begin
    return end


# What tokenizers certainly write at positions, remembered for ``Forced``.

cdef enum:
    _MOST_KNOWN = 65536


cdef struct _Entry:
    # At ``position``, after the context that is ``tokens[first:begin]``, the tokens up to ``end``
    # are certain; the text is at ``after`` then.
    int32_t position
    int32_t after
    size_t first
    size_t begin
    size_t end


cdef class _Written:
    """Certain tokens by position and context; where there are too many, all are forgotten."""

    cdef vector[int32_t] tokens
    cdef vector[_Entry] entries
    # By a hash of position and context, the last entry.
    cdef _Map places

    def __cinit__(self):
        self.places = _Map()

    cdef size_t held(self) noexcept:
        return held(self.tokens) + held(self.entries) + self.places.held()

    cdef bint recall(
        self, int32_t* position, vector[int32_t]& before, vector[int32_t]& found
    ) except -1:
        """Find what is certain, and the position after it; tell whether that is known."""
        cdef int32_t place = self.places.get(_hash_of(position[0], before.data(), before.size()))
        cdef size_t size = before.size()
        cdef _Entry known
        if place == UNKNOWN:
            return False
        known = self.entries[place]
        if known.position != position[0] or _context_size(known) != size:
            return False
        if not equal(before.begin(), before.end(), self.tokens.begin() + (known.begin - size)):
            return False
        found.assign(self.tokens.begin() + known.begin, self.tokens.begin() + known.end)
        position[0] = known.after
        return True

    cdef int keep(
        self,
        vector[int32_t]& positions,
        int32_t after,
        vector[int32_t]& before,
        vector[int32_t]& found,
    ) except -1:
        """Remember tokens after a context: all at the first position, one less at each next one.

        Whoever asks before every token asks there next.
        """
        cdef size_t i, first, begin
        if count(before.begin(), before.end(), <int32_t> _BYTES):
            return 0
        if self.entries.size() >= _MOST_KNOWN:
            self.tokens.clear()
            self.entries.clear()
            self.places = _Map()
        first = self.tokens.size()
        begin = first + before.size()
        self.tokens.insert(self.tokens.end(), before.begin(), before.end())
        self.tokens.insert(self.tokens.end(), found.begin(), found.end())
        for i in range(positions.size()):
            self._add(_Entry(positions[i], after, first, begin + i, begin + found.size()))
        return 0

    cdef int _add(self, _Entry entry) except -1:
        cdef size_t size = _context_size(entry)
        cdef const int32_t* context = self.tokens.data() + (entry.begin - size)
        self.places.put(_hash_of(entry.position, context, size), <int32_t> self.entries.size())
        self.entries.push_back(entry)
        return 0


cdef inline size_t _context_size(_Entry entry) noexcept nogil:
    return min(entry.begin - entry.first, <size_t> _CONTEXT)


cdef inline uint64_t _hash_of(int32_t position, const int32_t* tokens, size_t count) noexcept nogil:
    return _hash_bytes(<uint32_t> position, tokens, count * sizeof(int32_t))
