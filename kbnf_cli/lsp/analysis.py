"""The facts of a text for a server: findings, outline, first bytes, results of examples.

All of it is made in a worker process, of plain values. Nothing that a text names is executed or
imported, and files are read only below the folders of the workspace, or without one below that of
the text's own file.

Tests: tests/lsp/test_workshop.py, tests/lsp/test_process.py
"""

from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, replace
from pathlib import Path

from kbnf_cli.config import Settings, settings_source
from kbnf_cli.escaped import byte_ranges
from kbnf_cli.inputs import own_options
from kbnf_core.frontend import Reading, read_grammar
from kbnf_core.kbnf.outline import NOTHING, Outline
from kbnf_core.kbnf.parsed import Request
from kbnf_core.languages import KBNF, language_of
from kbnf_core.lint import TARGETS, LintOptions
from kbnf_core.lint.check import findings_of
from kbnf_core.text.diagnostics import Diagnostic
from kbnf_core.text.errors import KbnfError
from kbnf_core.text.files import Imports, load_text
from kbnf_core.text.limits import DEFAULT_LIMITS
from kbnf_core.text.source import Source

LIMITS = replace(DEFAULT_LIMITS, source_bytes=4 * 2**20)
"""Those of a text in an editor: a larger one is E017, and is not read."""

_MOST_RANGES = 6
"""Ranges of first bytes that a hint shows."""


@dataclass(frozen=True, slots=True)
class AnalysisRequest:
    """A version of a text, the path of its file, and the folders of the workspace.

    Without a workspace imports are read below the folder of the file. Settings of a file outside of
    the workspace are the nearest above it, as on the command line.
    """

    text: str
    path: str
    folders: tuple[str, ...]
    version: int | None = None

    @property
    def readable(self) -> tuple[str, ...]:
        """The folders below which files are read."""
        return self.folders or (str(Path(self.path).parent),)


@dataclass(frozen=True, slots=True)
class TextAnalysis:
    """The findings in a text.

    ``begins`` has the bytes that the nonterminals can begin with. ``has_examples`` says of comments
    that ``kbnf test`` runs, in a text without errors. ``trouble`` is the mistake in the settings.
    """

    source: Source
    findings: tuple[Diagnostic, ...] = ()
    outline: Outline = NOTHING
    begins: tuple[tuple[str, str], ...] = ()
    has_examples: bool = False
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class ExampleResult:
    """An example by the index at which its comment starts, and its outcome."""

    index: int
    passed: bool
    text: str


def analyse(request: AnalysisRequest) -> Iterator[TextAnalysis]:
    """Yield names and errors of a text, then all but the results of its examples; never raises."""
    source = Source(request.text, request.path)
    language = language_of(request.path)
    try:
        settings, trouble = _settings(request), ""
    except KbnfError as error:
        settings, trouble = Settings(), str(error)
    selection = settings.selection_for(Path(request.path))

    def selected(findings: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
        return tuple(
            finding
            for finding in findings
            if finding.code in selection and finding.source.text == source.text
        )

    wanted = Request(
        limits=LIMITS,
        imports=_imports(request),
        defaults=settings.defaults,
        lossy=True,
        options=own_options(settings.options or {}, language),
    )
    reading = read_grammar(source, language, wanted)
    outline = language.outline(source, LIMITS)
    analysis = TextAnalysis(source, selected(reading.errors), outline, trouble=trouble)
    yield analysis
    yield replace(
        analysis,
        findings=selected(findings_of(reading, LintOptions(targets=_tabled(settings)))),
        begins=tuple(_begins(reading)),
        has_examples=language is KBNF
        and not reading.errors
        and any("kbnf:" in comment.text for comment in reading.document.comments),
    )


def _tabled(settings: Settings) -> tuple[str, ...]:
    """Return the targets with a table of refusals; no engine is asked for it."""
    return tuple(name for name in settings.targets or () if name in TARGETS)


def run_examples(request: AnalysisRequest) -> Iterator[tuple[ExampleResult, ...]]:
    """Yield the outcomes of the examples in the comments of a text in KBNF; never raises."""
    from kbnf_core import Engine, Vocabulary
    from kbnf_core.examples.cases import Status, read_comments
    from kbnf_core.examples.cases import run_examples as outcomes_of
    from kbnf_core.grammar import Grammar

    try:
        grammar = Grammar(request.text, path=request.path, defaults=_settings(request).defaults)
        examples = list(read_comments(grammar.reading.document))
        outcomes = list(outcomes_of(Engine(grammar, Vocabulary.bytes()), examples))
    except KbnfError:
        outcomes = []
    yield tuple(
        ExampleResult(
            grammar.source.line_start(int(outcome.example.name.removeprefix("line "))),
            outcome.status is Status.PASSED,
            outcome.message,
        )
        for outcome in outcomes
    )


def format_text(text: str) -> Iterator[str | None]:
    """Yield the canonical layout of a grammar in KBNF; None where errors prevent it."""
    from kbnf_core.kbnf.format import format_kbnf

    yield format_kbnf(Source(text)).text


def _settings(request: AnalysisRequest) -> Settings:
    """Return the nearest settings, of a file in the workspace those of the workspace only.

    Raises what ``settings_source`` raises.
    """
    path = Path(request.path)
    is_in_workspace = is_below(path, request.folders)
    folders = request.folders if is_in_workspace else (path.anchor,)
    for folder in path.parents if path.is_absolute() else ():
        if not is_below(folder, folders):
            break
        for name in ("kbnf.toml", "pyproject.toml"):
            file = folder / name
            if file.is_file() and is_below(file, folders):
                settings = settings_source(file, isolated=False)(path)
                if name == "kbnf.toml" or settings != Settings():
                    return settings
    return Settings()


def _imports(request: AnalysisRequest) -> Imports:
    def load(path: str) -> str | None:
        return load_text(path) if is_below(Path(path), request.readable) else None

    return Imports(load, anywhere=True)


def is_below(path: Path, folders: tuple[str, ...]) -> bool:
    """Return whether a path, links followed, is one of the folders or below one."""
    resolved = path.resolve()
    return any(resolved.is_relative_to(Path(folder).resolve()) for folder in folders)


def _begins(reading: Reading) -> Iterator[tuple[str, str]]:
    """Yield the nonterminals with the bytes that their texts can begin with."""
    if reading.grammar is None or reading.analysis is None or reading.is_endless:
        return
    from kbnf_core.lower.facts import Firsts

    firsts = Firsts(reading.grammar, reading.analysis)
    for name, body in reading.grammar.rules.items():
        yield name, _shown(firsts.within(body)[id(body)])


def _shown(values: Set[int]) -> str:
    """Return bytes as ranges, in the form of a class, which takes less room than quotes."""
    ranges = byte_ranges(values)
    shown = " ".join(_range(*bounds) for bounds in ranges[:_MOST_RANGES])
    return shown + (" …" if len(ranges) > _MOST_RANGES else "")


def _range(low: int, high: int) -> str:
    return _byte(low) if low == high else f"{_byte(low)}-{_byte(high)}"


def _byte(value: int) -> str:
    return chr(value) if 0x20 < value < 0x7F else f"\\x{value:02x}"
