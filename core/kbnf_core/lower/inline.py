"""Choose the nonterminals to write out where they are used, instead of calling them.

A nonterminal that is used once, or is small and regular, costs less as part of its caller: no
prediction, no completion, and the automata of neighbours melt together. The choice never changes
the language, and one nonterminal never adds more than ``SMALL_TOTAL`` states in all its copies.
"""

from collections import Counter
from collections.abc import Collection, Mapping

from kbnf_core.ir import Call, Grammar, Literal, Node, Regular, Repeat, calls, children, postorder

LARGE = 1_000
"""States beyond which nothing is written out inside another nonterminal."""

SMALL_TOTAL = 512
"""States that all copies of one nonterminal together may take."""


def choose_inlined(grammar: Grammar, reachable: frozenset[str]) -> frozenset[str]:
    """Return the reachable nonterminals that callers should hold instead of calling them."""
    uses = _count_uses(grammar, reachable)
    sizes: dict[str, int] = {}
    inlined: set[str] = set()
    flat: set[str] = set()  # calls flat nonterminals only, so it is not recursive
    for name in _callees_first(grammar):
        body = grammar.rules[name]
        sizes[name] = estimate_size(body, sizes, inlined)
        if all(call.nonterminal in flat for call in calls(body)):
            flat.add(name)
        single = uses[name] == 1 and sizes[name] <= LARGE
        small = name in flat and sizes[name] * uses[name] <= SMALL_TOTAL
        if name != grammar.start and (single or small):
            inlined.add(name)
    return frozenset(inlined)


def estimate_size(root: Node, sizes: Mapping[str, int], inlined: Collection[str]) -> int:
    """Return about how many automaton states ``root`` takes, counted repetitions unrolled."""
    values: list[int] = []
    for node in postorder(root):
        match node:
            case Literal(data):
                values.append(len(data))
            case Regular(dfa):
                values.append(dfa.state_count)
            case Call(name):
                values.append(sizes[name] if name in inlined else 1)
            case Repeat(_, low, high):
                values.append(values.pop() * max(low, high or 1, 1))
            case _:
                first = len(values) - len(children(node))
                values[first:] = [sum(values[first:]) + 1]
    return values.pop()


def _count_uses(grammar: Grammar, reachable: frozenset[str]) -> Counter[str]:
    """Count places of use; a place inside a counted repetition is more than one."""
    uses: Counter[str] = Counter()
    for name in reachable:
        body = grammar.rules[name]
        uses.update(call.nonterminal for call in calls(body))
        for node in postorder(body):
            if isinstance(node, Repeat) and max(node.low, node.high or 1) > 1:
                uses.update({call.nonterminal for call in calls(node.body)})
    return uses


def _callees_first(grammar: Grammar) -> list[str]:
    """Return the nonterminals that the start reaches, in depth-first postorder."""
    order: list[str] = []
    seen = {grammar.start}
    stack = [(grammar.start, calls(grammar.rules[grammar.start]))]
    while stack:
        name, pending = stack[-1]
        callee = next((c.nonterminal for c in pending if c.nonterminal not in seen), None)
        if callee is None:
            order.append(name)
            stack.pop()
        else:
            seen.add(callee)
            stack.append((callee, calls(grammar.rules[callee])))
    return order
