# Position automata: what the graphs of rules become as tables; see ``positions`` for the theory.
#
# The states of an automaton are numbered as they are reached, and its edges go straight to columns:
# nothing is a Python object but the origins of states.

cdef enum:
    # Bits of a preference below those of the first occurrence of a rule.
    FIRST_SHIFT = 32
    # Steps for an edge: 80 bytes, of which 25 are those of its columns. A state inside of "any name
    # but this one" has 45 of them, one for each class of bytes.
    EDGE_WORK = 4

cdef struct PositionEdge:
    int32_t symbol
    int32_t target
    int64_t preference
    int32_t before
    bint is_tail

cdef struct EdgeColumns:
    # Edges of one kind of symbol, of all automata.
    vector[int64_t] preference
    Ints before

cdef struct Table:
    # The automaton of an occurrence: its rows, and the column of each symbol.
    Ints cells
    Ints columns
    Py_ssize_t width
    int32_t states
    vector[uint8_t] goes_on
    vector[uint8_t] accepting


cdef bint _is_before(const PositionEdge& one, const PositionEdge& other) noexcept:
    if one.symbol != other.symbol:
        return one.symbol < other.symbol
    if one.target != other.target:
        return one.target < other.target
    return one.preference < other.preference


cdef class PositionAutomata:
    """The automata of variants of rules, made one by one, over one alphabet; see ``positions``."""

    cdef RuleGraphs graphs
    # The alphabet: symbols of bytes, of variants, and of token terminals.
    cdef bytes byte_class
    cdef int32_t class_count, first_token, never
    cdef Ints variant_symbol, token_symbol
    cdef vector[Table] tables
    # The automaton that is made: its graph, and the origins of occurrences there.
    cdef RuleGraph* graph
    cdef list origins
    # Its number of states. By occurrence, where the numbers of its states begin in the next column;
    # the state of the end of the rule; the states with empty nodes before them.
    cdef int32_t count, end_number
    cdef Ints bases, inner_numbers
    cdef unordered_map[uint64_t, int32_t] arriving_numbers
    # By state but the entry: its occurrence, and the state inside of the automaton there.
    cdef vector[Ends] queue
    cdef vector[uint8_t] accepting
    cdef vector[PositionEdge] edges
    cdef Ints source, symbol, target
    # Of all automata so far: the nodes before each state, its origins, and the edges.
    cdef Ints arrive
    cdef readonly list state_origins
    cdef EdgeColumns of_bytes, of_calls, of_tokens
    cdef vector[uint8_t] call_tail

    def __init__(self, RuleGraphs graphs, alphabet, variants):
        cdef int32_t symbol, variant, number
        self.graphs = graphs
        self.state_origins = []
        self.byte_class = alphabet.columns
        symbol = self.class_count = alphabet.class_count
        self.variant_symbol.assign(graphs.is_productive.size(), ABSENT)
        for variant in variants:
            self.variant_symbol[variant] = symbol
            symbol += 1
        self.first_token = symbol
        self.token_symbol.assign(len(graphs.terminals), ABSENT)
        self.never = ABSENT
        for terminal, number in graphs.terminals.items():
            self.token_symbol[number] = alphabet.of_token(terminal)
            if terminal == _NEVER:
                self.never = self.token_symbol[number]
        self.tables.resize(len(graphs.dfas))
        for number, dfa in enumerate(graphs.dfas):
            self.tabulate(&self.tables[number], dfa, alphabet.first_bytes)

    cdef int tabulate(self, Table* table, dfa, bytes first_bytes) except -1:
        cdef bytes classes = dfa.classes, flat
        cdef const int32_t* cells
        cdef Py_ssize_t i, state
        rows = dfa.rows
        table.states = <int32_t> len(rows)
        for i in range(len(first_bytes)):
            table.columns.push_back(_letters(classes)[_letters(first_bytes)[i]])
        if hasattr(rows, "flat"):
            flat = rows.flat()
            cells = _numbers(flat)
            table.cells.assign(cells, cells + len(flat) // sizeof(int32_t))
        else:
            for row in rows:
                for cell in row:
                    table.cells.push_back(cell)
        table.width = table.cells.size() // table.states
        for is_accepting in dfa.accepting:
            table.accepting.push_back(<bint> is_accepting)
        table.goes_on.assign(table.states, False)
        for state in range(table.states):
            for i in range(table.width):
                if table.cells[state * table.width + i] != DEAD:
                    table.goes_on[state] = True
                    break
        return 0

    def automaton(self, int32_t variant):
        """Return the columns of the automaton of a variant, whose entry is state 0.

        Those are the source, the symbol and the target of each edge, by source, symbol and target,
        and whether each state accepts; the last value is a list of the variants that are called.
        """
        cdef int32_t number = 0, before, occurrence, index
        cdef Ends chosen = self.graphs.chosen(variant)
        cdef Py_ssize_t begun = len(self.state_origins)
        cdef size_t i, first
        cdef int64_t choice = 0
        cdef dict called = {}, entry = {}
        self.begin(variant // VARIANTS)
        for index in range(chosen.first, chosen.second):
            occurrence = self.graph.following[index].occurrence
            if occurrence == ENDS:
                continue
            entry.update(dict.fromkeys(<tuple> self.origins[occurrence]))
            before = self.graphs.preorder(self.graph.following[index].passed)
            first = self.edges.size()
            self.leave(occurrence, 0)
            for i in range(first, self.edges.size()):
                self.edges[i].preference |= choice << FIRST_SHIFT
                self.edges[i].before = before
            choice += 1
        self.state_origins[begun] = tuple(entry)
        self.keep(0)
        while number < self.count:
            occurrence, index = self.queue[number].first, self.queue[number].second
            number += 1
            if occurrence == ENDS:
                continue
            self.leave(occurrence, index)
            self.keep(number)
            if self.graph.occurrences[occurrence].kind == VARIANT:
                called[self.graph.occurrences[occurrence].symbol] = None
        for index in range(chosen.first, chosen.second):
            occurrence = self.graph.following[index].occurrence
            if occurrence != ENDS and self.graph.occurrences[occurrence].kind == VARIANT:
                called[self.graph.occurrences[occurrence].symbol] = None
        self.graphs.settle()
        columns = _bytes(self.source), _bytes(self.symbol), _bytes(self.target)
        return (*columns, _flags(self.accepting), list(called))

    cdef int begin(self, int32_t rule) except -1:
        """Begin an automaton with its entry."""
        self.graphs.subject(rule)
        self.graph = &self.graphs.graphs[rule]
        self.origins = <list> self.graphs.origins[rule]
        self.count = 0
        self.end_number = 0
        self.bases.assign(self.graph.occurrences.size(), ABSENT)
        self.inner_numbers.clear()
        self.arriving_numbers.clear()
        self.queue.clear()
        self.accepting.assign(1, False)
        self.edges.clear()
        self.source.clear()
        self.symbol.clear()
        self.target.clear()
        self.arrive.push_back(0)
        self.state_origins.append(())
        return 0

    cdef int32_t state(self, int32_t occurrence, int32_t inner, int32_t arrive) except -1:
        """Return the state of an occurrence that comes next, ``arrive`` being the nodes before it.

        Of an automaton it is one for each of its states, ``inner``.
        """
        cdef int32_t* number
        cdef Occurrence* here
        if arrive != 0:
            number = &self.arriving_numbers[<uint64_t> (occurrence + 1) << 32 | <uint64_t> arrive]
        elif occurrence == ENDS:
            number = &self.end_number
        else:
            if self.bases[occurrence] == ABSENT:
                self.bases[occurrence] = <int32_t> self.inner_numbers.size()
                here = &self.graph.occurrences[occurrence]
                self.inner_numbers.resize(
                    self.inner_numbers.size()
                    + (self.tables[here.symbol].states if here.kind == AUTOMATON else 1),
                    0,
                )
            number = &self.inner_numbers[self.bases[occurrence] + inner]
        if number[0] == 0:
            self.count += 1
            number[0] = self.count
            self.queue.push_back(Ends(occurrence, inner))
            self.accepting.push_back(occurrence == ENDS)
            self.arrive.push_back(arrive)
            self.state_origins.append(() if occurrence == ENDS else self.origins[occurrence])
        return number[0]

    cdef int leave(self, int32_t occurrence, int32_t inner) except -1:
        """Add the edges of an occurrence to those of the state; of an automaton, of one of its."""
        cdef Occurrence* here = &self.graph.occurrences[occurrence]
        cdef Table* table
        cdef int32_t symbol, target, inside
        cdef const int32_t* row
        if here.kind != AUTOMATON:
            if here.kind == ONE_BYTE:
                symbol = _letters(self.byte_class)[here.symbol]
            elif here.kind == VARIANT:
                symbol = self.variant_symbol[here.symbol]
            else:
                symbol = self.token_symbol[here.symbol]
            return self.go_on(here.follow, symbol, 0, ABSENT)
        table = &self.tables[here.symbol]
        row = table.cells.data() + inner * table.width
        self.graphs.spend(self.class_count)
        for symbol in range(self.class_count):
            target = row[table.columns[symbol]]
            if target == DEAD:
                continue
            inside = ABSENT
            if table.goes_on[target]:
                inside = self.state(occurrence, target, 0)
                self.edges.push_back(PositionEdge(symbol, inside, 0, 0, False))
            if table.accepting[target]:
                self.go_on(here.follow, symbol, 1, inside)
        return 0

    cdef int go_on(
        self, int32_t follow, int32_t symbol, int32_t preference, int32_t inside
    ) except -1:
        """Add the edges to the occurrences of a list; the one to ``inside`` is there already."""
        cdef int32_t begin = self.graph.starts[follow], end = self.graph.starts[follow + 1], index
        cdef int32_t arrive, number
        cdef Following following
        cdef size_t at = self.edges.size() - 1
        cdef bint is_tail
        self.graphs.spend(<int64_t> EDGE_WORK * (end - begin))
        for index in range(begin, end):
            following = self.graph.following[index]
            arrive = self.graphs.preorder(following.passed)
            number = self.state(following.occurrence, 0, arrive)
            is_tail = end - begin == 1 and following.occurrence == ENDS and arrive == 0
            if number == inside:
                self.edges[at] = PositionEdge(symbol, number, preference, 0, is_tail)
            else:
                self.edges.push_back(PositionEdge(symbol, number, preference, 0, is_tail))
            preference += 1
        return 0

    cdef int keep(self, int32_t state) except -1:
        """Move the edges of a state, the next one, to the columns."""
        cdef size_t i
        cdef PositionEdge* edge
        cdef int64_t count = 0
        cdef int32_t symbol = ABSENT, target = ABSENT
        sort(self.edges.begin(), self.edges.end(), &_is_before)
        for i in range(self.edges.size()):
            edge = &self.edges[i]
            # The same way through a later choice is never preferred.
            if edge.symbol == symbol and edge.target == target:
                continue
            symbol, target = edge.symbol, edge.target
            count += 1
            self.source.push_back(state)
            self.symbol.push_back(symbol)
            self.target.push_back(target)
            if symbol < self.class_count:
                _add(&self.of_bytes, edge)
            elif symbol < self.first_token:
                _add(&self.of_calls, edge)
                self.call_tail.push_back(edge.is_tail)
            elif symbol != self.never:
                _add(&self.of_tokens, edge)
        self.edges.clear()
        return self.graphs.spend(EDGE_WORK * count)

    def columns(self):
        """Return the columns of all automata so far, as ``Positions`` has them.

        Those are ``arrive``, ``before`` and ``preference``, and which calls are tail calls.
        """
        cdef EdgeColumns* columns = &self.of_bytes
        # Edges of bytes are before those of calls, and these before those of tokens.
        _append(columns, &self.of_calls)
        _append(columns, &self.of_tokens)
        return (
            _bytes(self.arrive),
            _bytes(columns.before),
            PyBytes_FromStringAndSize(
                <const char*> columns.preference.data(),
                columns.preference.size() * sizeof(int64_t),
            ),
            _flags(self.call_tail),
        )


cdef void _add(EdgeColumns* columns, PositionEdge* edge) noexcept:
    columns.preference.push_back(edge.preference)
    columns.before.push_back(edge.before)


cdef void _append(EdgeColumns* columns, EdgeColumns* more) noexcept:
    columns.preference.insert(
        columns.preference.end(), more.preference.begin(), more.preference.end()
    )
    columns.before.insert(columns.before.end(), more.before.begin(), more.before.end())
