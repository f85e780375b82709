"""Running lines without a terminal: plain and stable output, stopping at the first failure."""

from collections.abc import Iterable

from kbnf_cli.console import Console
from kbnf_cli.play.session import Session, Verdict, World
from kbnf_cli.play.step import step
from kbnf_core.diagnostics.visible import visible

PROMPT = "> "


def run_script(
    console: Console, session: Session, lines: Iterable[str], world: World
) -> tuple[Session, Verdict]:
    """Carry out lines, each shown before what it led to; return where that ended.

    At the first line that fails the message, with the number of the line, goes to stderr.
    """
    for number, given in enumerate(lines, start=1):
        line = given.rstrip("\r\n")
        console.text(f"{PROMPT}{visible(line)}\n")
        reply = step(session, line, world)
        console.data(reply.shown)
        session = reply.session
        if reply.verdict is Verdict.LEAVE:
            break
        if reply.verdict is not Verdict.FINE:
            console.error(f"line {number}: {reply.message}")
            return session, reply.verdict
    return session, Verdict.FINE
