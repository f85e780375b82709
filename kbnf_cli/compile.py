"""``kbnf compile``: grammars to artifacts on disk.

Tests: tests/cli/test_compile.py
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kbnf_cli.console import Console, Exit
from kbnf_cli.files import STDIN, find_grammars
from kbnf_cli.inputs import GRAMMAR, FileInputs, Inputs, read_vocabulary
from kbnf_cli.jobs import jobs_option, run_jobs
from kbnf_cli.options import (
    as_value,
    common_options,
    config_options,
    eos_option,
    examples,
    file_options,
    grammar_options,
    schema_options,
)
from kbnf_cli.store import Filling, artifact_text, fill, table_text
from kbnf_core.languages import EXTENSIONS
from kbnf_core.text.diagnostics import Diagnostic
from kbnf_core.text.errors import GrammarError, KbnfError

if TYPE_CHECKING:
    from kbnf_core import Vocabulary


@dataclass(frozen=True, kw_only=True)
class CompileInputs(Inputs, FileInputs):
    """The inputs of a run of ``kbnf compile``."""

    reads_several = True


class _CompileTask:
    """Compiles one grammar after the other; sent to worker processes, so it is plain data."""

    def __init__(self, inputs: Inputs, lossy: bool) -> None:
        self._inputs = inputs
        self._lossy = lossy
        self._vocabulary: Vocabulary | None = None

    def __call__(self, job: tuple[Path, Path]) -> KbnfError | OSError | tuple[Diagnostic, ...]:
        """Compile a grammar to a file; return its losses, or the error."""
        try:
            return self.compile(*job)
        except (KbnfError, OSError) as error:
            return error

    def compile(self, grammar: Path, out: Path) -> tuple[Diagnostic, ...]:
        """Compile a grammar to a file; return its losses."""
        from kbnf_core.compiled import compile_artifact

        vocabulary = self.vocabulary(Console())
        opened = self._inputs.grammar(grammar, vocabulary, lossy=self._lossy)
        compile_artifact(opened, vocabulary, out)
        return opened.losses

    def vocabulary(self, console: Console) -> "Vocabulary | None":
        """Return the vocabulary, loaded at first use in each process."""
        if self._vocabulary is None and self._inputs.vocab is not None:
            self._vocabulary = read_vocabulary(console, self._inputs.vocab, self._inputs.eos)
        return self._vocabulary


class _TableTask(_CompileTask):
    """Builds the device table of one grammar after the other."""

    def __init__(self, inputs: Inputs, lossy: bool, states: int) -> None:
        super().__init__(inputs, lossy)
        self._states = states

    def compile(self, grammar: Path, out: Path) -> tuple[Diagnostic, ...]:
        from kbnf_core.device import TokenTable

        vocabulary = self.vocabulary(Console())
        assert vocabulary is not None  # noqa: S101 - the command asks for one
        opened = self._inputs.grammar(grammar, vocabulary, lossy=self._lossy)
        TokenTable.build(opened, vocabulary, max_states=self._states).save(out)
        return opened.losses


@click.command(
    "compile",
    epilog=examples(
        "kbnf compile g.kbnf",
        "kbnf compile g.bnf --vocab tokenizer.json",
        "kbnf compile --info g.kbnfc",
    ),
)
@click.argument("paths", metavar="GRAMMAR...", nargs=-1, type=GRAMMAR)
@click.option(
    "-o",
    "--output",
    metavar="OUT",
    type=click.Path(path_type=Path),
    help="The artifact to write; for several grammars, a directory, which is created.  "
    "[default: beside the grammar, *.kbnfc]",
)
@click.option(
    "--info",
    metavar="ARTIFACT",
    type=click.Path(path_type=Path),
    help="Describe an artifact or a device table.",
)
@click.option(
    "--device-table",
    is_flag=True,
    help="Write the table of states and token classes for a device; needs --vocab.  "
    "[default: beside the grammar, *.kbnfd]",
)
@click.option(
    "--max-states",
    type=click.IntRange(min=1),
    default=4096,
    show_default=True,
    help="Maximum states of a device table.",
)
@jobs_option("Grammars to compile at the same time.")
@click.option(
    "--store",
    metavar="URL",
    help="Fill a store: a folder, or a URL of fsspec such as s3://BUCKET/PATH. Directories are "
    "also searched for *.json and *.jsonl (one schema a line).",
)
@click.option(
    "--executor",
    metavar="WHERE",
    help="Where to compile for a store: `processes` here, `dask://HOST:PORT` or "
    "`ray://HOST:PORT`.  [default: processes]",
)
@click.option(
    "--report",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write a line of JSON for each source.",
)
@click.option(
    "--lossy", is_flag=True, help="Leave out unsupported parts of a source, and report them."
)
@click.option(
    "--work",
    type=click.IntRange(min=1),
    help="Maximum work for a source of a store, in steps.",
)
@click.option(
    "--memory",
    metavar="MIB",
    type=click.IntRange(min=1),
    help="Maximum memory of a process for a source.",
)
@click.option(
    "--vocab",
    "vocabs",
    metavar="FILE|MODEL|bytes",
    multiple=True,
    help="The vocabulary, for a device table and for texts that stand for tokens, as <any!> in "
    "BNF; no effect on others. A file, its format found by content, a model in Hugging Face's "
    "local cache, or `bytes`; several with --store.",
)
@eos_option
@grammar_options
@schema_options
@config_options
@file_options
@common_options
@click.pass_obj
@as_value(CompileInputs)
@as_value(Filling)
def compile_(
    console: Console,
    inputs: CompileInputs,
    filling: Filling,
    paths: tuple[Path, ...],
    output: Path | None,
    info: Path | None,
    device_table: bool,
    max_states: int,
    jobs: int,
    vocabs: tuple[str, ...],
) -> int:
    """Write compiled grammars to disk.

    An artifact contains the text of a grammar and its tables, for any vocabulary. Every command
    accepts an artifact in place of its grammar. GRAMMAR is a file in any language, a directory, or
    the name of a shipped grammar. With --store, artifacts are written to a store.
    Exits with 1 if a grammar cannot be used, with 2 if the store cannot be reached.
    """
    if info is not None:
        if paths:
            raise click.UsageError("--info describes an artifact and compiles nothing")
        return _describe(console, info)
    if not paths:
        raise click.UsageError("name a grammar to compile, or an artifact with --info")
    settings = inputs.settings_source()(paths[0])
    eos = inputs.eos or settings.eos or ()
    if filling.store is not None:
        if output is not None or device_table or inputs.from_ is not None:
            raise click.UsageError("--output, --device-table and --from do not go with --store")
        named = vocabs or tuple(filter(None, [settings.vocab]))
        return fill(console, filling, replace(inputs, eos=eos), named, paths, jobs)
    filling.require_store()
    if len(vocabs) > 1:
        raise click.UsageError("several vocabularies go with --store")
    vocab = vocabs[0] if vocabs else settings.vocab
    if device_table and vocab is None:
        raise click.UsageError("--device-table is over a vocabulary: name one with --vocab")
    inputs = replace(inputs, vocab=vocab, eos=eos)
    lossy = filling.lossy
    task = _TableTask(inputs, lossy, max_states) if device_table else _CompileTask(inputs, lossy)
    files = find_grammars(paths, console.note, inputs.choice(EXTENSIONS))
    work = _outputs(files, output, device_table)
    if len(work) == 1:
        return _compile_one(console, task, *work[0])
    return _compile_many(console, task, work, jobs)


def _outputs(
    grammars: list[Path], output: Path | None, device_table: bool
) -> list[tuple[Path, Path]]:
    from kbnf_core.artifact import SUFFIX
    from kbnf_core.device import SUFFIX as TABLE_SUFFIX

    if STDIN in grammars and (output is None or len(grammars) > 1):
        raise click.UsageError("a grammar from stdin needs -o, and must be the only one")
    if output is not None and len(grammars) == 1 and not output.is_dir():
        return [(grammars[0], output)]
    if output is not None:
        if output.exists() and not output.is_dir():
            raise click.UsageError(f"several grammars need a directory, and {output} is a file")
        output.mkdir(parents=True, exist_ok=True)
    suffix = TABLE_SUFFIX if device_table else SUFFIX
    named = [(g, (output or g.parent) / f"{g.stem}{suffix}") for g in grammars]
    clashes = len({out for _, out in named}) < len(named)
    if clashes:
        raise click.UsageError("two of these grammars would be written to the same file")
    return named


def _compile_one(console: Console, task: _CompileTask, grammar: Path, out: Path) -> int:
    from kbnf_core.device import TableTooLargeError

    task.vocabulary(console)
    with console.busy(f"compiling {grammar.name}"):
        try:
            losses = task.compile(grammar, out)
        except TableTooLargeError as error:
            _report(console, grammar, error)
            return Exit.FINDINGS
    console.diagnostics(losses)
    size = f" ({out.stat().st_size:,} bytes)" if out.is_file() else ""
    console.note(f"wrote {out}{size}")
    return Exit.CLEAN


def _compile_many(
    console: Console, task: _CompileTask, work: list[tuple[Path, Path]], jobs: int
) -> int:
    failures = 0
    with console.progress(f"compiling {len(work)} grammars") as progress:
        for done, (job, outcome) in enumerate(run_jobs(task, work, jobs), 1):
            progress(done, len(work))
            if isinstance(outcome, tuple):
                console.diagnostics(outcome)
                console.detail(f"wrote {job[1]}")
                continue
            failures += 1
            _report(console, job[0], outcome)
    console.note(f"compiled {len(work) - failures} of {len(work)} grammars")
    return Exit.FINDINGS if failures else Exit.CLEAN


def _report(console: Console, grammar: Path, error: KbnfError | OSError) -> None:
    from kbnf_core.device import TableTooLargeError
    from kbnf_core.processes import ProcessError

    if isinstance(error, TableTooLargeError):
        console.error(f"{grammar}: {error}")
    elif isinstance(error, ProcessError):
        console.problem(KbnfError(f"{grammar} was not compiled: {error}"))
    elif isinstance(error, GrammarError):
        console.diagnostics(error.diagnostics)
    else:
        console.problem(error)


def _describe(console: Console, path: Path) -> int:
    from kbnf_core.artifact.read import describe_artifact
    from kbnf_core.device.table import TokenTable, is_table

    if is_table(path):
        console.text(table_text(TokenTable.load(path)))
    else:
        console.text(artifact_text(describe_artifact(path)))
    return Exit.CLEAN
