"""Exit statuses, which scripts rely on, and failures as one message."""

import os
from enum import IntEnum

import click
from click.exceptions import NoArgsIsHelpError

from kbnf_cli.console import Console, explain_error
from kbnf_core.diagnostics.segments import Segment
from kbnf_core.errors import GrammarError, KbnfError


class Exit(IntEnum):
    """What the process ends with."""

    CLEAN = 0
    FINDINGS = 1
    """Findings that count, or a prefix that was rejected."""
    TROUBLE = 2
    """Wrong usage, an unreadable file, bad configuration, internal failure."""
    INTERRUPTED = 130
    """128 + SIGINT, as shells report it."""


DEBUG_VARIABLE = "KBNF_DEBUG"


def report(error: BaseException, console: Console) -> int:
    """Say what ``error`` means to the user and return the exit status."""
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else Exit.TROUBLE
    if isinstance(error, KeyboardInterrupt | click.Abort):
        console.error("interrupted")
        return Exit.INTERRUPTED
    if os.environ.get(DEBUG_VARIABLE):
        import traceback

        console.note("".join(traceback.format_exception(error)).rstrip())
    if isinstance(error, GrammarError):
        return _report_grammar(error, console)
    if isinstance(error, NoArgsIsHelpError):
        console.findings([Segment(f"{error.format_message()}\n")])
        return Exit.TROUBLE
    console.error(*_explain(error))
    return Exit.TROUBLE


def _report_grammar(error: GrammarError, console: Console) -> int:
    from kbnf_core.diagnostics.text import render_text

    for diagnostic in error.diagnostics:
        console.findings(render_text(diagnostic))
    return Exit.FINDINGS


def _explain(error: BaseException) -> tuple[str, ...]:
    """Return the message and hints for an error."""
    match error:
        case click.UsageError():
            return _in_our_style(error.format_message()), *_usage_hint(error)
        case click.ClickException():
            return (_in_our_style(error.format_message()),)
        case KbnfError() | OSError():
            return (explain_error(error),)
        case MemoryError():
            return "out of memory", "a smaller grammar, vocabulary or input is needed"
        case RecursionError():
            return "the input is nested too deeply", "write it with less nesting"
        case _:
            return _explain_bug(error)


def _in_our_style(message: str) -> str:
    """Return a sentence of click's without its capital letter and full stop."""
    return message[:1].lower() + message[1:].removesuffix(".")


def _usage_hint(error: click.UsageError) -> tuple[str, ...]:
    if error.ctx is None:
        return ()
    return (f"`{error.ctx.command_path} --help` lists what is possible",)


def _explain_bug(error: BaseException) -> tuple[str, ...]:
    return (
        f"internal failure: {type(error).__name__}: {error}",
        "this is a bug in kbnf; please report it with the command and the files it read",
        f"{DEBUG_VARIABLE}=1 shows where it happened",
    )
