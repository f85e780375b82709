"""The entry points of the conversion: to a tree of KBNF, and to its text.

A structural tag lets generation go on as long as it allows more, so the result says ``finish=eos``.
"""

from typing import TYPE_CHECKING

from kbnf_core.diagnostics import Diagnostic
from kbnf_core.errors import GrammarError
from kbnf_core.languages.conversion.rewrite import at, placed
from kbnf_core.languages.conversion.verify import verified
from kbnf_core.languages.kbnf.language import KBNF
from kbnf_core.languages.structural_tag.read import Report, read_tag
from kbnf_core.languages.structural_tag.write import OF_SCHEMAS, START, write_rules
from kbnf_core.limits import DEFAULT_LIMITS, Limits
from kbnf_core.source import Source
from kbnf_core.syntax.conversion import Conversion, Loss
from kbnf_core.syntax.language import Parsed
from kbnf_core.syntax.printer import print_document
from kbnf_core.syntax.tree import Document

if TYPE_CHECKING:
    from kbnf_core.vocab.vocabulary import Vocabulary


def parse_structural_tag(source: Source, limits: Limits = DEFAULT_LIMITS) -> Parsed:
    """Read ``source`` into a tree of KBNF; never raises."""
    report = Report(source)
    nodes = read_tag(source, report, limits)
    rules = write_rules(nodes, report, limits, None) if nodes else ()
    broken = frozenset((START,)) if report.errors else frozenset[str]()
    kept = () if report.errors else tuple(placed(each, at(each.span)) for each in rules)
    generated = frozenset(report.span(node.pointer) for node in nodes if node.kind in OF_SCHEMAS)
    document = Document(source, kept, (), broken, generated)
    found = [*report.errors, *report.losses, *report.notes]
    return Parsed(document, tuple(sorted(found, key=Diagnostic.sort_key)))


def from_structural_tag(
    source: str,
    *,
    path: str | None = None,
    start: str | None = None,
    vocabulary: "Vocabulary | None" = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Conversion:
    """Return the KBNF for a structural tag of XGrammar's, a JSON text, also in its older form.

    ``path`` names the text in messages. With a ``vocabulary`` tokens that are named by their texts
    become ids, which all that excludes tokens needs. Raises ``GrammarError`` with all findings for
    a tag with errors; each finding begins with the JSON Pointer of its place.
    """
    del start  # there is but one; all converters take it
    text = Source(source, path)
    report = Report(text)
    nodes = read_tag(text, report, limits)
    rules = write_rules(nodes, report, limits, vocabulary) if nodes else ()
    if report.errors:
        errors = sorted(report.errors, key=Diagnostic.sort_key)
        raise GrammarError([*errors, *report.losses, *report.notes])
    body = print_document(Document(Source(""), rules, ()))
    converted = f"(* kbnf: finish=eos *)\n\n{body}"
    verified(converted, KBNF, limits, text)
    lost = sorted(report.losses, key=Diagnostic.sort_key)
    losses = tuple(Loss(each.code, each.message, each.span) for each in lost)
    return Conversion(converted, not losses, losses, tuple(report.notes))
