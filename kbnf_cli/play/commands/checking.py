"""``:assert``: what has to be allowed, or rejected, for the play to be right."""

from dataclasses import replace

from kbnf_cli.play.commands.base import Command
from kbnf_cli.play.look_up import find_what
from kbnf_cli.play.session import Reply, Session, World, misused, refused
from kbnf_cli.play.show import note
from kbnf_cli.play.why import explanation


def _assert(session: Session, text: str, world: World) -> Reply:
    from kbnf_core.recordings import Assertion
    from kbnf_core.recordings.replay import can_come

    word, _, rest = text.partition(" ")
    if word not in ("allowed", "rejected"):
        raise misused("`:assert allowed TOKEN` or `:assert rejected TOKEN`")
    wanted = word == "allowed"
    what = find_what(session.vocabulary, rest)
    if can_come(session.engine, what) != wanted:
        why = session.engine.why(what)
        verdict = "is not allowed" if wanted else "is allowed"
        raise refused(f"assertion failed: {rest} {verdict}", explanation(session, why, world))
    made = session.assertions.get(session.count, ())
    assertions = {**session.assertions, session.count: (*made, Assertion(what, wanted))}
    return Reply(
        replace(session, assertions=assertions), (note(f"{rest} is {word}, as it should be"),)
    )


CHECKING = (
    Command(
        ("assert",),
        "allowed|rejected TOKEN",
        "check it; `:save` keeps it",
        _assert,
        takes_text=True,
    ),
)
