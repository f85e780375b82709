# The symbols of counts are taken out of an automaton; see ``counts``, whose names these are.

cdef struct Looped:
    # A loop: the number of its bounds, its rows and what they are below and in the last repetition;
    # what begins a repetition, and the state after it.
    int32_t number
    int32_t behind
    Ints rows
    Ints below
    Ints last
    vector[Ends] begins


cdef class _Folder:
    """Edges by state, as pairs of a symbol and a target; those of counts have a bound's number."""

    cdef vector[vector[Ends]] rows, enter, again, leave
    cdef vector[uint8_t] accepting
    # By head: its loop, and the edges that begin a repetition there.
    cdef unordered_map[int32_t, int32_t] loop_of
    cdef unordered_map[int32_t, vector[Ends]] opening
    # By state: its place within a loop. By symbol: where it was met last, and when.
    cdef Ints index_in_loop, met
    cdef int32_t round
    cdef object name

    def __init__(self, name, bytes source, bytes symbol, bytes target, bytes flags, int32_t first):
        cdef Py_ssize_t i, states = len(flags)
        cdef int32_t here, read
        self.name = name
        self.met.assign(first, 0)
        self.grow(states)
        for i in range(states):
            self.accepting[i] = _letters(flags)[i]
        for i in range(len(source) // sizeof(int32_t)):
            here, read = _numbers(source)[i], _numbers(symbol)[i]
            edge = Ends(read if read < first else (read - first) // 3, _numbers(target)[i])
            if read < first:
                self.rows[here].push_back(edge)
            elif (read - first) % 3 == 0:
                self.enter[here].push_back(edge)
            elif (read - first) % 3 == 1:
                self.again[here].push_back(edge)
            else:
                self.leave[here].push_back(edge)

    cdef void grow(self, Py_ssize_t states) noexcept:
        self.rows.resize(states)
        self.enter.resize(states)
        self.again.resize(states)
        self.leave.resize(states)
        self.accepting.resize(states, 0)

    cdef int require(self, bint condition) except -1:
        if not condition:
            raise import_module("kbnf_core.lower.counts").UncountableError(self.name)
        return 0

    cdef int extend(self, int32_t state, const vector[Ends]& row) except -1:
        cdef vector[Ends] more = row
        self.rows[state].insert(self.rows[state].end(), more.begin(), more.end())
        return 0

    cdef int fold(self, bounds, vector[Looped]& loops) except -1:
        cdef Ints heads
        cdef size_t i, k
        cdef int32_t head
        cdef Looped* loop
        for i in range(self.again.size()):
            for k in range(self.again[i].size()):
                heads.push_back(self.again[i][k].second)
        sort(heads.begin(), heads.end())
        for head in heads:
            if not self.loop_of.count(head):
                loops.resize(loops.size() + 1)
                self.loop(head, <int32_t> loops.size() - 1, bounds, loops.back())
        for i in range(self.enter.size()):
            for k in range(self.enter[i].size()):
                head = self.enter[i][k].second
                self.require(self.loop_of.count(head))
                loop = &loops[self.loop_of[head]]
                self.extend(<int32_t> i, self.opening[head])
                if bounds[loop.number][0] == 0:
                    self.extend(<int32_t> i, self.rows[loop.behind])
                    self.accepting[i] |= self.accepting[loop.behind]
        return 0

    cdef int loop(self, int32_t head, int32_t number, bounds, Looped& loop) except -1:
        """Make the rows of the loop that a head is of."""
        cdef unordered_map[int32_t, vector[Ends]] below
        cdef unordered_map[int32_t, int32_t] standing, standing_below
        cdef Ints heads, ends
        cdef int32_t behind, state, to
        cdef size_t i
        cdef bint is_below
        self.require(self.leave[head].size() == 1)
        loop.number, behind = self.leave[head][0].first, self.leave[head][0].second
        loop.behind = behind
        self.require(
            self.enter[behind].empty() and self.again[behind].empty() and self.leave[behind].empty()
        )
        self.within(head, number, heads, loop.rows)
        for head in heads:
            self.require(self.enter[head].empty() and self.again[head].empty())
            self.require(self.leave[head].size() == 1 and not self.accepting[head])
            self.require(self.leave[head][0] == Ends(loop.number, behind))
        self.check_ends(heads, loop.rows, behind)
        cdef vector[uint8_t] inner = vector[uint8_t](self.rows.size(), 0)
        self.index_in_loop.assign(self.rows.size(), -1)
        for i in range(loop.rows.size()):
            state = loop.rows[i]
            self.index_in_loop[state] = <int32_t> i
            for edge in self.rows[state]:
                inner[edge.second] = 1
            if not self.again[state].empty():
                ends.push_back(state)
        is_below = bounds[loop.number][0] > 1
        if is_below:
            self.copy(loop.rows, loop.below)
        self.copy(loop.rows, loop.last)
        for head in heads:
            self.opening[head] = self.opened(head, loop.rows, inner, standing, loop.begins)
            if is_below:
                below[head] = self.opened(head, loop.below, inner, standing_below, loop.begins)
        for state in ends:
            to = loop.last[self.index_in_loop[state]]
            self.extend(to, self.rows[behind])
            self.accepting[to] |= self.accepting[behind]
            if is_below:
                self.extend(
                    loop.below[self.index_in_loop[state]], below[self.again[state][0].second]
                )
        for state in ends:
            self.extend(state, self.opening[self.again[state][0].second])
            self.extend(state, self.rows[behind])
            self.accepting[state] = self.accepting[behind]
        # Where none of them begins a repetition nobody asks for the last one.
        for i in range(loop.rows.size()):
            if not standing.count(loop.rows[i]):
                loop.last[i] = -1
        return 0

    cdef int within(self, int32_t head, int32_t number, Ints& heads, Ints& states) except -1:
        """Find the states between the heads of a loop, given one, and the states after it."""
        cdef Ints work
        cdef int32_t state
        cdef vector[uint8_t] seen = vector[uint8_t](self.rows.size(), 0)
        self.loop_of[head] = number
        heads.push_back(head)
        for edge in self.rows[head]:
            work.push_back(edge.second)
        while not work.empty():
            state = work.back()
            work.pop_back()
            if seen[state]:
                continue
            self.require(not self.accepting[state] and not self.loop_of.count(state))
            self.require(self.enter[state].empty() and self.leave[state].empty())
            self.require(self.again[state].size() < 2)
            for edge in self.again[state]:
                head = edge.second
                if not self.loop_of.count(head):
                    # Each byte is a repetition.
                    self.require(self.rows[state].empty())
                    self.loop_of[head] = number
                    heads.push_back(head)
                    for begun in self.rows[head]:
                        work.push_back(begun.second)
                self.require(self.loop_of[head] == number)
            seen[state] = 1
            states.push_back(state)
            for edge in self.rows[state]:
                work.push_back(edge.second)
        return 0

    cdef int check_ends(self, const Ints& heads, const Ints& within, int32_t behind) except -1:
        """Require that it is soon clear whether a repetition goes on, begins anew or ends.

        Bytes that are repetitions may go on beside the continuation, which is not counted.
        """
        cdef vector[Ends] work
        cdef unordered_set[uint64_t] seen
        cdef Ends pair, reached
        cdef size_t i, at = 0
        cdef int32_t state
        cdef uint64_t key
        for i in range(within.size() + heads.size()):
            state = within[i] if i < within.size() else heads[i - within.size()]
            self.round += 1
            for edge in self.rows[state]:
                self.require(self.met[edge.first] != self.round)
                self.met[edge.first] = self.round
            if i >= within.size():
                work.push_back(Ends(state, behind))
            elif not self.again[state].empty():
                work.push_back(Ends(state, self.again[state][0].second))
                work.push_back(Ends(state, behind))
        for pair in work:
            seen.insert(<uint64_t> pair.first << 32 | <uint64_t> pair.second)
        while at < work.size():
            pair = work[at]
            at += 1
            for edge in self.rows[pair.first]:
                for other in self.rows[pair.second]:
                    if edge.first != other.first:
                        continue
                    reached = Ends(edge.second, other.second)
                    if heads.size() > 1 and not self.again[edge.second].empty():
                        reached.first = self.again[edge.second][0].second
                    key = <uint64_t> reached.first << 32 | <uint64_t> reached.second
                    if not seen.count(key):
                        self.require(
                            self.again[reached.first].empty() and self.enter[other.second].empty()
                        )
                        self.require(
                            self.again[other.second].empty() and self.leave[other.second].empty()
                        )
                        seen.insert(key)
                        work.push_back(reached)
        return 0

    cdef int copy(self, Ints& states, Ints& twins) except -1:
        """Add copies of states, whose edges are among themselves."""
        cdef int32_t first = <int32_t> self.rows.size(), twin = first
        self.grow(first + states.size())
        for state in states:
            self.rows[twin].reserve(self.rows[state].size())
            for edge in self.rows[state]:
                self.rows[twin].push_back(Ends(edge.first, first + self.index_in_loop[edge.second]))
            twins.push_back(twin)
            twin += 1
        return 0

    cdef vector[Ends] opened(
        self,
        int32_t head,
        Ints& block,
        const vector[uint8_t]& inner,
        unordered_map[int32_t, int32_t]& standing,
        vector[Ends]& begins,
    ):
        """Return what begins a repetition in a block; notes the states that it leads to."""
        cdef vector[Ends] first = self.rows[head], edges
        cdef int32_t to, row
        for edge in first:
            to = edge.second
            if not standing.count(to):
                row = standing[to] = block[self.index_in_loop[to]]
                if inner[to]:
                    standing[to] = <int32_t> self.rows.size()
                    self.grow(self.rows.size() + 1)
                begins.push_back(Ends(standing[to], row))
            edges.push_back(Ends(edge.first, standing[to]))
        return edges

    cdef tuple trimmed(self, bounds, vector[Looped]& loops):
        """Return the columns of the states that the start reaches, and the loops."""
        cdef Ints order, numbers, work, of_loop, source, symbol, target
        cdef vector[uint8_t] accepting
        cdef vector[Ends] row
        cdef int32_t state
        cdef size_t i
        for loop in loops:
            for begin in loop.begins:
                if begin.first != begin.second:
                    self.rows[begin.first] = self.rows[begin.second]
                    self.accepting[begin.first] = self.accepting[begin.second]
        numbers.assign(self.rows.size(), -1)
        of_loop.assign(self.rows.size(), -1)
        for i in range(loops.size()):
            for state in loops[i].rows:
                of_loop[state] = <int32_t> i
        _number(0, numbers, order, work)
        while not work.empty():
            state = work.back()
            work.pop_back()
            for edge in self.rows[state]:
                _number(edge.second, numbers, order, work)
            if of_loop[state] >= 0:
                _number_loop(loops[of_loop[state]], numbers, order, work)
        for state in order:
            row.clear()
            for edge in self.rows[state]:
                row.push_back(Ends(edge.first, numbers[edge.second]))
            sort(row.begin(), row.end())
            for i in range(row.size()):
                if i == 0 or row[i] != row[i - 1]:
                    source.push_back(numbers[state])
                    symbol.push_back(row[i].first)
                    target.push_back(row[i].second)
            accepting.push_back(self.accepting[state])
        made = import_module("kbnf_core.lower.counts").Loop
        counted = []
        for loop in loops:
            if numbers[loop.rows[0]] >= 0:
                begins = tuple([(numbers[b.first], numbers[b.second]) for b in loop.begins])
                columns = [
                    _numbered(lists, numbers) for lists in (loop.rows, loop.below, loop.last)
                ]
                counted.append(made(*bounds[loop.number], *columns, begins))
        return _bytes(source), _bytes(symbol), _bytes(target), _flags(accepting), counted


cdef void _number(int32_t state, Ints& numbers, Ints& order, Ints& work) noexcept:
    """Number a state that has no number yet, and look at it later."""
    if state >= 0 and numbers[state] < 0:
        numbers[state] = <int32_t> order.size()
        order.push_back(state)
        work.push_back(state)


cdef void _number_loop(Looped& loop, Ints& numbers, Ints& order, Ints& work) noexcept:
    for state in loop.rows:
        _number(state, numbers, order, work)
    for state in loop.below:
        _number(state, numbers, order, work)
    for state in loop.last:
        _number(state, numbers, order, work)
    for begin in loop.begins:
        _number(begin.first, numbers, order, work)


cdef tuple _numbered(Ints& states, Ints& numbers):
    return tuple([numbers[state] if state >= 0 else -1 for state in states])


def fold(
    name, bytes source, bytes symbol, bytes target, bytes accepting, int32_t first_symbol, bounds
):
    """Take the symbols of counts out of an automaton; state 0 is its start.

    The bounds numbered k have the symbols from ``first_symbol + 3 * k`` on: enter, again, exit.
    Returns the edges by state and symbol, trimmed, what accepts, and the loops. Raises
    UncountableError.
    """
    cdef _Folder folder = _Folder(name, source, symbol, target, accepting, first_symbol)
    cdef vector[Looped] loops
    folder.fold(bounds, loops)
    return folder.trimmed(bounds, loops)
