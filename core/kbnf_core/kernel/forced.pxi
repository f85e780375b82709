# What must come from a state on; see ``interface.Forced``.

cdef enum:
    # By state, besides the class that must come: not known yet; none must.
    _NOT_KNOWN = -2
    _OPEN = -1


cdef class Forced:
    """Follows single transitions, and looks for tokens beside them."""

    cdef LazyTable explorer
    cdef const uint8_t[::1] byte
    cdef const int32_t[::1] skip
    cdef const uint16_t[::1] depth
    cdef const int32_t[::1] child_start
    cdef const int32_t[::1] child
    cdef const int32_t[::1] token_start
    cdef const int32_t[::1] token_ids
    cdef Py_ssize_t longest
    # By byte class: the byte that it is, ``_OPEN`` where it holds several.
    cdef vector[int32_t] only_byte
    # By state: the class that must come.
    cdef vector[int32_t] only_class

    def __cinit__(self, table, trie):
        self.explorer = table.explorer
        self.byte = trie.byte
        self.skip = trie.skip
        self.depth = trie.depth
        self.child_start = trie.child_start
        self.child = trie.child
        self.token_start = trie.token_start
        self.token_ids = trie.token_ids
        self.longest = trie.max_depth
        self._find_only_bytes()

    cdef int _find_only_bytes(self) except -1:
        cdef int32_t value, byte_class
        self.only_byte.resize(256, _NOT_KNOWN)
        for value in range(256):
            byte_class = self.explorer.classes[value]
            self.only_byte[byte_class] = (
                value if self.only_byte[byte_class] == _NOT_KNOWN else _OPEN
            )
        return 0

    def follow(self, int32_t state, size_t most):
        """See ``interface.Forced``."""
        cdef string data
        cdef vector[int32_t] states
        cdef int32_t byte_class
        self.explorer.refresh()
        while data.size() < most:
            byte_class = self._class_after(state)
            if byte_class == _OPEN:
                break
            state = self.explorer.step(state, byte_class)
            data.push_back(<char> self.only_byte[byte_class])
            states.push_back(state)
        return data, states

    def tokens(self, int32_t state, bint eager):
        """See ``interface.Forced``."""
        cdef LazyTable explorer = self.explorer
        cdef vector[int32_t] found, before
        cdef int32_t after, k, node = 1
        self._look_at(state)
        self._add_bytes(state, found)
        if found.size() > 1:
            return found
        found.clear()
        before.resize(self.longest + 1, state)
        while node < self.byte.shape[0] and found.size() < 2:
            after = explorer.step(before[self.depth[node] - 1], explorer.classes[self.byte[node]])
            if after == DEAD:
                node = self.skip[node]
                continue
            for k in range(self.token_start[node], self.token_start[node + 1]):
                found.push_back(self.token_ids[k])
            if eager and explorer.completions[after]:
                node = self.skip[node]
                continue
            before[self.depth[node]] = after
            node += 1
        return found

    def boundaries(self, const uint8_t[::1] data, int32_t after):
        """See ``interface.Forced``."""
        cdef vector[int32_t] places
        cdef Py_ssize_t place, i, count = data.shape[0]
        cdef int32_t node
        if after != DEAD:
            self._look_at(after)
            for place in range(max(0, count - self.longest), count):
                node = 0
                for i in range(place, count):
                    node = self._child(node, data[i])
                    if not node:
                        break
                if node and self._leads_on(node, after):
                    places.push_back(<int32_t> place)
        places.push_back(<int32_t> count)
        return places

    cdef inline int32_t _class_after(self, int32_t state) except? _OPEN:
        """The class that must come in a state, ``_OPEN`` where none must."""
        if state >= <int32_t> self.only_class.size():
            self.only_class.resize(2 * state + 64, _NOT_KNOWN)
        if self.only_class[state] == _NOT_KNOWN:
            self.only_class[state] = self._find_class(state)
        return self.only_class[state]

    cdef int32_t _find_class(self, int32_t state) except? _OPEN:
        cdef int32_t byte_class, found = _OPEN
        cdef int32_t* row
        if self.explorer.completions[state]:
            return _OPEN
        if not self._look_at(state):
            return _OPEN
        row = self.explorer.rows + state * self.explorer.width
        for byte_class in range(<int32_t> self.explorer.width):
            if row[byte_class] != DEAD:
                if found != _OPEN or self.only_byte[byte_class] == _OPEN:
                    return _OPEN
                found = byte_class
        return found

    cdef bint _look_at(self, int32_t state) except -1:
        """Mark the dead transitions of a state; tell whether bytes alone lead on from it."""
        cdef LazyTable explorer = self.explorer
        cdef vector[Pair]* sources
        cdef size_t i
        explorer.refresh()
        explorer.acquire()
        try:
            explorer._wake()
            sources = explorer._sources(state)
            for i in range(sources.size()):
                if explorer.items.expects_tokens(sources[0][i].second):
                    return False
        finally:
            explorer.release()
        return True

    cdef int _add_bytes(self, int32_t state, vector[int32_t]& found) except -1:
        """Add tokens of one byte until there are two; the state was looked at."""
        cdef int32_t* row = self.explorer.rows + state * self.explorer.width
        cdef int32_t i, k, node
        for i in range(self.child_start[0], self.child_start[1]):
            node = self.child[i]
            if row[self.explorer.classes[self.byte[node]]] != DEAD:
                for k in range(self.token_start[node], self.token_start[node + 1]):
                    found.push_back(self.token_ids[k])
                if found.size() > 1:
                    break
        return 0

    cdef int32_t _child(self, int32_t node, uint8_t value) noexcept:
        """The child of a node on a byte, 0 where there is none."""
        cdef int32_t low = self.child_start[node], high = self.child_start[node + 1], middle
        while low < high:
            middle = (low + high) // 2
            if self.byte[self.child[middle]] < value:
                low = middle + 1
            else:
                high = middle
        if low < self.child_start[node + 1] and self.byte[self.child[low]] == value:
            return self.child[low]
        return 0

    cdef bint _leads_on(self, int32_t node, int32_t state) noexcept:
        """Whether a longer token may come; the state was looked at."""
        cdef int32_t* row = self.explorer.rows + state * self.explorer.width
        cdef int32_t i
        for i in range(self.child_start[node], self.child_start[node + 1]):
            if row[self.explorer.classes[self.byte[self.child[i]]]] != DEAD:
                return True
        return False


forced = Forced
