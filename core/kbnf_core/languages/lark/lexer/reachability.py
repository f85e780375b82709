"""Reachability of lexer states: those that each part of a grammar leads to, from the one before.

A state is restricted to what makes a difference to the part, and so is the one after it: most parts
need not know what came before.
"""

from dataclasses import dataclass, field

from kbnf_core.languages.lark.lexer.lexer import Lexed
from kbnf_core.languages.lark.lexer.lexer_state import State, in_order
from kbnf_core.languages.lark.reader.model import (
    Call,
    Choice,
    Embedded,
    Lexeme,
    LexicalGrammar,
    Node,
    Repeat,
    Sequence,
)

MOST_VARIANTS = 2_000
"""Pairs of a rule and a state, and variants of rules that are written, beyond one for each rule."""

MOST_STATES = 64
"""States before rules; beyond it what the lexer looks at does not end soon."""

_ROUNDS = 1_000
"""Rounds of a repetition that are followed; states recur long before."""

States = frozenset[State]


class TooManyVariantsError(Exception):
    """More variants than the limit."""


@dataclass(slots=True, eq=False)
class Reach:
    """The states after each part; ``solve`` before asking."""

    grammar: LexicalGrammar
    lexed: Lexed
    _targets: dict[tuple[str, State], States] = field(default_factory=dict)
    _known: dict[tuple[int, State], States] = field(default_factory=dict)
    _pending: dict[tuple[str, State], None] = field(default_factory=dict)
    _callers: dict[tuple[str, State], dict[tuple[str, State], None]] = field(default_factory=dict)
    _current: tuple[str, State] = ("", State())
    _is_solved: bool = False

    def solve(self) -> States:
        """Compute the states that all rules lead to; return those after the start."""
        first = (self.grammar.start, self.lexed.start)
        self._ask(first)
        befores: set[State] = set()
        while self._pending:
            # The last one asked for is called by those before it, so it comes first.
            self._current, _ = self._pending.popitem()
            befores.add(self._current[1])
            found = self._after_rule(*self._current)
            if found != self._targets[self._current]:
                self._targets[self._current] = found
                self._pending.update(self._callers.get(self._current, {}))
            if (
                len(self._targets) > MOST_VARIANTS + len(self.grammar.rules)
                or len(befores) > MOST_STATES
            ):
                raise TooManyVariantsError
        self._is_solved = True
        return self._targets[first]

    def _ask(self, key: tuple[str, State]) -> None:
        if key not in self._targets:
            self._targets[key] = frozenset()
            self._pending[key] = None

    def _after_rule(self, rule: str, before: State) -> States:
        states = self.after(self.grammar.rules[rule], before)
        return frozenset(self.lexed.leaving(rule, state) for state in states)

    def of_rule(self, rule: str, before: State) -> States:
        """Return the states after a rule, as seen where it ends."""
        key = (rule, self.lexed.entering(rule, before))
        if not self._is_solved:
            self._ask(key)
            self._callers.setdefault(key, {})[self._current] = None
        return self._targets[key]

    def after(self, node: Node, before: State) -> States:
        """Return the states after ``node``, restricted to it; memoised once rules are solved."""
        before = self.lexed.entering(node, before)
        if not self._is_solved:
            return self._after(node, before)
        key = (id(node), before)
        if key not in self._known:
            self._known[key] = self._after(node, before)
        return self._known[key]

    def _after(self, node: Node, before: State) -> States:
        """Nesting is bounded by the parser."""
        match node:
            case Lexeme() | Embedded():
                return frozenset(self.lexed.after(node, before))
            case Call(name):
                states = self.of_rule(name, before)
            case Sequence(items):
                states = frozenset((before,))
                for item in items:
                    states = frozenset(s for state in states for s in self.after(item, state))
            case Choice(branches):
                states = frozenset(s for branch in branches for s in self.after(branch, before))
            case Repeat(_, low, high):
                states = self.rounds(node, before, low, high)
        return frozenset(self.lexed.leaving(node, state) for state in states)

    def rounds(self, node: Repeat, before: State, low: int, high: int | None) -> States:
        """Return the states after ``low`` to ``high`` rounds, as seen between rounds."""
        current = frozenset((self.lexed.entering(node, before),))
        for _ in range(min(low, _ROUNDS)):
            following = self._round(node, current)
            if following == current:
                break
            current = following
        everything, fresh = current, current
        left = _ROUNDS if high is None else min(high - low, _ROUNDS)
        while fresh and left:
            fresh = self._round(node, fresh) - everything
            everything |= fresh
            left -= 1
        return everything

    def _round(self, node: Repeat, states: States) -> States:
        return frozenset(after for before in states for after in self.round(node, before))

    def round(self, node: Repeat, before: State) -> dict[State, States]:
        """Return the states after one round as seen between rounds, and what is seen as them."""
        return self.grouped(node, self.after(node.body, before))

    def grouped(self, place: Node, states: States) -> dict[State, States]:
        """Return how ``states`` are seen where ``place`` begins, and which are seen so."""
        groups: dict[State, list[State]] = {}
        for state in in_order(states):
            groups.setdefault(self.lexed.entering(place, state), []).append(state)
        return {seen: frozenset(group) for seen, group in groups.items()}
