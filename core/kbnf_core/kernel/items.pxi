# Item sets: sorted, interned sets of automaton states and the nonterminals that they report.
#
# **Layer.** Above ``arrays.pxi`` and ``containers.pxi``; only the table (``lazy_table.pxi``) and
# searches of the same layer call it.
#
# An item is (automaton state, nonterminal to report on completion), packed into one integer. All
# items of a set share one stack node. Everything computed here depends on the item set alone, never
# on that node, so it is memoised by item set.
#
# **Counts.** A repetition within large bounds is a loop of the tables and a number; see
# ``lower.counts``. A state after all of those in the tables is a row of a loop and a count, which
# gets its number when it is reached first. A row by itself is one that does not count: it goes
# round for ever. Outside, such an item is named by row and count alone, the same in every process.
#
# Contents of an arena do not move, so they are handed out as spans.

cdef enum:
    _LIVE = 1
    _COMPLETED = 2
    _REPORTS = 4
    _CALLS = 8
    _BRIEFS = 16
    _REPEATS = 32


cdef enum:
    # Edges for which no comparison pays.
    _FEW = 8
    # The most bytes of a piece, and automaton states with which it may go on; see ``repeats``.
    _LONGEST_BRIEF = 16
    _MOST_IN_BRIEF = 64
    _BRIEF = 1
    _NOT_BRIEF = 2
    # What a walk does at an item set above BOTTOM: read on; read on, after noting completions;
    # go on with a state, since something is called.
    _READS = 1
    _COMPLETES = 2
    _LIFTS = 3


@cython.final
cdef class ItemSets(_Tables):
    """Interns item sets, closed under tail calls, and memoises their transitions and calls.

    Sets are named by number, that of the empty one is EMPTY. Not locked: the table is. An item is
    ``state * radix + nonterminal to report``. Outside, the state of one that is counted is
    ``row + (1 + count) * states``, for so many states as the tables have.
    """

    def __cinit__(self, tables, int64_t entries, int64_t work):
        """Begin with the empty set; ``entries`` that the table may have, ``work`` for the error."""
        cdef vector[int64_t] nothing
        self.width = tables.class_count
        self.radix = len(tables.names)
        self.room = _Room(entries, work, tables.names)
        self.sets = _Lists(self.room, self.radix)
        # The first content: its number, 0, is EMPTY and DEAD.
        self.sets.find(nothing)
        self.bind(tables)
        self.single = _Map()
        self.unions = _Map()
        self.counted_numbers = _Map()
        self.brief_flags.resize(self.radix)

    cdef size_t memory(self) noexcept:
        cdef size_t lists = memory_of(self.completed_lists) + memory_of(self.report_lists)
        lists += memory_of(self.calls)
        lists += memory_of(self.live_sets) + memory_of(self.arena) + memory_of(self.call_arena)
        lists += memory_of(self.tail_called)
        lists += memory_of(self.facts) + memory_of(self.kinds) + memory_of(self.counted_states)
        lists += memory_of(self.brief_flags)
        lists += memory_of(self.rows) + memory_of(self.targets) + memory_of(self.columns)
        lists += self.sets.memory() + self.counted_numbers.memory()
        return lists + self.single.memory() + self.unions.memory() + memory_of(self.predictions)

    def __len__(self):
        return self.sets.contents.size()

    @property
    def size(self):
        """The number of items in all sets."""
        return self.sets.size

    def items(self, size_t number):
        """Return the packed items of a set, ascending."""
        cdef vector[int64_t] result = self.sets.contents.at(number).copied()
        cdef Pair facts
        cdef size_t i
        if self.has_loops:
            for i in range(result.size()):
                if result[i] >= self.states * self.radix:
                    facts = self.counted_states[result[i] // self.radix - self.states]
                    result[i] = result[i] % self.radix + self.radix * (
                        facts.first + (1 + <int64_t> facts.second) * self.states
                    )
            sort(result.begin(), result.end())
        return tuple(result)

    def number(self, vector[int64_t] items):
        """Intern a set that is closed already, and sorted as ``items`` returns it."""
        self._name(items)
        return self.sets.find(items)

    def intern(self, vector[int64_t] items):
        """Return the number of the set of ``items``, closed under tail calls."""
        self._name(items)
        return self._intern(items)

    cdef int _name(self, vector[int64_t]& items) except -1:
        """Replace names that are used outside."""
        cdef int64_t state
        cdef size_t i
        if self.has_loops:
            for i in range(items.size()):
                state = items[i] // self.radix
                if state >= self.states:
                    items[i] = items[i] % self.radix + self.radix * <int64_t> self.counted(
                        state % self.states, <int32_t> (state // self.states) - 1
                    )
            sort(items.begin(), items.end())
        return 0

    def pack(self, int64_t state, int64_t nonterminal):
        """Return the item of an automaton state and the nonterminal to report."""
        return state * self.radix + nonterminal

    def unpack(self, int64_t item):
        """Return (automaton state, nonterminal to report); a state of the tables has its number."""
        return item // self.radix, item % self.radix

    cdef inline int32_t row_of(self, int32_t state) noexcept:
        """The state of the tables whose edges a state has."""
        return state if state < self.states else self.counted_states[state - self.states].first

    cdef inline int32_t unbounded(self, int32_t state) noexcept:
        """The row that can do at some time what a state can; itself where nothing is counted."""
        cdef int32_t row = self.row_of(state)
        return self.loop_twin[row] if self.has_loops and self.loop_below[row] else row

    cdef inline int32_t target(self, int32_t source, int32_t row) except -1:
        """The state to which an edge of a state leads that leads to a state of the tables."""
        if not self.has_loops or self.loop_of[row] < 0:
            return row
        return self._count(source, row)

    cdef int32_t _count(self, int32_t source, int32_t row) except -1:
        """The same for a row of a loop: a row stays one, anything else is counted."""
        cdef int32_t loop = self.loop_of[row], count = 0
        cdef bint begins = self.loop_begins[row]
        row = self.loop_row[row]
        if source < self.states:
            # A row by itself does not count, so neither does what it leads to in its loop.
            if self.loop_of[source] == loop:
                return row
        elif self.loop_of[self.row_of(source)] == loop:
            count = self.counted_states[source - self.states].second
        # From here on the twin where the repetition may end, by which ``loop_last`` and rows that
        # do not count are named; ``counted`` chooses the twin by the count.
        if self.loop_below[row]:
            row = self.loop_twin[row]
        if begins:
            count += 1
            if count == self.loop_high[loop]:
                return self.loop_last[row]
            # Without an upper bound, from the lower one on all counts allow the same texts.
            if self.loop_high[loop] < 0 and count >= self.loop_low[loop]:
                return row
        return self.counted(row, count)

    cdef int32_t counted(self, int32_t row, int32_t count) except -1:
        """The state of a row in a repetition with this number, the first one having 1."""
        cdef int32_t number
        if self.loop_below[row] != (count < self.loop_low[self.loop_of[row]]):
            if self.loop_twin[row] >= 0:
                row = self.loop_twin[row]
        number = self.counted_numbers.get(_key(row, count))
        if number == UNKNOWN:
            number = self.states + <int32_t> self.counted_states.size()
            self.counted_states.push_back(Pair(row, count))
            self.counted_numbers.put(_key(row, count), number)
        return number

    def completions(self, size_t number):
        """Return the nonterminals that a set completes, ascending."""
        self.sets.contents.at(number)
        return tuple(self.completed(<int32_t> number).copied())

    def reports(self, size_t number):
        """Return the nonterminals that the items of a set report."""
        self.sets.contents.at(number)
        return frozenset(self.reported(<int32_t> number).copied())

    cdef inline Span[int64_t] of(self, int32_t item_set) noexcept:
        """The items of a set: automaton state times radix, plus nonterminal to report."""
        return self.sets.contents[item_set]

    cdef bint _knows(self, int32_t item_set, uint8_t flag) except -1:
        """Return whether a fact about a set is memoised, and make room for it."""
        cdef size_t size = item_set + 1
        if size > self.facts.size():
            self.facts.resize(size)
            self.live_sets.resize(size)
            self.completed_lists.resize(size)
            self.report_lists.resize(size)
            self.calls.resize(size)
        return self.facts[item_set] & flag

    cdef inline int32_t move(self, int32_t item_set, int32_t byte_class) except -2:
        """The set after a byte of a class, EMPTY where there is none."""
        cdef int32_t result = self.row(item_set)[byte_class]
        return result if result != _WAITING else self._find_move(item_set, byte_class)

    cdef inline bint can_move(self, int32_t item_set, int32_t byte_class) except -1:
        """Whether a set has a transition on a class."""
        return self.row(item_set)[byte_class] != EMPTY

    cdef inline bint move_alike(self, int32_t item_set, int32_t one, int32_t other) except -1:
        """Whether a set's moves on two classes are known to be the same."""
        cdef int32_t* moves = self.row(item_set)
        return moves[one] == moves[other] != _WAITING

    cdef inline int32_t* row(self, int32_t item_set) except NULL:
        """The moves of a set by class: EMPTY, ``_WAITING`` to be found, or a set."""
        if item_set < <int32_t> self.rows.size() and self.rows[item_set] != NULL:
            return self.rows[item_set]
        return self._make_row(item_set)

    cdef int32_t* _make_row(self, int32_t item_set) except NULL:
        """Collect the classes of all items' edges at once: most classes have no transition."""
        cdef Span[int64_t] items = self.of(item_set)
        cdef int32_t* moves = self.arena.take(self.width, EMPTY)
        cdef size_t i
        cdef int32_t state, edge
        for i in range(items.size()):
            state = self.row_of(<int32_t> (items[i] // self.radix))
            for edge in range(self.edge_start[state], self.edge_start[state + 1]):
                moves[self.edge_class[edge]] = _WAITING
        if item_set >= <int32_t> self.rows.size():
            self.rows.resize(item_set + 1 + item_set // 2, NULL)
        self.rows[item_set] = moves
        return moves

    cdef int32_t _find_move(self, int32_t item_set, int32_t byte_class) except -2:
        """Find a move, also for all classes on which each item has the same target.

        Most classes of a text's position lead to the same one, and finding a set takes as long as
        comparing them all.
        """
        cdef int32_t* moves = self.row(item_set)
        cdef int32_t result, other
        if self._has_few_edges(item_set) or not self._lay_out(item_set, byte_class):
            result = self._move_by_search(item_set, byte_class)
            moves[byte_class] = result
            return result
        result = self._move_by_targets(item_set, byte_class)
        for other in range(self.width):
            if moves[other] == _WAITING and self._is_alike(byte_class, other):
                moves[other] = result
        return result

    cdef bint _has_few_edges(self, int32_t item_set) noexcept:
        """Whether the items of a set have so few edges that laying them out does not pay."""
        cdef Span[int64_t] items = self.of(item_set)
        cdef int32_t edges = 0
        cdef size_t i
        for i in range(items.size()):
            edges += self.edge_count(<int32_t> (items[i] // self.radix))
        return edges < _FEW * <int32_t> items.size()

    cdef bint _lay_out(self, int32_t item_set, int32_t byte_class) except -1:
        """Fetch the targets of all items by class; return whether none has two on a class."""
        cdef Span[int64_t] items = self.of(item_set)
        cdef size_t i
        self.columns.clear()
        for i in range(items.size()):
            self.columns.push_back(self.targets_of(items[i] // self.radix))
            if self.columns.back()[byte_class] == UNKNOWN:
                return False
        return True

    cdef int32_t* targets_of(self, int32_t state) except NULL:
        """The row of targets of an automaton state; see ``targets``."""
        cdef const int32_t* classes
        cdef const int32_t* targets
        cdef int32_t* row
        cdef int32_t here, first, i
        if state >= <int32_t> self.targets.size():
            self.targets.resize(max(self.states, 2 * state), NULL)
        row = self.targets[state]
        if row == NULL:
            row = self.targets[state] = self.arena.take(self.width, DEAD)
            here = self.row_of(state)
            first = self.edge_start[here]
            if first < self.edge_start[here + 1]:
                classes, targets = &self.edge_class[first], &self.edge_target[first]
                for i in range(self.edge_start[here + 1] - first):
                    if row[classes[i]] != DEAD:
                        row[classes[i]] = UNKNOWN
                    else:
                        # One more than the state: 0 is DEAD, and also the number of a state of the
                        # tables.
                        row[classes[i]] = self.target(state, targets[i]) + 1
        return row

    cdef inline bint _is_alike(self, int32_t one, int32_t other) noexcept:
        """Whether each item of the set laid out has the same target on two classes."""
        cdef int32_t* row
        for row in self.columns:
            if row[one] != row[other]:
                return False
        return True

    cdef int32_t _move_by_targets(self, int32_t item_set, int32_t byte_class) except -2:
        cdef Span[int64_t] items = self.of(item_set)
        cdef vector[int64_t] reached
        cdef size_t i
        cdef int32_t target
        for i in range(items.size()):
            target = self.columns[i][byte_class]
            if target != DEAD:
                reached.push_back(
                    <int64_t> (target - 1) * self.radix + items[i] % self.radix
                )
        return self._intern(reached)

    cdef inline uint8_t kind(self, int32_t item_set) except 0:
        """What a walk does at a set: ``_READS``, ``_COMPLETES`` or ``_LIFTS``."""
        if item_set < <int32_t> self.kinds.size() and self.kinds[item_set]:
            return self.kinds[item_set]
        return self._find_kind(item_set)

    cdef uint8_t _find_kind(self, int32_t item_set) except 0:
        cdef Span[int64_t] items = self.of(item_set)
        cdef uint8_t result = _READS
        cdef int32_t state, call
        cdef size_t i
        for i in range(items.size()):
            state = self.row_of(<int32_t> (items[i] // self.radix))
            if self.accepting[state] and result == _READS:
                result = _COMPLETES
            for call in range(self.call_start[state], self.call_start[state + 1]):
                if not self.call_tail[call]:
                    # Overrides ``_COMPLETES``: the state that is made then has the completions,
                    # too.
                    result = _LIFTS
        if item_set >= <int32_t> self.kinds.size():
            self.kinds.resize(item_set + 1 + item_set // 2)
        self.kinds[item_set] = result
        return result

    cdef int32_t _move_by_search(self, int32_t item_set, int32_t byte_class) except -2:
        cdef Span[int64_t] items = self.of(item_set)
        cdef vector[int64_t] reached
        cdef size_t i
        cdef int32_t state, row, edge, end
        for i in range(items.size()):
            state = <int32_t> (items[i] // self.radix)
            row = self.row_of(state)
            edge, end = self._first_edge(row, byte_class), self.edge_start[row + 1]
            while edge < end and self.edge_class[edge] == byte_class:
                reached.push_back(
                    self.target(state, self.edge_target[edge]) * self.radix
                    + items[i] % self.radix
                )
                edge += 1
        return self._intern(reached)

    cdef int32_t _first_edge(self, int32_t state, int32_t byte_class) noexcept:
        """The first edge of a class, or the index at which it would be inserted (lower bound)."""
        cdef int32_t low = self.edge_start[state], high = self.edge_start[state + 1], middle
        while low < high:
            middle = (low + high) // 2
            if self.edge_class[middle] < byte_class:
                low = middle + 1
            else:
                high = middle
        return low

    cdef int32_t _intern(self, vector[int64_t]& items) except -2:
        """The number of a set of items, closed under tail calls."""
        # A set of one item is looked up by the item: no list is closed and hashed.
        if items.size() != 1:
            return self._find_closed(items)
        cdef uint64_t only = items[0]
        cdef int32_t number = self.single.get(only)
        if number == UNKNOWN:
            number = self._find_closed(items)
            self.single.put(only, number)
        return number

    cdef int32_t _find_closed(self, vector[int64_t]& items) except -2:
        cdef vector[int64_t] closed
        cdef vector[int32_t]* states
        cdef int32_t state
        cdef size_t i, j
        closed.reserve(items.size() + 8)
        for i in range(items.size()):
            state = <int32_t> (items[i] // self.radix)
            if not self.has_calls(state):
                closed.push_back(items[i])
                continue
            states = self._with_tail_calls(state)
            self.room.check(closed.size() + states.size(), items[i] % self.radix)
            for j in range(states.size()):
                # A callee in tail position reports what its caller reports, so no stack node waits
                # for it, and right recursion takes no room. (Leo's items of 1991 are for the same
                # case in Earley's sets.)
                closed.push_back(states[0][j] * self.radix + items[i] % self.radix)
        return self._number(closed)

    cdef int32_t _number(self, vector[int64_t]& items) except -2:
        """The number of a set of items, which may come in any order and more than once."""
        sort(items.begin(), items.end())
        items.erase(unique(items.begin(), items.end()), items.end())
        return self.sets.find(items)

    cdef vector[int32_t]* _with_tail_calls(self, int32_t state) except NULL:
        """The closure of an automaton state under tail calls."""
        cdef vector[int32_t] result
        cdef unordered_set[int32_t] facts
        cdef size_t i = 0
        cdef int32_t call, callee, row
        if not self.tail_called.count(state):
            result.push_back(state)
            # The list grows during the iteration.
            while i < result.size():
                row = self.row_of(result[i])
                for call in range(self.call_start[row], self.call_start[row + 1]):
                    callee = self.entry[self.call_nonterminal[call]]
                    if self.call_tail[call] and _is_new(result, facts, callee):
                        result.push_back(callee)
                i += 1
            self.room.take(result.size(), 0)
            self.tail_called[state].swap(result)
        return &self.tail_called[state]

    cdef int32_t live(self, int32_t item_set) except -2:
        """The set without items that have no outgoing edge."""
        cdef vector[int64_t] kept
        cdef int64_t item
        if not self._knows(item_set, _LIVE):
            for item in self.of(item_set):
                if self._goes_on(item // self.radix):
                    # Completions were taken before (``LazyTable._settle``). Without items that can
                    # only complete, states that differ in the past alone are one.
                    kept.push_back(item)
            self.live_sets[item_set] = self._number(kept)
            self.facts[item_set] |= _LIVE
        return self.live_sets[item_set]

    cdef bint _goes_on(self, int32_t state) noexcept:
        cdef int32_t row = self.row_of(state)
        return self.edge_count(row) > 0 or self.has_calls(row) or self.has_tokens(row)

    cdef inline bint accepts(self, int32_t state) noexcept:
        return self.accepting[self.row_of(state)]

    cdef inline bint has_calls(self, int32_t state) noexcept:
        cdef int32_t row = self.row_of(state)
        return self.call_start[row] < self.call_start[row + 1]

    cdef inline int32_t edge_count(self, int32_t state) noexcept:
        cdef int32_t row = self.row_of(state)
        return self.edge_start[row + 1] - self.edge_start[row]

    cdef inline bint has_tokens(self, int32_t state) noexcept:
        """Whether a token terminal may come at an automaton state."""
        cdef int32_t row = self.row_of(state)
        return self.token_start[row] < self.token_start[row + 1]

    cdef inline bint is_plain(self, int32_t state) noexcept:
        """Whether at an automaton state nothing is complete or called."""
        return not self.accepts(state) and not self.has_calls(state)

    cdef bint expects_tokens(self, int32_t item_set) noexcept:
        """Whether a token terminal may come."""
        cdef int64_t item
        for item in self.of(item_set):
            if self.has_tokens(<int32_t> (item // self.radix)):
                return True
        return False

    cdef int32_t after_token(self, int32_t item_set, ordered_set[int32_t]& terminals) except -2:
        """The set after one token that some of these terminals match, EMPTY where none does."""
        cdef vector[int64_t] reached
        cdef int64_t item
        cdef int32_t state, row, edge
        for item in self.of(item_set):
            state = <int32_t> (item // self.radix)
            row = self.row_of(state)
            for edge in range(self.token_start[row], self.token_start[row + 1]):
                if terminals.count(self.token_terminal[edge]):
                    reached.push_back(
                        self.target(state, self.token_target[edge]) * self.radix
                        + item % self.radix
                    )
        return EMPTY if reached.empty() else self._intern(reached)

    cdef int add_terminals(self, int32_t item_set, ordered_set[int32_t]& terminals) except -1:
        """Add the token terminals that a set expects."""
        cdef int64_t item
        cdef int32_t state, edge
        for item in self.of(item_set):
            state = self.row_of(<int32_t> (item // self.radix))
            for edge in range(self.token_start[state], self.token_start[state + 1]):
                terminals.insert(self.token_terminal[edge])
        return 0

    cdef Span[int32_t] completed(self, int32_t item_set) except *:
        """The nonterminals that a set completes, ascending."""
        cdef ordered_set[int32_t] result
        cdef int64_t item
        if not self._knows(item_set, _COMPLETED):
            for item in self.of(item_set):
                if self.accepts(<int32_t> (item // self.radix)):
                    result.insert(item % self.radix)
            self.completed_lists[item_set] = self._keep(result)
            self.facts[item_set] |= _COMPLETED
        return self.completed_lists[item_set]

    cdef Span[int32_t] reported(self, int32_t item_set) except *:
        """The nonterminals that the items of a set report, ascending."""
        cdef ordered_set[int32_t] result
        cdef int64_t item
        if not self._knows(item_set, _REPORTS):
            for item in self.of(item_set):
                result.insert(item % self.radix)
            self.report_lists[item_set] = self._keep(result)
            self.facts[item_set] |= _REPORTS
        return self.report_lists[item_set]

    cdef Span[int32_t] _keep(self, ordered_set[int32_t]& numbers) except *:
        cdef vector[int32_t] values
        values.assign(numbers.begin(), numbers.end())
        return self.arena.keep(values)

    cdef Span[Pair] waits(self, int32_t item_set) except *:
        """The calls of a set that are not tail calls: (nonterminal, item set after it)."""
        if not self._knows(item_set, _CALLS):
            self.calls[item_set] = self._find_waits(item_set)
            self.facts[item_set] |= _CALLS
        return self.calls[item_set]

    cdef Span[Pair] _find_waits(self, int32_t item_set) except *:
        cdef ordered_map[int32_t, vector[int64_t]] after
        cdef vector[Pair] result
        cdef int64_t item
        cdef int32_t state, row, call
        cdef size_t count = 0
        for item in self.of(item_set):
            state = <int32_t> (item // self.radix)
            row = self.row_of(state)
            for call in range(self.call_start[row], self.call_start[row + 1]):
                if not self.call_tail[call]:
                    after[self.call_nonterminal[call]].push_back(
                        self.target(state, self.call_return[call]) * self.radix
                        + item % self.radix
                    )
                    count += 1
            # Before the sets are made: a chain of nullable rules has as many calls at one item as
            # rules.
            self.room.check(count, item % self.radix)
        for waiting in after:
            result.push_back(Pair(waiting.first, self._intern(waiting.second)))
        return self.call_arena.keep(result)

    cdef bint repeats(self, int32_t item_set) except -1:
        """Whether something is called in a set, a piece, after which the same is called again.

        A token may have as many pieces as it has bytes, such as the characters of a text.
        """
        if not self._knows(item_set, _BRIEFS):
            self.facts[item_set] |= _BRIEFS
            if self._find_repeats(item_set):
                self.facts[item_set] |= _REPEATS
        return self.facts[item_set] & _REPEATS

    cdef bint _find_repeats(self, int32_t item_set) except -1:
        cdef int64_t item
        cdef int32_t state, row, behind, call, again
        for item in self.of(item_set):
            state = <int32_t> (item // self.radix)
            row = self.row_of(state)
            for call in range(self.call_start[row], self.call_start[row + 1]):
                behind = self.row_of(self.call_return[call])
                for again in range(self.call_start[behind], self.call_start[behind + 1]):
                    if self.call_nonterminal[again] == self.call_nonterminal[call]:
                        if self._is_brief(self.call_nonterminal[call]):
                            return True
        return False

    cdef bint _is_brief(self, int32_t nonterminal) except -1:
        """Whether a nonterminal has short texts only, and calls nothing."""
        if not self.brief_flags[nonterminal]:
            self.brief_flags[nonterminal] = _BRIEF if self._find_brief(nonterminal) else _NOT_BRIEF
        return self.brief_flags[nonterminal] == _BRIEF

    cdef bint _find_brief(self, int32_t nonterminal) except -1:
        cdef vector[int32_t] front = vector[int32_t](1, self.entry[nonterminal])
        cdef vector[int32_t] after
        cdef int32_t state, edge, length
        for length in range(_LONGEST_BRIEF + 1):
            if front.empty():
                return True
            if front.size() > _MOST_IN_BRIEF:
                return False
            after.clear()
            for state in front:
                if self.call_start[state] < self.call_start[state + 1]:
                    return False
                for edge in range(self.edge_start[state], self.edge_start[state + 1]):
                    after.push_back(self.edge_target[edge])
            sort(after.begin(), after.end())
            after.erase(unique(after.begin(), after.end()), after.end())
            front.swap(after)
        return False

    cdef int32_t joined(self, int32_t one, int32_t other) except -2:
        """The set of the items of two sets, memoised."""
        cdef vector[int64_t] items
        cdef uint64_t key = _key(min(one, other), max(one, other))
        cdef int32_t result = self.unions.get(key)
        if result == UNKNOWN:
            items.insert(items.end(), self.of(one).begin(), self.of(one).end())
            items.insert(items.end(), self.of(other).begin(), self.of(other).end())
            result = self._number(items)
            self.unions.put(key, result)
        return result

    cdef int32_t united(self, vector[Pair]& pairs, size_t first, size_t last) except -2:
        """The set of all items of ``pairs[first:last]``, which ascend.

        Many are joined at once: after n levels of operators there are as many, and the sets in
        between would have n * n items.
        """
        cdef vector[int64_t] items
        cdef size_t i
        if pairs[first].second == pairs[last - 1].second:
            return pairs[first].second
        if last - first == 2:
            return self.joined(pairs[first].second, pairs[first + 1].second)
        for i in range(first, last):
            items.insert(
                items.end(), self.of(pairs[i].second).begin(), self.of(pairs[i].second).end()
            )
        return self._number(items)

    cdef int32_t entries(self, vector[int32_t] nonterminals) except -2:
        """The set at the entries of nonterminals, each reporting itself."""
        cdef vector[int64_t] result
        cdef int32_t nonterminal
        for nonterminal in nonterminals:
            result.push_back(self.entry[nonterminal] * self.radix + nonterminal)
        return self._intern(result)

    cdef int32_t predicted(self, vector[int32_t]& called) except -2:
        """The set predicted by calls of ``called``: ascending and distinct."""
        cdef string key = string(<const char*> called.data(), called.size() * sizeof(int32_t))
        if not self.predictions.count(key):
            self.predictions[key] = self._predict(called)
        return self.predictions[key]

    cdef int32_t _predict(self, vector[int32_t]& called) except -2:
        """Close under the calls of the callees, found one by one: a chain of them is as long."""
        cdef vector[int32_t] pending = called
        cdef unordered_set[int32_t] facts
        cdef vector[int64_t] entries
        cdef vector[int32_t]* states
        cdef size_t i = 0, j
        cdef int32_t nonterminal, row, call
        # The list grows during the iteration.
        while i < pending.size():
            nonterminal = pending[i]
            i += 1
            entries.push_back(self.entry[nonterminal] * self.radix + nonterminal)
            states = self._with_tail_calls(self.entry[nonterminal])
            for j in range(states.size()):
                row = self.row_of(states[0][j])
                for call in range(self.call_start[row], self.call_start[row + 1]):
                    nonterminal = self.call_nonterminal[call]
                    if not self.call_tail[call] and _is_new(pending, facts, nonterminal):
                        pending.push_back(nonterminal)
        return self._intern(entries)


cdef enum:
    # Numbers that are looked through; of more there is a set.
    _FEW_NUMBERS = 24


cdef bint _is_new(
    vector[int32_t]& numbers, unordered_set[int32_t]& facts, int32_t wanted
) except -1:
    """Whether a growing list does not have a number; ``facts``: those of a long one."""
    if numbers.size() < _FEW_NUMBERS:
        return not _has(numbers, wanted)
    if facts.empty():
        facts.insert(numbers.begin(), numbers.end())
    return facts.insert(wanted).second


# Stack nodes: hash-consed nodes of a graph-structured stack (Tomita 1986).
#
# A node says what resumes when a nonterminal completes. Predicting items gathers all that waits for
# them into one node, a set of triples (nonterminal, parent node, item set to resume). SELF stands
# for the node itself, for callers predicted at the same position. Nodes are named by content, not
# by position in the text: equal contents are one node, so equal configurations are one state
# wherever in a text they occur.


@cython.final
cdef class StackNodes:
    """Interns stack nodes, as sorted triples, and memoises their narrowed forms.

    Nodes are named by number, that of the empty one is BOTTOM. ``size``: the number of triples in
    all nodes. Not locked: the table is.
    """

    def __cinit__(self, ItemSets items):
        cdef vector[Triple] nothing
        self.index, self.narrowed = _Index(), _Map()
        self.items, self.room = items, items.room
        self.find(nothing)

    cdef size_t memory(self) noexcept:
        cdef size_t result = memory_of(self.nodes) + memory_of(self.arena)
        return result + self.index.memory() + self.narrowed.memory()

    def __len__(self):
        return self.nodes.size()

    def intern(self, edges):
        """Return the number of the node with these triples, interning it if new."""
        cdef vector[Triple] result
        cdef int32_t nonterminal, below, after
        for nonterminal, below, after in edges:
            result.push_back(Triple(nonterminal, Pair(below, after)))
        return self.find(result)

    def edges(self, size_t number):
        """Return the triples of a node, ascending."""
        cdef vector[Triple] triples = self.nodes.at(number).copied()
        return tuple([(edge.first, edge.second.first, edge.second.second) for edge in triples])

    def waiting(self, size_t number, int32_t nonterminal):
        """Return the (stack node, item set) pairs to resume when a nonterminal completes."""
        cdef vector[Pair] result
        self.nodes.at(number)
        for triple in self.waiters(Pair(<int32_t> number, nonterminal)):
            result.push_back(_resuming(triple, <int32_t> number))
        return result

    cdef int32_t find(self, vector[Triple]& edges) except -2:
        """The number of the node with this content, given in any order."""
        cdef uint64_t hashed
        cdef size_t at
        cdef int32_t number
        sort(edges.begin(), edges.end())
        hashed = _hash_bytes(edges.size(), edges.data(), edges.size() * sizeof(Triple))
        at = hashed
        number = self.index.next(hashed, &at)
        while number != UNKNOWN:
            if self.nodes[number].equals(edges):
                return number
            number = self.index.next(hashed, &at)
        if not edges.empty():
            self.room.take(edges.size(), edges[0].first)
        self.nodes.push_back(self.arena.keep(edges))
        self.size += edges.size()
        return self.index.add(hashed)

    cdef Span[Triple] waiters(self, Pair complete) noexcept:
        """The triples of a node by which something resumes when a nonterminal completes in it."""
        cdef Span[Triple] edges = self.nodes[complete.first]
        cdef size_t first = _first_triple(edges, complete.second), last = first
        while last < edges.size() and edges[last].first == complete.second:
            last += 1
        return Span[Triple](edges.begin() + first, last - first)

    cdef int32_t narrow(self, int32_t stack_node, int32_t item_set) except -2:
        """The node restricted to what the reports of an item set can reach."""
        cdef uint64_t key
        cdef int32_t result
        if stack_node == BOTTOM:
            return BOTTOM
        key = _key(stack_node, item_set)
        result = self.narrowed.get(key)
        if result == UNKNOWN:
            result = self._find_narrow(stack_node, item_set)
            self.narrowed.put(key, result)
        return result

    cdef int32_t _find_narrow(self, int32_t stack_node, int32_t item_set) except -2:
        cdef Span[Triple] edges = self.nodes[stack_node]
        cdef vector[Triple] kept
        # A nonterminal that no item reports cannot complete here any more. Without its triples,
        # nodes that differ in them alone become one node, and the states of a repetition recur.
        cdef vector[int32_t] needed = self.items.reported(item_set).copied()
        cdef unordered_set[int32_t] facts
        cdef Span[int32_t] reports
        cdef size_t i, j, k = 0
        # The list grows during the iteration, so that each triple is looked at once.
        while k < needed.size():
            i = _first_triple(edges, needed[k])
            while i < edges.size() and edges[i].first == needed[k]:
                kept.push_back(edges[i])
                if edges[i].second.first == SELF:
                    reports = self.items.reported(edges[i].second.second)
                    for j in range(reports.size()):
                        if _is_new(needed, facts, reports[j]):
                            needed.push_back(reports[j])
                i += 1
            k += 1
        return stack_node if kept.size() == edges.size() else self.find(kept)


cdef size_t _first_triple(Span[Triple] edges, int32_t nonterminal) noexcept nogil:
    """The first of ascending triples of a nonterminal, or the index at which it would be."""
    cdef size_t low = 0, high = edges.size(), middle
    while low < high:
        middle = (low + high) // 2
        if edges[middle].first < nonterminal:
            low = middle + 1
        else:
            high = middle
    return low


# Configurations of states, interned: sorted (stack node, item set) pairs, and sorted completions.

@cython.final
cdef class Configurations:
    """Contents by number and numbers by content.

    ``size``: the number of pairs and completions of all states.
    Read with ``at``: any other number is an IndexError, whatever an artifact led to.
    """

    def __cinit__(self, ItemSets items):
        self.room = items.room
        self.index = _Index()

    cdef size_t memory(self) noexcept:
        cdef size_t result = memory_of(self.all_pairs) + memory_of(self.all_exits)
        result += self.index.memory()
        return result + memory_of(self.pair_arena) + memory_of(self.exit_arena)

    def __len__(self):
        return self.all_pairs.size()

    def number(self, pairs, completions):
        """Return the number of a content, the next free one if it is new."""
        cdef vector[Pair] these = pairs
        cdef vector[int32_t] ends = completions
        return self.find(these, ends)

    def pairs(self, size_t number):
        """Return the (stack node, item set) pairs of a state."""
        return tuple(self.all_pairs.at(number).copied())

    def completions(self, size_t number):
        """Return the nonterminals that completed into BOTTOM with the byte that led here."""
        return tuple(self.all_exits.at(number).copied())

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
            if self.all_pairs[number].equals(pairs):
                if self.all_exits[number].equals(completions):
                    return number
            number = self.index.next(hashed, &at)
        self.room.take(pairs.size() + completions.size(), 0)
        self.all_pairs.push_back(self.pair_arena.keep(pairs, 1))
        self.all_exits.push_back(self.exit_arena.keep(completions))
        self.size += pairs.size() + completions.size()
        return self.index.add(hashed)
