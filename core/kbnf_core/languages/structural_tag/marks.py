"""The values of a structural tag: its rules once more, with marks.

This is for tags that have no reading language (``reading``): those with grammars, tokens, dispatch
or patterns of calls. Names of tools and shapes of arguments are the same for both.

The texts of a tag are free text, reasoning, and calls of tools, whose arguments are JSON or XML.
These rules match the same texts, and each of those parts is a rule of its own: what begins and ends
them is reported by the grammar, so that no second description of a format is needed. JSON is any
JSON in them: what a model may write has been decided by then, and a tool's schema costs nothing
here.

Free text and calls take turns in one way only (text, then any number of calls, each with text after
it), so that it is certain at once where text goes on.

The tool is that of the format, as tags made of a list of tools have it (``tool``). Of other tags it
is the one that the beginning around the arguments names: as the formats of ``models`` have it,
after ``name`` or ``to=functions.``, after the last ``=`` in angle brackets, or as the only word;
else there is none. Text is reasoning where the tag around it says so.

Artifacts and pickled grammars carry a language, or marked rules, as a text of JSON.

Tests: tests/unit/languages/test_structural_tag.py, tests/unit/languages/tools
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cache
from typing import Any

from kbnf_core import ir
from kbnf_core.conversion.to_kbnf import print_kbnf
from kbnf_core.ir.build import alternation, optional, repeated, sequence
from kbnf_core.kbnf.build import definition, of_ir
from kbnf_core.kbnf.parsed import Mark, Marked, Request, Shape
from kbnf_core.kbnf.read import parse_kbnf
from kbnf_core.kbnf.tree import Document
from kbnf_core.languages.json_schema import Digits, Escapes, Options, Order, Whitespace
from kbnf_core.languages.json_schema.document import SchemaDocument
from kbnf_core.languages.structural_tag.arguments import INPUT
from kbnf_core.languages.structural_tag.contents import (
    START,
    Contents,
    SchemaContents,
    constants,
    is_restricted,
    options_in,
)
from kbnf_core.languages.structural_tag.models import NAME, table
from kbnf_core.languages.structural_tag.nested import NOTATIONS
from kbnf_core.languages.structural_tag.presets import filled
from kbnf_core.languages.structural_tag.read import FormatNode, NamedToken, TagReport, read_value
from kbnf_core.languages.structural_tag.tree import leaf_of
from kbnf_core.languages.structural_tag.write import (
    OF_JSON,
    OF_SCHEMAS,
    SharedCall,
    TagWriter,
)
from kbnf_core.languages.structural_tag.xml import STYLES, kind_of, other_members
from kbnf_core.lower.translate import translate
from kbnf_core.text.errors import GrammarError
from kbnf_core.text.json_text import escape
from kbnf_core.text.limits import DEFAULT_LIMITS, Limits
from kbnf_core.text.source import Source

_TEXT, _REASONING = Mark("text"), Mark("reasoning")

_ANY_JSON = Options(whitespace=Whitespace.FLEXIBLE, digits=Digits.ANY, escapes=Escapes.ANY)
_ANYTHING = SchemaDocument(True, _ANY_JSON)


class _ReadContents(Contents):
    """Makes rules of texts that are read: a string may be any."""

    def strings(
        self,
        schema: Mapping[str, Any],
        options: Options,
        pointer: str,
        words: Sequence[str],
        plain: ir.Node,
    ) -> ir.Node:
        """Return all strings without ``words``."""
        del schema, options, pointer, words
        return plain

    def schema(
        self,
        document: SchemaDocument,
        options: Options,
        pointer: str,
        hint: str,
        words: Sequence[str] = (),
    ) -> ir.Node:
        """Return the JSON texts of a schema, of which the writer has left out excluded ones."""
        del words
        return super().schema(document, options, pointer, hint)


class MarkedWriter(TagWriter):
    """Writes a tag that was read without errors; ``marks`` are the meanings of rules."""

    def __init__(
        self, nodes: Sequence[FormatNode], report: TagReport, request: Request, options: Options
    ) -> None:
        # Readers take the members of an object in any order, XML as JSON.
        any_order = replace(options, order=Order.ANY)
        super().__init__(nodes, report, request, any_order, make=_ReadContents)
        self._owners = {id(inner): node for node in nodes for inner in node.children}
        self._free = _TEXT
        self.marks: dict[str, Mark] = {}

    def _write(self, node: FormatNode) -> None:
        self._free = _REASONING if is_reasoning(self._tag_around(node)) else _TEXT
        super()._write(node)

    def mark(self, form: ir.Node, mark: Mark | None = None) -> ir.Node:
        """Return a call of a rule of its own; it is free text unless ``mark`` says otherwise."""
        name = self._contents.names.fresh("value")
        self.marks[name] = mark or self._free
        return self._contents.add(name, form)

    def _tag_around(self, node: FormatNode) -> FormatNode | None:
        owner = self._owners.get(id(node))
        while owner is not None and owner.kind != "tag":
            owner = self._owners.get(id(owner))
        return owner

    def _json_schema(self, node: FormatNode) -> ir.Node:
        style, schema = node.fields.get("style", "qwen_xml"), node.fields["json_schema"]
        shapes: tuple[Shape, ...] = ()
        if style == "json":
            pointer = f"{node.pointer}/json_schema"
            form = self._contents.schema(_ANYTHING, _ANY_JSON, pointer, "json")
        else:
            form = super()._json_schema(node)
            if style not in (*NOTATIONS, *OF_JSON):
                shapes = shapes_of(schema, style, options_in(node.fields, self._options))
        name, tag = node.fields["tool"], self._tag_around(node)
        if style == "call" and name is None:
            return self.mark(form)
        if name is None and tag is not None:
            name = tool_name(_head(tag, node))
        words = node.fields["words"] or "json"
        return self.mark(form, Mark("call", name or None, style, shapes, words=words))

    def _regex(self, node: FormatNode) -> ir.Node:
        return self._read_back(node, super()._regex(node))

    def _grammar(self, node: FormatNode) -> ir.Node:
        return self._read_back(node, super()._grammar(node))

    def _any_text(self, node: FormatNode) -> ir.Node:
        if node.fields["tool"] is None:
            return super()._any_text(node)
        return optional(self._read_back(node, self._contents.avoiding(())))

    def _read_back(self, node: FormatNode, form: ir.Node) -> ir.Node:
        """Return text, or the call that a text is, unless it leads arguments as a number does."""
        if node.fields["tool"] is not None:
            return self.mark(form, Mark("call", node.fields["tool"], INPUT))
        owner = self._owners.get(id(node))
        leads = owner is not None and any(inner.kind in OF_SCHEMAS for inner in owner.children)
        return form if leads else self.mark(form)

    def _text(self, words: tuple[str, ...]) -> ir.Node:
        return self.mark(super()._text(words))

    def _short_text(self, node: FormatNode, words: tuple[str, ...], most: int) -> ir.Node:
        return self.mark(super()._short_text(node, words, most))

    def _word(self, trigger: str) -> ir.Node:
        return self.mark(super()._word(trigger))

    def _up_to(self, node: FormatNode, trigger: str, words: tuple[str, ...]) -> ir.Node:
        form = super()._up_to(node, trigger, words)
        return self.mark(form, self._free._replace(trigger=trigger))

    def _other_token(
        self, node: FormatNode, excluded: Iterable[NamedToken], *, around: bool = True
    ) -> ir.Node:
        return self.mark(super()._other_token(node, excluded, around=around))

    def _dispatched(
        self, node: FormatNode, calls: Sequence[SharedCall], words: tuple[str, ...], first: ir.Node
    ) -> ir.Node:
        if any(call.before is not None for call in calls):
            return super()._dispatched(node, calls, words, first)
        free = optional(self._text(words))
        called = alternation(call.called for call in calls)
        if not node.fields.get("loop", not node.fields.get("stop_after_first")):
            return sequence(free, optional(called))
        body = sequence(free, repeated(sequence(called, free), 0, None))
        return sequence(first, body) if node.fields.get("at_least_one") else body


# Names of tools, and reasoning

_NAMED = re.compile(r'\bname["\']?\s*[:=]\s*(?:"((?:[^"\\]|\\.)+)"|\'([^\']+)\')')
_ADDRESSED = re.compile(r"\bto=functions\.([^\s<]+)")
_IN_TAG = re.compile(r"<[^<>=]*=([^<>\s\"']+)>\s*$")
_WORD = re.compile(r"[\w.-]+")


def _head(tag: FormatNode, content: FormatNode) -> str:
    """Return the text before the arguments in a tag; a number is 0 in it."""
    begin = tag.fields["begin"]
    result = str(begin.name) if isinstance(begin, NamedToken) else str(begin)
    formats = tag.children[0].children if tag.children[0].kind == "sequence" else []
    for inner in formats[: next((i for i, inner in enumerate(formats) if inner is content), 0)]:
        result += str(inner.fields["value"]) if inner.kind == "const_string" else "0"
    return result


def tool_name(head: str) -> str | None:
    """Return the name of the tool that the beginning of a tag names, None where that is unclear."""
    for pattern in _heads():
        match = pattern.fullmatch(head)
        if match is not None:
            return _read(match[1])
    for named in (_NAMED, _ADDRESSED, _IN_TAG):
        names = [*named.finditer(head)]
        if names:
            return _read(names[-1][names[-1].lastindex or 0])
    words = _WORD.findall(head)
    return words[0] if len(words) == 1 else None


def _read(name: str) -> str:
    """Return a name as it is meant, where it is escaped as in JSON."""
    try:
        return str(json.loads(f'"{name}"'))
    except ValueError:
        return name


@cache
def _heads() -> list[re.Pattern[str]]:
    """Return the texts before the arguments in each known format, the longest ones first."""
    heads = {
        head
        for head_ in table().values()
        for key in head_["templates"]
        for head in _heads_in(filled(head_, key, [_ANY_TOOL]))
    }
    splits = [
        head.partition(NAME) for head in sorted(heads, key=lambda head_: (-len(head_), head_))
    ]
    name = r'((?:[^"<>\n\\]|\\.)+)'
    return [re.compile(f"{re.escape(a)}{name}{re.escape(b)}") for a, _, b in splits]


_ANY_TOOL = {"name": NAME}


def _heads_in(format_: Any) -> Iterator[str]:
    report = TagReport(Source("{}", is_json=True))
    tag = {"type": "structural_tag", "format": format_}
    nodes = read_value(tag, report, DEFAULT_LIMITS)
    tags = [(node, inner) for node in nodes if node.kind == "tag" for inner in node.children]
    for node, content in tags:
        for inner in content.children if content.kind == "sequence" else [content]:
            # A name alone does not distinguish the texts around it.
            if inner.kind in OF_SCHEMAS and NAME in _head(node, inner) != NAME:
                yield _head(node, inner)


def is_reasoning(tag: FormatNode | None) -> bool:
    """Return whether a tag is about reasoning: it has text, and its beginning or end says so."""
    if tag is None or tag.children[0].kind != "any_text":
        return False
    begin, end = tag.fields["begin"], tag.fields["end"]
    words = [begin, *([end] if isinstance(end, NamedToken) else end)]
    return is_about_thoughts(word.name if isinstance(word, NamedToken) else word for word in words)


def is_about_thoughts(marks: Iterable[str | int]) -> bool:
    """Return whether one of the marks around a text says that it is reasoning."""
    return any(_THINKING.search(str(mark)) for mark in marks)


_THINKING = re.compile("think|thought|reason|analysis", re.IGNORECASE)


# Arguments in XML


@dataclass(slots=True)
class _ShapeDraft:
    """A shape in the making."""

    kinds: dict[str, None] = field(default_factory=dict)
    members: dict[str, int] = field(default_factory=dict)
    other: int | None = None
    first: list[int] = field(default_factory=list)
    items: int | None = None
    needed: list[str] = field(default_factory=list)


class _Shapes:
    """Finds the shapes of values; a value has the number of the schema at its pointer."""

    def __init__(self, schema: Any, style: str, options: Options) -> None:
        self._schemas = SchemaContents(schema, "", TagReport(Source("{}", is_json=True)), options)
        self._options = options
        self._is_flat = style in STYLES
        # Where elements nest, a string has no space around it but in ``cohere_xml``.
        self._word = "string" if style == "minimax_m3_xml" else "word"
        self._numbers: dict[str, int] = {}
        self._waiting: list[tuple[Any, str]] = []
        self._number(schema, "")

    def all(self) -> Iterator[Shape]:
        for number, (schema, pointer) in enumerate(self._waiting):
            draft = _ShapeDraft()
            for inner_schema, where in self._schemas.cases(schema, pointer):
                self._add(draft, inner_schema, where, is_root=number == 0)
            yield Shape(
                tuple(draft.kinds), draft.members, draft.other, tuple(draft.first), draft.items,
                tuple(draft.needed),
            )  # fmt: skip

    def _number(self, schema: Any, pointer: str) -> int:
        if pointer not in self._numbers:
            self._numbers[pointer] = len(self._waiting)
            self._waiting.append((schema, pointer))
        return self._numbers[pointer]

    def _add(self, draft: _ShapeDraft, schema: Any, pointer: str, *, is_root: bool) -> None:
        """Add a case of a value, which is of one kind or of any."""
        listed = constants(schema)
        if listed is not None:
            for number, value in enumerate(listed):
                self._add_constant(draft, value, f"{pointer}/const{number}")
        elif schema is not False:
            is_leaf = self._is_flat and not is_root
            kind = _type(schema) if is_leaf else kind_of(schema)
            if kind == "string":
                is_word = is_restricted(schema, self._options)
                draft.kinds[self._word if is_word else "string"] = None
            elif kind is None and not is_root:
                draft.kinds.update(dict.fromkeys(("string", "object", "array")))
            else:
                draft.kinds[kind or "object"] = None
            if isinstance(schema, dict) and not is_leaf:
                self._add_inside(draft, schema, pointer, kind or "object")

    def _add_inside(
        self, draft: _ShapeDraft, schema: dict[str, Any], pointer: str, kind: str
    ) -> None:
        if kind == "object":
            for name, (inner_schema, where) in self._schemas.members(schema, pointer)[0].items():
                draft.members[name] = self._number(inner_schema, where)
            draft.needed += filter(draft.members.__contains__, schema.get("required", ()))
            other = other_members(schema, self._options)
            if other is not False:
                draft.other = self._number(other, f"{pointer}/additionalProperties")
        elif kind == "array":
            for index, inner_schema in enumerate(schema.get("prefixItems", [])):
                draft.first.append(self._number(inner_schema, f"{pointer}/prefixItems/{index}"))
            if "items" in schema:
                draft.items = self._number(schema["items"], f"{pointer}/items")

    def _add_constant(self, draft: _ShapeDraft, value: Any, pointer: str) -> None:
        match value:
            case str():
                draft.kinds[self._word] = None
            case dict():
                draft.kinds["object"] = None
                for name, value_ in value.items():
                    where = f"{pointer}/{escape(name)}"
                    draft.members[name] = self._number({"const": value_}, where)
            case list():
                draft.kinds["array"] = None
                for index, value_ in enumerate(value):
                    draft.first.append(self._number({"const": value_}, f"{pointer}/{index}"))
            case None:
                draft.kinds["null"] = None
            case bool():
                draft.kinds["boolean"] = None
            case Decimal() | int() | float():
                draft.kinds["number"] = None


def _type(schema: Any) -> str | None:
    return str(schema["type"]) if isinstance(schema, dict) and "type" in schema else None


def shapes_of(schema: Any, style: str, options: Options) -> tuple[Shape, ...]:
    """Return the shapes of the arguments of a tool, that of all of them first."""
    return tuple(_Shapes(schema, style, options).all())


# Marked rules as text


def dump(marked: Marked) -> str:
    """Return the description of values as a text of JSON."""
    if marked.syntax:
        return json.dumps({"syntax": marked.syntax})
    if marked.grammar is None:
        result = {"language": marked.language, "messages": marked.messages}
        return json.dumps(result, ensure_ascii=False, sort_keys=True, default=float)
    definitions = [
        definition(name, of_ir(body, leaf_of)) for name, body in marked.grammar.rules.items()
    ]
    document = Document(Source(""), tuple(definitions), ())
    rules = print_kbnf(document, START, None, "", keeps_names=True)
    marks = {
        name: {**mark._asdict(), "shapes": [_shape(shape) for shape in mark.shapes]}
        for name, mark in marked.marks.items()
    }
    result = {"rules": rules, "marks": marks, "messages": marked.messages}
    return json.dumps(result, ensure_ascii=False, sort_keys=True)


_LISTS = ("kinds", "first", "needed")


def _shape(shape: Shape) -> dict[str, Any]:
    return {**shape._asdict(), "members": dict(shape.members)}


def load(text: str, limits: Limits) -> Marked:
    """Return the description that such a text has.

    Raises ValueError for an invalid text, GrammarError for one whose rules are invalid.
    """
    try:
        result = json.loads(text)
        if "syntax" in result:
            return Marked(None, {}, syntax=str(result["syntax"]))
        if "language" in result:
            return Marked(None, {}, result["messages"], result["language"])
        marks = {
            name: Mark(
                mark["kind"],
                mark["name"],
                mark["style"],
                tuple(
                    Shape(**{**entry, **{key: tuple(entry[key]) for key in _LISTS}})
                    for entry in mark["shapes"]
                ),
                mark["trigger"],
                mark["words"],
            )
            for name, mark in result["marks"].items()
        }
        parsed = parse_kbnf(Source(result["rules"]), limits)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(str(error)) from None
    grammar, problems = translate(parsed.document, START, limits)
    if grammar is None:
        raise GrammarError(problems)
    return Marked(grammar, marks, result.get("messages", ""))
