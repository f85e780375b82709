# Derivations: which rules matched which parts of a text, read from its end.
#
# **Layer.** The lowest of ``_trees``.
#
# Recognition runs over position automata (``lower.positions``) and keeps the number of the state at
# each place of the text. A state has the items that are possible there; those at the end lead back:
# an item of a state came from items of the state before, or from a rule that was complete there,
# whose items lead back to where it began, and to an item that called it. Stack nodes are named by
# content, not by place, but a call into a node was made wherever that content is, so that each way
# back reaches the beginning: there are no dead ends, and where an item has one source only, nothing
# is to be chosen. A text with one derivation is so read in linear time.
#
# What depends only on a state, or on a step from one to the next, is worked out once for each,
# here. Texts are read back in ``trace.pxi``; where there are several sources, by ``_Region``.

cdef enum:
    # Kinds of configurations: about to leave an item of a state; at a node of the step to a state;
    # before the text; after it.
    _ITEM = 0
    _NODE = 1
    _BEGIN = 2
    _ORIGIN = 3

cdef enum:
    # How a configuration follows the one before it in the text.
    _SAME = 0
    _READ = 1
    _RETURN = 2
    _CALL = 3
    _TAIL = 4
    _LAST = 5
    _FIRST = 6

cdef enum:
    # No preference, no call, no token.
    _NOTHING = -1

cdef enum:
    # An item or arrival takes the memory of so many callers or ways.
    _SIZE_OF_ITEM = 4

cdef struct _Item:
    int32_t pair
    int32_t state
    int32_t report

cdef struct _Option:
    int32_t kind
    int32_t index
    int32_t edge

cdef struct _Caller:
    int32_t item
    int32_t call

cdef struct _Arrival:
    int32_t stack
    int32_t state
    int32_t report


cdef cppclass _Sources:
    # Items of a state, those of the pairs first, then those that they predict.
    vector[_Item] items
    vector[int32_t] nodes
    int32_t predicted
    # By item that is an entry: the items that call it.
    vector[vector[_Caller]] callers


cdef cppclass _Step:
    vector[_Arrival] arrivals
    vector[vector[_Option]] options
    # By item of the pairs of the state reached.
    vector[vector[int32_t]] of_item
    vector[int32_t] complete


@cython.final
cdef class Derivations:
    """What states and steps of one table over position automata say of derivations; shared."""

    cdef readonly object positions
    cdef readonly object lists
    cdef LazyTable explorer
    cdef ItemSets items
    cdef object acquire
    cdef object release
    cdef int32_t width
    cdef int32_t start
    cdef int32_t initial
    cdef object kept
    cdef const int32_t[::1] labels
    cdef const int32_t[::1] arrive
    cdef const int32_t[::1] before
    cdef const int64_t[::1] preference
    cdef int32_t calls_at
    cdef int32_t tokens_at
    cdef vector[int32_t] rule_of
    cdef vector[uint8_t] is_entry
    cdef vector[vector[Pair]] passed
    cdef _Map source_numbers
    cdef deque[_Sources] sources
    cdef _Map step_numbers
    cdef deque[_Step] steps
    cdef list terminals
    # What states and steps are made of: items, callers, arrivals and ways to them; how many of
    # them there may be, and the limit for the error.
    cdef readonly int64_t made
    cdef int64_t most
    cdef int64_t limit

    def __init__(self, table, positions):
        cdef int32_t rule, state, label, below
        cdef vector[Pair] nodes
        tables = positions.tables
        self.positions = positions
        self.lists = positions.passed
        self.explorer = table.explorer
        self.items = table.items
        self.acquire, self.release = table.lock.acquire, table.lock.release
        self.width = tables.class_count
        self.start, self.initial = tables.start, table.initial
        self.labels, self.arrive = positions.labels, positions.arrive
        self.before, self.preference = positions.before, positions.preference
        self.calls_at = len(tables.edge_class)
        self.tokens_at = self.calls_at + len(tables.call_return)
        self.rule_of.resize(tables.state_count)
        self.is_entry.resize(tables.state_count, False)
        entry = [*tables.entry.tolist(), tables.state_count]
        for rule in range(len(entry) - 1):
            self.is_entry[entry[rule]] = True
            for state in range(entry[rule], entry[rule + 1]):
                self.rule_of[state] = rule
        for pairs in positions.passed:
            nodes.clear()
            for label, below in pairs:
                nodes.push_back(Pair(label, below))
            self.passed.push_back(nodes)
        self.source_numbers, self.step_numbers = _Map(), _Map()
        self.terminals = []

    def size(self):
        """Return the numbers of states and steps that are known."""
        return self.sources.size(), self.steps.size()

    cdef inline void allow(self, int64_t work, int64_t limit) noexcept:
        """Let so much be made from here on."""
        self.most, self.limit = self.made + work, limit

    cdef inline int _make(self, int64_t count) except -1:
        """Count objects before they are made; raise WorkLimitError above the limit."""
        self.made += count
        if self.made > self.most:
            _refuse_text(self.limit)
        return 0

    cdef int32_t symbol_of(self, terminals) except -1:
        """The symbol of a token that matches some terminals, after those of the byte classes."""
        if terminals not in self.terminals:
            self.terminals.append(terminals)
        return self.width + self.terminals.index(terminals)

    cdef _Sources* sources_of(self, int32_t state) except NULL:
        cdef int32_t number = self.source_numbers.get(state)
        if number == UNKNOWN:
            number = self.sources.size()
            self.sources.resize(number + 1)
            try:
                self._find_sources(state, &self.sources.back())
            except BaseException:
                # Nobody may get an entry that is half made.
                self.sources.pop_back()
                raise
            self.source_numbers.put(state, number)
        return &self.sources[number]

    cdef int _find_sources(self, int32_t state, _Sources* sources) except -1:
        cdef Span[Pair] pairs = self.explorer._sources(state)
        cdef size_t kernel = self.explorer.configurations.all_pairs.at(state).size()
        cdef ordered_map[Triple, int32_t] entries
        cdef Triple key
        cdef size_t i
        cdef int32_t call, called
        cdef int64_t item
        cdef _Item* one
        sources.predicted = kernel if kernel < pairs.size() else _NOTHING
        for i in range(pairs.size()):
            sources.nodes.push_back(pairs[i].first)
            self._make(_SIZE_OF_ITEM * self.items.of(pairs[i].second).size())
            for item in self.items.of(pairs[i].second):
                sources.items.push_back(
                    _Item(i, <int32_t> (item // self.items.radix), item % self.items.radix)
                )
        for i in range(sources.items.size()):
            one = &sources.items[i]
            if self.is_entry[one.state]:
                entries[Triple(one.pair, Pair(one.state, one.report))] = i
        sources.callers.resize(sources.items.size())
        for i in range(sources.items.size()):
            one = &sources.items[i]
            self._make(self.items.call_start[one.state + 1] - self.items.call_start[one.state])
            for call in range(
                self.items.call_start[one.state], self.items.call_start[one.state + 1]
            ):
                called = self.items.call_nonterminal[call]
                # A callee is predicted and reports itself; one in tail position is in the pair of
                # its caller, and reports what that does.
                key = Triple(sources.predicted, Pair(self.items.entry[called], called))
                if self.items.call_tail[call]:
                    key = Triple(one.pair, Pair(self.items.entry[called], one.report))
                if entries.count(key):
                    sources.callers[entries[key]].push_back(_Caller(i, call))
        return 0

    cdef _Step* step_of(self, int32_t state, int32_t symbol, int32_t after) except NULL:
        cdef uint64_t key = _key(state, symbol)
        cdef int32_t number = self.step_numbers.get(key)
        if number == UNKNOWN:
            number = self.steps.size()
            self.steps.resize(number + 1)
            try:
                self._find_step(state, symbol, after, &self.steps.back())
            except BaseException:
                self.steps.pop_back()
                raise
            self.step_numbers.put(key, number)
        return &self.steps[number]

    cdef int32_t _arrive(
        self, _Step* step, ordered_map[Triple, int32_t]& numbers, _Arrival arrival
    ) except -1:
        cdef Triple key = Triple(arrival.stack, Pair(arrival.state, arrival.report))
        self._make(1)
        if not numbers.count(key):
            self._make(_SIZE_OF_ITEM)
            numbers[key] = step.arrivals.size()
            step.arrivals.push_back(arrival)
            step.options.push_back(vector[_Option]())
        return numbers[key]

    cdef int _find_step(self, int32_t state, int32_t symbol, int32_t after, _Step* step) except -1:
        """Work out all that a step does, completions included, with what each came from."""
        cdef _Sources* sources = self.sources_of(state)
        cdef ordered_map[Triple, int32_t] numbers
        cdef _Item* item
        cdef _Arrival arrival
        cdef Pair waiting
        cdef size_t i, j, k
        cdef int32_t edge, end, target
        cdef int64_t caller
        wanted = self.terminals[symbol - self.width] if symbol >= self.width else ()
        for i in range(sources.items.size()):
            item = &sources.items[i]
            if symbol < self.width:
                edge = self.items._first_edge(item.state, symbol)
                end = self.items.edge_start[item.state + 1]
                while edge < end and self.items.edge_class[edge] == symbol:
                    target = self._arrive(
                        step,
                        numbers,
                        _Arrival(
                            sources.nodes[item.pair], self.items.edge_target[edge], item.report
                        ),
                    )
                    step.options[target].push_back(_Option(_READ, i, edge))
                    edge += 1
            else:
                for edge in range(
                    self.items.token_start[item.state], self.items.token_start[item.state + 1]
                ):
                    if self.items.token_terminal[edge] not in wanted:
                        continue
                    target = self._arrive(
                        step,
                        numbers,
                        _Arrival(
                            sources.nodes[item.pair], self.items.token_target[edge], item.report
                        ),
                    )
                    step.options[target].push_back(_Option(_READ, i, self.tokens_at + edge))
        i = 0
        while i < step.arrivals.size():
            arrival = step.arrivals[i]
            if self.items.accepting[arrival.state]:
                if arrival.stack == BOTTOM:
                    if arrival.report == self.start:
                        step.complete.push_back(i)
                else:
                    for triple in self.explorer.stack.waiters(
                        Pair(arrival.stack, arrival.report)
                    ):
                        waiting = _resuming(triple, arrival.stack)
                        self._make(self.items.of(waiting.second).size())
                        for caller in self.items.of(waiting.second):
                            # A set is closed under tail calls: an entry in one that resumes was
                            # predicted, and its sources are its callers.
                            if self.is_entry[<int32_t> (caller // self.items.radix)]:
                                continue
                            target = self._arrive(
                                step,
                                numbers,
                                _Arrival(
                                    waiting.first,
                                    <int32_t> (caller // self.items.radix),
                                    caller % self.items.radix,
                                ),
                            )
                            step.options[target].push_back(_Option(_RETURN, i, 0))
            i += 1
        self._join(after, step)
        return 0

    cdef int _join(self, int32_t after, _Step* step) except -1:
        """Find which arrivals are which items of the state reached."""
        cdef _Sources* reached
        cdef ordered_map[int32_t, vector[int64_t]] by_stack
        cdef unordered_map[int32_t, int32_t] narrowed
        cdef ordered_map[Triple, vector[int32_t]] joined
        cdef _Arrival arrival
        cdef _Item item
        cdef int32_t item_set
        cdef size_t i
        if after == DEAD:
            return 0
        reached = self.sources_of(after)
        for arrival in step.arrivals:
            by_stack[arrival.stack].push_back(
                <int64_t> arrival.state * self.items.radix + arrival.report
            )
        for pair in by_stack:
            # As the table names the state that is reached: by stack node, live items only,
            # narrowed.
            item_set = self.items.live(self.items._intern(pair.second))
            narrowed[pair.first] = (
                self.explorer.stack.narrow(pair.first, item_set) if item_set != EMPTY else _NOTHING
            )
        for i in range(step.arrivals.size()):
            arrival = step.arrivals[i]
            joined[
                Triple(narrowed[arrival.stack], Pair(arrival.state, arrival.report))
            ].push_back(i)
        for item in reached.items:
            step.of_item.push_back(
                vector[int32_t]()
                if item.pair == reached.predicted
                else joined[Triple(reached.nodes[item.pair], Pair(item.state, item.report))]
            )
        return 0

    cdef inline bint reads(self, int32_t state) noexcept:
        """Whether a byte or a token may follow at a state of an automaton."""
        return (
            self.items.edge_start[state] < self.items.edge_start[state + 1]
            or self.items.token_start[state] < self.items.token_start[state + 1]
        )

    cdef int64_t preference_of(self, int32_t caller, int32_t called, int32_t back) except -2:
        """How much a call by an item is preferred that returns to a state."""
        cdef int32_t call
        for call in range(self.items.call_start[caller], self.items.call_start[caller + 1]):
            if self.items.call_nonterminal[call] == called and self.items.call_return[call] == back:
                return self.preference[self.calls_at + call]
        return 0


# Regions: parts of a text where there are several ways back.
#
# All are followed side by side until they meet. From there the best one is taken forward: at each
# place those that prefer least are dropped. The configurations between, an item with the calls that
# are open to its right, are kept only until that is done.
#
# Work is counted: configurations and links made, ways looked at. Each place of the text that is
# passed allows for some more, up to a maximum at once, so that a text of any length is read
# that has a few derivations side by side; many side by side are refused, wherever they are. So is a
# region that is too large to be kept.

cdef enum:
    # Bits of a preference below those of the first occurrence of a rule.
    _FIRST_BITS = 32
    # Choices that are taken back in one region.
    _TRIES = 100000
    # Ways through a region that go round in circles.
    _ENDLESS = -1
    # Counted work that each place of a text allows for.
    _FREE_WORK = 256
    # Of the work that is allowed at once, one part in so many is the size of a region.
    _SIZE_OF_WORK = 4
    # Counted work between two looks for a signal.
    _PATIENCE = 1 << 14

cdef struct _Point:
    int32_t at
    int32_t kind
    int32_t index
    int32_t frame

cdef struct _Way:
    _Point point
    int32_t kind
    int32_t edge

cdef struct _Frame:
    # A call that is open to the right: the item that it returned to, and the callee.
    int32_t state
    int32_t stack
    int32_t report
    int32_t called

cdef struct _Opened:
    _Frame frame
    int64_t mark
    int32_t end

cdef struct _Link:
    # ``next`` is the next link of the same configuration, _NOTHING after the last.
    int32_t target
    int32_t kind
    int32_t edge
    int32_t next


@cython.final
cdef class _Region:
    """Configurations by number, 0 is where the ways back begin; the links forward of each."""

    cdef vector[_Point] points
    cdef _Index index
    cdef vector[_Link] links
    # By configuration, its first and its last link.
    cdef vector[Pair] ends
    # Open calls, named by the item that they returned to and its place; a call has the calls around
    # it, several where that item has (Tomita's graph-structured stack).
    cdef vector[_Frame] frames
    cdef vector[Pair] returned
    cdef vector[vector[int32_t]] around
    cdef ordered_map[Triple, int32_t] frame_numbers

    def __cinit__(self):
        self.index = _Index()

    cdef int32_t number(self, _Point point, bint* is_new) except -1:
        """The number of a configuration, the next one if it is new."""
        cdef uint64_t hashed = _hash_bytes(0, &point, sizeof(_Point))
        cdef size_t at = hashed
        cdef int32_t result = self.index.next(hashed, &at)
        while result != UNKNOWN:
            if memcmp(&self.points[result], &point, sizeof(_Point)) == 0:
                break
            result = self.index.next(hashed, &at)
        is_new[0] = result == UNKNOWN
        if is_new[0]:
            self.points.push_back(point)
            self.ends.push_back(Pair(_NOTHING, _NOTHING))
            result = self.index.add(hashed)
        return result

    cdef int link(self, int32_t source, int32_t target, int32_t kind, int32_t edge) except -1:
        """Add a link after those of a configuration."""
        cdef int32_t link = self.links.size()
        cdef Pair* ends = &self.ends[source]
        self.links.push_back(_Link(target, kind, edge, _NOTHING))
        if ends.first == _NOTHING:
            ends.first = link
        else:
            self.links[ends.second].next = link
        ends.second = link
        return 0

    cdef inline int64_t size(self) noexcept:
        return 2 * <int64_t> self.points.size() + <int64_t> self.links.size()


cdef struct _Moment:
    # Threads of one step, from ``first`` on, with their level, and the preference that was tried.
    int32_t first
    int32_t after
    int32_t level
    int64_t tried


cdef cppclass _Level:
    # A call on a way forward: the state that called, _NOTHING for a tail call; the level around
    # it, if there is one; and of each open call that was entered there, those around it.
    int32_t caller
    int32_t outer
    unordered_map[int32_t, vector[int32_t]] around


cdef bint _returns(
    _Region region, int32_t complete, int32_t after, vector[_Level]& levels, int32_t level
) noexcept:
    """Whether a call returns to where it was called, if that was on the same way."""
    cdef int32_t frame = region.points[complete].frame
    level = _calling(levels, level)
    return level == _NOTHING or _has(levels[level].around[frame], region.points[after].frame)


cdef int32_t _calling(vector[_Level]& levels, int32_t level) noexcept:
    """The innermost level that is not a tail call, if there is one."""
    while level != _NOTHING and levels[level].caller == _NOTHING:
        level = levels[level].outer
    return level


cdef void _push_moment(
    vector[_Moment]& moments, int32_t first, int32_t after, int32_t level
) noexcept:
    moments.push_back(_Moment(first, after, level, _NOTHING))


cdef bint _is_settled(_Region region, int32_t frame) noexcept:
    """Whether the calls that are open to the right of a configuration are the same on all ways."""
    cdef size_t depth = 0
    while frame >= 0:
        depth += 1
        # More calls than there are: they are around each other.
        if region.around[frame].size() != 1 or depth > region.frames.size():
            return False
        frame = region.around[frame][0]
    return True


cdef bint _is_before(_Point one, _Point other) noexcept:
    """Whether one configuration is less far in the text than another; nodes are before items."""
    if one.at != other.at or one.kind == other.kind:
        return one.at < other.at
    return one.kind == _NODE or other.kind == _ORIGIN


cdef bint _is_same(_Point one, _Point other) noexcept:
    """Whether two configurations are the same but for the calls open to their right."""
    return one.at == other.at and one.kind == other.kind and one.index == other.index


cdef _Frame _call_of(_Step* step, int32_t after, int32_t complete) noexcept:
    """The call that led from an arrival at the end of a rule to another one.

    A callee that began where its caller began returns to the same stack node, which has become
    narrower since.
    """
    cdef _Frame frame
    frame.state = step.arrivals[after].state
    frame.stack = step.arrivals[after].stack
    if frame.stack == step.arrivals[complete].stack:
        frame.stack = SELF
    frame.report = step.arrivals[after].report
    frame.called = step.arrivals[complete].report
    return frame
