"""The ``kbnf`` process: how it starts, and the one place that errors and interrupts end in.

Nothing is imported at the top that Python has not loaded by itself: an interrupt while a module is
imported is to be seen in ``run``, too.

Tests: tests/cli
"""

import gc
import os
import sys

_INTERRUPTED = 130
"""``Exit.INTERRUPTED``, which may not have been imported yet."""


def main(arguments: list[str]) -> int:
    """Run the command with ``arguments`` and return its exit status; raises nothing."""
    from kbnf_cli.app import app
    from kbnf_cli.console import Console, Exit

    console = Console()
    try:
        with console.warnings_as_notes():
            status = app.main(arguments, prog_name="kbnf", standalone_mode=False, obj=console)
        sys.stdout.flush()
    except BaseException as error:
        from kbnf_cli.console import report

        return report(error, console)
    return int(Exit.TROUBLE if console.met_problem else status or 0)


def run() -> None:
    """Run the command as a process."""
    status = None
    try:
        try:
            _prepare()
            status = main(sys.argv[1:])
            _drop_unwritable_output()
        finally:
            import signal

            # The work is done: an interrupt while the process ends changes nothing.
            signal.signal(signal.SIGINT, signal.SIG_IGN)
    except KeyboardInterrupt:
        if status is None:
            status = _INTERRUPTED
            sys.stderr.write("error: interrupted\n")
    sys.exit(status)


def _prepare() -> None:
    _start_quickly()
    _open_closed_streams()
    _end_with_the_reader()
    sys.unraisablehook = _raise_again
    prepare_encodings()
    # Nor do Python processes that this one starts import what the current folder has.
    os.environ.setdefault("PYTHONSAFEPATH", "1")


def _start_quickly() -> None:
    """Leave out work that a short run has no use for.

    NumPy's linear algebra, which nothing here calls, starts a thread for each processor. And what
    imports allocate lives to the end, so looking through it for garbage finds none.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    gc.set_threshold(50_000)


def _open_closed_streams() -> None:
    """Put something that cannot be used in the place of standard streams that are closed.

    A command that needs them fails as with any other file; and no other file gets their numbers.
    """
    if sys.stdin is None:
        sys.stdin = open(os.open(os.devnull, os.O_WRONLY))  # noqa: SIM115 - open to the end
    if sys.stdout is None:
        sys.stdout = open(os.open(os.devnull, os.O_RDONLY), "w")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115


def _drop_unwritable_output() -> None:
    """Leave nothing in stdout that Python would try, and fail, to write once more at its end."""
    try:
        sys.stdout.flush()
    except OSError:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115


def _raise_again(lost: "sys.UnraisableHookArgs") -> None:
    """Have an interrupt raised again that came where Python can only print it, as in imports."""
    if not issubclass(lost.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(lost)
        return
    import signal
    import threading

    def interrupt() -> None:
        # To the main thread, whose waiting it ends where that can be asked for.
        if hasattr(signal, "pthread_kill"):
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        else:
            signal.raise_signal(signal.SIGINT)

    threading.Timer(0.01, interrupt).start()


def _end_with_the_reader() -> None:
    """Let a closed pipe end the process silently, as it ends every other filter."""
    import signal

    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)


def prepare_encodings() -> None:
    """Read and write UTF-8 with line feeds in any locale, except at a terminal.

    What a command writes is read by other programs, and by this one: a grammar in another encoding
    would be another grammar. On a terminal what its encoding lacks is escaped.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    if hasattr(sys.stdout, "reconfigure") and not sys.stdout.isatty():
        sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    if hasattr(sys.stdin, "reconfigure") and not sys.stdin.isatty():
        # Invalid UTF-8 stays the bytes that it is.
        sys.stdin.reconfigure(encoding="utf-8", errors="surrogateescape")
