"""Texts made to hurt: every one is read in time linear in its length, and none raises."""

import time
from collections.abc import Callable

import pytest

from kbnf_core import Grammar
from kbnf_core.kbnf.pragmas import read_pragmas
from kbnf_core.kbnf.read import parse_kbnf
from kbnf_core.text.errors import GrammarError
from kbnf_core.text.source import Source
from kbnf_testing.counted import growth

SIZE = 500
MOST = 2.2
"""Twice the text may cost so many times the calls."""

TEXTS: dict[str, Callable[[int], str]] = {
    "open comments": lambda n: "(*" * n,
    "open brackets": lambda n: "a ::= " + "(" * n,
    "open braces with comments": lambda n: "a ::= " + "{(**)" * n,
    "open classes": lambda n: "a ::= x\n" + "[" * n,
    "classes with hyphens": lambda n: "a ::= " + "[x-" * n,
    "zeros": lambda n: "\0" * n,
    "surrogates": lambda n: "\ud800" * n,
    "surrogates in a text": lambda n: "a ::= '" + "\ud800" * n + "';",
    "byte order marks": lambda n: "\ufeff" * n,
    "bad escapes": lambda n: "a ::= '" + "\\q" * n + "';",
    "quotes": lambda n: "'" * (2 * n + 1),
    "quotes of both kinds": lambda n: "\"'" * n,
    "escaped quotes in an open text": lambda n: "'" + "\na ::= \\'\n" * n,
    "escaped quotes": lambda n: '"\\"' * n,
    "texts that swallow definitions": lambda n: "x ::= " + "'\na ::= ' ) " * n,
    "both kinds swallow": lambda n: "x ::= '\na ::= \"' )\n\"" * n,
    "definitions without bodies": lambda n: "a ::= " * n,
    "definitions without ends": lambda n: "a ::= 'x'\n" * n,
    "colons": lambda n: "a : x\n" * n,
    "odd blanks": lambda n: "a ::= 'x'" + "\u00a0" * n + "'y';",
    "bad names": lambda n: "a ::= " + "é-é " * n,
    "long name": lambda n: "a-" * n,
    "long count": lambda n: "a ::= x{" + "9" * n + "};",
    "operators": lambda n: "a ::= x" + "*" * n + ";",
    "semicolons": lambda n: "; (*" * n,
    "angles": lambda n: "<a" * n,
    "open pragma": lambda n: "(* kbnf: " + "ignore[ " * n + "*) a ::= 'x';",
    "pragmas": lambda n: "(* kbnf: ignore[W101] *)\n" * n + "a ::= 'x';",
}


@pytest.mark.parametrize("family", TEXTS)
def test_takes_linear_time(family: str) -> None:
    def read(text: str) -> None:
        parsed = parse_kbnf(Source(text))
        read_pragmas(parsed.document)
        assert parsed.diagnostics or parsed.document.definitions

    assert growth(read, TEXTS[family], SIZE) < MOST


@pytest.mark.parametrize("family", TEXTS)
def test_a_long_one_is_read(family: str) -> None:
    """What grows within one call, such as the search of an expression, would not end here."""
    parse_kbnf(Source(TEXTS[family](10_000)))


def test_quotes_ahead_of_a_text_that_is_never_closed_are_read_once() -> None:
    # One reading of the rest for each quote took a minute.
    text = "start ::= " + '\\"' * 100_000 + '"a'
    start = time.process_time()
    with pytest.raises(GrammarError):
        Grammar(text)
    assert time.process_time() - start < 20
