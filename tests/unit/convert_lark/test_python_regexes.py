"""Automata of Python's regular expressions against Python itself, on all texts up to a length."""

import re

import pytest

from kbnf_core.convert.lark.leftmost import Matcher, matcher
from kbnf_core.convert.lark.masks import END
from kbnf_core.convert.lark.python_regex import PatternError, parse
from kbnf_testing.lark_peers import all_texts

PATTERNS = [
    ("a|ab", "abc", 4),
    ("(a|ab)(c|bcd)", "abcd", 5),
    ('"[^"]*?"', 'ab"', 5),
    (r'".*?(?<!\\)(\\\\)*?"', 'a"\\', 5),
    (r"\/\*(\*(?!\/)|[^*])*\*\/", "/*a", 6),
    ("=(?!=|>)", "=>a", 4),
    ("a{1,3}?b?", "ab", 5),
    ("(?:ab){2,3}a*", "ab", 8),
    ("a*?b", "ab", 5),
    ("(?i:aB)c", "abAB", 4),
    (r"(.+?)(?<!~)(~~)*?(?=[\/:;])", "a~:", 5),
    (r"((~~)+)(?=[\/:;])", "~:a", 5),
    ("a(b|c)?d*", "abcd", 4),
    ("(?x: a b # comment\n | c )", "abc", 3),
    ("[^]a-]|[]-]", "]-ab", 3),
]


def verdict(found: Matcher, text: str, end: int) -> str:
    """Return whether ``found`` takes the first ``end`` characters: yes, no, or maybe."""
    state = 0
    for byte in text[:end].encode():
        state = int(found.dfa.next[state, found.dfa.classes[byte]])
        if state < 0:
            return "no"
    following = 1 << ord(text[end]) if end < len(text) else END
    if not found.dfa.accepting[state] or found.stops[state] & following:
        return "no"
    return "maybe" if found.doubts[state] & following else "yes"


@pytest.mark.parametrize(("pattern", "alphabet", "length"), PATTERNS)
def test_matches_end_where_python_ends_them(pattern: str, alphabet: str, length: int) -> None:
    found = matcher(parse(pattern).node)
    compiled = re.compile(pattern)
    for text in all_texts(alphabet, length):
        match = compiled.match(text)
        ends = {end: verdict(found, text, end) for end in range(len(text) + 1)}
        sure = {end: said == "yes" for end, said in ends.items() if said != "maybe"}
        assert sure == {end: match is not None and match.end() == end for end in sure}, text


@pytest.mark.parametrize("pattern", ["a++", r"\bword", "(?>a)", "(a"])
def test_what_has_no_automaton_is_refused(pattern: str) -> None:
    with pytest.raises(PatternError):
        parse(pattern)
