# Certain events of a text that goes on: where rules have begun and ended in all its derivations.
#
# **Layer.** Above ``trace.pxi``.
#
# The events with which all derivations begin that are still possible are found by going through
# their ways side by side, from a place that all of them go through; it moves on with the text. A
# long text that was not searched yet is searched in sections: an event that is certain of the
# beginning of a text is certain of all of it.

cdef enum:
    # Kinds of events: a rule has begun, or has ended.
    _OPENS = 0
    _CLOSES = 1
    # Places of a text that are looked at together, where it does not take more.
    _TOGETHER = 4096

cdef struct _Event:
    int32_t kind
    int32_t label
    int32_t offset

cdef struct _Progress:
    # A configuration of a region, or so many events of one of its links.
    int32_t node
    int32_t link
    int32_t done


@cython.final
cdef class StreamedTrace(Trace):
    """A text that grows, and the events that have become certain. For tables without tail calls."""

    # A place that all derivations go through, the events before it, those said.
    cdef _Point cut
    cdef size_t before_cut
    cdef readonly size_t reported
    # Up to which byte nothing begins or ends in any derivation but the events returned.
    cdef readonly int32_t front

    def __cinit__(self, Derivations derived, int64_t most):
        self.cut = _Point(-1, _BEGIN, 0, ~0)

    def __copy__(self):
        cdef StreamedTrace twin = StreamedTrace(self.derived, self.most)
        twin.states, twin.symbols = self.states, self.symbols
        twin.offsets, twin.tokens = self.offsets, self.tokens
        twin.cut, twin.before_cut, twin.reported = self.cut, self.before_cut, self.reported
        twin.front = self.front
        return twin

    @property
    def settled(self):
        """The index from which certain events are searched: all derivations go through it."""
        return max(self.cut.at, 0)

    def cut_to(self, size_t size):
        """Forget all but the first steps, and the certain events."""
        self.step_at = 0
        self.states.resize(size + 1)
        self.symbols.resize(size)
        if not self.tokens.empty():
            self.offsets.resize(size + 1)
            self.tokens.resize(size + 1)
        self.cut = _Point(-1, _BEGIN, 0, ~0)
        self.before_cut = self.reported = 0
        self.front = 0

    def certain_events(self):
        """Return the events that have become certain: labels, ``~label`` of an end, and offsets.

        They are those with which all derivations begin that are still possible, less those returned
        before; in the order of the text.
        """
        cdef _Region region
        cdef vector[_Event] events
        cdef vector[int32_t] labels, offsets
        cdef _Event event
        cdef _Point cut = self.cut
        cdef size_t before_cut = self.before_cut, reported = self.reported
        cdef size_t end = self.symbols.size(), at
        cdef int32_t front = self.front, size = _TOGETHER, begin
        self.is_open = True
        self.left = self.most
        self.derived.acquire()
        try:
            while True:
                begin = self.cut.at
                at = min(end, <size_t> (max(begin, 0) + size))
                region = _Region()
                self._go(at, 1)
                self._follow_back(region, _Point(at, _ORIGIN, 0, ~0), begin, True)
                self._go(begin, -1)
                self._agree(region, at, events)
                if at == end:
                    break
                # Where the derivations meet late, longer sections: with sections of one length the
                # same places would be searched again for each of them.
                size = _TOGETHER if 2 * (self.cut.at - begin) > size else 2 * size
        except BaseException:
            # Nothing was returned, so that a later call must find the same events.
            self.cut, self.before_cut, self.reported, self.front = cut, before_cut, reported, front
            raise
        finally:
            self.derived.release()
        for event in events:
            labels.push_back(event.label if event.kind == _OPENS else ~event.label)
            offsets.push_back(event.offset)
        return _column_of(labels), _column_of(offsets)

    cdef int _agree(self, _Region region, size_t at, vector[_Event]& agreed) except -1:
        """Find the events that all ways to the end of a region, ``at``, begin with after the last.

        All go through ``cut``, after ``before_cut`` events; it is moved on where they meet again.
        """
        cdef vector[_Progress] current, after
        cdef vector[_Event] events
        cdef _Event event
        cdef size_t i, count = self.before_cut
        self.front = self.offset(at)
        self._watch(region.points.size())
        for i in range(region.points.size()):
            if _is_same(region.points[i], self.cut):
                current.push_back(_Progress(i, _NOTHING, 0))
        while self._go_to_events(region, current, count):
            for i in range(current.size()):
                self._events_of(region, current[i], events)
                if i == 0:
                    event = events[current[0].done]
                elif memcmp(&event, &events[current[i].done], sizeof(_Event)) != 0:
                    self._end_at(region, current)
                    return 0
            count += 1
            if count > self.reported:
                self.reported = count
                agreed.push_back(event)
            for i in range(current.size()):
                current[i].done += 1
        return 0

    cdef bint _go_to_events(
        self, _Region region, vector[_Progress]& current, size_t count
    ) except -1:
        """Take all ways to their next event; return whether each has one.

        The one that is least far goes on, so that all are seen where they are at one place.
        """
        cdef vector[_Progress] reached
        cdef vector[_Event] events
        cdef unordered_set[int32_t] seen
        cdef _Progress one
        cdef size_t i, first
        cdef int32_t link
        for one in current:
            if one.link == _NOTHING:
                seen.insert(one.node)
        while not current.empty():
            if reached.empty() and self._is_one_point(region, current):
                self.cut = region.points[current[0].node]
                self.cut.frame = ~0
                self.before_cut = count
            first = 0
            self._spend(current.size())
            for i in range(1, current.size()):
                if _is_before(region.points[current[i].node], region.points[current[first].node]):
                    first = i
            one = current[first]
            self._pass(region.points[one.node].at)
            current[first] = current.back()
            current.pop_back()
            if one.link != _NOTHING:
                self._events_of(region, one, events)
                if one.done < <int32_t> events.size():
                    reached.push_back(one)
                    continue
                one = _Progress(region.links[one.link].target, _NOTHING, 0)
                if seen.insert(one.node).second:
                    current.push_back(one)
                continue
            if region.points[one.node].kind == _ORIGIN:
                # The others have an event to come, or are at the end as well.
                self._end_at(region, reached)
                return False
            link = region.ends[one.node].first
            while link != _NOTHING:
                current.push_back(_Progress(one.node, link, 0))
                link = region.links[link].next
        current.swap(reached)
        return not current.empty()

    cdef int _end_at(self, _Region region, vector[_Progress]& waiting) except -1:
        """End the certain events at the first one that some ways wait for."""
        cdef vector[_Event] events
        cdef _Progress one
        for one in waiting:
            self._events_of(region, one, events)
            self.front = min(self.front, events[one.done].offset)
        return 0

    cdef bint _is_one_point(self, _Region region, vector[_Progress]& current) except -1:
        """Whether all ways have just read the same, whatever is open to its right.

        A way reads to each place of the text once, so it cannot be there again with another call
        open.
        """
        cdef _Point point = region.points[current[0].node]
        cdef size_t i
        if point.kind != _NODE:
            return False
        for i in range(current.size()):
            if current[i].link != _NOTHING:
                return False
            if not _is_same(region.points[current[i].node], point):
                return False
        return self._step(point.at).options[point.index][0].kind == _READ

    cdef int _events_of(self, _Region region, _Progress one, vector[_Event]& events) except -1:
        """Find the events of a link, in order."""
        cdef _Link link = region.links[one.link]
        cdef _Point source = region.points[one.node]
        cdef _Point target = region.points[link.target]
        cdef int32_t rule
        cdef _Step* step
        events.clear()
        if link.kind == _CALL or link.kind == _FIRST:
            if link.kind == _CALL:
                self._add_passed(
                    self.derived.before[self.derived.calls_at + link.edge], source.at, events
                )
            rule = self.derived.rule_of[self._sources(target.at).items[target.index].state]
            self._add_event(_OPENS, self.derived.labels[rule], target.at, events)
        elif link.kind == _READ or link.kind == _RETURN:
            step = self._step(target.at)
            if link.kind == _READ:
                self._add_passed(self.derived.before[link.edge], source.at, events)
            else:
                rule = step.arrivals[source.index].report
                self._add_event(_CLOSES, self.derived.labels[rule], target.at, events)
            self._add_passed(
                self.derived.arrive[step.arrivals[target.index].state], target.at, events
            )
        elif link.kind == _LAST and source.kind == _NODE:
            self._add_event(_CLOSES, self.derived.labels[self.derived.start], target.at, events)
        return 0

    cdef int _add_event(
        self, int32_t kind, int32_t label, int32_t at, vector[_Event]& events
    ) except -1:
        if label != _NOTHING:
            events.push_back(_Event(kind, label, self.offset(at)))
        return 0

    cdef int _add_passed(self, int32_t number, int32_t at, vector[_Event]& events) except -1:
        cdef vector[Pair]* nodes = &self.derived.passed[number]
        cdef vector[Pair] opened
        cdef size_t i
        self._spend(nodes.size())
        for i in range(nodes.size() + 1):
            while not opened.empty() and opened.back().second < <int32_t> i:
                self._add_event(_CLOSES, opened.back().first, at, events)
                opened.pop_back()
            if i < nodes.size():
                self._add_event(_OPENS, deref(nodes)[i].first, at, events)
                opened.push_back(Pair(deref(nodes)[i].first, i + deref(nodes)[i].second))
        return 0
