"""The check of one file by ``kbnf check``: find, select, fix."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from kbnf_cli.config import Settings, SettingsFor
from kbnf_cli.console import Console, Verbosity
from kbnf_cli.files import read_source
from kbnf_cli.grammars import is_artifact, language_name, open_text
from kbnf_cli.inputs import read_vocabulary
from kbnf_core.diagnostics import Diagnostic, Severity
from kbnf_core.errors import SourceError

if TYPE_CHECKING:
    from kbnf_cli.check import CheckOptions
    from kbnf_core.languages import Language
    from kbnf_core.lint.options import LintOptions
    from kbnf_core.source import Source
    from kbnf_core.vocab.vocabulary import Vocabulary


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
    """Checks one file after the other; travels to worker processes before its first call."""

    def __init__(self, console: Console, asked: "CheckOptions") -> None:
        self._console = console
        self._asked = asked

    @cached_property
    def _settings_for(self) -> SettingsFor:
        return self._asked.settings_source()

    @cached_property
    def _vocabulary_for(self) -> "Callable[[str, tuple[int, ...]], Vocabulary]":
        return cache(partial(read_vocabulary, self._console))

    def __call__(self, path: Path) -> Report | SourceError:
        """Check one file, or stdin for ``-``; return why it cannot be read where it cannot.

        What is found is about the text after fixing, if that is asked for. Nothing is written.
        Raises what reading settings and vocabularies raises.
        """
        asked = self._asked
        file = asked.name_of(path)
        settings = asked.settings.over(self._settings_for(file))
        fail_on = settings.fail_on or Severity.ERROR
        name = _relative(file).as_posix()
        try:
            source, invalid = _text_of(path, name)
        except SourceError as error:
            return error
        before = source.text
        if invalid is not None:
            kept = _selected([invalid], settings, file)
            return Report(path, name, before, before, (), kept, fail_on)
        find = partial(self._find, name=name, file=file, settings=settings)
        after, fixed = before, tuple[Diagnostic, ...]()
        language = _language_of(before, path, name)
        if language is not None and (asked.fix or asked.show_diff):
            from kbnf_core.lint.fixes import fix_text

            result = fix_text(before, find, unsafe=asked.unsafe_fixes, language=language)
            after, fixed = result.text, result.applied
        return Report(path, name, before, after, fixed, find(after), fail_on)

    def _find(
        self, text: str, *, name: str, file: Path, settings: Settings
    ) -> tuple[Diagnostic, ...]:
        """Return what is selected of everything that can be said about a text."""
        from kbnf_core.imports import ANYWHERE
        from kbnf_core.lint.check import check

        language = _language_of(text, file, name)
        if language is None:
            return _selected(_findings_of_converting(text, name), settings, file)
        found = check(
            text,
            name,
            language=language,
            start=self._asked.start,
            finish=self._asked.finish,
            options=self._lint_options(settings),
            imports=ANYWHERE,
            defaults=settings.defaults,
        )
        return _selected(found, settings, file)

    def _lint_options(self, settings: Settings) -> "LintOptions":
        from kbnf_core.lint.options import LintOptions

        vocabulary = None
        if settings.vocab is not None:
            vocabulary = self._vocabulary_for(settings.vocab, settings.eos or ())
        return LintOptions(
            vocabulary=vocabulary,
            targets=settings.targets or (),
            reports_cost=self._asked.cost,
            max_states=settings.max_states,
            max_mask_work=settings.max_mask_work,
            reports_effort=self._console.verbosity is Verbosity.VERBOSE,
        )


def _text_of(path: Path, name: str) -> "tuple[Source, Diagnostic | None]":
    """Return the text to check, which of an artifact is the one that it was made of."""
    if is_artifact(path):
        return open_text(path, name, None).source, None
    return read_source(path, name)


def _language_of(text: str, path: Path, name: str) -> "Language | None":
    """Return the language of a text; None if it is one that only converting reads."""
    from kbnf_core.languages import KBNF, LANGUAGES

    if is_artifact(path):
        return KBNF
    wanted = language_name(text, name)
    return next((each for each in LANGUAGES if each.name == wanted), None)


def _findings_of_converting(text: str, name: str) -> tuple[Diagnostic, ...]:
    """Return what is wrong with a text without rules, such as a JSON Schema, or lost in KBNF."""
    from kbnf_core.convert import to_kbnf
    from kbnf_core.errors import GrammarError
    from kbnf_core.source import Source

    try:
        conversion = to_kbnf(language_name(text, name), text, path=name)
    except GrammarError as error:
        return error.diagnostics
    source = Source(text, name)
    losses = (loss.diagnostic(source) for loss in conversion.losses)
    return tuple(sorted((*losses, *conversion.notes), key=Diagnostic.sort_key))


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
