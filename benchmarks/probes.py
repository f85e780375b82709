"""What engines do with the constructs of JSON Schema: ``python -m benchmarks.probes [PAGE]``.

Each probe is a small schema with one construct. Every engine that is installed is asked, as `kbnf
check --target` asks it. Prints the table and what was found, or writes them into PAGE, between the
lines ``<!-- probes -->`` and ``<!-- end of probes -->``: so docs/engines.md is made.
"""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kbnf_core.targets.exam import Exam, Examined, Fault, Finding, examine
from kbnf_core.targets.process import Asked, installed, version_of

SECONDS = 120.0
"""The processor time for a construct and engine: so much that a busy machine says the same."""


def _closed(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


_STRING = {"type": "string"}
_INTEGER = {"type": "integer"}
_A = {"type": "object", "properties": {"a": _INTEGER}, "required": ["a"]}
_B = {"type": "object", "properties": {"b": _STRING}, "required": ["b"]}

PROBES: dict[str, Any] = {
    "`pattern` with `\\d`": {"type": "string", "pattern": "^[0-5]\\d$"},
    "`pattern` with `\\w`": {"type": "string", "pattern": "^\\w+$"},
    "`pattern` with `\\s`": {"type": "string", "pattern": "^a\\sb$"},
    "`pattern` with `\\/`": {"type": "string", "pattern": "^(https:\\/\\/)?x$"},
    "`pattern` with look-ahead": {"type": "string", "pattern": "^(?!tmp)[a-z]+$"},
    "`pattern` with look-behind": {"type": "string", "pattern": "^[a-z]+(?<!x)$"},
    "`pattern` with a back-reference": {"type": "string", "pattern": "^(a|b)\\1$"},
    "`pattern` without anchors": {"type": "string", "pattern": "[a-z]+"},
    "`pattern` with anchors in branches": {"type": "string", "pattern": "^a$|^b$"},
    "`pattern` with anchors on one branch": {"type": "string", "pattern": "^a|b$"},
    "`pattern` with a negated class": {"type": "string", "pattern": "^[^a-z]$"},
    "`pattern` with `\\p{L}`": {"type": "string", "pattern": "^\\p{L}+$"},
    "`pattern` and `maxLength`": {"type": "string", "pattern": "^[a-z]+$", "maxLength": 3},
    "`pattern` inside `items`": {"type": "array", "items": {"type": "string", "pattern": "^\\d+$"}},
    "`minLength`, `maxLength`": {"type": "string", "minLength": 2, "maxLength": 4},
    "`minLength` of 2,000": {"type": "string", "minLength": 2_000},
    "`maxLength` of 10,000": {"type": "string", "maxLength": 10_000},
    "`format: date`": {"type": "string", "format": "date"},
    "`format: date-time`": {"type": "string", "format": "date-time"},
    "`format: email`": {"type": "string", "format": "email"},
    "`format: uuid`": {"type": "string", "format": "uuid"},
    "`format: ipv4`": {"type": "string", "format": "ipv4"},
    "`format: uri`": {"type": "string", "format": "uri"},
    "an unknown `format`": {"type": "string", "format": "color"},
    "`minimum`, `maximum` of integers": {"type": "integer", "minimum": 3, "maximum": 120},
    "`minimum`, `maximum` of numbers": {"type": "number", "minimum": 0.5, "maximum": 2},
    "`exclusiveMinimum`": {"type": "number", "exclusiveMinimum": 0},
    "`multipleOf`": {"type": "integer", "multipleOf": 5},
    "`enum` of several types": {"enum": ["a", 1, None, True]},
    "`const` of an object": {"const": {"a": 1, "b": [2]}},
    "`type` as a list": {"type": ["string", "null"]},
    "`nullable`": {"type": "string", "nullable": True},
    "no `type`": {"properties": {"a": _INTEGER}, "required": ["a"]},
    "optional properties": _closed(a=_INTEGER, b=_STRING, c={"type": "null"}),
    "`required` of what is not declared": {**_closed(a=_INTEGER), "required": ["a"],
                                           "additionalProperties": True},
    "no `additionalProperties`": {"type": "object", "properties": {"a": _INTEGER}},
    "`additionalProperties` with a schema": {"type": "object", "additionalProperties": _INTEGER},
    "`properties` that are empty": _closed(),
    "`patternProperties`": {"type": "object", "patternProperties": {"^x-": _INTEGER},
                            "additionalProperties": False},
    "`propertyNames`": {"type": "object", "propertyNames": {"pattern": "^[a-z]+$"}},
    "`minProperties`": {"type": "object", "additionalProperties": _INTEGER, "minProperties": 2},
    "`maxProperties`": {"type": "object", "additionalProperties": _INTEGER, "maxProperties": 1},
    "`dependentRequired`": {**_closed(a=_INTEGER, b=_STRING), "dependentRequired": {"a": ["b"]}},
    "names with letters beyond ASCII": _closed(größe=_INTEGER),
    "`minItems`, `maxItems`": {"type": "array", "items": _INTEGER, "minItems": 1, "maxItems": 3},
    "`uniqueItems`": {"type": "array", "items": _INTEGER, "uniqueItems": True},
    "`contains`": {"type": "array", "contains": {"const": 1}},
    "`prefixItems`": {"type": "array", "prefixItems": [_INTEGER, _STRING], "items": False},
    "`anyOf`": {"anyOf": [_INTEGER, {"type": "null"}]},
    "`oneOf` of disjoint branches": {"oneOf": [_INTEGER, _STRING]},
    "`oneOf` that overlaps": {"oneOf": [{"type": "integer", "minimum": 3},
                                        {"type": "integer", "maximum": 5}]},
    "`allOf` of two objects": {"allOf": [_A, _B]},
    "`not`": {"type": "string", "not": {"const": "no"}},
    "`if`, `then`, `else`": {"type": "object", "properties": {"k": {"enum": ["a", "b"]},
                             "v": {}}, "required": ["k"], "additionalProperties": False,
                             "if": {"properties": {"k": {"const": "a"}}},
                             "then": {"required": ["v"]}},
    "`$ref`": {"$ref": "#/$defs/a", "$defs": {"a": _closed(a=_INTEGER)}},
    "`$ref` beside other keywords": {"$ref": "#/$defs/a", "maxLength": 2, "$defs": {"a": _STRING}},
    "`$ref` that recurses": {"$ref": "#/$defs/n", "$defs": {"n": _closed(
        n={"$ref": "#/$defs/n"}, v=_INTEGER)}},
}  # fmt: skip
"""A schema for each construct."""

THREADS = {
    "xgrammar": {
        "https://github.com/mlc-ai/xgrammar/issues/800": (
            "strings with `minLength`, `maxLength` or `pattern` cannot have escapes"
        ),
        "https://github.com/mlc-ai/xgrammar/issues/104": (
            "what becomes of a keyword depends on the schema around it"
        ),
    },
    "llguidance": {
        "https://github.com/guidance-ai/llguidance/issues/265": (
            "`patternProperties` beside a declared property"
        ),
    },
    "outlines-core": {
        "https://github.com/dottxt-ai/outlines-core/issues/261": (
            "keywords that are ignored: `multipleOf`, `uniqueItems`, `contains`, ..."
        ),
        "https://github.com/dottxt-ai/outlines-core/issues/147": "bounds of numbers are ignored",
        "https://github.com/dottxt-ai/outlines-core/issues/149": "`patternProperties`",
        "https://github.com/dottxt-ai/outlines-core/issues/150": "`additionalProperties: true`",
    },
    "llama.cpp": {
        "https://github.com/ggml-org/llama.cpp/issues/27580": (
            "`\\d`, `\\w` and `\\s` in `pattern`: the grammar cannot be parsed"
        ),
        "https://github.com/ggml-org/llama.cpp/issues/27397": "`\\/` in `pattern`",
        "https://github.com/ggml-org/llama.cpp/issues/25895": (
            "one `pattern` inside `items`, and all tools are refused"
        ),
        "https://github.com/ggml-org/llama.cpp/issues/19051": (
            "llama-server goes on without a constraint where its parser refuses the grammar"
        ),
    },
}
"""Threads about what is found here."""

_WORDS = {"ok": "ok", "weak": "**not enforced**", "rejects": "rejects valid", "refuses": "refuses"}


def lines(results: dict[str, dict[str, Examined]]) -> Iterator[str]:
    """Yield the section: the table, the threads, and what was found of each construct."""
    names = list(next(iter(results.values())))
    yield f"| construct | {' | '.join(f'{name} {version_of(name)}' for name in names)} |"
    yield "|---" * (1 + len(names)) + "|"
    for construct, by_engine in results.items():
        cells = (_WORDS[by_engine[name].verdict] for name in names)
        yield f"| {construct} | {' | '.join(cells)} |"
    yield from ("", "### Threads", "")
    for name, threads in THREADS.items():
        yield from (f"- {name}: [{what}]({url})" for url, what in threads.items())
    yield from ("", "### What was found", "")
    for construct, by_engine in results.items():
        found = [each for result in by_engine.values() for each in result.findings]
        if found:
            schema = json.dumps(PROBES[construct], ensure_ascii=False)
            yield f"**{construct}**: `{schema}`"
            yield ""
            yield from (f"- {_said(each)}" for each in found)
            yield ""


def _said(finding: Finding) -> str:
    at = f" at `{finding.pointer}`" if finding.pointer else ""
    match finding.fault:
        case Fault.REFUSES:
            return f"{finding.engine} refuses{at}: {_quoted(finding.words)}"
        case Fault.WEAK:
            return f"{finding.engine} accepts {_quoted(finding.witness or '')}: not enforced{at}"
        case _:
            words = f" ({finding.words})" if finding.words else ""
            return f"{finding.engine} rejects {_quoted(finding.witness or '')}{at}{words}"


def _quoted(text: str) -> str:
    text = text.replace("`", "'")
    short = text if len(text) <= 110 else f"{text[:60]} … {text[-20:]}"
    return f"`` {short} ``" if "\\" in short else f"`{short}`"


_SECTION = re.compile(r"(?<=<!-- probes -->\n).*(?=<!-- end of probes -->)", re.DOTALL)


def main(page: str = "") -> None:
    """Ask all engines that are installed, and print or write what they say."""
    engines = {name: Asked(name) for name in installed()}
    results = {}
    for construct, schema in PROBES.items():
        exam = Exam(schema)
        results[construct] = {
            name: examine(exam, asked, SECONDS) for name, asked in engines.items()
        }
    for asked in engines.values():
        asked.close()
    text = "\n".join(lines(results)) + "\n"
    if not page:
        print(text, end="")
        return
    file = Path(page)
    file.write_text(
        _SECTION.sub(lambda _: f"\n{text}\n", file.read_text(encoding="utf-8")), encoding="utf-8"
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
