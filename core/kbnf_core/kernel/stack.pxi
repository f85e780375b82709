# Stack nodes: hash-consed nodes of a graph-structured stack (Tomita 1986).
#
# A node says what resumes when a nonterminal completes. Predicting items gathers all that waits for
# them into one node, a set of triples (nonterminal, parent node, item set to resume). SELF stands
# for the node itself, for callers predicted at the same position. Nodes are named by content, not
# by position in the text: equal contents are one node, so equal configurations are one state
# wherever in a text they occur.

ctypedef pair[int32_t, Pair] Triple  # (nonterminal, (parent node, item set to resume))


cdef class StackNodes:
    """Interns stack nodes; memoises their waiting item sets and their narrowed forms.

    Nodes are named by number, that of the empty one is BOTTOM. Not locked: the table is.
    """

    cdef _Lists nodes
    cdef ItemSets items
    cdef unordered_map[int32_t, vector[Triple]] contents
    cdef unordered_map[uint64_t, vector[Pair]] waiting_lists
    cdef _Map narrowed

    def __cinit__(self, ItemSets items):
        cdef vector[int64_t] nothing
        self.nodes = _Lists()
        self.nodes.find(nothing)
        self.items = items
        self.narrowed = _Map()

    cdef size_t held(self) noexcept:
        cdef size_t lists = held(self.contents) + held(self.waiting_lists)
        return lists + self.nodes.held() + self.narrowed.held()

    def __len__(self):
        return self.nodes.contents.size()

    @property
    def size(self):
        """The number of triples in all nodes."""
        return self.nodes.size // 3

    def intern(self, edges):
        """Return the number of the node with these triples, interning it if new."""
        cdef vector[Triple] found
        cdef int32_t nonterminal, below, after
        for nonterminal, below, after in edges:
            found.push_back(Triple(nonterminal, Pair(below, after)))
        return self.find(found)

    def edges(self, size_t number):
        """Return the triples of a node, ascending."""
        values = iter(self.nodes.contents.at(number))
        return tuple(zip(values, values, values, strict=True))

    def waiting(self, size_t number, int32_t nonterminal):
        """Return the (stack node, item set) pairs to resume when a nonterminal completes."""
        self.nodes.contents.at(number)
        return self.waiters(Pair(<int32_t> number, nonterminal))[0]

    cdef int32_t find(self, vector[Triple]& edges) except -2:
        """The number of the node with this content, given in any order."""
        cdef vector[int64_t] content
        cdef size_t i
        sort(edges.begin(), edges.end())
        content.reserve(3 * edges.size())
        for i in range(edges.size()):
            content.push_back(edges[i].first)
            content.push_back(edges[i].second.first)
            content.push_back(edges[i].second.second)
        return self.nodes.find(content)

    cdef vector[Pair]* waiters(self, Pair complete) except NULL:
        """The (stack node, item set) pairs to resume when a nonterminal completes in a node."""
        cdef uint64_t key = _key(complete.first, complete.second)
        if not self.waiting_lists.count(key):
            self._find_waiting(complete, self.waiting_lists[key])
        return &self.waiting_lists[key]

    cdef int _find_waiting(self, Pair complete, vector[Pair]& found) except -1:
        cdef vector[Triple]* edges = self._triples(complete.first)
        cdef int32_t below
        cdef size_t i
        for i in range(edges.size()):
            if edges[0][i].first == complete.second:
                below = edges[0][i].second.first
                if below == SELF:
                    below = complete.first
                found.push_back(Pair(below, edges[0][i].second.second))
        return 0

    cdef int32_t narrow(self, int32_t stack_node, int32_t item_set) except -2:
        """The node restricted to what the reports of an item set can reach."""
        cdef uint64_t key
        cdef int32_t found
        if stack_node == BOTTOM:
            return BOTTOM
        key = _key(stack_node, item_set)
        found = self.narrowed.get(key)
        if found == UNKNOWN:
            found = self._find_narrow(stack_node, item_set)
            self.narrowed.put(key, found)
        return found

    cdef int32_t _find_narrow(self, int32_t stack_node, int32_t item_set) except -2:
        cdef vector[Triple]* edges = self._triples(stack_node)
        cdef vector[Triple] kept
        cdef ordered_set[int32_t] needed
        cdef size_t known = 0
        cdef size_t i
        _add_all(needed, self.items.reported(item_set))
        while known != needed.size():
            known = needed.size()
            for i in range(edges.size()):
                if edges[0][i].second.first == SELF and needed.count(edges[0][i].first):
                    _add_all(needed, self.items.reported(edges[0][i].second.second))
        for i in range(edges.size()):
            if needed.count(edges[0][i].first):
                kept.push_back(edges[0][i])
        return stack_node if kept.size() == edges.size() else self.find(kept)

    cdef vector[Triple]* _triples(self, int32_t stack_node) except NULL:
        cdef vector[Triple]* found
        cdef vector[int64_t]* content
        cdef size_t i
        if not self.contents.count(stack_node):
            found = &self.contents[stack_node]
            content = &self.nodes.contents[stack_node]
            for i in range(0, content.size(), 3):
                found.push_back(
                    Triple(content[0][i], Pair(content[0][i + 1], content[0][i + 2]))
                )
        return &self.contents[stack_node]


cdef void _add_all(ordered_set[int32_t]& numbers, vector[int32_t]* more) noexcept:
    cdef size_t i
    for i in range(more.size()):
        numbers.insert(more[0][i])


# Configurations of states, interned: sorted (stack node, item set) pairs, and sorted completions.

cdef class Configurations:
    """Contents by number and numbers by content; a deque, so that what is handed out stays put.

    ``size``: the number of pairs and completions of all states.
    Read with ``at``: a number that is none is an IndexError, whatever an artifact led to.
    """

    cdef deque[vector[Pair]] all_pairs
    cdef deque[vector[int32_t]] all_exits
    cdef _Index index
    cdef readonly size_t size

    def __cinit__(self):
        self.index = _Index()

    cdef size_t held(self) noexcept:
        return held(self.all_pairs) + held(self.all_exits) + self.index.held()

    def __len__(self):
        return self.all_pairs.size()

    def number(self, pairs, completions):
        """Return the number of a content, the next free one if it is new."""
        cdef vector[Pair] these = pairs
        cdef vector[int32_t] ends = completions
        return self.find(these, ends)

    def pairs(self, size_t number):
        """Return the (stack node, item set) pairs of a state."""
        return tuple(self.all_pairs.at(number))

    def completions(self, size_t number):
        """Return the nonterminals that completed into BOTTOM with the byte that led here."""
        return tuple(self.all_exits.at(number))

    cdef int32_t find(self, vector[Pair]& pairs, vector[int32_t]& completions) except -1:
        """The number of a content, interned if new."""
        cdef uint64_t hashed = _hash_bytes(
            pairs.size(), pairs.data(), pairs.size() * sizeof(Pair)
        )
        cdef size_t at
        cdef int32_t number
        hashed = _hash_bytes(hashed, completions.data(), completions.size() * sizeof(int32_t))
        at = hashed
        number = self.index.next(hashed, &at)
        while number != UNKNOWN:
            if self.all_pairs[number] == pairs and self.all_exits[number] == completions:
                return number
            number = self.index.next(hashed, &at)
        self.all_pairs.push_back(pairs)
        self.all_exits.push_back(completions)
        self.size += pairs.size() + completions.size()
        return self.index.add(hashed)
