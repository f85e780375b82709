"""The inputs of commands: the grammar, vocabulary and settings that shared options name."""

import os
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kbnf_cli.choosing import FileChoice, Patterns
from kbnf_cli.config import Settings, SettingsFor, settings_source
from kbnf_cli.console import Console
from kbnf_cli.files import STDIN
from kbnf_cli.grammars import UNNAMED, Opened, Readable, open_any_grammar, open_text
from kbnf_cli.shipped import shown_path
from kbnf_core.config import Defaults
from kbnf_core.errors import SourceError

if TYPE_CHECKING:
    from kbnf_core.vocab.vocabulary import Vocabulary

BUILT_IN = "bytes"


@dataclass(frozen=True, kw_only=True)
class FileInputs:
    """The values of the options that ``options.file_options`` and ``config_options`` add."""

    exclude: tuple[str, ...]
    extend_exclude: tuple[str, ...]
    force_exclude: bool
    config_file: Path | None
    isolated: bool

    def choice(self, extensions: Collection[str]) -> FileChoice:
        """Return which files in directories are grammars in the languages of ``extensions``."""
        configured = settings_source(self.config_file, self.isolated)
        asked = self.file_settings
        return FileChoice(
            extensions,
            lambda file: asked.over(configured(file)),
            _from_here(self.extend_exclude),
        )

    @property
    def file_settings(self) -> Settings:
        """What the options set rather than a configuration file."""
        return Settings(exclude=_from_here(self.exclude), force_exclude=self.force_exclude or None)


def _from_here(lines: tuple[str, ...]) -> Patterns | None:
    return Patterns(Path.cwd().resolve(), lines) if lines else None


@dataclass(frozen=True, kw_only=True)
class Inputs:
    """The values of the options that ``options.input_options`` adds."""

    vocab: str | None = None
    eos: tuple[int, ...]
    start: str | None
    finish: str | None
    config_file: Path | None
    isolated: bool
    stdin_filename: Path | None = None

    def name_of(self, path: Path) -> Path:
        """Return what a file is called: stdin's name for ``-``, a shipped grammar by its own."""
        return (self.stdin_filename or Path(UNNAMED)) if path == STDIN else shown_path(path)

    def settings_source(self) -> SettingsFor:
        """Return where settings come from; raises what ``config.settings_source`` raises."""
        return settings_source(self.config_file, self.isolated)

    def grammar(self, path: Path, vocabulary: "Vocabulary | None") -> Opened:
        """Return the grammar in a file; raises what ``open_any_grammar`` raises."""
        return open_any_grammar(path, *self._named(path), vocabulary)

    def text(self, path: Path) -> Readable:
        """Return the text of the grammar in a file; raises what ``open_text`` raises."""
        return open_text(path, self.name_of(path).as_posix(), self.start)

    def _named(self, path: Path) -> tuple[str, str | None, str | None, Defaults]:
        name = self.name_of(path)
        return name.as_posix(), self.start, self.finish, self.settings_source()(name).defaults

    def vocabulary(self, settings: Settings) -> tuple[str, tuple[int, ...]]:
        """Return the name of the vocabulary and its stop ids, as ``read_vocabulary`` takes them."""
        return self.vocab or settings.vocab or BUILT_IN, self.eos or settings.eos or ()


def read_vocabulary(console: Console, name: str, eos: Sequence[int]) -> "Vocabulary":
    """Return the vocabulary called ``bytes``, or the one in a file or of a cached model.

    ``eos``, unless empty, replaces the stop ids. Raises what ``vocabulary_file`` and
    ``load_vocabulary`` raise.
    """
    from kbnf_core.vocab.load import load_vocabulary
    from kbnf_core.vocab.vocabulary import Vocabulary

    if name == BUILT_IN:
        built_in = Vocabulary.bytes()
        if not eos:
            return built_in
        return Vocabulary(built_in.tokens, eos_token_id=eos, name=built_in.name)
    file = vocabulary_file(name)
    with console.busy(f"loading {file.name}"):
        return load_vocabulary(file, eos or None)


def vocabulary_file(name: str) -> Path:
    """Return the file, or folder, of a vocabulary; of a model's name, in Hugging Face's cache.

    An existing path wins. Raises ``SourceError`` for what is neither, with what is like it.
    """
    path = Path(name)
    if os.path.lexists(path):
        return path
    from kbnf_core.vocab.hub import cached_vocabulary, hub_folder

    found = cached_vocabulary(name)
    if found is not None:
        return found
    near = _similar_vocabulary(path)
    hint = f"did you mean `{near}`?" if near else "nothing is downloaded"
    raise SourceError(name, f"no such file, nor a model of that name in {hub_folder()}; {hint}")


def _similar_vocabulary(path: Path) -> str | None:
    """Return the name that a misspelt one resembles: a model's, a file's beside it, or `bytes`."""
    from kbnf_core.syntax.suggest import Suggestions
    from kbnf_core.vocab.hub import cached_models

    names = {BUILT_IN: BUILT_IN}
    with suppress(OSError):
        names |= {str(path.parent / each.name): str(each) for each in path.parent.iterdir()}
    for model in cached_models():
        names |= {model: model, model.rpartition("/")[2]: model}
    near = Suggestions(names).closest(str(path))
    return None if near is None else names[near]
