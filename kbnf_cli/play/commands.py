"""One step of the console, a session and a line in, a session and the output out; and scripts.

The table of all commands is here, and the switches, whose one-letter names are those of
bnf_sampler's options.

Tests: tests/unit/play/test_step.py, tests/unit/play/test_complete.py
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from kbnf_cli.console import Console
from kbnf_cli.play.looking import CHECKING, LOOKING, beginning_with
from kbnf_cli.play.moving import FEEDING, FILING, MOVING, begin, feed, same_steps
from kbnf_cli.play.render import note, row
from kbnf_cli.play.session import (
    Handler,
    LineVerdict,
    Operand,
    PlayCommand,
    PlayFailure,
    Reply,
    Session,
    World,
    misused,
)
from kbnf_core.config import Finish
from kbnf_core.text.diagnostics.segments import Role, Segment, cells, clip, visible
from kbnf_core.text.diagnostics.text import render_text
from kbnf_core.text.errors import EngineError, GrammarError, KbnfError

_SWITCHING = ("on", "off", "true", "false")
"""Words of a switch that, other than `1` or `no`, hardly begin a search term."""

_WORDS = {
    **dict.fromkeys(("", "on", "true", "yes", "1"), True),
    **dict.fromkeys(("off", "false", "no", "0"), False),
}


def _switch(field: str) -> Handler:
    """Return the handler that turns a field of the settings on or off."""

    def handle(session: Session, text: str, world: World) -> Reply:
        del world
        if text not in _WORDS:
            raise misused(f"`on` or `off` is needed, not `{text}`")
        change: dict[str, Any] = {field: _WORDS[text]}
        changed = replace(session, settings=replace(session.settings, **change))
        title = field.removeprefix("show_")
        return Reply(changed, (note(f"{title}: {'on' if change[field] else 'off'}"),))

    return handle


def _possible(session: Session, text: str, world: World) -> Reply:
    """Show the allowed tokens that begin with a text; with a word of a switch, or none, switch."""
    handle = _switch("show_allowed") if text in ("", *_SWITCHING) else beginning_with
    return handle(session, text, world)


def _start(session: Session, text: str, world: World) -> Reply:
    if not text:
        return Reply(session, tuple(row("start", session.engine.grammar.start)))
    return begin(session, replace(session.files, start=text), world, session.vocabulary)


def _finish_mode(session: Session, text: str, world: World) -> Reply:
    if not text:
        return Reply(session, tuple(row("finish", session.engine.finish.value)))
    return same_steps(session, replace(session.files, finish=Finish.parse(text).value), world)


def _help(session: Session, text: str, world: World) -> Reply:
    del text
    lines = [note(clip(line, world.columns)) for line in _help_lines()]
    return Reply(session, tuple(lines))


def _help_lines() -> Iterator[str]:
    yield "A line is a token: its text, with \\n \\t \\r \\xHH \\uHHHH, or #ID. What is not a token"
    yield "goes through the tokenizer. Blanks count. Tab completes, Ctrl-D leaves."
    for title, commands in GROUPS.items():
        yield f"{title}:"
        for command in commands:
            names = ", ".join(f":{name}" for name in command.names)
            yield f"  {f'{names} {command.usage}':32} {command.help}"


def _quit(session: Session, text: str, world: World) -> Reply:
    del text, world
    return Reply(session, (), LineVerdict.LEAVE)


SWITCHING = (
    PlayCommand(("stacks", "s"), "[on|off]", "show the open rules", _switch("show_stacks")),
    PlayCommand(
        ("possible", "p"),
        "[on|off|PREFIX]",
        "show the allowed tokens; those with a prefix",
        _possible,
        operand=Operand.TEXT,
    ),
    PlayCommand(("input", "i"), "[on|off]", "show the bytes typed", _switch("show_input")),
    PlayCommand(("cache", "b"), "[on|off]", "keep caches between steps", _switch("cache")),
    PlayCommand(("start", "n"), "[NAME]", "restart at another rule", _start, Operand.RULE),
    PlayCommand(
        ("finish-mode",),
        "[eager|token|eos]",
        "change when a text ends, make the same steps",
        _finish_mode,
    ),
    PlayCommand(("help", "h"), "", "this list", _help),
    PlayCommand(("quit", "q"), "", "leave", _quit),
)


GROUPS: dict[str, tuple[PlayCommand, ...]] = {
    "text": FEEDING,
    "the mask": LOOKING,
    "moving": MOVING,
    "files": FILING,
    "checks": CHECKING,
    "switches": SWITCHING,
}

COMMANDS = {
    name: command for group in GROUPS.values() for command in group for name in command.names
}


_BLANKS = " \t\r\n\f\v"


def step(session: Session, line: str, world: World) -> Reply:
    """Carry out one line; a line that fails leaves the session as it was.

    Blanks count, except around what a command takes; an empty line does nothing.
    """
    if not line:
        return Reply(session)
    reply = _carried_out(session, line, world)
    if reply.verdict is LineVerdict.FINE and not line.startswith(":save "):
        typed = (*session.typed, line)
        return replace(reply, session=replace(reply.session, typed=typed))
    if reply.verdict is LineVerdict.FINE or line not in _SPOKEN:
        return reply
    return replace(reply, message=f"{reply.message} (the command is `{_SPOKEN[line]}`)")


_SPOKEN = {"exit": ":quit", "quit": ":quit", "help": ":help", "?": ":help"}


def spoken_command(session: Session, line: str) -> str | None:
    """Return the command that a word such as ``exit`` means, None where it may be text."""
    command = _SPOKEN.get(line.strip(_BLANKS))
    return None if command is None or session.engine.why(line).allowed else command


_MOST_SHOWN = 3
"""Findings that are shown of a grammar, so that the first one stays on the screen."""


def _carried_out(session: Session, line: str, world: World) -> Reply:
    try:
        carry_out = _command if line.startswith(":") else feed
        return _fitted(carry_out(session, line, world), world.columns)
    except PlayFailure as failure:
        return Reply(session, tuple(failure.details), failure.verdict, str(failure))
    except GrammarError as error:
        few = error.diagnostics[:_MOST_SHOWN]
        shown = [segment for finding in few for segment in render_text(finding)]
        first, *others = error.diagnostics
        more = f" (and {len(others)} more)" if others else ""
        message = f"{first.code}: {first.message}{more}; nothing was changed"
        return Reply(session, tuple(shown), LineVerdict.MISUSED, message)
    except EngineError as error:
        return Reply(session, (), LineVerdict.REFUSED, str(error))
    except KbnfError as error:
        return Reply(session, (), LineVerdict.MISUSED, str(error))
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        message = f"cannot use {error.filename}: {reason}" if error.filename else reason
        return Reply(session, (), LineVerdict.MISUSED, message)


def _fitted(reply: Reply, columns: int) -> Reply:
    """Return a reply whose rows are cut off at the width; sentences wrap by themselves."""
    return replace(reply, shown=tuple(_fit(reply.shown, columns)))


_SENTENCES = (Role.NOTE, Role.WARNING)


def _fit(segments: Iterable[Segment], columns: int) -> Iterator[Segment]:
    used = 0
    for text, role in segments:
        body = text.removesuffix("\n")
        kept = body if role in _SENTENCES else clip(body, max(1, columns - used))
        used = 0 if text != body else used + cells(kept)
        yield Segment(kept + text[len(body) :], role)


def _command(session: Session, line: str, world: World) -> Reply:
    name, _, rest = line[1:].partition(" ")
    command = COMMANDS.get(name)
    if command is None:
        raise misused(f"there is no command `:{name}`{_similar(name)}")
    argument = rest if command.operand is Operand.TEXT else rest.strip(_BLANKS)
    return command.handler(session, argument, world)


def _similar(name: str) -> str:
    import difflib

    near = difflib.get_close_matches(name, COMMANDS, n=1)
    if near:
        return f"; did you mean `:{near[0]}`?"
    return " (`:help` lists them; a token that begins with `:` is typed `\\:`)"


PROMPT = "> "


def run_script(
    console: Console, session: Session, lines: Iterable[str], world: World
) -> tuple[Session, LineVerdict]:
    """Carry out lines, each shown before its reply; return the session at the end.

    At the first line that fails the message, with the number of the line, goes to stderr.
    """
    for number, given in enumerate(lines, start=1):
        line = given.rstrip("\r\n")
        console.text(f"{PROMPT}{visible(line)}\n")
        reply = step(session, line, world)
        console.data(reply.shown)
        session = reply.session
        if reply.verdict is LineVerdict.LEAVE:
            break
        if reply.verdict is not LineVerdict.FINE:
            console.error(f"line {number}: {reply.message}")
            return session, reply.verdict
    return session, LineVerdict.FINE
