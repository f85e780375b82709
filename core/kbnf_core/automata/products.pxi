# Automata of listed words, of two automata side by side, of symbols spelt in others; counts.

cdef struct Side:
    # Successors by state and symbol of the common alphabet, and whether a word may end.
    Ints rows
    vector[uint8_t] ends


cdef int _read_side(Side& side, automaton, const uint8_t[::1] classes, Py_ssize_t width) except -1:
    """Read an automaton over the classes of a common refinement of its own."""
    cdef const uint8_t[::1] own = automaton[0]
    cdef Ints columns, cells
    cdef list row
    cdef Py_ssize_t i, at
    cdef Rows rows
    columns.assign(width, 0)
    for i in range(256):
        columns[classes[i]] = own[i]
    side.rows.reserve(len(automaton[1]) * width)
    if type(automaton[1]) is Rows:
        rows = automaton[1]
        cells.resize(rows.width)
        for at in range(rows.count):
            rows.fill(at, cells.data())
            for i in range(width):
                side.rows.push_back(cells[columns[i]])
    else:
        for row in automaton[1]:
            for i in range(width):
                side.rows.push_back(row[columns[i]])
    for end in automaton[2]:
        side.ends.push_back(end)
    return 0


cdef int64_t _follow_pairs(
    const Side& left,
    const Side& right,
    Py_ssize_t symbols,
    bint is_in_both,
    int64_t limit,
    int64_t work,
    Edges& edges,
    vector[uint64_t]& tags,
) noexcept nogil:
    """Follow all pairs, the right one of which may be DEAD; returns the steps, -1 at the limit."""
    cdef unordered_map[uint64_t, int32_t] numbers
    cdef vector[uint64_t] pairs
    cdef uint64_t key
    cdef int64_t spent = 0
    cdef int32_t here, there, to, beside
    cdef Py_ssize_t symbol, at = 0
    cdef bint ends
    pairs.push_back(<uint64_t> (0 if right.ends.empty() else 1))
    numbers[pairs[0]] = 0
    while at < <Py_ssize_t> pairs.size():
        here = <int32_t> (pairs[at] >> 32)
        there = <int32_t> (pairs[at] & <uint64_t> 0xFFFFFFFFu) - 1
        edges.first.push_back(<int32_t> edges.symbol.size())
        ends = False if there == DEAD else right.ends[there] != 0
        tags.push_back(left.ends[here] if ends == is_in_both else 0)
        spent += symbols
        if spent > work:
            return work + 1
        for symbol in range(symbols):
            to = left.rows[here * symbols + symbol]
            beside = DEAD if there == DEAD else right.rows[there * symbols + symbol]
            if to == DEAD or (is_in_both and beside == DEAD):
                continue
            key = <uint64_t> to << 32 | <uint64_t> (beside + 1)
            to = dereference(
                numbers.insert(pair[uint64_t, int32_t](key, <int32_t> pairs.size())).first
            ).second
            if to == <int32_t> pairs.size():
                pairs.push_back(key)
            edges.symbol.push_back(<int32_t> symbol)
            edges.target.push_back(to)
        if <int64_t> pairs.size() > limit:
            return -1
        at += 1
    edges.first.push_back(<int32_t> edges.symbol.size())
    return spent


def product(left, right, bint is_in_both, int64_t limit, int64_t work):
    """See ``kernel.Automata``."""
    cdef Side first, second
    cdef Edges edges
    cdef vector[uint64_t] tags
    cdef Ints starts
    cdef int64_t steps
    cdef bytes classes = join((left[0], right[0]))
    cdef Py_ssize_t symbols = max(classes) + 1
    _read_side(first, left, classes, symbols)
    _read_side(second, right, classes, symbols)
    if first.ends.empty():
        return (bytes(256), [], []), 0
    if first.ends.size() * second.ends.size() <= MANY:
        steps = _follow_pairs(first, second, symbols, is_in_both, limit, work, edges, tags)
    else:
        with nogil:
            steps = _follow_pairs(first, second, symbols, is_in_both, limit, work, edges, tags)
    if steps < 0 or steps > work:
        return None, max(steps, 0)
    starts.push_back(0)
    return _over_bytes(edges, tags, starts, classes), steps


cdef tuple _over_bytes(Edges& edges, vector[uint64_t]& tags, Ints& starts, bytes classes):
    """Return the minimal automaton of one over classes of bytes, with the coarsest classes."""
    cdef unordered_map[string, int32_t] numbers
    cdef vector[string] columns
    cdef Ints merged
    cdef Py_ssize_t state, i
    cdef int32_t pair[2]
    cdef int32_t j
    cdef uint8_t symbols[256]
    cdef const uint8_t[::1] before = classes
    _make_minimal(edges, tags, starts)
    columns.resize(max(classes) + 1)
    for state in range(<Py_ssize_t> tags.size()):
        for j in range(edges.first[state], edges.first[state + 1]):
            pair[0] = <int32_t> state
            pair[1] = edges.target[j]
            columns[edges.symbol[j]].append(<const char*> pair, sizeof(pair))
    # Numbers are those of first bytes; where columns are one, the first has the edges of all.
    merged.assign(columns.size(), <int32_t> DEAD)
    for i in range(256):
        if merged[before[i]] == DEAD:
            if not numbers.count(columns[before[i]]):
                j = <int32_t> numbers.size()
                numbers[columns[before[i]]] = j
            merged[before[i]] = numbers[columns[before[i]]]
        symbols[i] = <uint8_t> merged[before[i]]
    for i in range(<Py_ssize_t> edges.symbol.size()):
        edges.symbol[i] = merged[edges.symbol[i]]
    rows = _rows_of(edges, tags.size(), numbers.size())
    accepting = [tags[i] != 0 for i in range(<Py_ssize_t> tags.size())]
    return PyBytes_FromStringAndSize(<const char*> symbols, 256), rows, accepting


def smallest(rows, tags, int32_t start, bytes classes):
    """See ``kernel.Automata``."""
    cdef Edges edges
    cdef vector[uint64_t] kept
    cdef Ints starts
    _read_table(rows, tags, (start,), edges, kept, starts)
    return _over_bytes(edges, kept, starts, classes)


cdef struct Letters:
    # States that read a part of a symbol's text: the one after a text says which symbol.
    Edges edges
    Ints symbols


cdef void _spell_state(
    const Ints& row,
    const Letters& letters,
    Edges& nodes,
    unordered_map[string, int32_t]& numbers,
    int32_t count,
    Edges& roots,
) noexcept:
    """Add the texts of the symbols that leave a state: its edges, and the nodes after them."""
    cdef Py_ssize_t letter, last = letters.symbols.size() - 1
    cdef int32_t i
    cdef Ints targets, node
    cdef string key
    for letter in range(last + 1):
        if letters.symbols[letter] != DEAD:
            targets.push_back(row[letters.symbols[letter]])
            continue
        node.clear()
        for i in range(letters.edges.first[letter], letters.edges.first[letter + 1]):
            if targets[letters.edges.target[i]] != DEAD:
                node.push_back(letters.edges.symbol[i])
                node.push_back(targets[letters.edges.target[i]])
        if letter == last:
            _add_node(roots, node)
        elif node.empty():
            targets.push_back(DEAD)
        else:
            # Nodes with the same targets are one, of whichever state: most states leave by the same
            # characters.
            key.assign(<const char*> node.data(), node.size() * sizeof(int32_t))
            if not numbers.count(key):
                numbers[key] = count + <int32_t> nodes.first.size()
                _add_node(nodes, node)
            targets.push_back(numbers[key])


cdef void _add_node(Edges& edges, const Ints& node) noexcept:
    cdef Py_ssize_t i
    edges.first.push_back(<int32_t> edges.symbol.size())
    for i in range(0, <Py_ssize_t> node.size(), 2):
        edges.symbol.push_back(node[i])
        edges.target.push_back(node[i + 1])


def spell(rows, tags, int32_t start, bytes classes, letters, symbols, int64_t limit):
    """See ``kernel.Automata``."""
    cdef Letters read
    cdef Edges whole, nodes
    cdef unordered_map[string, int32_t] numbers
    cdef vector[uint64_t] kept
    cdef Ints row, starts
    cdef Py_ssize_t i, count = len(rows)
    cdef Rows table = None
    for edges in letters:
        read.edges.first.push_back(<int32_t> read.edges.symbol.size())
        for symbol, target in edges.items():
            read.edges.symbol.push_back(symbol)
            read.edges.target.push_back(target)
    read.edges.first.push_back(<int32_t> read.edges.symbol.size())
    for symbol in symbols:
        read.symbols.push_back(symbol)
    if type(rows) is Rows:
        table = rows
        row.resize(table.width)
    for i in range(count):
        if table is not None:
            table.fill(i, row.data())
        else:
            row = rows[i]
        _spell_state(row, read, nodes, numbers, <int32_t> count, whole)
        if count + <int64_t> nodes.first.size() > limit:
            return None
    for i in range(<Py_ssize_t> nodes.first.size()):
        whole.first.push_back(<int32_t> whole.symbol.size() + nodes.first[i])
    whole.first.push_back(<int32_t> (whole.symbol.size() + nodes.symbol.size()))
    whole.symbol.insert(whole.symbol.end(), nodes.symbol.begin(), nodes.symbol.end())
    whole.target.insert(whole.target.end(), nodes.target.begin(), nodes.target.end())
    for tag in tags:
        kept.push_back(tag)
    kept.resize(count + nodes.first.size(), 0)
    starts.push_back(start)
    return _over_bytes(whole, kept, starts, classes)


cdef struct Branch:
    # A node of a trie: the sorted words low .. high - 1 share what led to it, so many bytes.
    Py_ssize_t low
    Py_ssize_t high
    size_t depth


def literals(words, bytes classes, int64_t limit):
    """See ``kernel.Automata``."""
    cdef vector[string] texts = sorted(words)
    cdef vector[Branch] nodes
    cdef Branch here, below
    cdef Edges edges
    cdef vector[uint64_t] tags
    cdef Ints starts
    cdef Py_ssize_t at = 0
    cdef const uint8_t[::1] of_byte = classes
    cdef char byte
    below.low, below.high, below.depth = 0, <Py_ssize_t> texts.size(), 0
    nodes.push_back(below)
    while at < <Py_ssize_t> nodes.size():
        here = nodes[at]
        at += 1
        edges.first.push_back(<int32_t> edges.symbol.size())
        tags.push_back(0)
        below.low, below.depth = here.low, here.depth + 1
        while below.low < here.high:
            if texts[below.low].size() == here.depth:
                tags[at - 1] = 1
                below.low += 1
                continue
            byte = texts[below.low][here.depth]
            below.high = below.low + 1
            while below.high < here.high and texts[below.high][here.depth] == byte:
                below.high += 1
            edges.symbol.push_back(of_byte[<uint8_t> byte])
            edges.target.push_back(<int32_t> nodes.size())
            nodes.push_back(below)
            below.low = below.high
    edges.first.push_back(<int32_t> edges.symbol.size())
    starts.push_back(0)
    # The trie does not outgrow the list of words, which exists already; the limit is one for the
    # result.
    _make_minimal(edges, tags, starts)
    if <int64_t> tags.size() > limit:
        return None
    return _over_bytes(edges, tags, starts, classes)


def count(targets, shortest, longest, int64_t low, int64_t high, stops, int64_t most, int64_t work):
    """See ``kernel.Automata``."""
    cdef vector[Ints] after
    cdef Ints least, farthest
    cdef vector[uint8_t] stopped
    cdef unordered_map[uint64_t, int32_t] numbers
    cdef vector[uint64_t] states
    cdef uint64_t key
    cdef int64_t reached, there, steps = 0
    cdef int32_t state, to
    cdef Py_ssize_t at = 0, i
    cdef list rows = [], row
    after = targets
    least = shortest
    farthest = [-1 if far is None else far for far in longest]
    stopped = [state in stops for state in range(<Py_ssize_t> after.size())]
    # Counts are one more here, and 0 where they cannot matter any more.
    states.push_back(<uint64_t> _counted(0, 0, least, farthest, low, high))
    numbers[states[0]] = 0
    while at < <Py_ssize_t> states.size():
        state = <int32_t> (states[at] >> 32)
        reached = <int64_t> (states[at] & <uint64_t> 0xFFFFFFFFu)
        at += 1
        steps += 1 + after[state].size()
        if steps > work:
            return None, work + 1
        row = []
        if not stopped[state]:
            for i in range(<Py_ssize_t> after[state].size()):
                to = after[state][i]
                # Longer than the bound whatever comes: a dead end that need not be made.
                if high >= 0 and reached + least[to] > high:
                    continue
                there = _counted(to, reached, least, farthest, low, high)
                key = <uint64_t> to << 32 | <uint64_t> there
                if there == 0:
                    row.append((i, -1 - to))
                    continue
                if not numbers.count(key):
                    numbers[key] = <int32_t> states.size()
                    states.push_back(key)
                row.append((i, numbers[key]))
        rows.append(row)
        if <int64_t> states.size() > most:
            return None, steps
    counted = [(key >> 32, <int64_t> (key & <uint64_t> 0xFFFFFFFFu) - 1) for key in states]
    return (counted, rows), steps


cdef int64_t _counted(
    int32_t state,
    int64_t reached,
    const Ints& least,
    const Ints& farthest,
    int64_t low,
    int64_t high,
) noexcept:
    """Return a count, and one more; 0 where it cannot matter any more."""
    if reached + least[state] >= low and (
        high < 0 or (farthest[state] >= 0 and reached + farthest[state] <= high)
    ):
        return 0
    return reached + 1
