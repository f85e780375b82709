# The transition table, filled on demand as a lazy DFA.
#
# **Layer.** Above ``items.pxi``, whose item sets and stack nodes a step combines.
#
# **Terms.** A *state* is a list of (stack node, item set) pairs and of the nonterminals that have
# completed into BOTTOM. Its *sources* are its pairs and the one their calls predict. A *cursor*
# is what a walk goes on with: a state, or ``~item_set`` for an item set above BOTTOM without calls.

@cython.final
cdef class LazyTable:
    """Steps through one ``recognise.states.StateTable`` and computes missing transitions.

    It begins with the dead state. A row is made with the first step from a state: many states are
    frames of masks, which are asked for their pairs alone. The table, which owns this, is not kept
    alive by it.
    """

    def __cinit__(self, table):
        self.acquire = table.lock.acquire
        self.release = table.lock.release
        self.class_view = table.classes
        self.classes = &self.class_view[0]
        self.settled, self.resumptions = _Map(), _Map()
        self.items, self.stack = table.items, table.stack
        self.configurations = table.configurations
        self.width = table.tables.class_count
        self.unknown_row.assign(self.width, UNKNOWN)
        # The dead state is 0 and leads to itself, so that loops over bytes test for it when they
        # like.
        self.rows.push_back(self.arena.take(self.width, DEAD))
        self.completions.push_back(False)

    cdef inline int32_t* row_of(self, int32_t state) noexcept:
        """The states after a state by byte class; UNKNOWN where it was not found yet."""
        return self.rows[state]

    cdef inline int32_t* live_row(self, int32_t state) except NULL:
        """The same, DEAD wherever there is none, to be written to; requires the lock."""
        cdef int32_t* row = self.rows[state]
        return row if row != self.unknown_row.data() else self._make_row(state)

    cdef int32_t* _make_row(self, int32_t state) except NULL:
        cdef int32_t* row = self.arena.take(self.width, UNKNOWN)
        self._bury(state, row)
        self.rows[state] = row
        return row

    def completes(self, int32_t state):
        """Return whether something completed into BOTTOM with the byte that led to a state."""
        return self.completions.at(<size_t> state) != 0

    @property
    def has_completions(self):
        """Whether something completed into BOTTOM at each state: uint8[states]."""
        cdef cnp.npy_intp length = self.completions.size()
        cdef cnp.ndarray flags = cnp.PyArray_EMPTY(1, &length, cnp.NPY_UINT8, 0)
        memcpy(cnp.PyArray_DATA(flags), self.completions.data(), length)
        return flags

    def step_all(self, const int32_t[::1] states, const uint8_t[::1] classes):
        """Return the states after one byte each, int32[n]."""
        cdef cnp.npy_intp length = states.shape[0]
        cdef cnp.ndarray result = cnp.PyArray_EMPTY(1, &length, cnp.NPY_INT32, 0)
        cdef int32_t* out = <int32_t*> cnp.PyArray_DATA(result)
        cdef Py_ssize_t i
        for i in range(length):
            self._check(states[i], classes[i])
            out[i] = self.step(states[i], classes[i])
        return result

    cdef int _check(self, int32_t state, uint8_t byte_class) except -1:
        if not 0 <= state < <int32_t> self.rows.size() or byte_class >= self.width:
            raise IndexError(state)
        return 0

    cdef inline int32_t step(self, int32_t state, uint8_t byte_class) except -2:
        """The state after a byte of a class."""
        # Read without the lock: rows never move, and an entry changes once, from UNKNOWN to its
        # state.
        cdef int32_t result = self.row_of(state)[byte_class]
        return result if result != UNKNOWN else self._find_step(state, byte_class)

    cdef int32_t _find_step(self, int32_t state, uint8_t byte_class) except -2:
        self.acquire()
        try:
            return self._step_alone(state, byte_class)
        finally:
            self.release()

    cdef inline int32_t step_alone(self, int32_t state, uint8_t byte_class) except -2:
        """The same for a caller that already has the lock."""
        cdef int32_t result = self.row_of(state)[byte_class]
        return result if result != UNKNOWN else self._step_alone(state, byte_class)

    cdef int32_t _step_alone(self, int32_t state, uint8_t byte_class) except -2:
        cdef int32_t result = self._explore(state, byte_class)
        self._spread(state, byte_class, result)
        return result

    cdef int32_t run(self, int32_t* state, const uint8_t* data, int32_t count) except -1:
        """Step by bytes until something completes or is called; return how many were read.

        One is, at least. Only the last position gets a state; but where the first has one, that is
        all. Requires the lock.
        """
        cdef uint8_t byte_class = self.classes[data[0]]
        cdef int32_t states = self.row_of(state[0])[byte_class], read = 1
        cdef vector[Pair] reached
        if states != UNKNOWN:
            state[0] = states
            return read
        self._move(state[0], byte_class, reached)
        # Two pairs would have to be united after each byte, as ``_settle`` does; and where the
        # first byte leads to a known state, its row may know the rest.
        if reached.size() != 1 or self.settled.get(_key_of(reached[0])) != UNKNOWN:
            count = 1
        # Above a single stack node an item set that neither completes nor calls anything is all of
        # the state, so that the positions between need none.
        while read < count and reached.size() == 1 and self.items.kind(reached[0].second) == _READS:
            reached[0].second = self.items.move(reached[0].second, self.classes[data[read]])
            read += 1
            if reached[0].second == EMPTY:
                reached.clear()
        states = self._settle_moved(reached)
        # After a longer run the state is not the one that the first byte leads to.
        if read == 1:
            self._spread(state[0], byte_class, states)
        state[0] = states
        return read

    def after(self, int32_t state, uint8_t byte_class):
        """Return the state after a byte of ``byte_class``."""
        self._check(state, byte_class)
        return self.step(state, byte_class)

    def feed(self, int32_t state, const uint8_t[::1] data, bint eager):
        """Return the state after ``data``, and the number of bytes consumed.

        The state is DEAD unless all were. With ``eager`` a byte after one that completed the
        start is refused.
        """
        cdef Py_ssize_t i
        for i in range(data.shape[0]):
            if eager and i and self.completions[state]:
                return DEAD, i
            state = self.step(state, self.classes[data[i]])
            if state == DEAD:
                return DEAD, i
        return state, data.shape[0]

    def live_classes(self, int32_t state):
        """Return the byte classes with a transition from a state, ascending."""
        cdef Span[Pair] sources
        cdef Py_ssize_t byte_class
        cdef size_t i
        cdef list result = []
        self.acquire()
        try:
            sources = self._sources(state)
            for byte_class in range(self.width):
                for i in range(sources.size()):
                    if self.items.can_move(sources[i].second, byte_class):
                        result.append(byte_class)
                        break
        finally:
            self.release()
        return result

    def begin(self, int32_t item_set):
        """Return the state of ``item_set`` alone, over BOTTOM."""
        self.acquire()
        try:
            return self._begin(item_set)
        finally:
            self.release()

    def enter(self, nonterminals):
        """Return the state at the entries of nonterminals, each reporting itself, over BOTTOM."""
        self.acquire()
        try:
            return self._begin(self.items.entries(nonterminals))
        finally:
            self.release()

    cdef int32_t _begin(self, int32_t item_set) except -2:
        cdef vector[Pair] reached = vector[Pair](1, Pair(BOTTOM, item_set))
        cdef vector[int32_t] no_exits
        return self._intern(reached, no_exits)

    def adopt(self, vector[Pair] pairs, vector[int32_t] completions):
        """Return the state with these sorted pairs and completions, a new one if need be."""
        self.acquire()
        try:
            return self._number(pairs, completions)
        finally:
            self.release()

    def merge(self, size_t one, size_t other):
        """Return the union of two states."""
        cdef vector[Pair] reached
        cdef ordered_set[int32_t] ends
        cdef vector[int32_t] completions
        cdef int32_t name
        cdef size_t state
        self.acquire()
        try:
            for state in (one, other):
                reached.insert(
                    reached.end(),
                    self.configurations.all_pairs.at(state).begin(),
                    self.configurations.all_pairs.at(state).end(),
                )
                for name in self.configurations.all_exits.at(state):
                    ends.insert(name)
            completions.assign(ends.begin(), ends.end())
            return self._intern(reached, completions)
        finally:
            self.release()

    def step_token(self, int32_t state, ordered_set[int32_t] terminals):
        """Return the state after one token that matches ``terminals``, by id only."""
        cdef Span[Pair] sources
        cdef vector[Pair] reached
        cdef int32_t after
        cdef size_t i
        self.acquire()
        try:
            sources = self._checked_sources(state)
            for i in range(sources.size()):
                after = self.items.after_token(sources[i].second, terminals)
                if after != EMPTY:
                    reached.push_back(Pair(sources[i].first, after))
            return self._settle(reached)
        finally:
            self.release()

    def token_terminals(self, int32_t state):
        """Return the token terminals expected in a state."""
        cdef Span[Pair] sources
        cdef ordered_set[int32_t] result
        cdef size_t i
        self.acquire()
        try:
            sources = self._checked_sources(state)
            for i in range(sources.size()):
                self.items.add_terminals(sources[i].second, result)
            return frozenset(result)
        finally:
            self.release()

    def sources(self, int32_t state):
        """Return the (stack node, item set) pairs of a state with the pair that they predict."""
        self.acquire()
        try:
            return tuple(self._checked_sources(state).copied())
        finally:
            self.release()

    cdef Span[Pair] _checked_sources(self, int32_t state) except *:
        """The sources of a state whose number may come from anywhere; requires the lock."""
        self.configurations.all_pairs.at(<size_t> state)
        return self._sources(state)

    @property
    def bytes(self):
        """The memory that the table takes, with item sets and stack nodes."""
        cdef size_t result = memory_of(self.rows) + memory_of(self.arena)
        result += memory_of(self.unknown_row)
        result += memory_of(self.completions) + memory_of(self.predicting)
        result += memory_of(self.lives) + memory_of(self.cursors)
        result += self.settled.memory() + self.resumptions.memory()
        return result + self.items.memory() + self.stack.memory() + self.configurations.memory()

    def sizes(self):
        """Return the numbers of states, and of all pairs, completions, items and triples."""
        return self.state_count(), self.entry_count()

    cdef Py_ssize_t state_count(self) except -1:
        return self.configurations.all_pairs.size()

    cdef Py_ssize_t entry_count(self) noexcept:
        return self.configurations.size + self.items.sets.size + self.stack.size

    cdef inline int32_t cursor(self, int32_t state) except? 0:
        """What a walk goes on with: the state, or ``~item_set`` of one above BOTTOM, without calls.

        Such an item set is all that the state is, and stepping it needs no further state.
        """
        cdef Span[Pair] pairs
        if state >= <int32_t> self.cursors.size():
            self.cursors.resize(max(2 * state, 64), 0)
        # 0 marks a state that nobody asked about: it is DEAD, from which no walk goes on.
        if self.cursors[state] == 0:
            self.cursors[state] = state
            pairs = self.configurations.all_pairs.at(state)
            if pairs.size() == 1 and pairs[0].first == BOTTOM:
                if self.items.kind(pairs[0].second) != _LIFTS:
                    self.cursors[state] = ~pairs[0].second
        return self.cursors[state]

    cdef inline int32_t* row(self, int32_t cursor) except NULL:
        """What follows a cursor by class, DEAD where nothing does; others may be unknown yet."""
        return self.live_row(cursor) if cursor >= 0 else self.items.row(~cursor)

    cdef int32_t cursor_above(self, int32_t item_set) except? 0:
        """The cursor of an item set above BOTTOM, with what it calls."""
        item_set = self.items.live(item_set)
        if self.items.kind(item_set) != _LIFTS:
            return ~item_set
        return self.cursor(self._begin(item_set))

    cdef int32_t cursor_apart(self, int32_t item_set) except? 0:
        """The cursor at which an item set is walked, without what it calls but pieces."""
        # Walked apart, each piece would be a frame of its own, one for each character of a token.
        if self.items.repeats(item_set):
            return self.cursor_above(item_set)
        return ~self.items.live(item_set)

    cdef inline int32_t arrive(self, int32_t cursor, uint8_t byte_class, int32_t* ended) except? 0:
        """The cursor after a byte, DEAD without one; requires the lock.

        ``ended``: the state or, as ``~item_set``, the item set with which something completes into
        BOTTOM there; 0 where nothing does.
        """
        cdef int32_t after
        cdef uint8_t kind
        ended[0] = 0
        if cursor < 0:
            after = self.items.move(~cursor, byte_class)
            if after == EMPTY:
                return DEAD
            kind = self.items.kind(after)
            if kind != _LIFTS:
                if kind == _COMPLETES:
                    ended[0] = ~after
                return ~after
            after = self.lift(after)
        else:
            after = self.step_alone(cursor, byte_class)
            if after == DEAD:
                return DEAD
        if self.completions[after]:
            ended[0] = after
        return self.cursor(after)

    cdef Span[int32_t] ends(self, int32_t ended) except *:
        """The nonterminals that complete, by the ``ended`` of ``arrive``."""
        if ended < 0:
            return self.items.completed(~ended)
        return self.configurations.all_exits.at(ended)

    cdef int32_t lift(self, int32_t item_set) except -2:
        """The state of an item set above BOTTOM that was just reached; requires the lock."""
        cdef int32_t result = self._settle_one(Pair(BOTTOM, item_set))
        return result

    cdef int32_t _explore(self, int32_t state, uint8_t byte_class) except -2:
        cdef vector[Pair] reached
        self._move(state, byte_class, reached)
        return self._settle_moved(reached)

    cdef int _move(self, int32_t state, uint8_t byte_class, vector[Pair]& reached) except -1:
        """Find where a byte leads from each pair of a state."""
        cdef Span[Pair] sources = self._sources(state)
        cdef size_t i
        cdef int32_t moved
        for i in range(sources.size()):
            moved = self.items.move(sources[i].second, byte_class)
            if moved != EMPTY:
                reached.push_back(Pair(sources[i].first, moved))
        return 0

    cdef inline int32_t _settle_moved(self, vector[Pair]& reached) except -2:
        return self._settle_one(reached[0]) if reached.size() == 1 else self._settle(reached)

    cdef int _spread(self, int32_t state, uint8_t byte_class, int32_t predicted) except -1:
        """Store a transition, also for all classes on which each item set goes the same way."""
        cdef Span[Pair] sources = self._sources(state)
        cdef int32_t* row = self.live_row(state)
        cdef int32_t other
        cdef size_t i
        row[byte_class] = predicted
        # Classes are what the whole grammar tells apart; at one position most of them move alike,
        # and a walk over the trie meets them all.
        for other in range(self.width):
            if row[other] == UNKNOWN:
                for i in range(sources.size()):
                    if not self.items.move_alike(sources[i].second, byte_class, other):
                        break
                else:
                    row[other] = predicted
        return 0

    cdef int32_t _settle_one(self, Pair reached) except -2:
        """Intern a state of a single pair, memoised: many bytes lead to the same one."""
        cdef uint64_t key = _key_of(reached)
        cdef vector[Pair] pairs
        cdef int32_t result = self.settled.get(key)
        if result == UNKNOWN:
            pairs.push_back(reached)
            result = self._settle(pairs)
            self.settled.put(key, result)
        return result

    cdef int32_t resumed(self, Pair complete) except -2:
        """The state of what waits for a nonterminal that completes in a node, memoised."""
        cdef uint64_t key = _key_of(complete)
        cdef vector[Pair] pairs
        cdef int32_t result = self.resumptions.get(key)
        if result == UNKNOWN:
            for triple in self.stack.waiters(complete):
                pairs.push_back(_resuming(triple, complete.first))
            result = self._settle(pairs)
            self.resumptions.put(key, result)
        return result

    cdef int32_t _settle(self, vector[Pair]& reached) except -2:
        cdef vector[int32_t] completions
        cdef vector[Pair] done
        cdef unordered_set[uint64_t] keys, done_keys
        cdef Span[int32_t] completed
        cdef Span[Triple] waiting
        cdef Pair completion
        cdef size_t i = 0, j, k, steps = 0
        # The list of pairs grows during the iteration, so each is visited once, in turn.
        while i < reached.size():
            completed = self.items.completed(reached[i].second)
            for j in range(completed.size()):
                completion = Pair(reached[i].first, completed[j])
                if not _append(done, done_keys, completion):
                    continue
                if completion.first == BOTTOM:
                    completions.push_back(completion.second)
                    continue
                waiting = self.stack.waiters(completion)
                steps += 1 + waiting.size()
                self.items.room.check(steps, completion.second)
                for k in range(waiting.size()):
                    _append(reached, keys, _resuming(waiting[k], completion.first))
            i += 1
        # All completions are known before items are dropped in ``_intern``, which keeps those that
        # go on.
        sort(completions.begin(), completions.end())
        return self._intern(reached, completions)

    cdef int32_t _intern(self, vector[Pair]& reached, vector[int32_t]& completions) except -2:
        cdef vector[Pair] merged, pairs
        cdef size_t i
        cdef int32_t item_set
        self._unite(reached, merged)
        for i in range(merged.size()):
            item_set = self.items.live(merged[i].second)
            if item_set != EMPTY:
                pairs.push_back(Pair(self.stack.narrow(merged[i].first, item_set), item_set))
        # Again: narrowing may have made two nodes equal.
        self._unite(pairs, merged)
        return self._number(merged, completions)

    cdef int _unite(self, vector[Pair]& pairs, vector[Pair]& united) except -1:
        """Sort pairs, and write one for each stack node, with the items of all."""
        cdef size_t first = 0, last
        united.clear()
        sort(pairs.begin(), pairs.end())
        while first < pairs.size():
            last = first
            while last < pairs.size() and pairs[last].first == pairs[first].first:
                last += 1
            united.push_back(Pair(pairs[first].first, self.items.united(pairs, first, last)))
            first = last
        return 0

    cdef int32_t _number(self, vector[Pair]& pairs, vector[int32_t]& completions) except -2:
        cdef int32_t number = self.configurations.find(pairs, completions)
        cdef size_t other
        for other in range(self.rows.size(), number + 1):
            self.rows.push_back(self.unknown_row.data())
            self.completions.push_back(not self.configurations.all_exits[other].empty())
        return number

    cdef Span[Pair] _sources(self, int32_t state) except *:
        """The pairs of a state together with the pair that they predict."""
        cdef Span[Pair] pairs = self.configurations.all_pairs.at(state)
        if state >= <int32_t> self.predicting.size():
            self.predicting.resize(state + 1)
        if not self.predicting[state]:
            self.predicting[state] = 1 + self._predict(pairs)
        # The predicted pair lies in the spare place after the pairs, so that sources are one span.
        return Span[Pair](pairs.begin(), pairs.size() + self.predicting[state] - 1)

    cdef int _bury(self, int32_t state, int32_t* row) except -1:
        """Fill the row's DEAD entries eagerly: most classes have no transition."""
        cdef Span[Pair] sources = self._sources(state)
        cdef Py_ssize_t byte_class
        cdef const int32_t* moves
        cdef size_t i
        self.lives.assign(self.width, False)
        for i in range(sources.size()):
            moves = self.items.row(sources[i].second)
            for byte_class in range(self.width):
                self.lives[byte_class] |= moves[byte_class] != EMPTY
        for byte_class in range(self.width):
            if not self.lives[byte_class]:
                row[byte_class] = DEAD
        return 0

    cdef bint _predict(self, Span[Pair] pairs) except -1:
        """Write what the pairs of a state predict after them; return whether they do."""
        cdef vector[Triple] edges
        cdef vector[int32_t] called
        cdef Span[Pair] waits
        cdef int32_t predicted
        cdef size_t i, j
        for i in range(pairs.size()):
            waits = self.items.waits(pairs[i].second)
            for j in range(waits.size()):
                called.push_back(waits[j].first)
                edges.push_back(Triple(waits[j].first, Pair(pairs[i].first, waits[j].second)))
        if edges.empty():
            return False
        sort(called.begin(), called.end())
        called.erase(unique(called.begin(), called.end()), called.end())
        predicted = self.items.predicted(called)
        waits = self.items.waits(predicted)
        for j in range(waits.size()):
            # Callers that were predicted here wait in the node that is being made: left recursion
            # is a triple with SELF, not a node for each level.
            edges.push_back(Triple(waits[j].first, Pair(SELF, waits[j].second)))
        pairs.end()[0] = Pair(self.stack.find(edges), predicted)
        return True


cdef enum:
    # Pairs that are looked through; of more there is a set.
    _FEW_PAIRS = 24


cdef bint _append(
    vector[Pair]& pairs, unordered_set[uint64_t]& keys, Pair added
) except -1:
    """Add a pair to a list that has each once, and return whether it is new.

    ``keys``: the pairs of a long list, of which there is one for each place where a text may turn
    (``p ::= 'a' p 'a' | 'a'``), so that a step takes time in proportion to them.
    """
    cdef size_t i
    if pairs.size() < _FEW_PAIRS:
        for i in range(pairs.size()):
            if pairs[i] == added:
                return False
    else:
        if keys.empty():
            for i in range(pairs.size()):
                keys.insert(_key(pairs[i].first, pairs[i].second))
        if keys.count(_key(added.first, added.second)):
            return False
        keys.insert(_key(added.first, added.second))
    pairs.push_back(added)
    return True
