"""Grammar files: finding them, reading them, and writing results.

Directories are walked for grammars by their extensions, leaving out hidden entries and whatever git
ignores. A file that is named is taken whatever it is called.
"""

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from errno import EBADF
from pathlib import Path
from typing import TYPE_CHECKING

from kbnf_cli.choosing import FileChoice
from kbnf_core.diagnostics.model import decode
from kbnf_core.errors import SourceError
from kbnf_core.files import read_file, read_up_to, write_file
from kbnf_core.limits import DEFAULT_LIMITS

if TYPE_CHECKING:
    from kbnf_core.diagnostics import Diagnostic
    from kbnf_core.source import Source

STDIN = Path("-")

Note = Callable[[str], None]
"""Takes what is worth saying beside the results."""

_LARGEST = DEFAULT_LIMITS.source_bytes


def find_grammars(paths: Iterable[Path], note: Note, choice: FileChoice) -> list[Path]:
    """Return the named files and the grammars below the named directories, sorted, each once.

    ``choice`` tells what is a grammar in a directory; pipes, sockets and devices in it are
    skipped with a ``note``, and a directory without grammars gets one. A directory below that
    cannot be listed is returned itself: it cannot be read either. Raises ``SourceError`` for a path
    that does not exist.
    """
    found = {file for path in paths for file in _expand(path, note, choice)}
    return sorted(found, key=Path.as_posix)


def read_source(path: Path, name: str) -> "tuple[Source, Diagnostic | None]":
    """Return the text of a grammar, called ``name``, or of stdin for ``-``.

    A finding comes with it where it is no text, or too large. Raises ``SourceError``.
    """
    return decode(_read_stdin() if path == STDIN else read_up_to(path, _LARGEST + 1), name)


def read_bytes(path: Path) -> bytes:
    """Return what a file that is no grammar, or stdin for ``-``, holds.

    Raises ``SourceError``, also where it is too large.
    """
    if path != STDIN:
        return read_file(path, _LARGEST)
    data = _read_stdin()
    if len(data) > _LARGEST:
        raise SourceError("stdin", f"it has more than {_LARGEST:,} bytes")
    return data


def write_text(path: Path, text: str) -> None:
    """Write ``text`` as UTF-8, as ``write_file`` does; lone surrogates are escaped."""
    write_file(path, [text.encode("utf-8", "backslashreplace")])


def _read_stdin() -> bytes:
    try:
        return sys.stdin.buffer.read(_LARGEST + 1)
    except OSError as error:
        raise SourceError("stdin", _reason(error)) from error


def _reason(error: OSError) -> str:
    return "it is closed" if error.errno == EBADF else (error.strerror or str(error)).lower()


def _expand(path: Path, note: Note, choice: FileChoice) -> list[Path]:
    if path == STDIN or not path.is_dir():
        if path != STDIN and not path.exists():
            raise SourceError(str(path), _why_missing(path))
        return [] if path != STDIN and choice.drops(path) else [path]
    top = path.resolve()
    found = []
    for file in _walk(top, choice):
        shown = path / file.relative_to(top)
        if _is_odd(file):
            note(f"skipped {shown}: not a regular file")
        else:
            found.append(shown)
    if not found:
        wanted = ", ".join(f"*{extension}" for extension in choice.extensions)
        note(f"warning: {path}: the directory holds no grammar ({wanted})")
    return found


def _why_missing(path: Path) -> str:
    try:
        path.stat()
    except OSError as error:
        return _reason(error)
    return "no such file or directory"


def _is_odd(file: Path) -> bool:
    """Tell whether an entry is there, but neither a file nor a directory."""
    return os.path.exists(file) and not (os.path.isfile(file) or os.path.isdir(file))


def _walk(top: Path, choice: FileChoice) -> Iterator[Path]:
    """Yield the grammars below a resolved directory, and directories that cannot be listed."""
    # Here, because a run on named files need not pay for loading the library behind it.
    from kbnf_cli.gitignore import is_ignored, rules_above, rules_in

    pending = [(top, rules_above(top))]
    while pending:
        directory, outer = pending.pop()
        try:
            entries = [each for each in directory.iterdir() if not each.name.startswith(".")]
        except OSError as error:
            if directory == top:
                raise SourceError(str(directory), _reason(error)) from error
            yield directory
            continue
        rules = (*outer, *rules_in(directory))
        here = choice.in_directory(directory)
        for entry in entries:
            if os.path.isdir(entry) and not entry.is_symlink():
                if not is_ignored(entry, "/", rules) and not here.leaves_out(entry, "/"):
                    pending.append((entry, rules))
            elif (
                here.is_grammar(entry)
                and not is_ignored(entry, "", rules)
                and not here.leaves_out(entry, "")
            ):
                yield entry
