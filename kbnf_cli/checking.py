"""What ``kbnf check`` does to one file: find, select, fix."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from kbnf_cli.config import Settings, SettingsFor
from kbnf_cli.files import STDIN, read_source
from kbnf_core.diagnostics import Diagnostic, Severity
from kbnf_core.errors import SourceError

if TYPE_CHECKING:
    from kbnf_core.lint.options import LintOptions
    from kbnf_core.vocab.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Request:
    """What a run of the command asks for; ``settings`` are those of its options."""

    settings: Settings
    settings_for: SettingsFor
    vocabulary: "Callable[[str, tuple[int, ...]], Vocabulary]"
    stdin_filename: Path | None = None
    start: str | None = None
    finish: str | None = None
    reports_cost: bool = False

    def name_of(self, path: Path) -> Path:
        """Return what a file is called: stdin's name for ``-``."""
        return (self.stdin_filename or Path("<stdin>")) if path == STDIN else path


@dataclass(frozen=True, slots=True)
class Report:
    """One file: its text before and after fixing, what was fixed, and what is left.

    Findings of at least ``fail_on`` make the run fail.
    """

    path: Path
    name: str
    before: str
    after: str
    fixed: tuple[Diagnostic, ...]
    diagnostics: tuple[Diagnostic, ...]
    fail_on: Severity


class FileCheck:
    """Checks one file after the other; sent to worker processes, so it holds values only."""

    def __init__(self, make_request: Callable[[], Request], fixes: str | None) -> None:
        self._make_request = make_request
        self._fixes = fixes
        self._request: Request | None = None

    def __call__(self, path: Path) -> Report | SourceError:
        """Check a file; see ``check_file``."""
        if self._request is None:
            self._request = self._make_request()
        return check_file(path, self._request, self._fixes)


def check_file(path: Path, request: Request, fixes: str | None = None) -> Report | SourceError:
    """Check one file, or stdin for ``-``; return why it cannot be read where it cannot.

    ``fixes`` is ``"safe"``, ``"unsafe"`` (which includes the safe ones) or None; what is found is
    then about the fixed text. Nothing is written. Raises what reading settings and vocabularies
    raises.
    """
    file = request.name_of(path)
    settings = request.settings.over(request.settings_for(file))
    fail_on = settings.fail_on or Severity.ERROR
    name = _relative(file).as_posix()
    try:
        source, invalid = read_source(path, name)
    except SourceError as error:
        return error
    before = source.text
    if invalid is not None:
        kept = _selected([invalid], settings, file)
        return Report(path, name, before, before, (), kept, fail_on)
    find = partial(_find, name=name, file=file, settings=settings, request=request)
    after, fixed = before, tuple[Diagnostic, ...]()
    if fixes is not None:
        from kbnf_core.languages import language_of
        from kbnf_core.lint.fixes import fix_text

        unsafe = fixes == "unsafe"
        result = fix_text(before, find, unsafe=unsafe, language=language_of(name))
        after, fixed = result.text, result.applied
    return Report(path, name, before, after, fixed, find(after), fail_on)


def _find(
    text: str, *, name: str, file: Path, settings: Settings, request: Request
) -> tuple[Diagnostic, ...]:
    """Return what is selected of everything that can be said about a text."""
    from kbnf_core.imports import ANYWHERE
    from kbnf_core.lint.check import check

    found = check(
        text,
        name,
        start=request.start,
        finish=request.finish,
        options=_options(settings, request),
        imports=ANYWHERE,
    )
    return _selected(found, settings, file)


def _options(settings: Settings, request: Request) -> "LintOptions":
    from kbnf_core.lint.options import LintOptions

    vocabulary = None
    if settings.vocab is not None:
        vocabulary = request.vocabulary(settings.vocab, settings.eos or ())
    return LintOptions(
        vocabulary=vocabulary,
        targets=settings.targets or (),
        reports_cost=request.reports_cost,
        max_states=settings.max_states,
        max_mask_work=settings.max_mask_work,
    )


def _selected(
    found: Sequence[Diagnostic], settings: Settings, file: Path
) -> tuple[Diagnostic, ...]:
    selection = settings.selection_for(file)
    return tuple(diagnostic for diagnostic in found if diagnostic.code in selection)


def _relative(file: Path) -> Path:
    """Return the path below the current directory, if it is there: it is the same everywhere."""
    if not file.is_absolute():
        return file
    here = Path.cwd()
    return file.relative_to(here) if file.is_relative_to(here) else file
