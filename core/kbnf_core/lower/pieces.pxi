# Automata of nonterminals as columns, put into tables.

def nonterminals_in(bytes symbols, int32_t class_count, int32_t count):
    """Return the numbers of the nonterminals in a column of symbols, each once, in order."""
    cdef const int32_t* column = <const int32_t*> <const char*> symbols
    cdef vector[uint8_t] seen
    cdef Py_ssize_t i
    cdef uint32_t number
    cdef list found = []
    seen.assign(count, 0)
    for i in range(<Py_ssize_t> (len(symbols) // sizeof(int32_t))):
        # What is below the first is far above the last.
        number = <uint32_t> column[i] - <uint32_t> class_count
        if number < <uint32_t> count:
            seen[number] = 1
    for i in range(count):
        if seen[i]:
            found.append(i)
    return found


cdef void _finish_starts(Ints& starts) noexcept:
    """Let states without edges end where those before them do."""
    cdef Py_ssize_t i
    for i in range(1, <Py_ssize_t> starts.size()):
        starts[i] = max(starts[i], starts[i - 1])


def split_edges(pieces, int32_t class_count, numbers, int32_t terminals):
    """Return the columns of tables from ``entry`` to ``token_target``, but for ``classes``.

    ``numbers`` are those of the nonterminals, by symbol; ``terminals`` tells how many there are.
    """
    cdef Ints entry, edge_start, calls, call_start, call_return, nonterminals
    cdef Ints token_start, token_terminal, token_target
    cdef vector[uint8_t] accepting, call_tail
    cdef const int32_t* source
    cdef const int32_t* symbol
    cdef const int32_t* target
    # Behind each state, how many edges came so far.
    cdef int32_t* behind
    cdef int32_t* classes
    cdef int32_t* targets
    cdef bytes flags, edge_class, edge_target
    cdef int32_t base = 0, first_token, here, what, there, edges = 0
    cdef Py_ssize_t i, count, states
    cdef bint is_tail
    for number in numbers:
        nonterminals.push_back(number)
    first_token = class_count + <int32_t> nonterminals.size()
    for piece in pieces:
        flags = piece.accepting
        states = len(flags)
        entry.push_back(base)
        accepting.insert(accepting.end(), <const uint8_t*> flags, <const uint8_t*> flags + states)
        base += <int32_t> states
        symbol, count = _numbers(piece.symbol), len(piece.symbol) // sizeof(int32_t)
        for i in range(count):
            edges += symbol[i] < class_count
    edge_start.assign(base + 1, 0)
    call_start.assign(base + 1, 0)
    token_start.assign(base + 1, 0)
    # These are large: they are written where they stay.
    edge_class, edge_target = _room(edges), _room(edges)
    classes, targets = _cells(edge_class), _cells(edge_target)
    base, edges = 0, 0
    for piece in pieces:
        count = len(piece.source) // sizeof(int32_t)
        source, symbol = _numbers(piece.source), _numbers(piece.symbol)
        target = _numbers(piece.target)
        behind = edge_start.data() + base + 1
        for i in range(count):
            here, what, there = source[i], symbol[i], base + target[i]
            if what < class_count:
                classes[edges], targets[edges] = what, there
                edges += 1
                behind[here] = edges
            elif what < first_token:
                calls.push_back(nonterminals[what - class_count])
                call_return.push_back(there)
                call_start[base + here + 1] = <int32_t> calls.size()
            elif what < first_token + terminals:
                token_terminal.push_back(what - first_token)
                token_target.push_back(there)
                token_start[base + here + 1] = <int32_t> token_target.size()
        base += <int32_t> len(piece.accepting)
    _finish_starts(edge_start)
    _finish_starts(call_start)
    _finish_starts(token_start)
    for i in range(<Py_ssize_t> call_return.size()):
        there = call_return[i]
        is_tail = (
            accepting[there]
            and edge_start[there] == edge_start[there + 1]
            and call_start[there] == call_start[there + 1]
            and token_start[there] == token_start[there + 1]
        )
        call_tail.push_back(is_tail)
    return (
        _bytes(entry), _flags(accepting), _bytes(edge_start), edge_class, edge_target,
        _bytes(call_start), _bytes(calls), _bytes(call_return), _flags(call_tail),
        _bytes(token_start), _bytes(token_terminal), _bytes(token_target),
    )
