"""The console on a terminal: lines are edited by prompt_toolkit, replies are printed below.

Tests: tests/unit/play/test_complete.py
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kbnf_cli.console import Console
from kbnf_cli.escaped import TypingError, read_typed, write_typed
from kbnf_cli.play.commands import COMMANDS, spoken_command, step
from kbnf_cli.play.render import note, position, status
from kbnf_cli.play.session import LineVerdict, Operand, PlayCommand, Reply, Session, World
from kbnf_core.mask.bits import unpack, word_count
from kbnf_core.text.diagnostics.segments import clip, visible
from kbnf_core.text.diagnostics.text import count_of
from kbnf_core.vocab.trie import ABSENT

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import Completer
    from prompt_toolkit.history import History

_MOST = 200
"""The most proposals shown at once."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """``text`` replaces the last ``length`` characters typed; ``note`` is beside it."""

    text: str
    length: int
    note: str


def proposals(session: Session, typed: str) -> Iterator[Proposal]:
    """Yield the completions of the line ``typed`` so far, at most some hundred."""
    if not typed.startswith(":"):
        yield from _tokens(session, typed)
        return
    name, blank, rest = typed[1:].partition(" ")
    if not blank:
        for command_name, command in sorted(COMMANDS.items()):
            if command_name.startswith(name):
                yield Proposal(f":{command_name}", len(typed), command.help)
    elif name in COMMANDS:
        yield from _operands(session, COMMANDS[name], rest)


def _operands(session: Session, command: PlayCommand, typed: str) -> Iterator[Proposal]:
    """Yield the possible arguments of a command."""
    match command.operand:
        case Operand.TEXT:
            is_last_word = command.usage.endswith(" TOKEN")
            yield from _tokens(session, typed.rpartition(" ")[2] if is_last_word else typed)
        case Operand.PATH:
            yield from _paths(typed.lstrip())
        case Operand.RULE:
            yield from _words(session.engine.grammar.names, typed)
        case Operand.WORD:
            usage = command.usage.strip("[]").split("|")
            yield from _words([word for word in usage if word.islower()], typed)


def _words(words: Iterable[str], typed: str) -> Iterator[Proposal]:
    wanted = typed.lstrip()
    for word in words:
        if word.startswith(wanted):
            yield Proposal(word, len(wanted), "")


def _paths(typed: str) -> Iterator[Proposal]:
    from prompt_toolkit.completion import CompleteEvent, PathCompleter
    from prompt_toolkit.document import Document

    for completion in PathCompleter(expanduser=True).get_completions(
        Document(typed), CompleteEvent()
    ):
        # A folder is shown with a slash, and so may be completed further.
        is_folder = completion.display_text.endswith("/")
        yield Proposal(completion.text + "/" * is_folder, -completion.start_position, "")


def _tokens(session: Session, typed: str) -> Iterator[Proposal]:
    """Yield the allowed tokens that begin with the typed text, in the order of their bytes."""
    try:
        data = read_typed(typed)
    except TypingError:
        return
    vocabulary = session.vocabulary
    trie = vocabulary.trie
    node = trie.find(data)
    if node == ABSENT:
        return
    words = np.zeros(word_count(vocabulary.size), np.int32)
    session.engine.fill_bitmask(words)
    below = trie.subtree_ids(node)
    allowed = below[unpack(words.view(np.uint32), vocabulary.size)[below]]
    for token_id in islice(allowed.tolist(), _MOST):
        yield Proposal(write_typed(vocabulary.tokens[token_id]), len(typed), f"#{token_id}")


_PROMPT = "> "


def run_terminal(console: Console, session: Session, world: World) -> None:
    """Read and carry out lines until the end of input or ``:quit``."""
    console.data([note("a line is a token or text; `:help` lists the commands, Ctrl-D leaves")])
    reply = position(session, world)
    console.data(reply.shown)
    current = reply.session
    prompt = _make_prompt(lambda: current, world)
    while True:
        try:
            entered = prompt.prompt(_PROMPT)
        except KeyboardInterrupt:
            continue
        except EOFError:
            return
        # Pasted text may have several lines.
        for line in entered.splitlines():
            reply = _step(current, line, world)
            console.data(reply.shown)
            current = reply.session
            if reply.verdict is LineVerdict.LEAVE:
                return
            if reply.verdict is not LineVerdict.FINE:
                console.error(reply.message)
                break


def _step(session: Session, line: str, world: World) -> Reply:
    """Carry out a line, `exit` and the like as commands; Ctrl-C leaves everything as it was."""
    try:
        reply = step(session, line, world)
        if reply.verdict in (LineVerdict.REFUSED, LineVerdict.MISUSED):
            command = spoken_command(session, line)
            return reply if command is None else step(session, command, world)
        return reply
    except KeyboardInterrupt:
        return Reply(session, (), LineVerdict.MISUSED, "interrupted")


def _make_prompt(current: Callable[[], Session], world: World) -> "PromptSession[str]":
    from prompt_toolkit import PromptSession

    return PromptSession(
        history=_history(),
        completer=_completer(current),
        complete_while_typing=False,
        bottom_toolbar=lambda: toolbar(current(), world.columns),
        enable_history_search=True,
    )


def toolbar(session: Session, columns: int) -> str:
    """Return one line: mode, status, steps, grammar and vocabulary."""
    grammar = Path(session.files.grammar).name
    entries = (
        session.settings.mode.value,
        status(session),
        count_of(session.count, "token"),
        grammar,
        Path(session.files.vocabulary).name,
    )
    return clip(visible(" " + " | ".join(entries)), columns)


def _completer(current: Callable[[], Session]) -> "Completer":
    from prompt_toolkit.completion import CompleteEvent, Completer, Completion
    from prompt_toolkit.document import Document

    class Allowed(Completer):
        """Proposes the allowed tokens at the position of the session."""

        def get_completions(
            self, document: Document, complete_event: CompleteEvent
        ) -> Iterable[Completion]:
            del complete_event
            for proposal in proposals(current(), document.current_line_before_cursor):
                yield Completion(proposal.text, -proposal.length, display_meta=proposal.note)

    return Allowed()


def _history() -> "History":
    """Return the history kept on disk, or one in memory where nothing can be kept."""
    from prompt_toolkit.history import FileHistory, InMemoryHistory

    file = history_file()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a", encoding="utf-8"):
            pass
    except OSError:
        return InMemoryHistory()
    return FileHistory(str(file))


def history_file() -> Path:
    """Return where lines typed are kept between runs."""
    from platformdirs import user_state_path

    return user_state_path("kbnf") / "play_history"
