"""An automaton, its characters and its expression have the same words."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbnf_core.automata import operations
from kbnf_core.automata.dfa import Dfa
from kbnf_core.automata.regex.compile import compile_regex
from kbnf_core.automata.to_regex import NotTextError, to_characters, to_regex
from kbnf_testing.samples import examples

ATOMS = ["a", "b", "[ab]", "é", "[à-ɏ]", "😀", ".", "(?s:.)", "\\.", "-", "]", "\\\\"]


def compiled(pattern: str) -> Dfa:
    found = compile_regex(pattern)
    assert found.dfa is not None, found.problems
    return found.dfa


patterns = st.recursive(
    st.sampled_from(ATOMS),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map("|".join).map("(?:{})".format),
        st.tuples(inner, st.sampled_from(["?", "*", "+", "{2,4}", "{0,3}"])).map(
            lambda pair: f"(?:{pair[0]}){pair[1]}"
        ),
    ),
    max_leaves=6,
)


@settings(max_examples=examples(150), deadline=None)
@given(patterns, patterns)
def test_the_expression_has_the_words_of_the_automaton(left: str, right: str) -> None:
    for dfa in (
        operations.intersect(compiled(left), compiled(right)),
        operations.difference(compiled("(?s).*"), compiled(left)),
    ):
        assert operations.is_equal(compiled(to_regex(dfa)), dfa)


@given(patterns)
def test_the_characters_that_were_spelled_are_those_that_are_read(pattern: str) -> None:
    dfa = compiled(pattern)
    assert to_characters(dfa) == to_characters(Dfa(dfa.classes, dfa.rows, dfa.accepting))


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("(?s).*", "(?s:.)*"),
        ("aa?a?", "a{1,3}"),
        ("aab|aac", "aa[bc]"),
        ("[^\\n]", "[^\\n]"),
        ("\\x00", "\\x00"),
        ("ab|b", "a?b"),
        ("\\+\\-", "\\+-"),
    ],
)
def test_the_expression_is_a_short_one(pattern: str, expected: str) -> None:
    assert to_regex(compiled(pattern)) == expected


def test_counts_stay_counts() -> None:
    bounded = operations.intersect(compiled("[a-z][a-z0-9]*"), compiled("(?s:.){3,63}"))
    assert to_regex(bounded) == "[a-z][0-9a-z]{2,62}"


@pytest.mark.parametrize(
    "words",
    [[b"\xff"], [b"\xc3"], [b"\xc3a"], [b"\xc0\x80"], [b"\xed\xa0\x80"], [b"\xf4\x90\x80\x80"]],
    ids=str,
)
def test_bytes_that_are_no_text_are_refused(words: list[bytes]) -> None:
    with pytest.raises(NotTextError):
        to_characters(operations.literals(words))


def test_edges_hold_whole_characters() -> None:
    found = to_characters(compiled("[a-c]|[é-í]|€|[😀-😂]"))
    assert found.edges[0] == (
        (((0x61, 0x63), (0xE9, 0xED), (0x20AC, 0x20AC), (0x1F600, 0x1F602)), 1),
    )
    assert found.accepting == (False, True)


def test_the_empty_language_has_no_states() -> None:
    assert to_characters(operations.empty()).edges == ()
    assert to_regex(operations.empty()) == "[^\\s\\S]"
