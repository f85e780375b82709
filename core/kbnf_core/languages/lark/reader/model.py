"""A Lark grammar as a grammar over lexemes: names, imports and templates are gone.

Rules are made of lexemes (one use of a terminal each), calls, and KBNF that was made elsewhere.
Nodes are compared by identity: where a lexeme stands decides what may be confused with it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from kbnf_core.automata.dfa import Dfa
from kbnf_core.ir import Choice, Repeat, Sequence
from kbnf_core.languages.lark.lexer.lookahead import Lookahead
from kbnf_core.source import Span
from kbnf_core.syntax import tree


class Lexing(Enum):
    """How text is cut into lexemes.

    ``LLGUIDANCE``: a lexeme goes on as long as the next byte keeps any terminal alive that may
    come here. ``EARLEY``: Lark's dynamic lexer, each terminal matches as Python's ``re`` does,
    whatever else could. ``LALR``: Lark's contextual lexer, the first terminal in Lark's order that
    matches wins. ``SCANNERLESS``: any cut will do.
    """

    LLGUIDANCE = "llguidance"
    EARLEY = "earley"
    LALR = "lalr"
    SCANNERLESS = "scannerless"


@dataclass(frozen=True, slots=True, eq=False)
class Order:
    """Lark's order of terminals in one scanner: the first in order wins.

    ``keyword`` holds the text of a terminal that is a plain string, ``regexp`` the pattern.
    """

    key: tuple[int, int, int, str]
    keyword: bytes | None = None
    flags: frozenset[str] = frozenset()
    regexp: str = ""


Stopped: TypeAlias = Callable[[bytes], Dfa]
"""Returns the words of a terminal that a text of its ``stop`` ends."""


@dataclass(frozen=True, slots=True, eq=False)
class Terminal:
    """A set of lexemes.

    ``dfa`` has their words, none of them empty; its states may be more than the fewest.
    ``rests[state]`` are the texts before which a lexeme may end in that accepting state.
    ``written`` is the terminal in KBNF, where there is a plain way to write it.
    ``name`` is None for terminals that stand in a rule. A lexeme of a lazy terminal ends at once,
    whatever else is alive. Where the empty text is a lexeme too (``is_nullable``), uses are
    optional. Ignored text is a run of lexemes of the terminals ``parts``;
    ``unit`` has the words of one of them. ``beginnings`` are the texts at whose start Lark's
    contextual lexer finds one. ``stopped`` are, for each text of a ``stop``, the words that end
    with it. ``opening`` is a regular expression that begins as it was written, where that is known.
    ``awaits_end``: the end of the sequence may end a lexeme, too, and the text goes on.
    """

    key: str
    name: str | None
    dfa: Dfa
    span: Span
    rests: tuple[Lookahead, ...]
    written: tree.Expression | None = None
    order: Order | None = None
    is_lazy: bool = False
    is_nullable: bool = False
    unit: Dfa | None = None
    parts: tuple["Terminal", ...] = ()
    beginnings: Lookahead | None = None
    stopped: Stopped | None = None
    opening: str | None = None
    awaits_end: bool = False

    @property
    def title(self) -> str:
        """What to call it in messages."""
        return self.name or self.key


@dataclass(frozen=True, slots=True, eq=False)
class Lexeme:
    """One use of a terminal."""

    terminal: Terminal
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """A rule."""

    name: str
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Embedded:
    """Something that has no lexemes: a special token, a JSON schema, a nested grammar.

    ``first`` are the bytes it may start with, as in ``masks``; it is never empty.
    ``is_grammar`` tells a grammar of its own from a token: no ignored text stands before it.
    """

    expression: tree.Expression
    first: int
    span: Span
    is_grammar: bool = False


Node: TypeAlias = Lexeme | Call | Embedded | Sequence["Node"] | Choice["Node"] | Repeat["Node"]


@dataclass(frozen=True, slots=True, eq=False)
class LexicalGrammar:
    """Rules over lexemes; ``ignored`` is the terminal of texts between lexemes.

    ``embedded`` are definitions in KBNF that ``Embedded`` nodes refer to. ``skips_first`` tells
    whether ignored text may stand before the first lexeme.
    """

    start: str
    rules: Mapping[str, Node]
    spans: Mapping[str, Span]
    ignored: Terminal | None
    skips_first: bool
    embedded: tuple[tree.Definition, ...] = field(default=())


def lexeme(made: Terminal, nullable: bool, span: Span) -> Node:
    """Return a use of a terminal, which may also be empty."""
    if made.dfa.is_empty:
        return Repeat(Choice((), span), 0, 1, span) if nullable else Choice((), span)
    use = Lexeme(made, span)
    return Repeat(use, 0, 1, span) if nullable else use
