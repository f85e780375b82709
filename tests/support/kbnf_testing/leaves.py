"""The regular leaves of a grammar, each by its definition: is it a word, can it become one."""

from collections.abc import Callable
from functools import cache
from typing import Protocol

from kbnf_testing import grammar as g

_EVERY_BYTE = [chr(value) for value in range(256)]


class Matcher(Protocol):
    """What recognition asks of a leaf or, for ``#e`` and ``#ex``, of the regex inside."""

    def contains(self, word: str) -> bool:
        """Return whether ``word`` is in the language."""

    def viable(self, word: str) -> bool:
        """Return whether some completion of ``word``, possibly the empty one, is."""


class ByDefinition:
    """A matcher made of two functions; answers are remembered."""

    def __init__(self, contains: Callable[[str], bool], viable: Callable[[str], bool]) -> None:
        self.contains = cache(contains)
        self.viable = cache(viable)


def matcher_of(leaf: g.Leaf, compile_body: Callable[[g.Expression], Matcher]) -> Matcher:
    """Return the matcher of ``leaf``; ``compile_body`` makes one for a regular expression."""
    match leaf:
        case g.Token():
            return _token(leaf)
        case g.Literal():
            word = g.word_of(leaf.data)
            return ByDefinition(word.__eq__, word.startswith)
        case g.Substrings():
            text = g.word_of(leaf.data)
            return ByDefinition(text.__contains__, text.__contains__)
        case g.Chars():
            return _chars(leaf)
        case g.Except():
            return _avoiding(_excepted(leaf))
        case g.Never():
            return _avoiding(_without(compile_body(leaf.body)))
        case g.Early():
            return _early(compile_body(leaf.body))


def _token(leaf: g.Token) -> Matcher:
    def contains(word: str) -> bool:
        if len(word) != 1 or ord(word) < g.TOKEN_BASE:
            return False
        return ((ord(word) - g.TOKEN_BASE) in leaf.ids) != leaf.negated

    return ByDefinition(contains, lambda word: word == "" or contains(word))


def _chars(leaf: g.Chars) -> Matcher:
    if not leaf.negated:
        words = [g.word_of(character.encode("utf-8")) for character in leaf.chars]
        return ByDefinition(
            lambda word: word in words,
            lambda word: any(candidate.startswith(word) for candidate in words),
        )

    def contains(word: str) -> bool:
        character = _character(word)
        return character is not None and character not in leaf.chars

    def viable(word: str) -> bool:
        return word == "" or contains(word) or _begins_character(word)

    # Each proper prefix of a character has at least 64 completions, more than are left out.
    assert len(leaf.chars) < 64
    return ByDefinition(contains, viable)


def _character(word: str) -> str | None:
    """Return the one character that the bytes of ``word`` spell, if they do."""
    try:
        text = word.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return None
    return text if len(text) == 1 else None


def _begins_character(word: str) -> bool:
    """Return whether ``word`` is a proper prefix of some character's UTF-8."""
    # The smallest and largest continuation bytes reach every lead byte's permitted range.
    following = ["\x80", "\xbf"]
    endings = [
        first + second + third
        for first in following
        for second in ["", *following]
        for third in ["", *following]
    ]
    return any(_character(word + ending) is not None for ending in endings)


def _excepted(leaf: g.Except) -> Callable[[str], bool]:
    excluded = [g.word_of(text) for text in leaf.excluded]

    def allowed(word: str) -> bool:
        if leaf.limit and len(word) > leaf.limit:
            return False
        return not any(text in word for text in excluded)

    return allowed


def _without(body: Matcher) -> Callable[[str], bool]:
    def allowed(word: str) -> bool:
        ends = range(len(word) + 1)
        return not any(body.contains(word[i:j]) for i in ends for j in ends[i:])

    return allowed


def _avoiding(allowed: Callable[[str], bool]) -> Matcher:
    """Nonempty bytes that are allowed; a prefix of allowed bytes must be allowed too."""

    def contains(word: str) -> bool:
        is_bytes = all(ord(symbol) < g.TOKEN_BASE for symbol in word)
        return word != "" and is_bytes and allowed(word)

    some = any(contains(byte) for byte in _EVERY_BYTE)
    return ByDefinition(contains, lambda word: some if word == "" else contains(word))


def _early(body: Matcher) -> Matcher:
    some = any(body.viable(byte) for byte in _EVERY_BYTE)

    def unmatched_before(word: str) -> bool:
        return not any(body.contains(word[:end]) for end in range(1, len(word)))

    def contains(word: str) -> bool:
        return word != "" and unmatched_before(word) and body.contains(word)

    def viable(word: str) -> bool:
        if word == "":
            return some
        return unmatched_before(word) and body.viable(word)

    return ByDefinition(contains, viable)
