"""From files to a session at its beginning."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from kbnf_cli.play.session import Files, Session, World

if TYPE_CHECKING:
    from kbnf_core import Engine, Vocabulary


def open_session(files: Files, world: World, vocabulary: "Vocabulary | None" = None) -> Session:
    """Return a session at the beginning; ``vocabulary`` is the one to use if it is open already.

    Raises ``KbnfError``.
    """
    from kbnf_core import Config, Engine

    if vocabulary is None:
        vocabulary = world.vocabulary(files.vocabulary, files.eos)
    opened = world.grammar(files.grammar, files.start, files.finish, vocabulary)
    engine = Engine(opened.grammar, vocabulary, Config(finish=files.finish))
    return Session(files, engine, losses=opened.losses)


def with_engine(session: Session, engine: "Engine") -> Session:
    """Return the session with another engine, and nothing to redo or to list."""
    return replace(session, engine=engine, undone=(), listing=())


def is_grammar(path: Path) -> bool:
    """Tell by its extension whether a file is a grammar or an artifact."""
    from kbnf_core.artifact import SUFFIX
    from kbnf_core.languages import EXTENSIONS

    return path.suffix.lower() in (*EXTENSIONS, ".lark", ".bnf", SUFFIX)
