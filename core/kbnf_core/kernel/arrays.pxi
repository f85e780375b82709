# The arrays of a grammar's tables and of a vocabulary's trie, bound once.
#
# **Layer.** The lowest, beside ``containers.pxi``.
#
# A class that reads them extends ``_Tables`` or ``_Trie``: an array is then at a fixed offset in
# the object, which inner loops read without one more pointer.

cdef class _Tables:
    """The arrays of ``lower.tables.Tables``, by the names that they have there."""

    cdef int bind(self, tables) except -1:
        """Take the arrays, which the views keep alive."""
        self.edge_start, self.edge_class = tables.edge_start, tables.edge_class
        self.edge_target = tables.edge_target
        self.call_start, self.call_nonterminal = tables.call_start, tables.call_nonterminal
        # A memoryview of uint8 does not take NumPy's bool.
        self.call_return, self.call_tail = tables.call_return, tables.call_tail.view("uint8")
        self.token_start, self.token_terminal = tables.token_start, tables.token_terminal
        self.token_target, self.entry = tables.token_target, tables.entry
        self.accepting, self.classes = tables.accepting.view("uint8"), tables.classes
        loops = tables.loops
        self.loop_of, self.loop_row, self.loop_twin = loops.of, loops.row, loops.twin
        self.loop_last, self.loop_begins = loops.last, loops.begins
        self.loop_below, self.loop_low, self.loop_high = loops.is_below, loops.low, loops.high
        self.states = <int32_t> self.accepting.shape[0]
        self.names = <int32_t> self.entry.shape[0]
        self.has_loops = self.loop_low.shape[0] > 0
        return 0


cdef class _Trie:
    """The arrays of ``vocab.trie.TokenTrie``: its nodes in preorder, the root being 0.

    ``skip``: the node after a subtree. The children of a node are ``child`` and ``child_byte`` from
    ``child_start``, by byte; its tokens are ``token_ids`` from ``token_start``.
    """

    cdef const uint8_t[::1] byte
    cdef const int32_t[::1] skip
    cdef const uint16_t[::1] depth
    cdef const int32_t[::1] child_start
    cdef const int32_t[::1] child
    cdef const uint8_t[::1] child_byte
    cdef const int32_t[::1] token_start
    cdef const int32_t[::1] token_ids
    # By byte: the root's child, 0 without one. Most tokens begin in it, and it has most children.
    cdef int32_t[256] first_child

    cdef int bind(self, trie) except -1:
        """Take the arrays, which the views keep alive."""
        cdef int32_t i
        self.byte, self.skip, self.depth = trie.byte, trie.skip, trie.depth
        self.child_start, self.child = trie.child_start, trie.child
        self.child_byte = trie.child_byte
        self.token_start, self.token_ids = trie.token_start, trie.token_ids
        memset(self.first_child, 0, sizeof(self.first_child))
        for i in range(self.child_start[1]):
            self.first_child[self.child_byte[i]] = self.child[i]
        return 0

    cdef int32_t child_of(self, int32_t node, uint8_t byte) noexcept:
        """The child of a node on a byte, 0 without one."""
        cdef int32_t low = self.child_start[node], end = self.child_start[node + 1], high, middle
        if node == 0:
            return self.first_child[byte]
        high = end
        while low < high:
            middle = (low + high) // 2
            if self.child_byte[middle] < byte:
                low = middle + 1
            else:
                high = middle
        return self.child[low] if low < end and self.child_byte[low] == byte else 0
