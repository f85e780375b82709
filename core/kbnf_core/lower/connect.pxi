# The automaton of a nonterminal, with epsilons: Thompson's construction (1968).
#
# The work is a stack of nodes with the states before and after them. An automaton that is there
# already, of a regular part or an inlined rule, is copied as columns of edges.

def edges_of(rows, const uint8_t[::1] classes, chosen):
    """Return the columns of edges one after the other; the symbols are those of ``chosen`` bytes.

    By source and symbol. Bytes have symbols in their order, each that of a class.
    """
    cdef Ints source, symbol, target, columns, after
    cdef int32_t state = 0, to
    cdef Py_ssize_t i, room, width
    cdef uint8_t byte
    cdef bytes flat
    cdef const int32_t* cells
    for byte in chosen:
        columns.push_back(classes[byte])
    room = min(len(rows), 1_000) * columns.size()
    source.reserve(room)
    symbol.reserve(room)
    target.reserve(room)
    if hasattr(rows, "flat"):
        flat = rows.flat()
        cells = <const int32_t*> <const char*> flat
        width = len(flat) // (sizeof(int32_t) * max(len(rows), 1))
        for state in range(<int32_t> len(rows)):
            for i in range(<Py_ssize_t> columns.size()):
                to = cells[state * width + columns[i]]
                if to != DEAD:
                    source.push_back(state)
                    symbol.push_back(<int32_t> i)
                    target.push_back(to)
        return _bytes(source) + _bytes(symbol) + _bytes(target)
    for row in rows:
        after.clear()
        for to in row:
            after.push_back(to)
        for i in range(<Py_ssize_t> columns.size()):
            to = after[columns[i]]
            if to != DEAD:
                source.push_back(state)
                symbol.push_back(<int32_t> i)
                target.push_back(to)
        state += 1
    return _bytes(source) + _bytes(symbol) + _bytes(target)


cdef struct Automaton:
    int32_t states
    Ints source
    Ints symbol
    Ints target
    Ints free_source
    Ints free_target


cdef void _link(Automaton& nfa, int32_t source, int32_t symbol, int32_t target) noexcept:
    nfa.source.push_back(source)
    nfa.symbol.push_back(symbol)
    nfa.target.push_back(target)


cdef void _free(Automaton& nfa, int32_t source, int32_t target) noexcept:
    nfa.free_source.push_back(source)
    nfa.free_target.push_back(target)


cdef int _copy(Automaton& nfa, fragment, int32_t begin, int32_t end) except -1:
    """Add a copy of an automaton."""
    cdef bytes edges = fragment.edges
    cdef const int32_t* source = <const int32_t*> <const char*> edges
    cdef Py_ssize_t count = len(edges) // (3 * sizeof(int32_t)), first = nfa.source.size(), i
    cdef int32_t base = nfa.states, state
    nfa.states += <int32_t> fragment.state_count
    nfa.source.insert(nfa.source.end(), source, source + count)
    nfa.symbol.insert(nfa.symbol.end(), source + count, source + 2 * count)
    nfa.target.insert(nfa.target.end(), source + 2 * count, source + 3 * count)
    for i in range(first, first + count):
        nfa.source[i] += base
        nfa.target[i] += base
    _free(nfa, begin, base)
    for state in fragment.accepting:
        _free(nfa, base + state, end)
    return 0


cdef class _Connection:
    """The automaton of one nonterminal as it grows; see ``nfa.NfaBuilder``."""

    cdef Automaton nfa
    # The nodes to connect yet, and from where to where.
    cdef list work
    cdef vector[Ends] ends
    cdef object builder, rules, facts, inlined, calls, fragments
    cdef dict automata
    cdef const uint8_t[::1] columns

    def __init__(self, builder):
        self.builder = builder
        self.rules = builder.rules
        self.facts = builder.analysis.facts
        self.inlined = builder.inlined
        self.calls = builder.alphabet.call_symbols
        self.fragments = builder.fragments
        self.automata = builder.automata
        self.columns = builder.alphabet.columns
        self.nfa.states = 2
        self.work = []

    cdef int32_t state(self):
        self.nfa.states += 1
        return self.nfa.states - 1

    cdef add(self, node, int32_t begin, int32_t end):
        self.work.append(node)
        self.ends.push_back(Ends(begin, end))

    cdef connect(self, node, int32_t begin, int32_t end):
        kind = type(node)
        if kind is _Literal:
            self.literal(node.data, begin, end)
        elif kind is _Call:
            self.call(node.nonterminal, begin, end)
        elif kind is _Sequence:
            self.sequence(node.operands, begin, end)
        elif kind is _Choice:
            for branch in <tuple> node.branches:
                self.add(branch, begin, end)
        elif kind is _Counted:
            self.count(node, begin, end)
        elif kind is _Repeat:
            self.repeat(node, begin, end)
        elif kind is _Regular:
            self.automaton(node.dfa, begin, end)
        else:
            _link(self.nfa, begin, self.builder.alphabet.of_token(node.terminal), end)

    cdef automaton(self, dfa, int32_t begin, int32_t end):
        if dfa.accepting:
            fragment = self.automata.get(id(dfa))
            if fragment is None:
                fragment = self.builder.fragment_of(dfa)
            _copy(self.nfa, fragment, begin, end)

    cdef sequence(self, tuple items, int32_t begin, int32_t end):
        cdef Py_ssize_t i, last = len(items) - 1
        cdef int32_t middle
        if last < 0:
            _free(self.nfa, begin, end)
            return
        for i in range(last):
            middle = self.state()
            self.add(items[i], begin, middle)
            begin = middle
        self.add(items[last], begin, end)

    cdef literal(self, bytes data, int32_t begin, int32_t end):
        cdef Py_ssize_t i, last = len(data) - 1
        cdef int32_t there
        if last < 0:
            _free(self.nfa, begin, end)
            return
        for i in range(last + 1):
            there = end if i == last else self.state()
            _link(self.nfa, begin, self.columns[_letters(data)[i]], there)
            begin = there

    cdef call(self, name, int32_t begin, int32_t end):
        fragment = self.fragments.get(name)
        if fragment is not None:
            _copy(self.nfa, fragment, begin, end)
            return
        if name in self.inlined:
            self.add(self.rules[name], begin, end)
            return
        facts = self.facts[name]
        if facts[0]:
            _free(self.nfa, begin, end)
        if facts[1]:
            _link(self.nfa, begin, self.calls[name], end)

    cdef repeat(self, node, int32_t begin, int32_t end):
        cdef int32_t here = begin, there
        body, high = node.body, node.high
        # Copies that can each be empty would lead on to all later ones: of n, a square of edges
        # once they are closed.
        if high is not None and type(body) is _Call and self.is_nullable(body.nonterminal):
            self.optional(body.nonterminal, high, begin, end)
            return
        for _ in range(node.low):
            there = self.state()
            self.add(body, here, there)
            here = there
        if high is None:
            # A state of its own for the loop: on ``here``, `b* | c` would read `bc` as well.
            there = self.state()
            _free(self.nfa, here, there)
            self.add(body, there, there)
            here = there
        else:
            for _ in range(high - node.low):
                _free(self.nfa, here, end)
                there = self.state()
                self.add(body, here, there)
                here = there
        _free(self.nfa, here, end)

    cdef count(self, node, int32_t begin, int32_t end):
        cdef int32_t symbol = self.builder.count_symbol((node.low, node.high))
        cdef int32_t head, last
        if node.by_byte:
            self.bytes(self.builder.fragment_of(node.body.dfa), symbol, begin, end)
            return
        head, last = self.state(), self.state()
        _link(self.nfa, begin, symbol, head)
        _link(self.nfa, last, symbol + 1, head)
        _link(self.nfa, head, symbol + 2, end)
        self.add(node.body, head, last)

    cdef bytes(self, fragment, int32_t symbol, int32_t begin, int32_t end):
        cdef bytes edges = fragment.edges
        cdef const int32_t* source = <const int32_t*> <const char*> edges
        cdef Py_ssize_t count = len(edges) // (3 * sizeof(int32_t)), i
        cdef int32_t heads = self.nfa.states, size = fragment.state_count, state
        self.nfa.states += 2 * size
        _link(self.nfa, begin, symbol, heads)
        for i in range(count):
            _link(
                self.nfa, heads + source[i], source[count + i], heads + size + source[2 * count + i]
            )
        for state in range(heads, heads + size):
            _link(self.nfa, state + size, symbol + 1, state)
            _link(self.nfa, state, symbol + 2, end)

    cdef bint is_nullable(self, name) except -1:
        return self.facts[name][0] and name not in self.inlined

    cdef optional(self, name, most, int32_t begin, int32_t end):
        cdef int32_t here = begin, there
        _free(self.nfa, begin, end)
        if not self.facts[name][1]:
            return
        for _ in range(most):
            there = self.state()
            _link(self.nfa, here, self.calls[name], there)
            _free(self.nfa, there, end)
            here = there


def connect(builder, str name):
    """Return the automaton of a nonterminal with its free edges, as ``NfaBuilder.build`` does."""
    cdef _Connection connection = _Connection(builder)
    cdef int64_t steps = 0, left = builder.budget.left, limit = builder.state_limit
    cdef int32_t before
    cdef Ends ends
    connection.add(connection.rules[name], START, ACCEPT)
    builder.budget.subject = name
    while connection.work:
        before = connection.nfa.states
        ends = connection.ends.back()
        connection.ends.pop_back()
        connection.connect(connection.work.pop(), ends.first, ends.second)
        steps += 1 + connection.nfa.states - before
        if steps > left or connection.nfa.states > limit:
            break
    builder.budget.spend(steps)
    builder.check(name, connection.nfa.states)
    return (
        connection.nfa.states,
        _bytes(connection.nfa.source),
        _bytes(connection.nfa.symbol),
        _bytes(connection.nfa.target),
        _bytes(connection.nfa.free_source),
        _bytes(connection.nfa.free_target),
    )
