"""Analyses of mutually recursive rules: least fixpoints, reachability, strong components.

Most properties of a nonterminal (nullable, productive, FIRST) are *least fixpoints*: each rule
computes its value from those of the rules it calls, values begin empty, and they only grow.
``fixpoint`` finds the least solution with a worklist: a rule is looked at again only when something
it calls has changed, so that the whole costs the size of the grammar, times the number of times
that one value can grow. Its values are any that only grow: flags, sets.

Reachability and strong components are questions about the graph of calls alone.

Rules come as a mapping from each name to the names that it calls, whatever trees their bodies are;
names that are called but have no rule are passed over.

Tests: tests/unit/test_analysis.py
"""

from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Mapping, Set
from typing import TypeVar

from kbnf_core.automata.traversal import cyclic_components

T = TypeVar("T", bound=Hashable)
V = TypeVar("V")


def callers_of(callees: Mapping[T, Iterable[T]]) -> Mapping[T, list[T]]:
    """Return the callers of each name, once each, in the order of ``callees``."""
    callers: defaultdict[T, list[T]] = defaultdict(list)
    for name, called in callees.items():
        for callee in dict.fromkeys(called):
            callers[callee].append(name)
    return callers


def fixpoint(
    callees: Mapping[T, Iterable[T]],
    bottom: V,
    evaluate: Callable[[T, Mapping[T, V]], V],
) -> dict[T, V]:
    """Return the least values for which ``evaluate(name, values)`` is each name's own.

    ``bottom`` is the value of every name before anything is known.
    """
    callers = callers_of(callees)
    values = dict.fromkeys(callees, bottom)
    # The values of its callees are final then, so most rules are visited once.
    queue = deque(callees_first(callees, callees))
    waiting = set(queue)
    while queue:
        name = queue.popleft()
        waiting.discard(name)
        value = evaluate(name, values)
        if value != values[name]:
            values[name] = value
            again = [caller for caller in callers.get(name, ()) if caller not in waiting]
            queue.extend(again)
            waiting.update(again)
    return values


def callees_first(roots: Iterable[T], callees: Mapping[T, Iterable[T]]) -> list[T]:
    """Return ``roots`` and every name that they lead to, in depth-first postorder."""
    order: list[T] = []
    seen: set[T] = set()
    for root in roots:
        if root in seen:
            continue
        seen.add(root)
        stack = [(root, iter(callees[root]))]
        while stack:
            name, pending = stack[-1]
            for callee in pending:
                if callee not in seen and callee in callees:
                    seen.add(callee)
                    stack.append((callee, iter(callees[callee])))
                    break
            else:
                order.append(name)
                stack.pop()
    return order


def reachable(roots: Iterable[T], callees: Mapping[T, Iterable[T]]) -> set[T]:
    """Return ``roots`` and every name that they lead to."""
    result = set(roots)
    pending = list(result)
    while pending:
        fresh = set(callees.get(pending.pop(), ())) - result
        result |= fresh
        pending.extend(fresh)
    return result


def cycles(graph: Mapping[T, Iterable[T]]) -> list[list[T]]:
    """Return the strong components with a cycle, callers first, each in the order of ``graph``."""
    position = {name: index for index, name in enumerate(graph)}
    within = {name: [t for t in targets if t in position] for name, targets in graph.items()}
    result = [sorted(members, key=position.__getitem__) for members in cyclic_components(within)]
    return result[::-1]


def last_components(graph: Mapping[str, Set[str]]) -> set[str]:
    """Return the least name of each component of a graph that leads to no other one."""
    circles = {name: members for members in cyclic_components(graph) for name in members}
    return {
        min(circles.get(name, {name}))
        for name, called in graph.items()
        if called <= circles.get(name, {name})
    }
