"""What is shown of a session: the text so far, how it stands, and what may come."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from kbnf_cli.escaped import escaped
from kbnf_cli.play.allowed import allowed_ids, clip, spelled, summary_lines, token_lines
from kbnf_cli.play.session import Reply, Session, World
from kbnf_core.diagnostics.segments import Role, Segment, Segments
from kbnf_core.diagnostics.text import count_of
from kbnf_core.diagnostics.visible import cells, visible

if TYPE_CHECKING:
    from kbnf_core.recordings import What

_KEY = 10
"""Cells that the first column takes."""

FEW = 8
"""Tokens that are listed one by one after each step; of more there is a summary."""

_LEAST_TEXT = 10
"""Cells of the text's end that are shown however narrow the terminal is."""


def position(session: Session, world: World, typed: "Sequence[What]" = ()) -> Reply:
    """Return the reply that shows where a session is; ``typed`` is what led there."""
    shown = _position_lines(session, world, typed)
    listing: Sequence[str] = ()
    if session.settings.show_allowed and not session.engine.is_finished():
        ids = allowed_ids(session.engine)
        make = token_lines if len(ids) <= FEW else summary_lines
        lines = make(session.vocabulary, ids, world.columns)
        shown += [row("allowed", allowed_count(session, ids)), *page(lines, world)]
        listing = lines[world.rows :]
    return Reply(replace(session, listing=listing), tuple(shown))


def _position_lines(session: Session, world: World, typed: "Sequence[What]") -> Segments:
    shown = [
        note(f"lost in converting: {loss.message}") for loss in session.losses if not session.count
    ]
    if session.settings.show_input and typed:
        data = b"".join(spelling(session, what) for what in typed)
        shown.append(row("input", data.hex(" ") or "no bytes"))
    shown += [
        row("text", text_so_far(session, world.columns - _KEY)),
        row("status", status(session)),
    ]
    if session.settings.show_stacks:
        from kbnf_cli.play.stack import stack_lines

        shown += [Segment(f"{line}\n") for line in stack_lines(session, world.columns)]
    return shown


def page(lines: Sequence[str], world: World) -> Segments:
    """Return as many lines as a listing may take, and how many are left."""
    shown = [Segment(f"{line}\n") for line in lines[: world.rows]]
    left = len(lines) - world.rows
    return (
        [*shown, Segment(f"... {count_of(left, 'more line')}: `:more`\n", Role.NOTE)]
        if left > 0
        else shown
    )


def allowed_count(session: Session, ids: Sequence[int]) -> str:
    """Return how many tokens are allowed, in words."""
    return f"{len(ids):,} of {len(session.vocabulary):,} tokens"


def status(session: Session) -> str:
    """Return how the text stands: ongoing, can finish, or finished."""
    if session.engine.is_finished():
        return "finished"
    return "can finish" if session.engine.can_finish() else "ongoing"


def text_so_far(session: Session, columns: int) -> str:
    """Return the text in quotes, as much of its end as fits in ``columns`` cells."""
    text = "".join(_readable(session))
    steps = f" ({count_of(session.count, 'token')})"
    room = max(_LEAST_TEXT, columns - len(steps))
    while cells(text) > room:
        text = "…" + text[max(2, len(text) - room) :]
    return text + steps


def _readable(session: Session) -> Iterator[str]:
    """Yield the text: runs of bytes in quotes, and special tokens by their names."""
    run = b""
    for what in session.engine.accepted:
        if isinstance(what, int) and session.vocabulary.is_special(what):
            if run:
                yield f"{escaped(run)} "
            yield f"{spelled(session.vocabulary, what)} "
            run = b""
        else:
            run += spelling(session, what)
    yield escaped(run) if run or not session.count else ""


def spelling(session: Session, what: "What") -> bytes:
    """Return the bytes of a step; a special token has none."""
    return what if isinstance(what, bytes) else session.vocabulary.token(what) or b""


def tokens_line(session: Session, tokens: Sequence[int], columns: int) -> str:
    """Return tokens as one line: each with its id and its bytes."""
    return clip(" ".join(f"{each} {spelled(session.vocabulary, each)}" for each in tokens), columns)


def row(key: str, value: str) -> Segment:
    """Return one line of a reply: a word and what it is."""
    return Segment(f"{key:{_KEY}}{visible(value)}\n")


def note(text: str) -> Segment:
    """Return one line in words."""
    return Segment(f"{text}\n", Role.NOTE)
