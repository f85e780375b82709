"""The inputs of reading a language, and the results of its reader and its writer.

Every language is read to the same thing: a ``Parsed``, which has a tree of KBNF with the spans of
the author's text. A language without written rules is read to its rules alone, unless its tree is
requested; its class answers later questions from the value that was read. Commands, lints and
engines use that; nothing is written as text and read again. A conversion is the new text, and
everything that it does not keep of the old one.

Tests: tests/unit/kbnf, tests/unit/languages
"""

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from kbnf_core.automata.dfa import Dfa
from kbnf_core.config import NO_DEFAULTS, Defaults, Finish
from kbnf_core.ir import GrammarRules, Node
from kbnf_core.ir.families import family_of
from kbnf_core.kbnf.tree import Document
from kbnf_core.text.diagnostics import Diagnostic
from kbnf_core.text.files import BELOW, Imports
from kbnf_core.text.limits import DEFAULT_LIMITS, Limits
from kbnf_core.text.source import NOWHERE, Source, Span

if TYPE_CHECKING:
    from kbnf_core.vocab.vocabulary import Vocabulary

_NO_TEXT = r"(\\\\)|\\udc([89a-f][0-9a-f])"
"""An invalid byte as ``repr`` shows it, or a backslash of the text itself."""

_SHOWN = 60
"""How much of an example a message shows, in characters."""


OF_CONVERSION = frozenset({"W424", "W821", "W822", "W829", "I823"})
"""Codes of notes that a conversion shows: those that depend on the conversion, so that a check of
the original lacks them, and likely mistakes in a schema, which are seldom checked.
"""


class DifferingText(NamedTuple):
    """A text on which the two languages differ.

    ``kept_out`` says how: the original takes it and the result does not (True), or the result
    takes what the original does not (False).
    """

    data: bytes
    kept_out: bool

    def __str__(self) -> str:
        text = self.data.decode("utf-8", "surrogateescape")
        whole = repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}...")
        shown = re.sub(_NO_TEXT, lambda byte: byte[1] or f"\\x{byte[2]}", whole)
        fault = "is refused" if self.kept_out else "is accepted"
        return f"{shown} {fault} wrongly"


class Loss(NamedTuple):
    """Something that the target language cannot say: ``span`` points into the original.

    ``code`` is one of the catalogue's; ``example`` is a shortest text that shows the difference,
    None where none was found. ``notes`` and ``helps`` are those of the finding.
    """

    code: str
    message: str
    span: Span
    example: DifferingText | None = None
    notes: tuple[str, ...] = ()
    helps: tuple[str, ...] = ()

    def diagnostic(self, source: Source) -> Diagnostic:
        """Return the loss as a finding about ``source``, the original."""
        notes = self.notes if self.example is None else (*self.notes, f"{self.example}")
        return Diagnostic(self.code, self.message, source, self.span, notes=notes, helps=self.helps)


class Conversion(NamedTuple):
    """A converted grammar.

    ``exact`` says whether it has the language of the original, to the end of generation; if
    not, ``losses`` say where it differs. ``notes`` are findings about the original that do not
    change the language.
    """

    text: str
    exact: bool
    losses: tuple[Loss, ...]
    notes: tuple[Diagnostic, ...] = ()


NO_OPTIONS: Mapping[str, Any] = MappingProxyType({})


class Request(NamedTuple):
    """The arguments of reading a text.

    ``start`` None is the text's own choice, and so is ``finish``; ``defaults`` are for what KBNF,
    whose files can say what differs, leaves open. ``imports`` says which files may be imported;
    ``vocabulary`` is what a text that speaks of tokens speaks of. ``lossy`` asks a language that
    would refuse a part to leave it out and report a loss. ``options`` are the language's own, by
    the names in ``Language.options``.
    """

    start: str | None = None
    finish: Finish | None = None
    limits: Limits = DEFAULT_LIMITS
    imports: Imports = BELOW
    defaults: Defaults = NO_DEFAULTS
    vocabulary: "Vocabulary | None" = None
    lossy: bool = False
    options: Mapping[str, Any] = NO_OPTIONS


PLAIN_REQUEST = Request()


class Shape(NamedTuple):
    """The shape of a value that is not written as JSON: the names of its types.

    A string is a ``word`` if space around it does not belong to it. ``members`` and ``items`` have
    the numbers of the shapes inside; ``other`` that of members that are not listed. ``needed`` are
    the names of those that an object has to have.
    """

    kinds: tuple[str, ...] = ()
    members: Mapping[str, int] = MappingProxyType({})
    other: int | None = None
    first: tuple[int, ...] = ()
    items: int | None = None
    needed: tuple[str, ...] = ()


class Mark(NamedTuple):
    """The kind of the text that a rule matches: ``text``, ``reasoning``, or ``call``.

    A call is the arguments of the tool ``name``, in a ``style``; ``shapes`` say what they may be,
    the first one is that of them all. With the ``words`` ``python``, the constants ``True``,
    ``False`` and ``None`` are values beside strings, too. ``trigger`` is the end of a part of text
    that does not belong to it.
    """

    kind: str
    name: str | None = None
    style: str = "json"
    shapes: tuple[Shape, ...] = ()
    trigger: str = ""
    words: str = "json"


class Marked(NamedTuple):
    """The description by which values are read: a ``language`` of calls, or else a marked grammar.

    The language is values of JSON (``languages.structural_tag.reading``). ``grammar`` has the same
    texts and others, and rules in it mark what values are made of; JSON in it is any JSON: what a
    text may be is in the grammar itself. ``messages`` is JSON: the response
    template that messages are read by, and the tools; empty where there is none. ``syntax`` is that
    of values that are not JSON (``parse.block_values``).
    """

    grammar: GrammarRules | None
    marks: Mapping[str, Mark]
    messages: str = ""
    language: Mapping[str, Any] | None = None
    syntax: str = ""


class Attributes(NamedTuple):
    """Properties of rules that decide no text, as LLGuidance's grammars have them.

    ``captures`` are the rules whose texts are captured under a name, ``temperatures`` the sampling
    temperatures of rules. ``unkept`` are the losses of a conversion, which has neither.
    """

    captures: Mapping[str, frozenset[str]] = MappingProxyType({})
    temperatures: Mapping[str, float] = MappingProxyType({})
    unkept: tuple[Loss, ...] = ()

    def temperature_in(self, rules: Iterable[str], origins: Mapping[str, str]) -> float | None:
        """Return the highest temperature of some rules, None where none of them has one.

        ``origins`` names, for a rule that was made of another one, that rule.
        """
        written = {origins.get(name, name) for name in rules}
        named = written & self.temperatures.keys()
        return max((self.temperatures[name] for name in named), default=None)


NO_ATTRIBUTES = Attributes()


NO_AUTOMATA: Mapping[str, Dfa] = MappingProxyType({})


class Expressed(NamedTuple):
    """Rules with expressions in place of automata; ``automata`` are those of some of the rules."""

    rules: Mapping[str, Node]
    automata: Mapping[str, Dfa] = NO_AUTOMATA


class Parsed:
    """The result of a reader: a tree of KBNF, and the findings in order of position.

    ``start`` and ``finish`` are given where the reader knows better than the language. ``losses``
    are the constructs that the tree does not keep, ``remark`` is a note for readers of the tree.
    ``rules`` are the result in a language without rules of its own, whose tree is made of them on
    demand; ``is_written`` says whether an author wrote parts of the tree. ``ends_itself`` says
    whether no text is known to be the beginning of another one.
    """

    rules: Mapping[str, Node] | None = None
    is_written = True
    finish: Finish | None = None
    ends_itself = False

    def __init__(
        self,
        document: Document,
        diagnostics: tuple[Diagnostic, ...],
        start: str | None = None,
        losses: tuple[Loss, ...] = (),
        remark: str = "",
    ) -> None:
        self._document = document
        self.diagnostics = diagnostics
        self.start = start
        self.losses = losses
        self.remark = remark

    @property
    def document(self) -> Document:
        """The tree, which is made of ``rules`` where there are some.

        Raises GrammarError where that passes a limit. It takes longer to make than the rules to
        read: code that needs written parts only checks ``is_written`` first.
        """
        return self._document

    @property
    def source(self) -> Source:
        """The text."""
        return self._document.source

    @property
    def names(self) -> Mapping[str, Span]:
        """Where each name of a rule is defined first; a schema has none."""
        return self.document.first_names

    def named(self) -> Mapping[str, Node] | None:
        """Return the rules with names and spans for people; None where they have those already."""
        return None

    def expressed(self) -> Expressed | None:
        """Return the rules with expressions in place of automata, for writers of notations.

        None where the rules are those of the tree, or where they pass a limit.
        """
        return None

    def rule_span(self, rule: str) -> Span:
        """Return where a rule is defined first, or the start of the text."""
        return self.names.get(rule) or self.names.get(family_of(rule), NOWHERE)

    def empty(self) -> Diagnostic | None:
        """Return why no text ends, where the language knows better than its rules do."""
        return None

    def lint(self) -> tuple[Diagnostic, ...]:
        """Return the warnings of the language itself, which only checks ask for."""
        return ()

    def release(self) -> None:
        """Drop the data that only checks need: a grammar keeps this for as long as it lives."""

    def marked(self) -> Marked | None:
        """Return the description of the values of a text; None where they are one JSON value."""
        return None
