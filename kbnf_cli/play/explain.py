"""The output of ``:why`` and ``:stack``: how far an input is viable, and the open rules."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kbnf_cli.escaped import describe_bytes, escaped
from kbnf_cli.mask_report import symbol_at
from kbnf_cli.mask_table import terminal_places
from kbnf_cli.play.session import Session, World
from kbnf_core.text.diagnostics.segments import Role, Segment, Segments, clip, visible
from kbnf_core.text.diagnostics.text import count_of, place_in
from kbnf_core.text.source import NOWHERE, Source, Span

if TYPE_CHECKING:
    from kbnf_core import Explanation
    from kbnf_core.recognise.explain import LivePlace


_PLACES = 12
"""Live paths that are shown."""


def explanation(session: Session, why: "Explanation", world: World) -> Segments:
    """Return the accepted part, the failing byte, and the live paths with their spans."""
    accepted = why.data[: why.accepted]
    count = count_of(len(accepted), "byte")
    shown = _row("accepted", f"{escaped(accepted)} ({count})", world, Role.ACCEPTED)
    failing = why.data[why.accepted : why.accepted + 1]
    if failing and not why.allowed:
        shown += _row("refused", f"{escaped(failing)} (0x{failing[0]:02x})", world, Role.REFUSED)
    shown += _row("expected", _expected(why), world)
    places = terminal_places(session.engine, why.places)
    for place in places[:_PLACES]:
        shown += _path(session, place, world)
    if len(places) > _PLACES:
        shown.append(Segment(f"  ... and {len(places) - _PLACES} more paths\n"))
    return shown


def _expected(why: "Explanation") -> str:
    return describe_bytes(why.expected) if why.places else "nothing: the text is complete"


def _path(session: Session, place: "LivePlace", world: World) -> Segments:
    source = session.engine.grammar.source
    takes = describe_bytes(place.expected) if place.expected else "one token"
    return [
        *_row("in", " > ".join(map(visible, place.rules)), world, Role.RULE),
        *_row("", f"{place_in(source, place.span)} {symbol_at(source, place.span)}", world),
        *_row("", f"takes {takes}", world),
    ]


def _row(key: str, value: str, world: World, role: Role = Role.PLAIN) -> Segments:
    head = f"  {key:8}  "
    return [Segment(head, Role.PLACE), Segment(clip(value, world.columns - len(head)) + "\n", role)]


_BEFORE, _AFTER = 24, 40
"""Characters of the grammar that are shown around a dot."""

DOT = "•"


@dataclass
class _Node:
    """A rule at one dot, or what comes next there, and what is open inside it."""

    inner: "dict[str, _Node]" = field(default_factory=dict)


def stack_rows(session: Session, columns: int) -> Segments:
    """Return the same in colours: in each line the rule, then its right side."""
    shown: Segments = []
    for line in stack_lines(session, columns):
        rule, sign, rest = line.partition(" ::= ")
        shown += [Segment(rule, Role.RULE if sign else Role.PLAIN), Segment(f"{sign}{rest}\n")]
    return shown


def stack_lines(session: Session, columns: int) -> list[str]:
    """Return the open rules as the lines of a tree; the leaves are the bytes that come next."""
    why = session.engine.why(b"")
    if not why.places:
        return ["nothing is open: the text is complete"]
    source = session.engine.grammar.source
    root = _Node()
    for place in terminal_places(session.engine, why.places):
        _add(root, place, source)
    return [clip(line, columns) for line in _draw(root)]


def _add(root: _Node, place: "LivePlace", source: Source) -> None:
    node = root
    symbols = [next(iter(spans), NOWHERE) for spans in place.calls] + [place.span]
    for rule, span in zip(place.rules, symbols, strict=True):
        at = dotted(source, span)
        label = f"{visible(rule)} ::= {at}" if at else visible(rule)
        node = node.inner.setdefault(label, _Node())
    takes = describe_bytes(place.expected) if place.expected else "one token"
    node.inner.setdefault(f"takes {takes}", _Node())


def dotted(source: Source, span: Span) -> str:
    """Return the line of the grammar around a symbol, with a dot before it; of JSON its pointer."""
    if source.is_json:
        return symbol_at(source, span)
    line = source.position(span.start).line
    start = source.line_start(line)
    end = start + len(source.line(line))
    # The name that the line defines is before the dotted text already.
    sign = source.text.rfind("::=", start, span.start)
    start = max(start, sign + len("::=")) if sign >= 0 else start
    before = source.text[max(start, span.start - _BEFORE) : span.start]
    after = source.text[span.start : min(end, span.start + _AFTER)]
    head = "…" if span.start - _BEFORE > start else ""
    tail = "…" if span.start + _AFTER < end else ""
    return visible(f"{head}{before}{DOT}{after}{tail}").strip()


def _draw(root: _Node) -> list[str]:
    """Return the lines of a tree, without recursion: rules may nest as deep as the text does."""
    lines: list[str] = []
    stack = [(label, node, "", "") for label, node in reversed(root.inner.items())]
    while stack:
        label, node, lead, below = stack.pop()
        lines.append(lead + label)
        inner = list(node.inner.items())
        for index in range(len(inner) - 1, -1, -1):
            is_last = index == len(inner) - 1
            branch, trunk = ("└─ ", "   ") if is_last else ("├─ ", "│  ")
            stack.append((*inner[index], below + branch, below + trunk))
    return lines
