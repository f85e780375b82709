# Canonical tokens: those that a byte-pair tokenizer writes after another one, as rows of bits.
#
# **Layer.** Above ``containers.pxi``: it knows the tokenizer, and nothing of grammars.
#
# A sequence of tokens is canonical, the one that the tokenizer writes for its text, where each two
# neighbours are (Vieira et al., "Language Models over Canonical Byte-Pair Encodings", ICML 2025).
# Two tokens are not where a merge could have joined them earlier: a part at the right edge of the
# first, which was there until the merge above it, and one at the left edge of the second. Tokens
# whose left edge has a part are its subtree in the tree of left parts; in its order, with children
# by rank, those whose part lasts longer than some rank are an interval. So a row is a few hundred
# intervals, and one pass over the tokens.

cdef enum:
    # Of a group (``mask/pretokens.py``): its tokens cannot come; they can where merges leave them
    # apart; they can, as a word may end between both tokens.
    _CUT = 0
    _JOINED = 1
    _APART = 2
    # Units of a token beyond which nobody asks how it is merged: that takes their square.
    _MOST_UNITS = 512
    # Of a token: no merge makes it; no text is written so.
    _LEAF = -1
    _UNWRITTEN = -2
    # The bytes of a character; tokens since which the state of the pretokenizer is looked for.
    _MOST_BYTES_READ = 4
    _LOOK_BACK = 32
    _MOST_TOKEN_BITS = 24
    # Steps and pairs that are remembered, 24 bytes each.
    _MOST_MEMOS = 1 << 18
    # What an entry of a dictionary takes, about.
    _ENTRY_BYTES = 300


@cython.final
cdef class CanonicalRows:
    """The rows over one vocabulary; forgotten all together beyond ``most_bytes``.

    ``tokens``: ids, starts and blob of the tokens that are merged, those of single units among
    them. ``merges``: int32[4, n], left and right part, what they make, and the rank, ascending.
    ``characters``: whether units are characters, not bytes. ``fallback``: by token the byte that it
    is, -1 for others; such a token comes only where a character has no token. ``always``: words of
    bits, the tokens that always come, with the first bytes of such characters. ``groups``: by
    token, those to which the pretokenizer does the same, a number from 1 on; 0 for what separates
    texts. ``pretokens``: a ``mask.pretokens.Pretokens``; None where nothing is ever cut.
    ``bytes_after(begun)`` returns the words of bits with the tokens that go on with a character.
    """

    cdef vector[int32_t] left, right, made, rank
    cdef _Map merge_of
    # By token: the merge that makes it; the last token of what the tokenizer writes for it.
    cdef vector[int32_t] last, stands_for
    # By left part: its merges, ascending by rank.
    cdef vector[int32_t] merges_start, merges_of
    # The tree of left parts: children by rank, and the tokens in order, with the end of each
    # subtree.
    cdef vector[int32_t] children_start, children, order, rank_of, end
    cdef readonly object always
    cdef readonly object pretokens
    cdef object bytes_after
    # States are numbered in the order in which any thread reaches them.
    cdef object lock
    cdef const int32_t[::1] groups
    cdef const int16_t[::1] fallback
    # Rows by token and state; by token and verdicts; verdicts by state, and by themselves.
    cdef dict rows, different, judged, verdicts_seen
    # States by state and group, and whether merges leave two tokens apart.
    cdef _Map steps, pairs
    cdef readonly size_t most_bytes, estimated_bytes
    cdef readonly Py_ssize_t size

    def __cinit__(
        self, tokens, const int32_t[:, ::1] merges, bint characters, fallback, always, groups,
        pretokens, bytes_after, size_t most_bytes,
    ):
        cdef Py_ssize_t count = merges.shape[1], i
        self.groups, self.fallback, self.always = groups, fallback, always
        self.pretokens, self.bytes_after, self.most_bytes = pretokens, bytes_after, most_bytes
        self.size = self.groups.shape[0]
        self.steps, self.pairs, self.lock = _Map(), _Map(), new_lock()
        self.rows, self.different, self.judged, self.verdicts_seen = {}, {}, {}, {}
        self.merge_of = _Map()
        for i in range(count):
            self.left.push_back(merges[0, i])
            self.right.push_back(merges[1, i])
            self.made.push_back(merges[2, i])
            self.rank.push_back(merges[3, i])
            if self.merge_of.get(_key(merges[0, i], merges[1, i])) == UNKNOWN:
                self.merge_of.put(_key(merges[0, i], merges[1, i]), <int32_t> i)
        self._merge_tokens(tokens[0], tokens[1], tokens[2], characters)
        self._list_merges()
        self._order_tokens()

    cdef int _merge_tokens(
        self, const int32_t[::1] ids, const int32_t[::1] starts, const uint8_t[::1] blob,
        bint characters,
    ) except -1:
        """Find how each token is made, by merging its units as a text."""
        cdef unordered_map[string, int32_t] units
        cdef vector[int32_t] symbols
        cdef string unit
        cdef int32_t token, begin, end, merge
        cdef Py_ssize_t i
        self.last.assign(self.size, _UNWRITTEN)
        for i in range(self.size):
            self.stands_for.push_back(<int32_t> i)
        for i in range(ids.shape[0]):
            begin, end = starts[i], starts[i + 1]
            if end > begin and _unit_end(blob, begin, end, characters) == end:
                unit.assign(<const char*> &blob[begin], end - begin)
                units[unit] = ids[i]
        for i in range(ids.shape[0]):
            token, begin = ids[i], starts[i]
            symbols.clear()
            while begin < starts[i + 1] and symbols.size() <= _MOST_UNITS:
                end = _unit_end(blob, begin, starts[i + 1], characters)
                unit.assign(<const char*> &blob[begin], end - begin)
                if not units.count(unit):
                    break
                symbols.push_back(units[unit])
                begin = end
            # Merges make no token of which a unit is missing; one of very many units is treated so.
            if begin < starts[i + 1] or symbols.empty():
                continue
            merge = self._merge(symbols)
            self.stands_for[token] = symbols.back()
            if symbols.size() == 1 and symbols[0] == token:
                self.last[token] = merge
        return 0

    cdef int32_t _merge(self, vector[int32_t]& symbols) except? -1:
        """Merge symbols as the tokenizer does, lowest rank first; return the last merge."""
        cdef int32_t merge, best, last = _LEAF
        cdef size_t i, at = 0
        while True:
            best = UNKNOWN
            for i in range(1, symbols.size()):
                merge = self.merge_of.get(_key(symbols[i - 1], symbols[i]))
                if merge != UNKNOWN and (best == UNKNOWN or self.rank[merge] < self.rank[best]):
                    best, at = merge, i
            if best == UNKNOWN:
                return last
            symbols[at - 1] = self.made[best]
            symbols.erase(symbols.begin() + at)
            last = best

    cdef int _list_merges(self) except -1:
        """List merges by their left parts, and tokens by the left parts of their merges."""
        cdef size_t i
        cdef int32_t token
        cdef vector[int32_t] next_merge, next_child
        self.merges_start.assign(self.size + 1, 0)
        self.children_start.assign(self.size + 1, 0)
        for i in range(self.left.size()):
            self.merges_start[self.left[i] + 1] += 1
            self.children_start[self.left[i] + 1] += self.last[self.made[i]] == <int32_t> i
        for token in range(<int32_t> self.size):
            self.merges_start[token + 1] += self.merges_start[token]
            self.children_start[token + 1] += self.children_start[token]
        next_merge, next_child = self.merges_start, self.children_start
        self.merges_of.resize(self.left.size())
        self.children.resize(self.children_start.back())
        for i in range(self.left.size()):
            self.merges_of[next_merge[self.left[i]]] = <int32_t> i
            next_merge[self.left[i]] += 1
            if self.last[self.made[i]] == <int32_t> i:
                self.children[next_child[self.left[i]]] = self.made[i]
                next_child[self.left[i]] += 1
        return 0

    cdef int _order_tokens(self) except -1:
        """Put the tokens that are written into the order of the tree of left parts."""
        cdef vector[int32_t] waiting
        cdef int32_t leaf, token, i, first, end
        self.rank_of.assign(self.size, UNKNOWN)
        self.end.assign(self.size, 0)
        for leaf in range(<int32_t> self.size):
            if self.last[leaf] != _LEAF:
                continue
            waiting.push_back(leaf)
            while not waiting.empty():
                token = waiting.back()
                if self.rank_of[token] != UNKNOWN:
                    self.end[token] = <int32_t> self.order.size()
                    waiting.pop_back()
                    continue
                self.rank_of[token] = <int32_t> self.order.size()
                self.order.push_back(token)
                first, end = self.children_start[token], self.children_start[token + 1]
                for i in range(end - 1, first - 1, -1):
                    waiting.push_back(self.children[i])
        return 0

    def row_after(self, list accepted, Py_ssize_t count):
        """Return the row of the tokens that may come after the first ``count`` accepted ones."""
        return self.row_behind(accepted, count)

    cdef cnp.ndarray row_behind(self, list accepted, Py_ssize_t count):
        """The row of the tokens that may come after the first ``count`` accepted ones."""
        with self.lock:
            return self._row_behind(accepted, count)

    cdef cnp.ndarray _row_behind(self, list accepted, Py_ssize_t count):
        cdef int32_t token = self._token(accepted, count - 1), state = 0
        cdef uint32_t begun
        cdef PyObject* result
        if token != UNKNOWN and self.fallback[token] >= 0:
            begun = self._begun(accepted, count)
            if begun:
                key = <uint64_t> begun << 32
                result = PyDict_GetItemWithError(self.rows, key)
                if result is not NULL:
                    return <cnp.ndarray> result
                row = self.bytes_after(begun.to_bytes(4, "big").lstrip(b"\0")[1:])
                return self._remember(key, row, row.nbytes)
            token = UNKNOWN
        if token != UNKNOWN:
            state = self._state_at(accepted, count)
        key = <uint64_t> state << _MOST_TOKEN_BITS | <uint64_t> (token + 1)
        result = PyDict_GetItemWithError(self.rows, key)
        return <cnp.ndarray> result if result is not NULL else self._find(key, token, state)

    cdef int32_t _state_at(self, list accepted, Py_ssize_t count) except UNKNOWN:
        """The state of the pretokenizer after the first ``count`` accepted tokens."""
        cdef Py_ssize_t index = count
        cdef int32_t before = UNKNOWN, token, state = 0
        if self.pretokens is None:
            return 0
        if self.pretokens.is_full:
            # Entries here are keyed by its states, whose numbers are given anew.
            self.pretokens.forget()
            self._forget()
        while count - index < _LOOK_BACK and self._token(accepted, index - 1) != UNKNOWN:
            index -= 1
        while index < count:
            token = self._token(accepted, index)
            state = self._step(state, before, token)
            before = token
            index += 1
        return state

    cdef int32_t _step(self, int32_t state, int32_t before, int32_t token) except UNKNOWN:
        """The state after a token that follows another one."""
        cdef bint is_joined = before == UNKNOWN or self._stay_apart(before, token)
        cdef uint64_t key = <uint64_t> state << 25 | <uint64_t> is_joined << 24
        cdef int32_t result
        # The state, whether merges leave the tokens apart, and the group of the token: all that a
        # pretokenizer sees of it.
        key |= <uint64_t> self.groups[token]
        result = self.steps.get(key)
        if result == UNKNOWN:
            result = self.pretokens.after(state, self.groups[token], is_joined)
            if self.steps.count > _MOST_MEMOS:
                self.steps = _Map()
            self.steps.put(key, result)
        return result

    def goes_on(self, list accepted, int32_t token, const int32_t[::1] following):
        """Return whether one of the tokens that may follow a token is canonical after it.

        ``accepted`` came before. Those that end the text, or separate it, are among them.
        """
        with self.lock:
            return self._goes_on(accepted, token, following)

    cdef bint _goes_on(
        self, list accepted, int32_t token, const int32_t[::1] following
    ) except -1:
        cdef const uint32_t* always = <const uint32_t*> cnp.PyArray_DATA(<cnp.ndarray> self.always)
        cdef int32_t state = 0, next_token
        cdef const uint8_t[::1] by_group
        if not 0 <= token < self.size or self.groups[token] == 0 or self.fallback[token] >= 0:
            return True
        if self.pretokens is not None:
            state = self._step(
                self._state_at(accepted, len(accepted)),
                self._token(accepted, len(accepted) - 1),
                token,
            )
        by_group = self._judge(state)
        for next_token in following:
            if next_token >= self.size or self.groups[next_token] == 0:
                if self.pretokens is None or self.pretokens.may_end(state):
                    return True
            elif self.fallback[next_token] >= 0:
                # One that begins a character without a token.
                if always[next_token // 32] >> (next_token % 32) & 1:
                    return True
            elif by_group[self.groups[next_token]] == _APART:
                return True
            elif by_group[self.groups[next_token]] == _JOINED and self._stay_apart(
                token, next_token
            ):
                return True
        return False

    cdef int32_t _token(self, list accepted, Py_ssize_t index) except? UNKNOWN:
        """The token at an index; UNKNOWN for a separator of texts, and before the beginning."""
        if index < 0 or isinstance(accepted[index], bytes):
            return UNKNOWN
        cdef int64_t token = accepted[index]
        return <int32_t> token if token < self.size and self.groups[token] else UNKNOWN

    cdef uint32_t _begun(self, list accepted, Py_ssize_t count) except? 0:
        """The bytes of an incomplete character, after a leading 1; 0 where it is complete."""
        cdef uint32_t result = 0
        cdef int32_t token, value, read
        for read in range(1, _MOST_BYTES_READ):
            token = self._token(accepted, count - read)
            value = self.fallback[token] if token != UNKNOWN else -1
            if value < 0x80:
                return 0
            result |= <uint32_t> value << (8 * (read - 1))
            if value >= 0xC0:
                if read < (2 if value < 0xE0 else 3 if value < 0xF0 else 4):
                    return result | <uint32_t> 1 << (8 * read)
                return 0
        return 0

    cdef cnp.ndarray _find(self, key, int32_t token, int32_t state):
        cdef bint may_end = self.pretokens is None or self.pretokens.may_end(state)
        verdicts = self._judge(state)
        # Equal verdicts are one object (``verdicts_seen``), which lives as long as these entries.
        made = token, may_end, id(verdicts)
        row = self.different.get(made)
        if row is not None:
            return self._remember(key, row, 0)
        row = self._make_row(token, verdicts, may_end)
        self._remember(key, row, row.nbytes + _ENTRY_BYTES)
        self.different[made] = row
        return row

    cdef cnp.ndarray _remember(self, key, cnp.ndarray row, size_t new_bytes):
        self._count(new_bytes + _ENTRY_BYTES)
        self.rows[key] = row
        return row

    cdef int _count(self, size_t new_bytes) except -1:
        """Count bytes that are to be remembered; forget all where they would be too many."""
        if self.estimated_bytes + new_bytes > self.most_bytes:
            self._forget()
        self.estimated_bytes += new_bytes
        return 0

    cdef int _forget(self) except -1:
        """Forget all rows, and what leads to them."""
        for cache in (self.rows, self.different, self.judged, self.verdicts_seen):
            cache.clear()
        self.steps, self.pairs = _Map(), _Map()
        self.estimated_bytes = 0
        return 0

    cdef object _judge(self, int32_t state):
        """The verdicts of groups in a state."""
        result = self.judged.get(state)
        if result is None:
            if self.pretokens is None:
                result = bytes((_CUT, _JOINED))
            else:
                result = self.pretokens.verdicts(state).tobytes()
            self._count(_ENTRY_BYTES + (0 if result in self.verdicts_seen else len(result)))
            result = self.judged[state] = self.verdicts_seen.setdefault(result, result)
        return result

    cdef cnp.ndarray _make_row(self, int32_t token, const uint8_t[::1] by_group, bint may_end):
        cdef vector[int32_t] depth = vector[int32_t](self.order.size() + 1, 0)
        cdef cnp.ndarray row = self.always.copy() if may_end else self.always * 0
        cdef uint32_t* words = <uint32_t*> cnp.PyArray_DATA(row)
        cdef uint8_t verdict
        cdef int32_t merged = 0, candidate
        cdef size_t i
        if token >= 0:
            self._mark(self.stands_for[token], depth)
        # Intervals are marked by their ends; the sum up to a token is the number that it is in.
        for i in range(self.order.size()):
            merged += depth[i]
            candidate = self.order[i]
            verdict = by_group[self.groups[candidate]]
            if verdict == _APART or verdict == _JOINED and not merged:
                words[candidate // 32] |= <uint32_t> 1 << (candidate % 32)
        row.setflags(write=False)
        return row

    cdef bint _stay_apart(self, int32_t before, int32_t token) except -1:
        """Whether merges leave two tokens apart that are neighbours in a word; see ``_mark``."""
        cdef uint64_t key = <uint64_t> before << _MOST_TOKEN_BITS | <uint64_t> token
        cdef int32_t result = self.pairs.get(key)
        if result == UNKNOWN:
            result = not self._merges_with(self.stands_for[before], self.rank_of[token])
            if self.pairs.count > _MOST_MEMOS:
                self.pairs = _Map()
            self.pairs.put(key, result)
        return result

    cdef bint _merges_with(self, int32_t left, int32_t rank_of) noexcept:
        """Whether a merge would have joined a part to the token at a place in order."""
        # Above all ranks: no merge ends the whole token.
        cdef int64_t above = (<int64_t> 1) << 40
        cdef int32_t i, merge, other
        if rank_of == UNKNOWN:
            return True
        while True:
            for i in range(self.merges_start[left], self.merges_start[left + 1]):
                merge = self.merges_of[i]
                if self.rank[merge] >= above:
                    break
                other = self.right[merge]
                if self.rank_of[other] == rank_of or (
                    self.rank_of[other] != UNKNOWN
                    and self._first_lasting(other, self.rank[merge]) <= rank_of < self.end[other]
                ):
                    return True
            merge = self.last[left]
            if merge < 0:
                return False
            above = self.rank[merge]
            left = self.right[merge]

    # A merge joins a part at the right edge of the first token to one at the left edge of the
    # second, where both are there when it comes: the tokens whose left part is that, and those
    # below it whose own merge comes later.

    cdef int _mark(self, int32_t left, vector[int32_t]& depth) except -1:
        """Mark where tokens begin and end, in order, that a merge would have joined to one."""
        cdef int64_t above = (<int64_t> 1) << 40
        cdef int32_t i, merge, other
        while True:
            for i in range(self.merges_start[left], self.merges_start[left + 1]):
                merge = self.merges_of[i]
                # Of equal ranks the one to the left comes first.
                if self.rank[merge] >= above:
                    break
                other = self.right[merge]
                if self.rank_of[other] == UNKNOWN:
                    continue
                depth[self.rank_of[other]] += 1
                depth[self.rank_of[other] + 1] -= 1
                depth[self._first_lasting(other, self.rank[merge])] += 1
                depth[self.end[other]] -= 1
            merge = self.last[left]
            if merge < 0:
                return 0
            above = self.rank[merge]
            left = self.right[merge]

    cdef int32_t _first_lasting(self, int32_t left, int32_t rank) noexcept:
        """The place of the first token whose left part is not merged before a rank."""
        cdef int32_t low = self.children_start[left], high = self.children_start[left + 1], middle
        while low < high:
            middle = (low + high) // 2
            if self.rank[self.last[self.children[middle]]] < rank:
                low = middle + 1
            else:
                high = middle
        if low == self.children_start[left + 1]:
            return self.end[left]
        return self.rank_of[self.children[low]]


cdef inline int32_t _unit_end(
    const uint8_t[::1] blob, int32_t begin, int32_t end, bint characters
) noexcept:
    """Where the first unit, a byte or a character, of some bytes ends."""
    begin += 1
    while characters and begin < end and blob[begin] >> 6 == 0b10:
        begin += 1
    return begin


def splits_of(
    const int32_t[::1] ids, const int32_t[::1] starts, const uint8_t[::1] blob, bint characters
):
    """Return int32[3, n]: two tokens and the one that has their bytes, for all there are."""
    cdef unordered_map[string, int32_t] tokens
    cdef vector[int32_t] left, right, made
    cdef string whole, one, other
    cdef Py_ssize_t i, k
    for i in range(ids.shape[0]):
        if starts[i] < starts[i + 1]:
            whole.assign(<const char*> &blob[starts[i]], starts[i + 1] - starts[i])
            tokens[whole] = ids[i]
    for i in range(ids.shape[0]):
        if starts[i + 1] - starts[i] > _MOST_UNITS:
            continue
        for k in range(starts[i] + 1, starts[i + 1]):
            if characters and blob[k] >> 6 == 0b10:
                continue
            one.assign(<const char*> &blob[starts[i]], k - starts[i])
            if not tokens.count(one):
                continue
            other.assign(<const char*> &blob[k], starts[i + 1] - k)
            if tokens.count(other):
                left.push_back(tokens[one])
                right.push_back(tokens[other])
                made.push_back(ids[i])
    cdef cnp.npy_intp[2] shape
    shape[0], shape[1] = 3, <cnp.npy_intp> left.size()
    result = cnp.PyArray_EMPTY(2, shape, cnp.NPY_INT32, 0)
    cdef int32_t[:, ::1] rows = result
    for i in range(<Py_ssize_t> left.size()):
        rows[0, i], rows[1, i], rows[2, i] = left[i], right[i], made[i]
    return result
