"""Renders a session: the text so far, its status, the allowed tokens, and its open rules.

The last are the output of ``:why``, how far an input is viable, and of ``:stack``.

Tests: tests/unit/play
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, overload

import numpy as np
import numpy.typing as npt

from kbnf_cli.escaped import describe_bytes, escaped
from kbnf_cli.mask_report import symbol_at
from kbnf_cli.mask_table import by_site, order_of, spelled, terminal_sites
from kbnf_cli.play.session import Reply, Session, World
from kbnf_core.text.diagnostics.segments import Role, Segment, Segments, cells, clip, visible
from kbnf_core.text.diagnostics.text import count_of, location_of
from kbnf_core.text.source import NOWHERE, Source, Span

if TYPE_CHECKING:
    from kbnf_core import Engine, Explanation, Vocabulary
    from kbnf_core.examples.cases import Symbol
    from kbnf_core.recognise.explain import LiveSite


_Ids = npt.NDArray[np.int32]


_EXAMPLES = 16
"""Tokens that a group's line shows at most."""


def allowed_ids(engine: "Engine") -> list[int]:
    """Return the ids allowed at the engine's position, ascending."""
    engine.compute_allowed_token_ids()
    return engine.get_allowed_token_ids_from_last_computation()


class Lines(Sequence[str]):
    """Lines that are made when they are shown: of many, only a page ever is."""

    def __init__(self, makers: Sequence[Callable[[], str]]) -> None:
        self._makers = makers

    def __len__(self) -> int:
        return len(self._makers)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> "Lines": ...
    def __getitem__(self, index: int | slice) -> "str | Lines":
        if isinstance(index, slice):
            return Lines(self._makers[index])
        return self._makers[index]()


def token_lines(vocabulary: "Vocabulary", ids: list[int], columns: int) -> Lines:
    """Return a line for each token, special ones first, then in the order of their bytes."""
    order = order_of(vocabulary)
    flags, special = order.split(ids)
    ordered = special + order.by_bytes[flags[order.by_bytes]].tolist()
    return Lines([partial(_token_line, vocabulary, token_id, columns) for token_id in ordered])


def _token_line(vocabulary: "Vocabulary", token_id: int, columns: int) -> str:
    return clip(f"{token_id:>8}  {spelled(vocabulary, token_id)}", columns)


def grouped_lines(vocabulary: "Vocabulary", ids: list[int], columns: int) -> Lines:
    """Return a line for each special token, and one for each first byte of the others."""
    titles = [escaped(bytes((byte,))) for byte in range(256)]
    order = order_of(vocabulary)
    flags, special = order.split(ids)
    ordered = order.by_length[flags[order.by_length]]
    firsts = order.first_byte[ordered]
    makers = [partial(_token_line, vocabulary, token_id, columns) for token_id in special]
    for first in np.unique(firsts).tolist():
        title = f"{titles[first]:>8}"
        makers.append(partial(_group, vocabulary, title, ordered[firsts == first], columns))
    return Lines(makers)


def summary_lines(engine: "Engine", ids: list[int], columns: int) -> Lines:
    """Return a line for each special token, and one for each place where the others begin."""
    vocabulary = engine.vocabulary
    special = order_of(vocabulary).split(ids)[1]
    makers = [partial(_token_line, vocabulary, token_id, columns) for token_id in special]
    for group in by_site(engine, ids):
        title = clip(group.title(engine.grammar.source), columns // 2)
        makers.append(partial(_group, vocabulary, title, group.ids, columns))
    return Lines(makers)


def _group(vocabulary: "Vocabulary", title: str, ids: npt.NDArray[np.int32], columns: int) -> str:
    """Return the line of a group whose tokens are given by length: how many, and the first."""
    nearest = ids[:_EXAMPLES].tolist()
    entries = (f" {token_id} {spelled(vocabulary, token_id)}" for token_id in nearest)
    return "".join(_fitting(f"{title} {len(ids):>7,}:", entries, columns))


def _fitting(head: str, entries: Iterable[str], columns: int) -> Iterator[str]:
    """Yield ``head`` and as many parts as the line has room for."""
    yield head
    room = columns - cells(head)
    for entry in entries:
        room -= cells(entry)
        if room < 0:
            return
        yield entry


_KEY = 10
"""Cells that the first column takes."""

FEW = 8
"""Tokens that are listed one by one after each step; of more there is a summary."""

_LEAST_TEXT = 10
"""Cells of the text's end that are shown however narrow the terminal is."""


def position(session: Session, world: World, typed: "Sequence[Symbol]" = ()) -> Reply:
    """Return the reply that shows where a session is; ``typed`` is the input that led there."""
    shown = _position_lines(session, world, typed)
    listing: Sequence[str] = ()
    ids: Sequence[int] = ()
    if session.settings.show_allowed and not session.engine.is_finished():
        ids = allowed_ids(session.engine)
        lines = (
            token_lines(session.vocabulary, ids, world.columns)
            if len(ids) <= FEW
            else summary_lines(session.engine, ids, world.columns)
        )
        count = allowed_count(session, ids)
        if typed and len(ids) > FEW and ids == session.listed:
            shown += row("allowed", f"{count}, as before")
            listing = lines
        else:
            shown += [*row("allowed", count), *page(lines, world)]
            listing = lines[world.rows :]
    return Reply(replace(session, listing=listing, listed=ids), tuple(shown))


def _position_lines(session: Session, world: World, typed: "Sequence[Symbol]") -> Segments:
    shown = [
        note(f"lost in converting: {loss.message}") for loss in session.losses if not session.count
    ]
    if session.settings.show_input and typed:
        data = b"".join(spelling(session, step) for step in typed)
        shown += row("input", data.hex(" ") or "no bytes")
    shown += [
        *row("text", text_so_far(session, world.columns - _KEY), Role.ACCEPTED),
        *row("status", _status_line(session), Role.STATE),
    ]
    if session.settings.show_stacks:
        shown += stack_rows(session, world.columns)
    return shown


def listed(session: Session, head: Segments, lines: Sequence[str], world: World) -> Reply:
    """Return a reply with a page of lines, of which ``:more`` shows the rest."""
    shown = (*head, *page(lines, world))
    return Reply(replace(session, listing=lines[world.rows :]), shown)


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
    """Return how the text is: ongoing, can finish, or finished."""
    if session.engine.is_finished():
        return "finished"
    return "can finish" if session.engine.can_finish() else "ongoing"


def _status_line(session: Session) -> str:
    state = status(session)
    return f"{state} {ending(session)}" if session.engine.is_finished() else state


def ending(session: Session) -> str:
    """Return the end of a finished text, and the reason: the byte, or the token."""
    engine = session.engine
    if not engine.accepted:
        return "at once: the start is complete without a byte"
    last = engine.accepted[-1]
    if isinstance(last, int) and last in session.vocabulary.special_ids:
        return f"by {spelled(session.vocabulary, last)}"
    data = b"".join(spelling(session, step) for step in engine.accepted)
    after = f"after {count_of(len(data), 'byte')}, by {escaped(data[-1:])}"
    return f"{after}: finish={engine.finish.value} ends it as soon as it is complete"


def text_so_far(session: Session, columns: int) -> str:
    """Return the text in quotes, as much of its end as fits in ``columns`` cells."""
    text = readable(session, session.engine.accepted)
    steps = f" ({count_of(session.count, 'token')})"
    room = max(_LEAST_TEXT, columns - len(steps))
    while cells(text) > room:
        text = "…" + text[max(2, len(text) - room) :]
    return text + steps


def readable(session: Session, steps: "Sequence[Symbol]") -> str:
    """Return the text of steps: runs of bytes in quotes, and special tokens by their names."""
    return "".join(_runs(session, steps))


def _runs(session: Session, steps: "Sequence[Symbol]") -> Iterator[str]:
    run = b""
    for step in steps:
        if isinstance(step, int) and step in session.vocabulary.special_ids:
            if run:
                yield f"{escaped(run)} "
            yield f"{spelled(session.vocabulary, step)} "
            run = b""
        else:
            run += spelling(session, step)
    yield escaped(run) if run or not steps else ""


def spelling(session: Session, step: "Symbol") -> bytes:
    """Return the bytes of a step; a special token has none."""
    return step if isinstance(step, bytes) else session.vocabulary.token(step) or b""


def tokens_line(session: Session, tokens: Sequence[int], columns: int) -> str:
    """Return tokens as one line: each with its id and its bytes."""
    return clip(
        " ".join(f"{token} {spelled(session.vocabulary, token)}" for token in tokens), columns
    )


def row(key: str, value: str, role: Role = Role.PLAIN) -> Segments:
    """Return one line of a reply: a key and its value."""
    return [Segment(f"{key:{_KEY}}", Role.LOCATION), Segment(f"{visible(value)}\n", role)]


def note(text: str) -> Segment:
    """Return one line in words."""
    return Segment(f"{text}\n", Role.NOTE)


_MOST_SITES = 12
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
    sites = terminal_sites(session.engine, why.sites)
    for site in sites[:_MOST_SITES]:
        shown += _path(session, site, world)
    if len(sites) > _MOST_SITES:
        shown.append(Segment(f"  ... and {len(sites) - _MOST_SITES} more paths\n"))
    return shown


def _expected(why: "Explanation") -> str:
    return describe_bytes(why.expected) if why.sites else "nothing: the text is complete"


def _path(session: Session, site: "LiveSite", world: World) -> Segments:
    source = session.engine.grammar.source
    takes = describe_bytes(site.expected) if site.expected else "one token"
    return [
        *_row("in", " > ".join(map(visible, site.rules)), world, Role.RULE),
        *_row("", f"{location_of(source, site.span)} {symbol_at(source, site.span)}", world),
        *_row("", f"takes {takes}", world),
    ]


def _row(key: str, value: str, world: World, role: Role = Role.PLAIN) -> Segments:
    head = f"  {key:8}  "
    return [
        Segment(head, Role.LOCATION),
        Segment(clip(value, world.columns - len(head)) + "\n", role),
    ]


_BEFORE, _AFTER = 24, 40
"""Characters of the grammar that are shown around a dot."""

DOT = "•"


@dataclass
class _RuleNode:
    """A rule at one dot, or a terminal that may be next there, and the nodes inside it."""

    inner: "dict[str, _RuleNode]" = field(default_factory=dict)


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
    if not why.sites:
        return ["nothing is open: the text is complete"]
    source = session.engine.grammar.source
    root = _RuleNode()
    for site in terminal_sites(session.engine, why.sites):
        _add(root, site, source)
    return [clip(line, columns) for line in _draw(root)]


def _add(root: _RuleNode, site: "LiveSite", source: Source) -> None:
    node = root
    symbols = [next(iter(spans), NOWHERE) for spans in site.calls] + [site.span]
    for rule, span in zip(site.rules, symbols, strict=True):
        at = dotted(source, span)
        label = f"{visible(rule)} ::= {at}" if at else visible(rule)
        node = node.inner.setdefault(label, _RuleNode())
    takes = describe_bytes(site.expected) if site.expected else "one token"
    node.inner.setdefault(f"takes {takes}", _RuleNode())


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


def _draw(root: _RuleNode) -> list[str]:
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
