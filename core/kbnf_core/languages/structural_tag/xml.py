"""Arguments of tools in XML: each property an element, in the style of a family of models.

Only the properties are elements (those of ``nested`` have elements in elements): a value that is a
string is written as it is, up to the element's end; other values are JSON. The ``deepseek`` styles
say in an attribute which of both a value is, ``kimi_k3_xml`` its type.

Tests: tests/unit/languages/test_structural_tag.py, tests/unit/languages/tools
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

from kbnf_core.ir import Node
from kbnf_core.ir.build import EMPTY, alternation, call, optional, repeated, sequence, text
from kbnf_core.languages.json_schema import Options, Order
from kbnf_core.languages.json_schema.document import SchemaDocument
from kbnf_core.languages.json_schema.keywords import NARROWED
from kbnf_core.languages.structural_tag.contents import (
    MOST_CASES,
    NO_CONSTRAINTS,
    OF_OBJECTS,
    Contents,
    SchemaContents,
    constants,
)
from kbnf_core.languages.structural_tag.read import UNSUPPORTED
from kbnf_core.text.json_text import print_json


def kind_of(schema: Any) -> str | None:
    """Return the type of a plain schema, by its keywords where it does not say; None for any."""
    if not isinstance(schema, dict):
        return None
    if "type" in schema:
        return str(schema["type"])
    if {"properties", "required", "additionalProperties"} & schema.keys():
        return "object"
    return "array" if {"items", "prefixItems"} & schema.keys() else None


PYTHON_WORDS = {"true": "True", "false": "False", "null": "None"}
"""The constants of JSON that Python writes otherwise."""


_WORDS = {"boolean": ("true", "false"), "null": ("null",)}


def spellings(word: str, fields: Mapping[str, Any]) -> Iterator[str]:
    """Yield how a constant is written: as in JSON, and as in Python where the format says so."""
    yield word
    if fields["words"] == "python" and word in PYTHON_WORDS:
        yield PYTHON_WORDS[word]


_DSML = "｜DSML｜"
_NAME = "[a-zA-Z_][a-zA-Z0-9_]*"
_TYPES = ("string", "number", "integer", "boolean", "object", "array", "null")


class ElementStyle(NamedTuple):
    """How a style writes an element: around the name, before the value, and after it.

    ``ends`` is what no name contains, as nothing is escaped in it.
    """

    opening: str
    named: str
    value: str
    closing: str
    ends: str


STYLES: Mapping[str, ElementStyle] = {
    "qwen_xml": ElementStyle("<parameter=", ">", "", "</parameter>", ">"),
    "minimax_xml": ElementStyle('<parameter name="', '">', "", "</parameter>", '"'),
    "deepseek_xml": ElementStyle(f'<{_DSML}parameter name="', "", "", f"</{_DSML}parameter>", '"'),
    "deepseek_v4_1_xml": ElementStyle(
        f'<{_DSML} parameter name="', "", "", f"</{_DSML} parameter>", '"'
    ),
    "glm_xml": ElementStyle("<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>", "<"),
    "kimi_k3_xml": ElementStyle('<|open|>argument key="', "", "", "<|close|>argument<|sep|>", ""),
}


_AROUND = NO_CONSTRAINTS | {"type", "allOf"}
"""The keywords around a schema of arguments that is all that counts."""


@dataclass(frozen=True, slots=True)
class _Case:
    """A kind of value: its form, its type in JSON, and whether it is written as it is."""

    form: Node
    kind: str | None
    is_text: bool


class Arguments:
    """Writes the arguments of a tool in one style."""

    def __init__(
        self,
        contents: Contents,
        fields: Mapping[str, Any],
        options: Options,
        pointer: str,
    ) -> None:
        self._contents = contents
        self._report = contents.report
        self._schema = fields["json_schema"]
        self._fields = fields
        self._excludes = fields["excludes"]
        self._name = fields["style"]
        self._options = options
        self._pointer = pointer
        self._schemas = SchemaContents(
            self._schema, f"{pointer}/json_schema", self._report, options
        )

    def write(self, hint: str) -> Node:
        """Return a call of the rule of all arguments, which is named after ``hint``."""
        self._style = STYLES[self._name]
        self._space = self._contents.gap(self._options)
        self._words = sorted({self._style.closing, *self._excludes})
        self._plain = self._contents.argument(self._words)
        top = self._outermost()
        if top is None:
            return EMPTY
        schema, pointer = top
        elements, needed = self._elements(schema, pointer, hint)
        other = self._other(schema, pointer, hint)
        name = self._contents.names.fresh(hint)
        members = ElementMembers(elements, needed, other, self._space)
        body = members.written(self._contents, self._options, pointer, hint)
        return self._contents.add(name, sequence(body, self._space), ahead=True)

    def _outermost(self) -> tuple[dict[str, Any], str] | None:
        """Return the schema of all arguments, references followed, and its pointer."""
        schema, pointer = self._schema, f"{self._pointer}/json_schema"
        for _ in range(MOST_CASES):
            if schema is True:
                return {}, pointer
            if not isinstance(schema, dict):
                break
            if "$ref" in schema:
                schema, pointer = self._schemas.followed(schema, pointer)
            elif len(schema.get("allOf", ())) == 1 and not schema.keys() - _AROUND:
                schema, pointer = schema["allOf"][0], f"{pointer}/allOf/0"
            else:
                break
        if not isinstance(schema, dict) or schema.get("type", "object") != "object":
            self._report.error(pointer, "arguments in XML are those of an object", code=UNSUPPORTED)
            return None
        refused = self._schemas.refuses(schema, pointer, OF_OBJECTS)
        return None if refused else (schema, pointer)

    def _elements(
        self, schema: dict[str, Any], pointer: str, hint: str
    ) -> tuple[dict[str, Node], frozenset[str]]:
        """Return the elements of the properties, and the names of those that must be there."""
        listed, needed = self._schemas.members(schema, pointer)
        elements: dict[str, Node] = {}
        for name, (schema_, where) in listed.items():
            if self._style.ends and (self._style.ends in name or name != name.strip()):
                message = f"the style `{self._name}` cannot write a property called {name!r}"
                self._report.error(where, message, code=UNSUPPORTED)
            rule = self._contents.names.fresh(f"{hint}_{name}")
            key = text(self._style.opening + self._spelled(name))
            element = self._element(key, schema_, where, rule)
            elements[name] = self._contents.add(rule, element)
        return elements, needed

    def _other(self, schema: dict[str, Any], pointer: str, hint: str) -> Node:
        """Return the element of a property that is not listed; nothing where there is none."""
        value = other_members(schema, self._options)
        if value is False:
            return EMPTY
        rule = self._contents.names.fresh(f"{hint}_other")
        kinds_given = [self._spelled(name) for name in schema.get("properties", {})]
        key = sequence(text(self._style.opening), self._contents.other_names(_NAME, kinds_given))
        where = f"{pointer}/additionalProperties"
        return self._contents.add(rule, self._element(key, value, where, rule))

    def _spelled(self, name: str) -> str:
        if self._name != "kimi_k3_xml":
            return name
        return name.replace("&", "&amp;").replace('"', "&quot;")

    def _element(self, key: Node, schema: Any, pointer: str, hint: str) -> Node:
        cases = list(self._cases(schema, pointer, hint))
        closing = text(self._style.closing)
        if self._name.startswith("deepseek"):
            return sequence(key, alternation(self._with_kind(case, closing) for case in cases))
        forms = [case.form for case in cases]
        if len(cases) == 1 and cases[0].form is self._plain:
            value: Node = forms[0]
        else:
            value = sequence(self._space, alternation(forms), self._space)
        return sequence(key, self._attribute(cases), value, closing)

    def _with_kind(self, case: _Case, closing: Node) -> Node:
        """Return a value of ``deepseek_xml`` after the attribute with its type."""
        if case.is_text:
            return sequence(text('" string="true">'), case.form, closing)
        spaced = sequence(self._space, case.form, self._space)
        return sequence(text('" string="false">'), spaced, closing)

    def _attribute(self, cases: list[_Case]) -> Node:
        """Return the attribute between a name and its value."""
        if self._name != "kimi_k3_xml":
            if not self._style.value:
                return text(self._style.named)
            return sequence(text(self._style.named), self._space, text(self._style.value))
        kinds = {case.kind for case in cases}
        names = [kind for kind in kinds if kind is not None]
        types = names if len(kinds) == 1 and names else _TYPES
        return sequence(text('" type="'), alternation(map(text, types)), text('"<|sep|>'))

    def _cases(self, schema: Any, pointer: str, hint: str) -> Iterator[_Case]:
        """Yield the kinds of values that a schema allows."""
        cases = self._schemas.cases(schema, pointer)
        # A value of several schemas has no type that ``kimi_k3_xml`` could name.
        is_single = len(cases) == 1 and cases[0][0] is schema
        for schema_, where in cases:
            yield from self._leaf(schema_, where, hint, is_single=is_single)

    def _leaf(self, schema: Any, pointer: str, hint: str, *, is_single: bool) -> Iterator[_Case]:
        values = constants(schema)
        if values is not None:
            for value in values:
                written = value if isinstance(value, str) else print_json(value)
                if self._excluded(written):
                    continue
                kind = _kind(value) if is_single else None
                is_text = isinstance(value, str)
                spelled = [written] if is_text else [*spellings(written, self._fields)]
                yield _Case(alternation(map(text, spelled)), kind, is_text)
        elif schema is True or (isinstance(schema, dict) and "type" not in schema):
            yield _Case(self._plain, None, True)
            tagged = self._name.startswith("deepseek")
            kinds = ("number", "boolean", "null", "array", "object") if tagged else _TYPES[4:6]
            for kind in kinds:
                plain = SchemaDocument({"type": kind}, self._options)
                yield _Case(self._json(plain, pointer, kind), None, False)
        elif isinstance(schema, dict) and schema["type"] == "string":
            yield _Case(self._string(schema, pointer), "string" if is_single else None, True)
        else:
            kind = schema["type"] if isinstance(schema, dict) else None
            type_name = "number" if kind == "integer" else kind
            document = self._schemas.document_of(schema, pointer)
            form = self._json(document, self._schemas.pointer, f"{hint}_value")
            if schema is not False and not schema.keys() - NO_CONSTRAINTS - {"type"}:
                words = _WORDS.get(str(kind), ())
                both = {spelling for word in words for spelling in spellings(word, self._fields)}
                form = alternation([form, *map(text, sorted(both.difference(words)))])
            yield _Case(
                form, type_name if is_single and isinstance(type_name, str) else None, False
            )

    def _excluded(self, value: str) -> bool:
        return any(word in value for word in self._excludes)

    def _string(self, schema: dict[str, Any], pointer: str) -> Node:
        """Return a string as it is; the keywords that restrict it are its only restriction."""
        return self._contents.strings(schema, self._options, pointer, self._words, self._plain)

    def _json(self, document: SchemaDocument, pointer: str, hint: str) -> Node:
        return self._contents.schema(document, self._options, pointer, hint, self._excludes)


def other_members(schema: Mapping[str, Any], options: Options) -> Any:
    """Return the schema of the members that an object does not name."""
    is_open = not options.closed or "properties" not in schema
    return schema.get("additionalProperties", is_open)


class ElementMembers(NamedTuple):
    """The elements of an object, some of which are ``needed``; ``other`` may occur, too."""

    elements: Mapping[str, Node]
    needed: frozenset[str]
    other: Node
    space: Node

    def written(self, contents: Contents, options: Options, pointer: str, hint: str) -> Node:
        """Return the elements, each after a gap, in the order of the schema or in any."""
        most = options.limits.orders
        if options.order is Order.ANY and len(self.elements) > most:
            where = f"{pointer}/properties"
            message = f"objects with more than {most} properties have them in the declared order"
            contents.report.note(where, message, code=NARROWED)
        elif options.order is Order.ANY:
            return self._in_any_order(contents, hint)
        named = (
            form if name in self.needed else optional(form)
            for name, form in ((name, self._spaced(form_)) for name, form_ in self.elements.items())
        )
        return sequence(*named, self._others)

    def _spaced(self, form: Node) -> Node:
        return sequence(self.space, form)

    @property
    def _others(self) -> Node:
        return EMPTY if self.other is EMPTY else repeated(self._spaced(self.other), 0, None)

    def _in_any_order(self, contents: Contents, hint: str) -> Node:
        """Return a rule for each set of elements that may still come, made of those of fewer."""
        rests: dict[frozenset[str], Node] = {frozenset(): self._others}
        for count in range(1, len(self.elements) + 1):
            for names in map(frozenset, combinations(self.elements, count)):
                ways = [
                    sequence(self._spaced(form), rests[names - {name}])
                    for name, form in self.elements.items()
                    if name in names
                ]
                rule = contents.names.fresh(f"{hint}_rest")
                if self.other is not EMPTY:
                    ways.append(sequence(self._spaced(self.other), call(rule)))
                rest = alternation(ways) if names & self.needed else optional(alternation(ways))
                rests[names] = contents.add(rule, rest)
        return rests[frozenset(self.elements)]


def _kind(value: Any) -> str:
    """Return the type of a value of JSON, by ``kimi_k3_xml``."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case str():
            return "string"
        case list():
            return "array"
        case dict():
            return "object"
        case _:
            return "number"
