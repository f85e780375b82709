# Bounded language inclusion of an automaton in a state; see ``interface.Inclusion``.
#
# An item set includes the automaton's language where one of its items does, and nothing completes
# in the others: so what is searched are automaton states, and no item set is made for it. Where
# that leads to a call, states of the table are searched.

cdef enum:
    _FREE = 255
    # Pairs to visit for each sixteen trie nodes whose walk this may save.
    _NODES_PER_PAIR = 16
    _LEAST_PAIRS = 64
    _MOST_PAIRS = 1024
    # Bytes; few tokens are longer, and they would make every check longer.
    _LONGEST = 64
    # Bytes of inclusion already proved when a walk checks again.
    _SOON = 32
    # What is known of a pair: that nothing completes or is called from there on, that something may
    # be; that a search for a length ended at a call.
    _SILENT = 1
    _LOUD = 2
    _CALLING = 4


cdef struct Known:
    # The last search that saw the pair.
    int32_t search
    # How many pairs were visited to prove the length; ``_MOST_PAIRS`` where that is final.
    uint16_t effort
    # A lower bound, in bytes, up to which inclusion is proved.
    uint8_t length
    uint8_t flags


cdef class Inclusion:
    """Follows one machine and one table side by side, over bytes that neither tells apart.

    A *position* is the number of a state of the table, or ``~state`` of an automaton above BOTTOM.
    """

    cdef LazyTable explorer
    # By state of the machine: (byte class, state after it), each pair once.
    cdef vector[vector[Pair]] moves
    # By pair of a position and a state of the machine. Those of automata are in an array, of which
    # only the parts that are used take memory.
    cdef unordered_map[uint64_t, Known] of_states
    cdef Known* of_automata
    cdef int32_t search

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

    def __dealloc__(self):
        free(self.of_automata)

    def covered(self, int32_t state, int32_t reading, int32_t most):
        """See ``interface.Inclusion``."""
        self.explorer.refresh()
        self.explorer._wake()
        return min(most, self._length(self.explorer.place(state), reading, most, _MOST_PAIRS))

    cdef int32_t covers_all(self, int32_t place, Py_ssize_t nodes) except -1:
        """The length proved from the machine's start, at a walk's beginning.

        What is found out on the way holds for the nodes below, so a good look is worth it here.
        """
        return self._length(place, 1, _SOON, min(_MOST_PAIRS, nodes // _NODES_PER_PAIR))

    cdef bint covers(
        self, int32_t place, int32_t reading, int32_t wanted, Py_ssize_t nodes
    ) except -1:
        """Tell whether inclusion holds for ``wanted`` bytes; search no longer than ``nodes`` cost."""
        cdef int32_t pairs = min(_MOST_PAIRS, nodes // _NODES_PER_PAIR)
        return self._length(place, reading, wanted, pairs) >= wanted

    cdef int32_t _length(
        self, int32_t place, int32_t reading, int32_t wanted, int32_t pairs
    ) except -1:
        """The length proved at a place of a walk; see ``LazyTable.place``."""
        cdef _Items items = self.explorer.items
        cdef vector[int64_t]* members
        cdef int32_t found = 0, length, position
        cdef size_t i, best = 0
        if place >= 0:
            return self._prove(place, reading, wanted, pairs)
        members = items.of(~place)
        for i in range(members.size()):
            position = ~<int32_t> (members[0][i] // items.radix)
            length = self._prove(position, reading, wanted, pairs)
            if length < wanted and self._known(position, reading).flags & _CALLING:
                return self._prove(self.explorer.lift(~place), reading, wanted, pairs)
            if length > found:
                found, best = length, i
        for i in range(members.size()):
            if found and i != best:
                if not self._is_silent(<int32_t> (members[0][i] // items.radix), reading):
                    return 0
        return found

    cdef inline Known* _known(self, int32_t position, int32_t reading) except NULL:
        """What is known of a pair."""
        if position >= 0:
            return &self.of_states[_key(position, reading)]
        if self.of_automata == NULL:
            self.of_automata = <Known*> calloc(
                self.explorer.items.accepting.shape[0] * self.moves.size(), sizeof(Known)
            )
            if self.of_automata == NULL:
                raise MemoryError
        return &self.of_automata[<size_t> ~position * self.moves.size() + reading]

    cdef inline int32_t _step(self, int32_t position, int32_t byte_class) except? DEAD:
        """The position after a byte; DEAD too where something completes into BOTTOM.

        And where there is a call, or several targets: it would be more than one automaton state.
        """
        cdef LazyTable explorer = self.explorer
        cdef int32_t found
        if position < 0:
            found = explorer.items.targets_of(~position)[byte_class]
            return ~(found - 1) if found > 0 and explorer.items.is_plain(found - 1) else DEAD
        found = explorer.step(position, byte_class)
        return DEAD if found == DEAD or explorer.completions[found] else found

    cdef inline bint _calls(self, int32_t position, int32_t byte_class) except -1:
        """Whether after a byte, for which ``_step`` finds no position, something is called."""
        cdef _Items items = self.explorer.items
        cdef int32_t found
        if position >= 0:
            return False
        found = items.targets_of(~position)[byte_class]
        return found == UNKNOWN or found != DEAD and not items.accepting[found - 1]

    cdef int32_t _prove(
        self, int32_t position, int32_t reading, int32_t wanted, int32_t pairs
    ) except -1:
        """The length proved from a pair on, after a search if it is worth one."""
        cdef Known* known = self._known(position, reading)
        if known.length < wanted <= _LONGEST and known.effort <= pairs // 4:
            self._look(position, reading, max(_LEAST_PAIRS, pairs))
        return known.length

    cdef int _look(self, int32_t start, int32_t start_reading, int32_t pairs) except -1:
        """Search breadth first, until a byte is refused or no pair is new."""
        cdef vector[Pair] found = vector[Pair](1, Pair(start, start_reading))
        # How many pairs were found within 0, 1, 2, .. bytes.
        cdef vector[size_t] within = vector[size_t](1, 1)
        cdef vector[Pair]* moves
        cdef Pair reached, last
        cdef Known* known
        cdef int32_t limit = _FREE, length = 0, i_length
        cdef bint refused = False
        cdef size_t i = 0, j
        self.search += 1
        self._known(start, start_reading).search = self.search
        while i < found.size() and length < min(limit, _LONGEST) and <int32_t> i <= pairs:
            moves = &self.moves[found[i].second]
            last = Pair(DEAD, DEAD)
            for j in range(moves.size()):
                reached.second = moves[0][j].second
                reached.first = self._step(found[i].first, moves[0][j].first)
                if reached.first == DEAD:
                    refused = True
                    if self._calls(found[i].first, moves[0][j].first):
                        self._known(start, start_reading).flags |= _CALLING
                    break
                # Most moves of a state lead to the same one as the move before.
                if reached == last:
                    continue
                last = reached
                known = self._known(reached.first, reached.second)
                if known.search == self.search:
                    continue
                known.search = self.search
                if known.effort < _MOST_PAIRS:
                    found.push_back(reached)
                elif known.length != _FREE:
                    limit = min(limit, length + 1 + known.length)
            if refused:
                break
            i += 1
            if i == within.back():
                length += 1
                within.push_back(found.size())
        if not refused and i == found.size() and limit == _FREE:
            # The visited pairs are closed: inclusion holds for any length.
            for reached in found:
                known = self._known(reached.first, reached.second)
                known.length, known.effort = _FREE, _MOST_PAIRS
            return 0
        if not refused and i == found.size():
            length = limit
        length = min(length, limit)
        for i_length in range(min(length, <int32_t> within.size())):
            for i in range(within[i_length - 1] if i_length else 0, within[i_length]):
                known = self._known(found[i].first, found[i].second)
                known.length = max(known.length, length - i_length)
        # A refused byte, or a reached limit, is final; else a later call may search further.
        known = self._known(start, start_reading)
        known.effort = _MOST_PAIRS if refused or length == limit else max(known.effort, pairs)
        return 0

    cdef bint _is_silent(self, int32_t state, int32_t reading) except -1:
        """Tell whether nothing completes, or is called, for as long as the machine reads on."""
        cdef _Items items = self.explorer.items
        cdef Known* start = self._known(~state, reading)
        cdef vector[Pair] found = vector[Pair](1, Pair(~state, reading))
        cdef vector[Pair]* moves
        cdef Pair each
        cdef Known* known
        cdef int32_t target
        cdef size_t i = 0, j
        if start.flags & (_SILENT | _LOUD):
            return start.flags & _SILENT
        self.search += 1
        start.search = self.search
        start.flags |= _LOUD
        while i < found.size():
            moves = &self.moves[found[i].second]
            for j in range(moves.size()):
                target = items.targets_of(~found[i].first)[moves[0][j].first]
                if target == DEAD:
                    continue
                if target == UNKNOWN or not items.is_plain(target - 1) or i > _MOST_PAIRS:
                    return False
                known = self._known(~(target - 1), moves[0][j].second)
                if known.flags & _SILENT or known.search == self.search:
                    continue
                if known.flags & _LOUD:
                    return False
                known.search = self.search
                found.push_back(Pair(~(target - 1), moves[0][j].second))
            i += 1
        start.flags &= ~_LOUD
        for each in found:
            self._known(each.first, each.second).flags |= _SILENT
        return True


reader = Inclusion
