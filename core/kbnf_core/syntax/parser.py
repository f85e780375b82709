"""Loads the parsers of metasyntaxes from their tables, which ``languages.build_tables`` wrote."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias, cast

from lark import Lark, Token
from lark.parse_tree_builder import ExpandSingleChild
from lark.parsers.lalr_analysis import Shift


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


class Word(Token):
    """A word and where it stands; lines are found in the source when they are needed."""

    __slots__ = ()
    line = column = end_line = end_column = None

    def __new__(cls, type_: str, value: str, start: int, end: int) -> "Word":
        """Make a word; Lark's own constructor takes most of the time of reading words."""
        word = str.__new__(cls, value)
        word.type = type_
        word.value = value
        word.start_pos = start
        word.end_pos = end
        return word


class Lexer:
    """Splits a text into words, from behind a byte order mark or from any position on.

    Every word that belongs to no definition is in the grammar's ``aside``, down to single
    characters, so no text fails. ``place`` is how far the text has been read.
    """

    def __init__(self, parser: Lark, text: str) -> None:
        self._text = text
        self._lexer: Any = parser.parse_interactive("", start="aside").lexer_thread.lexer
        self.place = 1 if text.startswith("\ufeff") else 0

    def words(self, place: int | None = None) -> Iterator[Token]:
        """Yield the words from ``place`` on."""
        if place is not None:
            self.place = place
        # One expression of all terminals; with it come the callbacks that tell keywords apart.
        (expression,) = self._lexer.scanner._mres
        match, text, end = expression.match, self._text, len(self._text)
        ignored, callbacks = self._lexer.ignore_types, self._lexer.callback
        while (start := self.place) < end:
            found = match(text, start)
            kind = found.lastgroup
            self.place = found.end()
            if kind not in ignored:
                word = Word(kind, found.group(), start, self.place)
                yield callbacks[kind](word) if kind in callbacks else word


Reduction: TypeAlias = tuple[int, Callable[[list[Any]], Any] | None, str]
"""The length of a rule, what makes a value of its parts (None: there is one, and it is that),
and the nonterminal."""


class Automaton:
    """The LALR(1) automaton of ``definition``: Lark's tables, with its actions looked up ahead."""

    def __init__(self, parser: Lark) -> None:
        configuration: Any = parser.parse_interactive(start="definition").parser_state.parse_conf
        callbacks = configuration.callbacks
        self.start: int = configuration.start_state
        self.end: int = configuration.end_state
        self.actions: dict[int, dict[str, int | Reduction]] = {
            state: {
                symbol: argument if action is Shift else _reduction(argument, callbacks)
                for symbol, (action, argument) in row.items()
            }
            for state, row in configuration.states.items()
        }

    def expected(self, state: int) -> frozenset[str]:
        """Return the kinds of words that may come in a state."""
        return frozenset(symbol for symbol in self.actions[state] if symbol.isupper())


def _reduction(rule: Any, callbacks: Any) -> Reduction:
    size = len(rule.expansion)
    callback = callbacks[rule]
    is_same = size == 1 and isinstance(callback, ExpandSingleChild)
    return size, None if is_same else callback, rule.origin.name


def _with_number_keys(mapping: dict[str, object]) -> dict[object, object]:
    """Turn the keys that are numbers back into numbers: JSON has no such keys."""
    return {int(key) if key.isdigit() else key: value for key, value in mapping.items()}
