"""Converted Lark grammars against llguidance and lark, on all texts up to a length."""

from pathlib import Path

import pytest

from kbnf_core import Engine, Grammar, Vocabulary
from kbnf_core.convert import from_lark
from kbnf_core.languages.lark.lexer.lark_terminals import LarkTerminals, names_of
from kbnf_core.languages.lark.reader.modules import LARK_LIBRARIES, gather
from kbnf_core.languages.lark.reader.parse import parse_lark
from kbnf_core.languages.lark.reader.report import Report
from kbnf_core.text.budget import Budget
from kbnf_core.text.files import BELOW
from kbnf_core.text.limits import DEFAULT_LIMITS
from kbnf_core.text.source import Source
from kbnf_testing.lark_peers import (
    Accepts,
    all_texts,
    lark_accepts,
    llguidance_accepts,
    llguidance_mask,
)
from kbnf_testing.lark_subject import accepts_of, converted

BLANKS = '\n%ignore " "'

GRAMMARS = [
    ("start: ID ID\nID: /[a-z]+/" + BLANKS, "ab ", 5),
    ('start: stmt+\nstmt: "if" ID ";" | ID "=" ID ";"\nID: /[a-z]+/' + BLANKS, "ifx=; ", 5),
    ('start: A "b"\nA: /[a-z]+/', "ab", 5),
    ('start: "=" "=" "x" | "==" "y"', "=xy", 4),
    ('start: A C | B\nA: "a"\nB: "abc"\nC: "bd"', "abcd", 5),
    ('start: "a" ("b"|"bc") "cd"', "abcd", 6),
    ('start: INT ".." INT | FLOAT\nINT: /[0-9]+/\nFLOAT: /[0-9]+\\.[0-9]*/', "1.", 6),
    ('start: NUM ("+" NUM)*\nNUM: /[0-9]+/' + BLANKS, "12+ ", 5),
    ('start: "a" B?\nB: "b"' + BLANKS, "ab ", 5),
    ('start: "a" WS "b"\nWS: " "\n%ignore WS', "ab ", 6),
    ('start: ("a"|"ab"|"b")+ "c"', "abc", 6),
    ('start: /[a-z]/+ "b"', "ab", 6),
    ('start: "[" [x ("," x)*] "]"\nx: /[a-z]+/ | start' + BLANKS, "[],a ", 5),
    ('start: "if" "fy" | ID "!"\nID: /[a-z]+/', "ify!", 6),
    ('start: key ":" val\nkey: /[a-z]+/\nval: /[^,]+/' + BLANKS, "a:, ", 6),
    ('start: "a" "b"\n%ignore /#[^\\n]*\\n/\n%ignore / +/', "ab#\n ", 5),
    ('start: x "c"\nx: "a"?' + BLANKS, "ac ", 5),
    ('start: A | B\nA: "ab"\nB: /[a-z]+/', "abc", 5),
    ('start: "a" | "a" "b"' + BLANKS, "ab ", 5),
    ('start: e\ne: e "+" t | t\nt: "(" e ")" | N\nN: /[0-9]+/' + BLANKS, "1+() ", 5),
    ('start: s+\ns: "x" | "xy" | /y+/', "xy", 7),
    ('start: (A | B)+ "!"\nA: /ab*/\nB: /b/', "ab!", 6),
    ('start: A+\nA: "a" | "ab" | "aba"', "ab", 7),
    ('start: (WORD | NUM)* ";"\nWORD: /[a-z][a-z0-9]*/\nNUM: /[0-9]+/' + BLANKS, "a1; ", 5),
    ('start: "x" C? "y"\nC: /\\/\\/[^\\n]*/\n%ignore /[ \\n]+/\n%ignore C', "xy/ \n", 5),
    ('start: ("ba")* "ba"' + BLANKS, "ab ", 6),
    ('start: A* ("b" | "aaa")\nA: /b/', "ab", 5),
    ('start: "a" x*\nx: x x "b"' + BLANKS, "ab ", 5),
    ('start: x "a"\nx: "b" | "b" "a"', "ab", 5),
    ('start: "-" N | "--" "x" | N "-" N\nN: /[0-9]+/', "-x1 ", 5),
    ('start: "if"i "x" | "if" "y"', "ifIFxy", 3),
    ('start: "if"i "if"', "ifIF", 4),
    ('start: "if" "y" | "if"i "x"', "ifIFxy", 3),
]
SCANNED = [
    ('start: "if"i "(" N ")" | N\nN: /[a-zA-Z_]\\w*/' + BLANKS, "ifIF(x)", 5),
    ('start: "if"i N | N\nN: /[a-z]+/' + BLANKS, "ifIFx ", 4),
    ('start: "if"i "x" | "IF" "y" | N\nN: /[a-z]+/i' + BLANKS, "ifIFxy", 4),
    ("start: W N?\nW: /[a-z ]+/\nN: /1/" + BLANKS, "ab 1", 5),
    ('start: A " "? A\nA: "a"\n%ignore /[ b]+/', "ab ", 5),
    ("start: A+\nA: /if(?=x)/ | /x/\nB: /i/", "ifx", 6),
    ('start: (/[ab]/ | [/[bc]/] "d")+', "abcd", 4),
    ('start: "a".."c" | "^".."z" "!"', "abz^-!", 2),
]

LLGUIDANCE = [
    ('start: t "x" | ID "!"\nt[lazy]: /[a-z]+;/\nID: /[a-z;]+/', "ax;!", 5),
    ('start: t "x"\nt[suffix="aa"]: /[ab]*/', "abx", 6),
    ('start: "a" x "b"\nx: %json {"type":"integer"}' + BLANKS, "a1b -", 5),
    ('start: ST "!"\nST: /[ab]+/ & ~/(.*)ab(.*)/', "ab!", 5),
    ('start: "x" n "y"\nn: %lark {\n start: A "c"\n A: /a+/\n}' + BLANKS, "xacy ", 5),
    ('start: %regex {"substring_chunks":["ab","c"]} "c"', "abc", 5),
    ('%llguidance {"allow_initial_skip":true}\nstart: "a" "b"?' + BLANKS, "ab ", 5),
    ('start: x{2,3}\nx: "a" | "b" "c"' + BLANKS, "abc ", 6),
    ('start: t "\\""\nt[stop="\\""]: /[^"]*/', 'ab"', 4),
    ('start: t ("b"|"x")\nt[stop="b"]: /[^b]*/', "abx", 5),
    ('start: t "b"?\nt[stop="b"]: /[^b]*/', "abx", 5),
    ('start: t "bx"\nt[stop="b"]: /[^b]*/', "abx", 5),
    ('start: t "xb"\nt[stop="bx"]: /[^b]*/', "abx", 6),
    ('start: t B "x"\nB: "b"\nt[stop=/b|x/]: /a*/', "abx", 5),
    ('start: t "b" | "x" t "x"\nt[stop="b"]: /a*/', "abx", 5),
    ('start: t u\nt[stop="b"]: /a*/\nu: B "x"?\nB: "b"', "abx", 5),
    ('start: t u\nt[stop="b"]: /a*/\nu[stop="x"]: /b[a]*/', "abx", 5),
    ('start: (t "b")*\nt[stop="b"]: /a*/', "ab", 6),
    ('start: t "b"\nt[stop="b"]: /a*/' + BLANKS, "ab ", 5),
    ('start: ("x"|t) "b"\nt[stop="b"]: /a*/', "abx", 5),
    ('start: t "x"\nB: "b"\nt[stop=B]: /a*/', "abx", 5),
    ('start: t B\nB: "b"+\nt[stop="b"]: /a*/', "abx", 5),
    ('start: t B "x"\nB: /b{2,3}/\nt[stop="b"]: /a*/', "abx", 6),
    ('start: t B\nB: /(bx)+/\nt[stop="bx"]: /a*/', "abx", 6),
    ('start: t B\nB: /b?b/\nt[stop="b"]: /a*/', "abx", 5),
    ('start: t B\nB: /bb+/\nt[stop="b"]: /a*/', "abx", 5),
    ('start: t B\nB: /(b|)b/\nt[stop="b"]: /a*/', "abx", 5),
    ('start: t B\nB: /x{0}b/\nt[stop="b"]: /a*/', "abx", 5),
    ('start: t B\nB: /bb+/\nt[stop="bb"]: /a*/', "abx", 6),
    ('start: t B\nB: /(bx|bxa+)b/\nt[stop="bx"]: /a*/', "abx", 6),
    ('start: t B\nB: /(b|b+x)b/\nt[stop="b"]: /a*/', "abx", 5),
    ('start: t B\nB: /bx/ & /[bx]*/\nt[stop="b"]: /a*/', "abx", 5),
    ('start: t "x"\nB: "b"\nt[suffix=B]: /a*/', "abx", 5),
    ('start: "<" r ">"\nr[lazy]: /[a-z]*/', "<a>", 4),
    ('start: "b" t "b"\nt[max_tokens=0]: /a*/', "ab", 5),
    ('start: t | A "x"\nA: /a+/\nt[stop=""]: /[ab]+/', "abx", 5),
    ('start: a::0 "b"\na::_: "a" a::incr(_) %if lt(_,3) | ""', "ab", 6),
]

LOSSES = [
    'start: x "a"\nx: "b" | "b" "a"',
    'start: /[a-z]/+ "b"',
    'start: key ":" val\nkey: /[a-z]+/\nval: /[^,]+/' + BLANKS,
    "start: W N?\nW: /[a-z ]+/\nN: /1/" + BLANKS,
]
"""With Lark's contextual lexer these depend on what came before, or the parser shifts too soon."""


REFUSED_BY_LARK = [
    ('start: A\nA: "x" -> foo', "earley"),
    ('%declare a\nstart: "b"', "earley"),
    ('start: _a\n!?_a: "x"', "earley"),
    ('start: a\na: "x"\n%ignore a', "earley"),
    ('start: a | b\na: "x"\nb: "x"', "lalr"),
]
REFUSED_BY_LLGUIDANCE = [
    'start: t\nt[max_tokens="foo"]: /a/',
    '%llguidance {"no_forcing":"yadda"}\nstart: "a"',
    '%llguidance {"ignore_once":"yes"}\nstart: "a"',
    'start: "b" "a"{0}',
    'start: "b" "a"{0,0}',
]


@pytest.mark.parametrize(("grammar", "lexing"), REFUSED_BY_LARK)
def test_what_lark_refuses_is_refused(grammar: str, lexing: str) -> None:
    with pytest.raises(Exception):  # noqa: B017, PT011 - lark has no one error for this
        lark_accepts(grammar, lexing)
    assert converted(grammar, lexing) == {"E421"}


@pytest.mark.parametrize("grammar", REFUSED_BY_LLGUIDANCE)
def test_what_llguidance_refuses_is_refused(grammar: str) -> None:
    with pytest.raises(ValueError, match=r"\d"):
        llguidance_accepts(grammar)
    assert converted(grammar, "llguidance") in ({"E421"}, {"E013"})


def test_a_template_is_an_argument_of_a_template() -> None:
    grammar = 'start: a{b, "x"}\na{y,z}: y{z} y{"w"}\nb{z}: z "q"'
    peer, conversion = lark_accepts(grammar, "earley"), converted(grammar, "earley")
    assert not isinstance(conversion, set)
    ours = accepts_of(conversion.text)
    assert [text for text in all_texts("xqw", 5) if ours(text) != peer(text)] == []
    assert ours("xqwq")


NAMED = [
    'start: s{"a", "b"i} | [("x" | "y" /a/)] t{"z"} "X"i -> q\n'
    's{p,q}: p /[ab]/ "." q (t{"c"} "d")* | "x"i\nt{p}: p "t" /[bc]/ ("," | "+")\n'
    'u: "a".."z" | /[cd]/ "__"\n',
    'start: a{b, "x"}\na{y,z}: y{z} y{"w"} /[12]/\nb{z}: z "q" /[34]/ | /[12]/\n',
    'start: A " " "if" "IF" "if"i\nA: "if"i\n%ignore " "\n',
    "start: " + " ".join(f"/{letter}/" for letter in "abcdefghijklm") + "\n",
]


@pytest.mark.parametrize("grammar", NAMED)
def test_terminals_have_the_names_that_lark_gives_them(grammar: str) -> None:
    import lark

    peer: dict[tuple[str, frozenset[str], bool], set[str]] = {}
    for each in lark.Lark(grammar, parser="earley").terminals:
        key = (each.pattern.value, frozenset(each.pattern.flags), each.pattern.type == "str")
        peer.setdefault(key, set()).add(each.name)
    source = Source(grammar)
    report = Report(source)
    gathered = gather(parse_lark(source).document, LARK_LIBRARIES, BELOW, report)
    ours = {
        (
            pattern.value if pattern.text is None else pattern.text,
            pattern.flags,
            pattern.text is not None,
        ): name
        for pattern, name in names_of(
            LarkTerminals(gathered, report, DEFAULT_LIMITS, Budget(DEFAULT_LIMITS.work))
        ).items()
    }
    assert {key: ours[key] for key in peer if ours[key] not in peer[key]} == {}


def test_an_imported_start_brings_what_it_needs(tmp_path: Path) -> None:
    (tmp_path / "lib.lark").write_text('start: a B\na: "x"\nB: "b"\n', encoding="utf-8")
    grammar, path = "%import .lib (start)\n", str(tmp_path / "main.lark")
    peer = lark_accepts(grammar, "earley", path=path)
    ours = accepts_of(from_lark(grammar, path=path).text)
    assert peer("xb")
    assert [text for text in all_texts("xb", 4) if ours(text) != peer(text)] == []


def test_literals_of_an_imported_file_are_not_one(tmp_path: Path) -> None:
    (tmp_path / "lib.lark").write_text('start: ("0" | "1")* ("+" | "-")\n', encoding="utf-8")
    grammar, path = "%import .lib (start)\n", str(tmp_path / "main.lark")
    peer = lark_accepts(grammar, "earley", path=path)
    ours = accepts_of(from_lark(grammar, path=path).text)
    assert peer("10-")
    assert [text for text in all_texts("01+-", 4) if ours(text) != peer(text)] == []


@pytest.mark.parametrize("pattern", [r"\"\\\\/b", r"/", r"\\\\", r"\\\\/", r"a/b"])
def test_a_slash_behind_a_backslash_is_written(pattern: str) -> None:
    from kbnf_core.convert import to_lark

    source = f'start ::= #"[{pattern}]";'
    written = to_lark(source).text
    ours, back = accepts_of(source), accepts_of(from_lark(written).text)
    assert [text for text in all_texts('"\\/ab', 2) if ours(text) != back(text)] == []


def peer_of(grammar: str, lexing: str) -> Accepts:
    return llguidance_accepts(grammar) if lexing == "llguidance" else lark_accepts(grammar, lexing)


@pytest.mark.parametrize(
    ("lexing", "grammar", "alphabet", "length"),
    [
        *((lexing, *each) for lexing in ("llguidance", "earley", "lalr") for each in GRAMMARS),
        *((lexing, *each) for lexing in ("earley", "lalr") for each in SCANNED),
    ],
)
def test_all_short_texts_agree(lexing: str, grammar: str, alphabet: str, length: int) -> None:
    texts = list(all_texts(alphabet, length))
    expected = set(filter(peer_of(grammar, lexing), texts))
    conversion = converted(grammar, lexing)
    if isinstance(conversion, set):
        assert conversion == {"E105"}
        assert expected == set()
        return
    allowed = set(filter(accepts_of(conversion.text), texts))
    assert expected - allowed == set()
    if conversion.exact:
        assert allowed - expected == set()
    else:
        assert (lexing, grammar in LOSSES) == ("lalr", True)


@pytest.mark.parametrize(("grammar", "alphabet", "length"), LLGUIDANCE)
def test_llguidance_constructs_agree(grammar: str, alphabet: str, length: int) -> None:
    conversion = converted(grammar, "llguidance")
    assert not isinstance(conversion, set)
    assert conversion.exact
    _assert_texts_agree(grammar, conversion.text, alphabet, length)


def test_only_the_end_of_the_sequence_is_lost_where_something_follows_an_empty_stop() -> None:
    grammar = 'start: "x" t "b"?\nt[stop=""]: /[ab]+/' + BLANKS
    conversion = from_lark(grammar)
    assert [loss.code for loss in conversion.losses] == ["W422"]
    _assert_texts_agree(grammar, conversion.text, "abx ", 5)


def _assert_texts_agree(grammar: str, converted: str, alphabet: str, length: int) -> None:
    peer, ours = llguidance_accepts(grammar), accepts_of(converted)
    assert [text for text in all_texts(alphabet, length) if ours(text) != peer(text)] == []


def test_only_our_masks_have_tokens_that_go_on_behind_a_stop() -> None:
    grammar, further = 'start: t "c"\nt[stop="b"]: /a*/', [b"ab", b"bc", b"abc"]
    vocabulary = Vocabulary(dict(enumerate([*(bytes([byte]) for byte in range(256)), *further])))
    engine = Engine(Grammar.from_lark(grammar), vocabulary)
    engine.try_accept_new_bytes(b"a")
    engine.compute_allowed_token_ids()
    ids = engine.get_allowed_token_ids_from_last_computation()
    ours, theirs = {vocabulary.tokens[i] for i in ids}, llguidance_mask(grammar, b"a", further)
    assert ours - theirs == {b"bc", b"abc"}
    assert theirs <= ours
    assert llguidance_accepts(grammar)("abc")


def test_llguidance_cuts_a_text_off_at_max_tokens_even_where_it_does_not_match() -> None:
    grammar = 'start: t "!"\nt[max_tokens=2]: /[ab]{3}/'
    theirs = llguidance_accepts(grammar)
    assert [text for text in ("a!", "ab!", "aba!") if theirs(text)] == ["ab!"]
    conversion = from_lark(grammar)
    assert [loss.code for loss in conversion.losses] == ["W422"]
    ours = accepts_of(conversion.text)
    # Bytes are not tokens: a text may be cut off after any of them, and need not be.
    assert [text for text in ("a!", "ab!", "aba!") if ours(text)] == ["a!", "ab!", "aba!"]


@pytest.mark.parametrize(
    ("follows", "is_exact"), [('"!"', False), ("", True), ('u\nu: "!"?', False)]
)
def test_llguidance_goes_on_after_an_end_of_the_sequence_only_behind_an_empty_stop(
    follows: str, is_exact: bool
) -> None:
    grammar = f'start: t {follows}\nt[stop=""]: /[ab]+/\n%ignore " "'
    library = pytest.importorskip("llguidance")
    tokenizer = library.LLTokenizer("byte")
    source = library.LLMatcher.grammar_from_lark(grammar)
    matcher = library.LLMatcher(tokenizer, source, log_level=0)
    goes_on = all(map(matcher.consume_token, [*b"ab", tokenizer.eos_token, *b"!"]))
    assert from_lark(grammar).exact is is_exact is not goes_on


def test_llguidance_mixes_up_numbers_of_calls_that_begin_at_one_place() -> None:
    """Families are written out for it: with its parameters a line could begin in a wrong column."""
    blanks = 'b::_: "" %if eq([0:8], 0) | " " b::decr([0:8]) %if gt([0:8], 0)'
    texts = [" y", "  y", " z", "  z"]
    grammar = f'start: b::1 "y" | b::2 "z"\n{blanks}'
    assert [text for text in texts if accepts_of(from_lark(grammar).text)(text)] == [" y", "  z"]
    assert [text for text in texts if llguidance_accepts(grammar)(text)] == texts
    alone = f'start: b::1 "y"\n{blanks}'
    assert [text for text in texts if llguidance_accepts(alone)(text)] == [" y"]
