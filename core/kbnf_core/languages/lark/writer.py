"""From KBNF to LLGuidance's Lark.

Strings, regular expressions and whole regular rules become lexemes where their maximal-munch split
is unambiguous; the others are written character by character.

The lexer extends a lexeme while any expected terminal stays alive, so a lexeme longer than one
character is split wrongly where a text that follows could also extend it. All regular parts, and
rules that are small, begin as lexemes; ambiguous ones are taken apart, rules first, until the split
is unambiguous. Before parts of a larger regular rule are, that rule is tried as one lexeme. Single
characters are always right: they all have one length.

What Lark itself reads otherwise, or not at all, is marked as LLGuidance's by its first line:
several characters in one regular expression, counts, terminals with names, tokens, the empty text.
The rest both read alike, so it is spelled with escapes that both have.

Tests: tests/unit/languages/lark
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Sequence as Several
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain

from kbnf_core import ir
from kbnf_core.automata import operations
from kbnf_core.automata.beginnings import exits, members
from kbnf_core.automata.codepoints import CodePoints
from kbnf_core.automata.dfa import Dfa
from kbnf_core.automata.expression import print_characters
from kbnf_core.automata.regex.compile import compile_regex
from kbnf_core.automata.to_regex import CharacterDfa, to_characters, to_regex
from kbnf_core.automata.traversal import fold
from kbnf_core.conversion.automata import single_characters
from kbnf_core.conversion.evidence import going_on
from kbnf_core.frontend import Language, Reading, nothing_kept
from kbnf_core.ir import Call, Choice, Repeat, Sequence
from kbnf_core.ir.analysis import callees_first
from kbnf_core.ir.build import Uncompiled
from kbnf_core.ir.names import FreshNames
from kbnf_core.kbnf.build import text
from kbnf_core.kbnf.parsed import NO_AUTOMATA, Conversion, Expressed, Loss
from kbnf_core.languages.lark.lexer.first_follow import analyse
from kbnf_core.languages.lark.lexer.lookahead import ANYTHING, outside
from kbnf_core.languages.lark.lexer.maximal_munch import LexemeSplitter
from kbnf_core.languages.lark.reader.model import (
    Embedded,
    LarkTerminal,
    Lexeme,
    LexicalGrammar,
    Lexing,
    Node,
)
from kbnf_core.lower.endless import infinite_texts
from kbnf_core.lower.facts import analyse as facts_of
from kbnf_core.lower.facts import useful
from kbnf_core.lower.regular import automaton_of
from kbnf_core.text.budget import Budget
from kbnf_core.text.errors import GrammarError, LimitError, WorkLimitError
from kbnf_core.text.limits import DEFAULT_LIMITS, Limits
from kbnf_core.text.source import Span

_FEW_JOINED, _MOST_JOINED = 200, 5_000
"""States of a rule that is one terminal at first, and of one that becomes it before its parts are
written by characters; larger ones read better in parts."""

_MOST_CALLED = 1_000
"""States of the rules together that a rule calls which may be one terminal."""

Words = Callable[[ir.Literal | ir.Regular], Dfa]
"""Returns the automaton of the words of a part."""

_Owner = str | int
"""The rule, or the identity of the node, that a lexeme was made of."""


@dataclass(frozen=True, slots=True)
class Forms:
    """``terminals``: rules that are one lexeme; ``split``: nodes, by identity, in characters."""

    terminals: frozenset[str]
    split: frozenset[int]


def choose_forms(
    grammar: ir.GrammarRules,
    words: Words,
    joined: "_Joined",
    limits: Limits,
) -> Forms:
    """Return the forms; ``words`` returns the automaton of a literal or a regular part.

    Where telling terminals apart takes too much work, everything is written by characters.
    """
    try:
        return _chosen(grammar, words, joined, Budget(limits.work)) or joined.by_characters()
    except WorkLimitError:
        return joined.by_characters()


def _chosen(
    grammar: ir.GrammarRules, words: Words, joined: "_Joined", budget: Budget
) -> Forms | None:
    """Return the forms; None where characters cannot be told apart."""
    made = _Made(LexemeSplitter(Lexing.LLGUIDANCE, budget))
    split: set[int] = set()
    while True:
        draft = _Draft(grammar, words, joined, split, made)
        conflicts = _conflicts(draft.lexical(), made.cutter, draft.owners)
        rules = {owner for owners in conflicts for owner in owners if isinstance(owner, str)}
        nodes = {owner for owners in conflicts for owner in owners if isinstance(owner, int)}
        if not conflicts:
            return Forms(draft.terminals, frozenset(split))
        if not rules and not nodes:
            return None
        joined.apart |= rules
        if not rules and not joined.join_around(nodes):
            split |= nodes


class _Joined:
    """The rules that are one lexeme, which are regular: those that are small, and not ``apart``.

    A rule is looked at where it is first called, so those inside of a lexeme are not. ``automata``
    are those of rules, as far as they are known.
    """

    def __init__(
        self, nodes: Mapping[str, Several[ir.Node]], start: str, automata: Mapping[str, Dfa]
    ) -> None:
        self._nodes = nodes
        self._automata: dict[str, Dfa | None] = dict(automata)
        # The calls in the rules whose automata are not known.
        self._open = {name: _calls_in(nodes[name]) for name in nodes.keys() - automata.keys()}
        # Larger rules that were called, each tried once before its parts are written by characters.
        self._larger: dict[str, Dfa] = {}
        self._tried: set[str] = set()
        self.apart = {start}

    def by_characters(self) -> Forms:
        """Return the forms in which nothing is longer than a character."""
        return Forms(frozenset(), frozenset(map(id, chain.from_iterable(self._nodes.values()))))

    def lexeme(self, name: str) -> Dfa | None:
        """Return the automaton of a rule that is one lexeme."""
        if name in self.apart:
            return None
        dfa = self._automaton(name)
        if dfa is None or dfa.state_count <= _FEW_JOINED or name in self._tried:
            return dfa
        self._larger[name] = dfa
        return None

    def join_around(self, nodes: set[int]) -> bool:
        """Make larger rules with some of these nodes one lexeme; return whether there are any."""
        around = {
            name
            for name in self._larger.keys() - self._tried
            if not nodes.isdisjoint(map(id, self._nodes[name]))
        }
        self._tried |= around
        return bool(around)

    def _automaton(self, name: str) -> Dfa | None:
        """Return the language of a rule that is regular as it is: without recursion."""
        if name not in self._automata:
            for callee in callees_first([name], self._open):
                self._automata[callee] = self._made(callee, self._open.pop(callee))
        return self._automata[name]

    def _made(self, name: str, callees: Several[str]) -> Dfa | None:
        called = {callee: self._automata.get(callee) for callee in callees}
        automata = {callee: dfa for callee, dfa in called.items() if dfa is not None}
        if len(automata) < len(called) or any(isinstance(n, ir.Token) for n in self._nodes[name]):
            return None
        # Rules of an automaton's states that call each other would each be that automaton again.
        if sum(automata[callee].state_count for callee in callees) > _MOST_CALLED:
            return None
        with suppress(LimitError):
            dfa = automaton_of(self._nodes[name][-1], automata.__getitem__, 4 * _MOST_JOINED)
            if not dfa.is_empty and dfa.state_count <= _MOST_JOINED:
                return dfa
        return None


def _conflicts(
    grammar: LexicalGrammar, cutter: LexemeSplitter, owners: Mapping[int, _Owner]
) -> list[set[_Owner]]:
    """Return what each lexeme that may be cut wrongly, and its rivals, are made of."""
    positions = analyse(grammar, cutter.confusable, cutter.budget)
    conflicts = []
    for number, leaf in enumerate(positions.leaves):
        if not isinstance(leaf, Lexeme):
            continue
        rivals = [
            positions.leaves[rival]
            for rival in members(positions.may[number] & positions.near(number))
        ]
        terminals = {rival.terminal: None for rival in rivals if isinstance(rival, Lexeme)}
        cut = cutter.cut(leaf.terminal, (), terminals, positions.following[number])
        if not cut.doubts and [word_class.rest for word_class in cut.classes] == [ANYTHING]:
            continue
        guilty = {leaf.terminal, *(doubt.companion for doubt in cut.doubts)}
        involved = [leaf, *(r for r in rivals if isinstance(r, Lexeme) and r.terminal in guilty)]
        conflicts.append({owners[id(rival)] for rival in involved if id(rival) in owners})
    return conflicts


@dataclass(slots=True)
class _Made:
    """Terminals, and their facts, from one draft to the next."""

    cutter: LexemeSplitter
    terminals: dict[_Owner, LarkTerminal] = field(default_factory=dict)
    characters: dict[CodePoints, LarkTerminal] = field(default_factory=dict)


@dataclass(slots=True)
class _Draft:
    """A grammar over lexemes; ``owners`` has the owner of each lexeme longer than a character."""

    source: ir.GrammarRules
    words: Words
    joined: _Joined
    split: set[int]
    made: _Made
    owners: dict[int, _Owner] = field(default_factory=dict)
    _rules: dict[str, Node] = field(default_factory=dict)
    _lexemes: dict[str, Dfa | None] = field(default_factory=dict)

    @property
    def terminals(self) -> frozenset[str]:
        """The rules that are one lexeme."""
        return frozenset(name for name, dfa in self._lexemes.items() if dfa is not None)

    def lexical(self) -> LexicalGrammar:
        """Return the rules that the start reaches, over lexemes."""
        pending = dict.fromkeys([self.source.start])
        while pending:
            name = next(iter(pending))
            del pending[name]
            self._rules[name] = self._node(self.source.rules[name])
            for call in ir.calls(self.source.rules[name]):
                if self._lexemes[call.nonterminal] is None and call.nonterminal not in self._rules:
                    pending.setdefault(call.nonterminal)
        spans = dict.fromkeys(self._rules, Span(0, 0))
        return LexicalGrammar(self.source.start, self._rules, spans, None, False)

    def _node(self, root: ir.Node) -> Node:
        return fold(root, ir.children, self._one)

    def _one(self, node: ir.Node, operands: list[Node]) -> Node:
        match node:
            case ir.Literal() | ir.Regular():
                if id(node) in self.split:
                    return self._spelt(id(node), self.words(node), node.span)
                return self._lexeme(id(node), self.words(node), node.span)
            case ir.Token(_, span):
                return Embedded(text("", span), 0, span)
            case ir.Call(name, span):
                if name not in self._lexemes:
                    self._lexemes[name] = self.joined.lexeme(name)
                dfa = self._lexemes[name]
                return Call(name, span) if dfa is None else self._lexeme(name, dfa, span)
            case Sequence(_, span):
                return Sequence(tuple(operands), span)
            case Choice(_, span):
                return Choice(tuple(operands), span)
            case Repeat(_, low, high, span):
                return Repeat(operands[0], low, high, span)

    def _lexeme(self, owner: _Owner, dfa: Dfa, span: Span) -> Node:
        if owner not in self.made.terminals:
            # A lexer has no empty lexeme: without the empty text the lexeme is optional.
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

    def _character(self, points: CodePoints, span: Span) -> LarkTerminal:
        if points not in self.made.characters:
            dfa = compile_regex(print_characters(points)).dfa or operations.empty()
            self.made.characters[points] = _terminal("character", dfa, span)
        return self.made.characters[points]


def _terminal(title: str, dfa: Dfa, span: Span) -> LarkTerminal:
    rests = () if dfa.is_empty else tuple(map(outside, exits(dfa)))
    return LarkTerminal(title, None, dfa, span, rests)


LOST_BYTES = "W401"
LOST_FINISH = "W403"
LOST_SIZE = "W404"
_MOST_STATES = 5_000
"""States of a part that may have to be written as one rule each; LLGuidance has a limit on them."""

_TEXTS = compile_regex("(?s:.)*").dfa or operations.empty()


def _is_text(dfa: Dfa) -> bool:
    """Return whether all words are UTF-8, as those of an automaton over characters are."""
    return dfa.spelled is not None or operations.difference(dfa, _TEXTS).is_empty


def write_lark(reading: Reading, lark: Language, limits: Limits = DEFAULT_LIMITS) -> Conversion:
    """Return LLGuidance's Lark for a reading, whose start becomes ``start``.

    Raises ``GrammarError`` with all findings for a text with errors.
    """
    if reading.grammar is None:
        raise GrammarError(reading.diagnostics)
    rules, automata = reading.parsed.expressed() or Expressed(reading.grammar.rules, NO_AUTOMATA)
    grammar = ir.GrammarRules(reading.start, rules)
    if reading.is_endless:
        infinite = infinite_texts(grammar)
        if infinite is None:
            raise GrammarError(nothing_kept(reading, (), lark))
        grammar, automata = infinite, NO_AUTOMATA
    writer = _LarkWriter(reading, grammar, automata, lark, limits)
    text = writer.write()
    losses = (*reading.losses, *writer.losses, *_finish(reading))
    return Conversion(text, not losses, losses, reading.diagnostics)


def _finish(reading: Reading) -> list[Loss]:
    if reading.ends_with_its_text or reading.grammar is None or reading.is_endless:
        return []
    continuation = going_on(reading.grammar)
    if not continuation.may_be:
        return []
    return [
        Loss(
            LOST_FINISH,
            "generation ends at the first complete text, and LLGuidance may go on",
            reading.name_span(reading.start),
            continuation.example,
        )
    ]


def _nodes_of(rules: Mapping[str, ir.Node]) -> dict[str, Several[ir.Node]]:
    """Return all nodes of each rule, parts before wholes."""
    return {name: [*ir.postorder(body)] for name, body in rules.items()}


def _calls_in(nodes: Several[ir.Node]) -> list[str]:
    return [node.nonterminal for node in nodes if isinstance(node, Call)]


class _LarkWriter:
    """Writes rules and terminals; the start comes first."""

    def __init__(
        self,
        reading: Reading,
        grammar: ir.GrammarRules,
        automata: Mapping[str, Dfa],
        lark: Language,
        limits: Limits,
    ) -> None:
        self.losses: list[Loss] = []
        self._automata: dict[bytes | str, Dfa] = {}
        self._nodes = _nodes_of(grammar.rules)
        leaves = {id(node): node for nodes in self._nodes.values() for node in nodes}
        texts = {number: self._text_of(leaf) for number, leaf in leaves.items()}
        is_whole = all(texts[number] is leaf for number, leaf in leaves.items())
        facts = reading.analysis.facts.values() if reading.analysis else ()
        # In LLGuidance nothing says that a part matches nothing, and that so nothing begins there.
        if not is_whole or reading.is_endless or not all(form.productive for form in facts):

            def text_of(node: ir.Node, operands: list[ir.Node]) -> ir.Node:
                return ir.rebuild(texts[id(node)], operands)

            rules = {name: fold(body, ir.children, text_of) for name, body in grammar.rules.items()}
            rules = useful(rules, endless=reading.is_endless)
            grammar = ir.GrammarRules(grammar.start, rules)
            has_texts = grammar.start in rules
            if has_texts and not reading.is_endless:
                has_texts = facts_of(grammar).facts[grammar.start].filled
            if not has_texts:
                raise GrammarError(nothing_kept(reading, self.losses, lark))
            self._nodes = _nodes_of(rules)
        self._grammar = grammar
        # A part without some of its words is not a part of the automaton of its rule.
        joined = _Joined(self._nodes, grammar.start, automata if is_whole else NO_AUTOMATA)
        self._forms: Forms = choose_forms(grammar, self._words, joined, limits)
        self._free = FreshNames(["start"])
        self._names = {grammar.start: "start"}
        for name in grammar.rules:
            self._names.setdefault(name, self._fresh(name))
        self._lines: list[str] = []
        self._is_marked = False
        self._spelt: dict[int, str] = {}

    def _text_of(self, node: ir.Node) -> ir.Node:
        """Return a leaf as far as its words are texts; a lost one has none."""
        match node:
            case ir.Token() if not self._has_form(node):
                return ir.Choice((), node.span)
            case ir.Literal() | ir.Regular():
                pass
            case _:
                return node
        try:
            dfa = self._words(node)
            if not _is_text(dfa):
                message = "LLGuidance's rules match texts; these bytes are not UTF-8"
                self.losses.append(Loss(LOST_BYTES, message, node.span))
                dfa = operations.intersect(dfa, _TEXTS)
                node = ir.Regular(dfa, node.span)
        except LimitError as error:
            return self._any_text(f"the texts of this part take {error}", node.span)
        if isinstance(node, ir.Regular) and dfa.state_count > _MOST_STATES:
            message = f"this part has {dfa.state_count:,} states; in Lark each would be a rule, and"
            message += f" there may be {_MOST_STATES:,}"
            return self._any_text(message, node.span)
        return ir.Choice((), node.span) if dfa.is_empty else node

    def _words(self, node: ir.Literal | ir.Regular) -> Dfa:
        """Return the words of a literal or a regular part. Raises LimitError."""
        # Equal texts have one automaton, which is compared once with those of the others, and
        # written once.
        if isinstance(node, Uncompiled):
            return self._automata.setdefault(str(node.notation), node.dfa)
        if isinstance(node, ir.Regular):
            return node.dfa
        if node.data not in self._automata:
            self._automata[node.data] = operations.literal(node.data)
        return self._automata[node.data]

    def _any_text(self, message: str, span: Span) -> ir.Regular:
        """Return any text in place of a part, with a loss that says why."""
        self.losses.append(Loss(LOST_SIZE, f"{message}; any text is taken instead", span))
        return ir.Regular(_TEXTS, span)

    def write(self) -> str:
        """Return the whole grammar: rules, then terminals, each after those that use it."""
        rules, terminals = [self._grammar.start], dict[str, None]()
        seen = {*rules}
        for name in rules:
            for callee in _calls_in(self._nodes[name]):
                if callee in self._forms.terminals:
                    terminals.setdefault(callee)
                elif callee not in seen:
                    seen.add(callee)
                    rules.append(callee)
            self._is_marked |= any(map(_is_llguidance, self._nodes[name]))
            # Printing adds rules for states, which come after the rule that uses them.
            index = len(self._lines)
            written = print_definition(self._names[name], self._grammar.rules[name], self._in_rule)
            self._lines.insert(index, written)
        reached = [*terminals]
        for name in reached:
            for callee in _calls_in(self._nodes[name]):
                if callee not in terminals:
                    terminals[callee] = None
                    reached.append(callee)
            title = self._names[name].upper()
            self._lines.append(
                print_definition(title, self._grammar.rules[name], self._in_terminal)
            )
        if self._is_marked or reached:
            self._lines.insert(0, "%llguidance {}")
        return "".join(f"{line}\n" for line in self._lines)

    def _fresh(self, name: str) -> str:
        """Return a name of a rule: small letters, not beginning with a digit or two underscores."""
        base = _NO_NAME.sub("_", name.lower()).strip("_") or "rule"
        if not base[0].isalpha():
            base = f"r_{base}"
        return self._free.fresh(base)

    def _in_rule(self, node: ir.Node) -> str:
        if isinstance(node, ir.Call) and node.nonterminal not in self._forms.terminals:
            return self._names[node.nonterminal]
        if isinstance(node, ir.Literal | ir.Regular) and id(node) in self._forms.split:
            return self._characters(node)
        return self._in_terminal(node)

    def _in_terminal(self, node: ir.Node) -> str:
        match node:
            case ir.Call(name):
                return self._names[name].upper()
            case ir.Token(terminal):
                return _token(terminal)
            case ir.Literal() | ir.Regular():
                return self._whole(node)
        raise AssertionError("an operator is not a leaf")

    def _whole(self, node: ir.Literal | ir.Regular) -> str:
        dfa = self._words(node)
        if isinstance(node, ir.Literal):
            return print_text(node.data.decode())
        points = single_characters(dfa)
        if points is not None:
            return f"/{print_class(points)}/"
        try:
            self._is_marked = True
            return print_regex(dfa, node.notation if isinstance(node.notation, str) else None)
        except LimitError:
            return self._characters(node)

    def _characters(self, node: ir.Literal | ir.Regular) -> str:
        dfa = self._words(node)
        if isinstance(node, ir.Literal):
            steps = " ".join(print_text(char) for char in node.data.decode())
            return f"({steps})" if len(node.data.decode()) > 1 else steps or EMPTY
        if id(dfa) not in self._spelt:
            self._spelt[id(dfa)] = self._states(dfa)
        return self._spelt[id(dfa)]

    def _states(self, dfa: Dfa) -> str:
        """Write an automaton as right-linear rules over characters; return the first."""
        characters = to_characters(dfa)
        names = [self._fresh("chars") for _ in characters.edges]
        for name, edges, accepting in zip(
            names, characters.edges, characters.accepting, strict=True
        ):
            self._is_marked |= accepting
            branches = [EMPTY] if accepting else []
            for points, target in edges:
                step = f"/{print_class(points)}/"
                last = characters.accepting[target] and not characters.edges[target]
                branches.append(step if last else f"{step} {names[target]}")
            self._lines.append(lay_out(name, branches))
        return names[0]

    def _has_form(self, node: ir.Token) -> bool:
        """Return whether a token can be named; one that cannot is a loss."""
        name = node.terminal.name
        if name is None or (name.startswith("<") and name.endswith(">")):
            return True
        message = f"LLGuidance names tokens as `<...>`: {name!r}"
        self.losses.append(Loss("W402", message, node.span))
        return False


def _token(terminal: ir.TokenTerminal) -> str:
    if terminal.name is not None:
        return terminal.name
    ids = ",".join(str(a) if a == b else f"{a}-{b}" for a, b in terminal.ranges)
    return f"<[{'^' if terminal.negated else ''}{ids}]>"


_NO_NAME = re.compile(r"[^a-z0-9_]+")
"""What names of rules have not."""

EMPTY = '""'
"""An expression of the empty text."""

_OPERATORS = {(0, 1): "?", (0, None): "*", (1, None): "+"}


def _is_llguidance(node: ir.Node) -> bool:
    """Return whether Lark has no form for a part."""
    match node:
        case ir.Repeat(_, low, high):
            return (low, high) not in _OPERATORS
        case ir.Sequence(flags):
            return not flags
        case ir.Literal(data):
            return not data
    return isinstance(node, ir.Token)


_WIDTH = 88
"""Columns of a definition on one line; longer ones have a line for each alternative."""

_CHOICE, _SEQUENCE, _ATOM = range(3)

Leaf = Callable[[ir.Node], str]
"""Prints a node without parts; the text needs no brackets."""


def print_definition(name: str, body: ir.Node, leaf: Leaf) -> str:
    """Return ``name: body``, with a line for each alternative where one is too long."""
    branches = body.branches if isinstance(body, ir.Choice) and body.branches else (body,)
    texts = [print_expression(branch, leaf, _SEQUENCE) for branch in branches]
    return lay_out(name, texts)


def lay_out(name: str, branches: Iterable[str]) -> str:
    """Return a definition of alternatives, on lines of their own if they do not fit on one."""
    texts = [*branches]
    line = f"{name}: {' | '.join(texts)}"
    return line if len(line) <= _WIDTH else f"{name}: " + "\n    | ".join(texts)


def print_expression(root: ir.Node, leaf: Leaf, room: int = _CHOICE) -> str:
    """Return ``root``, in brackets where it binds looser than ``room``."""
    return _within(
        fold(root, ir.children, lambda node, operands: _printed(node, operands, leaf)), room
    )


def _printed(node: ir.Node, operands: list[tuple[str, int]], leaf: Leaf) -> tuple[str, int]:
    match node:
        case ir.Sequence() if len(operands) > 1:
            return " ".join(_within(operand, _ATOM) for operand in operands), _SEQUENCE
        case ir.Choice() if len(operands) > 1:
            return " | ".join(_within(operand, _SEQUENCE) for operand in operands), _CHOICE
        case ir.Sequence() | ir.Choice() if operands:
            return operands[0]
        case ir.Sequence():
            return EMPTY, _ATOM
        case ir.Repeat(_, low, high):
            if high == 0:
                return EMPTY, _ATOM
            # An operator takes no second one, so an expression with one gets brackets.
            return f"{_within(operands[0], _ATOM + 1)}{_operator(low, high)}", _ATOM
        case _:
            return leaf(node), _ATOM + 1


def _within(operand: tuple[str, int], room: int) -> str:
    text, level = operand
    return text if level >= room else f"({text})"


def _operator(low: int, high: int | None) -> str:
    if low == high:
        return f"{{{low}}}"
    return _OPERATORS.get((low, high)) or f"{{{low},{'' if high is None else high}}}"


def print_text(text: str) -> str:
    """Return a string; in brackets if it needs more than one."""
    if not text:
        return EMPTY
    if "\x7f" in text:
        return f"/{''.join(_one(char) for char in text)}/"
    # Lark has no `\\b`: it would be two characters there.
    return re.sub(
        r"\\(.)",
        lambda match: "\\u0008" if match[1] == "b" else match[0],
        json.dumps(text, ensure_ascii=False),
    )


def _one(char: str) -> str:
    return print_class(((ord(char), ord(char)),))


def print_class(points: CodePoints) -> str:
    """Return a set of characters as a regular expression without its slashes."""
    return _between_slashes(print_characters(points))


def print_regex(dfa: Dfa, written: str | None) -> str:
    """Return a regular expression; the one that was ``written``, unless Lark reads it otherwise.

    Raises LimitError where there is no expression of a sensible size.
    """
    plain = written and written.isprintable() and written[0] != "^" and written[-1] != "$"
    if written and plain:
        return f"/{_between_slashes(written)}/"
    return f"/{_between_slashes(to_regex(dfa))}/"


_ESCAPE_OR_SLASH = re.compile(r"\\[xu]\{(?P<code>[0-9A-Fa-f]+)\}|\\.|/", re.DOTALL)


def _between_slashes(regex: str) -> str:
    """Return ``regex`` with slashes escaped, and no braces in escapes, which Lark refuses."""
    return _ESCAPE_OR_SLASH.sub(_for_both, regex)


def _for_both(match: re.Match[str]) -> str:
    if match["code"] is None:
        return "\\/" if match[0] == "/" else match[0]
    code = int(match["code"], 16)
    return (
        f"\\x{code:02x}"
        if code < 0x100
        else f"\\u{code:04x}"
        if code < 0x10000
        else f"\\U{code:08x}"
    )
