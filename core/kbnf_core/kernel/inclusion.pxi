# Bounded language inclusion: up to which length all texts that a machine reads can come at a place.
#
# **Layer.** Above ``lazy_table.pxi``; a walk asks it before it visits the nodes of a slice.
#
# **Terms.** The *machine* is the automaton of a slice (``mask/slices.py``); it reads the texts of
# the slice's tokens. It begins in state 1, and a *character* is a text that it reads until it is
# there again. Characters have *numbers*; those of several bytes share them, by the first byte. A
# walk is at a *place*: a state of the table or, as ``~item_set``, an item set above BOTTOM. A
# *position* is less: a state of the table or, as ``~state``, one automaton state above BOTTOM. A
# *pair* is a position and the state of the machine to which the same bytes lead. There is
# *inclusion* of length n at a pair where each text of at most n characters that the machine reads
# from there can come and completes nothing. An automaton state is *silent* where nothing completes
# for as long as the machine reads on. A character is *refused* at a position where its first byte
# cannot come, and *unsure* where it, or one with its number, may lead elsewhere than most do or be
# refused later.
#
# **Search.** An item set has inclusion where one of its items has it and the others are silent: so
# the search goes over automaton states, and no item set is made for it. Where it leads to a call,
# states of the table are searched, which takes more time.
#
# **Counting.** A counter of characters is at one position after any of them, so one step reads a
# whole character; it may be a call of a nonterminal that reads one. Where a few characters are
# refused or unsure, as the slash of a path and the first letter of a name that is left out,
# there is inclusion for texts without those, and a walk follows the texts that have some.

cdef enum:
    # A length: any number of characters can come.
    _FREE = 255
    # Bounds of a search, in pairs: one for each sixteen nodes that a walk may save, for a pair
    # takes a step for each move that the machine has there, a node takes one; at least and at most
    # so many.
    _NODES_PER_PAIR = 16
    _LEAST_PAIRS = 64
    _MOST_PAIRS = 1024
    # Bounds of a search, in characters: over automaton states; and over states of the table, each
    # of which has to be made first. Few tokens are longer; those are walked.
    _LONGEST = 80
    _ENOUGH = 24
    # Where several items prove fewer characters than this, states of the table are made to prove
    # more, if there are so many nodes to walk.
    _SHORT = 8
    _LARGE = 16384
    # Characters that must be left beside those refused or unsure; where only fewer can come, such
    # as digits, most of the trie is dead, and to walk is less work than to search.
    _LEAST_TAKEN = 24
    # Flags of the facts known of an automaton state, with any state of the machine, which 0 stands
    # for: it is silent, or it is not; as a callee it reads one character and ends, or it does not.
    _SILENT = 1
    _LOUD = 2
    _READS_ONE = 4
    _READS_OTHERS = 8
    # Flags of a pair: a search ended at a call; there are more ways than the one of ``After``.
    _CALLING = 16
    _AMBIGUOUS = 32
    # No positions: after any character nothing can come; there is not one position.
    _NONE = -0x7FFFFFFF
    _SEVERAL = -0x7FFFFFFE


cdef struct Known:
    # The last search that saw the pair.
    int32_t search
    # How many pairs were visited to prove the length; ``_MOST_PAIRS`` where that is final.
    uint16_t effort
    # A lower bound, in characters, up to which inclusion is proved; one that is begun is one.
    uint8_t length
    uint8_t flags


cdef struct Characters:
    # A set of numbers of characters; see ``Slice.characters``.
    uint64_t low
    uint64_t high


cdef struct Loop:
    # Where any characters lead, one or more, ``without`` some: ``_NONE`` where none can come, 0
    # where that is not one position.
    int32_t position
    # How many may come in all.
    int32_t length
    Characters without
    # Those of them that may come all the same.
    Characters unsure


cdef struct Reach:
    # How many characters can come, whatever they are, ``without`` some.
    int32_t length
    # Whether nothing longer can come, of the same.
    bint is_exact
    Characters without
    # Those of them that may come all the same.
    Characters unsure
    Loop loop


cdef struct After:
    # Where most characters lead; zero before it is searched for.
    int32_t position
    Characters refused
    Characters unsure


cdef struct Round:
    # Of a place: whether characters lead back to it, but those that are refused, and what completes
    # with each of them; see ``LazyTable.arrive``.
    Characters refused
    int32_t ended
    bint loops
    bint is_known


@cython.final
cdef class Inclusion:
    """Follows one machine and one table side by side, over bytes that neither tells apart."""

    cdef LazyTable explorer
    # By state of the machine: (byte class, state after it), each pair once.
    cdef vector[vector[Pair]] moves
    # By byte class: whether the machine reads it somewhere.
    cdef vector[uint8_t] reads
    # By move of the machine's start: the characters that begin with it.
    cdef vector[Characters] beginning
    # What any of them begins with, and how many numbers that are.
    cdef Characters all_characters
    cdef int32_t count
    # By position: that after most characters of the machine.
    cdef unordered_map[int32_t, After] afterwards
    # By place.
    cdef unordered_map[int32_t, Round] rounds
    # By pair of a position and a state of the machine. Those of the tables are in an array, of
    # which only the parts that are used take memory.
    cdef unordered_map[uint64_t, Known] of_states
    cdef Known* of_automata
    cdef int32_t search

    def __cinit__(self, table, const int32_t[:, ::1] machine, const uint8_t[::1] number):
        cdef vector[Pair] found
        cdef Pair move
        cdef int32_t last[256]
        cdef Py_ssize_t state, byte
        cdef int32_t after
        cdef uint8_t byte_class
        self.explorer = table.explorer
        self.reads.resize(256)
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
            for move in found:
                self.reads[move.first] = True
        self._find_beginnings(machine, number)

    cdef int _find_beginnings(
        self, const int32_t[:, ::1] machine, const uint8_t[::1] number
    ) except -1:
        cdef vector[Pair]* moves = &self.moves[1]
        # By byte class: its first move.
        cdef vector[int32_t] first = vector[int32_t](<size_t> 256, 0)
        cdef Characters only
        cdef int32_t byte
        cdef size_t j
        for j in range(moves.size(), 0, -1):
            first[moves[0][j - 1].first] = <int32_t> j - 1
        self.beginning.resize(moves.size())
        for byte in range(256):
            if machine[1, byte] == DEAD:
                continue
            j = first[self.explorer.classes[byte]]
            while moves[0][j].second != machine[1, byte]:
                j += 1
            only.low = <uint64_t> 1 << number[byte] if number[byte] < 64 else 0
            only.high = <uint64_t> 1 << (number[byte] - 64) if number[byte] >= 64 else 0
            _add_to(&self.beginning[j], only)
            _add_to(&self.all_characters, only)
        self.count = _size(self.all_characters)
        return 0

    def __dealloc__(self):
        free(self.of_automata)

    cdef size_t held(self) noexcept:
        cdef size_t found = held(self.moves) + held(self.reads) + held(self.beginning)
        if self.of_automata != NULL:
            found += block(self.explorer.items.states * self.moves.size() * sizeof(Known))
        return found + held(self.afterwards) + held(self.rounds) + held(self.of_states)

    def covered(self, int32_t state, int32_t reading, int32_t most):
        """Return a length, at most ``most``, up to which the machine's language is viable.

        Every string of at most so many bytes that the machine reads from ``reading`` on is viable
        in ``state`` and completes nothing. It is a lower bound: the search is bounded.
        """
        self.explorer.acquire()
        try:
            return min(most, self._length(self.explorer.place(state), reading, most, _MOST_PAIRS))
        finally:
            self.explorer.release()

    cdef Reach reach(self, int32_t place, Py_ssize_t nodes) except *:
        """The inclusion that is proved from the machine's start, at a walk's beginning.

        Facts proved on the way are used for the nodes below too, so a thorough search is worth it
        here.
        """
        cdef Reach found = self._count(place), together
        # A search over pairs cannot improve on a count that leaves characters out: it stops at
        # them.
        if not found.is_exact and found.length < _ENOUGH and not _is_any(found.without):
            found.length = self._length(
                place, 1, _ENOUGH, min(_MOST_PAIRS, nodes // _NODES_PER_PAIR)
            )
            if place < 0 and found.length < _SHORT and nodes > _LARGE:
                # Several automata side by side: their states together, one for each character.
                together = self._count_from(self.explorer.lift(~place))
                if together.length > found.length:
                    found = together
        return found

    cdef Round* round(self, int32_t place) except NULL:
        """Whether most characters lead back to a place; requires the lock."""
        cdef Round* known = &self.rounds[place]
        if not known.is_known:
            self._find_round(place, known)
            known.is_known = True
        return known

    cdef int _find_round(self, int32_t place, Round* found_out) except -1:
        """Follow each character from a place until the machine is at its start again."""
        cdef vector[Pair] found = vector[Pair](1, Pair(place, 1))
        cdef vector[Characters] leading = vector[Characters](1, Characters(0, 0))
        cdef vector[int32_t] work = vector[int32_t](1, 0)
        cdef vector[Pair]* moves
        cdef Characters begun
        cdef Pair reached
        cdef int32_t ended
        cdef bint is_first = True
        cdef size_t i, j, done = 0
        found_out.loops, found_out.ended = False, 0
        found_out.refused = Characters(0, 0)
        while done < work.size():
            i = work[done]
            done += 1
            moves = &self.moves[found[i].second]
            for j in range(moves.size()):
                begun = leading[i] if i else self.beginning[j]
                reached.second = moves[0][j].second
                reached.first = self.explorer.arrive(found[i].first, moves[0][j].first, &ended)
                if reached.second == 1 and reached.first == place:
                    if is_first:
                        found_out.ended, is_first = ended, False
                    if ended == found_out.ended:
                        continue
                elif reached.second != 1 and reached.first != DEAD and not ended:
                    self._lead(reached, begun, found, leading, work)
                    continue
                _add_to(&found_out.refused, begun)
                if self.count - _size(found_out.refused) < _LEAST_TAKEN:
                    return 0
        found_out.loops = True
        return 0

    cdef bint find_loop(
        self, int32_t place, vector[int64_t]& items, Loop* common
    ) except -1:
        """Find the items that there are at a place after characters without some.

        Return whether they are the same for all such texts; ``common`` has no position then.
        """
        cdef ItemSets known = self.explorer.items
        cdef Span[int64_t] members
        cdef Span[Pair] pairs
        cdef Characters never = self.all_characters
        cdef Loop loop
        cdef size_t i
        if place >= 0:
            pairs = self.explorer.configurations.all_pairs.at(place)
            if pairs.size() != 1 or pairs[0].first != BOTTOM:
                return False
            place = ~pairs[0].second
        members = known.of(~place)
        common[0] = Loop(0, _FREE, Characters(0, 0), Characters(0, 0))
        for i in range(members.size()):
            loop = self._count_from(~<int32_t> (members[i] // known.radix)).loop
            if loop.position == 0:
                return False
            if loop.position == _NONE:
                continue
            items.push_back(~loop.position * known.radix + members[i] % known.radix)
            _add_to(&common.without, loop.without)
            common.length = min(common.length, loop.length)
            loop.without = _less(loop.without, loop.unsure)
            never.low &= loop.without.low
            never.high &= loop.without.high
        common.unsure = _less(common.without, never)
        return not items.empty()

    cdef Reach _count(self, int32_t place) except *:
        cdef int32_t position = self._only_position(place)
        cdef Reach found
        memset(&found, 0, sizeof(Reach))
        if position < 0:
            found = self._count_from(position)
        if place >= 0 and not found.length and not found.is_exact:
            found = self._count_from(place)
        return found

    cdef int32_t _only_position(self, int32_t place) except 1:
        """The position of the only automaton state that is at a place; 0 if there is more."""
        cdef int32_t item_set = ~place
        cdef Span[int64_t] members
        cdef Span[Pair] pairs
        if place >= 0:
            pairs = self.explorer.configurations.all_pairs.at(place)
            if pairs.size() != 1 or pairs[0].first != BOTTOM:
                return 0
            item_set = pairs[0].second
        members = self.explorer.items.of(item_set)
        return ~<int32_t> (members[0] // self.explorer.items.radix) if members.size() == 1 else 0

    cdef Reach _count_from(self, int32_t position) except *:
        # A count has a position for each character, and each takes a search.
        cdef bint is_counted = self._is_counted(position)
        cdef int32_t most = _ENOUGH if is_counted else _farthest(position)
        cdef int32_t rounds, length
        cdef bint is_ambiguous = False
        cdef Reach found
        cdef Loop loop = Loop(0, 0, Characters(0, 0), Characters(0, 0))
        cdef Characters without
        # Refused at all positions, so that no text has them.
        cdef Characters never = self.all_characters
        # From which on nothing is refused, as far as was looked.
        cdef vector[int32_t] free
        cdef After* after
        cdef Known* known
        cdef size_t i
        memset(&found, 0, sizeof(Reach))
        while found.length < most:
            after = self._after_character(position)
            is_ambiguous |= self._known(position, 1).flags & _AMBIGUOUS != 0
            if after.position == _NONE:
                found.is_exact = not is_ambiguous
                break
            without = found.without
            _add_to(&without, after.refused)
            _add_to(&without, after.unsure)
            if after.position == _SEVERAL or (
                _is_any(without) and self.count - _size(without) < _LEAST_TAKEN
            ):
                break
            found.without = without
            never.low &= after.refused.low & ~after.unsure.low
            never.high &= after.refused.high & ~after.unsure.high
            rounds = self._rounds(position, after) if self._is_counted(position) else 0
            if rounds:
                position = ~self.explorer.items.row_of(~position)
            if _is_any(after.refused) or _is_any(after.unsure):
                free.clear()
            else:
                free.push_back(position)
            if rounds or after.position == position:
                if found.length <= 1 and not is_ambiguous:
                    length = found.length + rounds if rounds else _FREE
                    loop = Loop(position, length, found.without, found.without)
                if not rounds:
                    found.length = _FREE
                    break
                position = ~self.explorer.items.loop_last[~position]
                found.length += rounds
                if found.length >= _FREE - 1:
                    # More than any token has, but a bound.
                    found.length = _FREE - 1
                    break
                most = max(most, found.length + 1)
                continue
            position = after.position
            found.length += 1
        found.unsure = _less(found.without, never)
        loop.unsure = _less(loop.without, never)
        if found.is_exact and not found.length:
            loop.position = _NONE
        for i in range(free.size()):
            known = self._known(free[i], 1)
            known.length = max(
                known.length, _FREE if found.length == _FREE else <uint8_t> (free.size() - i)
            )
        if not free.empty() and _is_any(found.without):
            # Only texts with these beginnings lead elsewhere: a walk finds the rest after the first
            # characters.
            memset(&found, 0, sizeof(Reach))
        found.loop = loop
        return found

    cdef inline bint _is_counted(self, int32_t position) noexcept:
        return position < 0 and ~position >= self.explorer.items.states

    cdef int32_t _rounds(self, int32_t position, const After* after) except -1:
        """How many characters there are to the bound where most of them count one; else 0.

        ``after``: what there is after one.
        """
        cdef ItemSets items = self.explorer.items
        cdef Pair counted = items.counted_states[~position - items.states]
        cdef int32_t row = counted.first, count = counted.second
        cdef int32_t loop = items.loop_of[row]
        cdef After* without_bound
        if count < items.loop_low[loop] or count + 1 >= items.loop_high[loop]:
            return 0
        without_bound = self._after_character(~row)
        if (
            without_bound.position != ~row
            or after.position != ~items.counted(row, count + 1)
            or not _are_same(without_bound.refused, after.refused)
            or not _are_same(without_bound.unsure, after.unsure)
        ):
            return 0
        return items.loop_high[loop] - count

    cdef inline After* _after_character(self, int32_t position) except NULL:
        cdef After* known = &self.afterwards[position]
        if known.position == 0:
            if position >= 0 or self._reads_on(~position):
                known.position = self._find_after_character(position, False, known)
            else:
                known.position = _SEVERAL if self._has_calls(position) else _NONE
            if known.position == _SEVERAL:
                memset(&known.refused, 0, sizeof(Characters))
                memset(&known.unsure, 0, sizeof(Characters))
                if position < 0:
                    known.position = self._after_call(~position)
        return known

    cdef int32_t _find_after_character(
        self, int32_t position, bint is_called, After* found_out
    ) except DEAD:
        """Search from the machine's start until it is there again, and return where most lead.

        Where the position is that of a callee, this is the end of the call, for all characters.
        """
        cdef vector[Pair] found = vector[Pair](1, Pair(position, 1))
        # By pair: the characters that lead there; and pairs to go on from.
        cdef vector[Characters] leading = vector[Characters](1, Characters(0, 0))
        cdef vector[int32_t] work = vector[int32_t](1, 0)
        # Where the machine is at its start again, and the characters that lead there.
        cdef vector[pair[int32_t, Characters]] ends
        cdef vector[Pair]* moves
        cdef Pair reached
        cdef Characters taken = Characters(0, 0), begun
        cdef size_t i, j, most = 0, done = 0
        found_out.refused = found_out.unsure = Characters(0, 0)
        while done < work.size():
            i = work[done]
            done += 1
            moves = &self.moves[found[i].second]
            for j in range(moves.size()):
                begun = leading[i] if i else self.beginning[j]
                reached = Pair(self._step(found[i].first, moves[0][j].first), moves[0][j].second)
                if is_called and reached.second == 1:
                    reached.first = self._step_to_end(found[i].first, moves[0][j].first)
                if reached.first == DEAD:
                    if is_called:
                        return _SEVERAL
                    if i or self._can_move(position, moves[0][j].first):
                        _add_to(&found_out.unsure, begun)
                    else:
                        _add_to(&found_out.refused, begun)
                    continue
                if i == 0:
                    _add_to(&taken, begun)
                if reached.second == 1:
                    _lead_to_end(reached.first, begun, ends)
                else:
                    self._lead(reached, begun, found, leading, work)
        if self._has_calls(position) or (is_called and ends.size() > 1):
            return _SEVERAL
        if ends.empty():
            return _SEVERAL if _is_any(taken) or _is_any(found_out.unsure) else _NONE
        for i in range(1, ends.size()):
            if _size(ends[i].second) > _size(ends[most].second):
                most = i
        for i in range(ends.size()):
            if i != most:
                _add_to(&found_out.unsure, ends[i].second)
        # Those that share a number may differ.
        taken.low &= found_out.refused.low
        taken.high &= found_out.refused.high
        _add_to(&found_out.unsure, taken)
        return ends[most].first

    cdef int _lead(
        self,
        Pair reached,
        Characters begun,
        vector[Pair]& found,
        vector[Characters]& leading,
        vector[int32_t]& work,
    ) except -1:
        """Add a pair, or the characters that lead to it, to a search."""
        cdef Characters known
        cdef size_t i
        for i in range(found.size()):
            if found[i] == reached:
                known = leading[i]
                _add_to(&leading[i], begun)
                if not _are_same(known, leading[i]):
                    work.push_back(<int32_t> i)
                return 0
        work.push_back(<int32_t> found.size())
        found.push_back(reached)
        leading.push_back(begun)
        return 0

    cdef int32_t _after_call(self, int32_t state) except DEAD:
        """The position after the call of a nonterminal that reads one character, whatever it is."""
        cdef ItemSets items = self.explorer.items
        cdef int32_t call, behind, after = _SEVERAL, row = items.row_of(state)
        for call in range(items.call_start[row], items.call_start[row + 1]):
            behind = items.target(state, items.call_return[call])
            if not items.call_tail[call] and not items.accepts(behind):
                if self._reads_character(items.call_nonterminal[call]):
                    after = ~behind
        if after == _SEVERAL or not self._is_silent(state):
            return _SEVERAL
        if items.call_start[row] + 1 < items.call_start[row + 1] or self._reads_on(state):
            self._known(~state, 1).flags |= _AMBIGUOUS
        return after

    cdef bint _reads_character(self, int32_t nonterminal) except -1:
        cdef int32_t entry = ~self.explorer.items.entry[nonterminal]
        cdef Known* known = self._known(entry, 0)
        cdef After unused
        if not known.flags & (_READS_ONE | _READS_OTHERS):
            memset(&unused, 0, sizeof(After))
            if self._find_after_character(entry, True, &unused) in (_SEVERAL, _NONE):
                known.flags |= _READS_OTHERS
            else:
                known.flags |= _READS_ONE
        return known.flags & _READS_ONE != 0

    cdef bint _reads_on(self, int32_t state) noexcept:
        """Whether an automaton state has an edge for a byte that the machine reads somewhere."""
        cdef ItemSets items = self.explorer.items
        cdef int32_t edge, row = items.row_of(state)
        for edge in range(items.edge_start[row], items.edge_start[row + 1]):
            if self.reads[items.edge_class[edge]]:
                return True
        return False

    cdef bint _has_calls(self, int32_t position) noexcept:
        cdef ItemSets items = self.explorer.items
        return position < 0 and items.has_calls(~position)

    cdef inline int32_t _step_to_end(self, int32_t position, int32_t byte_class) except? DEAD:
        """The position after a byte at which its nonterminal is complete, and nothing can come."""
        cdef ItemSets items = self.explorer.items
        cdef int32_t state = items.targets_of(~position)[byte_class] - 1
        cdef int32_t row
        if state < 0 or not items.accepts(state) or self._has_calls(~state):
            return DEAD
        row = items.row_of(state)
        return ~state if items.edge_start[row] == items.edge_start[row + 1] else DEAD

    cdef int32_t _length(
        self, int32_t place, int32_t reading, int32_t wanted, int32_t pairs
    ) except -1:
        """The length proved at a place of a walk; see ``LazyTable.place``."""
        cdef ItemSets items = self.explorer.items
        cdef Span[int64_t] members
        cdef int32_t found = 0, length, position
        cdef size_t i, best = 0
        if place >= 0:
            return self._prove(place, reading, wanted, pairs)
        members = items.of(~place)
        if members.size() > 1 and reading == 1:
            # One that goes on for ever is found out with little work.
            for i in range(members.size()):
                self._count_from(~<int32_t> (members[i] // items.radix))
        for i in range(members.size()):
            position = ~<int32_t> (members[i] // items.radix)
            length = self._known(position, reading).length
            if length > found:
                found, best = length, i
        for i in range(members.size()):
            if found >= wanted:
                break
            position = ~<int32_t> (members[i] // items.radix)
            length = self._prove(position, reading, wanted, pairs)
            if length < wanted and self._known(position, reading).flags & _CALLING:
                return self._prove(self.explorer.lift(~place), reading, wanted, pairs)
            if length > found:
                found, best = length, i
        for i in range(members.size()):
            position = ~<int32_t> (members[i] // items.radix)
            # Where inclusion is proved of another item as well, that item completes nothing.
            if found and i != best and self._known(position, reading).length < found:
                if not self._is_silent(~position):
                    return 0
        return found

    cdef inline Known* _known(self, int32_t position, int32_t reading) except NULL:
        """The facts known of a pair."""
        if position >= 0 or ~position >= self.explorer.items.states:
            return &self.of_states[_key(position, reading)]
        if self.of_automata == NULL:
            self.of_automata = <Known*> calloc(
                self.explorer.items.states * self.moves.size(), sizeof(Known)
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
        found = explorer.step_alone(position, byte_class)
        return DEAD if found == DEAD or explorer.completions[found] else found

    cdef inline bint _can_move(self, int32_t position, int32_t byte_class) except -1:
        if position < 0:
            return self.explorer.items.targets_of(~position)[byte_class] != DEAD
        return self.explorer.step_alone(position, byte_class) != DEAD

    cdef inline bint _calls(self, int32_t position, int32_t byte_class) except -1:
        """Whether after a byte, for which ``_step`` finds no position, something is called."""
        cdef ItemSets items = self.explorer.items
        cdef int32_t found
        if position >= 0:
            return False
        found = items.targets_of(~position)[byte_class]
        return found == UNKNOWN or found != DEAD and not items.accepts(found - 1)

    cdef int32_t _prove(
        self, int32_t position, int32_t reading, int32_t wanted, int32_t pairs
    ) except -1:
        """The length proved from a pair on, after a search if it is worth one."""
        cdef Known* known = self._known(position, reading)
        # A search that was cut off is repeated only with four times its bound, so that all searches
        # from a pair together take at most a third more than the longest.
        if known.length < wanted <= _farthest(position) and known.effort <= pairs // 4:
            self._look(position, reading, max(_LEAST_PAIRS, pairs))
        return known.length

    cdef int _look(self, int32_t start, int32_t start_reading, int32_t pairs) except -1:
        """Search breadth first, by characters, until a byte is refused or no pair is new.

        A pair is as far away as characters were read before it. So many may have several bytes
        each: a length in bytes says less.
        """
        cdef vector[Pair] found = vector[Pair](1, Pair(start, start_reading))
        # Pairs that are one character further away, and how many are within 0, 1, 2, .. of them.
        cdef vector[Pair] later
        cdef vector[size_t] within
        cdef vector[Pair]* moves
        cdef Pair reached, last
        cdef Known* known
        cdef int32_t limit = _FREE, most = _farthest(start), length = 0, i_length
        cdef bint refused = False, is_closed = False
        cdef size_t i = 0, j
        self.search += 1
        self._known(start, start_reading).search = self.search
        while length < min(limit, most):
            if i == found.size():
                within.push_back(i)
                is_closed = later.empty()
                if is_closed:
                    break
                found.insert(found.end(), later.begin(), later.end())
                later.clear()
                length += 1
                continue
            if <int32_t> i > pairs:
                break
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
                if known.effort < _MOST_PAIRS and reached.second == 1:
                    later.push_back(reached)
                elif known.effort < _MOST_PAIRS:
                    found.push_back(reached)
                elif known.length != _FREE:
                    # The facts of this pair are final: it bounds the length, and is not searched
                    # again.
                    limit = min(limit, length + (reached.second == 1) + known.length)
            if refused:
                break
            i += 1
        if is_closed and limit == _FREE:
            # The visited pairs are closed: there is inclusion of any length.
            for reached in found:
                known = self._known(reached.first, reached.second)
                known.length, known.effort = _FREE, _MOST_PAIRS
            return 0
        length = limit if is_closed else min(length, limit)
        for i_length in range(min(length, <int32_t> within.size())):
            for i in range(within[i_length - 1] if i_length else 0, within[i_length]):
                known = self._known(found[i].first, found[i].second)
                known.length = max(known.length, length - i_length)
        # A refused byte, or a reached limit, is final; else a later call may search further.
        known = self._known(start, start_reading)
        known.effort = _MOST_PAIRS if refused or length == limit else max(known.effort, pairs)
        return 0

    cdef bint _is_silent(self, int32_t start) except -1:
        """Return whether nothing completes while the machine reads on, from any of its states.

        A call may read anything. A counted repetition is silent where it is so without bounds.
        """
        cdef ItemSets items = self.explorer.items
        start = items.unbounded(start)
        cdef Known* known = self._known(~start, 0)
        cdef vector[int32_t] found = vector[int32_t](1, start)
        cdef const uint8_t* reads = self.reads.data()
        cdef const int32_t* classes
        cdef const int32_t* targets
        cdef int32_t state, edge, call, last, end
        cdef size_t i = 0
        if known.flags & (_SILENT | _LOUD):
            return known.flags & _SILENT != 0
        self.search += 1
        known.search = self.search
        # Loud until proved silent, so that each early return below leaves the answer.
        known.flags |= _LOUD
        while i < found.size():
            state = found[i]
            i += 1
            if i > _MOST_PAIRS:
                return False
            # Most edges of a state lead to the same one as the edge before.
            last = UNKNOWN
            edge, end = items.edge_start[state], items.edge_start[state + 1]
            if edge < end:
                classes, targets = &items.edge_class[edge], &items.edge_target[edge]
            for edge in range(end - edge):
                if targets[edge] != last and reads[classes[edge]]:
                    last = targets[edge]
                    if not self._goes_on(last, found):
                        return False
            for call in range(items.call_start[state], items.call_start[state + 1]):
                if items.call_tail[call] or not self._goes_on(items.call_return[call], found):
                    return False
        known.flags &= ~_LOUD
        for state in found:
            self._known(~state, 0).flags |= _SILENT
        return True

    cdef bint _goes_on(self, int32_t state, vector[int32_t]& found) except -1:
        """Add a state that is new to the search; return whether nothing completes there."""
        if self.explorer.items.has_loops:
            state = self.explorer.items.unbounded(state)
        if self.explorer.items.accepting[state]:
            return False
        cdef Known* known = self._known(~state, 0)
        if known.search != self.search and not known.flags & _SILENT:
            known.search = self.search
            found.push_back(state)
        return True


cdef int _lead_to_end(
    int32_t position, Characters begun, vector[pair[int32_t, Characters]]& ends
) except -1:
    """Add a position, or the characters that lead to it, to those that end a search."""
    cdef size_t i
    for i in range(ends.size()):
        if ends[i].first == position:
            _add_to(&ends[i].second, begun)
            return 0
    ends.push_back(pair[int32_t, Characters](position, begun))
    return 0


cdef inline int32_t _farthest(int32_t position) noexcept nogil:
    """How far to search: states of the table are made for it."""
    return _LONGEST if position < 0 else _ENOUGH


cdef inline bint _is_any(Characters these) noexcept nogil:
    return these.low or these.high


cdef inline int32_t _size(Characters these) noexcept nogil:
    return _count_bits(these.low) + _count_bits(these.high)


cdef inline bint _are_same(Characters one, Characters other) noexcept nogil:
    return one.low == other.low and one.high == other.high


cdef inline Characters _less(Characters these, Characters others) noexcept nogil:
    return Characters(these.low & ~others.low, these.high & ~others.high)


cdef inline void _add_to(Characters* these, Characters more) noexcept nogil:
    these.low |= more.low
    these.high |= more.high

