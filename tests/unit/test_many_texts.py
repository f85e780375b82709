"""Alternatives that are many texts are one terminal, and mean what each of them by itself means."""

from functools import partial
from random import Random

import pytest

from kbnf_core import Config, Engine, EngineError, Vocabulary, check
from kbnf_core.convert import from_bnf
from kbnf_core.frontend import read_grammar
from kbnf_core.ir import Choice, Literal, Regular, build
from kbnf_core.lint import LintOptions
from kbnf_core.text.source import Source
from kbnf_testing.counted import growth

WORDS = [f"w{number * 7919 % 99_991}" for number in range(build.FEW_TEXTS + 1)]


def body_of(text: str) -> object:
    grammar = read_grammar(Source(text)).grammar
    assert grammar is not None
    return grammar.rules["start"]


def alternatives(words: list[str]) -> str:
    return " | ".join(f"'{word}'" for word in words)


def test_few_stay_as_they_are_written() -> None:
    body = body_of(f"start ::= {alternatives(WORDS[:-1])};")
    assert isinstance(body, Choice)
    assert [each.data.decode() for each in body.branches if isinstance(each, Literal)] == WORDS[:-1]


def test_many_are_one_terminal_with_the_place_of_all() -> None:
    text = f"start ::= {alternatives(WORDS)};"
    body = body_of(text)
    assert isinstance(body, Regular)
    assert text[body.span.start : body.span.end] == alternatives(WORDS)
    assert all(body.dfa.accepts(word.encode()) for word in WORDS)
    assert not body.dfa.accepts(b"w")
    (site,) = Engine(text, Vocabulary.bytes()).why(b"").sites
    assert site.span == body.span


def test_what_is_no_text_stays_beside_the_others() -> None:
    assert isinstance(body_of(f"start ::= {alternatives(WORDS)} | #'[x-z]';"), Choice)


def test_an_automaton_beyond_the_bound_is_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "MOST_STATES", 20)
    assert isinstance(body_of(f"start ::= {alternatives(WORDS)};"), Choice)


def test_many_texts_are_no_large_terminal() -> None:
    random = Random(3)
    words = ["".join(random.choices("abcdefgh", k=12)) for _ in range(len(WORDS))]
    assert check(f"(* kbnf: finish=eos *) start ::= {alternatives(words)};") == []


def test_twice_as_many_texts_are_about_twice_the_calls() -> None:
    def family(count: int) -> str:
        return f"start ::= {alternatives([f'w{number:x}' for number in range(count)])} ';';"

    read = partial(check, options=LintOptions(vocabulary=Vocabulary.bytes()))
    assert growth(read, family, 2 * build.FEW_TEXTS) < 2.2


BNF = {
    "any": "<start>::=<x>\n<x>::=<any!>|<any!><x>",
    "any before a text": "<start>::=<any!>'b'",
    "except before a text": "<start>::=<except!('ar')>'ard'",
    "except, again and again": "<start>::=<s>\n<s>::=<except!('ar')>|<except!('ar')><s>",
    "except a rule": "<start>::=<except!([abc])>|<except!([abc])><start>\n<abc>::='a'|'b'|'c'",
    "in quotes": (
        "<start>::='\"'<c>'\"'\n<c>::=<except!([q])>|<except!([q])><c>|'\\\\\"'\n<q>::='\"'"
    ),
}
TOKENS = Vocabulary(
    dict(
        enumerate(
            [
                *(bytes([byte]) for byte in b'abcdr"\\ \xf0\xa0'),
                *(
                    b"ab",
                    b"bc",
                    b"abc",
                    b"card",
                    b"ard",
                    b"ar",
                    b'\\"',
                    b"aa",
                    b"aaab",
                    b"\xf0\xa0",
                ),
            ]
        )
    ),
    eos_token_id=100,
)


@pytest.mark.parametrize("finish", ["token", "eos", "eager"])
@pytest.mark.parametrize("family", BNF)
def test_tokens_as_one_terminal_have_the_masks_of_each(
    family: str, finish: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = from_bnf(BNF[family], vocabulary=TOKENS).text
    config = Config(finish=finish)
    each = Engine(text, TOKENS, config)
    monkeypatch.setattr(build, "FEW_TEXTS", 1)
    one = Engine(text, TOKENS, config)
    assert any(isinstance(body, Regular) for body in one.grammar.rules.rules.values())
    random = Random(family + finish)
    for _ in range(20):
        each.reset()
        one.reset()
        for _ in range(12):
            assert mask_of(one) == mask_of(each)
            if each.is_finished():
                break
            token = random.choice(mask_of(each) or [0])
            assert accepted(one, token) == accepted(each, token)


def mask_of(engine: Engine) -> list[int]:
    engine.compute_allowed_token_ids()
    return engine.get_allowed_token_ids_from_last_computation()


def accepted(engine: Engine, token: int) -> str:
    try:
        return str(engine.try_accept_new_token(token))
    except EngineError as error:
        return type(error).__name__
