# Minimisation by partition refinement: one state of each block is kept.

cdef struct Partition:
    # Blocks of elements: those of block b are elements[first[b]] .. elements[end[b] - 1], and
    # the marked ones among them come first, up to middle[b].
    Ints elements
    Ints place
    Ints block
    Ints first
    Ints end
    Ints middle


cdef void _begin(Partition& p, const Ints& keys) noexcept nogil:
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


cdef void _mark(Partition& p, int32_t element, Ints& touched) noexcept nogil:
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


cdef void _split(Partition& p, Ints& touched) noexcept nogil:
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


cdef void _sources(const Edges& edges, Py_ssize_t states, Ints& first, Ints& index) noexcept nogil:
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


cdef void _blocks(const Edges& edges, const vector[uint64_t]& tags, Ints& found) noexcept nogil:
    """Find the block of each state of a trimmed automaton: equal futures, equal block.

    After Valmari, "Fast brief practical DFA minimization" (2012): edges are kept in a partition
    too, edges of one class having one symbol and leading to one block.
    """
    cdef Partition states, arrows
    cdef Ints source, first, index, touched, kinds
    cdef unordered_map[uint64_t, int32_t] numbers
    cdef Py_ssize_t count = tags.size(), i, b = 1, c = 0, k
    cdef int32_t j
    source.reserve(edges.target.size())
    kinds.reserve(count)
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
) noexcept nogil:
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
    source.reserve(edges.target.size())
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


cdef void _keep(Edges& edges, vector[uint64_t]& tags, Ints& starts, const Ints& numbers) noexcept nogil:
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
    kept.first.reserve(one_of.size() + 1)
    kept_tags.reserve(one_of.size())
    kept.symbol.reserve(edges.symbol.size())
    kept.target.reserve(edges.symbol.size())
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
    edges.first.swap(kept.first)
    edges.symbol.swap(kept.symbol)
    edges.target.swap(kept.target)
    tags.swap(kept_tags)


cdef void _minimise(Edges& edges, vector[uint64_t]& tags, Ints& starts) noexcept nogil:
    """Minimise in place: trimmed, and numbered breadth first."""
    cdef vector[uint8_t] live
    cdef Ints numbers, order, blocks, one_of, of_block
    cdef Py_ssize_t i, at = 0
    cdef int32_t j, k, count = 0
    _find_live(edges, tags, starts, live)
    numbers.assign(tags.size(), DEAD)
    for i in range(<Py_ssize_t> tags.size()):
        if live[i]:
            numbers[i] = count
            count += 1
    if count < <int32_t> tags.size():
        _keep(edges, tags, starts, numbers)
    _blocks(edges, tags, blocks)
    # States of a block have the same edges, so any of them tells the order of the blocks behind.
    one_of.assign(tags.size(), DEAD)
    of_block.assign(tags.size(), DEAD)
    for i in range(<Py_ssize_t> tags.size()):
        one_of[blocks[i]] = <int32_t> i
    for i in range(<Py_ssize_t> starts.size()):
        if starts[i] != DEAD and of_block[blocks[starts[i]]] == DEAD:
            of_block[blocks[starts[i]]] = <int32_t> order.size()
            order.push_back(blocks[starts[i]])
    while at < <Py_ssize_t> order.size():
        k = one_of[order[at]]
        for j in range(edges.first[k], edges.first[k + 1]):
            if of_block[blocks[edges.target[j]]] == DEAD:
                of_block[blocks[edges.target[j]]] = <int32_t> order.size()
                order.push_back(blocks[edges.target[j]])
        at += 1
    numbers.resize(tags.size())
    for i in range(<Py_ssize_t> tags.size()):
        numbers[i] = of_block[blocks[i]]
    _keep(edges, tags, starts, numbers)
