"""Opening what a command is given as a grammar: text in any of the languages, or an artifact."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kbnf_cli.files import STDIN, read_source
from kbnf_core.diagnostics import Diagnostic
from kbnf_core.errors import ConfigError, GrammarError

if TYPE_CHECKING:
    from kbnf_core import Grammar


def open_grammar(path: Path, name: str, start: str | None, finish: str | None) -> "Grammar":
    """Return a usable grammar; ``name`` is what to call it in messages.

    Raises ``GrammarError`` for a text that is none, ``ArtifactError`` for a damaged artifact,
    ``SourceError`` for a file that cannot be read.
    """
    if path != STDIN and _is_artifact(path):
        return _open_artifact(path, start, finish)
    from kbnf_core import Grammar

    source, invalid = read_source(path, name)
    if invalid is not None:
        raise GrammarError([invalid])
    return Grammar(source.text, start=start, finish=finish, path=name)


@dataclass(frozen=True, slots=True)
class Opened:
    """A grammar, and what was lost where it was converted to be one."""

    grammar: "Grammar"
    losses: tuple[Diagnostic, ...] = ()


def open_any_grammar(path: Path, name: str, start: str | None, finish: str | None) -> Opened:
    """Return a usable grammar, converted first if its extension is of another language.

    Raises what ``open_grammar`` raises.
    """
    from kbnf_core import Grammar
    from kbnf_core.imports import ANYWHERE
    from kbnf_core.languages import language_of

    to_kbnf = language_of(name).to_kbnf
    if to_kbnf is None:
        return Opened(open_grammar(path, name, start, finish))
    source, invalid = read_source(path, name)
    if invalid is not None:
        raise GrammarError([invalid])
    conversion = to_kbnf(source.text, path=name, start=start, imports=ANYWHERE)
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
