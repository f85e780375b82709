# Counts beside states: a count far from its bounds is a number beside a state that does not count.
#
# **Layer.** Above ``lazy_table.pxi``; walks and engines use its positions.
#
# An item that is counted (see ``items.pxi``) is *far* where no token gets to a bound: it has the
# same future, for as long as one token lasts, as the row that it is in. So
#
# - a walk over the vocabulary begins at far items as at their rows, wherever in a state they are;
# - an engine is at a *position*: the number of a state, and above its 32 bits a count. Where just
#   one item of a state is counted, waiting ones apart, and is far, the state has its row instead,
#   and the count is in the position. After a token it is one more for each repetition that began;
#   where the bound comes near, the state with the item itself is looked up.
#
# Rows with calls or token terminals that lead back into their loop are left as they are: then their
# repetitions go on elsewhere than in a row, and the states of a list of values are few.

cdef enum:
    # What of a state is counted: nothing; one item, by a number in it or by one beside it; more.
    _UNCOUNTED = 1
    _COUNTED = 2
    _FAR = 3
    _MANY = 4
    _COUNT_SHIFT = 32
    # Instead of a row, or of a number, where there is more than one row.
    _MANY_ROWS = -3


# The first position of those that wait for the grammar's beginning; see ``mask/boundary.py``.
cdef int64_t _WAITS = <int64_t> 1 << 62


cdef inline int64_t _state_at(int64_t position) noexcept:
    """The position without the counts beside its state; the mask is the same."""
    return <int32_t> position if 0 <= position < _WAITS else position


cdef inline long long _position_of(int32_t state, int32_t count) noexcept nogil:
    return (<long long> count << _COUNT_SHIFT) | state


@cython.final
cdef class Counting:
    """The far states of one table, for tokens of at most ``longest`` bytes."""

    cdef LazyTable explorer
    cdef ItemSets items
    cdef int32_t longest
    cdef readonly bint is_needed
    # By loop: whether its rows lead back into it by bytes alone.
    cdef vector[uint8_t] is_plain
    # By item set: the one with rows for far counts; UNKNOWN before the first request.
    cdef vector[int32_t] far_sets
    # By state: see ``_UNCOUNTED``; the automaton state of the one item that is counted; and the
    # state that is far instead, itself where none is.
    cdef vector[uint8_t] kinds
    cdef vector[int32_t] counted_items
    cdef vector[int32_t] far_states

    cdef size_t memory(self) noexcept:
        cdef size_t result = memory_of(self.far_sets) + memory_of(self.is_plain)
        return (
            result + memory_of(self.kinds) + memory_of(self.counted_items)
            + memory_of(self.far_states)
        )

    def __cinit__(self, table, int32_t longest):
        cdef int32_t edge
        self.explorer = table.explorer
        self.items = self.explorer.items
        self.longest = max(longest, 1)
        self.is_needed = self.items.loop_low.shape[0] > 0
        self.is_plain.assign(self.items.loop_low.shape[0], True)
        if self.is_needed:
            for edge in range(self.items.call_return.shape[0]):
                self._mix(self.items.call_return[edge])
            for edge in range(self.items.token_target.shape[0]):
                self._mix(self.items.token_target[edge])

    def exact(self, long long position):
        """Return the state at a position, in which everything is counted."""
        cdef int32_t count = <int32_t> (position >> _COUNT_SHIFT)
        cdef int32_t state = <int32_t> position
        if position < 0 or position >= _WAITS or not count:
            return position
        self.explorer.acquire()
        try:
            return self._exact(state, count, self._loop_at(state))
        finally:
            self.explorer.release()

    def far(self, int32_t state):
        """Return the position at a state in which everything is counted."""
        if not self.is_needed or state < 0:
            return state
        self.explorer.acquire()
        try:
            return self._far(state)
        finally:
            self.explorer.release()

    def room(self, long long position):
        """Return how many repetitions may still begin at a position where one item is counted.

        That is 0 where more must come, where nothing is counted, or where more than one item is.
        """
        cdef int32_t state = <int32_t> position, count = <int32_t> (position >> _COUNT_SHIFT), loop
        cdef uint8_t kind
        cdef Pair counted
        if not self.is_needed or position < 0:
            return 0
        kind = self.kind(state)
        counted = Pair(self.counted_items[state], count)
        if kind == _COUNTED:
            counted = self.items.counted_states[counted.first - self.items.states]
        elif kind != _FAR or not count:
            return 0
        loop = self.items.loop_of[counted.first]
        if counted.second < self.items.loop_low[loop]:
            return 0
        return self.items.loop_high[loop] - counted.second

    def without_bound(self, int32_t state):
        """Return the state that does not count, for one in which ``room`` finds some."""
        cdef int32_t item
        self.explorer.acquire()
        try:
            if self.kind(state) != _COUNTED:
                return state
            item = self.counted_items[state]
            return self._with(state, item, self.items.row_of(item))
        finally:
            self.explorer.release()

    def feed(self, long long position, const uint8_t[::1] data, bint eager):
        """Return the position after bytes, DEAD where they cannot come.

        With ``eager`` a byte after one that completed the start cannot.
        """
        cdef LazyTable explorer = self.explorer
        cdef int32_t state = <int32_t> position
        cdef Py_ssize_t i, begun = 0
        for i in range(data.shape[0]):
            if eager and i and explorer.completions[state]:
                return DEAD
            state = explorer.step(state, explorer.classes[data[i]])
            if state == DEAD:
                return DEAD
            # A count is far for one token: longer data is settled in steps of its length.
            if self.is_needed and (i + 1 == data.shape[0] or i + 1 == begun + self.longest):
                position = self.settle(position, state, &data[begun], <int32_t> (i + 1 - begun))
                state, begun = <int32_t> position, i + 1
        return position if self.is_needed else state

    cdef void _mix(self, int32_t row) noexcept:
        if self.items.loop_of[row] >= 0:
            self.is_plain[self.items.loop_of[row]] = False

    cdef inline bint _is_far(self, int32_t row, int32_t count) noexcept:
        cdef int32_t loop = self.items.loop_of[row]
        # A byte begins at most one repetition, so that a token adds at most as many as it has
        # bytes.
        if count < self.items.loop_low[loop]:
            return count + self.longest < self.items.loop_low[loop]
        return self.items.loop_high[loop] < 0 or count + self.longest < self.items.loop_high[loop]

    cdef inline int32_t _far_state_of(self, int32_t state) noexcept:
        """The row of an automaton state that is far, else the state."""
        cdef Pair counted
        if state < self.items.states:
            return state
        counted = self.items.counted_states[state - self.items.states]
        return counted.first if self._is_far(counted.first, counted.second) else state

    cdef int32_t far_set(self, int32_t item_set) except -2:
        """The item set with rows for far counts; requires the table's lock."""
        cdef vector[int64_t] items
        cdef int32_t result
        if not self.is_needed:
            return item_set
        if item_set >= <int32_t> self.far_sets.size():
            self.far_sets.resize(2 * item_set + 1, UNKNOWN)
        result = self.far_sets[item_set]
        if result == UNKNOWN:
            items = self.items.of(item_set).copied()
            result = self.items._number(items) if self._replace(items) else item_set
            self.far_sets[item_set] = result
        return result

    cdef int32_t far_pairs(self, int32_t state) except -1:
        """The state with rows for far counts in any of its pairs; requires the table's lock."""
        cdef vector[Pair] pairs
        cdef vector[int32_t] completions
        cdef int32_t after
        cdef bint is_changed = False
        cdef size_t i
        if not self.is_needed:
            return state
        pairs = self.explorer.configurations.all_pairs.at(state).copied()
        for i in range(pairs.size()):
            after = self.far_set(pairs[i].second)
            is_changed = is_changed or after != pairs[i].second
            pairs[i].second = after
        if not is_changed:
            return state
        sort(pairs.begin(), pairs.end())
        completions = self.explorer.configurations.all_exits.at(state).copied()
        return self.explorer._number(pairs, completions)

    cdef bint _replace(self, vector[int64_t]& items) except -1:
        """Replace items with far counts by rows; return whether there are any."""
        cdef int32_t state, after
        cdef bint result = False
        cdef size_t i
        for i in range(items.size()):
            state = <int32_t> (items[i] // self.items.radix)
            after = self._far_state_of(state)
            if after != state:
                items[i] = after * self.items.radix + items[i] % self.items.radix
                result = True
        return result

    cdef inline uint8_t kind(self, int32_t state) except 0:
        if state < <int32_t> self.kinds.size() and self.kinds[state]:
            return self.kinds[state]
        self.explorer.acquire()
        try:
            return self._find_kind(state)
        finally:
            self.explorer.release()

    cdef uint8_t _find_kind(self, int32_t state) except 0:
        cdef Span[Pair] pairs = self.explorer.configurations.all_pairs.at(state)
        cdef Span[int64_t] members
        cdef uint8_t kind = _UNCOUNTED
        cdef int32_t member, loop, counted = 0
        cdef size_t i, j
        for i in range(pairs.size()):
            members = self.items.of(pairs[i].second)
            for j in range(members.size()):
                member = <int32_t> (members[j] // self.items.radix)
                loop = self.items.loop_of[self.items.row_of(member)]
                if loop < 0:
                    continue
                counted = member
                # A number beside the state can be that of one item only.
                if kind != _UNCOUNTED or not self.is_plain[loop]:
                    kind = _MANY
                else:
                    kind = _FAR if member < self.items.states else _COUNTED
        if state >= <int32_t> self.kinds.size():
            self.far_states.resize(2 * state + 1, UNKNOWN)
            self.counted_items.resize(2 * state + 1)
            self.kinds.resize(2 * state + 1)
        self.counted_items[state] = counted
        self.kinds[state] = kind
        return kind

    cdef long long _far(self, int32_t state) except -1:
        """The position at a state without a count beside it; requires the lock."""
        cdef Pair counted
        cdef int32_t item
        if self.kind(state) != _COUNTED:
            return state
        item = self.counted_items[state]
        if self._far_state_of(item) == item:
            return state
        counted = self.items.counted_states[item - self.items.states]
        if self.far_states[state] == UNKNOWN:
            self.far_states[state] = self._with(state, item, counted.first)
        return _position_of(self.far_states[state], counted.second)

    cdef inline int32_t _loop_at(self, int32_t state) except -2:
        """The loop of the one item of a state that is counted."""
        self.kind(state)
        return self.items.loop_of[self.counted_items[state]]

    cdef int32_t _exact(self, int32_t state, int32_t count, int32_t loop) except -1:
        """The state in which the far count of a loop is explicit again; requires the lock.

        Other loops may have rows there because enough came, and they have no upper bounds.
        """
        cdef int32_t item, result = state
        cdef vector[int32_t] rows
        cdef Span[Pair] pairs = self.explorer.configurations.all_pairs.at(state)
        cdef Span[int64_t] members
        cdef size_t i, j
        for i in range(pairs.size()):
            members = self.items.of(pairs[i].second)
            for j in range(members.size()):
                item = <int32_t> (members[j] // self.items.radix)
                if item < self.items.states and self.items.loop_of[item] == loop:
                    rows.push_back(item)
        for item in rows:
            result = self._with(result, item, self.items.counted(item, count))
        return result

    cdef int32_t _with(self, int32_t state, int32_t item, int32_t after) except -1:
        """The state that has another automaton state in the place of one."""
        cdef vector[Pair] pairs = self.explorer.configurations.all_pairs.at(state).copied()
        cdef vector[int32_t] completions = (
            self.explorer.configurations.all_exits.at(state).copied()
        )
        cdef vector[int64_t] members
        cdef int64_t radix = self.items.radix
        cdef size_t i, j
        for i in range(pairs.size()):
            members = self.items.of(pairs[i].second).copied()
            for j in range(members.size()):
                if members[j] // radix == item:
                    members[j] = after * radix + members[j] % radix
            pairs[i].second = self.items._number(members)
        sort(pairs.begin(), pairs.end())
        return self.explorer._number(pairs, completions)

    cdef long long settle(
        self, long long before, int32_t state, const uint8_t* data, int32_t size
    ) except -1:
        """The position at a state to which a token's bytes led from a position."""
        cdef int32_t count = <int32_t> (before >> _COUNT_SHIFT)
        cdef uint8_t kind = self.kind(state)
        cdef int32_t row, loop, begun, i
        if kind == _UNCOUNTED:
            return state
        # The table stepped from the row, without a number: what began within the token is counted
        # here.
        if count and kind != _COUNTED:
            loop = self._loop_at(<int32_t> before)
            begun = self._begun(<int32_t> before, data, size, loop)
            row = self.counted_items[state]
            if (
                kind == _FAR
                and begun >= 0
                and self.items.loop_of[row] == loop
                and self._is_far(row, count + begun)
            ):
                return _position_of(state, count + begun)
            if begun == _MANY_ROWS:
                # It is open which of two rows counts, so the state itself is stepped, with its
                # count in it.
                state = self.exact(before)
                for i in range(size):
                    state = self.explorer.step(state, self.explorer.classes[data[i]])
                return self.far(state)
            self.explorer.acquire()
            try:
                return self._far(self._exact(state, count + begun, loop))
            finally:
                self.explorer.release()
        if kind != _COUNTED:
            return state
        self.explorer.acquire()
        try:
            return self._far(state)
        finally:
            self.explorer.release()

    cdef int32_t _begun(
        self, int32_t state, const uint8_t* data, int32_t size, int32_t loop
    ) except -1:
        """How many repetitions begin within some bytes, while the count is far from its bounds.

        ``_MANY_ROWS`` where it is open for a while whether one has begun.
        """
        cdef LazyTable explorer = self.explorer
        cdef ItemSets items = self.items
        cdef int32_t result = 0, row, edge, i
        cdef uint8_t byte_class
        for i in range(size):
            row = self._row_in(state, loop)
            if row < 0:
                return _MANY_ROWS if row == _MANY_ROWS else result
            byte_class = explorer.classes[data[i]]
            edge = items._first_edge(row, byte_class)
            while edge < items.edge_start[row + 1] and items.edge_class[edge] == byte_class:
                # Where two edges of the class stay in the loop the state after them has two rows,
                # which the next look at the state reports.
                if items.loop_of[items.edge_target[edge]] == loop:
                    result += items.loop_begins[items.edge_target[edge]]
                    break
                edge += 1
            else:
                return result
            state = explorer.step(state, byte_class)
        return _MANY_ROWS if self._row_in(state, loop) == _MANY_ROWS else result

    cdef int32_t _row_in(self, int32_t state, int32_t loop) except -2:
        """The row of a loop among the items of a state, UNKNOWN without one; or ``_MANY_ROWS``."""
        cdef Span[Pair] pairs = self.explorer.configurations.all_pairs.at(state)
        cdef Span[int64_t] members
        cdef int32_t item, result = UNKNOWN
        cdef size_t i, j
        for i in range(pairs.size()):
            members = self.items.of(pairs[i].second)
            for j in range(members.size()):
                item = <int32_t> (members[j] // self.items.radix)
                if item < self.items.states and self.items.loop_of[item] == loop:
                    if result != UNKNOWN:
                        return _MANY_ROWS
                    result = item
        return result
