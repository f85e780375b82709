# The masks of states, as numbers of rows, written where somebody asks for them.

cdef class StateMasks:
    """What the mask of each state consists of, for one way to finish; found when it is asked for.

    No row is kept for it: to write its parts takes as long as to copy one, and touches no memory
    that nobody has touched before.
    """

    cdef object masks
    cdef object rule
    cdef LazyTable explorer
    cdef Pool rows
    # By state; one that is unknown has UNKNOWN alone.
    cdef deque[vector[int32_t]] numbers

    def __cinit__(self, masks, rule):
        self.masks, self.rule = masks, rule
        self.explorer = masks.states.explorer
        _, self.rows = masks.found

    def knows(self, int64_t state):
        """Tell whether the mask of a state is known."""
        return self._known(state) != NULL

    def find(self, int64_t state):
        """Find what the mask of a state consists of."""
        self.find_known(state)

    cdef inline vector[int32_t]* _known(self, int64_t state) noexcept:
        if state >= <int64_t> self.numbers.size() or _is_unknown(self.numbers[state]):
            return NULL
        return &self.numbers[state]

    cdef vector[int32_t]* find_known(self, int64_t state) except NULL:
        """The numbers of the rows of a state's mask; none where it allows nothing."""
        cdef vector[int32_t]* known = self._known(state)
        cdef vector[int32_t] found
        if known == NULL:
            found = self.rule.rows(self.masks, state)
            if self.rows.awake and not self.rows.is_simple(found):
                found.assign(1, self.rows.united(found))
            while state >= <int64_t> self.numbers.size():
                self.numbers.push_back(vector[int32_t](1, UNKNOWN))
            self.numbers[state] = found
            known = &self.numbers[state]
        return known

    cdef bint find_pieces(self, int64_t state, vector[Piece]& pieces) except -1:
        """Find what the mask of a state is written from.

        False where that is for others: it allows nothing, or its parts are arrays of an artifact.
        """
        cdef vector[int32_t]* known = self.find_known(state)
        if known.empty() or not self.rows.awake:
            return False
        self.rows.find_pieces(known[0], pieces)
        return True


cdef inline bint _is_unknown(const vector[int32_t]& numbers) noexcept nogil:
    return numbers.size() == 1 and numbers[0] == UNKNOWN
