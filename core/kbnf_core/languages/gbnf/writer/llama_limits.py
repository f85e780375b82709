"""Writes repetitions so that llama.cpp can count them.

It refuses lower bounds above 2000, reads upper bounds above 2000 as none at all, and multiplies
nested counts: the product of a count and the rules it generates for its operand is limited, too.
A use of a rule counts for one, whatever the rule holds.
"""

from kbnf_core.automata.regex.syntax import Characters
from kbnf_core.expression import EMPTY, Repeat, postorder
from kbnf_core.languages.gbnf.writer.expression import (
    Call,
    Node,
    Rules,
    Token,
    repetition,
    rewrite,
    sequence,
)

LIMIT = 2000
_CHUNK = 1000


def keep_limits(rules: Rules) -> None:
    """Split, in place, the repetitions that are too large; operands become rules of their own."""
    for name in [*rules]:
        splitter = _Splitter(rules, name)
        rules[name] = rewrite(rules[name], splitter.split)


class _Splitter:
    """Splits the repetitions of one rule; the rules that this takes are named after it."""

    def __init__(self, rules: Rules, name: str) -> None:
        self._rules = rules
        self._name = name

    def split(self, node: Node) -> Node:
        """Return ``node`` within the limits; its parts are within them already."""
        if not isinstance(node, Repeat):
            return node
        most = node.low if node.high is None else node.high
        if most <= LIMIT and _size(node.body) * most <= LIMIT:
            return node
        item = self._as_unit(node.body)
        if most <= LIMIT:
            return repetition(item, node.low, node.high)
        optional = None if node.high is None else node.high - node.low
        tail = repetition(item, 0, None) if optional is None else self._optional(item, optional)
        return sequence([self._exactly(item, node.low), tail])

    def _as_unit(self, item: Node) -> Node:
        """Return ``item``, as a rule of its own unless it counts for one anyhow."""
        if isinstance(item, Call | Characters | Token):
            return item
        return self._rule(item, "item")

    def _rule(self, body: Node, word: str) -> Call:
        number = 1
        while (name := f"{self._name}-{word}{number}") in self._rules:
            number += 1
        self._rules[name] = body
        return Call(name)

    def _exactly(self, item: Node, count: int) -> Node:
        if count <= LIMIT:
            return repetition(item, count, count)
        chunk = self._rule(repetition(item, _CHUNK, _CHUNK), "many")
        chunks = self._exactly(chunk, count // _CHUNK)
        return sequence([chunks, repetition(item, count % _CHUNK, count % _CHUNK)])

    def _optional(self, item: Node, count: int) -> Node:
        """Return up to ``count`` items: as many full chunks as there are, and up to one more."""
        if count <= LIMIT:
            return repetition(item, 0, count)
        chunk = self._rule(repetition(item, 0, _CHUNK), "some")
        rest = count % _CHUNK
        chunks = self._exactly(chunk, count // _CHUNK)
        return sequence([chunks, repetition(item, 0, rest) if rest else EMPTY])


def _size(node: Node) -> int:
    """Return how many generated rules llama.cpp counts for an operand."""
    if isinstance(node, Repeat):
        return _size_of_count(node)
    generated = sum(_optional_copies(part) for part in postorder(node))
    return max(1, generated)


def _size_of_count(node: Repeat[Node]) -> int:
    copies = max(node.low if node.high is None else node.high, 1)
    return copies * max(1, sum(_optional_copies(part) for part in postorder(node.body)))


def _optional_copies(node: Node) -> int:
    if not isinstance(node, Repeat):
        return 0
    return 1 if node.high is None else node.high - node.low
