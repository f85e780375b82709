"""Loads the parsers of metasyntaxes from their tables, which ``languages.build_tables`` wrote."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, cast

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
        self._match, self._callbacks = _scanner(parser)
        self.place = 1 if text.startswith("\ufeff") else 0

    def words(self, place: int | None = None) -> Iterator[Token]:
        """Yield the words from ``place`` on."""
        if place is not None:
            self.place = place
        match, text, callbacks = self._match, self._text, self._callbacks
        while found := match(text, self.place):
            kind = found.lastgroup
            start, self.place = found.span(kind)
            word = Word(kind, found[kind], start, self.place)
            yield callbacks[kind](word) if kind in callbacks else word
        self.place = len(text)


@lru_cache(maxsize=16)
def _scanner(parser: Lark) -> tuple[Any, Mapping[str, Callable[[Word], Token]]]:
    """Return what matches the next word, and the callbacks that tell keywords apart.

    What is ignored begins no word, so it is skipped in front of each.
    """
    lexer: Any = parser.parse_interactive("", start="aside").lexer_thread.lexer
    (expression,) = lexer.scanner._mres  # One expression of all terminals.
    ignored = [
        terminal.pattern.to_regexp()
        for terminal in lexer.terminals
        if terminal.name in lexer.ignore_types
    ]
    skipped = f"(?:{'|'.join(ignored)})*+" if ignored else ""
    return re.compile(f"{skipped}(?:{expression.pattern})", expression.flags).match, lexer.callback


Reduction: TypeAlias = tuple[int, Callable[[list[Any]], Any] | None, str]
"""The length of a rule, what makes a value of its parts (None: there is one, and it is that),
and the nonterminal."""


class Chain(NamedTuple):
    """Reductions of one part each, one after the other: what they call, and the state behind."""

    callbacks: tuple[Callable[[list[Any]], Any], ...]
    state: int


class Automaton:
    """The LALR(1) automaton of ``definition``: Lark's tables, with its actions looked up ahead.

    ``chains`` are those known so far: by the state below, the state, and the kind of word ahead.
    """

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
        self.chains: dict[tuple[int, int, str], Chain] = {}

    def chain(self, below: int, state: int, kind: str) -> Chain:
        """Return the reductions of one part that follow in ``state``, above the state ``below``."""
        place, callbacks = (below, state, kind), []
        while state != self.end:
            action = self.actions[state].get(kind)
            if not isinstance(action, tuple) or action[0] != 1:
                break
            _, callback, nonterminal = action
            if callback is not None:
                callbacks.append(callback)
            state = cast(int, self.actions[below][nonterminal])
        return self.chains.setdefault(place, Chain(tuple(callbacks), state))

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
