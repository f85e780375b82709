"""Inserts ``%ignore`` text where the lexer allows it.

Lark allows it anywhere. LLGuidance allows none before the first lexeme, and after the last one
only where the grammar could go on: so every lexeme is followed by ignored text, but not those
that can only be the end.
"""

from dataclasses import dataclass, field, replace

from kbnf_core.languages.lark.lexer.left_corners import Continuing
from kbnf_core.languages.lark.lexer.prune import only_reached
from kbnf_core.languages.lark.reader.model import (
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
    with_children,
)
from kbnf_core.source import Span

_END = "@end"

_MOST_UNROLLED = 8
"""Rounds of a bounded repetition at the end of a text that are written one by one."""


def insert_skipped(grammar: LexicalGrammar, one_by_one: bool = False) -> LexicalGrammar:
    """Return ``grammar`` with its ignored text as lexemes, as Lark takes it: anywhere.

    ``one_by_one``: the ignored terminals are lexemes of their own, not runs.
    """
    if grammar.ignored is None:
        return grammar
    inserter = _Inserter(grammar, grammar.ignored, one_by_one=one_by_one)
    rules = {name: inserter.inner(body) for name, body in grammar.rules.items()}
    return inserter.skipping_first(replace(grammar, rules=rules))


def end_bare(grammar: LexicalGrammar) -> LexicalGrammar:
    """Return ``grammar`` with its ignored text as lexemes, as LLGuidance takes it."""
    if grammar.ignored is None:
        return grammar
    inserter = _Inserter(grammar, grammar.ignored)
    rules = {name: inserter.inner(body) for name, body in grammar.rules.items()}
    start = inserter.end_rule(grammar.start, grammar.start)
    inserter.finish()
    rules.update(inserter.ends)
    spans = {name: grammar.spans[name.partition(_END)[0]] for name in rules}
    whole = replace(grammar, start=start, rules=rules, spans=spans)
    return only_reached(inserter.skipping_first(whole) if grammar.skips_first else whole)


@dataclass(slots=True)
class _Inserter:
    grammar: LexicalGrammar
    ignored: Terminal
    one_by_one: bool = False
    ends: dict[str, Node] = field(default_factory=dict)
    _pending: list[tuple[str, str]] = field(default_factory=list)
    _parts: tuple[Terminal, ...] = field(init=False)
    _continuing: Continuing = field(init=False)

    def __post_init__(self) -> None:
        # Copies: where a rule uses an ignored terminal, that is another thing.
        self._parts = tuple(replace(part) for part in self.ignored.parts)
        self._continuing = Continuing(self.grammar)

    def skip(self, span: Span) -> Node:
        """Return the text between two lexemes."""
        if not self.one_by_one:
            return Repeat(Lexeme(self.ignored, span), 0, 1, span)
        parts = tuple(Lexeme(part, span) for part in self._parts)
        return Repeat(Choice(parts, span), 0, None, span)

    def skipping_first(self, grammar: LexicalGrammar) -> LexicalGrammar:
        """Return ``grammar`` with ignored text in front."""
        span = grammar.spans[self.grammar.start]
        first = Sequence((self.skip(span), Call(grammar.start, span)), span)
        rules, spans = {**grammar.rules, "@first": first}, {**grammar.spans, "@first": span}
        return replace(grammar, start="@first", rules=rules, spans=spans)

    def inner(self, node: Node) -> Node:
        """Return a copy of ``node`` with ignored text after each lexeme. Nesting is bounded.

        It shares no part with ``node``: where a part stands matters.
        """
        if isinstance(node, Lexeme | Embedded):
            return Sequence((replace(node), self.skip(node.span)), node.span)
        copied = tuple(self.inner(part) for part in children(node))
        return with_children(node, copied) if copied else replace(node)

    def end_rule(self, name: str, origin: str) -> str:
        """Return the rule that is ``name`` at the end of the text.

        ``origin`` is the outermost rule at the end that began where it begins.
        """
        wanted = f"{name}{_END}" if name == origin else f"{name}{_END}{origin}"
        if wanted not in self.ends:
            self.ends[wanted] = Choice((), self.grammar.spans[name])
            self._pending.append((name, origin))
        return wanted

    def finish(self) -> None:
        """Build the rules that are needed at the end."""
        while self._pending:
            name, origin = self._pending.pop()
            wanted = f"{name}{_END}" if name == origin else f"{name}{_END}{origin}"
            self.ends[wanted] = self._end(self.grammar.rules[name], origin)

    def _end(self, node: Node, origin: str | None) -> Node:
        """Return ``node`` as the last part of the text, where nothing follows it in its rule.

        ``origin`` is None where something stands before it.
        """
        match node:
            case Lexeme() | Call() if self._continuing.has_twin(node):
                return self.inner(node)
            case Lexeme(terminal) if origin and self._continuing.goes_on(terminal, origin):
                return self.inner(node)
            case Call(name, span):
                if self._continuing.goes_on(name, origin or name):
                    return self.inner(node)
                return Call(self.end_rule(name, origin or name), span)
            case Sequence(items, span) if items:
                # Before an empty last part there is skipped text: the part could have come.
                before = tuple(self.inner(item) for item in items[:-1])
                return Sequence((*before, self._end(items[-1], None if before else origin)), span)
            case Choice(branches, span):
                return Choice(tuple(self._end(branch, origin) for branch in branches), span)
            case Repeat():
                return self._end_of_repeat(node, origin)
            case _:
                # A copy: the same lexeme also stands where it is not the end.
                return replace(node)

    def _end_of_repeat(self, node: Repeat, origin: str | None) -> Node:
        """Before the last possible round there could be another, after it there cannot."""
        if node.high is None:
            return self.inner(node)
        if node.high <= _MOST_UNROLLED:
            return self._unrolled(node, node.high, origin)
        high, span = node.high, node.span
        last = self._end(node.body, None)
        full = Sequence((Repeat(self.inner(node.body), high - 1, high - 1, span), last), span)
        if node.low == high:
            return full
        return Choice((Repeat(self.inner(node.body), node.low, high - 1, span), full), span)

    def _unrolled(self, node: Repeat, high: int, origin: str | None) -> Node:
        """Return the rounds one by one: which of them is the last possible one is then plain."""
        rounds = self._end(node.body, origin if high == 1 else None)
        if node.low < high:
            rounds = Repeat(rounds, 0, 1, node.span)
        for number in reversed(range(1, high)):
            rounds = Sequence((self.inner(node.body), rounds), node.span)
            if number > node.low:
                rounds = Repeat(rounds, 0, 1, node.span)
        return rounds
