"""Reads Lark, in either dialect: parses, resolves and converts it to a tree of KBNF."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from kbnf_core.automata.errors import LimitError
from kbnf_core.budget import Budget
from kbnf_core.diagnostics import unreadable
from kbnf_core.errors import ConfigError, WorkLimitError
from kbnf_core.imports import Imports
from kbnf_core.ir import Repeat
from kbnf_core.json_text import NoJsonError, refuse_halves
from kbnf_core.languages.conversion.names import Names
from kbnf_core.languages.lark.lexer.ignore import make_skipped
from kbnf_core.languages.lark.lexer.lark_terminals import LarkFactory, LarkTerminals
from kbnf_core.languages.lark.lexer.llguidance_terminals import (
    LlguidanceFactory,
    LlguidanceTerminals,
)
from kbnf_core.languages.lark.lexer.product import MOST_VARIANTS, Assembly, TooManyVariantsError
from kbnf_core.languages.lark.reader.dialect import (
    Dialect,
    check_dialect,
    default_lexing,
    dialect_of,
)
from kbnf_core.languages.lark.reader.embedded import Embedding
from kbnf_core.languages.lark.reader.model import (
    Lexeme,
    LexicalGrammar,
    Lexing,
    Terminal,
    make_shallow,
)
from kbnf_core.languages.lark.reader.modules import (
    LARK_LIBRARIES,
    LLGUIDANCE_LIBRARIES,
    Gathered,
    gather,
)
from kbnf_core.languages.lark.reader.parse import is_gbnf, parse_lark
from kbnf_core.languages.lark.reader.report import INVALID, Report
from kbnf_core.languages.lark.reader.rules import Factory, RuleBuilder
from kbnf_core.languages.lark.reader.tree import Document, Use
from kbnf_core.limits import DEFAULT_LIMITS, Limits
from kbnf_core.source import Source, Span
from kbnf_core.syntax import tree

_MOST_NESTED = 16
"""Grammars inside one another."""

_Found = tree.Document | None
_Others = dict[str, _Found]
"""The grammars of a list, by name."""


@dataclass(frozen=True, slots=True)
class Setting:
    """How to read a Lark file.

    ``lexing`` None is the default of the file's dialect; ``start`` None is ``start``. ``imports``
    says which files may be imported.
    """

    imports: Imports
    lexing: Lexing | None = None
    start: str | None = None
    limits: Limits = DEFAULT_LIMITS
    depth: int = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was read: ``document`` is a tree of KBNF, None where errors leave none.

    Its first definition is the start; spans are in the Lark source.
    """

    document: tree.Document | None
    report: Report


def read_lark(source: Source, setting: Setting) -> Outcome:
    """Read a Lark file, or a list of grammars as JSON. Never raises."""
    report = Report(source)
    finding = unreadable(source, setting.limits.source_bytes)
    if finding is not None:
        report.errors.append(finding)
        return Outcome(None, report)
    if source.text.lstrip().startswith("{"):
        return Outcome(_read_list(source, setting, report), report)
    return Outcome(_read(source, setting, report, {}), report)


def _read(source: Source, setting: Setting, report: Report, others: _Others) -> _Found:
    parsed = parse_lark(source, setting.limits)
    report.errors.extend(parsed.diagnostics)
    return _Reader(parsed.document, setting, report, Names(), others).read()


def _read_list(source: Source, setting: Setting, report: Report) -> _Found:
    """Read ``{"grammars": [...]}``: the first is the top, the others can be called by name."""
    whole = Span(0, len(source.text))
    try:
        grammars = json.loads(source.text)["grammars"]
        refuse_halves(source.text)
        texts = [(each.get("name"), _text_of(each)) for each in grammars]
    except json.JSONDecodeError as error:
        place = Span(min(error.pos, len(source.text)), min(error.pos + 1, len(source.text)))
        report.error("E001", f"this list of grammars is not JSON: {error.msg}", place)
        return None
    except NoJsonError as error:
        report.error("E001", f"this list of grammars is not JSON: {error.reason}", error.span)
        return None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        report.error("E001", "this is neither Lark nor a list of grammars", whole)
        return None
    others: _Others = {}
    for index in reversed(range(1, len(texts))):
        name, text = texts[index]
        if isinstance(text, str):
            document = _placed(text, whole, setting, report, others)
            others[str(index)] = document
            if isinstance(name, str):
                others[name] = document
    top = texts[0][1] if texts else None
    if not isinstance(top, str):
        report.error("E001", "the list has no `lark_grammar` or `json_schema` at its top", whole)
        return None
    return _placed(top, whole, setting, report, others)


def _text_of(grammar: Mapping[str, Any]) -> object:
    """Return the Lark of a member of the list."""
    schema = grammar.get("json_schema")
    if schema is None:
        return grammar.get("lark_grammar")
    return f"start: %json {json.dumps(schema)}"


def _placed(text: str, place: Span, setting: Setting, report: Report, others: _Others) -> _Found:
    """Read a grammar inside another text; all that is said about it is said at ``place``."""
    inner = Report(Source(text, report.source.path))
    document = _read(inner.source, setting, inner, others)
    inner.remark = ""
    report.add(inner, place)
    return document


@dataclass(slots=True)
class _Reader:
    """Reads one grammar, in the steps of this package."""

    document: Document
    setting: Setting
    report: Report
    names: Names
    others: _Others

    def read(self) -> _Found:
        """Return the tree of KBNF; None after a report."""
        gbnf = self.setting.lexing is None and is_gbnf(self.document.source.text)
        dialect = Dialect.LLGUIDANCE if gbnf else dialect_of(self.document, self.setting.lexing)
        lexing = self.setting.lexing or default_lexing(dialect)
        check_dialect(self.document, dialect, self.report, gbnf)
        libraries = LARK_LIBRARIES if dialect is Dialect.LARK else LLGUIDANCE_LIBRARIES
        gathered = gather(self.document, libraries, self.setting.imports, self.report)
        start = self._start(gathered, "root" if gbnf else "start")
        if start is None:
            return None
        self.names.of(("start",), start)
        report, limits = self.report, self.setting.limits
        factory: Factory = (
            LlguidanceFactory(LlguidanceTerminals(gathered, report, limits), lexing)
            if dialect is Dialect.LLGUIDANCE
            else LarkFactory(LarkTerminals(gathered, report, limits), lexing)
        )
        embedding = Embedding(report, self.names, self._nested, self.others, limits)
        builder = RuleBuilder(gathered, dialect, factory, embedding, report, limits)
        builder.build(start)
        options = self._options(gathered)
        source, budget = self.document.source, Budget(limits.work)
        try:
            parts = list(_ignored(gathered, factory))
            if report.errors:
                return None
            together = dialect is Dialect.LLGUIDANCE and lexing is not Lexing.SCANNERLESS
            once, first = (bool(options.get(o)) for o in ("ignore_once", "allow_initial_skip"))
            grammar = LexicalGrammar(
                start,
                *make_shallow(builder.rules, builder.spans),
                make_skipped(parts, together, once, gathered.ignored[0][1]) if parts else None,
                dialect is Dialect.LARK or first,
            )
            assembly = Assembly(source, dialect, lexing, self.names, embedding, report, budget)
            return assembly.document(grammar)
        except LimitError as error:
            report.error("E106", f"the grammar needs {error}", Span(0, 0))
        except TooManyVariantsError:
            message = f"the grammar needs more than {MOST_VARIANTS:,} variants of rules"
            report.error("E106", message, Span(0, 0), "make several grammars of it")
        except WorkLimitError as error:
            where = f", in the end on `{error.part}`" if error.part else ""
            report.error(
                "E107",
                f"telling the lexemes apart takes more than {error.limit:,} steps{where}",
                Span(0, min(1, len(source.text))),
                "let fewer terminals match the same text, choose the lexing `scannerless`, or raise"
                " `Limits.work`",
            )
        return None

    def _start(self, gathered: Gathered, usual: str) -> str | None:
        start = self.setting.start or usual
        if start in gathered.entries:
            return start
        if self.report.errors and start in gathered.broken:
            return None
        self.report.error(
            "E102",
            f"no start rule found: `{start}` is not defined",
            Span(0, min(1, len(self.document.source.text))),
            "name it with `--start`",
        )
        return None

    def _nested(self, text: str, place: Span) -> _Found:
        if self.setting.depth >= _MOST_NESTED:
            self.report.error("E012", f"grammars are nested {_MOST_NESTED} deep at most", place)
            return None
        deeper = replace(self.setting, depth=self.setting.depth + 1)
        return _placed(text, place, deeper, self.report, self.others)

    def _options(self, gathered: Gathered) -> Mapping[str, object]:
        merged: dict[str, object] = {}
        for options in gathered.options:
            value = json.loads(options.text)
            if isinstance(value, dict):
                merged.update(value)
            else:
                self.report.error(INVALID, "`%llguidance` takes a JSON object", options.span)
        if merged.get("allow_invalid_utf8"):
            self.report.error(
                INVALID,
                "`allow_invalid_utf8` changes what every regular expression means; there is no"
                " counterpart",
                gathered.options[0].span,
            )
        return merged


def _ignored(gathered: Gathered, factory: Factory) -> Iterator[Terminal]:
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


def lexing_of(lexing: Lexing | str | None) -> Lexing | None:
    """Return how text is cut into lexemes, by its word; None for the default of the dialect.

    Raises ``ConfigError`` for an unknown one.
    """
    if lexing is None:
        return None
    try:
        return Lexing(lexing)
    except ValueError:
        known = ", ".join(each.value for each in Lexing)
        raise ConfigError(f"lexing must be one of {known}, not {lexing!r}") from None
