"""The shipped grammar of YAML, over what PyYAML writes and over lines by hand."""

import random
from contextlib import suppress

import pytest

from benchmarks.python_grammar import Judge
from benchmarks.yaml_grammar import OLD_BREAKS, dumps
from kbnf_core import Engine, Grammar
from kbnf_core.text.errors import RejectedError
from kbnf_testing.acceptance import START, Acceptance, Prefixes, TooManyPlacesError, mask_of
from kbnf_testing.real_vocabulary import real_vocabulary

DUMPS = 400
PLACES = 24


@pytest.fixture(scope="module")
def judge() -> Judge:
    return Judge.shipped("yaml")


def test_what_pyyaml_writes_is_yaml(judge: Judge) -> None:
    texts = [text for text in dumps(DUMPS, random.Random(3)) if not OLD_BREAKS & set(text)]
    assert len(texts) > DUMPS / 2
    assert [text for text in texts if not judge.takes(text.encode())] == []


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ("a:\n" + " " * 63 + "b: c", True),
        ("a:\n" + " " * 64 + "b: c", False),
        ("a:\n- b\n- c\nd:\n  - e", True),
        ("a:\n - b\n- c", False),
        ("-     - a\n      - b\n-\n - c", True),
        ("-     - a\n     - b", False),
        ("a: b\n  c", True),
        ("a: b\n  c: d", False),
        ("a: |\n  b\n c: d", False),
        ("a: |\n\n   b\n  # c\nd: e", True),
        ("- |1\n   a\n  b\n", True),
        ("- |1\n a\nb\n", False),
        ("a\n--- b", False),
        ("'a\n --- b'", True),
        ("{a: b}: c", True),
        ("{a:\n b}: c", False),
        ("[a: b]", True),
        ("a: b: c", False),
        ("a:\tb\n", True),
        ("a:\n\tb: c\n", False),
        ("a: 'b'c", False),
        ("%YAML 1.2\n---\na", True),
        ("a\n...\nb", False),
        ("a: \u00e9\u65e5 \U0001f600", True),
        ("a: \x07", False),
    ],
)
def test_lines(judge: Judge, text: str, taken: bool) -> None:
    assert judge.takes(text.encode()) is taken


def test_masks_are_what_accepting_bytes_says() -> None:
    vocabulary, rng = real_vocabulary(), random.Random(4)
    grammar, prefixes = Grammar("yaml"), Prefixes(vocabulary)
    engine = Engine(grammar, vocabulary)
    texts = [text.encode() for text in dumps(3 * PLACES, rng) if 4 < len(text) < 200]
    compared = 0
    for text in texts[:PLACES]:
        before, judge = text[: rng.randrange(len(text))], Acceptance(grammar, prefixes)
        engine.reset()
        with suppress(RejectedError, TooManyPlacesError):
            engine.try_accept_new_bytes(before)
            allowed = judge.allowed(judge.after(START, before), "eos")
            assert (mask_of(engine) == allowed).all(), before
            compared += 1
    assert compared > PLACES / 2
