"""The commands that look at what may come, explain it, and check it, without moving."""

import re
from dataclasses import dataclass, field, replace
from random import Random
from typing import TYPE_CHECKING

from kbnf_cli.escaped import TypingError, describe_bytes, escaped, read_typed
from kbnf_cli.mask_report import symbol_at
from kbnf_cli.mask_table import is_pattern, matching, spelled, terminal_places
from kbnf_cli.play.render import (
    allowed_count,
    allowed_ids,
    grouped_lines,
    listed,
    note,
    page,
    position,
    readable,
    row,
    token_lines,
    tokens_line,
)
from kbnf_cli.play.session import Command, Operand, Reply, Session, World, misused, refused
from kbnf_core.text.diagnostics.segments import Role, Segment, Segments, clip, plain, visible
from kbnf_core.text.diagnostics.text import count_of, place_in
from kbnf_core.text.source import NOWHERE, Source, Span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kbnf_core import Explanation, Vocabulary
    from kbnf_core.recognise.explain import LivePlace
    from kbnf_core.recordings import What


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


_ID = re.compile(r"#([0-9]{1,9})")


def typed_bytes(text: str) -> bytes:
    """Return the bytes that were typed; raise PlayFailure for a wrong escape."""
    try:
        return read_typed(text)
    except TypingError as error:
        raise misused(str(error)) from None


def find_what(vocabulary: "Vocabulary", text: str) -> "What":
    """Return the token that was typed, or the bytes where they are no token.

    That is ``#ID``, the name of a special token, or the text of a token. Raises PlayFailure for an
    id that the vocabulary does not have, and for nothing.
    """
    if not text:
        raise misused("a token is needed: its text, or # and its id")
    match = _ID.fullmatch(text)
    if match is not None:
        return _known(vocabulary, int(match[1]))
    data = typed_bytes(text)
    found = vocabulary.get_token_id(data)
    if found is None:
        found = vocabulary.special_tokens.get(text)
    return data if found is None else found


def find_token(vocabulary: "Vocabulary", text: str) -> int:
    """Return the token that was typed; raise PlayFailure where there is none."""
    what = find_what(vocabulary, text)
    if isinstance(what, int):
        return what
    raise refused(
        f"{escaped(what)} is no token of the vocabulary "
        "(`:text` takes text through the tokenizer, `:bytes` byte by byte)"
    )


def _known(vocabulary: "Vocabulary", token_id: int) -> int:
    if token_id not in vocabulary:
        raise refused(f"the vocabulary has no token {token_id}")
    return token_id


_MOST_SAMPLES = 100


def _show(session: Session, text: str, world: World) -> Reply:
    _nothing(text)
    return position(session, world)


def _allowed(session: Session, text: str, world: World) -> Reply:
    ids = allowed_ids(session.engine)
    if not text:
        make = token_lines if len(ids) <= world.rows else grouped_lines
        lines, count = make(session.vocabulary, ids, world.columns), allowed_count(session, ids)
    else:
        if not is_pattern(text):
            raise misused("a regular expression is written between slashes: `:allowed /^[a-z]/`")
        found = matching(session.vocabulary, ids, text)
        lines = token_lines(session.vocabulary, found, world.columns)
        count = f"{len(found):,} of {len(ids):,} allowed tokens match"
    return listed(session, row("allowed", count), lines, world)


def beginning_with(session: Session, text: str, world: World) -> Reply:
    """Show the allowed tokens that begin with what was typed, special ones by their names."""
    vocabulary = session.vocabulary
    prefix = typed_bytes(text)
    ids = allowed_ids(session.engine)
    found = [each for each in ids if vocabulary.decode((each,)).startswith(prefix)]
    lines = token_lines(vocabulary, found, world.columns)
    count = f"{len(found):,} of {len(ids):,} allowed tokens begin with {escaped(prefix)}"
    return listed(session, row("allowed", count), lines, world)


def _more(session: Session, text: str, world: World) -> Reply:
    _nothing(text)
    if not session.listing:
        return Reply(session, (note("there is no more"),))
    rest = session.listing[world.rows :]
    return Reply(replace(session, listing=rest), tuple(page(session.listing, world)))


def _why(session: Session, text: str, world: World) -> Reply:
    vocabulary = session.vocabulary
    asked = [find_what(vocabulary, text)]
    special = vocabulary.special_tokens.get(text)
    if special is not None and special != asked[0]:
        # The text of another token, or of none, is also the name of a special token.
        asked.append(special)
    shown: list[Segment] = []
    for what in asked:
        why = session.engine.why(what)
        verdict = "is allowed" if why.allowed else "is not allowed"
        name = (
            f"token {what} {spelled(vocabulary, what)}" if isinstance(what, int) else escaped(what)
        )
        shown += [note(f"{name} {verdict}: {why.reason}"), *explanation(session, why, world)]
    return Reply(session, tuple(shown))


def _tree(session: Session, text: str, world: World) -> Reply:
    """Show the tree of the text, or what is certain of it; of one rule only its nodes."""
    from kbnf_cli.match import tree_lines
    from kbnf_cli.parse import known_rule
    from kbnf_core.parse.follow import Follower

    engine = session.engine
    rule = known_rule(engine.grammar, text) if text else None
    follower = Follower(engine.grammar.parser, session.vocabulary)
    follower.follow(engine.accepted, is_over=engine.can_finish())
    tree = follower.tree()
    if tree is None:
        return Reply(session, (note("nothing is certain of the tree yet"),))
    found = [tree] if rule is None else list(tree.find_all(rule))
    lines = [
        clip(plain(segments).removesuffix("\n"), world.columns)
        for each in found
        for segments in tree_lines(each, world.columns)
    ]
    count = count_of(len(found), "node") if rule else count_of(len(tree), "node")
    head = row("tree", count if engine.can_finish() else f"{count}, what is certain so far")
    return listed(session, head, lines, world)


def _stack(session: Session, text: str, world: World) -> Reply:
    _nothing(text)
    return Reply(session, tuple(stack_rows(session, world.columns)))


def _forced(session: Session, text: str, world: World) -> Reply:
    _nothing(text)
    data, tokens = session.engine.forced_bytes(), session.engine.forced_tokens()
    width = world.columns - 10
    return Reply(
        session,
        (
            *_forced_row("bytes", clip(escaped(data), width) if data else ""),
            *_forced_row("tokens", tokens_line(session, tokens, width)),
        ),
    )


def _forced_row(key: str, value: str) -> Segments:
    return row(key, value, Role.FORCED) if value else row(key, "none is forced")


def _finish(session: Session, text: str, world: World) -> Reply:
    _nothing(text)
    found = session.engine.shortest_completion()
    if found.data == b"":
        return Reply(session, (note("the text can end here"),))
    data = (
        "none: the text cannot end by bytes alone"
        if found.data is None
        else _counted(found.data, world)
    )
    width = world.columns - 10
    shown = row("bytes", data)
    if found.tokens is None:
        shown += row("tokens", "none found")
    else:
        shown += row("tokens", count_of(len(found.tokens), "token"))
        shown += row("", tokens_line(session, found.tokens, width))
    return Reply(session, tuple(shown))


def _counted(data: bytes, world: World) -> str:
    return clip(f"{count_of(len(data), 'byte')}  {escaped(data)}", world.columns - 10)


def _sample(session: Session, text: str, world: World) -> Reply:
    count = number(text or "1", 1, _MOST_SAMPLES)
    samples = (session.engine.sample(Random(seed)) for seed in range(count))  # noqa: S311
    return Reply(
        session,
        tuple(
            Segment(_sampled(session, each.tokens, each.is_complete, world.columns) + "\n")
            for each in samples
        ),
    )


def _sampled(session: Session, tokens: "Sequence[int]", is_complete: bool, columns: int) -> str:
    text = readable(session, tokens).rstrip(" ")
    count = f" ({count_of(len(tokens), 'token')}{'' if is_complete else ', no end found'})"
    return clip(text, max(1, columns - len(count))) + count


def number(text: str, least: int, most: int) -> int:
    """Return a number that was typed; raise PlayFailure for anything else."""
    if not (text.isascii() and text.isdigit() and least <= int(text[:9]) <= most):
        raise misused(f"a number from {least} to {most} is needed, not `{text}`")
    return int(text[:9])


def _nothing(text: str) -> None:
    if text:
        raise misused(f"nothing is expected after this command, not `{text}`")


LOOKING = (
    Command(("show", "status"), "", "show the position once more", _show),
    Command(("allowed",), "[/REGEX/]", "the allowed tokens", _allowed),
    Command(("more",), "", "the next lines of the last list", _more),
    Command(
        ("why",), "TOKEN", "why a token or a text is or is not allowed", _why, operand=Operand.TEXT
    ),
    Command(("stack",), "", "the open rules, with a dot where each is", _stack),
    Command(("tree",), "[RULE]", "the tree of the text; of a rule", _tree, Operand.RULE),
    Command(("forced",), "", "the forced text", _forced),
    Command(("finish",), "", "a shortest way to the end", _finish),
    Command(("sample",), "[N]", "texts at random that may follow", _sample),
)


def _assert(session: Session, text: str, world: World) -> Reply:
    from kbnf_core.recordings import Assertion, can_come

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
        operand=Operand.TEXT,
    ),
)
