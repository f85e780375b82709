"""From text to grammar IR: the passes that every command and the engine begin with.

A ``Language`` has a reader and, where it is a target of conversions, a writer; a ``Reading`` is the
result of reading a text in any of them. So converting is writing a ``Reading``.

Tests: tests/unit/test_one_road.py
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from kbnf_core.config import NO_DEFAULTS, Finish
from kbnf_core.ir import GrammarRules, Regular, postorder
from kbnf_core.kbnf.parsed import (
    NO_ATTRIBUTES,
    PLAIN_REQUEST,
    Attributes,
    Conversion,
    Loss,
    Parsed,
    Request,
)
from kbnf_core.kbnf.pragmas import Pragmas, read_pragmas
from kbnf_core.kbnf.tree import Document, Expression
from kbnf_core.text.budget import Budget
from kbnf_core.text.collecting import without_collecting
from kbnf_core.text.diagnostics import Diagnostic, Severity, unreadable
from kbnf_core.text.errors import ConfigError, GrammarError, WorkLimitError
from kbnf_core.text.files import Imports
from kbnf_core.text.limits import DEFAULT_LIMITS, Limits
from kbnf_core.text.locks import cached_property
from kbnf_core.text.source import Source, Span

if TYPE_CHECKING:
    from kbnf_core.kbnf.outline import Outline
    from kbnf_core.lower.facts import Analysis

ENDLESS = "W308"
"""The finding that no text of a grammar ever ends."""

EFFORT = replace(DEFAULT_LIMITS, regex_states=1_000)
"""Automata of whole parts beyond this are left alone: questions about them stay unanswered."""


class Language(ABC):
    """A grammar language: a subclass with one value.

    ``extension`` is that of its files, empty where files have none. ``start`` and ``finish`` apply
    where the text does not say otherwise; ``options`` are the names of further options of its
    reader. Methods import what they need, so that a value costs nothing.

    Texts of a language that ``is_json`` are JSON. A language that ``is_converted`` has another
    structure than KBNF: its reader leaves out all to which the start does not lead, and its tree
    has places of the text, but not its form; so it has an ``outline`` of its own. Fixes of lints
    are for languages that have KBNF's operators (``takes_fixes``). A language that ``is_target``
    has a writer.
    """

    name: str
    extension = ""
    start = "start"
    finish = Finish.EOS
    options: tuple[str, ...] = ()
    is_converted = False
    takes_fixes = True
    is_json = False
    is_target = False

    @abstractmethod
    def read(self, source: Source, request: Request) -> Parsed:
        """Parse a readable text.

        Raises ``ConfigError`` for invalid options, and ``WorkLimitError`` for too large a text.
        """

    def write(self, reading: "Reading", limits: Limits) -> Conversion:
        """Return a reading in this language. Raises ``GrammarError`` where it cannot be written."""
        del reading, limits
        raise ConfigError(f"nothing is converted to {self.name}")

    def arrange(self, document: Document) -> Document:
        """Return a tree as it is printed as KBNF."""
        return document

    def text_of(self, source: Any) -> str:
        """Return what a program gives as a text. Raises ``ConfigError`` for any other value."""
        if not isinstance(source, str):
            raise ConfigError(f"{self.name} is read from a text, not from {source!r}"[:200])
        return source

    def self_contained(self, text: str, path: str | None, imports: Imports) -> str:
        """Return a text with the files that it refers to, as far as it can have them in it."""
        del path, imports
        return text

    def imports_in(self, text: str) -> bool:
        """Whether a text may have rules in other files, which ``self_contained`` does not add."""
        del text
        return False

    def uses_vocabulary(self, text: str, options: Mapping[str, Any]) -> bool:
        """Whether the reading of a text depends on the vocabulary in its request."""
        del text, options
        return False

    def options_of(self, source: Any, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options for what a program gives: these, and those in force anyway."""
        del source
        return dict(options)

    def check_options(self, options: Mapping[str, Any]) -> None:
        """Raise ``ConfigError`` for options that the language has not, or not so."""
        strange = sorted(options.keys() - set(self.options))
        if strange:
            names = ", ".join(sorted(self.options)) or "none"
            raise ConfigError(f"{self.name} has no option `{strange[0]}`; there are {names}")

    def attributes(self, source: Source, limits: Limits) -> Attributes:
        """Return the properties of rules that decide no text."""
        del source, limits
        return NO_ATTRIBUTES

    def outline(self, source: Source, limits: Limits) -> "Outline":
        """Return where names are defined and used; never raises."""
        # Only editors ask.
        from kbnf_core.kbnf.outline import NOTHING, outline_document

        parsed = self.parse(source, Request(limits=limits))
        # Nobody wrote the names of rules that were made of a text.
        return outline_document(parsed.document) if parsed.rules is None else NOTHING

    def parse(self, source: Source, request: Request) -> Parsed:
        """Parse ``source``; findings are in the result.

        Raises ``ConfigError`` for options that the language has not, or not so.
        """
        self.check_options(request.options)
        finding = unreadable(source, request.limits.source_bytes)
        if finding is not None:
            return Parsed(Document(source, (), ()), (finding,))
        try:
            return self.read(source, request)
        except WorkLimitError as error:
            nothing = Parsed(Document(source, (), ()), ())
            return Parsed(nothing.document, (too_much_work(nothing, error),))


INEXACT = frozenset(("W808", "I810"))
"""Findings that a grammar is not exactly its text, though nothing of it was dropped."""


class _Kbnf(Language):
    name = "KBNF"
    extension = ".kbnf"
    finish = Finish.EAGER
    is_target = True

    def read(self, source: Source, request: Request) -> Parsed:
        from kbnf_core.kbnf.read import parse_kbnf

        return parse_kbnf(source, request.limits)

    def write(self, reading: "Reading", limits: Limits) -> Conversion:
        del limits
        if reading.errors:
            raise GrammarError(reading.diagnostics)
        text = _printed(reading, reading.language.arrange(reading.document))
        losses = tuple(
            loss._replace(message="; ".join((loss.message, *loss.notes)), notes=())
            for loss in reading.losses
        )
        notes = tuple(finding for finding in reading.diagnostics if not reading.is_loss(finding))
        exact = not losses and not any(note.code in INEXACT for note in notes)
        return Conversion(text, exact, losses, notes)

    def text_to(self, reading: "Reading", rule: str) -> str:
        """Return the text that ``write`` makes, up to the last definition of a rule.

        The language of the reading is one that ``is_converted``, whose names are kept.
        """
        document = reading.language.arrange(reading.document)
        names = [definition.name.value for definition in document.definitions]
        last = len(names) - names[::-1].index(rule)
        return _printed(reading, replace(document, definitions=document.definitions[:last]))


def _printed(reading: "Reading", document: Document) -> str:
    """Return a tree of a reading as KBNF."""
    from kbnf_core.conversion.to_kbnf import print_kbnf

    language = reading.language
    return print_kbnf(
        document,
        reading.start,
        None if reading.pragmas.finish else reading.finish.value,
        reading.parsed.remark,
        keeps_names=language.is_converted,
        origin=language.name.lower().replace(" ", "-") if language.is_json else "",
    )


KBNF = _Kbnf()


_READ_BYTES = 64
"""The memory of a tree and its rules, for a character of the text."""


@dataclass(frozen=True, eq=False, repr=False)
class Reading:
    """The result of reading a grammar text: its ``Parsed`` form, and its meaning.

    Spans are in the author's text. ``grammar`` and ``analysis`` are None where errors leave none.
    ``start`` and ``finish`` are the settings in force: given ones, else the pragmas', else the
    defaults of the project (``finish_is_default`` says so of ``finish``), else those of the
    language. ``request`` has the arguments of the reading.
    """

    language: Language
    parsed: Parsed
    pragmas: Pragmas
    start: str
    finish: Finish
    grammar: GrammarRules | None
    analysis: "Analysis | None"
    diagnostics: tuple[Diagnostic, ...]
    request: Request
    finish_is_default: bool

    @property
    def limits(self) -> Limits:
        """The limits that it was read with."""
        return self.request.limits

    @property
    def document(self) -> Document:
        """The tree, of a schema or a tag made on demand. Raises GrammarError beyond a limit."""
        return self.parsed.document

    @property
    def has_families(self) -> bool:
        """Whether rules of ``grammar`` are copies of written ones, one for each number."""
        return self.parsed.rules is None and bool(self.document.families)

    def without_families(self) -> Document:
        """Return the tree with a rule for each number in use. Raises as ``document``."""
        from kbnf_core.conversion.families import written_out

        if not self.has_families:
            return self.document
        columns, budget = self.pragmas.most_columns, Budget(self.limits.work)
        return written_out(self.document, self.start, columns, self.limits, budget).document

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The constructs that the grammar does not keep of the text, which are findings, too."""
        return self.parsed.losses

    @cached_property
    def estimated_bytes(self) -> int:
        """The memory that it takes, estimated by characters but for automata."""
        rules = () if self.grammar is None else self.grammar.rules.values()
        nodes = (node for body in rules for node in postorder(body) if isinstance(node, Regular))
        automata = {id(node.dfa): node.dfa.size for node in nodes}
        return _READ_BYTES * len(self.parsed.source.text) + sum(automata.values())

    @property
    def is_endless(self) -> bool:
        """Whether no text ever ends; ``grammar`` then has the rules of ``lower.endless``."""
        return any(finding.code == ENDLESS for finding in self.diagnostics)

    @property
    def ends_with_its_text(self) -> bool:
        """Whether generation ends without the end of sequence."""
        return self.finish is Finish.EOS or self.is_endless or self.parsed.ends_itself

    @property
    def errors(self) -> list[Diagnostic]:
        """The findings that make the grammar unusable."""
        return [d for d in self.diagnostics if d.severity is Severity.ERROR]

    def is_loss(self, finding: Diagnostic) -> bool:
        """Return whether a finding reports a construct that the grammar does not keep."""
        return any((finding.code, finding.span) == (loss.code, loss.span) for loss in self.losses)

    @cached_property
    def named(self) -> GrammarRules | None:
        """``grammar`` with names and spans for people: parts of its rules may be rules here."""
        rules = None if self.grammar is None else self.parsed.named()
        return self.grammar if rules is None else GrammarRules(self.start, rules)

    @cached_property
    def written(self) -> Mapping[Span, Sequence[Expression]]:
        """The nodes that somebody wrote by their spans, parts before wholes."""
        nodes: dict[Span, list[Expression]] = {}
        for node in self.document.written_nodes() if self.parsed.is_written else ():
            nodes.setdefault(node.span, []).append(node)
        return nodes

    @property
    def start_span(self) -> Span:
        """Where the start is defined first."""
        return self.name_span(self.start)

    def name_span(self, name: str) -> Span:
        """Return where a nonterminal is defined first, or the start of the text."""
        return name_span(self.parsed, name)

    def finding(self, code: str, message: str, span: Span, **fields: Any) -> Diagnostic:
        """Return a finding about the text; ``fields`` are further fields of it."""
        return Diagnostic(code, message, self.parsed.source, span, **fields)


@without_collecting()
def read_grammar(
    source: Source, language: Language = KBNF, request: Request = PLAIN_REQUEST
) -> Reading:
    """Parse and translate ``source``; findings are in the result.

    Raises what ``Language.parse`` raises, nothing else.
    """
    # Here, since every command knows the languages, and few read a text.
    from kbnf_core.lower.facts import analyse

    if language.is_json:
        source = replace(source, is_json=True)
    parsed = language.parse(source, request)
    # A text that is read to rules has no comments.
    pragmas, oddities = read_pragmas(parsed.document) if parsed.rules is None else (Pragmas(), ())
    defaults = request.defaults if language is KBNF else NO_DEFAULTS
    start = parsed.start or request.start or pragmas.start or defaults.start or language.start
    lost = [loss.diagnostic(source) for loss in parsed.losses]
    findings = [*sorted([*parsed.diagnostics, *lost], key=Diagnostic.sort_key), *oddities]
    grammar, analysis = None, None
    budget = Budget(request.limits.work)
    try:
        if parsed.rules is None:
            grammar, problems = _translated(parsed.document, start, pragmas, request, budget)
            findings.extend(problems)
        else:
            grammar = GrammarRules(start, parsed.rules)
        if any(d.severity is Severity.ERROR for d in findings):
            grammar = None
        if grammar is not None:
            analysis = analyse(grammar, budget)
            if not analysis.facts[start].filled:
                grammar, analysis, finding = _without_finite_texts(
                    parsed, grammar, analysis, budget
                )
                findings.append(finding)
    except WorkLimitError as error:
        findings.append(too_much_work(parsed, error))
        grammar = analysis = None
    own = request.finish or (Finish(pragmas.finish) if pragmas.finish else None)
    return Reading(
        language,
        parsed,
        pragmas,
        start,
        own or defaults.finish or parsed.finish or language.finish,
        grammar,
        analysis,
        tuple(findings),
        request,
        finish_is_default=own is None and defaults.finish is not None,
    )


def _translated(
    document: Document, start: str, pragmas: Pragmas, request: Request, budget: Budget
) -> tuple[GrammarRules | None, Iterable[Diagnostic]]:
    """Return the meaning of a tree, and the findings. Copies of a node are one place."""
    from kbnf_core.conversion.families import written_out
    from kbnf_core.lower.translate import translate

    plain, wrong = written_out(document, start, pragmas.most_columns, request.limits, budget)
    grammar, problems = translate(plain, start, request.limits, budget=budget)
    if plain is document:
        return grammar, (*wrong, *problems)
    return grammar, {(problem.code, problem.span): problem for problem in problems}.values()


def _without_finite_texts(
    parsed: Parsed, grammar: GrammarRules, analysis: "Analysis", budget: Budget
) -> "tuple[GrammarRules | None, Analysis | None, Diagnostic]":
    """Return the rest of a grammar without finite texts to generate, and the finding for it."""
    from kbnf_core.lower.endless import endless_grammar
    from kbnf_core.lower.facts import analyse

    empty = parsed.empty()
    if empty is not None:
        return None, None, empty
    # The empty text is a finite one: beside it, what never ends is cut, and nothing is left.
    is_empty_text = analysis.facts[grammar.start].nullable
    endless = None if is_empty_text else endless_grammar(grammar, analysis, budget)
    if endless is None:
        return None, None, _empty_language(parsed, grammar.start, analysis)
    finding = _endless_language(parsed, grammar.start)
    return endless, analyse(endless, budget), finding


def _endless_language(parsed: Parsed, start: str) -> Diagnostic:
    return Diagnostic(
        ENDLESS,
        f"no text of the start nonterminal `{start}` ever ends",
        parsed.source,
        parsed.rule_span(start),
        notes=("generation goes on until the tokens run out; no `finish` ends it",),
        helps=("give it an alternative that ends in terminals, if there is to be an end",),
    )


def _empty_language(parsed: Parsed, start: str, analysis: "Analysis") -> Diagnostic:
    message, alternatives = "no text matches", "matches nothing"
    if analysis.facts[start].nullable:
        message, alternatives = "only the empty text matches", "is empty, never ends"
    return Diagnostic(
        "E105",
        f"{message} the start nonterminal `{start}`",
        parsed.source,
        parsed.rule_span(start),
        label="nothing can be generated from here",
        notes=(f"every alternative {alternatives}, or calls itself before any other symbol",),
        helps=("give it an alternative that ends in terminals",),
    )


def nothing_kept(
    reading: Reading, losses: Sequence[Loss], target: Language
) -> tuple[Diagnostic, ...]:
    """Return why nothing of a grammar can be written in another language."""
    source = reading.parsed.source
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
        reading.parsed.source,
        reading.name_span(name),
        label="the limit was passed in this rule",
        helps=("lower its repetition counts, or raise `Limits.grammar_states`",),
    )


def too_much_work(parsed: Parsed, error: WorkLimitError) -> Diagnostic:
    """Return the finding that reading or building took more work than allowed."""
    return Diagnostic(
        "E107",
        f"the grammar takes more than {error.limit:,} steps of work",
        parsed.source,
        name_span(parsed, error.subject),
        label="the limit was passed in this rule",
        helps=("make the rule smaller, or lower its counts; or raise `Limits.work`",),
    )


def name_span(parsed: Parsed, name: str) -> Span:
    """Return where ``name``, which may be that of a part of a large rule, is defined first."""
    return parsed.rule_span(name.partition("#")[0])
