"""One step of the console: a session and a line in, a session and what to show out."""

from dataclasses import replace

from kbnf_cli.play.allowed import clip
from kbnf_cli.play.commands import COMMANDS
from kbnf_cli.play.commands.feeding import feed
from kbnf_cli.play.session import PlayFailure, Reply, Session, Verdict, World, misused
from kbnf_core.diagnostics.segments import Role, Segment
from kbnf_core.diagnostics.text import render_text
from kbnf_core.errors import EngineError, GrammarError, KbnfError

_BLANKS = " \t\r\n\f\v"


def step(session: Session, line: str, world: World) -> Reply:
    """Carry out one line; a line that fails leaves the session as it was.

    Blanks at the end do not count, as in bnf_sampler; an empty line does nothing.
    """
    line = line.rstrip(_BLANKS)
    if not line:
        return Reply(session)
    try:
        carry_out = _command if line.startswith(":") else feed
        return _fitted(carry_out(session, line, world), world.columns)
    except PlayFailure as failure:
        return Reply(session, tuple(failure.details), failure.verdict, str(failure))
    except GrammarError as error:
        shown = [part for each in error.diagnostics for part in render_text(each)]
        message = "the grammar has errors: nothing was changed"
        return Reply(session, tuple(shown), Verdict.MISUSED, message)
    except EngineError as error:
        return Reply(session, (), Verdict.REFUSED, str(error))
    except KbnfError as error:
        return Reply(session, (), Verdict.MISUSED, str(error))
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        message = f"cannot use {error.filename}: {reason}" if error.filename else reason
        return Reply(session, (), Verdict.MISUSED, message)


def _fitted(reply: Reply, columns: int) -> Reply:
    """Return a reply whose plain rows are cut off at the width; sentences wrap by themselves."""
    return replace(reply, shown=tuple(_fit(each, columns) for each in reply.shown))


def _fit(segment: Segment, columns: int) -> Segment:
    if segment.role is not Role.PLAIN:
        return segment
    return Segment(clip(segment.text.removesuffix("\n"), columns) + "\n")


def _command(session: Session, line: str, world: World) -> Reply:
    name, _, rest = line[1:].partition(" ")
    command = COMMANDS.get(name)
    if command is None:
        raise misused(f"there is no command `:{name}`{_similar(name)}")
    argument = rest if command.takes_text else rest.strip(_BLANKS)
    return command.handler(session, argument, world)


def _similar(name: str) -> str:
    import difflib

    near = difflib.get_close_matches(name, COMMANDS, n=1)
    if near:
        return f"; did you mean `:{near[0]}`?"
    return " (`:help` lists them; a token that begins with `:` is typed `\\:`)"
