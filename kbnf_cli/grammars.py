"""Opening what a command is given as a grammar: text in any of the languages, or an artifact."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kbnf_cli.files import STDIN, read_source
from kbnf_core.config import NO_DEFAULTS, Defaults
from kbnf_core.diagnostics import Diagnostic
from kbnf_core.errors import ConfigError, GrammarError

if TYPE_CHECKING:
    from kbnf_core import Grammar, Vocabulary


_ABOUT_TOKENS = {"BNF": "from_bnf", "GBNF": "from_gbnf"}
"""Languages that can name tokens of a vocabulary, and what converts them with one."""


def open_grammar(
    path: Path,
    name: str,
    start: str | None,
    finish: str | None,
    defaults: Defaults = NO_DEFAULTS,
) -> "Grammar":
    """Return a usable grammar; ``name`` is its name in messages.

    Raises ``GrammarError`` for a text that is none, ``ArtifactError`` for a damaged artifact,
    ``SourceError`` for a file that cannot be read.
    """
    if path != STDIN and _is_artifact(path):
        return _open_artifact(path, start, finish)
    from kbnf_core import Grammar

    source, invalid = read_source(path, name)
    if invalid is not None:
        raise GrammarError([invalid])
    return Grammar(source.text, start=start, finish=finish, path=name, defaults=defaults)


@dataclass(frozen=True, slots=True)
class Opened:
    """A grammar, and what was lost where it was converted to be one."""

    grammar: "Grammar"
    losses: tuple[Diagnostic, ...] = ()


def open_any_grammar(
    path: Path,
    name: str,
    start: str | None,
    finish: str | None,
    defaults: Defaults = NO_DEFAULTS,
    vocabulary: "Vocabulary | None" = None,
) -> Opened:
    """Return a usable grammar, converted first if its extension is of another language.

    What a text says of tokens, it says of those of ``vocabulary``.

    Raises what ``open_grammar`` raises.
    """
    from kbnf_core import Grammar, convert
    from kbnf_core.imports import ANYWHERE
    from kbnf_core.languages import language_of

    to_kbnf = language_of(name).to_kbnf
    if to_kbnf is None:
        return Opened(open_grammar(path, name, start, finish, defaults))
    source, invalid = read_source(path, name)
    if invalid is not None:
        raise GrammarError([invalid])
    about_tokens = _ABOUT_TOKENS.get(language_of(name).name)
    if about_tokens is None or vocabulary is None:
        conversion = to_kbnf(source.text, path=name, start=start, imports=ANYWHERE)
    else:
        read = getattr(convert, about_tokens)
        conversion = read(source.text, path=name, start=start, vocabulary=vocabulary)
    grammar = Grammar(conversion.text, finish=finish, path=f"{name} (converted)")
    return Opened(grammar, tuple(loss.diagnostic(source) for loss in conversion.losses))


def _is_artifact(path: Path) -> bool:
    from kbnf_core.artifact import SUFFIX

    return path.suffix == SUFFIX


def _open_artifact(path: Path, start: str | None, finish: str | None) -> "Grammar":
    from kbnf_core.artifact.read import load_artifact
    from kbnf_core.config import Finish

    grammar = load_artifact(path)
    if start is not None and start != grammar.start:
        raise ConfigError(f"{path} was compiled with the start {grammar.start}; compile it again")
    if finish is not None:
        grammar.finish = Finish.parse(finish)
    return grammar
