"""The index of automata by their beginnings never leaves out a pair that has a text in common."""

from itertools import combinations

from kbnf_core.automata.beginnings import Beginnings, beginning, members
from kbnf_core.automata.regex.compile import compile_regex

PATTERNS = [
    *("a", "ab", "abc", "abd", "b", "ba?", "[ab]c", "a[bc]*", "(?:abc)+", "", "x{40}", "x{50}y"),
    *("if", "ifx", "i[a-f]", "é", "è", "[^a]", ".*"),
]


def _words(pattern: str) -> set[bytes]:
    """Return the words of at most six bytes over a few letters, by their automaton."""
    dfa = compile_regex(pattern).dfa
    assert dfa is not None
    found, layer = set[bytes](), [b""]
    for _ in range(6):
        found |= {word for word in layer if dfa.accepts(word)}
        layer = [word + bytes([byte]) for word in layer for byte in b"abcx" if len(word) < 5]
    return found


def test_automata_that_share_the_beginning_of_a_word_are_near() -> None:
    dfas = [compile_regex(pattern).dfa for pattern in PATTERNS]
    index = Beginnings(dfa for dfa in dfas if dfa is not None)
    words = [_words(pattern) for pattern in PATTERNS]
    for left, right in combinations(range(len(dfas)), 2):
        shares = any(
            one.startswith(other) or other.startswith(one)
            for one in words[left]
            for other in words[right]
        )
        dfa, back = dfas[left], dfas[right]
        assert dfa is not None
        assert back is not None
        is_near = right in members(index.near(dfa))
        assert is_near == (left in members(index.near(back)))
        assert is_near or not shares


def test_keywords_are_near_few() -> None:
    words = [compile_regex(f"w{number}").dfa for number in range(100)]
    index = Beginnings(dfa for dfa in words if dfa is not None)
    assert words[37] is not None
    assert members(index.near(words[37])) == (3, 37)


def test_keywords_in_any_case_are_near_few() -> None:
    words = [compile_regex(f"(?i:w{number}x)").dfa for number in range(100)]
    index = Beginnings(dfa for dfa in words if dfa is not None)
    assert words[37] is not None
    assert members(index.near(words[37])) == (37,)


def test_long_beginnings_are_compared_up_to_a_bound() -> None:
    long, longer = compile_regex("x{40}").dfa, compile_regex("x{50}y").dfa
    assert long is not None
    assert longer is not None
    assert beginning(longer) == b"x" * 50 + b"y"
    assert members(Beginnings([long]).near(longer)) == (0,)
