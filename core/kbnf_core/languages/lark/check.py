"""The check of Lark texts: from text to a tree of KBNF and findings.

Reading begins at the start and leaves out what it does not reach, so W101 and W102 (definitions
unused, or unreachable) are said of what was written.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from kbnf_core.diagnostics import Diagnostic, Label
from kbnf_core.imports import BELOW, Imports
from kbnf_core.ir.analysis import reachable
from kbnf_core.languages.lark.read import Setting, comments_of, read_lark
from kbnf_core.languages.lark.reader import tree as lark
from kbnf_core.languages.lark.reader.parse import is_gbnf, parse_lark
from kbnf_core.limits import Limits
from kbnf_core.source import Source, Span
from kbnf_core.syntax import tree
from kbnf_core.syntax.language import Parsed
from kbnf_core.syntax.outline import Outline, Symbol, Use
from kbnf_core.syntax.pragmas import read_pragmas


def find_unused(document: lark.Document, start: str) -> Iterator[Diagnostic]:
    """Yield a finding for each definition that does not take part in the language."""
    uses: defaultdict[str, set[str]] = defaultdict(set)
    users: dict[str, lark.Name] = {}
    names: dict[str, lark.Name] = {}
    ignored: set[str] = set()
    for statement in document.statements:
        if isinstance(statement, lark.Ignore):
            ignored.update(_used_in(statement.body))
        elif isinstance(statement, lark.Definition):
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
    document: lark.Document, name: lark.Name, start: str, user: lark.Name | None
) -> Diagnostic:
    what = f"the {'terminal' if name.is_terminal else 'rule'} `{name.value}`"
    if user is None:
        helps = ("remove it, or use it in a rule that the start can reach",)
        message = f"{what} is never used"
        return Diagnostic("W101", message, document.source, name.span, helps=helps)
    label = Label(user.span, "used only here, which cannot be reached either")
    message = f"{what} cannot be reached from `{start}`"
    return Diagnostic("W102", message, document.source, name.span, labels=(label,))


def parse_as_kbnf(
    source: Source, limits: Limits, start: str | None = None, imports: Imports = BELOW
) -> Parsed:
    """Read ``source`` from ``start`` on; never raises.

    Without a start it is the one that a pragma names, else ``start``, else the first rule.
    """
    remarks = tuple(comments_of(source))
    written = parse_lark(source, limits).document
    wanted = start or read_pragmas(tree.Document(source, (), remarks))[0].start or _start(written)
    outcome = read_lark(source, Setting(imports, None, wanted, limits))
    report = outcome.report
    losses = [loss.diagnostic(source) for loss in report.losses]
    found = [*report.errors, *report.notes, *losses]
    if outcome.document is None or report.errors:
        document = tree.Document(source, (), remarks, frozenset((wanted or "start",)))
    else:
        document = replace(outcome.document, comments=remarks)
        found += find_unused(written, wanted or "start")
    known = wanted if is_gbnf(source.text) else None
    return Parsed(document, tuple(sorted(found, key=Diagnostic.sort_key)), known)


def _start(document: lark.Document) -> str | None:
    names = [
        statement.name.value
        for statement in document.statements
        if isinstance(statement, lark.Definition)
        and not statement.name.is_terminal
        and not statement.template
    ]
    return None if "start" in names or not names else names[0]


def outline_lark(source: Source, limits: Limits) -> Outline:
    """Return where rules and terminals are defined and used; never raises."""
    definitions: list[tuple[lark.Name, Span]] = []
    bodies: list[lark.Expression] = []
    for statement in parse_lark(source, limits).document.statements:
        match statement:
            case lark.Definition():
                definitions.append((statement.name, statement.span))
                bodies.append(statement.body)
            case lark.Declare():
                definitions.extend((name, statement.span) for name in statement.names)
            case lark.Import():
                definitions.extend((name, statement.span) for _, name in statement.names)
            case lark.Ignore():
                bodies.append(statement.body)
    nodes = [node for body in bodies for node in lark.postorder(body)]
    names = (node.name for node in nodes if isinstance(node, lark.Use | lark.TemplateUse))
    patterns = ((node.span, node.raw) for node in nodes if isinstance(node, lark.Regexp))
    return Outline(
        tuple(Symbol(name.value, name.span, whole) for name, whole in definitions),
        tuple(Use(name.value, name.span) for name in names),
        tuple(patterns),
    )
