"""What ``except!`` excludes: the texts that a nonterminal expands to."""

import pytest

from kbnf_core import Engine, Grammar, Vocabulary, check
from kbnf_core.automata import operations
from kbnf_core.automata.dfa import Dfa
from kbnf_core.lower.regular import Regulars
from kbnf_core.lower.translate import MAX_EXPANDED, MAX_WORK


def _language(text: str) -> Dfa:
    rules = Grammar(text).rules
    return Regulars(rules.rules).of(rules.rules["start"])


EXPANSIONS = [
    ("C ::= D; D ::= E | 'x'; E ::= '\\n\\n';", ["x", "\\n\\n"]),
    ("C ::= ('A' | 'B');", ["A", "B"]),
    ("C ::= ('A' | 'B') 'C' D; D ::= ('x') | 'yz';", ["ACx", "ACyz", "BCx", "BCyz"]),
    ("C ::= D D; D ::= 'a'; D ::= 'b';", ["aa", "ab", "ba", "bb"]),
    ("C ::= D | D; D ::= 'a' | 'a';", ["a"]),
    ("C ::= '' 'a' | D 'b'; D ::= '';", ["a", "b"]),
]


@pytest.mark.parametrize(("rules", "words"), EXPANSIONS)
@pytest.mark.parametrize("limit", ["", ", 3"])
def test_expanded_texts_are_excluded_like_written_ones(
    rules: str, words: list[str], limit: str
) -> None:
    written = " | ".join(f"'{word}'" for word in words)
    expanded = _language(f"start ::= except!(C{limit}); {rules}")
    assert operations.is_equal(
        expanded, _language(f"start ::= except!(C{limit}); C ::= {written};")
    )


REFUSED = {
    "C ::= 'a' | C;": "this leads back to itself",
    "C ::= 'a' D; D ::= E; E ::= D | 'b';": "this leads back to itself",
    "C ::= D; D ::= #'[0-9]';": "this is not a terminal",
    "C ::= 'a'?;": "this is not a terminal",
    "C ::= {'a'};": "this is not a terminal",
    "C ::= except!('a');": "this is not a terminal",
    f"C ::= {'D ' * 20}; D ::= '0' | '1';": f"{MAX_EXPANDED:,} bytes",
}


@pytest.mark.parametrize(("rules", "why"), REFUSED.items())
def test_what_does_not_expand_to_texts_is_refused(rules: str, why: str) -> None:
    (finding,) = [d for d in check(f"start ::= except!(C) '.'; {rules}") if d.code[0] == "E"]
    assert finding.code == "E103"
    assert why in finding.labels[0].message


@pytest.mark.parametrize("rules", ["C ::= 'a' | D; D ::= '' | 'b';", "C ::= D D; D ::= '';"])
def test_the_empty_text_is_refused_where_it_comes_about(rules: str) -> None:
    (finding,) = [d for d in check(f"start ::= except!(C) '.'; {rules}") if d.code[0] == "E"]
    assert finding.code == "E104"
    assert finding.source.slice(finding.labels[0].span).startswith("D")


def test_the_work_of_expanding_is_bounded() -> None:
    # Each rule has the texts of all after it.
    count = 2_000
    assert count * count // 2 > MAX_WORK
    chain = " ".join(f"C{i} ::= 'x{i}' | C{i + 1};" for i in range(count))
    found = check(f"start ::= except!(C0) '.'; {chain} C{count} ::= 'end';")
    assert [d.labels[0].message for d in found if d.code == "E103"] == [
        f"here are more than {MAX_WORK:,} texts to put together"
    ]


def test_one_text_may_be_long() -> None:
    parts = " ".join(["'abcdefghij'"] * 3_000)
    found = check(f"(* kbnf: finish=eos *) start ::= except!(C) '.'; C ::= {parts};")
    assert [each.code for each in found] == ["W701"]


def test_a_limit_of_zero_is_none() -> None:
    zero, none = (_language(f"start ::= except!('a'{limit});") for limit in (", 0", ""))
    assert operations.is_equal(zero, none)


def test_long_words_and_a_bound_on_bytes() -> None:
    words = " | ".join(f'"{letters * 300}"' for letters in ("abcd", "acbd"))
    engine = Engine(Grammar(f"start ::= except!(w, 300) '\\n'; w ::= {words};"), Vocabulary.bytes())
    assert engine.try_accept_new_bytes(b"abcd" * 70 + b"\n").name == "Finished"
    engine.reset()
    engine.try_accept_new_bytes(b"a" * 300)
    assert engine.forced_bytes() == b"\n"
