"""Reads Lark, in either dialect: parses, resolves and converts it to a tree of KBNF.

Tests: tests/unit/languages/lark
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from kbnf_core.conversion.rewrite import Placing, placed
from kbnf_core.conversion.to_kbnf import Identifiers
from kbnf_core.ir import Repeat
from kbnf_core.kbnf import tree
from kbnf_core.kbnf.pragmas import COLUMNS, MOST_COLUMNS
from kbnf_core.kbnf.tree import Comment
from kbnf_core.languages.lark.indenter import Indenter
from kbnf_core.languages.lark.lexer.ignore import make_skipped
from kbnf_core.languages.lark.lexer.lark_terminals import LarkFactory, LarkTerminals
from kbnf_core.languages.lark.lexer.llguidance_terminals import (
    LlguidanceFactory,
    LlguidanceTerminals,
)
from kbnf_core.languages.lark.lexer.lookahead import ANYTHING
from kbnf_core.languages.lark.lexer.product import Assembly
from kbnf_core.languages.lark.reader.dialect import (
    Dialect,
    check_dialect,
    default_lexing,
    dialect_of,
)
from kbnf_core.languages.lark.reader.embedded import Embedding
from kbnf_core.languages.lark.reader.marks import Marks, usual_indenter
from kbnf_core.languages.lark.reader.model import (
    MOST_VARIANTS,
    IndenterTerminals,
    LarkTerminal,
    Lexeme,
    LexicalGrammar,
    Lexing,
    TooManyVariantsError,
    make_shallow,
    written_alternatives,
)
from kbnf_core.languages.lark.reader.modules import (
    LARK_LIBRARIES,
    LLGUIDANCE_LIBRARIES,
    Gathered,
    gather,
)
from kbnf_core.languages.lark.reader.parse import ParsedLark, comments, is_gbnf, parse_lark
from kbnf_core.languages.lark.reader.report import (
    APPROXIMATE,
    DIALECT,
    INVALID,
    LarkRefusedError,
    Report,
)
from kbnf_core.languages.lark.reader.rules import Factory, RuleBuilder
from kbnf_core.languages.lark.reader.tree import (
    Declare,
    LarkDefinition,
    LarkDocument,
    TemplateUse,
    Use,
    postorder,
)
from kbnf_core.text.budget import Budget
from kbnf_core.text.diagnostics import unreadable
from kbnf_core.text.errors import ConfigError, LimitError, WorkLimitError
from kbnf_core.text.files import Imports
from kbnf_core.text.json_text import NoJsonError, as_number, end_of_json, refuse_halves
from kbnf_core.text.limits import DEFAULT_LIMITS, Limits
from kbnf_core.text.source import Source, Span, pointers
from kbnf_core.text.suggest import listed

_OPTIONS = ("allow_initial_skip", "allow_invalid_utf8", "ignore_once", "no_forcing")
"""Options of ``%llguidance`` that are known; forcing tokens is what callers do or do not do."""

_MOST_NESTED = 16
"""Grammars inside one another."""

_NO_LIST = (ValueError, TypeError, KeyError, AttributeError, RecursionError)
"""Exceptions of a text that is not a list of grammars."""

_Read = tree.Document | None
_Others = dict[str, _Read]
"""The grammars of a list, by name."""


@dataclass(frozen=True, slots=True)
class Setting:
    """How to read a Lark file.

    ``lexing`` None is the default of the file's dialect; ``indenter`` None is that of the names
    which the file declares, if it does; ``start`` None is ``start``. ``imports`` says which files
    may be imported. ``where`` maps the spans of an embedded grammar to those of the file.
    ``columns`` is the greatest column that the file asks for, None where it asks for none.
    """

    imports: Imports
    lexing: Lexing | None = None
    indenter: Indenter | None = None
    start: str | None = None
    limits: Limits = DEFAULT_LIMITS
    depth: int = 0
    where: Placing = lambda span: span
    columns: int | None = None


@dataclass(frozen=True, slots=True)
class LarkOutcome:
    """The result of reading: ``document`` is a tree of KBNF, None where errors leave none.

    Its first definition is the start; spans are in the Lark source.
    """

    document: tree.Document | None
    report: Report


def read_lark(source: Source, setting: Setting, written: ParsedLark | None = None) -> LarkOutcome:
    """Read a Lark file, or a list of grammars as JSON. Never raises.

    ``written`` is the parsed file, if a caller has it already.
    """
    report = Report(source)
    finding = unreadable(source, setting.limits.source_bytes)
    if finding is not None:
        report.errors.append(finding)
        return LarkOutcome(None, report)
    if _is_list(source):
        return LarkOutcome(_read_list(source, setting, report), report)
    return LarkOutcome(_read(source, setting, report, {}, written), report)


def _is_list(source: Source) -> bool:
    return source.text.lstrip().startswith("{")


def comments_of(source: Source) -> list[Comment]:
    """Return the comments of a Lark file, or of the grammars in a list, as far as it has them."""
    if not _is_list(source):
        return [Comment(text, span) for text, span in comments(source.text)]
    try:
        members = [member for _, member in list_members(source.text) if member is not None]
    except _NO_LIST:
        return []
    in_members = (
        (text, member.where(span)) for member in members for text, span in comments(member.text)
    )
    # A comment that is spelled with escapes of JSON has no span in the source, so it is left out.
    return [Comment(text, span) for text, span in in_members if source.slice(span).endswith(text)]


def _read(
    source: Source,
    setting: Setting,
    report: Report,
    others: _Others,
    written: ParsedLark | None = None,
) -> _Read:
    parsed = parse_lark(source, setting.limits) if written is None else written
    report.errors.extend(parsed.diagnostics)
    return _LarkReader(parsed.document, setting, report, Identifiers(), others).read()


def _read_list(source: Source, setting: Setting, report: Report) -> _Read:
    """Read ``{"grammars": [...]}``: the first is the top, the others can be called by name."""
    whole = Span(0, len(source.text))
    try:
        members = list(list_members(source.text))
        refuse_halves(source.text)
    except json.JSONDecodeError as error:
        span = Span(min(error.pos, len(source.text)), min(error.pos + 1, len(source.text)))
        report.error("E001", f"this list of grammars is not JSON: {error.msg}", span)
        return None
    except NoJsonError as error:
        report.error("E001", f"this list of grammars is not JSON: {error.reason}", error.span)
        return None
    except _NO_LIST:
        report.error("E001", "this is neither Lark nor a list of grammars", whole)
        return None
    others: _Others = {}
    # From the last on: what a grammar calls is read before it.
    for index in reversed(range(1, len(members))):
        name, member = members[index]
        if member is not None:
            document = _within(member.text, member.where, setting, report, others)
            others[str(index)] = document
            if isinstance(name, str):
                others[name] = document
    top = members[0][1] if members else None
    if top is None:
        report.error("E001", "the list has no `lark_grammar` or `json_schema` at its top", whole)
        return None
    document = _within(top.text, top.where, setting, report, others, setting.start)
    return None if document is None else replace(document, source=source)


@dataclass(frozen=True, slots=True)
class Member:
    """The Lark of a member of a list of grammars; ``origins`` as in ``tree.Text``."""

    text: str
    origins: Sequence[int]

    def where(self, span: Span) -> Span:
        """Return where a span of ``text`` is in the list."""
        return Span(self.origins[span.start], self.origins[span.end])


def list_members(text: str) -> Iterator[tuple[object, Member | None]]:
    """Yield the name and the Lark of each member of a list of grammars.

    Raises the exceptions of any other value.
    """
    grammars = json.loads(text, parse_int=as_number)["grammars"]
    spans = dict(pointers(text))
    for index, grammar in enumerate(grammars):
        member: Member | None = None
        if grammar.get("json_schema") is not None:
            member = _schema_member(text, spans[f"/grammars/{index}/json_schema"])
        elif isinstance(grammar.get("lark_grammar"), str):
            member = _lark_member(text, spans[f"/grammars/{index}/lark_grammar"])
        yield grammar.get("name"), member


def _schema_member(text: str, key: Span) -> Member:
    """Return ``start: %json {...}``, of which all but the schema is at its key."""
    value = _value_of(text, key)
    head = "start: %json"
    origins = (*[key.start] * len(head), key.end, *range(value.start, value.end + 1))
    return Member(f"{head} {text[value.start : value.end]}", origins)


_CHARACTER = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\?.", re.DOTALL
)
"""The spelling of a character in a string of JSON."""


def _lark_member(text: str, key: Span) -> Member:
    value = _value_of(text, key)
    characters = _CHARACTER.finditer(text, value.start + 1, value.end - 1)
    origins = (*(character.start() for character in characters), value.end - 1)
    return Member(json.loads(text[value.start : value.end]), origins)


_COLON = re.compile(r"\s*:\s*")


def _value_of(text: str, key: Span) -> Span:
    """Return where the value after a key of JSON is."""
    colon = _COLON.match(text, key.end)
    start = key.end if colon is None else colon.end()
    return Span(start, end_of_json(text, start))


def _within(
    text: str,
    where: Placing,
    setting: Setting,
    report: Report,
    others: _Others,
    start: str | None = None,
) -> _Read:
    """Read a grammar inside another text; ``where`` maps its spans to those of that text."""
    inner = Report(Source(text, report.source.path))
    inside = replace(
        setting,
        start=start,
        depth=setting.depth + 1,
        where=lambda span: setting.where(where(span)),
    )
    document = _read(inner.source, inside, inner, others)
    inner.remark = ""
    report.add(inner, where)
    return document


@dataclass(slots=True)
class _LarkReader:
    """Reads one grammar, in the steps of this package."""

    document: LarkDocument
    setting: Setting
    report: Report
    names: Identifiers
    others: _Others

    def read(self) -> _Read:
        """Return the tree of KBNF; None after a report."""
        gbnf = may_be_gbnf(self.setting.lexing) and is_gbnf(self.document.source.text)
        dialect = Dialect.LLGUIDANCE if gbnf else dialect_of(self.document, self.setting.lexing)
        check_dialect(self.document, dialect, self.report, gbnf)
        libraries = LARK_LIBRARIES if dialect is Dialect.LARK else LLGUIDANCE_LIBRARIES
        gathered = gather(self.document, libraries, self.setting.imports, self.report)
        marks = self._marks(gathered) if dialect is Dialect.LARK else None
        lexing = self.setting.lexing or default_lexing(dialect, marks is not None)
        start = self._start(gathered, "root" if gbnf else "start")
        if start is None:
            return None
        self.names.of(("start",), start)
        source, report, limits = self.document.source, self.report, self.setting.limits
        try:
            return self._assembled(gathered, dialect, lexing, marks, start, Budget(limits.work))
        except LimitError as error:
            report.error("E106", f"the grammar needs {error}", Span(0, 0))
        except TooManyVariantsError:
            message = f"the grammar needs more than {MOST_VARIANTS:,} variants of rules"
            report.error("E106", message, Span(0, 0), "make several grammars of it")
        except WorkLimitError as error:
            where = f", in the end on `{error.subject}`" if error.subject else ""
            report.error(
                "E107",
                f"telling the lexemes apart takes more than {error.limit:,} steps{where}",
                Span(0, min(1, len(source.text))),
                "let fewer terminals match the same text, choose the lexing `scannerless`, or raise"
                " `Limits.work`",
            )
        return None

    def _assembled(
        self,
        gathered: Gathered,
        dialect: Dialect,
        lexing: Lexing,
        marks: Marks | None,
        start: str,
        budget: Budget,
    ) -> _Read:
        """Return the tree; raises the errors of limits."""
        report, limits = self.report, self.setting.limits
        factory: Factory = (
            LlguidanceFactory(LlguidanceTerminals(gathered, report, limits, budget), lexing)
            if dialect is Dialect.LLGUIDANCE
            else LarkFactory(LarkTerminals(gathered, report, limits, budget), lexing)
        )
        embedding = Embedding(
            report, self.names, self._nested, self.others, self.setting.where, limits
        )
        builder = RuleBuilder(gathered, dialect, factory, embedding, marks, report, limits)
        builder.build(start)
        options = self._options(gathered)
        terminals = list(_ignored(gathered, factory))
        layout = self._layout(marks, factory, gathered, lexing)
        if report.errors or embedding.lacks_a_grammar:
            return None
        together = dialect is Dialect.LLGUIDANCE and lexing is not Lexing.SCANNERLESS
        once, first = (bool(options.get(o)) for o in ("ignore_once", "allow_initial_skip"))
        skipped, is_exact = None, True
        if terminals:
            skipped, is_exact = _skipped(terminals, together, once, gathered.ignored[0][1])
        grammar = LexicalGrammar(
            start,
            *make_shallow(builder.rules, builder.spans),
            skipped,
            dialect is Dialect.LARK or first,
            layout,
        )
        assembly = Assembly(
            self.document.source, dialect, lexing, self.names, report, limits, budget
        )
        document = assembly.document(grammar, is_exact)
        if document is None:
            return None
        written = written_alternatives(builder.rules, lexing, budget)
        return self._with(embedding, replace(document, alternatives=written))

    def _marks(self, gathered: Gathered) -> Marks | None:
        """Return the terminals of the indenter: the one that was given, or that of usual names."""
        given = self.setting.indenter
        indenter = given or usual_indenter(gathered)
        if indenter is None:
            return None
        declared = (
            declaration
            for declaration in self.document.statements
            if isinstance(declaration, Declare)
        )
        span = next((declaration.span for declaration in declared), Span(0, 0))
        if given is None:
            self.report.note(
                DIALECT,
                f"Lark needs an `Indenter` for these names: read with `{indenter.newline}` as"
                " newline, the brackets of Python, and tabs of 8 columns",
                span,
                "give another one with `--indenter MODULE:CLASS` or `postlex=`",
            )
        return Marks.of(indenter, span)

    def _layout(
        self, marks: Marks | None, factory: Factory, gathered: Gathered, lexing: Lexing
    ) -> IndenterTerminals | None:
        """Return what the indenter means for later passes; None without one, or after a report."""
        if marks is None or not isinstance(factory, LarkFactory):
            return None
        if lexing is Lexing.EARLEY:
            message = "Lark's dynamic lexer takes no `Indenter`; read this with `--lexing lalr`"
            self.report.error(INVALID, message, marks.indent.span)
            return None
        try:
            layout = marks.layout(factory, gathered, marks.indent.span)
        except LarkRefusedError as error:
            self.report.refused(error, marks.indent.span)
            return None
        if self.setting.columns is None:
            self.report.note(
                DIALECT,
                f"lines begin in the columns 0 to {COLUMNS}; Lark has no such bound",
                marks.indent.span,
                f"set another one, `// kbnf: columns=...`, at most {MOST_COLUMNS:,}",
            )
        return layout

    def _with(self, embedding: Embedding, document: tree.Document) -> tree.Document:
        own: Iterable[tree.Definition] = document.definitions
        written = dict(document.alternatives or {})
        if self.setting.depth:
            where = self.setting.where
            own = (placed(definition_, where) for definition_ in own)
            written = {where(at): (where(of), can_go) for at, (of, can_go) in written.items()}
        return tree.Document(
            document.source,
            (*own, *embedding.definitions),
            (),
            generated=frozenset(embedding.generated),
            alternatives={**embedding.alternatives, **written},
            origins=document.origins,
        )

    def _start(self, gathered: Gathered, usual: str) -> str | None:
        start = self.setting.start or usual
        if start in gathered.entries:
            return start
        # Statements that cannot be read, and signs of GBNF, have findings already.
        if self.report.errors and (start in gathered.broken or _has_signs_of_gbnf(self.document)):
            return None
        self.report.error(
            "E102",
            f"no start rule found: `{start}` is not defined",
            Span(0, min(1, len(self.document.source.text))),
            _start_advice(gathered),
        )
        return None

    def _nested(self, text: str, where: Placing) -> _Read:
        if self.setting.depth >= _MOST_NESTED:
            span = where(Span(0, len(text)))
            self.report.error("E012", f"grammars are nested {_MOST_NESTED} deep at most", span)
            return None
        return _within(text, where, self.setting, self.report, self.others)

    def _options(self, gathered: Gathered) -> Mapping[str, object]:
        merged: dict[str, object] = {}
        spans: dict[str, Span] = {}
        for options in gathered.options:
            value = json.loads(options.text, parse_int=as_number)
            if isinstance(value, dict):
                merged.update(value)
                spans.update(dict.fromkeys(value, options.span))
            else:
                self.report.error(INVALID, "`%llguidance` takes a JSON object", options.span)
        for name in merged.keys() - _OPTIONS:
            message = (
                "`lexer_backtracking` has no effect here: a lexeme ends where the next byte ends it"
                if name == "lexer_backtracking"
                else f"`{name}` is not an option of LLGuidance, and has no effect"
            )
            self.report.note(APPROXIMATE, message, spans[name], f"there are {listed(_OPTIONS)}")
        if merged.get("allow_invalid_utf8"):
            self.report.error(
                INVALID,
                "`allow_invalid_utf8` changes what every regular expression means; there is no"
                " counterpart",
                spans["allow_invalid_utf8"],
            )
        return merged


def _start_advice(gathered: Gathered) -> str:
    """Return how to name the start, with the rules that nothing uses: one of them is it."""
    used = {
        node.name.value
        for entries in gathered.entries.values()
        for entry in entries
        for node in postorder(entry.definition.body)
        if isinstance(node, Use | TemplateUse)
    }
    rules = [name for name in gathered.entries if name.islower() and name not in used]
    if not rules:
        return "name it in a comment of the file, `kbnf: start=NAME`, or with `--start NAME`"
    which = "" if len(rules) == 1 else f"; no other rule uses {listed(rules)}"
    return (
        f"name it in a comment of the file, `kbnf: start={rules[0]}`, or with"
        f" `--start {rules[0]}`{which}"
    )


def _ignored(gathered: Gathered, factory: Factory) -> Iterator[LarkTerminal]:
    """Yield the terminals that are ignored."""
    for body, span in gathered.ignored:
        flat = gathered.main.names.get(body.name.value) if isinstance(body, Use) else None
        if flat is not None and flat in gathered.entries:
            node = factory.named(flat, span)
        else:
            node = factory.anonymous(body, gathered.main)
        while isinstance(node, Repeat):
            node = node.body
        if isinstance(node, Lexeme):
            yield node.terminal


def _skipped(
    terminals: list[LarkTerminal], together: bool, once: bool, span: Span
) -> tuple[LarkTerminal, bool]:
    """Return the terminal of ignored text, and whether its lexemes end as the lexer ends them.

    Long forms of comments side by side may take too many states for that. Raises ``LimitError``
    where they do in any case.
    """
    try:
        return make_skipped(terminals, together, once, span), True
    except LimitError:
        if all(set(terminal.rests) <= {ANYTHING} for terminal in terminals):
            raise
        free = [
            replace(terminal, rests=(ANYTHING,) * terminal.dfa.state_count)
            for terminal in terminals
        ]
        return make_skipped(free, together, once, span), False


def may_be_gbnf(lexing: Lexing | None) -> bool:
    """Return whether rules with ``::=`` are read: not by Lark's own lexers."""
    return lexing not in (Lexing.EARLEY, Lexing.LALR)


def _has_signs_of_gbnf(document: LarkDocument) -> bool:
    return any(
        isinstance(statement, LarkDefinition) and statement.sign != ":"
        for statement in document.statements
    )


AUTO = "auto"
"""The lexing of the dialect, as far as rules can keep it; the rest is a warning, and no loss."""


def lexing_of(lexing: Lexing | str | None) -> Lexing | None:
    """Return how text is cut into lexemes, by its word; None or ``AUTO`` for that of the dialect.

    Raises ``ConfigError`` for an unknown one.
    """
    if lexing in (None, AUTO):
        return None
    try:
        return Lexing(lexing)
    except ValueError:
        names = ", ".join((AUTO, *(lexing_.value for lexing_ in Lexing)))
        raise ConfigError(f"lexing must be one of {names}, not {lexing!r}") from None
