"""``kbnf mask -i``: a text is typed, and the mask below it follows each character."""

import copy
from collections.abc import Callable
from dataclasses import dataclass
from shutil import get_terminal_size
from typing import TYPE_CHECKING

from kbnf_cli.console import Console
from kbnf_cli.escaped import describe_bytes, escaped
from kbnf_cli.play.render import FEW, allowed_ids, row, summary_lines, token_lines
from kbnf_core.text.diagnostics.segments import Role, Segment, Segments
from kbnf_core.text.diagnostics.text import count_of

if TYPE_CHECKING:
    from prompt_toolkit.application import Application
    from prompt_toolkit.document import Document
    from prompt_toolkit.formatted_text import StyleAndTextTuples
    from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
    from prompt_toolkit.lexers import Lexer

    from kbnf_core import Engine

KEYS = "Tab inserts the forced text, Ctrl-D or Ctrl-C leaves"


@dataclass(frozen=True)
class Look:
    """A typed text at a grammar: ``engine`` is after its first ``taken`` bytes.

    ``reason`` says why the byte after them cannot occur; it is empty where all could.
    """

    engine: "Engine"
    data: bytes
    taken: int
    reason: str

    @property
    def forced(self) -> bytes:
        """The bytes that must come next; none where one was refused."""
        return b"" if self.reason else self.engine.forced_bytes()


def look(engine: "Engine", typed: str) -> Look:
    """Feed a text to a copy of the engine as far as it goes."""
    data = typed.encode("utf-8", "surrogateescape")
    why = engine.why(data)
    here = copy.copy(engine)
    if why.accepted:
        here.try_accept_new_bytes(data[: why.accepted])
    return Look(here, data, why.accepted, "" if why.accepted == len(data) else why.reason)


def look_rows(found: Look, columns: int, rows: int) -> Segments:
    """Return the lines below the text: how it is, what is forced, and the allowed tokens."""
    engine = found.engine
    shown = row("status", _status(found), Role.STATE)
    if found.reason:
        byte = found.data[found.taken]
        shown += row("refused", f"{describe_bytes([(byte, byte)])}: {found.reason}", Role.REFUSED)
    if found.forced:
        shown += row("forced", escaped(found.forced), Role.FORCED)
    if engine.is_finished():
        return shown
    ids = allowed_ids(engine)
    shown += row("allowed", f"{len(ids):,} of {count_of(len(engine.vocabulary), 'token')}")
    lines = (
        token_lines(engine.vocabulary, ids, columns)
        if len(ids) <= FEW
        else summary_lines(engine, ids, columns)
    )
    room = max(1, rows - sum(part.text.endswith("\n") for part in shown) - 1)
    shown += [Segment(f"{line}\n") for line in lines[:room]]
    if len(lines) > room:
        shown.append(Segment(f"... {count_of(len(lines) - room, 'more line')}\n", Role.NOTE))
    return shown


def _status(found: Look) -> str:
    engine = found.engine
    if engine.is_finished():
        return f"finished (finish={engine.finish.value})"
    return "can finish" if engine.can_finish() else "ongoing"


class _View:
    """What is on the screen: the last text looked at, so that each is looked at once."""

    def __init__(self, console: Console, engine: "Engine") -> None:
        self._console = console
        self._engine = engine
        self._text = ""
        self._look = look(engine, "")

    def at(self, text: str) -> Look:
        """Return the look at a text."""
        if text != self._text:
            self._text, self._look = text, look(self._engine, text)
        return self._look

    def below(self, text: str) -> "StyleAndTextTuples":
        """Return the lines below the text, and the keys."""
        size = get_terminal_size()
        shown = look_rows(self.at(text), size.columns, size.lines - _OTHER_ROWS)
        return self._styled([*shown, Segment(f"\n{KEYS}", Role.NOTE)])

    def line(self, text: str, number: int) -> "StyleAndTextTuples":
        """Return a line of the text: what is accepted, and what is not."""
        lines = text.split("\n")
        before = sum(len(each) + 1 for each in lines[:number])
        found = self.at(text)
        good = len(found.data[: found.taken].decode("utf-8", "ignore"))
        cut = max(0, good - before)
        line = lines[number]
        return self._styled([Segment(line[:cut], Role.ACCEPTED), Segment(line[cut:], Role.REFUSED)])

    def _styled(self, segments: Segments) -> "StyleAndTextTuples":
        return [(self._console.prompt_style(role), text) for text, role in segments]


_OTHER_ROWS = 8
"""Lines of the terminal for the text, what is around it, and the keys."""


def run_live(console: Console, engine: "Engine", before: bytes) -> None:
    """Show the view until a key leaves it; ``before`` was fed already."""
    console.text(f"{escaped(before)} comes first\n" if before else "")
    _application(_View(console, engine)).run()


def _application(view: _View) -> "Application[None]":
    from prompt_toolkit.application import Application
    from prompt_toolkit.buffer import Buffer
    from prompt_toolkit.layout import HSplit, Layout, Window
    from prompt_toolkit.layout.controls import BufferControl, FormattedTextControl
    from prompt_toolkit.layout.dimension import Dimension

    buffer = Buffer(multiline=True)
    text = Window(
        BufferControl(buffer, lexer=_lexer(view)),
        get_line_prefix=lambda line, wrapped: "> " if line == wrapped == 0 else "  ",
        height=Dimension(min=1, max=_OTHER_ROWS - 4),
        wrap_lines=True,
        dont_extend_height=True,
    )
    below = Window(FormattedTextControl(lambda: view.below(buffer.text)), wrap_lines=True)
    bindings = _bindings(lambda: view.at(buffer.text).forced)
    return Application(Layout(HSplit([text, below])), key_bindings=bindings, erase_when_done=False)


def _lexer(view: _View) -> "Lexer":
    from prompt_toolkit.lexers import Lexer

    class Accepted(Lexer):
        """Colours what the grammar takes, and what it does not."""

        def lex_document(self, document: "Document") -> "Callable[[int], StyleAndTextTuples]":
            return lambda number: view.line(document.text, number)

    return Accepted()


def _bindings(forced: Callable[[], bytes]) -> "KeyBindings":
    from prompt_toolkit.key_binding import KeyBindings

    bindings = KeyBindings()

    @bindings.add("c-c")
    @bindings.add("c-d")
    def _(event: "KeyPressEvent") -> None:
        event.app.exit()

    @bindings.add("tab")
    def _(event: "KeyPressEvent") -> None:
        event.current_buffer.insert_text(forced().decode("utf-8", "ignore"))

    @bindings.add("enter")
    def _(event: "KeyPressEvent") -> None:
        event.current_buffer.insert_text("\n")

    return bindings
