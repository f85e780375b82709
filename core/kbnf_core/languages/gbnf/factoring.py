"""Left factoring across rules, without which the stacks of llama.cpp multiply.

llama.cpp expands calls before it reads a character: it keeps a stack of pending parts for every
leftmost derivation of the text so far. Where a rule that contains itself between brackets can begin
in k ways, which only the text after it decides, n open brackets make k to the power of n stacks.

Left factoring (Aho, Sethi, Ullman 1986, 4.3) merges alternatives that begin with the same symbol.
Here a rule becomes a deterministic automaton over symbols, which are calls and parts without calls.
A state is a set of *items*, sequences of parts that may follow; its edges are their partial
derivatives (Antimirov 1996). Where two calls in a state may begin with the same rule, they are
opened: the bodies of their rules take their place, until no rule begins in two ways. Left recursion
is eliminated before, so this ends.

Only rules that need it are rewritten: those with a state in which a recursive rule begins in two
ways. Others keep their text. States of all rules are minimised together (Moore 1956), so equal
continuations are one rule. A state with one use is written where it is used, a tail that leads
back to its state as a repetition (Arden 1961).

A rule stays as it was where its automaton is infinite or large: where calls that are opened are
nested without a bound, or after ``MOST_STEPS``. Rules that share only a bracket as a text are not
opened: their contents differ, and so would what follows at each depth.

Tests: tests/unit/languages/gbnf/test_factoring.py, tests/property/test_convert_gbnf.py.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping
from collections.abc import Sequence as Several
from typing import NamedTuple

from kbnf_core.automata.traversal import fold
from kbnf_core.ir import Call, Choice, Literal, Node, Repeat, Sequence, calls, children, rebuild
from kbnf_core.ir.analysis import callees_first, cycles, reachable
from kbnf_core.ir.build import (
    EMPTY,
    alternation,
    call,
    moved,
    optional,
    repeated,
    sequence,
    structure,
)
from kbnf_core.languages.gbnf.expression import JOINT, Rules, callees_of
from kbnf_core.lower.facts import first_calls, nullable_nodes
from kbnf_core.text.budget import Budget
from kbnf_core.text.errors import LimitError, WorkLimitError

MOST_STATES = 1_000
"""States of the automaton of one rule."""

MOST_PENDING = 32
"""Parts of an item; longer ones are those of calls that nest without a bound."""

MOST_STEPS = 500_000
"""Items followed in one grammar."""

_Items = tuple[Node, ...]
"""Parts in sequence, each the only object of its structure."""

_Key = tuple[_Items, ...]
"""A state: its items in the order in which they were met first."""


class _SymbolState(NamedTuple):
    """The next state after each symbol, and whether the text may end here.

    ``is_ambiguous``: a recursive rule begins in two ways, before calls were opened.
    """

    edges: Mapping[Node, _Key]
    accepting: bool
    is_ambiguous: bool


def factor(rules: Rules, start: str, nullable: Collection[str]) -> None:
    """Rewrite, in place, the rules below ``start`` that multiply stacks; none is left recursive.

    Rules that nothing calls any more are removed.
    """
    graph = callees_of(rules)
    recursive = {name for members in cycles(graph) for name in members}
    if not recursive:
        return
    factoring = _Factoring(rules, first_calls(rules, nullable), recursive)
    factored: dict[str, _Key] = {}
    names, seen = [start], {start}
    for name in names:
        key = factoring.start_of(name)
        if key is not None:
            factored[name] = key
        used = calls(rules[name]) if key is None else factoring.calls_below(key)
        called = dict.fromkeys(use.nonterminal for use in used)
        fresh = [callee for callee in called if callee not in seen]
        seen.update(fresh)
        names += fresh
    if factored:
        rules |= _Quotient(factoring, factored).rules(nullable)
        left = reachable([start], callees_of(rules))
        for name in reachable([start], graph) - left:
            del rules[name]


class _Factoring:
    """Makes the automata of rules, which share states; ``first`` are the calls at beginnings."""

    def __init__(
        self, rules: Rules, first: Mapping[str, Collection[str]], recursive: Collection[str]
    ) -> None:
        self._first = first
        self._begins: dict[str, set[str]] = {}
        for name in callees_first(rules, first):
            self._begins[name] = {name}.union(*(self._begins[callee] for callee in first[name]))
        self._recursive = recursive
        self._states: dict[_Key, _SymbolState] = {}
        self._orders: dict[frozenset[_Items], _Key] = {}
        self._nodes: dict[Hashable, Node] = {}
        self._with_calls: set[Node] = set()
        self._budget = Budget(MOST_STEPS)
        self._rules = rules
        self._bodies: dict[str, Node] = {}

    def start_of(self, name: str) -> _Key | None:
        """Return the first state of a rule that is rewritten, None for others."""
        if not self._is_ambiguous(use.nonterminal for use in calls(self._rules[name])):
            return None
        start = self._key([(self._body(name),)])
        try:
            states = self.below(start)
        except (LimitError, WorkLimitError):
            return None
        return start if any(state.is_ambiguous for state in states.values()) else None

    def below(self, start: _Key) -> Mapping[_Key, _SymbolState]:
        """Return the states that one leads to, itself first, breadth first."""
        keys, result = [start], dict[_Key, _SymbolState]()
        for key in keys:
            if key in result:
                continue
            if len(result) == MOST_STATES:
                raise LimitError("states", MOST_STATES)
            if key not in self._states:
                self._states[key] = self._state(key)
            result[key] = self._states[key]
            keys += result[key].edges.values()
        return result

    def calls_below(self, start: _Key) -> Iterator[Call]:
        """Yield the symbols of an automaton that are calls."""
        for state in self.below(start).values():
            yield from (symbol for symbol in state.edges if isinstance(symbol, Call))

    def _is_ambiguous(self, names: Iterable[str]) -> bool:
        """Return whether some recursive rule begins in two ways."""
        ways = Counter(begun for name in names for begun in self._begins[name])
        return any(count > 1 and name in self._recursive for name, count in ways.items())

    def _state(self, key: _Key) -> _SymbolState:
        steps = self._steps(key, ())
        ways = [s.nonterminal for s, rests in steps.items() if isinstance(s, Call) for _ in rests]
        if opened := self._shared(ways):
            steps = self._steps(key, opened)
        edges = {symbol: self._key(rests) for symbol, rests in steps.items() if rests}
        return _SymbolState(edges, EMPTY in steps, self._is_ambiguous(ways))

    def _shared(self, names: Iterable[str]) -> set[str]:
        """Return the calls to open until no two of the others begin with the same rule."""
        opened, left = set[str](), set(names)
        while True:
            users = Counter(begun for name in left for begun in self._begins[name])
            shared = {
                name
                for name in left
                if any(users[begun] > 1 for begun in self._begins[name] if begun != name)
            }
            if not shared:
                return opened
            opened |= shared
            left = (left - shared).union(*(self._first[name] for name in shared))

    def _steps(self, key: _Key, opened: Collection[str]) -> Mapping[Node, list[_Items]]:
        """Return the items after each symbol; nothing is after ``EMPTY``, the end."""
        steps: defaultdict[Node, list[_Items]] = defaultdict(list)
        pending, seen = [*reversed(key)], set[_Items]()
        while pending:
            items = pending.pop()
            if items in seen:
                continue
            seen.add(items)
            self._budget.spend()
            if len(items) > MOST_PENDING:
                raise LimitError("pending expressions", MOST_PENDING)
            if not items:
                steps[EMPTY] = []
                continue
            node, rest = items[0], items[1:]
            heads = self._unfolded(node, opened)
            if heads is None:
                steps[node].append(rest)
            else:
                pending += [(*head, *rest) for head in reversed(heads)]
        return steps

    def _unfolded(self, node: Node, opened: Collection[str]) -> Several[_Items] | None:
        """Return the items that a part is one of; None for a symbol."""
        match node:
            case Call(name):
                return [(self._body(name),)] if name in opened else None
            case Literal(b""):
                return [()]
            case Sequence(items) if node in self._with_calls or not items:
                return [items]
            case Choice(branches) if node in self._with_calls:
                return [(branch,) for branch in branches]
            case Repeat(body, low, high) if node in self._with_calls:
                fewer = repeated(body, max(low - 1, 0), None if high is None else high - 1)
                once = (body,) if fewer is EMPTY else (body, self._one(fewer, [body]))
                return [once] if low else [once, ()]
            case _:
                return None

    def _body(self, name: str) -> Node:
        """Return the body of a rule; most rules are never asked for."""
        if name not in self._bodies:
            self._bodies[name] = fold(self._rules[name], children, self._one)
        return self._bodies[name]

    def _key(self, items: Iterable[_Items]) -> _Key:
        """Return the state of these items, in any order."""
        ordered = tuple(dict.fromkeys(items))
        return self._orders.setdefault(frozenset(ordered), ordered)

    def _one(self, node: Node, operands: list[Node]) -> Node:
        """Return the node of this structure."""
        node = self._nodes.setdefault(structure(node, operands), rebuild(node, operands))
        if isinstance(node, Call) or not self._with_calls.isdisjoint(operands):
            self._with_calls.add(node)
        return node


class _Alternative(NamedTuple):
    """An expression, and the block after it; None at the end."""

    head: Node
    after: int | None


class _Quotient:
    """The minimal automaton of some rules; a *block* is the number of states that accept the same.

    Blocks are visited successors first, as in the elimination of states.
    """

    def __init__(self, factoring: _Factoring, starts: Mapping[str, _Key]) -> None:
        below = {name: factoring.below(key) for name, key in starts.items()}
        states = {key: state for rows in below.values() for key, state in rows.items()}
        blocks = _blocks(states)
        self._starts = {name: blocks[key] for name, key in starts.items()}
        self._owners = {blocks[key]: name for name in reversed(below) for key in below[name]}
        self._accepting = {blocks[key] for key, state in states.items() if state.accepting}
        self._edges = {
            blocks[key]: dict.fromkeys((symbol, blocks[to]) for symbol, to in state.edges.items())
            for key, state in states.items()
        }
        self._alternatives = {block: self._first_alternatives(block) for block in self._edges}
        self._graph = {
            block: [after for _, after in alternatives if after is not None]
            for block, alternatives in self._alternatives.items()
        }
        self._uses = Counter(to for after in self._graph.values() for to in after)
        self._done: set[int] = set()

    def rules(self, nullable: Collection[str]) -> Rules:
        """Return the rules; ``nullable`` are those of the grammar that may be empty."""
        starts = dict.fromkeys(self._starts.values())
        order = callees_first(starts, self._graph)
        for block in order:
            self._eliminate(block, nullable)
            self._done.add(block)
        numbers = Counter[str]()
        # Of equal rules the first one has the body, which the others call.
        names = {block: name for name, block in reversed(self._starts.items())}
        for block in sorted(order):
            if block not in names and not self._is_inlined(block):
                owner = self._owners[block]
                numbers[owner] += 1
                names[block] = f"{owner}{JOINT}rest{numbers[owner]}"
        final = {_provisional(block): name for block, name in names.items()}
        rules = {name: moved(self._body(block), final) for block, name in names.items()}
        return rules | {n: call(names[b]) for n, b in self._starts.items() if n not in rules}

    def _first_alternatives(self, block: int) -> list[_Alternative]:
        """Return an alternative for each block that follows.

        Where all others are those of one that follows, the symbols before that may be left out.
        """
        edges = self._edges[block]
        symbols: defaultdict[int, list[Node]] = defaultdict(list)
        for symbol, to in edges:
            symbols[to].append(symbol)
        for to in symbols:
            before = [edge for edge in edges if edge not in self._edges[to]]
            has_rest = len(edges) == len(before) + len(self._edges[to])
            is_same = (to in self._accepting) == (block in self._accepting)
            if is_same and has_rest and {after for _, after in before} == {to}:
                return [_Alternative(optional(alternation(s for s, _ in before)), to)]
        result = [_Alternative(alternation(before), to) for to, before in symbols.items()]
        return [*result, _Alternative(EMPTY, None)] if block in self._accepting else result

    def _eliminate(self, block: int, nullable: Collection[str]) -> None:
        """Write blocks with one use in place, and tails that lead back here as a repetition."""
        result: list[_Alternative] = []
        for head, after in self._alternatives[block]:
            if after is None or not self._is_inlined(after):
                result.append(_Alternative(head, after))
            elif len(self._alternatives[after]) == 1:
                rest = self._alternatives[after][0]
                result.append(_Alternative(sequence(head, rest.head), rest.after))
            else:
                result.append(_Alternative(sequence(head, self._body(after)), None))
        again = [head for head, after in result if after == block]
        others = [other for other in result if other.after != block]
        # llama.cpp takes a repetition of something that may be empty for left recursion.
        if again and others and not any(nullable_nodes(head, nullable)[id(head)] for head in again):
            self._uses[block] -= len(again)
            loop = repeated(alternation(again), 0, None)
            is_one = len(others) == 1
            head, after = others[0] if is_one else (alternation(map(_closed, others)), None)
            result = [_Alternative(sequence(loop, head), after)]
        self._alternatives[block] = result

    def _is_inlined(self, block: int) -> bool:
        """Return whether a block is written where it is used: it has one use, or is a symbol."""
        if block not in self._done or block in self._starts.values():
            return False
        head, after = self._alternatives[block][0]
        is_end = len(self._alternatives[block]) == 1 and after is None
        return self._uses[block] == 1 or (is_end and (head is EMPTY or not children(head)))

    def _body(self, block: int) -> Node:
        return alternation(map(_closed, self._alternatives[block]))


def _closed(alternative: _Alternative) -> Node:
    """Return an alternative with a use of the block after it."""
    head, after = alternative
    return head if after is None else sequence(head, call(_provisional(after)))


def _provisional(block: int) -> str:
    """Return the name of a block until all are numbered; no rule has it."""
    return f"{JOINT}{block}"


def _blocks(states: Mapping[_Key, _SymbolState]) -> Mapping[_Key, int]:
    """Return the block of each state, in the order of their first states."""
    blocks, count = dict.fromkeys(states, 0), 0
    while True:
        numbers: dict[Hashable, int] = {}
        signs = {
            key: (state.accepting, frozenset((s, blocks[to]) for s, to in state.edges.items()))
            for key, state in states.items()
        }
        blocks = {key: numbers.setdefault(sign, len(numbers)) for key, sign in signs.items()}
        if len(numbers) == count:
            return blocks
        count = len(numbers)
