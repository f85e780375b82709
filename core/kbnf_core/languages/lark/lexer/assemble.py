"""From rules over lexemes to a document of KBNF, as exact as the limits permit."""

from dataclasses import dataclass, field

from kbnf_core.automata.dfa import Dfa
from kbnf_core.budget import Budget
from kbnf_core.ir import postorder
from kbnf_core.languages.conversion.names import Names
from kbnf_core.languages.conversion.variants import merge_variants
from kbnf_core.languages.lark import build_tree
from kbnf_core.languages.lark.build_tree import reference
from kbnf_core.languages.lark.lexer.collisions import report_collisions
from kbnf_core.languages.lark.lexer.ignore import end_bare, insert_skipped, open_ends
from kbnf_core.languages.lark.lexer.lalr import Expected, TooManyExpansionsError, expected
from kbnf_core.languages.lark.lexer.lexer import Lexed, apply_lexer
from kbnf_core.languages.lark.lexer.maximal_munch import LexemeSplitter
from kbnf_core.languages.lark.lexer.product import Key, Product, TooManyVariantsError
from kbnf_core.languages.lark.lexer.prune import only_useful
from kbnf_core.languages.lark.reader.dialect import Dialect
from kbnf_core.languages.lark.reader.embedded import Embedding
from kbnf_core.languages.lark.reader.model import Lexeme, LexicalGrammar, Lexing, Terminal
from kbnf_core.languages.lark.reader.report import INVALID, LEXING, Report
from kbnf_core.source import Source, Span
from kbnf_core.syntax import tree
from kbnf_core.syntax.printer import print_expression


@dataclass(slots=True)
class Writer:
    """Writes lexemes: short ones where they stand, named ones as definitions of their own."""

    names: Names
    definitions: list[tuple[str, tree.Expression, Span]] = field(default_factory=list)
    families: dict[str, str] = field(default_factory=dict)
    """The terminals that named lexemes are variants of."""
    _written: dict[int, tuple[Dfa, tree.Expression]] = field(default_factory=dict)

    def lexeme(self, node: Lexeme, dfa: Dfa, is_whole: bool) -> tree.Expression:
        """Return ``dfa``, all or some words of the lexeme's terminal, as KBNF."""
        if id(dfa) not in self._written:
            self._written[id(dfa)] = (dfa, self._write(node.terminal, dfa, is_whole))
        return self._written[id(dfa)][1]

    def _write(self, terminal: Terminal, dfa: Dfa, is_whole: bool) -> tree.Expression:
        span = terminal.span
        symbol = terminal.written if is_whole else None
        if symbol is None or _is_long(symbol):
            symbol = _shorter(build_tree.write_dfa(dfa, span), symbol)
        if symbol is None:
            return self._rules(terminal, dfa)
        if terminal.name is None or (not is_whole and isinstance(symbol, tree.Terminal)):
            return symbol
        name = self.names.fresh(terminal.name)
        self.definitions.append((name, symbol, span))
        self.families[name] = terminal.name
        return build_tree.reference(name, span)

    def _rules(self, terminal: Terminal, dfa: Dfa) -> tree.Expression:
        """Write an automaton whose words are no text, state by state."""
        name = self.names.fresh(terminal.name or "bytes")
        states = build_tree.write_rules(dfa, name, terminal.span)
        for state, body in states:
            self.definitions.append((state, body, terminal.span))
        return build_tree.reference(name, terminal.span)


def _is_long(symbol: tree.Expression) -> bool:
    return isinstance(symbol, tree.Pattern) and len(symbol.text.value) > _LONG


def _shorter(
    found: tree.Expression | None, written: tree.Expression | None
) -> tree.Expression | None:
    """Return a terminal as its automaton has it, unless it is written shorter, or only so."""
    if found is None or written is None:
        return written if found is None else found
    return min(written, found, key=lambda each: len(print_expression(each)))


def wanted_name(key: Key) -> str:
    """Return the name of a variant."""
    if key.rule.startswith("@"):
        return key.rule[1:]
    name, at_end, _ = key.rule.partition("@end")
    return name.replace("::", "_") + ("_end" if at_end else "")


def definition(name: str, body: tree.Expression, span: Span) -> tree.Definition:
    """Return ``name ::= body;``."""
    return tree.Definition(tree.Name(name, span), body, span)


_LONG = 100
"""Characters from which on a pattern may be said better than it was."""

_MANY, _TIMES = 100, 3
"""Definitions, and times as many as rules, from which on the output says what they are for."""


@dataclass(frozen=True, slots=True)
class Assembly:
    """What the grammar is written with."""

    source: Source
    dialect: Dialect
    lexing: Lexing
    names: Names
    embedding: Embedding
    report: Report
    budget: Budget

    def document(self, grammar: LexicalGrammar) -> tree.Document | None:
        """Return the document; None after a report.

        What the lexer looks at is first kept whole, then up to the next byte, then not at all:
        each needs fewer variants of the rules.
        """
        for byte_only in (False, True):
            report = Report(self.source)
            try:
                found = self._written(grammar, self.lexing, report, byte_only)
            except TooManyVariantsError:
                continue
            self.report.add(report)
            return found
        self._lose_lexer(grammar)
        return self._written(grammar, Lexing.SCANNERLESS, self.report)

    def _lose_lexer(self, grammar: LexicalGrammar) -> None:
        lexed = self._lexed(grammar, self.lexing, Report(self.source))
        conflict = lexed.conflict()
        shown = "" if conflict is None else f", as where {conflict}"
        self.report.loss(
            LEXING,
            f"the lexer would need too many variants of the rules; here any cut will do{shown}",
            grammar.spans[grammar.start],
        )

    def _lexed(
        self, grammar: LexicalGrammar, lexing: Lexing, report: Report, byte_only: bool = False
    ) -> Lexed:
        cutter = LexemeSplitter(lexing, self.budget)
        useful = only_useful(grammar)
        if self.dialect is Dialect.LLGUIDANCE:
            skipping = open_ends(end_bare(useful), cutter.confusable, report)
            return apply_lexer(skipping, cutter, report, byte_only)
        one_by_one = lexing is Lexing.LALR
        skipping = insert_skipped(useful, one_by_one)
        expected = self._expected(skipping, useful, report) if one_by_one else None
        return apply_lexer(skipping, cutter, report, byte_only, expected)

    def _expected(
        self, grammar: LexicalGrammar, original: LexicalGrammar, report: Report
    ) -> Expected | None:
        span = grammar.spans[grammar.start]
        skipped = _terminals(grammar) - _terminals(original)
        try:
            found = expected(grammar, skipped)
        except TooManyExpansionsError:
            report.loss(LEXING, "Lark's LALR analysis of these rules is too large to know", span)
            return None
        parts = grammar.ignored.parts if grammar.ignored else ()
        report_collisions([{*each, *parts} for each in found.scanners], self.budget, report)
        if found.conflict is not None and found.conflict.startswith("Reduce/Reduce"):
            report.error(INVALID, f"Lark's LALR parser refuses these rules: {found.conflict}", span)
        elif found.conflict is not None:
            report.loss(
                LEXING, f"Lark's LALR parser does not follow all rules: {found.conflict}", span
            )
        return found

    def _written(
        self, grammar: LexicalGrammar, lexing: Lexing, report: Report, byte_only: bool = False
    ) -> tree.Document | None:
        lexed = self._lexed(grammar, lexing, report, byte_only)
        names = self.names.copy()
        writer = Writer(names)

        def name(key: Key) -> str:
            top = key.rule == lexed.grammar.start and key.before == lexed.start
            wanted = f"{wanted_name(key)}_body" if top else wanted_name(key)
            return names.of(key, wanted.partition("{")[0])

        product = Product(lexed.grammar, lexed, writer.lexeme, name)
        written, start = product.run()
        lexed.report_doubts()
        lexed.report_awaited_ends()
        if start is None or not product.has_text:
            self._report_empty(grammar, report, "no" if start is None else "only the empty")
            return None
        bodies = dict(written)
        called = name(start)
        first: tree.Expression = reference(called, lexed.grammar.spans[start.rule])
        if not any(_calls(body, called) for body in bodies.values()):
            first = bodies.pop(start)
        top = names.of(("start",), start.rule)
        definitions = [definition(top, first, lexed.grammar.spans[start.rule])]
        for key, body in bodies.items():
            place = lexed.grammar.spans.get(key.rule, lexed.grammar.spans[start.rule])
            definitions.append(definition(name(key), body, place))
        definitions += [definition(*each) for each in writer.definitions]
        families = {name(key): wanted_name(key) for key in bodies} | writer.families
        definitions = merge_variants(definitions, families)
        many = len(definitions) > max(_MANY, _TIMES * len(grammar.rules))
        if many and lexing is not Lexing.SCANNERLESS:
            report.remark = _explosion(len(grammar.rules), len(definitions), lexed)
        definitions += self.embedding.definitions
        return tree.Document(self.source, tuple(definitions), ())

    def _report_empty(self, grammar: LexicalGrammar, report: Report, which: str) -> None:
        report.error(
            "E105",
            f"{which} text matches `{grammar.start}`: every other way through it goes on for ever"
            " or needs a lexeme that the lexer never ends there",
            grammar.spans[grammar.start],
            "a terminal takes as much as it can; let it exclude what follows it",
        )


def _explosion(before: int, after: int, lexed: Lexed) -> str:
    """Return what exact lexing costs in rules, and what one would lose without it."""
    conflict = lexed.conflict()
    loss = f", even where {conflict}" if conflict else ""
    return (
        f"{before:,} rules became {after:,}, so that lexemes end just where the lexer"
        f" ({lexed.lexing.value}) ends them; `--lexing scannerless` keeps them few, and takes any"
        f" cut into lexemes{loss}"
    )


def _calls(body: tree.Expression, name: str) -> bool:
    return any(
        isinstance(node, tree.Reference) and node.name.value == name
        for node in tree.postorder(body)
    )


def _terminals(grammar: LexicalGrammar) -> frozenset[Terminal]:
    return frozenset(
        node.terminal
        for body in grammar.rules.values()
        for node in postorder(body)
        if isinstance(node, Lexeme)
    )
