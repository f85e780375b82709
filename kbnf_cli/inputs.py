"""The inputs of commands: the grammar, vocabulary and settings that shared options name."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kbnf_cli.config import Settings, SettingsFor, settings_source
from kbnf_cli.console import Console
from kbnf_cli.files import STDIN
from kbnf_cli.grammars import UNNAMED, Opened, Readable, open_any_grammar, open_text
from kbnf_cli.shipped import shown_path
from kbnf_core.config import Defaults

if TYPE_CHECKING:
    from kbnf_core.vocab.vocabulary import Vocabulary

BUILT_IN = "bytes"


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
    """Return the vocabulary called ``bytes``, or the one in a file.

    ``eos``, unless empty, replaces the stop ids. Raises what ``load_vocabulary`` raises.
    """
    from kbnf_core.vocab.load import load_vocabulary
    from kbnf_core.vocab.vocabulary import Vocabulary

    if name == BUILT_IN:
        built_in = Vocabulary.bytes()
        if not eos:
            return built_in
        return Vocabulary(built_in.tokens, eos_token_id=eos, name=built_in.name)
    with console.busy(f"loading {Path(name).name}"):
        return load_vocabulary(name, eos or None)
