# The walk over trie and transition table: which tokens can come in a state.
#
# **Layer.** Above ``inclusion.pxi`` and ``slices.pxi``. Trie and table are followed side by side; a
# node at which no byte can come ends the walk of its subtree. Where inclusion proves that all texts
# of a slice can come, its tokens are taken as a block, and none of its nodes is visited.
#
# **Many roots.** Two item sets are walked together with the same results as one by one, for both
# complete into BOTTOM wherever the walk began. So the walk below many nodes is one pass over the
# trie: on arrival at a root, the item set at the beginning is joined to the one that arrives, and
# the subtree is visited once for both. Where names may touch, each node on the way to a name is a
# root of the next one, and a name of n letters would be visited from n roots. A root is begun by
# itself where a state arrives, since a state made for both would predict calls that are walked
# apart; and where too many sets were made: a repetition of bounded length may be joined to itself
# in as many ways as there are nodes.

ctypedef pair[int32_t, vector[Pair]] Walked  # number of a mask, (nonterminal, node set) completions
# Nodes; and those below nodes of slices: (number of the slice, range of nodes).
ctypedef pair[vector[int32_t], vector[Triple]] _Ended

cdef enum:
    # Item sets that a walk below nodes may make before it joins no more; each takes as long as a
    # hundred nodes. Keywords beside names take some hundreds.
    _MOST_JOINED = 1024


cdef inline int _common(const _Bytes* these, const _Bytes* others) noexcept nogil:
    """How many bytes two sets have in common."""
    cdef int i, count = 0
    for i in range(4):
        count += _count_bits(these.bits[i] & others.bits[i])
    return count


@cython.final
cdef class Walker:
    """Walks the slices of one vocabulary through one table, whose arrays it looks up once."""

    cdef LazyTable explorer
    cdef SliceSet slice_set
    cdef _Slice whole
    # The inclusion checks of the slices, None where none is made.
    cdef list inclusions
    # The slice before the last one, whose tokens are text, and its check; None without slices.
    cdef _Slice text
    cdef Inclusion in_text
    # At each depth of the path to the current node: see ``LazyTable.cursor``.
    cdef vector[int32_t] cursors
    # By slice: the block found so far. Then other bits, a bit for each word of these that may not
    # be zero, and whether any may be.
    cdef vector[Taken] taken
    cdef vector[uint32_t] words
    cdef vector[uint64_t] touched
    cdef bint all_touched
    # Tokens found in the current part, as ranges in the order of its trie.
    cdef vector[Pair] ranges
    # Nodes at which nonterminals complete, by the answer of ``LazyTable.arrive``, and the last one.
    cdef ordered_map[int32_t, _Ended] ended
    cdef int32_t ending
    cdef _Ended* last_ended
    # By nonterminal: the content of the set of nodes at which it completes.
    cdef ordered_map[int32_t, vector[int32_t]] completions
    # By class: its bytes; and those with which the walk in progress can begin.
    cdef vector[_Bytes] class_bytes
    cdef _Bytes alive
    # Characters that are not found with the others, but may come; see ``Reach``.
    cdef Characters unsure
    # Of a walk below nodes: a bit for each root at which it did not begin yet; empty otherwise.
    # And the number of item sets from which on none are joined.
    cdef vector[uint32_t] pending
    cdef size_t most_sets
    # For which texts the walk in progress finds tokens by their tails.
    cdef Loop loop
    cdef readonly long long visited

    def __cinit__(self, table, SliceSet slice_set):
        cdef _Slice slice_
        cdef int32_t byte
        self.explorer = table.explorer
        self.cursors.resize(slice_set.depth + 1)
        self.words.resize(slice_set.width)
        self.touched.resize((slice_set.width + 63) // 64)
        self.taken.resize(len(slice_set.slices))
        self.class_bytes.resize(self.explorer.width)
        for byte in range(256):
            _add_byte(&self.class_bytes[self.explorer.classes[byte]], byte)
        self.slice_set, self.whole = slice_set, slice_set.whole
        self.inclusions = []
        for slice_ in slice_set.slices:
            inclusion = Inclusion(table, slice_.machine, slice_.numbers) if slice_.reads else None
            self.inclusions.append(inclusion)
        if len(self.inclusions) > 1:
            *_, self.text, _ = slice_set.slices
            *_, self.in_text, _ = self.inclusions

    cdef size_t memory(self) noexcept:
        cdef Inclusion inclusion
        cdef size_t result = memory_of(self.cursors) + memory_of(self.taken) + memory_of(self.words)
        result += memory_of(self.touched) + memory_of(self.ranges) + memory_of(self.completions)
        result += memory_of(self.ended) + memory_of(self.pending)
        result += memory_of(self.class_bytes)
        for inclusion in self.inclusions:
            result += 0 if inclusion is None else inclusion.memory()
        return result

    def walk(self, int32_t start, const int32_t[::1] roots, uint32_t[::1] words):
        """Walk below each of the nodes ``roots``, in each from state ``start``.

        Tokens whose node was reached are written to ``words``, which is overwritten. Returns where
        nonterminals completed into BOTTOM and tokens go on: (nonterminal, trie nodes), both
        ascending.
        """
        cdef vector[int32_t] numbers, content
        cdef int32_t root
        cdef size_t i
        for root in roots:
            numbers.push_back(root)
        _write_numbers(numbers, self.slice_set.node_width, content)
        self._walk(start, content)
        self._flatten(self.taken.data())
        words[:] = 0
        for i in range(self.words.size()):
            words[i] = self.words[i]
        self._clear()
        return [
            (completion.first, _as_array(_numbers_in(completion.second, self.slice_set.node_width)))
            for completion in self.completions
        ]

    cdef int find_from(
        self, int32_t item_set, int32_t roots, Pool node_sets, Pool rows, Walked& walked
    ) except -1:
        """Walk from an item set above BOTTOM; node sets and masks are named by number."""
        cdef vector[int32_t] content
        self._walk(~item_set, node_sets.contents.at(roots))
        self._take_words(content, rows.width)
        walked.first = rows.find(content)
        for entry in self.completions:
            walked.second.push_back(Pair(entry.first, node_sets.find(entry.second)))
        self.completions.clear()
        return 0

    cdef int _walk(self, int32_t start, const vector[int32_t]& roots) except -1:
        """Walk from a state, or ``~item_set``; ``roots``: the content of a set of nodes."""
        cdef LazyTable explorer = self.explorer
        cdef _Slice slice_
        cdef Inclusion inclusion
        self.ended.clear()
        self.last_ended = NULL
        explorer.acquire()
        try:
            self.cursors[0] = (
                explorer.cursor(start) if start >= 0 else explorer.cursor_apart(~start)
            )
            self._find_alive()
            if not _is_root(roots, self.slice_set.node_width):
                self._walk_below(roots)
            else:
                for slice_, inclusion in zip(self.slice_set.slices, self.inclusions):
                    self._walk_slice(slice_, inclusion)
            self._find_completions()
        except BaseException:
            # An error leaves the bits of half a walk.
            self._clear()
            raise
        finally:
            explorer.release()
        return 0

    cdef int _walk_below(self, const vector[int32_t]& roots) except -1:
        """Walk below nodes: of many, below those with a byte that can come."""
        cdef _Slice whole = self.whole
        cdef size_t candidates = 0
        cdef int32_t node, byte, i, k
        cdef uint64_t bits
        for i in range(4):
            bits = self.alive.bits[i]
            while bits:
                byte = 64 * i + _lowest(bits)
                candidates += whole.byte_start[byte + 1] - whole.byte_start[byte]
                bits &= bits - 1
        self.pending = _words_in(roots, self.slice_set.node_width)
        self.most_sets = self.explorer.items.sets.contents.size() + _MOST_JOINED
        # Whichever is less: all children of the roots, or all nodes with a byte that can come, of
        # which those below a root count. No inclusion checks here: they cost more than they saved
        # (a cold step without them takes 0.91 of the time, with two other mechanisms that went; 20
        # schemas).
        if _count_numbers(roots, self.slice_set.node_width) <= candidates:
            for node in _numbers_in(roots, self.slice_set.node_width):
                self._begin(node, node + 1, whole.skip[node])
        else:
            for i in range(4):
                bits = self.alive.bits[i]
                while bits:
                    byte = 64 * i + _lowest(bits)
                    bits &= bits - 1
                    for k in range(whole.byte_start[byte], whole.byte_start[byte + 1]):
                        node = whole.of_byte[k]
                        self._begin(whole.parent[node], node, whole.skip[node])
        self.pending.clear()
        self._take_ranges(whole)
        return 0

    cdef inline int _begin(self, int32_t root, int32_t node, int32_t end) except -1:
        """Walk the subtrees of siblings, children of a root at which the walk did not begin yet."""
        if self.pending[root >> 5] >> (root & 31) & 1:
            self.cursors[self.whole.depth[root]] = self.cursors[0]
            self._walk_range(self.whole, None, node, end, 0)
        return 0

    cdef int _find_alive(self) except -1:
        """Find the bytes with which the walk can begin: most subtrees are dead at once."""
        cdef LazyTable explorer = self.explorer
        cdef int32_t start = self.cursors[0]
        cdef int32_t* row
        cdef _Bytes* these
        cdef Py_ssize_t byte_class, i
        row = explorer.row(start)
        memset(&self.alive, 0, sizeof(_Bytes))
        for byte_class in range(explorer.width):
            if row[byte_class] != DEAD:
                these = &self.class_bytes[byte_class]
                for i in range(4):
                    self.alive.bits[i] |= these.bits[i]
        return 0

    cdef int _walk_slice(self, _Slice slice_, Inclusion inclusion) except -1:
        cdef int32_t within = 0
        cdef Reach reach
        cdef Characters unsure = Characters(0, 0)
        if slice_.token_ids.shape[0] == 0:
            return 0
        if inclusion is not None and _common(&self.alive, &slice_.read_first) >= _LEAST_TAKEN:
            reach = inclusion.reach(self.cursors[0], slice_.byte.shape[0])
            # The last block has all tokens of the slice; the one before it is the longest by
            # length.
            within = min(reach.length, <int32_t> slice_.blocks.shape[0] - 2)
            # A height is in bytes, a length in characters, of which a token has no more than bytes.
            if reach.length >= slice_.height[0]:
                self._admit(slice_, slice_.blocks.shape[0] - 1, reach.without)
                within = _FREE
            elif within:
                self._admit(slice_, within, reach.without)
            if within:
                unsure = reach.unsure
            if not _is_any(unsure) and (
                within == _FREE or (reach.is_exact and within == reach.length)
            ):
                return 0
        elif inclusion is None and self._walk_tails():
            within, unsure = self.loop.length, self.loop.unsure
        self.unsure = unsure
        self._walk_children(slice_, inclusion, within)
        self._take_ranges(slice_)
        return 0

    cdef bint _walk_tails(self) except -1:
        """Add tokens by their tails, each of which is walked once; see ``mask/slices.py``.

        Tokens that begin with characters beyond ``loop`` are left to the ordinary walk. Return
        False where the state is in no loop of texts, so that nothing was added.
        """
        cdef _Slice tails = self.slice_set.tails, whole = self.whole
        cdef int32_t cursor = self.cursors[0]
        cdef vector[int64_t] items
        cdef int32_t k, node
        cdef bint is_free
        cdef size_t i
        if self.text is None or _common(&self.alive, &self.text.read_first) < _LEAST_TAKEN:
            return False
        if not self.in_text.find_loop(cursor, items, &self.loop):
            return False
        is_free = self.loop.length == _FREE
        self.cursors[0] = self.explorer.cursor_above(self.explorer.items._intern(items))
        self._walk_range(tails, None, 1, tails.skip[0], 0)
        for i in range(self.ranges.size()):
            for k in range(self.ranges[i].first, self.ranges[i].second):
                if is_free and tails.only_token[k] >= 0:
                    if not self._is_left_out(k):
                        self._add_token(tails.only_token[k])
                    continue
                node = self._behind_tail(k)
                if node:
                    self._set(whole, whole.token_start[node], whole.token_start[node + 1])
        self.ranges.clear()
        self.cursors[0] = cursor
        return True

    cdef inline int32_t _behind_tail(self, int32_t k) noexcept:
        """The node after the ``k``-th tail in the order of their trie; 0 if ``loop`` lacks it."""
        cdef int32_t node = self.slice_set.tails.nodes[k]
        if self._is_left_out(k) or self.whole.depth[node] > self.loop.length:
            return 0
        return node

    cdef inline bint _is_left_out(self, int32_t k) noexcept:
        """Whether some character before a tail is one of those that lead elsewhere."""
        cdef const uint64_t* before = &self.slice_set.tails.before[k, 0]
        return before[0] & self.loop.without.low or before[1] & self.loop.without.high

    cdef int _walk_children(
        self, _Slice slice_, Inclusion inclusion, int32_t within
    ) except -1:
        cdef uint64_t bits
        cdef int32_t child
        cdef int i
        for i in range(4):
            bits = self.alive.bits[i] & slice_.first.bits[i]
            while bits:
                child = slice_.first_child[64 * i + _lowest(bits)]
                self._walk_range(slice_, inclusion, child, slice_.skip[child], within)
                bits &= bits - 1
        return 0

    cdef void _admit(self, _Slice slice_, int32_t block, Characters without) noexcept:
        """Add tokens of a slice, without those that have certain characters."""
        self.taken[slice_.number].block = block + 1
        self.taken[slice_.number].without = without

    cdef int _walk_range(
        self, _Slice slice_, Inclusion inclusion, int32_t node, int32_t end, int32_t within
    ) except -1:
        """Walk the subtrees of siblings: down to ``node + 1`` while alive, else past it.

        Tokens of at most ``within`` bytes are found already: where all are such, nothing is walked.
        What the loop reads is in local variables: it is where all the time goes.
        """
        cdef LazyTable explorer = self.explorer
        if within >= _ENOUGH and not _is_any(self.unsure):
            # Few tokens are longer than ``_ENOUGH`` characters: no further checks for them.
            inclusion = None
        cdef const uint8_t* classes = explorer.classes
        cdef const uint8_t* byte = &slice_.byte[0]
        cdef const int32_t* skip = &slice_.skip[0]
        cdef const uint16_t* depth = &slice_.depth[0]
        cdef const int32_t* token_start = &slice_.token_start[0]
        cdef int32_t* cursors = self.cursors.data()
        cdef const uint8_t* length = slice_.length.data()
        cdef const uint8_t* reading = &slice_.reading[0] if slice_.reads else NULL
        cdef int32_t after, ended, gone_round = DEAD
        cdef Characters unsure = self.unsure
        cdef bint is_unsure = _is_any(unsure)
        cdef Round* round = NULL
        cdef long long visited = 0
        cdef int32_t start = cursors[0], last = DEAD, joined = DEAD
        cdef uint32_t* pending = NULL
        if start < 0 and not self.pending.empty():
            pending = self.pending.data()
        while node < end:
            # Bytes bound characters from above: all tokens below are within the admitted length.
            if within and depth[node] + slice_.height[node] <= within:
                if not is_unsure or not slice_.has_around(node, &unsure):
                    node = skip[node]
                    continue
            visited += 1
            after = explorer.arrive(cursors[depth[node] - 1], classes[byte[node]], &ended)
            if after == DEAD:
                node = skip[node]
                continue
            if ended:
                self._end(slice_, node, ended)
            if pending != NULL and after < 0 and pending[node >> 5] >> (node & 31) & 1:
                if after != last and explorer.items.sets.contents.size() <= self.most_sets:
                    last, joined = after, ~explorer.items.joined(~after, ~start)
                if after == last:
                    pending[node >> 5] &= ~(<uint32_t> 1 << (node & 31))
                    after = joined
            # Nodes are in preorder, so the cursor of the parent is still there when its next child
            # comes.
            cursors[depth[node]] = after
            # Most cursors lead nowhere like themselves: one that did is worth a look.
            if inclusion is not None and reading[node] == 1:
                if after == cursors[depth[node] - length[node]] and after != gone_round:
                    gone_round, round = after, inclusion.round(after)
                if after == gone_round and round.loops and not slice_.has_below(
                    node, &round.refused
                ):
                    if round.ended:
                        self._end_below(slice_, node, round.ended)
                    self._take(token_start[node], token_start[skip[node]])
                    node = skip[node]
                    continue
            if token_start[node] < token_start[node + 1]:
                self._take(token_start[node], token_start[node + 1])
            node += 1
        self.visited += visited
        return 0

    cdef inline void _take(self, int32_t first, int32_t end) noexcept:
        """Add a range of tokens; ranges come in order."""
        if not self.ranges.empty() and self.ranges.back().second == first:
            self.ranges.back().second = end
        else:
            self.ranges.push_back(Pair(first, end))

    cdef void _take_ranges(self, _Slice slice_) noexcept:
        """Set the bits of the tokens found."""
        cdef size_t number
        for number in range(self.ranges.size()):
            self._set(slice_, self.ranges[number].first, self.ranges[number].second)
        self.ranges.clear()

    cdef void _set(self, _Slice slice_, int32_t first, int32_t end) noexcept:
        cdef int32_t k
        for k in range(first, end):
            self._add_token(slice_.token_ids[k])

    cdef inline void _add_token(self, int32_t token) noexcept:
        self._add_to_word(token >> 5, <uint32_t> 1 << (token & 31))

    cdef inline void _add_to_word(self, int32_t index, uint32_t bits) noexcept:
        self.touched[index >> 6] |= <uint64_t> 1 << (index & 63)
        self.words[index] |= bits

    cdef inline int _end(self, _Slice slice_, int32_t node, int32_t ended) except -1:
        """Note that something completes at a node, if some token goes on there."""
        cdef vector[int32_t]* nodes = &self._ended_with(ended).first
        cdef int32_t k
        if slice_ is self.slice_set.tails:
            for k in range(slice_.token_start[node], slice_.token_start[node + 1]):
                nodes.push_back(self._behind_tail(k))
        else:
            nodes.push_back(node if slice_.nodes is None else slice_.nodes[node])
        return 0

    cdef int _end_below(self, _Slice slice_, int32_t node, int32_t ended) except -1:
        """Note that something completes after each character below a node."""
        self._ended_with(ended).second.push_back(
            Triple(slice_.number, Pair(node + 1, slice_.skip[node]))
        )
        return 0

    cdef inline _Ended* _ended_with(self, int32_t ended) except NULL:
        if self.last_ended == NULL or self.ending != ended:
            self.ending, self.last_ended = ended, &self.ended[ended]
        return self.last_ended

    cdef int _find_completions(self) except -1:
        """Find at which nodes each nonterminal completes; many do at the same ones."""
        cdef ordered_map[int32_t, vector[int32_t]] ends
        cdef int32_t name
        self.completions.clear()
        for entry in self.ended:
            for name in self.explorer.ends(entry.first):
                ends[name].push_back(entry.first)
        for completion in ends:
            self._write_nodes(completion.second, self.completions[completion.first])
            if self.completions[completion.first].empty():
                self.completions.erase(completion.first)
        self.ended.clear()
        return 0

    cdef int _write_nodes(self, vector[int32_t]& ends, vector[int32_t]& content) except -1:
        """Write the nodes at which something completes in any of some ways, as a content."""
        cdef const int32_t* skip = &self.whole.skip[0]
        cdef const int32_t* behind
        cdef vector[int32_t] nodes
        cdef vector[uint32_t] words
        cdef _Ended* ended_there
        cdef _Slice slice_
        cdef int32_t ended, node, inner
        for ended in ends:
            ended_there = &self.ended[ended]
            for node in ended_there.first:
                # No token goes on below a leaf; 0 is a tail that ``_behind_tail`` did not find.
                if skip[node] > node + 1 and node:
                    nodes.push_back(node)
            for run in ended_there.second:
                words.resize(self.slice_set.node_width)
                slice_ = self.slice_set.slices[run.first]
                behind = slice_.behind.data()
                for inner in range(run.second.first, run.second.second):
                    words[behind[inner] >> 5] |= <uint32_t> 1 << (behind[inner] & 31)
        if words.empty():
            return _write_numbers(nodes, self.slice_set.node_width, content)
        # The root is in ``behind`` for characters that are not whole or have nothing below.
        words[0] &= ~<uint32_t> 1
        for node in nodes:
            words[node >> 5] |= <uint32_t> 1 << (node & 31)
        return _write_words(words.data(), self.slice_set.node_width, content)

    cdef int add(self, const vector[int32_t]& content) except -1:
        """Add a mask, as ``Pool`` stores it: its blocks as such, if they are those found so far."""
        cdef const Taken* more = <const Taken*> content.data()
        cdef size_t i
        cdef size_t head = self.slice_set.head
        for i in range(self.taken.size()):
            if more[i].block and self.taken[i].block:
                # A slice has one block in a mask, so of two different ones only the bits are left.
                if memcmp(&self.taken[i], &more[i], sizeof(Taken)):
                    self._flatten(more)
                    break
        else:
            for i in range(self.taken.size()):
                if more[i].block:
                    self.taken[i] = more[i]
        if content.size() == self.words.size() + head:
            for i in range(self.words.size()):
                self.words[i] |= <uint32_t> content[i + head]
            self.all_touched = True
            return 0
        for i in range(head, content.size(), 2):
            self._add_to_word(content[i], <uint32_t> content[i + 1])
        return 0

    cdef int _flatten(self, const Taken* taken) except -1:
        """Set the bits of blocks."""
        self.slice_set.add_taken(taken, self.words.data())
        self.all_touched = True
        return 0

    cdef int32_t drop_below(self, int32_t node) except -1:
        """Drop the tokens that end below a node; return the node after its subtree."""
        cdef _Slice whole = self.whole
        cdef int32_t k, token
        for k in range(whole.token_start[node + 1], whole.token_start[whole.skip[node]]):
            token = whole.token_ids[k]
            if self._is_in_block(token):
                # A block cannot lose a single token: its bits are written out first.
                self._flatten(self.taken.data())
                memset(self.taken.data(), 0, self.taken.size() * sizeof(Taken))
            self.words[token >> 5] &= ~(<uint32_t> 1 << (token & 31))
        return whole.skip[node]

    cdef bint _is_in_block(self, int32_t token) except -1:
        cdef _Slice slice_
        for slice_ in self.slice_set.slices:
            if self.taken[slice_.number].block:
                if 1 & (
                    slice_.blocks[self.taken[slice_.number].block - 1, token >> 5] >> (token & 31)
                ):
                    return True
        return False

    cdef int _take_words(self, vector[int32_t]& content, int32_t width) except -1:
        """Write these bits in the form ``Pool`` interns, and reset."""
        cdef size_t head = self.slice_set.head, i
        cdef int32_t index
        cdef uint64_t left
        content.resize(head)
        memcpy(content.data(), self.taken.data(), head * sizeof(int32_t))
        for i in range(self.touched.size()):
            # A walk that found few tokens passes over their words alone, not over those of the
            # vocabulary.
            left = ~<uint64_t> 0 if self.all_touched else self.touched[i]
            while left:
                index = 64 * i + _lowest(left)
                left &= left - 1
                if index < width and self.words[index]:
                    content.push_back(index)
                    content.push_back(<int32_t> self.words[index])
        # A vocabulary without tokens has no words, and so no address to copy from.
        if width and content.size() - head >= <size_t> width:
            content.resize(head + width)
            memcpy(
                content.data() + head, self.words.data(), self.words.size() * sizeof(uint32_t)
            )
        self._clear()
        return 0

    cdef void _clear(self) noexcept:
        cdef size_t i
        cdef uint64_t left
        if self.all_touched and self.words.size():
            memset(self.words.data(), 0, self.words.size() * sizeof(uint32_t))
        for i in range(self.touched.size()):
            left = self.touched[i]
            while left:
                self.words[64 * i + _lowest(left)] = 0
                left &= left - 1
            self.touched[i] = 0
        self.ranges.clear()
        self.pending.clear()
        memset(self.taken.data(), 0, self.taken.size() * sizeof(Taken))
        self.all_touched = False
