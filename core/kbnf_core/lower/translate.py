"""From the syntax tree of KBNF to the grammar IR: the meaning of every form.

Brackets, operators and forms become nodes, regular expressions become automata, and names are
checked. Everything that is wrong is reported; a rule is translated as far as it can be.

``except!`` excludes the words of a terminal, or of a nonterminal that expands to texts. Expanded
are names, brackets, and symbols side by side, whose texts are joined. The expansion of names is
memoised for all that a document excludes, and its work is bounded: a few alternatives side by side
have many texts.

Tests: tests/corpus, tests/unit/kernel/test_lowering.py
"""

import re
from collections.abc import Callable, Generator, Iterable, Set
from typing import NamedTuple

from kbnf_core import ir
from kbnf_core.automata import operations
from kbnf_core.automata.regex.compile import Compiled, compile_regex, compile_within
from kbnf_core.automata.traversal import fold, resolve
from kbnf_core.ir.build import choice_of
from kbnf_core.kbnf import tree
from kbnf_core.kbnf.printer import as_read
from kbnf_core.kbnf.tree import (
    Alternation,
    Bracket,
    BracketKind,
    Concatenation,
    Document,
    Exception_,
    Expression,
    Name,
    Reference,
    Terminal,
)
from kbnf_core.lower.chosen_kernel import compiled
from kbnf_core.text.budget import Budget
from kbnf_core.text.diagnostics import Diagnostic, Fix, Label, TextEdit
from kbnf_core.text.errors import LimitError
from kbnf_core.text.limits import DEFAULT_LIMITS, Limits
from kbnf_core.text.remembered import Remembering
from kbnf_core.text.source import Source, Span
from kbnf_core.text.suggest import Suggestions, listed

MAX_EXPANDED = 20_000
"""Bytes of the texts that symbols side by side may be joined to."""

MAX_WORK = 1_000_000
"""Texts that may be put together, for all that a document excludes."""

Words = tuple[bytes, ...]


class _RefusedError(Exception):
    """A part that leaves no list of texts, and why."""

    def __init__(self, expression: Expression, why: str) -> None:
        super().__init__(why)
        self.expression = expression


class ExcludedWords:
    """The words that the ``except!`` of one document exclude."""

    def __init__(self, document: Document) -> None:
        self._source = document.source
        self._branches: dict[str, list[Expression]] = {}
        for definition in document.definitions:
            self._branches.setdefault(definition.name.value, []).extend(definition.branches)
        self._words: dict[str, Words] = {}
        self._open: set[str] = set()
        self._work = 0

    def of(self, node: Exception_) -> tuple[Words, list[Diagnostic]]:
        """Return the excluded byte strings, or findings (E103, E104) that say why there are none.

        Names that are not defined stand for none.
        """
        excluded = node.excluded
        branches: list[Expression]
        if isinstance(excluded, Terminal):
            words: Words = (excluded.text.value.encode(),)
            branches = [excluded]
        else:
            try:
                words = self._expanded(Reference(excluded, excluded.span))
            except _RefusedError as error:
                # The error left names open that were being expanded.
                self._open.clear()
                return (), [self._not_plain(excluded, error)]
            branches = self._branches.get(excluded.value, [])
        if b"" in words:
            return (), [self._empty(node, branches)]
        return words, []

    def _expanded(self, root: Expression) -> Words:
        return resolve(root, self._steps)

    def _steps(self, node: Expression) -> Generator[Expression, Words, Words]:
        """Expand a part; yields the parts that it needs."""
        match node:
            case Terminal(text):
                return (text.value.encode(),)
            case Reference(Name(name)):
                if name in self._open:
                    raise _RefusedError(node, "this leads back to itself")
                if name not in self._words:
                    self._open.add(name)
                    self._words[name] = yield from self._any_of(self._branches.get(name, ()))
                    self._open.remove(name)
                return self._words[name]
            case Bracket(BracketKind.GROUP, body):
                return (yield body)
            case Alternation(branches):
                return (yield from self._any_of(branches))
            case Concatenation(items):
                words: Words = (b"",)
                for item in items:
                    words = self._joined(words, (yield item), node)
                return words
            case _:
                raise _RefusedError(node, "this is not a terminal")

    def _any_of(
        self, branches: "list[Expression] | tuple[Expression, ...]"
    ) -> Generator[Expression, Words, Words]:
        result: dict[bytes, None] = {}
        for branch in branches:
            words = yield branch
            self._spend(len(words), branch)
            result.update(dict.fromkeys(words))
        return tuple(result)

    def _joined(self, before: Words, after: Words, node: Expression) -> Words:
        size = len(after) * sum(map(len, before)) + len(before) * sum(map(len, after))
        # A single text is the result, and not a product, however long it may be.
        if size > MAX_EXPANDED and len(before) * len(after) > 1:
            raise _RefusedError(node, f"this has more than {MAX_EXPANDED:,} bytes of texts")
        self._spend(len(before) * len(after), node)
        return tuple(first + second for first in before for second in after)

    def _spend(self, count: int, node: Expression) -> None:
        self._work += count
        if self._work > MAX_WORK:
            raise _RefusedError(node, f"here are more than {MAX_WORK:,} texts to put together")

    def _not_plain(self, name: Name, error: _RefusedError) -> Diagnostic:
        return Diagnostic(
            "E103",
            f"`except!({name.value})`: `{name.value}` must be made of terminals only",
            self._source,
            name.span,
            labels=(Label(error.expression.span, str(error)),),
            helps=(
                "write its texts as alternatives, or exclude a regular expression with"
                ' `#ex"..."` instead',
            ),
        )

    def _empty(self, node: Exception_, branches: list[Expression]) -> Diagnostic:
        empty = next(branch for branch in branches if b"" in self._expanded(branch))
        return Diagnostic(
            "E104",
            "`except!` cannot exclude the empty text",
            self._source,
            node.span,
            labels=(Label(empty.span, "this is empty"),),
            notes=("every text contains the empty one, so nothing would be left",),
        )


_SUBSTRING_WORK = 16
"""Steps for each byte of a text whose substrings are wanted: two states, made and minimised."""


class Translation(NamedTuple):
    """The grammar, or None where errors leave none, and the findings."""

    grammar: ir.GrammarRules | None
    diagnostics: tuple[Diagnostic, ...]


def translate(
    document: tree.Document,
    start: str = "start",
    limits: Limits = DEFAULT_LIMITS,
    budget: Budget | None = None,
) -> Translation:
    """Return the meaning of ``document`` with the nonterminal ``start`` as its start.

    Raises WorkLimitError where ``budget`` is used up.
    """
    translator = Translator(document, limits, budget or Budget(limits.work))
    rules = translator.translate_all()
    result = [*translator.diagnostics, *_check_start(document, start)]
    usable = not result and not document.broken_names
    return Translation(ir.GrammarRules(start, rules) if usable else None, tuple(result))


def _check_start(document: tree.Document, start: str) -> Iterable[Diagnostic]:
    names = [definition.name.value for definition in document.definitions]
    if start in names or start in document.broken_names or not names:
        return ()
    used = {
        use.value for definition in document.definitions for use in tree.uses_in(definition.body)
    }
    if document.broken_names - used:
        # One of these may be the start, and what it used is not known.
        return ()
    written = _written(document) or names
    roots = [name for name in written if name not in used] or written[:1]
    guess = next((name for name in written if name.casefold() == start.casefold()), roots[0])
    label = "this is the first rule" if guess in used else "no other rule uses this one"
    fixes: tuple[Fix, ...] = ()
    if guess.casefold() == start.casefold():
        label = "this is another name"
        edit = TextEdit(Span(0, 0), f"(* kbnf: start={guess} *)\n")
        fixes = (Fix(f"say that `{guess}` is the start", (edit,)),)
    return (
        Diagnostic(
            "E102",
            f"the start nonterminal `{start}` is not defined",
            document.source,
            document.first_names[guess],
            label=label,
            notes=(f"no other rule uses {listed(roots)}",) if len(roots) > 1 else (),
            helps=(
                f"name the start in a comment of the file, `kbnf: start={guess}`, or with"
                f" `--start {guess}`; or define `{start}` as `{guess}`",
            ),
            fixes=fixes,
        ),
    )


def _written(document: tree.Document) -> list[str]:
    """Return the names that the text has where they are defined; a reader made the others."""
    text = document.source.text
    return list(
        dict.fromkeys(
            name.value
            for name in (definition.name for definition in document.definitions)
            if name.value in text[name.span.start : name.span.end]
        )
    )


class Translator:
    """Translates the definitions of one document, collecting findings."""

    def __init__(
        self,
        document: tree.Document,
        limits: Limits,
        budget: Budget,
    ) -> None:
        self._document = document
        self._limits = limits
        self._budget = budget
        self._excluded = ExcludedWords(document)
        self._compiled: dict[tuple[tree.PatternKind, str], Compiled] = {}
        self._defined = {d.name.value for d in document.definitions} | document.broken_names
        self._suggestions = Suggestions(self._defined)
        self._reported: set[str] = set()
        self.diagnostics: list[Diagnostic] = []

    @property
    def _source(self) -> Source:
        return self._document.source

    def translate_all(self) -> dict[str, ir.Node]:
        """Return the body of every nonterminal; several definitions are branches of one."""
        bodies: dict[str, list[tuple[ir.Node, Span]]] = {}
        for definition in self._document.definitions:
            self._budget.subject = definition.name.value
            body = self._translate(definition.body)
            bodies.setdefault(definition.name.value, []).append((body, definition.span))
        return {name: _join(branches) for name, branches in bodies.items()}

    def _translate(self, root: tree.Expression) -> ir.Node:
        return meaning_of(root, self.leaf, self._defined, self._budget)

    def leaf(self, node: tree.OtherLeaf) -> ir.Node:
        """Return the meaning of a leaf other than a text."""
        match node:
            case tree.Reference():
                return self._reference(node)
            case tree.ByteString(value, span):
                return ir.Literal(value, span)
            case tree.TokenName(text, span):
                return ir.Token(ir.TokenTerminal(text.value), span)
            case tree.TokenSet(ranges, negated, span):
                return ir.Token(ir.TokenTerminal(None, ranges, negated), span)
            case tree.Pattern():
                return self._pattern(node)
            case tree.Exception_():
                return self._exception(node)

    def _reference(self, node: tree.Reference) -> ir.Node:
        name = node.name.value
        if name not in self._defined:
            slip = slip_at(self._source, node.span)
            # An undefined name is reported once, but each slip, which has a fix of its own.
            if slip is not None or name not in self._reported:
                self._reported.add(name)
                self._undefined(node, slip)
        return ir.Call(name, node.span)

    def _undefined(self, node: tree.Reference, slip: Fix | None) -> None:
        name = node.name.value
        close = None if slip else self._suggestions.closest(name)
        if slip is not None:
            help_ = slip.message
        else:
            help_ = f"did you mean `{close}`?" if close else f"define it: `{name} ::= ... ;`"
        message = f"the nonterminal `{name}` is not defined"
        fixes = () if slip is None else (slip,)
        if close is not None:
            # With the marks around it, where the language has some.
            written = self._source.slice(node.span)
            has_number = "@" in written.replace(name, "")
            written = written.replace(name, close.partition("@")[0] if has_number else close)
            fixes = (Fix(f"write `{close}`", (TextEdit(node.span, written),), safe=False),)
        self._report("E101", message, node.span, (help_,), fixes=fixes)

    def _pattern(self, node: tree.Pattern) -> ir.Node:
        pattern = node.text.value if node.kind is tree.PatternKind.REGEX else None
        if node.dfa is not None:
            return ir.Regular(node.dfa, node.span, pattern)
        if node.kind is tree.PatternKind.SUBSTRINGS:
            from kbnf_core.automata.substrings import substrings

            data = node.text.value.encode()
            self._budget.spend(_SUBSTRING_WORK * len(data))
            return ir.Regular(substrings(data), node.span)
        compiled = self._compile(node.kind, node.text.value)
        for problem in compiled.problems:
            self._report(
                problem.code,
                problem.message,
                node.text.spell(problem.start, problem.end),
                helps=(problem.help,) if problem.help else (),
                notes=as_read(node.text, self._source),
            )
        if compiled.dfa is None:
            return ir.Choice((), node.span)
        if node.kind is tree.PatternKind.EARLY:
            return ir.Regular(operations.shortest_matches(compiled.dfa), node.span)
        return ir.Regular(compiled.dfa, node.span, pattern)

    def _compile(self, kind: tree.PatternKind, pattern: str) -> Compiled:
        key = (kind, pattern)
        if key not in self._compiled:
            self._compiled[key] = compile_within(
                self._budget, pattern, self._limits, _compiler_of(kind)
            )
        return self._compiled[key]

    def _exception(self, node: tree.Exception_) -> ir.Node:
        excluded = node.excluded
        if isinstance(excluded, tree.Name) and excluded.value not in self._defined:
            return self._reference(tree.Reference(excluded, excluded.span))
        words, problems = self._excluded.of(node)
        self.diagnostics.extend(problems)
        if problems or not words:
            return ir.Choice((), node.span)
        from kbnf_core.automata.avoid import avoid_literals

        try:
            dfa = avoid_literals(words, node.limit, self._limits)
            self._budget.spend(dfa.state_count)
            bounded = None
            if node.limit:
                bounded = avoid_literals(words, 0, self._limits), node.limit
            return ir.Regular(dfa, node.span, bounded=bounded)
        except LimitError as error:
            self._report("E203", f"this `except!` is too large: {error}", node.span)
            return ir.Choice((), node.span)

    def _report(
        self,
        code: str,
        message: str,
        span: Span,
        helps: tuple[str, ...] = (),
        labels: tuple[Label, ...] = (),
        fixes: tuple[Fix, ...] = (),
        notes: tuple[str, ...] = (),
    ) -> None:
        self.diagnostics.append(
            Diagnostic(
                code,
                message,
                self._source,
                span,
                helps=helps,
                labels=labels,
                notes=notes,
                fixes=fixes,
            )
        )


@compiled
def meaning_of(
    root: tree.Expression,
    leaf: Callable[[tree.OtherLeaf], ir.Node],
    defined: Set[str],
    budget: Budget,
) -> ir.Node:
    """Return the meaning of an expression; ``leaf`` returns that of leaves other than texts.

    Nothing needs to be known of calls of ``defined`` nonterminals. Parts are steps.
    """

    def combine(node: tree.Expression, operands: list[ir.Node]) -> ir.Node:
        budget.spend()
        match node:
            case tree.Concatenation(_, span):
                return ir.Sequence(tuple(operands), span)
            case tree.Alternation(_, span):
                return choice_of(operands, span, budget)
            case tree.Repetition(_, low, high, _, span):
                return ir.Repeat(operands[0], low, high, span)
            case tree.Bracket(kind, _, span):
                return _bracket(kind, operands[0], span)
            case tree.Reference(name, span) if name.value in defined:
                return ir.Call(name.value, span)
            case tree.Terminal(text, span):
                return ir.Literal(text.value.encode(), span)
            case _:
                return leaf(node)

    return fold(root, tree.children, combine)


def _compiler_of(kind: tree.PatternKind) -> Remembering[..., Compiled]:
    if kind is not tree.PatternKind.COMPLEMENT:
        return compile_regex
    from kbnf_core.automata.avoid import avoid_regex

    return avoid_regex


def _bracket(kind: tree.BracketKind, body: ir.Node, span: Span) -> ir.Node:
    match kind:
        case tree.BracketKind.GROUP:
            return body
        case tree.BracketKind.OPTIONAL:
            return ir.Repeat(body, 0, 1, span)
        case tree.BracketKind.REPEATED:
            return ir.Repeat(body, 0, None, span)


def _join(branches: list[tuple[ir.Node, Span]]) -> ir.Node:
    if len(branches) == 1:
        return branches[0][0]
    return ir.Choice(tuple(body for body, _ in branches), branches[0][1])


_QUOTED = re.compile(r""""(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'""")
_SIGNIFICANT = frozenset(".^$*+?()[]{}|&~#-\\")


def slip_at(source: Source, span: Span) -> Fix | None:
    """Return the fix for the undefined name at ``span`` that is a form of another language."""
    text, name = source.text, source.slice(span)
    before, after = text[max(0, span.start - 1) : span.start], text[span.end : span.end + 1]
    if not name.isidentifier():  # It has the marks of another language.
        return None
    if name == "except" and text[span.end :].lstrip().startswith("("):
        return Fix("write `except!`", (TextEdit(Span(span.end, span.end), "!"),))
    if before == "[" and after == "]":
        pattern = f'#"[{name}]"'
        edit = TextEdit(Span(span.start - 1, span.end + 1), pattern)
        return Fix(f"if a character class is meant, write `{pattern}`", (edit,))
    if name == "r" and after in ("'", '"'):
        return Fix("a raw pattern begins with `#r`", (TextEdit(Span(span.start, span.start), "#"),))
    if name == "i" and before in ("'", '"'):
        line = text.rfind("\n", 0, span.start) + 1
        all_quoted = list(_QUOTED.finditer(text, line, span.start))
        is_touching = all_quoted and all_quoted[-1].end() == span.start
        return _any_case(source, span, all_quoted[-1]) if is_touching else None
    quoted = _QUOTED.match(text, span.end)
    if quoted is None:
        return None
    if name == "i":
        return _any_case(source, span, quoted)
    if name == "b":
        return Fix("exact bytes begin with `#b`", (TextEdit(Span(span.start, span.start), "#"),))
    if name in "fu":
        return Fix(f"a text has no prefix: remove `{name}`", (TextEdit(span, ""),))
    return _quotes_inside(span, quoted) if before == quoted[0][0] else None


def _quotes_inside(span: Span, quoted: "re.Match[str]") -> Fix:
    """Return the fix for ``"say "hi""``: the name is between two texts, without a blank."""
    quote = quoted[0][0]
    ends = (Span(span.start - 1, span.start - 1), Span(span.end, span.end))
    edits = tuple(TextEdit(end, "\\") for end in ends)
    return Fix(f"a quote inside a text is written `\\{quote}`", edits, safe=False)


_CASED_MARKS = frozenset(("#", "#e", "#r"))
_LONGEST_MARK = len("#substrs")


def _any_case(source: Source, span: Span, quoted: "re.Match[str]") -> Fix | None:
    """Return the fix for a text, or a pattern, whose mark ``i``, at ``span``, touches it."""
    inner, quote = quoted[0][1:-1], quoted[0][0]
    start, end = min(quoted.start(), span.start), max(quoted.end(), span.end)
    before = source.text[max(0, start - _LONGEST_MARK) : start]
    mark = before[before.rfind("#") :] if "#" in before else ""
    if before[-1:] == quote:  # In a raw pattern, it is written twice.
        return None
    if mark and (mark == "#" or mark[1:].isalpha()):
        if mark not in _CASED_MARKS:
            return None
        pattern = f"{mark}{quote}(?i:{inner}){quote}"
        start -= len(mark)
    elif "\\" in inner:
        return None
    else:
        spelled = "".join("\\\\" * (c in _SIGNIFICANT) + c for c in inner)
        pattern = f"#{quote}(?i-u:{spelled}){quote}"
    return Fix(f"for any case write `{pattern}`", (TextEdit(Span(start, end), pattern),))
