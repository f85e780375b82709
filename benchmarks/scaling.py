"""How work and time grow with a grammar: ``python -m benchmarks.scaling [FAMILY...]``.

For each family of grammars, each twice as large as the one before: the counted calls and the time
of ``check`` and of a build, and what both are a multiple of. Counts are the same on every machine.
"""

import json
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import FrameType

from benchmarks.maskbench import grammar_of
from kbnf_core import Grammar, GrammarError, check
from kbnf_core.convert import from_json_schema, from_lark


def _lines(count: int, write: Callable[[int], str]) -> str:
    return "".join(f"{write(number)}\n" for number in range(count))


def _undefined(count: int) -> str:
    return 'start ::= "a";\n' + _lines(count, lambda i: f"r{i} ::= u{i};")


def _optional(count: int) -> str:
    return "start ::= 'x' " + " ".join(f"['{i}']" for i in range(count)) + ";\n"


def _optional_calls(count: int) -> str:
    return "start ::= 'x'" + " [a]" * count + ";\na ::= '(' a ')' | 'b';\n"


def _chain(count: int) -> str:
    rules = _lines(count, lambda i: f"r{i} ::= r{i + 1};")
    return f"start ::= r0;\n{rules}r{count} ::= 'a';\n"


def _cycle(count: int) -> str:
    rules = _lines(count, lambda i: f"r{i} ::= r{(i + 1) % count} | '{i}';")
    return f"start ::= r0;\n{rules}"


def _alternatives(count: int) -> str:
    return "start ::= " + " | ".join(f"'{i}'" for i in range(count)) + ";\n"


def _blank_lines(count: int) -> str:
    blank = "\n" * count
    return f"{blank}start{blank} ::= 'a'{blank}; {blank}"


def _rules(count: int) -> str:
    rules = _lines(count, lambda i: f"r{i} ::= '{i}' r{i + 1};")
    return f"start ::= r0;\n{rules}r{count} ::= 'a';\n"


def _substrings(count: int) -> str:
    return "start ::= #substrs'" + "abcdefghij" * (count // 10) + "' ';';\n"


def _enum(count: int) -> str:
    return json.dumps({"enum": [f"value {number}" for number in range(count)]})


def _words(count: int) -> str:
    words = " ".join(f"w{number * 7919 % 9973}" for number in range(count // 4))
    return f'start: A\nA: %regex {{"substring_words": {json.dumps(words)}}}\n'


def _long_options(count: int) -> str:
    texts = (f"{number}" + f"{number * 7919 % 9973} " * 120 for number in range(count // 80))
    return "start: A\nA: " + " | ".join(map(json.dumps, texts)) + "\n"


def _counted(count: int) -> str:
    return f'start: "A"~{count}\n'


def _any_of_all(count: int) -> str:
    names = [f"r{number}" for number in range(count // 80)]
    rules = "".join(f'{name}: "x{name}" a?\n' for name in names)
    return "start: a\na: " + " ".join(f"({name})?" for name in names) + f"\n{rules}"


LARK_FAMILIES: Mapping[str, Callable[[int], str]] = {
    "Lark: words": _words,
    "Lark: options": _long_options,
    "Lark: counts": _counted,
    "Lark: any of all": _any_of_all,
}
"""Lark grammars: substrings of a text by words, a terminal of long options, ..."""

FAMILIES: Mapping[str, Callable[[int], str]] = {
    "undefined names": _undefined,
    "optional items": _optional,
    "optional calls": _optional_calls,
    "chained rules": _chain,
    "unit cycles": _cycle,
    "alternatives": _alternatives,
    "blank lines": _blank_lines,
    "rules": _rules,
    "substrings": _substrings,
    "enum values": _enum,
    **LARK_FAMILIES,
}
"""Grammars, and a schema, by what there are many of in them."""


def build(text: str) -> None:
    """Build the tables of a grammar, as far as there are any."""
    with suppress(GrammarError):
        _ = Grammar(text).tables


ACTIONS: Mapping[str, Callable[[str], object]] = {"check": check, "build": build}

SCHEMA_ACTIONS: Mapping[str, Callable[[str], object]] = {
    "text": from_json_schema,
    "direct": lambda text: grammar_of(text).tables,
}
"""To the text of a grammar, and to its tables without one."""


LARK_ACTIONS: Mapping[str, Callable[[str], object]] = {
    "text": lambda text: from_lark(text, lexing="lalr" if "~" in text else None),
}
"""To the text of a grammar."""


def _actions(family: str) -> Mapping[str, Callable[[str], object]]:
    if family in LARK_FAMILIES:
        return LARK_ACTIONS
    return SCHEMA_ACTIONS if family == "enum values" else ACTIONS


def count_calls(action: Callable[[str], object], text: str) -> int:
    """Return how many functions are entered and left in an action, of Python and built in."""
    count = 0

    def note(_frame: FrameType, _event: str, _argument: object) -> None:
        nonlocal count
        count += 1

    sys.setprofile(note)
    try:
        action(text)
    finally:
        sys.setprofile(None)
    return count


def main(*names: str) -> None:
    """Print the growth of each family from 1,000 to 8,000."""
    print(f"{'family':16} {'action':6} {'size':>6} {'calls':>11} {'x':>5} {'seconds':>8} {'x':>5}")
    for name in names or FAMILIES:
        for verb, action in _actions(name).items():
            action(FAMILIES[name](80))
            calls, seconds = 0, 0.0
            for size in (1_000, 2_000, 4_000, 8_000):
                text = FAMILIES[name](size)
                begin = time.perf_counter()
                action(text)
                took, counted = time.perf_counter() - begin, count_calls(action, text)
                growth = (counted / calls, took / seconds) if calls else (1, 1)
                print(
                    f"{name:16} {verb:6} {size:6} {counted:11,} {growth[0]:5.2f}"
                    f" {took:8.3f} {growth[1]:5.2f}",
                    flush=True,
                )
                calls, seconds = counted, took


if __name__ == "__main__":
    main(*sys.argv[1:])
