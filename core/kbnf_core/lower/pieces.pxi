# Automata of nonterminals as columns: put into tables, carried to other symbols, united.
#
# A union is the subset construction (Rabin & Scott 1959) from the set of all starts. A set of one
# state does what that state does: from there on the edges of its automaton are copied.

def nonterminals_in(bytes symbols, int32_t class_count, int32_t count):
    """See ``assemble``."""
    cdef const int32_t* column = <const int32_t*> <const char*> symbols
    cdef vector[uint8_t] seen
    cdef Py_ssize_t i
    cdef int32_t number
    cdef list found = []
    seen.assign(count, 0)
    for i in range(<Py_ssize_t> (len(symbols) // sizeof(int32_t))):
        number = column[i] - class_count
        if 0 <= number < count:
            seen[number] = 1
    for number in range(count):
        if seen[number]:
            found.append(number)
    return found


cdef _finish_starts(Ints& starts):
    """Turn counts, each one place behind its state, into where the edges of states begin."""
    cdef Py_ssize_t i
    for i in range(1, <Py_ssize_t> starts.size()):
        starts[i] += starts[i - 1]


def split_edges(pieces, int32_t class_count, numbers, int32_t terminals):
    """See ``assemble``."""
    cdef Ints entry, edge_start, calls, call_start, call_return, nonterminals
    cdef Ints token_start, token_terminal, token_target
    cdef vector[uint8_t] accepting, leaves, call_tail
    cdef const int32_t* source
    cdef const int32_t* symbol
    cdef const int32_t* target
    cdef bytes flags, edge_class, edge_target
    cdef int32_t base = 0, first_token, here, what, there
    cdef Py_ssize_t i, count, states, edges = 0
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
    leaves.assign(base, 0)
    edge_start.assign(base + 1, 0)
    call_start.assign(base + 1, 0)
    token_start.assign(base + 1, 0)
    # These are large: they are written where they stay.
    edge_class, edge_target = _room(edges), _room(edges)
    base, edges = 0, 0
    for piece in pieces:
        count = len(piece.source) // sizeof(int32_t)
        source, symbol = _numbers(piece.source), _numbers(piece.symbol)
        target = _numbers(piece.target)
        for i in range(count):
            what = symbol[i]
            if what >= first_token + terminals:
                continue
            here, there = base + source[i], base + target[i]
            leaves[here] = 1
            if what < class_count:
                edge_start[here + 1] += 1
                _cells(edge_class)[edges], _cells(edge_target)[edges] = what, there
                edges += 1
            elif what < first_token:
                call_start[here + 1] += 1
                calls.push_back(nonterminals[what - class_count])
                call_return.push_back(there)
            else:
                token_start[here + 1] += 1
                token_terminal.push_back(what - first_token)
                token_target.push_back(there)
        base += <int32_t> len(piece.accepting)
    for i in range(<Py_ssize_t> call_return.size()):
        there = call_return[i]
        is_tail = accepting[there] and not leaves[there]
        call_tail.push_back(is_tail)
    _finish_starts(edge_start)
    _finish_starts(call_start)
    _finish_starts(token_start)
    return (
        _bytes(entry), _flags(accepting), _bytes(edge_start), edge_class, edge_target,
        _bytes(call_start), _bytes(calls), _bytes(call_return), _flags(call_tail),
        _bytes(token_start), _bytes(token_terminal), _bytes(token_target),
    )


cdef void _put(Ints* columns, int32_t source, int32_t symbol, int32_t target) noexcept:
    columns[0].push_back(source)
    columns[1].push_back(symbol)
    columns[2].push_back(target)


def carry(
    bytes source, bytes symbol, bytes target, bytes classes, bytes calls, bytes finer
):
    """See ``parts``."""
    cdef Ints found[3]
    # Letters by their class: those of class c are letters[begins[c]] .. letters[begins[c + 1] - 1].
    cdef int32_t begins[257]
    cdef int32_t letters[256]
    # By letter, its class; by class, where an edge leads.
    cdef Ints coarse, to
    cdef const int32_t* others = _numbers(calls)
    cdef vector[Ends] row
    cdef const uint8_t* old = _letters(classes)
    cdef const int32_t* sources = _numbers(source)
    cdef const int32_t* symbols = _numbers(symbol)
    cdef const int32_t* targets = _numbers(target)
    cdef Py_ssize_t i = 0, k, end, wide, count = len(source) // sizeof(int32_t)
    cdef int32_t here, letter, own = 0
    cdef bytes same
    for k in range(256):
        own = max(own, old[k] + 1)
    if classes == finer:
        # Only calls have other numbers.
        same = _room(count)
        for k in range(count):
            _cells(same)[k] = symbols[k] if symbols[k] < own else others[symbols[k] - own]
        return source, same, target
    for k in range(257):
        begins[k] = 0
    for k in range(256):
        if _letters(finer)[k] == <Py_ssize_t> coarse.size():
            # The first byte of each class: they are numbered so.
            coarse.push_back(old[k])
            begins[old[k] + 1] += 1
    for k in range(256):
        begins[k + 1] += begins[k]
    to.assign(begins, begins + own)
    for k in range(<Py_ssize_t> coarse.size()):
        letters[to[coarse[k]]] = <int32_t> k
        to[coarse[k]] += 1
    for k in range(3):
        found[k].reserve(count + count // 2)
    to.assign(own, DEAD)
    while i < count:
        here, end, wide = sources[i], i, 0
        while end < count and sources[end] == here and symbols[end] < own:
            wide += begins[symbols[end] + 1] - begins[symbols[end]] - 1
            end += 1
        if wide == 0:
            # First letters are in the order of their classes.
            for k in range(i, end):
                _put(found, here, letters[begins[symbols[k]]], targets[k])
        elif end - i > WIDE and _is_strict(symbols, i, end):
            # To look at all letters in their order is quicker than to sort.
            for k in range(i, end):
                to[symbols[k]] = targets[k]
            for k in range(<Py_ssize_t> coarse.size()):
                if to[coarse[k]] != DEAD:
                    _put(found, here, <int32_t> k, to[coarse[k]])
            for k in range(i, end):
                to[symbols[k]] = DEAD
        else:
            row.clear()
            for k in range(i, end):
                for letter in range(begins[symbols[k]], begins[symbols[k] + 1]):
                    row.push_back(Ends(letters[letter], targets[k]))
            sort(row.begin(), row.end())
            for k in range(<Py_ssize_t> row.size()):
                _put(found, here, row[k].first, row[k].second)
        i = end
        while i < count and sources[i] == here:
            _put(found, here, others[symbols[i] - own], targets[i])
            i += 1
    return _bytes(found[0]), _bytes(found[1]), _bytes(found[2])


cdef bint _is_strict(const int32_t* symbols, Py_ssize_t first, Py_ssize_t end) noexcept:
    """Tell whether no two edges in a row have one symbol."""
    cdef Py_ssize_t i
    for i in range(first + 1, end):
        if symbols[i] == symbols[i - 1]:
            return False
    return True


cdef struct Member:
    # One of the automata that are united: the number of its first state, and its edges.
    int32_t base
    const int32_t* symbol
    const int32_t* target
    # Where the edges of each state begin; the last one ends there.
    Ints first


cdef struct Union:
    vector[Member] parts
    vector[uint8_t] is_end
    # By state: whether a set is it alone, and the number of that.
    Ints alone
    # By number, of sets of several: where in ``members`` they begin; the last one ends there.
    Ints begins
    Ints members
    unordered_map[string, int32_t] numbers


cdef int _add(Union& all_, piece) except -1:
    """Put an automaton behind the others; its columns must stay alive."""
    cdef Member part
    cdef bytes flags = piece.accepting
    cdef const int32_t* source = _numbers(piece.source)
    cdef Py_ssize_t states = len(flags), count = len(piece.source) // sizeof(int32_t), at = 0
    cdef int32_t state
    part.base = <int32_t> all_.is_end.size()
    part.symbol, part.target = _numbers(piece.symbol), _numbers(piece.target)
    for state in range(states):
        part.first.push_back(<int32_t> at)
        while at < count and source[at] == state:
            at += 1
    part.first.push_back(<int32_t> at)
    all_.is_end.insert(
        all_.is_end.end(), <const uint8_t*> flags, <const uint8_t*> flags + states
    )
    all_.parts.push_back(part)
    return 0


cdef int32_t _set_of(Union& all_, const Ints& states) noexcept:
    """Return the number of a set; of one state that is ``ALONE`` and the state."""
    cdef int32_t fresh = <int32_t> all_.begins.size() - 1
    cdef string key
    if states.size() == 1:
        all_.alone[states[0]] = 0
        return ALONE + states[0]
    key.assign(<const char*> states.data(), states.size() * sizeof(int32_t))
    found = all_.numbers.find(key)
    if found != all_.numbers.end():
        return dereference(found).second
    all_.numbers[key] = fresh
    all_.members.insert(all_.members.end(), states.begin(), states.end())
    all_.begins.push_back(<int32_t> all_.members.size())
    return fresh


cdef void _moves_of(Union& all_, int32_t number, vector[Ends]& moves) noexcept:
    """Collect the edges of the states of a set, by symbol and target."""
    cdef Py_ssize_t i, k, part = 0
    cdef int32_t state
    moves.clear()
    for k in range(all_.begins[number], all_.begins[number + 1]):
        state = all_.members[k]
        # They ascend.
        while part + 1 < <Py_ssize_t> all_.parts.size() and state >= all_.parts[part + 1].base:
            part += 1
        state -= all_.parts[part].base
        for i in range(all_.parts[part].first[state], all_.parts[part].first[state + 1]):
            moves.push_back(
                Ends(all_.parts[part].symbol[i], all_.parts[part].base + all_.parts[part].target[i])
            )
    sort(moves.begin(), moves.end())


cdef Py_ssize_t _number_alone(Union& all_) noexcept:
    """Number, behind the sets of several, what is alone and what that leads to.

    Returns the number of their edges.
    """
    cdef Ints stack
    cdef Member* part
    cdef int32_t state, to, fresh = <int32_t> all_.begins.size() - 1
    cdef Py_ssize_t i, number, count = 0
    for number in range(<Py_ssize_t> all_.parts.size()):
        part = &all_.parts[number]
        for state in range(<int32_t> part.first.size() - 1):
            if all_.alone[part.base + state] == 0:
                stack.push_back(state)
        while not stack.empty():
            state = stack.back()
            stack.pop_back()
            for i in range(part.first[state], part.first[state + 1]):
                to = part.target[i]
                if all_.alone[part.base + to] < 0:
                    all_.alone[part.base + to] = 0
                    stack.push_back(to)
        for state in range(<int32_t> part.first.size() - 1):
            if all_.alone[part.base + state] == 0:
                all_.alone[part.base + state] = fresh
                count += part.first[state + 1] - part.first[state]
                fresh += 1
    return count


def unite(pieces, int64_t most):
    """See ``parts``."""
    cdef Union all_
    cdef Ints source, symbol, target, after
    cdef vector[uint8_t] accepting
    cdef vector[Ends] moves
    cdef Member* part
    cdef Py_ssize_t i, k, end, size
    cdef int32_t state, at = 0
    cdef uint8_t is_end
    cdef int32_t* columns[3]
    for piece in pieces:
        _add(all_, piece)
        after.push_back(all_.parts.back().base)
    all_.alone.assign(all_.is_end.size(), -1)
    all_.begins.push_back(0)
    _set_of(all_, after)
    while at < <Py_ssize_t> all_.begins.size() - 1:
        if <int64_t> all_.members.size() > most:
            return None
        _moves_of(all_, at, moves)
        i, end = 0, moves.size()
        while i < end:
            source.push_back(at)
            symbol.push_back(moves[i].first)
            after.clear()
            while i < end and moves[i].first == symbol.back():
                if after.empty() or after.back() != moves[i].second:
                    after.push_back(moves[i].second)
                i += 1
            target.push_back(_set_of(all_, after))
        is_end = 0
        for k in range(all_.begins[at], all_.begins[at + 1]):
            is_end |= all_.is_end[all_.members[k]]
        accepting.push_back(is_end)
        at += 1
    # The columns are written where they stay: they are large.
    size = _number_alone(all_) + source.size()
    found = [_room(size) for _ in range(3)]
    for k in range(3):
        columns[k] = _cells(found[k])
    for i in range(<Py_ssize_t> source.size()):
        columns[0][i], columns[1][i] = source[i], symbol[i]
        columns[2][i] = target[i] if target[i] < ALONE else all_.alone[target[i] - ALONE]
    end = source.size()
    for k in range(<Py_ssize_t> all_.parts.size()):
        part = &all_.parts[k]
        for state in range(<int32_t> part.first.size() - 1):
            at = all_.alone[part.base + state]
            if at < 0:
                continue
            accepting.push_back(all_.is_end[part.base + state])
            for i in range(part.first[state], part.first[state + 1]):
                columns[0][end], columns[1][end] = at, part.symbol[i]
                columns[2][end] = all_.alone[part.base + part.target[i]]
                end += 1
    return found[0], found[1], found[2], _flags(accepting)
