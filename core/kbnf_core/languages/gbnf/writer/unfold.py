"""Unfolds the syntax tree of KBNF into GBNF expressions, rule by rule.

Regular expressions are unfolded as they are written where they are made of characters only.
Everything else that is regular (``except!``, ``#e``, ``#ex``, ``#substrs``, anchors) has an
automaton; cut down to texts it is written out as an expression, or as right-linear rules where
that would be too long to read.
"""

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

from kbnf_core import ir
from kbnf_core.automata import operations
from kbnf_core.automata.characters import CharacterDfa, to_characters
from kbnf_core.automata.codepoints import ANY
from kbnf_core.automata.dfa import Dfa
from kbnf_core.automata.errors import LimitError
from kbnf_core.automata.expression import Builder
from kbnf_core.automata.regex.compile import compile_regex
from kbnf_core.automata.regex.parse import parse_regex
from kbnf_core.automata.regex.syntax import Assertion, Characters
from kbnf_core.automata.to_regex import to_expression
from kbnf_core.expression import EMPTY, NOTHING, postorder
from kbnf_core.languages.gbnf.writer.expression import (
    Call,
    Node,
    Rules,
    Token,
    alternation,
    characters,
    of_regex,
    repetition,
    sequence,
    text,
)
from kbnf_core.limits import Limits
from kbnf_core.source import Span
from kbnf_core.syntax import tree
from kbnf_core.syntax.conversion import Loss
from kbnf_core.traversal import fold

MOST_LEAVES = 24
"""Sets of characters in an expression for an automaton; a longer one becomes rules."""

MOST_RULES = 5_000
"""Right-linear rules for one part."""

MOST_TOKENS = 64
"""Ids of a set of tokens that are written as alternatives."""

_WORDS = {
    tree.PatternKind.REGEX: "pattern",
    tree.PatternKind.EARLY: "earliest",
    tree.PatternKind.COMPLEMENT: "without",
    tree.PatternKind.SUBSTRINGS: "part",
}


class Unfolder:
    """Unfolds the definitions of one document; helper rules go to ``rules``, too.

    ``losses`` holds what could not be kept, by the name of the definition.
    """

    def __init__(self, grammar: ir.Grammar, limits: Limits) -> None:
        self.rules: Rules = {}
        self.losses: dict[str, list[Loss]] = {}
        self._dfas = _automata_by_place(grammar)
        self._limits = limits
        self._name = ""

    def add(self, definition: tree.Definition) -> None:
        """Unfold ``definition``; several of one name are alternatives."""
        self._name = definition.name.value
        body = self._unfold(definition.body)
        known = self.rules.get(self._name)
        self.rules[self._name] = body if known is None else alternation([known, body])

    def _unfold(self, root: tree.Expression) -> Node:
        return self._settle(fold(root, tree.children, self._combine))

    def _combine(self, node: tree.Expression, parts: "list[_Value]") -> "_Value":
        match node:
            case tree.Sequence():
                return sequence(self._settle(part) for part in _join_bytes(parts))
            case tree.Alternation():
                return alternation(self._settle(part) for part in parts)
            case tree.Repetition():
                return repetition(self._settle(parts[0]), node.low, node.high)
            case tree.Bracket(kind):
                low, high = _BRACKETS[kind]
                return repetition(self._settle(parts[0]), low, high)
            case _:
                return self._leaf(node)

    def _leaf(self, node: tree.Leaf) -> "_Value":
        match node:
            case tree.Terminal():
                return _Bytes(node.text.value.encode(), node.span)
            case tree.ByteString():
                return _Bytes(node.value, node.span)
            case tree.Reference():
                return Call(node.name.value)
            case tree.TokenName():
                return self._token_name(node)
            case tree.TokenSet():
                return self._token_set(node)
            case tree.Pattern():
                return self._pattern(node)
            case tree.Exception_():
                return self._automaton(self._dfas[node.span], node.span, "except")

    def _settle(self, value: "_Value") -> Node:
        """Return bytes as the text they are."""
        if not isinstance(value, _Bytes):
            return value
        data, span = value
        try:
            return text(data.decode())
        except UnicodeDecodeError:
            self._lose("W401", f"the bytes {data.hex(' ')} are not UTF-8 text", span)
            return NOTHING

    def _pattern(self, node: tree.Pattern) -> Node:
        if node.kind is tree.PatternKind.REGEX:
            parsed, _ = parse_regex(node.text.value, self._limits)
            if not any(isinstance(part, Assertion) for part in postorder(parsed)):
                return of_regex(parsed)
        return self._automaton(self._dfas[node.span], node.span, _WORDS[node.kind])

    def _automaton(self, dfa: Dfa, span: Span, word: str) -> Node:
        """Return the texts of ``dfa``; ``word`` tells what it is, for names of rules."""
        try:
            return self._texts(dfa, span, word)
        except LimitError:
            message = f"this needs more than {MOST_RULES:,} rules; any text is taken instead"
            self._lose("W404", message, span)
            return repetition(Characters(ANY), 0, None)

    def _texts(self, dfa: Dfa, span: Span, word: str) -> Node:
        anything = _any_text(self._limits)
        if not operations.difference(dfa, anything, self._limits).is_empty:
            message = "this also takes bytes that are not UTF-8, which GBNF cannot"
            self._lose("W401", message, span)
        texts = to_characters(operations.intersect(dfa, anything, self._limits))
        try:
            return to_expression(texts, Builder(), MOST_LEAVES)
        except LimitError:
            return self._right_linear(texts, word)

    def _right_linear(self, texts: CharacterDfa, word: str) -> Node:
        """Add a rule for every state and return a use of the first."""
        if len(texts.edges) > MOST_RULES:
            raise LimitError("rules", MOST_RULES)
        base = self._free_name(word)
        for state, edges in enumerate(texts.edges):
            branches = [
                sequence([characters(points), Call(f"{base}-{target}")]) for points, target in edges
            ]
            end = [EMPTY] if texts.accepting[state] else []
            self.rules[f"{base}-{state}"] = alternation([*branches, *end])
        return Call(f"{base}-0")

    def _free_name(self, word: str) -> str:
        """Return a name for a part of the rule at hand; names of KBNF have no hyphen."""
        number = 1
        while f"{self._name}-{word}{number}-0" in self.rules:
            number += 1
        return f"{self._name}-{word}{number}"

    def _token_name(self, node: tree.TokenName) -> Node:
        name = node.text.value
        if name.startswith("<") and name.endswith(">") and not set(name[1:-1]) & set("<>[\n"):
            return Token(name)
        self._lose("W402", f"GBNF names tokens as `<text>`; `{name}` becomes a text", node.span)
        return text(name)

    def _token_set(self, node: tree.TokenSet) -> Node:
        count = sum(high - low + 1 for low, high in node.ranges)
        first = node.ranges[0][0]
        if node.negated:
            if count > 1:
                message = f"GBNF can exclude one token only; here it excludes {first}"
                self._lose("W402", message, node.span)
            return Token(f"!<[{first}]>")
        if count > MOST_TOKENS:
            message = f"the set has more than {MOST_TOKENS} tokens; only the first are taken"
            self._lose("W402", message, node.span)
        ids = [
            token
            for low, high in node.ranges
            for token in range(low, min(high, low + MOST_TOKENS) + 1)
        ]
        return alternation(Token(f"<[{token}]>") for token in ids[:MOST_TOKENS])

    def _lose(self, code: str, message: str, span: Span) -> None:
        self.losses.setdefault(self._name, []).append(Loss(code, message, span))


class _Bytes(NamedTuple):
    """Bytes that may be a text only together with their neighbours."""

    data: bytes
    span: Span


_Value: TypeAlias = Node | _Bytes

_BRACKETS: Mapping[tree.BracketKind, tuple[int, int | None]] = {
    tree.BracketKind.GROUP: (1, 1),
    tree.BracketKind.OPTIONAL: (0, 1),
    tree.BracketKind.REPEATED: (0, None),
}


def _join_bytes(parts: list[_Value]) -> list[_Value]:
    """Join neighbouring bytes: together they may be a text where alone they are none."""
    joined: list[_Value] = []
    for part in parts:
        last = joined[-1] if joined else None
        if isinstance(part, _Bytes) and isinstance(last, _Bytes):
            joined[-1] = _Bytes(last.data + part.data, last.span.cover(part.span))
        else:
            joined.append(part)
    return joined


def _automata_by_place(grammar: ir.Grammar) -> dict[Span, Dfa]:
    return {
        node.span: node.dfa
        for body in grammar.rules.values()
        for node in ir.postorder(body)
        if isinstance(node, ir.Regular)
    }


def _any_text(limits: Limits) -> Dfa:
    compiled = compile_regex("(?s:.)*", limits).dfa
    return operations.empty() if compiled is None else compiled
