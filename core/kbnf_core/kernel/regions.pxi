# Regions: parts of a text where there are several ways back.
#
# All are followed side by side until they meet. From there the best one is taken forward: at each
# place those that prefer least are dropped. The configurations between, an item with the calls that
# are open to its right, are kept only until that is done.
#
# Work is counted: configurations and links made, ways looked at. Each place of the text that is
# passed allows for some more, up to what is allowed at once, so that a text of any length is read
# that has a few derivations side by side; many side by side are refused, wherever they are. So is a
# region that is too large to be kept.

cdef enum:
    # Bits of a preference below those of the first occurrence of a rule.
    _FIRST_BITS = 32
    # Choices that are taken back in one region.
    _TRIES = 100000
    # Ways through a region that go round in circles.
    _ENDLESS = -1
    # Counted work that each place of a text allows for.
    _FREE_WORK = 256
    # Of the work that is allowed at once, one part in so many is the size of a region.
    _SIZE_OF_WORK = 4
    # Counted work between two looks for a signal.
    _PATIENCE = 1 << 14

cdef struct _Place:
    int32_t at
    int32_t kind
    int32_t index
    int32_t frame

cdef struct _Way:
    _Place place
    int32_t kind
    int32_t edge

cdef struct _Frame:
    # A call that is open to the right: the item that it returned to, and what was called.
    int32_t state
    int32_t stack
    int32_t report
    int32_t called

cdef struct _Opened:
    _Frame frame
    int64_t mark
    int32_t end

cdef struct _Link:
    # ``next`` is the next link of the same configuration, _NOTHING after the last.
    int32_t target
    int32_t kind
    int32_t edge
    int32_t next


cdef class _Region:
    """Configurations by number, 0 is where the ways back begin; the links forward of each."""

    cdef vector[_Place] places
    cdef _Index index
    cdef vector[_Link] links
    # By configuration, its first and its last link.
    cdef vector[Pair] ends
    # Open calls, named by the item that they returned to and its place; a call has the calls around
    # it, several where that item has (Tomita's graph-structured stack).
    cdef vector[_Frame] frames
    cdef vector[Pair] returned
    cdef vector[vector[int32_t]] around
    cdef ordered_map[Triple, int32_t] frame_numbers

    def __cinit__(self):
        self.index = _Index()

    cdef int32_t number(self, _Place place, bint* is_new) except -1:
        """The number of a configuration, the next one if it is new."""
        cdef uint64_t hashed = _hash_bytes(0, &place, sizeof(_Place))
        cdef size_t at = hashed
        cdef int32_t found = self.index.next(hashed, &at)
        while found != UNKNOWN:
            if memcmp(&self.places[found], &place, sizeof(_Place)) == 0:
                break
            found = self.index.next(hashed, &at)
        is_new[0] = found == UNKNOWN
        if is_new[0]:
            self.places.push_back(place)
            self.ends.push_back(Pair(_NOTHING, _NOTHING))
            found = self.index.add(hashed)
        return found

    cdef int link(self, int32_t source, int32_t target, int32_t kind, int32_t edge) except -1:
        """Add a link after those of a configuration."""
        cdef int32_t link = self.links.size()
        cdef Pair* ends = &self.ends[source]
        self.links.push_back(_Link(target, kind, edge, _NOTHING))
        if ends.first == _NOTHING:
            ends.first = link
        else:
            self.links[ends.second].next = link
        ends.second = link
        return 0

    cdef inline int64_t size(self) noexcept:
        return 2 * <int64_t> self.places.size() + <int64_t> self.links.size()


cdef struct _Moment:
    # Threads of one step, from ``first`` on, with their level, and the preference that was tried.
    int32_t first
    int32_t after
    int32_t level
    int64_t tried


cdef cppclass _Level:
    # A call on a way forward: the state that called, _NOTHING for a tail call; the level around
    # it, if there is one; and of each open call that was entered there, those around it.
    int32_t caller
    int32_t outer
    unordered_map[int32_t, vector[int32_t]] around


cdef bint _returns(
    _Region region, int32_t complete, int32_t after, vector[_Level]& levels, int32_t level
) noexcept:
    """Whether a call returns to where it was called, if that was on the same way."""
    cdef int32_t frame = region.places[complete].frame
    level = _calling(levels, level)
    return level == _NOTHING or _has(levels[level].around[frame], region.places[after].frame)


cdef int32_t _calling(vector[_Level]& levels, int32_t level) noexcept:
    """The innermost level that is no tail call, if there is one."""
    while level != _NOTHING and levels[level].caller == _NOTHING:
        level = levels[level].outer
    return level


cdef void _push_moment(
    vector[_Moment]& moments, int32_t first, int32_t after, int32_t level
) noexcept:
    moments.push_back(_Moment(first, after, level, _NOTHING))


cdef bint _is_settled(_Region region, int32_t frame) noexcept:
    """Whether the calls that are open to the right of a configuration are the same on all ways."""
    cdef size_t depth = 0
    while frame >= 0:
        depth += 1
        if region.around[frame].size() != 1 or depth > region.frames.size():
            return False
        frame = region.around[frame][0]
    return True


cdef bint _is_before(_Place one, _Place other) noexcept:
    """Whether one configuration is less far in the text than another; nodes are before items."""
    if one.at != other.at or one.kind == other.kind:
        return one.at < other.at
    return one.kind == _NODE or other.kind == _ORIGIN


cdef bint _is_same(_Place one, _Place other) noexcept:
    """Whether two configurations are the same but for what is open to their right."""
    return one.at == other.at and one.kind == other.kind and one.index == other.index


cdef _Frame _call_of(_Step* step, int32_t after, int32_t complete) noexcept:
    """The call that led from an arrival at the end of a rule to another one.

    What was called at the place where its caller was is waited for by the same stack node, which
    has become narrower since.
    """
    cdef _Frame frame
    frame.state = step.arrivals[after].state
    frame.stack = step.arrivals[after].stack
    if frame.stack == step.arrivals[complete].stack:
        frame.stack = SELF
    frame.report = step.arrivals[after].report
    frame.called = step.arrivals[complete].report
    return frame
