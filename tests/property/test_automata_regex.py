"""Random patterns against Python's ``re``, and against definitions spelled out."""

import re
from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from kbnf_core.automata import operations as op
from kbnf_core.automata.avoid import avoid_regex
from kbnf_core.automata.dfa import DEAD, Dfa
from kbnf_core.automata.regex.compile import compile_regex
from kbnf_testing.samples import examples

ALPHABET = "aBé\n"
WORDS = ["".join(letters) for length in range(5) for letters in product(ALPHABET, repeat=length)]

ATOMS = st.sampled_from([
    "a", "B", "é", r"\n", ".", "(?s:.)", "[aB]", "[^a]", "[^é\n]", r"\w", r"\s", r"[\w]", "(?i:A)",
    "(?i:[b])", "", r"\x61", "^", "$", r"\A", "(?m:^)", "(?m:$)",
])  # fmt: skip
# Before 3.14 Python's \B does not match in the empty text.
ASCII_BOUNDARIES = {r"(?-u:\b)": r"(?a:\b)", r"(?-u:\B)": r"(?!(?a:\b))"}
QUANTIFIERS = st.sampled_from(["*", "+", "?", "{2}", "{1,2}", "{0,1}", "{2,}", "*?", "{0}"])


def compose(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.builds("(?:{}{})".format, parts, parts),
        st.builds("(?:{}|{})".format, parts, parts),
        st.builds("(?:{}){}".format, parts, QUANTIFIERS),
    )


PATTERNS = st.recursive(ATOMS | st.sampled_from(sorted(ASCII_BOUNDARIES)), compose, max_leaves=6)


def python_pattern(pattern: str) -> re.Pattern[str]:
    for ours, theirs in ASCII_BOUNDARIES.items():
        pattern = pattern.replace(ours, theirs)
    # Python's $ also matches before a last line feed; \Z is its \z.
    return re.compile(re.sub(r"(?<!\(\?m:)\$", r"\\Z", pattern))


def compiled(pattern: str) -> Dfa:
    result = compile_regex(pattern)
    assert result.dfa is not None, result.problems
    return result.dfa


@settings(max_examples=examples(150), deadline=None)
@given(PATTERNS)
def test_agrees_with_python(pattern: str) -> None:
    expected = python_pattern(pattern)
    dfa = compiled(pattern)
    for word in WORDS:
        assert dfa.accepts(word.encode()) == (expected.fullmatch(word) is not None), word


@settings(max_examples=examples(100), deadline=None)
@given(PATTERNS)
def test_is_minimal_and_trimmed(pattern: str) -> None:
    dfa = compiled(pattern)
    assert len(moore_classes(dfa)) == dfa.state_count
    assert live_states(dfa) == reached_states(dfa) == set(range(dfa.state_count))


@settings(max_examples=examples(100), deadline=None)
@given(PATTERNS)
def test_avoided_texts_have_no_match(pattern: str) -> None:
    """No prefix of an accepted text, taken as a text of its own, holds a match."""
    searcher = python_pattern(pattern)
    avoiding = avoid_regex(pattern).dfa
    assert avoiding is not None
    for word in WORDS[1:]:
        prefixes = [word[:end] for end in range(1, len(word) + 1)]
        expected = not any(searcher.search(prefix) for prefix in prefixes)
        assert avoiding.accepts(word.encode()) == expected, word


@settings(max_examples=examples(300), deadline=None)
@given(st.text(alphabet=r"ab\[](){}?*+|^$.-&~,:<>=!#xupPdwi019 é" + "\n", max_size=12))
def test_any_text_compiles_or_is_explained(pattern: str) -> None:
    result = compile_regex(pattern)
    assert (result.dfa is None) == bool(result.problems)
    for problem in result.problems:
        assert 0 <= problem.start <= problem.end <= len(pattern)
        assert problem.code in {"E201", "E202", "E203", "E204"}
        assert problem.message


def reached_states(dfa: Dfa) -> set[int]:
    reached: set[int] = set() if dfa.is_empty else {0}
    queue = list(reached)
    for state in queue:
        for target in set(dfa.rows[state]) - reached - {DEAD}:
            reached.add(target)
            queue.append(target)
    return reached


def live_states(dfa: Dfa) -> set[int]:
    live = {state for state, is_end in enumerate(dfa.accepting) if is_end}
    while True:
        more = {state for state in range(dfa.state_count) if live & set(dfa.rows[state])} - live
        if not more:
            return live
        live |= more


def moore_classes(dfa: Dfa) -> set[int]:
    """Refine by successors until nothing changes, over all bytes: slow and plain."""
    block = {DEAD: -1} | {state: int(dfa.accepting[state]) for state in range(dfa.state_count)}
    while True:
        signatures = {
            state: (block[state], *(block[target] for target in dfa.rows[state]))
            for state in range(dfa.state_count)
        }
        numbers = {signature: index for index, signature in enumerate(set(signatures.values()))}
        if len(numbers) == len(set(block.values())) - 1:
            return set(numbers.values())
        block = {DEAD: -1} | {state: numbers[signatures[state]] for state in signatures}


def test_moore_finds_equal_states() -> None:
    """The oracle of minimality can tell: two states that accept the same are one class."""
    twins = Dfa(bytes(256), [[1], [0]], [True, True])
    assert len(moore_classes(twins)) == 1
    assert op.intersect(twins, twins).state_count == 1


# Borders of one, two, three and four bytes, of surrogates, and what has a meaning in a class.
POINTS = st.one_of(
    st.sampled_from([0x2D, 0x5B, 0x5D, 0x5E, 0x7E, 0x26, 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000]),
    st.integers(0x20, 0x24F),
    st.integers(0x20, 0xD7FF),
    st.integers(0xE000, 0x10FFFF),
)
PRINTED = st.sampled_from([r"\x{{{:x}}}", r"\u{{{:04X}}}"])


@st.composite
def members(draw: st.DrawFn) -> tuple[str, str, set[int]]:
    """Draw a member of a class, as we and as Python write it, and code points near its ends."""
    low, high = sorted((draw(POINTS), draw(POINTS)))
    if draw(st.booleans()):
        high = low
    ends = (low,) if low == high else (low, high)
    plain = [chr(end) for end in ends]
    ours = [
        re.escape(char) if char in "-[]^~&\\" else draw(PRINTED).format(end) if escaped else char
        for end, char, escaped in ((ord(char), char, draw(st.booleans())) for char in plain)
    ]
    near = {end + step for end in ends for step in (-1, 0, 1)}
    return "-".join(ours), "-".join(map(re.escape, plain)), near


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(members(), min_size=1, max_size=300), st.booleans())
def test_long_classes_agree_with_python(
    drawn: list[tuple[str, str, set[int]]], negated: bool
) -> None:
    sign = "^" * negated
    dfa = compiled(f"[{sign}{''.join(ours for ours, _, _ in drawn)}]")
    expected = re.compile(f"[{sign}{''.join(theirs for _, theirs, _ in drawn)}]")
    for point in set().union(*(near for _, _, near in drawn)):
        if 0 <= point <= 0x10FFFF and not 0xD800 <= point <= 0xDFFF:
            word = chr(point)
            assert dfa.accepts(word.encode()) == (expected.fullmatch(word) is not None), word
