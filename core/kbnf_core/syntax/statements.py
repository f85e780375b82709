"""Reads a text of any metasyntax statement by statement, each for itself.

So every mistake of a file is found, and none is found twice. What a metasyntax says about its
statements are the methods of ``Metasyntax``; the parser is Lark's LALR(1), fed word by word, so
that a mistake is known with the words around it. Time is linear in the length of the text.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from operator import attrgetter
from typing import Any, Generic, TypeVar, cast

from lark import Lark, Token

from kbnf_core.diagnostics import Diagnostic, Severity
from kbnf_core.limits import Limits
from kbnf_core.source import Source
from kbnf_core.syntax.mistake import CLOSERS, CLOSING, Mistake, span_of
from kbnf_core.syntax.parser import Automaton, Reduction, Word

NAMES = frozenset({"NAME", "BAD_NAME"})
SIGNS = frozenset({"DEFINE", "WRONG_SIGN"})

Tree = TypeVar("Tree")

_TYPE: Callable[[Token], str] = attrgetter("type")


@dataclass(slots=True)
class Statement:
    """The words of a statement; ``odd`` are those beside it that it should not hold.

    ``following`` is the name that the next statement defines, where only that ended this one.
    """

    words: list[Token] = field(default_factory=list)
    odd: list[Token] = field(default_factory=list)
    following: Token | None = None

    @property
    def is_definition(self) -> bool:
        """Whether it starts with a name and a sign, right or wrong."""
        words = self.words
        return len(words) > 1 and words[0].type in NAMES and words[1].type in SIGNS

    @property
    def kinds(self) -> frozenset[str]:
        """The types of its words."""
        return frozenset(map(_TYPE, self.words))


class Metasyntax(ABC, Generic[Tree]):
    """Says how the statements of one text are parsed, checked and explained."""

    def __init__(self, source: Source, limits: Limits) -> None:
        self.source = source
        self.limits = limits

    @abstractmethod
    def parser(self) -> Lark:
        """Return the parser, whose start ``definition`` is one statement."""

    @abstractmethod
    def explain(self, statement: Statement, mistake: Mistake) -> Iterable[Diagnostic]:
        """Yield what to say about a statement that stops making sense."""

    def refuse(self, statement: Statement) -> Iterable[Diagnostic] | None:
        """Return the findings about a statement that is not worth parsing, else None."""
        return None if statement.words else ()

    def intended(self, words: list[Token]) -> list[Token]:
        """Return ``words`` with those slips put right that have findings of their own."""
        return words

    def validate(self, statement: Statement, tree: Tree) -> Iterable[Diagnostic]:
        """Yield what is wrong with a statement that can be parsed."""
        del statement, tree
        return ()

    def names(self, statement: Statement) -> Iterable[str]:
        """Yield the names that a statement with mistakes was to define."""
        return (word.value for word in statement.words[:1] if word.type in NAMES)


@dataclass(slots=True)
class Read(Generic[Tree]):
    """The statements of a text: the trees of those without errors, and the names of the others."""

    trees: list[Tree] = field(default_factory=list)
    findings: list[Diagnostic] = field(default_factory=list)
    broken: set[str] = field(default_factory=set)


def parse_statements(statements: Iterable[Statement], metasyntax: Metasyntax[Tree]) -> Read[Tree]:
    """Parse ``statements``, which may still be split off while others are read; never raises."""
    read: Read[Tree] = Read()
    for statement in statements:
        tree: Tree | None = None
        found: Iterable[Diagnostic] | None = metasyntax.refuse(statement)
        if found is None:
            parsed = parse_words(statement.words, metasyntax)
            if isinstance(parsed, Mistake):
                found = metasyntax.explain(statement, parsed)
            else:
                tree = parsed
                found = metasyntax.validate(statement, parsed)
        found = list(found)
        if tree is None or any(each.severity is Severity.ERROR for each in found):
            read.broken.update(metasyntax.names(statement))
        else:
            read.trees.append(tree)
        read.findings.extend(found)
    return read


def too_deep(mistake: Mistake, limits: Limits) -> Diagnostic | None:
    """Return the finding for one bracket too many inside one another, if that is the mistake."""
    if len(mistake.open_brackets) <= limits.nesting_depth:
        return None
    help_ = "move the inner part into a rule of its own"
    message = f"brackets are nested more than {limits.nesting_depth} deep"
    return mistake.finding("E012", message, "", help_)


@lru_cache(maxsize=16)
def _automaton(parser: Lark) -> Automaton:
    return Automaton(parser)


def parse_words(words: list[Token], metasyntax: Metasyntax[Tree]) -> Tree | Mistake:
    """Return the tree of a statement, or where it stops making sense."""
    automaton = _automaton(metasyntax.parser())
    actions = automaton.actions
    states, values = [automaton.start], list[Any]()
    brackets: list[int] = []
    depth = metasyntax.limits.nesting_depth
    end = span_of(words[-1]).end
    intended = metasyntax.intended(words)
    for index, word in enumerate([*intended, Word("$END", "", end, end)]):
        kind = word.type
        while isinstance(action := actions[states[-1]].get(kind), tuple):
            if action[0] == 1:
                _reduce_one(automaton, states, values, kind)
            else:
                _reduce(automaton, states, values, action)
            if states[-1] == automaton.end:
                return cast(Tree, values[-1])
        if action is None:
            expected = automaton.expected(states[-1])
            return Mistake(metasyntax.source, words, index, brackets, expected)
        states.append(action)
        values.append(word)
        if kind in CLOSERS:
            brackets.append(index)
            if len(brackets) > depth:
                return Mistake(metasyntax.source, words, index, brackets)
        elif kind in CLOSING:
            brackets.pop()
    raise AssertionError("the end of a definition is its last word")


def _reduce_one(automaton: Automaton, states: list[int], values: list[Any], kind: str) -> None:
    """Reduce the last symbol, and again, as long as that reduces nothing else with it."""
    place = states[-2], states[-1], kind
    chain = automaton.chains.get(place) or automaton.chain(*place)
    for callback in chain.callbacks:
        values[-1] = callback([values[-1]])
    states[-1] = chain.state


def _reduce(
    automaton: Automaton, states: list[int], values: list[Any], reduction: Reduction
) -> None:
    size, callback, nonterminal = reduction
    if callback is not None:
        values[len(values) - size :] = [callback(values[len(values) - size :])]
    del states[len(states) - size :]
    states.append(cast(int, automaton.actions[states[-1]][nonterminal]))
