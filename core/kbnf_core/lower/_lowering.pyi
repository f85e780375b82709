from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from kbnf_core.automata.dfa import ByteClasses
from kbnf_core.automata.kernel import Column
from kbnf_core.ir import Node, TokenTerminal
from kbnf_core.kbnf.tree import Expression, OtherLeaf
from kbnf_core.lower.counts import Loop
from kbnf_core.lower.facts import Facts
from kbnf_core.lower.nfa import Alphabet, Bounds, ClosedAutomaton, Connected, NfaBuilder
from kbnf_core.lower.positions import Origin
from kbnf_core.text.budget import Budget

Nodes = Mapping[str, list[Node]]
Callees = Mapping[str, list[str]]

def meaning_of(
    root: Expression, leaf: Callable[[OtherLeaf], Node], defined: Collection[str], budget: Budget
) -> Node: ...
def nodes_and_calls(root: Node) -> tuple[list[Node], list[str]]: ...
def facts_of(nodes: Iterable[Node], facts: Mapping[str, Facts]) -> Facts: ...
def solve(nodes: Nodes, callees: Callees, budget: Budget) -> dict[str, Facts]: ...
def order_from(roots: Iterable[str], callees: Callees) -> list[str]: ...
def large_ones(
    names: Iterable[str],
    nodes: Nodes,
    facts: Mapping[str, Facts],
    most: int,
    states: int,
    repeated: int,
) -> list[str]: ...
def passing_on(names: Iterable[str], nodes: Nodes, facts: Mapping[str, Facts]) -> set[str]: ...
def with_counts(names: Iterable[str], nodes: Nodes, least: int, many: int) -> list[str]: ...
def counting_of(names: Iterable[str], nodes: Nodes) -> list[str]: ...
def estimate_size(
    nodes: Iterable[Node], sizes: Mapping[str, int], inlined: Collection[str]
) -> int: ...
def count_uses(names: Iterable[str], nodes: Nodes, callees: Callees) -> Mapping[str, int]: ...
def choose(
    order: Iterable[str],
    nodes: Nodes,
    callees: Callees,
    uses: Mapping[str, int],
    start: str,
    budget: Budget,
) -> list[str]: ...
def leaves_of(
    bodies: list[list[Node]],
) -> tuple[list[ByteClasses], bytes, list[TokenTerminal]]: ...
def connect(builder: NfaBuilder, name: str) -> Connected: ...
def edges_of(rows: Sequence[Sequence[int]], classes: bytes, chosen: Sequence[int]) -> bytes: ...
def fold(
    name: str,
    source: Column,
    symbol: Column,
    target: Column,
    accepting: bytes,
    first_symbol: int,
    bounds: list[Bounds],
) -> tuple[Column, Column, Column, bytes, list[Loop]]: ...
def nonterminals_in(symbols: Column, class_count: int, count: int) -> list[int]: ...
def split_edges(
    automata: list[ClosedAutomaton], class_count: int, numbers: list[int], terminals: int
) -> tuple[bytes, ...]: ...
def give_back() -> None: ...

class RuleGraphs:
    preorders: list[tuple[tuple[int, int], ...]]
    def __init__(
        self,
        names: list[str],
        bodies: list[Node],
        facts: Mapping[str, Facts],
        labels: list[int],
        most: int,
        budget: Budget,
    ) -> None: ...
    def variants(self) -> list[int]: ...
    def preorder_of(self, rule: int) -> tuple[tuple[int, int], ...]: ...

class PositionAutomata:
    state_origins: list[tuple[Origin, ...]]
    def __init__(self, graphs: RuleGraphs, alphabet: Alphabet, variants: list[int]) -> None: ...
    def automaton(self, variant: int) -> tuple[Column, Column, Column, bytes, list[int]]: ...
    def columns(self) -> tuple[Column, Column, bytes, bytes]: ...
