# Positions that no token is long enough to tell apart; see ``recognise.similar``.

cdef class _Refinement:
    """A partition of automaton states; the largest part of a split block keeps its number."""

    cdef vector[int32_t] start
    cdef vector[Pair] edges
    cdef vector[int32_t] source_start
    cdef vector[int32_t] sources
    cdef vector[int32_t] block
    cdef vector[int32_t] sizes
    # Of the current round: which states were found dirty, and groups of them that are still alike.
    cdef vector[int32_t] seen
    cdef unordered_map[string, int32_t] group_numbers
    cdef vector[vector[int32_t]] groups

    def __cinit__(
        self,
        const int32_t[::1] start,
        const int32_t[::1] symbols,
        const int32_t[::1] targets,
        const uint8_t[::1] kinds,
    ):
        cdef Py_ssize_t i
        cdef int32_t state
        cdef Py_ssize_t count = kinds.shape[0]
        self.source_start.resize(count + 2)
        self.sources.resize(targets.shape[0])
        self.sizes.resize(2)
        self.seen.resize(count, -1)
        for i in range(count + 1):
            self.start.push_back(start[i])
        for i in range(targets.shape[0]):
            self.edges.push_back(Pair(symbols[i], targets[i]))
            self.source_start[targets[i] + 2] += 1
        for i in range(1, count + 1):
            self.source_start[i + 1] += self.source_start[i]
        for state in range(count):
            self.block.push_back(kinds[state])
            self.sizes[kinds[state]] += 1
            for i in range(start[state], start[state + 1]):
                self.sources[self.source_start[targets[i] + 1]] = state
                self.source_start[targets[i] + 1] += 1

    cdef void refine(self, int32_t rounds) noexcept:
        cdef vector[int32_t] dirty, moved
        cdef int32_t state, turn
        for state in range(<int32_t> self.block.size()):
            dirty.push_back(state)
        for turn in range(rounds):
            moved = self._split(dirty)
            if moved.empty():
                return
            dirty.clear()
            for state in moved:
                self._add_sources(state, turn, dirty)

    cdef void _add_sources(self, int32_t state, int32_t turn, vector[int32_t]& dirty) noexcept:
        cdef int32_t i, source
        for i in range(self.source_start[state], self.source_start[state + 1]):
            source = self.sources[i]
            if self.seen[source] != turn:
                self.seen[source] = turn
                dirty.push_back(source)

    cdef vector[int32_t] _split(self, vector[int32_t]& dirty) noexcept:
        """Split blocks by what their dirty members do; return the states that got a new block."""
        cdef vector[int32_t] moved
        cdef unordered_map[int32_t, vector[int32_t]] parts
        cdef size_t i
        self._group(dirty)
        for i in range(self.groups.size()):
            parts[self.block[self.groups[i][0]]].push_back(i)
        for each in parts:
            self._leave(each.first, each.second, moved)
        return moved

    cdef void _group(self, vector[int32_t]& dirty) noexcept:
        """Put together what has the same block and the same edges into the same blocks."""
        cdef vector[Pair] edges
        cdef string key
        cdef int32_t state, i
        self.group_numbers.clear()
        self.groups.clear()
        for state in dirty:
            edges.clear()
            for i in range(self.start[state], self.start[state + 1]):
                edges.push_back(Pair(self.edges[i].first, self.block[self.edges[i].second]))
            sort(edges.begin(), edges.end())
            edges.erase(unique(edges.begin(), edges.end()), edges.end())
            key = string(<const char*> edges.data(), edges.size() * sizeof(Pair))
            key.append(<const char*> &self.block[state], sizeof(int32_t))
            if not self.group_numbers.count(key):
                self.group_numbers[key] = self.groups.size()
                self.groups.resize(self.groups.size() + 1)
            self.groups[self.group_numbers[key]].push_back(state)

    cdef void _leave(
        self, int32_t block, vector[int32_t]& parts, vector[int32_t]& moved
    ) noexcept:
        """Renumber all parts of a block, but for the largest one where nothing else is in it.

        Members that are not dirty have no successor with a new number: they differ from all.
        """
        cdef int32_t members = 0, part, state, stays = -1
        for part in parts:
            members += self.groups[part].size()
            if stays < 0 or self.groups[part].size() > self.groups[stays].size():
                stays = part
        if self.sizes[block] > members:
            stays = -1
        for part in parts:
            if part == stays:
                continue
            for state in self.groups[part]:
                self.block[state] = self.sizes.size()
                moved.push_back(state)
            self.sizes[block] -= self.groups[part].size()
            self.sizes.push_back(self.groups[part].size())


def blocks(start, symbols, targets, kinds, int32_t rounds):
    """See ``interface.Kernel``."""
    cdef _Refinement refinement = _Refinement(start, symbols, targets, kinds)
    refinement.refine(rounds)
    return refinement.block
