"""Random Lark grammars against llguidance and lark, on all texts up to a length.

What claims to be exact must be; what has a loss may take more, and is refused nowhere without
one.
"""

import pytest
from hypothesis import HealthCheck, given, settings

from kbnf_testing.lark_peers import Accepts, all_texts, lark_accepts, llguidance_accepts
from kbnf_testing.lark_random import ALPHABET, SCANNED, lark_grammars, scanned_grammars
from kbnf_testing.lark_subject import accepts_of, converted
from kbnf_testing.samples import examples

TEXTS = [text for text in all_texts(ALPHABET, 4) if text]
SCANNED_TEXTS = [text for text in all_texts(SCANNED, 4) if text]


def peer_of(grammar: str, lexing: str) -> Accepts | None:
    """Return what the peer says of texts; None for a grammar that it refuses."""
    from lark.exceptions import LarkError

    try:
        return (
            llguidance_accepts(grammar) if lexing == "llguidance" else lark_accepts(grammar, lexing)
        )
    except (LarkError, ValueError):
        return None


@pytest.mark.parametrize(
    "lexing",
    [pytest.param("llguidance", marks=pytest.mark.differential), "earley", "lalr"],
)
@settings(
    max_examples=examples(30),
    derandomize=True,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
@given(lark_grammars())
def test_exact_conversions_are_exact(lexing: str, grammar: str) -> None:
    assert_agrees(grammar, lexing, TEXTS)


@settings(
    max_examples=examples(20),
    derandomize=True,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
@given(scanned_grammars())
def test_terminals_compete_as_in_lark(grammar: str) -> None:
    assert_agrees(grammar, "lalr", SCANNED_TEXTS)


def assert_agrees(grammar: str, lexing: str, texts: list[str]) -> None:
    peer = peer_of(grammar, lexing)
    if peer is None:
        return
    expected = set(filter(peer, texts))
    conversion = converted(grammar, lexing)
    if isinstance(conversion, set):
        assert "E105" in conversion
        assert expected == set()
        return
    found = set(filter(accepts_of(conversion.text), texts))
    assert expected - found == set()
    assert not conversion.exact or found == expected
