"""The grammar times its lexer: rules whose lexemes end only where the lexer ends them.

After a lexeme certain bytes must not follow (its *stop*); that is all the lexer remembers, so a
stop is a state, and the rules are multiplied with the states (Bar-Hillel, Perles & Shamir 1961):
a variant of a rule is what it matches from one state to another. Where nothing can be confused
there is one state, and the rules stay as they are.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from kbnf_core.automata import operations
from kbnf_core.automata.classes import class_count
from kbnf_core.automata.dfa import DEAD, Dfa
from kbnf_core.automata.machine import Machine
from kbnf_core.convert.lark import writing
from kbnf_core.convert.lark.cuts import Class
from kbnf_core.convert.lark.masks import SKIPPED, first_bytes
from kbnf_core.convert.lark.model import (
    Call,
    Choice,
    Embedded,
    Lexeme,
    LexicalGrammar,
    Node,
    Repeat,
    Sequence,
)
from kbnf_core.source import Span
from kbnf_core.syntax import tree

MOST_VARIANTS = 600
MOST_PARTS = 8_000
"""Variants of rules, and parts of them; beyond it the conversion gives the lexer up."""

State = int
Variants = dict[State, tree.Expression]


class TooManyVariantsError(Exception):
    """More variants than the limit."""


@dataclass(frozen=True, slots=True)
class Key:
    """A variant: what a rule, or the rounds of a repetition, match between two states."""

    rule: str
    before: State
    after: State


@dataclass(slots=True, eq=False)
class Product:
    """Works out which states each node leads to, then writes what lies between them.

    ``classes`` gives the words of a lexeme by what must not follow them; ``refuse`` is told of
    embedded parts that a state would have to cut.
    """

    grammar: LexicalGrammar
    classes: Callable[[Lexeme], tuple[Class, ...]]
    follow_embedded: Callable[[Embedded, State], None]
    write: Callable[[Lexeme, Dfa, bool], tree.Expression]
    name: Callable[[Key], str]
    _bodies: dict[str, Node] = field(default_factory=dict)
    _repeats: dict[int, str] = field(default_factory=dict)
    _targets: dict[tuple[str, State], frozenset[State]] = field(default_factory=dict)
    _asked: set[tuple[str, State]] = field(default_factory=set)
    _cuts: dict[tuple[int, State], dict[State, Dfa]] = field(default_factory=dict)
    _wanted: list[Key] = field(default_factory=list)
    _named: set[Key] = field(default_factory=set)
    _reached: dict[tuple[int, State], tuple[Node, frozenset[State]]] = field(default_factory=dict)
    _is_solved: bool = False
    _parts: int = 0

    def run(self, end: State) -> tuple[list[tuple[Key, tree.Expression]], list[Key]]:
        """Return the definitions of all variants needed, and the variants of the start.

        ``end`` is the state bit that the start must not end with.
        """
        self._bodies.update(self.grammar.rules)
        self._solve(self.grammar.start)
        self._is_solved = True
        starts = [
            Key(self.grammar.start, 0, after)
            for after in sorted(self._targets[self.grammar.start, 0])
            if not after & end
        ]
        for key in starts:
            self._want(key)
        # Writing one variant asks for others, so the list grows while it is read.
        return [(key, self._between(key)) for key in self._wanted], starts

    # ---- Which states a node leads to ------------------------------------------------------

    def _solve(self, start: str) -> None:
        self._ask(start, 0)
        changed = True
        while changed:
            changed = False
            for rule, before in sorted(self._asked):
                found = self._reach(self._bodies[rule], before)
                if found != self._targets.get((rule, before), frozenset()):
                    self._targets[rule, before] = found
                    changed = True
            if len(self._asked) > MOST_VARIANTS:
                raise TooManyVariantsError
            changed = changed or any(key not in self._targets for key in self._asked)
            for key in self._asked:
                self._targets.setdefault(key, frozenset())

    def _ask(self, rule: str, before: State) -> frozenset[State]:
        self._asked.add((rule, before))
        return self._targets.get((rule, before), frozenset())

    def _reach(self, node: Node, before: State) -> frozenset[State]:
        """Return the states after ``node``; once the rules are solved they are remembered."""
        if not self._is_solved:
            return self._reach_now(node, before)
        key = (id(node), before)
        if key not in self._reached:
            # The node is kept, so that its identity is not given away again.
            self._reached[key] = (node, self._reach_now(node, before))
        return self._reached[key][1]

    def _reach_now(self, node: Node, before: State) -> frozenset[State]:
        """Nesting is bounded by the parser."""
        match node:
            case Lexeme():
                return frozenset(self._cut(node, before))
            case Embedded(_, first, _, is_grammar):
                if is_grammar and before & SKIPPED:
                    return frozenset()
                if first & before:
                    self.follow_embedded(node, before)
                return frozenset((0,))
            case Call(name):
                return self._ask(name, before)
            case Sequence(items):
                states = frozenset((before,))
                for item in items:
                    states = self._reach_all(item, states)
                return states
            case Choice(branches):
                return frozenset(s for branch in branches for s in self._reach(branch, before))
            case Repeat():
                return self._reach_repeat(node, before)

    def _reach_all(self, node: Node, states: frozenset[State]) -> frozenset[State]:
        return frozenset(after for before in states for after in self._reach(node, before))

    def _reach_repeat(self, node: Repeat, before: State) -> frozenset[State]:
        current = frozenset((before,))
        for _ in range(min(node.low, _ROUNDS)):
            current = self._reach_all(node.body, current)
        everything, fresh = current, current
        rounds = _ROUNDS if node.high is None else node.high - node.low
        while fresh and rounds:
            fresh = self._reach_all(node.body, fresh) - everything
            everything |= fresh
            rounds -= 1
        return everything

    def _cut(self, node: Lexeme, before: State) -> dict[State, Dfa]:
        """Return the words of a lexeme in a state, by the state that they lead to."""
        classes = self.classes(node)
        if not first_bytes(node.terminal.dfa) & before:
            return {part.stop: part.dfa for part in classes}
        key = (id(node), before)
        if key not in self._cuts:
            cut = {part.stop: without_first(part.dfa, before) for part in classes}
            self._cuts[key] = {stop: dfa for stop, dfa in cut.items() if not dfa.is_empty}
        return self._cuts[key]

    # ---- What lies between two states ------------------------------------------------------

    def _want(self, key: Key) -> None:
        if key not in self._named:
            self._named.add(key)
            self._wanted.append(key)
            if len(self._wanted) > MOST_VARIANTS:
                raise TooManyVariantsError

    def _between(self, key: Key) -> tree.Expression:
        body = self._bodies[key.rule]
        if key.rule in self._repeats.values():
            return self._rounds(key, body)
        return self._write(body, key.before, key.after)

    def _write(self, node: Node, before: State, after: State) -> tree.Expression:
        """Write what ``node`` matches from one state to the other, both reachable."""
        self._parts += 1
        if self._parts > MOST_PARTS:
            raise TooManyVariantsError
        match node:
            case Lexeme():
                dfa = self._cut(node, before)[after]
                return self.write(node, dfa, dfa is node.terminal.dfa)
            case Embedded(expression):
                return expression
            case Call(name, span):
                key = Key(name, before, after)
                self._want(key)
                return writing.reference(self.name(key), span)
            case Sequence(items, span):
                return self._sequence(list(items), before, after, span)
            case Choice(branches, span):
                written = [
                    self._write(branch, before, after)
                    for branch in branches
                    if after in self._reach(branch, before)
                ]
                return writing.choice(written, span)
            case Repeat():
                return self._repeat(node, before, after)

    def _sequence(
        self, items: list[Node], before: State, after: State, span: Span
    ) -> tree.Expression:
        """Join the items over all ways through states between them, from the back."""
        layers = [frozenset((before,))]
        for item in items:
            layers.append(self._reach_all(item, layers[-1]))
        rest: dict[State, list[tree.Expression]] = {after: []}
        for item, states in zip(reversed(items), reversed(layers[:-1]), strict=True):
            previous: dict[State, list[tree.Expression]] = {}
            for state in sorted(states):
                ways = [
                    [self._write(item, state, middle), *rest[middle]]
                    for middle in sorted(self._reach(item, state))
                    if middle in rest
                ]
                if len(ways) == 1:
                    previous[state] = ways[0]
                elif ways:
                    branches = [writing.sequence(way, span) for way in ways]
                    previous[state] = [writing.choice(branches, span)]
            rest = previous
        return writing.sequence(rest[before], span)

    def _repeat(self, node: Repeat, before: State, after: State) -> tree.Expression:
        span = node.span
        if self._reach(node.body, before) <= {before}:
            if not self._reach(node.body, before):
                return writing.terminal("", span)
            body = self._write(node.body, before, before)
            return writing.repeat(body, node.low, node.high, span)
        if node.high is None and node.low > 0:
            items: list[Node] = [node.body] * node.low
            return self._sequence([*items, Repeat(node.body, 0, None, span)], before, after, span)
        if node.high is None:
            return self._star(node, before, after)
        if node.low:
            items = [node.body] * node.low
            if node.high > node.low:
                items.append(Repeat(node.body, 0, node.high - node.low, span))
            return self._sequence(items, before, after, span)
        return self._options(node, before, after)

    def _options(self, node: Repeat, before: State, after: State) -> tree.Expression:
        branches: list[tree.Expression] = []
        if before == after:
            branches.append(writing.terminal("", node.span))
        high = node.high or 0
        items: list[Node] = [node.body]
        if high > 1:
            items.append(Repeat(node.body, 0, high - 1, node.span))
        if after in self._reach(Sequence(tuple(items), node.span), before):
            branches.append(self._sequence(items, before, after, node.span))
        return writing.choice(branches, node.span)

    def _star(self, node: Repeat, before: State, after: State) -> tree.Expression:
        """Write any number of rounds: as ``x*`` where rounds keep the state, else as a rule."""
        key_of = id(node.body)
        if key_of not in self._repeats:
            name = f"@rounds{len(self._repeats)}"
            self._repeats[key_of] = name
            self._bodies[name] = node
        key = Key(self._repeats[key_of], before, after)
        if after == before or self._reach(node.body, after) <= {after}:
            direct = self._direct(node, before, after)
            if direct is not None:
                return direct
        self._want(key)
        return writing.reference(self.name(key), node.span)

    def _direct(self, node: Repeat, before: State, after: State) -> tree.Expression | None:
        """Return ``(x y*)?``-like rounds where every round after the first keeps the state."""
        first = self._reach(node.body, before)
        if before == after or first != {after}:
            return None
        rounds = self._write(node.body, before, after)
        if not self._reach(node.body, after):
            return rounds
        more = writing.repeat(self._write(node.body, after, after), 0, None, node.span)
        return writing.sequence([rounds, more], node.span)

    def _rounds(self, key: Key, node: Node) -> tree.Expression:
        """Write ``rounds(before, after) = empty | body(before, s) rounds(s, after)``."""
        assert isinstance(node, Repeat)  # noqa: S101 - only repetitions are kept in this way
        branches: list[tree.Expression] = []
        if key.before == key.after:
            branches.append(writing.terminal("", node.span))
        for middle in sorted(self._reach(node.body, key.before)):
            if key.after in self._reach_repeat(node, middle):
                rest = Key(key.rule, middle, key.after)
                self._want(rest)
                once = self._write(node.body, key.before, middle)
                more = writing.reference(self.name(rest), node.span)
                branches.append(writing.sequence([once, more], node.span))
        return writing.choice(branches, node.span)


_ROUNDS = 1_000
"""Rounds of a repetition that are followed; states recur long before."""


def without_first(dfa: Dfa, banned: int) -> Dfa:
    """Return the words that start with none of the ``banned`` bytes."""
    marks = dfa.classes.astype("int64") * 2
    for byte in range(256):
        marks[byte] += banned >> byte & 1
    distinct = {int(mark): number for number, mark in enumerate(dict.fromkeys(marks.tolist()))}
    classes = marks.copy()
    for byte in range(256):
        classes[byte] = distinct[int(marks[byte])]
    classes = classes.astype("uint8")
    old = [mark // 2 for mark in distinct]
    rows = [[row[symbol] for symbol in old] for row in dfa.next.tolist()]
    begin = [DEAD if mark % 2 else rows[0][number] for mark, number in distinct.items()]
    tags = [*(int(flag) for flag in dfa.accepting.tolist()), int(dfa.accepting[0])]
    assert class_count(classes) == len(begin)  # noqa: S101 - numbered without gaps
    return operations.from_machine(Machine([*rows, begin], tags, [len(rows)]), classes)
