"""What is said of texts with ``finish=token``: over bytes, and over a vocabulary as it is."""

import re
from collections.abc import Iterable
from copy import copy
from itertools import product
from random import Random

import pytest

from kbnf_core import Engine, Grammar, Vocabulary, check
from kbnf_core.languages import BNF
from kbnf_core.lint import LintOptions
from kbnf_core.lint.continued import find_cut
from kbnf_core.text.budget import Budget

DNA = '<start>::=<sequence>\n<sequence>::=<base>|<base><sequence>\n<base>::="A"|"C"|"G"|"T"\n'
TOKEN = "(* kbnf: finish=token *) "


def _found(
    text: str, tokens: list[bytes] | None = None, finish: str | None = None
) -> dict[str, str]:
    vocabulary = None if tokens is None else Vocabulary(dict(enumerate(tokens)))
    language = BNF if text.startswith("<") else None
    lints = LintOptions(vocabulary=vocabulary)
    found = check(text, language=language, options=lints, finish=finish)
    return {each.code: each.message for each in found}


def test_the_language_of_a_bnf_is_cut_as_its_finish_says() -> None:
    assert _found(DNA) == {"W307": "'AA' is generated only if one token spans the end of 'A'"}
    assert _found(DNA, finish="eos") == {}
    cut = {"W307": "'AA' can never be generated: 'A' is complete before it"}
    assert _found(DNA, finish="eager") == cut
    assert _found(DNA, [b"A", b"C", b"G", b"T"]) == cut


def test_digits_that_are_cut_are_not_said_to_go_on() -> None:
    digits = "|".join(f"'{digit}'" for digit in range(10))
    text = f"<start>::=<int>\n<int>::=<digit>|<digit><int>\n<digit>::={digits}\n"
    assert _found(text).keys() == {"W307"}
    assert _found(f"{TOKEN}start ::= #'[0-9]+';").keys() == {"W304"}
    assert _found(f"{TOKEN}start ::= #'[0-9]+' ';';").keys() == {"I303"}


def test_a_part_that_only_some_vocabularies_enter() -> None:
    text = f"{TOKEN}start ::= 'a' ['b'];"
    assert _found(text) == {"W304": "this part is never entered, except within one token"}
    never = {"W307": "'ab' can never be generated: 'a' is complete before it"}
    assert _found(text, [b"a", b"b"]) == never
    assert _found(text, [b"a", b"b", b"ab"]) == {}


def test_the_fix_is_one_that_the_language_has() -> None:
    (finding,) = check(DNA, language=BNF)
    assert "`--finish eos`" in finding.helps[0]


def _written(engine: Engine, text: str = "") -> set[str]:
    """Return all texts that tokens write; the engine is judged elsewhere."""
    if engine.is_finished():
        return {text}
    found = set()
    engine.compute_allowed_token_ids()
    for number in engine.get_allowed_token_ids_from_last_computation():
        after = copy(engine)
        after.try_accept_new_token(number)
        found |= _written(after, text + engine.vocabulary.tokens[number].decode())
    return found


def _spelled(words: Iterable[str], tokens: Iterable[str]) -> set[str]:
    pattern = re.compile(f"(?:{'|'.join(tokens)})+")
    return {word for word in words if pattern.fullmatch(word)}


@pytest.mark.parametrize("seed", range(150))
def test_what_is_cut_is_what_no_tokens_write(seed: int) -> None:
    random = Random(seed)
    all_words = ["".join(each) for size in range(1, 5) for each in product("ab", repeat=size)]
    words = random.sample(all_words, random.randint(1, 6))
    tokens = random.sample(all_words[:14], random.randint(1, 6))
    grammar = Grammar(f"start ::= {' | '.join(map(repr, words))};", finish="token")
    vocabulary = Vocabulary({number: each.encode() for number, each in enumerate(tokens)})
    found = find_cut(grammar.tables, vocabulary.trie, Budget(100_000))
    lost = _spelled(words, tokens) - _written(Engine(grammar, vocabulary))
    if found is None:
        assert not lost
    else:
        assert found.longer.decode() in lost
        assert found.shorter.decode() in words
        assert found.longer.startswith(found.shorter)
        assert len(found.longer) == min(map(len, lost))
