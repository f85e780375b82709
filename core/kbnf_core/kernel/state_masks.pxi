# The masks of states, as what they are written from where somebody asks for them.

cdef enum:
    # Of a state: its mask is written from pieces; it allows nothing; its rows are arrays of an
    # artifact, which others unite.
    _IN_PIECES = 1
    _ALLOWS_NOTHING = 2
    _IN_ARRAYS = 3


cdef class StateMasks:
    """What the mask of each state consists of, for one way to finish; found when it is asked for.

    No row is kept for it: to write its parts takes as long as to copy one, and touches no memory
    that nobody has touched before.
    """

    cdef object masks
    cdef object rule
    cdef MaskAssembler assembler
    cdef bint ends_at_bytes
    cdef bint takes_eos
    cdef Pool rows
    # By state; the kind is 0 where nobody asked.
    cdef vector[uint8_t] kinds
    cdef deque[vector[Piece]] pieces

    def __cinit__(self, masks, rule):
        self.masks, self.rule = masks, rule
        self.assembler = masks.assembler
        self.ends_at_bytes, self.takes_eos = rule.ends_at_bytes, rule.takes_eos(True)
        _, self.rows = masks.found

    @property
    def bytes(self):
        """The memory that is taken."""
        return held(self.kinds) + held(self.pieces)

    def knows(self, int64_t state):
        """Tell whether the mask of a state is known."""
        return self.kind(state) != 0

    def find(self, int64_t state):
        """Find what the mask of a state consists of."""
        self.find_kind(state)

    cdef inline uint8_t kind(self, int64_t state) noexcept:
        return self.kinds[state] if state < <int64_t> self.kinds.size() else 0

    cdef uint8_t find_kind(self, int64_t state) except 0:
        """The same, after a search where nobody asked."""
        cdef uint8_t kind = self.kind(state)
        cdef vector[int32_t] rows
        if kind:
            return kind
        self._find_rows(state, rows)
        kind = self.kind(state)
        if kind:
            # Another thread was quicker, and what it found may be read already.
            return kind
        if state >= <int64_t> self.kinds.size():
            self.kinds.resize(state + 1 + state // 2)
            self.pieces.resize(self.kinds.size())
        if rows.empty():
            kind = _ALLOWS_NOTHING
        elif not self.rows.awake:
            kind = _IN_ARRAYS
        else:
            self.rows.find_pieces(rows, self.pieces[state])
            kind = _IN_PIECES
        self.kinds[state] = kind
        return kind

    cdef int _find_rows(self, int64_t state, vector[int32_t]& rows) except -1:
        """Find the masks whose union it is: what the rule returns, mostly without asking it."""
        if not self.assembler.is_plain or self.takes_eos and self.masks.is_complete(state):
            rows = self.rule.rows(self.masks, state)
        elif self.ends_at_bytes:
            self.assembler.find_prefix_free(state, rows)
        else:
            self.assembler.find_viable(state, rows)
        return 0
