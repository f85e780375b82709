"""Trees beside those of a plain chart parser, which says which is the first, and of Lark."""

from collections.abc import Iterator
from itertools import product
from random import Random
from typing import Any, TypeAlias

import pytest
from lark import Lark
from lark.exceptions import LarkError

from kbnf_core import Engine, Event, Grammar, GrammarError, ParseError, Tree, Vocabulary
from kbnf_testing.derivations import Chart, Rules, as_kbnf, as_lark, is_cyclic, random_rules

TEXTS = ["".join(text) for size in range(1, 7) for text in product("ab", repeat=size)]

pytestmark = pytest.mark.parametrize(
    "block", [*range(8), *(pytest.param(block, marks=pytest.mark.slow) for block in range(8, 167))]
)

GRAMMARS = 12
"""Random grammars a block; all blocks have 2,004."""

Shape: TypeAlias = tuple[str, tuple[int, int] | None, list[Any]]
"""A rule, the part of the text that it matched, None for the empty text, and the rules in it."""


def shape(tree: Tree) -> tuple[str, int, int, list[Any]]:
    return tree.rule, tree.start, tree.end, [shape(child) for child in tree.children]


def parsed(grammar: Grammar, text: str) -> Tree | None:
    try:
        return grammar.parse(text)
    except ParseError:
        return None


def grammars(block: int, *, filled: bool = False) -> Iterator[tuple[Rules, Grammar, Random]]:
    for seed in range(GRAMMARS * block, GRAMMARS * (block + 1)):
        random = Random(seed)
        rules = random_rules(random, filled=filled)
        try:
            grammar = Grammar(as_kbnf(rules))
        except GrammarError:
            continue
        yield rules, grammar, random


def test_the_tree_is_the_first_derivation(block: int) -> None:
    for rules, grammar, random in grammars(block):
        for text in random.sample(TEXTS, 12):
            tree = parsed(grammar, text)
            if is_cyclic(rules):
                # No derivation is the first one: it comes to an end, and fits or does not.
                engine = Engine(grammar, Vocabulary.bytes(), finish="eos")
                taken = engine.accept_tokens(text.encode())
                assert (tree is not None) == (taken == len(text) and engine.can_finish())
                continue
            expected = Chart(rules, text).tree("start")
            assert expected == (None if tree is None else shape(tree)), (as_kbnf(rules), text)


def test_unambiguous_trees_are_those_of_lark(block: int) -> None:
    for rules, grammar, random in grammars(block, filled=True):
        if is_cyclic(rules):
            continue
        fitting = [text for text in random.sample(TEXTS, 15) if parsed(grammar, text)]
        unambiguous = [
            text for text in fitting if grammar.parser.derivations(text.encode(), 2)[0] == 1
        ]
        if not unambiguous:
            continue
        try:
            lark = Lark(
                as_lark(rules),
                parser="earley",
                lexer="dynamic_complete",
                ambiguity="explicit",
                keep_all_tokens=True,
                maybe_placeholders=False,
            )
        except LarkError:
            continue
        for text in unambiguous:
            [expected] = _lark_shapes(lark.parse(text))
            assert expected == _named_shape(grammar.parse(text)), (as_kbnf(rules), text)


def _lark_shapes(tree: Any) -> list[Shape]:
    """Return the shapes of a tree of Lark's: one, where derivations differ in terminals only."""
    if tree.data == "_ambig":
        found = [shape for each in tree.children for shape in _lark_shapes(each)]
        return [each for i, each in enumerate(found) if each not in found[:i]]
    inner = [_lark_shapes(each) for each in tree.children if hasattr(each, "data")]
    tokens = list(tree.scan_values(lambda _: True))
    span = (
        (min(each.start_pos for each in tokens), max(each.end_pos for each in tokens))
        if tokens
        else None
    )
    return [(str(tree.data), span, [*children]) for children in product(*inner)]


def _named_shape(tree: Tree) -> Shape:
    span = None if tree.start == tree.end else (tree.start, tree.end)
    return tree.rule, span, [_named_shape(child) for child in tree.children]


def test_events_of_an_engine_are_those_of_the_tree(block: int) -> None:
    for rules, grammar, random in grammars(block):
        for text in random.sample(TEXTS, 8):
            tree = parsed(grammar, text)
            if tree is None:
                continue
            # Where rules derive themselves, too: there are endlessly many derivations then.
            engine = Engine(grammar, Vocabulary.bytes(), finish="eos")
            events = engine.events()
            for byte in text.encode():
                engine.try_accept_new_token(byte)
                events += engine.events()
            engine.try_accept_new_token(256)
            assert events + engine.events() == list(tree.events()), (as_kbnf(rules), text)


def test_events_of_every_chunking_are_those_of_the_tree(block: int) -> None:
    for _, grammar, random in grammars(block):
        for text in random.sample(TEXTS, 8):
            tree = parsed(grammar, text)
            if tree is None:
                continue
            whole = list(tree.events())
            trace = grammar.parser.streamed_trace()
            certain: list[Event] = []
            for byte in text.encode():
                assert trace.read(bytes([byte])) == 1
                certain += grammar.parser.certain(trace)
            assert certain == whole[: len(certain)]
            at_once = grammar.parser.streamed_trace()
            at_once.read(text.encode())
            assert grammar.parser.certain(at_once) == certain
