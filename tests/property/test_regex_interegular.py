"""Our automata of regular expressions against interegular, on all texts up to a length.

interegular is an independent reader of Python's regular expressions as sets of texts: what it has
no notion of (order, look-behind, edges, Unicode classes) is not drawn here.
"""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kbnf_core.automata.regex.compile import compile_regex
from kbnf_core.languages.lark.regex import matcher, parse
from kbnf_testing.lark_peers import all_texts
from kbnf_testing.samples import examples

ALPHABET = "abC"
TEXTS = [*all_texts(ALPHABET, 5)]
ATOMS = ("a", "b", "C", ".", "[ab]", "[^a]", "[a-c]", "(?i:c)", "(?i:[B-C])", r"\x61", "[^-a]")
SUFFIXES = ("?", "*", "+", "{2}", "{1,2}", "{0,2}", "{2,}", "*?", "+?", "??")


@st.composite
def patterns(draw: st.DrawFn, depth: int = 3) -> str:
    kind = draw(st.integers(0, 3)) if depth else 0
    if kind == 0:
        return draw(st.sampled_from(ATOMS))
    inner = patterns(depth - 1)
    if kind == 1:
        return f"(?:{draw(inner)}|{draw(inner)})"
    if kind == 2:
        return f"{draw(inner)}{draw(inner)}"
    return f"(?:{draw(inner)}){draw(st.sampled_from(SUFFIXES))}"


def judged(pattern: str) -> list[str]:
    import interegular

    fsm = interegular.parse_pattern(pattern).to_fsm()
    return [text for text in TEXTS if fsm.accepts(text)]


@settings(
    max_examples=examples(60),
    derandomize=True,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
@given(patterns())
def test_regular_expressions_have_the_texts_that_interegular_says(pattern: str) -> None:
    ours = compile_regex(pattern).dfa
    assert ours is not None
    assert [text for text in TEXTS if ours.accepts(text.encode())] == judged(pattern)


@settings(
    max_examples=examples(60),
    derandomize=True,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
@given(patterns())
def test_python_patterns_have_them_without_preferences(pattern: str) -> None:
    ours = matcher(parse(pattern).node, ordered=False).dfa
    assert [text for text in TEXTS if ours.accepts(text.encode())] == judged(pattern)
