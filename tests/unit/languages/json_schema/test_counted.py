"""Strings of some lengths: one automaton where a grammar is run, rules where it is shown."""

import json

import pytest

from kbnf_core import Engine, Grammar, Vocabulary
from kbnf_core.automata import operations
from kbnf_core.automata.json_strings import Spelling, quoted
from kbnf_core.automata.lengths import Length, Lengths
from kbnf_core.convert import from_json_schema
from kbnf_core.languages.json_schema import scalars as counted_module
from kbnf_core.languages.json_schema.scalars import counted
from kbnf_core.languages.json_schema.value_sets import Matching
from kbnf_core.text.budget import Budget
from kbnf_core.text.errors import LimitError
from kbnf_testing.schemas import json_schema_grammar

WORDS = r"(?:\S+\s+){0,4}\S+"


def accepts(grammar: Grammar, text: str) -> bool:
    engine, tokens = Engine(grammar, Vocabulary.bytes()), text.encode()
    if engine.validate_tokens(tokens) < len(tokens):
        return False
    engine.accept_tokens(tokens)
    return engine.is_finished() or engine.can_finish()


@pytest.mark.parametrize("spelling", [Spelling(), Spelling('u"\\')], ids=repr)
@pytest.mark.parametrize("length", [(0, 7), (3, 3), (5, None), (2, 9), (1, 1)], ids=repr)
@pytest.mark.parametrize("pattern", [WORDS, '(?:[a-é]"|\\\\x0a)*[^a]?x+|漢', "a{2,4}|(?s:.)*b"])
def test_they_are_the_texts_of_the_words_of_these_lengths(
    pattern: str, length: tuple[int, int | None], spelling: Spelling
) -> None:
    words, bound = Matching(pattern).dfa(), Length(*length)
    found = counted(Lengths(words), bound, 1_000, spelling, Budget(10**6))
    plain = quoted(operations.intersect(words, bound.dfa()), spelling)
    assert operations.is_equal(found, plain)
    # It is minimal as it is made.
    assert found.state_count == plain.state_count


@pytest.mark.parametrize(
    "pattern", [WORDS, "", "[a-c]{2,5}x|é{3}|漢", '(?:ab|\\d)*(?:x|"y")', "(?:漢[é😀]){1,3}", "a?"]
)
def test_levels_of_bytes_tell_how_many_characters_words_have(pattern: str) -> None:
    lengths = Lengths(Matching(pattern).dfa())
    least, most = lengths.shortest[0], lengths.longest[0]
    assert lengths.bounds == Length(least, most)
    for low in range(8):
        for high in (*range(low, 9), None):
            bound = Length(low, high)
            found = operations.intersect(Matching(pattern).dfa(), bound.dfa())
            assert lengths.has_word(bound, Budget(10**6)) != found.is_empty, bound


@pytest.mark.parametrize(
    "pattern",
    [
        WORDS,
        "(?:abc)*",
        "(?:a{6})*b|(?:a{4})*c",
        "(?:ab|abcde)*x",
        "a{3,20}|b{25}",
        "(?:é{3}|漢)*x",
    ],
)
def test_circles_of_levels_are_passed_over(pattern: str) -> None:
    words = Matching(pattern).dfa()
    for low in range(0, 61, 4):
        for high in (low, low + 1, low + 5, None):
            bound = Length(low, high)
            found = operations.intersect(words, bound.dfa())
            assert Lengths(words).has_word(bound, Budget(10**6)) != found.is_empty, bound
    # Its levels would take some 1,000,000 times as long to count.
    assert Lengths(Matching("(?:abc)*").dfa()).has_word(Length(9**12, 9**12), Budget(1_000))
    assert not Lengths(Matching("(?:abc)*").dfa()).has_word(Length(10**12, 10**12), Budget(1_000))


def test_too_many_states_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    lengths = Lengths(Matching(WORDS).dfa())
    with pytest.raises(LimitError):
        counted(lengths, Length(0, 40), 100, Spelling(), Budget(10**6))
    monkeypatch.setattr(counted_module, "MOST_STATES", 100)
    with pytest.raises(LimitError):
        counted(lengths, Length(0, 40), 1_000, Spelling(), Budget(10**6))


@pytest.mark.parametrize("most", [200_000, 1], ids=["automaton", "rules"])
def test_both_forms_have_the_same_words_around_the_bounds(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counted_module, "MOST_STATES", most)
    pattern = f"^{WORDS}$"
    schema = json.dumps({"type": "string", "pattern": pattern, "minLength": 4, "maxLength": 8})
    run, shown = json_schema_grammar(schema), Grammar(from_json_schema(schema).text)
    texts = ["abcd", "a b ", "abcdefgh", "a b c d ", "a b c d e", "abcdefghi", "é 漢\t\nx"]
    texts += ["a b c defg"[:count] for count in range(11)]
    for word in [*texts, "a b c d", "éé\u2028é"]:
        text = json.dumps(word, ensure_ascii=False)
        wanted = 4 <= len(word) <= 8 and word == word.strip() and len(word.split()) <= 5
        assert (accepts(run, text), accepts(shown, text)) == (wanted, wanted), text


def test_a_grammar_that_is_run_has_no_rule_for_a_count() -> None:
    rules = set()
    for most in (8, 80):
        schema = {"type": "string", "pattern": f"^{WORDS}$", "maxLength": most}
        rules.add(len(json_schema_grammar(json.dumps(schema)).rules.rules))
    assert len(rules) == 1
