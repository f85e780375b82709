"""``:why``: how far something can come, and what each live path expects there."""

from typing import TYPE_CHECKING

from kbnf_cli.escaped import describe_bytes, escaped
from kbnf_cli.play.allowed import clip
from kbnf_cli.play.places import terminal_places
from kbnf_cli.play.session import Session, World
from kbnf_core.diagnostics.segments import Role, Segment, Segments
from kbnf_core.diagnostics.text import count_of
from kbnf_core.diagnostics.visible import visible

if TYPE_CHECKING:
    from kbnf_core import Explanation
    from kbnf_core.recognise.explain import LivePlace

_PLACES = 12
"""Live paths that are shown."""


def explanation(session: Session, why: "Explanation", world: World) -> Segments:
    """Return the accepted part, the failing byte, and the live paths with their spans."""
    accepted = why.data[: why.accepted]
    shown = [_row("accepted", f"{escaped(accepted)} ({count_of(len(accepted), 'byte')})", world)]
    failing = why.data[why.accepted : why.accepted + 1]
    if failing and not why.allowed:
        shown.append(_row("refused", f"{escaped(failing)} (0x{failing[0]:02x})", world))
    shown.append(_row("expected", _expected(why), world))
    places = terminal_places(session, why)
    for place in places[:_PLACES]:
        shown += _path(session, place, world)
    if len(places) > _PLACES:
        shown.append(Segment(f"  ... and {len(places) - _PLACES} more paths\n"))
    return shown


def _expected(why: "Explanation") -> str:
    return describe_bytes(why.expected) if why.places else "nothing: the text is complete"


def _path(session: Session, place: "LivePlace", world: World) -> Segments:
    source = session.engine.grammar.source
    _, line, column = source.position(place.span.start)
    symbol = visible(source.slice(place.span)).replace("\n", " ")
    takes = describe_bytes(place.expected) if place.expected else "one token"
    return [
        _row("in", " > ".join(map(visible, place.rules)), world),
        _row("", f"{visible(source.name)}:{line}:{column} {symbol}", world),
        _row("", f"takes {takes}", world),
    ]


def _row(key: str, value: str, world: World) -> Segment:
    return Segment(clip(f"  {key:8}  {value}", world.columns) + "\n", Role.PLAIN)
