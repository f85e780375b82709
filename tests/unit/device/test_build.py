"""Closing states and columns of tokens: what is too large says why."""

import re

import numpy as np
import pytest

from kbnf_core import Grammar, Vocabulary
from kbnf_core.device import TableTooLargeError, TokenTable, build
from kbnf_core.kernel import columns
from kbnf_core.recognise.closing import close_grammar, close_states, endless_rules
from kbnf_core.recognise.states import StateTable

TOKENS = ["a", "b", "ab", "ba", "aab", "abb", "é", "x", "(", ")", "()", "))", "1", "12", "+1"]
VOCABULARY = Vocabulary({i: t.encode() for i, t in enumerate(TOKENS)}, eos_token_id=20)

TEXTS = [
    "start ::= ('ab' | 'a' 'b'*)+ 'é'? ;",
    "start ::= start '+' term | term; term ::= #'[0-9]+';",
    "start ::= 'a'{2,30} 'b';",
]


@pytest.mark.parametrize("eager", [False, True])
@pytest.mark.parametrize("text", TEXTS)
def test_a_column_has_the_states_that_feeding_a_token_finds(text: str, eager: bool) -> None:
    states = StateTable(Grammar(text).tables)
    closing = close_states(states, 200, range(states.tables.class_count), lambda _: ())
    kept = np.array(closing.states, np.int32)
    found = columns(states, VOCABULARY.trie, kept, eager, 10**6)
    assert found is not None
    of, after = found
    feed = states.feed_eagerly if eager else states.feed
    for token_id, column in zip(VOCABULARY.trie.token_ids.tolist(), of.tolist(), strict=True):
        data = TOKENS[token_id].encode()
        assert after[column].tolist() == [feed(state, data)[0] for state in kept.tolist()]
    assert not after[0].any()
    assert len(np.unique(after, axis=0)) == len(after)


def test_work_beyond_the_bound_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "MAX_WORK", 5)
    with pytest.raises(
        TableTooLargeError, match="more than 5 steps, or too much memory: allow fewer states"
    ):
        TokenTable.build(Grammar(TEXTS[0]), VOCABULARY)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("start ::= '(' [start] ')' | 'a';", ["start"]),
        ("start ::= pair; pair ::= '(' inner ')'; inner ::= pair | 'a';", ["pair"]),
        ("start ::= start '+' 'a' | 'a';", []),
        ("start ::= 'a' start | 'b';", []),
        ("start ::= start 'b' | 'a' start | '1';", ["start"]),
    ],
)
def test_rules_that_nest_are_named(text: str, names: list[str]) -> None:
    tables = Grammar(text).tables
    found = [tables.names[each] for each in endless_rules(tables)]
    assert found == names or (names and set(found) >= set(names))
    assert close_grammar(tables, 500).closed == (not names)


def test_large_states_are_fewer() -> None:
    """After n bytes of an ambiguous nesting the state has n parts."""
    tables = Grammar("start ::= [pair] [start] | 'a'; pair ::= [start] [start];").tables
    closing = close_grammar(tables, 4096)
    assert not closing.closed
    assert 500 < len(closing.states) < 2000


def test_an_error_names_the_rule_and_what_to_change() -> None:
    nested = Grammar("start ::= list; list ::= '(' [list 'a'] ')';")
    with pytest.raises(
        TableTooLargeError,
        match=r"`list` \(called by `start`\) can nest without end; bound the depth",
    ):
        TokenTable.build(nested, VOCABULARY, max_states=50)
    long = Grammar("start ::= 'x' 'a'{1,500} 'b';")
    with pytest.raises(TableTooLargeError, match=re.escape("lower its bounds (`{m,n}`")):
        TokenTable.build(long, VOCABULARY, max_states=50)


def test_an_error_names_what_leads_to_the_rules_that_nest() -> None:
    grammar = Grammar(
        "start ::= 'x' one two; one ::= 'a' list 'b'{9}; two ::= one 'c' one;"
        " list ::= '(' [list 'a'] ')';"
    )
    with pytest.raises(
        TableTooLargeError, match=r"`list` \(called by `one`\) can nest without end"
    ):
        TokenTable.build(grammar, VOCABULARY, max_states=50)


def test_a_partial_table_may_be_small() -> None:
    grammar = Grammar("start ::= 'a'{1,500};", finish="eos")
    table = TokenTable.build(grammar, VOCABULARY, max_states=50, partial=True)
    assert table.is_partial
    assert len(table.transitions) == 52
