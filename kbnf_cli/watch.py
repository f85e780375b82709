"""``--watch``: do something again whenever a grammar has changed."""

import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from kbnf_cli.files import Note, find_grammars
from kbnf_core.errors import SourceError

INTERVAL = 0.5
"""Seconds between two looks at the files: short beside the time it takes to save one."""


def watch(
    paths: Sequence[Path],
    note: Note,
    extensions: Collection[str],
    act: Callable[[list[Path]], None],
) -> None:
    """Call ``act`` with the grammars below ``paths``, then after each change; ends by Ctrl-C.

    Raises ``SourceError`` if there are none at first, and what ``act`` raises then.

    Looks at times and sizes rather than asking the system for events: this works on every file
    system, also in containers, and grammars are few.
    """
    files = find_grammars(paths, note, extensions)
    seen = _stamps(files)
    act(files)
    while True:
        time.sleep(INTERVAL)
        try:
            files = find_grammars(paths, _say_nothing, extensions)
            now = _stamps(files)
            if now != seen:
                seen = now
                act(files)
        except SourceError:
            # A file that was there is being replaced; act when it is there again.
            seen = {}


def _say_nothing(_: str) -> None:
    """Leave out what was said at first."""


def _stamps(files: list[Path]) -> dict[Path, tuple[int, int]]:
    return {file: _stamp(file) for file in files}


def _stamp(file: Path) -> tuple[int, int]:
    try:
        status = file.stat()
    except FileNotFoundError:
        # It is being replaced; the next look finds the new one.
        return 0, 0
    return status.st_mtime_ns, status.st_size
