"""Random grammars keep their language through GBNF, and texts become stable on the way."""

import itertools
from pathlib import Path
from random import Random

import pytest

from kbnf_core import Grammar, GrammarError
from kbnf_core.convert import from_gbnf, to_gbnf
from kbnf_core.diff import Relation, compare
from kbnf_core.languages.gbnf import factoring
from kbnf_testing.data import DATA
from kbnf_testing.definition import words_up_to
from kbnf_testing.generate import Features, GrammarMaker
from kbnf_testing.grammar import word_of
from kbnf_testing.membership import Language
from kbnf_testing.printer import to_kbnf

FILES = DATA / "gbnf" / "valid"
LLAMA_REFUSES = {"W411", "W414", "I411"}
LONGEST = 4

EMPTY = frozenset([6, 7, 8, 15, 16, 18, 26, 44, 57])
"""Seeds of grammars without a text, or with none that is valid UTF-8."""

ENDLESS = frozenset([0, 17, 19, 30, 33, 39, 41, 55])
"""Seeds of grammars whose texts never end."""


@pytest.mark.parametrize("seed", range(60))
def test_language_is_kept(seed: int) -> None:
    """All texts up to a length, by the definition of the original and by the engine of the copy.

    With a loss the copy may only be smaller: what GBNF lacks are bytes that are no characters.
    """
    maker = GrammarMaker(Random(seed), Features(tokens=False))
    grammar = maker.grammar()
    text = "(* kbnf: finish=eos *)\n" + to_kbnf(grammar)
    if seed in EMPTY:
        with pytest.raises(GrammarError, match="E105"):
            to_gbnf(text)
        return
    converted = to_gbnf(text)
    back = from_gbnf(converted.text)
    if seed in ENDLESS:
        found = compare(Grammar(text), Grammar(back.text), 10_000)
        assert converted.losses or (
            found.of_prefixes and found.relation in (Relation.EQUAL, Relation.UNKNOWN)
        )
        return
    assert [note.message for note in back.notes if note.code in LLAMA_REFUSES] == []
    language = Language(back.text)
    alphabet = "".join(dict.fromkeys(maker.alphabet))
    members = words_up_to(grammar, word_of("".join(alphabet).encode()), LONGEST)
    for text in every_text(alphabet):
        wanted = word_of(text.encode()) in members
        assert language.has(text) == wanted or (not converted.exact and wanted), text


@pytest.mark.parametrize("seed", range(30))
def test_language_is_kept_where_all_rules_are_factored(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(factoring._Factoring, "_is_ambiguous", lambda *_: True)
    test_language_is_kept(seed)


def every_text(alphabet: str) -> list[str]:
    texts = (
        "".join(characters)
        for length in range(LONGEST + 1)
        for characters in itertools.product(alphabet, repeat=length)
    )
    return [text for text in texts if len(text.encode()) <= LONGEST]


@pytest.mark.parametrize("path", sorted(FILES.glob("*.gbnf")), ids=lambda path: path.stem)
def test_round_trip_is_stable_after_the_first_step(path: Path) -> None:
    gbnf = to_gbnf(from_gbnf(path.read_text("utf-8")).text).text
    kbnf = from_gbnf(gbnf).text
    again = to_gbnf(kbnf)
    assert again.exact
    assert again.text.split() == gbnf.split()
    assert from_gbnf(again.text).text == kbnf
