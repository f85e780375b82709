"""``--watch``: doing the same again whenever a file changes, until an interrupt.

Looks at times and sizes rather than asking the system for events: this works on every file system,
also in containers, and grammars are few.

Tests: tests/cli/test_check_options.py
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import click

from kbnf_cli.console import Console, Exit, explain_error
from kbnf_cli.files import STDIN, FileChoice, find_grammars
from kbnf_cli.options import CONFIGURATION
from kbnf_core.text.errors import KbnfError, SourceError

_Command = TypeVar("_Command", bound=Callable[..., Any])

INTERVAL = 0.5
"""Seconds between two looks at the files: short beside the time it takes to save one."""

Beside = Callable[[Path], Iterable[Path]]
"""Returns the files that are read with a grammar."""


def watch_option(does: str) -> Callable[[_Command], _Command]:
    """Add ``--watch``, with the action that it repeats."""
    return click.option(
        "--watch", "watches", is_flag=True, help=f"{does} again whenever a file changes."
    )


def watch(
    console: Console,
    paths: Sequence[Path],
    choose: Callable[[], FileChoice],
    act: Callable[[Sequence[Path]], object],
    beside: Beside = lambda _: (),
) -> int:
    """Call ``act`` with the grammars below ``paths``, then after each change; ends by Ctrl-C.

    ``choose`` is called before each look, for the configuration may change as well. Raises what
    these raise at first; afterwards it is shown, since a file that is being written fixes it.
    """
    if STDIN in paths:
        raise click.UsageError("--watch needs files")
    try:
        files: Sequence[Path] = find_grammars(paths, console.note, choose())
        seen: _Seen = _stamps(files, beside)
        act(files)
        while True:
            console.note("watching for changes; Ctrl-C ends")
            console.flush()
            files, seen = _changed(lambda: _files(paths, choose, beside), seen)
            console.clear()
            try:
                if isinstance(seen, str):
                    console.error(seen)
                else:
                    act(files)
            except KbnfError as error:
                console.error(explain_error(error))
    except KeyboardInterrupt:
        # This is how it ends: nothing went wrong, whatever was found on the way.
        console.met_problem = False
        console.note("")
        return Exit.INTERRUPTED


_Seen: TypeAlias = dict[Path, tuple[int, int]] | str
"""The data that reveal a change: times and sizes of files, or why they cannot be listed."""


def _changed(
    look: Callable[[], tuple[Sequence[Path], _Seen]], seen: _Seen
) -> tuple[Sequence[Path], _Seen]:
    """Poll until something differs from ``seen``, and is complete; return its new state."""
    while True:
        time.sleep(INTERVAL)
        files, now = look()
        if now not in (seen, ""):
            return files, now
        seen = now


def _files(
    paths: Sequence[Path], choose: Callable[[], FileChoice], beside: Beside
) -> tuple[Sequence[Path], _Seen]:
    try:
        files = find_grammars(paths, lambda _: None, choose())
    except SourceError:
        # A file that was there is being replaced; nothing is seen until it is there again.
        return (), ""
    except KbnfError as error:
        return (), explain_error(error)
    return files, _stamps(files, beside)


def _stamps(files: Sequence[Path], beside: Beside) -> _Seen:
    with_grammars = [
        file for grammar_file in files for file in (grammar_file, *beside(grammar_file))
    ]
    return {file: _stamp(file) for file in (*with_grammars, *_configurations(files))}


def _configurations(files: Sequence[Path]) -> Iterator[Path]:
    """Yield the places where a configuration of these files may be."""
    folders = {file.absolute().parent for file in files}
    for above in {above for folder in folders for above in (folder, *folder.parents)}:
        yield from (above / name for name in CONFIGURATION)


def _stamp(file: Path) -> tuple[int, int]:
    try:
        status = file.stat()
    except OSError:
        # It is being replaced, or there never was one; the next look may find it.
        return 0, 0
    return status.st_mtime_ns, status.st_size
