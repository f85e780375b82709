"""The check of Lark texts: from text to a tree of KBNF and findings.

Reading begins at the start and leaves out definitions that it does not reach, so W101 and W102
(definitions unused, or unreachable) are reported of the author's text.

Tests: tests/unit/languages/lark
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from kbnf_core.ir.analysis import reachable
from kbnf_core.kbnf import tree
from kbnf_core.kbnf.outline import Outline, OutlineUse, Symbol
from kbnf_core.kbnf.parsed import Attributes, Loss, Parsed, Request
from kbnf_core.kbnf.pragmas import read_pragmas
from kbnf_core.languages.gbnf.language import GBNF
from kbnf_core.languages.gbnf.parse import parse_gbnf
from kbnf_core.languages.lark.indenter import indenter_of
from kbnf_core.languages.lark.read import (
    AUTO,
    LarkOutcome,
    Setting,
    comments_of,
    lexing_of,
    may_be_gbnf,
    read_lark,
)
from kbnf_core.languages.lark.reader import tree as lark
from kbnf_core.languages.lark.reader.dialect import Dialect, decode, dialect_of
from kbnf_core.languages.lark.reader.marks import declares_blocks
from kbnf_core.languages.lark.reader.model import Lexing
from kbnf_core.languages.lark.reader.parse import is_gbnf, parse_lark
from kbnf_core.languages.lark.reader.report import APPROXIMATE, DIALECT, LEXING
from kbnf_core.text.diagnostics import Diagnostic, Label, Severity
from kbnf_core.text.limits import Limits
from kbnf_core.text.source import Source, Span


def find_unused(document: lark.LarkDocument, start: str) -> Iterator[Diagnostic]:
    """Yield a finding for each definition that does not take part in the language."""
    uses: defaultdict[str, set[str]] = defaultdict(set)
    users: dict[str, lark.LarkName] = {}
    names: dict[str, lark.LarkName] = {}
    ignored: set[str] = set()
    for statement in document.statements:
        if isinstance(statement, lark.IgnoreStatement):
            ignored.update(_used_in(statement.body))
        elif isinstance(statement, lark.LarkDefinition):
            name = names.setdefault(statement.name.value, statement.name)
            own = {parameter.value for parameter in statement.template}
            uses[name.value].update(set(_used_in(statement.body)) - own)
            for used in sorted(uses[name.value] - {name.value}):
                users.setdefault(used, name)
    reached = reachable({start, *ignored}, uses)
    for value, name in names.items():
        if value not in reached:
            yield _finding(document, name, start, users.get(value))


def _used_in(root: lark.Expression) -> Iterator[str]:
    for node in lark.postorder(root):
        if isinstance(node, lark.Use | lark.TemplateUse):
            yield node.name.value


def _finding(
    document: lark.LarkDocument, name: lark.LarkName, start: str, user: lark.LarkName | None
) -> Diagnostic:
    subject = f"the {'terminal' if name.is_terminal else 'rule'} `{name.value}`"
    if user is None:
        helps = ("remove it, or use it in a rule that the start can reach",)
        message = f"{subject} is never used"
        return Diagnostic("W101", message, document.source, name.span, helps=helps)
    label = Label(user.span, "used only here, which cannot be reached either")
    message = f"{subject} cannot be reached from `{start}`"
    return Diagnostic("W102", message, document.source, name.span, labels=(label,))


def parse_as_kbnf(source: Source, request: Request) -> Parsed:
    """Read ``source`` from its start on: ``start``, or a rule that no other uses, for findings.

    A text that defines all its rules with ``::=``, ``root`` among them, is GBNF, or what LLGuidance
    once read as such: Lark with ``::=``. Raises ``ConfigError`` for unknown options.
    """
    lexing = lexing_of(request.options.get("lexing"))
    chosen_indenter = request.options.get("indenter")
    indenter = None if chosen_indenter is None else indenter_of(chosen_indenter)
    looks_like_gbnf = may_be_gbnf(lexing) and is_gbnf(source.text)
    written = parse_lark(source, request.limits)
    if looks_like_gbnf:
        gbnf = parse_gbnf(source, request.limits)
        if written.diagnostics or not any(
            finding.severity is Severity.ERROR for finding in gbnf.diagnostics
        ):
            gbnf.start = request.start or GBNF.start
            return gbnf
    remarks = tuple(comments_of(source))
    pragmas = read_pragmas(tree.Document(source, (), remarks))[0]
    chosen = request.start or pragmas.start
    first = None if chosen or looks_like_gbnf else _start(written.document)
    wanted = chosen or first
    setting = Setting(
        request.imports, lexing, indenter, wanted, request.limits, columns=pragmas.columns
    )
    outcome = read_lark(source, setting, written)
    has_blocks = indenter is not None or declares_blocks(written.document)
    if lexing is None and not has_blocks and dialect_of(written.document, None) is Dialect.LARK:
        outcome = _in_the_other_dialect(outcome, source, setting)
    report = outcome.report
    findings = [*report.errors, *report.notes]
    start = None
    if outcome.document is None or report.errors:
        document = tree.Document(source, (), remarks, frozenset((wanted or "start",)))
    else:
        document = replace(outcome.document, comments=remarks)
        # Where nobody chose a start, reading from the first rule is only for findings.
        start = document.definitions[0].name.value if first is None else None
        findings += find_unused(written.document, wanted or "start")
    losses = tuple(sorted(report.losses, key=lambda loss: loss.span))
    if request.options.get("lexing") == AUTO:
        accepted = [finding for finding in losses if finding.code == LEXING]
        losses = tuple(finding for finding in losses if finding.code != LEXING)
        findings += (
            Diagnostic(finding.code, finding.message, source, finding.span) for finding in accepted
        )
    findings.sort(key=Diagnostic.sort_key)
    return Parsed(document, tuple(findings), start, losses=losses, remark=report.remark)


def read_attributes(source: Source, limits: Limits) -> Attributes:
    """Return the captures and temperatures of the rules of a text."""
    document = parse_lark(source, limits).document
    captures: defaultdict[str, set[str]] = defaultdict(set)
    temperatures: dict[str, float] = {}
    unkept: list[Loss] = []
    for statement in document.statements:
        if not isinstance(statement, lark.LarkDefinition):
            continue
        rule = statement.name.value
        for attribute in statement.attributes:
            match attribute.name.value, attribute.value:
                case "temperature", float(value):
                    temperatures[rule] = value
                    message = f"`Engine.temperature` has the temperature {value:g}; here it is lost"
                case "capture", None:
                    continue  # Each rule is captured under its name.
                case "capture", lark.String() as name:
                    title = decode(name.raw, Dialect.LLGUIDANCE)
                    captures[title].add(rule)
                    message = f"here the capture `{title}` has the name of its rule, `{rule}`"
                case _:
                    continue
            unkept.append(Loss(APPROXIMATE, message, attribute.span))
    sets = {name: frozenset(rules) for name, rules in captures.items()}
    return Attributes(sets, temperatures, tuple(unkept))


_OF_EITHER = frozenset({"E102", "E106", "E107"})
"""Findings that are about no dialect: no start, and limits."""


def _in_the_other_dialect(outcome: LarkOutcome, source: Source, setting: Setting) -> LarkOutcome:
    """Return what LLGuidance makes of a text that Lark refuses, with a note; else ``outcome``."""
    errors = outcome.report.errors
    if not errors or any(error.code in _OF_EITHER for error in errors):
        return outcome
    other = read_lark(source, replace(setting, lexing=Lexing.LLGUIDANCE))
    if other.document is None or other.report.errors:
        return outcome
    first = min(errors, key=lambda error: error.span)
    message = f"Lark refuses this ({first.message}): the grammar is read as LLGuidance reads it"
    helps = ("say so with a line `%llguidance {}` at the top, or write what Lark reads",)
    other.report.notes.append(Diagnostic(DIALECT, message, source, first.span, helps=helps))
    return other


def _start(document: lark.LarkDocument) -> str | None:
    """Return the first rule that no other uses, where none is called ``start``."""
    definitions = [
        statement for statement in document.statements if isinstance(statement, lark.LarkDefinition)
    ]
    rules = [
        statement
        for statement in definitions
        if not statement.name.is_terminal and not statement.template
    ]
    names = [statement.name.value for statement in rules]
    used = {
        name
        for statement in definitions
        for name in {*_used_in(statement.body)} - {statement.name.value}
    }
    return (
        None
        if "start" in names or not names
        else next((n for n in names if n not in used), names[0])
    )


def outline_lark(source: Source, limits: Limits) -> Outline:
    """Return where rules and terminals are defined and used; never raises."""
    definitions: list[tuple[lark.LarkName, Span]] = []
    bodies: list[lark.Expression] = []
    for statement in parse_lark(source, limits).document.statements:
        match statement:
            case lark.LarkDefinition():
                definitions.append((statement.name, statement.span))
                bodies.append(statement.body)
            case lark.Declare():
                definitions.extend((name, statement.span) for name in statement.names)
            case lark.Import():
                definitions.extend((name, statement.span) for _, name in statement.names)
            case lark.IgnoreStatement():
                bodies.append(statement.body)
    nodes = [node for body in bodies for node in lark.postorder(body)]
    names = (node.name for node in nodes if isinstance(node, lark.Use | lark.TemplateUse))
    patterns = ((node.span, node.raw) for node in nodes if isinstance(node, lark.Regexp))
    return Outline(
        tuple(Symbol(name.value, name.span, whole) for name, whole in definitions),
        tuple(OutlineUse(name.value, name.span) for name in names),
        tuple(patterns),
    )
