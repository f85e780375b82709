"""The canonical layout, case by case; the properties are in tests/property/test_format.py."""

from pathlib import Path

import pytest

from kbnf_core.kbnf.format import format_kbnf
from kbnf_core.text.source import Source

GRAMMARS = Path(__file__).resolve().parents[3] / "grammars"

CASES = {
    "sign, semicolon and line end": ("a='x'", "a ::= 'x';\n"),
    "byte order mark": ("\ufeffa ::= 'x';", "a ::= 'x';\n"),
    "blanks": ("a::='x'|b\t*,( c ) ;", "a ::= 'x' | b*, (c);\n"),
    "brackets": ("a ::= [ b ] {c|d} ( e );", "a ::= [b] { c | d } (e);\n"),
    "counts": ("a ::= b { 2 , } c {,3} d{ 4 };", "a ::= b{2,} c{,3} d{4};\n"),
    "arguments": (
        "a ::= except! ( 'x',5 ) #token[ ^ 1 - 2 ,7 ] #token'<x>';",
        "a ::= except!('x', 5) #token[^1-2,7] #token'<x>';\n",
    ),
    "quotes and escapes stay": (
        "a ::= \"\\x41\" 'B' #e'\\\\d';",
        "a ::= \"\\x41\" 'B' #e'\\\\d';\n",
    ),
    "line breaks in texts stay": ("a ::= 'x\n  y' b;", "a ::= 'x\n  y' b;\n"),
    "one definition a line": ("a ::= b; b ::= 'x';", "a ::= b;\nb ::= 'x';\n"),
    "one empty line": ("\n\na ::= b;\n\n\n\nb ::= 'x';\n\n", "a ::= b;\n\nb ::= 'x';\n"),
    "a break at a bar is kept": ("a ::= b |\n c | d;", "a ::= b\n    | c\n    | d;\n"),
    "a break in a sequence is not": ("a ::= b\n c\n d;", "a ::= b c d;\n"),
    "line ends stay": ("a ::= b;\r\nb ::= 'x';\r\n", "a ::= b;\r\nb ::= 'x';\r\n"),
    "mixed line ends do not": ("a ::= b;\r\nb ::= 'x';\n", "a ::= b;\nb ::= 'x';\n"),
    "comments": (
        "(*1*) a (*2*) ::= (*3*) b (*4*) + (*5*) ; (*6*)\n\n(*7*)\n",
        "(*1*) a (*2*) ::= (*3*) b (*4*)+ (*5*); (*6*)\n\n(*7*)\n",
    ),
    "comments at line ends": (
        "a ::= b (*1*)\n | c (*2*)\n ; (*3*)\n",
        "a ::= b (*1*)\n    | c (*2*)\n    ; (*3*)\n",
    ),
    "last comment goes behind the semicolon": ("a ::= b (*1*)\n;", "a ::= b; (*1*)\n"),
    "comments on lines of their own": (
        "a ::=\n (*1*)\n b\n (*2*)\n | c\n (*3*)\n ;",
        "a ::=\n      (*1*)\n      b\n    (*2*)\n    | c\n    (*3*)\n    ;\n",
    ),
    "comments in arguments": ("a ::= except!( (*1*) b);", "a ::= except!( (*1*) b);\n"),
    "silenced lines stay": (
        "(* kbnf: ignore[W104] *)\na ::= b|b; b  ::= 'x';\n",
        "(* kbnf: ignore[W104] *)\na ::= b|b; b  ::= 'x';\n",
    ),
    "silenced lines that stay lines do not": (
        "a ::= b\n|b (* kbnf: ignore[W104] *)\n;\n",
        "a ::= b\n    | b; (* kbnf: ignore[W104] *)\n",
    ),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES.keys())
def test_layout(text: str, expected: str) -> None:
    assert format_kbnf(Source(text)).text == expected
    assert format_kbnf(Source(expected)).text == expected


LONG = {
    "alternatives": (
        "start ::= 'first one' | 'second one' | third;",
        """\
start ::= 'first one'
        | 'second one'
        | third;
""",
    ),
    "list of words": (
        "start ::= 'first one' | 'second one' | 'third'\n | 'fourth';",
        """\
start ::= 'first one' | 'second one'
        | 'third' | 'fourth';
""",
    ),
    "list of words in a bracket": (
        "start ::= ('first one' | 'second one' | 'third' | 'fourth') x;",
        """\
start ::= ( 'first one'
          | 'second one' | 'third'
          | 'fourth'
          ) x;
""",
    ),
    "list of words on lines of their own": (
        "start ::= 'a'\n | 'b'\n | 'c';",
        """\
start ::= 'a'
        | 'b'
        | 'c';
""",
    ),
    "list of words with a comment": (
        "start ::= 'first one' (* 1 *) | 'second one' | 'third';",
        """\
start ::= 'first one' (* 1 *)
        | 'second one'
        | 'third';
""",
    ),
    "sequence": (
        "start ::= 'first one' 'second one' 'third one' 'fourth one';",
        """\
start ::= 'first one' 'second one'
          'third one' 'fourth one';
""",
    ),
    "bracket that fits on a line": (
        "start ::= 'first one' ('second one' | 'third')* 'fourth';",
        """\
start ::= 'first one'
          ('second one' | 'third')*
          'fourth';
""",
    ),
    "bracket that does not": (
        "start ::= 'a' ('first one' | 'second one' | { 'third one' 'fourth one' } | 'x')* 'b';",
        """\
start ::= 'a'
          ( 'first one'
          | 'second one'
          | { 'third one'
              'fourth one'
            }
          | 'x'
          )* 'b';
""",
    ),
    "text that fits nowhere": (
        "start ::= 'a text that is wider than a line' 'b';",
        """\
start ::= 'a text that is wider than a line'
          'b';
""",
    ),
}


@pytest.mark.parametrize(("text", "expected"), LONG.values(), ids=LONG.keys())
def test_long_definitions(text: str, expected: str) -> None:
    assert format_kbnf(Source(text), width=36).text == expected
    assert format_kbnf(Source(expected), width=36).text == expected


@pytest.mark.parametrize("text", ["a ::= ", "a ::= b c ::= d;", "", "root: x"])
def test_syntax_errors_stand_in_the_way(text: str) -> None:
    formatted = format_kbnf(Source(text))
    assert formatted.text is None
    assert formatted.errors


def test_meaning_is_not_asked_for() -> None:
    assert format_kbnf(Source("a = undefined;")).text == "a ::= undefined;\n"


def test_deep_nesting() -> None:
    text = f"a ::= {'(' * 256}'x'{')' * 256};\n"
    formatted = format_kbnf(Source(text)).text
    assert formatted is not None
    assert "".join(formatted.split()) == "".join(text.split())


@pytest.mark.parametrize("path", sorted(GRAMMARS.glob("*.kbnf")), ids=lambda path: path.stem)
def test_grammars_of_this_project_are_laid_out(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert format_kbnf(Source(text)).text == text
