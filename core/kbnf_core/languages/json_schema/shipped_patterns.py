"""Automata of the patterns that every process would compile, as data: of JSON's texts and formats.

They are in ``patterns.json``, which ``kbnf_testing.shipped_patterns`` writes. A pattern that is
not there is compiled. Each is a text: the automaton's classes, a byte for each state that says
whether it accepts, and its rows as integers of 16 bits, compressed.
"""

import json
from array import array
from base64 import b64decode
from functools import cache
from hashlib import blake2b
from pathlib import Path
from sys import byteorder
from zlib import decompress

from kbnf_core.automata.dfa import Dfa
from kbnf_core.automata.regex.compile import REMEMBERED, Compiled, compile_regex, size_of
from kbnf_core.text.remembered import remembered

PATTERNS = Path(__file__).with_name("patterns.json")


@remembered(REMEMBERED, size_of)
def compiled_pattern(pattern: str) -> Compiled:
    """Return what ``compile_regex`` returns."""
    found = _shipped().get(key_of(pattern))
    return compile_regex(pattern) if found is None else Compiled(_unpacked(found[1]), (), found[0])


@cache
def _shipped() -> dict[str, tuple[int, str]]:
    """Return the work and the automaton of each pattern."""
    found: dict[str, tuple[int, str]] = json.loads(PATTERNS.read_text("ascii"))
    return found


def key_of(pattern: str) -> str:
    """Return what a pattern is called in the file."""
    return blake2b(pattern.encode(errors="surrogatepass"), digest_size=12).hexdigest()


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
