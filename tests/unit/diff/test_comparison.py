"""Pairs of grammars with known answers: proofs, shortest witnesses, and honest ignorance."""

import pytest

from kbnf_core import Grammar
from kbnf_core.diff import Answer, Comparison, Verdict, compare
from kbnf_core.diff.comparison import compare_schemas
from kbnf_testing.membership import Language

NONE = ""

EXPRESSIONS = "start ::= e; e ::= e '+' t | t; t ::= t '*' f | f; f ::= '(' e ')' | #'[0-9]';"
LISTS = "start ::= e; e ::= t ('+' t)*; t ::= f ('*' f)*; f ::= '(' e ')' | #'[0-9]';"
JSON = r"""
start ::= v; v ::= o | l | #'"([^"\\\\]|\\\\.)*"' | #'[0-9]+';
o ::= '{' [m {',' m}] '}'; m ::= #'"([^"\\\\]|\\\\.)*"' ':' v; l ::= '[' [v {',' v}] ']';
"""
PARENTHESES = "s ::= '(' s ')' | 'x';"
# As an LL(1) grammar: brackets are rules of their own, and members end with the bracket.
JSON_LL1 = r"""
start ::= v; v ::= lb ms | ls vs | s | #'[0-9]+'; s ::= #'"([^"\\\\]|\\\\.)*"';
lb ::= '{'; rb ::= '}'; ls ::= '['; rs ::= ']';
ms ::= rb | m more; more ::= rb | ',' m more; m ::= s ':' v;
vs ::= rs | v others; others ::= rs | ',' v others;
"""


def compared(old: str, new: str, finish: str = "eos", work: int = 100_000) -> Comparison:
    return compare(Grammar(old, finish=finish), Grammar(new, finish=finish), work)


def said(answer: Answer) -> str | None:
    """Return a witness as text, nothing where there is none, None where that is unknown."""
    if answer.verdict is Verdict.UNKNOWN:
        return None
    return NONE if answer.verdict is Verdict.EMPTY else (answer.data or b"").decode() or "empty"


@pytest.mark.parametrize(
    ("old", "new", "old_only", "new_only"),
    [
        ("start ::= 'a' 'b';", "start ::= 'ab';", NONE, NONE),
        ("start ::= 'a'+;", "start ::= 'a'*;", NONE, "empty"),
        ("start ::= #'[a-z]+';", "start ::= #'[a-y]+' | '1';", "z", "1"),
        ("start ::= 'a'{2,5};", "start ::= 'a'{3,4};", "aa", NONE),
        # Right-linear and left-linear.
        ("start ::= 'a' start | 'b';", "start ::= l 'b' | 'b'; l ::= l 'a' | 'a';", NONE, NONE),
        ("start ::= 'a' start | 'b';", "start ::= l 'b' | 'b'; l ::= l 'a' | 'aa';", "ab", NONE),
        ("start ::= l; l ::= l ',' x | x; x ::= 'a';", "start ::= 'a' (',' 'a')*;", NONE, NONE),
        # Brackets.
        ("start ::= '(' start ')' | 'x';", "start ::= '(' y ')' | 'x'; y ::= start;", NONE, NONE),
        (
            "start ::= '(' start ')' | 'x';",
            "start ::= '(' y ')' | 'x'; y ::= 'x' | '(' y ')' | '((y))';",
            NONE,
            "(((y)))",
        ),
        ("start ::= '[' start* ']';", "start ::= '[' (start start?)* ']';", NONE, NONE),
        ("start ::= '[' start* ']';", "start ::= '[' (start start)* ']';", "[[]]", NONE),
        (EXPRESSIONS, LISTS, NONE, NONE),
        (EXPRESSIONS, LISTS.replace("'(' e ')'", "'(' e ')' | '(-' e ')'"), NONE, "(-0)"),
        # Quotes.
        (JSON, JSON_LL1, NONE, NONE),
        (JSON, JSON_LL1.replace("ms ::= rb | m more", "ms ::= m more"), "{}", NONE),
        (JSON, JSON.replace("#'[0-9]+';\no", "#'[0-9]+' | '\"}\"' | 'n';\no"), NONE, "n"),
        # Names of components do not matter, nor do rules that only one of them has.
        ("start ::= a; a ::= b 'x'; b ::= 'y';", "start ::= 'y' c; c ::= 'x';", NONE, NONE),
    ],
)
def test_decided(old: str, new: str, old_only: str, new_only: str) -> None:
    found = compared(old, new)
    assert (said(found.old_only), said(found.new_only)) == (old_only, new_only)
    back = compared(new, old)
    assert (said(back.old_only), said(back.new_only)) == (new_only, old_only)


@pytest.mark.parametrize(
    ("old", "new", "old_only", "new_only"),
    [
        # Only what ends first is ever written.
        ("start ::= #'[a-z]+';", "start ::= #'[a-z]';", NONE, NONE),
        ("start ::= 'a' | 'ab';", "start ::= 'ab';", "a", "ab"),
        (f"start ::= s | '(x)y'; {PARENTHESES}", f"start ::= s; {PARENTHESES}", NONE, NONE),
        ("start ::= 'a'*;", "start ::= 'a'+;", NONE, NONE),
    ],
)
def test_eager_texts_end_where_they_are_complete(
    old: str, new: str, old_only: str, new_only: str
) -> None:
    found = compared(old, new, "eager")
    assert (said(found.old_only), said(found.new_only)) == (old_only, new_only)


def test_each_grammar_has_its_own_finish() -> None:
    found = compare(
        Grammar("start ::= #'[ab]+';", finish="eager"), Grammar("start ::= #'[ab]+';", finish="eos")
    )
    assert (said(found.old_only), said(found.new_only)) == (NONE, "aa")


def test_what_is_undecidable_is_unknown_up_to_a_length() -> None:
    old = "start ::= 'a' start 'b' | 'c' start 'c' | 'x';"
    new = "start ::= 'a' start 'b' | 'aa' start 'bb' | 'c' start 'c' | 'x';"
    found = compared(old, new, work=5_000)
    for answer in (found.old_only, found.new_only):
        assert answer.verdict is Verdict.UNKNOWN
        assert answer.searched >= 5
    assert found.relation.value == "unknown"
    assert found.steps <= 5_000


def test_a_difference_is_found_where_nothing_can_be_proved() -> None:
    old = "start ::= 'a' start 'b' | 'x';"
    found = compared(old, "start ::= 'a' y 'b' | 'x'; y ::= 'a' y 'b' | 'x' | 'aayb';", work=5_000)
    assert said(found.new_only) == "aaaybb"
    assert found.old_only.verdict is Verdict.UNKNOWN


def test_what_both_have_is_no_difference_where_it_can_be_read_in_two_ways() -> None:
    # `w` is a component of both, and the literal one of its words.
    both = "w ::= #'[a-z]{1,9}'; v ::= '(' w ')'; "
    old = both + "start ::= '(' w ';' v ')';"
    found = compared(old, both + "start ::= '(' (w | 'abc') ';' v ')';")
    assert (said(found.old_only), said(found.new_only)) == (NONE, NONE)
    found = compared(old, both + "start ::= '(' (w | 'a1') ';' v ')';")
    assert said(found.new_only) == "(a1;(a))"


def test_tokens_are_symbols() -> None:
    old = "start ::= 'a' #token'<|x|>';"
    found = compared(old, "start ::= 'a' (#token'<|x|>' | #token'<|y|>');")
    assert said(found.old_only) == NONE
    assert found.new_only.shown == "'a' #token'<|y|>'"
    assert found.new_only.data is None


def test_tokens_that_may_be_the_same_prove_no_difference() -> None:
    found = compared("start ::= 'a' #token[1-5];", "start ::= 'a' (#token[1-2] | #token[3-5]);")
    assert found.old_only.verdict is Verdict.UNKNOWN


SCHEMA = """{"type": "object", "properties": {"id": {"type": "integer"}, "tags": {"type": "array",
 "items": {"type": "string", "maxLength": 9}}}, "required": ["id"]}"""


@pytest.mark.parametrize(
    ("edit", "old_only", "new_only"),
    [
        (("integer", "number"), NONE, '{"id":0.0}'),
        (('"maxLength": 9', '"maxLength": 8'), '{"id":0,"tags":["aaaaaaaaa"]}', NONE),
        ((', "required": ["id"]', ""), NONE, "{}"),
        (('"required"', '"description": "ids", "required"'), NONE, NONE),
    ],
)
def test_schemas(edit: tuple[str, str], old_only: str, new_only: str) -> None:
    found = compare_schemas(SCHEMA.replace("\n", ""), SCHEMA.replace("\n", "").replace(*edit))
    for answer, expected in ((found.old_only, old_only), (found.new_only, new_only)):
        witness = said(answer)
        assert witness is not None
        assert len(witness) == len(expected)
    assert found.notes == ()


def test_a_difference_in_order_or_whitespace_alone_is_named() -> None:
    properties = '"a": {"type": "null"}', '"b": {"type": "null"}'
    one, other = (
        f'{{"type": "object", "properties": {{{", ".join(each)}}}, "additionalProperties": false}}'
        for each in (properties, properties[::-1])
    )
    assert compare_schemas(one, other).notes == ("they differ in the order of members alone",)
    guided = '{"x-guidance": {"whitespace_flexible": true}, ' + one[1:]
    assert compare_schemas(one, guided).notes == ("they differ in whitespace alone",)


def test_what_is_equal_is_not_looked_at() -> None:
    rules = [f"r{i} ::= '{{' r{(7 * i + 1) % 300} '}}' | 'x{i}';" for i in range(300)]
    old, new = ("".join(["start ::= r0;", *each]) for each in (rules, rules[::-1]))
    found = compared(old, new, work=1_000)
    assert found.relation.value == "equal"


def test_witnesses_are_of_one_language_only() -> None:
    pairs = [(EXPRESSIONS, "start ::= '(' start ')' | #'[0-9]' ('+' #'[0-9]')*;"), (JSON, LISTS)]
    for old, new in pairs:
        found = compared(old, new)
        for answer, has, lacks in ((found.old_only, old, new), (found.new_only, new, old)):
            if answer.verdict is Verdict.SOME:
                assert Language(has).has(answer.data or b"")
                assert not Language(lacks).has(answer.data or b"")
