"""Work of texts is counted by what lies side by side: length is free, many derivations are not."""

import pytest

from kbnf_core import Engine, Grammar, Vocabulary
from kbnf_core.lower.nfa import TooManyStatesError
from kbnf_core.lower.positions import build_positions
from kbnf_core.text.errors import WorkLimitError
from kbnf_core.text.limits import DEFAULT_LIMITS, Limits

FEW = Limits(work=1_000_000)
LIST = 'start ::= "[" (value ("," value)*)? "]"; value ::= number | start; number ::= #"[0-9]+";'
TWO = "start ::= one | two; one ::= 'x'+ 'y'; two ::= 'x'+ #'[yz]';"
PAIRS = "start ::= e; e ::= e e | 'x';"
EMPTY = "start ::= e; e ::= e e | 'x' | '';"


@pytest.mark.parametrize("size", [20_000, 40_000])
def test_a_long_text_with_one_derivation_is_free(size: int) -> None:
    grammar = Grammar(LIST, finish="eos", limits=FEW)
    text = b"[1" + b",1" * size
    tree = grammar.parser.partial(text)
    assert tree is not None
    assert len(tree) == 2 * size + 3
    assert grammar.parser.derivations(text + b"]") == (1, None)
    engine = Engine(grammar, Vocabulary.bytes())
    engine.try_accept_new_bytes(text)
    events = engine.events()
    assert events == list(grammar.parse(text + b"]").events())[: len(events)]
    assert len(events) == 4 * size + 3


def test_two_derivations_side_by_side_are_free() -> None:
    grammar = Grammar(TWO)
    text = b"x" * 50_000 + b"y"
    assert [node.rule for node in grammar.parse(text)] == ["start", "one"]
    count, other = grammar.parser.derivations(text)
    assert count == 2
    assert other is not None
    assert [node.rule for node in other] == ["start", "two"]


def test_derivations_are_counted_place_by_place() -> None:
    grammar = Grammar("start ::= (item ';')*; item ::= one | two; one ::= 'x'; two ::= #'x|y';")
    count, other = grammar.parser.derivations(b"y;" * 20_000 + b"x;y;x;" + b"y;" * 20_000)
    assert count == 4
    assert other is not None
    # The first choice is another one, the second is not.
    assert [other.at(at)[-1].rule for at in (40_000, 40_004)] == ["two", "one"]
    assert grammar.parser.derivations(b"x;" * 1_000, 50)[0] == 50


def test_many_small_ambiguous_parts_are_free() -> None:
    grammar = Grammar("start ::= (e ';')+; e ::= e e | 'x';", limits=FEW)
    assert sum(1 for _ in grammar.parse("xxx;" * 5_000).find_all("e")) == 5 * 5_000


@pytest.mark.parametrize("rules", [PAIRS, EMPTY])
@pytest.mark.parametrize("size", [100, 200, 400, 3_000])
def test_very_many_derivations_are_refused(rules: str, size: int) -> None:
    # A tenth of the usual work: what it makes in memory is as much less.
    parser = Grammar(rules, limits=Limits(work=DEFAULT_LIMITS.work // 10)).parser
    for work in (parser.parse, parser.derivations):
        with pytest.raises(WorkLimitError, match="very many derivations"):
            work(b"x" * size)
    if size > 1_000:
        # Reading it takes more with each letter, too.
        with pytest.raises(WorkLimitError, match="very many derivations"):
            parser.check(b"x" * size)


def test_what_was_refused_is_not_lost() -> None:
    grammar = Grammar(f"start ::= '<' e; {PAIRS.partition(';')[2]}", limits=FEW, finish="eos")
    trace = grammar.parser.streamed_trace()
    trace.read(b"<")
    before = grammar.parser.certain(trace)
    trace.read(b"x" * 200)
    with pytest.raises(WorkLimitError):
        grammar.parser.certain(trace)
    trace.cut_to(1)
    assert grammar.parser.certain(trace) == before


def test_an_engine_goes_on_after_a_text_that_was_refused() -> None:
    grammar = Grammar(f"start ::= '<' e; {PAIRS.partition(';')[2]}", limits=FEW, finish="eos")
    engine = Engine(grammar, Vocabulary.bytes())
    engine.try_accept_new_bytes(b"<x")
    events = engine.events()
    engine.try_accept_new_bytes(b"x" * 200)
    for _ in range(2):
        with pytest.raises(WorkLimitError):
            engine.events()
    engine.rollback(1)
    engine.try_accept_new_bytes(b"x")
    events += engine.events()
    assert events == list(grammar.parse("<xx").events())[: len(events)]
    assert len(events) > 1


CHAIN = "start ::= '[' items ']'; items ::= 'x'{1,100} name; name ::= #'[a-z]+' | '';"


@pytest.mark.parametrize("states", [50, 250, 330])
def test_a_rule_with_too_many_positions_is_named(states: int) -> None:
    with pytest.raises(TooManyStatesError, match="items"):
        build_positions(Grammar(CHAIN).rules, None, Limits(grammar_states=states))


@pytest.mark.parametrize("work", [150, 1_000, 2_000])
def test_the_work_of_positions_is_limited(work: int) -> None:
    rules = Grammar(CHAIN).rules
    with pytest.raises(WorkLimitError, match="`items`"):
        build_positions(rules, None, Limits(work=work))
    assert build_positions(rules, None, Limits(work=10_000)).tables.state_count > 100
