"""Reads a text of any metasyntax statement by statement, each for itself.

So every mistake of a file is found, and none is found twice. What a metasyntax says about its
statements are the methods of ``Metasyntax``; the parser is LALR(1), fed word by word, so
that a mistake is known with the words around it, the place at which a definition stops making
sense. Its tables are loaded from files, which ``kbnf_testing.parser_tables`` wrote with Lark;
reading a text does not import Lark. Time is linear in its length.

Tests: tests/unit/kbnf/test_tables.py
"""

import json
import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar, cast

from kbnf_core.text.budget import Budget
from kbnf_core.text.diagnostics import Diagnostic, Severity
from kbnf_core.text.limits import Limits
from kbnf_core.text.source import Source, Span

CLOSERS = {
    "LPAR": ")",
    "LSQB": "]",
    "LBRACE": "}",
    "COUNT_OPEN": "}",
    "TOKEN_OPEN": "]",
}
"""The word that closes a bracket, by the type of the opening one."""

CLOSING = frozenset({"RPAR", "RSQB", "RBRACE"})

_SHOWN = 24
"""How much of a word a message shows."""


class Word(str):
    """A word: its kind, its text, and where it is; lines are found in the source when needed."""

    __slots__ = ("end_pos", "start_pos", "type", "value")

    type: str
    value: str
    start_pos: int
    end_pos: int

    def __new__(cls, type_: str, value: str, start: int, end: int) -> "Word":
        """Make a word."""
        word = str.__new__(cls, value)
        word.type = type_
        word.value = value
        word.start_pos = start
        word.end_pos = end
        return word

    def as_kind(self, kind: str) -> "Word":
        """Return the word as one of another kind."""
        return Word(kind, self.value, self.start_pos, self.end_pos)

    def __eq__(self, other: object) -> bool:
        """Return whether text and, of two words, kind are the same."""
        return str.__eq__(self, other) and self.type == getattr(other, "type", self.type)

    __hash__ = str.__hash__


def span_of(word: Word) -> Span:
    """Return where ``word`` is."""
    return Span(word.start_pos, word.end_pos)


@dataclass(frozen=True, slots=True)
class Mistake:
    """A definition that stops making sense at ``words[index]``, or at its end.

    ``open_brackets`` are the indices of the words that opened the brackets still open there,
    outermost first; ``expected`` are the types of the words that could be there.
    """

    source: Source
    words: list[Word]
    index: int
    open_brackets: list[int]
    expected: frozenset[str] = frozenset()

    @property
    def word(self) -> Word | None:
        """The word that is not allowed here; None at the end."""
        return self.words[self.index] if self.index < len(self.words) else None

    @property
    def kind(self) -> str:
        """The type of that word; the end counts as a ``;``."""
        return self.word.type if self.word is not None else "END"

    @property
    def before(self) -> Word:
        """The word in front of it."""
        return self.words[self.index - 1]

    @property
    def inside(self) -> Word | None:
        """The word that opened the innermost bracket."""
        return self.words[self.open_brackets[-1]] if self.open_brackets else None

    @property
    def span(self) -> Span:
        """The unexpected word; at the end, the position after the last word."""
        if self.word is not None:
            return span_of(self.word)
        end = span_of(self.words[-1]).end
        return Span(end, end)

    @property
    def found(self) -> str:
        """The words that are not allowed here, for a message."""
        return "the end of the file" if self.word is None else shown(self.word.value)

    def finding(self, code: str, message: str, label: str = "", *helps: str) -> Diagnostic:
        """Return a finding at this position."""
        return Diagnostic(code, message, self.source, self.span, label, helps=helps)


def shown(text: str) -> str:
    """Return ``text`` as a message shows it: in backticks, on one line, shortened."""
    if len(text) == 1 and not (text.isascii() and text.isprintable()):
        return character(text)
    short = text if len(text) <= _SHOWN else text[:_SHOWN] + "..."
    return "`" + "".join(c if c.isprintable() else _spelled(c) for c in short) + "`"


def character(char: str) -> str:
    """Return one character with its number and name."""
    name = unicodedata.name(char, "no character" if "\ud800" <= char <= "\udfff" else "control")
    number = f"U+{ord(char):04X}"
    if char.isprintable():
        return f"`{char}` ({number}, {name.lower()})"
    return f"{number} ({name.lower()})"


def _spelled(char: str) -> str:
    return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(char, f"\\u{{{ord(char):x}}}")


Reduction: TypeAlias = tuple[int, Callable[[list[Any]], Any] | None, str]
"""The length of a rule, what makes a value of its parts (None: there is one, and it is that),
and the nonterminal."""


class StatementParser:
    """The tables of a ``grammar.lark`` (``kbnf_testing.parser_tables`` says what they contain).

    ``match`` matches the next word after ignored text; ``keywords`` are, by kind, the words of
    another kind; ``actions`` are those of the LALR(1) automaton of ``definition``, in each state by
    symbol: the next state or a reduction.
    """

    def __init__(self, folder: Path, callbacks: object) -> None:
        """Load the tables of ``folder``; ``callbacks`` has methods for rules."""
        # Not through importlib.resources: importing that takes longer than all of this.
        tables = json.loads((folder / "grammar.tables.json").read_text("utf-8"))
        expression, flags = tables["scanner"]
        self.match = re.compile(expression, flags).match
        self.keywords: dict[str, dict[str, str]] = tables["keywords"]
        self.end: int = tables["end"]
        reductions = [_reduction(callbacks, *rule) for rule in tables["rules"]]
        self.actions: list[dict[str, int | Reduction]] = [
            {symbol: reductions[-1 - to] if to < 0 else to for symbol, to in row.items()}
            for row in tables["states"]
        ]
        self.chains: dict[tuple[int, int, str], Chain] = {}

    def chain(self, below: int, state: int, kind: str) -> "Chain":
        """Return the reductions of one part that follow in ``state``, above the state ``below``."""
        place, callbacks = (below, state, kind), []
        while state != self.end:
            action = self.actions[state].get(kind)
            if not isinstance(action, tuple) or action[0] != 1:
                break
            _, callback, nonterminal = action
            if callback is not None:
                callbacks.append(callback)
            state = cast(int, self.actions[below][nonterminal])
        return self.chains.setdefault(place, Chain(tuple(callbacks), state))

    def expected(self, state: int) -> frozenset[str]:
        """Return the kinds of words that are allowed in a state."""
        return frozenset(symbol for symbol in self.actions[state] if symbol.isupper())


class Chain(NamedTuple):
    """Reductions of one part each, one after the other: their callbacks, and the state after."""

    callbacks: tuple[Callable[[list[Any]], Any], ...]
    state: int


def _reduction(
    callbacks: object,
    nonterminal: str,
    name: str,
    size: int,
    given: list[int] | None,
    takes_one: bool,
) -> Reduction:
    """Return a rule of the tables with its callback; parts without one are a list, put in place."""
    act = getattr(callbacks, name, _as_listed)
    if takes_one and size == 1 and given is None:
        return size, None, nonterminal

    def reduce(values: list[Any]) -> Any:
        if given is not None:
            kept: list[Any] | None = None
            for index in given:
                value = values[index] if index >= 0 else values[-1 - index]
                if kept is None:
                    # A list is only the parser's, and goes on: a copy at each item is quadratic.
                    kept = value if index < 0 else [value]
                elif index < 0:
                    kept += value
                else:
                    kept.append(value)
            values = kept or []
        return values[0] if takes_one and len(values) == 1 else act(values)

    return size, act if given is None and not takes_one else reduce, nonterminal


def _as_listed(values: list[Any]) -> list[Any]:
    """Return parts as they are, without the copy that is quadratic where a list grows."""
    return values


class Lexer:
    """Splits a text into words, from after a byte order mark or from any position on.

    Every word that belongs to no definition is in the grammar's ``aside``, down to single
    characters, so no text fails. ``place`` is how far the text has been read.
    """

    def __init__(self, parser: StatementParser, text: str) -> None:
        self._text = text
        self._parser = parser
        self.place = 1 if text.startswith("\ufeff") else 0

    def words(self, place: int | None = None) -> Iterator[Word]:
        """Yield the words from ``place`` on."""
        if place is not None:
            self.place = place
        match, text, keywords = self._parser.match, self._text, self._parser.keywords
        while match_ := match(text, self.place):
            kind = cast(str, match_.lastgroup)
            start, self.place = match_.span(kind)
            value = match_[kind]
            if kind in keywords:
                kind = keywords[kind].get(value, kind)
            yield Word(kind, value, start, self.place)
        self.place = len(text)


NAMES = frozenset({"NAME", "BAD_NAME"})
SIGNS = frozenset({"DEFINE", "WRONG_SIGN"})

Tree = TypeVar("Tree")

_TYPE: Callable[[Word], str] = attrgetter("type")


@dataclass(slots=True)
class Statement:
    """The words of a statement; ``odd`` are those beside it that it should not contain.

    ``following`` is the name that the next statement defines, where only that ended this one.
    """

    words: list[Word] = field(default_factory=list)
    odd: list[Word] = field(default_factory=list)
    following: Word | None = None

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
    def parser(self) -> StatementParser:
        """Return the parser, whose start ``definition`` is one statement."""

    @abstractmethod
    def explain(self, statement: Statement, mistake: Mistake) -> Iterable[Diagnostic]:
        """Yield the findings about a statement that cannot be parsed."""

    def refuse(self, statement: Statement) -> Iterable[Diagnostic] | None:
        """Return the findings about a statement that is not worth parsing, else None."""
        return None if statement.words else ()

    def intended(self, words: list[Word]) -> list[Word]:
        """Return ``words`` with those slips put right that have findings of their own."""
        return words

    def validate(self, statement: Statement, tree: Tree) -> Iterable[Diagnostic]:
        """Yield the mistakes in a statement that can be parsed."""
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


_WORD = 20
"""Steps for a word: it is cut out of a text, and parsed."""


def counted(words: Iterable[Word], budget: Budget) -> Iterator[Word]:
    """Yield words, each of which is work. Raises WorkLimitError."""
    for word in words:
        budget.spend(_WORD)
        yield word


def parse_statements(statements: Iterable[Statement], metasyntax: Metasyntax[Tree]) -> Read[Tree]:
    """Parse ``statements``, which may still be split off while others are read; never raises."""
    read: Read[Tree] = Read()
    for statement in statements:
        tree: Tree | None = None
        findings: Iterable[Diagnostic] | None = metasyntax.refuse(statement)
        if findings is None:
            parsed = parse_words(statement.words, metasyntax)
            if isinstance(parsed, Mistake):
                findings = metasyntax.explain(statement, parsed)
            else:
                tree = parsed
                findings = metasyntax.validate(statement, parsed)
        findings = list(findings)
        if tree is None or any(finding.severity is Severity.ERROR for finding in findings):
            read.broken.update(metasyntax.names(statement))
        else:
            read.trees.append(tree)
        read.findings.extend(findings)
    return read


def too_deep(mistake: Mistake, limits: Limits) -> Diagnostic | None:
    """Return the finding for one bracket too many inside one another, if that is the mistake."""
    if len(mistake.open_brackets) <= limits.nesting_depth:
        return None
    help_ = "move the inner part into a rule of its own"
    message = f"brackets are nested more than {limits.nesting_depth} deep"
    return mistake.finding("E012", message, "", help_)


def parse_words(words: list[Word], metasyntax: Metasyntax[Tree]) -> Tree | Mistake:
    """Return the tree of a statement, or where it stops making sense."""
    parser = metasyntax.parser()
    actions = parser.actions
    states, values = [0], list[Any]()
    brackets: list[int] = []
    depth = metasyntax.limits.nesting_depth
    end = span_of(words[-1]).end
    intended = metasyntax.intended(words)
    for index, word in enumerate([*intended, Word("$END", "", end, end)]):
        kind = word.type
        while isinstance(action := actions[states[-1]].get(kind), tuple):
            if action[0] == 1:
                _reduce_one(parser, states, values, kind)
            else:
                _reduce(parser, states, values, action)
            if states[-1] == parser.end:
                return cast(Tree, values[-1])
        if action is None:
            expected = parser.expected(states[-1])
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


def _reduce_one(parser: StatementParser, states: list[int], values: list[Any], kind: str) -> None:
    """Reduce the last symbol, and again, as long as that reduces nothing else with it."""
    place = states[-2], states[-1], kind
    chain = parser.chains.get(place) or parser.chain(*place)
    for callback in chain.callbacks:
        values[-1] = callback([values[-1]])
    states[-1] = chain.state


def _reduce(
    parser: StatementParser, states: list[int], values: list[Any], reduction: Reduction
) -> None:
    size, callback, nonterminal = reduction
    if callback is not None:
        values[len(values) - size :] = [callback(values[len(values) - size :])]
    del states[len(states) - size :]
    states.append(cast(int, parser.actions[states[-1]][nonterminal]))
