"""Short differences are found before machines are made, which is work that has a bound."""

import pytest

from kbnf_core import Grammar
from kbnf_core.diff import Comparison, Verdict, compare, comparison, short
from kbnf_testing.counted import calls

PAIRS = [
    ("start ::= 'x';", "start ::= #'[ab]{2,3}' | 'b';"),
    ("start ::= 'a'* 'b';", "start ::= 'a'{0,5} 'b' | 'c' 'd';"),
    ("start ::= 'a' | 'ab';", "start ::= 'ab' | 'b';"),
    ("start ::= e; e ::= '(' e ')' | 'x';", "start ::= e; e ::= '[' e ']' | '(' 'x' ')' | 'y';"),
    ("start ::= #'(?s:.)*a(?s:.){3}';", "start ::= #'(?s:.)*b(?s:.){3}';"),
]


@pytest.mark.parametrize("finish", ["eager", "token", "eos"])
@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_they_are_as_short_as_those_of_the_machine(
    old: str, new: str, finish: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = Grammar(old, finish=finish), Grammar(new, finish=finish)
    found = compare(one, other)
    monkeypatch.setattr(comparison, "short_witnesses", lambda *_: short.Short())
    expected = compare(one, other)
    for left, right in ((found.old_only, expected.old_only), (found.new_only, expected.new_only)):
        assert (left.verdict, len(left.data or b"")) == (right.verdict, len(right.data or b""))


def test_a_large_grammar_that_differs_soon_needs_no_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(comparison, "merge", None)
    found = compare(Grammar("start ::= 'x';"), Grammar("start ::= #'.*a.{14}' | 'b';"))
    assert (found.old_only.data, found.new_only.data) == (b"x", b"b")
    assert found.old_only.verdict is Verdict.SOME


STEPS, MOST_CALLS = 50_000, 1_500_000


def within_steps(old: Grammar, new: Grammar) -> Comparison:
    """Return how two grammars differ, as far as is known after few calls of functions."""
    found: list[Comparison] = []
    assert calls(lambda _: found.append(compare(old, new, STEPS)), "") < MOST_CALLS
    assert found[0].steps <= STEPS
    return found[0]


SMALL = [
    "'a'",
    "#'[a-z]+'",
    "'(' r1 ')' | 'x'",
    "'a'?",
    "r1 r1 | 'a'",
    "#'[^x]*x'",
    "('a'|'b'){2,5}",
    "'[' {1,3} ']' | 'x'",
]


@pytest.mark.parametrize("other", ["'a'*", "#'[ab]x+'"])
@pytest.mark.parametrize("small", SMALL)
def test_what_is_made_is_bounded_as_what_is_searched(small: str, other: str) -> None:
    """`#'[^x]*x'` took 10 s, and no witness of a few bytes was found."""
    body = "start ::= r0; r0 ::= (r1){3,300}; r1 ::= "
    one, two = (Grammar(text, finish="eos") for text in (f"{body}{small};", f"start ::= {other};"))
    found = within_steps(one, two)
    is_unknown = Verdict.UNKNOWN in (found.old_only.verdict, found.new_only.verdict)
    assert is_unknown == ((small, other) == ("r1 r1 | 'a'", "'a'*"))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("start ::= 'x';", "start ::= #'.*a.{14}';"),
        ("start ::= #'.*a.{14}';", "start ::= #'.*b.{14}';"),
        # Written out at its calls, this has two to the power of 22 states.
        (
            "start ::= r0;"
            + "".join(f"r{i} ::= r{i + 1} r{i + 1} | 'a' '(' r{i + 1};" for i in range(22))
            + "r22 ::= '(' 'x';",
            "start ::= 'x';",
        ),
    ],
)
def test_a_comparison_that_takes_too_much_work_says_so(old: str, new: str) -> None:
    one, two = Grammar(old, finish="eos"), Grammar(new, finish="eos")
    _ = one.tables, two.tables
    found = within_steps(one, two)
    assert found.notes == (f"given up after {STEPS:,} steps of work",)
    assert Verdict.UNKNOWN in (found.old_only.verdict, found.new_only.verdict)
    if old == "start ::= 'x';":
        assert found.old_only.data == b"x"
        assert found.new_only.searched >= 5


def test_pairs_of_states_that_are_all_met_are_a_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison, "merge", None)
    one, two = (Grammar(f"start ::= #'[ab]{{2,{most}}}';", finish="eos") for most in (30, 31))
    found = compare(one, two)
    assert found.old_only.verdict is Verdict.EMPTY
    assert found.new_only.data == b"a" * 31
