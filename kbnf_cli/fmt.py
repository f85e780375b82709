"""``kbnf fmt``: bring grammars into their canonical layout.

Tests: tests/cli/test_fmt.py
"""

from dataclasses import dataclass
from pathlib import Path

import click

from kbnf_cli.console import Console, Exit
from kbnf_cli.files import STDIN, find_grammars, read_source, write_text
from kbnf_cli.inputs import FileInputs, is_artifact
from kbnf_cli.options import (
    as_value,
    common_options,
    config_options,
    examples,
    file_options,
    stdin_option,
)
from kbnf_core.languages import KBNF, language_of
from kbnf_core.text.diagnostics import Diagnostic
from kbnf_core.text.diagnostics.segments import diff
from kbnf_core.text.diagnostics.text import count_of
from kbnf_core.text.errors import SourceError
from kbnf_core.text.source import Span


@dataclass(frozen=True, slots=True)
class _FileLayout:
    """A file before and after formatting; ``after`` is None where ``errors`` prevent that."""

    path: Path
    name: str
    before: str
    after: str | None
    errors: tuple[Diagnostic, ...]

    @property
    def changes(self) -> bool:
        """Whether there is something to do."""
        return self.after is not None and self.after != self.before


@click.command(epilog=examples("kbnf fmt", "kbnf fmt --check grammars", "kbnf fmt - < g.kbnf"))
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=click.Path(path_type=Path))
@click.option("--check", is_flag=True, help="Write nothing; exit with 1 if a file would change.")
@click.option(
    "--diff", "show_diff", is_flag=True, help="Show what would change; otherwise like --check."
)
@file_options
@stdin_option
@config_options
@common_options
@click.pass_obj
@as_value(FileInputs)
def fmt(
    console: Console,
    inputs: FileInputs,
    paths: tuple[Path, ...],
    check: bool,
    show_diff: bool,
    stdin_filename: Path | None,
) -> int:
    """Format grammars.

    PATH is a KBNF file, a directory to search for *.kbnf, or `-` for stdin, which is formatted to
    stdout; the default is the current directory. Comments and pragmas keep their places, and the
    language does not change. Files with syntax errors are not changed; the exit status is 1.
    """
    layouts = []
    choice = inputs.choice((KBNF.extension,))
    files = find_grammars(paths or (Path(),), console.note, choice)
    for path in console.track(files, "laying out"):
        name = str(stdin_filename or "<stdin>") if path == STDIN else str(path)
        try:
            layout = _lay_out(path, name)
            if not (check or show_diff):
                _write(console, layout)
        except OSError as error:
            console.problem(error)
            continue
        layouts.append(layout)
        console.diagnostics(layout.errors)
        if show_diff and layout.after is not None:
            console.data(diff(layout.before, layout.after, layout.name))
    if not layouts:
        return Exit.CLEAN
    only_looks = check or show_diff
    if only_looks or paths != (STDIN,):
        _summarise(console, layouts, "would be reformatted" if only_looks else "reformatted")
    counts = any(layout.errors or (only_looks and layout.changes) for layout in layouts)
    return Exit.FINDINGS if counts else Exit.CLEAN


def _lay_out(path: Path, name: str) -> _FileLayout:
    from kbnf_core.kbnf.format import format_kbnf

    if is_artifact(path):
        raise SourceError(name, f"it is an artifact: `kbnf convert {name}` prints its grammar")
    source, invalid = read_source(path, name)
    if invalid is not None:
        return _FileLayout(path, name, source.text, None, (invalid,))
    language = language_of(name)
    if language is not KBNF:
        other = Diagnostic(
            "E008",
            f"this is {language.name}, not KBNF",
            source,
            Span(0, 0),
            helps=(f"convert it: `kbnf convert {name}`",),
        )
        return _FileLayout(path, name, source.text, None, (other,))
    formatted = format_kbnf(source)
    return _FileLayout(path, name, source.text, formatted.text, formatted.errors)


def _write(console: Console, layout: _FileLayout) -> None:
    if layout.after is None:
        return
    if layout.path == STDIN:
        console.text(layout.after)
    elif layout.changes:
        write_text(layout.path, layout.after)


def _summarise(console: Console, layouts: list[_FileLayout], done: str) -> None:
    """Name the files that change, and count the others."""
    for layout in layouts:
        if layout.changes:
            console.note(f"{done}: {layout.name}")
    changed = sum(layout.changes for layout in layouts)
    failed = sum(bool(layout.errors) for layout in layouts)
    counts = {
        done: changed,
        "left alone, with syntax errors": failed,
        "unchanged": len(layouts) - changed - failed,
    }
    console.note(
        ", ".join(
            f"{count_of(count, 'file')} {action}" for action, count in counts.items() if count
        )
    )
