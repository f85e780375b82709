"""KBNF to GBNF: what is written, what is lost, and that it reads back to the same language."""

import pytest

from kbnf_core import Grammar, GrammarError, Limits
from kbnf_core.convert import convert, from_gbnf, to_gbnf
from kbnf_core.diff import Relation, compare
from kbnf_core.languages import ABNF, BNF, GBNF, KBNF, LARK, Language
from kbnf_core.languages.gbnf.expression import MOST_MEMBERS
from kbnf_testing import membership

EOS = "(* kbnf: finish=eos *)\n"

EXACT = [
    ("start ::= 'a' x | 'b'; x ::= 'c';", 'root ::= "a" x | "b"\nx ::= "c"\n'),
    ("start ::= #'[a-z]+' ['-'] {'x'};", 'root ::= [a-z]+ "-"? "x"*\n'),
    ("start ::= start '+' n | n; n ::= #'[0-9]';", 'root ::= n ("+" n)*\nn ::= [0-9]\n'),
    ("start ::= ('a'?)* 'b';", 'root ::= "a"* "b"\n'),
    (
        "start ::= a_b a_c; a_b ::= 'x'; a_c ::= 'y';",
        'root ::= a-b a-c\na-b ::= "x"\na-c ::= "y"\n',
    ),
    ("start ::= #e'a*b';", 'root ::= "a"* "b"\n'),
    ("start ::= #'(?i)k';", "root ::= [Kk\u212a]\n"),
    ("start ::= 'a' root; root ::= 'b';", 'root ::= "a" root-2\nroot-2 ::= "b"\n'),
    ("start ::= #b'\\xe4' #b'\\xbd\\xa0';", 'root ::= "你"\n'),
    ("start ::= #token[5] #token[^7] #token'<|x|>';", "root ::= <[5]> !<[7]> <|x|>\n"),
    ("start ::= '\"\\\\\\n';", 'root ::= "\\"\\\\\\n"\n'),
]


@pytest.mark.parametrize(("kbnf", "gbnf"), EXACT, ids=[kbnf for kbnf, _ in EXACT])
def test_exact(kbnf: str, gbnf: str) -> None:
    conversion = to_gbnf(EOS + kbnf)
    assert conversion.text == gbnf
    assert conversion.exact
    assert conversion.losses == ()


LOSSES = [
    ("start ::= #'[0-9]+';", "W403", "00", False),
    ("start ::= 'a' | 'ab' | 'c';", "W403", "ab", False),
    (EOS + "start ::= except!('a') 'a';", "W401", "\ufffda", True),
    (EOS + "start ::= 'x' | 'y' #b'\\xff';", "W401", "y\ufffd", True),
    (EOS + "start ::= except!('ab', 60000) '\\n';", "W404", None, None),
    (EOS + "start ::= #token[^1-5];", "W402", None, None),
    (EOS + "start ::= 'x' #token'[INST]';", "W402", None, None),
]


# What it becomes is large: each nullable part that is repeated is written without the empty text.
LARGE = r"""
start ::= n1{2}, #"(?:[bc]){2,}|(?:a)*" | n1 | start start{3};
n1 ::= [#substrs"abc"* | "aaa", (#"[a]" except!('a',1) | start n2 n2{2,})] | n1, n2
     | {#"ab", #"(?:cb){2,3}bc" | {n1{2,} | n1{0,4} #"[bc][a]ac|[a]|[bc]"{0,4} | #ex"[b]"* n2}*
       {"a"}{0,4} [n1 #e"(?:cb)+" | "c" n2?]};
n2 ::= "b" "a"{0,4} | start | "b" "a";
"""


@pytest.mark.parametrize("finish", [EOS, ""])
def test_losses_without_an_example_where_finding_one_takes_too_much_work(finish: str) -> None:
    conversion = to_gbnf(finish + LARGE, limits=Limits(work=100_000))
    assert {loss.code for loss in conversion.losses} >= {"W401"}
    assert {loss.example for loss in conversion.losses if loss.code == "W401"} == {None}


@pytest.mark.parametrize("count", [MOST_MEMBERS, MOST_MEMBERS + 1, 200])
def test_many_rules_that_begin_with_each_other_become_any_text(count: int) -> None:
    """The rules without left recursion are as many as the square, and their alternatives more."""
    rules = [f"r{each} ::= r{(each + 1) % count} 'a' | 'b' | '';" for each in range(count)]
    conversion = to_gbnf(EOS + "start ::= 'c' r0;" + "".join(rules))
    found = [loss.message for loss in conversion.losses]
    message = f"`r0` and {count - 1} other rules begin with each other; any text is taken instead"
    assert found == ([] if count == MOST_MEMBERS else [message])
    assert len(conversion.text) < 200_000


@pytest.mark.parametrize(("kbnf", "code", "text", "kept_out"), LOSSES)
def test_loss(kbnf: str, code: str, text: str | None, kept_out: bool | None) -> None:
    conversion = to_gbnf(kbnf)
    assert not conversion.exact
    found = [loss for loss in conversion.losses if loss.code == code]
    assert found
    if text is not None:
        assert found[0].example is not None
        assert found[0].example.data.decode("utf-8", "replace") == text
        assert found[0].example.kept_out is kept_out


@pytest.mark.parametrize(
    "kbnf",
    [
        "start ::= '{' (n (',' n)*)? '}'; n ::= #'-?[0-9]+';",
        "start ::= '(' start* ')';",
        "start ::= 'a' b; b ::= 'x' b | 'y';",
        "start ::= 'a' | 'bc' | 'bd';",
    ],
)
def test_grammars_without_a_longer_text_lose_nothing(kbnf: str) -> None:
    assert to_gbnf(kbnf).exact


@pytest.mark.parametrize(
    ("kbnf", "accept", "reject"),
    [
        ("start ::= #'a{3000}b';", ["a" * 3000 + "b"], ["a" * 2999 + "b", "a" * 3001 + "b"]),
        ("start ::= #'a{0,2500}b';", ["b", "a" * 2500 + "b"], ["a" * 2501 + "b"]),
        ("start ::= ('a'{,60} 'b'){,60};", ["b", "ab" * 60], ["ab" * 61]),
        (
            "start ::= (x y 'c'?){0,700}; x ::= 'a'; y ::= 'b';",
            ["", "abc" * 700, "ab" * 3],
            ["abc" * 701, "a"],
        ),
        ("start ::= ('a'{0,1500} 'b'{0,1500})+;", ["", "aab", "ba"], ["c"]),
        ("start ::= #'a{2000}';", ["a" * 2000], ["a" * 1999, "a" * 2001]),
        ("start ::= #substrs'hello world';", ["lo wo", "", "hello world"], ["hw"]),
        ("start ::= #ex'ab|cd';", ["acbd", "a"], ["cab", "cd"]),
        ("start ::= except!('ab', 5) '.';", ["aaaaa."], ["aab.", "aaaaaa."]),
        (
            "start ::= start b 'x' | b; b ::= start 'y' | '' | 'q';",
            ["", "q", "x", "qyx", "qxx", "yx"],
            ["a", "xq"],
        ),
    ],
)
def test_rewritten(kbnf: str, accept: list[str], reject: list[str]) -> None:
    back = from_gbnf(to_gbnf(EOS + kbnf).text)
    assert [note for note in back.notes if note.code in {"W411", "W414", "I411"}] == []
    language = membership.Language(back.text)
    assert [text for text in accept if not language.has(text)] == []
    assert [text for text in reject if language.has(text)] == []


@pytest.mark.parametrize(
    ("kbnf", "accept", "reject"),
    [
        ("start ::= ('{' start '}')?;", ["{}", "{{}}"], ["", "{", "{}{}"]),
        (
            "start ::= ('a' start 'b')? | 'c' x; x ::= start 'd';",
            ["ab", "cd", "cabd", "acdb"],
            [""],
        ),
        ("start ::= a 'b' | ''; a ::= start 'c' | '';", ["b", "cb", "bcb"], ["", "bc"]),
    ],
)
def test_only_the_whole_text_cannot_be_empty(
    kbnf: str, accept: list[str], reject: list[str]
) -> None:
    language = membership.Language(from_gbnf(to_gbnf(kbnf).text).text)
    assert [text for text in accept if not language.has(text)] == []
    assert [text for text in reject if language.has(text)] == []


def test_comments_and_layout_are_carried_over() -> None:
    text = (
        "(* head *)\nstart ::=\n    'a' (* first *)\n  | x; (* last *)\n\n"
        "(* two\n lines *)\nx ::= 'b';\n"
    )
    assert to_gbnf(text).text == (
        '# head\nroot ::=\n  "a" | # first\n  x # last\n\n# two\n# lines\nx ::= "b"\n'
    )


@pytest.mark.parametrize(
    ("text", "language", "gbnf"),
    [
        ("<start>::=<my rule>'x'\n<my rule>::='a'", BNF, 'root ::= my-rule "x"\nmy-rule ::= "a"\n'),
        (
            "<start>::=<><é><1><a b><a-b><root>'x'\n<>::='0'\n<é>::='1'\n<1>::='2'\n<a b>::='3'\n"
            "<a-b>::='4'\n<root>::='5'",
            BNF,
            'root ::= r r-2 r1 a-b-2 a-b root-2 "x"\nr ::= "0"\nr-2 ::= "1"\nr1 ::= "2"\n'
            'a-b-2 ::= "3"\na-b ::= "4"\nroot-2 ::= "5"\n',
        ),
        (
            # A name that a writer makes itself, and one that XGrammar does not take.
            's = *a-b "x"\na-b = *"1" true\na-b-nonempty = "2"\ntrue = *a-b-nonempty\n',
            ABNF,
            None,
        ),
        (
            "start ::= a_b _c; a_b ::= 'x'; _c ::= 'y';",
            KBNF,
            'root ::= a-b c\na-b ::= "x"\nc ::= "y"\n',
        ),
    ],
    ids=["spaces", "odd characters", "made names", "underscores"],
)
def test_names_are_those_of_gbnf(text: str, language: Language, gbnf: str | None) -> None:
    written = convert(text, language, GBNF).text
    assert gbnf in (None, written)
    back = Grammar.from_gbnf(written)
    assert {each.name.value for each in back.reading.document.definitions}.isdisjoint({"true"})
    assert compare(Grammar.read(text, language, finish="eos"), back).relation is Relation.EQUAL


@pytest.mark.parametrize("target", [GBNF, LARK])
def test_nothing_kept_is_an_error(target: Language) -> None:
    with pytest.raises(GrammarError) as caught:
        convert("start ::= #b'\\xff' 'a';", KBNF, target)
    codes = [each.code for each in caught.value.diagnostics]
    assert codes == ["E105", "W401"]
