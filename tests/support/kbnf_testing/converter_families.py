"""Families of inputs of growing size for the converters: each a name and a function of ``n``."""

import json
from collections.abc import Callable
from typing import Any

Family = Callable[[int], str]


def _schema(make: Callable[[int], Any]) -> Family:
    return lambda size: json.dumps(make(size))


def _lexemes(size: int) -> str:
    """Return any of many terminals, again and again; no two sizes have one in common."""
    names = [f"T{number}" for number in range(size)]
    terminals = (f"{name}: /[a-z]{{1,5}}{size:04}{name[1:]:0>4}x*/\n" for name in names)
    return f"start: ({' | '.join(names)})*\n{''.join(terminals)}"


def _spread(size: int) -> list[int]:
    """Return different numbers, in no order."""
    return [index * 7919 % 100_003 for index in range(size)]


SCHEMAS: dict[str, Family] = {
    "enum of strings": _schema(lambda n: {"enum": [f"v{i}" for i in _spread(n)]}),
    "enum of strings, bounded": _schema(
        lambda n: {"maxLength": 9, "enum": [f"v{i}" for i in _spread(n)]}
    ),
    "enum of numbers": _schema(lambda n: {"enum": _spread(n)}),
    "enum of objects": _schema(lambda n: {"enum": [{"a": i} for i in range(n)]}),
    "anyOf of consts": _schema(lambda n: {"anyOf": [{"const": f"v{i}"} for i in range(n)]}),
    "oneOf of consts": _schema(lambda n: {"oneOf": [{"const": f"v{i}"} for i in range(n)]}),
    "oneOf with a tag": _schema(
        lambda n: {
            "oneOf": [
                {"type": "object", "properties": {"t": {"const": f"v{i}"}}, "required": ["t"]}
                for i in range(n)
            ]
        }
    ),
    "properties": _schema(
        lambda n: {"properties": {f"p{i}": {"type": "string"} for i in range(n)}}
    ),
    "required": _schema(lambda n: {"type": "object", "required": [f"p{i}" for i in range(n)]}),
    "propertyNames": _schema(lambda n: {"propertyNames": {"enum": [f"p{i}" for i in range(n)]}}),
}
"""JSON Schemas that need not cost more than in proportion to their size."""

HEAVY_SCHEMAS: dict[str, Family] = {
    "allOf of properties": _schema(
        lambda n: {"allOf": [{"properties": {f"p{i}": {"type": "string"}}} for i in range(n)]}
    ),
    "counted properties": _schema(
        lambda n: {
            "properties": {f"p{i}": {"type": "string"} for i in range(n)},
            "minProperties": n // 2,
        }
    ),
    "contains": _schema(lambda n: {"allOf": [{"contains": {"const": i}} for i in range(n)]}),
    "alternatives over alternatives": _schema(
        lambda n: {
            "allOf": [
                {"anyOf": [{"pattern": f"{letter}{i}"} for i in range(11)]}
                for letter in "abcdefghijklmnopqrstuvwxyz"[:n]
            ]
        }
    ),
}
"""JSON Schemas whose grammars grow faster than they do."""

LARK: dict[str, Family] = {
    "words of a text": lambda n: (
        'start: A\nA: %regex {"substring_words": "' + " ".join(f"w{i}" for i in _spread(n)) + '"}\n'
    ),
    "rules": lambda n: (
        "start: r0\n" + "".join(f'r{i}: "a{i}" r{i + 1}\n' for i in range(n)) + f'r{n}: "z"\n'
    ),
    "alternatives": lambda n: (
        "start: item+\nitem: "
        + " | ".join(f"r{i}" for i in range(n))
        + "".join(f'\nr{i}: "k{i}" /[a-z]{{1,5}}/ ("," /[0-9]+/)*' for i in range(n))
        + "\n"
    ),
    "terminals": lambda n: (
        "start: ("
        + " | ".join(f"T{i}" for i in range(n))
        + ")+\n"
        + "".join(f'T{i}: "w{i:04}"\n' for i in range(n))
    ),
    "lexemes": _lexemes,
    "lexemes and ignored text": lambda n: _lexemes(n) + '%ignore " "\n',
}
"""Grammars in Lark."""

GBNF: dict[str, Family] = {
    "rules": lambda n: (
        "root ::= r0\n"
        + "".join(f'r{i} ::= "a" r{i + 1} | "b"\n' for i in range(n))
        + f'r{n} ::= "z"\n'
    ),
}
"""Grammars in GBNF."""
