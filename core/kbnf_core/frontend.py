"""From text to grammar IR: the passes that every command and the engine begin with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from kbnf_core.budget import Budget
from kbnf_core.collecting import without_collecting
from kbnf_core.config import NO_DEFAULTS, Defaults, Finish
from kbnf_core.diagnostics import Diagnostic, Severity
from kbnf_core.errors import WorkLimitError
from kbnf_core.imports import BELOW, Imports
from kbnf_core.ir import Grammar
from kbnf_core.languages.kbnf.language import KBNF
from kbnf_core.limits import DEFAULT_LIMITS, Limits
from kbnf_core.lower.analyse import Analysis, analyse
from kbnf_core.lower.translate import translate
from kbnf_core.source import Source, Span
from kbnf_core.syntax.language import Language
from kbnf_core.syntax.pragmas import Pragmas, read_pragmas
from kbnf_core.syntax.tree import Document, Expression

ENDLESS = "W308"
"""The finding that no text of a grammar ever ends."""

EFFORT = replace(DEFAULT_LIMITS, regex_states=1_000)
"""Automata of whole parts beyond this are left alone: questions about them stay unanswered."""


@dataclass(frozen=True, eq=False)
class Reading:
    """What is known of a grammar text after reading it.

    ``grammar`` and ``analysis`` are None where errors leave none. ``start`` and ``finish`` are
    the settings in force: given ones, else the pragmas', else the defaults of the project (which
    ``finish_is_default`` tells of ``finish``), else those of the language.
    """

    language: Language
    document: Document
    pragmas: Pragmas
    start: str
    finish: Finish
    grammar: Grammar | None
    analysis: Analysis | None
    diagnostics: tuple[Diagnostic, ...]
    finish_is_default: bool = False

    @property
    def is_endless(self) -> bool:
        """Whether no text ever ends; ``grammar`` then has the rules of ``lower.endless``."""
        return any(finding.code == ENDLESS for finding in self.diagnostics)

    @property
    def errors(self) -> list[Diagnostic]:
        """The findings that make the grammar unusable."""
        return [d for d in self.diagnostics if d.severity is Severity.ERROR]

    @cached_property
    def written(self) -> Mapping[Span, Sequence[Expression]]:
        """The nodes of the syntax tree by their spans, parts before wholes."""
        found: dict[Span, list[Expression]] = {}
        for node in self.document.nodes():
            found.setdefault(node.span, []).append(node)
        return found

    @property
    def start_span(self) -> Span:
        """Where the start is defined first."""
        return name_span(self.document, self.start)

    def finding(self, code: str, message: str, span: Span, **parts: Any) -> Diagnostic:
        """Return a finding about the text; ``parts`` are further fields of it."""
        return Diagnostic(code, message, self.document.source, span, **parts)


@without_collecting()
def read_grammar(
    source: Source,
    start: str | None = None,
    finish: Finish | None = None,
    limits: Limits = DEFAULT_LIMITS,
    language: Language = KBNF,
    imports: Imports = BELOW,
    defaults: Defaults = NO_DEFAULTS,
) -> Reading:
    """Parse and translate ``source``; never raises, findings are in the result.

    ``defaults`` are for KBNF, whose files can say what differs.
    """
    parsed = language.read(source, limits, start, imports)
    pragmas, oddities = read_pragmas(parsed.document)
    if language is not KBNF:
        defaults = NO_DEFAULTS
    start = parsed.start or start or pragmas.start or defaults.start or language.start
    found = [*parsed.diagnostics, *oddities]
    grammar, analysis = None, None
    budget = Budget(limits.work)
    try:
        grammar, problems = translate(parsed.document, start, limits, budget=budget)
        found.extend(problems)
        if any(d.severity is Severity.ERROR for d in found):
            grammar = None
        if grammar is not None:
            analysis = analyse(grammar, budget)
            if not analysis.facts[start].filled:
                grammar, analysis, finding = _without_finite_texts(
                    parsed.document, grammar, analysis, budget
                )
                found.append(finding)
    except WorkLimitError as error:
        found.append(too_much_work(parsed.document, error))
        grammar = analysis = None
    own = finish or (Finish(pragmas.finish) if pragmas.finish else None)
    in_force = own or defaults.finish or language.finish
    return Reading(
        language,
        parsed.document,
        pragmas,
        start,
        in_force,
        grammar,
        analysis,
        tuple(found),
        finish_is_default=own is None and defaults.finish is not None,
    )


def _without_finite_texts(
    document: Document, grammar: Grammar, analysis: Analysis, budget: Budget
) -> tuple[Grammar | None, Analysis | None, Diagnostic]:
    """Return what is left of a grammar without finite texts, and the finding that says so."""
    from kbnf_core.lower.endless import endless_grammar

    endless = endless_grammar(grammar, analysis, budget)
    if endless is None:
        return None, None, _empty_language(document, grammar.start, analysis)
    finding = _endless_language(document, grammar.start)
    return endless, analyse(endless, budget), finding


def _endless_language(document: Document, start: str) -> Diagnostic:
    return Diagnostic(
        ENDLESS,
        f"no text of the start nonterminal `{start}` ever ends",
        document.source,
        name_span(document, start),
        notes=("generation goes on until the tokens run out; no `finish` ends it",),
        helps=("give it an alternative that ends in terminals, if there is to be an end",),
    )


def _empty_language(document: Document, start: str, analysis: Analysis) -> Diagnostic:
    what = "only the empty text matches" if analysis.facts[start].nullable else "no text matches"
    return Diagnostic(
        "E105",
        f"{what} the start nonterminal `{start}`",
        document.source,
        name_span(document, start),
        label="nothing can be generated from here",
        notes=("every alternative is empty, or calls itself before anything else can come",),
        helps=("give it an alternative that ends in terminals",),
    )


def not_converted(reading: Reading) -> tuple[Diagnostic, ...]:
    """Return why a grammar cannot be written in another language, whose texts are finite."""
    if not reading.is_endless:
        return reading.diagnostics
    message = f"no text of the start nonterminal `{reading.start}` ever ends: none can be kept"
    place = name_span(reading.document, reading.start)
    helps = ("give it an alternative that ends in terminals",)
    return (Diagnostic("E105", message, reading.document.source, place, helps=helps),)


def too_large(reading: Reading, name: str, limits: Limits) -> Diagnostic:
    """Return the finding that the states of all rules passed the limit in the part ``name``."""
    return Diagnostic(
        "E106",
        f"the grammar needs more than {limits.grammar_states:,} states",
        reading.document.source,
        name_span(reading.document, name.partition("#")[0]),
        label="the limit was passed in this rule",
        helps=("lower its repetition counts, or raise `Limits.grammar_states`",),
    )


def too_much_work(document: Document, error: WorkLimitError) -> Diagnostic:
    """Return the finding that reading or building took more work than allowed."""
    return Diagnostic(
        "E107",
        f"the grammar takes more than {error.limit:,} steps of work",
        document.source,
        name_span(document, error.part.partition("#")[0]),
        label="the limit was passed in this rule",
        helps=("make the rule smaller, or lower its counts; or raise `Limits.work`",),
    )


def name_span(document: Document, name: str) -> Span:
    """Return where ``name`` is defined first, or the start of the text."""
    return document.first_names.get(name, Span(0, 0))
