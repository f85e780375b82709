"""tree-sitter's ``grammar.json``: what its rules and tokens match as characters."""

import json
from typing import Any

import pytest

from kbnf_core import Grammar, GrammarError, check
from kbnf_core.convert import convert
from kbnf_core.languages import KBNF, TREE_SITTER, detect

WS = {"type": "PATTERN", "value": "\\s"}


def seq(*members: Any) -> dict[str, Any]:
    return {"type": "SEQ", "members": [_node(each) for each in members]}


def choice(*members: Any) -> dict[str, Any]:
    return {"type": "CHOICE", "members": [_node(each) for each in members]}


def one(kind: str, content: Any) -> dict[str, Any]:
    return {"type": kind, "content": _node(content)}


def use(name: str) -> dict[str, Any]:
    return {"type": "SYMBOL", "name": name}


def pattern(value: str, flags: str = "") -> dict[str, Any]:
    return {"type": "PATTERN", "value": value, "flags": flags}


def _node(value: Any) -> Any:
    return {"type": "STRING", "value": value} if isinstance(value, str) else value


def text(extras: list[Any] | None = None, word: str | None = None, **rules: Any) -> str:
    grammar: dict[str, Any] = {"name": "g", "rules": {n: _node(r) for n, r in rules.items()}}
    grammar["extras"] = [WS] if extras is None else extras
    return json.dumps(grammar | ({"word": word} if word else {}))


def read(source: str, *, lossy: bool = False) -> Grammar:
    return Grammar.read(source, TREE_SITTER, lossy=lossy)


def test_forms_around_a_rule_say_nothing_about_texts() -> None:
    grammar = read(
        text(
            s=one("FIELD", one("PREC_LEFT", one("ALIAS", one("RESERVED", seq("a", use("b")))))),
            b=one("REPEAT1", one("PREC_DYNAMIC", choice("b", "c"))),
        )
    )
    assert [grammar.status(each) for each in ("a bc", "a", "abcb\n", "ba")] == [
        "fits",
        "cut",
        "fits",
        "wrong",
    ]


def test_tokens_and_immediate_tokens() -> None:
    grammar = read(
        text(
            s=seq('"', one("REPEAT", one("IMMEDIATE_TOKEN", pattern('[^"]+'))), use("end"), ";"),
            end=one("IMMEDIATE_TOKEN", '"'),
        )
    )
    assert [grammar.status(each) for each in ('"a b" ;', '" a";', '"" ;')] == ["fits"] * 3
    token = read(text(s=one("REPEAT1", one("TOKEN", seq("x", one("REPEAT", pattern("\\d")))))))
    assert [token.status(each) for each in ("x1 x23", "x", "x 1")] == ["fits", "fits", "wrong"]


def test_a_keyword_is_a_whole_word_and_may_be_a_name() -> None:
    grammar = read(text(word="w", s=seq("let", use("w")), w=pattern("[a-z]+")))
    assert [grammar.status(each) for each in ("let a", "leta", "let let")] == [
        "fits",
        "wrong",
        "fits",
    ]


def test_reserved_words_are_no_names() -> None:
    value = json.loads(text(word="w", s=seq("let", use("w")), w=pattern("[a-z]+")))
    value["reserved"] = {"global": [{"type": "STRING", "value": "let"}]}
    grammar = read(json.dumps(value))
    assert [grammar.status(each) for each in ("let a", "let let", "let lets")] == [
        "fits",
        "cut",
        "fits",
    ]


def test_a_rule_may_reserve_other_words() -> None:
    """As in JavaScript, where ``finally`` is the name of a property, but not of a variable."""
    key = {"type": "RESERVED", "context_name": "keys", "content": use("w")}
    value = json.loads(text(word="w", s=seq("let", use("w"), ".", key), w=pattern("[a-z]+")))
    words = [{"type": "STRING", "value": each} for each in ("let", "if")]
    value["reserved"] = {"global": words, "keys": words[1:]}
    grammar = read(json.dumps(value))
    assert [grammar.status(each) for each in ("let a.let", "let let.a", "let a.if")] == [
        "fits",
        "wrong",
        "cut",
    ]


def test_a_character_beyond_ascii_ends_a_comment() -> None:
    comment = pattern("//[^\\n\u2028]*")
    grammar = read(text([WS, comment, pattern("\u2028")], s=one("REPEAT", choice("a", "é"))))
    assert [grammar.status(each) for each in ("a // b\u2028a", "a // b\na", "a // é\u2029")] == [
        "fits"
    ] * 3


def test_no_comment_ends_before_a_name_that_may_begin_with_an_escape() -> None:
    name = pattern("([a-z]|\\\\u[0-9a-f]{4})+")
    comment = pattern("//(\\\\+(.|\\r?\\n)|[^\\\\\\n])*")
    grammar = read(text([WS, comment], s=one("REPEAT", seq(name, ";"))), lossy=True)
    right = ["a;// b\nc;", "// a\\u0061\n", "\\u0061;", "a// b\n;"]
    wrong = ["// a\n;", "// \\u0061\n;"]
    assert [grammar.status(each) for each in right + wrong] == ["fits"] * 4 + ["wrong"] * 2


def test_only_a_line_break_ends_a_comment_where_other_texts_are_of_the_same_token() -> None:
    source = text([pattern(" "), pattern("//[^\n]*")], s=seq("a", pattern("[;\n]")))
    grammar = read(source)
    verdicts = [grammar.status(each) for each in ("a;", "a\n", "a // b;\n", "a // b;")]
    assert verdicts == ["fits", "fits", "fits", "cut"]


def test_comments_of_both_kinds_in_one_token() -> None:
    comment = one("TOKEN", choice(pattern("//[^\\n]*"), pattern("/\\*[^*]*\\*+([^/*][^*]*\\*+)*/")))
    source = text([WS, use("comment")], s=one("REPEAT", "a"), comment=comment)
    grammar = read(source)
    for each in ("a // b\na", "a/* */a", "a //", "// a\n"):
        assert grammar.status(each) == "fits", each
    assert grammar.status("a // a\nb") == "wrong"
    assert grammar.status("/* */ */") == "wrong"
    assert convert(source, TREE_SITTER, KBNF).exact


def test_patterns_of_javascript() -> None:
    escapes = pattern("\\/\\u0041\\u{1F600}[\\w\\-]\\S", "i")
    grammar = read(text([], s=escapes))
    assert [grammar.status(each) for each in ("/a😀-é", "/A😀_ ")] == ["fits", "wrong"]


def test_touching_words_are_a_loss() -> None:
    source = text(word="w", s=one("REPEAT", choice("let", ";", use("w"))), w=pattern("[a-z]+"))
    with pytest.raises(GrammarError) as raised:
        read(source)
    assert [each.code for each in raised.value.diagnostics] == ["W452"]


def test_externals_are_refused_where_the_start_needs_them() -> None:
    value = json.loads(text(s=choice("a", seq("b", use("newline"))), unused=use("newline")))
    value["externals"] = [use("newline")]
    source = json.dumps(value)
    [finding] = [each for each in check(source, language=TREE_SITTER) if each.code == "E451"]
    assert finding.message == "`newline` is scanned by code"
    grammar = read(source, lossy=True)
    assert [grammar.status(each) for each in ("a", "b")] == ["fits", "wrong"]
    assert [loss.code for loss in grammar.losses] == ["W451"]


def test_an_external_may_be_written_as_a_rule() -> None:
    value = json.loads(text(s=seq("b", use("newline")), newline=pattern("\\n")))
    value["externals"] = [use("newline")]
    assert read(json.dumps(value)).status("b\n") == "fits"


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("{", "E001"),
        ("[]", "E001"),
        ('{"rules": {}}', "E001"),
        ('{"rules": {"s": {"type": "NEW"}}}', "E451"),
        ('{"rules": {"s": {}}}', "E451"),
        ('{"rules": {"s": {"type": "CHOICE"}}}', "E451"),
        ('{"rules": {"s": {"type": "SYMBOL", "name": "t"}}}', "E451"),
        ('{"rules": {"s": {"type": "PATTERN", "value": "("}}}', "E451"),
        ('{"rules": {"s": {"type": "PATTERN", "value": "a\\\\b"}}}', "E451"),
        ('{"rules": {"s": {"type": "TOKEN", "content": {"type": "SYMBOL", "name": "s"}}}}', "E451"),
    ],
)
def test_mistakes_are_findings(source: str, code: str) -> None:
    assert code in [finding.code for finding in check(source, language=TREE_SITTER)]


def test_deep_nesting_and_wrong_types() -> None:
    deep = '{"type": "REPEAT", "content": ' * 400 + '{"type": "BLANK"}' + "}" * 400
    assert check(f'{{"rules": {{"s": {deep}}}}}', language=TREE_SITTER) is not None
    for field in ("extras", "externals", "reserved", "word"):
        value = json.loads(text(s="a")) | {field: 7}
        assert read(json.dumps(value)).status("a") == "fits"


def test_it_is_detected() -> None:
    assert detect(text(s="a"), "grammar.json") is TREE_SITTER
    assert detect(text(s="a"), "x") is TREE_SITTER
