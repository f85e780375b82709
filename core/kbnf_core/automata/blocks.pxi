# Equivalence of states for a number of steps; see ``kernel.Automata.blocks``.

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
    bytes source,
    bytes symbol,
    bytes target,
    bytes accepting,
    int64_t rounds,
):
    """See ``kernel.Automata``."""
    cdef Edges edges
    cdef Ints block, sizes, dirty, moved, first, index, sources
    cdef vector[uint8_t] is_dirty
    cdef Py_ssize_t count = len(accepting), i, k
    cdef int32_t state
    _gather(_numbers(source), _numbers(symbol), _numbers(target), _length(source), count, edges)
    for i in range(count):
        for k in range(edges.first[i], edges.first[i + 1]):
            sources.push_back(<int32_t> i)
    _sources(edges.target, count, first, index)
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
