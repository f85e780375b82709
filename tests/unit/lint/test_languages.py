"""The language of a grammar is what its reader was told, whatever its file is called."""

from functools import partial

import pytest

from kbnf_core import check
from kbnf_core.frontend import read_grammar
from kbnf_core.languages import ABNF, GBNF, KBNF, LANGUAGES, LARK, Language
from kbnf_core.lint import NO_OPTIONS
from kbnf_core.lint.check import fix_text, run_lints
from kbnf_core.text.source import Source

TEXTS = {
    "KBNF": "start ::= 'a' {'\\xe9'} | 'a' {'\\xe9'}; unused ::= 'x'?;",
    "GBNF": 'root ::= "a" root | "a" | "\\xe9"\nunused ::= "x"\n',
    "BNF": "<start>::='a'<start>|'a'|'\\xe9';<unused>::='x';",
    "ABNF": 'start = "a" start / "a" / "a"\nunused = "x"\n',
    "EBNF": "start = 'a', start | 'a' | 'a'; unused = 'x';",
    "ANTLR": "grammar A; start : 'a' start | 'a' | INT; INT : [0-9]+;",
    "Lark": '// kbnf: start=start finish=eager\nstart: "a" start | "a" | /[0-9]+/\nunused: "x"\n',
}

TEXTS["JSON Schema"] = '{"type": "strng"}'
TEXTS["Tool list"] = '[{"name": "f", "parameters": {"type": "strng"}}]'
TEXTS["Response template"] = """
{"start_anchor": "<", "fields": {"a": {"open": "<a>"}, "content": {}}}
"""
TEXTS["Tree sitter"] = '{"rules": {"s": {"type": "NEW"}}}'
TEXTS["regex"] = "(a"
TEXTS["choice"] = "[1]"
TEXTS["Structural tag"] = """{"type": "structural_tag", "format": {"type": "or", "elements": [
  {"type": "const_string", "value": "a", "values": []}, {"type": "const_string", "value": "a"}]}}
"""


def _told(path: str | None, language: Language | None) -> list[tuple[object, ...]]:
    return [
        (each.code, each.message, each.span, each.fixes)
        for each in check(TEXTS[(language or KBNF).name], path, language=language)
    ]


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda each: each.name)
def test_findings_do_not_depend_on_the_name_of_the_file(language: Language) -> None:
    named = _told(f"x{language.extension}", language)
    assert named
    for path in (None, "x", "x.txt", "x.kbnf", "x.lark", "x.gbnf"):
        assert _told(path, language) == named


@pytest.mark.parametrize(
    "language", [each for each in LANGUAGES if each.extension], ids=lambda each: each.name
)
def test_the_extension_tells_the_language_where_nobody_does(language: Language) -> None:
    path, text = f"x{language.extension}", TEXTS[language.name]
    assert list(map(repr, check(text, path))) == list(
        map(repr, check(text, path, language=language))
    )


def test_no_fix_is_offered_for_a_text_that_is_converted() -> None:
    text = 'start: a a\na: "x" | "x"'
    reading = read_grammar(Source(text, None), language=LARK)
    found = list(run_lints(reading, NO_OPTIONS))
    assert "W104" in {each.code for each in found}
    assert not any(each.fixes for each in found)
    assert reading.language is LARK


def test_no_fix_of_a_lint_is_offered_where_operators_are_others() -> None:
    found = check("start = DIGIT *(SP / HTAB)\n", language=ABNF)
    assert "W302" in {each.code for each in found}
    assert not any(each.fixes for each in found)


def test_fixing_keeps_the_comments_of_the_language() -> None:
    text = 'root ::= ("a" # why\n | "a") "b"\n'
    find = partial(check, language=GBNF)
    assert any(each.fixes for each in find(text))
    assert fix_text(text, find, unsafe=True, language=GBNF).text == text
