"""Writes ``formats.json`` and ``patterns.json``: what every process would make.

The first has the regular expressions of the rules in ``formats.kbnf``, the second the automata of
these and of other patterns.

Run ``PYTHONPATH=tests/support python -m kbnf_testing.shipped_patterns`` after a change of the
patterns of the prelude or of the rules of formats, or of how patterns are compiled; tests compare.
"""

import json
from array import array
from base64 import b64encode
from collections.abc import Callable, Iterator
from itertools import product
from sys import byteorder
from zlib import compress

from kbnf_core import ir
from kbnf_core.automata.dfa import Dfa
from kbnf_core.automata.expression import Builder, Expression, print_expression
from kbnf_core.automata.regex.compile import compile_regex
from kbnf_core.automata.traversal import fold
from kbnf_core.kbnf import tree
from kbnf_core.languages.json_schema import Digits, Formats, Integers, Options, Standard, Whitespace
from kbnf_core.languages.json_schema.parse import guided
from kbnf_core.languages.json_schema.rules import ORDER, Shared
from kbnf_core.languages.json_schema.type_keywords import (
    EXPRESSIONS,
    HELPERS,
    NAMES,
    formats_of,
    rule_of,
    rules,
)
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


def _expression(rule: str, find: Callable[[str], tree.Expression], builder: Builder) -> Expression:
    """Return what a rule matches, whose calls are written out."""

    def one(form: tree.Expression, parts: list[Expression]) -> Expression:
        match form:
            case tree.Reference(name):
                return _expression(name.value, find, builder)
            case tree.Pattern(text=text):
                found = builder.read(text.value)
                assert found is not None, text.value
                return found
            case tree.Terminal(text=text):
                return builder.text(text.value)
            case tree.Concatenation():
                return builder.sequence(parts)
            case tree.Alternation():
                return builder.alternation(parts)
            case tree.Repetition(_, low, high):
                return builder.repetition(parts[0], low, high)
            case tree.Bracket():
                return parts[0]
        raise TypeError(form)

    return fold(find(rule), tree.children, one)


def render_formats() -> str:
    """Return the text of ``formats.json``."""
    found: dict[str, dict[str, str]] = {}
    before: dict[str, str] = {}
    for kind, names in NAMES.items():
        find = rules(kind)
        texts = {
            rule: print_expression(_expression(rule, find, Builder()))
            for rule in dict.fromkeys([*map(rule_of, names), *HELPERS])
        }
        found[kind] = {rule: text for rule, text in texts.items() if before.get(rule) != text}
        before.update(texts)
    return json.dumps(found, indent=0) + "\n"


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
    EXPRESSIONS.write_text(render_formats(), encoding="ascii")
    PATTERNS.write_text(render(), encoding="ascii")
