"""Makes terminals out of the languages and patterns of either dialect."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from kbnf_core.automata import operations
from kbnf_core.automata.dfa import Dfa
from kbnf_core.automata.errors import LimitError
from kbnf_core.convert.lark import python_regex as regex
from kbnf_core.convert.lark.lark_terminals import LarkTerminals, Pattern
from kbnf_core.convert.lark.leftmost import Matcher, matcher
from kbnf_core.convert.lark.llguidance_terminals import EPSILON, Language, LlguidanceTerminals
from kbnf_core.convert.lark.masks import exits
from kbnf_core.convert.lark.model import Choice, Lexeme, Lexing, Node, Order, Repeat, Terminal
from kbnf_core.convert.lark.modules import Entry, Module
from kbnf_core.convert.lark.report import APPROXIMATE, INVALID, UNSUPPORTED, Report
from kbnf_core.convert.lark.writing import is_written, pattern, terminal
from kbnf_core.limits import DEFAULT_LIMITS, Limits
from kbnf_core.source import Span
from kbnf_core.syntax import tree
from kbnf_core.syntax.lark_dialect_tree import Expression


class Factory(Protocol):
    """Makes lexemes of one dialect."""

    def named(self, flat: str, span: Span) -> Node | None:
        """Return a use of a named terminal; None after a report."""

    def anonymous(self, body: Expression, module: Module) -> Node | None:
        """Return a use of a terminal that stands in a rule; None after a report."""


def lexeme(made: Terminal, nullable: bool, span: Span) -> Node:
    """Return a use of a terminal, which may also be empty."""
    if made.dfa.is_empty:
        return Repeat(Choice((), span), 0, 1, span) if nullable else Choice((), span)
    use = Lexeme(made, span)
    return Repeat(use, 0, 1, span) if nullable else use


@dataclass(slots=True)
class LlguidanceFactory:
    """LLGuidance: a terminal goes on as long as its automaton does."""

    terminals: LlguidanceTerminals
    lexing: Lexing
    _made: dict[str, tuple[Terminal, bool]] = field(default_factory=dict)

    def named(self, flat: str, span: Span) -> Node | None:
        """Return a use of a named terminal; None after a report."""
        if flat not in self._made:
            language = self.terminals.named(flat, span)
            if language is None:
                return None
            self._made[flat] = self.make(language, flat, flat, span)
        return lexeme(*self._made[flat], span)

    def anonymous(self, body: Expression, module: Module) -> Node | None:
        """Return a use of a terminal that stands in a rule; None after a report."""
        language = self.terminals.evaluate(body, module)
        if language is None:
            return None
        return self.of_language(language, module.source.slice(body.span), module.place(body.span))

    def of_language(self, language: Language, key: str, span: Span, is_lazy: bool = False) -> Node:
        """Return a use of a terminal with these words."""
        if key not in self._made:
            self._made[key] = self.make(language, key, None, span, is_lazy)
        return lexeme(*self._made[key], span)

    def make(
        self, language: Language, key: str, name: str | None, span: Span, is_lazy: bool = False
    ) -> tuple[Terminal, bool]:
        """Return the terminal, without the empty word, and whether that was one of its words."""
        nullable = language.dfa.is_nullable
        dfa = operations.difference(language.dfa, EPSILON) if nullable else language.dfa
        goes_on = self.lexing is Lexing.LLGUIDANCE and not is_lazy
        stops = exits(dfa) if goes_on and not dfa.is_empty else (0,) * dfa.state_count
        written = None if nullable or language.regex is None else _written(language, dfa, span)
        made = Terminal(
            key, name, dfa, span, stops, (0,) * dfa.state_count, written, is_lazy=is_lazy
        )
        return made, nullable


def _written(language: Language, dfa: Dfa, span: Span) -> tree.Expression:
    word = operations.shortest_word(dfa)
    if word is not None and len(word) == dfa.state_count - 1:
        try:
            text = word.decode()
        except UnicodeDecodeError:
            text = ""
        if text and operations.is_equal(dfa, operations.literal(word)):
            return terminal(text, span)
    return pattern(language.regex or "", span)


@dataclass(slots=True)
class LarkFactory:
    """Lark: a terminal matches as Python's ``re`` does."""

    terminals: LarkTerminals
    priority: Callable[[str], int]
    lexing: Lexing
    report: Report
    limits: Limits = DEFAULT_LIMITS
    _made: dict[tuple[str, frozenset[str]], Terminal | None] = field(default_factory=dict)

    def named(self, flat: str, span: Span) -> Node | None:
        """Return a use of a named terminal; None after a report."""
        found = self.terminals.named(flat, span)
        return None if found is None else self._use(found, flat, flat, span)

    def anonymous(self, body: Expression, module: Module) -> Node | None:
        """Return a use of a terminal that stands in a rule; None after a report."""
        found = self.terminals.build(body, module)
        place = module.place(body.span)
        key = module.source.slice(body.span)
        return None if found is None else self._use(found, None, key, place)

    def _use(self, found: Pattern, name: str | None, key: str, span: Span) -> Node | None:
        identity = (found.value, found.flags)
        if identity not in self._made:
            self._made[identity] = self._make(found, name, key, span)
        made = self._made[identity]
        return None if made is None else lexeme(made, False, span)

    def _make(self, found: Pattern, name: str | None, key: str, span: Span) -> Terminal | None:
        if not found.value:
            self.report.error(INVALID, "empty terminals are not allowed in Lark", span)
            return None
        try:
            parsed = regex.parse(found.regexp)
            words = matcher(parsed.node)
        except regex.PatternError as error:
            self.report.error(UNSUPPORTED, str(error), span)
            return None
        except LimitError as error:
            self.report.error("E203", f"this terminal needs {error}", span)
            return None
        for problem in parsed.problems:
            self.report.loss(APPROXIMATE, problem.message, span)
        if words.dfa.is_nullable:
            self.report.error(INVALID, f"`{name or key}` can be empty, which Lark refuses", span)
            return None
        return self._terminal(found, words, name, key, span)

    def _terminal(
        self, found: Pattern, words: Matcher, name: str | None, key: str, span: Span
    ) -> Terminal:
        none = (0,) * words.dfa.state_count
        free = self.lexing is Lexing.SCANNERLESS
        return Terminal(
            key,
            name,
            words.dfa,
            span,
            none if free else words.stops,
            none if free else words.doubts,
            _written_pattern(found, words.dfa, span),
            self._order(found, name or key),
        )

    def _order(self, found: Pattern, name: str) -> Order:
        priority = self.priority(name)
        key = (-priority, -found.widths[1], -len(found.value), name)
        keyword = None if found.text is None else found.text.encode()
        return Order(key, keyword, found.flags)


def _written_pattern(found: Pattern, dfa: Dfa, span: Span) -> tree.Expression | None:
    if found.text is not None and not found.flags:
        return terminal(found.text, span)
    return pattern(found.regexp, span) if is_written(found.regexp, dfa) else None


def entry_of(entries: dict[str, list[Entry]], flat: str) -> Entry | None:
    """Return the definition of ``flat``; those of ``%extend`` are joined to one."""
    found = entries.get(flat)
    if not found:
        return None
    return found[0] if len(found) == 1 else _joined(found)


def _joined(found: list[Entry]) -> Entry:
    from dataclasses import replace

    from kbnf_core.syntax.lark_dialect_tree import Alternation

    first = found[0].definition
    body = Alternation(tuple(entry.definition.body for entry in found), first.body.span)
    return Entry(replace(first, body=body), found[0].module)
