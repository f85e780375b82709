"""Appending to the text: one token, a text through the tokenizer, or bytes."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from kbnf_cli.play.commands.base import Command
from kbnf_cli.play.look_up import find_token, typed_bytes
from kbnf_cli.play.session import Mode, Reply, Session, World, accept_all, misused, refused
from kbnf_cli.play.show import note, position, tokens_line
from kbnf_cli.play.why import explanation
from kbnf_core.errors import FinishedError, RejectedError

if TYPE_CHECKING:
    from kbnf_core.recordings import What

_Feed: TypeAlias = Callable[[Session, str, World], Reply]


def feed(session: Session, line: str, world: World) -> Reply:
    """Append a line in the way that the mode says."""
    return _FEEDS[session.settings.mode](session, line, world)


def feed_token(session: Session, text: str, world: World) -> Reply:
    """Append one token."""
    return _append(session, [find_token(session.vocabulary, text)], world)


def feed_tokenized(session: Session, text: str, world: World) -> Reply:
    """Append a text as the tokenizer writes it, all of it or nothing."""
    try:
        words = typed_bytes(text).decode()
    except UnicodeDecodeError:
        raise misused("a tokenizer takes text; `:text` takes bytes") from None
    encoder = world.encoder(session.files.vocabulary, session.vocabulary)
    tokens = encoder.encode(words)
    head = note(
        f"{encoder.name}: {tokens_line(session, tokens, world.columns - len(encoder.name) - 2)}"
    )
    reply = _append(session, tokens, world)
    return replace(reply, shown=(head, *reply.shown))


def feed_bytes(session: Session, text: str, world: World) -> Reply:
    """Append bytes one by one, all of them or nothing."""
    data = typed_bytes(text)
    return _append(session, [data[place : place + 1] for place in range(len(data))], world)


_FEEDS: dict[Mode, _Feed] = {
    Mode.TOKEN: feed_token,
    Mode.TOK: feed_tokenized,
    Mode.TEXT: feed_bytes,
}


def _append(session: Session, steps: "Sequence[What]", world: World) -> Reply:
    try:
        after = session.forward(*steps)
    except FinishedError:
        raise refused("the text is over: nothing can follow (`:undo` takes a step back)") from None
    except RejectedError:
        raise _rejection(session, steps, world) from None
    return position(after, world, steps)


def _rejection(session: Session, steps: "Sequence[What]", world: World) -> Exception:
    """Return the refusal of the first step that cannot come, explained."""
    done = 0
    while True:
        before = session.forward(*steps[:done])
        try:
            accept_all(session.forward(*steps[:done]).engine, (steps[done],))
        except RejectedError:
            break
        except FinishedError:
            return refused(f"the text is over after {done} of {len(steps)} steps")
        done += 1
    why = before.engine.why(steps[done])
    where = f" (step {done + 1} of {len(steps)}, nothing was taken)" if len(steps) > 1 else ""
    return refused(f"rejected{where}: {why.reason}", explanation(before, why, world))


def _mode_or(mode: Mode, feeding: _Feed) -> _Feed:
    """Return the handler that feeds what is given, or with nothing given sets the mode."""

    def handle(session: Session, text: str, world: World) -> Reply:
        if text:
            return feeding(session, text, world)
        settings = replace(session.settings, mode=mode)
        return Reply(
            replace(session, settings=settings), (note(f"lines are taken as {_MEANINGS[mode]}"),)
        )

    return handle


_MEANINGS = {
    Mode.TOKEN: "one token each",
    Mode.TOK: "text for the tokenizer",
    Mode.TEXT: "bytes, one by one",
}

FEEDING = (
    Command(
        ("token",),
        "[TOKEN]",
        "append one token; alone: take lines so",
        _mode_or(Mode.TOKEN, feed_token),
        takes_text=True,
    ),
    Command(
        ("tok",),
        "[TEXT]",
        "append text through the tokenizer",
        _mode_or(Mode.TOK, feed_tokenized),
        takes_text=True,
    ),
    Command(
        ("text",),
        "[TEXT]",
        "append text byte by byte",
        _mode_or(Mode.TEXT, feed_bytes),
        takes_text=True,
    ),
)
