"""The console on a terminal: lines are edited by prompt_toolkit, replies are printed below."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from kbnf_cli.console import Console
from kbnf_cli.play.allowed import clip
from kbnf_cli.play.complete import proposals
from kbnf_cli.play.session import Reply, Session, Verdict, World
from kbnf_cli.play.show import note, position, status
from kbnf_cli.play.step import step
from kbnf_core.diagnostics.text import count_of
from kbnf_core.diagnostics.visible import visible

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import Completer
    from prompt_toolkit.history import History

_PROMPT = "> "


def run_terminal(console: Console, session: Session, world: World) -> None:
    """Read and carry out lines until the end of input or ``:quit``."""
    console.data([note("a line is a token; `:help` lists the commands, Ctrl-D leaves")])
    reply = position(session, world)
    console.data(reply.shown)
    current = reply.session
    prompt = _make_prompt(lambda: current, world)
    while True:
        try:
            entered = prompt.prompt(_PROMPT)
        except KeyboardInterrupt:
            continue
        except EOFError:
            return
        # What was pasted may be several lines.
        for line in entered.splitlines():
            reply = _step(current, line, world)
            console.data(reply.shown)
            current = reply.session
            if reply.verdict is Verdict.LEAVE:
                return
            if reply.verdict is not Verdict.FINE:
                console.error(reply.message)
                break


def _step(session: Session, line: str, world: World) -> Reply:
    """Carry out a line; Ctrl-C leaves everything as it was."""
    try:
        return step(session, line, world)
    except KeyboardInterrupt:
        return Reply(session, (), Verdict.MISUSED, "interrupted")


def _make_prompt(current: Callable[[], Session], world: World) -> "PromptSession[str]":
    from prompt_toolkit import PromptSession

    return PromptSession(
        history=_history(),
        completer=_completer(current),
        complete_while_typing=False,
        bottom_toolbar=lambda: toolbar(current(), world.columns),
        enable_history_search=True,
    )


def toolbar(session: Session, columns: int) -> str:
    """Return one line: mode, status, steps, grammar and vocabulary."""
    grammar = Path(session.files.grammar).name
    parts = (
        session.settings.mode.value,
        status(session),
        count_of(session.count, "token"),
        grammar,
        Path(session.files.vocabulary).name,
    )
    return clip(visible(" " + " | ".join(parts)), columns)


def _completer(current: Callable[[], Session]) -> "Completer":
    from prompt_toolkit.completion import CompleteEvent, Completer, Completion
    from prompt_toolkit.document import Document

    class Allowed(Completer):
        """Proposes what is allowed where the session is."""

        def get_completions(
            self, document: Document, complete_event: CompleteEvent
        ) -> Iterable[Completion]:
            del complete_event
            for each in proposals(current(), document.current_line_before_cursor):
                yield Completion(each.text, -each.length, display_meta=each.note)

    return Allowed()


def _history() -> "History":
    """Return the history kept on disk, or one in memory where nothing can be kept."""
    from prompt_toolkit.history import FileHistory, InMemoryHistory

    file = history_file()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a", encoding="utf-8"):
            pass
    except OSError:
        return InMemoryHistory()
    return FileHistory(str(file))


def history_file() -> Path:
    """Return where lines typed are kept between runs."""
    from platformdirs import user_state_path

    return user_state_path("kbnf") / "play_history"
