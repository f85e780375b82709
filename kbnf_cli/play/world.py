"""The world as it is: files on disk, and the width of the terminal."""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from kbnf_cli.console import Console
from kbnf_cli.files import read_bytes, write_text
from kbnf_cli.grammars import Opened, open_any_grammar
from kbnf_cli.inputs import BUILT_IN, read_vocabulary

if TYPE_CHECKING:
    from kbnf_core import Vocabulary
    from kbnf_core.vocab.encode import Encoder

_SCRIPT_COLUMNS = 100
_SCRIPT_ROWS = 20
_LEAST_COLUMNS = 20
_LEAST_ROWS = 5
_OTHER_ROWS = 8
"""Lines of a terminal that are left for the rest of a reply and the prompt."""


class DiskWorld:
    """What commands need from outside, for a script: of one width, so that output is stable."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._encoders: dict[str, Encoder] = {}

    @property
    def columns(self) -> int:
        """Cells in a line."""
        return _SCRIPT_COLUMNS

    @property
    def rows(self) -> int:
        """Lines that a listing may take."""
        return _SCRIPT_ROWS

    def grammar(self, path: Path, start: str | None, finish: str | None) -> Opened:
        """Open a grammar; raises ``KbnfError``."""
        return open_any_grammar(path, path.as_posix(), start, finish)

    def vocabulary(self, name: str, eos: tuple[int, ...] | None) -> "Vocabulary":
        """Open a vocabulary, ``bytes`` or a file; raises ``KbnfError``."""
        return read_vocabulary(self._console, name, eos or ())

    def encoder(self, name: str, vocabulary: "Vocabulary") -> "Encoder":
        """Return the tokenizer of a vocabulary; raises ``KbnfError``."""
        from kbnf_core.vocab.encode import load_encoder

        if name not in self._encoders:
            path = None if name == BUILT_IN else Path(name)
            self._encoders[name] = load_encoder(path, vocabulary)
        return self._encoders[name]

    def read(self, path: Path) -> bytes:
        """Read a file; raises ``SourceError``."""
        return read_bytes(path)

    def write(self, path: Path, text: str) -> None:
        """Write a file as a whole; raises ``OSError``."""
        write_text(path, text)


class TerminalWorld(DiskWorld):
    """The same for a terminal, whose size is asked for whenever something is shown."""

    @property
    def columns(self) -> int:
        """Cells in a line."""
        return max(_LEAST_COLUMNS, shutil.get_terminal_size().columns)

    @property
    def rows(self) -> int:
        """Lines that a listing may take."""
        return max(_LEAST_ROWS, shutil.get_terminal_size().lines - _OTHER_ROWS)
