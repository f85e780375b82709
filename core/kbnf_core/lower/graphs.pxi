# The graphs of rules, which position automata are made of; see ``positions`` for the theory.
#
# A rule is a graph of vertices and free edges, as in Thompson's construction (1968), in which some
# vertices are occurrences of symbols. The occurrences that follow a vertex are those that free
# edges lead to depth first, the most preferred one first. The free edges of a vertex are therefore
# a chain from the latest to the first: pushed on a stack in this order, the first is on top.
#
# The rules that are passed over as empty on the way are a list which shares its beginning with
# others, so that an edge is followed in constant time: a list is a number, which stands for the
# list before its last rule, and that rule.

cdef enum:
    # No rule, vertex, edge, list or state; in a list of occurrences, the end of the rule.
    ABSENT = -1
    ENDS = -1
    # The vertices at the beginning and at the end of a rule.
    FIRST_VERTEX = 0
    LAST_VERTEX = 1
    # Steps for an empty node, which is 200 to 300 bytes.
    NODE_WORK = 10
    # A variant of a rule is a number: three times that of the rule, and one of these. The choices
    # before the empty text, those after it, and all.
    VARIANTS = 3
    BEFORE_EMPTY = 0
    AFTER_EMPTY = 1
    ALL_CHOICES = 2

cdef enum:
    # Kinds of symbols; the last one is a token that never comes.
    ONE_BYTE
    AUTOMATON
    VARIANT
    TOKEN
    NO_TOKEN

cdef struct FreeEdge:
    int32_t target
    # The rule that is passed over as empty, and the edge that was added to the vertex before.
    int32_t over
    int32_t earlier

cdef struct Occurrence:
    int32_t kind
    # A byte, a variant of a rule, or the index of an automaton or a token terminal.
    int32_t symbol
    # The vertex after it, and the number of the list of occurrences that follow.
    int32_t after
    int32_t follow

cdef struct Following:
    int32_t occurrence
    int32_t passed

cdef struct RuleGraph:
    # By vertex: its latest free edge, and the occurrence that it is.
    Ints latest
    Ints occurrence_at
    vector[FreeEdge] free
    vector[Occurrence] occurrences
    # Lists of occurrences; the last one is of those that the rule begins with.
    vector[Following] following
    Ints starts


cdef int32_t _vertex(RuleGraph* graph) noexcept:
    graph.latest.push_back(ABSENT)
    graph.occurrence_at.push_back(ABSENT)
    return <int32_t> graph.latest.size() - 1


cdef void _join(RuleGraph* graph, int32_t source, int32_t target, int32_t over = ABSENT) noexcept:
    """Add a free edge, as the last choice of its source so far."""
    graph.free.push_back(FreeEdge(target, over, graph.latest[source]))
    graph.latest[source] = <int32_t> graph.free.size() - 1


cdef class RuleGraphs:
    """The graphs of rules, with the occurrences that follow one another; see ``positions``."""

    cdef vector[RuleGraph] graphs
    # By rule: its name, the origins of its occurrences, its label, the list of the rules by which
    # it is empty, and whether that list was computed.
    cdef list names, origins
    cdef Ints labels, empty
    cdef vector[uint8_t] has_empty
    cdef dict numbers
    cdef object facts, origin
    # The automata and token terminals of occurrences, by index.
    cdef list dfas
    cdef dict dfa_numbers, terminals
    cdef size_t most
    cdef object budget
    cdef int64_t left, steps
    # By list of rules: the list before its last rule, that rule, the number of rules, and that of
    # their nodes in ``preorders``. List 0 is empty.
    cdef Ints list_before, list_rule, list_size, list_nodes
    cdef unordered_map[uint64_t, int32_t] longer
    cdef readonly list preorders
    # By variant: whether a text of it ends.
    cdef vector[uint8_t] is_productive
    # For one pass over a graph: when a vertex was reached, the vertices to follow, and whether the
    # end is reached from an occurrence.
    cdef Ints reached
    cdef int32_t time
    cdef vector[Following] pending
    cdef vector[uint8_t] is_live

    def __init__(self, list names, list bodies, facts, labels, Py_ssize_t most, budget):
        cdef int32_t rule, label
        self.names, self.facts, self.budget = names, facts, budget
        self.origin = import_module("kbnf_core.lower.positions").Origin
        self.most = most
        self.left, self.steps, self.time = budget.left, 0, 0
        self.numbers = {name: number for number, name in enumerate(names)}
        self.dfas, self.dfa_numbers, self.terminals, self.origins = [], {}, {}, []
        self.preorders = [()]
        self.list_before.push_back(ABSENT)
        self.list_rule.push_back(ABSENT)
        self.list_size.push_back(0)
        self.list_nodes.push_back(0)
        for label in labels:
            self.labels.push_back(label)
        self.graphs.resize(len(names))
        self.has_empty.assign(len(names), 0)
        self.empty.assign(len(names), ABSENT)
        self.is_productive.assign(VARIANTS * len(names), 0)
        for rule in range(<int32_t> len(names)):
            self.subject(rule)
            self.origins.append([])
            self.connect(rule, bodies[rule])
        self.find_empty()
        for rule in range(<int32_t> len(names)):
            self.subject(rule)
            self.find_follows(&self.graphs[rule])
        self.find_productive()
        self.settle()

    cdef int subject(self, int32_t rule) except -1:
        """Name the rule that is worked on."""
        self.settle()
        self.budget.subject = self.names[rule]
        return 0

    cdef int spend(self, int64_t steps) except -1:
        self.steps += steps
        if self.steps > self.left:
            self.settle()
        return 0

    cdef int settle(self) except -1:
        """Charge the budget with the steps since it was charged last."""
        steps, self.steps = self.steps, 0
        self.budget.spend(steps)
        self.left = self.budget.left
        return 0

    # Graphs.

    cdef int connect(self, int32_t rule, root) except -1:
        """Make the graph of a rule; preference is the order in which edges are added."""
        cdef RuleGraph* graph = &self.graphs[rule]
        cdef list work = [root], origins = <list> self.origins[rule]
        cdef vector[Ends] ends
        cdef int32_t begin, end, after
        begin, end = _vertex(graph), _vertex(graph)
        ends.push_back(Ends(begin, end))
        while work:
            node = work.pop()
            begin, end = ends.back().first, ends.back().second
            ends.pop_back()
            self.spend(1)
            kind = type(node)
            if kind is _Sequence:
                for item in <tuple> node.operands:
                    after = _vertex(graph)
                    work.append(item)
                    ends.push_back(Ends(begin, after))
                    begin = after
                _join(graph, begin, end)
            elif kind is _Choice:
                for branch in <tuple> node.branches:
                    after = _vertex(graph)
                    _join(graph, begin, after)
                    work.append(branch)
                    ends.push_back(Ends(after, end))
            elif kind is _Repeat:
                self.repeat(graph, node, begin, end, work, ends)
            else:
                self.leaf(graph, node, begin, end, origins)
            self.check(graph)
        return 0

    cdef int check(self, RuleGraph* graph) except -1:
        if graph.latest.size() > self.most:
            raise import_module("kbnf_core.lower.nfa").TooManyStatesError(self.budget.subject)
        return 0

    cdef int repeat(
        self, RuleGraph* graph, node, int32_t begin, int32_t end, list work, vector[Ends]& ends
    ) except -1:
        cdef int32_t first, after
        body, high = node.body, node.high
        for _ in range(node.low):
            after = _vertex(graph)
            work.append(body)
            ends.push_back(Ends(begin, after))
            begin = after
            self.check(graph)
        if high is None:
            after, first = _vertex(graph), _vertex(graph)
            _join(graph, begin, after)
            # Another round is preferred to the end.
            _join(graph, after, first)
            _join(graph, after, end)
            work.append(body)
            ends.push_back(Ends(first, after))
            return 0
        for _ in range(high - node.low):
            first, after = _vertex(graph), _vertex(graph)
            _join(graph, begin, first)
            _join(graph, begin, end)
            work.append(body)
            ends.push_back(Ends(first, after))
            begin = after
            self.check(graph)
        _join(graph, begin, end)
        return 0

    cdef int leaf(
        self, RuleGraph* graph, node, int32_t begin, int32_t end, list origins
    ) except -1:
        cdef int32_t after, number, flags
        cdef Py_ssize_t i
        cdef bytes data
        kind, span = type(node), node.span
        if kind is _Literal:
            data = node.data
            for i in range(len(data)):
                after = _vertex(graph)
                origins.append((self.origin(span, i),))
                self.occur(graph, ONE_BYTE, _letters(data)[i], begin, after)
                begin = after
            _join(graph, begin, end)
        elif kind is _Regular:
            flags = _of_automaton(node.dfa)
            if flags & FILLED:
                number = self.dfa_numbers.setdefault(id(node.dfa), len(self.dfas))
                if number == len(self.dfas):
                    self.dfas.append(node.dfa)
                origins.append((self.origin(span),))
                self.occur(graph, AUTOMATON, number, begin, end)
            if flags & NULLABLE:
                _join(graph, begin, end)
        elif kind is _Call:
            facts = self.facts[node.nonterminal]
            if not facts[0] and not facts[1]:
                return 0
            number = self.numbers[node.nonterminal]
            called = (self.origin(span, 0, node.nonterminal),)
            if facts[1]:
                origins.append(called)
                self.occur(graph, VARIANT, VARIANTS * number + BEFORE_EMPTY, begin, end)
            if facts[0]:
                _join(graph, begin, end, number)
                if facts[1]:
                    origins.append(called)
                    self.occur(graph, VARIANT, VARIANTS * number + AFTER_EMPTY, begin, end)
        else:
            is_never = node.terminal == _NEVER
            origins.append(() if is_never else (self.origin(span),))
            number = self.terminals.setdefault(node.terminal, len(self.terminals))
            self.occur(graph, NO_TOKEN if is_never else TOKEN, number, begin, end)
        return 0

    cdef void occur(
        self, RuleGraph* graph, int32_t kind, int32_t symbol, int32_t begin, int32_t end
    ) noexcept:
        """Let an occurrence lead from one vertex to another, as the last choice so far."""
        cdef int32_t vertex = _vertex(graph)
        graph.occurrence_at[vertex] = <int32_t> graph.occurrences.size()
        graph.occurrences.push_back(Occurrence(kind, symbol, end, ABSENT))
        _join(graph, begin, vertex)

    # Occurrences that follow.

    cdef int32_t extended(self, int32_t passed, int32_t rule) noexcept:
        """Return the number of a list with one more rule."""
        cdef int32_t* number = &self.longer[<uint64_t> passed << 32 | <uint64_t> rule]
        if number[0] == 0:
            number[0] = <int32_t> self.list_rule.size()
            self.list_before.push_back(passed)
            self.list_rule.push_back(rule)
            self.list_size.push_back(self.list_size[passed] + 1)
            self.list_nodes.push_back(ABSENT)
        return number[0]

    cdef int follow(
        self, RuleGraph* graph, int32_t begin, vector[Following]& following
    ) except -1:
        """Add the occurrences that follow a vertex, and the end of the rule, to a list."""
        cdef int32_t vertex, passed, edge
        cdef FreeEdge* free
        if self.reached.size() < graph.latest.size():
            self.reached.resize(graph.latest.size(), 0)
        self.time += 1
        self.pending.clear()
        self.pending.push_back(Following(begin, 0))
        while not self.pending.empty():
            vertex, passed = self.pending.back().occurrence, self.pending.back().passed
            self.pending.pop_back()
            if self.reached[vertex] == self.time:
                continue
            self.reached[vertex] = self.time
            # The rules passed over are a list for each state.
            self.spend(1 + self.list_size[passed])
            if vertex == LAST_VERTEX:
                following.push_back(Following(ENDS, passed))
            elif graph.occurrence_at[vertex] != ABSENT:
                following.push_back(Following(graph.occurrence_at[vertex], passed))
            edge = graph.latest[vertex]
            while edge != ABSENT:
                free = &graph.free[edge]
                if free.over == ABSENT:
                    self.pending.push_back(Following(free.target, passed))
                elif self.has_empty[free.over]:
                    self.pending.push_back(
                        Following(free.target, self.extended(passed, free.over))
                    )
                edge = free.earlier
        return 0

    cdef int find_empty(self) except -1:
        """Find how rules are empty: the first choice that does not need the rule itself."""
        cdef Ints missing, others
        cdef vector[Following] following
        cdef int32_t rule, index
        for rule in range(<int32_t> len(self.names)):
            if self.facts[self.names[rule]][0]:
                missing.push_back(rule)
        # In rounds, since a rule is empty by others that are empty. Each round adds one at least:
        # facts say that every rule of the list has a finite empty derivation.
        while not missing.empty():
            others.clear()
            for rule in missing:
                following.clear()
                self.follow(&self.graphs[rule], FIRST_VERTEX, following)
                for index in range(<int32_t> following.size()):
                    if following[index].occurrence == ENDS:
                        self.empty[rule], self.has_empty[rule] = following[index].passed, True
                if not self.has_empty[rule]:
                    others.push_back(rule)
            missing = others
        return 0

    cdef int find_follows(self, RuleGraph* graph) except -1:
        cdef Ints lists
        cdef size_t i
        cdef int32_t after
        lists.assign(graph.latest.size(), ABSENT)
        graph.starts.push_back(0)
        for i in range(graph.occurrences.size()):
            # Occurrences of a loop or of alternatives share their following occurrences.
            after = graph.occurrences[i].after
            if lists[after] == ABSENT:
                lists[after] = <int32_t> graph.starts.size() - 1
                self.follow(graph, after, graph.following)
                graph.starts.push_back(<int32_t> graph.following.size())
            graph.occurrences[i].follow = lists[after]
        self.follow(graph, FIRST_VERTEX, graph.following)
        graph.starts.push_back(<int32_t> graph.following.size())
        return 0

    cdef int find_productive(self) except -1:
        """Keep the occurrences from which a rule can end, and the variants that have some."""
        cdef int32_t rule, variant
        cdef bint is_changed = True
        while is_changed:
            is_changed = False
            for rule in range(<int32_t> len(self.names)):
                self.find_live(&self.graphs[rule])
                for variant in range(VARIANTS * rule, VARIANTS * (rule + 1)):
                    if not self.is_productive[variant] and self.begins_live(variant):
                        self.is_productive[variant] = True
                        is_changed = True
        for rule in range(<int32_t> len(self.names)):
            self.find_live(&self.graphs[rule])
            self.keep_live(&self.graphs[rule])
        return 0

    cdef int find_live(self, RuleGraph* graph) except -1:
        """Find the occurrences from which the end is reached, backwards from there."""
        cdef Ints latest_user, earlier_user, latest_entry, earlier_entry, list_of, pending
        cdef vector[uint8_t] is_woken
        cdef int32_t i, here, index, list_count = <int32_t> graph.starts.size() - 1
        cdef int32_t occurrence_count = <int32_t> graph.occurrences.size()
        cdef Occurrence* occurrence
        # The occurrences before a list, and the lists that an occurrence is in, as chains.
        latest_user.assign(list_count, ABSENT)
        earlier_user.assign(occurrence_count, ABSENT)
        latest_entry.assign(occurrence_count, ABSENT)
        earlier_entry.assign(graph.following.size(), ABSENT)
        list_of.assign(graph.following.size(), ABSENT)
        is_woken.assign(list_count, False)
        self.is_live.assign(occurrence_count, False)
        for i in range(occurrence_count):
            occurrence = &graph.occurrences[i]
            earlier_user[i] = latest_user[occurrence.follow]
            latest_user[occurrence.follow] = i
            # What waits for a token that never comes goes on for ever.
            if occurrence.kind == NO_TOKEN:
                self.is_live[i] = True
                pending.push_back(i)
        for i in range(list_count):
            for index in range(graph.starts[i], graph.starts[i + 1]):
                here = graph.following[index].occurrence
                list_of[index] = i
                if here == ENDS:
                    is_woken[i] = True
                    self.wake(graph, latest_user[i], earlier_user, pending)
                else:
                    earlier_entry[index] = latest_entry[here]
                    latest_entry[here] = index
        while not pending.empty():
            index = latest_entry[pending.back()]
            pending.pop_back()
            self.spend(1)
            while index != ABSENT:
                i = list_of[index]
                if not is_woken[i]:
                    is_woken[i] = True
                    self.wake(graph, latest_user[i], earlier_user, pending)
                index = earlier_entry[index]
        return 0

    cdef void wake(
        self, RuleGraph* graph, int32_t user, const Ints& earlier_user, Ints& pending
    ) noexcept:
        """Note that the end is reached from a list: from the occurrences that it follows, too."""
        cdef Occurrence* occurrence
        while user != ABSENT:
            occurrence = &graph.occurrences[user]
            if not self.is_live[user] and (
                occurrence.kind != VARIANT or self.is_productive[occurrence.symbol]
            ):
                self.is_live[user] = True
                pending.push_back(user)
            user = earlier_user[user]

    cdef Ends chosen(self, int32_t variant) noexcept:
        """Return where the occurrences are that begin a variant, in the lists of its graph."""
        cdef RuleGraph* graph = &self.graphs[variant // VARIANTS]
        cdef int32_t choices = variant % VARIANTS, index
        cdef int32_t end = graph.starts.back(), begin = graph.starts[graph.starts.size() - 2]
        for index in range(begin, end):
            if graph.following[index].occurrence == ENDS:
                if choices == BEFORE_EMPTY:
                    return Ends(begin, index)
                if choices == AFTER_EMPTY:
                    return Ends(index + 1, end)
        return Ends(end, end) if choices == AFTER_EMPTY else Ends(begin, end)

    cdef bint begins_live(self, int32_t variant) noexcept:
        """Return whether the end is reached from an occurrence that begins a variant."""
        cdef RuleGraph* graph = &self.graphs[variant // VARIANTS]
        cdef Ends chosen = self.chosen(variant)
        cdef int32_t index, occurrence
        for index in range(chosen.first, chosen.second):
            occurrence = graph.following[index].occurrence
            if occurrence != ENDS and self.is_live[occurrence]:
                return True
        return False

    cdef void keep_live(self, RuleGraph* graph) noexcept:
        """Leave out of lists what does not reach the end."""
        cdef int32_t kept = 0, index = 0, occurrence
        cdef size_t i
        for i in range(1, graph.starts.size()):
            while index < graph.starts[i]:
                occurrence = graph.following[index].occurrence
                if occurrence == ENDS or self.is_live[occurrence]:
                    graph.following[kept] = graph.following[index]
                    kept += 1
                index += 1
            graph.starts[i] = kept
        graph.following.resize(kept)

    def variants(self):
        """Return the numbers of the variants that are called and have texts, in order."""
        return [
            number
            for number in range(<int> self.is_productive.size())
            if number % VARIANTS != ALL_CHOICES and self.is_productive[number]
        ]

    cdef int32_t preorder(self, int32_t passed) except -1:
        """Return the number of the list of nodes that some empty rules make."""
        cdef Ints labels, below, pending
        cdef int32_t rule, node
        cdef size_t i
        if self.list_nodes[passed] != ABSENT:
            return self.list_nodes[passed]
        self.put(passed, pending)
        while not pending.empty():
            rule = pending.back()
            pending.pop_back()
            self.spend(1)
            if rule < 0:
                # All below a node follows it in preorder, so its size is the distance.
                node = ~rule
                below[node] = <int32_t> labels.size() - node - 1
                continue
            if self.labels[rule] != ABSENT:
                self.spend(NODE_WORK)
                pending.push_back(~<int32_t> labels.size())
                labels.push_back(self.labels[rule])
                below.push_back(0)
            self.put(self.empty[rule], pending)
        self.list_nodes[passed] = <int32_t> len(self.preorders)
        self.preorders.append(tuple([(labels[i], below[i]) for i in range(labels.size())]))
        return self.list_nodes[passed]

    cdef void put(self, int32_t passed, Ints& pending) noexcept:
        """Put the rules of a list on a stack, the first on top."""
        while passed != 0:
            pending.push_back(self.list_rule[passed])
            passed = self.list_before[passed]

    def preorder_of(self, int32_t rule):
        """Return the nodes of the empty text of a rule."""
        return self.preorders[self.preorder(self.extended(0, rule))]
