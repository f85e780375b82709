"""What ``--cost`` counts: trie nodes, positions, bytes of masks; the same on every machine."""

import pytest

from kbnf_core import ConfigError, Engine, Grammar, Vocabulary, check
from kbnf_core.frontend import read_grammar
from kbnf_core.lint import LintOptions
from kbnf_core.lint.rules import cost
from kbnf_core.lower.build import build_tables
from kbnf_core.mask.masks import Masks
from kbnf_core.mask.work import RuleWork, rule_works
from kbnf_core.recognise.states import StateTable
from kbnf_core.text.budget import Budget
from kbnf_core.text.source import Source

BYTES = Vocabulary.bytes()
WORDS = Vocabulary({0: b"a", 1: b"b", 2: b"aa", 3: b"aaa", 4: b"ab"})


def _works(text: str, vocabulary: Vocabulary, limit: int = 10**9) -> tuple[list[RuleWork], bool]:
    grammar = read_grammar(Source(text, None)).grammar
    assert grammar is not None
    return rule_works(Masks(StateTable(build_tables(grammar)), vocabulary), Budget(limit))


def test_each_position_looks_at_every_byte_that_could_be_next() -> None:
    (work,), is_whole = _works("start ::= 'abc';", BYTES)
    # Behind `c` the rule is over, and looks at what may come next all the same.
    assert work == RuleWork("start", 4, 4 * 256, 256, 4 * 4 * 9)
    assert is_whole


def test_what_lives_is_looked_into() -> None:
    # The root has the children a and b; a has aa and ab; aa has aaa.
    (work,), _ = _works("start ::= 'ab';", WORDS)
    assert (work.nodes, work.most) == (4 + 2 + 2, 4)


def test_positions_that_no_token_tells_apart_count_once() -> None:
    few, many = (_works(f"start ::= #'a{{{n}}}' 'b';", WORDS)[0][0] for n in (50, 5_000))
    # A large rule is split; where its parts meet, positions differ.
    assert few.positions < many.positions < 20


def test_each_rule_counts_for_itself() -> None:
    works, _ = _works("start ::= 'x' list; list ::= '[' list ']' | 'item';", BYTES)
    assert [work.name for work in works] == ["start", "list"]
    assert works[0].positions < works[1].positions


def test_counting_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    works, is_whole = _works("start ::= 'abcdefgh';", BYTES, limit=600)
    assert not is_whole
    assert works[0].nodes == 3 * 256
    monkeypatch.setattr(cost, "MOST_NODES", 600)
    options = LintOptions(max_mask_work=10**6)
    assert [each.code for each in check("start ::= 'abcdefgh';", options=options)] == ["I901"]


def test_a_special_token_is_shown_by_its_id() -> None:
    vocabulary = Vocabulary({0: b"a"}, special_tokens={"<s>": 1})
    options = LintOptions(vocabulary=vocabulary, reports_cost=True)
    (found,) = check("start ::= #token'<s>' 'a';", options=options)
    assert found.notes[-2:] == ("2 tokens complete it: #1 'a'", "`budget=` needs 2 tokens")


@pytest.mark.parametrize("finish", ["eager", "token", "eos"])
def test_the_cost_names_the_budget_that_an_engine_accepts(finish: str) -> None:
    text = "start ::= '(' [start] ')' | '[' [start] ']';"
    vocabulary = Vocabulary({0: b"(", 1: b")", 2: b"[]", 3: b"[", 4: b"]"}, eos_token_id=9)
    options = LintOptions(vocabulary=vocabulary, reports_cost=True)
    diagnostics = check(text, options=options, finish=finish)
    (found,) = (each for each in diagnostics if each.code == "I702")
    count = 1 + (finish == "eos")
    last = ", the end of the sequence among them" if finish == "eos" else ""
    needed = f"`budget=` needs {count} token{'s' if count > 1 else ''}{last}"
    assert found.notes[-2:] == ("1 token completes it: '[]'", needed)
    grammar = Grammar(text, finish=finish)
    assert Engine(grammar, vocabulary, budget=count).remaining == count
    enough = f"{count} tokens are enough" if count > 1 else "1 token is enough"
    with pytest.raises(ConfigError, match=f"budget={count - 1} is too small: {enough}"):
        Engine(grammar, vocabulary, budget=count - 1)
