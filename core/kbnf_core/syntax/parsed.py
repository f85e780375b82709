"""What a language is read with, and what its reader makes of a text.

Every language is read to the same thing: a tree of KBNF with the spans of the author's text, or,
where the language has none, the rules that it means. What commands, lints and engines run is made
of that; nothing is written as text and read again.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from kbnf_core.config import Finish
from kbnf_core.diagnostics import Diagnostic
from kbnf_core.imports import BELOW, Imports
from kbnf_core.ir import Node
from kbnf_core.limits import DEFAULT_LIMITS, Limits
from kbnf_core.source import Source, Span
from kbnf_core.syntax.conversion import Loss
from kbnf_core.syntax.tree import Document

if TYPE_CHECKING:
    from kbnf_core.vocab.vocabulary import Vocabulary

NO_OPTIONS: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Request:
    """What a text is read with.

    ``start`` None is the text's own choice. ``imports`` says which files may be imported;
    ``vocabulary`` is what a text that speaks of tokens speaks of. ``lossy`` asks a language that
    would refuse a part to leave it out and report a loss. ``options`` are the language's own, by
    the names in ``Language.options``.
    """

    start: str | None = None
    limits: Limits = DEFAULT_LIMITS
    imports: Imports = BELOW
    vocabulary: "Vocabulary | None" = None
    lossy: bool = False
    options: Mapping[str, Any] = field(default_factory=lambda: NO_OPTIONS)


class Rules(NamedTuple):
    """The rules of a text in a language that has none: what it means, without a tree of KBNF.

    ``write`` returns the same as KBNF for people, ``explained`` the rules of that text with the
    places of the author's. ``place`` returns that of a rule of ``rules``; ``empty`` is the finding
    where no text ends.
    """

    rules: Mapping[str, Node]
    write: Callable[[], str]
    explained: Callable[[], Mapping[str, Node]]
    place: Callable[[str], Span]
    empty: Diagnostic


class Parsed(NamedTuple):
    """What a reader makes of a text: a tree of KBNF, and the findings in order of position.

    ``start`` and ``finish`` are given where the reader knows better than the language. ``losses``
    are what the tree does not keep of the text, ``remark`` is what a person who reads the tree
    should know. ``meaning`` stands for the tree, which is empty then, in a language without rules.
    ``lint`` returns what the language itself finds suspicious, which only checks ask for.
    """

    document: Document
    diagnostics: tuple[Diagnostic, ...]
    start: str | None = None
    finish: Finish | None = None
    losses: tuple[Loss, ...] = ()
    remark: str = ""
    meaning: Rules | None = None
    lint: Callable[[], tuple[Diagnostic, ...]] = lambda: ()


Reader: TypeAlias = Callable[[Source, Request], Parsed]
"""Parses a text; never raises but ``ConfigError`` for options that are none."""
