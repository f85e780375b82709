"""Automata of Python's regular expressions against Python itself, on all texts up to a length."""

import re

import pytest

from kbnf_core.languages.lark.regex import Matcher, PatternError, beginnings, matcher, parse
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
    ("a+(?!b)", "abc", 5),
    ("a(?=b)|ab?|(?=aa)aaa", "ab", 5),
    ("a(?!b(?=c))", "abc", 4),
    ("a(?=b+c)(b|bb)", "abc", 5),
    ("(?:a(?=aab)|aa(?!a)|aaa)", "ab", 6),
    ("a*$|b+", "ab\n", 4),
    (r"(a|b)*?\Z", "ab\n", 4),
    ("(?:a|ab)(?:c(?!d))?", "abcd", 5),
    ("a?(?:b(?=a*b))*", "ab", 6),
]


def ends(found: Matcher, text: str) -> list[int]:
    """Return where ``found`` lets a match end."""
    data = text.encode()
    return [
        end
        for end in range(len(data) + 1)
        if (state := reached(found, data[:end])) is not None
        and found.dfa.accepting[state]
        and found.rests[state].dfa.accepts(data[end:])
    ]


def reached(found: Matcher, prefix: bytes) -> int | None:
    """Return the state after ``prefix``, None where no match begins with it."""
    state = 0
    for byte in prefix:
        state = found.dfa.rows[state][found.dfa.classes[byte]]
        if state < 0:
            return None
    return state


@pytest.mark.parametrize(("pattern", "alphabet", "length"), PATTERNS)
def test_matches_end_where_python_ends_them(pattern: str, alphabet: str, length: int) -> None:
    automaton = matcher(parse(pattern).node)
    compiled = re.compile(pattern)
    for text in all_texts(alphabet, length):
        match = compiled.match(text)
        assert ends(automaton, text) == ([] if match is None else [match.end()]), text


@pytest.mark.parametrize(("pattern", "alphabet", "length"), PATTERNS)
def test_texts_that_begin_with_a_match_are_found(pattern: str, alphabet: str, length: int) -> None:
    automaton = beginnings(parse(pattern).node)
    compiled = re.compile(pattern)
    for text in all_texts(alphabet, length):
        assert automaton.accepts(text.encode()) == (compiled.match(text) is not None), text


@pytest.mark.parametrize("pattern", ["a++", r"\bword", "(?>a)", "(a"])
def test_what_has_no_automaton_is_refused(pattern: str) -> None:
    with pytest.raises(PatternError):
        parse(pattern)
