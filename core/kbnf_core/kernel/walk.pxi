# The walk over trie and transition table; see ``interface.Walker``.

cdef enum:
    # The least number of tokens below a node for which an inclusion check pays.
    _LEAST_BELOW = 8


cdef class _Part:
    """A slice of the vocabulary, with its inclusion check."""

    cdef Inclusion inclusion
    cdef const uint8_t[::1] byte
    cdef const int32_t[::1] skip
    cdef const uint16_t[::1] depth
    cdef const int32_t[::1] token_start
    cdef const int32_t[::1] token_ids
    # By node: its number in the whole trie, the state of the machine, the height of its subtree.
    cdef const int32_t[::1] nodes
    cdef const uint8_t[::1] reading
    cdef const uint16_t[::1] height
    cdef const uint32_t[::1] words
    # The root's children, and their bytes side by side: most of them are dead at once.
    cdef const int32_t[::1] first
    cdef const uint8_t[::1] first_byte

    def __cinit__(self, trie, nodes):
        self.byte = trie.byte
        self.skip = trie.skip
        self.depth = trie.depth
        self.token_start = trie.token_start
        self.token_ids = trie.token_ids
        self.nodes = nodes
        self.first = trie.children(0)
        self.first_byte = trie.byte[trie.children(0)]

    cdef int read_with(self, Inclusion inclusion, each) except -1:
        """Admit a subtree as a block where inclusion holds."""
        self.inclusion = inclusion
        self.reading = each.reading
        self.height = each.height
        self.words = each.words
        return 0


cdef class Walker:
    """Walks the slices of one vocabulary through one table, whose arrays it looks up once."""

    cdef LazyTable explorer
    cdef _Part whole
    cdef list parts
    # The state at each depth of the path to the current node.
    cdef vector[int32_t] states
    # The bits found so far, the nonzero words among them, and whether that is all.
    cdef vector[uint32_t] words
    cdef vector[int32_t] touched
    cdef bint all_touched
    # Tokens found in the current part, as ranges in the order of its trie.
    cdef vector[Pair] ranges
    cdef ordered_map[int32_t, vector[int32_t]] completions
    cdef readonly long long visited

    def __cinit__(self, table, trie, slices):
        cdef _Part part
        self.explorer = table.explorer
        self.states.resize(trie.max_depth + 1)
        if trie.token_ids.shape[0]:
            self.words.resize(trie.token_ids.max() // 32 + 1)
        self.whole = _Part(trie, None)
        self.parts = []
        for each in slices:
            part = _Part(each.part.trie, each.part.nodes)
            if each.machine is not None:
                part.read_with(Inclusion(table, each.machine), each)
            self.parts.append(part)

    def walk(self, int32_t start, const int32_t[::1] roots, uint32_t[::1] words):
        """See ``interface.Walker``."""
        cdef size_t i
        self._walk(start, &roots[0] if roots.shape[0] else NULL, roots.shape[0])
        memset(&words[0], 0, words.shape[0] * sizeof(uint32_t))
        for i in range(self.words.size()):
            words[i] = self.words[i]
        self._clear()
        return [(each.first, _as_array(each.second)) for each in self.completions]

    def find(self, int32_t start, int32_t roots, Pool node_sets, Pool rows):
        """See ``interface.Walker``."""
        cdef vector[int32_t]* nodes
        cdef vector[int32_t] content
        cdef int32_t row
        node_sets._wake()
        nodes = &node_sets.contents.at(roots)
        self._walk(start, nodes.data(), nodes.size())
        self._take_words(content, rows.width)
        row = rows.find(content)
        return row, tuple([(each.first, node_sets.find(each.second)) for each in self.completions])

    cdef int _walk(self, int32_t start, const int32_t* roots, size_t count) except -1:
        cdef _Part part
        cdef size_t i
        cdef bint several = count > 1
        self.explorer.refresh()
        self.completions.clear()
        try:
            for i in range(count):
                if roots[i]:
                    self._walk_range(
                        self.whole, roots[i] + 1, self.whole.skip[roots[i]], start
                    )
                    self._take_ranges(self.whole)
                    continue
                several = several or len(self.parts) > 1
                for part in self.parts:
                    self._walk_part(part, start)
        except BaseException:
            self._clear()
            raise
        if several:
            for each in self.completions:
                _make_ascending(self.completions[each.first])
        return 0

    cdef int _walk_part(self, _Part part, int32_t start) except -1:
        cdef LazyTable explorer = self.explorer
        cdef size_t i
        if part.inclusion is not None and part.token_ids.shape[0]:
            if part.inclusion.covers_all(start, part.height[0], part.byte.shape[0]):
                for i in range(self.words.size()):
                    self.words[i] |= part.words[i]
                self.all_touched = True
                return 0
        self.visited += part.first.shape[0]
        for i in range(<size_t> part.first.shape[0]):
            if explorer.step(start, explorer.classes[part.first_byte[i]]) != DEAD:
                self._walk_range(part, part.first[i], part.skip[part.first[i]], start)
        self._take_ranges(part)
        return 0

    cdef int _walk_range(self, _Part part, int32_t node, int32_t end, int32_t start) except -1:
        """Walk the subtrees of siblings: down to ``node + 1`` while alive, else past it.

        What the loop reads is in local variables: it is where all the time goes.
        """
        cdef LazyTable explorer = self.explorer
        cdef Inclusion inclusion = part.inclusion
        cdef const int32_t* rows = explorer.rows
        cdef const uint8_t* has_exits = explorer.completions
        cdef const uint8_t* classes = explorer.classes
        cdef Py_ssize_t width = explorer.width
        cdef const uint8_t* byte = &part.byte[0]
        cdef const int32_t* skip = &part.skip[0]
        cdef const uint16_t* depth = &part.depth[0]
        cdef const int32_t* token_start = &part.token_start[0]
        cdef int32_t* states = self.states.data()
        cdef int32_t before, after
        cdef long long visited = 0
        if node == end:
            return 0
        states[depth[node] - 1] = start
        while node < end:
            visited += 1
            before = states[depth[node] - 1]
            after = rows[before * width + classes[byte[node]]]
            if after == UNKNOWN:
                after = explorer.step(before, classes[byte[node]])
                rows, has_exits = explorer.rows, explorer.completions
            if after == DEAD:
                node = skip[node]
                continue
            states[depth[node]] = after
            if has_exits[after]:
                self._leave(part, node, after)
            if inclusion is not None and token_start[skip[node]] - token_start[node] > _LEAST_BELOW:
                if inclusion.covers(
                    after, part.reading[node], part.height[node], skip[node] - node
                ):
                    self._take(token_start[node], token_start[skip[node]])
                    rows, has_exits = explorer.rows, explorer.completions
                    node = skip[node]
                    continue
                rows, has_exits = explorer.rows, explorer.completions
            if token_start[node] < token_start[node + 1]:
                self._take(token_start[node], token_start[node + 1])
            node += 1
        self.visited += visited
        return 0

    cdef inline void _take(self, int32_t first, int32_t end) noexcept:
        """Add a range of tokens; ranges come in order."""
        if not self.ranges.empty() and self.ranges.back().second == first:
            self.ranges.back().second = end
        else:
            self.ranges.push_back(Pair(first, end))

    cdef void _take_ranges(self, _Part part) noexcept:
        """Set the bits of the tokens found, or set all and clear the others."""
        cdef int32_t count = part.token_ids.shape[0], found = 0, behind = 0
        cdef size_t i
        for i in range(self.ranges.size()):
            found += self.ranges[i].second - self.ranges[i].first
        if part.inclusion is None or 2 * found < count:
            for i in range(self.ranges.size()):
                self._set(part, self.ranges[i].first, self.ranges[i].second)
        else:
            for i in range(self.words.size()):
                self.words[i] |= part.words[i]
            self.all_touched = True
            for i in range(self.ranges.size()):
                self._unset(part, behind, self.ranges[i].first)
                behind = self.ranges[i].second
            self._unset(part, behind, count)
        self.ranges.clear()

    cdef void _unset(self, _Part part, int32_t first, int32_t end) noexcept:
        """No other part has these tokens, so they were not there before."""
        cdef int32_t k, token
        for k in range(first, end):
            token = part.token_ids[k]
            self.words[token >> 5] &= ~(<uint32_t> 1 << (token & 31))

    cdef void _set(self, _Part part, int32_t first, int32_t end) noexcept:
        cdef int32_t k, token, place
        for k in range(first, end):
            token = part.token_ids[k]
            place = token >> 5
            if self.words[place] == 0:
                self.touched.push_back(place)
            self.words[place] |= <uint32_t> 1 << (token & 31)

    cdef int _leave(self, _Part part, int32_t node, int32_t state) except -1:
        cdef vector[int32_t]* names
        cdef size_t i
        self.explorer._wake()
        names = &self.explorer.configurations.all_exits.at(state)
        if part.nodes is not None:
            node = part.nodes[node]
        for i in range(names.size()):
            self.completions[names[0][i]].push_back(node)
        return 0

    cdef int _take_words(self, vector[int32_t]& content, int32_t width) except -1:
        """Write these bits in the form ``Pool`` interns, and reset."""
        cdef size_t i
        if not self.all_touched and 2 * <int32_t> self.touched.size() < width:
            sort(self.touched.begin(), self.touched.end())
            for i in range(self.touched.size()):
                content.push_back(self.touched[i])
                content.push_back(<int32_t> self.words[self.touched[i]])
        else:
            self.touched.clear()
            for i in range(self.words.size()):
                if self.words[i]:
                    self.touched.push_back(<int32_t> i)
            if 2 * <int32_t> self.touched.size() < width:
                self.all_touched = False
                return self._take_words(content, width)
            content.resize(width)
            memcpy(content.data(), self.words.data(), self.words.size() * sizeof(uint32_t))
            self.all_touched = True
        self._clear()
        return 0

    cdef void _clear(self) noexcept:
        cdef size_t i
        if self.all_touched and self.words.size():
            memset(self.words.data(), 0, self.words.size() * sizeof(uint32_t))
        else:
            for i in range(self.touched.size()):
                self.words[self.touched[i]] = 0
        self.touched.clear()
        self.ranges.clear()
        self.all_touched = False


walker = Walker


cdef void _make_ascending(vector[int32_t]& nodes) noexcept:
    sort(nodes.begin(), nodes.end())
    nodes.erase(unique(nodes.begin(), nodes.end()), nodes.end())
