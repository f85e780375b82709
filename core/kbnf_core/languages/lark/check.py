"""The check of Lark texts: from text to a tree of KBNF and findings."""

from dataclasses import replace

from kbnf_core.diagnostics import Diagnostic
from kbnf_core.imports import BELOW, Imports
from kbnf_core.languages.lark.read import Setting, read_lark
from kbnf_core.languages.lark.reader.parse import parse_lark
from kbnf_core.languages.lark.reader.tree import Definition
from kbnf_core.languages.lark.reader.tree import Document as LarkDocument
from kbnf_core.languages.lark.reader.unused import find_unused
from kbnf_core.languages.lark.reader.words import comments
from kbnf_core.limits import Limits
from kbnf_core.source import Source
from kbnf_core.syntax.language import Parsed
from kbnf_core.syntax.pragmas import read_pragmas
from kbnf_core.syntax.tree import Comment, Document


def parse_as_kbnf(
    source: Source, limits: Limits, start: str | None = None, imports: Imports = BELOW
) -> Parsed:
    """Read ``source`` from ``start`` on; never raises.

    Without a start it is the one that a pragma names, else ``start``, else the first rule.
    """
    remarks = tuple(Comment(text, span) for text, span in comments(source.text))
    written = parse_lark(source, limits).document
    wanted = start or read_pragmas(Document(source, (), remarks))[0].start or _start(written)
    outcome = read_lark(source, Setting(imports, None, wanted, limits))
    report = outcome.report
    losses = [loss.diagnostic(source) for loss in report.losses]
    found = [*report.errors, *report.notes, *losses]
    if outcome.document is None or report.errors:
        document = Document(source, (), remarks, frozenset((wanted or "start",)))
    else:
        document = replace(outcome.document, comments=remarks)
        found += find_unused(written, wanted or "start")
    return Parsed(document, tuple(sorted(found, key=Diagnostic.sort_key)))


def _start(document: LarkDocument) -> str | None:
    names = [
        statement.name.value
        for statement in document.statements
        if isinstance(statement, Definition)
        and not statement.name.is_terminal
        and not statement.template
    ]
    return None if "start" in names or not names else names[0]
