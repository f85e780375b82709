# Forced text: the bytes, and the tokens, that certainly come next.
#
# **Layer.** Above ``lazy_table.pxi`` and ``arrays.pxi``. First comes what depends on the vocabulary
# alone: what its tokens spell, and how its tokenizer cuts texts.

cdef enum:
    # Tokens of the past that are encoded along: the first new token depends on a few at most.
    _CONTEXT = 8
    # In a context: bytes that were accepted without a token.
    _BYTES = -1


@cython.final
cdef class Texts(_Trie):
    """What a vocabulary's tokens spell, and texts that its tokenizer cut."""

    cdef Py_ssize_t longest
    cdef const int32_t[::1] starts
    cdef const uint8_t[::1] blob
    cdef vector[int32_t] ends
    # By two bytes: whether some token has them side by side.
    cdef vector[uint8_t] pairs
    cdef bint can_encode
    cdef object encoded

    def __cinit__(self, vocabulary, encoded):
        trie = vocabulary.trie
        self.bind(trie)
        self.longest = trie.max_depth
        self.starts, self.blob = vocabulary.spellings
        self.ends = vocabulary.eos_token_ids
        self.can_encode = vocabulary.can_encode
        self.encoded = encoded
        self._find_pairs(trie.parent)

    cdef int _find_pairs(self, const int32_t[::1] parent) except -1:
        cdef int32_t node
        self.pairs.resize(256 * 256)
        for node in range(1, self.byte.shape[0]):
            if parent[node]:
                self.pairs[256 * self.byte[parent[node]] + self.byte[node]] = True
        return 0

    cdef int look_back(
        self, list accepted, vector[int32_t]& forced, vector[int32_t]& before
    ) except -1:
        """Find the context of the next token: the last tokens, after any without bytes."""
        cdef Py_ssize_t count = len(accepted) + forced.size()
        cdef Py_ssize_t index = count
        cdef int32_t token
        before.reserve(_CONTEXT)
        while index > max(count - _CONTEXT, 0):
            index -= 1
            token = _token_at(accepted, forced, index)
            if token != _BYTES and not self.length(token):
                break
            before.push_back(token)
        reverse(before.begin(), before.end())
        return 0

    cdef int add_context(
        self, string& text, list accepted, vector[int32_t]& forced, size_t size
    ) except -1:
        """Append the bytes of the last ``size`` tokens."""
        cdef Py_ssize_t index, count = len(accepted) + forced.size()
        cdef int32_t token
        for index in range(count - size, count):
            token = _token_at(accepted, forced, index)
            if token == _BYTES:
                text.append(<string> accepted[index])
            else:
                self.add_spelled(text, token)
        return 0

    cdef int add_ids(self, int32_t node, vector[int32_t]& ids) except -1:
        """Add the tokens that end at a node."""
        cdef int32_t k
        for k in range(self.token_start[node], self.token_start[node + 1]):
            ids.push_back(self.token_ids[k])
        return 0

    cdef int add_spelled(self, string& text, int32_t token) except -1:
        """Append the bytes of a token."""
        cdef size_t length = self.length(token)
        if length:
            text.append(<const char*> &self.blob[self.starts[token]], length)
        return 0

    cdef inline size_t length(self, int32_t token) noexcept:
        """The number of a token's bytes, 0 for a token without any."""
        if token < 0 or token + 1 >= self.starts.shape[0]:
            return 0
        return self.starts[token + 1] - self.starts[token]

    cdef inline bint goes_on(self, string& data, size_t offset) noexcept:
        """Whether a token may have the bytes before and after an offset."""
        return self.pairs[256 * <uint8_t> data[offset - 1] + <uint8_t> data[offset]]

    cdef int32_t find_from(self, string& data, size_t offset) noexcept:
        """The node that the end of a text leads to, 0 where there is none."""
        cdef int32_t node = 0
        while offset < data.size():
            node = self.child_of(node, data[offset])
            if not node:
                break
            offset += 1
        return node

    cdef int encode_after(
        self, string& text, vector[int32_t]& before, string& data, vector[int32_t]& ids
    ) except -1:
        """Find the tokens of ``data`` after a context, none where none begins with it."""
        cdef vector[int32_t] tokens = self.encoded[text + data]
        cdef string spelled
        cdef size_t i, begin = self._end_of_context(tokens, before, data.size())
        ids.assign(tokens.begin() + begin, tokens.end())
        for i in range(ids.size()):
            if not self.length(ids[i]):
                ids.clear()
                return 0
            self.add_spelled(spelled, ids[i])
        if spelled != data:
            ids.clear()
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


cdef int32_t _token_at(list accepted, vector[int32_t]& forced, Py_ssize_t index) except? _BYTES:
    """The id at an index of the accepted tokens and the forced ones after them, or ``_BYTES``."""
    if index >= len(accepted):
        return forced[index - len(accepted)]
    return _BYTES if isinstance(accepted[index], bytes) else accepted[index]


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
    _MOST_ENTRIES = 65536


cdef struct _Entry:
    # At ``position``, after the context that is ``tokens[first:begin]``, the tokens up to ``end``
    # are certain; the text is at ``after`` then.
    int32_t position
    int32_t after
    size_t first
    size_t begin
    size_t end


@cython.final
cdef class _Written:
    """Certain tokens by position and context; where there are too many, all are forgotten."""

    cdef vector[int32_t] tokens
    cdef vector[_Entry] entries
    # By a hash of position and context, the last entry.
    cdef _Map entry_numbers

    def __cinit__(self):
        self.entry_numbers = _Map()

    cdef size_t memory(self) noexcept:
        return memory_of(self.tokens) + memory_of(self.entries) + self.entry_numbers.memory()

    cdef bint recall(
        self, int32_t* position, vector[int32_t]& before, vector[int32_t]& ids
    ) except -1:
        """Find the certain tokens and the position after them; return whether that is known."""
        cdef int32_t number = self.entry_numbers.get(
            _hash_of(position[0], before.data(), before.size())
        )
        cdef size_t size = before.size()
        cdef _Entry entry
        if number == UNKNOWN:
            return False
        entry = self.entries[number]
        if entry.position != position[0] or _context_size(entry) != size:
            return False
        if not equal(before.begin(), before.end(), self.tokens.begin() + (entry.begin - size)):
            return False
        ids.assign(self.tokens.begin() + entry.begin, self.tokens.begin() + entry.end)
        position[0] = entry.after
        return True

    cdef int keep(
        self,
        vector[int32_t]& positions,
        int32_t after,
        vector[int32_t]& before,
        vector[int32_t]& ids,
    ) except -1:
        """Remember tokens after a context: all at the first position, one less at each next one.

        A caller that asks before every token asks there next.
        """
        cdef size_t i, first, begin
        # Bytes without a token are not in the ids by which contexts are compared.
        if count(before.begin(), before.end(), <int32_t> _BYTES):
            return 0
        if self.entries.size() >= _MOST_ENTRIES:
            self.tokens.clear()
            self.entries.clear()
            self.entry_numbers = _Map()
        first = self.tokens.size()
        begin = first + before.size()
        self.tokens.insert(self.tokens.end(), before.begin(), before.end())
        self.tokens.insert(self.tokens.end(), ids.begin(), ids.end())
        for i in range(positions.size()):
            self._add(_Entry(positions[i], after, first, begin + i, begin + ids.size()))
        return 0

    cdef int _add(self, _Entry entry) except -1:
        cdef size_t size = _context_size(entry)
        cdef const int32_t* context = self.tokens.data() + (entry.begin - size)
        self.entry_numbers.put(
            _hash_of(entry.position, context, size), <int32_t> self.entries.size()
        )
        self.entries.push_back(entry)
        return 0


cdef inline size_t _context_size(_Entry entry) noexcept nogil:
    return min(entry.begin - entry.first, <size_t> _CONTEXT)


cdef inline uint64_t _hash_of(int32_t position, const int32_t* tokens, size_t count) noexcept nogil:
    return _hash_bytes(<uint32_t> position, tokens, count * sizeof(int32_t))


# Forced continuations: the bytes, or tokens, with which every text from a position begins.
#
# A byte is forced where no other can come. Forced *tokens* are those that the tokenizer itself
# writes for these bytes. What it writes for the last of them depends on what follows: a longer
# token may be there. With every tokenizer here (byte pairs, unigrams, longest match) the tokens up
# to a boundary are those of the text up to that boundary. So each place at which a token can begin
# that reaches beyond the forced bytes is tried as the last boundary, and the tokens on which all
# these encodings agree are certain.

cdef enum:
    # In the place of a byte, a class or a token: not computed; not exactly one.
    _UNCOMPUTED = -2
    _OPEN = -1
    # In a front: the other number is a state.
    _STATE = -1
    # Forced bytes that are looked at together; after their tokens it goes on with the next ones.
    _MOST_BYTES = 1024


@cython.final
cdef class Forced:
    """Follows single transitions, looks for tokens beside them, and memoises certain results.

    A *front* is followed: a stack node with an item set that calls and completes nothing,
    which takes less time than the state that it stands for, or a state.
    """

    cdef object automaton
    cdef Texts texts
    cdef LazyTable explorer
    cdef bint ends_at_bytes
    cdef bint ends_at_tokens
    cdef bint takes_eos
    # The state before the first byte where the text may end there.
    cdef int32_t complete_at_once
    # By byte class: the byte that it is, ``_OPEN`` where it has several.
    cdef vector[int32_t] only_byte
    # By state: the class that must come; and the one token that can come, and the position after
    # it.
    cdef vector[int32_t] only_class
    cdef vector[Pair] singles
    cdef _Written written

    def __cinit__(self, automaton, texts):
        # A reference to the automaton, which refers to this, would keep both until a collection.
        self.automaton = proxy(automaton)
        self.texts = texts
        self.explorer = automaton.masks.states.explorer
        self.ends_at_bytes = automaton.rule.ends_at_bytes
        self.ends_at_tokens = automaton.rule.ends_at_tokens
        self.takes_eos = automaton.rule.takes_eos(True)
        states = automaton.masks.states
        is_complete = self.takes_eos and states.tables.start_is_nullable
        self.complete_at_once = states.initial if is_complete else DEAD
        self.written = _Written()
        self._find_only_bytes()

    @property
    def bytes(self):
        """The memory that is taken."""
        cdef size_t result = memory_of(self.only_byte) + memory_of(self.only_class)
        result += memory_of(self.singles)
        return result + self.written.memory()

    cdef int _find_only_bytes(self) except -1:
        cdef int32_t value, byte_class
        self.only_byte.resize(256, _UNCOMPUTED)
        for value in range(256):
            byte_class = self.explorer.classes[value]
            self.only_byte[byte_class] = (
                value if self.only_byte[byte_class] == _UNCOMPUTED else _OPEN
            )
        return 0

    def bytes_from(self, int32_t position, size_t limit):
        """Return the longest bytes, at most ``limit``, that all texts from a position begin with.

        It stops where the text may end, and where a token terminal may come.
        """
        cdef string data
        cdef vector[Pair] fronts
        self._follow(position, limit, data, fronts)
        return data

    def find(self, int32_t position, list accepted, Py_ssize_t limit):
        """Return the tokens that come from ``position`` on, at most ``limit``.

        Those that the tokenizer writes for the forced bytes after the ``accepted`` tokens, and
        single ones that can come alone.
        """
        cdef vector[int32_t] forced
        cdef Pair single
        cdef size_t count, most = max(limit, 0)
        while position >= 0 and forced.size() < most:
            count = forced.size()
            if self._class_at(position) != _OPEN and self.texts.can_encode:
                position = self._append_written(position, accepted, forced)
            if forced.size() == count:
                single = self._single(position)
                if single.first == _OPEN:
                    break
                forced.push_back(single.first)
                position = single.second
        if forced.size() > most:
            forced.resize(most)
        return forced

    cdef int32_t written_at(self, int32_t position, list accepted) except? UNKNOWN:
        """The token that the tokenizer certainly writes next; UNKNOWN where there is none."""
        cdef vector[int32_t] forced
        if position >= 0 and self.texts.can_encode and self._class_at(position) != _OPEN:
            self._append_written(position, accepted, forced)
        return forced.front() if forced.size() else UNKNOWN

    cdef inline int32_t _class_at(self, int32_t state) except? _OPEN:
        """The class that must come in a state, ``_OPEN`` where none must."""
        if state >= <int32_t> self.only_class.size():
            self.only_class.resize(2 * state + 64, _UNCOMPUTED)
        if self.only_class[state] == _UNCOMPUTED:
            self.explorer.acquire()
            try:
                self.only_class[state] = self._class_after(self._front(state))
            finally:
                self.explorer.release()
        return self.only_class[state]

    cdef int _follow(
        self, int32_t position, size_t most, string& data, vector[Pair]& fronts
    ) except -1:
        """Collect the forced bytes, and the front after each."""
        cdef Pair front
        cdef int32_t byte_class
        if position < 0:
            return 0
        self.explorer.acquire()
        try:
            front = self._front(position)
            while data.size() < most:
                byte_class = self._class_after(front)
                if byte_class == _OPEN:
                    break
                front = self._step(front, byte_class)
                data.push_back(<char> self.only_byte[byte_class])
                fronts.push_back(front)
        finally:
            self.explorer.release()
        return 0

    cdef Pair _front(self, int32_t state) except *:
        cdef Span[Pair] pairs = self.explorer.configurations.all_pairs.at(state)
        if pairs.size() == 1 and not self._completes(state):
            if self.explorer.items.kind(pairs[0].second) == _READS:
                return pairs[0]
        return Pair(_STATE, state)

    cdef Pair _step(self, Pair front, int32_t byte_class) except *:
        """The front after a byte of a class."""
        cdef LazyTable explorer = self.explorer
        cdef int32_t moved
        if front.first == _STATE:
            return self._front(explorer.step(front.second, byte_class))
        moved = explorer.items.move(front.second, byte_class)
        if explorer.items.kind(moved) == _READS:
            return Pair(front.first, moved)
        return self._front(self._lift(Pair(front.first, moved)))

    cdef int32_t _lift(self, Pair front) except -2:
        """The state that a front stands for."""
        cdef int32_t state = front.second
        if front.first != _STATE:
            state = self.explorer._settle_one(front)
        return state

    cdef int32_t _class_after(self, Pair front) except? _OPEN:
        """The class that must come, ``_OPEN`` where none must."""
        cdef int32_t byte_class, result = _OPEN
        cdef int32_t* row
        # The end of the text, or a token by its id, may come instead of the byte.
        if self._is_complete(front) or self._expects_tokens(front):
            return _OPEN
        row = self._row(front)
        for byte_class in range(<int32_t> self.explorer.width):
            if row[byte_class] != DEAD:
                if result != _OPEN or self.only_byte[byte_class] == _OPEN:
                    return _OPEN
                result = byte_class
        return result

    cdef inline bint _is_complete(self, Pair front) noexcept:
        return front.first == _STATE and self._completes(front.second)

    cdef inline bint _completes(self, int32_t state) noexcept:
        """Whether a text that leads to a state is over, or may end."""
        return self.explorer.completions[state] or state == self.complete_at_once

    cdef bint _expects_tokens(self, Pair front) except -1:
        """Whether a token terminal may come."""
        cdef ItemSets items = self.explorer.items
        cdef Span[Pair] sources
        cdef size_t i
        if front.first != _STATE:
            return items.expects_tokens(front.second)
        sources = self.explorer._sources(front.second)
        for i in range(sources.size()):
            if items.expects_tokens(sources[i].second):
                return True
        return False

    cdef int32_t* _row(self, Pair front) except NULL:
        """The successors of a front by class, DEAD where there is none."""
        if front.first != _STATE:
            return self.explorer.items.row(front.second)
        return self.explorer.live_row(front.second)

    cdef Pair _single(self, int32_t position) except *:
        """The one token that can come, ``_OPEN`` if there are several; the position after it."""
        if position >= <int32_t> self.singles.size():
            self.singles.resize(2 * position + 64, Pair(_UNCOMPUTED, DEAD))
        if self.singles[position].first == _UNCOMPUTED:
            self.singles[position] = self._find_single(position)
        return self.singles[position]

    cdef Pair _find_single(self, int32_t position) except *:
        cdef vector[int32_t] result
        cdef bint by_mask
        self.explorer.acquire()
        try:
            by_mask = self._expects_tokens(self._front(position))
            if not by_mask:
                self._find_tokens(position, result)
        finally:
            self.explorer.release()
        if by_mask:
            only = self.automaton.only_token(position)
            if only is not None:
                result.push_back(only)
        elif self.takes_eos and self._completes(position):
            result.insert(result.end(), self.texts.ends.begin(), self.texts.ends.end())
        if result.size() != 1:
            return Pair(_OPEN, DEAD)
        return Pair(result[0], self.automaton.step(position, result[0]))

    cdef int _find_tokens(self, int32_t state, vector[int32_t]& ids) except -1:
        """Find the tokens whose bytes may come, some two where there are more."""
        cdef int32_t* row = self._row(self._front(state))
        cdef vector[int32_t] nodes
        cdef int32_t value, node
        # Most often two tokens of one byte may come, which is seen at once.
        for value in range(256):
            node = self.texts.first_child[value]
            if node and row[self.explorer.classes[value]] != DEAD:
                nodes.push_back(node)
                self.texts.add_ids(node, ids)
                if ids.size() > 1:
                    return 0
        # The walks find tokens of one byte again.
        ids.clear()
        for node in nodes:
            self._walk(state, node, ids)
        return 0

    cdef int _walk(self, int32_t state, int32_t node, vector[int32_t]& ids) except -1:
        """Add tokens at a node of one byte and below it that may come, until there are two."""
        cdef LazyTable explorer = self.explorer
        cdef Texts texts = self.texts
        cdef int32_t after, end = texts.skip[node]
        cdef vector[int32_t] before = vector[int32_t](<size_t> texts.longest + 1, state)
        while node < end and ids.size() < 2:
            after = explorer.step(before[texts.depth[node] - 1], explorer.classes[texts.byte[node]])
            if after == DEAD:
                node = texts.skip[node]
                continue
            texts.add_ids(node, ids)
            if self.ends_at_bytes and explorer.completions[after]:
                node = texts.skip[node]
                continue
            before[texts.depth[node]] = after
            node += 1
        return 0

    cdef int32_t _append_written(
        self, int32_t position, list accepted, vector[int32_t]& forced
    ) except? UNKNOWN:
        """Append what the tokenizer certainly writes at a position; return the one after it."""
        cdef vector[int32_t] before, ids
        cdef string text
        self.texts.look_back(accepted, forced, before)
        if not self.written.recall(&position, before, ids):
            self.texts.add_context(text, accepted, forced, before.size())
            position = self._write(position, text, before, ids)
        forced.insert(forced.end(), ids.begin(), ids.end())
        return position

    cdef int32_t _write(
        self, int32_t position, string& text, vector[int32_t]& before, vector[int32_t]& result
    ) except? UNKNOWN:
        """Find what the tokenizer certainly writes; return the position after it."""
        cdef string data
        cdef vector[Pair] fronts
        self._follow(position, _MOST_BYTES, data, fronts)
        self._find_certain(text, before, data, fronts.back(), result)
        self.explorer.acquire()
        try:
            return self._keep(position, before, result, fronts)
        finally:
            self.explorer.release()

    cdef int _find_certain(
        self,
        string& text,
        vector[int32_t]& before,
        string& data,
        Pair after,
        vector[int32_t]& ids,
    ) except -1:
        """Find the tokens on which the encodings up to each possible last boundary agree."""
        cdef vector[size_t] ends, lengths
        cdef vector[int32_t] other
        cdef size_t end, index, taken = 0
        self._find_ends(data, after, ends)
        if ends[0] == 0:
            return 0
        # The longest text first: most shorter ones end where one of its tokens does, and need no
        # encoding of their own.
        self.texts.encode_after(text, before, data.substr(0, ends.back()), ids)
        for index in range(ids.size()):
            taken += self.texts.length(ids[index])
            lengths.push_back(taken)
        ends.pop_back()
        while not ends.empty():
            end = ends.back()
            ends.pop_back()
            index = lower_bound(lengths.begin(), lengths.end(), end) - lengths.begin()
            # The tokens up to a boundary are those of the text up to there.
            if index < lengths.size() and lengths[index] == end:
                ids.resize(min(ids.size(), index + 1))
            else:
                self.texts.encode_after(text, before, data.substr(0, end), other)
                ids.resize(_shared_start(ids, other))
        return 0

    cdef int _find_ends(self, string& data, Pair after, vector[size_t]& ends) except -1:
        """Find where the last token may end, if ``after`` is the front after ``data``; ascending.

        At its end, or where a token begins that goes on with a byte that may come.
        """
        cdef size_t count = data.size(), offset = count
        cdef int32_t node
        cdef int32_t* row
        ends.push_back(_whole_characters(data, count))
        if not (self.ends_at_tokens and self._is_complete(after)):
            self.explorer.acquire()
            try:
                row = self._row(after)
                # A token over a place has the two bytes there side by side: where no token has
                # them, none that begins earlier reaches the end.
                while offset and (offset == count or self.texts.goes_on(data, offset)):
                    offset -= 1
                    node = self.texts.find_from(data, offset)
                    if node and self._leads_on(node, row):
                        ends.push_back(_whole_characters(data, offset))
            finally:
                self.explorer.release()
        sort(ends.begin(), ends.end())
        ends.erase(unique(ends.begin(), ends.end()), ends.end())
        return 0

    cdef bint _leads_on(self, int32_t node, int32_t* row) noexcept:
        """Whether a token may come that is longer than its beginning at a node."""
        cdef Texts texts = self.texts
        cdef int32_t i
        for i in range(texts.child_start[node], texts.child_start[node + 1]):
            if row[self.explorer.classes[texts.byte[texts.child[i]]]] != DEAD:
                return True
        return False

    cdef int32_t _keep(
        self,
        int32_t position,
        vector[int32_t]& before,
        vector[int32_t]& ids,
        vector[Pair]& fronts,
    ) except? UNKNOWN:
        """Remember tokens here and from between them; return the position after them."""
        cdef vector[int32_t] positions = vector[int32_t](1, position)
        cdef size_t i, taken = 0
        for i in range(ids.size()):
            taken += self.texts.length(ids[i])
            positions.push_back(self._lift(fronts[taken - 1]))
        position = positions.back()
        if self.ends_at_tokens and self._completes(position):
            position = positions[ids.size()] = ~position
        # Where the forced bytes were looked at whole, none is certain after the last of these
        # tokens: the encodings part there.
        if not ids.empty() and fronts.size() == _MOST_BYTES:
            positions.pop_back()
        self.written.keep(positions, position, before, ids)
        return position


cdef size_t _shared_start(vector[int32_t]& one, vector[int32_t]& other) noexcept nogil:
    """How many values two lists have in common at their beginnings."""
    cdef size_t count = 0
    while count < one.size() and count < other.size() and one[count] == other[count]:
        count += 1
    return count
