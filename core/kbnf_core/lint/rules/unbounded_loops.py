"""W302 and I303: unbounded loops of whitespace, or of digits, in which a model can idle for ever.

A loop is one of whitespace, too, if some of its turns are nothing else and the others begin with
signs, as in ``(" " | "--" comment)*``. If the others begin with letters or digits it is a loop of
text, such as ``[a-z ]*``, in which blanks are as good as anything else.

Tests: tests/golden/lint
"""

from collections.abc import Iterator, Mapping
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from kbnf_core.automata import operations
from kbnf_core.automata.dfa import DEAD, Dfa
from kbnf_core.automata.traversal import cyclic_components
from kbnf_core.config import Finish
from kbnf_core.frontend import Reading
from kbnf_core.ir import (
    Call,
    Choice,
    GrammarRules,
    Literal,
    Node,
    Regular,
    Repeat,
    Sequence,
    calls,
    children,
    postorder,
)
from kbnf_core.ir.analysis import fixpoint
from kbnf_core.kbnf import tree
from kbnf_core.lint.subject import Needs, Subject
from kbnf_core.text.diagnostics import Diagnostic, Fix, Rule, TextEdit
from kbnf_core.text.locks import cached_property
from kbnf_core.text.source import Span

if TYPE_CHECKING:
    from kbnf_core.lower.facts import Analysis, Facts, Firsts


def nodes_at_the_end(
    grammar: GrammarRules, analysis: "Analysis"
) -> tuple[frozenset[int], frozenset[str]]:
    """Return the parts after which a text can be complete, by identity, and their nonterminals."""
    bodies = (grammar.rules[name] for name in analysis.reachable)
    facts = {
        id(inner): node_facts for body in bodies for inner, node_facts in analysis.within(body)
    }
    last: set[int] = set()
    names = {grammar.start}
    stack: list[Node] = [grammar.rules[grammar.start]]
    while stack:
        node = stack.pop()
        if id(node) not in last and facts[id(node)].productive:
            last.add(id(node))
            if isinstance(node, Call):
                names.add(node.nonterminal)
            stack.extend(_last_nodes(grammar, node, facts))
    return frozenset(last), frozenset(names)


def _last_nodes(grammar: GrammarRules, node: Node, facts: "Mapping[int, Facts]") -> Iterator[Node]:
    match node:
        case Choice(branches):
            yield from branches
        case Call(name):
            yield grammar.rules[name]
        case Sequence(items):
            for item in reversed(items):
                yield item
                if not facts[id(item)].nullable:
                    break
        case Repeat(body):
            yield body
        case _:
            pass


RULES = (
    Rule("W302", "endless-whitespace", "A loop of whitespace is unbounded."),
    Rule("I303", "endless-digits", "A loop of digits has no end."),
)
NEEDS = Needs.GRAMMAR

Bytes = frozenset[int]

_ANY: Bytes = frozenset(range(256))
_SPACES = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
)
_WHITESPACE: Bytes = frozenset(f"{_SPACES}\u2028\u2029\u202f\u205f\u3000".encode())
_DIGITS: Bytes = frozenset(b"0123456789")
_OF_TEXT: Bytes = frozenset(byte for byte in _ANY if byte >= 0x80 or chr(byte).isalnum())
"""The bytes that a turn of a loop of text begins with."""

_A_STATE = 4
"""Steps that a state of an automaton is counted as."""

FEWEST = 16
"""Turns that the fix leaves to a loop."""


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Yield a finding for each unbounded loop that consumes whitespace only, or digits only.

    Not of loops that may end a text with ``finish=eager`` or ``finish=token``: they are cut, as
    W304 or W307 says.
    """
    reading, grammar, analysis = subject.reading, subject.grammar, subject.analysis
    cut = reading.finish is not Finish.EOS
    loops = _Loops(grammar, analysis, *(nodes_at_the_end(grammar, analysis) if cut else ()))
    for name in sorted(analysis.reachable):
        yield from _in_rule(subject, loops, name)
    for names, consumed in loops.recursive():
        if names <= analysis.reachable:
            first = min((reading.name_span(name) for name in names), default=Span(0, 0))
            yield from _finding(reading, consumed, first)


def _in_rule(subject: Subject, loops: "_Loops", name: str) -> Iterator[Diagnostic]:
    spans: list[Span] = []
    for node in postorder(subject.grammar.rules[name]):
        subject.budget.spend(_A_STATE * node.dfa.state_count if isinstance(node, Regular) else 1)
        if any(span.start >= node.span.start and span.end <= node.span.end for span in spans):
            continue
        for consumed in loops.at(node):
            # Without a tree there are only the spans of the rules.
            reading = subject.reading
            span = node.span if reading.parsed.rules is None else reading.name_span(name)
            findings = list(_finding(reading, consumed, span))
            spans.extend(finding.span for finding in findings)
            yield from findings


class _Turn(NamedTuple):
    """One alternative of a loop: the bytes of its texts, and those that they begin with."""

    bytes: Bytes
    first: Bytes


class _Loops:
    """The bytes that the loops of one grammar consume."""

    def __init__(
        self,
        grammar: GrammarRules,
        analysis: "Analysis",
        cut: frozenset[int] = frozenset(),
        cut_names: frozenset[str] = frozenset(),
    ) -> None:
        self._grammar = grammar
        self._analysis = analysis
        self._cut = cut
        self._cut_names = cut_names
        self._automata: dict[int, tuple[Dfa, set[Bytes]]] = {}
        self._called: dict[str, Bytes] = {}
        self._rule_firsts: dict[int, Mapping[int, Bytes]] = {}

    def at(self, node: Node) -> set[Bytes]:
        """Return the bytes that each unbounded loop of one node consumes."""
        is_cut = id(node) in self._cut
        if isinstance(node, Repeat) and node.high is None:
            return set() if is_cut else {self._in_loop(node.body)}
        if not isinstance(node, Regular):
            return set()
        return self._in_automaton(operations.shortest_matches(node.dfa) if is_cut else node.dfa)

    def _in_automaton(self, dfa: Dfa) -> set[Bytes]:
        if id(dfa) not in self._automata:
            # The automaton is kept, because the number of one that is gone may come again.
            self._automata[id(dfa)] = dfa, loop_bytes(dfa) if _may_idle(dfa) else set()
        return self._automata[id(dfa)][1]

    def recursive(self) -> Iterator[tuple[frozenset[str], Bytes]]:
        """Yield nonterminals that call each other, and the bytes consumed in one turn."""
        graph = self._calls
        for names in cyclic_components(graph):
            consumptions = [
                self._beside(self._grammar.rules[name], names) for name in sorted(names)
            ]
            consumed = frozenset[int]().union(*consumptions)
            whole = frozenset[int]().union(*(self._bytes_of[name] for name in names))
            if not names & self._cut_names or not whole <= consumed:
                if len(names) == 1:
                    consumed = self._of_turns(self._recursive_turns(*names)) or consumed
                yield names, consumed

    def _in_loop(self, body: Node) -> Bytes:
        if not isinstance(body, Call):
            return self._of_turns(self._turns(body, body))
        # Blanks are a rule that many loops call.
        if body.nonterminal not in self._called:
            self._called[body.nonterminal] = self._of_turns(self._turns(body, body))
        return self._called[body.nonterminal]

    def _of_turns(self, turns: "list[_Turn]") -> Bytes:
        """Return the bytes of those turns in which a model can idle, or else of all."""
        blank = [turn for turn in turns if turn.bytes and turn.bytes <= _WHITESPACE]
        others = [turn for turn in turns if not turn.bytes <= _WHITESPACE]
        if any(turn.first & _OF_TEXT for turn in others):
            blank = []
        return Bytes().union(*(turn.bytes for turn in blank or turns))

    def _turns(self, body: Node, root: Node) -> "list[_Turn]":
        """Return the alternatives of ``body``, in ``root``, and of the rules that it calls."""
        turns: list[_Turn] = []
        stack, called = [(body, root)], set[str]()
        while stack:
            node, root = stack.pop()
            match node:
                case Choice(branches):
                    stack += [(branch, root) for branch in branches]
                case Call(name) if isinstance(self._grammar.rules[name], Choice):
                    if name not in called:
                        called.add(name)
                        stack.append((self._grammar.rules[name], self._grammar.rules[name]))
                case _:
                    first = self._first(node, root)
                    turns.append(_Turn(_bytes_in(node, self._bytes_of), first))
        return turns

    def _recursive_turns(self, name: str) -> "list[_Turn]":
        """Return the turns of ``ws ::= (" " | comment) ws | ""``; none for other recursion."""
        turns: list[_Turn] = []
        root = self._grammar.rules[name]
        for branch in root.branches if isinstance(root, Choice) else ():
            match branch:
                case Sequence((*others, Call(last))) if last == name:
                    turns += self._sequence(others, root)
                case Sequence((Call(first), *others)) if first == name:
                    turns += self._sequence(others, root)
                case _ if self._leads_to(branch, frozenset((name,))):
                    return []
        return turns

    def _sequence(self, children: "list[Node]", root: Node) -> "list[_Turn]":
        if len(children) == 1:
            return self._turns(children[0], root)
        consumed = Bytes().union(*(_bytes_in(child, self._bytes_of) for child in children))
        return [_Turn(consumed, self._first(children[0], root))]

    def _first(self, node: Node, root: Node) -> Bytes:
        """Return the first bytes of a part of ``root``, which many loops may call."""
        if id(root) not in self._rule_firsts:
            self._rule_firsts[id(root)] = self._firsts.within(root)
        return self._rule_firsts[id(root)][id(node)]

    @cached_property
    def _firsts(self) -> "Firsts":
        from kbnf_core.lower.facts import Firsts

        return Firsts(self._grammar, self._analysis)

    @cached_property
    def _calls(self) -> dict[str, list[str]]:
        rules = self._grammar.rules
        return {name: [call.nonterminal for call in calls(body)] for name, body in rules.items()}

    @cached_property
    def _bytes_of(self) -> dict[str, Bytes]:
        """The bytes in the texts of each nonterminal: own ones, and those of all it leads to."""
        rules = self._grammar.rules
        nothing = dict.fromkeys(rules, Bytes())
        own = {name: _bytes_in(body, nothing) for name, body in rules.items()}

        def joined(name: str, consumed: Mapping[str, Bytes]) -> Bytes:
            return own[name].union(*(consumed[callee] for callee in self._calls[name]))

        return fixpoint(self._calls, Bytes(), joined)

    def _beside(self, root: Node, names: frozenset[str]) -> Bytes:
        """Return the bytes in sequence with a call of one of ``names``."""
        consumed = Bytes()
        stack = [root]
        while stack:
            node = stack.pop()
            inner = [child for child in children(node) if self._leads_to(child, names)]
            stack.extend(inner)
            if isinstance(node, Sequence) and inner:
                others = [child for child in node.operands if child not in inner]
                consumed = consumed.union(*(_bytes_in(child, self._bytes_of) for child in others))
                if len(inner) > 1:
                    consumed = _ANY
        return consumed

    @staticmethod
    def _leads_to(node: Node, names: frozenset[str]) -> bool:
        return any(call.nonterminal in names for call in calls(node))


def _may_idle(dfa: Dfa) -> bool:
    """Return quickly whether some loop of ``dfa`` may consume only the bytes looked for here.

    Such a loop consists of classes of bytes that contain no other byte, and most automata have no
    such class, or no loop of them.
    """
    return any(_has_loop(dfa, classes_of(dfa.classes)) for classes_of in _CLASSES_OF_OTHERS)


_CLASSES_OF_OTHERS = [itemgetter(*sorted(_ANY - wanted)) for wanted in (_WHITESPACE, _DIGITS)]


def _has_loop(dfa: Dfa, others: tuple[int, ...]) -> bool:
    """Return whether there is a loop of classes outside ``others``."""
    symbols = set(dfa.classes).difference(others)
    if not symbols:
        return False
    moves = (
        (state, {row[symbol] for symbol in symbols} - {DEAD}) for state, row in enumerate(dfa.rows)
    )
    graph = {state: targets for state, targets in moves if targets}
    return any(True for _ in cyclic_components({s: graph.keys() & t for s, t in graph.items()}))


def bytes_of(dfa: Dfa) -> Bytes:
    """Return the bytes in the words of ``dfa``."""
    unseen = set(dfa.classes)
    for row in dfa.rows:
        # All but one class soon have an edge, so that rows are not looked through again and again.
        unseen = {symbol for symbol in unseen if row[symbol] == DEAD}
        if not unseen:
            break
    return frozenset(byte for byte, symbol in enumerate(dfa.classes) if symbol not in unseen)


def loop_bytes(dfa: Dfa) -> set[Bytes]:
    """Return for each set of states that reach each other the bytes that lead round in it."""
    rows = dfa.rows
    graph = {state: {t for t in row if t != DEAD} for state, row in enumerate(rows)}
    result = set()
    for states in cyclic_components(graph):
        symbols = {
            symbol
            for state in states
            for symbol, target in enumerate(rows[state])
            if target in states
        }
        result.add(_of_classes(dfa, symbols))
        result |= _blank_turns(dfa, states)
    return result


def _blank_turns(dfa: Dfa, states: frozenset[int]) -> set[Bytes]:
    """Return the bytes of loops of whitespace within a loop whose other turns are empty."""
    blank = set(dfa.classes) - set(_CLASSES_OF_OTHERS[0](dfa.classes))
    moves = {s: {dfa.rows[s][symbol] for symbol in blank} & states for s in states}
    result = set()
    for inner in cyclic_components(moves):
        used = {c for s in inner for c in blank if dfa.rows[s][c] in inner}
        others = {c for s in inner for c, t in enumerate(dfa.rows[s]) if t in states} - used
        if not _of_classes(dfa, others) & _OF_TEXT:
            result.add(_of_classes(dfa, used))
    return result


def _of_classes(dfa: Dfa, symbols: set[int]) -> Bytes:
    return frozenset(byte for byte, symbol in enumerate(dfa.classes) if symbol in symbols)


def _bytes_in(root: Node, by_rule: dict[str, Bytes]) -> Bytes:
    result = Bytes()
    for node in postorder(root):
        match node:
            case Literal(data):
                result |= frozenset(data)
            case Regular(dfa):
                result |= bytes_of(dfa)
            case Call(name):
                result |= by_rule[name]
            case Choice() | Sequence() | Repeat():
                pass
            case _:
                result = _ANY
    return result


def _finding(reading: Reading, consumed: Bytes, span: Span) -> Iterator[Diagnostic]:
    if not consumed or not (consumed <= _WHITESPACE or consumed <= _DIGITS):
        return
    characters, code = ("whitespace", "W302") if consumed <= _WHITESPACE else ("digits", "I303")
    bound = "bound it: at most 16 turns"
    if reading.language.is_json:
        option = "whitespace printed" if code == "W302" else "digits bounded"
        bound = f"bound it in its pattern; that of JSON itself ends with `--{option}`, the default"
    elif reading.language.takes_fixes:
        bound = "bound it: `{0,16}` rather than `*`, `{1,16}` rather than `+`"
    yield reading.finding(
        code,
        f"unbounded {characters}",
        span,
        notes=(f"a model may go on with {characters} until it runs out of tokens",),
        helps=(bound,),
        fixes=_bounded(reading, span),
    )


def _bounded(reading: Reading, span: Span) -> tuple[Fix, ...]:
    """Return the fix for a loop that is written as ``*`` or ``+`` after what it repeats."""
    for node in reading.written.get(span, ()):
        match node:
            case tree.Repetition(_, low, None, operator):
                edit = TextEdit(operator, f"{{{low},{max(low, FEWEST)}}}")
                return (Fix(f"allow at most {max(low, FEWEST)}", (edit,), safe=False),)
            case tree.Pattern(tree.PatternKind.REGEX, text):
                return _bounded_pattern(text)
    return ()


def _bounded_pattern(text: tree.Text) -> tuple[Fix, ...]:
    """Return the fix for a pattern that is one class and ``*`` or ``+``."""
    end = len(text.value)
    class_ = text.value[:-1]
    one_class = class_.startswith("[") and "]" not in class_[1:-1] and class_.endswith("]")
    if text.value[-1:] not in ("*", "+") or not (one_class or class_ in {r"\s", r"\d", " "}):
        return ()
    low = 0 if text.value.endswith("*") else 1
    edit = TextEdit(text.spell(end - 1, end), f"{{{low},{FEWEST}}}")
    return (Fix(f"allow at most {FEWEST}", (edit,), safe=False),)
