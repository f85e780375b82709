"""Grammar files: finding them, reading them, and writing results.

Directories are walked for grammars by their extensions, leaving out hidden entries and whatever git
ignores; ``exclude`` and ``include`` say more. A file that is named is read whatever it is called.

Beginners pass a pattern, a rule, a schema or the text itself where a file is expected. Each kind
has one hint with a command that works as it is printed (``hints_for``); a test runs every one of
them.

Tests: tests/cli/test_files.py
"""

import json
import os
import re
import shlex
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from errno import EBADF
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from kbnf_core.languages import EXTENSIONS, KBNF
from kbnf_core.text.diagnostics import decode
from kbnf_core.text.diagnostics.text import count_of
from kbnf_core.text.errors import GrammarError, SourceError
from kbnf_core.text.files import read_file, read_up_to, write_file
from kbnf_core.text.limits import DEFAULT_LIMITS
from kbnf_core.text.locks import cached_property

if TYPE_CHECKING:
    import pathspec

    from kbnf_core.text.diagnostics import Diagnostic
    from kbnf_core.text.source import Source


@dataclass(frozen=True)
class IgnorePatterns:
    """Patterns as in a ``.gitignore`` in the directory ``base``, which is resolved."""

    base: Path
    lines: tuple[str, ...]

    def match(self, path: Path, suffix: str) -> bool:
        """Return whether a resolved path matches; ``suffix`` is ``/`` for directories."""
        return self.verdict(path, suffix) is True

    def verdict(self, path: Path, suffix: str) -> bool | None:
        """Return the verdict of the last pattern that matches, None if there is none."""
        if path == self.base or not path.is_relative_to(self.base):
            return None
        inner = path.relative_to(self.base).as_posix()
        return self._spec.check_file(inner + suffix).include

    def compile(self) -> None:
        """Raise ``ValueError`` for an invalid pattern."""
        _ = self._spec

    @cached_property
    def _spec(self) -> "pathspec.GitIgnoreSpec":
        import pathspec

        return pathspec.GitIgnoreSpec.from_lines(self.lines)


_MODEL = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*:[^\W\d]\w*(?:\.[^\W\d]\w*)*")

NEVER = frozenset({"__pypackages__", "node_modules", "site-packages", "venv"})
"""Directories of third-party files: not searched, unless ``exclude`` says otherwise."""


JSON = ".json"
CHECKED = (*EXTENSIONS, ".schema.json", ".tools.json")
"""Suffixes of the files that ``kbnf check`` searches in directories: other JSON may be anything."""


class Exclusions(Protocol):
    """The settings about the files that count."""

    @property
    def exclude(self) -> IgnorePatterns | None: ...  # noqa: D102 - as `config.Settings` has it

    @property
    def extend_exclude(self) -> IgnorePatterns | None: ...  # noqa: D102

    @property
    def include(self) -> IgnorePatterns | None: ...  # noqa: D102

    @property
    def force_exclude(self) -> bool | None: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class FileChoice:
    """Selects the files of a directory, by their suffixes and the settings of the place.

    ``but`` is left out beside what the settings exclude.
    """

    extensions: Collection[str]
    settings_for: Callable[[Path], Exclusions] | None = None
    but: IgnorePatterns | None = None

    def in_directory(self, directory: Path) -> "DirectoryChoice":
        """Return the selected files among the entries of a resolved directory."""
        settings = None if self.settings_for is None else self.settings_for(directory / "entry")
        return DirectoryChoice(self.extensions, settings, self.but)

    def drops(self, file: Path) -> bool:
        """Return whether a named file is excluded all the same, as ``force-exclude`` asks."""
        if self.settings_for is None:
            return False
        settings = self.settings_for(file)
        if not settings.force_exclude:
            return False
        choice = DirectoryChoice(self.extensions, settings, self.but)
        return choice.leaves_out(file.resolve(), "")


@dataclass(frozen=True, slots=True)
class DirectoryChoice:
    """The selected files among the entries of one directory."""

    extensions: Collection[str]
    settings: Exclusions | None
    but: IgnorePatterns | None = None

    def leaves_out(self, entry: Path, suffix: str) -> bool:
        """Return whether an entry is excluded; ``suffix`` is ``/`` for directories."""
        if self.but is not None and self.but.match(entry, suffix):
            return True
        return self.settings is not None and is_excluded(entry, suffix, self.settings)

    def is_grammar(self, file: Path) -> bool:
        """Return whether a file is a grammar, by its name.

        ``include`` says which files are grammars, not what other files, such as schemas, are.
        Where it takes one with an extension of no language, that is KBNF.
        """
        include = None if self.settings is None else self.settings.include
        is_one = any(file.name.endswith(extension) for extension in self.extensions)
        if include is None or (is_one and file.suffix not in EXTENSIONS):
            return is_one
        language = file.suffix if file.suffix in EXTENSIONS else KBNF.extension
        return language in self.extensions and include.match(file, "")


def is_excluded(path: Path, suffix: str, settings: Exclusions) -> bool:
    """Return whether ``exclude`` or ``extend-exclude`` matches a resolved path, or ``NEVER``."""
    if settings.exclude is None:
        if suffix and path.name in NEVER:
            return True
    elif settings.exclude.match(path, suffix):
        return True
    return settings.extend_exclude is not None and settings.extend_exclude.match(path, suffix)


_LARGEST_IGNORE = 2**24
"""Bytes of a ``.gitignore`` that is read."""


def rules_in(directory: Path) -> tuple[IgnorePatterns, ...]:
    """Return the rules that a resolved directory adds: at most one element."""
    file = directory / ".gitignore"
    if not os.path.isfile(file):
        return ()
    try:
        lines = read_file(file, _LARGEST_IGNORE).decode("utf-8", "replace").splitlines()
    except SourceError:
        # As for git, a file that cannot be read has no rules.
        return ()
    return (IgnorePatterns(directory, tuple(lines)),)


def rules_above(directory: Path) -> tuple[IgnorePatterns, ...]:
    """Return the rules of the resolved directories above, from the repository's root down.

    None outside a repository. A directory that is itself ignored was named on purpose, so
    nothing above it counts either.
    """
    above = _parents_in_repository(directory)
    rules = tuple(rule for parent in reversed(above) for rule in rules_in(parent))
    return () if is_ignored(directory, "/", rules) else rules


def is_ignored(path: Path, suffix: str, rules: Sequence[IgnorePatterns]) -> bool:
    """Return whether git ignores the resolved ``path``; ``suffix`` is ``/`` for directories.

    The innermost file that says anything decides.
    """
    verdicts = (rule.verdict(path, suffix) for rule in reversed(rules))
    return next((verdict for verdict in verdicts if verdict is not None), False)


def _parents_in_repository(directory: Path) -> list[Path]:
    """Return the directories above, innermost first, up to the one that contains ``.git``."""
    inside = []
    for parent in (directory, *directory.parents):
        inside.append(parent)
        if (parent / ".git").exists():
            return inside[1:]
    return []


STDIN = Path("-")

Note = Callable[[str], None]
"""Receives notes beside the results."""

_LARGEST = DEFAULT_LIMITS.source_bytes


def find_grammars(paths: Iterable[Path], note: Note, choice: FileChoice) -> list[Path]:
    """Return the named files and the grammars below the named directories, sorted, each once.

    ``choice`` selects the grammars in a directory; pipes, sockets and devices in it are skipped
    with a ``note``, and a directory without grammars gets one. A directory below that cannot be
    listed is returned itself: it cannot be read either. Raises ``SourceError`` for a path that does
    not exist.
    """
    result = {file for path in paths for file in _expand(path, note, choice)}
    return sorted(result, key=Path.as_posix)


def read_source(path: Path, name: str) -> "tuple[Source, Diagnostic | None]":
    """Return the text of a grammar, called ``name``, or of stdin for ``-``.

    A finding comes with it where it is not text, or too large. Raises ``SourceError``.
    """
    return decode(_read_stdin() if path == STDIN else read_up_to(path, _LARGEST + 1), name)


def read_text(path: Path, name: str) -> "Source":
    """Return the same; a finding is raised as ``GrammarError``."""
    source, invalid = read_source(path, name)
    if invalid is not None:
        raise GrammarError([invalid])
    return source


def read_bytes(path: Path) -> bytes:
    """Return the content of a file other than a grammar, or of stdin for ``-``.

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
    result: list[Path] = []
    others: list[Path] = []
    for file in _walk(top, choice, others):
        shown = path / file.relative_to(top)
        if _is_odd(file):
            note(f"skipped {shown}: not a regular file")
        else:
            result.append(shown)
    if others and choice.extensions == CHECKED:
        files = f"{count_of(len(others), 'other file')} in JSON"
        note(f"{path}: left out {files}; name those that are schemas or lists of tools")
    if not result:
        wanted = ", ".join(f"*{extension}" for extension in choice.extensions)
        note(f"warning: {path}: the directory contains no grammar ({wanted})")
    return result


def is_model_name(text: str) -> bool:
    """Return whether ``text`` is written as ``module:Class``."""
    return _MODEL.fullmatch(text) is not None


def _why_missing(path: Path) -> str:
    try:
        path.stat()
    except OSError as error:
        return _reason(error)
    return "no such file or directory"


def _is_odd(file: Path) -> bool:
    """Return whether an entry is there, but neither a file nor a directory."""
    return os.path.exists(file) and not (os.path.isfile(file) or os.path.isdir(file))


def _walk(top: Path, choice: FileChoice, others: list[Path]) -> Iterator[Path]:
    """Yield the grammars below a resolved directory, and directories that cannot be listed.

    Other files in JSON are added to ``others``.
    """
    # Here, because a run on named files need not pay for loading its library.

    pending = [(top, rules_above(top))]
    while pending:
        directory, outer = pending.pop()
        try:
            entries = [child for child in directory.iterdir() if not child.name.startswith(".")]
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
            elif (is_one := here.is_grammar(entry)) or entry.suffix == JSON:
                if is_ignored(entry, "", rules) or here.leaves_out(entry, ""):
                    continue
                if is_one:
                    yield entry
                else:
                    others.append(entry)


_NO_FILE = ("no such file", "file name too long")

_PATTERN = re.compile(r"[\[\](){}*+?|^$\\]")
"""Characters of regular expressions that names of files hardly have."""


def hints_for(error: SourceError) -> tuple[str, ...]:
    """Return how to pass a value that was named in place of a file; nothing for other failures."""
    if not error.reason.lower().startswith(_NO_FILE) or ";" in error.reason:
        return ()
    return tuple(_hints(error.path))


def _hints(name: str) -> Iterator[str]:
    if Path(name).suffix in _extensions():
        near = _similar(name)
        if near is not None:
            yield f"did you mean `{near}`?"
    elif is_model_name(name):
        yield f"`kbnf convert {name}` imports a class, as do check and diff"
    elif "::=" in name:
        yield f"`-` reads a grammar from stdin: `printf %s {shlex.quote(name)} | kbnf explain -`"
    elif _is_object(name):
        piped = f"printf %s {shlex.quote(name)}"
        yield f"a JSON Schema is read from a file or stdin: `{piped} | kbnf convert -`"
        yield "--text of the commands match and mask gives a text directly"
    elif _PATTERN.search(name):
        from kbnf_core.kbnf.printer import spell_regex

        with suppress(ValueError):
            grammar = shlex.quote(f"start ::= {spell_regex(name)};")
            yield (
                f"a regular expression is part of a grammar: `printf %s {grammar} | kbnf explain -`"
            )
            piped = f"printf %s {shlex.quote(name)}"
            yield f"or it is converted from stdin: `{piped} | kbnf convert --from regex -`"
    else:
        near = _similar(name)
        if near is not None:
            yield f"did you mean `{near}`?"
        elif not Path(name).suffix:
            yield "`kbnf help grammars` lists the grammars that are included, by name"


def _extensions() -> tuple[str, ...]:
    from kbnf_core.artifact import SUFFIX
    from kbnf_core.languages import EXTENSIONS

    return (*EXTENSIONS, SUFFIX, ".json")


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict | bool)
    except (ValueError, RecursionError):
        return False


def _similar(name: str) -> str | None:
    """Return the included grammar, or the file in the same folder, that a name resembles."""
    from kbnf_core.shipped import grammar_names
    from kbnf_core.text.suggest import Suggestions

    path = Path(name)
    names = (
        {grammar_name: grammar_name for grammar_name in grammar_names()}
        if path.parent == Path()
        else {}
    )
    with suppress(OSError):
        names |= {entry.name: str(path.parent / entry.name) for entry in path.parent.iterdir()}
    near = Suggestions(names).closest(path.name)
    return None if near is None else names[near]
