"""Automata of the patterns that every process would compile, as data: of JSON's texts and formats.

``python -m kbnf_core.languages.json_schema.shipped_patterns`` writes them to ``patterns.json``
after a change of the patterns, or of how they are compiled; a test compares. A pattern that is not
there is compiled. Each is a text: the automaton's classes, a byte for each state that tells whether it
accepts, and its rows as integers of 16 bits, compressed.
"""

import json
from array import array
from base64 import b64decode, b64encode
from collections.abc import Iterator
from functools import cache, lru_cache
from hashlib import blake2b
from itertools import product
from pathlib import Path
from sys import byteorder
from zlib import compress, decompress

from kbnf_core.automata.dfa import Dfa
from kbnf_core.automata.regex.compile import Compiled, compile_regex

PATTERNS = Path(__file__).with_name("patterns.json")

LARGEST = 20_000
"""Entries of the rows of an automaton that is shipped."""


@lru_cache(maxsize=512)
def compiled_pattern(pattern: str) -> Compiled:
    """Return what ``compile_regex`` returns."""
    found = _shipped().get(_key(pattern))
    return compile_regex(pattern) if found is None else Compiled(_unpacked(found[1]), (), found[0])


@cache
def _shipped() -> dict[str, tuple[int, str]]:
    """Return the work and the automaton of each pattern."""
    found: dict[str, tuple[int, str]] = json.loads(PATTERNS.read_text("ascii"))
    return found


def _key(pattern: str) -> str:
    return blake2b(pattern.encode(errors="surrogatepass"), digest_size=12).hexdigest()


def _packed(dfa: Dfa) -> str:
    rows = array("h", [target for row in dfa.rows for target in row])
    if byteorder == "big":
        rows.byteswap()
    return b64encode(compress(dfa.classes + bytes(dfa.accepting) + rows.tobytes(), 9)).decode()


def _unpacked(text: str) -> Dfa:
    data = decompress(b64decode(text))
    classes = data[:256]
    width = max(classes) + 1
    states = (len(data) - 256) // (1 + 2 * width)
    rows = array("h", data[256 + states :])
    if byteorder == "big":
        rows.byteswap()
    listed = rows.tolist()
    accepting = list(map(bool, data[256 : 256 + states]))
    return Dfa(classes, [listed[i : i + width] for i in range(0, len(listed), width)], accepting)


def _patterns() -> Iterator[str]:
    """Yield the patterns of the prelude and of formats, with the options that are usual."""
    from kbnf_core.kbnf import tree
    from kbnf_core.languages.json_schema.formats import formats_of
    from kbnf_core.languages.json_schema.guidance import guided
    from kbnf_core.languages.json_schema.options import (
        Digits,
        Formats,
        Integers,
        Options,
        Standard,
        Whitespace,
    )
    from kbnf_core.languages.json_schema.prelude import Shared

    for standard, gap, many, whole in product(Standard, Whitespace, Digits, Integers):
        options = Options(standard=standard, whitespace=gap, digits=many, integers=whole)
        rules = Shared(guided({}, options), "", has_whole_fractions=True).rules
        for part in (part for form in rules.values() for part in tree.postorder(form)):
            if isinstance(part, tree.Pattern):
                yield part.text.value
    for standard, which in product(Standard, Formats):
        yield from formats_of(standard, which).values()


def render() -> str:
    """Return the text of ``patterns.json``."""
    found = {}
    for pattern in dict.fromkeys(_patterns()):
        whole = compile_regex(pattern)
        if whole.dfa is not None and sum(map(len, whole.dfa.rows)) <= LARGEST:
            found[_key(pattern)] = whole.work, _packed(whole.dfa)
    lines = (f"{json.dumps(key)}: {json.dumps(found[key])}" for key in sorted(found))
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    PATTERNS.write_text(render(), encoding="ascii")
