"""The options of ``kbnf check`` as a value, and the check of one file: find, select, fix.

Tests: tests/cli
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from kbnf_cli.config import Settings, SettingsFor
from kbnf_cli.console import Console, Verbosity
from kbnf_cli.files import STDIN, read_source
from kbnf_cli.inputs import (
    FileInputs,
    Inputs,
    ReadableText,
    is_artifact,
    is_class,
    language_for,
    of_model,
    own_options,
    permitted_imports,
    read_vocabulary,
    schema_of_model,
)
from kbnf_cli.results import Recording, ResultEntry, Results, open_results
from kbnf_core.kernel import has_engine
from kbnf_core.targets import ALL, ENGINE_NAMES, HOST_NAMES, SERVICE_NAMES, engines_of
from kbnf_core.text.diagnostics import Diagnostic, Severity
from kbnf_core.text.diagnostics.formats import Survey
from kbnf_core.text.errors import GrammarError, SourceError
from kbnf_core.text.locks import cached_property
from kbnf_core.text.source import Source

if TYPE_CHECKING:
    from kbnf_core import Grammar
    from kbnf_core.languages import Language
    from kbnf_core.lint import LintOptions
    from kbnf_core.targets.check import Panel
    from kbnf_core.vocab.vocabulary import Vocabulary


SEVERITIES = {severity.label: severity for severity in sorted(Severity, reverse=True)}


@dataclass(frozen=True, kw_only=True)
class CheckOptions(Inputs, FileInputs):
    """The options of a run of ``kbnf check``."""

    reads_several = True

    paths: tuple[Path, ...]
    format_: str
    output_file: Path | None
    jobs: int
    watches: bool
    select: tuple[str, ...] | None
    ignore: tuple[str, ...] | None
    extend_select: tuple[str, ...] | None
    fail_on: str | None
    baseline: Path | None
    write_baseline: Path | None
    fix: bool
    show_diff: bool
    unsafe_fixes: bool
    cost: bool
    max_states: int | None
    max_mask_work: int | None
    targets: tuple[tuple[str, ...], ...]
    exit_zero: bool
    statistics: bool
    show_files: bool
    show_settings: bool
    no_cache: bool
    cache_dir: Path | None

    @property
    def settings(self) -> Settings:
        """The settings on the command line rather than in a configuration file."""
        asked = Settings(
            select=self.select,
            extend_select=self.extend_select,
            ignore=self.ignore,
            fail_on=None if self.fail_on is None else SEVERITIES[self.fail_on],
            vocab=self.vocab,
            eos=self.eos or None,
            targets=tuple(name for names in self.targets for name in names) or None,
            max_states=self.max_states,
            max_mask_work=self.max_mask_work,
        )
        return asked.over(self.file_settings)

    def all_settings(self) -> SettingsFor:
        """Return the sources of the settings of a file, the command line among them."""
        configured = self.settings_source()
        asked = self.settings
        return lambda file: asked.over(configured(file))


@dataclass(frozen=True, slots=True)
class FileReport:
    """One file: its text before and after fixing, the fixes, and the remaining findings.

    Findings of at least ``fail_on`` make the run fail. ``survey`` is what targets were asked,
    ``failures`` are the reasons for which some could not be.
    """

    path: Path
    name: str
    before: str
    after: str
    fixed: tuple[Diagnostic, ...]
    diagnostics: tuple[Diagnostic, ...]
    fail_on: Severity
    survey: "Survey | None" = None
    failures: tuple[str, ...] = ()


class FileCheck:
    """Checks one file after the other; what it has read stays here when it goes to a worker."""

    def __init__(self, console: Console, asked: CheckOptions) -> None:
        self._console = console
        self._asked = asked
        self._results: Results | None = None if asked.no_cache else open_results(asked.cache_dir)
        self._panels: dict[tuple[str, ...], Panel] = {}
        self._surveys: dict[str, tuple[Survey, tuple[str, ...]]] = {}

    def __reduce__(self) -> tuple[object, ...]:
        return FileCheck, (self._console, self._asked)

    @cached_property
    def _settings_for(self) -> SettingsFor:
        return self._asked.settings_source()

    @cached_property
    def _vocabulary_for(self) -> "Callable[[str, tuple[int, ...]], Vocabulary]":
        return cache(partial(read_vocabulary, self._console))

    def __call__(self, path: Path) -> FileReport | SourceError:
        """Check one file, or stdin for ``-``; return the error if it cannot be read.

        Findings are about the text after fixing, if that is requested. Nothing is written. Raises
        the errors of reading settings and vocabularies.
        """
        return self._report(path, self._find)

    def recall(self, path: Path) -> FileReport | SourceError | None:
        """Return the result of the call where all of it is in the cache; None where it is not."""
        if self._results is None or path == STDIN:
            return None
        try:
            return self._report(path, self._recall)
        except _UnknownError:
            return None

    def end(self) -> None:
        """Leave the cache with the size that it may have."""
        if self._results is not None:
            self._results.make_room()
        for panel in self._panels.values():
            panel.close()

    def _report(self, path: Path, find_in: "_Find") -> FileReport | SourceError:
        asked = self._asked
        file = asked.name_of(path)
        settings = asked.settings.over(self._settings_for(file))
        fail_on = settings.fail_on or Severity.ERROR
        name = _relative(file).as_posix()
        from_ = asked.from_ or settings.from_
        try:
            source, invalid = _text_of(path, name, for_engines=bool(settings.targets))
        except SourceError as error:
            return error
        before = source.text
        if invalid is not None:
            kept = _selected([invalid], settings, file)
            return FileReport(path, name, before, before, (), kept, fail_on)

        def find(text: str) -> tuple[Diagnostic, ...]:
            return _selected(
                find_in(_CheckedText(Source(text, name), file, settings, from_)),
                settings,
                file,
            )

        after, fixed = before, tuple[Diagnostic, ...]()
        language = _language_of(before, path, name, from_)
        if language.takes_fixes and (asked.fix or asked.show_diff):
            from kbnf_core.lint.check import fix_text

            result = fix_text(before, find, unsafe=asked.unsafe_fixes, language=language)
            after, fixed = result.text, result.applied
        findings = find(after)
        survey, failures = self._surveys.pop(name, (None, ()))
        return FileReport(path, name, before, after, fixed, findings, fail_on, survey, failures)

    def _find(self, subject: "_CheckedText") -> Sequence[Diagnostic]:
        """Return all findings about a text, from the cache if they are there."""
        options = self._lint_options(subject.settings)
        asked = _asked(subject)
        entry = None if asked else self._entry(subject, options)
        result = None if entry is None else entry.recall()
        if result is not None:
            return result
        imports = Recording()
        checked = self._check(subject, options, imports)
        if asked:
            # Whether we can keep a schema is not asked where others are; a service has its rules,
            # and not those of the service that has the form of the list.
            has_service = bool({*asked} & {*SERVICE_NAMES})
            is_strict = self._schema_options(subject).get("strict") is not None
            others = _OURS | (_OF_FORMS if has_service and not is_strict else frozenset())
            kept = (
                finding
                for finding in checked
                if not subject.has_schemas or finding.code not in others
            )
            checked = [*kept, *self._ask(subject, asked)]
        if entry is not None:
            entry.keep(checked, imports)
        return checked

    def _ask(self, subject: "_CheckedText", names: tuple[str, ...]) -> "tuple[Diagnostic, ...]":
        """Return the findings of engines and services about a text, and keep the answers."""
        from kbnf_core.targets.check import Checked, Panel, check_grammar, check_targets

        if names not in self._panels:
            self._panels[names] = Panel(names)
        panel = self._panels[names]
        name = subject.source.name
        if subject.has_schemas:
            source = Source(subject.source.text, subject.source.path, is_json=True)
            closed = self._schema_options(subject).get("closed")
            imports = permitted_imports()
            checked = check_targets(source, subject.language, panel, imports, closed=closed)
        else:
            grammar = self._grammar(subject)
            checked = Checked() if grammar is None else check_grammar(grammar, panel)
        survey = Survey(
            tuple((target.name, target.version, target.how) for target in panel.targets),
            tuple((name, row.tool, row.target, row.verdict) for row in checked.rows),
        )
        self._surveys[name] = survey, tuple(panel.failures)
        return checked.findings

    def _grammar(self, subject: "_CheckedText") -> "Grammar | None":
        """Return the grammar in a text, None where it has errors: they are findings already."""
        from kbnf_core import Grammar

        try:
            return Grammar.read(
                subject.source.text,
                subject.language,
                path=subject.source.path,
                start=self._asked.start,
                finish=self._asked.finish,
                imports=permitted_imports(),
                defaults=subject.settings.defaults,
                lossy=True,
            )
        except GrammarError:
            return None

    def _recall(self, subject: "_CheckedText") -> Sequence[Diagnostic]:
        """Return the cached findings about a text; raises ``_UnknownError`` if there are none."""
        if _asked(subject):
            raise _UnknownError
        entry = self._entry(subject, self._lint_options(subject.settings))
        result = None if entry is None else entry.recall()
        if result is None:
            raise _UnknownError
        return result

    def _entry(self, subject: "_CheckedText", options: "LintOptions") -> ResultEntry | None:
        """Return the entry of the findings, which is named after everything that decides them."""
        if self._results is None:
            return None
        language, defaults = subject.language, subject.settings.defaults
        vocabulary = options.vocabulary
        settings = [
            language.name,
            self._asked.start,
            self._asked.finish,
            permitted_imports().anywhere,
            self._schema_options(subject),
            (defaults.start, defaults.finish and defaults.finish.value),
            vocabulary and (vocabulary.name, vocabulary.fingerprint),
            *(
                getattr(options, field.name)
                for field in fields(options)
                if field.name != "vocabulary"
            ),
        ]
        # Findings about JSON have pointers, those that come back, too.
        source = replace(subject.source, is_json=language.is_json)
        return self._results.entry(source, settings)

    def _schema_options(self, subject: "_CheckedText") -> dict[str, Any]:
        """Return the options that the text of a file, or the schema of a class, is read with."""
        given = {**(subject.settings.options or {}), **self._asked.schema}
        if is_class(str(subject.file)):
            given = of_model(given)
        if "llguidance" in (subject.settings.targets or ()):
            given = {"lexing": "llguidance", **given}
        return dict(own_options(given, subject.language))

    def _check(
        self, subject: "_CheckedText", options: "LintOptions", recording: Recording
    ) -> Sequence[Diagnostic]:
        from kbnf_core.lint.check import check

        text, name = subject.source.text, subject.source.name
        return check(
            text,
            name,
            language=subject.language,
            start=self._asked.start,
            finish=self._asked.finish,
            options=options,
            language_options=self._schema_options(subject),
            imports=permitted_imports()._replace(load=recording.load),
            defaults=subject.settings.defaults,
        )

    def _lint_options(self, settings: Settings) -> "LintOptions":
        from kbnf_core.lint import TARGETS, LintOptions

        vocabulary = None
        if settings.vocab is not None:
            vocabulary = self._vocabulary_for(settings.vocab, settings.eos or ())
        return LintOptions(
            vocabulary=vocabulary,
            targets=tuple(name for name in settings.targets or () if name in TARGETS),
            reports_cost=self._asked.cost,
            max_states=settings.max_states,
            max_mask_work=settings.max_mask_work,
            reports_effort=self._console.verbosity is Verbosity.VERBOSE,
        )


def _asked(subject: "_CheckedText") -> tuple[str, ...]:
    """Return the engines and services that are asked; answers of engines are not kept."""
    names = subject.settings.targets or ()
    if subject.has_schemas:
        answerable = (*ENGINE_NAMES, *HOST_NAMES, *SERVICE_NAMES, ALL)
        return tuple(name for name in names if name in answerable)
    names = tuple(engines_of(names))
    if not set(names) & {*ENGINE_NAMES, ALL} or not has_engine():
        return ()
    # For grammars there is a table, too (E502): engines that are not installed are not missed.
    from kbnf_core.targets.exam import reads_grammars
    from kbnf_core.targets.process import installed

    there = tuple(name for name in installed() if reads_grammars(name))
    if ALL in names:
        return (ALL,) if there else ()
    return tuple(name for name in names if name in there)


_OURS = frozenset(("E801", "E804", "W808"))
"""Constructs of a schema that the conversion to a grammar of this library cannot keep."""

_OF_FORMS = frozenset(("E809", "W825"))
"""Refusals of a service for lists of tools in its form, or with its strict mode."""


class _UnknownError(Exception):
    """The findings are not in the cache."""


@dataclass(frozen=True, slots=True)
class _CheckedText:
    """A text to check, of a file with its settings."""

    source: Source
    file: Path
    settings: Settings
    from_: str | None

    @property
    def language(self) -> "Language":
        """The language of the text."""
        return _language_of(self.source.text, self.file, self.source.name, self.from_)

    @property
    def has_schemas(self) -> bool:
        """Whether the text is a JSON Schema, or a list of tools with one each."""
        from kbnf_core.languages import JSON_SCHEMA, TOOL_LIST

        return self.language in (JSON_SCHEMA, TOOL_LIST)


_Find: TypeAlias = Callable[[_CheckedText], Sequence[Diagnostic]]


def _text_of(path: Path, name: str, *, for_engines: bool) -> "tuple[Source, Diagnostic | None]":
    """Return the text to check, which of an artifact is the one that it was made of."""
    if is_class(str(path)):
        return Source(schema_of_model(str(path), for_engines=for_engines), name), None
    if is_artifact(path):
        return _inside(path).source, None
    return read_source(path, name)


@lru_cache(maxsize=1)
def _inside(path: Path) -> ReadableText:
    """Return the text that an artifact was made of; it is asked for its language, too."""
    return Inputs(isolated=True).text(path)


def _language_of(text: str, path: Path, name: str, from_: str | None) -> "Language":
    from kbnf_core.languages import JSON_SCHEMA

    if is_class(str(path)):
        return JSON_SCHEMA
    return _inside(path).language if is_artifact(path) else language_for(text, name, from_)


def _selected(
    findings: Sequence[Diagnostic], settings: Settings, file: Path
) -> tuple[Diagnostic, ...]:
    selection = settings.selection_for(file)
    return tuple(diagnostic for diagnostic in findings if diagnostic.code in selection)


def _relative(file: Path) -> Path:
    """Return the path below the current directory, if it is there: it is the same everywhere."""
    if not file.is_absolute():
        return file
    here = Path.cwd()
    return file.relative_to(here) if file.is_relative_to(here) else file
