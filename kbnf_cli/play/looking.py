"""The commands that show and check allowed tokens, without moving.

Tests: tests/unit/play
"""

import re
from dataclasses import replace
from random import Random
from time import perf_counter_ns
from typing import TYPE_CHECKING

from kbnf_cli.escaped import TypingError, escaped, read_typed
from kbnf_cli.mask_table import is_pattern, matching, spelled
from kbnf_cli.play.render import (
    allowed_count,
    allowed_ids,
    explanation,
    grouped_lines,
    listed,
    note,
    page,
    position,
    readable,
    row,
    spelling,
    stack_rows,
    token_lines,
    tokens_line,
)
from kbnf_cli.play.session import (
    Operand,
    PlayCommand,
    Reply,
    Session,
    World,
    accept_all,
    cold_engine,
    misused,
    refused,
)
from kbnf_core.shipped import shown_path
from kbnf_core.text.diagnostics.segments import Role, Segment, Segments, clip, plain
from kbnf_core.text.diagnostics.text import count_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kbnf_core import Engine, Vocabulary
    from kbnf_core.examples.cases import What

_ID = re.compile(r"#([0-9]{1,9})")


def typed_bytes(text: str) -> bytes:
    """Return the bytes that were typed; raise PlayFailure for a wrong escape."""
    try:
        return read_typed(text)
    except TypingError as error:
        raise misused(str(error)) from None


def find_symbol(vocabulary: "Vocabulary", text: str) -> "What":
    """Return the token that was typed, or the bytes where they are not a token.

    That is ``#ID``, the name of a special token, or the text of a token. Raises PlayFailure for an
    id that the vocabulary does not have, and for nothing.
    """
    if not text:
        raise misused("a token is needed: its text, or # and its id")
    match = _ID.fullmatch(text)
    if match is not None:
        return _existing(vocabulary, int(match[1]))
    data = typed_bytes(text)
    result = vocabulary.get_token_id(data)
    if result is None:
        result = vocabulary.special_tokens.get(text)
    return data if result is None else result


def find_token(vocabulary: "Vocabulary", text: str) -> int:
    """Return the token that was typed; raise PlayFailure where there is none."""
    symbol = find_symbol(vocabulary, text)
    if isinstance(symbol, int):
        return symbol
    raise refused(
        f"{escaped(symbol)} is not a token of the vocabulary "
        "(`:text` takes text through the tokenizer, `:bytes` byte by byte)"
    )


def _existing(vocabulary: "Vocabulary", token_id: int) -> int:
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
        matches = matching(session.vocabulary, ids, text)
        lines = token_lines(session.vocabulary, matches, world.columns)
        count = f"{len(matches):,} of {len(ids):,} allowed tokens match"
    return listed(session, row("allowed", count), lines, world)


def beginning_with(session: Session, text: str, world: World) -> Reply:
    """Show the allowed tokens that begin with the typed text, special ones by their names."""
    vocabulary = session.vocabulary
    prefix = typed_bytes(text)
    ids = allowed_ids(session.engine)
    matches = [token_id for token_id in ids if vocabulary.decode((token_id,)).startswith(prefix)]
    lines = token_lines(vocabulary, matches, world.columns)
    count = f"{len(matches):,} of {len(ids):,} allowed tokens begin with {escaped(prefix)}"
    return listed(session, row("allowed", count), lines, world)


def _more(session: Session, text: str, world: World) -> Reply:
    _nothing(text)
    if not session.listing:
        return Reply(session, (note("there is no more"),))
    rest = session.listing[world.rows :]
    return Reply(replace(session, listing=rest), tuple(page(session.listing, world)))


def _why(session: Session, text: str, world: World) -> Reply:
    vocabulary = session.vocabulary
    asked = [find_symbol(vocabulary, text)]
    special = vocabulary.special_tokens.get(text)
    if special is not None and special != asked[0]:
        # The text of another token, or of none, is also the name of a special token.
        asked.append(special)
    shown: list[Segment] = []
    for symbol in asked:
        why = session.engine.why(symbol)
        verdict = "is allowed" if why.allowed else "is not allowed"
        name = (
            f"token {symbol} {spelled(vocabulary, symbol)}"
            if isinstance(symbol, int)
            else escaped(symbol)
        )
        # The verdict is last, so that it is in sight below a long list of expected terminals.
        shown += [*explanation(session, why, world), note(f"{name} {verdict}: {why.reason}")]
    return Reply(session, tuple(shown))


def _tree(session: Session, text: str, world: World) -> Reply:
    """Show the tree of the text, or its certain part; of one rule only its nodes."""
    from kbnf_cli.match import tree_lines
    from kbnf_cli.parse import existing_rule
    from kbnf_core.parse.follow import Follower

    engine = session.engine
    rule = existing_rule(engine.grammar, text) if text else None
    follower = Follower(engine.grammar.parser, session.vocabulary)
    follower.follow(engine.accepted, is_over=engine.can_finish())
    tree = follower.tree()
    if tree is None:
        return Reply(session, (note("nothing is certain of the tree yet"),))
    nodes = [tree] if rule is None else list(tree.find_all(rule))
    lines = [
        clip(plain(segments).removesuffix("\n"), world.columns)
        for node in nodes
        for segments in tree_lines(node, world.columns)
    ]
    count = count_of(len(nodes), "node") if rule else count_of(len(tree), "node")
    head = row("tree", count if engine.can_finish() else f"{count}, what is certain so far")
    return listed(session, head, lines, world)


def _stack(session: Session, text: str, world: World) -> Reply:
    _nothing(text)
    return Reply(session, tuple(stack_rows(session, world.columns)))


def _time(session: Session, text: str, world: World) -> Reply:
    """Show the time of the mask before each step and of accepting it, in a second run of the text.

    Without caches (``:cache off``) the run begins with empty ones.
    """
    _nothing(text)
    steps = session.engine.accepted
    if not steps:
        raise misused("there is no step to measure: accept a token first")
    engine = session.at(0).engine if session.settings.cache else cold_engine(session.engine)
    times = [_times(engine, step) for step in steps]
    lines = [
        clip(f"{mask:>10,.1f} {accept:>10,.1f}  {escaped(spelling(session, step))}", world.columns)
        for step, (mask, accept) in zip(steps, times, strict=True)
    ]
    masks, accepts = zip(*times, strict=True)
    head = [
        *row("mask", f"{sum(masks) / len(masks):,.1f} us on average, {max(masks):,.1f} at most"),
        *row(
            "accept", f"{sum(accepts) / len(steps):,.1f} us on average, {max(accepts):,.1f} at most"
        ),
    ]
    return listed(session, head, [f"{'mask':>10} {'accept':>10}  us, by step", *lines], world)


def _times(engine: "Engine", step: "What") -> tuple[float, float]:
    """Return the microseconds of the mask at an engine's position, and of accepting a step."""
    begin = perf_counter_ns()
    engine.compute_allowed_token_ids()
    between = perf_counter_ns()
    accept_all(engine, (step,))
    return (between - begin) / 1_000, (perf_counter_ns() - between) / 1_000


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
    if text:
        raise misused(f"`:finish` takes no argument; `:finish-mode {text}` sets how texts end")
    completion = session.engine.shortest_completion()
    if completion.data == b"":
        return Reply(session, (note("the text can end here"),))
    data = (
        "none: the text cannot end by bytes alone"
        if completion.data is None
        else _counted(completion.data, world)
    )
    width = world.columns - 10
    shown = row("bytes", data)
    if completion.tokens is None:
        shown += row("tokens", "none found")
    else:
        shown += row("tokens", count_of(len(completion.tokens), "token"))
        shown += row("", tokens_line(session, completion.tokens, width))
    return Reply(session, tuple(shown))


def _counted(data: bytes, world: World) -> str:
    return clip(f"{count_of(len(data), 'byte')}  {escaped(data)}", world.columns - 10)


def _sample(session: Session, text: str, world: World) -> Reply:
    count = number(text or "1", 1, _MOST_SAMPLES)
    samples = (session.engine.sample(Random(seed)) for seed in range(count))  # noqa: S311
    return Reply(
        session,
        tuple(
            Segment(_sampled(session, sample.tokens, sample.is_complete, world.columns) + "\n")
            for sample in samples
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
    PlayCommand(("show", "status"), "", "show the position once more", _show),
    PlayCommand(("allowed",), "[/REGEX/]", "the allowed tokens", _allowed),
    PlayCommand(("more",), "", "the next lines of the last list", _more),
    PlayCommand(
        ("why",), "TOKEN", "why a token or a text is or is not allowed", _why, operand=Operand.TEXT
    ),
    PlayCommand(("stack",), "", "the open rules, with a dot where each is", _stack),
    PlayCommand(("tree",), "[RULE]", "the tree of the text; of a rule", _tree, Operand.RULE),
    PlayCommand(("forced",), "", "the forced text", _forced),
    PlayCommand(("time",), "", "the time of the mask and of accepting, by step", _time),
    PlayCommand(("finish",), "", "a shortest way to the end", _finish),
    PlayCommand(("sample",), "[N]", "texts at random that may follow", _sample),
)


def _assert(session: Session, text: str, world: World) -> Reply:
    """Check an assertion, and add it to the examples of the grammar, which ``kbnf test`` runs."""
    from kbnf_core.examples.cases import can_come

    word, _, rest = text.partition(" ")
    if word not in ("allowed", "rejected"):
        raise misused("`:assert allowed TOKEN` or `:assert rejected TOKEN`")
    wanted = word == "allowed"
    symbol = find_symbol(session.vocabulary, rest)
    if can_come(session.engine, symbol) != wanted:
        why = session.engine.why(symbol)
        verdict = "is not allowed" if wanted else "is allowed"
        raise refused(f"assertion failed: {rest} {verdict}", explanation(session, why, world))
    written = _add_example(session, symbol, wanted, world)
    return Reply(session, (note(f"{rest} is {word}, as it should be{written}"),))


def _add_example(session: Session, symbol: "What", wanted: bool, world: World) -> str:
    """Add an example to the file beside the grammar; return the words of that in a message.

    No example is added for a grammar without a file of its own, for a text that is not a token, and
    after special tokens.
    """
    from kbnf_core.examples.cases import Expectation, examples_path, with_expectation

    grammar, vocabulary = session.files.grammar, session.vocabulary
    accepted = session.engine.accepted
    if shown_path(grammar) != grammar or not world.has(grammar):
        return ""
    if not isinstance(symbol, int):
        return "; no example, since it is not a token of the vocabulary"
    if any(isinstance(step, int) and vocabulary.token(step) is None for step in accepted):
        return "; no example, since it comes after a special token"
    after, path = b"".join(spelling(session, step) for step in accepted), examples_path(grammar)
    example = Expectation("", after, _written(vocabulary.token(symbol)) or symbol, wanted)
    try:
        before = world.read(path).decode() if world.has(path) else ""
    except UnicodeDecodeError:
        raise misused(f"{path} is not UTF-8") from None
    text = with_expectation(before, str(path), example)
    if text != before:
        world.write(path, text)
    return f"; {path} has it as an example"


def _written(token: bytes | None) -> bytes | None:
    """Return a token that is text, else None."""
    try:
        return token if token and token.decode() else None
    except UnicodeDecodeError:
        return None


CHECKING = (
    PlayCommand(
        ("assert",),
        "allowed|rejected TOKEN",
        "check it, and add it to the examples",
        _assert,
        operand=Operand.TEXT,
    ),
)
