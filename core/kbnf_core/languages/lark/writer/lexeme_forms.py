"""Parts of a grammar that can be LLGuidance lexemes: their maximal-munch split is unambiguous.

The lexer extends a lexeme while any expected terminal stays alive, so a lexeme longer than one
character is split wrongly where a text that follows could also extend it. All regular rules and
parts begin as lexemes; ambiguous ones are taken apart, rules first, until the split is unambiguous.
Single characters are always right: they all have one length.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from kbnf_core import ir
from kbnf_core.automata import operations
from kbnf_core.automata.characters import CharacterDfa, to_characters
from kbnf_core.automata.codepoints import CodePoints
from kbnf_core.automata.dfa import Dfa
from kbnf_core.automata.errors import LimitError
from kbnf_core.automata.expression import print_characters
from kbnf_core.automata.regex import compile_regex
from kbnf_core.budget import Budget
from kbnf_core.errors import WorkLimitError
from kbnf_core.ir import Choice, Repeat, Sequence
from kbnf_core.ir.analysis import callees_first
from kbnf_core.languages.conversion.build_tree import terminal as empty_terminal
from kbnf_core.languages.lark.lexer.first_follow import analyse, members
from kbnf_core.languages.lark.lexer.lookahead import ANYTHING, exits, outside
from kbnf_core.languages.lark.lexer.maximal_munch import LexemeSplitter
from kbnf_core.languages.lark.reader.model import (
    Call,
    Embedded,
    Lexeme,
    LexicalGrammar,
    Lexing,
    Node,
    Terminal,
)
from kbnf_core.limits import Limits
from kbnf_core.source import Span
from kbnf_core.traversal import fold

_MOST_JOINED = 200
"""States of a rule that becomes one terminal; larger ones read better in parts."""

_MOST_STATES = 10_000
"""States of all parts; where there are more, all are written in characters."""

_Owner = str | int
"""The rule, or the identity of the node, that a lexeme was made of."""


@dataclass(frozen=True, slots=True)
class Forms:
    """``terminals``: rules that are one lexeme; ``split``: nodes, by identity, in characters."""

    terminals: frozenset[str]
    split: frozenset[int]


def choose_forms(grammar: ir.Grammar, texts: Mapping[int, Dfa], limits: Limits) -> Forms:
    """Return the forms; ``texts`` are the words of literals and regular parts, by identity.

    Where telling terminals apart takes too much work, everything is written by characters.
    """
    if sum(dfa.state_count for dfa in texts.values()) > _MOST_STATES:
        return Forms(frozenset(), frozenset(texts))
    try:
        return _chosen(grammar, texts, Budget(limits.work))
    except WorkLimitError:
        return Forms(frozenset(), frozenset(texts))


def _chosen(grammar: ir.Grammar, texts: Mapping[int, Dfa], budget: Budget) -> Forms:
    regular = _regular_rules(grammar, texts)
    made = _Made(LexemeSplitter(Lexing.LLGUIDANCE, budget))
    joined = {name for name in regular if name != grammar.start}
    split: set[int] = set()
    while True:
        draft = _Draft(grammar, texts, regular, joined, split, made)
        conflicts = _conflicts(draft.lexical(), made.cutter, draft.owners)
        rules = {owner for owners in conflicts for owner in owners if isinstance(owner, str)}
        nodes = {owner for owners in conflicts for owner in owners if isinstance(owner, int)}
        if not conflicts:
            return Forms(frozenset(joined), frozenset(split))
        if not rules and not nodes:
            return Forms(frozenset(), frozenset(texts))
        joined -= rules
        split |= set() if rules else nodes


def _regular_rules(grammar: ir.Grammar, texts: Mapping[int, Dfa]) -> dict[str, Dfa]:
    """Return the languages of the rules that are regular as they stand: without recursion."""
    callees = {
        name: [call.nonterminal for call in ir.calls(body)] for name, body in grammar.rules.items()
    }
    found: dict[str, Dfa] = {}
    for name in callees_first(callees, callees):
        if all(callee in found for callee in callees[name]):
            dfa = _language(grammar.rules[name], texts, found)
            if dfa is not None and not dfa.is_empty and dfa.state_count <= _MOST_JOINED:
                found[name] = dfa
    return found


def _language(root: ir.Node, texts: Mapping[int, Dfa], rules: Mapping[str, Dfa]) -> Dfa | None:
    """Return the language of a part whose calls are known; None for tokens, or too many states."""

    def combine(node: ir.Node, parts: list[Dfa]) -> Dfa:
        match node:
            case ir.Literal() | ir.Regular():
                return texts[id(node)]
            case ir.Call(name):
                return rules[name]
            case ir.Sequence():
                return operations.concatenate(*parts)
            case ir.Choice():
                return operations.union(*parts)
            case ir.Repeat(_, low, high):
                return operations.repeat(parts[0], low, high)
            case ir.Token():
                return operations.empty()

    if any(isinstance(node, ir.Token) for node in ir.postorder(root)):
        return None
    try:
        return fold(root, ir.children, combine)
    except LimitError:
        return None


def _conflicts(
    grammar: LexicalGrammar, cutter: LexemeSplitter, owners: Mapping[int, _Owner]
) -> list[set[_Owner]]:
    """Return what each lexeme that may be cut wrongly, and its rivals, are made of."""
    positions = analyse(grammar, cutter.confusable)
    found = []
    for number, leaf in enumerate(positions.leaves):
        if not isinstance(leaf, Lexeme):
            continue
        rivals = [positions.leaves[each] for each in members(positions.may[number])]
        terminals = {each.terminal: None for each in rivals if isinstance(each, Lexeme)}
        cut = cutter.cut(leaf.terminal, (), terminals, positions.following[number])
        if not cut.doubts and [part.rest for part in cut.classes] == [ANYTHING]:
            continue
        guilty = {leaf.terminal, *(doubt.companion for doubt in cut.doubts)}
        involved = [leaf, *(r for r in rivals if isinstance(r, Lexeme) and r.terminal in guilty)]
        found.append({owners[id(each)] for each in involved if id(each) in owners})
    return found


@dataclass(slots=True)
class _Made:
    """Terminals, and what is known of them, from one draft to the next."""

    cutter: LexemeSplitter
    terminals: dict[_Owner, Terminal] = field(default_factory=dict)
    characters: dict[CodePoints, Terminal] = field(default_factory=dict)


@dataclass(slots=True)
class _Draft:
    """A grammar over lexemes; ``owners`` tells what each lexeme longer than a character is of."""

    source: ir.Grammar
    texts: Mapping[int, Dfa]
    regular: Mapping[str, Dfa]
    joined: set[str]
    split: set[int]
    made: _Made
    owners: dict[int, _Owner] = field(default_factory=dict)
    _rules: dict[str, Node] = field(default_factory=dict)

    def lexical(self) -> LexicalGrammar:
        """Return the rules that the start reaches, over lexemes."""
        pending = [self.source.start]
        for name in pending:
            self._rules[name] = self._node(self.source.rules[name])
            for call in ir.calls(self.source.rules[name]):
                if call.nonterminal not in self.joined and call.nonterminal not in pending:
                    pending.append(call.nonterminal)
        spans = dict.fromkeys(self._rules, Span(0, 0))
        return LexicalGrammar(self.source.start, self._rules, spans, None, False)

    def _node(self, root: ir.Node) -> Node:
        return fold(root, ir.children, self._one)

    def _one(self, node: ir.Node, parts: list[Node]) -> Node:
        match node:
            case ir.Literal() | ir.Regular():
                if id(node) in self.split:
                    return self._spelt(id(node), self.texts[id(node)], node.span)
                return self._lexeme(id(node), self.texts[id(node)], node.span)
            case ir.Token(_, span):
                return Embedded(empty_terminal("", span), 0, span)
            case ir.Call(name, span):
                if name in self.joined:
                    return self._lexeme(name, self.regular[name], span)
                return Call(name, span)
            case Sequence(_, span):
                return Sequence(tuple(parts), span)
            case Choice(_, span):
                return Choice(tuple(parts), span)
            case Repeat(_, low, high, span):
                return Repeat(parts[0], low, high, span)

    def _lexeme(self, owner: _Owner, dfa: Dfa, span: Span) -> Node:
        if owner not in self.made.terminals:
            solid = operations.difference(dfa, operations.literal(b"")) if dfa.is_nullable else dfa
            self.made.terminals[owner] = _terminal(str(owner), solid, span)
        made = self.made.terminals[owner]
        leaf = Lexeme(made, span)
        self.owners[id(leaf)] = owner
        node: Node = Choice((), span) if made.dfa.is_empty else leaf
        return Repeat(node, 0, 1, span) if dfa.is_nullable else node

    def _spelt(self, owner: int, dfa: Dfa, span: Span) -> Node:
        """Return the words in characters: a rule for each state, right-linear."""
        if dfa.is_empty:
            return Choice((), span)
        names = [f"@{owner}.{state}" for state in range(dfa.state_count)]
        if names[0] not in self._rules:
            self._spell(to_characters(dfa), names, span)
        return Call(names[0], span)

    def _spell(self, characters: CharacterDfa, names: list[str], span: Span) -> None:
        for state, edges in enumerate(characters.edges):
            branches: list[Node] = [Sequence((), span)] if characters.accepting[state] else []
            for points, target in edges:
                step = Lexeme(self._character(points, span), span)
                branches.append(Sequence((step, Call(names[target], span)), span))
            self._rules[names[state]] = Choice(tuple(branches), span)

    def _character(self, points: CodePoints, span: Span) -> Terminal:
        if points not in self.made.characters:
            dfa = compile_regex(print_characters(points)).dfa or operations.empty()
            self.made.characters[points] = _terminal("character", dfa, span)
        return self.made.characters[points]


def _terminal(title: str, dfa: Dfa, span: Span) -> Terminal:
    rests = () if dfa.is_empty else tuple(outside(mask) for mask in exits(dfa))
    return Terminal(title, None, dfa, span, rests)
