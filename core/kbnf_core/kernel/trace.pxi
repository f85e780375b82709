# Texts over position automata, and their trees.
#
# **Layer.** Above ``derivations.pxi``.
#
# A text is read back from its end, along the only source or the best way through a region. Nodes of
# the tree are written when their beginning is found, which is their preorder backwards.

cdef int _refuse_text(int64_t limit) except -1:
    """Raise the error for a text that has more derivations side by side than may be followed."""
    raise WorkLimitError(
        limit,
        "a text with very many derivations",
        "`kbnf parse --ambiguity` shows for a shorter text where two differ; a rule that calls"
        " itself twice, `e ::= e e | x`, can be a loop, `e ::= x+`",
    )


cdef class Trace:
    """A text, read over position automata, and its derivations.

    Places of it are counted in steps: bytes, and tokens that are matched by id. ``most`` bounds the
    counted work of a call beyond what each place allows for; past it WorkLimitError is raised.
    Facts about states and steps that are computed on the way are work like any other, before they
    are kept.
    """

    cdef readonly Derivations derived
    cdef vector[int32_t] states
    cdef vector[int32_t] symbols
    # By place, its byte offset; empty where these are the same.
    cdef vector[int32_t] offsets
    # By place, the token that was read to it, or _NOTHING; empty without tokens.
    cdef vector[int32_t] tokens
    # Counted work: the maximum at once, the rest of it, the work until the next check for a signal;
    # the place up to which work was allowed for, and the direction (1 is back).
    cdef int64_t most
    cdef int64_t left
    cdef int64_t patience
    cdef int64_t frontier
    cdef int64_t direction
    # The tree in the making, backwards, and the calls that are open to the right.
    cdef vector[int32_t] labels
    cdef vector[int32_t] starts
    cdef vector[int32_t] ends
    cdef vector[int32_t] below
    cdef vector[_Opened] opened
    cdef int64_t mark
    cdef int32_t end
    cdef bint is_open
    # The step to a place that was asked for last; to 0 there is none.
    cdef size_t step_at
    cdef _Step* last_step

    def __cinit__(self, Derivations derived, int64_t most):
        self.derived = derived
        self.most = self.left = most
        self.patience = _PATIENCE
        self.states.push_back(derived.initial)

    cdef inline int _spend(self, int64_t work) except -1:
        """Count work; raise WorkLimitError where that is more than is left."""
        self.left -= work
        if self.left < 0:
            _refuse_text(self.most)
        return self._watch(work)

    cdef inline int _watch(self, int64_t work) except -1:
        """Look for a signal now and then."""
        self.patience -= work
        if self.patience < 0:
            self.patience = _PATIENCE
            PyErr_CheckSignals()
        return 0

    cdef inline int _keep(self, int64_t size) except -1:
        """Raise WorkLimitError for more of a region than may be kept."""
        if size * _SIZE_OF_WORK > self.most:
            _refuse_text(self.most)
        return 0

    cdef inline void _go(self, int64_t begin, int64_t direction) noexcept:
        """Let the work of places be allowed for from ``begin`` on, back (1) or forward (-1)."""
        self.frontier, self.direction = begin, direction

    cdef inline void _pass(self, int64_t at) noexcept:
        """Allow for the work of the places up to ``at`` that were not passed before."""
        cdef int64_t passed = (self.frontier - at) * self.direction
        if passed > 0:
            self.left = min(self.most, self.left + passed * _FREE_WORK)
            self.frontier = at

    def __len__(self):
        return self.symbols.size()

    @property
    def size(self):
        """The number of bytes read."""
        return self.offset(self.symbols.size())

    cdef inline int32_t offset(self, size_t at) noexcept:
        return at if self.offsets.empty() else self.offsets[at]

    def read(self, const uint8_t[::1] data):
        """Read bytes as far as they fit; return how many did.

        Where the memoised facts of states grow with the text, that is work.
        """
        cdef LazyTable explorer = self.derived.explorer
        cdef int32_t state = self.states.back()
        cdef Py_ssize_t i, entries, pairs
        cdef uint8_t symbol
        self.derived.acquire()
        try:
            entries = explorer.entry_count()
            self.left = self.most
            self._go(0, -1)
            self.states.reserve(self.states.size() + data.shape[0])
            self.symbols.reserve(self.symbols.size() + data.shape[0])
            for i in range(data.shape[0]):
                symbol = explorer.classes[data[i]]
                state = explorer.step_alone(state, symbol)
                if state == DEAD:
                    return i
                self._push(state, symbol, 1, _NOTHING)
                self._pass(i)
                if explorer.entry_count() != entries:
                    # Each pair may complete into each one.
                    pairs = explorer.configurations.all_pairs[state].size()
                    self._spend(pairs * pairs // 8)
                    self._spend(_SIZE_OF_WORK * (explorer.entry_count() - entries))
                    entries = explorer.entry_count()
                self._watch(1)
            return data.shape[0]
        finally:
            self.derived.release()

    def read_token(self, terminals, int32_t token_id, int32_t size):
        """Read a token that matches some terminals, of so many bytes; return whether it fits."""
        cdef int32_t state = self.derived.explorer.step_token(self.states.back(), terminals)
        cdef size_t i
        if state == DEAD:
            return False
        # Offsets and places part with the first token that is more than a byte; until then the
        # columns are left out.
        if self.tokens.empty():
            for i in range(self.states.size()):
                self.offsets.push_back(i)
                self.tokens.push_back(_NOTHING)
        self._push(state, self.derived.symbol_of(terminals), size, token_id)
        return True

    cdef inline int _push(
        self, int32_t state, int32_t symbol, int32_t size, int32_t token
    ) except -1:
        self.states.push_back(state)
        self.symbols.push_back(symbol)
        if not self.tokens.empty():
            self.offsets.push_back(self.offsets.back() + size)
            self.tokens.push_back(token)
        return 0

    def expected(self):
        """Return the byte classes that fit next."""
        return self.derived.explorer.live_classes(self.states.back())

    def is_complete(self):
        """Return whether the bytes read are a whole text."""
        return self._ends()

    cdef bint _ends(self) except -1:
        if self.symbols.empty():
            return self.derived.positions.empty is not None
        self.left = self.most
        self.derived.acquire()
        try:
            return self._step(self.symbols.size()).complete.size() > 0
        finally:
            self.derived.release()

    cdef inline _Step* _step(self, size_t at) except NULL:
        # Most calls in a row are for one step. Steps are in a deque, so that a pointer to one stays
        # valid.
        cdef int64_t made = self.derived.made
        if at != self.step_at:
            self.derived.allow(self.left, self.most)
            self.last_step = self.derived.step_of(
                self.states[at - 1], self.symbols[at - 1], self.states[at]
            )
            self.step_at = at
            self._spend(self.derived.made - made)
        return self.last_step

    cdef inline _Sources* _sources(self, size_t at) except NULL:
        cdef int64_t made = self.derived.made
        cdef _Sources* result
        self.derived.allow(self.left, self.most)
        result = self.derived.sources_of(self.states[at])
        self._spend(self.derived.made - made)
        return result

    # The ways back from a configuration.

    cdef int _ways(self, _Point here, _Region region, vector[_Way]& ways) except -1:
        """Find the configurations that may come before one; ``region`` is None outside of any."""
        cdef _Step* step
        cdef _Sources* sources
        cdef _Item item, caller
        cdef _Option option
        cdef _Caller way
        cdef _Frame frame
        cdef int32_t number, rule
        cdef size_t i
        ways.clear()
        if here.kind == _ORIGIN:
            if here.at and self.states[here.at] >= 0:
                step = self._step(here.at)
                for number in step.complete:
                    ways.push_back(_Way(_Point(here.at, _NODE, number, here.frame), _LAST, 0))
            if self.is_open:
                sources = self._sources(here.at)
                for i in range(sources.items.size()):
                    if self.derived.reads(sources.items[i].state):
                        ways.push_back(_Way(_Point(here.at, _ITEM, i, here.frame), _LAST, 0))
            return 0
        if here.kind == _NODE:
            step = self._step(here.at)
            for option in step.options[here.index]:
                if option.kind == _READ:
                    ways.push_back(
                        _Way(
                            _Point(here.at - 1, _ITEM, option.index, here.frame), _READ, option.edge
                        )
                    )
                else:
                    number = here.frame
                    if region is not None:
                        number = self._frame_number(region, here, option.index)
                    ways.push_back(_Way(_Point(here.at, _NODE, option.index, number), _RETURN, 0))
            return 0
        sources = self._sources(here.at)
        item = sources.items[here.index]
        if not self.derived.is_entry[item.state]:
            step = self._step(here.at)
            for number in step.of_item[here.index]:
                ways.push_back(_Way(_Point(here.at, _NODE, number, here.frame), _SAME, 0))
            return 0
        rule = self.derived.rule_of[item.state]
        self._spend(sources.callers[here.index].size())
        for way in sources.callers[here.index]:
            caller = sources.items[way.item]
            if self.derived.items.call_tail[way.call]:
                ways.push_back(
                    _Way(_Point(here.at, _ITEM, way.item, here.frame), _TAIL, way.call)
                )
            elif not self._top(here.frame, region, &frame):
                if self.is_open:
                    ways.push_back(
                        _Way(_Point(here.at, _ITEM, way.item, here.frame), _CALL, way.call)
                    )
            elif (
                frame.called == rule
                and frame.stack
                == (SELF if caller.pair == sources.predicted else sources.nodes[caller.pair])
                and frame.report == caller.report
                and frame.state == self.derived.items.call_return[way.call]
            ):
                if here.frame < 0:
                    ways.push_back(
                        _Way(_Point(here.at, _ITEM, way.item, here.frame + 1), _CALL, way.call)
                    )
                else:
                    for number in region.around[here.frame]:
                        ways.push_back(
                            _Way(_Point(here.at, _ITEM, way.item, number), _CALL, way.call)
                        )
        if (
            here.at == 0
            and item.report == rule == self.derived.start
            and item.pair != sources.predicted
            and not self._top(here.frame, region, &frame)
        ):
            ways.push_back(_Way(_Point(-1, _BEGIN, 0, here.frame), _FIRST, 0))
        return 0

    cdef bint _top(self, int32_t number, _Region region, _Frame* frame) noexcept:
        """Fetch the innermost open call; return whether there is one.

        Those of a region have numbers from 0 on; ``~n`` are the first ``n`` of ``opened``.
        """
        if number >= 0:
            frame[0] = region.frames[number]
            return True
        if ~number == 0:
            return False
        frame[0] = self.opened[~number - 1].frame
        return True

    cdef int32_t _frame_number(
        self, _Region region, _Point after, int32_t complete
    ) except? -1:
        """The call that returned to a node of a step from another one."""
        cdef _Step* step = self._step(after.at)
        cdef _Frame frame = _call_of(step, after.index, complete)
        cdef Triple key = Triple(
            after.at, Pair(after.index, 2 * frame.called + (frame.stack == SELF))
        )
        cdef int32_t number
        if not region.frame_numbers.count(key):
            region.frame_numbers[key] = region.frames.size()
            region.frames.push_back(frame)
            region.returned.push_back(Pair(after.at, after.index))
            region.around.push_back(vector[int32_t]())
        number = region.frame_numbers[key]
        self._spend(1 + region.around[number].size() // 8)
        if not _has(region.around[number], after.frame):
            region.around[number].push_back(after.frame)
        return number

    # Regions.

    cdef int32_t _follow_back(
        self, _Region region, _Point origin, int32_t floor, bint to_begin
    ) except -1:
        """Follow all ways back until they meet; return where, as a number of the region.

        With ``to_begin`` they are followed to the place ``floor``, and 0 is returned.
        """
        cdef vector[int32_t] here, below
        cdef vector[_Way] ways
        cdef _Way way
        cdef bint is_new
        cdef int32_t number = region.number(origin, &is_new)
        cdef int32_t target
        here.push_back(number)
        while True:
            # Place by place, from the end: all ways are at one place of the text before any goes on
            # from it, so that they meet where a single configuration is left.
            if here.empty():
                if below.empty():
                    return 0
                here.swap(below)
            if (
                not to_begin
                and number != here.back()
                and here.size() + below.size() == 1
                and _is_settled(region, region.points[here.back()].frame)
            ):
                return here.back()
            number = here.back()
            here.pop_back()
            if region.points[number].kind == _BEGIN:
                if to_begin:
                    continue
                return number
            self._ways(region.points[number], region, ways)
            self._pass(region.points[number].at)
            for way in ways:
                if way.point.at < floor:
                    continue
                target = region.number(way.point, &is_new)
                region.link(target, number, way.kind, way.edge)
                self._spend(1 + 2 * is_new)
                self._keep(region.size())
                if is_new:
                    if way.point.at == region.points[number].at:
                        here.push_back(target)
                    else:
                        below.push_back(target)
            number = _NOTHING

    cdef int64_t _preference(
        self, _Region region, int32_t source, _Link link, vector[_Level]& levels, int32_t level
    ) except -2:
        """How much a link is preferred among those of one configuration; the least is the most."""
        cdef int32_t at, index
        if link.kind == _READ:
            return self.derived.preference[link.edge]
        if link.kind == _CALL or link.kind == _TAIL:
            return (
                self.derived.preference[self.derived.calls_at + link.edge] >> _FIRST_BITS
            ) << _FIRST_BITS
        if link.kind == _RETURN:
            level = _calling(levels, level)
            if level != _NOTHING:
                at, index = region.points[source].at, region.points[source].index
                step = self._step(at)
                return self.derived.preference_of(
                    levels[level].caller,
                    step.arrivals[index].report,
                    step.arrivals[region.points[link.target].index].state,
                ) & 0xFFFFFFFF
        return 0

    cdef int _choose(
        self, _Region region, int32_t begin, int32_t origin, vector[_Way]& chosen
    ) except -1:
        """Find the preferred way from ``begin`` to ``origin``; ``chosen``: its steps, backwards."""
        cdef unordered_set[int32_t] dead
        cdef size_t dead_before = 0
        self._go(region.points[begin].at, -1)
        while not self._chosen_without(region, begin, origin, dead, chosen, False):
            # A rule that derives itself leads in a circle: the search is repeated without the
            # configurations at the end of the circle.
            if dead.size() == dead_before:
                # One of them is needed on another way, where other calls are open.
                # Giving it up would lose the derivation that needs it: the second search takes
                # choices back.
                dead.clear()
                self._chosen_without(region, begin, origin, dead, chosen, True)
                break
            dead_before = dead.size()
        self._go(region.points[begin].at, 1)
        return 0

    cdef bint _chosen_without(
        self,
        _Region region,
        int32_t begin,
        int32_t origin,
        unordered_set[int32_t]& dead,
        vector[_Way]& chosen,
        bint goes_back,
    ) except -1:
        """Find the preferred way that avoids ``dead``; return whether that led to ``origin``.

        Where it did not, its last configurations are dead, none if it did not even begin. With
        ``goes_back`` the next best choice is taken instead, and it always leads there.
        """
        # Threads by number, side by side: all of them prefer the same so far, so that they share
        # their levels. A thread is a configuration and what it may have come from, each with the
        # number of the link.
        cdef vector[int32_t] threads
        cdef vector[vector[Pair]] origins
        cdef vector[_Level] levels
        cdef vector[_Moment] moments
        cdef vector[Pair] ways
        cdef unordered_set[int32_t] seen
        cdef unordered_map[int32_t, int32_t] reached
        cdef int32_t number, node, level
        cdef int32_t i, option
        cdef int64_t best, preference
        cdef size_t tries = 0
        cdef _Link link
        threads.push_back(begin)
        origins.push_back(vector[Pair]())
        seen.insert(begin)
        _push_moment(moments, 0, 1, _NOTHING)
        while threads.back() != origin:
            best = _NOTHING
            ways.clear()
            level = moments.back().level
            for number in range(moments.back().first, moments.back().after):
                node = threads[number]
                i = region.ends[node].first
                while i != _NOTHING:
                    link, option = region.links[i], i
                    i = link.next
                    self._spend(1)
                    if dead.count(link.target) or (
                        seen.count(link.target)
                        and self._is_circle(region, threads, origins, number, link.target)
                    ):
                        continue
                    if link.kind == _RETURN and not _returns(
                        region, node, link.target, levels, level
                    ):
                        continue
                    preference = self._preference(region, node, link, levels, level)
                    if preference <= moments.back().tried:
                        continue
                    if best == _NOTHING or preference < best:
                        best = preference
                        ways.clear()
                    if preference == best:
                        ways.push_back(Pair(number, option))
            if ways.empty() and not goes_back:
                if moments.size() > 1:
                    for number in range(moments.back().first, moments.back().after):
                        dead.insert(threads[number])
                return False
            if ways.empty():
                tries += 1
                if tries > _TRIES or moments.size() == 1:
                    _refuse_text(self.most)
                threads.resize(moments.back().first)
                origins.resize(moments.back().first)
                moments.pop_back()
                continue
            moments.back().tried = best
            level = self._enter(region, threads, ways, levels, level)
            number = threads.size()
            reached.clear()
            for way in ways:
                node = region.links[way.second].target
                if not reached.count(node):
                    reached[node] = threads.size()
                    threads.push_back(node)
                    origins.push_back(vector[Pair]())
                    seen.insert(node)
                origins[reached[node]].push_back(way)
            self._spend(3 * (threads.size() - number))
            self._keep(4 * threads.size())
            self._pass(region.points[threads.back()].at)
            _push_moment(moments, number, threads.size(), level)
        self._retrace(region, threads, origins, chosen)
        return True

    cdef bint _is_circle(
        self,
        _Region region,
        vector[int32_t]& threads,
        vector[vector[Pair]]& origins,
        int32_t number,
        int32_t target,
    ) except -1:
        """Whether a thread has come from a configuration that it would come to again.

        The same one on another way is not a circle: other calls are open there.
        """
        cdef unordered_set[int32_t] seen
        cdef vector[int32_t] pending
        cdef int32_t at = region.points[target].at
        cdef Pair way
        pending.push_back(number)
        while not pending.empty():
            number = pending.back()
            pending.pop_back()
            self._spend(1)
            if threads[number] == target:
                return True
            if region.points[threads[number]].at != at or seen.count(number):
                continue
            seen.insert(number)
            for way in origins[number]:
                pending.push_back(way.first)
        return False

    cdef int32_t _enter(
        self,
        _Region region,
        vector[int32_t]& threads,
        vector[Pair]& ways,
        vector[_Level]& levels,
        int32_t level,
    ) except -2:
        """Return the level that the chosen ways lead to."""
        cdef int32_t node = threads[ways[0].first]
        cdef _Link link = region.links[ways[0].second]
        cdef _Point point = region.points[node]
        if link.kind == _CALL or link.kind == _TAIL:
            levels.resize(levels.size() + 1)
            levels.back().outer = level
            levels.back().caller = _NOTHING
            if link.kind == _CALL:
                levels.back().caller = self._sources(point.at).items[point.index].state
                for way in ways:
                    node = threads[way.first]
                    link = region.links[way.second]
                    levels.back().around[region.points[link.target].frame].push_back(
                        region.points[node].frame
                    )
            return levels.size() - 1
        if link.kind == _RETURN:
            level = _calling(levels, level)
            return _NOTHING if level == _NOTHING else levels[level].outer
        return level

    cdef int _retrace(
        self,
        _Region region,
        vector[int32_t]& threads,
        vector[vector[Pair]]& origins,
        vector[_Way]& chosen,
    ) except -1:
        """Find one way among the threads, from the last one backwards."""
        cdef int32_t number = threads.size() - 1, source, frame
        cdef vector[int32_t] frames
        cdef Pair way
        cdef _Link link
        chosen.clear()
        while not origins[number].empty():
            way = origins[number][0]
            link = region.links[way.second]
            if link.kind == _RETURN:
                frames.push_back(region.points[threads[number]].frame)
            elif link.kind == _CALL and not frames.empty():
                frame = frames.back()
                frames.pop_back()
                for way in origins[number]:
                    if region.points[threads[way.first]].frame == frame:
                        break
                link = region.links[way.second]
            source = threads[way.first]
            chosen.push_back(_Way(region.points[source], link.kind, link.edge))
            number = way.first
        return 0

    # The tree, and all derivations.

    def tree(self):
        """Return the preferred derivation: labels, starts, ends and nodes below, in preorder.

        Labels from ``len(names)`` on are token ids. The bytes read must be a whole text.
        """
        cdef int64_t count = 0
        if self.symbols.empty():
            return self._empty_tree()
        self._read_back(_NOTHING, 0, &count)
        return self._result()

    def derivations(self, int64_t most):
        """Return how many derivations a whole text has, at most ``most`` of them, and another tree.

        The tree is that of another derivation than ``tree`` returns, the same up to the first
        choice in which there are two; None where there is one only, or where they are endless.
        """
        cdef int64_t count = 1, last
        if self.symbols.empty():
            return 1, None
        last = self._read_back(_NOTHING, most, &count)
        if last == _NOTHING or count == _ENDLESS:
            return (1 if last == _NOTHING else most), None
        self._read_back(last, 0, &count)
        return count, self._result()

    cdef int64_t _read_back(self, int64_t second, int64_t most, int64_t* count) except -2:
        """Write the preferred derivation backwards; return the last region of several, from 0 on.

        In the region ``second`` another one is written that first differs as early as it can.
        Unless ``most`` is 0, ``count`` is multiplied by the number of ways through each region.
        """
        cdef vector[_Way] ways, chosen
        cdef _Region region
        cdef _Point here = _Point(self.symbols.size(), _ORIGIN, 0, ~0)
        cdef int32_t meeting
        cdef int64_t ways_through, regions = 0, last = _NOTHING
        cdef size_t i
        self.is_open = False
        self.left = self.most
        self.derived.acquire()
        try:
            self._clear()
            self._go(here.at, 1)
            while here.kind != _BEGIN:
                if here.kind == _ITEM:
                    self._skip_back(&here)
                here.frame = ~(<int32_t> self.opened.size())
                self._pass(here.at)
                self._spend(1)
                self._ways(here, None, ways)
                if ways.size() == 1:
                    self._apply(here, ways[0])
                    here = ways[0].point
                    continue
                if ways.empty():
                    raise AssertionError(f"no way back from place {here.at} of a text")
                # Only where several ways lead back: a text without ambiguity makes no region.
                region = _Region()
                meeting = self._follow_back(region, here, -1, False)
                self._choose(region, meeting, 0, chosen)
                if most:
                    ways_through = self._count(region, meeting, most)
                    if ways_through != 1:
                        last = regions
                    # Regions follow each other in the text, so that each way through one goes with
                    # all of the others.
                    if count[0] != _ENDLESS:
                        count[0] = min(most, count[0] * ways_through)
                    if ways_through == _ENDLESS:
                        count[0] = _ENDLESS
                if second == regions:
                    self._turn_off(region, meeting, chosen)
                    self._choose(region, meeting, 0, chosen)
                regions += 1
                for i in range(chosen.size()):
                    self._apply(here, chosen[i])
                    here = chosen[i].point
            return last
        finally:
            self.derived.release()

    cdef int _skip_back(self, _Point* here) except -1:
        """Go back over steps inside of a rule, where nothing is to be chosen or written."""
        cdef _Sources* sources
        cdef _Step* step
        cdef _Option option
        cdef int32_t number
        # Tokens that were read by id are nodes of the tree, which ``_apply`` writes.
        if not self.tokens.empty():
            return 0
        while here.at > 0:
            sources = self._sources(here.at)
            if self.derived.is_entry[sources.items[here.index].state]:
                return 0
            step = self._step(here.at)
            if step.of_item[here.index].size() != 1:
                return 0
            number = step.of_item[here.index][0]
            if step.options[number].size() != 1:
                return 0
            option = step.options[number][0]
            if (
                option.kind != _READ
                or self.derived.arrive[step.arrivals[number].state]
                or self.derived.before[option.edge]
            ):
                return 0
            here.at -= 1
            here.index = option.index
        return 0

    cdef int64_t _count(self, _Region region, int32_t begin, int64_t most) except -2:
        """Return the number of ways through a region, at most ``most``, or _ENDLESS."""
        cdef vector[int64_t] counts
        cdef int64_t result = 1
        cdef int32_t frame
        counts.resize(region.points.size(), _NOTHING)
        while True:
            if not self._count_from(region, begin, most, counts):
                return _ENDLESS
            result = min(most, result * counts[begin])
            if region.points[begin].frame < 0:
                return result
            # To the end of that call, and on from there: the calls open to its right are settled.
            frame = region.points[begin].frame
            begin = self._return_of(region, frame, region.around[frame][0])

    cdef int32_t _return_of(self, _Region region, int32_t frame, int32_t outer) except -1:
        """The configuration at which a call returns, in the calls ``outer``."""
        cdef bint is_new
        cdef Pair back = region.returned[frame]
        return region.number(_Point(back.first, _NODE, back.second, outer), &is_new)

    cdef bint _count_from(
        self, _Region region, int32_t begin, int64_t most, vector[int64_t]& counts
    ) except -1:
        """Count the ways from each configuration to the end of the call that it is in.

        False where they are endless.
        """
        cdef vector[int32_t] pending, needed
        cdef unordered_set[int32_t] entered
        cdef int32_t number, other, i
        cdef int64_t total
        cdef bint is_ready
        cdef _Link link
        pending.push_back(begin)
        while not pending.empty():
            number = pending.back()
            if counts[number] != _NOTHING:
                pending.pop_back()
                continue
            is_ready, total = True, 0
            if number == 0:
                total = 1
            i = region.ends[number].first
            while i != _NOTHING:
                link = region.links[i]
                i = link.next
                self._watch(1)
                if link.kind == _RETURN:
                    total = 1
                    break
                # Entering a call counts the ways within it, times those from its return on.
                needed.clear()
                needed.push_back(link.target)
                if link.kind == _CALL and region.points[link.target].frame >= 0:
                    needed.push_back(
                        self._return_of(
                            region, region.points[link.target].frame, region.points[number].frame
                        )
                    )
                for other in needed:
                    if counts[other] == _NOTHING:
                        # Waited for by itself: a circle, so that there is no end of ways.
                        if entered.count(other):
                            return False
                        is_ready = False
                        pending.push_back(other)
                if is_ready:
                    total += counts[link.target] * (
                        counts[needed.back()] if needed.size() > 1 else 1
                    )
                    total = min(total, most)
            if is_ready:
                counts[number] = total
                entered.erase(number)
                pending.pop_back()
            else:
                entered.insert(number)
        return True

    cdef int _turn_off(self, _Region region, int32_t begin, vector[_Way]& chosen) except -1:
        """Take the links of the chosen derivation away where it first could have taken others."""
        cdef size_t i = chosen.size()
        cdef int32_t number = begin, target, link
        cdef bint is_new
        while i:
            i -= 1
            number = region.number(chosen[i].point, &is_new)
            link = region.ends[number].first
            if link != region.ends[number].second and region.links[link].kind != _RETURN:
                target = region.number(chosen[i - 1].point, &is_new) if i else 0
                region.ends[number] = Pair(_NOTHING, _NOTHING)
                while link != _NOTHING:
                    if region.links[link].target != target:
                        region.link(
                            number, region.links[link].target, region.links[link].kind,
                            region.links[link].edge,
                        )
                    link = region.links[link].next
                return 0
        return 0

    cdef int _clear(self) except -1:
        self.labels.clear()
        self.starts.clear()
        self.ends.clear()
        self.below.clear()
        self.opened.clear()
        self.mark, self.end = 0, self.offset(self.symbols.size())
        return 0

    def _empty_tree(self):
        nodes = self.derived.positions.empty
        columns = [label for label, _ in nodes], [0] * len(nodes), [0] * len(nodes)
        return (*(_column(node) for node in columns), _column([below for _, below in nodes]))

    cdef object _result(self):
        columns = (
            _backwards(self.labels),
            _backwards(self.starts),
            _backwards(self.ends),
            _backwards(self.below),
        )
        return columns

    cdef int _apply(self, _Point here, _Way way) except -1:
        """Write what lies between a configuration and one before it."""
        cdef int32_t at = self.offset(here.at) if here.at >= 0 else 0
        cdef _Step* step
        cdef _Opened opened
        cdef int32_t state
        if way.kind == _READ or way.kind == _RETURN:
            step = self._step(here.at)
            state = step.arrivals[here.index].state
            if self.derived.arrive[state]:
                self._write_passed(self.derived.arrive[state], at)
            if way.kind == _READ:
                if not self.tokens.empty() and self.tokens[here.at] != _NOTHING:
                    self._write(
                        self.tokens[here.at] + len(self.derived.positions.names),
                        self.offset(here.at - 1),
                        at,
                        0,
                    )
                if self.derived.before[way.edge]:
                    self._write_passed(self.derived.before[way.edge], self.offset(here.at - 1))
            else:
                opened.frame = _call_of(step, here.index, way.point.index)
                opened.mark, opened.end = self.mark, self.end
                self.opened.push_back(opened)
                self.mark, self.end = self.labels.size(), at
        elif way.kind == _CALL or way.kind == _TAIL or way.kind == _FIRST:
            state = self._sources(here.at).items[here.index].state
            self._write_rule(self.derived.rule_of[state], at)
            if way.kind == _CALL:
                self.mark, self.end = self.opened.back().mark, self.opened.back().end
                self.opened.pop_back()
            if way.kind != _FIRST and self.derived.before[self.derived.calls_at + way.edge]:
                self._write_passed(self.derived.before[self.derived.calls_at + way.edge], at)
        return 0

    cdef int _write_rule(self, int32_t rule, int32_t at) except -1:
        cdef int32_t label = self.derived.labels[rule]
        if label != _NOTHING:
            self._write(label, at, self.end, self.labels.size() - self.mark)
        return 0

    cdef int _write_passed(self, int32_t number, int32_t at) except -1:
        cdef vector[Pair]* nodes = &self.derived.passed[number]
        cdef size_t i = nodes.size()
        self._spend(i)
        while i:
            i -= 1
            self._write(deref(nodes)[i].first, at, at, deref(nodes)[i].second)
        return 0

    cdef inline int _write(
        self, int32_t label, int32_t start, int32_t end, int32_t below
    ) except -1:
        self.labels.push_back(label)
        self.starts.push_back(start)
        self.ends.push_back(end)
        self.below.push_back(below)
        return 0


cdef object _column_of(vector[int32_t]& values):
    cdef cnp.npy_intp size = values.size()
    cdef cnp.ndarray result = cnp.PyArray_SimpleNew(1, &size, cnp.NPY_INT32)
    if size:
        memcpy(cnp.PyArray_DATA(result), values.data(), size * sizeof(int32_t))
    return result


cdef object _backwards(vector[int32_t]& values):
    reverse(values.begin(), values.end())
    result = _column_of(values)
    values.clear()
    return result


cdef object _column(values):
    cdef vector[int32_t] column = values
    return _column_of(column)
