"""Texts made to hurt: every one is read in time linear in its length, and none raises."""

import time

import pytest

from kbnf_core.languages.kbnf.parse import parse_kbnf
from kbnf_core.source import Source
from kbnf_core.syntax.pragmas import read_pragmas

N = 30_000
SECONDS_PER_CHARACTER = 100e-6
"""Some twenty times what is usual: machines differ, and quadratic time is far beyond."""

TEXTS = {
    "open comments": "(*" * N,
    "open brackets": "a ::= " + "(" * N,
    "open braces with comments": "a ::= " + "{(**)" * N,
    "open classes": "a ::= x\n" + "[" * N,
    "classes with hyphens": "a ::= " + "[x-" * N,
    "zeros": "\0" * N,
    "surrogates": "\ud800" * N,
    "surrogates in a text": "a ::= '" + "\ud800" * N + "';",
    "byte order marks": "\ufeff" * N,
    "bad escapes": "a ::= '" + "\\q" * N + "';",
    "quotes": "'" * (2 * N + 1),
    "quotes of both kinds": "\"'" * N,
    "escaped quotes in an open text": "'" + "\na ::= \\'\n" * N,
    "escaped quotes": '"\\"' * N,
    "texts that swallow definitions": "x ::= " + "'\na ::= ' ) " * N,
    "both kinds swallow": "x ::= '\na ::= \"' )\n\"" * N,
    "definitions without bodies": "a ::= " * N,
    "definitions without ends": "a ::= 'x'\n" * N,
    "colons": "a : x\n" * N,
    "odd blanks": "a ::= 'x'" + "\u00a0" * N + "'y';",
    "bad names": "a ::= " + "é-é " * N,
    "long name": "a-" * N,
    "long count": "a ::= x{" + "9" * N + "};",
    "operators": "a ::= x" + "*" * N + ";",
    "semicolons": "; (*" * N,
    "angles": "<a" * N,
    "open pragma": "(* kbnf: " + "ignore[ " * N + "*) a ::= 'x';",
    "pragmas": "(* kbnf: ignore[W101] *)\n" * N + "a ::= 'x';",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_takes_linear_time(text: str) -> None:
    started = time.perf_counter()
    parsed = parse_kbnf(Source(text))
    read_pragmas(parsed.document)
    assert time.perf_counter() - started < SECONDS_PER_CHARACTER * len(text)
    assert parsed.diagnostics or parsed.document.definitions
