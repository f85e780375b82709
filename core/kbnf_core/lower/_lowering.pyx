# cython: language_level=3, wraparound=False, cdivision=True
# distutils: language = c++
"""Lowering, compiled: each function is the one of the same name in a module of ``lower``.

Nodes and automata are Python's; what is compiled is the way over them, and the columns of edges.
"""

from importlib import import_module

from cpython.bytes cimport PyBytes_FromStringAndSize
from cython.operator cimport dereference
from libc.stdint cimport int32_t, int64_t, uint8_t
from libcpp.algorithm cimport is_sorted, sort
from libcpp.string cimport string
from libcpp.unordered_map cimport unordered_map
from libcpp.utility cimport pair
from libcpp.vector cimport vector

from kbnf_core.ir import (NEVER, Call, Choice, Counted, Literal, Regular, Repeat, Sequence, Token)
from kbnf_core.lower.texts import choice_of
from kbnf_core.kbnf import tree

cdef extern from *:
    """
    #include <stdlib.h>
    #if defined(__GLIBC__)
    #include <malloc.h>
    #define GIVE_BACK() malloc_trim(0)
    #else
    #define GIVE_BACK() 0
    #endif
    """
    int GIVE_BACK() nogil

ctypedef vector[int32_t] Ints
ctypedef pair[int32_t, int32_t] Ends

cdef object _NEVER = NEVER
# All facts, found when they are first needed: their module asks for this one.
cdef object _FACTS = None
cdef type _Call = Call, _Choice = Choice, _Literal = Literal, _Regular = Regular
cdef type _Counted = Counted, _Repeat = Repeat, _Sequence = Sequence, _Token = Token

cdef type _Reference = tree.Reference, _Terminal = tree.Terminal, _Repetition = tree.Repetition
cdef type _Items = tree.Sequence, _Alternation = tree.Alternation, _Bracket = tree.Bracket
cdef object _OPTIONAL = tree.BracketKind.OPTIONAL, _REPEATED = tree.BracketKind.REPEATED

cdef enum:
    NULLABLE = 1
    FILLED = 2
    DEAD = -1
    START = 0
    ACCEPT = 1
    COUNTED_COPIES = 2
    FREE_TEXT = 32
    LARGE = 1_000
    SMALL_TOTAL = 512
    HUGE = 1 << 30
    WIDE = 8
    ALONE = 0x40000000


def meaning_of(root, leaf, defined, budget):
    """See ``translate``."""
    cdef list wholes = [], stack = [root], values = []
    cdef Py_ssize_t first
    while stack:
        node = stack.pop()
        wholes.append(node)
        kind = type(node)
        if kind is _Items:
            stack.extend(node.items)
        elif kind is _Alternation:
            stack.extend(node.branches)
        elif kind is _Repetition or kind is _Bracket:
            stack.append(node.body)
    budget.spend(len(wholes))
    for node in reversed(wholes):
        kind = type(node)
        if kind is _Items:
            first = len(values) - len(<tuple> node.items)
            values[first:] = [_Sequence(tuple(values[first:]), node.span)]
        elif kind is _Alternation:
            first = len(values) - len(<tuple> node.branches)
            values[first:] = [choice_of(values[first:], node.span, budget)]
        elif kind is _Repetition:
            values.append(_Repeat(values.pop(), node.low, node.high, node.span))
        elif kind is _Bracket:
            if node.kind is _OPTIONAL:
                values.append(_Repeat(values.pop(), 0, 1, node.span))
            elif node.kind is _REPEATED:
                values.append(_Repeat(values.pop(), 0, None, node.span))
        elif kind is _Reference and node.name.value in defined:
            values.append(_Call(node.name.value, node.span))
        elif kind is _Terminal:
            values.append(_Literal(node.text.value.encode(), node.span))
        else:
            values.append(leaf(node))
    return values.pop()


def parts_of(root):
    """See ``facts``."""
    cdef list found = [], stack = [root], callees = []
    while stack:
        node = stack.pop()
        found.append(node)
        kind = type(node)
        if kind is _Sequence:
            stack.extend(node.parts)
        elif kind is _Choice:
            stack.extend(node.branches)
        elif kind is _Repeat or kind is _Counted:
            stack.append(node.body)
        elif kind is _Call:
            callees.append(node.nonterminal)
    found.reverse()
    callees.reverse()
    return found, callees


cdef int _both(const vector[int]& values, Py_ssize_t first) noexcept:
    """Return the facts of a sequence."""
    cdef Py_ssize_t i
    cdef int found = NULLABLE
    for i in range(first, <Py_ssize_t> values.size()):
        if values[i] == 0:
            return 0
        found = (found & values[i] & NULLABLE) | ((found | values[i]) & FILLED)
    return found


cdef int _of_automaton(dfa) except -1:
    if not dfa.accepting:
        return 0
    cdef int found = NULLABLE if dfa.accepting[0] else 0
    if dfa.state_count > 1:
        # The start leads to the others.
        return found | FILLED
    for target in dfa.rows[0]:
        if target != DEAD:
            return found | FILLED
    return found


def facts_of(nodes, known):
    """See ``facts``."""
    return _facts()[_facts_in(nodes, known)]


cdef tuple _facts():
    """Return all facts there are, by their flags."""
    global _FACTS
    if _FACTS is None:
        table = import_module("kbnf_core.lower.facts").FACTS
        _FACTS = tuple([table[flags & NULLABLE][flags >> 1] for flags in range(4)])
    return _FACTS


cdef int _facts_in(nodes, known) except -1:
    cdef vector[int] values
    cdef Py_ssize_t first, i
    cdef int found
    for node in nodes:
        kind = type(node)
        first = values.size()
        if kind is _Call:
            of_call = known[node.nonterminal]
            found = (NULLABLE if of_call[0] else 0) | (FILLED if of_call[1] else 0)
        elif kind is _Literal:
            found = FILLED if node.data else NULLABLE
        elif kind is _Sequence:
            first -= len(<tuple> node.parts)
            found = _both(values, first)
        elif kind is _Choice:
            first -= len(<tuple> node.branches)
            found = 0
            for i in range(first, <Py_ssize_t> values.size()):
                found |= values[i]
        elif kind is _Repeat or kind is _Counted:
            first -= 1
            if node.high == 0:
                found = NULLABLE
            else:
                found = values[first] | (NULLABLE if node.low == 0 else 0)
        elif kind is _Regular:
            found = _of_automaton(node.dfa)
        else:
            found = FILLED
        values.resize(first)
        values.push_back(found)
    return values.back()


cdef class _Spending:
    """Steps that are spent at several parts, told to the budget where they are too many or over."""

    cdef object budget, part
    cdef int64_t left, spent

    def __init__(self, budget):
        self.budget, self.part, self.left = budget, budget.part, budget.left

    cdef int spend(self, part, int64_t steps) except -1:
        self.part = part
        self.spent += steps
        if self.spent > self.left:
            self.end()
        return 0

    cdef int end(self) except -1:
        self.budget.part = self.part
        self.budget.spend(self.spent)
        return 0


def solve(dict nodes, dict callees, given, budget):
    """See ``facts``: ``ir.analysis.fixpoint``."""
    cdef dict values = dict(given), callers = {}
    cdef tuple facts = _facts()
    cdef list queue = _order(callees, callees), again
    cdef set waiting = set(queue)
    cdef Py_ssize_t at = 0
    cdef _Spending spending = _Spending(budget)
    for name, called in callees.items():
        for callee in dict.fromkeys(called):
            again = <list> callers.get(callee)
            if again is None:
                callers[callee] = [name]
            else:
                again.append(name)
    for name in callees:
        values[name] = facts[0]
    while at < len(queue):
        name = queue[at]
        at += 1
        waiting.discard(name)
        spending.spend(name, len(<list> nodes[name]))
        value = facts[_facts_in(nodes[name], values)]
        if value is not values[name]:
            values[name] = value
            for caller in callers.get(name, ()):
                if caller not in waiting:
                    waiting.add(caller)
                    queue.append(caller)
    spending.end()
    return values


def order_from(roots, callees):
    """See ``facts``."""
    return _order(roots, callees)


cdef list _order(roots, callees):
    """Return names and all that they lead to, in depth-first postorder."""
    cdef list order = [], names = [], pending = []
    cdef set seen = set()
    for root in roots:
        if root in seen:
            continue
        seen.add(root)
        names.append(root)
        pending.append(iter(callees[root]))
        while names:
            for callee in pending[len(pending) - 1]:
                if callee not in seen and callee in callees:
                    seen.add(callee)
                    names.append(callee)
                    pending.append(iter(callees[callee]))
                    break
            else:
                order.append(names.pop())
                pending.pop()
    return order


def large_ones(names, nodes, Py_ssize_t most, states):
    """See ``split``."""
    cdef list found = [], parts
    for name in names:
        parts = nodes[name]
        if type(parts[len(parts) - 1]) is not _Regular and (
            _has_long_run(parts, most) or estimate_size(parts, {}, ()) > states
        ):
            found.append(name)
    return found


cdef bint _has_long_run(list nodes, Py_ssize_t most) except -1:
    for node in nodes:
        kind = type(node)
        if kind is _Sequence:
            if len(<tuple> node.parts) > most:
                return True
        elif kind is _Repeat and max(node.low, node.high or 1) > most:
            return True
    return False


def with_counts(names, nodes, least):
    """See ``counts``."""
    cdef list found = []
    for name in names:
        for node in <list> nodes[name]:
            if type(node) is _Repeat and max(node.low, node.high or 0) >= least:
                found.append(name)
                break
    return found


def counting_of(names, nodes):
    """See ``inline``."""
    cdef list found = []
    for name in names:
        if _is_counting(nodes[name]):
            found.append(name)
    return found


cdef bint _is_counting(list nodes) except -1:
    for node in nodes:
        if type(node) is _Counted:
            return True
    return False


def estimate_size(nodes, sizes, inlined):
    """See ``inline``."""
    cdef vector[int64_t] values
    cdef Py_ssize_t first
    cdef int64_t size
    for node in nodes:
        kind = type(node)
        first = values.size()
        if kind is _Literal:
            size = len(<bytes> node.data)
        elif kind is _Regular:
            size = node.dfa.state_count
        elif kind is _Call:
            name = node.nonterminal
            size = sizes[name] if name in inlined else 1
        elif kind is _Counted:
            first -= 1
            size = values[first] * COUNTED_COPIES
        elif kind is _Repeat:
            first -= 1
            size = min(max(node.low, node.high or 1, 1) * values[first], HUGE)
        elif kind is _Token:
            size = 1
        else:
            first -= len(<tuple> (node.parts if kind is _Sequence else node.branches))
            size = 1
            for i in range(first, <Py_ssize_t> values.size()):
                size += values[i]
        values.resize(first)
        values.push_back(min(size, <int64_t> HUGE))
    return values.back()


cdef bint _is_free_text(dfa) except -1:
    """See ``inline``; what many bytes leave as it is, or nothing can, is known without cycles."""
    cdef int32_t sizes[256]
    cdef bytes classes = dfa.classes
    cdef int32_t state = 0, column, kept, leaving
    cdef bint is_wide = False
    cdef Py_ssize_t i
    for i in range(256):
        sizes[i] = 0
    for i in range(256):
        sizes[_letters(classes)[i]] += 1
    for row in dfa.rows:
        column, kept, leaving = 0, 0, 0
        for target in row:
            if <int32_t> target == state:
                kept += sizes[column]
            if <int32_t> target != DEAD:
                leaving += sizes[column]
            column += 1
        if kept >= FREE_TEXT:
            return True
        is_wide |= leaving >= FREE_TEXT
        state += 1
    return is_wide and import_module("kbnf_core.lower.inline").is_free_text(dfa)


cdef bint _has_free_text(nodes) except -1:
    for node in nodes:
        if type(node) is _Regular and _is_free_text(node.dfa):
            return True
    return False


def choose(order, nodes, callees, uses, rules, kept, budget):
    """See ``inline``."""
    cdef dict sizes = {}, inlined = {}
    cdef set flat = set()
    cdef list parts
    cdef bint is_flat
    cdef _Spending spending = _Spending(budget)
    for name in order:
        parts = nodes[name]
        spending.spend(name, len(parts))
        size = sizes[name] = estimate_size(parts, sizes, inlined)
        is_flat = flat.issuperset(callees[name])
        if is_flat:
            flat.add(name)
        if "#" in name or name in kept or _is_counting(parts):
            continue
        times = uses.get(name, 0)
        if (times == 1 and size <= LARGE and name in rules) or (
            is_flat and size * times <= SMALL_TOTAL and not _has_free_text(parts)
        ):
            inlined[name] = None
    spending.end()
    return list(inlined)


def count_uses(names, nodes, callees):
    """See ``inline``."""
    cdef dict uses = {}
    cdef list stack
    for name in names:
        found = nodes[name]
        for node in found:
            if type(node) is _Repeat or type(node) is _Counted:
                break
        else:
            for callee in callees[name]:
                uses[callee] = uses.get(callee, 0) + 1
            continue
        stack = [(found[len(found) - 1], 1)]
        while stack:
            node, times = stack.pop()
            kind = type(node)
            if kind is _Call:
                uses[node.nonterminal] = uses.get(node.nonterminal, 0) + times
            elif kind is _Counted:
                stack.append((node.body, times * COUNTED_COPIES))
            elif kind is _Repeat:
                stack.append((node.body, times * max(node.low, node.high or 1, 1)))
            elif kind is _Sequence or kind is _Choice:
                for part in <tuple> (node.parts if kind is _Sequence else node.branches):
                    stack.append((part, times))
    return uses


def leaves_of(bodies):
    """See ``assemble``."""
    cdef dict classes = {}, terminals = {}
    cdef uint8_t seen[256]
    cdef bytes data
    cdef Py_ssize_t i
    for i in range(256):
        seen[i] = 0
    for nodes in bodies:
        for node in nodes:
            kind = type(node)
            if kind is _Literal:
                data = node.data
                for i in range(len(data)):
                    seen[_letters(data)[i]] = 1
            elif kind is _Regular:
                classes[node.dfa.classes] = None
            elif kind is _Token:
                terminals[node.terminal] = None
    return list(classes), bytes([i for i in range(256) if seen[i]]), list(terminals)


cdef inline const uint8_t* _letters(bytes data) noexcept:
    return <const uint8_t*> <const char*> data


cdef bytes _bytes(const Ints& values):
    return PyBytes_FromStringAndSize(
        <const char*> values.data(), values.size() * sizeof(int32_t)
    )


def edges_of(rows, const uint8_t[::1] classes, chosen):
    """See ``nfa``."""
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
    # What is to be connected yet: a node, and from where to where.
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
            self.sequence(node.parts, begin, end)
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

    cdef sequence(self, tuple parts, int32_t begin, int32_t end):
        cdef Py_ssize_t i, last = len(parts) - 1
        cdef int32_t middle
        if last < 0:
            _free(self.nfa, begin, end)
            return
        for i in range(last):
            middle = self.state()
            self.add(parts[i], begin, middle)
            begin = middle
        self.add(parts[last], begin, end)

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
        if high is not None and type(body) is _Call and self.is_nullable(body.nonterminal):
            self.optional(body.nonterminal, high, begin, end)
            return
        for _ in range(node.low):
            there = self.state()
            self.add(body, here, there)
            here = there
        if high is None:
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
        cdef int32_t head = self.state(), last = self.state()
        _link(self.nfa, begin, symbol, head)
        _link(self.nfa, last, symbol + 1, head)
        _link(self.nfa, head, symbol + 2, end)
        self.add(node.body, head, last)

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
    """See ``nfa``."""
    cdef _Connection found = _Connection(builder)
    cdef int64_t steps = 0, left = builder.budget.left, limit = builder.state_limit
    cdef int32_t before
    cdef Ends ends
    found.add(found.rules[name], START, ACCEPT)
    builder.budget.part = name
    while found.work:
        before = found.nfa.states
        ends = found.ends.back()
        found.ends.pop_back()
        found.connect(found.work.pop(), ends.first, ends.second)
        steps += 1 + found.nfa.states - before
        if steps > left or found.nfa.states > limit:
            break
    builder.budget.spend(steps)
    builder.check(name, found.nfa.states)
    return (
        found.nfa.states,
        _bytes(found.nfa.source),
        _bytes(found.nfa.symbol),
        _bytes(found.nfa.target),
        _bytes(found.nfa.free_source),
        _bytes(found.nfa.free_target),
    )


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


cdef bytes _room(Py_ssize_t count):
    """Return room for so many numbers, to be written before anybody looks at it."""
    return PyBytes_FromStringAndSize(NULL, count * sizeof(int32_t))


cdef int32_t* _cells(bytes column) noexcept:
    return <int32_t*> <char*> column


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


cdef bytes _flags(const vector[uint8_t]& values):
    return PyBytes_FromStringAndSize(<const char*> values.data(), values.size())


cdef inline const int32_t* _numbers(bytes column) noexcept:
    return <const int32_t*> <const char*> column


cdef void _put(Ints* columns, int32_t source, int32_t symbol, int32_t target) noexcept:
    columns[0].push_back(source)
    columns[1].push_back(symbol)
    columns[2].push_back(target)


def carry(
    bytes source, bytes symbol, bytes target, const uint8_t[::1] classes, calls,
    const uint8_t[::1] finer,
):
    """See ``parts``."""
    cdef Ints found[3]
    cdef vector[Ints] letters
    # By letter, its class; by class, where an edge leads.
    cdef Ints coarse, to, others
    cdef vector[Ends] row
    cdef const int32_t* sources = _numbers(source)
    cdef const int32_t* symbols = _numbers(symbol)
    cdef const int32_t* targets = _numbers(target)
    cdef Py_ssize_t i = 0, k, end, wide, count = len(source) // sizeof(int32_t), last = -1
    cdef int32_t here, letter, own
    for k in range(256):
        if classes[k] >= letters.size():
            letters.resize(classes[k] + 1)
        if finer[k] > last:
            # The first byte of each class: they are numbered so.
            last = finer[k]
            letters[classes[k]].push_back(<int32_t> last)
            coarse.push_back(classes[k])
    own = <int32_t> letters.size()
    for call in calls:
        others.push_back(call)
    if <Py_ssize_t> coarse.size() == own:
        # The classes are the same, and so are their numbers.
        for k in range(count):
            found[1].push_back(symbols[k] if symbols[k] < own else others[symbols[k] - own])
        return source, _bytes(found[1]), target
    for k in range(3):
        found[k].reserve(count + count // 2)
    to.assign(own, DEAD)
    while i < count:
        here, end, wide = sources[i], i, 0
        while end < count and sources[end] == here and symbols[end] < own:
            wide += <Py_ssize_t> letters[symbols[end]].size() - 1
            end += 1
        if wide == 0:
            # First letters are in the order of their classes.
            for k in range(i, end):
                _put(found, here, letters[symbols[k]][0], targets[k])
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
                for letter in letters[symbols[k]]:
                    row.push_back(Ends(letter, targets[k]))
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


def give_back():
    """See ``build``."""
    with nogil:
        GIVE_BACK()
