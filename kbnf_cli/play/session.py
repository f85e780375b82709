"""The state of a console between two lines. Sessions are values: a step makes a new one.

Tests: tests/unit/play/test_step.py, tests/unit/play/test_complete.py
"""

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from kbnf_cli.console import Console, Exit
from kbnf_cli.files import read_bytes, write_text
from kbnf_cli.inputs import (
    BUILT_IN,
    Inputs,
    read_vocabulary,
    vocabulary_file,
)
from kbnf_core.text.diagnostics import Diagnostic
from kbnf_core.text.diagnostics.segments import Segment, Segments
from kbnf_core.text.errors import MissingExtraError

if TYPE_CHECKING:
    from kbnf_core import Engine, Grammar, Vocabulary
    from kbnf_core.examples.cases import Symbol
    from kbnf_core.vocab.read import Encoder


class Mode(Enum):
    """How a line that is not a command is read."""

    TOKEN = "token"
    TEXT = "text"
    BYTES = "bytes"


class LineVerdict(Enum):
    """The outcome of a line; the value is the exit status of a script that stops there."""

    FINE = Exit.CLEAN
    REFUSED = Exit.FINDINGS
    MISUSED = Exit.TROUBLE
    LEAVE = -1


class PlayFailure(Exception):  # noqa: N818 - a refusal is an outcome here, not a fault
    """A line that did nothing, and why; caught by ``step``."""

    def __init__(self, message: str, verdict: LineVerdict, details: Segments | None = None) -> None:
        super().__init__(message)
        self.verdict = verdict
        self.details = details or []


def refused(message: str, details: Segments | None = None) -> PlayFailure:
    """Return the failure of input that the grammar, or an assertion, does not allow."""
    return PlayFailure(message, LineVerdict.REFUSED, details)


def misused(message: str) -> PlayFailure:
    """Return the failure of a command that cannot be carried out."""
    return PlayFailure(message, LineVerdict.MISUSED)


_SCRIPT_COLUMNS = 100
_SCRIPT_ROWS = 20


class World:
    """All that commands need from outside, for a script: of one width, so that output is stable."""

    def __init__(self, console: Console, inputs: Inputs) -> None:
        self._console = console
        self._inputs = inputs
        self._encoders: dict[str, Encoder] = {}

    @property
    def columns(self) -> int:
        """Cells in a line."""
        return _SCRIPT_COLUMNS

    @property
    def rows(self) -> int:
        """Lines that a listing may take."""
        return _SCRIPT_ROWS

    def grammar(self, files: "Files", vocabulary: "Vocabulary") -> "Grammar":
        """Open a grammar; raises ``KbnfError``."""
        asked = replace(
            self._inputs,
            start=files.start,
            finish=files.finish,
            from_=files.from_,
            schema=files.schema,
        )
        return asked.grammar(files.grammar, vocabulary)

    def vocabulary(self, name: str, eos: tuple[int, ...] | None) -> "Vocabulary":
        """Open a vocabulary, ``bytes`` or a file; raises ``KbnfError``."""
        return read_vocabulary(self._console, name, eos or ())

    def encoder(self, name: str, vocabulary: "Vocabulary") -> "Encoder":
        """Return the tokenizer of a vocabulary, or longest match where its library is missing.

        Raises ``KbnfError``.
        """
        from kbnf_core.vocab.read import load_encoder

        if name not in self._encoders:
            path = None if name == BUILT_IN else vocabulary_file(name)
            try:
                loaded = load_encoder(path, vocabulary)
            except MissingExtraError as error:
                self._console.note(f"{error}; until then text is cut by longest match")
                loaded = load_encoder(None, vocabulary)
            self._encoders[name] = loaded
        return self._encoders[name]

    def has(self, path: Path) -> bool:
        """Return whether there is a file."""
        return path.is_file()

    def read(self, path: Path) -> bytes:
        """Read a file; raises ``SourceError``."""
        return read_bytes(path)

    def write(self, path: Path, text: str) -> None:
        """Write a file as a whole; raises ``OSError``."""
        write_text(path, text)


@dataclass(frozen=True, slots=True)
class Switches:
    """The switches; ``cache`` off begins every step with empty caches, as for measuring."""

    show_stacks: bool = False
    show_allowed: bool = True
    show_input: bool = False
    cache: bool = True
    mode: Mode = Mode.TOKEN


@dataclass(frozen=True, slots=True)
class Files:
    """Where the grammar and the vocabulary came from, and how they were asked for."""

    grammar: Path
    vocabulary: str
    eos: tuple[int, ...] | None = None
    start: str | None = None
    finish: str | None = None
    from_: str | None = None
    schema: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Session:
    """A position and the way to it.

    ``engine`` is never moved, only replaced. ``undone``: what ``:redo`` accepts, next first.
    ``marks``: names for numbers of steps. ``typed``: the lines that were carried out. ``listing``:
    what ``:more`` shows. ``listed``: the allowed ids shown last. ``losses``: what converting the
    grammar could not keep.
    """

    files: Files
    engine: "Engine"
    settings: Switches = field(default_factory=Switches)
    undone: "tuple[Symbol, ...]" = ()
    marks: Mapping[str, int] = field(default_factory=dict)
    typed: tuple[str, ...] = ()
    listing: Sequence[str] = ()
    listed: Sequence[int] = ()
    losses: tuple[Diagnostic, ...] = ()

    @property
    def vocabulary(self) -> "Vocabulary":
        """The vocabulary in use."""
        return self.engine.vocabulary

    @property
    def count(self) -> int:
        """Steps made so far."""
        return len(self.engine.accepted)

    def forward(self, *steps: "Symbol") -> "Session":
        """Return the session after more steps; raises the errors of the engine.

        Steps that were undone are dropped, with the marks there.
        """
        engine = self._engine()
        accept_all(engine, steps)
        count = self.count
        return replace(
            self,
            engine=engine,
            undone=(),
            listing=(),
            marks={name: at for name, at in self.marks.items() if at <= count},
        )

    def at(self, count: int) -> "Session":
        """Return the session after the first ``count`` of the steps made and undone."""
        steps = (*self.engine.accepted, *self.undone)
        engine = copy.copy(self.engine)
        engine.rollback(max(0, self.count - count))
        accept_all(engine, steps[self.count : count])
        return replace(self, engine=engine, undone=steps[count:], listing=())

    def _engine(self) -> "Engine":
        """Return an engine at this position that may be moved."""
        if self.settings.cache:
            return copy.copy(self.engine)
        engine = cold_engine(self.engine)
        accept_all(engine, self.engine.accepted)
        return engine


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply to a line."""

    session: Session
    shown: tuple[Segment, ...] = ()
    verdict: LineVerdict = LineVerdict.FINE
    message: str = ""


def accept_all(engine: "Engine", steps: "tuple[Symbol, ...]") -> None:
    """Feed steps to an engine; raises its errors."""
    for step in steps:
        if isinstance(step, int):
            engine.try_accept_new_token(step)
        else:
            engine.try_accept_new_bytes(step)


def cold_engine(engine: "Engine") -> "Engine":
    """Return an engine at the beginning that shares no caches with ``engine``."""
    from kbnf_core import Config, Engine

    return Engine(engine.grammar.cold(), engine.vocabulary, Config(finish=engine.finish))


def open_session(files: Files, world: World, vocabulary: "Vocabulary | None" = None) -> Session:
    """Return a session at the beginning; ``vocabulary`` is the one to use if it is open already.

    Raises ``KbnfError``.
    """
    from kbnf_core import Config, Engine

    if vocabulary is None:
        vocabulary = world.vocabulary(files.vocabulary, files.eos)
    grammar = world.grammar(files, vocabulary)
    engine = Engine(grammar, vocabulary, Config(finish=files.finish))
    return Session(files, engine, losses=grammar.losses)


def with_engine(session: Session, engine: "Engine") -> Session:
    """Return the session with another engine, and nothing to redo or to list."""
    return replace(session, engine=engine, undone=(), listing=())


def is_grammar(path: Path) -> bool:
    """Return by its extension whether a file is a grammar or an artifact."""
    from kbnf_core.artifact import SUFFIX
    from kbnf_core.languages import EXTENSIONS

    return path.suffix.lower() in (*EXTENSIONS, SUFFIX)


Handler: TypeAlias = Callable[[Session, str, World], Reply]
"""Receives the text after a command's name, without blanks around it (see ``PlayCommand``)."""


class Operand(Enum):
    """The operand of a command, which Tab completes."""

    WORD = "word"
    """A number, a name, or one of the words in the command's usage."""

    TEXT = "text"
    """A token or a text, whose blanks count: only the first one belongs to the command."""

    RULE = "rule"
    PATH = "path"


@dataclass(frozen=True, slots=True)
class PlayCommand:
    """``names``: the command's own and the shorter ones. ``usage``: its arguments."""

    names: tuple[str, ...]
    usage: str
    help: str
    handler: Handler
    operand: Operand = Operand.WORD
