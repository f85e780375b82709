# Minimisation by partition refinement: one state of each block is kept.
#
# After Hopcroft, "An n log n algorithm for minimizing states in a finite automaton" (1971): when a
# block is split its largest part keeps the number, and only the states that lead to the others are
# looked at again. The edges of a state are compared by a sum, of a number for the symbol times one
# for the block that the edge leads to. So edges of many symbols to one state are added at once, and
# a sum is brought up to date by what changed. Equal states always have equal sums. Without cycles,
# as where words have a longest one, blocks are found in one pass from the ends on. Others nearly
# never have, and in the end it is seen whether some do: then the numbers are others.

cdef struct Runs:
    # Neighbouring edges of a state that lead to one state, as most do: its source, its target, and
    # a number for its symbols. Those into state s are into[first[s]] .. into[first[s + 1] - 1].
    Ints source
    Ints target
    vector[uint64_t] weight
    Ints first
    Ints into


cdef struct Partition:
    # Those of block b are elements[first[b]] .. elements[end[b] - 1].
    Ints elements
    Ints index_of
    Ints block
    Ints first
    Ints end


ctypedef pair[int32_t, int32_t] Moved  # a state, and the block that it was in
ctypedef pair[pair[int32_t, uint64_t], int32_t] Summed  # a block, a sum, and a state with both


cdef inline uint64_t _random(uint64_t value) noexcept nogil:
    """A number that looks random (``splitmix64``)."""
    value = (value + 1) * <uint64_t> 0x9E3779B97F4A7C15ULL
    value = (value ^ (value >> 30)) * <uint64_t> 0xBF58476D1CE4E5B9ULL
    value = (value ^ (value >> 27)) * <uint64_t> 0x94D049BB133111EBULL
    return value ^ (value >> 31)


cdef inline uint64_t _factor(int32_t block) noexcept nogil:
    # The bit keeps numbers of blocks apart from those of symbols, with which they are multiplied:
    # else symbol 1 to block 2 and symbol 2 to block 1 had one product.
    return _random(<uint64_t> 1 << 63 | <uint64_t> block)


cdef void _sources(const Ints& targets, Py_ssize_t states, Ints& first, Ints& index) noexcept nogil:
    """List edges by their targets."""
    cdef Py_ssize_t i
    first.assign(states + 1, 0)
    index.resize(targets.size())
    for i in range(<Py_ssize_t> targets.size()):
        first[targets[i] + 1] += 1
    for i in range(states):
        first[i + 1] += first[i]
    cdef Ints at = first
    for i in range(<Py_ssize_t> targets.size()):
        index[at[targets[i]]] = <int32_t> i
        at[targets[i]] += 1


cdef void _find_runs(const Edges& edges, uint64_t seed, Runs& runs) noexcept nogil:
    cdef Py_ssize_t states = edges.first.size() - 1, last = -1, i
    cdef int32_t j
    runs.source.clear()
    runs.target.clear()
    runs.weight.clear()
    runs.source.reserve(2 * states)
    runs.target.reserve(2 * states)
    runs.weight.reserve(2 * states)
    for i in range(states):
        for j in range(edges.first[i], edges.first[i + 1]):
            if j == edges.first[i] or edges.target[j] != edges.target[j - 1]:
                runs.source.push_back(<int32_t> i)
                runs.target.push_back(edges.target[j])
                runs.weight.push_back(0)
                last += 1
            runs.weight[last] += _random(seed + <uint64_t> edges.symbol[j])
    _sources(runs.target, states, runs.first, runs.into)


cdef void _begin(Partition& p, Py_ssize_t count) noexcept nogil:
    """Begin with all states in one block."""
    cdef Py_ssize_t i
    p.block.assign(count, 0)
    p.first.assign(1, 0)
    p.end.assign(1, <int32_t> count)
    p.elements.clear()
    p.elements.reserve(count)
    for i in range(count):
        p.elements.push_back(<int32_t> i)
    p.index_of = p.elements


cdef void _split(
    Partition& p, const vector[Summed]& sums, Py_ssize_t i, Py_ssize_t j, vector[Moved]& moved
) noexcept nogil:
    """Split a block: by sums i .. j - 1, which are all of its states that were looked at again."""
    cdef int32_t b = sums[i].first.first
    cdef int32_t begin = p.first[b], end = p.end[b], middle = end - <int32_t> (j - i)
    cdef int32_t state, other, here, there, largest_begin = begin, largest_end = middle
    cdef Py_ssize_t k
    # Those come last, in the order of their sums; what each sum has in common is a part.
    there = end
    for k in range(j - 1, i - 1, -1):
        there -= 1
        state, other = sums[k].second, p.elements[there]
        here = p.index_of[state]
        p.elements[here], p.index_of[other] = other, here
        p.elements[there], p.index_of[state] = state, there
    here = middle
    for k in range(i, j):
        if k + 1 == j or sums[k].first.second != sums[k + 1].first.second:
            there = middle + <int32_t> (k + 1 - i)
            if there - here > largest_end - largest_begin:
                largest_begin, largest_end = here, there
            here = there
    p.first[b], p.end[b] = largest_begin, largest_end
    if begin < middle and largest_begin != begin:
        _renumber(p, begin, middle, moved)
    here = middle
    for k in range(i, j):
        if k + 1 == j or sums[k].first.second != sums[k + 1].first.second:
            there = middle + <int32_t> (k + 1 - i)
            if here != largest_begin:
                _renumber(p, here, there, moved)
            here = there


cdef void _renumber(
    Partition& p, int32_t begin, int32_t end, vector[Moved]& moved
) noexcept nogil:
    """Give a part of a block the next number."""
    cdef int32_t k, state
    for k in range(begin, end):
        state = p.elements[k]
        moved.push_back(Moved(state, p.block[state]))
        p.block[state] = <int32_t> p.first.size()
    p.first.push_back(begin)
    p.end.push_back(end)


cdef void _refine(
    const Runs& runs, const vector[uint64_t]& tags, Partition& p
) noexcept nogil:
    """Split blocks until all states of each have one sum."""
    cdef vector[uint64_t] sums
    cdef vector[Summed] looked_at
    cdef vector[Moved] moved
    cdef vector[uint8_t] is_waiting
    cdef Ints waiting = p.elements
    cdef Py_ssize_t count = tags.size(), i, j
    cdef int32_t state, k
    cdef uint64_t change
    sums.reserve(count)
    looked_at.reserve(count)
    moved.reserve(count)
    for i in range(count):
        # States with different tags have different sums from the beginning, so that tags need no
        # pass of their own.
        sums.push_back(_random(tags[i]))
    for i in range(<Py_ssize_t> runs.source.size()):
        sums[runs.source[i]] += runs.weight[i] * _factor(0)
    is_waiting.assign(count, 0)
    while not waiting.empty():
        looked_at.clear()
        for state in waiting:
            is_waiting[state] = 0
            looked_at.push_back(Summed(pair[int32_t, uint64_t](p.block[state], sums[state]), state))
        sort(looked_at.begin(), looked_at.end())
        moved.clear()
        i = 0
        while i < <Py_ssize_t> looked_at.size():
            j = i + 1
            while (
                j < <Py_ssize_t> looked_at.size()
                and looked_at[j].first.first == looked_at[i].first.first
            ):
                j += 1
            _split(p, looked_at, i, j, moved)
            i = j
        waiting.clear()
        for i in range(<Py_ssize_t> moved.size()):
            state = moved[i].first
            change = _factor(p.block[state]) - _factor(moved[i].second)
            for k in range(runs.first[state], runs.first[state + 1]):
                j = runs.into[k]
                sums[runs.source[j]] += runs.weight[j] * change
                if not is_waiting[runs.source[j]]:
                    is_waiting[runs.source[j]] = 1
                    waiting.push_back(runs.source[j])


cdef bint _merge_from_ends(
    const Runs& runs, const vector[uint64_t]& tags, Partition& p
) noexcept nogil:
    """Find the blocks of an automaton without cycles, ends first; False where it has a cycle.

    A state comes after all that it leads to, so its sum is known at once (Revuz 1992).
    """
    cdef unordered_map[uint64_t, int32_t] blocks
    cdef vector[uint64_t] sums
    cdef Ints missing, order
    cdef Py_ssize_t count = tags.size(), i, at = 0
    cdef int32_t state, block, j, k
    missing.assign(count, 0)
    for i in range(<Py_ssize_t> runs.source.size()):
        missing[runs.source[i]] += 1
    order.reserve(count)
    sums.reserve(count)
    for i in range(count):
        sums.push_back(_random(tags[i]))
        if not missing[i]:
            order.push_back(<int32_t> i)
    while at < <Py_ssize_t> order.size():
        for j in range(runs.first[order[at]], runs.first[order[at] + 1]):
            k = runs.source[runs.into[j]]
            missing[k] -= 1
            if not missing[k]:
                order.push_back(k)
        at += 1
    if <Py_ssize_t> order.size() < count:
        return False
    p.block.assign(count, 0)
    p.first.clear()
    p.elements.clear()
    blocks.reserve(count)
    for state in order:
        block = <int32_t> p.elements.size()
        block = p.block[state] = dereference(
            blocks.insert(pair[uint64_t, int32_t](sums[state], block)).first
        ).second
        if block == <int32_t> p.elements.size():
            p.first.push_back(block)
            p.elements.push_back(state)
        for j in range(runs.first[state], runs.first[state + 1]):
            sums[runs.source[runs.into[j]]] += runs.weight[runs.into[j]] * _factor(block)
    return True


cdef bint _are_alike(
    const Edges& edges, const vector[uint64_t]& tags, const Partition& p
) noexcept nogil:
    """Return whether the states of each block have the same tags, and edges to the same blocks."""
    cdef Py_ssize_t i
    cdef int32_t one, first, j, count
    for i in range(<Py_ssize_t> tags.size()):
        one = p.elements[p.first[p.block[i]]]
        first, count = edges.first[one], edges.first[one + 1] - edges.first[one]
        if tags[i] != tags[one] or edges.first[i + 1] - edges.first[i] != count:
            return False
        for j in range(count if one != i else 0):
            if (
                edges.symbol[edges.first[i] + j] != edges.symbol[first + j]
                or p.block[edges.target[edges.first[i] + j]] != p.block[edges.target[first + j]]
            ):
                return False
    return True


cdef void _find_live(
    const Runs& runs, const Edges& edges, const vector[uint64_t]& tags, const Ints& starts,
    vector[uint8_t]& live,
) noexcept nogil:
    """Find the states that a start reaches and that reach a tag."""
    cdef Ints queue
    cdef Py_ssize_t count = tags.size(), i, at = 0
    cdef int32_t j, k
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
    queue.clear()
    for i in range(count):
        if tags[i] and reached[i]:
            live[i] = 1
            queue.push_back(<int32_t> i)
    at = 0
    while at < <Py_ssize_t> queue.size():
        for j in range(runs.first[queue[at]], runs.first[queue[at] + 1]):
            k = runs.source[runs.into[j]]
            if reached[k] and not live[k]:
                live[k] = 1
                queue.push_back(k)
        at += 1


cdef void _keep(
    Edges& edges, vector[uint64_t]& tags, Ints& starts, const Ints& numbers
) noexcept nogil:
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
    cdef Runs runs
    cdef Partition blocks
    cdef vector[uint8_t] live
    cdef Ints numbers
    cdef Py_ssize_t i
    cdef int32_t count = 0
    cdef uint64_t seed = 0
    _find_runs(edges, seed, runs)
    _find_live(runs, edges, tags, starts, live)
    numbers.assign(tags.size(), DEAD)
    for i in range(<Py_ssize_t> tags.size()):
        if live[i]:
            numbers[i] = count
            count += 1
    # Edges to a state that reaches no end count in the sums, and would make their source differ
    # from a state without them.
    if count < <int32_t> tags.size():
        _keep(edges, tags, starts, numbers)
        _find_runs(edges, seed, runs)
    while True:
        if not _merge_from_ends(runs, tags, blocks):
            _begin(blocks, tags.size())
            _refine(runs, tags, blocks)
        if _are_alike(edges, tags, blocks):
            break
        # Symbols are below 2 ** 32, so that all of them get numbers that were not used before.
        seed += <uint64_t> 1 << 32
        _find_runs(edges, seed, runs)
    _number_blocks(edges, starts, blocks, numbers)
    _keep(edges, tags, starts, numbers)


cdef void _number_blocks(
    const Edges& edges, const Ints& starts, const Partition& p, Ints& numbers
) noexcept nogil:
    """Number the states by their blocks, and these breadth first."""
    cdef Ints order, of_block
    cdef Py_ssize_t i, at = 0
    cdef int32_t j, k
    # States of a block have the same edges, so any of them gives the order of the blocks after it.
    of_block.assign(p.first.size(), DEAD)
    for i in range(<Py_ssize_t> starts.size()):
        if starts[i] != DEAD and of_block[p.block[starts[i]]] == DEAD:
            of_block[p.block[starts[i]]] = <int32_t> order.size()
            order.push_back(p.block[starts[i]])
    while at < <Py_ssize_t> order.size():
        k = p.elements[p.first[order[at]]]
        for j in range(edges.first[k], edges.first[k + 1]):
            if of_block[p.block[edges.target[j]]] == DEAD:
                of_block[p.block[edges.target[j]]] = <int32_t> order.size()
                order.push_back(p.block[edges.target[j]])
        at += 1
    numbers.resize(p.block.size())
    for i in range(<Py_ssize_t> p.block.size()):
        numbers[i] = of_block[p.block[i]]


# Equivalence of states for a number of steps; see ``kernel.Automata.blocks``.

cdef string _signature(const Edges& edges, const Ints& block, int32_t state) noexcept:
    """Return the signature of a state within its block: its symbols and the blocks after them."""
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
    cdef vector[Ints] groups
    cdef Ints counts, largest, moved
    cdef string key
    cdef Py_ssize_t i, k
    cdef int32_t b
    counts.assign(sizes.size(), 0)
    largest.assign(sizes.size(), DEAD)
    for i in range(<Py_ssize_t> dirty.size()):
        key = _signature(edges, block, dirty[i])
        if not numbers.count(key):
            numbers[key] = <int32_t> groups.size()
            groups.push_back(Ints())
        groups[numbers[key]].push_back(dirty[i])
        counts[block[dirty[i]]] += 1
    for i in range(<Py_ssize_t> groups.size()):
        b = block[groups[i][0]]
        if counts[b] == sizes[b] and (
            largest[b] == DEAD or groups[i].size() > groups[largest[b]].size()
        ):
            largest[b] = <int32_t> i
    for i in range(<Py_ssize_t> groups.size()):
        b = block[groups[i][0]]
        if largest[b] == i:
            continue
        for k in range(<Py_ssize_t> groups[i].size()):
            moved.push_back(groups[i][k])
            block[groups[i][k]] = <int32_t> sizes.size()
        sizes[b] -= <int32_t> groups[i].size()
        sizes.push_back(<int32_t> groups[i].size())
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
    cdef list ordered = []
    cdef Py_ssize_t i
    cdef int32_t number
    for i in range(<Py_ssize_t> block.size()):
        if not numbers.count(block[i]):
            number = <int32_t> numbers.size()
            numbers[block[i]] = number
        ordered.append(numbers[block[i]])
    return ordered
