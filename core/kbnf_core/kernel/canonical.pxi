# The tokens that a byte-pair tokenizer writes after one, as rows of bits.
#
# A sequence of tokens is what the tokenizer writes for its text where that holds of each two
# neighbours (Vieira et al., "Language Models over Canonical Byte-Pair Encodings", ICML 2025). Of
# two tokens it does not hold where a merge could have joined them earlier: of a part at the right
# edge of the first, which was there until the merge above it, and a part at the left edge of the
# second. Tokens whose left edge has a part are its subtree in the tree of left parts; in its order,
# with children by rank, those whose part lasts longer than some rank are an interval. So a row is a
# few hundred intervals, and one pass over the tokens.

cdef enum:
    # Of a group, by what the pretokenizer does: tokens of it are cut, or the token before is;
    # merges decide; a word ends between both tokens, where nothing is merged; it will end there if
    # something else than a blank follows, which is owed then.
    _CUT = 0
    _JOINED = 1
    _APART = 2
    _OWED = 3
    # Of a token: one blank; no character begins or ends in it, or it begins within one.
    _SINGLE_BLANK = 1
    _IN_CHARACTER = 2
    # Units of a token beyond which nobody asks how it is merged: that takes their square.
    _MOST_UNITS = 512
    # Of a token: no merge makes it; no text is written so.
    _LEAF = -1
    _UNWRITTEN = -2
    # The bytes of a character; tokens of the past that a row depends on, which are two but where
    # characters have several.
    _MOST_BYTES_READ = 4
    _LOOK_BACK = 7
    _MOST_TOKEN_BITS = 24
    # What an entry of a dictionary takes, about.
    _ENTRY_BYTES = 300


cdef class CanonicalRows:
    """The rows over one vocabulary; forgotten all together beyond ``most_bytes``.

    ``tokens``: ids, starts and blob of the tokens that are merged, those of single units among
    them. ``merges``: int32[4, n], left and right part, what they make, and the rank, ascending.
    ``characters``: whether units are characters, not bytes. ``fallback``: by token the byte that it
    is, -1 for others; such a token comes only where a character has no token. ``always``: words of
    bits, the tokens that always come, with the first bytes of such characters. ``shapes``: by
    token, what matters of it to what comes later, a number from 1 on; 0 for what separates texts.
    ``kinds``: by token, whether it is one blank, or part of a character. ``groups``: by token,
    those to which the pretokenizer does the same. ``verdicts(past, is_owed)`` tells, by group, what
    that is after the tokens of the past, and whether a word is still to end before the last of
    them; None where nothing is ever cut. ``bytes_after(begun)`` returns the words of bits with the
    tokens that go on with a character.
    """

    cdef vector[int32_t] left, right, made, rank
    cdef _Map merge_of
    # By token: the merge that makes it; the last token of what the tokenizer writes for it.
    cdef vector[int32_t] last, stands_for
    # By left part: its merges, ascending by rank.
    cdef vector[int32_t] merges_start, merges_of
    # The tree of left parts: children by rank, and the tokens in order, with the end of each
    # subtree.
    cdef vector[int32_t] children_start, children, order, place, end
    cdef readonly object always
    cdef object verdicts, bytes_after
    cdef const int32_t[::1] shapes, groups
    cdef const uint8_t[::1] kinds
    cdef const int16_t[::1] fallback
    # Rows by what was accepted; by token and verdicts; verdicts by shapes, and by themselves.
    cdef dict rows, different, judged, verdicts_seen
    cdef readonly size_t most_bytes, known_bytes
    cdef readonly Py_ssize_t size

    def __cinit__(
        self, tokens, const int32_t[:, ::1] merges, bint characters, fallback, always, shapes,
        kinds, groups, verdicts, bytes_after, size_t most_bytes,
    ):
        cdef Py_ssize_t count = merges.shape[1], i
        self.shapes, self.kinds, self.groups = shapes, kinds, groups
        self.fallback, self.always = fallback, always
        self.verdicts, self.bytes_after, self.most_bytes = verdicts, bytes_after, most_bytes
        self.size = self.shapes.shape[0]
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
        self.place.assign(self.size, UNKNOWN)
        self.end.assign(self.size, 0)
        for leaf in range(<int32_t> self.size):
            if self.last[leaf] != _LEAF:
                continue
            waiting.push_back(leaf)
            while not waiting.empty():
                token = waiting.back()
                if self.place[token] != UNKNOWN:
                    self.end[token] = <int32_t> self.order.size()
                    waiting.pop_back()
                    continue
                self.place[token] = <int32_t> self.order.size()
                self.order.push_back(token)
                first, end = self.children_start[token], self.children_start[token + 1]
                for i in range(end - 1, first - 1, -1):
                    waiting.push_back(self.children[i])
        return 0

    def writes(self, int32_t token):
        """Tell whether the tokenizer writes a token for its own text."""
        return 0 <= token < self.size and self.last[token] != _UNWRITTEN

    def row_after(self, list accepted, Py_ssize_t count):
        """Return the row of the tokens that may come after the first ones of what was accepted."""
        return self.row_behind(accepted, count)

    cdef cnp.ndarray row_behind(self, list accepted, Py_ssize_t count):
        """The row of the tokens that may come after the first ones of what was accepted."""
        cdef int32_t token = self._token(accepted, count - 1), before = UNKNOWN
        cdef uint32_t begun
        cdef PyObject* found
        if token != UNKNOWN and self.fallback[token] >= 0:
            begun = self._begun(accepted, count)
            if begun:
                key = <uint64_t> begun << 32
                found = PyDict_GetItemWithError(self.rows, key)
                if found is not NULL:
                    return <cnp.ndarray> found
                row = self.bytes_after(begun.to_bytes(4, "big").lstrip(b"\0")[1:])
                return self._remember(key, row, row.nbytes)
            token = UNKNOWN
        if self.verdicts is not None and token != UNKNOWN:
            before = self._token(accepted, count - 2)
        if (
            token != UNKNOWN and self.kinds[token]
            or before != UNKNOWN and self.kinds[before] == _IN_CHARACTER
        ):
            key = self._past(accepted, count)
        else:
            key = (
                <uint64_t> (self.shapes[before] if before != UNKNOWN else 0) << _MOST_TOKEN_BITS
                | <uint64_t> (token + 1)
            )
        found = PyDict_GetItemWithError(self.rows, key)
        return <cnp.ndarray> found if found is not NULL else self._find(key, token, accepted, count)

    cdef int32_t _token(self, list accepted, Py_ssize_t place) except? UNKNOWN:
        """What is at a place; UNKNOWN for what separates texts, and before the beginning."""
        if place < 0 or isinstance(accepted[place], bytes):
            return UNKNOWN
        cdef int64_t token = accepted[place]
        return <int32_t> token if token < self.size and self.shapes[token] else UNKNOWN

    cdef tuple _past(self, list accepted, Py_ssize_t count):
        """The tokens that matter: the last two, and more where they are parts of characters."""
        cdef int32_t token
        cdef int wanted = 2
        cdef Py_ssize_t place = count
        while place and wanted and count - place < _LOOK_BACK:
            token = self._token(accepted, place - 1)
            if token == UNKNOWN:
                break
            wanted -= self.kinds[token] != _IN_CHARACTER
            place -= 1
        return tuple(accepted[place:count])

    cdef uint32_t _begun(self, list accepted, Py_ssize_t count) except? 0:
        """The bytes of a character that is not complete, behind a 1; 0 where it is."""
        cdef uint32_t found = 0
        cdef int32_t token, value, read
        for read in range(1, _MOST_BYTES_READ):
            token = self._token(accepted, count - read)
            value = self.fallback[token] if token != UNKNOWN else -1
            if value < 0x80:
                return 0
            found |= <uint32_t> value << (8 * (read - 1))
            if value >= 0xC0:
                if read < (2 if value < 0xE0 else 3 if value < 0xF0 else 4):
                    return found | <uint32_t> 1 << (8 * read)
                return 0
        return 0

    cdef cnp.ndarray _find(self, key, int32_t token, list accepted, Py_ssize_t count):
        cdef bint is_owed = False
        verdicts = None
        if self.verdicts is not None:
            is_owed = token != UNKNOWN and self._is_owed(token, accepted, count)
            verdicts = self._judge(self._past(accepted, count) if token != UNKNOWN else (), is_owed)
        made = token, is_owed, id(verdicts)
        row = self.different.get(made)
        if row is not None:
            return self._remember(key, row, 0)
        row = self._make_row(token, verdicts, is_owed)
        self._remember(key, row, row.nbytes + _ENTRY_BYTES)
        self.different[made] = row
        return row

    cdef cnp.ndarray _remember(self, key, cnp.ndarray row, size_t new_bytes):
        self._count(new_bytes + _ENTRY_BYTES)
        self.rows[key] = row
        return row

    cdef int _count(self, size_t new_bytes) except -1:
        """Count bytes that are to be remembered; forget all where they would be too many."""
        if self.known_bytes + new_bytes > self.most_bytes:
            for each in (self.rows, self.different, self.judged, self.verdicts_seen):
                each.clear()
            self.known_bytes = 0
        self.known_bytes += new_bytes
        return 0

    cdef bint _is_owed(self, int32_t token, list accepted, Py_ssize_t count) except -1:
        """Whether a blank was written apart from the token before, and a word still goes on."""
        cdef int32_t before = self._token(accepted, count - 2)
        cdef const uint8_t[::1] by_group
        if self.kinds[token] != _SINGLE_BLANK or before == UNKNOWN:
            return False
        by_group = self._judge(self._past(accepted, count - 1), False)
        return by_group[self.groups[token]] == _OWED and self._merges_with(before, token)

    cdef object _judge(self, tuple past, bint is_owed):
        cdef list shapes = [is_owed]
        for each in past:
            shapes.append(self.shapes[each])
        key = tuple(shapes)
        found = self.judged.get(key)
        if found is None:
            found = self.verdicts(past, is_owed)
            own = found.tobytes()
            self._count(_ENTRY_BYTES + (0 if own in self.verdicts_seen else 2 * len(own)))
            found = self.judged[key] = self.verdicts_seen.setdefault(own, found)
        return found

    cdef cnp.ndarray _make_row(self, int32_t token, verdicts, bint is_owed):
        cdef vector[int32_t] depth = vector[int32_t](self.order.size() + 1, 0)
        # A text that ends here leaves what is owed.
        cdef cnp.ndarray row = self.always * 0 if is_owed else self.always.copy()
        cdef uint32_t* words = <uint32_t*> cnp.PyArray_DATA(row)
        cdef const uint8_t[::1] by_group
        cdef uint8_t verdict
        cdef int32_t merged = 0, each
        cdef size_t i
        if verdicts is not None:
            by_group = verdicts
        if token >= 0:
            self._mark(self.stands_for[token], depth)
        for i in range(self.order.size()):
            merged += depth[i]
            each = self.order[i]
            verdict = _JOINED if verdicts is None else by_group[self.groups[each]]
            if verdict >= _APART or verdict == _JOINED and not merged:
                words[each // 32] |= <uint32_t> 1 << (each % 32)
        row.setflags(write=False)
        return row

    cdef bint _merges_with(self, int32_t before, int32_t token) except -1:
        """Whether merges would join a token to the one before."""
        cdef vector[int32_t] depth = vector[int32_t](self.order.size() + 1, 0)
        cdef int32_t merged = 0, i
        self._mark(self.stands_for[before], depth)
        for i in range(self.place[token] + 1):
            merged += depth[i]
        return merged > 0

    cdef int _mark(self, int32_t part, vector[int32_t]& depth) except -1:
        """Mark where tokens begin and end, in order, that a merge would have joined to one."""
        cdef int64_t above = (<int64_t> 1) << 40
        cdef int32_t i, merge, other
        while True:
            for i in range(self.merges_start[part], self.merges_start[part + 1]):
                merge = self.merges_of[i]
                # Of equal ranks the one to the left comes first.
                if self.rank[merge] >= above:
                    break
                other = self.right[merge]
                if self.place[other] == UNKNOWN:
                    continue
                depth[self.place[other]] += 1
                depth[self.place[other] + 1] -= 1
                depth[self._first_lasting(other, self.rank[merge])] += 1
                depth[self.end[other]] -= 1
            merge = self.last[part]
            if merge < 0:
                return 0
            above = self.rank[merge]
            part = self.right[merge]

    cdef int32_t _first_lasting(self, int32_t part, int32_t rank) noexcept:
        """The place of the first token whose left part is not merged before a rank."""
        cdef int32_t low = self.children_start[part], high = self.children_start[part + 1], middle
        while low < high:
            middle = (low + high) // 2
            if self.rank[self.last[self.children[middle]]] < rank:
                low = middle + 1
            else:
                high = middle
        if low == self.children_start[part + 1]:
            return self.end[part]
        return self.place[self.children[low]]


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
    found = cnp.PyArray_EMPTY(2, shape, cnp.NPY_INT32, 0)
    cdef int32_t[:, ::1] rows = found
    for i in range(<Py_ssize_t> left.size()):
        rows[0, i], rows[1, i], rows[2, i] = left[i], right[i], made[i]
    return found
