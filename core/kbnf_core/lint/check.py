"""Checks a grammar text: its errors, then the findings of all lints, in their order.

``LINTS`` is the list of lints, ``run_lints`` runs them, and their fixes are applied here, too: none
that would lose a comment.

Tests: tests/unit/lint/test_languages.py, tests/unit/lint/test_lark_files.py
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from kbnf_core.config import NO_DEFAULTS, Defaults, Finish
from kbnf_core.frontend import Reading, read_grammar
from kbnf_core.kbnf.parsed import NO_OPTIONS as NO_LANGUAGE_OPTIONS
from kbnf_core.kbnf.parsed import Request
from kbnf_core.kbnf.pragmas import Ignore
from kbnf_core.kernel import has_engine
from kbnf_core.languages import KBNF, Language, as_language, language_of
from kbnf_core.lint import NO_OPTIONS, LintOptions
from kbnf_core.lint.rules import (
    ambiguity,
    beyond_ascii,
    cost,
    cut_by_eager,
    default_finish,
    duplicates,
    empty_loops,
    escapes,
    exceptions,
    large_terminal,
    lost_backslash,
    names,
    never_entered,
    never_reached,
    nullable_start,
    overlaps,
    phrase_in_class,
    recursive_lists,
    regex_in_text,
    spelling,
    targets,
    triple_quotes,
    unbounded_loops,
    unproductive,
    unreachable_end,
    unused_number,
)
from kbnf_core.lint.subject import Needs, Subject
from kbnf_core.text.diagnostics import Diagnostic, Fix, Rule, Severity, TextEdit
from kbnf_core.text.errors import WorkLimitError
from kbnf_core.text.files import BELOW, Imports
from kbnf_core.text.limits import DEFAULT_LIMITS, Limits
from kbnf_core.text.source import NOWHERE, Source, Span


def check(
    text: str,
    path: str | None = None,
    *,
    start: str | None = None,
    finish: Finish | str | None = None,
    limits: Limits = DEFAULT_LIMITS,
    language: Language | str | None = None,
    options: LintOptions = NO_OPTIONS,
    imports: Imports = BELOW,
    defaults: Defaults = NO_DEFAULTS,
    language_options: Mapping[str, Any] = NO_LANGUAGE_OPTIONS,
) -> list[Diagnostic]:
    """Return all findings about a grammar text, in order of position.

    ``start`` and ``finish`` win over the text's pragmas, and these over ``defaults``; ``path``
    names it in messages. Where no ``language`` is given (by name, too), the extension of ``path``
    decides, and KBNF is the default. ``imports`` says which files the text may import;
    ``language_options`` are those of the language, as in ``Grammar.read``. Findings that an
    ``ignore[...]`` pragma names are left out, and a pragma that silences nothing is a finding
    itself. Raises ``ConfigError`` for an impossible ``finish`` or option only.
    """
    wanted = None if finish is None else Finish.parse(finish)
    language = as_language(language) if language else language_of(path)
    options = _answerable(options)
    # A construct that is kept only if another one is dropped is an error, as for readers of the
    # text.
    request = Request(
        start,
        wanted,
        limits,
        imports,
        defaults,
        options.vocabulary,
        lossy=False,
        options=language_options,
    )
    return findings_of(read_grammar(Source(text, path), language, request), options)


def findings_of(reading: Reading, options: LintOptions = NO_OPTIONS) -> list[Diagnostic]:
    """Return all findings about a grammar that was read, in order of position.

    Where there is no engine (``kernel.has_engine``), those that need it are left out: W307, E601,
    and all that ``options`` asks about a vocabulary, costs and budgets.
    """
    result = [
        *reading.diagnostics,
        *reading.parsed.lint(),
        *run_lints(reading, _answerable(options)),
    ]
    if any(loss.code == _NO_VOCABULARY for loss in reading.losses):
        # Which texts are complete depends on tokens that are not known.
        result = [finding for finding in result if finding.code not in _CUT]
    return sorted(_apply_ignores(result, reading), key=Diagnostic.sort_key)


def _answerable(options: LintOptions) -> LintOptions:
    return options if has_engine() else options.without_engine()


_NO_VOCABULARY = "W405"
_CUT = frozenset(("W304", "W307"))


def _apply_ignores(findings: list[Diagnostic], reading: Reading) -> Iterator[Diagnostic]:
    ignored = {(ignore.code, ignore.line) for ignore in reading.pragmas.ignores}
    silenced: set[tuple[str, int]] = set()
    for diagnostic in findings:
        position = diagnostic.code, diagnostic.source.position(diagnostic.span.start).line
        if position in ignored:
            silenced.add(position)
        else:
            yield diagnostic
    for ignore in reading.pragmas.ignores:
        if (ignore.code, ignore.line) not in silenced:
            yield _unused_ignore(reading, ignore)


def _unused_ignore(reading: Reading, ignore: Ignore) -> Diagnostic:
    return reading.finding(
        "W003",
        f"this `ignore[{ignore.code}]` silences nothing",
        ignore.span,
        helps=(f"there is no {ignore.code} on line {ignore.line}; remove it",),
    )


class Lint(Protocol):
    """The contents of a module of `rules/`."""

    @property
    def RULES(self) -> tuple[Rule, ...]:  # noqa: N802 - a constant of a module
        """The codes that it reports; each has a page beside the module, `NAME.CODE.md`."""
        ...

    @property
    def NEEDS(self) -> Needs:  # noqa: N802 - a constant of a module
        """The input that the lint needs to run."""
        ...

    def check(self, subject: Subject, /) -> Iterator[Diagnostic]:
        """Yield the findings."""
        ...


SEARCHES: tuple[Lint, ...] = (ambiguity, cut_by_eager, overlaps)
"""Lints that compare what rules match, which in a large grammar may not come to an end."""

LINTS: tuple[Lint, ...] = (
    beyond_ascii,
    default_finish,
    duplicates,
    empty_loops,
    escapes,
    exceptions,
    large_terminal,
    lost_backslash,
    names,
    never_entered,
    never_reached,
    nullable_start,
    phrase_in_class,
    recursive_lists,
    regex_in_text,
    unbounded_loops,
    unproductive,
    unused_number,
    targets,
    triple_quotes,
    spelling,
    unreachable_end,
    cost,
    # Searches, which may use up what there is to spend.
    *SEARCHES,
)
"""All lints, in the order in which they share their budget."""


_OF_RULES = (cost, unbounded_loops)
"""Lints that need no tree."""


def run_lints(reading: Reading, options: LintOptions) -> Iterator[Diagnostic]:
    """Yield the findings of the lints, and those that ``options`` ask for.

    For converted languages fixes are dropped, and each (code, span) is reported once, because
    conversion clones rules; so does writing out families. Of rules that a conversion generated only
    errors are reported, because nobody wrote them.
    """
    result = _run(Subject(reading, options))
    if not reading.language.takes_fixes or reading.language.is_json:
        result = (replace(finding, fixes=()) for finding in result)
    if reading.language.is_converted or reading.has_families:
        first = {(finding.code, finding.span): finding for finding in reversed(list(result))}
        return reversed(first.values())
    return result


def _run(subject: Subject) -> Iterator[Diagnostic]:
    # A schema has no rules that somebody wrote: of its grammar only the cost is a finding, and what
    # never ends. Its text as KBNF is not searched for what could be written otherwise.
    lints = LINTS if subject.has_tree else _OF_RULES
    if subject.reading.parsed.is_written and not subject.has_tree:
        for rule in (rule for lint in LINTS if lint not in _OF_RULES for rule in lint.RULES):
            subject.stop(rule.code, "its rules are too large to be written", NOWHERE)
    if subject.reading.pragmas.origin is not None:
        lints = tuple(lint for lint in lints if lint not in SEARCHES)
    for lint in lints:
        if subject.has(lint.NEEDS):
            try:
                subject.budget.spend()
                findings = lint.check(subject)
                # An endless loop lets texts run on, whatever the language of its rule.
                keeps_generated = lint is unbounded_loops and subject.reading.language.is_json
                yield from (
                    finding
                    for finding in findings
                    if keeps_generated or not subject.is_generated(finding)
                )
            except WorkLimitError:
                for rule in lint.RULES:
                    subject.stop(rule.code, subject.budget.why, subject.reading.start_span)
    if subject.obstacle is not None:
        yield subject.obstacle
    stopped = subject.stopped()
    if stopped is not None and subject.reading.pragmas.origin is None:
        yield stopped


MAX_ROUNDS = 20
"""Rounds of fixing; fixes that keep calling for others end there."""

Find = Callable[[str], Sequence[Diagnostic]]
"""Returns the findings about a text."""


@dataclass(frozen=True, slots=True)
class Fixed:
    """A text after fixing, and the findings whose fixes were applied, in that order."""

    text: str
    applied: tuple[Diagnostic, ...]


def fix_text(text: str, find: Find, *, unsafe: bool = False, language: Language = KBNF) -> Fixed:
    """Apply the fixes that ``find`` offers for ``text`` and its results, until none are left.

    ``language`` is that of the text, which decides where comments are. Without ``unsafe``, only
    fixes that keep the language are applied. A round that would lead to more errors than there were
    is not applied. Ends after ``MAX_ROUNDS`` in any case.
    """
    applied: list[Diagnostic] = []
    findings = find(text)
    for _ in range(MAX_ROUNDS):
        chosen = _choose(findings, unsafe, language)
        if not chosen:
            break
        changed = _apply(text, [edit for _, fix in chosen for edit in fix.edits])
        then = find(changed)
        if _errors(then) > _errors(findings):
            break
        applied.extend(diagnostic for diagnostic, _ in chosen)
        text, findings = changed, then
    return Fixed(text, tuple(applied))


def _choose(
    findings: Sequence[Diagnostic], unsafe: bool, language: Language
) -> list[tuple[Diagnostic, Fix]]:
    """Return the first fix of each finding, those left out that touch an earlier one."""
    comments = _comments(findings[0].source, language) if findings else []
    taken: list[TextEdit] = []
    chosen = []
    for diagnostic in sorted(findings, key=Diagnostic.sort_key):
        fix = next((fix for fix in diagnostic.fixes if fix.safe or unsafe), None)
        if fix is None or any(_loses(edit, diagnostic.source, comments) for edit in fix.edits):
            continue
        if not any(_touch(edit, other) for edit in fix.edits for other in taken):
            taken.extend(fix.edits)
            chosen.append((diagnostic, fix))
    return chosen


def _comments(source: Source, language: Language) -> list[Span]:
    if language.is_json:
        return []
    return [comment.span for comment in language.parse(source, Request()).document.comments]


def _loses(edit: TextEdit, source: Source, comments: list[Span]) -> bool:
    return any(
        span.start < edit.span.end
        and edit.span.start < span.end
        and source.slice(span) not in edit.replacement
        for span in comments
    )


def _touch(first: TextEdit, second: TextEdit) -> bool:
    """Return whether two edits overlap or meet: where they meet, their order would matter."""
    return first.span.start <= second.span.end and second.span.start <= first.span.end


def _apply(text: str, edits: list[TextEdit]) -> str:
    for edit in sorted(edits, key=lambda edit: edit.span, reverse=True):
        text = text[: edit.span.start] + edit.replacement + text[edit.span.end :]
    return text


def _errors(findings: Sequence[Diagnostic]) -> int:
    return sum(diagnostic.severity is Severity.ERROR for diagnostic in findings)
