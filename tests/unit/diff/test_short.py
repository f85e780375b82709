"""Short differences of large grammars are found before a machine is made of both."""

import pytest

from kbnf_core import Grammar
from kbnf_core.diff import Verdict, compare, comparison, short

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
    expected = compare(one, other)
    monkeypatch.setattr(short, "LARGE", 0)
    found = compare(one, other)
    for left, right in ((found.old_only, expected.old_only), (found.new_only, expected.new_only)):
        assert (left.verdict, len(left.data or b"")) == (right.verdict, len(right.data or b""))


def test_a_large_grammar_that_differs_soon_needs_no_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(comparison, "merge", None)
    found = compare(Grammar("start ::= 'x';"), Grammar("start ::= #'.*a.{14}' | 'b';"))
    assert (found.old_only.data, found.new_only.data) == (b"x", b"b")
    assert found.old_only.verdict is Verdict.SOME
