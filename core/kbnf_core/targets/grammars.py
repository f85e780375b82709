"""A grammar and an engine: the engine takes the texts of the grammar, and not what is near to them.

A grammar in another language than the engine's is converted to it. Texts are the shortest ones and
some at random, near misses are texts with a byte changed, left out or added that the grammar does
not have.
"""

from collections.abc import Iterator
from random import Random

from kbnf_core.convert import convert
from kbnf_core.grammar import Grammar
from kbnf_core.languages import GBNF, LARK, Language
from kbnf_core.targets.engines import ENGINES
from kbnf_core.targets.exam import Fault, Finding, Result
from kbnf_core.targets.ours import Texts
from kbnf_core.targets.process import Asked, How, version_of
from kbnf_core.text.errors import KbnfError

LANGUAGES = {"gbnf": GBNF, "lark": LARK}
"""The languages of engines' grammars."""

_SHORTEST = 8
_LENGTHS = (6, 12, 24, 48, 96)
_MISSES = 40
_MOST = 3
"""Texts of a kind that are reported."""


def reads_grammars(name: str) -> bool:
    """Return whether an engine has a language of grammars."""
    return ENGINES[name].language is not None


def examine_grammar(grammar: Grammar, asked: Asked) -> Result | None:
    """Ask an engine about a grammar; None where that cannot be written in the engine's language.

    Where generation ends is no question here: engines offer their end at every complete text.
    Raises ``NotInstalledError``.
    """
    name = ENGINES[asked.name].language
    if name is None:
        return None
    text = _written(grammar, LANGUAGES[name])
    if text is None:
        return None
    version = version_of(asked.name)
    answer = asked.compile(text, name)
    if not answer.takes:
        words = answer.words
        if answer.how is not How.REFUSES:
            words = f"it {answer.how.value}: {words}"
        refusal = Finding(asked.name, version, Fault.REFUSES, "", words=words)
        return Result(asked.name, version, (refusal,), answer)
    return Result(asked.name, version, tuple(_differences(grammar, asked, version)), answer)


def _written(grammar: Grammar, language: Language) -> str | None:
    if grammar.language is language:
        return grammar.source.text
    try:
        made = convert(grammar.source.text, grammar.language, language, start=grammar.start)
    except KbnfError:
        return None
    return made.text if all(loss.code == "W403" for loss in made.losses) else None


def _differences(grammar: Grammar, asked: Asked, version: str) -> Iterator[Finding]:
    texts = Texts(grammar)
    random = Random(0)  # noqa: S311 - the same texts each time
    known = dict.fromkeys((*texts.shortest(_SHORTEST), *texts.drawn(_LENGTHS, random)))
    rejected = [text for text in known if texts.has(text) and not asked.accepts(text)]
    misses = dict.fromkeys(near_misses(list(known), random))
    taken = [text for text in misses if not texts.has(text) and asked.accepts(text)]
    for fault, found in ((Fault.REJECTS, rejected), (Fault.WEAK, taken)):
        for text in sorted(found, key=len)[:_MOST]:
            yield Finding(asked.name, version, fault, "", witness=text)


def near_misses(texts: list[str], random: Random) -> Iterator[str]:
    """Yield texts that differ from known ones in a character."""
    letters = sorted({letter for text in texts for letter in text} | set('a0 ".\n'))
    for _ in range(_MISSES if texts else 0):
        text = random.choice(texts)
        place = random.randrange(len(text) + 1)
        letter = random.choice(letters)
        yield from (
            text[:place] + letter + text[place:],
            text[:place] + letter + text[place + 1 :],
            text[:place] + text[place + 1 :],
        )
