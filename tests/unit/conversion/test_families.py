"""Families written out: the rules that are made, what they share, and where they are named."""

import pytest

from kbnf_core import Engine, Grammar, GrammarError, Limits, Vocabulary, check
from kbnf_core.convert import convert
from kbnf_core.frontend import Language, read_grammar
from kbnf_core.kbnf.format import format_kbnf
from kbnf_core.languages import GBNF, KBNF, LARK
from kbnf_core.text.source import Source

BLOCKS = """\
(* kbnf: finish=eos columns=6 *)
start ::= line@0+;
line@n ::= ' '{@n} ('a' | ':' suite@n) '\\n'?;
suite@n ::= word | '\\n' block@>n;
block@n ::= line@n+;
word ::= #'[b-z]+';
"""


def names(text: str) -> list[str]:
    return [each.name.value for each in read_grammar(Source(text)).without_families().definitions]


def test_only_numbers_that_are_reached_are_made() -> None:
    text = "start ::= a@1 b@3; a@n ::= 'x'{@n} a@n+40?; b@n ::= 'y'{@n};"
    assert names(text) == ["start", "a@1", "a@41", "b@3"]


def test_a_family_that_nothing_calls_is_read_for_its_mistakes() -> None:
    found = check("start ::= 'a'; b@n ::= 'x'{@n} c;")
    assert {each.code for each in found if each.code[0] in "EW"} == {"E101", "W101"}


def test_parts_without_a_number_are_not_copied() -> None:
    reading = read_grammar(Source("start ::= a@0 a@1; a@n ::= ('x' | 'y')+ 'z'{@n};"))
    bodies = [
        each.body for each in reading.without_families().definitions if each.name.value != "start"
    ]
    first, second = (body.items[0] for body in bodies)  # type: ignore[union-attr]
    assert first is second


def test_a_grammar_without_families_is_the_tree_that_was_read() -> None:
    reading = read_grammar(Source("start ::= 'a@b';"))
    assert not reading.has_families
    assert reading.without_families() is reading.document


@pytest.mark.parametrize("limit", [3, 4])
def test_the_limit_is_met_before_the_rules_are_made(limit: int) -> None:
    text = "start ::= a@0; a@n ::= 'x'{@n} a@n+1? | 'y'; (* kbnf: columns=3 *)"
    limits = Limits(family_rules=limit)
    found = [each for each in check(text, limits=limits) if each.code == "E106"]
    assert len(found) == (limit == 3)
    for finding in found:
        assert "columns=" in finding.helps[0]
        assert "Limits.family_rules" in finding.helps[0]


def test_a_thousand_columns_are_refused_early() -> None:
    pairs = zip("abcdefghij", "bcdefghija", strict=True)
    families = "".join(f"{name}@n ::= 'x'{{@n}} {after}@>n;" for name, after in pairs)
    text = f"start ::= a@0; {families}"
    found = check(f"(* kbnf: columns=1024 *) {text}", limits=Limits(family_rules=500))
    assert [each.code for each in found if each.code[0] == "E"] == ["E106"]


@pytest.mark.parametrize(
    "pragma", ["columns=1025", "columns=x", "columns=-1", "columns=", "columns=99999"]
)
def test_columns_are_a_number(pragma: str) -> None:
    found = check(f"(* kbnf: {pragma} *) start ::= 'a';")
    assert [each.code for each in found if each.code == "W002"] == ["W002"]


def test_the_start_may_be_one_rule_of_a_family() -> None:
    engine = Engine(Grammar(BLOCKS, start="block@2"), Vocabulary.bytes())
    engine.try_accept_new_bytes(b"  a\n  a\n")
    assert engine.can_finish()


@pytest.mark.parametrize("start", ["block", "block@7", "block@n", "lock@1"])
def test_the_start_is_one_rule(start: str) -> None:
    with pytest.raises(GrammarError):
        Grammar(BLOCKS, start=start)


def test_trees_name_the_rule_with_its_number() -> None:
    tree = Grammar(BLOCKS).parse(b":\n  a\n  a\n")
    assert len([*tree.find_all("line")]) == 3
    assert {node.rule for _, node in tree.walk()} == {
        "start",
        "line@0",
        "suite@0",
        "block@2",
        "line@2",
    }


def test_refusals_name_the_rule_with_its_number() -> None:
    engine = Engine(Grammar(BLOCKS), Vocabulary.bytes())
    engine.try_accept_new_bytes(b":\n  a\n ")
    assert "block@2" in str(engine.why(ord("a")))


def test_layouts_keep_numbers() -> None:
    text = "start ::= a@0+;\na@n ::= 'x'{@n} a@n+2+ b@>=n+1 | 'y'{0,@n-1};\nb@n ::= 'z'{@n,};\n"
    assert format_kbnf(Source(text)).text == text


@pytest.mark.parametrize("target", [GBNF, LARK], ids=lambda each: each.name)
def test_a_conversion_writes_the_rules_out(target: Language) -> None:
    converted = convert(BLOCKS, KBNF, target).text
    assert "@" not in converted
    grammar = Grammar.read(converted, target)
    engine = Engine(grammar, Vocabulary.bytes())
    engine.try_accept_new_bytes(b":\n  a\n  a\n")
    assert engine.can_finish()
    engine.reset()
    engine.try_accept_new_bytes(b":\n  a\n ")
    assert not engine.can_finish()


def test_an_unknown_family_is_renamed_and_its_number_kept() -> None:
    found = check("start ::= line@0+;\nlie@n ::= ' '{@n} 'x';\n")
    edits = next(each.fixes[0].edits for each in found if each.code == "E101")
    assert [each.replacement for each in edits] == ["lie@0"]


def test_numbers_below_zero_match_nothing() -> None:
    grammar = Grammar("start ::= a@2;\na@n ::= 'x' a@n-1 | 'y'{@n-1} '.';\n")
    found = {text: grammar.status(text) for text in ("y.", "x.", "xx.", "xxy.", "xxx")}
    assert found == {"y.": "fits", "x.": "fits", "xx.": "wrong", "xxy.": "wrong", "xxx": "wrong"}
