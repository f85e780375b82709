"""Loads the parsers of metasyntaxes from their tables, which ``languages.build_tables`` wrote."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import cast

from lark import Lark, Token
from lark.lexer import LexerState, LexerThread


def load_parser(folder: Path, callbacks: object) -> Lark:
    """Return the parser of ``folder``'s ``grammar.lark``; starts are ``definition`` and ``aside``.

    ``callbacks`` has a method for every rule. Loading takes milliseconds.
    """
    # Not through importlib.resources: importing that takes longer than all of this.
    text = (folder / "grammar.tables.json").read_text("utf-8")
    tables = json.loads(text, object_hook=_with_number_keys)
    # Lark.load reads the same two dictionaries, but only out of a pickle.
    parser = Lark._load_from_dict(  # type: ignore[no-untyped-call]
        tables["data"], tables["memo"], transformer=callbacks
    )
    return cast(Lark, parser)


class Lexer:
    """Splits a text into words, from behind a byte order mark or from any position on.

    Every word that belongs to no definition is in the grammar's ``aside``, down to single
    characters, so no text fails.
    """

    def __init__(self, parser: Lark, text: str) -> None:
        thread = parser.parse_interactive(text, start="aside").lexer_thread
        self._thread: LexerThread = thread
        self._state = cast(LexerState, thread.state)
        self._state.line_ctr.char_pos = 1 if text.startswith("\ufeff") else 0

    @property
    def place(self) -> int:
        """How far the text has been read."""
        return self._state.line_ctr.char_pos

    def words(self, place: int | None = None) -> Iterator[Token]:
        """Yield the words from ``place`` on."""
        # Lark can start anywhere, it only offers no call for it; its columns are not used.
        if place is not None:
            self._state.line_ctr.char_pos = place
        return self._thread.lexer.lex(self._state, None)


def _with_number_keys(mapping: dict[str, object]) -> dict[object, object]:
    """Turn the keys that are numbers back into numbers: JSON has no such keys."""
    return {int(key) if key.isdigit() else key: value for key, value in mapping.items()}
