"""What a finding says to remove can go: the text without it has the same language."""

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kbnf_core import Grammar, GrammarError, check
from kbnf_core.diff import Relation, compare
from kbnf_core.ir import Choice
from kbnf_core.kbnf import tree
from kbnf_core.kbnf.parsed import Request
from kbnf_core.languages import ABNF, GBNF, KBNF, LARK, Language
from kbnf_core.languages.lark.reader import tree as lark
from kbnf_core.languages.lark.reader.parse import parse_lark
from kbnf_core.text.source import Source, Span
from kbnf_testing.lark_random import lark_grammars, scanned_grammars
from kbnf_testing.samples import examples

FEW = settings(
    max_examples=examples(30),
    derandomize=True,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)

PARTS = {
    KBNF: ("'a'", "'b'", "'ab'", "x", "#'[ab]'", "#'a*'", "#'[a-c]+'", "('a' | x)", "'a'?"),
    GBNF: ('"a"', '"b"', '"ab"', "x", "[ab]", "[ab]*", "[a-c]+", '("a" | x)', '"a"?'),
    ABNF: ('"a"', '%s"b"', '"ab"', "x", "%x61-62", "*%x61-62", '("a" / x)', '["a"]'),
}
SHAPES = {
    KBNF: ("(* kbnf: finish=eos *)\nstart ::= {} 'c';\nx ::= {};\n", " | "),
    GBNF: ('root ::= ({}) "c"\nx ::= {}\n', " | "),
    ABNF: ('start = ({}) "c"\nx = {}\n', " / "),
}


@st.composite
def grammars(draw: st.DrawFn, language: Language) -> str:
    """Return a grammar with two choices of which parts may say the same."""
    shape, mark = SHAPES[language]
    parts = [part for part in PARTS[language] if part != "x"]
    bodies = []
    for choices in (PARTS[language], [part for part in parts if "x" not in part]):
        row = st.lists(st.sampled_from(choices), min_size=1, max_size=2).map(" ".join)
        bodies.append(draw(st.lists(row, min_size=2, max_size=4).map(mark.join)))
    return shape.format(*bodies)


@pytest.mark.parametrize("language", SHAPES, ids=lambda language: language.name)
@FEW
@given(st.data())
def test_alternatives_that_add_nothing_can_go(language: Language, data: st.DataObject) -> None:
    text = data.draw(grammars(language))
    assert_advice_is_right(text, language, {})


@pytest.mark.parametrize("lexing", ["earley", "llguidance", "lalr", "scannerless"])
@FEW
@given(st.one_of(lark_grammars(), scanned_grammars()))
def test_of_lark_too(lexing: str, grammar: str) -> None:
    assert_advice_is_right(grammar, LARK, {"lexing": lexing})


@pytest.mark.parametrize("lexing", ["earley", "llguidance"])
def test_what_a_part_of_the_conversion_shadows_is_needed(lexing: str) -> None:
    text = 'start: (WORD | TAG)+\nWORD: /[a-z]+/\nTAG: /[a-z]+[0-9]?/\n%ignore " "\n'
    said = list(advised(text, LARK, {"lexing": lexing}))
    assert [text[each.start : each.end] for each in said] == ["WORD"]
    assert_advice_is_right(text, LARK, {"lexing": lexing})


def assert_advice_is_right(text: str, language: Language, options: dict[str, str]) -> None:
    for place in advised(text, language, options):
        changed = without(text, place, language)
        assert changed is not None, place
        before, after = (
            Grammar.read(each, language, options=options, lossy=True) for each in (text, changed)
        )
        relation = compare(before, after, 200_000).relation
        assert relation in (Relation.EQUAL, Relation.UNKNOWN), changed


def advised(text: str, language: Language, options: dict[str, str]) -> Iterator[Span]:
    """Yield what some finding says to remove."""
    try:
        Grammar.read(text, language, options=options, lossy=True)
    except GrammarError:
        return
    found = check(text, language=language, language_options=options)
    yield from (each.span for each in found if each.code in ("W104", "W107"))


def without(text: str, place: Span, language: Language) -> str | None:
    """Return a text without the alternative at ``place``."""
    for whole, branches in choices_in(text, language):
        left = [text[spans[0].start : spans[0].end] for spans in branches if place not in spans]
        if len(left) < len(branches):
            mark = SHAPES[language][1] if language in SHAPES else " | "
            return text[: whole.start] + mark.join(left) + text[whole.end :]
    return None


def choices_in(text: str, language: Language) -> Iterator[tuple[Span, list[list[Span]]]]:
    """Yield the place of each choice, and of its branches with their brackets and without."""
    if language is LARK:
        for statement in parse_lark(Source(text)).document.statements:
            body = statement.body if isinstance(statement, lark.LarkDefinition) else None
            for node in lark.postorder(body) if body is not None else ():
                if isinstance(node, Choice):
                    yield node.span, [[*_within(branch)] for branch in node.branches]
        return
    for each in language.parse(Source(text), Request()).document.nodes():
        if isinstance(each, tree.Alternation):
            yield each.span, [[*_within(branch)] for branch in each.branches]


def _within(node: lark.Expression | tree.Expression) -> Iterator[Span]:
    yield node.span
    while isinstance(node, lark.Group | tree.Bracket):
        node = node.body
        yield node.span
