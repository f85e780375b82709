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
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from posixpath import dirname, join, normpath

from kbnf_core import ir
from kbnf_core.automata.traversal import fold
from kbnf_core.conversion.scannerless import Scannerless, Token, without_lexer
from kbnf_core.frontend import too_much_work
from kbnf_core.ir.names import FreshNames
from kbnf_core.kbnf import build
from kbnf_core.kbnf.outline import Outline, OutlineUse, Symbol
from kbnf_core.kbnf.parsed import Loss, Parsed, Request
from kbnf_core.kbnf.printer import print_expression
from kbnf_core.kbnf.tree import (
    Definition,
    Document,
    Expression,
    Name,
    Terminal,
    children,
    postorder,
)
from kbnf_core.languages.antlr import tree
from kbnf_core.languages.antlr.parse import File, parse_file
from kbnf_core.languages.antlr.tokens import Lexer
from kbnf_core.text.budget import Budget
from kbnf_core.text.diagnostics import Diagnostic, Severity
from kbnf_core.text.errors import WorkLimitError
from kbnf_core.text.limits import Limits
from kbnf_core.text.source import NOWHERE, Source, Span

UNSUPPORTED, APPROXIMATE = "E451", "W451"

_MOST_FILES = 32
"""Files that one grammar is made of."""

_OTHER_MODES = frozenset(("pushMode", "popMode", "mode"))


def read_antlr(source: Source, request: Request) -> Parsed:
    """Read a grammar; findings are in the result. Never raises."""
    return _Reader(source, request).read()


def outline_antlr(source: Source, limits: Limits) -> Outline:
    """Return where rules are defined and used; never raises."""
    rules = parse_file(source, limits, Budget(limits.work)).rules
    return Outline(
        tuple(Symbol(rule.name, rule.name_span, rule.span) for rule in rules),
        tuple(
            OutlineUse(node.name, node.span)
            for rule in rules
            for node in tree.postorder(rule.body)
            if isinstance(node, tree.Use) and node.name != "EOF"
        ),
    )


@dataclass(slots=True)
class _Gathered:
    """The rules of all files by name, in order of priority, with places of the main file."""

    rules: dict[str, list[tree.Rule]] = field(default_factory=dict)
    ignores_case: bool = False
    declared: set[str] = field(default_factory=set)
    broken: set[str] = field(default_factory=set)


class _Reader:
    """Reads one grammar."""

    def __init__(self, source: Source, request: Request) -> None:
        self._source = source
        self._request = request
        self._budget = Budget(request.limits.work)
        self._findings: list[Diagnostic] = []
        self._losses: list[Loss] = []
        self._gathered = _Gathered()
        self._loaded = {normpath(source.path)} if source.path else set[str]()
        self._has_modes = False
        self._refused: set[str] = set()

    def read(self) -> Parsed:
        """Return the grammar."""
        main = parse_file(self._source, self._request.limits, self._budget)
        self._gather(main, None)
        rules = self._gathered.rules
        names = [name for name in rules if not name[:1].isupper()]
        if not names and not self._findings:
            self._findings.append(self._no_parser(main))
        if any(each.severity is Severity.ERROR for each in self._findings) or not names:
            empty = Document(self._source, (), main.comments, frozenset(self._gathered.broken))
            return Parsed(empty, tuple(sorted(self._findings, key=Diagnostic.sort_key)))
        start = self._request.start or self._start(names)
        try:
            result = self._rules(start if start in rules else names[0])
        except WorkLimitError as error:
            nothing = Parsed(Document(self._source, (), main.comments), ())
            return Parsed(nothing.document, (*self._findings, too_much_work(nothing, error)))
        begin = result.start if start in rules else start
        document = Document(
            self._source, tuple(result.definitions), main.comments, generated=result.generated
        )
        findings = tuple(sorted(self._findings, key=Diagnostic.sort_key))
        return Parsed(document, findings, begin, tuple(self._losses))

    def _no_parser(self, main: File) -> Diagnostic:
        message = "this file defines no rule of a parser"
        helps = ("read the grammar of the parser: it names this one with `tokenVocab`",)
        helps = helps if main.rules else ("a rule is written `name : ... ;`",)
        return Diagnostic("E010", message, self._source, Span(0, 0), helps=helps)

    def _gather(self, file: File, site: Span | None) -> None:
        """Add the rules of a file, and of those that it names, which give way to them."""
        gathered = self._gathered
        gathered.ignores_case |= file.ignores_case
        gathered.declared |= file.tokens.keys()
        gathered.broken |= file.broken
        self._findings += file.findings
        before = set(gathered.rules)
        for rule in file.rules:
            if rule.name not in before:
                placed = rule if site is None else _placed(rule, site)
                gathered.rules.setdefault(rule.name, []).append(placed)
        vocabulary = file.options.get("tokenVocab")
        named = [(each.name, each.span) for each in file.imports]
        if vocabulary is not None:
            named.append((vocabulary.value, vocabulary.span))
        for name, span in named:
            other = self._load(name, file.source, span if site is None else site)
            if other is not None:
                self._gather(other, span if site is None else site)

    def _load(self, name: str, source: Source, site: Span) -> File | None:
        path = normpath(join(dirname(source.path or ""), f"{name}.g4"))
        imports = self._request.imports
        if path in self._loaded:
            return None
        self._loaded.add(path)
        if len(self._loaded) > _MOST_FILES:
            self._error("E422", f"more than {_MOST_FILES} files are imported", site)
            return None
        if not imports.permit(path, self._source.path):
            self._error("E422", f"`{path}` is not in the folder of the grammar or below it", site)
            return None
        text = imports.load(path)
        if text is None:
            self._error("E422", f"cannot read `{path}`", site)
            return None
        return parse_file(Source(text, path), self._request.limits, self._budget)

    def _error(self, code: str, message: str, span: Span, *helps: str) -> None:
        self._findings.append(Diagnostic(code, message, self._source, span, helps=helps))

    def _refuse(self, message: str, span: Span) -> None:
        """Report a part without an equivalent once: an error, or a loss where permitted."""
        if message in self._refused:
            return
        self._refused.add(message)
        if self._request.lossy:
            self._losses.append(Loss(APPROXIMATE, f"{message}: left out", span))
        else:
            self._error(UNSUPPORTED, message, span, "`--lossy` leaves it out")

    def _start(self, names: list[str]) -> str:
        """Return the rule that a text is expected to match."""
        rules = self._gathered.rules
        used = {
            node.name
            for name in names
            for rule in rules[name]
            for node in tree.postorder(rule.body)
            if isinstance(node, tree.Use) and node.name != name
        }
        roots = [name for name in names if name not in used] or names
        return next(filter(self._ends_text, roots), roots[0])

    def _ends_text(self, name: str) -> bool:
        return any(
            isinstance(node, tree.Use) and node.name == "EOF"
            for rule in self._gathered.rules[name]
            for node in tree.postorder(rule.body)
        )

    def _rules(self, start: str) -> Scannerless:
        """Return the rules over characters to which the start leads."""
        rules = self._gathered.rules
        lexical = {name: same for name, same in rules.items() if name[:1].isupper()}
        lexer = Lexer(
            lexical,
            self._gathered.ignores_case,
            self._request.limits,
            self._budget,
            lambda node, message: self._refuse(message, node.span),
        )
        tokens = [
            token
            for same in lexical.values()
            for rule in same
            for token in self._token(rule, lexer)
        ]
        written = [rule for name, same in rules.items() if name not in lexical for rule in same]
        parser = _Parser(written, lexer, tokens, self._gathered.declared - rules.keys())
        bodies = [_definition(rule, parser.body(rule)) for rule in written]
        self._check_uses(written)
        fragments = [
            _definition(rule, lexer.form(rule))
            for same in lexical.values()
            for rule in same
            if rule.is_fragment
        ]
        result = without_lexer(bodies, tokens, start, self._request.limits, self._budget)
        self._losses += result.losses
        result.definitions += fragments
        return result.reached()

    def _token(self, rule: tree.Rule, lexer: Lexer) -> Iterator[Token]:
        """Yield the token of a rule, unless it is a fragment."""
        if rule.is_fragment:
            return
        is_skipped, name = False, Name(rule.name, rule.name_span)
        for command in sorted(rule.commands, key=lambda each: each.name == "type"):
            if command.name in ("skip", "channel"):
                is_skipped = command.argument != "DEFAULT_TOKEN_CHANNEL"
            elif command.name == "type" and not is_skipped:
                name = Name(command.argument, command.span)
            elif command.name == "more":
                self._refuse("a token that goes on with the next one (`more`)", command.span)
            elif command.name in _OTHER_MODES and not self._has_modes:
                self._has_modes = True
                message = "the modes of the lexer are read as one"
                self._losses.append(Loss(APPROXIMATE, message, command.span))
        form = lexer.form(rule)
        before_end = lexer.form_before_end(rule) if is_skipped else None
        yield Token(name, before_end or form, rule.span, is_skipped, rule.mode)
        if before_end is not None:
            last = Name(FreshNames(self._gathered.rules).fresh(f"{rule.name}_EOF"), rule.name_span)
            yield Token(last, form, rule.span, is_skipped=True, mode=rule.mode, is_last=True)

    def _check_uses(self, written: list[tree.Rule]) -> None:
        """Report predicates, and tokens that only code makes."""
        gathered = self._gathered
        for rule in (rule for same in gathered.rules.values() for rule in same):
            for node in tree.postorder(rule.body):
                if isinstance(node, tree.Predicate):
                    message = "this predicate is code, and left out: it may refuse some texts"
                    self._losses.append(Loss(APPROXIMATE, message, node.span))
        for rule in written:
            for node in tree.postorder(rule.body):
                name = node.name if isinstance(node, tree.Use) else ""
                if name in gathered.declared and name not in gathered.rules:
                    self._refuse(f"code makes the token `{name}`, not a rule", node.span)


class _Parser:
    """Rules of the parser as trees of KBNF, whose leaves are tokens and rules."""

    def __init__(
        self, rules: list[tree.Rule], lexer: Lexer, tokens: list[Token], unmade: set[str]
    ) -> None:
        self._lexer = lexer
        self._unmade = unmade
        self._named = {
            token.body.text.value: token.name.value
            for token in reversed(tokens)
            if isinstance(token.body, Terminal) and not token.is_skipped
        }
        leaves = [
            self._text(node)
            for rule in rules
            for node in tree.postorder(rule.body)
            if isinstance(node, tree.Text)
        ]
        leaves += [build.call(token.name.value) for token in tokens if not token.is_skipped]
        self._all = {print_expression(leaf): leaf for leaf in leaves}

    def body(self, rule: tree.Rule) -> Expression:
        """Return the body of a rule."""
        form = fold(rule.body, tree.children, self._node)
        return form if form.span != NOWHERE else build.placed(form, rule.span)

    def _text(self, node: tree.Text) -> Expression:
        name = self._named.get(node.value)
        return self._lexer.text(node) if name is None else build.call(name, node.span)

    def _node(self, node: tree.Node, parts: list[Expression]) -> Expression:
        match node:
            case tree.Use("EOF") | tree.Predicate():
                return build.EMPTY
            case tree.Use(name):
                is_made = name not in self._unmade
                return build.call(name, node.span) if is_made else build.nothing(node.span)
            case tree.Text():
                return self._text(node)
            case tree.Anything():
                return build.alternation(self._all.values(), node.span)
            case tree.Negation():
                excluded = {print_expression(leaf) for leaf in _leaves(parts[0])}
                kept = [leaf for key, leaf in self._all.items() if key not in excluded]
                return build.alternation(kept, node.span) if kept else build.nothing(node.span)
            case ir.Sequence():
                return build.sequence(*parts, span=node.span)
            case ir.Choice():
                return build.alternation(parts, node.span)
            case ir.Repeat(_, low, high):
                return build.repeated(parts[0], low, high, node.span)
            case tree.Characters():
                return build.nothing(node.span)


def _definition(rule: tree.Rule, body: Expression) -> Definition:
    return Definition(Name(rule.name, rule.name_span), body, rule.span)


def _leaves(root: Expression) -> Iterator[Expression]:
    return (node for node in postorder(root) if not children(node))


def _placed(rule: tree.Rule, site: Span) -> tree.Rule:
    """Return a rule of another file, shown where this one names that."""

    def one(node: tree.Node, parts: list[tree.Node]) -> tree.Node:
        match node:
            case tree.Negation():
                return replace(node, body=parts[0], span=site)
            case ir.Sequence():
                return replace(node, parts=tuple(parts), span=site)
            case ir.Choice():
                return replace(node, branches=tuple(parts), span=site)
            case ir.Repeat():
                return replace(node, body=parts[0], span=site)
            case _:
                return replace(node, span=site)

    return replace(
        rule,
        body=fold(rule.body, tree.children, one),
        commands=tuple(command._replace(span=site) for command in rule.commands),
        span=site,
        name_span=site,
    )
