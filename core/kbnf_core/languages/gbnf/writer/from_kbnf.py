"""From KBNF to GBNF, as llama.cpp reads it.

The definitions are unfolded to what GBNF can say, then rewritten until llama.cpp takes them:
nothing repeats what may be empty, nothing is left recursive, no count is above its limit. What
is lost on the way is said, with a text that shows it where one can be found.
"""

from dataclasses import replace

from kbnf_core.config import Finish
from kbnf_core.errors import GrammarError
from kbnf_core.expression import Choice
from kbnf_core.frontend import Language, Reading, not_converted, read_grammar
from kbnf_core.ir import Grammar
from kbnf_core.languages.conversion.evidence import example_of_loss, going_on
from kbnf_core.languages.conversion.layout import Style, Written, lay_out
from kbnf_core.languages.conversion.names import TABLE_HEAD, gbnf_names
from kbnf_core.languages.gbnf.writer.eliminate_left_recursion import eliminate_left_recursion
from kbnf_core.languages.gbnf.writer.expression import Node, Rules, prune
from kbnf_core.languages.gbnf.writer.llama_limits import keep_limits
from kbnf_core.languages.gbnf.writer.nonempty import generate_nonempty, repeat_nonempty
from kbnf_core.languages.gbnf.writer.print import print_gbnf
from kbnf_core.languages.gbnf.writer.unfold import Unfolder
from kbnf_core.limits import DEFAULT_LIMITS, Limits
from kbnf_core.lower.analyse import analyse
from kbnf_core.source import Source, Span
from kbnf_core.syntax.conversion import Conversion, Loss
from kbnf_core.syntax.tree import Comment, Document


def write_gbnf(reading: Reading, gbnf: Language, limits: Limits = DEFAULT_LIMITS) -> Conversion:
    """Return the GBNF for a reading, whose start becomes ``root``.

    Raises ``GrammarError`` with all findings for a text with errors, and where nothing of it can
    be kept.
    """
    if reading.grammar is None or reading.is_endless:
        raise GrammarError(not_converted(reading))
    rules, lost = _rules(reading, reading.grammar, limits)
    text = _print(reading, rules, gbnf.start)
    if lost:
        # What was written is read again, for a text on which the two grammars differ.
        converted = read_grammar(Source(text), limits=limits, language=gbnf)
        if converted.grammar is not None:
            example = example_of_loss(reading.grammar, converted.grammar, limits)
            lost = [replace(loss, example=example) for loss in lost]
    losses = (*reading.losses, *lost, *_finish_losses(reading, reading.grammar, limits))
    return Conversion(text, not losses, losses, reading.diagnostics)


def _rules(reading: Reading, grammar: Grammar, limits: Limits) -> tuple[Rules, list[Loss]]:
    """Return the rules of the converted grammar, and what they lost."""
    unfolder = Unfolder(grammar, limits)
    reachable = analyse(grammar).reachable
    for definition in reading.document.definitions:
        unfolder.add(definition)
    rules = unfolder.rules
    written = [definition.name.value for definition in reading.document.definitions]
    prune(rules, written)
    if reading.start not in rules:
        source = reading.document.source
        lost = (loss for each in unfolder.losses.values() for loss in each)
        raise GrammarError([loss.diagnostic(source) for loss in lost])
    if reading.finish is not Finish.EOS:
        # One byte is always generated, so the empty text is none of the original's.
        generate_nonempty(rules, reading.start)
    repeat_nonempty(rules)
    eliminate_left_recursion(rules)
    prune(rules, written)
    keep_limits(rules)
    lost_parts = (unfolder.losses[name] for name in unfolder.losses if name in reachable)
    return rules, [loss for part in lost_parts for loss in part]


def _finish_losses(reading: Reading, grammar: Grammar, limits: Limits) -> list[Loss]:
    """Return the W403 of a grammar that ends before llama.cpp does."""
    if reading.finish is Finish.EOS:
        return []
    found = going_on(grammar, limits)
    if not found.may_be:
        return []
    if found.example is None:
        message = (
            "generation ends at the first complete text, and llama.cpp may go on; it could not be "
            "shown that no text goes on to another one"
        )
    else:
        message = "generation ends at the first complete text, and llama.cpp may go on"
    span = reading.name_span(reading.start)
    return [Loss("W403", message, span, found.example)]


def _print(reading: Reading, rules: Rules, start: str) -> str:
    document = reading.document
    names = gbnf_names(rules, {reading.start: start})
    places = _places(document)
    written: list[Written] = []
    span = Span(0, 0)
    for name in _in_order(rules, document):
        span, branches = places.get(name, (span, ()))
        written.append(_written(names[name], rules[name], names, span, branches))
    comments = [c for c in document.comments if not _is_setting(c)]
    return lay_out(document.source, written, comments, Style(_comment, "", bar_first=False))


def _places(document: Document) -> dict[str, tuple[Span, tuple[Span, ...]]]:
    """Return where each name is defined first, and the branches of all its definitions."""
    found: dict[str, tuple[Span, tuple[Span, ...]]] = {}
    for definition in document.definitions:
        span, branches = found.get(definition.name.value, (definition.span, ()))
        places = (*branches, *(branch.span for branch in definition.branches))
        found[definition.name.value] = (span, places)
    return found


def _in_order(rules: Rules, document: Document) -> list[str]:
    """Return the names of all rules, those that were made for another one behind it."""
    written = dict.fromkeys(definition.name.value for definition in document.definitions)
    made: dict[str, list[str]] = {name: [] for name in written}
    for name in rules:
        if name not in written:
            made[name.split("-", maxsplit=1)[0]].append(name)
    return [each for name in written if name in rules for each in (name, *made[name])]


def _written(
    name: str, body: Node, names: dict[str, str], span: Span, places: tuple[Span, ...]
) -> Written:
    branches = body.branches if isinstance(body, Choice) and body.branches else (body,)
    if len(branches) != len(places):
        places = (Span(span.end, span.end),) * len(branches)
    return Written(name, tuple(print_gbnf(branch, names) for branch in branches), places, span)


def _is_setting(comment: Comment) -> bool:
    """Tell whether a comment speaks of the KBNF text only: a pragma, or a table of new names."""
    return comment.text.strip().startswith(("kbnf:", TABLE_HEAD))


def _comment(text: str) -> str:
    """Return a comment of GBNF, a line for every line."""
    return "\n".join(f"# {line.strip()}".rstrip() for line in text.strip().splitlines()) or "#"
