# The walk over trie and transition table; see ``interface.Walker``.

ctypedef pair[int32_t, vector[Pair]] Walked  # number of a mask, (nonterminal, node set) completions

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
    # The bits of the first 0, 1, 2, .. runs of tokens; none for the whole trie.
    cdef const uint32_t[:, ::1] fronts
    cdef int32_t front_count
    cdef int32_t run
    # By length: the bits of the tokens of at most so many characters.
    cdef tuple short
    # By character: the bits of the tokens that have it.
    cdef const uint32_t[:, ::1] having
    # The root's children, and their bytes side by side: most of them are dead at once.
    cdef const int32_t[::1] first
    cdef const uint8_t[::1] first_byte

    def __cinit__(self, trie, nodes, fronts=None, int32_t run=1):
        self.byte = trie.byte
        self.skip = trie.skip
        self.depth = trie.depth
        self.token_start = trie.token_start
        self.token_ids = trie.token_ids
        self.nodes = nodes
        if fronts is not None:
            self.fronts = fronts
            self.front_count = <int32_t> self.fronts.shape[0]
        self.run = run
        self.first = trie.children(0)
        self.first_byte = trie.byte[trie.children(0)]

    cdef int read_with(self, Inclusion inclusion, each) except -1:
        """Admit a subtree as a block where inclusion holds."""
        self.inclusion = inclusion
        self.reading = each.reading
        self.height = each.height
        self.words = each.words
        self.short = each.short
        self.having = each.having
        return 0


cdef class Walker:
    """Walks the slices of one vocabulary through one table, whose arrays it looks up once."""

    cdef LazyTable explorer
    cdef _Part whole
    cdef list parts
    # At each depth of the path to the current node: see ``LazyTable.place``.
    cdef vector[int32_t] places
    cdef vector[uint32_t] left_out
    # The bits found so far, the nonzero words among them, and whether that is all.
    cdef vector[uint32_t] words
    cdef vector[int32_t] touched
    cdef bint all_touched
    # Tokens found in the current part, as ranges in the order of its trie.
    cdef vector[Pair] ranges
    cdef ordered_map[int32_t, vector[int32_t]] completions
    cdef readonly long long visited
    # Those set one by one.
    cdef readonly long long bits_set

    def __cinit__(self, table, trie, slices):
        cdef _Part part
        self.explorer = table.explorer
        self.places.resize(trie.max_depth + 1)
        if trie.token_ids.shape[0]:
            self.words.resize(trie.token_ids.max() // 32 + 1)
        self.whole = _Part(trie, None)
        self.parts = []
        for each in slices:
            part = _Part(each.part.trie, each.part.nodes, each.fronts, each.run)
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

    def find(self, int32_t item_set, int32_t roots, Pool node_sets, Pool rows):
        """See ``interface.Walker``."""
        cdef Walked found
        self.find_from(item_set, roots, node_sets, rows, found)
        return found.first, tuple(found.second)

    cdef int find_from(
        self, int32_t item_set, int32_t roots, Pool node_sets, Pool rows, Walked& found
    ) except -1:
        cdef vector[int32_t]* nodes
        cdef vector[int32_t] content
        node_sets._wake()
        nodes = &node_sets.contents.at(roots)
        self._walk(~item_set, nodes.data(), nodes.size())
        self._take_words(content, rows.width)
        found.first = rows.find(content)
        for each in self.completions:
            found.second.push_back(Pair(each.first, node_sets.find(each.second)))
        return 0

    cdef int _walk(self, int32_t start, const int32_t* roots, size_t count) except -1:
        """Walk from a state, or ``~item_set``."""
        cdef LazyTable explorer = self.explorer
        cdef _Part part
        cdef size_t i
        cdef bint several = count > 1
        self.completions.clear()
        explorer.acquire()
        try:
            explorer._wake()
            explorer.refresh()
            self.places[0] = explorer.place(start) if start >= 0 else explorer.place_above(~start)
            for i in range(count):
                if roots[i] and self.whole.skip[roots[i]] == roots[i] + 1:
                    continue
                if roots[i]:
                    self.places[self.whole.depth[roots[i]]] = self.places[0]
                    self._walk_range(self.whole, roots[i] + 1, self.whole.skip[roots[i]], 0)
                    self._take_ranges(self.whole)
                    continue
                several = several or len(self.parts) > 1
                for part in self.parts:
                    self._walk_part(part)
        except BaseException:
            self._clear()
            raise
        finally:
            explorer.release()
        if several:
            for each in self.completions:
                _make_ascending(self.completions[each.first], self.whole.byte.shape[0])
        return 0

    cdef int _walk_part(self, _Part part) except -1:
        cdef int32_t within = 0
        cdef Reach reach
        if part.inclusion is not None and part.token_ids.shape[0]:
            reach = part.inclusion.reach(self.places[0], part.byte.shape[0])
            if reach.length >= part.height[0]:
                self._admit(part, part.words, reach)
                return 0
            within = min(reach.length, <int32_t> len(part.short) - 1)
            if within:
                self._admit(part, part.short[within], reach)
            if reach.is_exact and within == reach.length:
                return 0
        self._walk_children(part, within)
        self._take_ranges(part)
        return 0

    cdef int _walk_children(self, _Part part, int32_t within) except -1:
        cdef LazyTable explorer = self.explorer
        cdef int32_t start = self.places[0]
        cdef int32_t* row = explorer.items.row(~start) if start < 0 else NULL
        cdef uint8_t byte_class
        cdef Py_ssize_t i
        self.visited += part.first.shape[0]
        for i in range(part.first.shape[0]):
            byte_class = explorer.classes[part.first_byte[i]]
            if row != NULL:
                if row[byte_class] == EMPTY:
                    continue
            elif explorer.step(start, byte_class) == DEAD:
                continue
            self._walk_range(part, part.first[i], part.skip[part.first[i]], within)
        return 0

    cdef int _admit(self, _Part part, const uint32_t[::1] words, Reach& reach) except -1:
        """Add tokens of a slice, without those that have certain characters."""
        cdef size_t i, count = self.words.size()
        cdef const uint32_t* row
        cdef int32_t number
        self.all_touched = True
        if not _is_any(reach.without):
            for i in range(count):
                self.words[i] |= words[i]
            return 0
        self.left_out.assign(count, 0)
        for number in range(<int32_t> part.having.shape[0]):
            if _has_character(reach.without, number):
                row = &part.having[number, 0]
                for i in range(count):
                    self.left_out[i] |= row[i]
        for i in range(count):
            self.words[i] |= words[i] & ~self.left_out[i]
        return 0

    cdef int _walk_range(self, _Part part, int32_t node, int32_t end, int32_t within) except -1:
        """Walk the subtrees of siblings: down to ``node + 1`` while alive, else past it.

        Tokens of at most ``within`` bytes are found already: where all are such, nothing is walked.
        What the loop reads is in local variables: it is where all the time goes.
        """
        cdef LazyTable explorer = self.explorer
        cdef _Items items = explorer.items
        # Behind a long way that is proved, little is left.
        cdef Inclusion inclusion = part.inclusion if within < _LONGEST else None
        cdef const uint8_t* classes = explorer.classes
        cdef const uint8_t* byte = &part.byte[0]
        cdef const int32_t* skip = &part.skip[0]
        cdef const uint16_t* depth = &part.depth[0]
        cdef const int32_t* token_start = &part.token_start[0]
        cdef int32_t* places = self.places.data()
        cdef int32_t after
        cdef uint8_t kind
        cdef long long visited = 0
        while node < end:
            if within and depth[node] + part.height[node] <= within:
                node = skip[node]
                continue
            visited += 1
            after = places[depth[node] - 1]
            if after < 0:
                after = items.move(~after, classes[byte[node]])
                if after == EMPTY:
                    node = skip[node]
                    continue
                kind = items.kind(after)
                if kind == _LIFTS:
                    after = self._arrive(part, node, explorer.lift(after))
                else:
                    if kind == _COMPLETES:
                        self._complete(part, node, items.completed(after))
                    after = ~after
            else:
                after = explorer.step(after, classes[byte[node]])
                if after != DEAD:
                    after = self._arrive(part, node, after)
            if after == DEAD:
                node = skip[node]
                continue
            places[depth[node]] = after
            if inclusion is not None and token_start[skip[node]] - token_start[node] > _LEAST_BELOW:
                if inclusion.covers(
                    after, part.reading[node], part.height[node], skip[node] - node
                ):
                    self._take(token_start[node], token_start[skip[node]])
                    node = skip[node]
                    continue
            if token_start[node] < token_start[node + 1]:
                self._take(token_start[node], token_start[node + 1])
            node += 1
        self.visited += visited
        return 0

    cdef inline int32_t _arrive(self, _Part part, int32_t node, int32_t state) except? 0:
        """The place of a state at a node, once its completions are noted."""
        if self.explorer.completions[state]:
            self._complete(part, node, &self.explorer.configurations.all_exits.at(state))
        return self.explorer.place(state)

    cdef inline void _take(self, int32_t first, int32_t end) noexcept:
        """Add a range of tokens; ranges come in order."""
        if not self.ranges.empty() and self.ranges.back().second == first:
            self.ranges.back().second = end
        else:
            self.ranges.push_back(Pair(first, end))

    cdef void _take_ranges(self, _Part part) noexcept:
        """Set the bits of the tokens found."""
        cdef int32_t first, end, i
        cdef size_t each
        for each in range(self.ranges.size()):
            first, end = self.ranges[each].first, self.ranges[each].second
            i = first // part.run + 1
            if i < end // part.run < part.front_count:
                self._set_between(&part.fronts[i, 0], &part.fronts[end // part.run, 0])
                self._set(part, first, i * part.run)
                first = end // part.run * part.run
            self._set(part, first, end)
        self.ranges.clear()

    cdef void _set_between(self, const uint32_t* before, const uint32_t* front) noexcept:
        """Set the bits of one front that another does not have."""
        cdef uint32_t* words = self.words.data()
        cdef size_t i, count = self.words.size()
        for i in range(count):
            words[i] |= front[i] & ~before[i]
        self.all_touched = True

    cdef void _set(self, _Part part, int32_t first, int32_t end) noexcept:
        cdef int32_t k, token, place
        self.bits_set += end - first
        for k in range(first, end):
            token = part.token_ids[k]
            place = token >> 5
            if self.words[place] == 0:
                self.touched.push_back(place)
            self.words[place] |= <uint32_t> 1 << (token & 31)

    cdef int _complete(self, _Part part, int32_t node, vector[int32_t]* names) except -1:
        """Note that nonterminals complete into BOTTOM at a node, if some token goes on there."""
        cdef size_t i
        if part.nodes is not None:
            node = part.nodes[node]
        if self.whole.skip[node] == node + 1:
            return 0
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


cdef int _make_ascending(vector[int32_t]& nodes, int32_t count) except -1:
    """Sort a set of nodes below ``count``; if it is large, by marking them."""
    cdef vector[uint8_t] marks
    cdef int32_t node
    if nodes.size() > <size_t> count // 16:
        marks.resize(count)
        for node in nodes:
            marks[node] = 1
        nodes.clear()
        for node in range(count):
            if marks[node]:
                nodes.push_back(node)
        return 0
    sort(nodes.begin(), nodes.end())
    nodes.erase(unique(nodes.begin(), nodes.end()), nodes.end())
    return 0
