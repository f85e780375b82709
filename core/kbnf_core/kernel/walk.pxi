# The walk over trie and transition table; see ``interface.Walker``.

cdef class Walker:
    """Walks one trie through one table, whose arrays it looks up once."""

    cdef LazyTable explorer
    cdef const uint8_t[::1] byte
    cdef const int32_t[::1] skip
    cdef const uint16_t[::1] depth
    cdef const int32_t[::1] token_start
    cdef const int32_t[::1] token_ids
    # The state at each depth of the path to the current node.
    cdef vector[int32_t] states
    # The root's children, and their bytes side by side: most of them are dead at once.
    cdef const int32_t[::1] first
    cdef const uint8_t[::1] first_byte

    def __cinit__(self, table, trie):
        self.explorer = table.explorer
        self.byte = trie.byte
        self.skip = trie.skip
        self.depth = trie.depth
        self.token_start = trie.token_start
        self.token_ids = trie.token_ids
        self.states.resize(trie.max_depth + 1)
        self.first = trie.children(0)
        self.first_byte = trie.byte[trie.children(0)]

    def walk(self, int32_t start, const int32_t[::1] roots, uint32_t[::1] words):
        """See ``interface.Walker``."""
        cdef ordered_map[int32_t, vector[int32_t]] completions
        cdef Py_ssize_t i
        self.explorer.refresh()
        memset(&words[0], 0, words.shape[0] * sizeof(uint32_t))
        for i in range(roots.shape[0]):
            if roots[i] == 0:
                self._walk_all(start, &words[0], completions)
            else:
                self._walk_range(roots[i] + 1, self.skip[roots[i]], start, &words[0], completions)
        return [(each.first, _ascending(each.second, roots.shape[0] > 1)) for each in completions]

    cdef int _walk_all(
        self, int32_t start, uint32_t* words, ordered_map[int32_t, vector[int32_t]]& completions
    ) except -1:
        cdef LazyTable explorer = self.explorer
        cdef Py_ssize_t i
        for i in range(self.first.shape[0]):
            if explorer.step(start, explorer.classes[self.first_byte[i]]) != DEAD:
                self._walk_range(
                    self.first[i], self.skip[self.first[i]], start, words, completions
                )
        return 0

    cdef int _walk_range(
        self,
        int32_t node,
        int32_t end,
        int32_t start,
        uint32_t* words,
        ordered_map[int32_t, vector[int32_t]]& completions,
    ) except -1:
        """Walk the subtrees of siblings: down to ``node + 1`` while alive, else past it.

        What the loop reads is in local variables: it is where all the time goes.
        """
        cdef LazyTable explorer = self.explorer
        cdef const int32_t* rows = explorer.rows
        cdef const uint8_t* has_exits = explorer.completions
        cdef const uint8_t* classes = explorer.classes
        cdef Py_ssize_t width = explorer.width
        cdef const uint8_t* byte = &self.byte[0]
        cdef const int32_t* skip = &self.skip[0]
        cdef const uint16_t* depth = &self.depth[0]
        cdef const int32_t* token_start = &self.token_start[0]
        cdef int32_t* states = self.states.data()
        cdef int32_t before, after, token, k
        if node == end:
            return 0
        states[depth[node] - 1] = start
        while node < end:
            before = states[depth[node] - 1]
            after = rows[before * width + classes[byte[node]]]
            if after == UNKNOWN:
                after = explorer.step(before, classes[byte[node]])
                rows, has_exits = explorer.rows, explorer.completions
            if after == DEAD:
                node = skip[node]
                continue
            states[depth[node]] = after
            for k in range(token_start[node], token_start[node + 1]):
                token = self.token_ids[k]
                words[token >> 5] |= <uint32_t> 1 << (token & 31)
            if has_exits[after]:
                self._leave(node, after, completions)
            node += 1
        return 0

    cdef int _leave(
        self, int32_t node, int32_t state, ordered_map[int32_t, vector[int32_t]]& completions
    ) except -1:
        cdef vector[int32_t]* names
        cdef size_t i
        self.explorer._wake()
        names = &self.explorer.configurations.all_exits.at(state)
        for i in range(names.size()):
            completions[names[0][i]].push_back(node)
        return 0


walker = Walker


cdef _ascending(vector[int32_t]& nodes, bint several_roots):
    """The distinct nodes in order, as an array; from one root they come that way."""
    if several_roots:
        sort(nodes.begin(), nodes.end())
        nodes.erase(unique(nodes.begin(), nodes.end()), nodes.end())
    cdef cnp.npy_intp length = nodes.size()
    cdef cnp.ndarray array = cnp.PyArray_EMPTY(1, &length, cnp.NPY_INT32, 0)
    memcpy(cnp.PyArray_DATA(array), nodes.data(), length * sizeof(int32_t))
    return array
