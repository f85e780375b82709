"""Lark as one of the languages that are checked: from text to a tree of KBNF and findings."""

from kbnf_core.convert.lark.files import load_beside
from kbnf_core.convert.lark.read import Setting, read_lark
from kbnf_core.diagnostics import Diagnostic
from kbnf_core.limits import Limits
from kbnf_core.source import Source
from kbnf_core.syntax.lark_dialect_parse import parse_lark
from kbnf_core.syntax.lark_dialect_tree import Definition
from kbnf_core.syntax.parse import Parsed
from kbnf_core.syntax.tree import Document


def parse_as_kbnf(source: Source, limits: Limits) -> Parsed:
    """Read ``source``; never raises. Without a rule ``start`` the first rule is the start."""
    outcome = read_lark(source, Setting(load_beside, None, _start(source, limits), limits))
    report = outcome.report
    losses = [loss.diagnostic(source) for loss in report.losses]
    found = sorted([*report.errors, *report.notes, *losses], key=Diagnostic.sort_key)
    if outcome.document is None or report.errors:
        return Parsed(Document(source, (), (), frozenset(("start",))), tuple(found))
    return Parsed(outcome.document, tuple(found))


def _start(source: Source, limits: Limits) -> str | None:
    names = [
        statement.name.value
        for statement in parse_lark(source, limits).document.statements
        if isinstance(statement, Definition) and not statement.name.is_terminal
    ]
    return None if "start" in names or not names else names[0]
