"""From text to grammar IR: the passes that every command and the engine begin with.

A ``Language`` is a value with a reader and, where it has one, a writer; a ``Reading`` is what is
known of a text in any of them. So converting is writing what was read: ``b.write(a.read(text))``.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from kbnf_core.config import NO_DEFAULTS, Defaults, Finish
from kbnf_core.ir import Grammar
from kbnf_core.kbnf.parsed import (
    NO_OPTIONS,
    Conversion,
    Loss,
    Marked,
    Parsed,
    Reader,
    Request,
    Rules,
)
from kbnf_core.kbnf.pragmas import Pragmas, read_pragmas
from kbnf_core.kbnf.tree import Document, Expression
from kbnf_core.text.budget import Budget
from kbnf_core.text.collecting import without_collecting
from kbnf_core.text.diagnostics import Diagnostic, Severity, unreadable
from kbnf_core.text.errors import ConfigError, GrammarError, WorkLimitError
from kbnf_core.text.imports import BELOW, Imports
from kbnf_core.text.limits import DEFAULT_LIMITS, Limits
from kbnf_core.text.source import NOWHERE, Source, Span

if TYPE_CHECKING:
    from kbnf_core.kbnf.outline import Outline
    from kbnf_core.lower.facts import Analysis
    from kbnf_core.vocab.vocabulary import Vocabulary

ENDLESS = "W308"
"""The finding that no text of a grammar ever ends."""

EFFORT = replace(DEFAULT_LIMITS, regex_states=1_000)
"""Automata of whole parts beyond this are left alone: questions about them stay unanswered."""


class Language(NamedTuple):
    """A grammar language.

    ``extension`` is that of its files, empty where files have none. ``start`` and ``finish`` hold
    where the text does not say otherwise; ``options`` are the names of further options of its
    reader, and ``check`` raises ``ConfigError`` for values that they cannot have. ``write`` is None
    for a language that nothing is converted to; ``dump`` makes a text of what a program may give
    instead of one, and ``complete`` adds the options that hold for that to those which are given;
    ``arrange`` prepares a tree for being printed as KBNF. Functions import what they need when they
    are called, so that a value costs nothing.

    Texts of a language that ``is_json`` are JSON. A language that ``is_converted`` has another
    structure than KBNF: its reader leaves out all to which the start does not lead, and its tree
    has places of the text, but not its form; so it has an ``outliner`` of its own. Fixes of lints
    are for languages that have KBNF's operators (``takes_fixes``).
    """

    name: str
    extension: str
    start: str
    finish: Finish
    reader: Reader
    write: "Callable[[Reading, Limits], Conversion] | None" = None
    options: tuple[str, ...] = ()
    is_converted: bool = False
    takes_fixes: bool = True
    outliner: "Callable[[Source, Limits], Outline] | None" = None
    is_json: bool = False
    arrange: Callable[[Document], Document] | None = None
    dump: Callable[[Any], str] | None = None
    complete: Callable[[Any, Mapping[str, Any]], dict[str, Any]] | None = None
    check: Callable[[Mapping[str, Any]], None] | None = None

    def check_options(self, options: Mapping[str, Any]) -> None:
        """Raise ``ConfigError`` for options that the language has not, or not so."""
        strange = sorted(options.keys() - set(self.options))
        if strange:
            known = ", ".join(sorted(self.options)) or "none"
            raise ConfigError(f"{self.name} has no option `{strange[0]}`; there are {known}")
        if self.check is not None:
            self.check(options)

    def text_of(self, source: Any) -> str:
        """Return what a program gives as a text. Raises ``ConfigError`` for what is none."""
        if self.dump is not None:
            return self.dump(source)
        if not isinstance(source, str):
            raise ConfigError(f"{self.name} is read from a text, not from {source!r}"[:200])
        return source

    def options_of(self, source: Any, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options for what a program gives: ``options``, and what holds without them."""
        return dict(options) if self.complete is None else self.complete(source, options)

    def outline(self, source: Source, limits: Limits) -> "Outline":
        """Return where names are defined and used; never raises."""
        if self.outliner is not None:
            return self.outliner(source, limits)
        # Only editors ask.
        from kbnf_core.kbnf.outline import outline_document

        return outline_document(self.parse(source, Request(limits=limits)).document)

    def parse(self, source: Source, request: Request) -> Parsed:
        """Parse ``source``; findings are in the result.

        Raises ``ConfigError`` for options that the language has not, or not so.
        """
        self.check_options(request.options)
        finding = unreadable(source, request.limits.source_bytes)
        if finding is not None:
            return Parsed(Document(source, (), ()), (finding,))
        return self.reader(source, request)


def _read_kbnf(source: Source, request: Request) -> Parsed:
    from kbnf_core.kbnf.read import parse_kbnf

    return parse_kbnf(source, request.limits)


INEXACT = frozenset(("W808", "I810"))
"""Findings that a grammar is not exactly its text, though nothing of it was dropped."""


def _write_kbnf(reading: "Reading", limits: Limits) -> Conversion:
    """Return a reading as KBNF. Raises ``GrammarError`` where the reading has errors."""
    from kbnf_core.languages.conversion.to_kbnf import print_kbnf

    del limits
    if reading.errors:
        raise GrammarError(reading.diagnostics)
    if reading.meaning is not None:
        text = reading.meaning.write()
    else:
        arrange = reading.language.arrange
        text = print_kbnf(
            reading.document if arrange is None else arrange(reading.document),
            reading.start,
            None if reading.pragmas.finish else reading.finish.value,
            reading.remark,
            keeps_names=reading.language.is_converted,
            origin=reading.language.name.lower().replace(" ", "-")
            if reading.language.is_json
            else "",
        )
    losses = tuple(
        loss._replace(message="; ".join((loss.message, *loss.notes)), notes=())
        for loss in reading.losses
    )
    notes = tuple(each for each in reading.diagnostics if not reading.is_loss(each))
    exact = not losses and not any(note.code in INEXACT for note in notes)
    return Conversion(text, exact, losses, notes)


KBNF = Language("KBNF", ".kbnf", "start", Finish.EAGER, _read_kbnf, _write_kbnf)


@dataclass(frozen=True, eq=False, repr=False)
class Reading:
    """What is known of a grammar text after reading it.

    ``document`` is its tree of KBNF, empty in a language without rules, whose ``meaning`` is known
    instead; spans are in the author's text. ``losses`` are what the grammar does not keep of the
    text, which are among the findings, too; ``remark`` is what a person who reads the grammar as
    KBNF should know. ``grammar`` and ``analysis`` are None where errors leave none. ``start``
    and ``finish`` are the settings in force: given ones, else the pragmas', else the defaults of
    the project (which ``finish_is_default`` tells of ``finish``), else those of the language.
    ``limits`` are those it was read with. ``lint`` returns the findings of the language's own
    lints, which readers of grammars do not ask for; ``marked`` is as in ``Parsed``.
    """

    language: Language
    document: Document
    pragmas: Pragmas
    start: str
    finish: Finish
    grammar: Grammar | None
    analysis: "Analysis | None"
    diagnostics: tuple[Diagnostic, ...]
    limits: Limits = DEFAULT_LIMITS
    finish_is_default: bool = False
    losses: tuple[Loss, ...] = ()
    remark: str = ""
    meaning: Rules | None = None
    lint: Callable[[], tuple[Diagnostic, ...]] = lambda: ()
    marked: Callable[[], Marked] | None = None

    @property
    def is_endless(self) -> bool:
        """Whether no text ever ends; ``grammar`` then has the rules of ``lower.endless``."""
        return any(finding.code == ENDLESS for finding in self.diagnostics)

    @property
    def errors(self) -> list[Diagnostic]:
        """The findings that make the grammar unusable."""
        return [d for d in self.diagnostics if d.severity is Severity.ERROR]

    def is_loss(self, finding: Diagnostic) -> bool:
        """Tell whether a finding says what the grammar does not keep of the text."""
        return any((finding.code, finding.span) == (loss.code, loss.span) for loss in self.losses)

    @cached_property
    def explained(self) -> Grammar | None:
        """The grammar with the names and places for people, which explanations are made of.

        The language is that of ``grammar``, and so are the rules where these are the author's.
        """
        if self.meaning is None or self.grammar is None:
            return self.grammar
        return Grammar(self.start, self.meaning.explained())

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
        return self.name_span(self.start)

    def name_span(self, name: str) -> Span:
        """Return where a nonterminal is defined first, or the start of the text."""
        return name_span(self.document, name, self.meaning)

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
    *,
    vocabulary: "Vocabulary | None" = None,
    lossy: bool = True,
    options: Mapping[str, Any] = NO_OPTIONS,
) -> Reading:
    """Parse and translate ``source``; findings are in the result.

    ``defaults`` are for KBNF, whose files can say what differs; the rest is that of ``Request``.
    Raises what ``Language.parse`` raises, nothing else.
    """
    # Here, since every command knows the languages, and few read a text.
    from kbnf_core.lower.facts import analyse
    from kbnf_core.lower.translate import translate

    if language.is_json:
        source = replace(source, is_json=True)
    request = Request(start, limits, imports, vocabulary, lossy, options)
    parsed = language.parse(source, request)
    document, meaning = parsed.document, parsed.meaning
    pragmas, oddities = read_pragmas(document)
    if language is not KBNF:
        defaults = NO_DEFAULTS
    start = parsed.start or start or pragmas.start or defaults.start or language.start
    lost = [loss.diagnostic(source) for loss in parsed.losses]
    found = [*sorted([*parsed.diagnostics, *lost], key=Diagnostic.sort_key), *oddities]
    grammar, analysis = None, None
    budget = Budget(limits.work)
    try:
        if meaning is None:
            grammar, problems = translate(document, start, limits, budget=budget)
            found.extend(problems)
        else:
            grammar = Grammar(start, meaning.rules)
        if any(d.severity is Severity.ERROR for d in found):
            grammar = None
        if grammar is not None:
            analysis = analyse(grammar, budget)
            if not analysis.facts[start].filled:
                if meaning is None:
                    grammar, analysis, finding = _without_finite_texts(
                        document, grammar, analysis, budget
                    )
                else:
                    grammar, analysis, finding = None, None, meaning.empty()
                found.append(finding)
    except WorkLimitError as error:
        found.append(too_much_work(document, error, meaning))
        grammar = analysis = None
    own = finish or (Finish(pragmas.finish) if pragmas.finish else None)
    in_force = own or defaults.finish or parsed.finish or language.finish
    return Reading(
        language,
        document,
        pragmas,
        start,
        in_force,
        grammar,
        analysis,
        tuple(found),
        limits,
        finish_is_default=own is None and defaults.finish is not None,
        losses=parsed.losses,
        remark=parsed.remark,
        meaning=meaning,
        lint=parsed.lint,
        marked=parsed.marked,
    )


def _without_finite_texts(
    document: Document, grammar: Grammar, analysis: "Analysis", budget: Budget
) -> "tuple[Grammar | None, Analysis | None, Diagnostic]":
    """Return what is left of a grammar without finite texts to generate, and the finding for it."""
    from kbnf_core.lower.endless import endless_grammar
    from kbnf_core.lower.facts import analyse

    # The empty text is a finite one: beside it, what never ends is cut, and nothing is left.
    is_empty_text = analysis.facts[grammar.start].nullable
    endless = None if is_empty_text else endless_grammar(grammar, analysis, budget)
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


def _empty_language(document: Document, start: str, analysis: "Analysis") -> Diagnostic:
    what, alternatives = "no text matches", "matches nothing"
    if analysis.facts[start].nullable:
        what, alternatives = "only the empty text matches", "is empty, never ends"
    return Diagnostic(
        "E105",
        f"{what} the start nonterminal `{start}`",
        document.source,
        name_span(document, start),
        label="nothing can be generated from here",
        notes=(f"every alternative {alternatives}, or calls itself before any other symbol",),
        helps=("give it an alternative that ends in terminals",),
    )


def nothing_kept(
    reading: Reading, losses: Sequence[Loss], target: Language
) -> tuple[Diagnostic, ...]:
    """Return why nothing of a grammar can be written in another language."""
    source = reading.document.source
    return (
        Diagnostic(
            "E105",
            f"no text of the start nonterminal `{reading.start}` can be written in {target.name}",
            source,
            reading.start_span,
        ),
        *(loss.diagnostic(source) for loss in losses),
    )


def too_large(reading: Reading, name: str) -> Diagnostic:
    """Return the finding that the states of all rules passed the limit in the part ``name``."""
    return Diagnostic(
        "E106",
        f"the grammar needs more than {reading.limits.grammar_states:,} states",
        reading.document.source,
        reading.name_span(name),
        label="the limit was passed in this rule",
        helps=("lower its repetition counts, or raise `Limits.grammar_states`",),
    )


def too_much_work(
    document: Document, error: WorkLimitError, meaning: Rules | None = None
) -> Diagnostic:
    """Return the finding that reading or building took more work than allowed."""
    return Diagnostic(
        "E107",
        f"the grammar takes more than {error.limit:,} steps of work",
        document.source,
        name_span(document, error.part, meaning),
        label="the limit was passed in this rule",
        helps=("make the rule smaller, or lower its counts; or raise `Limits.work`",),
    )


def name_span(document: Document, name: str, meaning: Rules | None = None) -> Span:
    """Return where ``name`` is defined first, or the start of the text.

    ``name`` may be that of a part of a large rule.
    """
    rule = name.partition("#")[0]
    return document.first_names.get(rule, NOWHERE) if meaning is None else meaning.place(rule)
