"""Switches, help, and leaving. The one-letter names are those of bnf_sampler's options."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeAlias

from kbnf_cli.play.allowed import clip
from kbnf_cli.play.commands.base import Command, Handler
from kbnf_cli.play.opening import open_session
from kbnf_cli.play.session import Reply, Session, Settings, Verdict, World, misused
from kbnf_cli.play.show import note, position, row

_WORDS = {
    **dict.fromkeys(("", "on", "true", "yes", "1"), True),
    **dict.fromkeys(("off", "false", "no", "0"), False),
}


_Change: TypeAlias = Callable[[Settings, bool], Settings]


def _switch(title: str, change: _Change) -> Handler:
    """Return the handler that turns a switch on or off."""

    def handle(session: Session, text: str, world: World) -> Reply:
        del world
        if text not in _WORDS:
            raise misused(f"`on` or `off` is needed, not `{text}`")
        value = _WORDS[text]
        settings = change(session.settings, value)
        return Reply(
            replace(session, settings=settings), (note(f"{title}: {'on' if value else 'off'}"),)
        )

    return handle


def _stacks(settings: Settings, value: bool) -> Settings:
    return replace(settings, show_stacks=value)


def _allowed(settings: Settings, value: bool) -> Settings:
    return replace(settings, show_allowed=value)


def _input(settings: Settings, value: bool) -> Settings:
    return replace(settings, show_input=value)


def _cache(settings: Settings, value: bool) -> Settings:
    return replace(settings, cache=value)


def _start(session: Session, text: str, world: World) -> Reply:
    if not text:
        return Reply(session, (row("start", session.engine.grammar.start),))
    fresh = open_session(replace(session.files, start=text), world, session.vocabulary)
    return position(replace(fresh, settings=session.settings), world)


def _help(session: Session, text: str, world: World) -> Reply:
    del text
    lines = [note(clip(line, world.columns)) for line in _help_lines()]
    return Reply(session, tuple(lines))


def _help_lines() -> Iterator[str]:
    from kbnf_cli.play.commands import GROUPS

    yield "A line is one token: its text, with \\n \\t \\r \\xHH \\uHHHH; #ID is one by its id."
    for title, commands in GROUPS.items():
        yield f"{title}:"
        for command in commands:
            names = ", ".join(f":{name}" for name in command.names)
            yield f"  {f'{names} {command.usage}':32} {command.help}"


def _quit(session: Session, text: str, world: World) -> Reply:
    del text, world
    return Reply(session, (), Verdict.LEAVE)


SWITCHING = (
    Command(("stacks", "s"), "[on|off]", "show the open rules", _switch("stacks", _stacks)),
    Command(("possible", "p"), "[on|off]", "show what may come", _switch("allowed", _allowed)),
    Command(("input", "i"), "[on|off]", "show the bytes typed", _switch("input", _input)),
    Command(("cache", "b"), "[on|off]", "keep caches between steps", _switch("cache", _cache)),
    Command(("start", "n"), "[NAME]", "begin anew at another nonterminal", _start),
    Command(("help", "h"), "", "this list", _help),
    Command(("quit", "q"), "", "leave", _quit),
)
