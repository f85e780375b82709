"""The terminal: where output goes and in which colours. The only module that imports rich.

Data goes to stdout; notes, progress and errors go to stderr. rich is imported when something
is coloured, so plain output does not pay for it.
So is the end of a run: its exit status, which scripts rely on, and a failure as one message.

Tests: tests/unit/play/test_step.py
"""

import os
import shutil
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from errno import EBADF
from typing import TYPE_CHECKING, TextIO, TypeVar

import click
from click.exceptions import NoArgsIsHelpError

from kbnf_core.text.diagnostics.segments import Role, Segment, Segments, plain, visible
from kbnf_core.text.errors import GrammarError, KbnfError, SourceError

if TYPE_CHECKING:
    from rich.console import Console as RichConsole

    from kbnf_core.text.diagnostics import Diagnostic

_Item = TypeVar("_Item")

_STYLES = {
    Role.PLAIN: "",
    Role.ERROR: "bold red",
    Role.WARNING: "bold yellow",
    Role.INFO: "bold cyan",
    Role.TITLE: "bold",
    Role.PLACE: "blue",
    Role.SECONDARY: "blue",
    Role.NOTE: "bold",
    Role.HELP: "bold green",
    Role.ACCEPTED: "green",
    Role.REFUSED: "bold red",
    Role.FORCED: "magenta",
    Role.RULE: "bold blue",
    Role.STATE: "bold magenta",
}


class Colour(Enum):
    """When to colour; the values of ``--color``."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


class Verbosity(Enum):
    """How much to say on stderr beside errors."""

    QUIET = "quiet"
    NORMAL = "normal"
    VERBOSE = "verbose"


def explain_error(error: Exception) -> str:
    """Return the message of an error of ours, or of the system, for users."""
    if isinstance(error, KbnfError) or not isinstance(error, OSError):
        return str(error)
    if error.errno == EBADF:
        return "standard input or output is closed"
    reason = (error.strerror or str(error) or type(error).__name__).lower()
    return reason if error.filename is None else f"cannot use {error.filename}: {reason}"


@dataclass
class Console:
    """Output of one run; the global options set its first two fields while they are parsed.

    ``met_problem``: something failed on the way, so the run ends with ``Exit.TROUBLE``.
    """

    colour: Colour = Colour.AUTO
    verbosity: Verbosity = field(default=Verbosity.NORMAL)
    met_problem: bool = False

    def data(self, segments: Iterable[Segment]) -> None:
        """Write to stdout."""
        self._write(segments, sys.stdout)

    def text(self, text: str) -> None:
        """Write plain text to stdout."""
        sys.stdout.write(text)

    def flush(self) -> None:
        """Let readers see all that was written so far."""
        sys.stdout.flush()
        sys.stderr.flush()

    def clear(self) -> None:
        """Clear the terminal that stdout is, if it is one."""
        click.clear()

    def binary(self, data: bytes) -> None:
        """Write bytes to stdout."""
        sys.stdout.flush()
        sys.stdout.buffer.write(data)

    def markdown(self, text: str) -> None:
        """Write a Markdown page to stdout: laid out on a terminal, as it is elsewhere."""
        if not self.is_coloured(sys.stdout):
            self.text(text)
            return
        from rich.markdown import Markdown

        self._rich(sys.stdout).print(Markdown(text))

    def paged(self, segments: Segments) -> None:
        """Write to stdout; on a terminal that is too low for it, through the pager."""
        rows = shutil.get_terminal_size().lines
        on_terminal = sys.stdin.isatty() and sys.stdout.isatty()
        if not on_terminal or plain(segments).count("\n") < rows:
            self.data(segments)
            return
        click.echo_via_pager(self._drawn(segments), color=self.is_coloured(sys.stdout))

    def note(self, text: str) -> None:
        """Say something beside the data, unless ``-q``."""
        if self.verbosity is not Verbosity.QUIET:
            self._write([Segment(f"{visible(text)}\n")], sys.stderr)

    def detail(self, text: str) -> None:
        """Say something that only ``-v`` asks for."""
        if self.verbosity is Verbosity.VERBOSE:
            self._write([Segment(f"{visible(text)}\n")], sys.stderr)

    def error(self, message: str, *hints: str) -> None:
        """Report an error, and how to proceed."""
        head = [Segment("error:", Role.ERROR), Segment(f" {visible(message)}\n")]
        helps = [
            segment
            for hint in hints
            for segment in (Segment("help:", Role.HELP), Segment(f" {visible(hint)}\n"))
        ]
        self._write([*head, *helps], sys.stderr)

    def problem(self, error: Exception, *hints: str) -> None:
        """Report that a file cannot be used, where the run continues with others."""
        self.met_problem = True
        message, *usual = _explain(error)
        self.error(message, *(hints or usual))

    @contextmanager
    def warnings_as_notes(self) -> Iterator[None]:
        """Show a warning of the library as a note, without its source position."""

        def show(message: Warning | str, *_: object, **__: object) -> None:
            self.note(f"note: {message}")

        with warnings.catch_warnings():
            warnings.showwarning = show
            yield

    def findings(self, segments: Iterable[Segment]) -> None:
        """Write findings that are in the way of a command to stderr."""
        self._write(segments, sys.stderr)

    def diagnostics(self, findings: "Iterable[Diagnostic]") -> None:
        """Write findings that are in the way of a command to stderr, with their lines."""
        from kbnf_core.text.diagnostics.text import render_text

        for diagnostic in findings:
            self.findings(render_text(diagnostic, self.width(sys.stderr)))

    def busy(self, description: str) -> AbstractContextManager[object]:
        """Show a moving bar on a terminal while the block runs."""
        return self._bar(description, "TimeElapsedColumn")

    def progress(self, description: str) -> AbstractContextManager[Callable[[int, int], None]]:
        """Give a function to call with how much is done of how much, for a bar on a terminal."""
        return self._bar(description, "MofNCompleteColumn")

    @contextmanager
    def _bar(self, description: str, last: str) -> Iterator[Callable[[int, int], None]]:
        if not self._shows_progress():
            yield lambda _done, _total: None
            return
        from rich import progress

        text = progress.TextColumn("{task.description}", markup=False)
        columns = (text, progress.BarColumn(), getattr(progress, last)())
        screen = self._rich(sys.stderr)
        with progress.Progress(*columns, console=screen, transient=True) as bar:
            task = bar.add_task(visible(description), total=None)
            yield lambda done, total: bar.update(task, completed=done, total=total)

    def track(self, items: Sequence[_Item], description: str) -> Iterable[_Item]:
        """Yield ``items`` after a progress bar on a terminal; a single one needs none."""
        if len(items) <= 1 or not self._shows_progress():
            return items
        from rich.progress import track

        return track(items, description, console=self._rich(sys.stderr), transient=True)

    def is_coloured(self, stream: TextIO) -> bool:
        """Return whether to colour: ``--color`` first, then NO_COLOR, FORCE_COLOR, the terminal."""
        if self.colour is not Colour.AUTO:
            return self.colour is Colour.ALWAYS
        if os.environ.get("NO_COLOR"):
            return False
        if os.environ.get("FORCE_COLOR", "0") != "0":
            return True
        return stream.isatty() and os.environ.get("TERM") != "dumb"

    def width(self, stream: TextIO | None = None) -> int | None:
        """Return the columns of the terminal that a stream (stdout) is, None for any other."""
        try:
            return os.get_terminal_size((stream or sys.stdout).fileno()).columns or None
        except (OSError, ValueError):
            return None

    def _shows_progress(self) -> bool:
        return self.verbosity is not Verbosity.QUIET and sys.stderr.isatty()

    def _write(self, segments: Iterable[Segment], stream: TextIO) -> None:
        if not self.is_coloured(stream):
            stream.write(plain(segments))
            return
        self._print(segments, self._rich(stream))

    def _drawn(self, segments: Segments) -> str:
        """Return the text for stdout, with its colours."""
        if not self.is_coloured(sys.stdout):
            return plain(segments)
        screen = self._rich(sys.stdout)
        with screen.capture() as capture:
            self._print(segments, screen)
        return capture.get()

    def _print(self, segments: Iterable[Segment], screen: "RichConsole") -> None:
        from rich.text import Text

        styled = Text.assemble(*((text, _STYLES[role]) for text, role in segments))
        screen.print(styled, end="", soft_wrap=True)

    def _rich(self, stream: TextIO) -> "RichConsole":
        from rich.console import Console as RichConsole

        coloured = self.is_coloured(stream)
        return RichConsole(
            file=stream, force_terminal=coloured or None, no_color=not coloured, highlight=False
        )


class Exit(IntEnum):
    """The exit status of the process."""

    CLEAN = 0
    FINDINGS = 1
    """Findings that count, or a prefix that was rejected."""
    TROUBLE = 2
    """Wrong usage, an unreadable file, bad configuration, internal failure."""
    INTERRUPTED = 130
    """128 + SIGINT, as shells report it."""


DEBUG_VARIABLE = "KBNF_DEBUG"


def report(error: BaseException, console: Console) -> int:
    """Report ``error`` to the user and return the exit status."""
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else Exit.TROUBLE
    if _is_interrupt(error):
        console.error("interrupted")
        return Exit.INTERRUPTED
    if os.environ.get(DEBUG_VARIABLE):
        import traceback

        console.note("".join(traceback.format_exception(error)).rstrip())
    if isinstance(error, GrammarError):
        console.diagnostics(error.diagnostics)
        return Exit.FINDINGS
    if isinstance(error, NoArgsIsHelpError):
        console.findings([Segment(f"{error.format_message()}\n")])
        return Exit.TROUBLE
    console.error(*_explain(error))
    return Exit.TROUBLE


def _is_interrupt(error: BaseException | None) -> bool:
    """Return whether ``error`` is an interrupt, or came of one.

    Python itself wraps one that comes while a class is made; and a step that is interrupted can
    fail.
    """
    while error is not None:
        if isinstance(error, KeyboardInterrupt | click.Abort):
            return True
        error = error.__cause__ or error.__context__
    return False


def _explain(error: BaseException) -> tuple[str, ...]:
    """Return the message and hints for an error."""
    match error:
        case click.UsageError():
            return _in_our_style(error.format_message()), *_usage_hint(error)
        case click.ClickException():
            return (_in_our_style(error.format_message()),)
        case SourceError():
            from kbnf_cli.files import hints_for

            return explain_error(error), *hints_for(error)
        case KbnfError() | OSError():
            return (explain_error(error),)
        case MemoryError():
            return "out of memory", "a smaller grammar, vocabulary or input is needed"
        case RecursionError():
            return "the input is nested too deeply", "write it with less nesting"
        case _:
            return (
                f"internal failure: {type(error).__name__}: {error}",
                "this is a bug in kbnf; please report it with the command and the files it read",
                f"{DEBUG_VARIABLE}=1 shows where it happened",
            )


def _in_our_style(message: str) -> str:
    """Return a sentence of click's without its capital letter and full stop."""
    return message[:1].lower() + message[1:].removesuffix(".")


def _usage_hint(error: click.UsageError) -> tuple[str, ...]:
    message = error.format_message()
    if error.ctx is None or " is not one of " in message:  # It has them all.
        return ()
    return (f"`{error.ctx.command_path} --help` lists what is possible",)
