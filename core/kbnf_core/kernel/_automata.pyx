# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# distutils: language = c++
"""Finite automata, compiled: see ``automata.Automata`` for what each function does."""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libcpp.algorithm cimport is_sorted, sort, unique
from libcpp.string cimport string
from libcpp.unordered_map cimport unordered_map
from libcpp.vector cimport vector

NAME = "compiled"

cdef enum:
    DEAD = -1
    UNKNOWN = -4

ctypedef vector[int32_t] Ints


cdef struct Edges:
    # The edges of state s are first[s] .. first[s + 1], by symbol.
    Ints first
    Ints symbol
    Ints target


cdef class _Subsets:
    """The subset construction over ``edges``, whose targets bring their closures along."""

    cdef Edges edges
    cdef vector[Ints] closures
    cdef bint has_closures
    cdef vector[uint8_t] is_closed
    cdef vector[uint8_t] useful
    cdef Edges free
    cdef vector[uint64_t] state_tags
    cdef vector[Ints] members
    cdef vector[uint64_t] tags
    cdef unordered_map[string, int32_t] numbers
    cdef Edges rows
    cdef uint64_t stop
    cdef int64_t limit, elements, closure_limit, closure_elements
    cdef Py_ssize_t per_state
    cdef vector[int32_t] entered
    cdef Ints known
    cdef int32_t round

    cdef int close(self, int32_t state) except -1:
        """Work out the useful states entered with one; returns 1 beyond the limit."""
        cdef vector[int32_t] queue
        cdef Py_ssize_t i
        cdef int32_t here, there
        if self.is_closed[state]:
            return 0
        self.is_closed[state] = 1
        self.round += 1
        queue.push_back(state)
        self.entered[state] = self.round
        cdef Py_ssize_t at = 0
        while at < <Py_ssize_t> queue.size():
            here = queue[at]
            at += 1
            for i in range(self.free.first[here], self.free.first[here + 1]):
                there = self.free.target[i]
                if self.entered[there] != self.round:
                    self.entered[there] = self.round
                    queue.push_back(there)
        self.closure_elements += queue.size()
        if self.closure_elements > self.per_state * self.closure_limit:
            return 1
        sort(queue.begin(), queue.end())
        for i in range(<Py_ssize_t> queue.size()):
            if self.useful[queue[i]]:
                self.closures[state].push_back(queue[i])
        return 0

    cdef int32_t number(self, Ints& subset) except -3:
        """Return the number of a subset, DEAD for the empty one; -2 beyond the limit."""
        cdef string key
        cdef uint64_t tag = 0
        cdef Py_ssize_t i
        cdef int32_t found
        if subset.empty():
            return DEAD
        key.assign(<const char*> subset.data(), subset.size() * sizeof(int32_t))
        if self.numbers.count(key):
            return self.numbers[key]
        for i in range(<Py_ssize_t> subset.size()):
            tag |= self.state_tags[subset[i]]
        if tag & self.stop:
            self.numbers[key] = DEAD
            return DEAD
        self.elements += subset.size()
        found = <int32_t> self.members.size()
        if found >= self.limit or self.elements > self.per_state * self.limit:
            return -2
        self.numbers[key] = found
        self.members.push_back(subset)
        self.tags.push_back(tag)
        return found

    cdef int32_t after(self, int32_t target) except -3:
        """Return the number of what is entered with one state; remembered, for it is common."""
        cdef Ints alone
        if self.known[target] == UNKNOWN:
            if not self.has_closures:
                alone.push_back(target)
                self.known[target] = self.number(alone)
            else:
                self.known[target] = self.number(self.closures[target])
        return self.known[target]

    cdef int32_t after_all(
        self, vector[uint64_t]& pairs, Py_ssize_t begin, Py_ssize_t end
    ) except -3:
        """Return the number of what is entered with all targets of some pairs."""
        cdef Ints reached
        cdef Py_ssize_t i, k
        cdef int32_t target
        for i in range(begin, end):
            target = <int32_t> pairs[i]
            if not self.has_closures:
                reached.push_back(target)
                continue
            for k in range(<Py_ssize_t> self.closures[target].size()):
                reached.push_back(self.closures[target][k])
        sort(reached.begin(), reached.end())
        reached.erase(unique(reached.begin(), reached.end()), reached.end())
        return self.number(reached)

    cdef int run(self) except -1:
        """Follow all subsets; returns 1 beyond a limit."""
        cdef vector[uint64_t] pairs
        cdef Py_ssize_t at = 0, i, j, state
        cdef int32_t symbol, target
        while at < <Py_ssize_t> self.members.size():
            self.rows.first.push_back(<int32_t> self.rows.symbol.size())
            pairs.clear()
            for i in range(<Py_ssize_t> self.members[at].size()):
                state = self.members[at][i]
                for j in range(self.edges.first[state], self.edges.first[state + 1]):
                    pairs.push_back(
                        <uint64_t> self.edges.symbol[j] << 32 | <uint64_t> self.edges.target[j]
                    )
            if not is_sorted(pairs.begin(), pairs.end()):
                sort(pairs.begin(), pairs.end())
            pairs.erase(unique(pairs.begin(), pairs.end()), pairs.end())
            i = 0
            while i < <Py_ssize_t> pairs.size():
                symbol = <int32_t> (pairs[i] >> 32)
                j = i + 1
                while j < <Py_ssize_t> pairs.size() and <int32_t> (pairs[j] >> 32) == symbol:
                    j += 1
                if j == i + 1:
                    target = self.after(<int32_t> pairs[i])
                else:
                    target = self.after_all(pairs, i, j)
                i = j
                if target == -2:
                    return 1
                if target != DEAD:
                    self.rows.symbol.push_back(symbol)
                    self.rows.target.push_back(target)
            at += 1
        self.rows.first.push_back(<int32_t> self.rows.symbol.size())
        return 0


cdef struct Partition:
    # Blocks of elements: those of block b are elements[first[b]] .. elements[end[b] - 1], and
    # the marked ones among them come first, up to middle[b].
    Ints elements
    Ints place
    Ints block
    Ints first
    Ints end
    Ints middle


cdef void _begin(Partition& p, const Ints& keys) noexcept:
    """Begin with a block for each key; keys are small and none is negative."""
    cdef Py_ssize_t count = keys.size(), i
    cdef int32_t most = -1, b = 0, begin = 0
    cdef Ints sizes, number
    for i in range(count):
        most = max(most, keys[i])
    sizes.assign(most + 1, 0)
    number.assign(most + 1, 0)
    for i in range(count):
        sizes[keys[i]] += 1
    for i in range(most + 1):
        if sizes[i]:
            number[i] = b
            p.first.push_back(begin)
            begin += sizes[i]
            p.end.push_back(begin)
            b += 1
    p.middle = p.first
    p.elements.resize(count)
    p.place.resize(count)
    p.block.resize(count)
    cdef Ints at = p.first
    for i in range(count):
        b = number[keys[i]]
        p.block[i] = b
        p.place[i] = at[b]
        p.elements[at[b]] = <int32_t> i
        at[b] += 1


cdef void _mark(Partition& p, int32_t element, Ints& touched) noexcept:
    cdef int32_t b = p.block[element]
    cdef int32_t here = p.place[element], there = p.middle[b]
    cdef int32_t other
    if here < there:
        return
    if there == p.first[b]:
        touched.push_back(b)
    other = p.elements[there]
    p.elements[here] = other
    p.place[other] = here
    p.elements[there] = element
    p.place[element] = there
    p.middle[b] = there + 1


cdef void _split(Partition& p, Ints& touched) noexcept:
    """Split the touched blocks into marked and others; the smaller part gets a new number."""
    cdef Py_ssize_t i
    cdef int32_t b, fresh, k
    for i in range(<Py_ssize_t> touched.size()):
        b = touched[i]
        if p.middle[b] == p.end[b]:
            p.middle[b] = p.first[b]
            continue
        fresh = <int32_t> p.first.size()
        if p.middle[b] - p.first[b] <= p.end[b] - p.middle[b]:
            p.first.push_back(p.first[b])
            p.end.push_back(p.middle[b])
            p.first[b] = p.middle[b]
        else:
            p.first.push_back(p.middle[b])
            p.end.push_back(p.end[b])
            p.end[b] = p.middle[b]
            p.middle[b] = p.first[b]
        p.middle.push_back(p.first[fresh])
        for k in range(p.first[fresh], p.end[fresh]):
            p.block[p.elements[k]] = fresh
    touched.clear()


cdef void _sources(const Edges& edges, Py_ssize_t states, Ints& first, Ints& index) noexcept:
    """List the edges by their targets."""
    cdef Py_ssize_t i
    first.assign(states + 1, 0)
    index.resize(edges.target.size())
    for i in range(<Py_ssize_t> edges.target.size()):
        first[edges.target[i] + 1] += 1
    for i in range(states):
        first[i + 1] += first[i]
    cdef Ints at = first
    for i in range(<Py_ssize_t> edges.target.size()):
        index[at[edges.target[i]]] = <int32_t> i
        at[edges.target[i]] += 1


cdef void _blocks(const Edges& edges, const vector[uint64_t]& tags, Ints& found) noexcept:
    """Find the block of each state of a trimmed automaton: equal futures, equal block.

    After Valmari, "Fast brief practical DFA minimization" (2012): edges are kept in a partition
    too, edges of one class having one symbol and leading to one block.
    """
    cdef Partition states, arrows
    cdef Ints source, first, index, touched, kinds
    cdef unordered_map[uint64_t, int32_t] numbers
    cdef Py_ssize_t count = tags.size(), i, b = 1, c = 0, k
    cdef int32_t j
    for i in range(count):
        if not numbers.count(tags[i]):
            j = <int32_t> numbers.size()
            numbers[tags[i]] = j
        kinds.push_back(numbers[tags[i]])
        for j in range(edges.first[i], edges.first[i + 1]):
            source.push_back(<int32_t> i)
    _sources(edges, count, first, index)
    _begin(states, kinds)
    _begin(arrows, edges.symbol)
    while c < <Py_ssize_t> arrows.first.size():
        for i in range(arrows.first[c], arrows.end[c]):
            _mark(states, source[arrows.elements[i]], touched)
        _split(states, touched)
        c += 1
        while b < <Py_ssize_t> states.first.size():
            for i in range(states.first[b], states.end[b]):
                for k in range(first[states.elements[i]], first[states.elements[i] + 1]):
                    _mark(arrows, index[k], touched)
            _split(arrows, touched)
            b += 1
    found = states.block


cdef void _find_live(
    const Edges& edges, const vector[uint64_t]& tags, const Ints& starts, vector[uint8_t]& live
) noexcept:
    """Find the states that a start reaches and that reach a tag."""
    cdef Ints first, index, queue, source
    cdef Py_ssize_t count = tags.size(), i, at = 0
    cdef int32_t j
    cdef vector[uint8_t] reached
    reached.assign(count, 0)
    live.assign(count, 0)
    for i in range(<Py_ssize_t> starts.size()):
        if starts[i] != DEAD and not reached[starts[i]]:
            reached[starts[i]] = 1
            queue.push_back(starts[i])
    while at < <Py_ssize_t> queue.size():
        for j in range(edges.first[queue[at]], edges.first[queue[at] + 1]):
            if not reached[edges.target[j]]:
                reached[edges.target[j]] = 1
                queue.push_back(edges.target[j])
        at += 1
    for i in range(count):
        for j in range(edges.first[i], edges.first[i + 1]):
            source.push_back(<int32_t> i)
    _sources(edges, count, first, index)
    queue.clear()
    for i in range(count):
        if tags[i] and reached[i]:
            live[i] = 1
            queue.push_back(<int32_t> i)
    at = 0
    while at < <Py_ssize_t> queue.size():
        for j in range(first[queue[at]], first[queue[at] + 1]):
            i = source[index[j]]
            if reached[i] and not live[i]:
                live[i] = 1
                queue.push_back(<int32_t> i)
        at += 1


cdef void _keep(Edges& edges, vector[uint64_t]& tags, Ints& starts, const Ints& numbers) noexcept:
    """Renumber: ``numbers[s]`` is the new number of state s, DEAD for one to leave out.

    Of states with the same number any has the edges of all.
    """
    cdef Edges kept
    cdef vector[uint64_t] kept_tags
    cdef Ints one_of
    cdef Py_ssize_t i
    cdef int32_t j, most = -1
    for i in range(<Py_ssize_t> numbers.size()):
        most = max(most, numbers[i])
    one_of.assign(most + 1, DEAD)
    for i in range(<Py_ssize_t> numbers.size()):
        if numbers[i] != DEAD:
            one_of[numbers[i]] = <int32_t> i
    for i in range(<Py_ssize_t> one_of.size()):
        kept.first.push_back(<int32_t> kept.symbol.size())
        kept_tags.push_back(tags[one_of[i]])
        for j in range(edges.first[one_of[i]], edges.first[one_of[i] + 1]):
            if numbers[edges.target[j]] != DEAD:
                kept.symbol.push_back(edges.symbol[j])
                kept.target.push_back(numbers[edges.target[j]])
    kept.first.push_back(<int32_t> kept.symbol.size())
    for i in range(<Py_ssize_t> starts.size()):
        if starts[i] != DEAD:
            starts[i] = numbers[starts[i]]
    edges = kept
    tags = kept_tags


cdef void _minimise(Edges& edges, vector[uint64_t]& tags, Ints& starts) noexcept:
    """Minimise in place: trimmed, and numbered breadth first."""
    cdef vector[uint8_t] live
    cdef Ints numbers, order, blocks
    cdef Py_ssize_t i, at = 0
    cdef int32_t j, count = 0
    _find_live(edges, tags, starts, live)
    numbers.assign(tags.size(), DEAD)
    for i in range(<Py_ssize_t> tags.size()):
        if live[i]:
            numbers[i] = count
            count += 1
    _keep(edges, tags, starts, numbers)
    _blocks(edges, tags, blocks)
    if count:
        _keep(edges, tags, starts, blocks)
    numbers.assign(tags.size(), DEAD)
    for i in range(<Py_ssize_t> starts.size()):
        if starts[i] != DEAD and numbers[starts[i]] == DEAD:
            numbers[starts[i]] = <int32_t> order.size()
            order.push_back(starts[i])
    while at < <Py_ssize_t> order.size():
        for j in range(edges.first[order[at]], edges.first[order[at] + 1]):
            if numbers[edges.target[j]] == DEAD:
                numbers[edges.target[j]] = <int32_t> order.size()
                order.push_back(edges.target[j])
        at += 1
    _keep(edges, tags, starts, numbers)


cdef _dense(const Edges& edges, Py_ssize_t states, Py_ssize_t symbols):
    """Return the rows as lists, DEAD where there is no edge."""
    cdef list rows = []
    cdef list row, empty = [DEAD] * symbols
    cdef Py_ssize_t i
    cdef int32_t j
    for i in range(states):
        row = empty.copy()
        for j in range(edges.first[i], edges.first[i + 1]):
            row[edges.symbol[j]] = edges.target[j]
        rows.append(row)
    return rows


cdef list _listed(const vector[uint64_t]& tags):
    return [tags[i] for i in range(<Py_ssize_t> tags.size())]


def determinise(moves, tags, starts, Py_ssize_t symbols, int64_t limit, uint64_t stop):
    """See ``automata.Automata``."""
    cdef _Subsets subsets = _Subsets()
    cdef vector[uint64_t] pairs
    cdef Py_ssize_t i
    cdef Ints subset, first
    cdef int32_t number
    subsets.has_closures = False
    subsets.stop = stop
    subsets.limit = limit
    subsets.per_state = ELEMENTS_PER_STATE
    for row in moves:
        subsets.edges.first.push_back(<int32_t> subsets.edges.symbol.size())
        for symbol, targets in row.items():
            for target in targets:
                subsets.edges.symbol.push_back(symbol)
                subsets.edges.target.push_back(target)
    subsets.edges.first.push_back(<int32_t> subsets.edges.symbol.size())
    for tag in tags:
        subsets.state_tags.push_back(tag)
    subsets.known.assign(subsets.state_tags.size(), UNKNOWN)
    for start in starts:
        subset.clear()
        for state in start:
            subset.push_back(state)
        number = subsets.number(subset)
        if number == -2:
            return None
        first.push_back(number)
    if subsets.run():
        return None
    rows = _dense(subsets.rows, subsets.members.size(), symbols)
    return rows, _listed(subsets.tags), [first[i] for i in range(<Py_ssize_t> first.size())]


def minimise(rows, tags, starts):
    """See ``automata.Automata``."""
    cdef Edges edges
    cdef vector[uint64_t] kept
    cdef Ints first
    cdef int32_t target, symbol, start
    cdef Py_ssize_t i, count = len(rows), width = len(rows[0]) if count else 0
    for row in rows:
        edges.first.push_back(<int32_t> edges.symbol.size())
        symbol = 0
        for target in row:
            if target != DEAD:
                edges.symbol.push_back(symbol)
                edges.target.push_back(target)
            symbol += 1
    edges.first.push_back(<int32_t> edges.symbol.size())
    for tag in tags:
        kept.push_back(tag)
    for start in starts:
        # An automaton without states may still say where it starts.
        first.push_back(start if start < count else DEAD)
    _minimise(edges, kept, first)
    found = _dense(edges, kept.size(), width)
    return found, _listed(kept), [first[i] for i in range(<Py_ssize_t> first.size())]


cdef void _gather(
    const int32_t[::1] source,
    const int32_t[::1] symbol,
    const int32_t[::1] target,
    Py_ssize_t states,
    Edges& edges,
) noexcept:
    """Sort edges by their sources."""
    cdef Py_ssize_t i, count = source.shape[0]
    edges.first.assign(states + 1, 0)
    edges.symbol.resize(count)
    edges.target.resize(count)
    for i in range(count):
        edges.first[source[i] + 1] += 1
    for i in range(states):
        edges.first[i + 1] += edges.first[i]
    cdef Ints at = edges.first
    for i in range(count):
        edges.symbol[at[source[i]]] = symbol[i]
        edges.target[at[source[i]]] = target[i]
        at[source[i]] += 1


def compact(
    const int32_t[::1] source,
    const int32_t[::1] symbol,
    const int32_t[::1] target,
    const int32_t[::1] free_source,
    const int32_t[::1] free_target,
    Py_ssize_t states,
    int32_t start,
    int32_t accept,
    int64_t limit,
    int64_t closure_limit,
):
    """See ``automata.Automata``."""
    cdef _Subsets subsets = _Subsets()
    cdef Py_ssize_t i
    cdef Ints first, found_source
    cdef int32_t j, number
    _gather(source, symbol, target, states, subsets.edges)
    _gather(free_source, free_source, free_target, states, subsets.free)
    subsets.has_closures = True
    subsets.stop = 0
    subsets.limit = limit
    subsets.closure_limit = closure_limit
    subsets.per_state = ELEMENTS_PER_STATE
    subsets.closures.resize(states)
    subsets.is_closed.assign(states, 0)
    subsets.entered.assign(states, 0)
    subsets.known.assign(states, UNKNOWN)
    subsets.state_tags.assign(states, 0)
    subsets.state_tags[accept] = 1
    subsets.useful.assign(states, 0)
    for i in range(states):
        subsets.useful[i] = i == accept or subsets.edges.first[i] < subsets.edges.first[i + 1]
    # All closures that some subset may need count, whether a limit stops it first or not.
    for i in range(target.shape[0]):
        if subsets.close(target[i]):
            return None
    if subsets.close(start):
        return None
    number = subsets.number(subsets.closures[start])
    if number == -2 or subsets.run():
        return None
    first.push_back(number)
    _minimise(subsets.rows, subsets.tags, first)
    for i in range(<Py_ssize_t> subsets.tags.size()):
        for j in range(subsets.rows.first[i], subsets.rows.first[i + 1]):
            found_source.push_back(<int32_t> i)
    accepting = bytes([subsets.tags[i] != 0 for i in range(<Py_ssize_t> subsets.tags.size())])
    return (
        _bytes(found_source), _bytes(subsets.rows.symbol), _bytes(subsets.rows.target), accepting
    )


cdef string _signature(const Edges& edges, const Ints& block, int32_t state) noexcept:
    """Return what tells a state from others of its block: symbols and the blocks they lead to."""
    cdef vector[uint64_t] pairs
    cdef int32_t j
    cdef string key
    for j in range(edges.first[state], edges.first[state + 1]):
        pairs.push_back(<uint64_t> edges.symbol[j] << 32 | <uint64_t> block[edges.target[j]])
    # Edges come by symbol, so they are in order already but where a symbol has several.
    if not is_sorted(pairs.begin(), pairs.end()):
        sort(pairs.begin(), pairs.end())
    pairs.erase(unique(pairs.begin(), pairs.end()), pairs.end())
    pairs.push_back(<uint64_t> block[state])
    key.assign(<const char*> pairs.data(), pairs.size() * sizeof(uint64_t))
    return key


cdef Ints _refined(const Edges& edges, Ints& block, Ints& sizes, const Ints& dirty) noexcept:
    """Split blocks by what their dirty members do; return the states that got a new block.

    States that are not dirty have no successor with a new number, so the dirty ones differ from
    them: only where a whole block is dirty its largest part keeps the number.
    """
    cdef unordered_map[string, int32_t] numbers
    cdef vector[Ints] parts
    cdef Ints counts, largest, moved
    cdef string key
    cdef Py_ssize_t i, k
    cdef int32_t b
    counts.assign(sizes.size(), 0)
    largest.assign(sizes.size(), DEAD)
    for i in range(<Py_ssize_t> dirty.size()):
        key = _signature(edges, block, dirty[i])
        if not numbers.count(key):
            numbers[key] = <int32_t> parts.size()
            parts.push_back(Ints())
        parts[numbers[key]].push_back(dirty[i])
        counts[block[dirty[i]]] += 1
    for i in range(<Py_ssize_t> parts.size()):
        b = block[parts[i][0]]
        if counts[b] == sizes[b] and (
            largest[b] == DEAD or parts[i].size() > parts[largest[b]].size()
        ):
            largest[b] = <int32_t> i
    for i in range(<Py_ssize_t> parts.size()):
        b = block[parts[i][0]]
        if largest[b] == i:
            continue
        for k in range(<Py_ssize_t> parts[i].size()):
            moved.push_back(parts[i][k])
            block[parts[i][k]] = <int32_t> sizes.size()
        sizes[b] -= <int32_t> parts[i].size()
        sizes.push_back(<int32_t> parts[i].size())
        largest.push_back(DEAD)
    return moved


def blocks(
    const int32_t[::1] source,
    const int32_t[::1] symbol,
    const int32_t[::1] target,
    accepting,
    int64_t rounds,
):
    """See ``automata.Automata``."""
    cdef Edges edges
    cdef Ints block, sizes, dirty, moved, first, index, sources
    cdef vector[uint8_t] is_dirty
    cdef Py_ssize_t count = len(accepting), i, k
    cdef int32_t state
    _gather(source, symbol, target, count, edges)
    for i in range(count):
        for k in range(edges.first[i], edges.first[i + 1]):
            sources.push_back(<int32_t> i)
    _sources(edges, count, first, index)
    sizes.assign(2, 0)
    for i in range(count):
        state = bool(accepting[i])
        block.push_back(state)
        sizes[state] += 1
        dirty.push_back(<int32_t> i)
    while rounds > 0 and dirty.size():
        rounds -= 1
        moved = _refined(edges, block, sizes, dirty)
        is_dirty.assign(count, 0)
        dirty.clear()
        for i in range(<Py_ssize_t> moved.size()):
            for k in range(first[moved[i]], first[moved[i] + 1]):
                state = sources[index[k]]
                if not is_dirty[state]:
                    is_dirty[state] = 1
                    dirty.push_back(state)
    return _by_first_state(block)


cdef list _by_first_state(const Ints& block):
    """Return blocks numbered by their first states."""
    cdef unordered_map[int32_t, int32_t] numbers
    cdef list found = []
    cdef Py_ssize_t i
    cdef int32_t number
    for i in range(<Py_ssize_t> block.size()):
        if not numbers.count(block[i]):
            number = <int32_t> numbers.size()
            numbers[block[i]] = number
        found.append(numbers[block[i]])
    return found


cdef _bytes(const Ints& values):
    return PyBytes_FromStringAndSize(
        <const char*> values.data(), values.size() * sizeof(int32_t)
    )


ELEMENTS_PER_STATE = 10
