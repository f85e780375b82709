"""The commands that move: appending to the text, going back and forth, opening and saving.

Tests: tests/unit/play
"""

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kbnf_cli.escaped import write_typed
from kbnf_cli.play.looking import find_symbol, find_token, number, typed_bytes
from kbnf_cli.play.render import ending, explanation, listed, note, position, row, tokens_line
from kbnf_cli.play.session import (
    Files,
    Handler,
    LineVerdict,
    Mode,
    Operand,
    PlayCommand,
    PlayFailure,
    Reply,
    Session,
    World,
    accept_all,
    is_grammar,
    misused,
    open_session,
    refused,
    with_engine,
)
from kbnf_core.text.diagnostics.segments import clip, visible
from kbnf_core.text.diagnostics.text import count_of
from kbnf_core.text.errors import EngineError, FinishedError, RejectedError, VocabularyError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kbnf_core import Vocabulary
    from kbnf_core.examples.cases import Symbol


_ID = re.compile(r"#[0-9]+")
_IDS = re.compile(r"#[0-9]{1,9}(?:[ ,]+#[0-9]{1,9})+")


def feed(session: Session, line: str, world: World) -> Reply:
    """Append a line in the way that the mode says."""
    return _WAYS[session.settings.mode].feed(session, line, world)


def feed_token(session: Session, text: str, world: World) -> Reply:
    """Append one token, or several: ids one after the other, or a text for the tokenizer."""
    if _IDS.fullmatch(text):
        return _append(
            session,
            [find_token(session.vocabulary, number) for number in _ID.findall(text)],
            world,
        )
    if isinstance(find_symbol(session.vocabulary, text), int):
        return _append(session, [find_token(session.vocabulary, text)], world)
    try:
        typed_bytes(text).decode()
    except UnicodeDecodeError:  # No tokenizer writes these bytes.
        return feed_bytes(session, text, world)
    try:
        return feed_tokenized(session, text, world)
    except VocabularyError:
        return _append(session, [find_token(session.vocabulary, text)], world)


def feed_tokenized(session: Session, text: str, world: World) -> Reply:
    """Append a text as the tokenizer writes it, all of it or nothing."""
    try:
        words = typed_bytes(text).decode()
    except UnicodeDecodeError:
        raise misused("a tokenizer takes text; `:bytes` takes bytes") from None
    encoder = world.encoder(session.files.vocabulary, session.vocabulary)
    tokens = encoder.encode(words)
    head = f"{count_of(len(tokens), 'token')} ({encoder.name}): "
    shown = note(head + tokens_line(session, tokens, world.columns - len(head)))
    try:
        reply = _append(session, tokens, world)
    except PlayFailure as failure:
        failure.details.insert(0, shown)
        raise
    return replace(reply, shown=(shown, *reply.shown))


def feed_bytes(session: Session, text: str, world: World) -> Reply:
    """Append bytes one by one, all of them or nothing."""
    data = typed_bytes(text)
    return _append(session, [data[index : index + 1] for index in range(len(data))], world)


def _append(session: Session, steps: "Sequence[Symbol]", world: World) -> Reply:
    try:
        after = session.forward(*steps)
    except FinishedError:
        raise _over(session, steps) from None
    except RejectedError:
        raise _rejection(session, steps, world) from None
    return position(after, world, steps)


def _over(session: Session, steps: "Sequence[Symbol]") -> Exception:
    """Return the refusal of input after the end, with the reason why the text ended."""
    if session.engine.is_finished():
        how = ending(session)
        return refused(f"the text is over: it finished {how} (`:undo` takes a step back)")
    done = 1
    while not session.forward(*steps[:done]).engine.is_finished():
        done += 1
    how = ending(session.forward(*steps[:done]))
    return refused(f"the text is over after {done} of {len(steps)} steps: it finished {how}")


def _rejection(session: Session, steps: "Sequence[Symbol]", world: World) -> Exception:
    """Return the refusal of the first step that cannot come, explained."""
    done = 0
    while True:
        before = session.forward(*steps[:done])
        try:
            accept_all(session.forward(*steps[:done]).engine, (steps[done],))
        except RejectedError:
            break
        except FinishedError:
            return _over(session, steps)
        done += 1
    why = before.engine.why(steps[done])
    where = f" (step {done + 1} of {len(steps)}, nothing was taken)" if len(steps) > 1 else ""
    return refused(f"rejected{where}: {why.reason}", explanation(before, why, world))


class _Way(NamedTuple):
    """A way to take lines: in words, and its command."""

    lines_are: str
    names: tuple[str, ...]
    usage: str
    help: str
    feed: Handler


_WAYS = {
    Mode.TOKEN: _Way(
        "one token each",
        ("token",),
        "[TOKEN]",
        "append one token; alone: take lines so",
        feed_token,
    ),
    Mode.TEXT: _Way(
        "text for the tokenizer",
        ("text", "tok"),
        "[TEXT]",
        "append text by the tokenizer; alone: take lines so",
        feed_tokenized,
    ),
    Mode.BYTES: _Way(
        "bytes, one by one",
        ("bytes",),
        "[TEXT]",
        "append text byte by byte; alone: take lines so",
        feed_bytes,
    ),
}


def _feeding(mode: Mode, way: _Way) -> PlayCommand:
    """Return the command that feeds its argument, or without one sets the mode."""

    def handle(session: Session, text: str, world: World) -> Reply:
        if text:
            return way.feed(session, text, world)
        changed = replace(session, settings=replace(session.settings, mode=mode))
        back = "" if mode is Mode.TOKEN else "; `:token` takes them as tokens again"
        return Reply(changed, (note(f"lines are taken as {way.lines_are}{back}"),))

    return PlayCommand(way.names, way.usage, way.help, handle, operand=Operand.TEXT)


FEEDING = tuple(_feeding(mode, way) for mode, way in _WAYS.items())


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
        raise misused("a mark's name is not a number")
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
    PlayCommand(("undo",), "[N]", "take back the last steps", _undo),
    PlayCommand(("redo",), "[N]", "make them again", _redo),
    PlayCommand(("mark",), "[NAME]", "give this place a name", _mark),
    PlayCommand(("goto",), "[NAME|N]", "go to a mark, or to the place after N steps", _goto),
    PlayCommand(("reset",), "", "go to the beginning", _reset),
)


def _reload(session: Session, text: str, world: World) -> Reply:
    if text:
        raise misused("nothing is expected after `:reload`")
    return same_steps(session, session.files, world)


def same_steps(session: Session, files: Files, world: World) -> Reply:
    """Open the grammar again and make the same steps, as far as they go; ``:redo`` has the rest."""
    fresh = open_session(files, world, session.vocabulary)
    engine, steps, failed = fresh.engine, session.engine.accepted, ""
    for made, step in enumerate(steps, start=1):
        try:
            accept_all(engine, (step,))
        except EngineError as error:
            failed = f"step {made} cannot be made again: {error}"
            break
    reopened = replace(with_engine(session, engine), files=files)
    count = len(engine.accepted)
    after = replace(reopened, undone=(*steps[count:], *session.undone))
    reply = position(after, world)
    shown = (note(f"{count_of(count, 'step')} made again"), *reply.shown)
    return Reply(reply.session, shown, LineVerdict.REFUSED if failed else LineVerdict.FINE, failed)


def begin(
    session: Session, files: Files, world: World, vocabulary: "Vocabulary | None" = None
) -> Reply:
    """Restart with other files, keeping the switches; see ``open_session``."""
    fresh = open_session(files, world, vocabulary)
    return position(replace(fresh, settings=session.settings), world)


def _load(session: Session, text: str, world: World) -> Reply:
    """Open a grammar, or append the content of another file."""
    path = _path(text)
    if is_grammar(path):
        files = replace(session.files, grammar=path, start=None, from_=None, schema={})
        return begin(session, files, world, session.vocabulary)
    data = world.read(path)
    return feed_bytes(session, write_typed(data), world)


def _vocab(session: Session, text: str, world: World) -> Reply:
    """Show the vocabulary, or begin anew with another one."""
    if text:
        files = replace(session.files, vocabulary=text, eos=None)
        return begin(session, files, world)
    vocabulary = session.vocabulary
    stops = " ".join(map(str, sorted(vocabulary.eos_token_ids))) or "none"
    shown = (
        *row("name", session.files.vocabulary),
        *row("tokens", f"{len(vocabulary):,}, special {len(vocabulary.special_tokens):,}"),
        *row("stop ids", stops),
        *row("print", vocabulary.fingerprint),
    )
    return Reply(session, shown)


def _grammar(session: Session, text: str, world: World) -> Reply:
    """Show the grammar, its live lines marked, or begin anew with another one."""
    if text:
        return _load(session, text, world)
    grammar = session.engine.grammar
    source = grammar.source
    live = {source.position(site.span.start).line for site in session.engine.why(b"").sites}
    lines = [
        f"{'>' if number in live else ' '}{number:>4}  {source.line(number)}"
        for number in range(1, source.line_count + 1)
    ]
    head = row(
        "grammar", f"{source.name}, start {grammar.start}, finish {session.engine.finish.value}"
    )
    rest = tuple(clip(visible(line), world.columns) for line in lines)
    return listed(session, head, rest, world)


def _save(session: Session, text: str, world: World) -> Reply:
    """Write the lines that were carried out as a script."""
    path = _path(text)
    world.write(path, "".join(f"{_escaped_line(line)}\n" for line in session.typed))
    lines = count_of(len(session.typed), "line")
    return Reply(session, (note(f"{lines} in {path}: `kbnf play GRAMMAR < {path}` runs them"),))


def _escaped_line(line: str) -> str:
    """Return a line in UTF-8: of invalid bytes, the escapes."""
    return re.sub("[\udc80-\udcff]", lambda byte: f"\\x{ord(byte[0]) - 0xDC00:02x}", line)


def _path(text: str) -> Path:
    if not text:
        raise misused("the name of a file is needed")
    return Path(text).expanduser()


FILING = (
    PlayCommand(("reload",), "", "open the grammar again, make the same steps", _reload),
    PlayCommand(("load",), "FILE", "open a grammar; append any other file", _load, Operand.PATH),
    PlayCommand(
        ("vocab",), "[FILE|bytes]", "show the vocabulary; use another", _vocab, Operand.PATH
    ),
    PlayCommand(
        ("grammar",),
        "[FILE]",
        "show the grammar, live lines marked; open another",
        _grammar,
        Operand.PATH,
    ),
    PlayCommand(("save",), "FILE", "write what was typed as a script", _save, Operand.PATH),
)
