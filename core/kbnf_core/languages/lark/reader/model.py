"""A Lark grammar as a grammar over lexemes: names, imports and templates are gone.

Rules are made of lexemes (one use of a terminal each), calls, and KBNF that was made elsewhere.
Nodes are compared by identity: the position of a lexeme decides which others it is confused with.

``only_useful`` removes parts that can consume no lexeme, so that every remaining position has a
continuation; unproductive parts stay: they never match, but the lexer expects their lexemes.
``make_shallow`` splits deep parts into rules of their own, since later passes recurse into parts.

Tests: tests/unit/languages/lark
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import TypeAlias

from kbnf_core.automata import operations
from kbnf_core.automata.beginnings import Beginnings, members
from kbnf_core.automata.dfa import Dfa
from kbnf_core.automata.traversal import fold
from kbnf_core.ir import Call, Choice, Repeat, Sequence, children, postorder, rebuild
from kbnf_core.ir.analysis import fixpoint, reachable
from kbnf_core.kbnf import tree
from kbnf_core.languages.lark.lexer.lookahead import Lookahead
from kbnf_core.text.budget import Budget
from kbnf_core.text.source import Span

MOST_VARIANTS = 2_000
"""Pairs of a rule and a state, and variants of rules that are written, beyond one for each rule."""


class TooManyVariantsError(Exception):
    """More variants than the limit."""


class Lexing(Enum):
    """How text is cut into lexemes.

    ``LLGUIDANCE``: a lexeme goes on as long as the next byte keeps any terminal alive that may
    occur here. ``EARLEY``: Lark's dynamic lexer, each terminal matches as Python's ``re`` does,
    whatever else could. ``LALR``: Lark's contextual lexer, the first terminal in Lark's order that
    matches wins. ``SCANNERLESS``: any cut will do.
    """

    LLGUIDANCE = "llguidance"
    EARLEY = "earley"
    LALR = "lalr"
    SCANNERLESS = "scannerless"


@dataclass(frozen=True, slots=True, eq=False)
class TerminalOrder:
    """Lark's order of terminals in one scanner: the first in order wins.

    ``keyword`` contains the text of a terminal that is a plain string, ``regexp`` the pattern.
    """

    key: tuple[int, int, int, str]
    keyword: bytes | None = None
    flags: frozenset[str] = frozenset()
    regexp: str = ""


Stopped: TypeAlias = Callable[[bytes], Dfa]
"""Returns the words of a terminal that a text of its ``stop`` ends."""


@dataclass(frozen=True, slots=True, eq=False)
class LarkTerminal:
    """A set of lexemes.

    ``dfa`` has their words, none of them empty; its states may be more than the fewest.
    ``rests[state]`` are the texts before which a lexeme may end in that accepting state.
    ``written`` is the terminal in KBNF, where there is a plain way to write it.
    ``name`` is None for terminals that are in a rule. A lexeme of a lazy terminal ends at once,
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
    order: TerminalOrder | None = None
    is_lazy: bool = False
    is_nullable: bool = False
    unit: Dfa | None = None
    terminals: tuple["LarkTerminal", ...] = ()
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

    terminal: LarkTerminal
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Embedded:
    """Something that has no lexemes: a special token, a JSON schema, a nested grammar.

    ``first`` are the bytes it may start with, as in ``masks``; it is never empty.
    ``is_grammar`` distinguishes a grammar of its own from a token: no ignored text is before it.
    """

    expression: tree.Expression
    first: int
    span: Span
    is_grammar: bool = False


Node: TypeAlias = Lexeme | Call | Embedded | Sequence["Node"] | Choice["Node"] | Repeat["Node"]


@dataclass(frozen=True, slots=True, eq=False)
class IndenterTerminals:
    """The terminals of an indenter: ``indent`` and ``dedent`` mark where blocks begin and end.

    ``opening`` and ``closing`` are the names of brackets, in which ``newline`` is dropped.
    ``tab`` is the width of a tab, in columns.
    """

    newline: LarkTerminal
    indent: LarkTerminal
    dedent: LarkTerminal
    opening: frozenset[str]
    closing: frozenset[str]
    tab: int


@dataclass(frozen=True, slots=True, eq=False)
class LexicalGrammar:
    """Rules over lexemes; ``ignored`` is the terminal of texts between lexemes.

    ``skips_first`` says whether ignored text may be before the first lexeme. With a ``layout``,
    the rules have its marks until ``lexer.layout`` makes rules of blocks, ``blocks``, of them.
    """

    start: str
    rules: Mapping[str, Node]
    spans: Mapping[str, Span]
    ignored: LarkTerminal | None
    skips_first: bool
    layout: IndenterTerminals | None = None
    blocks: frozenset[str] = frozenset()

    @property
    def most_variants(self) -> int:
        """The greatest number of variants of all rules; an indenter's brackets double the rules."""
        has_modes = self.layout is not None and bool(self.layout.opening)
        return len(self.rules) + MOST_VARIANTS * (2 if has_modes else 1)


def lexeme(made: LarkTerminal, nullable: bool, span: Span) -> Node:
    """Return a use of a terminal, which may also be empty."""
    if made.dfa.is_empty:
        return Repeat(Choice((), span), 0, 1, span) if nullable else Choice((), span)
    use = Lexeme(made, span)
    return Repeat(use, 0, 1, span) if nullable else use


_Matches = tuple[bool, bool]
"""Whether there is a text, and whether some lexeme is ever expected."""


def _matches_of(grammar: LexicalGrammar) -> Mapping[str, _Matches]:
    nothing: _Matches = (False, False)
    return fixpoint(
        _callees(grammar), nothing, lambda name, matches: _reduced(grammar.rules[name], matches)[1]
    )


def is_endless(grammar: LexicalGrammar) -> bool:
    """Return whether lexemes are expected, but no text ever ends, however it is cut."""
    return _matches_of(grammar)[grammar.start] == (False, True)


def only_useful(grammar: LexicalGrammar) -> LexicalGrammar:
    """Return ``grammar`` without parts in which no lexeme is ever expected."""
    rules = _matches_of(grammar)
    bodies = {name: _reduced(body, rules)[0] for name, body in grammar.rules.items()}
    return only_reached(replace(grammar, rules=bodies))


def only_reached(grammar: LexicalGrammar) -> LexicalGrammar:
    """Return ``grammar`` with the rules that the start reaches."""
    reached = reachable([grammar.start], _callees(grammar))
    kept = {name: body for name, body in grammar.rules.items() if name in reached}
    return replace(grammar, rules=kept)


def _callees(grammar: LexicalGrammar) -> dict[str, list[str]]:
    return {
        name: [node.nonterminal for node in postorder(body) if isinstance(node, Call)]
        for name, body in grammar.rules.items()
    }


def _reduced(root: Node, rules: Mapping[str, _Matches]) -> tuple[Node, _Matches]:
    """Return ``root`` without useless parts, and what it matches."""

    def reduce(node: Node, pairs: list[tuple[Node, _Matches]]) -> tuple[Node, _Matches]:
        matches = _matches(node, [match_ for _, match_ in pairs], rules)
        kept = tuple(operand for operand, _ in pairs)
        if not matches[1]:
            empty: Node = Sequence((), node.span) if matches[0] else Choice((), node.span)
            return empty, matches
        if isinstance(node, Sequence):
            kept = tuple(p for p in kept if not isinstance(p, Sequence) or p.operands)
        elif isinstance(node, Choice):
            kept = tuple(p for p in kept if not isinstance(p, Choice) or p.branches)
        return rebuild(node, kept), matches

    return fold(root, children, reduce)


def _matches(node: Node, matches_of: list[_Matches], rules: Mapping[str, _Matches]) -> _Matches:
    match node:
        case Call(name):
            return rules[name]
        case Sequence():
            # The lexer expects no lexeme after an operand that never ends.
            stop = next(
                (n for n, match_ in enumerate(matches_of, 1) if not match_[0]), len(matches_of)
            )
            return all(any_ for any_, _ in matches_of), any(
                expects for _, expects in matches_of[:stop]
            )
        case Choice():
            return any(any_ for any_, _ in matches_of), any(expects for _, expects in matches_of)
        case Repeat(_, low):
            return low == 0 or matches_of[0][0], matches_of[0][1]
    return True, True


def written_alternatives(
    rules: Mapping[str, Node], lexing: Lexing, budget: Budget
) -> dict[Span, tuple[Span, bool]]:
    """Return where alternatives are, with their choices, and whether one can go by itself.

    Without a lexeme, LLGuidance's lexer may end others sooner: it can go if another is alive
    wherever it is. Lark's contextual lexer may find other terminals instead, so none can.
    """
    alternatives: dict[Span, tuple[Span, bool]] = {}
    for body in rules.values():
        for node in postorder(body):
            if not isinstance(node, Choice):
                continue
            patterns = _Patterns([p for p in map(_pattern_of, node.branches) if p is not None])
            for branch in node.branches:
                can_go = lexing in (Lexing.EARLEY, Lexing.SCANNERLESS) or (
                    lexing is Lexing.LLGUIDANCE and patterns.match_all(branch, budget)
                )
                before = alternatives.get(branch.span, (node.span, can_go))
                # An argument of a template is an alternative of several choices: it can go only
                # where all of them are the same choice of the source.
                alternatives[branch.span] = (node.span, can_go and before == (node.span, can_go))
    return alternatives


def _pattern_of(branch: Node) -> LarkTerminal | None:
    """Return the terminal of an alternative that is more than one text."""
    is_text = isinstance(branch, Lexeme) and isinstance(branch.terminal.written, tree.Terminal)
    return branch.terminal if isinstance(branch, Lexeme) and not is_text else None


class _Patterns:
    """The patterns of a choice; those that may share words with a lexeme are compared with it."""

    def __init__(self, patterns: list[LarkTerminal]) -> None:
        self._patterns = patterns
        self._beginnings = Beginnings(pattern.dfa for pattern in patterns)

    def match_all(self, branch: Node, budget: Budget) -> bool:
        """Return whether one of the patterns beside a lexeme matches all of its words."""
        if not isinstance(branch, Lexeme) or branch.terminal.is_lazy:
            return False
        dfa = branch.terminal.dfa
        word = operations.shortest_word(dfa) or b""
        for number in members(self._beginnings.near(dfa)):
            other = self._patterns[number]
            budget.spend()
            if other is not branch.terminal and not other.is_lazy and other.dfa.accepts(word):
                budget.spend(dfa.state_count + other.dfa.state_count)
                if operations.difference(dfa, other.dfa).is_empty:
                    return True
        return False


_DEEPEST = 12
"""Parts inside one another in one rule."""


def make_shallow(
    rules: Mapping[str, Node], spans: Mapping[str, Span]
) -> tuple[dict[str, Node], dict[str, Span]]:
    """Split rules that are deeper than the limit; return all rules and their spans."""
    shallow: dict[str, Node] = {}
    spans_of = dict(spans)
    for name, body in rules.items():
        count = len(shallow)

        def split(
            node: Node, pairs: list[tuple[Node, int]], name: str = name, count: int = count
        ) -> tuple[Node, int]:
            depth = 1 + max((depth for _, depth in pairs), default=0)
            whole = rebuild(node, (operand for operand, _ in pairs))
            if depth <= _DEEPEST:
                return whole, depth
            operand = f"{name}@part{len(shallow) - count + 1}"
            shallow[operand], spans_of[operand] = whole, node.span
            return Call(operand, node.span), 1

        shallow[name] = fold(body, children, split)[0]
    return shallow, spans_of
