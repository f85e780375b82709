"""Texts to compare Lark grammars on: members, and texts that are nearly members."""

from collections.abc import Iterator
from random import Random
from unicodedata import category

from kbnf_core import Engine, Grammar, Vocabulary

_INSERTED = " \n\"'.,;()[]{}#/aA0_=+-"


def members(kbnf: str, random: Random, count: int, length: int = 24) -> Iterator[str]:
    """Yield texts of a grammar: ``length`` random bytes, then the soonest end."""
    engine = Engine(Grammar(kbnf), Vocabulary.bytes())
    for _ in range(count):
        sample = engine.sample(random, random.randrange(length))
        if not sample.is_complete:
            continue
        try:
            yield bytes(token for token in sample.tokens if token < 256).decode()
        except UnicodeDecodeError:
            continue


def near_misses(text: str, random: Random, count: int) -> Iterator[str]:
    """Yield ``text`` with one character dropped, doubled, changed or put in."""
    for _ in range(count):
        place = random.randrange(len(text) + 1)
        before, at, behind = text[:place], text[place : place + 1], text[place + 1 :]
        new = random.choice(_INSERTED + text)
        yield random.choice(
            [before + behind, text[:place] + new + at + behind, before + new + behind]
        )


def all_near(kbnf: str, seed: int, count: int, misses: int) -> list[str]:
    """Return members and near misses of a grammar, each once, none of them empty."""
    random = Random(seed)
    found: dict[str, None] = {}
    for text in members(kbnf, random, count):
        found.setdefault(text)
        found.update(dict.fromkeys(near_misses(text, random, misses)))
    return [text for text in found if text and all(map(_is_assigned, text))]


def _is_assigned(char: str) -> bool:
    """Return whether this Python knows the character: which are letters depends on its tables."""
    return category(char) != "Cn"
