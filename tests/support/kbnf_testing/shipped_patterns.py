"""Writes ``patterns.json``: the automata of the patterns that every process would compile.

Run ``PYTHONPATH=tests/support python -m kbnf_testing.shipped_patterns`` after a change of the
patterns of the prelude or of formats, or of how patterns are compiled; a test compares.
"""

import json
from array import array
from base64 import b64encode
from collections.abc import Iterator
from itertools import product
from sys import byteorder
from zlib import compress

from kbnf_core import ir
from kbnf_core.automata.dfa import Dfa
from kbnf_core.automata.regex.compile import compile_regex
from kbnf_core.languages.json_schema.formats import formats_of
from kbnf_core.languages.json_schema.options import (
    Digits,
    Formats,
    Integers,
    Options,
    Standard,
    Whitespace,
)
from kbnf_core.languages.json_schema.parse import guided
from kbnf_core.languages.json_schema.prelude import ORDER, Shared
from kbnf_core.languages.json_schema.value_sets import PATTERNS, key_of

LARGEST = 20_000
"""Entries of the rows of an automaton that is shipped."""


def _packed(dfa: Dfa) -> str:
    rows = array("h", [target for row in dfa.rows for target in row])
    if byteorder == "big":
        rows.byteswap()
    return b64encode(compress(dfa.classes + bytes(dfa.accepting) + rows.tobytes(), 9)).decode()


def _patterns() -> Iterator[str]:
    """Yield the patterns of the prelude and of formats, with the options that are usual."""
    for standard, gap, many, whole in product(Standard, Whitespace, Digits, Integers):
        options = Options(standard=standard, whitespace=gap, digits=many, integers=whole)
        shared = Shared(guided({}, options), "", has_whole_fractions=True)
        for part in (part for name in ORDER for part in ir.postorder(shared.rule(name))):
            if isinstance(part, ir.Regular) and isinstance(part.notation, str):
                yield part.notation
    for standard, which in product(Standard, Formats):
        yield from formats_of(standard, which).values()


def render() -> str:
    """Return the text of ``patterns.json``."""
    found = {}
    for pattern in dict.fromkeys(_patterns()):
        whole = compile_regex(pattern)
        if whole.dfa is not None and sum(map(len, whole.dfa.rows)) <= LARGEST:
            found[key_of(pattern)] = whole.work, _packed(whole.dfa)
    lines = (f"{json.dumps(key)}: {json.dumps(found[key])}" for key in sorted(found))
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    PATTERNS.write_text(render(), encoding="ascii")
