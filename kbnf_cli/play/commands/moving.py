"""Going back and forth on the way that was gone."""

from dataclasses import replace

from kbnf_cli.play.commands.base import Command
from kbnf_cli.play.commands.looking import number
from kbnf_cli.play.session import Reply, Session, World, misused
from kbnf_cli.play.show import note, position


def _undo(session: Session, text: str, world: World) -> Reply:
    if not session.count:
        raise misused("there is nothing to undo")
    return position(session.at(session.count - number(text or "1", 1, session.count)), world)


def _redo(session: Session, text: str, world: World) -> Reply:
    if not session.undone:
        raise misused("there is nothing to redo")
    return position(session.at(session.count + number(text or "1", 1, len(session.undone))), world)


def _mark(session: Session, text: str, world: World) -> Reply:
    del world
    if text.isdigit():
        raise misused("a mark's name is no number")
    name = text or "mark"
    marks = {**session.marks, name: session.count}
    return Reply(replace(session, marks=marks), (note(f"{name} is after step {session.count}"),))


def _goto(session: Session, text: str, world: World) -> Reply:
    name = text or "mark"
    if name in session.marks:
        return position(session.at(session.marks[name]), world)
    if not name.isdigit():
        names = ", ".join(sorted(session.marks)) or "none; `:mark NAME` sets one"
        raise misused(f"there is no mark {name} (marks: {names})")
    return position(session.at(number(name, 0, session.count + len(session.undone))), world)


def _reset(session: Session, text: str, world: World) -> Reply:
    del text
    return position(session.at(0), world)


MOVING = (
    Command(("undo",), "[N]", "take back the last steps", _undo),
    Command(("redo",), "[N]", "make them again", _redo),
    Command(("mark",), "[NAME]", "give this place a name", _mark),
    Command(("goto",), "[NAME|N]", "go to a mark, or to the place after N steps", _goto),
    Command(("reset",), "", "go to the beginning", _reset),
)
