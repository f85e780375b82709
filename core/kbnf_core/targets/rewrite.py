"""A schema that an engine accepts: the constructs at fault are written in another way, no others.

What the engine refuses, or does not enforce, has a pointer and a keyword (``exam``). For each
keyword there are other spellings, tried in order. One is taken where the engine does better with it
and it is *proved* (``diff``) that the values are the same, or fewer: then a text is named that is
lost. None may be wider. The result is asked about as a whole before it is returned.

Tests: tests/unit/targets/test_rewrite.py
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from kbnf_core.diff.comparison import Verdict, compare
from kbnf_core.grammar import Grammar
from kbnf_core.languages.json_schema import Formats, Options, Standard
from kbnf_core.languages.json_schema.document import SchemaDocument
from kbnf_core.languages.json_schema.type_keywords import formats_of
from kbnf_core.targets.exam import Exam, Examined, Fault, Finding, examine
from kbnf_core.targets.judges import Json, at, replaced, shown
from kbnf_core.targets.process import Asked
from kbnf_core.targets.refusals import refused_fragments
from kbnf_core.text.errors import KbnfError
from kbnf_core.text.json_text import steps_of

_ROUNDS = 16
_WORK = 300_000


@dataclass(frozen=True, slots=True)
class KeywordChange:
    """A keyword that was written in another way; ``lost`` is a text that is no longer allowed."""

    pointer: str
    description: str
    lost: str | None

    @property
    def summary(self) -> str:
        """The change in words."""
        kept = "proved equal" if self.lost is None else f"narrower: it loses {shown(self.lost)}"
        return f"{self.pointer or 'the whole schema'}: {self.description} ({kept})"


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A schema after the changes, and what the engine does with it."""

    schema: Json
    changes: tuple[KeywordChange, ...]
    result: Examined

    @property
    def is_taken(self) -> bool:
        """Whether the engine takes the schema now."""
        return self.result.answer.takes


def rewrite(schema: Json, asked: Asked) -> Rewritten:
    """Return a schema that an engine takes and enforces, as far as there is one."""
    changes: list[KeywordChange] = []
    given = schema
    schema = _of_newest_draft(_until_taken(schema, asked, changes), changes)
    if schema is None:
        return Rewritten(given, (), examine(Exam(given), asked))
    result = examine(Exam(schema), asked)
    before = len(changes)
    for finding in result.findings:
        if finding.fault is Fault.WEAK:
            schema = _changed(schema, finding, asked, changes)
    if len(changes) > before:
        result = examine(Exam(schema), asked)
    return Rewritten(schema, tuple(changes), result)


def _until_taken(schema: Json, asked: Asked, changes: list[KeywordChange]) -> Json:
    """Return a schema without what the engine refuses, as far as that has another spelling."""
    for _ in range(_ROUNDS):
        answer = asked.compile(json.dumps(schema))
        if answer.takes:
            break
        before = len(changes)
        for refused in list(refused_fragments(schema, asked, answer, lambda: False)):
            finding = Finding(asked.name, "", Fault.REFUSES, refused.pointer, refused.keyword)
            schema = _changed(schema, finding, asked, changes)
        if len(changes) == before:
            break
    return schema


def _changed(schema: Json, finding: Finding, asked: Asked, changes: list[KeywordChange]) -> Json:
    result = _respelled(schema, finding, asked)
    if result is None:
        return schema
    changes.append(result[1])
    return result[0]


def _respelled(schema: Json, finding: Finding, asked: Asked) -> tuple[Json, KeywordChange] | None:
    """Respell a schema so that a fault goes; return it and the change, or None."""
    for pointer, keyword in _candidates(schema, finding):
        node = at(schema, pointer)
        for change, spelt in _spellings(schema, node, keyword):
            changed = replaced(schema, tuple(steps_of(pointer)), spelt)
            if not _is_better(changed, finding, asked):
                continue
            lost = _proof(schema, changed, node, spelt)
            if lost is not _WIDER:
                return changed, KeywordChange(finding.pointer, change, lost or None)
    return None


def _candidates(schema: Json, finding: Finding) -> Iterator[tuple[str, str]]:
    """Yield the schema and keyword of a finding; where it has none, all keywords there."""
    if finding.keyword:
        yield finding.pointer.rpartition("/")[0], finding.keyword
        return
    node = at(schema, finding.pointer)
    if isinstance(node, dict):
        yield from ((finding.pointer, keyword) for keyword in node)


def _is_better(schema: Json, finding: Finding, asked: Asked) -> bool:
    """Return whether the engine no longer has a fault."""
    answer = asked.compile(json.dumps(schema))
    if finding.fault is Fault.WEAK:
        return answer.takes and not asked.accepts(finding.witness or "")
    if answer.takes:
        return True
    # It may be refused for another reason: the part by itself must be taken.
    node = at(schema, finding.pointer.rpartition("/")[0] if finding.keyword else finding.pointer)
    definitions = {key: schema[key] for key in ("$defs", "definitions") if key in schema}
    alone = {**definitions, **node} if isinstance(node, dict) else node
    return asked.compile(json.dumps(alone)).takes


_WIDER = "\0"
"""What ``_proof`` returns where a schema is wider, or it is not known."""


def _proof(old: Json, new: Json, node: Json, spelt: Json) -> str:
    """Return a text that the new spelling loses, `""` where there is none, or ``_WIDER``."""
    if '"$ref"' not in json.dumps([node, spelt]):
        old, new = node, spelt
    try:
        grammars = [
            Grammar.from_json_schema(json.dumps(schema), whitespace="compact")
            for schema in (old, new)
        ]
        comparison = compare(grammars[0], grammars[1], _WORK)
    except KbnfError:
        return _WIDER
    if (
        comparison.new_only.verdict is not Verdict.EMPTY
        or comparison.old_only.verdict is Verdict.UNKNOWN
    ):
        return _WIDER
    data = comparison.old_only.data
    return "" if data is None else data.decode("utf-8", "replace")


_Spelling = tuple[str, Json]
"""The change, in words, and the schema."""


def _spellings(root: Json, node: dict[str, Any], keyword: str) -> Iterator[_Spelling]:
    """Yield other spellings of a keyword in a schema, the best ones first."""
    maker = _MAKERS.get(keyword)
    if maker is not None:
        yield from maker(root, node, keyword)
    less = {key: inner for key, inner in node.items() if key != keyword}
    # Only what asks for nothing can be left out: it is proved.
    yield f"`{keyword}`, which says nothing here, left out", less


def _formats(root: Json, node: dict[str, Any], keyword: str) -> Iterator[_Spelling]:
    """Yield a format as a pattern; beside a pattern, what both allow."""
    del root, keyword
    expected = formats_of(Standard.JSON_SCHEMA, Formats.PLAIN).get(str(node.get("format")))
    if not expected:
        return
    rest = {key: inner for key, inner in node.items() if key != "format"}
    if "pattern" not in node:
        yield (
            "`format` written as a pattern",
            {**rest, "pattern": plain_pattern(f"^({expected})$")},
        )
        return
    expression = _of_automaton(str(node["pattern"]), expected)
    if expression is not None:
        yield "`format` and `pattern` written as one pattern", {**rest, "pattern": expression}


def _patterns(root: Json, node: dict[str, Any], keyword: str) -> Iterator[_Spelling]:
    pattern = node[keyword]
    if not isinstance(pattern, str):
        return
    yield from _formats(root, node, keyword) if "format" in node else ()
    plain = plain_pattern(pattern)
    yield "classes and escapes of the pattern written out", {**node, keyword: plain}
    yield "anchors written", {**node, keyword: _anchored(plain)}
    expression = _of_automaton(pattern)
    if expression is not None:
        yield "the pattern written as a plain expression", {**node, keyword: expression}


_STEP = re.compile(r"\\(?:u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|[\s\S])|[\s\S]")
_SPACES = " \t\n\x0b\x0c\r\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
_SETS = {"d": "0-9", "w": "A-Za-z0-9_", "s": _SPACES}
_SPECIAL = frozenset("^$.[]()|{}*+?\\")
_LETTERS = {"t": "\t", "n": "\n", "r": "\r", "f": "\x0c", "v": "\x0b", "0": "\0"}


def plain_pattern(pattern: str) -> str:
    r"""Return a pattern with `\d`, `\w`, `\s`, escapes and groups as all engines read them."""
    written: list[str] = []
    members: list[str] | None = None
    has_hyphen = False
    for step in _STEP.findall(pattern.replace("(?:", "(")):
        if members is None:
            if step == "[":
                members, has_hyphen = [], False
                written.append("[")
            else:
                written.append(_outside(step))
        elif step == "]" and members not in ([], ["^"]):
            written += [*members, "-" if has_hyphen else "", "]"]
            members = None
        elif step == "\\-":
            has_hyphen = True
        else:
            members.append(_member(step))
    return "".join(written)


def _outside(step: str) -> str:
    if len(step) < 2:
        return step
    letter = step[1]
    if letter.lower() in _SETS:
        return f"[{'^' if letter.isupper() else ''}{_SETS[letter.lower()]}]"
    if letter in _SPECIAL or letter in "bBkpP123456789":
        return step
    char = _char(step)
    return f"\\{char}" if char in _SPECIAL else char


def _member(step: str) -> str:
    if len(step) < 2:
        return step
    letter = step[1]
    if letter in _SETS:
        return _SETS[letter]
    if letter in "DWS]\\^":
        return step
    char = _char(step)
    return f"\\{char}" if char in "]\\^" else char


def _char(step: str) -> str:
    """Return the character of an escape."""
    if len(step) > 2:
        return chr(int(step[2:], 16))
    return _LETTERS.get(step[1], step[1])


def _anchored(pattern: str) -> str:
    """Return a pattern of whole strings, around which there are no line breaks."""
    starts, ends = pattern.startswith("^"), pattern.endswith("$") and not pattern.endswith("\\$")
    inner = pattern[starts : len(pattern) - ends]
    if "|" in inner:
        inner = f"({inner})"
    return f"^{'' if starts else '.*'}{inner}{'' if ends else '.*'}$"


_CODE = re.compile(r"\\u\{([0-9a-f]+)\}")


def _code_point(match: re.Match[str]) -> str:
    """Return a code point as ECMA's expressions spell it."""
    return chr(int(match[1], 16))


_MOST = 12_000
"""Characters of an expression that is made of an automaton."""


def _of_automaton(pattern: str, beside: str = "") -> str | None:
    """Return a plain expression for the strings of a pattern, None where that is large.

    They match as a whole the strings that are ``beside`` it, if any.
    """
    from kbnf_core.automata.operations import difference, intersect
    from kbnf_core.automata.regex.compile import compile_regex
    from kbnf_core.automata.regex.ecma import conditions
    from kbnf_core.automata.to_regex import to_regex
    from kbnf_core.text.errors import LimitError

    try:
        whole = None
        of_format = [(beside, True)] if beside else []
        for expression, holds in [*conditions(pattern), *of_format]:
            dfa = compile_regex(expression).dfa
            if dfa is None:
                return None
            if whole is None:
                whole = dfa
            else:
                whole = intersect(whole, dfa) if holds else difference(whole, dfa)
        result = None if whole is None else to_regex(whole)
    except (KbnfError, LimitError, ValueError):
        return None
    if result is None or len(result) > _MOST:
        return None
    return plain_pattern(f"^({_CODE.sub(_code_point, result)})$").replace("(?s:.)", "[^]")


def _caps(root: Json, node: dict[str, Any], keyword: str) -> Iterator[_Spelling]:
    del root
    for most in (10_000, 5_000, 2_000, 1_000, 500, 200):
        if isinstance(node[keyword], int | float) and node[keyword] > most:
            yield f"`{keyword}` made {most:,}", {**node, keyword: most}


def _constants(root: Json, node: dict[str, Any], keyword: str) -> Iterator[_Spelling]:
    del root
    rest = {key: inner for key, inner in node.items() if key != keyword}
    if keyword == "const":
        yield "`const` written as `enum`", {**rest, "enum": [node[keyword]]}
        return
    values = node[keyword]
    if isinstance(values, list) and values:
        branches = [{"const": value} for value in values]
        spelt = branches[0] if len(branches) == 1 else {"anyOf": branches}
        yield "`enum` written as `const`", {**rest, **spelt}
    if isinstance(values, list) and values and not rest.keys() - {"title", "description"}:
        yield "`enum` written as schemas", {**rest, "anyOf": list(map(_schema_of, values))}


def _schema_of(value: Json) -> Json:
    """Return a schema without ``enum`` of objects that allows one value."""
    if isinstance(value, dict):
        return {
            "type": "object",
            "properties": {name: _schema_of(inner) for name, inner in value.items()},
            "required": list(value),
            "additionalProperties": False,
        }
    if isinstance(value, list):
        # As many as are listed, each one that may come at any place: wider unless they are alike.
        alike = {json.dumps(item) for item in value}
        items = {"items": _schema_of(value[0])} if len(alike) == 1 else {}
        return {"type": "array", **items, "minItems": len(value), "maxItems": len(value)}
    return {"enum": [value]}


def _one_of(root: Json, node: dict[str, Any], keyword: str) -> Iterator[_Spelling]:
    del root
    rest = {key: inner for key, inner in node.items() if key != keyword}
    yield "`oneOf` written as `anyOf`", {**rest, "anyOf": node[keyword]}


def _all_of(root: Json, node: dict[str, Any], keyword: str) -> Iterator[_Spelling]:
    rest = {key: inner for key, inner in node.items() if key != keyword}
    merged = _merged(root, [rest, *node[keyword]])
    if merged is not None:
        yield "`allOf` merged", merged


def _reference(root: Json, node: dict[str, Any], keyword: str) -> Iterator[_Spelling]:
    target = SchemaDocument(root, Options()).target_in(node, keyword)
    rest = {key: inner for key, inner in node.items() if key != keyword}
    if target is not None:
        yield "`$ref` written out", {**rest, **target.value}
        merged = _merged(root, [rest, target.value])
        if merged is not None:
            yield "`$ref` merged with what is beside it", merged


def _merged(root: Json, schemas: list[Json]) -> Json | None:
    """Return one schema for several that apply together, None where keywords clash."""
    merged: dict[str, Any] = {}
    document = SchemaDocument(root, Options())
    for schema in schemas:
        if not isinstance(schema, dict):
            return None
        target = document.target_in(schema)
        whole = target.value if target is not None and len(schema) == 1 else schema
        for keyword, inner in whole.items():
            if keyword not in merged or merged[keyword] == inner:
                merged[keyword] = inner
            elif keyword in _JOINED:
                merged[keyword] = _JOINED[keyword](merged[keyword], inner)
            elif keyword not in ("title", "description"):
                return None
    return merged


def _joined_properties(first: Json, second: Json) -> Json:
    shared = {name for name in second if name in first and first[name] != second[name]}
    both = {name: {"allOf": [first[name], second[name]]} for name in shared}
    return {**first, **second, **both}


_JOINED: dict[str, Callable[[Json, Json], Json]] = {
    "properties": _joined_properties,
    "required": lambda first, second: list(dict.fromkeys([*first, *second])),
    "minimum": max,
    "maximum": min,
    "minLength": max,
    "maxLength": min,
    "minItems": max,
    "maxItems": min,
    "definitions": lambda first, second: {**first, **second},
    "$defs": lambda first, second: {**first, **second},
}


def _types(root: Json, node: dict[str, Any], keyword: str) -> Iterator[_Spelling]:
    del root
    listed = node[keyword]
    if isinstance(listed, list):
        rest = {key: inner for key, inner in node.items() if key != keyword}
        yield (
            "`type` written as `anyOf`",
            {"anyOf": [{**rest, "type": type_name} for type_name in listed]},
        )


def _tuples(root: Json, node: dict[str, Any], keyword: str) -> Iterator[_Spelling]:
    del root
    if isinstance(node[keyword], list):
        names = {keyword: "prefixItems", "additionalItems": keyword}
        yield _TUPLE, {names.get(key, key): inner for key, inner in node.items()}


_TUPLE = "a list in `items` written as `prefixItems`"


def _of_newest_draft(schema: Json, changes: list[KeywordChange]) -> Json | None:
    """Return a schema whose tuples were rewritten for the draft that has them so.

    None where it would mean something else there.
    """
    if "$schema" not in schema or all(change.description != _TUPLE for change in changes):
        return schema
    newest = {**schema, "$schema": "https://json-schema.org/draft/2020-12/schema"}
    return None if _proof(schema, newest, schema, newest) else newest


_MAKERS: dict[str, Callable[[Json, dict[str, Any], str], Iterator[_Spelling]]] = {
    "pattern": _patterns,
    "format": _formats,
    **dict.fromkeys(("maxLength", "maxItems", "maxProperties"), _caps),
    **dict.fromkeys(("const", "enum"), _constants),
    "oneOf": _one_of,
    "allOf": _all_of,
    "$ref": _reference,
    "type": _types,
    "items": _tuples,
}
