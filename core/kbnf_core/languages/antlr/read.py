"""Reads ANTLR 4 to rules over characters: a grammar, and the files that it is made of.

*Files.* ``import X`` adds the rules of ``X.g4`` that this grammar does not define itself, and a
parser takes its tokens from ``X.g4`` with the option ``tokenVocab=X``; both are beside it. Parts
of other files are shown where this one names the file.

*Tokens* are regular expressions (``tokens.py``), and skipped ones go between the others
(``conversion/scannerless.py``). Every channel but the usual one is skipped. The modes of a lexer
are read as one: where the parser expects a token, the text may have it. ``type(X)`` makes a token
another one.

*The start* is, of the rules of the parser that no other one uses, the first one with ``EOF``, else
the first one. Code decides nothing here: a predicate (``{...}?``) is a loss.

Tests: tests/unit/languages/antlr/test_antlr.py
"""

from collections.abc import Iterator
from dataclasses import replace
from posixpath import dirname, join, normpath

from kbnf_core.conversion.foreign import ForeignReader
from kbnf_core.conversion.rewrite import at, placed
from kbnf_core.conversion.scannerless import Scannerless, TokenKind
from kbnf_core.ir.names import FreshNames
from kbnf_core.kbnf import build
from kbnf_core.kbnf.outline import NOTHING, Outline, OutlineUse, Symbol
from kbnf_core.kbnf.parsed import Parsed, Request
from kbnf_core.kbnf.printer import print_expression
from kbnf_core.kbnf.tree import Definition, Expression, Name, Reference, Terminal
from kbnf_core.languages.antlr.parse import (
    ANYTHING,
    END_OF_TEXT,
    AntlrFile,
    AntlrRule,
    Command,
    NamedReference,
    Negation,
    Predicate,
    leaves,
    parse_file,
)
from kbnf_core.languages.antlr.tokens import AntlrLexer
from kbnf_core.text.budget import Budget
from kbnf_core.text.errors import WorkLimitError
from kbnf_core.text.limits import Limits
from kbnf_core.text.source import NOWHERE, Source, Span

_MOST_FILES = 32
"""Files that one grammar is made of."""

_NO = NamedReference("", NOWHERE)
_OTHER_MODES = frozenset(("pushMode", "popMode", "mode"))


def read_antlr(source: Source, request: Request) -> Parsed:
    """Read a grammar; findings are in the result. Raises WorkLimitError."""
    return _AntlrReader(source, request).read()


def outline_antlr(source: Source, limits: Limits) -> Outline:
    """Return where rules are defined and used; never raises."""
    try:
        rules = parse_file(source, limits, Budget(limits.work)).rules
    except WorkLimitError:
        return NOTHING
    return Outline(
        tuple(Symbol(rule.name.value, rule.name.span, rule.span) for rule in rules),
        tuple(OutlineUse(use.name.value, use.span) for rule in rules for use in _uses(rule)),
    )


def _uses(rule: AntlrRule) -> Iterator[Reference]:
    """Yield the uses of rules."""
    for leaf in leaves(rule.body):
        if type(leaf) is Reference and leaf.name.value not in (END_OF_TEXT, ANYTHING):
            yield leaf


class _AntlrReader(ForeignReader):
    """Reads one grammar."""

    def __init__(self, source: Source, request: Request) -> None:
        super().__init__(source, request)
        self._rules: dict[str, list[AntlrRule]] = {}
        """By name, in order of priority, with places of the main file."""
        self._ignores_case = False
        self._declared: set[str] = set()
        self._loaded = {normpath(source.path)} if source.path else set[str]()

    def rules(self) -> Scannerless | None:
        main = parse_file(self.source, self.request.limits, self.budget)
        self.comments = main.comments
        self._gather(main, None)
        self.names, self.made = set(self._rules), FreshNames(self._rules)
        names = [name for name in self._rules if not name[:1].isupper()]
        if not (names or self.findings):
            self.error(
                "E010",
                "this file defines no rule of a parser",
                Span(0, 0),
                "read the grammar of the parser: it names this one with `tokenVocab`"
                if main.rules
                else "a rule is written `name : ... ;`",
            )
        if self.has_errors or not names:
            return None
        start = self.start(self._root(names))
        lexical = {name: same for name, same in self._rules.items() if name not in names}
        lexer = AntlrLexer(lexical, self._ignores_case, self)
        scanned = [rule for same in lexical.values() for rule in same]
        solid = [rule for rule in scanned if not rule.is_fragment]
        tokens = [token for rule in solid for token in self._tokens(rule, lexer)]
        written = [rule for name in names for rule in self._rules[name]]
        parser = _Parser(written, lexer, tokens, self._declared - self.names)
        bodies = [_with_body(rule, parser.body(rule)) for rule in written]
        self._check([*written, *scanned])
        result = self.without_lexer(bodies, tokens, start)
        used = {use.name.value for rule in written for use in _uses(rule)}
        result.definitions += [
            _with_body(rule, lexer.form(rule))
            for rule in scanned
            if rule.is_fragment and (rule.name.value in used or lexer.is_called(rule))
        ]
        return result.reached()

    def _gather(self, file: AntlrFile, site: Span | None) -> None:
        """Add the rules of a file, and of those that it names, which give way to them."""
        self._ignores_case |= file.options.get("caseInsensitive", _NO)[0] == "true"
        self._declared |= file.tokens
        self.broken |= file.broken
        self.findings += file.findings
        before = set(self._rules)
        for rule in file.rules:
            if rule.name.value not in before:
                moved = rule if site is None else _moved(rule, site)
                self._rules.setdefault(rule.name.value, []).append(moved)
        vocabulary = file.options.get("tokenVocab")
        for named in [*file.imports, *([vocabulary] if vocabulary else [])]:
            importing = named.span if site is None else site
            other = self._load(named, file.source, importing)
            if other is not None:
                self._gather(other, importing)

    def _load(self, named: NamedReference, source: Source, site: Span) -> AntlrFile | None:
        path = normpath(join(dirname(source.path or ""), f"{named.value}.g4"))
        imports = self.request.imports
        if path in self._loaded:
            return None
        self._loaded.add(path)
        text = None
        if len(self._loaded) > _MOST_FILES:
            self.error("E422", f"more than {_MOST_FILES} files are imported", site)
        elif not imports.permit(path, self.source.path):
            self.error("E422", f"`{path}` is not in the folder of the grammar or below it", site)
        else:
            text = imports.load(path)
            if text is None:
                self.error("E422", f"cannot read `{path}`", site)
        if text is None:
            return None
        return parse_file(Source(text, path), self.request.limits, self.budget)

    def _root(self, names: list[str]) -> str:
        """Return the rule that a text is expected to match."""
        used: set[str] = set()
        ending: list[str] = []
        for name in names:
            names_used = {
                leaf.name.value
                for rule in self._rules[name]
                for leaf in leaves(rule.body)
                if isinstance(leaf, Reference)
            }
            used |= names_used - {name}
            ending += [name] * (END_OF_TEXT in names_used)
        roots = [name for name in names if name not in used] or names
        return next((name for name in roots if name in ending), roots[0])

    def _tokens(self, rule: AntlrRule, lexer: AntlrLexer) -> Iterator[TokenKind]:
        """Yield the token of a rule, and that of its texts that end the text."""
        is_skipped, name = False, rule.name
        commands = [leaf for leaf in leaves(rule.body) if isinstance(leaf, Command)]
        for command in sorted(
            commands, key=lambda named_command: named_command.name.value == "type"
        ):
            kind = command.name.value
            if kind in ("skip", "channel"):
                is_skipped = command.argument != "DEFAULT_TOKEN_CHANNEL"
            elif kind == "type" and not is_skipped:
                name = Name(command.argument, command.span)
            elif kind == "more":
                message = "a token that goes on with the next one (`more`)"
                self.refuse(message, command.span, instead="is left out")
        form = lexer.form(rule)
        before_end = lexer.form_before_end(rule) if is_skipped else None
        yield TokenKind(name, before_end or form, rule.span, is_skipped, rule.mode)
        if before_end is not None:
            last = Name(self.made.fresh(f"{name.value}_EOF"), name.span)
            yield TokenKind(last, form, rule.span, is_skipped, rule.mode, is_last=True)

    def _check(self, rules: list[AntlrRule]) -> None:
        """Report predicates, tokens that only code makes, and once that there are modes."""
        changes: list[Span] = []
        for leaf in (leaf for rule in rules for leaf in leaves(rule.body)):
            if isinstance(leaf, Predicate):
                message = "this predicate is code, and left out: it may refuse some texts"
                self.loose(message, leaf.span)
            elif isinstance(leaf, Command) and leaf.name.value in _OTHER_MODES:
                changes.append(leaf.span)
            elif isinstance(leaf, Reference) and leaf.name.value in self._declared - self.names:
                self.refuse(f"code makes the token `{leaf.name.value}`, not a rule", leaf.span)
        if changes:
            self.loose("the modes of the lexer are read as one", changes[0])


class _Parser:
    """Rules of the parser as trees of KBNF, whose leaves are tokens and rules."""

    def __init__(
        self, rules: list[AntlrRule], lexer: AntlrLexer, tokens: list[TokenKind], unmade: set[str]
    ) -> None:
        self._lexer = lexer
        self._unmade = unmade
        solid = [token for token in tokens if not token.is_skipped]
        self._named = {
            token.body.text.value: token.name.value
            for token in reversed(solid)
            if isinstance(token.body, Terminal)
        }
        written = [leaf for rule in rules for leaf in leaves(rule.body)]
        every = [self._symbol(leaf) for leaf in written if isinstance(leaf, Terminal)]
        every += [build.call(token.name.value) for token in solid]
        self._all = {print_expression(leaf): leaf for leaf in every}

    def body(self, rule: AntlrRule) -> Expression:
        """Return the body of a rule."""
        return build.changed(rule.body, self._symbol)

    def _symbol(self, leaf: Expression) -> Expression:
        match leaf:
            case Terminal(text):
                name = self._named.get(text.value)
                return self._lexer.text(leaf) if name is None else build.call(name, leaf.span)
            case Negation(body=body):
                excluded = {
                    print_expression(self._symbol(excluded_leaf)) for excluded_leaf in leaves(body)
                }
                return self._any(leaf, excluded)
            case Reference(Name(name)) if type(leaf) is Reference:
                if name == ANYTHING:
                    return self._any(leaf, set())
                if name != END_OF_TEXT:
                    return build.nothing(leaf.span) if name in self._unmade else leaf
                return build.EMPTY
            case Reference():
                return build.EMPTY
            case _:
                return build.nothing(leaf.span)

    def _any(self, leaf: Expression, excluded: set[str]) -> Expression:
        """Return any token but some."""
        kept = [form for key, form in self._all.items() if key not in excluded]
        return build.alternation(kept, leaf.span) if kept else build.nothing(leaf.span)


def _with_body(rule: AntlrRule, body: Expression) -> Definition:
    return Definition(rule.name, body, rule.span)


def _moved(rule: AntlrRule, site: Span) -> AntlrRule:
    """Return a rule of another file, shown where this one names that."""
    moved = placed(rule, at(site))
    return replace(rule, name=moved.name, body=moved.body, span=site)
