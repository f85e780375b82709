"""Which dialect a file is written in, and what the other one would refuse."""

from collections.abc import Iterator
from enum import Enum

from kbnf_core.languages.lark.reader.model import Lexing
from kbnf_core.languages.lark.reader.report import INVALID, Report
from kbnf_core.languages.lark.reader.tree import (
    Complement,
    Definition,
    Document,
    Expression,
    GrammarReference,
    Guarded,
    Ignore,
    Intersection,
    Json,
    Name,
    Nested,
    Options,
    RegexObject,
    Special,
    TemplateUse,
    Use,
    postorder,
)
from kbnf_core.source import Span


class Dialect(Enum):
    """Whose rules hold for strings, regular expressions and terminals."""

    LARK = "Lark"
    LLGUIDANCE = "LLGuidance"


_EXTENSIONS = (
    Complement,
    GrammarReference,
    Guarded,
    Intersection,
    Json,
    Nested,
    RegexObject,
    Special,
)


def dialect_of(document: Document, lexing: Lexing | None) -> Dialect:
    """Return the dialect that ``lexing`` belongs to; without one, that of the file's constructs."""
    if lexing is Lexing.LLGUIDANCE:
        return Dialect.LLGUIDANCE
    if lexing in (Lexing.EARLEY, Lexing.LALR):
        return Dialect.LARK
    return Dialect.LARK if next(extensions(document), None) is None else Dialect.LLGUIDANCE


def default_lexing(dialect: Dialect) -> Lexing:
    """Return how the dialect's own engine cuts text by default."""
    return Lexing.EARLEY if dialect is Dialect.LARK else Lexing.LLGUIDANCE


def extensions(document: Document) -> Iterator[tuple[str, Span]]:
    """Yield what only LLGuidance has."""
    for statement in document.statements:
        if isinstance(statement, Options):
            yield "%llguidance", statement.span
        if isinstance(statement, Definition):
            if statement.attributes:
                yield "an attribute", statement.attributes[0].span
            if statement.parameter is not None or "-" in statement.name.value:
                yield "this name", statement.name.span
        if isinstance(statement, Definition | Ignore):
            yield from _extended(statement.body)


def _extended(body: Expression) -> Iterator[tuple[str, Span]]:
    for node in postorder(body):
        if isinstance(node, _EXTENSIONS) or (isinstance(node, Use) and node.parameter is not None):
            yield "this construct", node.span


def check_dialect(document: Document, dialect: Dialect, report: Report) -> None:
    """Report what the dialect does not have (E421)."""
    for statement in document.statements:
        if isinstance(statement, Definition):
            _check_name(statement.name, report)
            if statement.sign != ":":
                report.error(
                    INVALID,
                    "`::=` is no sign of Lark; write `:`",
                    statement.span,
                    "for GBNF use `kbnf convert-gbnf`",
                )
    if dialect is Dialect.LARK:
        for what, span in extensions(document):
            report.error(
                INVALID, f"{what} is LLGuidance's, not Lark's", span, "use `--lexing llguidance`"
            )
    else:
        _check_llguidance(document, report)


def _check_name(name: Name, report: Report) -> None:
    letters = [c for c in name.value if c.isalpha()]
    if name.value.startswith("__") or not (name.value.isupper() or name.value.islower()):
        report.error(
            INVALID,
            f"`{name.value}` is neither the name of a rule (small letters) nor of a terminal"
            " (capitals)"
            if letters
            else f"`{name.value}` is no name",
            name.span,
        )


def _check_llguidance(document: Document, report: Report) -> None:
    for statement in document.statements:
        if not isinstance(statement, Definition):
            continue
        if statement.priority is not None:
            report.error(
                INVALID,
                "LLGuidance has no priorities: priority not supported yet",
                statement.name.span,
            )
        if statement.template:
            report.error(
                INVALID,
                "LLGuidance has no templates: params not supported yet",
                statement.name.span,
            )
        for node in postorder(statement.body):
            if isinstance(node, TemplateUse):
                report.error(
                    INVALID, "LLGuidance has no templates: params not supported yet", node.span
                )
