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
    """Follows one machine and one table side by side, over bytes that neither tells apart."""

    cdef LazyTable explorer
    # By state of the machine: (byte class, state after it), each pair once.
    cdef vector[vector[Pair]] moves
    # By pair of states: a lower bound, in bytes, up to which inclusion is proved; and how
    # many pairs were visited to prove it.
    cdef unordered_map[uint64_t, Pair] lengths

    def __cinit__(self, table, const int32_t[:, ::1] machine):
        cdef vector[Pair] found
        cdef Py_ssize_t state, byte
        self.explorer = table.explorer
        for state in range(machine.shape[0]):
            found.clear()
            for byte in range(256):
                if machine[state, byte] != DEAD:
                    found.push_back(Pair(self.explorer.classes[byte], machine[state, byte]))
            sort(found.begin(), found.end())
            found.erase(unique(found.begin(), found.end()), found.end())
            self.moves.push_back(found)

    def covered(self, int32_t state, int32_t reading, int32_t most):
        """See ``interface.Inclusion``."""
        self.explorer.refresh()
        self._look(Pair(state, reading), _MOST_PAIRS)
        return min(most, self.lengths[_key(state, reading)].first)

    cdef bint covers_all(self, int32_t state, int32_t wanted, Py_ssize_t nodes) except -1:
        """Tell whether ``wanted`` bytes can come from the machine's start, at a walk's beginning.

        What is found out on the way holds for the nodes below, so a good look is worth it here.
        """
        cdef Pair* known = &self.lengths[_key(state, 1)]
        if known.first < _SOON and known.second < _MOST_PAIRS:
            self._look(Pair(state, 1), max(_LEAST_PAIRS, min(_MOST_PAIRS, nodes // _NODES_PER_PAIR)))
        return self.lengths[_key(state, 1)].first >= wanted

    cdef bint covers(
        self, int32_t state, int32_t reading, int32_t wanted, Py_ssize_t nodes
    ) except -1:
        """Tell whether inclusion holds for ``wanted`` bytes; search no longer than ``nodes`` cost."""
        cdef Pair* known = &self.lengths[_key(state, reading)]
        cdef int32_t pairs = min(_MOST_PAIRS, nodes // _NODES_PER_PAIR)
        if known.first >= wanted or known.second > pairs // 4 or wanted > _LONGEST:
            return known.first >= wanted
        self._look(Pair(state, reading), max(_LEAST_PAIRS, pairs))
        return self.lengths[_key(state, reading)].first >= wanted

    cdef int _look(self, Pair start, int32_t pairs) except -1:
        """Search breadth first, until a byte is refused or no pair is new."""
        cdef LazyTable explorer = self.explorer
        cdef unordered_set[uint64_t] seen
        cdef vector[Pair] level = vector[Pair](1, start), following
        cdef vector[vector[Pair]] levels
        cdef Pair reached, last
        cdef Pair* known
        cdef int32_t limit = _FREE, turn = 0
        cdef bint refused = False
        cdef uint64_t key
        cdef size_t i, j
        seen.insert(_key(start.first, start.second))
        while turn < min(limit, _LONGEST) and <int32_t> seen.size() <= pairs and not level.empty():
            following.clear()
            for i in range(level.size()):
                last = Pair(DEAD, DEAD)
                for j in range(self.moves[level[i].second].size()):
                    reached.second = self.moves[level[i].second][j].second
                    reached.first = explorer.step(
                        level[i].first, self.moves[level[i].second][j].first
                    )
                    if reached.first == DEAD or explorer.completions[reached.first]:
                        refused = True
                        break
                    # Most moves of a state lead to the same one as the move before.
                    if reached == last:
                        continue
                    last = reached
                    key = _key(reached.first, reached.second)
                    if not seen.insert(key).second:
                        continue
                    known = &self.lengths[key]
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
            for key in seen:
                self.lengths[key] = Pair(_FREE, _MOST_PAIRS)
            return 0
        if not refused and level.empty():
            turn = limit
        turn = min(turn, limit)
        for i in range(min(levels.size(), <size_t> turn)):
            for reached in levels[i]:
                known = &self.lengths[_key(reached.first, reached.second)]
                known.first = max(known.first, turn - <int32_t> i)
        # A refused byte, or a reached limit, is final; else a later call may search further.
        known = &self.lengths[_key(start.first, start.second)]
        known.first = max(known.first, turn)
        known.second = _MOST_PAIRS if refused or turn == limit else max(known.second, pairs)
        return 0


reader = Inclusion
