"""The patterns of Lark's own terminals, and their names, just as Lark makes them.

Lark joins texts, not languages: ``A: /a|b/ "c"`` becomes ``a|bc``. Alternatives are tried widest
first. Both decide the matches of Python, so both are kept. Terminals are known by their patterns:
one that is written in a rule is the named terminal with that pattern, if there is one. Lark names
the others, and names decide in which order its lexer tries patterns of the same length.

Tests: tests/unit/languages/lark
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from kbnf_core.automata.algebra import quantifier
from kbnf_core.automata.dfa import Dfa
from kbnf_core.conversion.automata import as_pattern
from kbnf_core.ir import Choice, Repeat, Sequence
from kbnf_core.kbnf import tree
from kbnf_core.kbnf.build import text
from kbnf_core.languages.lark.lexer.lookahead import (
    ANYTHING,
    Lookahead,
    beginning_with,
    rest_of,
)
from kbnf_core.languages.lark.reader import tree as lark
from kbnf_core.languages.lark.reader.dialect import Dialect, decode, unescape
from kbnf_core.languages.lark.reader.model import LarkTerminal, Lexing, Node, TerminalOrder, lexeme
from kbnf_core.languages.lark.reader.modules import Gathered, Module, NamedTerminals
from kbnf_core.languages.lark.reader.report import (
    APPROXIMATE,
    INVALID,
    UNSUPPORTED,
    LarkRefusedError,
    Report,
    check_counts,
)
from kbnf_core.languages.lark.regex import (
    Matcher,
    PatternError,
    beginnings,
    matcher,
    only,
    parse,
    widths,
)
from kbnf_core.text.errors import LimitError
from kbnf_core.text.source import Source, Span


@dataclass(frozen=True, slots=True)
class LarkPattern:
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
    def length(self) -> int:
        """The number of characters that Lark sorts by: those of a string, of other patterns all."""
        return len(self.value if self.text is None else self.text)

    @property
    def widths(self) -> tuple[int, int]:
        """The least and the greatest number of characters, as Lark reckons them.

        None at all for what Python does not take, which is reported where it is read.
        """
        if self.text is not None:
            return len(self.text), len(self.text)
        try:
            return widths(self.regexp)
        except PatternError:
            return 0, 0


class LarkTerminals(NamedTerminals[LarkPattern]):
    """Builds the patterns of terminals."""

    def combine(
        self, node: lark.Expression, patterns: list[LarkPattern], module: Module
    ) -> LarkPattern | None:
        """Return the pattern of a terminal expression; None after a report."""
        match node:
            case lark.Group():
                return patterns[0]
            case Sequence():
                return LarkPattern("".join(pattern.regexp for pattern in patterns))
            case Choice():
                ordered = sorted(patterns, key=lambda p: (-p.widths[1], -p.widths[0], -p.length))
                return LarkPattern(f"(?:{'|'.join(pattern.regexp for pattern in ordered)})")
            case Repeat(_, low, high):
                check_counts(low, high, None)
                return LarkPattern(
                    f"(?:{patterns[0].regexp}){quantifier(low, high)}", patterns[0].flags
                )
            case lark.Use():
                return self.used(node, module)
            case lark.String():
                text = decode(node.raw, Dialect.LARK)
                return LarkPattern(
                    re.escape(text), frozenset("i" if node.ignores_case else ""), text
                )
            case lark.Range():
                return _range(node.first.raw, node.last.raw)
            case lark.Regexp():
                return LarkPattern(unescape(node.raw).replace("\\/", "/"), frozenset(node.flags))
        subject = "templates are" if isinstance(node, lark.TemplateUse) else "this is"
        raise LarkRefusedError(INVALID, f"{subject} not allowed inside terminals")


def _range(first: str, last: str) -> LarkPattern:
    """Return the class as Lark writes it, ends unescaped: ``"^".."z"`` is not a class of two."""
    if len(unescape(first)) == len(unescape(last)) == 1 and unescape(first) <= unescape(last):
        return LarkPattern(f"[{first}-{last}]")
    raise LarkRefusedError(INVALID, "the ends of a range are two characters in order")


def names_of(terminals: LarkTerminals) -> dict[LarkPattern, str]:
    """Return the name of each pattern: of equal terminals the last one's, else what Lark makes up.

    It looks at the rules in their order, in each at the innermost patterns first.
    """
    from lark.load_grammar import _TERMINAL_NAMES
    from lark.utils import is_id_continue, is_id_start

    gathered = terminals.gathered
    quiet = LarkTerminals(
        gathered, Report(terminals.report.source), terminals.limits, terminals.budget
    )
    placed: list[tuple[int, str, LarkPattern | None]] = []
    for name, (entry, *_) in gathered.entries.items():
        if entry.definition.name.is_terminal:
            position = -1 if entry.module.site else entry.definition.name.span.start
            placed.append((position, name, quiet.named(name, entry.definition.name.span)))
    for number, (body, span) in enumerate(gathered.ignored):
        if not isinstance(body, lark.Use):
            pattern = quiet.evaluate(body, gathered.main)
            placed.append((span.start, f"__IGNORE_{number}", pattern))
    placed.sort(key=lambda placed_name: placed_name[0])
    names = {pattern: name for _, name, pattern in placed if pattern is not None}
    used, count = {name for _, name, _ in placed}, 0
    for body, module in _rules_in_order(gathered):
        for leaf in _innermost_first(body, module.source):
            pattern = None if isinstance(leaf, lark.TemplateUse) else quiet.evaluate(leaf, module)
            if pattern is None or pattern in names:
                continue
            text = pattern.text or ""
            is_name = bool(text) and is_id_continue(text) and is_id_start(text[0])
            name = _TERMINAL_NAMES.get(text) or (text.upper() if is_name else "")
            if not name or name in used:
                name, count = f"__ANON_{count}", count + 1
            used.add(name)
            names[pattern] = name
    return names


def _rules_in_order(gathered: Gathered) -> Iterator[tuple[lark.Expression, Module]]:
    """Yield the bodies of rules as Lark compiles them: templates in the order of their uses."""
    rules = [
        (flat, entry)
        for flat, entries in gathered.entries.items()
        for entry in entries
        if not entry.definition.name.is_terminal
    ]
    pending = [entry for _, entry in rules if not entry.definition.template]
    templates = {flat: entry for flat, entry in rules if entry.definition.template}
    for entry in pending:
        body, module = entry.definition.body, entry.module
        yield body, module
        for use in _innermost_first(body, module.source):
            if isinstance(use, lark.TemplateUse):
                used = templates.pop(module.names.get(use.name.value, ""), None)
                pending.extend((used,) if used else ())
    # Those that are only given as arguments to others.
    yield from ((template.definition.body, template.module) for template in templates.values())


def _innermost_first(body: lark.Expression, source: Source) -> list[lark.Expression]:
    """Return patterns and uses of templates by their depth in Lark's tree, the deepest first."""
    result: list[tuple[int, int, lark.Expression]] = []
    stack = [(body, 0, True)]
    while stack:
        node, depth, is_whole = stack.pop()
        match node:
            case Choice(branches) if is_whole:
                stack.extend((branch, depth, True) for branch in branches)
            case lark.Group(inner) if not source.slice(node.span).endswith(")"):
                stack.append((inner, depth + 1, True))
            case Sequence(items) if is_whole:
                stack.extend((item, depth + 2, False) for item in items)
            case _ if is_whole:
                stack.append((node, depth + 2, False))
            case Repeat(inner):
                is_optional = source.slice(node.span).endswith("]")
                stack.append((inner, depth + 1, is_optional))
            case lark.Group(inner) | lark.Guarded(inner):
                stack.append((inner, depth, True))
            case lark.TemplateUse():
                result.append((-depth, node.span.start, node))
                stack.extend((argument, depth + 2, False) for argument in node.arguments)
            case lark.String() | lark.Range() | lark.Regexp():
                result.append((-depth, node.span.start, node))
    return [node for _, _, node in sorted(result, key=lambda entry: entry[:2])]


@dataclass(slots=True)
class LarkFactory:
    """Lark: a terminal matches as Python's ``re`` does."""

    terminals: LarkTerminals
    lexing: Lexing
    _made: dict[str, LarkTerminal | None] = field(default_factory=dict)
    _names: dict[LarkPattern, str] = field(default_factory=dict)

    def named(self, flat: str, span: Span) -> Node | None:
        """Return a use of a named terminal; None after a report."""
        result = self.terminals.named(flat, span)
        return None if result is None else self._use(result, flat, flat, flat, span)

    def anonymous(self, body: lark.Expression, module: Module) -> Node | None:
        """Return a use of a terminal that is in a rule; None after a report."""
        result = self.terminals.evaluate(body, module)
        if result is None:
            return None
        span = module.main_span(body.span)
        self._names = self._names or names_of(self.terminals)
        name = self._names[result]
        if name in self.terminals.gathered.entries:
            return self._use(result, name, name, name, span)
        return self._use(result, None, module.source.slice(body.span), name, span)

    def _use(
        self, pattern: LarkPattern, name: str | None, title: str, lark_name: str, span: Span
    ) -> Node | None:
        if lark_name not in self._made:
            self._made[lark_name] = self._make(pattern, name, title, lark_name, span)
        made = self._made[lark_name]
        return None if made is None else lexeme(made, False, span)

    def _make(
        self, pattern: LarkPattern, name: str | None, title: str, lark_name: str, span: Span
    ) -> LarkTerminal | None:
        if not pattern.value:
            self.terminals.report.error(INVALID, "empty terminals are not allowed in Lark", span)
            return None
        try:
            words, begun, problems = self._automata(pattern)
        except PatternError as error:
            self.terminals.report.error(UNSUPPORTED, str(error), span)
            return None
        except LimitError as error:
            self.terminals.report.error("E203", f"this terminal needs {error}", span)
            return None
        for problem in problems:
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
        return LarkTerminal(
            title,
            name,
            words.dfa,
            span,
            (ANYTHING,) * words.dfa.state_count if free else words.rests,
            _written_pattern(pattern, words.dfa, span),
            self._order(pattern, lark_name),
            beginnings=begun,
        )

    def _automata(self, pattern: LarkPattern) -> tuple[Matcher, Lookahead | None, tuple[str, ...]]:
        """Return the words, the texts that begin with one (under LALR), and problems.

        Raises the exceptions of ``matcher``.
        """
        by_order = self.lexing is Lexing.LALR
        if pattern.text is not None and not pattern.flags:
            data = pattern.text.encode()
            return only(data), beginning_with(data) if by_order else None, ()
        parsed = parse(pattern.regexp)
        begun = rest_of(beginnings(parsed.node)) if by_order else None
        return matcher(parsed.node), begun, parsed.problems

    def _order(self, pattern: LarkPattern, name: str) -> TerminalOrder:
        entry = self.terminals.gathered.entry(name)
        priority = entry.definition.priority or 0 if entry else 0
        key = (-priority, -pattern.widths[1], -pattern.length, name)
        keyword = None if pattern.text is None else pattern.text.encode()
        return TerminalOrder(key, keyword, pattern.flags, pattern.regexp)


def _written_pattern(pattern: LarkPattern, dfa: Dfa, span: Span) -> tree.Expression | None:
    if pattern.text is not None and not pattern.flags:
        return text(pattern.text, span)
    return as_pattern(pattern.regexp, dfa, span)
