# Bounded language inclusion: how long all texts that a machine reads can come at a cursor.
#
# **Layer.** Above ``lazy_table.pxi``; a walk asks it before it visits the nodes of a slice.
#
# **Terms.** The *machine* is the automaton of a slice (``mask/slices.py``); it reads the texts of
# the slice's tokens. It begins in state 1, and a *character* is a text that it reads until it is
# there again. Characters have *numbers*; those of several bytes share them, by the first byte. A
# walk is at a *cursor*: a state of the table or, as ``~item_set``, an item set above BOTTOM. A
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
    # A state of the table that has to be made takes as long as so many pairs; and the most of them
    # for one search. One in a grammar of C has 15 pairs and takes 10 us.
    _PAIRS_PER_STATE = 8
    _MOST_STATES = 128
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
    _IMPOSSIBLE = -0x7FFFFFFF
    _SEVERAL = -0x7FFFFFFE


cdef struct Facts:
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
    # Where any characters lead, one or more, ``without`` some: ``_IMPOSSIBLE`` without any, 0
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
    # Of a cursor: whether characters lead back, but those that are refused, and what completes
    # with each of them; see ``LazyTable.arrive``.
    Characters refused
    int32_t ended
    bint loops
    bint is_computed


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
    # By cursor.
    cdef unordered_map[int32_t, Round] rounds
    # By pair of a position and a state of the machine. Those of the tables are in an array, of
    # which only the parts that are used take memory.
    cdef unordered_map[uint64_t, Facts] of_states
    cdef Facts* of_automata
    cdef int32_t search

    def __cinit__(self, table, const int32_t[:, ::1] machine, const uint8_t[::1] number):
        cdef vector[Pair] pairs
        cdef Pair move
        cdef int32_t last[256]
        cdef Py_ssize_t state, byte
        cdef int32_t after
        cdef uint8_t byte_class
        self.explorer = table.explorer
        self.reads.resize(256)
        self.moves.reserve(machine.shape[0])
        for state in range(machine.shape[0]):
            pairs.clear()
            memset(last, DEAD, sizeof(last))
            for byte in range(256):
                after, byte_class = machine[state, byte], self.explorer.classes[byte]
                # Most bytes of a class lead to the same state.
                if after != last[byte_class] and after != DEAD:
                    last[byte_class] = after
                    pairs.push_back(Pair(byte_class, after))
            sort(pairs.begin(), pairs.end())
            pairs.erase(unique(pairs.begin(), pairs.end()), pairs.end())
            self.moves.push_back(pairs)
            for move in pairs:
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

    cdef size_t memory(self) noexcept:
        cdef size_t result = memory_of(self.moves) + memory_of(self.reads)
        result += memory_of(self.beginning)
        if self.of_automata != NULL:
            result += block(self.explorer.items.states * self.moves.size() * sizeof(Facts))
        return (
            result + memory_of(self.afterwards) + memory_of(self.rounds)
            + memory_of(self.of_states)
        )

    def covered(self, int32_t state, int32_t reading, int32_t most):
        """Return a length, at most ``most``, up to which the machine's language is viable.

        Every string of at most so many bytes that the machine reads from ``reading`` on is viable
        in ``state`` and completes nothing. It is a lower bound: the search is bounded.
        """
        self.explorer.acquire()
        try:
            return min(most, self._length(self.explorer.cursor(state), reading, most, _MOST_PAIRS))
        finally:
            self.explorer.release()

    cdef Reach reach(self, int32_t cursor, Py_ssize_t nodes) except *:
        """The inclusion that is proved from the machine's start, at a walk's beginning.

        Facts proved on the way are used for the nodes below too, so a thorough search is worth it
        here.
        """
        cdef Reach result = self._count(cursor), together
        # A search over pairs cannot improve on a count that leaves characters out: it stops at
        # them.
        if not result.is_exact and result.length < _ENOUGH and not _is_any(result.without):
            result.length = self._length(
                cursor, 1, _ENOUGH, min(_MOST_PAIRS, nodes // _NODES_PER_PAIR)
            )
            if cursor < 0 and result.length < _SHORT and nodes > _LARGE:
                # Several automata side by side: their states together, one for each character.
                together = self._count_from(self.explorer.lift(~cursor))
                if together.length > result.length:
                    result = together
        return result

    cdef Round* round(self, int32_t cursor) except NULL:
        """Whether most characters lead back to a cursor; requires the lock."""
        cdef Round* round_ = &self.rounds[cursor]
        if not round_.is_computed:
            self._find_round(cursor, round_)
            round_.is_computed = True
        return round_

    cdef int _find_round(self, int32_t cursor, Round* round_) except -1:
        """Follow each character from a cursor until the machine is at its start again."""
        cdef vector[Pair] seen = vector[Pair](1, Pair(cursor, 1))
        cdef vector[Characters] leading = vector[Characters](1, Characters(0, 0))
        cdef vector[int32_t] work = vector[int32_t](1, 0)
        cdef vector[Pair]* moves
        cdef Characters begun
        cdef Pair reached
        cdef int32_t ended
        cdef bint is_first = True
        cdef size_t i, j, done = 0
        round_.loops, round_.ended = False, 0
        round_.refused = Characters(0, 0)
        while done < work.size():
            i = work[done]
            done += 1
            moves = &self.moves[seen[i].second]
            for j in range(moves.size()):
                begun = leading[i] if i else self.beginning[j]
                reached.second = moves[0][j].second
                reached.first = self.explorer.arrive(seen[i].first, moves[0][j].first, &ended)
                if reached.second == 1 and reached.first == cursor:
                    if is_first:
                        round_.ended, is_first = ended, False
                    if ended == round_.ended:
                        continue
                elif reached.second != 1 and reached.first != DEAD and not ended:
                    self._lead(reached, begun, seen, leading, work)
                    continue
                _add_to(&round_.refused, begun)
                if self.count - _size(round_.refused) < _LEAST_TAKEN:
                    return 0
        round_.loops = True
        return 0

    cdef bint find_loop(
        self, int32_t cursor, vector[int64_t]& items, Loop* common
    ) except -1:
        """Find the items that there are at a cursor after characters without some.

        Return whether they are the same for all such texts; ``common`` has no position then.
        """
        cdef ItemSets item_sets = self.explorer.items
        cdef Span[int64_t] members
        cdef Span[Pair] pairs
        cdef Characters never = self.all_characters
        cdef Loop loop
        cdef size_t i
        if cursor >= 0:
            pairs = self.explorer.configurations.all_pairs.at(cursor)
            if pairs.size() != 1 or pairs[0].first != BOTTOM:
                return False
            cursor = ~pairs[0].second
        members = item_sets.of(~cursor)
        common[0] = Loop(0, _FREE, Characters(0, 0), Characters(0, 0))
        for i in range(members.size()):
            loop = self._count_from(~<int32_t> (members[i] // item_sets.radix)).loop
            if loop.position == 0:
                return False
            if loop.position == _IMPOSSIBLE:
                continue
            items.push_back(~loop.position * item_sets.radix + members[i] % item_sets.radix)
            _add_to(&common.without, loop.without)
            common.length = min(common.length, loop.length)
            loop.without = _less(loop.without, loop.unsure)
            never.low &= loop.without.low
            never.high &= loop.without.high
        common.unsure = _less(common.without, never)
        return not items.empty()

    cdef Reach _count(self, int32_t cursor) except *:
        cdef int32_t position = self._only_position(cursor)
        cdef Reach result
        memset(&result, 0, sizeof(Reach))
        if position < 0:
            result = self._count_from(position)
        if cursor >= 0 and not result.length and not result.is_exact:
            result = self._count_from(cursor)
        return result

    cdef int32_t _only_position(self, int32_t cursor) except 1:
        """The position of the only automaton state that is at a cursor; 0 if there is more."""
        cdef int32_t item_set = ~cursor
        cdef Span[int64_t] members
        cdef Span[Pair] pairs
        if cursor >= 0:
            pairs = self.explorer.configurations.all_pairs.at(cursor)
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
        cdef size_t states = self.explorer.rows.size()
        cdef bint is_ambiguous = False
        cdef Reach result
        cdef Loop loop = Loop(0, 0, Characters(0, 0), Characters(0, 0))
        cdef Characters without
        # Refused at all positions, so that no text has them.
        cdef Characters never = self.all_characters
        # From which on nothing is refused, as far as was looked.
        cdef vector[int32_t] free
        cdef After* after
        cdef Facts* facts
        cdef size_t i
        memset(&result, 0, sizeof(Reach))
        while (
            result.length < most
            and self.explorer.rows.size() <= states + _MOST_STATES
        ):
            after = self._after_character(position)
            is_ambiguous |= self._facts(position, 1).flags & _AMBIGUOUS != 0
            if after.position == _IMPOSSIBLE:
                result.is_exact = not is_ambiguous
                break
            without = result.without
            _add_to(&without, after.refused)
            _add_to(&without, after.unsure)
            if after.position == _SEVERAL or (
                _is_any(without) and self.count - _size(without) < _LEAST_TAKEN
            ):
                break
            result.without = without
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
                if result.length <= 1 and not is_ambiguous:
                    length = result.length + rounds if rounds else _FREE
                    loop = Loop(position, length, result.without, result.without)
                if not rounds:
                    result.length = _FREE
                    break
                position = ~self.explorer.items.loop_last[~position]
                result.length += rounds
                if result.length >= _FREE - 1:
                    # More than any token has, but a bound.
                    result.length = _FREE - 1
                    break
                most = max(most, result.length + 1)
                continue
            position = after.position
            result.length += 1
        result.unsure = _less(result.without, never)
        loop.unsure = _less(loop.without, never)
        if result.is_exact and not result.length:
            loop.position = _IMPOSSIBLE
        for i in range(free.size()):
            facts = self._facts(free[i], 1)
            facts.length = max(
                facts.length, _FREE if result.length == _FREE else <uint8_t> (free.size() - i)
            )
        if not free.empty() and _is_any(result.without):
            # Only texts with these beginnings lead elsewhere: a walk finds the rest after the first
            # characters.
            memset(&result, 0, sizeof(Reach))
        result.loop = loop
        return result

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
        cdef After* after = &self.afterwards[position]
        if after.position == 0:
            if position >= 0 or self._reads_on(~position):
                after.position = self._find_after_character(position, False, after)
            else:
                after.position = _SEVERAL if self._has_calls(position) else _IMPOSSIBLE
            if after.position == _SEVERAL:
                memset(&after.refused, 0, sizeof(Characters))
                memset(&after.unsure, 0, sizeof(Characters))
                if position < 0:
                    after.position = self._after_call(~position)
        return after

    cdef int32_t _find_after_character(
        self, int32_t position, bint is_called, After* after_character
    ) except DEAD:
        """Search from the machine's start until it is there again, and return where most lead.

        Where the position is that of a callee, this is the end of the call, for all characters.
        """
        cdef vector[Pair] seen = vector[Pair](1, Pair(position, 1))
        # By pair: the characters that lead there; and pairs to go on from.
        cdef vector[Characters] leading = vector[Characters](1, Characters(0, 0))
        cdef vector[int32_t] work = vector[int32_t](1, 0)
        # Where the machine is at its start again, and the characters that lead there.
        cdef vector[pair[int32_t, Characters]] ends
        cdef vector[Pair]* moves
        cdef Pair reached
        cdef Characters taken = Characters(0, 0), begun
        cdef size_t i, j, most = 0, done = 0
        after_character.refused = after_character.unsure = Characters(0, 0)
        while done < work.size():
            i = work[done]
            done += 1
            moves = &self.moves[seen[i].second]
            for j in range(moves.size()):
                begun = leading[i] if i else self.beginning[j]
                reached = Pair(self._step(seen[i].first, moves[0][j].first), moves[0][j].second)
                if is_called and reached.second == 1:
                    reached.first = self._step_to_end(seen[i].first, moves[0][j].first)
                if reached.first == DEAD:
                    if is_called:
                        return _SEVERAL
                    if i or self._can_move(position, moves[0][j].first):
                        _add_to(&after_character.unsure, begun)
                    else:
                        _add_to(&after_character.refused, begun)
                    continue
                if i == 0:
                    _add_to(&taken, begun)
                if reached.second == 1:
                    _lead_to_end(reached.first, begun, ends)
                else:
                    self._lead(reached, begun, seen, leading, work)
        if self._has_calls(position) or (is_called and ends.size() > 1):
            return _SEVERAL
        if ends.empty():
            return _SEVERAL if _is_any(taken) or _is_any(after_character.unsure) else _IMPOSSIBLE
        for i in range(1, ends.size()):
            if _size(ends[i].second) > _size(ends[most].second):
                most = i
        for i in range(ends.size()):
            if i != most:
                _add_to(&after_character.unsure, ends[i].second)
        # Those that share a number may differ.
        taken.low &= after_character.refused.low
        taken.high &= after_character.refused.high
        _add_to(&after_character.unsure, taken)
        return ends[most].first

    cdef int _lead(
        self,
        Pair reached,
        Characters begun,
        vector[Pair]& seen,
        vector[Characters]& leading,
        vector[int32_t]& work,
    ) except -1:
        """Add a pair, or the characters that lead to it, to a search."""
        cdef Characters common
        cdef size_t i
        for i in range(seen.size()):
            if seen[i] == reached:
                common = leading[i]
                _add_to(&leading[i], begun)
                if not _are_same(common, leading[i]):
                    work.push_back(<int32_t> i)
                return 0
        work.push_back(<int32_t> seen.size())
        seen.push_back(reached)
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
            self._facts(~state, 1).flags |= _AMBIGUOUS
        return after

    cdef bint _reads_character(self, int32_t nonterminal) except -1:
        cdef int32_t entry = ~self.explorer.items.entry[nonterminal]
        cdef Facts* facts = self._facts(entry, 0)
        cdef After unused
        if not facts.flags & (_READS_ONE | _READS_OTHERS):
            memset(&unused, 0, sizeof(After))
            if self._find_after_character(entry, True, &unused) in (_SEVERAL, _IMPOSSIBLE):
                facts.flags |= _READS_OTHERS
            else:
                facts.flags |= _READS_ONE
        return facts.flags & _READS_ONE != 0

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
        self, int32_t cursor, int32_t reading, int32_t wanted, int32_t pairs
    ) except -1:
        """The length proved at a cursor of a walk; see ``LazyTable.cursor``."""
        cdef ItemSets items = self.explorer.items
        cdef Span[int64_t] members
        cdef int32_t result = 0, length, position
        cdef size_t i, best = 0
        if cursor >= 0:
            return self._prove(cursor, reading, wanted, pairs)
        members = items.of(~cursor)
        if members.size() > 1 and reading == 1:
            # One that goes on for ever is found out with little work.
            for i in range(members.size()):
                self._count_from(~<int32_t> (members[i] // items.radix))
        for i in range(members.size()):
            position = ~<int32_t> (members[i] // items.radix)
            length = self._facts(position, reading).length
            if length > result:
                result, best = length, i
        for i in range(members.size()):
            if result >= wanted:
                break
            position = ~<int32_t> (members[i] // items.radix)
            length = self._prove(position, reading, wanted, pairs)
            if length < wanted and self._facts(position, reading).flags & _CALLING:
                return self._prove(self.explorer.lift(~cursor), reading, wanted, pairs)
            if length > result:
                result, best = length, i
        for i in range(members.size()):
            position = ~<int32_t> (members[i] // items.radix)
            # Where inclusion is proved of another item as well, that item completes nothing.
            if result and i != best and self._facts(position, reading).length < result:
                if not self._is_silent(~position):
                    return 0
        return result

    cdef inline Facts* _facts(self, int32_t position, int32_t reading) except NULL:
        """The facts known of a pair."""
        if position >= 0 or ~position >= self.explorer.items.states:
            return &self.of_states[_key(position, reading)]
        if self.of_automata == NULL:
            self.of_automata = <Facts*> calloc(
                self.explorer.items.states * self.moves.size(), sizeof(Facts)
            )
            if self.of_automata == NULL:
                raise MemoryError
        return &self.of_automata[<size_t> ~position * self.moves.size() + reading]

    cdef inline int32_t _step(self, int32_t position, int32_t byte_class) except? DEAD:
        """The position after a byte; DEAD too where something completes into BOTTOM.

        And where there is a call, or several targets: it would be more than one automaton state.
        """
        cdef LazyTable explorer = self.explorer
        cdef int32_t result
        if position < 0:
            result = explorer.items.targets_of(~position)[byte_class]
            return ~(result - 1) if result > 0 and explorer.items.is_plain(result - 1) else DEAD
        result = explorer.step_alone(position, byte_class)
        return DEAD if result == DEAD or explorer.completions[result] else result

    cdef inline bint _can_move(self, int32_t position, int32_t byte_class) except -1:
        if position < 0:
            return self.explorer.items.targets_of(~position)[byte_class] != DEAD
        return self.explorer.step_alone(position, byte_class) != DEAD

    cdef inline bint _calls(self, int32_t position, int32_t byte_class) except -1:
        """Whether after a byte, for which ``_step`` finds no position, something is called."""
        cdef ItemSets items = self.explorer.items
        cdef int32_t result
        if position >= 0:
            return False
        result = items.targets_of(~position)[byte_class]
        return result == UNKNOWN or result != DEAD and not items.accepts(result - 1)

    cdef int32_t _prove(
        self, int32_t position, int32_t reading, int32_t wanted, int32_t pairs
    ) except -1:
        """The length proved from a pair on, after a search if it is worth one."""
        cdef Facts* facts = self._facts(position, reading)
        # A search that was cut off is repeated only with four times its bound, so that all searches
        # from a pair together take at most a third more than the longest.
        if facts.length < wanted <= _farthest(position) and facts.effort <= pairs // 4:
            self._look(position, reading, max(_LEAST_PAIRS, pairs))
        return facts.length

    cdef int _look(self, int32_t start, int32_t start_reading, int32_t pairs) except -1:
        """Search breadth first, by characters, until a byte is refused or no pair is new.

        A pair is as far away as characters were read before it. So many may have several bytes
        each: a length in bytes says less.
        """
        cdef vector[Pair] seen = vector[Pair](1, Pair(start, start_reading))
        # Pairs that are one character further away, and how many are within 0, 1, 2, .. of them.
        cdef vector[Pair] later
        cdef vector[size_t] within
        cdef vector[Pair]* moves
        cdef Pair reached, last
        cdef Facts* facts
        cdef int32_t limit = _FREE, most = _farthest(start), length = 0, i_length
        cdef bint refused = False, is_closed = False
        cdef size_t i = 0, j, states = self.explorer.rows.size()
        self.search += 1
        self._facts(start, start_reading).search = self.search
        while length < min(limit, most):
            if i == seen.size():
                within.push_back(i)
                is_closed = later.empty()
                if is_closed:
                    break
                seen.insert(seen.end(), later.begin(), later.end())
                later.clear()
                length += 1
                continue
            if i + _PAIRS_PER_STATE * (self.explorer.rows.size() - states) > <size_t> pairs:
                break
            moves = &self.moves[seen[i].second]
            last = Pair(DEAD, DEAD)
            for j in range(moves.size()):
                reached.second = moves[0][j].second
                reached.first = self._step(seen[i].first, moves[0][j].first)
                if reached.first == DEAD:
                    refused = True
                    if self._calls(seen[i].first, moves[0][j].first):
                        self._facts(start, start_reading).flags |= _CALLING
                    break
                # Most moves of a state lead to the same one as the move before.
                if reached == last:
                    continue
                last = reached
                facts = self._facts(reached.first, reached.second)
                if facts.search == self.search:
                    continue
                facts.search = self.search
                if facts.effort < _MOST_PAIRS and reached.second == 1:
                    later.push_back(reached)
                elif facts.effort < _MOST_PAIRS:
                    seen.push_back(reached)
                elif facts.length != _FREE:
                    # The facts of this pair are final: it bounds the length, and is not searched
                    # again.
                    limit = min(limit, length + (reached.second == 1) + facts.length)
            if refused:
                break
            i += 1
        if is_closed and limit == _FREE:
            # The visited pairs are closed: there is inclusion of any length.
            for reached in seen:
                facts = self._facts(reached.first, reached.second)
                facts.length, facts.effort = _FREE, _MOST_PAIRS
            return 0
        length = limit if is_closed else min(length, limit)
        for i_length in range(min(length, <int32_t> within.size())):
            for i in range(within[i_length - 1] if i_length else 0, within[i_length]):
                facts = self._facts(seen[i].first, seen[i].second)
                facts.length = max(facts.length, length - i_length)
        # A refused byte, or a reached limit, is final; else a later call may search further.
        facts = self._facts(start, start_reading)
        facts.effort = _MOST_PAIRS if refused or length == limit else max(facts.effort, pairs)
        return 0

    cdef bint _is_silent(self, int32_t start) except -1:
        """Return whether nothing completes while the machine reads on, from any of its states.

        A call may read anything. A counted repetition is silent where it is so without bounds.
        """
        cdef ItemSets items = self.explorer.items
        start = items.unbounded(start)
        cdef Facts* facts = self._facts(~start, 0)
        cdef vector[int32_t] seen = vector[int32_t](1, start)
        cdef const uint8_t* reads = self.reads.data()
        cdef const int32_t* classes
        cdef const int32_t* targets
        cdef int32_t state, edge, call, last, end
        cdef size_t i = 0
        if facts.flags & (_SILENT | _LOUD):
            return facts.flags & _SILENT != 0
        self.search += 1
        facts.search = self.search
        # Loud until proved silent, so that each early return below leaves the answer.
        facts.flags |= _LOUD
        while i < seen.size():
            state = seen[i]
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
                    if not self._goes_on(last, seen):
                        return False
            for call in range(items.call_start[state], items.call_start[state + 1]):
                if items.call_tail[call] or not self._goes_on(items.call_return[call], seen):
                    return False
        facts.flags &= ~_LOUD
        for state in seen:
            self._facts(~state, 0).flags |= _SILENT
        return True

    cdef bint _goes_on(self, int32_t state, vector[int32_t]& seen) except -1:
        """Add a state that is new to the search; return whether nothing completes there."""
        if self.explorer.items.has_loops:
            state = self.explorer.items.unbounded(state)
        if self.explorer.items.accepting[state]:
            return False
        cdef Facts* facts = self._facts(~state, 0)
        if facts.search != self.search and not facts.flags & _SILENT:
            facts.search = self.search
            seen.push_back(state)
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

