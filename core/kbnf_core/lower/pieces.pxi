# Automata of nonterminals as columns: put into tables, carried to other symbols, united.
#
# A union is the subset construction (Rabin & Scott 1959) from the set of all starts. A set of one
# state does what that state does: from there on the edges of its automaton are copied.

def nonterminals_in(bytes symbols, int32_t class_count, int32_t count):
    """See ``assemble``."""
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
    """See ``assemble``."""
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


def carry(
    bytes source, bytes symbol, bytes target, bytes classes, bytes calls, bytes finer
):
    """See ``parts``."""
    cdef bytes found_source, found_symbol, found_target
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
    cdef int32_t* new_sources
    cdef int32_t* new_symbols
    cdef int32_t* new_targets
    cdef Py_ssize_t i = 0, k, end, wide, at = 0, count = len(source) // sizeof(int32_t), size
    cdef int32_t here, letter, own = 0
    for k in range(256):
        own = max(own, old[k] + 1)
    if classes == finer:
        # Only calls have other numbers.
        found_symbol = _room(count)
        new_symbols = _cells(found_symbol)
        for k in range(count):
            new_symbols[k] = symbols[k] if symbols[k] < own else others[symbols[k] - own]
        return source, found_symbol, target
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
    size = count
    for k in range(count):
        if symbols[k] < own:
            size += begins[symbols[k] + 1] - begins[symbols[k]] - 1
    found_source, found_symbol, found_target = _room(size), _room(size), _room(size)
    new_sources, new_symbols = _cells(found_source), _cells(found_symbol)
    new_targets = _cells(found_target)
    to.assign(own, DEAD)
    while i < count:
        here, end, wide = sources[i], i, 0
        while end < count and sources[end] == here and symbols[end] < own:
            wide += begins[symbols[end] + 1] - begins[symbols[end]] - 1
            end += 1
        size = at
        if wide == 0:
            # First letters are in the order of their classes.
            for k in range(i, end):
                new_symbols[at], new_targets[at] = letters[begins[symbols[k]]], targets[k]
                at += 1
        elif end - i > WIDE and _is_strict(symbols, i, end):
            # To look at all letters in their order is quicker than to sort.
            for k in range(i, end):
                to[symbols[k]] = targets[k]
            for k in range(<Py_ssize_t> coarse.size()):
                if to[coarse[k]] != DEAD:
                    new_symbols[at], new_targets[at] = <int32_t> k, to[coarse[k]]
                    at += 1
            for k in range(i, end):
                to[symbols[k]] = DEAD
        else:
            row.clear()
            for k in range(i, end):
                for letter in range(begins[symbols[k]], begins[symbols[k] + 1]):
                    row.push_back(Ends(letters[letter], targets[k]))
            sort(row.begin(), row.end())
            for k in range(<Py_ssize_t> row.size()):
                new_symbols[at], new_targets[at] = row[k].first, row[k].second
                at += 1
        i = end
        while i < count and sources[i] == here:
            new_symbols[at], new_targets[at] = others[symbols[i] - own], targets[i]
            at += 1
            i += 1
        for k in range(size, at):
            new_sources[k] = here
    return found_source, found_symbol, found_target


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
    Py_ssize_t count
    const int32_t* source
    const int32_t* symbol
    const int32_t* target
    # What stands for the symbols from ``own`` on; all stand for themselves where that is ``HUGE``.
    const int32_t* calls
    int32_t own
    # Where the edges of the first states begin; of as many as were asked for.
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


cdef enum:
    NOWHERE_YET = -2
    TOGETHER = -1


cdef int _add(Union& all_, piece, bytes calls, int32_t own) except -1:
    """Put an automaton behind the others; its columns must stay alive."""
    cdef Member part
    cdef bytes flags = piece.accepting
    part.base = <int32_t> all_.is_end.size()
    part.count = len(piece.source) // sizeof(int32_t)
    part.source, part.symbol = _numbers(piece.source), _numbers(piece.symbol)
    part.target = _numbers(piece.target)
    part.calls, part.own = _numbers(calls), own if calls else HUGE
    part.first.push_back(0)
    all_.is_end.insert(
        all_.is_end.end(), <const uint8_t*> flags, <const uint8_t*> flags + len(flags)
    )
    all_.parts.push_back(part)
    return 0


cdef inline int32_t _symbol(const Member* part, Py_ssize_t edge) noexcept:
    cdef int32_t found = part.symbol[edge]
    return found if found < part.own else part.calls[found - part.own]


cdef void _find_edges(Member* part, int32_t state) noexcept:
    """Find where the edges of a state begin and end."""
    cdef int32_t at = part.first.back()
    while <int32_t> part.first.size() < state + 2:
        while at < part.count and part.source[at] < <int32_t> part.first.size():
            at += 1
        part.first.push_back(at)


cdef int32_t _set_of(Union& all_, const Ints& states) noexcept:
    """Return the number of a set; of one state that is ``ALONE`` and the state."""
    cdef int32_t fresh = <int32_t> all_.begins.size() - 1
    cdef Py_ssize_t i
    cdef string key
    if states.size() == 1:
        all_.alone[states[0]] = 0
        return ALONE + states[0]
    key.assign(<const char*> states.data(), states.size() * sizeof(int32_t))
    found = all_.numbers.find(key)
    if found != all_.numbers.end():
        return dereference(found).second
    all_.numbers[key] = fresh
    for i in range(<Py_ssize_t> states.size()):
        if all_.alone[states[i]] == NOWHERE_YET:
            all_.alone[states[i]] = TOGETHER
    all_.members.insert(all_.members.end(), states.begin(), states.end())
    all_.begins.push_back(<int32_t> all_.members.size())
    return fresh


cdef void _moves_of(Union& all_, int32_t number, vector[Ends]& moves) noexcept:
    """Collect the edges of the states of a set, by symbol and target."""
    cdef Py_ssize_t i, k, at = 0
    cdef int32_t state
    cdef Member* part
    moves.clear()
    for k in range(all_.begins[number], all_.begins[number + 1]):
        state = all_.members[k]
        # They ascend.
        while at + 1 < <Py_ssize_t> all_.parts.size() and state >= all_.parts[at + 1].base:
            at += 1
        part = &all_.parts[at]
        state -= part.base
        _find_edges(part, state)
        for i in range(part.first[state], part.first[state + 1]):
            moves.push_back(Ends(_symbol(part, i), part.base + part.target[i]))
    sort(moves.begin(), moves.end())


cdef Py_ssize_t _number_alone(Union& all_) noexcept:
    """Number, behind the sets of several, what is alone and what that leads to.

    Returns the number of their edges.
    """
    cdef Ints stack
    cdef Member* part
    cdef int32_t* alone
    cdef const int32_t* sources
    cdef const int32_t* targets
    cdef int32_t state, last, states, fresh = <int32_t> all_.begins.size() - 1
    cdef Py_ssize_t i, number, count = 0
    for number in range(<Py_ssize_t> all_.parts.size()):
        part = &all_.parts[number]
        alone = all_.alone.data() + part.base
        states = <int32_t> all_.is_end.size() - part.base
        if number + 1 < <Py_ssize_t> all_.parts.size():
            states = all_.parts[number + 1].base - part.base
        count += part.count
        sources, targets, last = part.source, part.target, -1
        for state in range(states):
            if alone[state] == TOGETHER:
                last = state
            else:
                alone[state] = 0
        # What is in a set of several may be reached alone, too.
        for i in range(part.count):
            state = targets[i]
            if state <= last and alone[state] == TOGETHER and alone[sources[i]] != TOGETHER:
                stack.push_back(state)
        while not stack.empty():
            state = stack.back()
            stack.pop_back()
            if alone[state] == TOGETHER:
                alone[state] = 0
                _find_edges(part, state)
                for i in range(part.first[state], part.first[state + 1]):
                    stack.push_back(part.target[i])
        for state in range(states):
            if alone[state] == 0:
                alone[state] = fresh
                fresh += 1
            else:
                _find_edges(part, state)
                count -= part.first[state + 1] - part.first[state]
    return count


cdef Py_ssize_t _copy_alone(
    const Member* part,
    const int32_t* numbers,
    int32_t* source,
    int32_t* symbol,
    int32_t* target,
    Py_ssize_t at,
) noexcept:
    """Write the edges of states that are alone to columns, from one place on; return the next."""
    cdef const int32_t* sources = part.source
    cdef const int32_t* symbols = part.symbol
    cdef const int32_t* targets = part.target
    cdef const int32_t* calls = part.calls
    cdef const int32_t* alone = numbers + part.base
    cdef int32_t own = part.own, here, what
    cdef Py_ssize_t i
    for i in range(part.count):
        here, what = alone[sources[i]], symbols[i]
        if here >= 0:
            source[at], target[at] = here, alone[targets[i]]
            symbol[at] = what if what < own else calls[what - own]
            at += 1
    return at


def unite(pieces, calls, int32_t own, int64_t most):
    """See ``parts``."""
    cdef Union all_
    cdef Ints source, symbol, target, after
    cdef vector[uint8_t] accepting
    cdef vector[Ends] moves
    cdef Py_ssize_t i, k, end, size
    cdef int32_t at = 0
    cdef uint8_t is_end
    cdef int32_t* columns[3]
    for piece, names in zip(pieces, calls):
        _add(all_, piece, names, own)
        after.push_back(all_.parts.back().base)
    all_.alone.assign(all_.is_end.size(), NOWHERE_YET)
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
        end = _copy_alone(&all_.parts[k], all_.alone.data(), columns[0], columns[1], columns[2], end)
    for i in range(<Py_ssize_t> all_.alone.size()):
        if all_.alone[i] >= 0:
            accepting.push_back(all_.is_end[i])
    return found[0], found[1], found[2], _flags(accepting)
