"""Random grammars with blocks: what is read of them accepts what Lark parses, and nothing else."""

from random import Random

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from lark.exceptions import GrammarError as RefusedByLark

from kbnf_core import Engine, Grammar, Vocabulary
from kbnf_core.examples.sampling import sample_texts
from kbnf_core.text.errors import GrammarError
from kbnf_testing.indented import LINES, BracketIndenter, judge_of, random_grammar, text_of


@settings(max_examples=25)
@given(st.integers(min_value=0, max_value=2**32))
def test_random_grammars_accept_what_lark_parses(seed: int) -> None:
    random = Random(seed)
    text = random_grammar(random)
    try:
        judge = judge_of(text, BracketIndenter)
    except RefusedByLark:
        assume(False)
    texts = [text_of(random, LINES) for _ in range(100)]
    try:
        grammar = Grammar.from_lark(text, postlex=BracketIndenter, finish="eos", lossy=True)
    except GrammarError:
        # Where no text ends, Lark parses none.
        assert not any(map(judge, texts)), text
        return
    # Where Lark resolves a conflict it does not parse all that the rules describe.
    assume(not grammar.losses)
    engine = Engine(grammar, Vocabulary.bytes())
    own = sample_texts(engine, 10, seed, 40, ascii_only=True).texts
    for each in (*texts, *(text.decode() for text in own)):
        assert (grammar.status(each) == "fits") == judge(each), (text, each)
