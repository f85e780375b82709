"""Plain productions: operators are rewritten into fresh nonterminals, symbols are numbers."""

from collections import defaultdict
from dataclasses import dataclass, field

from kbnf_testing import grammar as g


@dataclass
class Productions:
    """``rules[i]`` is a head and a body; ``leaves`` are the symbols that have no rules."""

    start: int = 0
    rules: list[tuple[int, tuple[int, ...]]] = field(default_factory=list)
    by_head: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    leaves: dict[int, g.Leaf] = field(default_factory=dict)


def to_productions(grammar: g.Grammar) -> Productions:
    """Rewrite ``grammar``; symbols are numbered in the order of their first use, names first."""
    writer = _Writer({name: number for number, name in enumerate(grammar.rules)})
    writer.result.start = writer.names[grammar.start]
    for name, body in grammar.rules.items():
        writer.produce(writer.names[name], [writer.symbol(body)])
    return writer.result


class _Writer:
    def __init__(self, names: dict[str, int]) -> None:
        self.names = names
        self.result = Productions()
        self._count = len(names)

    def produce(self, head: int, body: list[int]) -> None:
        self.result.by_head[head].append(len(self.result.rules))
        self.result.rules.append((head, tuple(body)))

    def symbol(self, node: g.Expression) -> int:
        """Return a symbol with the language of ``node``."""
        match node:
            case g.Reference():
                return self.names[node.name]
            case g.Regex():
                return self.symbol(node.body)
            case g.Sequence():
                return self._alternatives([[self.symbol(part) for part in node.parts]])
            case g.Choice():
                return self._alternatives([[self.symbol(part)] for part in node.branches])
            case g.Repeat():
                return self._repeat(node)
            case _:
                leaf = self._fresh()
                self.result.leaves[leaf] = node
                return leaf

    def _fresh(self) -> int:
        self._count += 1
        return self._count - 1

    def _alternatives(self, bodies: list[list[int]]) -> int:
        head = self._fresh()
        for body in bodies:
            self.produce(head, body)
        return head

    def _repeat(self, node: g.Repeat) -> int:
        body = self.symbol(node.body)
        if node.high is None:
            rest = self._fresh()
            self.produce(rest, [])
            self.produce(rest, [body, rest])
        else:
            rest = self._alternatives([[]])
            for _ in range(node.high - node.low):
                rest = self._alternatives([[], [body, rest]])
        return self._alternatives([[body] * node.low + [rest]])
