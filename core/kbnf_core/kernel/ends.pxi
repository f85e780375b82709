# Distances of states to the end of a text, and the tokens after which a budget is enough.
#
# **Layer.** Above ``end_costs.pxi`` and ``walk.pxi``.
#
# An item costs what its position does (``end_costs.pxi``) and what follows in the stack when its
# nonterminal is complete; a state costs the least of its items. Both depend on numbers that are
# never given anew, so they are remembered by item set, stack node and state.
#
# If a cost in tokens is finite and not 0, some token leads to a state whose cost is lower by at
# least one. So a text of which each token leaves a cost of at most the rest of its budget ends in
# time.

ctypedef pair[int32_t, int64_t] Cost  # of a nonterminal

cdef int64_t _at(vector[Cost]& costs, int32_t nonterminal) noexcept nogil:
    """The cost of a nonterminal in a short list."""
    cdef size_t i
    for i in range(costs.size()):
        if costs[i].first == nonterminal:
            return costs[i].second
    return _NEVER


cdef bint _improve(vector[Cost]& costs, int32_t nonterminal, int64_t cost, bint to_more) except -1:
    """Note a cost of a nonterminal if it is the least so far, or the most; return whether it is."""
    cdef size_t i
    for i in range(costs.size()):
        if costs[i].first == nonterminal:
            if (cost > costs[i].second) if to_more else (cost < costs[i].second):
                costs[i].second = cost
                return True
            return False
    costs.push_back(Cost(nonterminal, cost))
    return True


cdef class _StateCosts:
    """The costs of states to the end of a text, for searches that need no more of ``Ends``."""

    cdef int64_t of_state(self, int32_t state) except -1:
        """Return the cost of a state, ``_NEVER`` without an end; requires the lock."""
        raise NotImplementedError


@cython.final
cdef class Ends(_StateCosts):
    """The costs of the states of one table."""

    cdef LazyTable explorer
    cdef ItemSets items
    cdef EndCosts costs
    # By item set: the least that its items cost by the nonterminal that they report; and the most
    # that they can come to cost within it. By stack node: what follows a nonterminal that completes
    # into it, and the most that any frame there or below can come to cost. By state: its cost. -1,
    # or empty, before it was asked for.
    cdef deque[vector[Cost]] least_within
    cdef deque[vector[Cost]] most_within
    cdef deque[vector[Cost]] least_above
    cdef vector[int64_t] most_above
    cdef vector[int64_t] of_states
    cdef vector[int64_t] most_of_states
    # Edges of stack nodes that were looked at.
    cdef readonly long long work

    def __init__(self, table, EndCosts costs):
        self.explorer, self.items = table.explorer, table.items
        self.costs = costs
        self.least_above.push_back(vector[Cost](1, Cost(table.tables.start, 0)))
        self.most_above.push_back(0)

    @property
    def bytes(self):
        """The memory that is taken."""
        cdef size_t result = memory_of(self.least_within) + memory_of(self.most_within)
        result += memory_of(self.least_above) + memory_of(self.most_above)
        return result + memory_of(self.of_states) + memory_of(self.most_of_states)

    def least(self, int32_t state):
        """Return the cost of a state: 0 where its text is complete, ``NEVER`` without an end."""
        self.explorer.acquire()
        try:
            return self.of_state(state)
        finally:
            self.explorer.release()

    def filled(self, int32_t state):
        """Return the least cost of a nonempty continuation of a state."""
        cdef Span[Pair] pairs
        cdef Span[int64_t] members
        cdef int64_t result = _NEVER, item, radix
        cdef size_t i, j
        self.explorer.acquire()
        try:
            pairs = self.explorer.configurations.all_pairs.at(state)
            radix = self.items.radix
            for i in range(pairs.size()):
                self._find_above(pairs[i].first)
                members = self.items.of(pairs[i].second)
                for j in range(members.size()):
                    item = members[j]
                    result = min(
                        result,
                        _sum(
                            self._filled(<int32_t> (item // radix)),
                            _at(self.least_above[pairs[i].first], <int32_t> (item % radix)),
                        ),
                    )
            return result
        finally:
            self.explorer.release()

    cpdef int64_t most_after(self, int32_t state) except -1:
        """Return a bound of the cost of any state to which one token leads."""
        cdef Span[Pair] pairs
        cdef int64_t result = 0, above = 0, opened
        cdef size_t i
        if state < <int32_t> self.most_of_states.size() and self.most_of_states[state] >= 0:
            return self.most_of_states[state]
        self.explorer.acquire()
        try:
            pairs = self.explorer.configurations.all_pairs.at(state)
            for i in range(pairs.size()):
                self._find_most_above(pairs[i].first)
                for entry in self._most_within(pairs[i].second)[0]:
                    result = max(
                        result,
                        _sum(entry.second, _at(self.least_above[pairs[i].first], entry.first)),
                    )
                above = max(above, self.most_above[pairs[i].first])
            opened = max(<int64_t> 0, self.costs.most_of_opened())
            result = max(result, _sum(opened, above))
            if state >= <int32_t> self.most_of_states.size():
                self.most_of_states.resize(2 * state + 1, -1)
            self.most_of_states[state] = result
            return result
        finally:
            self.explorer.release()

    cdef int64_t of_state(self, int32_t state) except -1:
        """See ``least``; requires the lock."""
        cdef Span[Pair] pairs
        cdef int64_t result = _NEVER
        cdef size_t i
        if state < <int32_t> self.of_states.size() and self.of_states[state] >= 0:
            return self.of_states[state]
        if self.explorer.completions.at(state):
            result = 0
        pairs = self.explorer.configurations.all_pairs.at(state)
        for i in range(pairs.size()):
            self._find_above(pairs[i].first)
            for entry in self._least_within(pairs[i].second)[0]:
                result = min(
                    result, _sum(entry.second, _at(self.least_above[pairs[i].first], entry.first))
                )
        if state >= <int32_t> self.of_states.size():
            self.of_states.resize(2 * state + 1, -1)
        self.of_states[state] = result
        return result

    cdef inline int64_t _of_position(self, int32_t position) noexcept:
        """The cost of an item's position, with its counts."""
        cdef Pair counted
        if position < self.items.states:
            # A row by itself does not count since enough came: more than any bound asks for.
            return self.costs.of_row(position, <int64_t> 1 << 32)
        counted = self.items.counted_states[position - self.items.states]
        return self.costs.of_row(counted.first, counted.second)

    cdef vector[Cost]* _least_within(self, int32_t item_set) except NULL:
        cdef Span[int64_t] members
        cdef size_t i
        if item_set >= <int32_t> self.least_within.size():
            self.least_within.resize(item_set + 1)
        if self.least_within[item_set].empty():
            members = self.items.of(item_set)
            for i in range(members.size()):
                _improve(
                    self.least_within[item_set],
                    <int32_t> (members[i] % self.items.radix),
                    self._of_position(<int32_t> (members[i] // self.items.radix)),
                    False,
                )
        return &self.least_within[item_set]

    cdef vector[Cost]* _most_within(self, int32_t item_set) except NULL:
        cdef Span[int64_t] members
        cdef size_t i
        if item_set >= <int32_t> self.most_within.size():
            self.most_within.resize(item_set + 1)
        if self.most_within[item_set].empty():
            members = self.items.of(item_set)
            for i in range(members.size()):
                _improve(
                    self.most_within[item_set],
                    <int32_t> (members[i] % self.items.radix),
                    self.costs.most(
                        self.items.row_of(<int32_t> (members[i] // self.items.radix))
                    ),
                    True,
                )
        return &self.most_within[item_set]

    cdef int64_t _filled(self, int32_t position) except -1:
        """What a position costs by way of at least one edge."""
        cdef int64_t result = self._of_position(position)
        cdef int32_t row = self.items.row_of(position), edge
        # A position that costs something is not complete, so that all its ways are nonempty.
        if result:
            return result
        if position < self.items.states and self.costs.first_name[position] >= 0:
            return self.costs.cost(self.costs.positions + self.costs.first_name[position])
        result = _NEVER
        for edge in range(self.items.edge_start[row], self.items.edge_start[row + 1]):
            result = min(result, _sum(1, self._after(position, self.items.edge_target[edge])))
        for edge in range(self.items.call_start[row], self.items.call_start[row + 1]):
            result = min(
                result,
                _sum(
                    self.costs.cost(self.costs.positions + self.items.call_nonterminal[edge]),
                    self._after(position, self.items.call_return[edge]),
                ),
            )
        for edge in range(self.items.token_start[row], self.items.token_start[row + 1]):
            result = min(
                result,
                _sum(
                    self.costs.terminals[self.items.token_terminal[edge]],
                    self._after(position, self.items.token_target[edge]),
                ),
            )
        return result

    cdef int64_t _after(self, int32_t position, int32_t row) except -1:
        return self._of_position(self.items.target(position, row))

    cdef int _find_above(self, int32_t root) except -1:
        """Find what follows each nonterminal that completes into a stack node."""
        cdef vector[int32_t] path
        cdef Span[Triple] edges
        cdef int32_t node, outer
        cdef size_t i, size
        if root < <int32_t> self.least_above.size() and not self.least_above[root].empty():
            return 0
        # A path instead of recursion, for stacks are as deep as texts. It ends: a node names its
        # parents, so these were made before it; only SELF leads back, and is left to ``_spread``.
        path.push_back(root)
        while not path.empty():
            node = path.back()
            if node >= <int32_t> self.least_above.size():
                self.least_above.resize(node + 1)
            edges = self.explorer.stack.nodes[node]
            size = path.size()
            if self.least_above[node].empty():
                for i in range(edges.size()):
                    outer = edges[i].second.first
                    if outer != SELF and (
                        outer >= <int32_t> self.least_above.size()
                        or self.least_above[outer].empty()
                    ):
                        path.push_back(outer)
                if path.size() > size:
                    continue
                self._spread(node, edges)
            path.pop_back()
        return 0

    cdef int _spread(self, int32_t node, Span[Triple] edges) except -1:
        """Find the least costs by a fixpoint: items predicted together wait for each other."""
        cdef vector[Cost]* result = &self.least_above[node]
        cdef vector[Cost]* above
        cdef int64_t cost
        cdef size_t i
        # This ends: costs are natural numbers, and only fall.
        cdef bint changed = True
        while changed:
            changed = False
            self.work += edges.size()
            for i in range(edges.size()):
                above = result
                if edges[i].second.first != SELF:
                    above = &self.least_above[edges[i].second.first]
                cost = _NEVER
                for entry in self._least_within(edges[i].second.second)[0]:
                    cost = min(cost, _sum(entry.second, _at(above[0], entry.first)))
                changed |= _improve(result[0], edges[i].first, cost, False)
        return 0

    cdef int _find_most_above(self, int32_t root) except -1:
        """Find the most that frames can come to cost, from each stack node down."""
        cdef vector[int32_t] path
        cdef Span[Triple] edges
        cdef int32_t node, outer
        cdef size_t i, size
        self._find_above(root)
        if root < <int32_t> self.most_above.size() and self.most_above[root] >= 0:
            return 0
        path.push_back(root)
        while not path.empty():
            node = path.back()
            if node >= <int32_t> self.most_above.size():
                self.most_above.resize(2 * node + 1, -1)
            edges = self.explorer.stack.nodes[node]
            size = path.size()
            if self.most_above[node] < 0:
                for i in range(edges.size()):
                    outer = edges[i].second.first
                    if outer != SELF and self.most_above[outer] < 0:
                        path.push_back(outer)
                if path.size() > size:
                    continue
                self.most_above[node] = self._most_of(node, edges)
            path.pop_back()
        return 0

    cdef int64_t _most_of(self, int32_t node, Span[Triple] edges) except -1:
        cdef int64_t result = 0
        cdef int32_t outer
        cdef size_t i
        for i in range(edges.size()):
            outer = edges[i].second.first
            if outer == SELF:
                outer = node
            else:
                result = max(result, self.most_above[outer])
            for entry in self._most_within(edges[i].second.second)[0]:
                result = max(result, _sum(entry.second, _at(self.least_above[outer], entry.first)))
        return result

    # The first token of the way that a state costs.

    def first_token(self, int32_t state, bint is_empty):
        """Return the id of a token that leads to a state that costs one less, UNKNOWN for none.

        What a token terminal begins is its number, negated and less 2. ``is_empty``: nothing came
        yet, and the text may not be empty.
        """
        cdef Span[Pair] pairs
        cdef Span[int64_t] members
        cdef int64_t cost = self.filled(state) if is_empty else self.least(state), radix
        cdef int32_t position, result
        cdef size_t i, j
        if not 0 < cost < _NEVER:
            return UNKNOWN
        self.explorer.acquire()
        try:
            # A call costs as much as the items that it predicts, which are among the sources.
            pairs = self.explorer._sources(state)
            radix = self.items.radix
            for i in range(pairs.size()):
                self._find_above(pairs[i].first)
                members = self.items.of(pairs[i].second)
                for j in range(members.size()):
                    position = <int32_t> (members[j] // radix)
                    if cost == _sum(
                        self._filled(position) if is_empty else self._of_position(position),
                        _at(self.least_above[pairs[i].first], <int32_t> (members[j] % radix)),
                    ):
                        result = self._first_at(position, is_empty)
                        if result != UNKNOWN:
                            return result
            return UNKNOWN
        finally:
            self.explorer.release()

    cdef int32_t _first_at(self, int32_t position, bint is_empty) except -0x7FFFFFFF:
        """The first token from a position, UNKNOWN where something is called or complete."""
        cdef EndCosts costs = self.costs
        cdef int32_t row = self.items.row_of(position), node = row, loop = -1, edge
        cdef int64_t cost, missing = 0
        if costs.loops:
            loop = costs.loop_of[row]
        if is_empty and costs.first_name[row] >= 0:
            node = costs.positions + costs.first_name[row]
        elif loop >= 0 and costs.cost(row) == 0:
            if position >= self.items.states:
                missing = costs.loop_low[loop] - self.items.counted_states[
                    position - self.items.states
                ].second
            if missing > 0:
                return costs.first_repeated(loop, missing)
            node = costs.behind(loop)
        if costs.ways[node].next >= 0:
            return costs.first_of(node)
        cost = self._filled(position) if is_empty else self._of_position(position)
        for edge in range(costs.token_start[row], costs.token_start[row + 1]):
            if cost == _sum(
                costs.terminals[costs.token_terminal[edge]],
                self._after(position, costs.token_target[edge]),
            ):
                return -2 - costs.token_terminal[edge]
        return UNKNOWN


cdef enum:
    # Tokens that are remembered by what they cost, 4 bytes each.
    _MOST_LEADING = 1 << 22
    _COSTLY = 0x7FFFFFFF


cdef struct _Group:
    # Tokens of one slice with so many characters, the last of which leaves the machine in a state;
    # as the content of a set (see ``Pool``).
    int32_t characters
    int32_t reading
    vector[int32_t] tokens


@cython.final
cdef class TokenGroups:
    """The tokens of a vocabulary's slices by their number of characters.

    A character that was begun is one.
    """

    cdef SliceSet slice_set
    # By slice; none for those without a machine.
    cdef vector[vector[_Group]] groups

    def __init__(self, SliceSet slice_set):
        cdef _Slice slice_
        cdef vector[int32_t] characters = vector[int32_t](slice_set.depth + 1, 0)
        cdef vector[int32_t] reading = vector[int32_t](slice_set.depth + 1, 1)
        cdef ordered_map[Pair, vector[int32_t]] by_reading
        cdef _Group group
        cdef Pair key
        cdef int32_t node, depth, k
        self.slice_set = slice_set
        self.groups.resize(len(slice_set.slices))
        for slice_ in slice_set.slices:
            if not slice_.reads:
                continue
            by_reading.clear()
            for node in range(1, <int32_t> slice_.byte.shape[0]):
                depth = slice_.depth[node]
                reading[depth] = slice_.reading[node]
                characters[depth] = characters[depth - 1] + (reading[depth - 1] == 1)
                for k in range(slice_.token_start[node], slice_.token_start[node + 1]):
                    key = Pair(characters[depth], reading[depth])
                    by_reading[key].push_back(slice_.token_ids[k])
            for entry in by_reading:
                group.characters, group.reading = entry.first.first, entry.first.second
                group.tokens.clear()
                _write_numbers(entry.second, <int32_t> slice_set.width, group.tokens)
                self.groups[slice_.number].push_back(group)


cdef struct _Leading:
    # Where the tokens of a state lead: the most that any costs then; by slice, what tokens cost by
    # their characters and the machine's state, empty where the slice was walked; and the tokens of
    # slices that were, by cost, as the content of a set.
    int64_t most
    vector[vector[int32_t]] levels
    ordered_map[int32_t, vector[int32_t]] walked


@cython.final
cdef class EndWalker:
    """Finds what the tokens of one vocabulary leave to the end, from the states of one table.

    ``eager``: nothing follows a complete text. ``names_tokens``: tokens can come by their names.
    ``end_cost``: the cost of ending the sequence.

    In the midst of a text it does not matter which characters a token has, only how many: so the
    tokens of a slice (``mask/slices.py``) are not looked at one by one there.
    """

    cdef Ends ends
    cdef LazyTable explorer
    cdef SliceSet slice_set
    cdef TokenGroups groups
    cdef Walker walker
    cdef Counting counting
    cdef bint eager
    cdef bint names_tokens
    cdef int32_t end_cost
    # By depth, the state there in the walk in progress.
    cdef vector[int32_t] path
    # By slice and state of its machine: (byte class, next state of the machine).
    cdef vector[vector[vector[Pair]]] readings
    cdef unordered_map[int32_t, _Leading] leading_of
    cdef size_t kept
    cdef readonly long long visited

    def __init__(
        self,
        Ends ends,
        TokenGroups groups,
        Walker walker,
        Counting counting,
        bint eager,
        bint names_tokens,
        int32_t end_cost,
    ):
        cdef _Slice slice_
        self.ends = ends
        self.explorer = ends.explorer
        self.slice_set, self.groups, self.walker = groups.slice_set, groups, walker
        self.counting = counting
        self.eager, self.names_tokens, self.end_cost = eager, names_tokens, end_cost
        self.path.resize(self.slice_set.depth + 1)
        self.readings.resize(len(self.slice_set.slices))
        for slice_ in self.slice_set.slices:
            if slice_.reads:
                self._find_readings(slice_)

    cdef int _find_readings(self, _Slice slice_) except -1:
        cdef ordered_set[Pair] moves
        cdef int32_t reading, byte
        self.readings[slice_.number].resize(slice_.machine.shape[0])
        for reading in range(1, <int32_t> slice_.machine.shape[0]):
            moves.clear()
            for byte in range(256):
                if slice_.machine[reading, byte]:
                    moves.insert(Pair(self.explorer.classes[byte], slice_.machine[reading, byte]))
            self.readings[slice_.number][reading].assign(moves.begin(), moves.end())
        return 0

    @property
    def bytes(self):
        """The memory that is taken."""
        cdef size_t result = memory_of(self.path) + memory_of(self.readings)
        result += memory_of(self.leading_of)
        for entry in self.leading_of:
            result += memory_of(entry.second.levels) + memory_of(entry.second.walked)
        return result

    cpdef int32_t near(self, int64_t position) except -1:
        """Return a state that is as near to the end as a position.

        A count that has passed the lower bound does not change the distance: the state without the
        count is returned, which is one for all such counts.
        """
        if position >> _COUNT_SHIFT and self.counting.room(position):
            return <int32_t> position
        return self.counting.exact(position)

    cpdef bint binds(self, int64_t position, int64_t left) except -1:
        """Return whether ``left`` tokens may be too few for some text that goes on here."""
        cdef int32_t state
        if left < 1:
            return True
        state = self.near(position)
        if self.names_tokens and self.explorer.token_terminals(state):
            return True
        # The static bound first: it needs no walk, and decides most steps (``end_costs.pxi``).
        if self.ends.most_after(state) + self.end_cost < left:
            return False
        return self._find(state).most >= min(left, <int64_t> _COSTLY)

    def leads_nowhere(self, int32_t state):
        """Return whether some token from a state leads to one without a cost."""
        return self._find(state).most == _COSTLY

    def leave_out(self, int32_t state, int64_t left, uint32_t[::1] words):
        """Clear the bits of tokens after which a text takes more than ``left``, from a state."""
        cdef _Leading* leading = self._find(state)
        cdef _Slice slice_
        for slice_ in self.slice_set.slices:
            if leading.levels[slice_.number].size():
                self._leave_out_of(slice_, leading.levels[slice_.number], left, &words[0])
        for entry in leading.walked:
            if entry.first > left:
                self._clear(entry.second, &words[0])

    cdef int _leave_out_of(
        self, _Slice slice_, vector[int32_t]& levels, int64_t left, uint32_t* words
    ) except -1:
        """Clear the bits of tokens of a slice, or all but the others', whichever are fewer."""
        cdef vector[uint32_t] kept
        cdef const uint32_t* block = &slice_.blocks[slice_.blocks.shape[0] - 1, 0]
        cdef int64_t balance = 0
        cdef size_t i
        for group in self.groups.groups[slice_.number]:
            i = group.tokens.size()
            balance += i if self._level_cost(levels, slice_.number, group) > left else -<int64_t> i
        # Clear the bits of groups that cost too much, or mark the others and pass over all words:
        # whichever touches fewer words.
        if balance > self.slice_set.width:
            kept.resize(self.slice_set.width)
        for group in self.groups.groups[slice_.number]:
            if self._level_cost(levels, slice_.number, group) <= left:
                if not kept.empty():
                    self._set(group.tokens, kept.data())
            elif kept.empty():
                self._clear(group.tokens, words)
        for i in range(kept.size()):
            words[i] &= kept[i] | ~block[i]
        return 0

    def add_by_bytes(self, int32_t state, int64_t left, uint32_t[::1] words):
        """Set the bits of tokens that can come by their bytes, if ``left`` is enough after them."""
        cdef _Leading* leading = self._find(state)
        for slice_ in range(leading.levels.size()):
            if leading.levels[slice_].size():
                for group in self.groups.groups[slice_]:
                    if self._level_cost(leading.levels[slice_], slice_, group) <= left:
                        self._set(group.tokens, &words[0])
        for entry in leading.walked:
            if entry.first <= left:
                self._set(entry.second, &words[0])

    cdef void _clear(self, vector[int32_t]& tokens, uint32_t* words) noexcept:
        cdef size_t i
        if tokens.size() == <size_t> self.slice_set.width:
            for i in range(tokens.size()):
                words[i] &= ~<uint32_t> tokens[i]
        else:
            for i in range(0, tokens.size(), 2):
                words[tokens[i]] &= ~<uint32_t> tokens[i + 1]

    cdef void _set(self, vector[int32_t]& tokens, uint32_t* words) noexcept:
        cdef size_t i
        if tokens.size() == <size_t> self.slice_set.width:
            for i in range(tokens.size()):
                words[i] |= <uint32_t> tokens[i]
        else:
            for i in range(0, tokens.size(), 2):
                words[tokens[i]] |= <uint32_t> tokens[i + 1]

    cdef inline int32_t _level_cost(
        self, vector[int32_t]& levels, size_t slice_, _Group& group
    ) noexcept:
        """What the tokens of a group cost; those of more characters than levels, as the last."""
        cdef size_t width = self.readings[slice_].size(), level = levels.size() // width
        return levels[width * (min(<size_t> group.characters, level) - 1) + group.reading]

    def leads(self, int32_t state):
        """Return the states to which tokens lead by their bytes, and these: {state: token ids}."""
        cdef unordered_map[int32_t, vector[int32_t]] met
        cdef _Slice trie = self.slice_set.whole
        cdef int32_t node = 1, end = <int32_t> trie.byte.shape[0], after, k
        self.explorer.acquire()
        try:
            self.path[0] = state
            while node < end:
                after = self._step(trie, node)
                if after != DEAD:
                    for k in range(trie.token_start[node], trie.token_start[node + 1]):
                        met[after].push_back(trie.token_ids[k])
                node = self._next(trie, node, after)
        finally:
            self.explorer.release()
        return {entry.first: _as_array(entry.second) for entry in met}

    cdef _Leading* _find(self, int32_t state) except NULL:
        cdef _Leading* result
        cdef ordered_map[int32_t, vector[int32_t]] tokens
        cdef _Slice slice_
        if self.leading_of.count(state):
            return &self.leading_of[state]
        # The memory is bounded by forgetting all; a state that comes again is walked once more.
        if self.kept > _MOST_LEADING:
            self.leading_of.clear()
            self.kept = 0
        self.explorer.acquire()
        try:
            result = &self.leading_of[state]
            result.most = 0
            result.levels.resize(len(self.slice_set.slices))
            for slice_ in self.slice_set.slices:
                if not slice_.reads or not self._find_levels(slice_, state, result):
                    self._walk(slice_, state, tokens)
            for entry in tokens:
                result.most = max(result.most, <int64_t> entry.first)
                _write_numbers(
                    entry.second, <int32_t> self.slice_set.width, result.walked[entry.first]
                )
                self.kept += result.walked[entry.first].size()
        except BaseException:
            # An entry that is half made would be taken for the answer.
            self.leading_of.erase(state)
            raise
        finally:
            self.explorer.release()
        return result

    cdef inline int32_t _cost(self, int32_t state) except -1:
        return <int32_t> min(<int64_t> _COSTLY, self.ends.of_state(state) + self.end_cost)

    cdef bint _find_levels(self, _Slice slice_, int32_t state, _Leading* leading) except -1:
        """Find the costs of tokens by their characters; return whether they differ in nothing else.

        That is, whether all texts of so many characters lead to one state, or none does.
        """
        cdef vector[vector[Pair]]* readings = &self.readings[slice_.number]
        cdef vector[int32_t]* levels = &leading.levels[slice_.number]
        cdef vector[int32_t] before = vector[int32_t](readings.size(), DEAD), here
        cdef int32_t reading
        cdef size_t i
        before[1] = state
        while levels.size() < readings.size() * slice_.height[0]:
            here.assign(readings.size(), UNKNOWN)
            if not self._read_character(readings, before[1], here):
                levels.clear()
                return False
            for i in range(here.size()):
                levels.push_back(_COSTLY if here[i] <= DEAD else self._cost(here[i]))
                if here[i] > DEAD:
                    leading.most = max(leading.most, <int64_t> levels.back())
            # From a fixpoint on, further characters change nothing: longer tokens cost what the
            # last level does.
            if here == before or here[1] <= DEAD:
                break
            before = here
        return True

    cdef bint _read_character(
        self, vector[vector[Pair]]* readings, int32_t state, vector[int32_t]& here
    ) except -1:
        """Read a character in all ways; return whether each state of the machine has one state."""
        cdef vector[int32_t] work = vector[int32_t](1, 0)
        cdef int32_t reading, after
        cdef size_t i = 0
        while i < work.size():
            # Of the first byte; later those of states within the character.
            reading = work[i] if i else 1
            for entry in readings[0][reading]:
                after = self.explorer.step_alone(here[reading] if i else state, entry.first)
                # A text that is complete within a character ends there, so its tokens differ by
                # more than characters.
                if self.eager and after != DEAD and self.explorer.completions[after]:
                    return False
                if here[entry.second] == UNKNOWN:
                    here[entry.second] = after
                    if entry.second != 1:
                        work.push_back(entry.second)
                elif here[entry.second] != after:
                    return False
            i += 1
        return True

    cdef int _walk(
        self, _Slice slice_, int32_t state, ordered_map[int32_t, vector[int32_t]]& tokens
    ) except -1:
        """Walk the trie of a slice, and note its tokens by what they cost."""
        cdef Inclusion inclusion = self.walker.inclusions[slice_.number]
        cdef int32_t node = 1, end = <int32_t> slice_.byte.shape[0], after, behind, last
        cdef Round* round
        self.path[0] = state
        while node < end:
            after = self._step(slice_, node)
            behind = self._next(slice_, node, after)
            if after != DEAD:
                last = node + 1
                if slice_.reads and slice_.reading[node] == 1 and behind == last:
                    if after == self.path[slice_.depth[node] - slice_.length[node]]:
                        round = inclusion.round(self.explorer.cursor(after))
                        if self._goes_round(after, round) and not slice_.has_below(
                            node, &round.refused
                        ):
                            last = behind = slice_.skip[node]
                if slice_.token_start[node] < slice_.token_start[last]:
                    self._add(slice_, node, last, tokens[self._cost(after)])
            node = behind
        return 0

    cdef inline bint _goes_round(self, int32_t state, const Round* round) noexcept:
        """Whether characters lead to a state that costs the same; it is at the same cursor."""
        return round.loops and (round.ended != 0) == (self.explorer.completions[state] != 0)

    cdef inline int _add(
        self, _Slice slice_, int32_t node, int32_t end, vector[int32_t]& tokens
    ) except -1:
        cdef int32_t k
        for k in range(slice_.token_start[node], slice_.token_start[end]):
            tokens.push_back(slice_.token_ids[k])
        return 0

    cdef inline int32_t _step(self, _Slice slice_, int32_t node) except -2:
        """The state at a node, that before it being on the path."""
        cdef int32_t depth = slice_.depth[node]
        self.visited += 1
        self.path[depth] = self.explorer.step_alone(
            self.path[depth - 1], self.explorer.classes[slice_.byte[node]]
        )
        return self.path[depth]

    cdef inline int32_t _next(self, _Slice slice_, int32_t node, int32_t after) noexcept:
        """The node to look at after one with this state."""
        if after == DEAD or (self.eager and self.explorer.completions[after]):
            return slice_.skip[node]
        return node + 1
