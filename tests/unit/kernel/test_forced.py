"""What must come, by both kernels over one table: the same bytes, tokens and boundaries."""

from typing import cast

import pytest

from kbnf_core import Grammar, Vocabulary
from kbnf_core.kernel import numpy_kernel
from kbnf_core.kernel.interface import Kernel
from kbnf_core.recognise.states import DEAD, StateTable

NUMPY = cast(Kernel, numpy_kernel)

GRAMMARS = {
    "a text": """start ::= '{"name": "' ('one' | 'oneself') '"}';""",
    "nested": "start ::= '[' start ']' | '12';",
    "complete on the way": "start ::= 'ab' 'cd'?;",
    "several bytes, one token": "start ::= 'a' #'[αβ]';",
    "a class of two bytes": "start ::= 'a' #'[xy]' 'bcd';",
}
TEXTS = (
    "a",
    "b",
    "ab",
    "abc",
    "abcd",
    "{",
    '{"',
    "name",
    '":',
    '": ',
    '"',
    "one",
    "onese",
    "[[",
    "12]",
    "α",
)
VOCABULARY = Vocabulary({place: text.encode() for place, text in enumerate(TEXTS)})


@pytest.mark.parametrize("grammar", GRAMMARS.values(), ids=GRAMMARS)
def test_kernels_agree(compiled: Kernel, grammar: str) -> None:
    table = StateTable(Grammar(grammar).tables)
    one, other = (kernel.forced(table, VOCABULARY.trie) for kernel in (compiled, NUMPY))
    # Their numbers ascend as they are found; the texts of one grammar nest without end.
    for state in range(table.initial, 40):
        if state == len(table):
            break
        data, after = one.follow(state, 100)
        assert other.follow(state, 100) == (data, after)
        assert one.follow(state, 1) == other.follow(state, 1) == (data[:1], after[:1])
        for place, end in enumerate(after, 1):
            assert one.boundaries(data[:place], end) == other.boundaries(data[:place], end)
        for eager in (False, True):
            found = one.tokens(state, eager)
            expected = other.tokens(state, eager)
            assert found == expected or min(len(found), len(expected)) > 1
        for byte_class in table.live_classes(state):
            table.step(state, byte_class)


def test_a_boundary_is_where_a_token_leads_on(kernel: Kernel) -> None:
    table = StateTable(Grammar("start ::= 'xab' ('c' | 'd');").tables)
    forced = kernel.forced(table, VOCABULARY.trie)
    data, states = forced.follow(table.initial, 100)
    assert data == b"xab"
    # "abc" begins at 1; nothing longer begins with "b".
    assert forced.boundaries(data, states[-1]) == [1, 3]
    assert forced.boundaries(data, DEAD) == [3]


def test_tokens_are_looked_for_until_there_are_two(kernel: Kernel) -> None:
    table = StateTable(Grammar("start ::= 'onese' | 'ab';").tables)
    forced = kernel.forced(table, VOCABULARY.trie)
    state = table.feed(table.initial, b"a")[0]
    assert forced.tokens(state, False) == [TEXTS.index("b")]
    assert len(forced.tokens(table.initial, False)) >= 2
    # Under eager finish nothing comes after a text that is complete.
    table = StateTable(Grammar("start ::= 'ab' 'cd'?;").tables)
    forced = kernel.forced(table, VOCABULARY.trie)
    state = table.feed(table.initial, b"a")[0]
    assert forced.tokens(state, True) == [TEXTS.index("b")]
