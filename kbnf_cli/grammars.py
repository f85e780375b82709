"""Opening what a command is given as a grammar: a text in any language, or an artifact."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from kbnf_cli.files import read_source
from kbnf_cli.shipped import PREFIX, grammar_file, grammar_names
from kbnf_core.config import NO_DEFAULTS, Defaults
from kbnf_core.diagnostics import Diagnostic
from kbnf_core.errors import ConfigError, GrammarError

if TYPE_CHECKING:
    from kbnf_core import Grammar, Vocabulary
    from kbnf_core.languages import Language
    from kbnf_core.source import Source

UNNAMED = "<stdin>"
"""What stdin is called where nobody named it."""


class GrammarPath(click.Path):
    """The path of a grammar, or the name of one that is shipped; an existing path wins."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(
        self,
        value: "str | os.PathLike[str]",
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> "str | bytes | os.PathLike[str]":
        """Return the path that is meant; fail for a name of none."""
        name = os.fspath(value)
        if not os.path.lexists(name):
            found = grammar_file(name)
            if found is not None:
                return found
        if name.startswith(PREFIX):
            listed = ", ".join(grammar_names())
            self.fail(f"there is no grammar {name!r}; there are {listed}", param, ctx)
        return super().convert(value, param, ctx)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Complete files, and the names of grammars that are shipped."""
        names = [name for name in grammar_names() if name.startswith(incomplete)]
        files = super().shell_complete(ctx, param, incomplete)
        return [*files, *map(CompletionItem, names)] if incomplete else files


GRAMMAR = GrammarPath()


@dataclass(frozen=True, slots=True)
class Opened:
    """A grammar, and what was lost where it was converted to be one."""

    grammar: "Grammar"
    losses: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True)
class Readable:
    """A text that ``read_grammar`` takes as one of ``language``."""

    source: "Source"
    language: "Language"
    losses: tuple[Diagnostic, ...] = ()


def language_name(text: str, name: str) -> str:
    """Return the name of the language of a text, as ``convert.detect`` does.

    Stdin is KBNF, unless it was given a name: what it looks like is a finding then.
    """
    from kbnf_core.convert import detect

    return "KBNF" if name == UNNAMED else detect(text, name)


def open_any_grammar(
    path: Path,
    name: str,
    start: str | None,
    finish: str | None,
    defaults: Defaults = NO_DEFAULTS,
    vocabulary: "Vocabulary | None" = None,
) -> Opened:
    """Return a usable grammar, which messages call ``name``.

    What is not in KBNF is converted first; what a text says of tokens, it says of those of
    ``vocabulary``. Raises ``GrammarError`` for a text that is none, ``ArtifactError`` for a damaged
    artifact, ``SourceError`` for a file that cannot be read.
    """
    from kbnf_core import Grammar

    if is_artifact(path):
        return Opened(_open_artifact(path, start, finish))
    source = _read(path, name)
    language = language_name(source.text, name)
    if language == "KBNF":
        grammar = Grammar(source.text, start=start, finish=finish, path=name, defaults=defaults)
        return Opened(grammar)
    text, losses = _converted(source, language, start, vocabulary)
    return Opened(Grammar(text, finish=finish, path=f"{name} (converted)"), losses)


def open_text(path: Path, name: str, start: str | None) -> Readable:
    """Return the text of a grammar and its language; converted only where it has no rules.

    Raises what ``open_any_grammar`` raises.
    """
    from kbnf_core.languages import KBNF, LANGUAGES

    if is_artifact(path):
        return Readable(_open_artifact(path, start, None).source, KBNF)
    source = _read(path, name)
    language = language_name(source.text, name)
    read = next((each for each in LANGUAGES if each.name == language), None)
    if read is not None:
        return Readable(source, read)
    from kbnf_core.source import Source

    text, losses = _converted(source, language, start, None)
    return Readable(Source(text, f"{name} (converted)"), KBNF, losses)


def is_artifact(path: Path) -> bool:
    """Tell whether a path is that of a compiled grammar, by its name."""
    from kbnf_core.artifact import SUFFIX

    return path.suffix == SUFFIX


def _read(path: Path, name: str) -> "Source":
    source, invalid = read_source(path, name)
    if invalid is not None:
        raise GrammarError([invalid])
    return source


def _converted(
    source: "Source", language: str, start: str | None, vocabulary: "Vocabulary | None"
) -> tuple[str, tuple[Diagnostic, ...]]:
    from kbnf_core.convert import to_kbnf
    from kbnf_core.imports import ANYWHERE

    conversion = to_kbnf(
        language,
        source.text,
        path=source.path,
        start=start,
        imports=ANYWHERE,
        vocabulary=vocabulary,
    )
    return conversion.text, tuple(loss.diagnostic(source) for loss in conversion.losses)


def _open_artifact(path: Path, start: str | None, finish: str | None) -> "Grammar":
    from kbnf_core.artifact.read import load_artifact
    from kbnf_core.config import Finish

    grammar = load_artifact(path)
    if start is not None and start != grammar.start:
        raise ConfigError(f"{path} was compiled with the start {grammar.start}; compile it again")
    if finish is not None:
        grammar.finish = Finish.parse(finish)
    return grammar
