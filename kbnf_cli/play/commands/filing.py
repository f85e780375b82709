"""Opening, opening again, saving and replaying."""

from dataclasses import replace
from pathlib import Path

from kbnf_cli.play.allowed import clip
from kbnf_cli.play.commands.base import Command
from kbnf_cli.play.commands.feeding import feed_bytes
from kbnf_cli.play.opening import is_grammar, open_session, with_engine
from kbnf_cli.play.replaying import BREAKS, play_again, read_saved, recorded
from kbnf_cli.play.session import Reply, Session, World, misused
from kbnf_cli.play.show import note, page, position, row
from kbnf_cli.play.typed import write_typed
from kbnf_core.diagnostics.visible import visible


def _reload(session: Session, text: str, world: World) -> Reply:
    """Open the grammar again and make the same steps, as far as they go."""
    if text:
        raise misused("nothing is expected behind `:reload`")
    play = recorded(session)
    fresh = open_session(session.files, world, session.vocabulary)
    reply = play_again(with_engine(session, fresh.engine), play, world, BREAKS)
    undone = (*reply.session.undone, *session.undone)
    return replace(reply, session=replace(reply.session, undone=undone))


def _load(session: Session, text: str, world: World) -> Reply:
    """Open a grammar, or append what another file holds."""
    path = _path(text)
    if is_grammar(path):
        files = replace(session.files, grammar=path, start=None)
        fresh = open_session(files, world, session.vocabulary)
        return position(replace(fresh, settings=session.settings), world)
    data = world.read(path)
    return feed_bytes(session, write_typed(data), world)


def _vocab(session: Session, text: str, world: World) -> Reply:
    """Show the vocabulary, or begin anew with another one."""
    if text:
        files = replace(session.files, vocabulary=text, eos=None)
        fresh = open_session(files, world)
        return position(replace(fresh, settings=session.settings), world)
    vocabulary = session.vocabulary
    stops = " ".join(map(str, sorted(vocabulary.eos_token_ids))) or "none"
    shown = (
        row("name", session.files.vocabulary),
        row("tokens", f"{len(vocabulary):,}, special {len(vocabulary.special_tokens):,}"),
        row("stop ids", stops),
        row("print", vocabulary.fingerprint),
    )
    return Reply(session, shown)


def _grammar(session: Session, text: str, world: World) -> Reply:
    """Show the grammar, its live lines marked, or begin anew with another one."""
    if text:
        return _load(session, text, world)
    grammar = session.engine.grammar
    source = grammar.source
    live = {source.position(place.span.start).line for place in session.engine.why(b"").places}
    lines = [
        f"{'>' if number in live else ' '}{number:>4}  {source.line(number)}"
        for number in range(1, source.line_count + 1)
    ]
    head = row(
        "grammar", f"{source.name}, start {grammar.start}, finish {session.engine.finish.value}"
    )
    rest = tuple(clip(visible(line), world.columns) for line in lines)
    return Reply(replace(session, listing=rest[world.rows :]), (head, *page(rest, world)))


def _save(session: Session, text: str, world: World) -> Reply:
    """Write the steps, the masks and the assertions as a play."""
    from kbnf_core.recordings import write_recording

    path = _path(text)
    world.write(path, write_recording(recorded(session, path.parent), session.vocabulary))
    made = sum(map(len, session.assertions.values()))
    return Reply(session, (note(f"saved {session.count} steps and {made} assertions in {path}"),))


def _replay(session: Session, text: str, world: World) -> Reply:
    """Play a saved play on the grammar and the vocabulary that are open."""
    path = _path(text)
    return play_again(session, read_saved(path, world), world)


def _path(text: str) -> Path:
    if not text:
        raise misused("the name of a file is needed")
    return Path(text).expanduser()


FILING = (
    Command(("reload",), "", "open the grammar again, make the same steps", _reload),
    Command(("load",), "FILE", "open a grammar or artifact; append any other file", _load),
    Command(("vocab",), "[FILE|bytes]", "show the vocabulary; begin with another", _vocab),
    Command(("grammar",), "[FILE]", "show the grammar, live lines marked; open another", _grammar),
    Command(("save",), "FILE", "save this play", _save),
    Command(("replay",), "FILE", "play a saved play here, report where it differs", _replay),
)
