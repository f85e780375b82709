"""ANTLR 4: what its rules and tokens match as characters, and what is said of what is lost."""

import pickle
from pathlib import Path

import pytest

from kbnf_core import Grammar, GrammarError, Vocabulary, check, compile_artifact, load_artifact
from kbnf_core.convert import convert
from kbnf_core.languages import ANTLR, KBNF, detect
from kbnf_core.store.keys import recipe_of
from kbnf_core.text.files import BELOW
from kbnf_core.text.limits import Limits


def read(text: str, *, lossy: bool = False, path: str | None = None) -> Grammar:
    return Grammar.read(text, ANTLR, lossy=lossy, path=path)


def codes(text: str) -> list[str]:
    return [finding.code for finding in check(text, "g.g4") if finding.code[0] in "EW"]


LIST = """
grammar List;
list : '[' item (',' item)* ']' EOF ;
item : name=ID # labelled
     | INT {count++;} ;
ID : [a-z]+ ;
INT : '0' | [1-9] DIGIT* ;
fragment DIGIT : [0-9] ;
WS : [ \\t\\r\\n]+ -> skip ;
COMMENT : '//' ~[\\r\\n]* -> channel(HIDDEN) ;
BLOCK : '/*' .*? '*/' -> skip ;
"""


@pytest.mark.parametrize(
    "text",
    ["[a]", " [ a , 10 ]\n", "[a,b]// end", "[// one\na/* b */,/* * / */ 0]", "[a/**/,b]"],
)
def test_tokens_and_what_is_skipped(text: str) -> None:
    assert read(LIST).status(text) == "fits"


@pytest.mark.parametrize(
    "text", ["[]", "[a b]", "[01]", "[a // b]", "[a /* */ */]", "[a, // b\n]", "[a]x"]
)
def test_texts_of_no_tokens(text: str) -> None:
    assert read(LIST).status(text) != "fits"


def test_a_keyword_is_no_name() -> None:
    grammar = read("grammar K; s : 'let' ID '=' ID EOF; ID : [a-z]+; WS : ' '+ -> skip;")
    assert grammar.status("let a=b") == "fits"
    assert grammar.status("let let=b") == "wrong"
    assert grammar.status("let lets=b") == "fits"


def test_names_are_parted_where_all_that_follows_is_a_word() -> None:
    grammar = read("grammar K; s : 'let' ID EOF; ID : [a-z]+; WS : ' '+ -> skip;")
    assert grammar.status("leta") == "wrong"
    assert grammar.status("let a") == "fits"
    assert grammar.status("let  a ") == "fits"


def test_touching_tokens_are_a_loss_with_their_texts() -> None:
    text = "grammar K; s : ID ('+' | ID) EOF; ID : [a-z]+; WS : ' '+ -> skip;"
    with pytest.raises(GrammarError) as raised:
        read(text)
    [finding] = raised.value.diagnostics
    assert finding.code == "W452"
    assert "such as `a` and `a` in `aa`" in finding.message
    assert read(text, lossy=True).status("ab c") == "fits"


def test_boundaries_are_those_of_characters() -> None:
    """The first byte of the arrow begins letters, too."""
    grammar = read("grammar S; s : ID '→' ID EOF; ID : [\\p{L}]+; WS : ' ' -> skip;")
    assert [grammar.status(each) for each in ("a→é", "a → é", "aé")] == ["fits", "fits", "cut"]


def test_an_earlier_token_wins() -> None:
    grammar = read("grammar K; s : A B EOF; A : [a-c]; B : [a-e];")
    assert grammar.status("ad") == "fits"
    assert grammar.status("aa") == "wrong"


@pytest.mark.parametrize(
    ("token", "fits", "wrong"),
    [
        ("""'"' ('\\\\' . | .)*? '"'""", ['"a"', '"\\""', '""'], ['"a"b"', '"\\"']),
        ("'<!--' .*? '-->'", ["<!---->", "<!-- - -->"], ["<!-- --> -->"]),
        ("'#' .*? ('\\n' | EOF)", ["#a", "#a\n"], ["#a\n\n", "#a\nb"]),
        ("~[a-y]", ["z", "é"], ["a", "zz"]),
        ("'a'..'c' '\\u0041'", ["aA", "cA"], ["dA"]),
        ("[\\p{Lu}\\-\\]]", ["Ä", "-", "]"], ["ä"]),
        ("'x'+? 'y'?", ["xy", "x"], ["xxyy"]),
        ("OPEN ; fragment OPEN : '(' (OPEN | 'a')* ')'", ["(a(a)())"], ["(a", "(a))"]),
    ],
)
def test_a_token(token: str, fits: list[str], wrong: list[str]) -> None:
    grammar = read(f"grammar T; s : T EOF; T : {token} ;")
    assert [grammar.status(text) for text in fits] == ["fits"] * len(fits)
    assert "fits" not in [grammar.status(text) for text in wrong]


def test_tokens_have_characters() -> None:
    """A lexer makes no token of an empty text, but where the end of the text is one."""
    grammar = read("grammar E; s : 'a' X 'b' EOL; X : 'x'*; EOL : '\\n'* EOF;", lossy=True)
    assert [grammar.status(text) for text in ("axb", "axb\n", "ab")] == ["fits", "fits", "wrong"]


def test_a_rule_of_the_parser_may_use_a_fragment() -> None:
    assert read("grammar F; s : X EOF; fragment X : 'x'?;").status("x") == "fits"


def test_comments_with_the_end_of_their_line() -> None:
    grammar = read(
        "grammar C; s : (ID | EOL)* EOF; ID : [a-z]+; EOL : [\r\n]+; WS : ' ' -> skip;"
        "COMMENT : ';' ~[\r\n]* EOL -> skip;",
        lossy=True,
    )
    assert grammar.status(";\n; a\n;;\nb ; c\n\nd") == "fits"
    assert grammar.status("; a") == "cut"


def test_both_cases() -> None:
    text = "grammar C; options { caseInsensitive = true; } s : 'select' ID EOF; ID : [a-z]+ ;"
    grammar = read(text + " WS : ' ' -> skip;")
    assert grammar.status("SeLECT aB") == "fits"
    assert grammar.status("SeLECT select") == "cut"


def test_any_token_and_all_but_some() -> None:
    grammar = read("grammar N; s : '(' ~(')' | B)* ')' . EOF; A : 'a'; B : 'b'; C : 'c';")
    assert grammar.status("(ac()b") == "fits"
    assert grammar.status("(ab)a") == "wrong"


def test_the_start_is_the_rule_that_no_other_uses() -> None:
    grammar = read("grammar S; a : 'a'; s : a+ EOF; WS : ' ' -> skip;")
    assert grammar.status("a a") == "fits"
    assert Grammar.read("grammar S; a : 'a'; s : a+ EOF;", ANTLR, start="a").status("aa") == "wrong"


def test_a_token_may_be_the_start() -> None:
    text = "grammar S; s : A EOF; A : 'a'+; WS : ' ' -> skip;"
    assert Grammar.read(text, ANTLR, start="A").status(" aa") == "fits"


def test_a_token_that_calls_itself_uses_rules_and_not_tokens() -> None:
    """As a token, ``LETTER`` has no text: one before it matches letters, too."""
    text = "grammar D; s : LABEL EOF; LABEL : LETTER REST?; REST : SIGN REST?; SIGN : LETTER | '-';"
    grammar = read(text + "LETTER : [a-z];")
    assert [grammar.status(each) for each in ("a", "a-b", "-")] == ["fits", "fits", "wrong"]


def test_a_skipped_token_may_go_on_up_to_the_end_of_the_text() -> None:
    grammar = read("grammar E; s : 'a'+ EOF; END : '#' .* -> skip; WS : ' ' -> skip;")
    assert [grammar.status(each) for each in ("a #", "a a# a\n", "# a")] == [
        "fits",
        "fits",
        "wrong",
    ]


def test_a_skipped_token_with_the_end_of_the_text_in_it_is_the_last() -> None:
    lexer = "LINE : '//' ~[\\r\\n]* ('\\r'? '\\n' | EOF) -> skip; WS : [\\r\\n ] -> skip;"
    grammar = read(f"grammar Q; s : 'a'+ EOF; {lexer}")
    for text in ("a //b", "// b\r\na // c\n//", "a\r// b\n"):
        assert grammar.status(text) == "fits", text
    assert grammar.status("// b\ra") == "wrong"


def test_left_recursion_and_empty_alternatives() -> None:
    grammar = read("grammar E; s : e EOF; e : <assoc=right> e '^' e | e '+' e | N | ; N : [0-9];")
    assert grammar.status("1+2^3") == "fits"
    assert grammar.status("") == "fits"


@pytest.mark.parametrize("texts", [1, 2_000], ids=["words", "tokens"])
def test_too_much_work_is_one_finding(texts: int) -> None:
    rules = "".join(f"r{i} : 'a{i % texts}' r{(i + 1) % 2_000};\n" for i in range(2_000))
    found = check(
        f"grammar G;\n{rules}", "g.g4", limits=Limits(work=190_000 if texts == 1 else 320_000)
    )
    assert [each.code for each in found if each.code[0] == "E"] == ["E107"]


def test_rules_in_any_order_are_read_in_one_round() -> None:
    """FOLLOW goes from callers to callees, however their rules are ordered."""
    rules = [f"r{i} : 'a' r{i + 1} | 'b' ;" for i in range(2_000)]
    for ordered in (rules, rules[::-1]):
        text = "\n".join(["grammar G;", *ordered, "r2000 : 'c';"])
        assert not any(
            each.code == "E107" for each in check(text, "g.g4", limits=Limits(work=2_000_000))
        )


def test_keywords_in_both_cases_are_told_apart_by_their_beginnings() -> None:
    words = [f"W{chr(65 + i % 26)}{i}" for i in range(200)]
    tokens = "".join(f"T{i} : '{word}' ;\n" for i, word in enumerate(words))
    head = "grammar G;\noptions { caseInsensitive = true; }\n"
    grammar = read(f"{head}s : NAME EOF ;\n{tokens}NAME : [a-z] [a-z0-9]* ;\n")
    assert grammar.status("wb1x") == "fits"
    assert grammar.status("wB1") != "fits"


def test_code_is_left_out() -> None:
    text = """
    grammar A;
    @header { import java.util.*; // } ' }
    }
    @members { int n = 0; String s = "}"; }
    s[int x] returns [int y] locals [int z]
    @init { n = 1; } : a=T { if (n > 0) { skip(); } } EOF ;
    catch [Exception e] { throw e; }
    finally { n = 0; }
    T : 't' ;
    """
    assert read(text).status("t") == "fits"


def test_predicates_are_a_loss() -> None:
    text = "grammar P; s : {x > 0}? 'a' EOF;"
    assert codes(text) == ["W451"]
    assert read(text, lossy=True).status("a") == "fits"


MODES = """
lexer grammar ModesLexer;
OPEN : '<' -> pushMode(TAG) ;
TEXT : ~[<]+ ;
mode TAG;
CLOSE : '>' -> popMode ;
NAME : [a-z]+ ;
BLANK : ' '+ -> skip ;
"""


def test_files_beside_it(tmp_path: Path) -> None:
    (tmp_path / "ModesLexer.g4").write_text(MODES)
    parser = "parser grammar Modes; options { tokenVocab = ModesLexer; } import Part;"
    parser += " s : TEXT? (t TEXT?)* EOF;"
    (tmp_path / "Part.g4").write_text("parser grammar Part; t : OPEN NAME CLOSE;")
    path = tmp_path / "Modes.g4"
    grammar = read(parser, lossy=True, path=str(path))
    assert grammar.status("a< b >c <d>") == "fits"
    assert grammar.status("<>") == "wrong"
    assert {loss.code for loss in grammar.losses} == {"W451"}


def test_files_that_import_one_another(tmp_path: Path) -> None:
    (tmp_path / "B.g4").write_text("grammar B; import A, B; t : 'b' s?;")
    text = "grammar A; import B; s : 'a' t EOF;"
    (tmp_path / "A.g4").write_text(text)
    assert read(text, path=str(tmp_path / "A.g4")).status("abab") == "fits"


def test_grammars_keep_what_they_import(tmp_path: Path) -> None:
    """Pickles and artifacts need no file; keys of stores cover all of them."""
    part, path = tmp_path / "B.g4", tmp_path / "A.g4"
    part.write_text("grammar B; t : 'b'+;")
    path.write_text("grammar A; import B; s : 'a' t EOF;")
    grammar, key = Grammar.from_file(path), recipe_of(path).key()
    pickled = pickle.dumps(grammar)
    compile_artifact(grammar, Vocabulary.bytes(), tmp_path / "A.kbnfc")
    stored = load_artifact(tmp_path / "A.kbnfc")
    part.write_text("grammar B; t : 'c';")
    assert recipe_of(path).key() != key
    assert Grammar.from_store(tmp_path / "store", path, None).status("ac") == "fits"
    part.unlink()
    once = pickle.loads(pickled)  # noqa: S301 - our own
    twice = pickle.loads(pickle.dumps(once))  # noqa: S301 - our own
    for other in (once, twice, stored):
        assert (other.status("abb"), other.status("ac")) == ("fits", "wrong")
    assert twice.language is ANTLR
    assert twice.tables.dump() == grammar.tables.dump()


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    text = "grammar A; import {}; s : 'a' EOF;"
    findings = check(text.format("Missing"), str(tmp_path / "A.g4"))
    assert "E422" in [finding.code for finding in findings]
    outside = "grammar A; options { tokenVocab = x.y; } s : 'a' EOF;"
    assert "E422" in [each.code for each in check(outside, str(tmp_path / "A.g4"))]


@pytest.mark.parametrize(
    ("text", "code", "place"),
    [
        ("grammar A; s : 'a' ; t : ( 'b' ;", "E003", "( "),
        ("grammar A; s : 'a ;", "E004", "'a"),
        ('grammar A; s : "a" ;', "E001", '"'),
        ("grammar A; s : 'a' t : 'b' ;", "E002", ": 'b'"),
        ("grammar A; s : T ; tokens { T }", "E451", "T ;"),
        ("grammar A; s : T ; T : 'a' -> more ;", "E451", "more"),
        ("grammar A; s : T ; T : ~('ab') ;", "E451", "~"),
        ("grammar A; s : t ;", "E101", "t ;"),
        ("lexer grammar A; T : 'a' ;", "E010", "lexer"),
        ("grammar A;", "E010", "grammar"),
        ("grammar A; nonsense ;", "E001", "nonsense"),
    ],
)
def test_mistakes_have_places(text: str, code: str, place: str) -> None:
    findings = [finding for finding in check(text, "a.g4") if finding.code == code]
    assert findings, codes(text)
    assert findings[0].span.start == text.index(place)


def test_deep_nesting_is_one_finding() -> None:
    text = f"grammar A; s : {'(' * 5_000}'a'{')' * 5_000} ;"
    assert codes(text) == ["E012"]


def test_it_is_detected() -> None:
    assert detect(LIST, "list.txt") is ANTLR
    assert detect("", "LIST.G4") is ANTLR


def test_the_text_in_kbnf_matches_the_same() -> None:
    result = convert(LIST, ANTLR, KBNF, imports=BELOW)
    assert result.exact
    again = Grammar(result.text)
    for text, status in (("[a, 1]", "fits"), ("[a b]", "wrong"), ("[a]// x", "fits")):
        assert again.status(text) == read(LIST).status(text) == status
