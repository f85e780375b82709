# The ends of tokens: to which states the tokens of a vocabulary lead, for the nearest end of a text.
#
# Masks ask which tokens can come, and need not know where they lead to; so their walks leave out
# what is proved to be allowed. These look at every node that is alive.

cdef enum:
    # More than tokens have bytes.
    _NO_COST = 0x7000


NO_COST = _NO_COST


cdef class EndWalker:
    """Walks one vocabulary from item sets above BOTTOM, or from states of a table."""

    cdef LazyTable explorer
    cdef _Part trie
    cdef bint eager
    cdef vector[int32_t] places
    # The places at which tokens end, in the order in which they are met, and their numbers in it.
    cdef vector[int32_t] ends
    cdef _Map numbers
    cdef ordered_map[int32_t, vector[int32_t]] completions
    # By token, in the order of the trie: the number of its place, -1 where it cannot come.
    cdef int32_t[::1] of_token
    cdef readonly long long visited

    def __cinit__(self, table, Parts parts, bint eager):
        self.explorer = table.explorer
        self.trie = parts.whole
        self.eager = eager
        self.places.resize(parts.depth + 1)

    def from_item_set(self, int32_t item_set, const int32_t[::1] roots):
        """Follow the tokens below the nodes ``roots`` from an item set above BOTTOM.

        Returns the places at which they end, states and ``~item_set`` of what is above BOTTOM; and
        where nonterminals complete into BOTTOM within a token, [(nonterminal, trie nodes)].
        """
        cdef Py_ssize_t i
        self.explorer.acquire()
        try:
            self.explorer._wake()
            self._begin(self.explorer.place_above(item_set))
            for i in range(roots.shape[0]):
                self._walk(roots[i], False)
        finally:
            self.explorer.release()
        if roots.shape[0] > 1:
            for each in self.completions:
                _make_ascending(self.completions[each.first], self.trie.byte.shape[0])
        found = [(each.first, _as_array(each.second)) for each in self.completions]
        return list(self.ends), found

    def from_state(self, int32_t state, int32_t[::1] of_token):
        """Follow all tokens from a state; return the states in which they end.

        ``of_token``: int32[tokens], in the order of the trie; it gets the number of the state for
        each token, -1 where it cannot come. Nothing follows what is complete, where that ends a
        text at once.
        """
        self.of_token = of_token
        if of_token.shape[0]:
            memset(&of_token[0], 0xFF, of_token.shape[0] * sizeof(int32_t))
        self.explorer.acquire()
        try:
            self.explorer._wake()
            self._begin(state)
            self._walk(0, True)
        finally:
            self.explorer.release()
            self.of_token = None
        return list(self.ends)

    def place(self, int32_t place):
        """Return what a place at which tokens end has: pairs above BOTTOM, and completions."""
        cdef int32_t live
        if place >= 0:
            return self.explorer.configurations.pairs(place), (
                self.explorer.configurations.completions(place)
            )
        live = self.explorer.items.live(~place)
        pairs = ((BOTTOM, live),) if live != EMPTY else ()
        return pairs, tuple(self.explorer.items.completed(~place)[0])

    def own_place(self, int32_t item_set):
        """Return the state of an item set above BOTTOM."""
        self.explorer.acquire()
        try:
            self.explorer._wake()
            return self.explorer._begin(item_set)
        finally:
            self.explorer.release()

    cdef int _begin(self, int32_t place) except -1:
        self.places[0] = place
        self.ends.clear()
        self.numbers = _Map()
        self.completions.clear()
        return 0

    cdef int _walk(self, int32_t root, bint whole) except -1:
        """Walk below a node; ``whole``: ends are states, of which tokens get the numbers."""
        cdef LazyTable explorer = self.explorer
        cdef ItemSets items = explorer.items
        cdef _Part trie = self.trie
        cdef int32_t node = root + 1, end = trie.skip[root]
        cdef int32_t after, place, number = 0, last = DEAD
        cdef bint completes
        self.places[trie.depth[root]] = self.places[0]
        while node < end:
            self.visited += 1
            after = self.places[trie.depth[node] - 1]
            if after < 0:
                after = items.move(~after, explorer.classes[trie.byte[node]])
                if after == EMPTY:
                    node = trie.skip[node]
                    continue
                after = explorer.lift(after) if items.kind(after) == _LIFTS else ~after
            else:
                after = explorer.step_alone(after, explorer.classes[trie.byte[node]])
            if after == DEAD:
                node = trie.skip[node]
                continue
            completes = (
                explorer.completions[after] if after > 0 else items.kind(~after) == _COMPLETES
            )
            place = explorer.place(after) if after > 0 else after
            self.places[trie.depth[node]] = place
            if trie.token_start[node] < trie.token_start[node + 1]:
                if whole and after < 0:
                    after = explorer.lift(~after)
                if after != last:
                    last, number = after, self._number(after)
                if whole:
                    for place in range(trie.token_start[node], trie.token_start[node + 1]):
                        self.of_token[place] = number
            if completes:
                if whole:
                    if self.eager:
                        node = trie.skip[node]
                        continue
                elif trie.skip[node] > node + 1:
                    self._complete(after, node)
            node += 1
        return 0

    cdef int32_t _number(self, int32_t end) except -1:
        cdef uint64_t key = <uint32_t> end
        cdef int32_t number = self.numbers.get(key)
        if number == UNKNOWN:
            number = self.ends.size()
            self.ends.push_back(end)
            self.numbers.put(key, number)
        return number

    cdef int _complete(self, int32_t place, int32_t node) except -1:
        """Note where nonterminals complete into BOTTOM within a token."""
        cdef vector[int32_t]* names
        cdef size_t i
        if place < 0:
            names = self.explorer.items.completed(~place)
        else:
            names = &self.explorer.configurations.all_exits.at(place)
        for i in range(names.size()):
            self.completions[names[0][i]].push_back(node)
        return 0


def rest_costs(Parts parts):
    """Return for each trie node how many tokens the rest of a token below it may take, int16[nodes].

    That is the most, over the tokens below, of the fewest tokens that spell what they have behind
    the node; ``NO_COST`` where something cannot be spelt. 0 for the root, and where no token goes on.
    """
    cdef _Part trie = parts.whole
    cdef cnp.npy_intp count = trie.byte.shape[0]
    cdef cnp.ndarray found = cnp.PyArray_ZEROS(1, &count, cnp.NPY_INT16, 0)
    cdef int16_t* costs = <int16_t*> cnp.PyArray_DATA(found)
    # The nodes from the root to the current one; and by depth the fewest tokens to its end.
    cdef vector[int32_t] path = vector[int32_t](parts.depth + 1, 0)
    cdef vector[int16_t] fewest = vector[int16_t](parts.depth + 1, 0)
    cdef int32_t node, length, start, end, reached
    for node in range(1, count):
        length = trie.depth[node]
        path[length] = node
        if trie.token_start[node] == trie.token_start[node + 1]:
            continue
        fewest[length] = 0
        for start in range(length - 1, 0, -1):
            fewest[start] = _NO_COST
            reached = 0
            for end in range(start + 1, length + 1):
                reached = _child(trie, reached, trie.byte[path[end]])
                if reached == 0:
                    break
                if trie.token_start[reached] < trie.token_start[reached + 1]:
                    fewest[start] = min(fewest[start], <int16_t> (fewest[end] + 1))
            fewest[start] = min(fewest[start], <int16_t> _NO_COST)
            costs[path[start]] = max(costs[path[start]], fewest[start])
    return found


cdef inline int32_t _child(_Part trie, int32_t node, uint8_t byte) noexcept:
    """The child of a node on a byte, 0 if there is none."""
    cdef int32_t first = trie.child_start[node], end = trie.child_start[node + 1], middle
    while first < end:
        middle = (first + end) // 2
        if trie.child_byte[middle] < byte:
            first = middle + 1
        else:
            end = middle
    if first < trie.child_start[node + 1] and trie.child_byte[first] == byte:
        return trie.child[first]
    return 0


def chosen_bits(
    const int32_t[::1] of_token,
    const int32_t[::1] token_ids,
    const uint8_t[::1] chosen,
    uint32_t[::1] words,
):
    """Set the bits of the tokens whose place, by its number, is chosen."""
    cdef Py_ssize_t i
    for i in range(of_token.shape[0]):
        if of_token[i] >= 0 and chosen[of_token[i]]:
            words[token_ids[i] >> 5] |= <uint32_t> 1 << (token_ids[i] & 31)
