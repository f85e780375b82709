"""A shortest common text of two regular parts is what their automata have in common."""

from hypothesis import given
from hypothesis import strategies as st

from kbnf_core.automata.operations import intersect, shortest_word
from kbnf_core.frontend import EFFORT, read_grammar
from kbnf_core.ir import Choice
from kbnf_core.lint.rules.overlaps import CommonTexts
from kbnf_core.lint.subject import spelling_bytes
from kbnf_core.lower.regular import Regulars
from kbnf_core.text.budget import Budget
from kbnf_core.text.limits import DEFAULT_LIMITS
from kbnf_core.text.source import Source

LEAVES = st.sampled_from(["'a'", "'ab'", "'b'", "''", "#'[ab]+'", "#'a?b'", "r", "s", "#'c*'"])
BODIES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(" ".join),
        st.lists(inner, min_size=1, max_size=2).map(lambda each: f"({' | '.join(each)})"),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{1,3}", "{2,}"])).map(
            lambda pair: f"({pair[0]}){pair[1]}"
        ),
    ),
    max_leaves=6,
)


@given(BODIES, BODIES, BODIES, st.sampled_from(["'b'", "'c' | 'a'", "#'a+'"]))
def test_common_text_is_a_shortest_word_of_the_intersection(
    first: str, second: str, r: str, s: str
) -> None:
    r = r.replace("r", "s")
    text = f"start ::= both 'd'; both ::= {first} | {second}; r ::= {r}; s ::= {s};"
    reading = read_grammar(Source(text, None))
    assert reading.grammar is not None
    whole = reading.grammar.rules["both"]
    assert isinstance(whole, Choice)
    left, right = whole.branches[0], whole.branches[-1]
    rules = reading.grammar.rules
    budget = Budget(DEFAULT_LIMITS.work)
    found = CommonTexts(rules, spelling_bytes(rules.values()), budget).find(left, right)
    regulars = Regulars(rules, EFFORT)
    expected = shortest_word(intersect(regulars.of(left), regulars.of(right)))
    assert (found is None) == (expected is None)
    if found is not None and expected is not None:
        assert len(found) == len(expected)
        assert regulars.of(left).accepts(found)
        assert regulars.of(right).accepts(found)
