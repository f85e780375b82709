# After which bytes a token can read past the end of a text.
#
# **Layer.** Above ``arrays.pxi``: a search in tables, once for a grammar; ``end_costs.pxi`` uses
# it.
#
# Where a text is over with its first complete byte, a token that reads on is refused. A way to the
# end (``end_costs.pxi``) stops where its own nonterminal may be complete, so only another
# derivation of the same bytes can be complete within one of its tokens. Two derivations part at a
# *conflict*: a position and a byte class for which there are two steps, among the edges there, the
# calls that can begin with the class (FIRST), and, where the nonterminal may be complete, the
# return to a continuation that begins with it (FOLLOW). A grammar without conflicts is strong LL(1)
# (Rosenkrantz and Stearns 1970): there no token of a way is ever refused. From a conflict on, a
# derivation is complete with one of the classes that can be the last one of a text from there.
# After these, and no others, a token of a way has to end. An object of JSON ends with a brace, so
# where its members conflict (a name that the schema has, and any other) tokens end at braces, and
# ways are about as short as elsewhere.

cdef enum:
    # The end of the text, among the classes that can follow a nonterminal.
    _TEXT_END = 256
    # At most 256 classes, and the end of the text.
    _WORDS = 5


@cython.final
cdef class _Grouped:
    """Pairs by a key, in one array."""

    cdef vector[int32_t] keys
    cdef vector[Pair] pairs
    cdef vector[int32_t] start
    cdef vector[int32_t] order

    cdef void add(self, int32_t key, int32_t one, int32_t other):
        self.keys.push_back(key)
        self.pairs.push_back(Pair(one, other))

    cdef int group(self, int32_t count) except -1:
        cdef size_t i
        cdef vector[int32_t] at
        self.start.assign(count + 1, 0)
        for i in range(self.keys.size()):
            self.start[self.keys[i] + 1] += 1
        for i in range(<size_t> count):
            self.start[i + 1] += self.start[i]
        at = self.start
        self.order.resize(self.keys.size())
        for i in range(self.keys.size()):
            self.order[at[self.keys[i]]] = <int32_t> i
            at[self.keys[i]] += 1
        return 0


@cython.final
cdef class _ClassSets:
    """Sets of byte classes by number, and which of them contain which others."""

    cdef vector[uint64_t] words
    cdef _Grouped containing
    cdef int32_t count

    def __init__(self, int32_t count):
        self.count = count
        self.words.assign(_WORDS * <size_t> count, 0)
        self.containing = _Grouped()

    cdef inline void add(self, int32_t number, int32_t byte_class) noexcept:
        self.words[_WORDS * <size_t> number + byte_class // 64] |= <uint64_t> 1 << (byte_class % 64)

    cdef inline bint has(self, int32_t number, int32_t byte_class) noexcept:
        return (
            self.words[_WORDS * <size_t> number + byte_class // 64] >> (byte_class % 64)
        ) & 1

    cdef inline bint unite(self, int32_t number, const uint64_t* others) noexcept:
        """Add the members of a set; return whether that changed any."""
        cdef uint64_t* words = &self.words[_WORDS * <size_t> number]
        cdef bint changed = False
        cdef int i
        for i in range(_WORDS):
            if others[i] & ~words[i]:
                words[i] |= others[i]
                changed = True
        return changed

    cdef inline const uint64_t* at(self, int32_t number) noexcept:
        return &self.words[_WORDS * <size_t> number]

    cdef inline void contain(self, int32_t outer, int32_t inner):
        """Note that one set contains another."""
        self.containing.add(inner, outer, 0)

    cdef int close(self) except -1:
        """Add members until all is contained that was noted."""
        cdef vector[int32_t] work
        cdef vector[uint8_t] waits = vector[uint8_t](self.count, True)
        cdef int32_t number, outer, k
        self.containing.group(self.count)
        for number in range(self.count):
            work.push_back(number)
        while not work.empty():
            number = work.back()
            work.pop_back()
            waits[number] = False
            for k in range(self.containing.start[number], self.containing.start[number + 1]):
                outer = self.containing.pairs[self.containing.order[k]].first
                if self.unite(outer, self.at(number)) and not waits[outer]:
                    waits[outer] = True
                    work.push_back(outer)
        return 0


@cython.final
cdef class _Crossings(_Tables):
    """The search for conflicts in tables. Sets of nonterminals are those of their entries."""

    cdef int32_t positions
    # By position: the entry of its nonterminal.
    cdef vector[int32_t] owner
    cdef _ClassSets first
    cdef _ClassSets follow

    def __init__(self, tables):
        cdef vector[uint8_t] is_entry
        cdef int32_t position, name, last = 0
        self.bind(tables)
        self.positions = self.states
        is_entry.assign(self.positions, False)
        for name in range(self.names):
            is_entry[self.entry[name]] = True
        for position in range(self.positions):
            # Tables number the positions of a nonterminal one after the other, its entry first.
            last = position if is_entry[position] else last
            self.owner.push_back(last)
        self._find_first()
        self._find_follow(self.entry[tables.start])

    cdef inline int32_t callee(self, int32_t call) noexcept:
        """The entry of the nonterminal that is called."""
        return self.entry[self.call_nonterminal[call]]

    cdef int _find_first(self) except -1:
        """Find what each position can begin with, by its edges and by its calls."""
        cdef int32_t position, edge
        self.first = _ClassSets(self.positions)
        for position in range(self.positions):
            for edge in range(self.edge_start[position], self.edge_start[position + 1]):
                self.first.add(position, self.edge_class[edge])
            for edge in range(self.call_start[position], self.call_start[position + 1]):
                # No further than the callee: a call reads a nonempty text, and where the callee can
                # be empty the position has the edges of the return, too.
                self.first.contain(position, self.callee(edge))
        self.first.close()
        return 0

    cdef int _find_follow(self, int32_t start) except -1:
        """Find the classes that can come after each nonterminal."""
        cdef int32_t position, edge, after
        self.follow = _ClassSets(self.positions)
        self.follow.add(start, _TEXT_END)
        for position in range(self.positions):
            for edge in range(self.call_start[position], self.call_start[position + 1]):
                after = self.call_return[edge]
                self.follow.unite(self.callee(edge), self.first.at(after))
                if self.accepting[after]:
                    self.follow.contain(self.callee(edge), self.owner[position])
        self.follow.close()
        return 0

    cdef bint conflicts(self, int32_t position) noexcept:
        """Return whether a byte has two steps at a position."""
        cdef uint64_t[_WORDS] taken
        cdef const uint64_t* others
        cdef uint64_t common = 0
        cdef int32_t edge
        cdef int i
        memset(taken, 0, sizeof(taken))
        for edge in range(self.edge_start[position], self.edge_start[position + 1]):
            i = self.edge_class[edge] // 64
            common |= taken[i] & <uint64_t> 1 << (self.edge_class[edge] % 64)
            taken[i] |= <uint64_t> 1 << (self.edge_class[edge] % 64)
        for edge in range(self.call_start[position], self.call_start[position + 1]):
            others = self.first.at(self.callee(edge))
            for i in range(_WORDS):
                common |= taken[i] & others[i]
                taken[i] |= others[i]
        if self.accepting[position]:
            others = self.follow.at(self.owner[position])
            for i in range(_WORDS):
                common |= taken[i] & others[i]
        return common != 0

    cdef _ClassSets last_classes(self):
        """The classes that can be the last ones of each position's nonterminal, from there on."""
        cdef _ClassSets result = _ClassSets(self.positions)
        cdef int32_t position, edge, after
        for position in range(self.positions):
            for edge in range(self.edge_start[position], self.edge_start[position + 1]):
                after = self.edge_target[edge]
                if self.accepting[after]:
                    result.add(position, self.edge_class[edge])
                result.contain(position, after)
            for edge in range(self.call_start[position], self.call_start[position + 1]):
                after = self.call_return[edge]
                if self.accepting[after]:
                    result.contain(position, self.callee(edge))
                result.contain(position, after)
        result.close()
        return result

    cdef _ClassSets outer_classes(self, _ClassSets last):
        """The classes that can be the last ones of a text after a nonterminal, by its entry."""
        cdef _ClassSets result = _ClassSets(self.positions)
        cdef int32_t position, edge
        for position in range(self.positions):
            for edge in range(self.call_start[position], self.call_start[position + 1]):
                if self.follow.has(self.owner[position], _TEXT_END):
                    result.unite(self.callee(edge), last.at(self.call_return[edge]))
                result.contain(self.callee(edge), self.owner[position])
        result.close()
        return result


def crossing_classes(tables):
    """Return after which byte classes a token can read past the end of a text, as uint8[256].

    That is, with which classes a text can be complete although another derivation of it goes on
    within a nonterminal that is not complete.
    """
    cdef _Crossings crossings = _Crossings(tables)
    cdef _ClassSets last, outer, crossed = _ClassSets(1)
    cdef cnp.npy_intp size = 256
    cdef cnp.ndarray flags = cnp.PyArray_ZEROS(1, &size, cnp.NPY_UINT8, 0)
    cdef vector[int32_t] conflicts
    cdef int32_t position, byte_class
    for position in range(crossings.positions):
        if crossings.conflicts(position):
            conflicts.push_back(position)
    if conflicts.empty():
        return flags
    last = crossings.last_classes()
    outer = crossings.outer_classes(last)
    for position in conflicts:
        if crossings.follow.has(crossings.owner[position], _TEXT_END):
            crossed.unite(0, last.at(position))
        crossed.unite(0, outer.at(crossings.owner[position]))
    for byte_class in range(256):
        (<uint8_t*> cnp.PyArray_DATA(flags))[byte_class] = crossed.has(0, byte_class)
    return flags
