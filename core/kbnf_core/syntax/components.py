"""Cycles of a graph whose nodes are names: its strong components, by Kosaraju's algorithm."""

from collections.abc import Mapping, Set


def cycles(edges: Mapping[str, Set[str]]) -> list[list[str]]:
    """Return the sets of names that reach one another, each in the order of ``edges``.

    A name alone is a cycle if it has an edge to itself. Targets that are not in ``edges`` do not
    count. Linear time, no recursion.
    """
    backward: dict[str, set[str]] = {name: set() for name in edges}
    for name, targets in edges.items():
        for target in targets & edges.keys():
            backward[target].add(name)
    place = {name: index for index, name in enumerate(edges)}
    seen: set[str] = set()
    components = [_reached(name, backward, seen) for name in reversed(_finishing_order(edges))]
    return [
        sorted(component, key=place.__getitem__)
        for component in components
        if len(component) > 1 or (component and component[0] in edges[component[0]])
    ]


def _finishing_order(edges: Mapping[str, Set[str]]) -> list[str]:
    order: list[str] = []
    seen: set[str] = set()
    for root, first in edges.items():
        stack = [(root, iter(sorted(first)))] if root not in seen else []
        seen.add(root)
        while stack:
            name, targets = stack[-1]
            target = next((t for t in targets if t in edges and t not in seen), None)
            if target is None:
                order.append(name)
                stack.pop()
            else:
                seen.add(target)
                stack.append((target, iter(sorted(edges[target]))))
    return order


def _reached(name: str, edges: Mapping[str, Set[str]], seen: set[str]) -> list[str]:
    found: list[str] = []
    pending = [name]
    while pending:
        current = pending.pop()
        if current not in seen:
            seen.add(current)
            found.append(current)
            pending.extend(edges[current])
    return found
