"""What is wrong with a pattern, and where: (pattern, [(code, text of the span)])."""

from dataclasses import replace

import pytest

from kbnf_core.automata.regex.compile import compile_regex
from kbnf_core.text.limits import DEFAULT_LIMITS

SYNTAX = [
    ("*a", [("E201", "*")]),
    ("a|*", [("E201", "*")]),
    ("(?i)*", [("E201", "*")]),
    ("(+)", [("E201", "+")]),
    ("{2}", [("E201", "{")]),
    ("(?)", [("E201", "?")]),
    ("a{,3}", [("E201", "{,3}")]),
    ("a{}", [("E201", "{}")]),
    ("a{,}", [("E201", "{,}")]),
    ("a{2, }", [("E201", "{2, }")]),
    ("a{3,2}", [("E201", "{3,2}")]),
    ("a{x}", [("E201", "{")]),
    ("a{2", [("E201", "{2")]),
    ("(a", [("E201", "(")]),
    ("((a)", [("E201", "(")]),
    ("a)", [("E201", ")")]),
    ("[a", [("E201", "[")]),
    ("[]", [("E201", "[")]),
    ("[[a]", [("E201", "[")]),
    ("[z-a]", [("E201", "z-a")]),
    (r"[a-\d]", [("E201", r"\d")]),
    (r"[\A]", [("E201", r"\A")]),
    ("a\\", [("E201", "\\")]),
    (r"\y", [("E201", r"\y")]),
    (r"\é", [("E201", r"\é")]),
    (r"\x4", [("E201", r"\x4")]),
    (r"\x4g", [("E201", r"\x4g")]),
    (r"\x{}", [("E201", r"\x{}")]),
    (r"\x{4z}", [("E201", "z")]),
    (r"\x{110000}", [("E201", r"\x{110000}")]),
    (r"\x{D800}", [("E201", r"\x{D800}")]),
    (r"\x{41", [("E201", r"\x{41")]),
    (r"\p{Foo}", [("E201", r"\p{Foo}")]),
    (r"\p{sc=Foo}", [("E201", r"\p{sc=Foo}")]),
    (r"\p{foo=Latin}", [("E201", r"\p{foo=Latin}")]),
    (r"\p{^L}", [("E201", r"\p{^L}")]),
    (r"\p{Cs}", [("E201", r"\p{Cs}")]),
    (r"\p{alnum}", [("E201", r"\p{alnum}")]),
    (r"\pé", [("E201", r"\pé")]),
    (r"\p{L", [("E201", r"\p{L")]),
    ("(?y)", [("E201", "y")]),
    ("(?i-)", [("E201", "-")]),
    ("(?ii)", [("E201", "i")]),
    ("(?-i-s)", [("E201", "-")]),
    ("(?s-s)", [("E201", "s")]),
    ("(?i", [("E201", "(")]),
    ("(?<>a)", [("E201", "")]),
    ("(?<1>a)", [("E201", "1")]),
    ("(?<a", [("E201", "a")]),
    ("(?<n>a)(?<n>b)", [("E201", "n")]),
    (r"(?-u:\b{foo})", [("E201", "foo")]),
    ("a\ud800", [("E201", "\ud800")]),
]
UNSUPPORTED = [
    (r"\b", [("E202", r"\b")]),
    (r"a\B", [("E202", r"\B")]),
    (r"\b{start}", [("E202", r"\b{start}")]),
    (r"\<", [("E202", r"\<")]),
    ("a(?=b)", [("E202", "(?=")]),
    ("a(?!b)", [("E202", "(?!")]),
    ("(?<=b)a", [("E202", "(?<=")]),
    ("(?<!b)a", [("E202", "(?<!")]),
    (r"(a)\1", [("E202", r"\1")]),
    (r"\0", [("E202", r"\0")]),
    (r"(?P<a>b)(?P=a)", [("E202", "(?P=")]),
    (r"\k<a>", [("E202", r"\k")]),
    ("(?>a)", [("E202", "(?>")]),
    ("(?|a)", [("E202", "(?|")]),
    ("(?#a)", [("E202", "(?#")]),
    ("(?(1)a)", [("E202", "(?(")]),
    (r"\p{age=6.0}", [("E202", r"\p{age=6.0}")]),
    (r"(?-u:\pL)", [("E202", r"\pL")]),
    ("(?-u:[é])", [("E202", "é")]),
]
INVALID_UTF8 = [
    ("(?-u:.)", [("E204", ".")]),
    ("(?s-u).", [("E204", ".")]),
    (r"(?-u:\xff)", [("E204", r"\xff")]),
    ("(?-u:[^a])", [("E204", "[^a]")]),
    (r"(?-u:\W)", [("E204", r"\W")]),
    (r"(?-u:[a-\xff])", [("E204", r"\xff")]),
    ("(?-u:[[:^alpha:]])", [("E204", "[:^alpha:]"), ("E204", "[[:^alpha:]]")]),
]
SEVERAL = [
    (r"\y(?=a)[z-a]\b(", [("E201", r"\y"), ("E202", "(?="), ("E201", "z-a"), ("E202", r"\b"),
                          ("E201", "(")]),
    (r"a{3,2}**\q)", [("E201", "{3,2}"), ("E201", r"\q"), ("E201", ")")]),
]  # fmt: skip
TABLE = [*SYNTAX, *UNSUPPORTED, *INVALID_UTF8, *SEVERAL]


@pytest.mark.parametrize(("pattern", "expected"), TABLE, ids=[ascii(row[0]) for row in TABLE])
def test_problems(pattern: str, expected: list[tuple[str, str]]) -> None:
    compiled = compile_regex(pattern)
    assert compiled.dfa is None
    found = [(problem.code, pattern[problem.start : problem.end]) for problem in compiled.problems]
    assert sorted(found) == sorted(expected)


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        (r"\bfoo\b", r"(?-u:\b)"),
        (r"\b{end}", r"(?-u:\b{end})"),
        ("(?!a)", "except!"),
        ("(?!a)", "#ex"),
        (r"\xff(?-u:\xff)", "#b"),
        (r"\p{^Greek}", r"\P{Greek}"),
        ("a{,3}", "{0,3}"),
    ],
)
def test_help_says_what_to_write(pattern: str, words: str) -> None:
    assert words in compile_regex(pattern).problems[0].help


@pytest.mark.parametrize(
    "pattern",
    [
        "(a|b)*a(a|b){25}",
        "((a{1000}){1000}){1000}",
        "(a?){60000}",
        "(((a?){100}){100}){100}",
        r"\w{0,60000}",
        "a{65536}",
        "a{99999999999999999999999}",
    ],
)
def test_too_large(pattern: str) -> None:
    (problem,) = compile_regex(pattern).problems
    assert problem.code == "E203"


def test_limits_are_the_callers() -> None:
    small = replace(DEFAULT_LIMITS, regex_states=20)
    assert compile_regex("a{5}", small).dfa is not None
    assert compile_regex("a{15}", small).problems[0].code == "E203"


@pytest.mark.parametrize("opening", ["(", "[a", "(?i:"])
@pytest.mark.parametrize("count", [1_000, 100_000])
def test_deep_nesting_is_reported(opening: str, count: int) -> None:
    problems = compile_regex(opening * count).problems
    assert any("nested deeper than 256" in problem.message for problem in problems)


def test_nesting_up_to_the_limit() -> None:
    depth = DEFAULT_LIMITS.nesting_depth
    dfa = compile_regex("(" * depth + "a" + ")" * depth).dfa
    assert dfa is not None
    assert dfa.accepts(b"a")


def test_stacked_repetitions_do_not_recurse() -> None:
    dfa = compile_regex("a" + "?" * 5_000).dfa
    assert dfa is not None
    assert dfa.accepts(b"a")
