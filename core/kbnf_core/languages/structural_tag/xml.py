"""Arguments of tools in XML: each property an element, in the style of a family of models.

Where only the properties are elements, a value that is a string is written as it is, up to the
element's end; other values are JSON. The ``deepseek`` styles say in an attribute which of both a
value is, ``kimi_k3_xml`` its type.

Where objects and arrays are elements within elements, a value of a schema is an object, an array,
or a leaf, each of which a style writes in its way: the base here knows what belongs to what,
``cohere`` and ``minimax_m3`` how it looks. A schema of an object or an array becomes a rule, made
when its turn comes: schemas may refer to themselves, and nothing here recurs.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

from kbnf_core.automata import operations
from kbnf_core.automata.regex.compile import compile_regex
from kbnf_core.automata.to_regex import to_regex
from kbnf_core.kbnf.build import (
    EMPTY,
    Form,
    alternation,
    call,
    definition,
    escaped,
    optional,
    regex,
    repeated,
    sequence,
    text,
)
from kbnf_core.kbnf.tree import Definition
from kbnf_core.languages.json_schema.expressions import constant
from kbnf_core.languages.json_schema.options import Options, Order
from kbnf_core.languages.json_schema.prelude import gap_of
from kbnf_core.languages.json_schema.problems import NARROWED
from kbnf_core.languages.structural_tag.contents import Contents, avoiding
from kbnf_core.languages.structural_tag.read import UNSUPPORTED
from kbnf_core.languages.structural_tag.schemas import (
    MOST_CASES,
    NO_CONSTRAINTS,
    OF_OBJECTS,
    Schemas,
    constants,
)

OF_ARRAYS = frozenset({"type", "items", "prefixItems", "minItems", "maxItems"})


class NestedArguments(ABC):
    """Writes the arguments of a tool in a style."""

    takes_excludes = False
    unsaid_items: Any = False
    """The schema of items where an array has none for them."""

    def __init__(
        self, contents: Contents, fields: Mapping[str, Any], options: Options, pointer: str
    ) -> None:
        self.contents = contents
        self.report = contents.report
        self.options = options
        where = f"{pointer}/json_schema"
        self.schemas = Schemas(fields["json_schema"], where, self.report, options)
        self.fields = fields
        self.pointer = pointer
        self.names: dict[str, str] = {}
        self._waiting: list[tuple[str, dict[str, Any], str]] = []

    def write(self, hint: str) -> Form:
        """Return all arguments, a rule called like ``hint``."""
        if self.fields["excludes"] and not self.takes_excludes:
            where = f"{self.pointer}/excludes"
            message = f"`excludes` in the style `{self.fields['style']}` is not supported"
            self.report.error(where, message, code=UNSUPPORTED)
            return EMPTY
        self.space = gap_around(self.contents, self.options)
        self.prepare()
        forms = []
        pointer = f"{self.pointer}/json_schema"
        for schema, where in self.schemas.cases(self.fields["json_schema"], pointer):
            if schema is False or kind_of(schema) not in (None, "object"):
                message = "arguments in XML are those of an object"
                self.report.error(where, message, code=UNSUPPORTED)
                return EMPTY
            listed = {} if schema is True else schema
            forms.append(self.container({**listed, "type": "object"}, where, hint))
        for rule in reversed(self.containers()):
            self.contents.add(rule, ahead=True)
        return alternation(forms)

    def containers(self) -> list[Definition]:
        """Return the rules of objects and arrays inside, and of those inside of these."""
        found = []
        for rule, schema, where in self._waiting:
            found.append(definition(rule, self._container(schema, where, rule)))
        return found

    def container(self, schema: dict[str, Any], pointer: str, hint: str) -> Form:
        """Return a call of the rule of an object or an array."""
        if pointer not in self.names:
            self.names[pointer] = self.contents.names.fresh(hint)
            self._waiting.append((self.names[pointer], schema, pointer))
        return call(self.names[pointer])

    def _container(self, schema: dict[str, Any], pointer: str, hint: str) -> Form:
        if kind_of(schema) == "object":
            return self._object(schema, pointer, hint)
        return self._array(schema, pointer, hint)

    def _object(self, schema: dict[str, Any], pointer: str, hint: str) -> Form:
        if self.schemas.refuses(schema, pointer, OF_OBJECTS):
            return EMPTY
        listed, needed = self.schemas.members(schema, pointer)
        elements = {
            name: self.element(name, each, where, f"{hint}_{name}")
            for name, (each, where) in listed.items()
        }
        other = self.other(schema, [*listed], pointer, f"{hint}_other")
        return self.object(Members(elements, needed, other, self.space), pointer, hint)

    def _array(self, schema: dict[str, Any], pointer: str, hint: str) -> Form:
        if self.schemas.refuses(schema, pointer, OF_ARRAYS):
            return EMPTY
        low, most = int(schema.get("minItems", 0)), schema.get("maxItems")
        high = None if most is None else int(most)
        first = schema.get("prefixItems", [])
        items = [
            self.element(None, each, f"{pointer}/prefixItems/{index}", f"{hint}_item")
            for index, each in enumerate(first)
        ][:high]
        rest: Form = EMPTY
        each = schema.get("items", self.unsaid_items)
        if each is not False:
            rest = self.element(None, each, f"{pointer}/items", f"{hint}_item")
        elif low > len(items):
            message = f"`minItems` is {low}, and there are {len(items)} items"
            self.report.error(f"{pointer}/minItems", message, code=UNSUPPORTED)
        return self.array(items, rest, low, high)

    def spaced(self, form: Form) -> Form:
        """Return a form with the gap before it."""
        return sequence(self.space, form)

    @abstractmethod
    def prepare(self) -> None:
        """Make the rules that all values share."""

    @abstractmethod
    def element(self, name: str | None, schema: Any, pointer: str, hint: str) -> Form:
        """Return the element of a property, or of an item, which has no name."""

    @abstractmethod
    def other(self, schema: dict[str, Any], listed: Sequence[str], pointer: str, hint: str) -> Form:
        """Return the element of a property that is not listed; nothing where there is none."""

    @abstractmethod
    def object(self, members: "Members", pointer: str, hint: str) -> Form:
        """Return what is inside of an object."""

    @abstractmethod
    def array(self, items: Sequence[Form], rest: Form, low: int, high: int | None) -> Form:
        """Return what is inside of an array: ``items``, and ``rest`` until bounds are reached."""


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


class Style(NamedTuple):
    """How a style writes an element: around the name, before the value, and after it.

    ``ends`` is what no name contains, as nothing is escaped in it.
    """

    opening: str
    named: str
    value: str
    closing: str
    ends: str


STYLES: Mapping[str, Style] = {
    "qwen_xml": Style("<parameter=", ">", "", "</parameter>", ">"),
    "minimax_xml": Style('<parameter name="', '">', "", "</parameter>", '"'),
    "deepseek_xml": Style(f'<{_DSML}parameter name="', "", "", f"</{_DSML}parameter>", '"'),
    "deepseek_v4_1_xml": Style(f'<{_DSML} parameter name="', "", "", f"</{_DSML} parameter>", '"'),
    "glm_xml": Style("<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>", "<"),
    "kimi_k3_xml": Style('<|open|>argument key="', "", "", "<|close|>argument<|sep|>", ""),
}


@dataclass(frozen=True, slots=True)
class _Case:
    """A kind of value: its form, its type in JSON, and whether it is written as it is."""

    form: Form
    kind: str | None
    is_text: bool


class Arguments:
    """Writes the arguments of a tool in one style."""

    def __init__(
        self, contents: Contents, fields: Mapping[str, Any], options: Options, pointer: str
    ) -> None:
        self._contents = contents
        self._report = contents.report
        self._schema = fields["json_schema"]
        self._fields = fields
        self._excludes = fields["excludes"]
        self._name = fields["style"]
        self._options = options
        self._pointer = pointer
        self._schemas = Schemas(self._schema, f"{pointer}/json_schema", self._report, options)

    def write(self, hint: str) -> Form:
        """Return all arguments, a rule called like ``hint``."""
        self._style = STYLES[self._name]
        self._space = gap_around(self._contents, self._options)
        self._words = sorted({self._style.closing, *self._excludes})
        self._plain = optional(self._contents.shared("argument", avoiding(self._words)))
        top = self._outermost()
        if top is None:
            return EMPTY
        schema, pointer = top
        elements, needed = self._elements(schema, pointer, hint)
        other = self._other(schema, pointer, hint)
        name = self._contents.names.fresh(hint)
        found = Members(elements, needed, other, self._space)
        body = found.written(self._contents, self._options, pointer, hint)
        return self._contents.add(definition(name, sequence(body, self._space)), ahead=True)

    def _outermost(self) -> tuple[dict[str, Any], str] | None:
        """Return the schema of all arguments, references followed, and its pointer."""
        schema, pointer = self._schema, f"{self._pointer}/json_schema"
        for _ in range(MOST_CASES):
            if schema is True:
                return {}, pointer
            if not isinstance(schema, dict) or "$ref" not in schema:
                break
            schema, pointer = self._schemas.followed(schema["$ref"], f"{pointer}/$ref")
        if not isinstance(schema, dict) or schema.get("type", "object") != "object":
            self._report.error(pointer, "arguments in XML are those of an object", code=UNSUPPORTED)
            return None
        refused = self._schemas.refuses(schema, pointer, OF_OBJECTS)
        return None if refused else (schema, pointer)

    def _elements(
        self, schema: dict[str, Any], pointer: str, hint: str
    ) -> tuple[dict[str, Form], frozenset[str]]:
        """Return the elements of the properties, and the names of those that must be there."""
        listed, needed = self._schemas.members(schema, pointer)
        elements: dict[str, Form] = {}
        for name, (each, where) in listed.items():
            if self._style.ends and (self._style.ends in name or name != name.strip()):
                message = f"the style `{self._name}` cannot write a property called {name!r}"
                self._report.error(where, message, code=UNSUPPORTED)
            rule = self._contents.names.fresh(f"{hint}_{name}")
            key = text(self._style.opening + self._spelled(name))
            self._contents.add(definition(rule, self._element(key, each, where, rule)))
            elements[name] = call(rule)
        return elements, needed

    def _other(self, schema: dict[str, Any], pointer: str, hint: str) -> Form:
        """Return the element of a property that is not listed; nothing where there is none."""
        value = other_members(schema, self._options)
        if value is False:
            return EMPTY
        rule = self._contents.names.fresh(f"{hint}_other")
        known = [self._spelled(name) for name in schema.get("properties", {})]
        names = other_names(_NAME, known) if known else regex(_NAME)
        key = sequence(text(self._style.opening), names)
        where = f"{pointer}/additionalProperties"
        return self._contents.add(definition(rule, self._element(key, value, where, rule)))

    def _spelled(self, name: str) -> str:
        if self._name != "kimi_k3_xml":
            return name
        return name.replace("&", "&amp;").replace('"', "&quot;")

    def _element(self, key: Form, schema: Any, pointer: str, hint: str) -> Form:
        cases = list(self._cases(schema, pointer, hint))
        closing = text(self._style.closing)
        if self._name.startswith("deepseek"):
            return sequence(key, alternation(self._told(case, closing) for case in cases))
        forms = [case.form for case in cases]
        if len(cases) == 1 and cases[0].form is self._plain:
            value: Form = forms[0]
        else:
            value = sequence(self._space, alternation(forms), self._space)
        return sequence(key, self._attribute(cases), value, closing)

    def _told(self, case: _Case, closing: Form) -> Form:
        """Return a value of ``deepseek_xml`` after the attribute that tells what it is."""
        if case.is_text:
            return sequence(text('" string="true">'), case.form, closing)
        spaced = sequence(self._space, case.form, self._space)
        return sequence(text('" string="false">'), spaced, closing)

    def _attribute(self, cases: list[_Case]) -> Form:
        """Return what is between a name and its value."""
        if self._name != "kimi_k3_xml":
            if not self._style.value:
                return text(self._style.named)
            return sequence(text(self._style.named), self._space, text(self._style.value))
        kinds = {case.kind for case in cases}
        known = [kind for kind in kinds if kind is not None]
        types = known if len(kinds) == 1 and known else _TYPES
        return sequence(text('" type="'), alternation(map(text, types)), text('"<|sep|>'))

    def _cases(self, schema: Any, pointer: str, hint: str) -> Iterator[_Case]:
        """Yield the kinds of values that a schema allows."""
        cases = self._schemas.cases(schema, pointer)
        # What is not one schema has no type that ``kimi_k3_xml`` could tell.
        is_single = len(cases) == 1 and cases[0][0] is schema
        for each, where in cases:
            yield from self._leaf(each, where, hint, is_single=is_single)

    def _leaf(self, schema: Any, pointer: str, hint: str, *, is_single: bool) -> Iterator[_Case]:
        values = constants(schema)
        if values is not None:
            for value in values:
                written = value if isinstance(value, str) else constant(value).text
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
                yield _Case(self._json({"type": kind}, pointer, kind), None, False)
        elif isinstance(schema, dict) and schema["type"] == "string":
            yield _Case(self._string(schema, pointer), "string" if is_single else None, True)
        else:
            kind = schema["type"] if isinstance(schema, dict) else None
            told = "number" if kind == "integer" else kind
            form = self._json(self._schemas.whole(schema), pointer, f"{hint}_value")
            if schema is not False and not schema.keys() - NO_CONSTRAINTS - {"type"}:
                words = _WORDS.get(str(kind), ())
                both = {each for word in words for each in spellings(word, self._fields)}
                form = alternation([form, *map(text, sorted(both.difference(words)))])
            yield _Case(form, told if is_single and isinstance(told, str) else None, False)

    def _excluded(self, value: str) -> bool:
        return any(word in value for word in self._excludes)

    def _string(self, schema: dict[str, Any], pointer: str) -> Form:
        """Return a string as it is; what restricts it is all that it must keep to."""
        return self._contents.strings(schema, self._options, pointer, self._words, self._plain)

    def _json(self, schema: Any, pointer: str, hint: str) -> Form:
        if self._excludes and schema.get("type") not in ("integer", "number", "boolean", "null"):
            where = f"{self._pointer}/excludes"
            self._report.loss(where, f"what strings inside of {pointer} cannot contain is left out")
        return self._contents.schema(schema, self._options, pointer, hint)


def gap_around(contents: Contents, options: Options) -> Form:
    """Return what may be between elements, and around values that are no text.

    It is the gap of JSON, and that of printers where JSON has none: templates write line breaks.
    """
    return contents.shared("space", regex(gap_of(options) or gap_of(Options())))


def other_names(pattern: str, listed: Iterable[str]) -> Form:
    """Return the names of a pattern but for some, all as they are written."""
    names = compile_regex(pattern).dfa
    known = compile_regex("|".join(map(escaped, listed))).dfa
    if names is None or known is None:
        return regex(pattern)
    return regex(to_regex(operations.difference(names, known)))


def other_members(schema: Mapping[str, Any], options: Options) -> Any:
    """Return the schema of the members that an object does not name."""
    is_open = not options.closed or "properties" not in schema
    return schema.get("additionalProperties", is_open)


class Members(NamedTuple):
    """The elements of an object, some of which are ``needed``; ``other`` may occur, too."""

    elements: Mapping[str, Form]
    needed: frozenset[str]
    other: Form
    space: Form

    def written(self, contents: Contents, options: Options, pointer: str, hint: str) -> Form:
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
            for name, form in ((name, self._spaced(each)) for name, each in self.elements.items())
        )
        return sequence(*named, self._others)

    def _spaced(self, form: Form) -> Form:
        return sequence(self.space, form)

    @property
    def _others(self) -> Form:
        return EMPTY if self.other is EMPTY else repeated(self._spaced(self.other), 0, None)

    def _in_any_order(self, contents: Contents, hint: str) -> Form:
        """Return a rule for each set of elements that may still come, made of those of fewer."""
        known: dict[frozenset[str], Form] = {frozenset(): self._others}
        for count in range(1, len(self.elements) + 1):
            for names in map(frozenset, combinations(self.elements, count)):
                ways = [
                    sequence(self._spaced(form), known[names - {name}])
                    for name, form in self.elements.items()
                    if name in names
                ]
                rule = contents.names.fresh(f"{hint}_rest")
                if self.other is not EMPTY:
                    ways.append(sequence(self._spaced(self.other), call(rule)))
                rest = alternation(ways) if names & self.needed else optional(alternation(ways))
                known[names] = contents.add(definition(rule, rest))
        return known[frozenset(self.elements)]


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
