"""What Lark's LALR parser accepts where, from Lark's own analysis of the rules.

Its contextual lexer knows the terminals that the parser's state has an action for, which may be
more than can follow; and where the parser could both shift and reduce, it shifts.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from kbnf_core.convert.lark.model import (
    Call,
    Choice,
    Embedded,
    Lexeme,
    LexicalGrammar,
    Node,
    Repeat,
    Sequence,
    Terminal,
    children,
    postorder,
)

_MOST_EXPANSIONS = 2_000
"""Alternatives of one rule once its groups are multiplied out."""

_Word = tuple[bool, str]
"""A symbol of a plain rule: whether it is a terminal, and its name."""

_Expansion = tuple[_Word, ...]


@dataclass(frozen=True, slots=True)
class Expected:
    """By terminal: those that Lark's lexer always, and sometimes, looks for with it.

    ``conflict`` is what Lark says of the rules where it would not parse all that they describe.
    """

    must: Mapping[Terminal, frozenset[Terminal]]
    may: Mapping[Terminal, frozenset[Terminal]]
    conflict: str | None


class TooManyExpansionsError(Exception):
    """More alternatives than the limit, so Lark's analysis is not known."""


def expected(grammar: LexicalGrammar) -> Expected:
    """Return what Lark's LALR parser makes of the rules."""
    plain = _Plain()
    for name, body in grammar.rules.items():
        plain.add(name, body)
    if not plain.rules[grammar.start]:
        return Expected({}, {}, None)
    table, conflict = _table(plain.rules, grammar.start)
    together = [
        frozenset(plain.terminals[name] for name in actions if name in plain.terminals)
        for actions in table.values()
    ]
    must: dict[Terminal, frozenset[Terminal]] = {}
    may: dict[Terminal, frozenset[Terminal]] = {}
    for accepted in together:
        for terminal in accepted:
            must[terminal] = must.get(terminal, accepted) & accepted
            may[terminal] = may.get(terminal, accepted) | accepted
    return Expected(must, may, conflict)


def _table(
    rules: Mapping[str, list[_Expansion]], start: str
) -> tuple[Mapping[Any, Mapping[str, Any]], str | None]:
    """Return Lark's parse table, and the first conflict that it finds."""
    from lark.common import ParserConf
    from lark.exceptions import GrammarError
    from lark.grammar import NonTerminal, Rule
    from lark.grammar import Terminal as Word
    from lark.parsers.lalr_analysis import LALR_Analyzer

    made = [
        Rule(
            NonTerminal(origin),
            [Word(name) if is_terminal else NonTerminal(name) for is_terminal, name in expansion],
            order,
        )
        for origin, expansions in rules.items()
        for order, expansion in enumerate(dict.fromkeys(expansions))
    ]
    conf = ParserConf(made, {}, [start])
    conflict = None
    for strict in (True, False):
        analyzer: Any = LALR_Analyzer(conf, strict=strict)
        try:
            analyzer.compute_lalr()
        except GrammarError as error:
            conflict = str(error).partition("\n")[0].removesuffix(" [strict-mode]")
        else:
            return analyzer.parse_table.states, conflict
    return {}, conflict


@dataclass(slots=True)
class _Plain:
    """Rules without operators, made as Lark makes them: equal repetitions share a rule."""

    rules: dict[str, list[_Expansion]] = field(default_factory=dict)
    terminals: dict[str, Terminal] = field(default_factory=dict)
    _names: dict[int, str] = field(default_factory=dict)
    _repeated: dict[tuple[_Expansion, ...], str] = field(default_factory=dict)

    def add(self, name: str, body: Node) -> None:
        """Add a rule."""
        self.rules[name] = self._expansions(body)

    def _expansions(self, root: Node) -> list[_Expansion]:
        values: list[list[_Expansion]] = []
        for node in postorder(root):
            first = len(values) - len(children(node))
            values[first:] = [self._multiplied(node, values[first:])]
            if len(values[-1]) > _MOST_EXPANSIONS:
                raise TooManyExpansionsError
        return values.pop()

    def _multiplied(self, node: Node, parts: list[list[_Expansion]]) -> list[_Expansion]:
        match node:
            case Lexeme(terminal):
                return [((True, self._name(terminal)),)]
            case Call(name):
                return [((False, name),)]
            case Sequence():
                return _side_by_side(parts)
            case Choice():
                return [expansion for part in parts for expansion in part]
            case Repeat(_, low, high):
                return self._rounds(parts[0], low, high)
            case Embedded():
                # Lark has none.
                return []

    def _name(self, terminal: Terminal) -> str:
        if id(terminal) not in self._names:
            self._names[id(terminal)] = f"T{len(self._names)}"
            self.terminals[self._names[id(terminal)]] = terminal
        return self._names[id(terminal)]

    def _rounds(self, body: list[_Expansion], low: int, high: int | None) -> list[_Expansion]:
        if high is None and low <= 1:
            more: list[_Expansion] = [((False, self._repetition(tuple(body))),)]
            return more if low else [*more, ()]
        if high is None or len(body) ** high > _MOST_EXPANSIONS:
            raise TooManyExpansionsError
        return [
            expansion
            for count in range(low, high + 1)
            for expansion in _side_by_side([body] * count)
        ]

    def _repetition(self, body: tuple[_Expansion, ...]) -> str:
        if body not in self._repeated:
            name = f"@plus{len(self._repeated)}"
            self._repeated[body] = name
            self.rules[name] = [*body, *(((False, name), *expansion) for expansion in body)]
        return self._repeated[body]


def _side_by_side(parts: list[list[_Expansion]]) -> list[_Expansion]:
    count = 1
    for part in parts:
        count *= len(part)
    if count > _MOST_EXPANSIONS:
        raise TooManyExpansionsError
    return [tuple(word for one in ways for word in one) for ways in product(*parts)]
