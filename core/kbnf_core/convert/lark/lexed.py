"""Applies a lexer to rules over lexemes: which lexemes end where, and what cannot be known."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from kbnf_core.convert.lark.cuts import Class, Cut, Cutter, Doubt
from kbnf_core.convert.lark.masks import END, SKIPPED, first_bytes
from kbnf_core.convert.lark.model import Embedded, Lexeme, LexicalGrammar, Lexing, Terminal
from kbnf_core.convert.lark.positions import Positions, analyse, members
from kbnf_core.convert.lark.report import LEXING, Report
from kbnf_core.source import Span


@dataclass(slots=True)
class Lexed:
    """The classes of each lexeme of a grammar under a lexer."""

    grammar: LexicalGrammar
    lexing: Lexing
    report: Report
    cutter: Cutter
    positions: Positions
    _classes: dict[int, tuple[Class, ...]] = field(default_factory=dict)

    def classes(self, node: Lexeme) -> tuple[Class, ...]:
        """Return the words of ``node`` by what must not follow them."""
        if id(node) not in self._classes:
            classes = self._cut(node).classes
            if self._bars(node):
                classes = tuple(replace(each, stop=each.stop | SKIPPED) for each in classes)
            self._classes[id(node)] = classes
        return self._classes[id(node)]

    def _bars(self, node: Lexeme) -> bool:
        """Tell whether ``node`` is ignored text before what may be an embedded grammar."""
        if self.lexing is not Lexing.LLGUIDANCE or node.terminal is not self.grammar.ignored:
            return False
        following = members(self.positions.follow[self.positions.number(node)])
        leaves = (self.positions.leaves[number] for number in following)
        return any(isinstance(leaf, Embedded) and leaf.is_grammar for leaf in leaves)

    def _cut(self, node: Lexeme) -> Cut:
        if self.lexing is Lexing.SCANNERLESS:
            return Cut((Class(0, node.terminal.dfa, True),), ())
        ignored = self.grammar.ignored
        if self.lexing is Lexing.LALR and ignored is not None and node.terminal in ignored.parts:
            # Lark drops every lexeme of an ignored terminal, wherever it comes.
            return Cut((), ())
        positions = self.positions
        number = positions.number(node)
        following = self._first(positions.follow[number])
        if positions.last[number]:
            following |= END
        must, may = (
            [*self._terminals(leaves)] for leaves in (positions.must[number], positions.may[number])
        )
        if ignored is not None and self._follows_something(number):
            # Ignored text can go on after ignored text, wherever a lexeme has come before.
            (may if self._is_first(number) else must).append(ignored)
        cut = self.cutter.cut(node.terminal, must, may, following)
        for doubt in cut.doubts:
            self._lose(node, doubt)
        self._check_embedded(node, number)
        return cut

    def _follows_something(self, number: int) -> bool:
        return self.grammar.skips_first or any(f >> number & 1 for f in self.positions.follow)

    def _is_first(self, number: int) -> bool:
        """Tell whether the leaf may stand where no ignored text is allowed."""
        return not self.grammar.skips_first and bool(self.positions.first >> number & 1)

    def _first(self, leaves: int) -> int:
        mask = 0
        for number in members(leaves):
            leaf = self.positions.leaves[number]
            mask |= leaf.first if isinstance(leaf, Embedded) else first_bytes(leaf.terminal.dfa)
        return mask

    def _terminals(self, leaves: int) -> Iterable[Terminal]:
        found = (self.positions.leaves[number] for number in members(leaves))
        return {leaf.terminal: None for leaf in found if isinstance(leaf, Lexeme)}

    def _check_embedded(self, node: Lexeme, number: int) -> None:
        """Report embedded parts that start alike: their lexemes are not known here."""
        if self.lexing is not Lexing.LLGUIDANCE:
            return
        for other in members(self.positions.may[number]):
            leaf = self.positions.leaves[other]
            if isinstance(leaf, Embedded) and leaf.first & first_bytes(node.terminal.dfa):
                self.report.loss(
                    LEXING,
                    f"`{node.terminal.title}` and what is embedded here start alike: which of them"
                    " a text belongs to may be decided too late",
                    leaf.span,
                )

    def follow_embedded(self, node: Embedded, state: int) -> None:
        """Report an embedded part that may stand where its first byte should not."""
        if self.lexing is Lexing.SCANNERLESS or not node.first & state:
            return
        self.report.loss(
            LEXING,
            "this may follow a lexeme that would go on with its first byte",
            node.span,
        )

    def _lose(self, node: Lexeme, doubt: Doubt) -> None:
        word = doubt.word.decode("utf-8", "backslashreplace")
        after = "the end" if doubt.following == END else repr(chr(doubt.following))
        if doubt.companion is None:
            message = (
                f"whether `{node.terminal.title}` ends after {word!r} and before {after} depends"
                " on the text that follows; here it always may"
            )
        else:
            message = (
                f"`{node.terminal.title}` and `{doubt.companion.title}` can be confused: in some"
                f" places {word!r} before {after} is no lexeme of its own; here it always may be"
            )
        self.report.loss(LEXING, message, _shown(node))


def _shown(node: Lexeme) -> Span:
    return node.span if node.span.end > node.span.start else node.terminal.span


def apply_lexer(grammar: LexicalGrammar, lexing: Lexing, report: Report) -> Lexed:
    """Return ``grammar`` under ``lexing``."""
    cutter = Cutter(lexing)
    with_others = lexing in (Lexing.LLGUIDANCE, Lexing.LALR)
    confusable = cutter.confusable if with_others else _never
    return Lexed(grammar, lexing, report, cutter, analyse(grammar, confusable))


def _never(_one: Terminal, _other: Terminal) -> bool:
    """With a lexer that knows no companions nothing needs to be followed together."""
    return False
