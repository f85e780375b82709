"""Newlines as an indenter reads them: cut after the last line feed, the rest counted.

The column of a line is the number of blanks after the last line feed of the newline before it, a
tab counting as several, whatever else is between them: the newline of Lark's Python also takes
comments. The texts after a line feed are a regular language, the *blanks*; newlines are cut by it.
A family of rules writes the blanks of each column. Its number is the count that is left, so a rule
has a state of the automaton at the start or after a blank, and between two blanks there is a
regular expression.

A newline without a line feed has no column: Lark fails there, and no text matches it here.

Tests: tests/unit/languages/lark/test_indenter.py
"""

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field

from kbnf_core.automata import operations
from kbnf_core.automata.dfa import DEAD, Dfa, SymbolDfa, join, rows_over, separate
from kbnf_core.automata.nfa import ending_in, from_symbols
from kbnf_core.conversion.to_kbnf import Identifiers
from kbnf_core.kbnf import build, tree
from kbnf_core.languages.lark.lexer.llguidance_terminals import EPSILON
from kbnf_core.languages.lark.reader.model import LarkTerminal, Lexeme
from kbnf_core.text.source import Span

VARIABLE = "n"
"""The name of the number of all families."""


def number(span: Span, add: int = 0, relation: str = "") -> tree.Number:
    """Return ``@n``, with something added, or any number greater."""
    return tree.Number(tree.Name(VARIABLE, span), add, relation, span)


def family(name: str, body: tree.Expression, span: Span) -> tree.Definition:
    """Return ``name@n ::= body;``."""
    return tree.Definition(tree.Name(name, span), body, span, tree.Name(VARIABLE, span))


@dataclass(slots=True)
class Newlines:
    """The newlines of a grammar, cut; ``write`` writes the words of an automaton."""

    terminal: LarkTerminal
    tab: int
    names: Identifiers
    write: Callable[[Lexeme, Dfa, bool], tree.Expression]
    _uses: dict[int, tuple[Dfa, str]] = field(default_factory=dict)
    _cut: dict[str, dict[str, Dfa]] = field(default_factory=dict)
    _by_content: dict[Hashable, str] = field(default_factory=dict)
    _blanks: dict[str, Dfa] = field(default_factory=dict)

    def lexeme(self, node: Lexeme, dfa: Dfa, is_whole: bool) -> tree.Expression:
        """Return a use of the terminal by a name that no rule has; other lexemes are written."""
        if node.terminal is not self.terminal:
            return self.write(node, dfa, is_whole)
        if id(dfa) not in self._uses:
            name = f"@newline{len(self._uses)}"
            self._uses[id(dfa)] = dfa, name
            self._cut[name] = dict(self._cuts(dfa))
        return build.call(self._uses[id(dfa)][1], node.span)

    def blanks_after(self, name: str) -> Iterable[str] | None:
        """Return the families of blanks that a newline may end with; None for another name."""
        return self._cut.get(name)

    def up_to_line_feed(self, name: str, blanks: str, span: Span) -> tree.Expression:
        """Return the words of a newline before these blanks."""
        return self.write(Lexeme(self.terminal, span), self._cut[name][blanks], False)

    def _cuts(self, dfa: Dfa) -> Iterator[tuple[str, Dfa]]:
        """Yield the families of blanks, with the words up to a line feed before them."""
        classes = join((dfa.classes, separate(b"\n")))
        rows, feed = rows_over(dfa, classes), classes[0x0A]
        ends: dict[str, list[int]] = {}
        for state in sorted({row[feed] for row in rows} - {DEAD}):
            within = [[DEAD if at == feed else to for at, to in enumerate(row)] for row in rows]
            tags = [int(entry) for entry in dfa.accepting]
            rest = from_symbols(SymbolDfa(within, tags, [state]), classes)
            if not rest.is_empty:
                ends.setdefault(self._family(rest), []).append(state)
        # A state twice: the second time for words that end with a line feed.
        count = len(rows)
        doubled = [
            [to + count * (at == feed) if to != DEAD else DEAD for at, to in enumerate(row)]
            for row in (*rows, *rows)
        ]
        for name, states in ends.items():
            yield name, ending_in([count + state for state in states], doubled, classes)

    def _family(self, rest: Dfa) -> str:
        content = rest.classes, tuple(map(tuple, rest.rows)), tuple(rest.accepting)
        if content not in self._by_content:
            self._by_content[content] = self.names.fresh("indentation")
            self._blanks[self._by_content[content]] = rest
        return self._by_content[content]

    def definitions(self, blanks: Iterable[str]) -> Iterator[tree.Definition]:
        """Yield the families of some blanks."""
        for name in blanks:
            yield from _Column(self, name, self._blanks[name]).definitions()


class _Column:
    """Writes the blanks of one automaton by their number."""

    def __init__(self, newlines: Newlines, name: str, dfa: Dfa) -> None:
        self._newlines = newlines
        self._dfa = dfa
        self._classes = join((dfa.classes, separate(b" \t")))
        self._rows = rows_over(dfa, self._classes)
        self._widths = {" ": 1, "\t": newlines.tab}
        self._columns = {blank: self._classes[ord(blank)] for blank in self._widths}
        counted = set(self._columns.values())
        self._uncounted = [
            [DEAD if at in counted else to for at, to in enumerate(row)] for row in self._rows
        ]
        self._names = {0: name}
        self._pending = [0]

    def definitions(self) -> Iterator[tree.Definition]:
        """Yield a family for each state that a blank leads to, the start first."""
        for state in self._pending:
            yield from self._of(state)

    def _of(self, state: int) -> Iterator[tree.Definition]:
        name, span = self._names[state], self._newlines.terminal.span
        accepting = [at for at, yes in enumerate(self._dfa.accepting) if yes]
        last = self._words(state, accepting)
        edges = {
            (at, blank): words
            for at in self._reached(state)
            for blank in self._widths
            if self._rows[at][self._columns[blank]] != DEAD
            and (words := self._words(state, [at])) is not None
        }
        spaces = self._repeats_spaces(state, edges)
        if spaces:
            del edges[state, " "]
        more = [self._edge(at, blank, words) for (at, blank), words in edges.items()]
        branches: list[tree.Expression] = []
        if last is not None:
            repeated = build.text(" ", span) if spaces else build.nothing(span)
            count = number(span)
            count_down = tree.Repetition(repeated, 0, 0, span, span, (count, count))
            branches.append(build.sequence(count_down, last, span=span))
        if spaces and more:
            # Spaces, then something else that counts; spaces alone are above.
            again = self._newlines.names.fresh(name)
            branches.append(_call(again, span, 0))
            more.insert(0, build.sequence(build.text(" ", span), _call(again, span, -1), span=span))
            yield family(again, build.alternation(more, span), span)
        else:
            branches += more
        yield family(name, build.alternation(branches, span), span)

    def _repeats_spaces(self, state: int, edges: dict[tuple[int, str], tree.Expression]) -> bool:
        """Return whether a space leads back to a state, and only blanks do."""
        back = edges.get((state, " "))
        return (
            self._rows[state][self._columns[" "]] == state
            and back is not None
            and build.is_empty(back)
        )

    def _edge(self, at: int, blank: str, words: tree.Expression) -> tree.Expression:
        span = self._newlines.terminal.span
        target = self._rows[at][self._columns[blank]]
        if target not in self._names:
            self._names[target] = self._newlines.names.fresh(self._names[0])
            self._pending.append(target)
        call = _call(self._names[target], span, -self._widths[blank])
        return build.sequence(words, build.text(blank, span), call, span=span)

    def _reached(self, state: int) -> list[int]:
        """Return the states that are reached without a blank."""
        order = [state]
        for entry in order:
            order.extend(sorted(set(self._uncounted[entry]) - {DEAD, *order}))
        return order

    def _words(self, state: int, ends: Iterable[int]) -> tree.Expression | None:
        """Write the words without a blank from a state to some; None if there are none."""
        tags = [0] * len(self._rows)
        for end in ends:
            tags[end] = 1
        dfa = from_symbols(SymbolDfa(self._uncounted, tags, [state]), self._classes)
        if dfa.is_empty:
            return None
        terminal = self._newlines.terminal
        if operations.is_equal(dfa, EPSILON):
            return build.text("", terminal.span)
        return self._newlines.write(Lexeme(terminal, terminal.span), dfa, False)


def _call(name: str, span: Span, add: int) -> tree.Reference:
    return tree.Reference(tree.Name(name, span), span, number(span, add))
