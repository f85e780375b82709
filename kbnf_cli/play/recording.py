"""Saved plays in the console: made from a session, and played again on one."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from kbnf_cli.inputs import BUILT_IN
from kbnf_cli.mask_table import spelled
from kbnf_cli.play.render import note, position
from kbnf_cli.play.session import Files, Reply, Session, Verdict, World
from kbnf_core.text.diagnostics.segments import Role, Segment, Segments
from kbnf_core.text.diagnostics.text import count_of

if TYPE_CHECKING:
    from kbnf_core.recordings import Divergence, Recording, Replay, What

_DIVERGENCES = 8
"""Divergences that are shown; what follows the first seldom tells more."""


def read_saved(path: Path, world: World) -> "Recording":
    """Return the play in a file; raises ``SourceError`` and ``RecordingError``."""
    from kbnf_core.recordings import read_recording

    return read_recording(world.read(path).decode("utf-8", "backslashreplace"), str(path))


def files_of(play: "Recording", folder: Path) -> Files:
    """Return what a play was made with, its paths taken from the folder that it is in."""
    setting = play.setting
    vocabulary = setting.vocabulary
    if vocabulary != BUILT_IN:
        vocabulary = str(folder / vocabulary)
    grammar = folder / setting.grammar
    return Files(grammar, vocabulary, setting.eos, setting.start, setting.finish)


def recorded(session: Session, folder: Path | None = None) -> "Recording":
    """Return the play of a session; paths in it are relative to ``folder``, as far as they go."""
    from kbnf_core.recordings import record

    files = session.files
    vocabulary = files.vocabulary
    if vocabulary != BUILT_IN:
        vocabulary = _relative(Path(vocabulary), folder)
    grammar = _relative(files.grammar, folder)
    return record(session.engine, grammar, vocabulary, files.eos, session.assertions)


def _relative(path: Path, folder: Path | None) -> str:
    if folder is None or path.is_absolute():
        return path.as_posix()
    return Path(os.path.relpath(path, folder)).as_posix()


EVERY_KIND = frozenset({"vocabulary", "rejected", "mask", "assertion"})
"""What makes a saved play fail."""

BREAKS = EVERY_KIND - {"mask"}
"""What makes it fail where the grammar was changed on purpose: other masks are no surprise."""


def play_again(
    session: Session, play: "Recording", world: World, failing: frozenset[str] = EVERY_KIND
) -> Reply:
    """Make a play's steps from the beginning, as far as they go, and say where they differ.

    What could not be made is left for ``:redo``. Divergences of the kinds in ``failing`` make the
    reply one that failed.
    """
    from kbnf_core.recordings import Assertion, Step, replay

    result = replay(play, session.engine)
    steps = [event.what for event in play.events if isinstance(event, Step)]
    made = len(result.engine.accepted)
    assertions: dict[int, tuple[Assertion, ...]] = {}
    count = 0
    for event in play.events:
        if isinstance(event, Assertion):
            assertions[count] = (*assertions.get(count, ()), event)
        else:
            count += 1
    after = replace(
        session,
        engine=result.engine,
        undone=tuple(steps[made:]),
        assertions=assertions,
        listing=(),
    )
    reply = position(after, world)
    shown = (*_report(after, play, result), *reply.shown)
    grave = [each for each in result.divergences if each.kind in failing]
    if not grave:
        return replace(reply, shown=shown)
    message = f"the play differs: {grave[0].message}"
    return Reply(reply.session, shown, Verdict.REFUSED, message)


def _report(session: Session, play: "Recording", result: "Replay") -> Segments:
    steps = len(result.engine.accepted)
    changed = ", the grammar has changed" if result.is_grammar_changed else ""
    shown = [note(f"{count_of(steps, 'step')} made again{changed}")]
    for divergence in result.divergences[:_DIVERGENCES]:
        where = " ".join(_where(session, play, divergence))
        shown.append(Segment(f"{where}: {divergence.message}\n", Role.WARNING))
    return shown


def _where(session: Session, play: "Recording", divergence: "Divergence") -> Iterator[str]:
    """Yield the words that name an event: the line of the file, and what was typed."""
    if divergence.event < 0:
        yield "at the beginning"
        return
    event = play.events[divergence.event]
    yield f"line {divergence.event + 2},"
    yield {"mask": "after", "rejected": "at", "assertion": "asserting"}[divergence.kind]
    yield _name(session, event.what)


def _name(session: Session, what: "What") -> str:
    return (
        f"token {what} {spelled(session.vocabulary, what)}" if isinstance(what, int) else repr(what)
    )
