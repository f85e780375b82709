"""LLGuidance's structural tags: ``StructTag.to_grammar`` writes what means the same in both.

The texts are sequences of tokens: bytes, and one special token.
"""

import importlib
import itertools
import random
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any

import pytest

from kbnf_core import Engine, Grammar, Vocabulary
from kbnf_core.convert import from_lark
from kbnf_core.text.errors import EngineError

pytestmark = pytest.mark.skipif(
    find_spec("llguidance") is None, reason="llguidance is not installed (extra `bench`)"
)

SPECIAL = "<|tok|>"
EMPTY = {"type": "object", "additionalProperties": False}
DIGITS = "start: /[0-9]+/\n"

TAGS: list[list[dict[str, Any]]] = [
    [{"trigger": "<f", "begin": "<f=a>", "grammar": EMPTY, "end": "</f>"}],
    [{"trigger": "<f", "begin": "<f>", "grammar": DIGITS, "end": "</f>"}],
    [{"trigger": SPECIAL, "begin": SPECIAL + "f", "grammar": EMPTY, "end": ""}],
    [
        {"trigger": "<f", "begin": "<f>", "grammar": DIGITS, "end": "</f>"},
        {"trigger": SPECIAL, "begin": SPECIAL + "f", "grammar": EMPTY, "end": ""},
    ],
    [
        {"trigger": "<f", "begin": "<f=a>", "grammar": EMPTY, "end": "</f>"},
        {"trigger": "<f", "begin": "<f>", "grammar": DIGITS, "end": "<"},
    ],
]

GRAMMARS = [
    'start: f | g\nf: f_hd "b"\nf_hd[lazy]: TEXT "<f"\ng: TEXT <|tok|> "x"\nTEXT: /(.|\\n)*/\n',
    'start: f | g\nf: f_hd "b"\nf_hd[lazy]: /<*f/\ng: TEXT <|tok|>\nTEXT: /[<fb]+/\n',
]
PIECES: list[str] = ["<", "f", ">", "=", "a", "1", "{", "}", "/", "b", "x", SPECIAL]
WHOLE = [["<f=a>{}</f>"], ["<f>12</f>"], [SPECIAL, "f{}"], ["a<f>1<"], ["<f", SPECIAL, "x"]]


def samples() -> list[list[str]]:
    """Return sequences of pieces: short ones, and tags with pieces put in, doubled or left out."""
    rng = random.Random(7)
    found = [list(each) for count in range(3) for each in itertools.product(PIECES, repeat=count)]
    for _ in range(400):
        tokens = [
            piece
            for chosen in rng.choices(WHOLE, k=rng.randint(1, 2))
            for part in chosen
            for piece in ([part] if part == SPECIAL else part)
        ]
        for _ in range(rng.randint(0, 2)):
            place = rng.randrange(len(tokens))
            tokens[place : place + 1] = rng.choice([[], [tokens[place]] * 2, [rng.choice(PIECES)]])
            if not tokens:
                break
        found.append(tokens)
    return found


Judge = Callable[[Sequence[str]], bool]


def theirs(grammar: str) -> Judge:
    library = importlib.import_module("llguidance")
    tokens = [*(bytes([each]) for each in range(256)), SPECIAL.encode(), b"<|end|>"]
    wrapper = library.TokenizerWrapper(_Tokenizer(tokens))
    tokenizer = library.LLTokenizer(wrapper)
    compiled = library.LLMatcher.grammar_from_lark(grammar)
    assert not library.LLMatcher(tokenizer, compiled, log_level=0).is_error()

    def judge(pieces: Sequence[str]) -> bool:
        ids = [256 if piece == SPECIAL else ord(piece) for piece in pieces]
        matcher = library.LLMatcher(tokenizer, compiled, log_level=0)
        return bool(matcher.try_consume_tokens(ids) == len(ids) and matcher.is_accepting())

    return judge


class _Tokenizer:
    """What ``TokenizerWrapper`` asks of a tokenizer."""

    def __init__(self, tokens: list[bytes]) -> None:
        self.tokens = tokens
        self.eos_token_id = len(tokens) - 1
        self.bos_token_id: int | None = None
        self.special_token_ids = [len(tokens) - 2, len(tokens) - 1]

    def __call__(self, text: bytes | str) -> list[int]:
        return list(text.encode() if isinstance(text, str) else text)


def ours(grammar: str) -> Judge:
    conversion = from_lark(grammar)
    assert conversion.exact, conversion.losses
    tokens = {each: bytes([each]) for each in range(256)}
    vocabulary = Vocabulary(tokens, special_tokens={SPECIAL: 256})
    compiled = Grammar(conversion.text, finish="eos")

    def judge(pieces: Sequence[str]) -> bool:
        engine = Engine(compiled, vocabulary)
        try:
            for piece in pieces:
                engine.try_accept_new_token(256 if piece == SPECIAL else ord(piece))
        except EngineError:
            return False
        return engine.can_finish()

    return judge


def struct_tags(tags: list[dict[str, Any]]) -> str:
    library = importlib.import_module("llguidance")
    return str(library.StructTag.to_grammar([library.StructTag(**tag) for tag in tags]))


@pytest.mark.parametrize("number", range(len(TAGS) + len(GRAMMARS)))
def test_same_sequences(number: int) -> None:
    grammar = [*map(struct_tags, TAGS), *GRAMMARS][number] if find_spec("llguidance") else ""
    here, there = ours(grammar), theirs(grammar)
    differing = [pieces for pieces in samples() if here(pieces) != there(pieces)]
    assert differing == []
