# The walks that the mask of a state needs, and their union.
#
# **Layer.** Above ``walk.pxi``. A walk depends on an item set and a set of nodes, not on the stack,
# so that texts of any length need few of them; what completes resumes here, down the stack.
#
# The pairs of a state are walked each by its item set alone, and what they call is walked apart, as
# one item set over the stack node in which the callers wait: so the walk of a callee is the same
# for all callers, and its states are not multiplied by theirs. Where a nonterminal completes, its
# callers are a state that goes on below the nodes of the completion.
#
# **Terms.** A *frame* is a state and the set of trie nodes from which on bytes are its own: the
# root for the state whose mask it is. The walk of a union of nodes is the union of walks, so of a
# later frame of a state just those nodes are left that no earlier one has.

# Where a state goes on: the number of the first set of nodes, and those of all sets as bits, made
# for the second one.
ctypedef pair[int32_t, vector[uint32_t]] _Entered


@cython.final
cdef class MaskAssembler:
    """Follows walks and their completions down the stack, over a memo of the walks met so far.

    ``walk_count``: the walks made. The caller of ``walk`` and ``gather`` has the table's lock.
    """

    cdef LazyTable explorer
    cdef Counting counting
    cdef Walker walker
    cdef Pool node_sets
    cdef Pool rows
    cdef object states
    cdef double state_limit
    cdef double entry_limit
    cdef double byte_limit
    cdef size_t capacity
    # Whether rows are all that a mask is made of.
    cdef public bint is_plain
    cdef readonly Py_ssize_t walk_count
    cdef unordered_map[uint64_t, Walked] walks
    # Of the state in progress; numbers may come more than once.
    cdef vector[int32_t] row_numbers
    cdef vector[int32_t] completion_numbers
    # By state: the nodes below which it goes on.
    cdef unordered_map[int32_t, _Entered] entered
    # Those not yet done, with their states; and how often something resumed.
    cdef vector[Pair] work
    cdef size_t steps

    def __cinit__(self, masks):
        self.explorer = masks.states.explorer
        self.counting = masks.counting
        self.walker = masks.walker
        self.node_sets, self.rows = masks.results
        self.states = masks.states
        self.state_limit, self.entry_limit = masks.state_limit, masks.entry_limit
        self.byte_limit = masks.byte_limit
        self.capacity = masks.walk_capacity
        self.is_plain = not masks.terminals

    @property
    def bytes(self):
        """The memory that walks take, and what finds them."""
        cdef size_t result = memory_of(self.walks) + memory_of(self.work)
        result += memory_of(self.entered) + memory_of(self.row_numbers)
        result += memory_of(self.completion_numbers)
        return result + self.walker.memory() + self.counting.memory()

    def __len__(self):
        return self.walks.size()

    cpdef bint holds_more_than(self, double share) except -1:
        """Return whether more than a share of one of the limits is reached."""
        cdef LazyTable explorer = self.explorer
        cdef double entries = explorer.entry_count()
        return (
            explorer.state_count() > share * self.state_limit
            or entries > share * self.entry_limit
            and entries - <Py_ssize_t> self.states.given > share * self.entry_limit
            or self.node_sets.added_bytes + self.rows.added_bytes > share * self.byte_limit
        )

    def walk(self, int32_t item_set, int32_t nodes):
        """Return the walk of an item set below the nodes of a set."""
        self._make_room()
        cdef Walked* result = self._walk(self.counting.far_set(item_set), nodes)
        return result.first, tuple(result.second)

    def gather(self, int32_t state):
        """Return numbers of masks, and of node sets, both ascending.

        The union of the masks has the tokens that can come in ``state``; the node sets are those
        at which the start is complete.
        """
        self._gather(state)
        _make_distinct(self.completion_numbers)
        return tuple(self.row_numbers), tuple(self.completion_numbers)

    def rows_of(self, int32_t state):
        """Return the numbers of ``gather`` that are of masks."""
        cdef vector[int32_t] rows
        self.find_viable(state, rows)
        return tuple(rows)

    def prefix_free(self, int32_t state):
        """Return the rows of the tokens that do not go on after a complete text."""
        cdef vector[int32_t] rows
        self.find_prefix_free(state, rows)
        return tuple(rows)

    cdef int find_viable(self, int32_t state, vector[int32_t]& rows) except -1:
        self.explorer.acquire()
        try:
            self._gather(state)
            rows = self.row_numbers
        finally:
            self.explorer.release()
        return 0

    cdef int find_prefix_free(self, int32_t state, vector[int32_t]& rows) except -1:
        self.explorer.acquire()
        try:
            self._gather(state)
            if not self.completion_numbers.empty():
                self._cut_off()
            rows = self.row_numbers
        finally:
            self.explorer.release()
        return 0

    cdef int _cut_off(self) except -1:
        """Replace the rows by their union, without the tokens that go on after a complete text."""
        cdef vector[int32_t] content
        cdef int32_t row, nodes, node, behind
        for row in self.row_numbers:
            self.walker.add(self.rows.contents.at(row))
        for nodes in self.completion_numbers:
            behind = 0
            for node in _numbers_in(self.node_sets.contents.at(nodes), self.node_sets.width):
                if node >= behind:
                    behind = self.walker.drop_below(node)
        self.walker._take_words(content, self.rows.width)
        self.row_numbers.assign(1, self.rows.find(content))
        if not self.row_numbers[0]:
            self.row_numbers.clear()
        return 0

    cdef int _gather(self, int32_t state) except -1:
        self.row_numbers.clear()
        self.completion_numbers.clear()
        self.steps = 0
        # Between gatherings only: ``_walk`` hands out pointers into the memo.
        self._make_room()
        try:
            self._enter(state, 0)
            while not self.work.empty():
                self._follow()
        finally:
            self.entered.clear()
            self.work.clear()
        # Mask 0 is the empty one, which each pool begins with.
        _make_distinct(self.row_numbers)
        if not self.row_numbers.empty() and self.row_numbers[0] == 0:
            self.row_numbers.erase(self.row_numbers.begin())
        return 0

    cdef int _enter(self, int32_t state, int32_t nodes) except -1:
        """Note that a state goes on below some nodes."""
        # Far counts have the same tokens: with rows for them, states of different counts are one
        # frame.
        state = self.counting.far_pairs(state)
        # This also ends the work: recursion that reads nothing comes back to the same state at the
        # same nodes, and each state is at a node once.
        if not self.entered.count(state):
            self.entered[state].first = nodes
            self.work.push_back(Pair(state, nodes))
            return 0
        nodes = self._without_entered(nodes, &self.entered[state])
        if nodes != UNKNOWN:
            self.work.push_back(Pair(state, nodes))
        return 0

    cdef int32_t _without_entered(self, int32_t nodes, _Entered* entered) except -2:
        """The nodes of a set at which a state is new, and note them; UNKNOWN without any."""
        cdef int32_t width = self.node_sets.width
        cdef vector[int32_t] left
        if nodes == entered.first:
            return UNKNOWN
        if entered.second.empty():
            entered.second = _words_in(self.node_sets.contents.at(entered.first), width)
        _take_new(self.node_sets.contents.at(nodes), entered.second, left)
        return UNKNOWN if left.empty() else self.node_sets.find(left)

    cdef int _follow(self) except -1:
        """Walk from each pair of a state and, together, from what they call.

        What calls pieces is walked with them.
        """
        cdef Pair frame = self.work.back()
        cdef Span[Pair] pairs = self.explorer.configurations.all_pairs.at(frame.first)
        cdef vector[Pair] calling
        cdef vector[int32_t] no_exits
        cdef int32_t state = frame.first
        cdef size_t i
        self.work.pop_back()
        for i in range(pairs.size()):
            if self.explorer.items.repeats(pairs[i].second):
                self._walk_from(pairs[i], frame.second)
            else:
                calling.push_back(pairs[i])
        if calling.size() < pairs.size():
            state = self.explorer._number(calling, no_exits)
        pairs = self.explorer._sources(state)
        for i in range(pairs.size()):
            self._walk_from(pairs[i], frame.second)
        return 0

    cdef int _walk_from(self, Pair pair, int32_t nodes) except -1:
        """Add the tokens of a pair below some nodes, and the states after its completions."""
        cdef Walked* walked = self._walk(pair.second, nodes)
        cdef size_t i
        self.row_numbers.push_back(walked.first)
        for i in range(walked.second.size()):
            self._leave(Pair(pair.first, walked.second[i].first), walked.second[i].second)
        return 0

    cdef int _leave(self, Pair complete, int32_t nodes) except -1:
        """Resume what waits for a nonterminal, below the nodes at which it completes."""
        cdef int32_t state
        if complete.first == BOTTOM:
            self.completion_numbers.push_back(nodes)
            return 0
        self.steps += 1
        self.explorer.items.room.check(self.steps, complete.second)
        state = self.explorer.resumed(complete)
        if self.explorer.completions[state]:
            self.completion_numbers.push_back(nodes)
        self._enter(state, nodes)
        return 0

    cdef Walked* _walk(self, int32_t item_set, int32_t nodes) except NULL:
        cdef uint64_t key = _key(item_set, nodes)
        cdef Walked walked
        if not self.walks.count(key):
            self.walk_count += 1
            self.walker.find_from(item_set, nodes, self.node_sets, self.rows, walked)
            self.walks[key] = walked
        return &self.walks[key]

    cdef int _make_room(self) except -1:
        if self.walks.size() > self.capacity:
            self.walks.clear()
        return 0


cdef void _make_distinct(vector[int32_t]& numbers) noexcept nogil:
    """Sort numbers, each once."""
    sort(numbers.begin(), numbers.end())
    numbers.erase(unique(numbers.begin(), numbers.end()), numbers.end())


# The masks of states, as what they are written from where somebody asks for them.

cdef enum:
    # The number of the mask that allows nothing.
    _NOTHING_ALLOWED = 0


@cython.final
cdef class StateMasks:
    """What the mask of each state consists of, for one way to finish; found when it is asked for.

    No row is kept for it: to write its parts takes as long as to copy one, and touches no memory
    that nobody has touched before. Many states have the same parts, which are stored once: of a
    programming language, those at all depths and columns.
    """

    cdef object masks
    cdef object rule
    cdef MaskAssembler assembler
    cdef bint ends_at_bytes
    cdef bint takes_eos
    cdef Pool rows
    # By state: the number of its mask, UNKNOWN where nobody asked.
    cdef vector[int32_t] numbers
    # By number of a mask; and its number by those of the rows whose union it is.
    cdef deque[vector[Operand]] operands
    cdef ordered_map[vector[int32_t], int32_t] by_rows

    def __cinit__(self, masks, rule):
        self.masks, self.rule = masks, rule
        self.assembler = masks.assembler
        self.ends_at_bytes, self.takes_eos = rule.ends_at_bytes, rule.takes_eos(True)
        _, self.rows = masks.results
        # Without pieces: ``_NOTHING_ALLOWED``.
        self.operands.resize(1)

    @property
    def bytes(self):
        """The memory that is taken."""
        return memory_of(self.numbers) + memory_of(self.operands) + memory_of(self.by_rows)

    def knows(self, int64_t state):
        """Return whether the mask of a state has been computed."""
        return self.has_number(state)

    def find(self, int64_t state):
        """Find what the mask of a state consists of."""
        self.operands_of(state)

    cdef inline bint has_number(self, int64_t state) noexcept:
        return state < <int64_t> self.numbers.size() and self.numbers[state] != UNKNOWN

    cdef vector[Operand]* operands_of(self, int64_t state) except? NULL:
        """What the mask of a state is written from, NULL where nothing is allowed."""
        if not self.has_number(state):
            self._find(state)
        if self.numbers[state] == _NOTHING_ALLOWED:
            return NULL
        return &self.operands[self.numbers[state]]

    cdef int _find(self, int64_t state) except -1:
        cdef vector[int32_t] rows
        self._find_rows(state, rows)
        # Meanwhile another thread may have been quicker.
        if not self.has_number(state):
            if state >= <int64_t> self.numbers.size():
                self.numbers.resize(state + 1 + state // 2, UNKNOWN)
            self.numbers[state] = _NOTHING_ALLOWED if rows.empty() else self._number(rows)
        return 0

    cdef int32_t _number(self, vector[int32_t]& rows) except -1:
        cdef vector[int32_t] united
        cdef vector[Operand] operands
        if not self.by_rows.count(rows):
            united = rows
            self.rows.find_operands(united, operands)
            self.by_rows[rows] = <int32_t> self.operands.size()
            self.operands.push_back(operands)
        return self.by_rows[rows]

    cdef int _find_rows(self, int64_t state, vector[int32_t]& rows) except -1:
        """Find the masks whose union it is: what the rule returns, mostly without asking it."""
        if not self.assembler.is_plain or self.takes_eos and self.masks.is_complete(state):
            rows = self.rule.rows(self.masks, state)
        elif self.ends_at_bytes:
            self.assembler.find_prefix_free(state, rows)
        else:
            self.assembler.find_viable(state, rows)
        return 0
