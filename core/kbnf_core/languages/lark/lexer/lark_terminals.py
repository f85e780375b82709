"""The patterns of Lark's own terminals: joined to one regular expression just as Lark does it.

Lark joins texts, not languages: ``A: /a|b/ "c"`` becomes ``a|bc``. Alternatives are tried widest
first. Both decide what Python matches, so both are kept.
"""

import re
from dataclasses import dataclass, field

from kbnf_core.automata.algebra import quantifier
from kbnf_core.automata.dfa import Dfa
from kbnf_core.automata.errors import LimitError
from kbnf_core.ir import Choice, Repeat, Sequence
from kbnf_core.kbnf import tree
from kbnf_core.languages.conversion.build_tree import is_written, pattern, terminal
from kbnf_core.languages.lark.lexer.lookahead import ANYTHING, rest_of
from kbnf_core.languages.lark.reader import tree as lark
from kbnf_core.languages.lark.reader.dialect import Dialect, decode, unescape
from kbnf_core.languages.lark.reader.model import Lexing, Node, Order, Terminal, lexeme
from kbnf_core.languages.lark.reader.modules import Module, NamedTerminals
from kbnf_core.languages.lark.reader.report import (
    APPROXIMATE,
    INVALID,
    UNSUPPORTED,
    RefusedError,
    check_counts,
)
from kbnf_core.languages.lark.regex import PatternError, beginnings, matcher, parse, widths
from kbnf_core.text.source import Span


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern as Lark keeps it; ``text`` is that of a plain string, None for all others."""

    value: str
    flags: frozenset[str] = frozenset()
    text: str | None = None

    @property
    def regexp(self) -> str:
        """The regular expression, flags included."""
        inner = self.value
        for flag in sorted(self.flags):
            inner = f"(?{flag}:{inner})"
        return inner

    @property
    def widths(self) -> tuple[int, int]:
        """The least and the greatest number of characters, as Lark reckons them.

        None at all for what Python does not take, which is said where it is read.
        """
        try:
            return widths(self.regexp)
        except PatternError:
            return 0, 0


class LarkTerminals(NamedTerminals[Pattern]):
    """Builds the patterns of terminals."""

    def combine(
        self, node: lark.Expression, parts: list[Pattern], module: Module
    ) -> Pattern | None:
        """Return the pattern of a terminal expression; None after a report."""
        match node:
            case lark.Group():
                return parts[0]
            case Sequence():
                return Pattern("".join(part.regexp for part in parts))
            case Choice():
                ordered = sorted(parts, key=lambda p: (-p.widths[1], -p.widths[0], -len(p.value)))
                return Pattern(f"(?:{'|'.join(part.regexp for part in ordered)})")
            case Repeat(_, low, high):
                check_counts(low, high, None)
                return Pattern(f"(?:{parts[0].regexp}){quantifier(low, high)}", parts[0].flags)
            case lark.Use():
                return self.used(node, module)
            case lark.String():
                text = decode(node.raw, Dialect.LARK)
                return Pattern(re.escape(text), frozenset("i" if node.ignores_case else ""), text)
            case lark.Range():
                return _range(*(decode(each.raw, Dialect.LARK) for each in (node.first, node.last)))
            case lark.Regexp():
                return Pattern(unescape(node.raw).replace("\\/", "/"), frozenset(node.flags))
        what = "templates are" if isinstance(node, lark.TemplateUse) else "this is"
        raise RefusedError(INVALID, f"{what} not allowed inside terminals")


def _range(first: str, last: str) -> Pattern:
    if len(first) == len(last) == 1 and first <= last:
        return Pattern(f"[{re.escape(first)}-{re.escape(last)}]")
    raise RefusedError(INVALID, "the ends of a range are two characters in order")


@dataclass(slots=True)
class LarkFactory:
    """Lark: a terminal matches as Python's ``re`` does.

    ``names`` are the named terminals: a pattern in a rule that equals one of them is that one.
    """

    terminals: LarkTerminals
    lexing: Lexing
    names: list[str] = field(init=False)
    _made: dict[str, Terminal | None] = field(default_factory=dict)
    _by_pattern: dict[Pattern, str] | None = None
    _anonymous: dict[Pattern, str] = field(default_factory=dict)
    _given: dict[str, Pattern] = field(default_factory=dict)

    def __post_init__(self) -> None:
        entries = self.terminals.gathered.entries.items()
        self.names = [flat for flat, found in entries if found[0].definition.name.is_terminal]

    def named(self, flat: str, span: Span) -> Node | None:
        """Return a use of a named terminal; None after a report."""
        found = self.terminals.named(flat, span)
        return None if found is None else self._use(found, flat, flat, flat, span)

    def anonymous(self, body: lark.Expression, module: Module) -> Node | None:
        """Return a use of a terminal that is in a rule; None after a report."""
        found = self.terminals.evaluate(body, module)
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
            self.terminals.report.error(INVALID, "empty terminals are not allowed in Lark", span)
            return None
        try:
            parsed = parse(found.regexp)
            words = matcher(parsed.node)
            by_order = self.lexing is Lexing.LALR
            begun = rest_of(beginnings(parsed.node)) if by_order else None
        except PatternError as error:
            self.terminals.report.error(UNSUPPORTED, str(error), span)
            return None
        except LimitError as error:
            self.terminals.report.error("E203", f"this terminal needs {error}", span)
            return None
        for problem in parsed.problems:
            self.terminals.report.loss(APPROXIMATE, problem, span)
        if words.looks_back:
            self.terminals.report.loss(
                APPROXIMATE, "this looks at the text before the terminal", span
            )
        if words.dfa.is_nullable:
            self.terminals.report.error(
                INVALID, f"`{title}` can be empty, which Lark refuses", span
            )
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
        entry = self.terminals.gathered.entry(name)
        priority = entry.definition.priority or 0 if entry else 0
        key = (-priority, -found.widths[1], -len(found.value), name)
        keyword = None if found.text is None else found.text.encode()
        return Order(key, keyword, found.flags, found.regexp)


def _written_pattern(found: Pattern, dfa: Dfa, span: Span) -> tree.Expression | None:
    if found.text is not None and not found.flags:
        return terminal(found.text, span)
    return pattern(found.regexp, span) if is_written(found.regexp, dfa) else None
