"""Work grows with the size of a grammar, not with its square: counted, so noise cannot matter.

``python -m benchmarks.scaling`` prints the same families with times.
"""

import sys
from importlib import import_module
from pathlib import Path
from random import Random
from types import ModuleType

import pytest

from kbnf_core import AcceptTokenResult, Engine, Grammar, RejectedError, Vocabulary, check
from kbnf_core.automata.regex.compile import compile_regex
from kbnf_core.convert import from_bnf
from kbnf_core.frontend import read_grammar
from kbnf_core.lint import LintOptions
from kbnf_core.lower.build import build_tables
from kbnf_core.text.budget import Budget
from kbnf_core.text.limits import Limits
from kbnf_core.text.source import Source
from kbnf_testing.counted import growth

ROOT = Path(__file__).resolve().parents[2]

SIZE = 400
MOST = 2.2
"""Twice the size may cost so many times as much."""

FAMILIES = [
    "undefined names",
    "optional items",
    "optional calls",
    "chained rules",
    "unit cycles",
    "alternatives",
    "blank lines",
    "rules",
    "substrings",
]
LARK_FAMILIES = ["Lark: words", "Lark: options", "Lark: counts", "Lark: any of all"]


@pytest.fixture(scope="module")
def scaling() -> ModuleType:
    """Return the benchmark, which lies beside the package."""
    sys.path.insert(0, str(ROOT))
    try:
        return import_module("benchmarks.scaling")
    finally:
        sys.path.remove(str(ROOT))


def test_every_family_is_here(scaling: ModuleType) -> None:
    # What there are many of in schemas is counted with the other converters.
    assert list(scaling.FAMILIES) == [*FAMILIES, "enum values", *LARK_FAMILIES]


@pytest.mark.parametrize("verb", ["check", "build"])
@pytest.mark.parametrize("family", FAMILIES)
def test_twice_the_size_is_about_twice_the_calls(
    family: str, verb: str, scaling: ModuleType
) -> None:
    action, write = scaling.ACTIONS[verb], scaling.FAMILIES[family]
    action(write(10))
    one, two = (scaling.count_calls(action, write(size)) for size in (SIZE, 2 * SIZE))
    assert two < MOST * one


@pytest.mark.ci
@pytest.mark.parametrize("family", LARK_FAMILIES)
def test_twice_as_much_lark_is_about_twice_the_calls(family: str, scaling: ModuleType) -> None:
    action, write = scaling.LARK_ACTIONS["text"], scaling.FAMILIES[family]
    action(write(160))
    one, two = (scaling.count_calls(action, write(size)) for size in (SIZE, 2 * SIZE))
    assert two < MOST * one


@pytest.mark.parametrize("family", FAMILIES[1:])
def test_twice_the_size_is_about_twice_the_steps(family: str, scaling: ModuleType) -> None:
    one, two = (_steps(scaling.FAMILIES[family](size)) for size in (SIZE, 2 * SIZE))
    assert 0 < two < MOST * one


def _steps(text: str) -> int:
    """Return the counted work of a build, most of which may be done inside of one call."""
    reading = read_grammar(Source(text))
    assert reading.grammar is not None
    budget = Budget(Limits().work)
    build_tables(reading.grammar, Limits(), reading.analysis, budget)
    return budget.spent


@pytest.mark.parametrize("family", ["optional items", "optional calls", "optional rounds"])
def test_no_size_costs_more_than_a_larger_one(family: str, scaling: ModuleType) -> None:
    """Nothing is refused that would be taken if it were larger."""

    def rounds(size: int) -> str:
        return f"start ::= a{{{size}}} '.'; a ::= ['b' a 'c'];"

    write = rounds if family == "optional rounds" else scaling.FAMILIES[family]
    sizes = [50, 200, 500, 800, 1_100, 1_600]
    steps = [_steps(write(size)) for size in sizes]
    assert max(steps) < 2_000_000


@pytest.mark.parametrize("shape", ["e{i} 'o{i}' e{n} | e{n}", "e{n} | e{i} 'o{i}' e{n}"])
def test_levels_of_operators_cost_in_proportion_to_their_number(shape: str) -> None:
    """Each level is predicted once: as the tail of every level above, it would be n * n items."""

    def known(size: int) -> int:
        levels = (f"e{i} ::= {shape.format(i=i, n=i + 1)};\n" for i in range(size))
        grammar = Grammar(f"start ::= e0;\n{''.join(levels)}e{size} ::= 'x' | '(' e0 ')';\n")
        engine = Engine(grammar, Vocabulary({byte: bytes([byte]) for byte in range(256)}))
        for byte in b"(((xo3":
            engine.compute_allowed_token_ids()
            engine.try_accept_new_token(byte)
        return grammar.estimated_bytes

    assert known(800) < MOST * known(400)


def test_repetitions_of_repetitions_are_built_of_calls(scaling: ModuleType) -> None:
    text = "start ::= b{0,200}; b ::= c{0,200}; c ::= d{0,200}; d ::= 'a'{0,200};"
    assert _steps(text) < 1_000_000


def test_a_regex_that_takes_long_is_given_up(scaling: ModuleType) -> None:
    letters = "|".join(map(chr, range(ord("a"), ord("y"))))
    pattern = f"({letters})?[a-y]*a[a-y]{{12}}"
    work = compile_regex(pattern).work
    assert compile_regex(pattern, Limits(work=work)).dfa is not None
    (problem,) = compile_regex(pattern, Limits(work=work - 1)).problems
    assert problem.code == "E107"


@pytest.mark.parametrize("verb", ["check", "convert"])
def test_many_tokens_are_not_each_compared_with_each(verb: str) -> None:
    """Names of special tokens with the texts of a grammar, excluded tokens with all tokens."""

    def work(text: str) -> None:
        count = int(text)
        names = {f"<|{number}|>": count + number for number in range(count)}
        tokens = {number: f"{'tu'[number % 2]}{number:x}".encode() for number in range(count)}
        vocabulary = Vocabulary(tokens, special_tokens=names)
        if verb == "check":
            words = " | ".join(f"'<|{number}'" for number in range(count))
            check(f"start ::= {words};", options=LintOptions(vocabulary=vocabulary))
        else:
            digits = "|".join(f"'{digit:x}'<x>" for digit in range(16))
            rules = f"<start>::=<except!([x])>\n<x>::='t'<x>|{digits}|'.'"
            from_bnf(rules, vocabulary=vocabulary)

    assert growth(work, str, SIZE) < MOST


@pytest.mark.parametrize("seed", range(5))
def test_optional_items_that_are_called_in_groups_mean_the_same(seed: int) -> None:
    random = Random(seed)
    count = 1_000
    text = "start ::= " + " ".join(f"['{i:04}']" for i in range(count)) + " '.';"
    engine = Engine(text, Vocabulary.bytes())
    chosen = sorted(random.sample(range(count), 30))
    engine.try_accept_new_bytes("".join(f"{i:04}" for i in chosen).encode())
    with pytest.raises(RejectedError):
        engine.try_accept_new_bytes(f"{random.randint(0, chosen[-1]):04}".encode())
    assert engine.try_accept_new_bytes(b".") is AcceptTokenResult.Finished


def test_a_counted_repetition_of_what_may_be_empty_means_the_same() -> None:
    engine = Engine("start ::= a{2,3} '.'; a ::= ['b' a 'c'];", Vocabulary.bytes())
    for text, is_legal in ((b".", True), (b"bcbbccbc.", True), (b"bcbcbcb", False)):
        engine.reset()
        if is_legal:
            assert engine.try_accept_new_bytes(text) is AcceptTokenResult.Finished
        else:
            with pytest.raises(RejectedError):
                engine.try_accept_new_bytes(text)
