# The walks that the mask of a state needs; see ``interface.MaskAssembler``.

ctypedef pair[Pair, int32_t] Frame  # ((stack node, item set or nonterminal), number of a node set)
ctypedef pair[int32_t, vector[Pair]] Walked  # number of a mask, (nonterminal, node set) completions


cdef class MaskAssembler:
    """Follows walks and their completions down the stack, over a memo of the walks met so far."""

    cdef object masks
    cdef LazyTable explorer
    cdef size_t capacity
    cdef unordered_map[uint64_t, Walked] walks
    cdef ordered_set[Frame] entered
    cdef ordered_set[Frame] left
    cdef vector[Frame] work

    def __cinit__(self, masks):
        self.masks = masks
        self.explorer = masks.states.explorer
        self.capacity = masks.mask_capacity

    def gather(self, int32_t state):
        """See ``interface.MaskAssembler``."""
        cdef ordered_set[int32_t] rows, completions
        cdef vector[Pair] pairs
        cdef size_t i
        self.explorer._wake()
        pairs = self.explorer.configurations.all_pairs.at(state)
        self.entered.clear()
        self.left.clear()
        self.work.clear()
        if self.walks.size() > self.capacity:
            self.walks.clear()
        for i in range(pairs.size()):
            self._enter(pairs[i].first, pairs[i].second, 0)
        while not self.work.empty():
            self._follow(rows, completions)
        rows.erase(0)
        return tuple(rows), tuple(completions)

    cdef int _follow(
        self, ordered_set[int32_t]& rows, ordered_set[int32_t]& completions
    ) except -1:
        cdef Frame frame = self.work.back()
        cdef Walked* walked
        cdef size_t i
        self.work.pop_back()
        walked = self._walk(frame.first.second, frame.second)
        rows.insert(walked.first)
        for i in range(walked.second.size()):
            if self._leave(Pair(frame.first.first, walked.second[i].first), walked.second[i].second):
                completions.insert(walked.second[i].second)
        return 0

    cdef bint _leave(self, Pair complete, int32_t nodes) except -1:
        """Resume what waits for a completed nonterminal; return whether the start completes."""
        cdef vector[Pair] stack = vector[Pair](1, complete)
        cdef vector[Pair]* waiting
        cdef vector[int32_t]* completed
        cdef bint at_bottom = False
        cdef size_t i, j
        while not stack.empty():
            complete = stack.back()
            stack.pop_back()
            if not self.left.insert(Frame(complete, nodes)).second:
                continue
            at_bottom = at_bottom or complete.first == BOTTOM
            waiting = self.explorer.stack.waiting(complete)
            for i in range(waiting.size()):
                self._enter(waiting[0][i].first, waiting[0][i].second, nodes)
                # What resumes may complete at once, without reading anything more.
                completed = self.explorer.items.completed(waiting[0][i].second)
                for j in range(completed.size()):
                    stack.push_back(Pair(waiting[0][i].first, completed[0][j]))
        return at_bottom

    cdef int _enter(self, int32_t stack_node, int32_t item_set, int32_t nodes) except -1:
        cdef Frame frame = Frame(Pair(stack_node, item_set), nodes)
        if self.entered.insert(frame).second:
            self.work.push_back(frame)
        return 0

    cdef Walked* _walk(self, int32_t item_set, int32_t nodes) except NULL:
        cdef uint64_t key = _key(item_set, nodes)
        if not self.walks.count(key):
            walk = self.masks.walk(item_set, nodes)
            self.walks[key] = Walked(walk.row, walk.completions)
        return &self.walks[key]


assembler = MaskAssembler
