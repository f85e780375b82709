# Bounded language inclusion of an automaton in a state; see ``interface.Inclusion``.

cdef enum:
    _FREE = 255
    # Pairs to visit for each sixteen trie nodes whose walk this may save.
    _NODES_PER_PAIR = 16
    _LEAST_PAIRS = 64
    _MOST_PAIRS = 4096
    # Bytes; few tokens are longer, and they would make every check longer.
    _LONGEST = 20
    # Bytes of inclusion already proved when a walk checks again.
    _SOON = 12


cdef class Inclusion:
    """Follows one machine and one table side by side, over bytes that neither tells apart.

    A *place* is the number of a state of the table, or ``~item_set``; see ``LazyTable.place``.
    """

    cdef LazyTable explorer
    # By state of the machine: (byte class, state after it), each pair once.
    cdef vector[vector[Pair]] moves
    # By pair of a place and a state of the machine: a lower bound, in bytes, up to which inclusion
    # is proved; and how many pairs were visited to prove it. Those of item sets are in an array.
    cdef unordered_map[uint64_t, Pair] lengths
    cdef vector[Pair] set_lengths
    # The pairs that the search in progress has seen; of item sets, by the number of the search.
    cdef unordered_set[uint64_t] seen
    cdef vector[int32_t] set_seen
    cdef int32_t search

    def __cinit__(self, table, const int32_t[:, ::1] machine):
        cdef vector[Pair] found
        cdef int32_t last[256]
        cdef Py_ssize_t state, byte
        cdef int32_t after
        cdef uint8_t byte_class
        self.explorer = table.explorer
        self.moves.reserve(machine.shape[0])
        for state in range(machine.shape[0]):
            found.clear()
            memset(last, DEAD, sizeof(last))
            for byte in range(256):
                after, byte_class = machine[state, byte], self.explorer.classes[byte]
                # Most bytes of a class lead to the same state.
                if after != last[byte_class] and after != DEAD:
                    last[byte_class] = after
                    found.push_back(Pair(byte_class, after))
            sort(found.begin(), found.end())
            found.erase(unique(found.begin(), found.end()), found.end())
            self.moves.push_back(found)

    def covered(self, int32_t state, int32_t reading, int32_t most):
        """See ``interface.Inclusion``."""
        self.explorer.refresh()
        self.explorer._wake()
        self._look(state, reading, _MOST_PAIRS)
        return min(most, self._known(state, reading).first)

    cdef inline Pair* _known(self, int32_t place, int32_t reading) except NULL:
        """What is known of a pair; valid until the next question."""
        cdef size_t index
        if place >= 0:
            return &self.lengths[_key(place, reading)]
        index = ~place * self.moves.size() + reading
        if index >= self.set_lengths.size():
            self.set_lengths.resize(2 * index + 256)
            self.set_seen.resize(2 * index + 256)
        return &self.set_lengths[index]

    cdef inline bint _sees(self, int32_t place, int32_t reading) except -1:
        """Tell whether a pair is new to the search in progress."""
        cdef size_t index
        if place >= 0:
            return self.seen.insert(_key(place, reading)).second
        index = ~place * self.moves.size() + reading
        if self.set_seen[index] == self.search:
            return False
        self.set_seen[index] = self.search
        return True

    cdef int32_t covers_all(self, int32_t place, Py_ssize_t nodes) except -1:
        """The length proved from the machine's start, at a walk's beginning.

        What is found out on the way holds for the nodes below, so a good look is worth it here.
        """
        cdef Pair* known = self._known(place, 1)
        if known.first < _SOON and known.second < _MOST_PAIRS:
            self._look(place, 1, max(_LEAST_PAIRS, min(_MOST_PAIRS, nodes // _NODES_PER_PAIR)))
        return self._known(place, 1).first

    cdef bint covers(
        self, int32_t place, int32_t reading, int32_t wanted, Py_ssize_t nodes
    ) except -1:
        """Tell whether inclusion holds for ``wanted`` bytes; search no longer than ``nodes`` cost."""
        cdef Pair* known = self._known(place, reading)
        cdef int32_t pairs = min(_MOST_PAIRS, nodes // _NODES_PER_PAIR)
        if known.first >= wanted or known.second > pairs // 4 or wanted > _LONGEST:
            return known.first >= wanted
        self._look(place, reading, max(_LEAST_PAIRS, pairs))
        return self._known(place, reading).first >= wanted

    cdef inline int32_t _step(self, int32_t place, uint8_t byte_class) except? DEAD:
        """The place after a byte; DEAD too where something completes into BOTTOM."""
        cdef LazyTable explorer = self.explorer
        cdef int32_t found
        if place < 0:
            found = explorer.items.move(~place, byte_class)
            if found == EMPTY:
                return DEAD
            if explorer.items.kind(found) != _LIFTS:
                return ~found if explorer.items.kind(found) == _READS else DEAD
            found = explorer.lift(found)
        else:
            found = explorer.step(place, byte_class)
        return DEAD if found == DEAD or explorer.completions[found] else explorer.place(found)

    cdef int _look(self, int32_t start, int32_t start_reading, int32_t pairs) except -1:
        """Search breadth first, until a byte is refused or no pair is new."""
        cdef vector[Pair] level = vector[Pair](1, Pair(start, start_reading)), following
        cdef vector[vector[Pair]] levels
        cdef vector[Pair]* moves
        cdef Pair reached, last
        cdef Pair* known
        cdef int32_t limit = _FREE, turn = 0, count = 1
        cdef bint refused = False
        cdef size_t i, j
        self.seen.clear()
        self.search += 1
        self._known(start, start_reading)
        self._sees(start, start_reading)
        while turn < min(limit, _LONGEST) and count <= pairs and not level.empty():
            following.clear()
            for i in range(level.size()):
                last = Pair(DEAD, DEAD)
                moves = &self.moves[level[i].second]
                for j in range(moves.size()):
                    reached.second = moves[0][j].second
                    reached.first = self._step(level[i].first, moves[0][j].first)
                    if reached.first == DEAD:
                        refused = True
                        break
                    # Most moves of a state lead to the same one as the move before.
                    if reached == last:
                        continue
                    last = reached
                    known = self._known(reached.first, reached.second)
                    if not self._sees(reached.first, reached.second):
                        continue
                    count += 1
                    if known.second < _MOST_PAIRS:
                        following.push_back(reached)
                    elif known.first != _FREE:
                        limit = min(limit, turn + 1 + known.first)
                if refused:
                    break
            if refused:
                break
            turn += 1
            levels.push_back(level)
            level.swap(following)
        if not refused and level.empty() and limit == _FREE:
            # The visited pairs are closed: inclusion holds for any length.
            for i in range(levels.size()):
                for reached in levels[i]:
                    self._known(reached.first, reached.second)[0] = Pair(_FREE, _MOST_PAIRS)
            return 0
        if not refused and level.empty():
            turn = limit
        turn = min(turn, limit)
        for i in range(min(levels.size(), <size_t> turn)):
            for reached in levels[i]:
                known = self._known(reached.first, reached.second)
                known.first = max(known.first, turn - <int32_t> i)
        # A refused byte, or a reached limit, is final; else a later call may search further.
        known = self._known(start, start_reading)
        known.first = max(known.first, turn)
        known.second = _MOST_PAIRS if refused or turn == limit else max(known.second, pairs)
        return 0


reader = Inclusion
