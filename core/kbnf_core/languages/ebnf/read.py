"""Reads EBNF to rules. There is no lexer: rules match characters, but where words are bare.

A difference (``x - y``) is kept where both of its parts are regular: as the automaton of the texts
of ``x`` that are not texts of ``y``. Differences inside of others, or in rules that these use, are
worked out first. The start is the first rule.

*Bare words* are tokens, with blanks between them (``conversion/scannerless.py``). Standards do not
say which rules are tokens, too: here those without words in them whose texts look like names,
numbers, or what begins with a quote or the like. Rules that call themselves on one side, as lists
of letters do, are loops.

Tests: tests/unit/languages/ebnf
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from textwrap import shorten

from kbnf_core import ir
from kbnf_core.automata import operations
from kbnf_core.automata.dfa import Dfa
from kbnf_core.automata.regex.compile import compile_regex
from kbnf_core.conversion.automata import write_dfa
from kbnf_core.conversion.foreign import ForeignReader
from kbnf_core.conversion.rewrite import rewrite
from kbnf_core.conversion.scannerless import Scannerless, TokenKind, take
from kbnf_core.ir.analysis import callers_of, reachable
from kbnf_core.ir.names import FreshNames
from kbnf_core.kbnf import build
from kbnf_core.kbnf.parsed import Parsed, Request
from kbnf_core.kbnf.tree import Concatenation as Row
from kbnf_core.kbnf.tree import (
    Definition,
    Document,
    Expression,
    Leaf,
    Name,
    Reference,
    Terminal,
    postorder,
    uses_in,
)
from kbnf_core.languages.ebnf.parse import Difference, Prose, is_word, parse_ebnf
from kbnf_core.lower.regular import NotRegularError, Regulars
from kbnf_core.lower.translate import translate
from kbnf_core.text.errors import LimitError
from kbnf_core.text.source import Source, Span

_LEXER = {"blank": r"[\t\n\r ]+", "word": r"[0-9A-Za-z_]+"}
"""The tokens that standards with bare words do not write down."""

_LONGEST = 80
"""Characters of a description in a message."""

_NODE = 20
"""Steps for a node of a rule in one round: it is changed, and translated."""

_TOKEN = r"""[-+]?[0-9A-Za-z_.$]+(?:[Ee][-+][0-9]+)?|["'`\[#@$%\&:\\](?s:.*)"""
"""What the texts of a token look like."""


def read_ebnf(source: Source, request: Request) -> Parsed:
    """Read a grammar; findings are in the result. Raises WorkLimitError."""
    return _EbnfReader(source, request).read()


class _EbnfReader(ForeignReader):
    """Makes rules of characters."""

    def rules(self) -> Scannerless | None:
        file = parse_ebnf(self.source, self.request.limits, self.budget)
        definitions = file.read.trees
        self.findings += file.read.findings
        self.comments, self.broken = file.comments, file.read.broken
        if not (definitions or self.findings):
            helps = "a rule is written `name ::= ...` (W3C) or `name = ... ;` (ISO/IEC 14977)"
            self.error("E010", "this file defines no rule", Span(0, 0), helps)
        if not definitions:
            return None
        self.names = {definition.name.value for definition in definitions}
        self.made = FreshNames(self.names)
        start = self.start(definitions[0].name.value)
        definitions = self._without_differences(definitions)
        if not file.has_words:
            return Scannerless(definitions, start)
        return self._with_blanks(definitions, start)

    def _without_differences(self, definitions: list[Definition]) -> list[Definition]:
        """Return rules with the automata of differences. Raises WorkLimitError."""
        pending: dict[str, Difference] = {}
        forms: dict[str, Expression] = {}
        roots = [definition.body for definition in definitions]
        for root in roots:
            for leaf in postorder(root):
                if isinstance(leaf, Prose):
                    description = shorten(leaf.text, _LONGEST, placeholder="...")
                    message = f"`{description}` is described in prose"
                    forms[leaf.name.value] = self.nothing(message, leaf.span)
                elif isinstance(leaf, Difference):
                    pending[leaf.name.value] = leaf
                    roots += (leaf.kept, leaf.excluded)
        while forms or pending:
            # Every round looks at the whole grammar; a long chain of differences takes many.
            sides = (
                side
                for definition in pending.values()
                for side in (definition.kept, definition.excluded)
            )
            roots = [*(definition.body for definition in definitions), *sides]
            self.budget.spend(_NODE * sum(1 for root in roots for _ in postorder(root)))
            definitions = [
                replace(definition, body=_replaced(definition.body, forms))
                for definition in definitions
            ]
            pending = {
                name: replace(
                    leaf,
                    kept=_replaced(leaf.kept, forms),
                    excluded=_replaced(leaf.excluded, forms),
                )
                for name, leaf in pending.items()
                if name not in forms
            }
            forms = self._forms(definitions, pending)
        return definitions

    def _forms(
        self, definitions: list[Definition], pending: Mapping[str, Difference]
    ) -> dict[str, Expression]:
        """Return the automata of the differences that wait for no other one; of all, if none is."""
        sides = [
            build.definition(f"{name}{mark}", side, leaf.span)
            for name, leaf in pending.items()
            for mark, side in (("+", leaf.kept), ("-", leaf.excluded))
        ]
        rules = self._rules([*definitions, *sides])
        regulars = Regulars(rules, self.request.limits, self.budget)
        forms: dict[str, Expression] = {}
        for name, leaf in pending.items():
            try:
                kept, excluded = (regulars.of(rules[f"{name}{side}"]) for side in "+-")
                limits = self.request.limits
                rest = operations.difference(kept, excluded, limits, self.budget)
                forms[name] = _written(rest, leaf.span)
            except (KeyError, NotRegularError, LimitError):
                continue
        if not forms:
            message = "a difference of texts that are not regular"
            forms = {name: self.nothing(message, leaf.span) for name, leaf in pending.items()}
        return forms

    def _rules(self, definitions: Sequence[Definition]) -> dict[str, ir.Node]:
        """Return the rules that lead to no name without a definition, in the IR."""
        graph = {
            definition.name.value: {use.value for use in uses_in(definition.body)}
            for definition in definitions
        }
        undefined = {name for uses in graph.values() for name in uses if name not in graph}
        unusable = reachable(undefined, callers_of(graph))
        chosen = tuple(
            definition for definition in definitions if definition.name.value not in unusable
        )
        if not chosen:
            return {}
        document, start = Document(self.source, chosen, ()), chosen[0].name.value
        grammar = translate(document, start, self.request.limits, self.budget).grammar
        return dict(grammar.rules) if grammar is not None else {}

    def _with_blanks(self, definitions: list[Definition], start: str) -> Scannerless:
        """Return rules with blanks between their tokens. Raises WorkLimitError."""
        tokens = self._tokens(definitions)
        if start in tokens:
            return Scannerless(definitions, start)
        bodies = [definition for definition in definitions if definition.name.value not in tokens]
        words = {
            leaf.text.value.encode() for definition in bodies for leaf in _words(definition.body)
        }
        for token in tokens.values():
            literals = [operations.literals(words)]
            self.losses += take(token, literals, self.request.limits, self.budget)
        # A lexer would look for words everywhere, so that one does not end inside another one.
        blank, word = (
            TokenKind(
                Name(self.made.fresh(name), span),
                self.regex(pattern, span),
                span,
                name == "blank",
            )
            for span in (bodies[0].name.span,)
            for name, pattern in _LEXER.items()
        )
        everywhere = {blank.name.value, word.name.value}
        return self.without_lexer(
            bodies, [*tokens.values(), blank, word], start, everywhere
        ).reached()

    def _tokens(self, definitions: Iterable[Definition]) -> dict[str, TokenKind]:
        """Return the rules that are tokens."""
        graph = {
            definition.name.value: {use.value for use in uses_in(definition.body)}
            for definition in definitions
        }
        with_words = {
            definition.name.value for definition in definitions if any(_words(definition.body))
        }
        wordy = reachable(with_words, callers_of(graph))
        candidates = {
            definition.name.value: _as_loop(definition)
            for definition in definitions
            if definition.name.value not in wordy
        }
        regulars = Regulars(self._rules([*candidates.values()]), self.request.limits, self.budget)
        tokens: dict[str, TokenKind] = {}
        shape = compile_regex(_TOKEN).dfa
        for name, definition in candidates.items():
            try:
                dfa = regulars.of(ir.Call(name, definition.span))
                if shape is not None and operations.difference(dfa, shape).is_empty:
                    tokens[name] = TokenKind(
                        definition.name, _written(dfa, definition.span), definition.span
                    )
            except NotRegularError:
                continue
        return tokens


def _written(dfa: Dfa, span: Span) -> Expression:
    """Return an automaton as a symbol of KBNF; NotRegularError where it is too large for one."""
    form = build.nothing(span) if dfa.is_empty else write_dfa(dfa, span)
    if form is None:
        raise NotRegularError
    return form


def _words(root: Expression) -> Iterator[Terminal]:
    """Yield the bare words, and texts that are quoted as if they were one."""
    for leaf in postorder(root):
        if isinstance(leaf, Terminal) and is_word(leaf.text.value):
            yield leaf


def _as_loop(definition: Definition) -> Definition:
    """Return ``n ::= x n | n y | z`` as ``x* z y*``, and other rules as they are."""
    name, before, after, others = definition.name.value, [], [], []
    for branch in definition.branches:
        match branch:
            case Row((Reference(Name(first)), *items)) if first == name:
                after.append(build.sequence(*items))
            case Row((*items, Reference(Name(last)))) if last == name:
                before.append(build.sequence(*items))
            case _:
                others.append(branch)
    calls = any(
        use.value == name for branch_ in (*before, *after, *others) for use in uses_in(branch_)
    )
    if calls or not others or not (before or after):
        return definition
    start, end = (
        build.repeated(build.alternation(branch_), 0, None) for branch_ in (before, after)
    )
    body = build.sequence(start, build.alternation(others), end)
    return replace(definition, body=build.placed(body, definition.span))


def _replaced(root: Expression, forms: Mapping[str, Expression]) -> Expression:
    def change(leaf: Leaf) -> Expression:
        return forms.get(leaf.name.value, leaf) if isinstance(leaf, Reference) else leaf

    return rewrite(root, change)
