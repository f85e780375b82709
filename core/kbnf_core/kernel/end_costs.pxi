# Costs of positions: the bytes, or the tokens, to the end of their nonterminals.
#
# **Layer.** Above ``arrays.pxi`` and ``end_crossings.pxi``; ``ends.pxi`` adds the stack. A
# *position* is an automaton state here.
#
# The cost of a position is that of one way to the end, so it is an upper bound that some text
# attains. All costs are found together, callees first (Knuth, "A Generalization of Dijkstra's
# Algorithm", 1977). A way begins with a *text*: a byte, and then the text of the position after it,
# up to an *anchor*: acceptance, a call, a token terminal, the end of one repetition. To the cost of
# the text is added the cost of what follows the anchor:
#
# - in bytes, a text costs its length, so that all costs are exact;
# - in tokens, it costs the fewest that spell it. No token crosses an anchor; only so do costs add
#   up. Nor does one read past a byte with which the text may be over (``end_crossings.pxi``).
#
# The texts form trees, so the rest of a text is the text of the position where that rest begins. So
# where a cost is finite and not 0, the first token of the text leads to a position that costs one
# less.
#
# **Counts.** A row of a loop (``lower.counts``) costs the way to the end of its repetition, then
# the repetitions that must still come, then the continuation after the last one. Where one token
# spells as many as k repetitions, n = k * q + r of them cost q more than r.

NEVER = _NEVER

ctypedef pair[int64_t, pair[int64_t, int64_t]] _Rank  # cost, length, number; negated


cdef inline int64_t _sum(int64_t one, int64_t other) noexcept nogil:
    return min(one + other, _NEVER)


cdef struct Way:
    # From a node: a byte and the next node, -1 at an anchor. The costs of the text and of what
    # follows it, and its length in bytes.
    int64_t text
    int64_t rest
    int64_t length
    int32_t node
    int32_t next
    uint8_t byte


cdef struct _Anchor:
    # The way of a node that costs ``extra`` and what its terms do, and so many repetitions of a
    # loop.
    int64_t extra
    int32_t node
    int32_t first
    int32_t second
    int32_t loop
    int32_t missing
    int32_t waiting


@cython.final
cdef class EndCosts(_Tables):
    """The costs of the nodes of some tables.

    ``parts``: the vocabulary, None for costs in bytes. ``cuts``: uint8[256], the byte classes that
    only end the tokens of a way. ``terminals``: int64[token terminals], what a token of each costs.

    Nodes are positions; then nonterminals, each as its nonempty text; then by loop one repetition,
    and the continuation after the last; then positions at which a first repetition has begun, each
    with all that follows.
    """

    cdef _Slice trie
    # The bytes of the longest token.
    cdef int32_t longest
    cdef const uint8_t[::1] cuts
    cdef int32_t positions
    cdef int32_t loops
    cdef int32_t nodes
    cdef const int64_t[::1] terminals
    # By class: the byte that spells it.
    cdef vector[uint8_t] byte_of
    # By position: the node that an edge from outside leads to. By nonterminal: the next one with
    # the same entry, -1 without one; by position: the first one that is entered there.
    cdef vector[int32_t] entered
    cdef vector[int32_t] next_name
    cdef vector[int32_t] first_name
    cdef vector[uint8_t] ends_repetition
    # By node, valid where ``is_settled``.
    cdef vector[Way] ways
    cdef vector[uint8_t] is_settled
    # By loop: what so many repetitions cost, for fewer than one token spells; empty where none
    # does.
    cdef vector[vector[int64_t]] few
    # See ``most``; of costs in tokens.
    cdef vector[int64_t] most_after
    cdef int64_t most_opened
    cdef int64_t most_called

    def __init__(
        self, tables, SliceSet slice_set, const uint8_t[::1] cuts, const int64_t[::1] terminals
    ):
        cdef _Grouped edges = _Grouped(), terms = _Grouped()
        cdef vector[_Anchor] anchors
        self.trie = None if slice_set is None else slice_set.whole
        self.longest = 0 if slice_set is None else <int32_t> slice_set.depth
        self.cuts, self.terminals = cuts, terminals
        self.bind(tables)
        self.positions, self.loops = self.states, <int32_t> self.loop_low.shape[0]
        self._choose_bytes()
        self._number_nodes(anchors)
        self._collect(edges, anchors)
        self._find(edges, terms, anchors)
        if self.trie is not None:
            self._find_most()

    def costs(self):
        """Return the costs of positions and, after them, of nonterminals: float64[n], or inf."""
        cdef cnp.npy_intp count = self.positions + self.names
        cdef cnp.ndarray result = cnp.PyArray_EMPTY(1, &count, cnp.NPY_FLOAT64, 0)
        cdef double* out = <double*> cnp.PyArray_DATA(result)
        cdef int64_t cost
        cdef int32_t node
        for node in range(<int32_t> count):
            cost = self.cost(node)
            out[node] = INFINITY if cost == _NEVER else cost
        return result

    @property
    def bytes(self):
        """The memory that is taken."""
        cdef size_t result = memory_of(self.byte_of) + memory_of(self.entered)
        result += memory_of(self.next_name)
        result += memory_of(self.first_name) + memory_of(self.ends_repetition)
        result += memory_of(self.ways)
        return (
            result + memory_of(self.is_settled) + memory_of(self.few)
            + memory_of(self.most_after)
        )

    cdef int _choose_bytes(self) except -1:
        """Of each class choose the byte that most tokens spell many times, or just once."""
        cdef int32_t byte, byte_class, run
        cdef vector[int32_t] best
        best.assign(256, -1)
        self.byte_of.assign(256, 0)
        for byte in range(256):
            byte_class = self.classes[byte]
            run = self._run(byte)
            if run > best[byte_class]:
                best[byte_class] = run
                self.byte_of[byte_class] = byte
        return 0

    cdef int32_t _run(self, uint8_t byte) noexcept:
        """The length of the longest token of one byte; 0 where that byte alone is not a token."""
        cdef int32_t node = 0, length = 0, result = 0
        if self.trie is None:
            return 1
        while True:
            node = self.trie.child_of(node, byte)
            if node == 0:
                return result
            length += 1
            if self.trie.token_start[node] < self.trie.token_start[node + 1]:
                result = length
            elif length == 1:
                return 0

    cdef int _number_nodes(self, vector[_Anchor]& anchors) except -1:
        cdef int32_t name, position, loop, missing
        self.first_name.assign(self.positions, -1)
        self.next_name.assign(self.names, -1)
        for name in range(self.names):
            self.next_name[name] = self.first_name[self.entry[name]]
            self.first_name[self.entry[name]] = name
        self.nodes = self.positions + self.names + 2 * self.loops
        self.ends_repetition.assign(self.positions, False)
        for position in range(self.positions):
            self.entered.push_back(position)
        for position in range(self.positions if self.loops else 0):
            if self.loop_begins[position] and not self.loop_below[self.loop_row[position]]:
                loop = self.loop_of[position]
                # The edge that leads here has begun the first one.
                missing = max(0, self.loop_low[loop] - 1)
                anchors.push_back(
                    _Anchor(
                        0, self.nodes, self.loop_row[position], self.behind(loop), loop, missing, 0
                    )
                )
                self.entered[position] = self.nodes
                self.nodes += 1
        self.few.resize(self.loops)
        self.is_settled.assign(self.nodes, False)
        self.ways.resize(self.nodes)
        return 0

    cdef inline int32_t again(self, int32_t loop) noexcept:
        return self.positions + self.names + loop

    cdef inline int32_t behind(self, int32_t loop) noexcept:
        return self.positions + self.names + self.loops + loop

    cdef int _collect(self, _Grouped edges, vector[_Anchor]& anchors) except -1:
        """Collect edges of bytes by target, and the sums that other edges make."""
        cdef vector[int32_t] sources
        cdef int64_t cost
        cdef int32_t position, edge, target, source
        for position in range(self.positions):
            for edge in range(self.edge_start[position], self.edge_start[position + 1]):
                target = self._join(position, self.edge_target[edge], sources)
                for source in sources:
                    edges.add(target, source, self.edge_class[edge])
            for edge in range(self.call_start[position], self.call_start[position + 1]):
                target = self._join(position, self.call_return[edge], sources)
                for source in sources:
                    anchors.push_back(
                        _Anchor(
                            0,
                            source,
                            self.positions + self.call_nonterminal[edge],
                            target,
                            -1,
                            0,
                            0,
                        )
                    )
            for edge in range(self.token_start[position], self.token_start[position + 1]):
                target = self._join(position, self.token_target[edge], sources)
                cost = self.terminals[self.token_terminal[edge]]
                for source in sources:
                    anchors.push_back(_Anchor(cost, source, target, -1, -1, 0, 0))
        return 0

    cdef int32_t _join(self, int32_t source, int32_t target, vector[int32_t]& sources) except -1:
        """Return the node that an edge leads to, and collect those from which it does."""
        cdef int32_t name
        sources.clear()
        if self.loops == 0 or self.loop_of[source] < 0:
            sources.push_back(source)
            name = self.first_name[source]
            while name >= 0:
                sources.push_back(self.positions + name)
                name = self.next_name[name]
            return self.entered[target]
        if self.loop_of[target] != self.loop_of[source]:
            if not self.loop_below[self.loop_row[source]]:
                sources.push_back(self.behind(self.loop_of[source]))
            return self.entered[target]
        if not self.loop_begins[target]:
            sources.push_back(source)
        else:
            self.ends_repetition[source] = True
            if not self.loop_below[self.loop_row[source]]:
                sources.push_back(self.again(self.loop_of[source]))
        return target

    cdef int _find(self, _Grouped edges, _Grouped terms, vector[_Anchor]& anchors) except -1:
        cdef priority_queue[_Rank] front
        cdef vector[Way] result
        cdef Way way
        cdef int32_t position, node, i, k, source
        for i in range(<int32_t> anchors.size()):
            self._wait_for(terms, anchors[i], i)
        edges.group(self.nodes)
        terms.group(self.nodes)
        for position in range(self.positions):
            self._begin_at(position, front, result)
        while not front.empty():
            way = result[-front.top().second.second]
            front.pop()
            node = way.node
            # Ways come in the order of cost, so the first one of a node is its cheapest.
            if self.is_settled[node]:
                continue
            self.is_settled[node] = True
            self.ways[node] = way
            if 0 <= node - self.again(0) < self.loops:
                self._count_tokens(node - self.again(0))
            for k in range(edges.start[node], edges.start[node + 1]):
                i = edges.order[k]
                source = edges.pairs[i].first
                if not self.is_settled[source]:
                    self._offer(
                        self._longer(source, self.byte_of[edges.pairs[i].second], node),
                        front,
                        result,
                    )
            for k in range(terms.start[node], terms.start[node + 1]):
                i = terms.pairs[terms.order[k]].first
                anchors[i].waiting -= 1
                if anchors[i].waiting == 0 and not self.is_settled[anchors[i].node]:
                    self._offer(
                        Way(0, self._cost_at(anchors[i]), 0, anchors[i].node, -1, 0), front, result
                    )
        return 0

    cdef int _wait_for(self, _Grouped terms, _Anchor& anchor, int32_t number) except -1:
        terms.add(anchor.first, number, 0)
        anchor.waiting = 1
        if anchor.second >= 0:
            terms.add(anchor.second, number, 0)
            anchor.waiting += 1
        if anchor.missing:
            terms.add(self.again(anchor.loop), number, 0)
            anchor.waiting += 1
        return 0

    cdef int _begin_at(
        self, int32_t position, priority_queue[_Rank]& front, vector[Way]& result
    ) except -1:
        """Offer the ways of no length: what accepts, and where repetitions end."""
        cdef int32_t loop = self.loop_of[position] if self.loops else -1
        if loop < 0:
            if self.accepting[position]:
                self._offer(Way(0, 0, 0, position, -1, 0), front, result)
        elif self.ends_repetition[position]:
            self._offer(Way(0, 0, 0, position, -1, 0), front, result)
            if self.accepting[position] and not self.loop_below[self.loop_row[position]]:
                self._offer(Way(0, 0, 0, self.behind(loop), -1, 0), front, result)
        return 0

    cdef int _offer(self, Way way, priority_queue[_Rank]& front, vector[Way]& result) except -1:
        # Ties: the shorter text, then the way that was found first, so that all runs agree.
        cdef pair[int64_t, int64_t] tie = pair[int64_t, int64_t](
            -way.length, -<int64_t> result.size()
        )
        if way.rest < _NEVER:
            front.push(_Rank(-_sum(way.text, way.rest), tie))
            result.push_back(way)
        return 0

    cdef int64_t _cost_at(self, _Anchor& anchor) noexcept:
        cdef int64_t cost = _sum(anchor.extra, self.cost(anchor.first))
        if anchor.second >= 0:
            cost = _sum(cost, self.cost(anchor.second))
        return _sum(cost, self.repeated(anchor.loop, anchor.missing)) if anchor.missing else cost

    cdef inline int64_t cost(self, int32_t node) noexcept:
        """The cost of a node."""
        if not self.is_settled[node]:
            return _NEVER
        return _sum(self.ways[node].text, self.ways[node].rest)

    cdef Way _longer(self, int32_t source, uint8_t byte, int32_t node) noexcept:
        """The way by a byte and then the text of a node."""
        return Way(
            self._fewest(byte, node),
            self.ways[node].rest,
            self.ways[node].length + 1,
            source,
            node,
            byte,
        )

    cdef int64_t _fewest(self, uint8_t byte, int32_t node) noexcept:
        """The cost of a text: a byte, and the text of a node."""
        cdef int64_t fewest = _NEVER
        cdef int32_t at = 0
        if self.trie is None:
            return self.ways[node].text + 1
        while True:
            at = self.trie.child_of(at, byte)
            if at == 0:
                return fewest
            if self.trie.token_start[at] < self.trie.token_start[at + 1]:
                fewest = min(fewest, _sum(self.ways[node].text, 1))
            # No token crosses an anchor, nor goes on after a byte with which the text may be over.
            if self.ways[node].next < 0 or self.cuts[self.classes[byte]]:
                return fewest
            byte, node = self.ways[node].byte, self.ways[node].next

    cdef int _count_tokens(self, int32_t loop) except -1:
        """Find the tokens that are repetitions of a loop, as it is read on the way chosen."""
        cdef vector[uint8_t] text
        cdef vector[int64_t] spelled
        cdef int32_t node = self.again(loop), at = 0, count = 0, k, j
        cdef size_t i
        # With an anchor in it a repetition is spelled by no token: none crosses one.
        if self.trie is None or self.ways[node].rest:
            return 0
        if self.ways[node].length > self.longest:
            return 0
        while self.ways[node].next >= 0:
            if not text.empty() and self.cuts[self.classes[text.back()]]:
                return 0
            text.push_back(self.ways[node].byte)
            node = self.ways[node].next
        while True:
            for i in range(text.size()):
                at = self.trie.child_of(at, text[i])
                if at == 0:
                    break
            if at == 0:
                break
            count += 1
            if self.trie.token_start[at] < self.trie.token_start[at + 1]:
                spelled.push_back(count)
            if self.cuts[self.classes[text.back()]]:
                break
        if spelled.empty():
            return 0
        self.few[loop].push_back(0)
        for k in range(1, <int32_t> spelled.back()):
            self.few[loop].push_back(
                _sum(self.few[loop].back(), self.ways[self.again(loop)].text)
            )
            for i in range(spelled.size()):
                j = <int32_t> spelled[i]
                if j <= k:
                    self.few[loop][k] = min(self.few[loop][k], _sum(self.few[loop][k - j], 1))
        return 0

    cdef int32_t first_of(self, int32_t node) noexcept:
        """The first token of the text of a node."""
        cdef int64_t text = self.ways[node].text
        cdef int32_t at = 0, result = UNKNOWN
        cdef uint8_t byte
        while self.ways[node].next >= 0:
            byte = self.ways[node].byte
            at = self.trie.child_of(at, byte)
            if at == 0:
                break
            node = self.ways[node].next
            if (
                self.trie.token_start[at] < self.trie.token_start[at + 1]
                and self.ways[node].text + 1 == text
            ):
                result = self.trie.token_ids[self.trie.token_start[at]]
            if self.cuts[self.classes[byte]]:
                break
        return result

    cdef int32_t first_repeated(self, int32_t loop, int64_t missing) noexcept:
        """The first token of so many repetitions of a loop."""
        cdef int64_t k = <int64_t> self.few[loop].size(), count = 0, rest
        cdef int32_t node = self.again(loop), at = 0
        while count < min(k, missing):
            node = self.again(loop)
            while self.ways[node].next >= 0:
                at = self.trie.child_of(at, self.ways[node].byte)
                node = self.ways[node].next
            count += 1
            rest = missing - count
            if self.trie.token_start[at] < self.trie.token_start[at + 1] and (
                count == k if missing >= k else self.few[loop][rest] + 1 == self.few[loop][missing]
            ):
                return self.trie.token_ids[self.trie.token_start[at]]
        return self.first_of(self.again(loop))

    cdef int64_t repeated(self, int32_t loop, int64_t missing) noexcept:
        """What so many repetitions of a loop cost."""
        cdef int64_t one, k = <int64_t> self.few[loop].size()
        if missing == 0:
            return 0
        if k:
            return _sum(missing // k, self.few[loop][missing % k])
        # Bounds go up to 2 ** 30, so the product of two costs may pass 64 bits.
        one = self.cost(self.again(loop))
        return _NEVER if one >= _NEVER // missing else one * missing

    cdef int64_t of_row(self, int32_t position, int64_t count) noexcept:
        """The cost of a position; ``count``: of a loop's row, how many repetitions have begun."""
        cdef int32_t loop = self.loop_of[position] if self.loops else -1
        cdef int64_t missing
        if loop < 0:
            return self.cost(position)
        missing = max(<int64_t> 0, self.loop_low[loop] - count)
        return _sum(
            _sum(self.cost(position), self.repeated(loop, missing)), self.cost(self.behind(loop))
        )

    # A static bound on the cost that any token can add to a text: nothing below it in the stack,
    # and as much as its bytes can open. Where a budget is above it, no token can make the text too
    # long, and the walk that would decide it is not made. That is most steps: without the bound a
    # cold step takes 4.3 times as long under a budget of 2,000 tokens, and 1.8 times under one that
    # has 25 to spare (64 grammars, 131,072 tokens).

    cdef int64_t most(self, int32_t position) except -1:
        """The most that any position costs which can be reached within the nonterminal."""
        return self.most_after[position]

    cdef int64_t most_of_opened(self) except -2:
        """A bound of what the stack costs above the frame in which a token has opened something.

        -1 where no token opens anything.
        """
        return self.most_opened

    cdef int64_t _most_at(self, int32_t position) noexcept:
        """The most that a position costs, whatever was counted."""
        cdef int32_t loop = self.loop_of[position] if self.loops else -1
        cdef int64_t times, cost
        cdef size_t r
        if loop < 0:
            return self.cost(position)
        times = self.repeated(loop, self.loop_low[loop])
        # The largest count need not cost most: where a token spells k repetitions, k - 1 that are
        # left over may cost more than k.
        for r in range(self.few[loop].size()):
            cost = _sum(self.loop_low[loop] // <int64_t> self.few[loop].size(), self.few[loop][r])
            times = max(times, cost)
        return _sum(_sum(self.cost(position), times), self.cost(self.behind(loop)))

    cdef int _find_most(self) except -1:
        """Spread the most backwards along edges, from the positions that cost most."""
        cdef _Grouped before = _Grouped()
        cdef vector[pair[int64_t, int32_t]] order
        cdef vector[int32_t] work
        cdef int32_t position, edge, row, k
        cdef int64_t cost
        for position in range(self.positions):
            order.push_back(pair[int64_t, int32_t](-self._most_at(position), position))
            for edge in range(self.edge_start[position], self.edge_start[position + 1]):
                before.add(self.edge_target[edge], position, 0)
            for edge in range(self.token_start[position], self.token_start[position + 1]):
                before.add(self.token_target[edge], position, 0)
            for edge in range(self.call_start[position], self.call_start[position + 1]):
                before.add(self.call_return[edge], position, 0)
                if self.call_tail[edge]:
                    # A callee in tail position is in the same item set as its caller, so a token
                    # reaches its positions from here.
                    before.add(self.entry[self.call_nonterminal[edge]], position, 0)
            if self.loops and self.loop_of[position] >= 0:
                row = self.loop_row[position]
                before.add(row, position, 0)
                if self.loop_twin[row] >= 0:
                    before.add(self.loop_twin[row], position, 0)
                if self.loop_last[row] >= 0:
                    before.add(self.loop_last[row], position, 0)
        before.group(self.positions)
        # From the dearest on, so that the first cost to reach a position is its most, and each edge
        # is followed once.
        sort(order.begin(), order.end())
        self.most_after.assign(self.positions, -1)
        for k in range(<int32_t> order.size()):
            cost = -order[k].first
            if self.most_after[order[k].second] >= 0:
                continue
            self.most_after[order[k].second] = cost
            work.push_back(order[k].second)
            while not work.empty():
                position = work.back()
                work.pop_back()
                for edge in range(before.start[position], before.start[position + 1]):
                    row = before.pairs[before.order[edge]].first
                    if self.most_after[row] < 0:
                        self.most_after[row] = cost
                        work.push_back(row)
        self.most_opened = self._find_opened()
        return 0

    cdef int64_t _find_opened(self) except -2:
        """See ``most_of_opened``."""
        cdef vector[int64_t] behind = vector[int64_t](self.names, -1)
        cdef vector[int64_t] by_class = vector[int64_t](256, 0)
        cdef vector[int64_t] path
        cdef int64_t called = 0, most = 0, largest = 0
        cdef int32_t position, edge, name, node = 1, depth, below, byte_class
        cdef bint opens = False
        for position in range(self.positions):
            for edge in range(self.call_start[position], self.call_start[position + 1]):
                name = self.call_nonterminal[edge]
                called = max(called, self.most_after[self.entry[name]])
                if not self.call_tail[edge]:
                    opens = True
                    behind[name] = max(behind[name], self._most_at(self.call_return[edge]))
        if not opens:
            return -1
        self._spread_opened(behind, by_class)
        for byte_class in range(256):
            largest = max(largest, by_class[byte_class])
        path.assign(self.longest + 1, 0)
        while node < <int32_t> self.trie.byte.shape[0]:
            depth = self.trie.depth[node]
            path[depth] = _sum(path[depth - 1], by_class[self.classes[self.trie.byte[node]]])
            most = max(most, path[depth])
            # Most subtrees are too low to come to more.
            below = <int32_t> self.trie.deepest[node] - depth
            if below == 0 or (most - path[depth]) // below >= largest:
                node = self.trie.skip[node]
            else:
                node += 1
        return _sum(most, called)

    cdef int _spread_opened(self, vector[int64_t]& behind, vector[int64_t]& by_class) except -1:
        """Find the most that a byte of each class opens, where it is the first of nonterminals.

        A nonterminal that begins with others opens them at once. Those that begin with each other
        are taken together.
        """
        cdef _Grouped callers = _Grouped()
        cdef vector[int32_t] waiting = vector[int32_t](self.names, 0)
        cdef vector[int64_t] depth = vector[int64_t](self.names, 0)
        cdef vector[int32_t] order
        cdef _ClassSets first = _ClassSets(self.names)
        cdef int64_t together = 0
        cdef int32_t name, edge, callee, k, byte_class
        cdef size_t i
        for name in range(self.names):
            for edge in range(
                self.edge_start[self.entry[name]], self.edge_start[self.entry[name] + 1]
            ):
                first.add(name, self.edge_class[edge])
            for edge in range(
                self.call_start[self.entry[name]], self.call_start[self.entry[name] + 1]
            ):
                callers.add(self.call_nonterminal[edge], name, 0)
                first.contain(name, self.call_nonterminal[edge])
                waiting[name] += 1
        callers.group(self.names)
        first.close()
        for name in range(self.names):
            if waiting[name] == 0:
                order.push_back(name)
        i = 0
        while i < order.size():
            callee = order[i]
            depth[callee] = _sum(depth[callee], max(<int64_t> 0, behind[callee]))
            for k in range(callers.start[callee], callers.start[callee + 1]):
                name = callers.pairs[callers.order[k]].first
                depth[name] = max(depth[name], depth[callee])
                waiting[name] -= 1
                if waiting[name] == 0:
                    order.push_back(name)
            i += 1
        for name in range(self.names):
            if waiting[name] > 0:
                together = max(together, depth[name])
        for name in range(self.names):
            if waiting[name] > 0:
                together = _sum(together, max(<int64_t> 0, behind[name]))
        for name in range(self.names):
            if waiting[name] > 0:
                depth[name] = together
        for name in range(self.names):
            for byte_class in range(256):
                if first.has(name, byte_class):
                    by_class[byte_class] = max(by_class[byte_class], depth[name])
        return 0
