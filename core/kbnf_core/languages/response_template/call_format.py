"""Grammars of response templates: formats of calls whose texts are read back as the template says.

A format (``structural_tag.models``) is made of the fields: thoughts first, then other regions
in the order of the template, text in the implicit field, and calls. Text has nothing that opens a
region or ends the message: of a pattern, a text that all its matches have. A field that does not
repeat is there once, since transformers keeps its last region only. What closes the implicit field
ends the turn, which the model's server does.

A field of calls says where a name and arguments are: in a JSON object, in the opening, or in a list
of calls of Python. Arguments are JSON, a notation or elements of a style that the template's own
pattern reads.

Tests: tests/unit/languages/test_response_templates.py
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from kbnf_core.automata.algebra import Choice, Repeat, fold, postorder
from kbnf_core.automata.algebra import Sequence as InOrder
from kbnf_core.automata.codepoints import ANY, difference, from_text, intersect
from kbnf_core.automata.expression import Builder, print_characters, print_expression
from kbnf_core.automata.regex.search import SearchPattern
from kbnf_core.automata.regex.syntax import WHITE_SPACE, CharacterSet, Named, Node
from kbnf_core.languages.response_template.template import (
    INVALID,
    PLACEHOLDER,
    Anchor,
    Template,
    TemplateField,
)
from kbnf_core.languages.structural_tag.models import (
    CHOICES,
    NAME,
    NAMED,
    REASONING,
    SCHEMA,
    Format,
    key_of,
    shared_out,
)
from kbnf_core.languages.structural_tag.read import TagReport
from kbnf_core.text.budget import Budget

_THOUGHTS = ("reasoning_content", "reasoning", "thinking", "thought", "thoughts", "analysis")
_MOST_BLANKS, _MOST_LETTERS = 2, 64
"""The cut bounds of unbounded repetitions in openings, for blanks and for other characters."""

_ASCII = ((0x20, 0x7E),)
_MOST_RANGES = 20
"""Ranges of a set of characters, of which more are cut to those of ASCII: letters, say."""

_BLANKS = from_text("".join(WHITE_SPACE))
_GAP: Format = {"type": "regex", "pattern": f"[ \\t\\n\\r]{{0,{_MOST_BLANKS}}}"}
_ELEMENTS = {
    "qwen_xml": "<parameter={0}>\n{1}\n</parameter>",
    "minimax_xml": '<parameter name="{0}">{1}</parameter>',
    "glm_xml": "<arg_key>{0}</arg_key>\n<arg_value>{1}</arg_value>",
}
"""An element of each style whose pattern a template may have."""

_GEMMA = [['<|"|>', '<|"|>']]


class _UnwritableError(Exception):
    """A field of calls that no format writes; the message says why."""


class _CallField(NamedTuple):
    """Where the parts of a call are: ``group`` has the name, or the ``members`` of an object."""

    field: TemplateField
    group: str = ""
    members: tuple[str, str] = ("", "")


def format_from(template: Template, report: TagReport) -> Format:
    """Return the format of a template; constructs without a format are reported."""
    writer = _FormatWriter(template, report)
    templates = {}
    for choice, reasoning, single in product((*CHOICES, NAMED), REASONING, (False, True)):
        written = writer.whole(choice, reasoning, once=single or choice == NAMED)
        if written is not None:
            templates[key_of(choice, reasoning, single=single)] = written
    made = shared_out("", templates)
    pattern = writer.name_pattern
    names = {} if pattern is None else {"names": pattern}
    implicit = template.implicit
    closing = implicit.close if implicit is not None else None
    ends = {} if closing is None else {"turn_ends": [*closing.texts]}
    return {**made, **names, **ends, "response_template": template.value}


def format_of_any(template: Template, report: TagReport) -> Format:
    """Return the structural tag of the texts that a template reads, with calls of any tools."""
    written = _FormatWriter(template, report, is_any=True).whole("auto", "auto", once=False)
    return {"type": "structural_tag", "format": written or {"type": "const_string", "value": ""}}


class _FormatWriter:
    def __init__(self, template: Template, report: TagReport, *, is_any: bool = False) -> None:
        self._template = template
        self._report = report
        self._is_any = is_any
        self._tool: Format = {"tool": ""} if is_any else {}
        fields = [field for field in template.fields.values() if field.open is not None]
        calls = [(field, self._call(field)) for field in fields]
        self._call_field = next((call for _, call in calls if call is not None), None)
        own = self._call_field and self._call_field.field
        self._thoughts = next((field for field in fields if field.name in _THOUGHTS), None)
        self._others = [field for field in fields if field not in (own, self._thoughts)]
        implicit = template.implicit
        ends = [field.open for field in fields] + ([implicit.close] if implicit else [])
        self._outside = [text for field in ends if field for text in self._texts_in(field)]

    # Whole texts

    def whole(self, choice: str, reasoning: str, *, once: bool) -> Format | None:
        """Return the texts of one way to ask; None where there is none."""
        if choice in ("required", NAMED) and self._call_field is None:
            return None
        elements: list[Format] = []
        if self._thoughts is not None and reasoning != "disabled":
            led = self._region(self._thoughts)
            elements.append(led if reasoning == "enabled" else _optional(led))
        last = []
        for field_ in self._others:
            if field_.close is None:
                last.append(self._region(field_))
            else:
                elements.append(self._often(field_))
        text = [] if self._template.implicit is None else [self._text(self._outside)]
        if choice == "none" or self._call_field is None:
            elements += text
        elif choice == "auto":
            elements += self._mixed(self._call_field, text, once=once)
        else:
            elements.append(
                self._tags(self._call_field, is_first=True, at_least_one=True, once=once)
            )
        if last and choice in ("auto", "none"):
            elements.append(_optional(_or(last)))
        return _in_order(elements)

    def _often(self, field: TemplateField) -> Format:
        region = self._region(field)
        if field.repeats:
            return {"type": "plus" if not field.is_optional else "star", "content": region}
        return _optional(region) if field.is_optional else region

    def _mixed(self, call: _CallField, text: list[Format], *, once: bool) -> list[Format]:
        """Return text with calls in it."""
        implicit = self._template.implicit
        once = once or not call.field.repeats
        if not text:
            return [self._tags(call, is_first=True, at_least_one=False, once=once)]
        first = self._tags(call, is_first=False, at_least_one=True, once=True)
        if once:
            return [*text, _optional(first)]
        if implicit is not None and implicit.repeats:
            return [*text, {"type": "star", "content": _in_order([first, *text])}]
        more = self._tags(call, is_first=True, at_least_one=False, once=False)
        return [*text, _optional(_in_order([first, more]))]

    def _text(self, excluded: Sequence[str]) -> Format:
        return {"type": "any_text", "excludes": [*dict.fromkeys(excluded)]}

    def _region(self, field: TemplateField) -> Format:
        """Return a region whose content is not a call."""
        excluded = [] if field.close is None else self._texts_in(field.close)
        content: Format = self._text(excluded)
        kind = field.content.kind
        if kind in _VALUES:
            content = {"type": "regex", "pattern": _VALUES[kind]}
        elif kind == "json":
            content = _json(True, {})
        return self._closed(field, [*self._written(field.open), content])

    def _closed(self, field: TemplateField, elements: list[Format]) -> Format:
        """Return a region as a tag, whose texts its beginning and end mark."""
        begin, *rest = elements
        if begin["type"] != "const_string":
            begin, rest = _const(""), elements
        ends: list[str] = [""]
        if field.close is not None and field.close.pattern is None:
            ends = [*field.close.texts]
        elif field.close is not None:
            rest = [*rest, *self._written(field.close)]
        return {"type": "tag", "begin": begin["value"], "content": _in_order(rest), "end": ends}

    # Calls

    def _call(self, field: TemplateField) -> _CallField | None:
        """Return how a field contains calls; None if it contains none."""
        transform = field.transform
        function = transform.get("function") if isinstance(transform, dict) else None
        if function is None:
            return None
        whole = "" if field.transforms_items else "content"
        if function == "{content}" and not field.transforms_items:
            function = {"name": "{content.name}", "arguments": "{content.arguments}"}
        if isinstance(function, dict):
            name, arguments = (_path(function.get(field_)) for field_ in ("name", "arguments"))
            names = field.open.pattern.names if field.open and field.open.pattern else ()
            if name in names and arguments == whole:
                return _CallField(field, group=name)
            prefix = f"{whole}." if whole else ""
            inner = tuple(field_.removeprefix(prefix) for field_ in (name, arguments))
            is_inside = name.startswith(prefix) and arguments.startswith(prefix)
            if is_inside and all(field_ and "." not in field_ for field_ in inner):
                return _CallField(field, members=(inner[0], inner[1]))
        self._refuse(field, "calls have the name and the arguments in places that are not known")
        return None

    def _refuse(self, field: TemplateField, message: str) -> None:
        self._report.error(f"{field.pointer}/transform", message, code=INVALID)

    def _tags(self, call: _CallField, *, is_first: bool, at_least_one: bool, once: bool) -> Format:
        """Return calls one after the other; text comes before one that is not first."""
        once = once or not call.field.repeats or call.field.close is None
        try:
            made = self._of_field(call, is_first=is_first, once=once)
        except _UnwritableError as error:
            where = f"{call.field.pointer}/content_args"
            self._report.error(where, str(error), code=INVALID)
            made = _tag([_const(NAME)])
        if made["type"] != "tag":
            if not once:
                return {"type": "plus" if at_least_one else "star", "content": made}
            return made if at_least_one else _optional(made)
        return {
            "type": "tags_with_separator", "tags": [made], "separator": "",
            "at_least_one": at_least_one, "stop_after_first": once,
        }  # fmt: skip

    def _of_field(self, call: _CallField, *, is_first: bool, once: bool) -> Format:
        """Return the tag of a call, or a region with a list of tags."""
        field, kind = call.field, call.field.content.kind
        if kind == "python-call-list" and call.members == ("name", "arguments"):
            tag = _tag([self._name("[A-Za-z_][A-Za-z0-9_]*"), self._arguments("python")])
            return self._closed(field, [*self._lead(field.open, is_first), *_list(tag, once)])
        if kind == "json" and call.members[0]:
            name, arguments = call.members
            elements = [_const(f'{{"{name}": "'), self._name(_PLAIN), _const(f'", "{arguments}": ')]
            elements += [self._arguments("json"), _const("}")]
            if field.transforms_items:
                whole = [
                    *self._lead(field.open, is_first),
                    _GAP,
                    *_list(_tag(elements), once),
                    _GAP,
                ]
                return self._closed(field, whole)
            body = [_GAP, *elements, _GAP]
            return self._merged(field, [*self._lead(field.open, is_first), *body])
        if call.group and not field.transforms_items and kind in ("json", "xml-inline"):
            gaps = [_GAP] if kind == "json" else []
            body = [*gaps, self._arguments(self._style(field)), *gaps]
            return self._merged(field, [*self._lead(field.open, is_first, call.group), *body])
        raise _UnwritableError(f"no grammar writes calls as `{kind}` so")

    def _merged(self, field: TemplateField, elements: list[Format]) -> Format:
        return self._closed(field, [*_joined(elements)])

    def _style(self, field: TemplateField) -> str:
        """Return the style of arguments that the content of a field reads."""
        content = field.content
        if content.kind == "json":
            lax = content.arguments.get("unquoted_keys") and content.arguments.get("string_delims")
            # JSON is read in either case, and any name only there.
            return "gemma" if lax == _GEMMA and not self._is_any else "json"
        for style, element in _ELEMENTS.items():
            text = element.format("qzk", "qzv")
            match = content.tag and content.tag.find(text, 0, Budget(10**6))
            groups = match.groups if match and match.end == len(text) else {}
            if groups.get("key") == "qzk" and groups.get("value", "").strip() == "qzv":
                return style
        raise _UnwritableError("no style of elements is known that this pattern reads")

    def _arguments(self, style: str) -> Format:
        schema: Any = {"type": "object"} if self._is_any else SCHEMA
        return _json(schema, self._tool, style)

    def _name(self, pattern: str) -> Format:
        return {"type": "regex", "pattern": pattern} if self._is_any else _const(NAME)

    @property
    def name_pattern(self) -> str | None:
        """The pattern of the names that an opening reads; None where it reads none."""
        call = self._call_field
        if call is None or not call.group or call.field.open is None or not call.field.open.pattern:
            return None
        nodes = postorder(call.field.open.pattern.tree)
        groups = (node for node in nodes if isinstance(node, Named) and node.name == call.group)
        return _printed(next(groups))

    # Anchors

    def _lead(self, anchor: Anchor | None, is_first: bool, group: str = "") -> list[Format]:
        """Return the opening of a region; blanks before it are those of the text before it."""
        result = self._written(anchor, group)
        first = result[0]
        if not is_first and first["type"] == "regex" and first.get("is_blank"):
            return result[1:]
        return result

    def _written(self, anchor: Anchor | None, group: str = "") -> list[Format]:
        """Return an anchor as formats: texts, patterns, and the name of a tool in a group."""
        if anchor is None:
            return []
        if anchor.pattern is None:
            return [_or([_const(text) for text in anchor.texts])]
        tree = anchor.pattern.tree
        nodes = (
            (tree,) if isinstance(tree, Named) or not isinstance(tree, InOrder) else tree.operands
        )
        result: list[Format] = []
        for node in nodes:
            if isinstance(node, Named) and node.name == group and group:
                result.append(self._name(_printed(node)))
            elif _letter(node) is not None:
                result.append(_const(_letter(node) or ""))
            else:
                result.append({"type": "regex", "pattern": _printed(node), **_blank(node)})
        if group and not any(
            isinstance(element, Named) and element.name == group for element in nodes
        ):
            raise _UnwritableError(f"the group `{group}` is inside another part of its pattern")
        return [*_joined(result)]

    def _texts_in(self, anchor: Anchor) -> tuple[str, ...]:
        """Return texts one of which each occurrence of an anchor has."""
        if anchor.pattern is None:
            return anchor.texts
        result = _needed(anchor.pattern)
        if not result:
            message = "no text is in all matches of this pattern, so that no text is without them"
            self._report.error("", message, code=INVALID)
        return result


_VALUES = {
    "int": "-?(?:0|[1-9][0-9]{0,14})",
    "float": r"-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,9})?",
    "bool": "true|false",
}
_PLAIN = "[A-Za-z0-9_.:-]{1,64}"


def _path(value: Any) -> str:
    """Return the name in a placeholder; empty for other texts."""
    result = PLACEHOLDER.fullmatch(value) if isinstance(value, str) else None
    return "" if result is None else result[1]


def _const(value: str) -> Format:
    return {"type": "const_string", "value": value}


def _json(schema: Any, more: Format, style: str = "json") -> Format:
    styled = {} if style == "json" else {"style": style}
    return {"type": "json_schema", "json_schema": schema, **styled, **more}


def _tag(elements: list[Format]) -> Format:
    return {"type": "tag", "begin": "", "content": _in_order([*_joined(elements)]), "end": ""}


def _list(tag: Format, once: bool) -> list[Format]:
    """Return a list of calls in brackets."""
    tags = {
        "type": "tags_with_separator", "tags": [tag], "separator": ", ",
        "at_least_one": True, "stop_after_first": once,
    }  # fmt: skip
    return [_const("["), tags, _const("]")]


def _optional(content: Format) -> Format:
    return {"type": "optional", "content": content}


def _or(elements: Sequence[Format]) -> Format:
    return elements[0] if len(elements) == 1 else {"type": "or", "elements": [*elements]}


def _in_order(elements: Sequence[Format]) -> Format:
    kept = [{k: v for k, v in element.items() if k != "is_blank"} for element in elements] or [
        _const("")
    ]
    return kept[0] if len(kept) == 1 else {"type": "sequence", "elements": kept}


def _joined(runs: Sequence[Format]) -> Iterator[Format]:
    """Yield parts, with neighbouring texts as one."""
    text = ""
    for run in runs:
        if run["type"] == "const_string":
            text += run["value"]
            continue
        if text:
            yield _const(text)
        text = ""
        yield run
    if text:
        yield _const(text)


# Patterns


def _letter(node: Node) -> str | None:
    """Return the character that a node is, if it is one certain one."""
    if isinstance(node, CharacterSet) and len(node.points) == 1:
        low, high = node.points[0]
        return chr(low) if low == high else None
    return None


def _blank(node: Node) -> Mapping[str, bool]:
    inner = node.body if isinstance(node, Repeat) else node
    is_blank = isinstance(inner, CharacterSet) and not difference(inner.points, _BLANKS)
    return {"is_blank": True} if is_blank else {}


def _printed(tree: Node) -> str:
    """Return a pattern without groups, whose repetitions have bounds."""
    make = Builder()

    def rebuilt(node: Node, operands: list[Any]) -> Any:
        match node:
            case CharacterSet(points):
                plain = intersect(points, _ASCII)
                return make.characters(plain if len(points) > _MOST_RANGES and plain else points)
            case Choice():
                return make.alternation(operands)
            case Repeat(_, low, high):
                most = _MOST_BLANKS if _blank(node) else _MOST_LETTERS
                return make.repetition(operands[0], low, max(low, most) if high is None else high)
            case _:
                return make.sequence(operands)

    def spelled(points: Any) -> str:
        return "[\\s\\S]" if points == ANY else print_characters(points)

    return print_expression(fold(tree, rebuilt), spelled)


def _needed(pattern: SearchPattern) -> tuple[str, ...]:
    """Return texts one of which is in each match of a pattern, long ones; none if unknown."""

    def needed(node: Node, truths: list[tuple[str, ...]]) -> tuple[str, ...]:
        match node:
            case CharacterSet():
                letter = _letter(node)
                return () if letter is None else (letter,)
            case Choice():
                return (
                    tuple(dict.fromkeys(text for element in truths for text in element))
                    if all(truths)
                    else ()
                )
            case Repeat(_, low):
                return truths[0] if low else ()
            case _:
                return _longest(node, truths)

    return fold(pattern.tree, needed)


def _longest(node: Any, runs: list[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the necessary parts in order: runs of characters are one text."""
    result, run = list[tuple[str, ...]](), ""
    for operand, texts_of_operand in zip(node.operands, runs, strict=True):
        letter = _letter(operand)
        run = "" if letter is None else run + letter
        result.append(texts_of_operand if letter is None else (run,))
    return max(filter(None, result), key=lambda texts: min(map(len, texts)), default=())
