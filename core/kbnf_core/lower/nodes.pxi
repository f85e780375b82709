# Analyses of the nodes of rules: their facts, which are inlined, which are large.
#
# The parts of a body are a list, parts before wholes. So whatever is found of a node from its parts
# is found by one pass over that list with a stack of values, and without recursion.

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


def nodes_and_calls(root):
    """See ``facts``."""
    cdef list nodes = [], stack = [root], callees = []
    while stack:
        node = stack.pop()
        nodes.append(node)
        kind = type(node)
        if kind is _Sequence:
            stack.extend(node.operands)
        elif kind is _Choice:
            stack.extend(node.branches)
        elif kind is _Repeat or kind is _Counted:
            stack.append(node.body)
        elif kind is _Call:
            callees.append(node.nonterminal)
    nodes.reverse()
    callees.reverse()
    return nodes, callees


cdef int _both(const vector[int]& values, Py_ssize_t first) noexcept:
    """Return the facts of a sequence."""
    cdef Py_ssize_t i
    cdef int flags = NULLABLE
    for i in range(first, <Py_ssize_t> values.size()):
        if values[i] == 0:
            return 0
        flags = (flags & values[i] & NULLABLE) | ((flags | values[i]) & FILLED)
    return flags


cdef int _of_automaton(dfa) except -1:
    if not dfa.accepting:
        return 0
    cdef int flags = NULLABLE if dfa.accepting[0] else 0
    if dfa.state_count > 1:
        # The start leads to the others.
        return flags | FILLED
    for target in dfa.rows[0]:
        if target != DEAD:
            return flags | FILLED
    return flags


def facts_of(nodes, facts):
    """See ``facts``."""
    return _facts()[_facts_in(nodes, facts)]


cdef tuple _facts():
    """Return all facts there are, by their flags."""
    global _FACTS
    if _FACTS is None:
        table = import_module("kbnf_core.lower.facts").FACTS
        _FACTS = tuple([table[flags & NULLABLE][flags >> 1] for flags in range(4)])
    return _FACTS


cdef int _facts_in(nodes, facts) except -1:
    cdef vector[int] values
    cdef Py_ssize_t first, i
    cdef int flags
    for node in nodes:
        kind = type(node)
        first = values.size()
        if kind is _Call:
            of_call = facts[node.nonterminal]
            flags = (NULLABLE if of_call[0] else 0) | (FILLED if of_call[1] else 0)
        elif kind is _Literal:
            flags = FILLED if node.data else NULLABLE
        elif kind is _Sequence:
            first -= len(<tuple> node.operands)
            flags = _both(values, first)
        elif kind is _Choice:
            first -= len(<tuple> node.branches)
            flags = 0
            for i in range(first, <Py_ssize_t> values.size()):
                flags |= values[i]
        elif kind is _Repeat or kind is _Counted:
            first -= 1
            if node.high == 0:
                flags = NULLABLE
            else:
                flags = values[first] | (NULLABLE if node.low == 0 else 0)
        elif kind is _Regular:
            flags = _of_automaton(node.dfa)
        else:
            flags = FILLED
        values.resize(first)
        values.push_back(flags)
    return values.back()


def solve(dict nodes, dict callees, budget):
    """See ``facts``: ``ir.analysis.fixpoint``."""
    cdef dict values = {}, callers = {}
    cdef tuple facts = _facts()
    # Callees first: then all facts but those of recursive rules are final when they are first asked
    # for.
    cdef list queue = _order(callees, callees), again
    cdef set waiting = set(queue)
    cdef Py_ssize_t at = 0
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
        budget.subject = name
        budget.spend(len(<list> nodes[name]))
        value = facts[_facts_in(nodes[name], values)]
        # There are four facts, each one object: identity is equality.
        if value is not values[name]:
            values[name] = value
            for caller in callers.get(name, ()):
                if caller not in waiting:
                    waiting.add(caller)
                    queue.append(caller)
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


def large_ones(names, nodes, facts, Py_ssize_t most, states, repeated):
    """Return the rules in which something may have to be split off.

    That is a run of more than ``most`` parts that can be empty or of as many copies, an automaton
    of more than ``states``, or copies which unroll to more than ``repeated``: nothing in a rule is
    larger than the whole. See ``inline``.
    """
    cdef list large = [], body
    for name in names:
        body = nodes[name]
        # A rule that is one automaton is a nonterminal of its own already: nothing is left to split
        # off.
        if type(body[len(body) - 1]) is not _Regular and _may_split(
            body, facts, most, states, repeated
        ):
            large.append(name)
    return large


cdef bint _may_split(list nodes, facts, Py_ssize_t most, states, repeated) except -1:
    cdef bint has_copies = False
    cdef int64_t copies
    for node in nodes:
        kind = type(node)
        if kind is _Sequence:
            if len(<tuple> node.operands) > most and _may_be_empty(node.operands, facts) > most:
                return True
        elif kind is _Repeat:
            copies = max(node.low, node.high or 1)
            if copies > most:
                return True
            has_copies |= copies > 1
        elif kind is _Regular and node.dfa.state_count > states:
            return True
    return has_copies and estimate_size(nodes, {}, ()) > repeated


cdef Py_ssize_t _may_be_empty(tuple items, facts) except -1:
    """Count the parts of a sequence that can be empty, as far as a glance shows."""
    cdef Py_ssize_t count = 0
    for item in items:
        kind = type(item)
        if kind is _Call:
            count += facts[item.nonterminal].nullable
        elif kind is _Literal:
            count += not item.data
        else:
            count += kind is not _Token
    return count


def passing_on(names, nodes, facts):
    """Return the rules that may derive a call and nothing beside it, as far as a glance shows."""
    cdef set passing = set()
    cdef list body
    for name in names:
        body = nodes[name]
        root = body[len(body) - 1]
        if type(root) is not _Choice:
            if _may_pass_on(root, facts):
                passing.add(name)
            continue
        for branch in <tuple> root.branches:
            if _may_pass_on(branch, facts):
                passing.add(name)
                break
    return passing


cdef bint _may_pass_on(node, facts) except -1:
    """Return whether there may be a call in a branch with nothing beside it."""
    cdef bint is_filled = False
    kind = type(node)
    if kind is not _Sequence:
        return kind is not _Literal and kind is not _Regular and kind is not _Token
    for item in <tuple> node.operands:
        kind = type(item)
        if kind is _Literal:
            if item.data:
                return False
        elif kind is _Token or kind is _Regular and not item.dfa.is_nullable:
            return False
        elif kind is _Call and not facts[item.nonterminal].nullable:
            if is_filled:
                return False
            is_filled = True
    return True


def with_counts(names, nodes, least, many):
    """Return the rules with a repetition whose bound, or what it repeats so often, is large."""
    cdef list counted = []
    cdef int64_t bound
    for name in names:
        for node in <list> nodes[name]:
            if type(node) is _Repeat:
                bound = max(node.low, node.high or 0)
                copied = node.body.dfa if type(node.body) is _Regular else None
            elif type(node) is _Regular and node.bounded is not None:
                copied, bound = node.bounded
            else:
                continue
            if bound >= least or (copied is not None and bound * copied.state_count >= many):
                counted.append(name)
                break
    return counted


def counting_of(names, nodes):
    """Return the nonterminals that count repetitions."""
    cdef list counting = []
    for name in names:
        if _is_counting(nodes[name], True):
            counting.append(name)
    return counting


cdef bint _is_counting(list nodes, bint bytes_too) except -1:
    for node in nodes:
        if type(node) is _Counted and (bytes_too or not node.by_byte):
            return True
    return False


def estimate_size(nodes, sizes, inlined):
    """Return an estimate of a body's automaton states, counted repetitions unrolled.

    ``nodes`` are its parts, parts before wholes. A size above ``HUGE`` counts as that.
    """
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
            first -= len(<tuple> (node.operands if kind is _Sequence else node.branches))
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


def choose(order, nodes, callees, uses, start, budget):
    """Return the nonterminals to write out, callees first, but for ``start``; see ``inline``."""
    cdef dict sizes = {}, inlined = {}
    cdef set flat = set()
    cdef list body
    cdef bint is_flat
    for name in order:
        body = nodes[name]
        budget.subject = name
        budget.spend(len(body))
        size = sizes[name] = estimate_size(body, sizes, inlined)
        is_flat = flat.issuperset(callees[name])
        if is_flat:
            flat.add(name)
        # What counts bytes is complete after each of them, which costs a nonterminal more than
        # most.
        if "#" in name or name == start or _is_counting(body, False):
            continue
        times = uses.get(name, 0)
        if (times == 1 and size <= LARGE) or (
            is_flat and size * times <= SMALL_TOTAL and not _has_free_text(body)
        ):
            inlined[name] = None
    return list(inlined)


def count_uses(names, nodes, callees):
    """Count places of use; one in a repetition with a bound is as many as the copies."""
    cdef dict uses = {}
    cdef list stack
    for name in names:
        body = nodes[name]
        for node in body:
            if type(node) is _Repeat or type(node) is _Counted:
                break
        else:
            for callee in callees[name]:
                uses[callee] = uses.get(callee, 0) + 1
            continue
        stack = [(body[len(body) - 1], 1)]
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
                for inner in <tuple> (node.operands if kind is _Sequence else node.branches):
                    stack.append((inner, times))
    return uses


def leaves_of(bodies):
    """Return the contents of the leaves of some bodies, each once.

    The byte classes of automata, the bytes of literals in order, and the token terminals.
    """
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
