# The subset construction (Rabin & Scott 1959).

cdef class _Subsets:
    """The subset construction over ``edges``, whose targets bring their closures along."""

    cdef Edges edges
    cdef vector[Ints] closures
    cdef bint has_closures
    cdef vector[uint8_t] is_closed
    cdef vector[uint8_t] useful
    cdef Edges free
    cdef vector[uint64_t] state_tags
    cdef vector[Ints] members
    cdef vector[uint64_t] tags
    cdef unordered_map[string, int32_t] numbers
    cdef Edges rows
    cdef uint64_t stop
    cdef int64_t limit, elements, closure_limit, closure_elements, work, spent
    cdef vector[int64_t] weights
    cdef Py_ssize_t per_state
    cdef vector[int32_t] entered
    cdef Ints known
    cdef int32_t round

    cdef int close(self, int32_t state) except -1 nogil:
        """Work out the useful states entered with one; returns 1 beyond the limit."""
        cdef vector[int32_t] queue
        cdef Py_ssize_t i
        cdef int32_t here, there
        if self.is_closed[state]:
            return 0
        self.is_closed[state] = 1
        self.round += 1
        queue.push_back(state)
        self.entered[state] = self.round
        cdef Py_ssize_t at = 0
        while at < <Py_ssize_t> queue.size():
            here = queue[at]
            at += 1
            for i in range(self.free.first[here], self.free.first[here + 1]):
                there = self.free.target[i]
                if self.entered[there] != self.round:
                    self.entered[there] = self.round
                    queue.push_back(there)
        self.closure_elements += queue.size()
        self.spent += queue.size()
        if self.closure_elements > self.per_state * self.closure_limit or self.is_spent():
            return 1
        sort(queue.begin(), queue.end())
        for i in range(<Py_ssize_t> queue.size()):
            if self.useful[queue[i]]:
                self.closures[state].push_back(queue[i])
        return 0

    cdef bint is_spent(self) noexcept nogil:
        return self.spent > self.work

    cdef int64_t steps(self) noexcept nogil:
        return min(self.spent, self.work + 1)

    cdef void weigh(self) noexcept nogil:
        """Count the edges that leave each state, with what their targets bring along."""
        cdef Py_ssize_t state
        cdef int64_t weight
        cdef int32_t i
        for state in range(<Py_ssize_t> self.state_tags.size()):
            weight = self.edges.first[state + 1] - self.edges.first[state]
            if self.has_closures:
                for i in range(self.edges.first[state], self.edges.first[state + 1]):
                    weight += self.closures[self.edges.target[i]].size()
            self.weights.push_back(weight)

    cdef int32_t number(self, Ints& subset) except -3 nogil:
        """Return the number of a subset, DEAD for the empty one; -2 beyond the limit."""
        cdef string key
        cdef uint64_t tag = 0
        cdef Py_ssize_t i
        cdef int32_t found
        if subset.empty():
            return DEAD
        key.assign(<const char*> subset.data(), subset.size() * sizeof(int32_t))
        if self.numbers.count(key):
            return self.numbers[key]
        for i in range(<Py_ssize_t> subset.size()):
            tag |= self.state_tags[subset[i]]
        if tag & self.stop:
            self.numbers[key] = DEAD
            return DEAD
        self.elements += subset.size()
        found = <int32_t> self.members.size()
        if found >= self.limit or self.elements > self.per_state * self.limit:
            return -2
        self.spent += 1
        for i in range(<Py_ssize_t> subset.size()):
            self.spent += self.weights[subset[i]]
        if self.is_spent():
            return -2
        self.numbers[key] = found
        self.members.push_back(subset)
        self.tags.push_back(tag)
        return found

    cdef int32_t after(self, int32_t target) except -3 nogil:
        """Return the number of what is entered with one state; remembered, for it is common."""
        cdef Ints alone
        if self.known[target] == UNKNOWN:
            if not self.has_closures:
                alone.push_back(target)
                self.known[target] = self.number(alone)
            else:
                self.known[target] = self.number(self.closures[target])
        return self.known[target]

    cdef int32_t after_all(
        self, vector[uint64_t]& pairs, Py_ssize_t begin, Py_ssize_t end
    ) except -3 nogil:
        """Return the number of what is entered with all targets of some pairs."""
        cdef Ints reached
        cdef Py_ssize_t i, k
        cdef int32_t target
        for i in range(begin, end):
            target = <int32_t> pairs[i]
            if not self.has_closures:
                reached.push_back(target)
                continue
            for k in range(<Py_ssize_t> self.closures[target].size()):
                reached.push_back(self.closures[target][k])
        sort(reached.begin(), reached.end())
        reached.erase(unique(reached.begin(), reached.end()), reached.end())
        return self.number(reached)

    cdef int run(self) except -1 nogil:
        """Follow all subsets; returns 1 beyond a limit."""
        cdef vector[uint64_t] pairs
        cdef Py_ssize_t at = 0, i, j, state
        cdef int32_t symbol, target
        while at < <Py_ssize_t> self.members.size():
            self.rows.first.push_back(<int32_t> self.rows.symbol.size())
            pairs.clear()
            for i in range(<Py_ssize_t> self.members[at].size()):
                state = self.members[at][i]
                for j in range(self.edges.first[state], self.edges.first[state + 1]):
                    pairs.push_back(
                        <uint64_t> self.edges.symbol[j] << 32 | <uint64_t> self.edges.target[j]
                    )
            if not is_sorted(pairs.begin(), pairs.end()):
                sort(pairs.begin(), pairs.end())
            pairs.erase(unique(pairs.begin(), pairs.end()), pairs.end())
            i = 0
            while i < <Py_ssize_t> pairs.size():
                symbol = <int32_t> (pairs[i] >> 32)
                j = i + 1
                while j < <Py_ssize_t> pairs.size() and <int32_t> (pairs[j] >> 32) == symbol:
                    j += 1
                if j == i + 1:
                    target = self.after(<int32_t> pairs[i])
                else:
                    target = self.after_all(pairs, i, j)
                i = j
                if target == -2:
                    return 1
                if target != DEAD:
                    self.rows.symbol.push_back(symbol)
                    self.rows.target.push_back(target)
            at += 1
        self.rows.first.push_back(<int32_t> self.rows.symbol.size())
        return 0
