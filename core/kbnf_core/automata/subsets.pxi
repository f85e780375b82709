# The subset construction (Rabin & Scott 1959).

cdef class _Subsets:
    """The subset construction over ``edges``, whose targets bring their closures along."""

    cdef Edges edges
    cdef Edges free
    # The edges again, as numbers: those of each state ascending.
    cdef vector[uint64_t] moves
    # By state: where in ``closed`` its closure begins and ends, UNKNOWN where nobody asked.
    cdef Ints closure_first
    cdef Ints closure_end
    cdef Ints closed
    cdef vector[uint8_t] useful
    cdef vector[uint64_t] state_tags
    # By number: where in ``members`` a subset begins; its tags; a hash. The last one ends there.
    cdef Ints first
    cdef Ints members
    cdef vector[uint64_t] tags
    cdef vector[uint64_t] hashes
    # Numbers by hash with open addressing, and of subsets of one state.
    cdef Ints slots
    cdef Ints alone
    cdef Edges rows
    # By state: whether it is entered again with all tags, whatever comes; whether any state is.
    cdef vector[uint8_t] pumps
    cdef bint has_pumps
    cdef uint64_t all_tags
    # The number of subsets with all tags that contain such a state: they accept any continuation.
    cdef int32_t universal
    cdef uint64_t stop
    cdef int64_t limit, closure_limit, closure_elements, work, spent
    cdef vector[int64_t] weights
    cdef Ints queue
    cdef Ints entered
    cdef Ints number_of
    cdef Ints reached
    cdef int32_t round

    cdef void begin(self) noexcept nogil:
        """Make room for the states of ``edges``."""
        cdef Py_ssize_t states = self.edges.first.size() - 1, state
        cdef int32_t j
        self.moves.reserve(self.edges.symbol.size())
        for state in range(states):
            for j in range(self.edges.first[state], self.edges.first[state + 1]):
                self.moves.push_back(
                    <uint64_t> self.edges.symbol[j] << 32 | <uint64_t> self.edges.target[j]
                )
            _put_in_order(self.moves, self.edges.first[state])
        self.state_tags.resize(states)
        self.closure_first.assign(states, UNKNOWN)
        self.closure_end.resize(states)
        self.alone.assign(states, UNKNOWN)
        self.number_of.assign(states, UNKNOWN)
        self.entered.resize(states)
        self.slots.assign(64, UNKNOWN)
        self.universal = UNKNOWN
        self.first.reserve(states + 1)
        self.first.push_back(0)
        self.closed.reserve(states)
        self.weights.reserve(states)
        self.members.reserve(states)
        self.tags.reserve(states)
        self.hashes.reserve(states)
        self.rows.first.reserve(states + 1)
        self.rows.symbol.reserve(self.moves.size())
        self.rows.target.reserve(self.moves.size())

    cdef int close(self, int32_t state) except -1 nogil:
        """Work out the useful states entered with one; returns 1 beyond the limit."""
        cdef Py_ssize_t i, at = 0
        cdef int32_t here, there
        if self.closure_first[state] != UNKNOWN:
            return 0
        self.round += 1
        self.queue.assign(1, state)
        self.entered[state] = self.round
        while at < <Py_ssize_t> self.queue.size():
            here = self.queue[at]
            at += 1
            for i in range(self.free.first[here], self.free.first[here + 1]):
                there = self.free.target[i]
                if self.entered[there] != self.round:
                    self.entered[there] = self.round
                    self.queue.push_back(there)
        self.closure_elements += self.queue.size()
        self.spent += self.queue.size()
        if self.closure_elements > ELEMENTS_PER_STATE * self.closure_limit or self.is_spent():
            return 1
        if self.queue.size() > 1:
            sort(self.queue.begin(), self.queue.end())
        self.closure_first[state] = <int32_t> self.closed.size()
        for here in self.queue:
            # States with free edges alone would only make subsets differ that read and accept the
            # same.
            if self.useful[here]:
                self.closed.push_back(here)
        self.closure_end[state] = <int32_t> self.closed.size()
        return 0

    cdef void close_alone(self) noexcept nogil:
        """Let nothing be entered with a state."""
        cdef int32_t state
        for state in range(<int32_t> self.state_tags.size()):
            self.closure_first[state], self.closure_end[state] = state, state + 1
            self.closed.push_back(state)

    cdef void find_pumps(self, int32_t symbols) noexcept nogil:
        """Find the states that one is back in with all tags, whichever of the symbols comes."""
        cdef size_t state
        for state in range(self.state_tags.size()):
            self.all_tags |= self.state_tags[state]
        for state in range(self.state_tags.size()):
            self.pumps.push_back(self.is_pump(<int32_t> state, symbols))
            self.has_pumps |= self.pumps[state]

    cdef bint is_pump(self, int32_t state, int32_t symbols) noexcept nogil:
        cdef int32_t i = self.edges.first[state], last = self.edges.first[state + 1], symbol
        cdef uint64_t tags
        cdef bint is_back
        for symbol in range(symbols):
            tags, is_back = 0, False
            while i < last and <int32_t> (self.moves[i] >> 32) == symbol:
                is_back |= <int32_t> self.moves[i] == state
                tags |= self.state_tags[<int32_t> self.moves[i]]
                i += 1
            if not is_back or tags != self.all_tags:
                return False
        return True

    cdef bint is_universal(self, const int32_t* subset, size_t count) noexcept nogil:
        cdef uint64_t tags = 0
        cdef bint has_pump = False
        cdef size_t i
        for i in range(count):
            has_pump |= self.pumps[subset[i]]
            tags |= self.state_tags[subset[i]]
        return has_pump and tags == self.all_tags

    cdef bint is_spent(self) noexcept nogil:
        return self.spent > self.work

    cdef int64_t steps(self) noexcept nogil:
        return min(self.spent, self.work + 1)

    cdef void weigh(self, bint with_closures) noexcept nogil:
        """Count the edges that leave each state, with what their targets bring along."""
        cdef Py_ssize_t state
        cdef int64_t weight
        cdef int32_t i, target
        for state in range(<Py_ssize_t> self.state_tags.size()):
            weight = self.edges.first[state + 1] - self.edges.first[state]
            if with_closures:
                for i in range(self.edges.first[state], self.edges.first[state + 1]):
                    target = self.edges.target[i]
                    weight += self.closure_end[target] - self.closure_first[target]
            self.weights.push_back(weight)

    cdef int32_t number(self, const int32_t* subset, size_t count) except -3 nogil:
        """Return the number of a subset, DEAD for the empty one; -2 beyond the limit."""
        cdef int32_t existing
        if count == 0:
            return DEAD
        if self.has_pumps and self.is_universal(subset, count):
            if self.universal == UNKNOWN:
                self.universal = self.add(subset, count, 0)
            return self.universal
        # Most subsets have one state, for most of an automaton is deterministic already: no hash
        # for these.
        if count == 1:
            if self.alone[subset[0]] == UNKNOWN:
                self.alone[subset[0]] = self.add(subset, count, 0)
            return self.alone[subset[0]]
        cdef uint64_t hashed = count
        cdef size_t i, at
        for i in range(count):
            hashed = _random(hashed ^ <uint64_t> subset[i])
        at = hashed & (self.slots.size() - 1)
        while self.slots[at] != UNKNOWN:
            if self.is_same(self.slots[at], hashed, subset, count):
                return self.slots[at]
            at = (at + 1) & (self.slots.size() - 1)
        existing = self.add(subset, count, hashed)
        if existing >= 0:
            self.slots[at] = existing
            if 2 * self.tags.size() > self.slots.size():
                self.make_slots()
        return existing

    cdef bint is_same(
        self, int32_t number, uint64_t hashed, const int32_t* subset, size_t count
    ) noexcept nogil:
        cdef int32_t first = self.first[number]
        return (
            self.hashes[number] == hashed
            and self.first[number + 1] - first == <int32_t> count
            and memcmp(&self.members[first], subset, count * sizeof(int32_t)) == 0
        )

    cdef void make_slots(self) noexcept nogil:
        """Make four times the slots, for subsets of several states."""
        cdef size_t at
        cdef int32_t number
        self.slots.assign(4 * self.slots.size(), UNKNOWN)
        for number in range(<int32_t> self.tags.size()):
            if self.first[number + 1] - self.first[number] > 1:
                at = self.hashes[number] & (self.slots.size() - 1)
                while self.slots[at] != UNKNOWN:
                    at = (at + 1) & (self.slots.size() - 1)
                self.slots[at] = number

    cdef int32_t add(self, const int32_t* subset, size_t count, uint64_t hashed) except -3 nogil:
        """Give a new subset a number: DEAD if it meets ``stop``, -2 beyond the limit."""
        cdef uint64_t tag = 0
        cdef size_t i
        cdef int32_t added = <int32_t> self.tags.size()
        for i in range(count):
            tag |= self.state_tags[subset[i]]
        if tag & self.stop:
            return DEAD
        if (
            added >= self.limit
            or <int64_t> (self.members.size() + count) > ELEMENTS_PER_STATE * self.limit
        ):
            return -2
        self.spent += 1
        # What following the subset will cost, so that a limit stops a large one before its edges
        # are sorted.
        for i in range(count):
            self.spent += self.weights[subset[i]]
        if self.is_spent():
            return -2
        self.members.insert(self.members.end(), subset, subset + count)
        self.first.push_back(<int32_t> self.members.size())
        self.tags.push_back(tag)
        self.hashes.push_back(hashed)
        return added

    cdef int32_t after(self, int32_t target) except -3 nogil:
        """Return the number of the subset entered with one state; memoised, for it is common."""
        if self.number_of[target] == UNKNOWN:
            self.number_of[target] = self.number(
                self.closed.data() + self.closure_first[target],
                self.closure_end[target] - self.closure_first[target],
            )
        return self.number_of[target]

    cdef int32_t after_all(self, const uint64_t* move, const uint64_t* end) except -3 nogil:
        """Return the number of the subset entered with all targets of some edges."""
        cdef int32_t target
        self.reached.clear()
        while move != end:
            target = <int32_t> move[0]
            self.reached.insert(
                self.reached.end(),
                self.closed.begin() + self.closure_first[target],
                self.closed.begin() + self.closure_end[target],
            )
            move += 1
        sort(self.reached.begin(), self.reached.end())
        self.reached.erase(unique(self.reached.begin(), self.reached.end()), self.reached.end())
        return self.number(self.reached.data(), self.reached.size())

    cdef int run(self) except -1 nogil:
        """Follow all subsets; returns 1 beyond a limit."""
        cdef vector[uint64_t] several
        cdef const uint64_t* move
        cdef const uint64_t* end
        cdef const uint64_t* other
        cdef size_t at = 0
        cdef int32_t state, target, k
        while at < self.tags.size():
            self.rows.first.push_back(<int32_t> self.rows.symbol.size())
            if self.first[at + 1] - self.first[at] == 1:
                state = self.members[self.first[at]]
                move = self.moves.data() + self.edges.first[state]
                end = self.moves.data() + self.edges.first[state + 1]
            else:
                several.clear()
                for k in range(self.first[at], self.first[at + 1]):
                    state = self.members[k]
                    several.insert(
                        several.end(),
                        self.moves.begin() + self.edges.first[state],
                        self.moves.begin() + self.edges.first[state + 1],
                    )
                _put_in_order(several, 0)
                move = several.data()
                end = move + several.size()
            while move != end:
                other = move + 1
                while other != end and other[0] >> 32 == move[0] >> 32:
                    other += 1
                # Sorted by symbol and target: where first and last are equal, all targets are one.
                # Most are.
                if move[0] == (other - 1)[0]:
                    target = self.after(<int32_t> move[0])
                else:
                    target = self.after_all(move, other)
                if target == -2:
                    return 1
                if target != DEAD:
                    self.rows.symbol.push_back(<int32_t> (move[0] >> 32))
                    self.rows.target.push_back(target)
                move = other
            at += 1
        self.rows.first.push_back(<int32_t> self.rows.symbol.size())
        return 0


cdef void _put_in_order(vector[uint64_t]& values, size_t first) noexcept nogil:
    """Sort the values from one on; they nearly always are."""
    if not is_sorted(values.begin() + first, values.end()):
        sort(values.begin() + first, values.end())
