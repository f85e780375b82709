"""Grammar files: finding them, reading them, and writing results.

Directories are walked for grammars by their extensions, leaving out hidden entries and whatever git
ignores. A file that is named is taken whatever it is called.
"""

import os
import shutil
import sys
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from kbnf_core.errors import SourceError

STDIN = Path("-")
EXTENSIONS = (".kbnf",)


def find_grammars(paths: Iterable[Path], extensions: Collection[str] = EXTENSIONS) -> list[Path]:
    """Return the named files and the grammars below the named directories, sorted, each once.

    ``extensions`` tells what is a grammar in a directory. Raises ``SourceError`` for a path that
    does not exist and a directory without grammars.
    """
    found = {file for path in paths for file in _expand(path, extensions)}
    return sorted(found, key=Path.as_posix)


def read_bytes(path: Path) -> bytes:
    """Return what a file, or stdin for ``-``, holds. Raises ``SourceError``."""
    try:
        return sys.stdin.buffer.read() if path == STDIN else path.read_bytes()
    except OSError as error:
        raise _source_error(path, error) from error


def write_atomically(path: Path, text: str) -> None:
    """Write ``text`` as UTF-8; a file is replaced whole or not at all, and keeps its mode."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")
        if path.exists():
            shutil.copymode(path, temporary)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _expand(path: Path, extensions: Collection[str]) -> list[Path]:
    if path == STDIN or path.is_file():
        return [path]
    if not path.exists():
        raise SourceError(str(path), "no such file or directory")
    if not path.is_dir():
        return [path]
    top = path.resolve()
    found = [path / file.relative_to(top) for file in _walk(top, extensions)]
    if not found:
        wanted = ", ".join(f"*{extension}" for extension in extensions)
        raise SourceError(str(path), f"the directory holds no grammar ({wanted})")
    return found


def _walk(top: Path, extensions: Collection[str]) -> Iterator[Path]:
    """Yield the grammars below a resolved directory, in no particular order."""
    # Here, because a run on named files need not pay for loading the library behind it.
    from kbnf_cli.gitignore import is_ignored, rules_above, rules_in

    pending = [(top, rules_above(top))]
    while pending:
        directory, outer = pending.pop()
        rules = (*outer, *rules_in(directory))
        for entry in _entries(directory):
            if entry.is_dir() and not entry.is_symlink():
                if not is_ignored(entry, "/", rules):
                    pending.append((entry, rules))
            elif entry.suffix in extensions and not is_ignored(entry, "", rules):
                yield entry


def _entries(directory: Path) -> list[Path]:
    try:
        return [entry for entry in directory.iterdir() if not entry.name.startswith(".")]
    except OSError as error:
        raise _source_error(directory, error) from error


def _source_error(path: Path, error: OSError) -> SourceError:
    return SourceError(str(path), (error.strerror or str(error)).lower())
