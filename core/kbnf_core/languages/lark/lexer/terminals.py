"""Makes terminals out of the languages and patterns of either dialect."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from kbnf_core.automata import operations
from kbnf_core.automata.dfa import Dfa
from kbnf_core.automata.errors import LimitError
from kbnf_core.languages.lark.build_tree import is_written, pattern, terminal
from kbnf_core.languages.lark.lexer.lark_terminals import LarkTerminals, Pattern
from kbnf_core.languages.lark.lexer.llguidance_terminals import (
    EPSILON,
    Language,
    LlguidanceTerminals,
)
from kbnf_core.languages.lark.lexer.lookahead import ANYTHING, exits, outside, rest_of
from kbnf_core.languages.lark.reader.model import (
    Choice,
    Lexeme,
    Lexing,
    Node,
    Order,
    Repeat,
    Stopped,
    Terminal,
)
from kbnf_core.languages.lark.reader.modules import Entry, Module
from kbnf_core.languages.lark.reader.report import APPROXIMATE, INVALID, UNSUPPORTED, Report
from kbnf_core.languages.lark.reader.tree import Expression
from kbnf_core.languages.lark.regex import parse as regex
from kbnf_core.languages.lark.regex.backtrack import beginnings, matcher
from kbnf_core.languages.lark.regex.parse import PatternError
from kbnf_core.limits import DEFAULT_LIMITS, Limits
from kbnf_core.source import Span
from kbnf_core.syntax import tree


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
    """LLGuidance's terminals: maximal munch, a match extends while the automaton lives."""

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

    def of_language(
        self,
        language: Language,
        key: str,
        span: Span,
        is_lazy: bool = False,
        stopped: Stopped | None = None,
        opening: str | None = None,
    ) -> Node:
        """Return a use of a terminal with these words; see ``Terminal`` for the last two."""
        if key not in self._made:
            made, nullable = self.make(language, key, None, span, is_lazy)
            made = replace(made, stopped=stopped, opening=opening or made.opening)
            self._made[key] = (made, nullable)
        return lexeme(*self._made[key], span)

    def make(
        self, language: Language, key: str, name: str | None, span: Span, is_lazy: bool = False
    ) -> tuple[Terminal, bool]:
        """Return the terminal, without the empty word, and whether that was one of its words."""
        nullable = language.dfa.is_nullable
        dfa = operations.difference(language.dfa, EPSILON) if nullable else language.dfa
        goes_on = self.lexing is Lexing.LLGUIDANCE and not is_lazy
        stops = exits(dfa) if goes_on and not dfa.is_empty else (0,) * dfa.state_count
        rests = tuple(outside(mask) for mask in stops)
        written = None if nullable or language.regex is None else _written(language, dfa, span)
        made = Terminal(
            key,
            name,
            dfa,
            span,
            rests,
            written,
            is_lazy=is_lazy,
            is_nullable=nullable,
            opening=language.regex,
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
    """Lark: a terminal matches as Python's ``re`` does.

    ``names`` are the named terminals: a pattern in a rule that equals one of them is that one.
    """

    terminals: LarkTerminals
    names: Sequence[str]
    priority: Callable[[str], int]
    lexing: Lexing
    report: Report
    limits: Limits = DEFAULT_LIMITS
    _made: dict[str, Terminal | None] = field(default_factory=dict)
    _by_pattern: dict[Pattern, str] | None = None
    _anonymous: dict[Pattern, str] = field(default_factory=dict)
    _given: dict[str, Pattern] = field(default_factory=dict)

    def named(self, flat: str, span: Span) -> Node | None:
        """Return a use of a named terminal; None after a report."""
        found = self.terminals.named(flat, span)
        return None if found is None else self._use(found, flat, flat, flat, span)

    def anonymous(self, body: Expression, module: Module) -> Node | None:
        """Return a use of a terminal that stands in a rule; None after a report."""
        found = self.terminals.build(body, module)
        if found is None:
            return None
        place = module.place(body.span)
        same = self._known().get(found)
        if same is not None:
            return self._use(found, same, same, same, place)
        title = module.source.slice(body.span)
        return self._use(found, None, title, self._given_name(found, place), place)

    def _known(self) -> dict[Pattern, str]:
        """Return the named terminals by their patterns; of equal ones Lark takes the last."""
        if self._by_pattern is None:
            built = ((self.terminals.named(name, Span(0, 0)), name) for name in self.names)
            self._by_pattern = {found: name for found, name in built if found is not None}
        return self._by_pattern

    def _given_name(self, found: Pattern, place: Span) -> str:
        """Return the name that Lark gives to a pattern without one; it decides between equals."""
        from lark.load_grammar import _TERMINAL_NAMES

        text = found.text
        if text is not None:
            name = _TERMINAL_NAMES.get(text, text.upper() if text.isidentifier() else "")
            # A text with other flags is another terminal, and one name is not given twice.
            if name and name not in self.names and self._given.setdefault(name, found) == found:
                return str(name)
        return self._anonymous.setdefault(found, f"__ANON_{place.start:08}")

    def _use(
        self, found: Pattern, name: str | None, title: str, lark_name: str, span: Span
    ) -> Node | None:
        if lark_name not in self._made:
            self._made[lark_name] = self._make(found, name, title, lark_name, span)
        made = self._made[lark_name]
        return None if made is None else lexeme(made, False, span)

    def _make(
        self, found: Pattern, name: str | None, title: str, lark_name: str, span: Span
    ) -> Terminal | None:
        if not found.value:
            self.report.error(INVALID, "empty terminals are not allowed in Lark", span)
            return None
        try:
            parsed = regex.parse(found.regexp)
            words = matcher(parsed.node)
            by_order = self.lexing is Lexing.LALR
            begun = rest_of(beginnings(parsed.node)) if by_order else None
        except PatternError as error:
            self.report.error(UNSUPPORTED, str(error), span)
            return None
        except LimitError as error:
            self.report.error("E203", f"this terminal needs {error}", span)
            return None
        for problem in parsed.problems:
            self.report.loss(APPROXIMATE, problem, span)
        if words.looks_back:
            self.report.loss(APPROXIMATE, "this looks at the text before the terminal", span)
        if words.dfa.is_nullable:
            self.report.error(INVALID, f"`{title}` can be empty, which Lark refuses", span)
            return None
        free = self.lexing is Lexing.SCANNERLESS
        return Terminal(
            title,
            name,
            words.dfa,
            span,
            (ANYTHING,) * words.dfa.state_count if free else words.rests,
            _written_pattern(found, words.dfa, span),
            self._order(found, lark_name),
            beginnings=begun,
        )

    def _order(self, found: Pattern, name: str) -> Order:
        key = (-self.priority(name), -found.widths[1], -len(found.value), name)
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

    from kbnf_core.languages.lark.reader.tree import Alternation

    first = found[0].definition
    body = Alternation(tuple(entry.definition.body for entry in found), first.body.span)
    return Entry(replace(first, body=body), found[0].module)
