"""Opening what a command is given as a grammar: text in any of the languages, or an artifact."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kbnf_cli.files import STDIN, read_source
from kbnf_core.config import NO_DEFAULTS, Defaults
from kbnf_core.diagnostics import Diagnostic
from kbnf_core.errors import ConfigError, GrammarError

if TYPE_CHECKING:
    from kbnf_core import Grammar
    from kbnf_core.convert import Conversion

_CONVERTERS = {".gbnf": "from_gbnf", ".lark": "from_lark", ".bnf": "from_bnf"}
"""By extension, the function of ``kbnf_core.convert`` that makes KBNF of a text."""


def open_grammar(
    path: Path,
    name: str,
    start: str | None,
    finish: str | None,
    defaults: Defaults = NO_DEFAULTS,
) -> "Grammar":
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
    return Grammar(source.text, start=start, finish=finish, path=name, defaults=defaults)


@dataclass(frozen=True, slots=True)
class Opened:
    """A grammar, and what was lost where it was converted to be one."""

    grammar: "Grammar"
    losses: tuple[Diagnostic, ...] = ()


def open_any_grammar(
    path: Path, name: str, start: str | None, finish: str | None, defaults: Defaults = NO_DEFAULTS
) -> Opened:
    """Return a usable grammar, converted first if its extension is of another language.

    Raises what ``open_grammar`` raises.
    """
    from kbnf_core import Grammar, convert
    from kbnf_core.imports import ANYWHERE

    converter = _CONVERTERS.get(path.suffix.lower())
    if converter not in convert.__all__:
        return Opened(open_grammar(path, name, start, finish, defaults))
    source, invalid = read_source(path, name)
    if invalid is not None:
        raise GrammarError([invalid])
    more = {"imports": ANYWHERE} if converter == "from_lark" else {}
    conversion: Conversion = getattr(convert, converter)(
        source.text, path=name, start=start, **more
    )
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
