"""Searches for random patterns beside ``regex``, whose first match and groups they have."""

import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from kbnf_core.automata.regex.search import can_be_empty, read_pattern
from kbnf_core.text.budget import Budget
from kbnf_core.text.limits import DEFAULT_LIMITS
from kbnf_testing.samples import examples

ATOMS = st.sampled_from(
    ["a", "b", ".", r"\s", r"\w", r"\d", "[ab]", "[^a\n]", "<", " ", r"\n", "é"]
)
QUANTIFIERS = st.sampled_from(["*", "+", "?", "{2}", "{1,3}", "{2,}", "*?", "+?", "??", "{0,2}?"])


def compose(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.builds("{}{}".format, parts, parts),
        st.builds("(?:{}|{})".format, parts, parts),
        st.builds("(?:{}){}".format, parts, QUANTIFIERS),
        st.builds("(?P<NAME>{})".format, parts),
    )


PATTERNS = st.recursive(ATOMS, compose, max_leaves=8)
TEXTS = st.text(st.sampled_from("ab1<é \n\x1c"), max_size=14)


def named(pattern: str) -> str:
    """Give the groups names of their own."""
    first, *rest = pattern.split("NAME")
    return first + "".join(f"g{number}{part}" for number, part in enumerate(rest))


@settings(max_examples=examples(1_200), deadline=None)
@given(PATTERNS.map(named), st.lists(TEXTS, min_size=1, max_size=6))
def test_the_first_match_is_that_of_regex(pattern: str, texts: list[str]) -> None:
    found, problems = read_pattern(pattern, DEFAULT_LIMITS)
    if found is None:
        assert "can be empty" in problems[0].message
        return
    theirs = regex.compile(pattern, regex.DOTALL)
    assert can_be_empty(found.tree) == (theirs.fullmatch("") is not None)
    for text in texts:
        whole = found.match(text, Budget(10**6)) is not None
        assert whole == (theirs.fullmatch(text) is not None)
        if not can_be_empty(found.tree):
            match, expected = found.find(text, 0, Budget(10**6)), theirs.search(text)
            assert (match is None) == (expected is None)
            if match is not None and expected is not None:
                groups = {k: v for k, v in expected.groupdict().items() if v is not None}
                assert (match.start, match.end, match.groups) == (*expected.span(), groups)
