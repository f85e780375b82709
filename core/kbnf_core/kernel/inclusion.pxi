# How far everything that a machine reads can come; see ``interface.Inclusion``.

cdef class Inclusion:
    """Follows one machine and one table side by side, over bytes that neither tells apart."""

    cdef LazyTable explorer
    # By state of the machine: (byte class, state after it), each pair once.
    cdef vector[vector[Pair]] moves
    # Pairs of states from which all that the machine reads can come, however much it is.
    cdef ordered_set[Pair] free

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

    def covered(self, int32_t state, int32_t most):
        """See ``interface.Inclusion``."""
        cdef LazyTable explorer = self.explorer
        cdef ordered_set[Pair] seen
        cdef vector[Pair] level = vector[Pair](1, Pair(state, 1))
        cdef vector[Pair] following
        cdef Pair at, move, reached
        cdef int32_t turn
        explorer.refresh()
        for turn in range(most):
            following.clear()
            for at in level:
                if self.free.count(at):
                    continue
                for move in self.moves[at.second]:
                    reached = Pair(explorer.step(at.first, move.first), move.second)
                    if reached.first == DEAD or explorer.completions[reached.first]:
                        return turn
                    # Most moves of a state lead to one of few others: look there first.
                    if not _holds(following, reached) and seen.insert(reached).second:
                        following.push_back(reached)
            level = following
            if level.empty():
                # All that was seen leads to nothing else: it is free for any length.
                self.free.insert(Pair(state, 1))
                self.free.insert(seen.begin(), seen.end())
                break
        return most


reader = Inclusion
