"""Arguments of tools in styles whose objects and arrays nest: Cohere's, MiniMax-M3's, literals.

A value of a schema is an object, an array, or a leaf, each of which a style writes in its way: the
base here knows what belongs to what, a class for each style how it looks. A schema of an object or
an array becomes a rule, made when its turn comes: schemas may refer to themselves, and nothing here
recurs.

*Literals* are those of a notation that is not JSON. ``gemma`` writes
``{city:<|"|>Köln<|"|>,days:3}``: names as they are, strings as they are between two markers,
members in the order of their names. ``python`` writes ``(city="Köln", days=3)``: members of the
outermost object are keyword arguments, strings and the names within values are as in JSON,
``True``, ``False`` and ``None`` as in Python. ``python_json`` mixes both languages as LFM2.5 does,
whose template writes ``(city='Köln', opts={"deep": true}, tags=['a'])``: a string or name is in the
quotes of either, a constant is spelt as in either. A notation has no gaps other than its own, since
models write none.

Tests: tests/unit/languages/test_literals.py
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from kbnf_core.automata.traversal import fold, postorder
from kbnf_core.ir import Node
from kbnf_core.ir.build import EMPTY, alternation, call, optional, repeated, sequence, text
from kbnf_core.languages.json_schema import Options, Order
from kbnf_core.languages.json_schema.document import SchemaDocument
from kbnf_core.languages.json_schema.keywords import NARROWED
from kbnf_core.languages.structural_tag.contents import (
    OF_OBJECTS,
    Contents,
    SchemaContents,
    constants,
    is_restricted,
)
from kbnf_core.languages.structural_tag.read import UNSUPPORTED
from kbnf_core.languages.structural_tag.xml import (
    PYTHON_WORDS,
    STYLES,
    ElementMembers,
    kind_of,
    other_members,
    spellings,
)
from kbnf_core.text.json_text import print_json

OF_ARRAYS = frozenset({"type", "items", "prefixItems", "minItems", "maxItems"})


class NestedArguments(ABC):
    """Writes the arguments of a tool in a style."""

    takes_excludes = False
    takes_anything = True
    """Whether a value may be of any kind, or an object of any members."""
    unsaid_items: Any = False
    """The schema of items where an array has none for them."""

    def __init__(
        self,
        contents: Contents,
        fields: Mapping[str, Any],
        options: Options,
        pointer: str,
    ) -> None:
        self.contents = contents
        self.report = contents.report
        self.options = options
        where = f"{pointer}/json_schema"
        self.schemas = SchemaContents(fields["json_schema"], where, self.report, options)
        self.fields = fields
        self.pointer = pointer
        self.names: dict[str, str] = {}
        self._waiting: list[tuple[str, dict[str, Any], str]] = []

    def write(self, hint: str) -> Node:
        """Return all arguments, a rule called like ``hint``."""
        if self.fields["excludes"] and not self.takes_excludes:
            where = f"{self.pointer}/excludes"
            message = f"`excludes` in the style `{self.fields['style']}` is not supported"
            self.report.error(where, message, code=UNSUPPORTED)
            return EMPTY
        self.space = self.contents.gap(self.options)
        self.avoided = self._words()
        self.plain = self.contents.argument(self.avoided)
        forms = []
        pointer = f"{self.pointer}/json_schema"
        for schema, where in self.schemas.cases(self.fields["json_schema"], pointer):
            if schema is False or kind_of(schema) not in (None, "object"):
                message = "arguments in XML are those of an object"
                self.report.error(where, message, code=UNSUPPORTED)
                return EMPTY
            listed = {} if schema is True else schema
            forms.append(self._container({**listed, "type": "object"}, where, hint))
        for rule, node in reversed(self._containers()):
            self.contents.add(rule, node, ahead=True)
        return alternation(forms)

    def _containers(self) -> list[tuple[str, Node]]:
        """Return the rules of objects and arrays inside, and of those inside of these."""
        result = []
        # The list grows while it is read: writing one rule asks for others.
        for rule, schema, where in self._waiting:
            make = self._object if kind_of(schema) == "object" else self._array
            result.append((rule, make(schema, where, rule)))
        return result

    def _container(self, schema: dict[str, Any], pointer: str, hint: str) -> Node:
        """Return a call of the rule of an object or an array."""
        # By pointer, so that a schema that refers to itself is written once.
        if pointer not in self.names:
            self.names[pointer] = self.contents.names.fresh(hint)
            self._waiting.append((self.names[pointer], schema, pointer))
        return call(self.names[pointer])

    def _object(self, schema: dict[str, Any], pointer: str, hint: str) -> Node:
        if self.schemas.refuses(schema, pointer, OF_OBJECTS):
            return EMPTY
        listed, needed = self.schemas.members(schema, pointer)
        elements = {
            name: self._element(name, schema_, where, f"{hint}_{name}")
            for name, (schema_, where) in listed.items()
        }
        other = self._other(schema, [*listed], pointer, f"{hint}_other")
        return self._members(ElementMembers(elements, needed, other, self.space), pointer, hint)

    def _array(self, schema: dict[str, Any], pointer: str, hint: str) -> Node:
        if self.schemas.refuses(schema, pointer, OF_ARRAYS):
            return EMPTY
        low, most = int(schema.get("minItems", 0)), schema.get("maxItems")
        high = None if most is None else int(most)
        first = schema.get("prefixItems", [])
        items = [
            self._element(None, schema_, f"{pointer}/prefixItems/{index}", f"{hint}_item")
            for index, schema_ in enumerate(first)
        ][:high]
        rest: Node = EMPTY
        schema_ = schema.get("items", self.unsaid_items)
        if schema_ is not False:
            rest = self._element(None, schema_, f"{pointer}/items", f"{hint}_item")
        elif low > len(items):
            message = f"`minItems` is {low}, and there are {len(items)} items"
            self.report.error(f"{pointer}/minItems", message, code=UNSUPPORTED)
        return self._items(items, rest, low, high)

    def _spaced(self, form: Node) -> Node:
        """Return a form with the gap before it."""
        return sequence(self.space, form)

    def _values(self, schema: Any, pointer: str, hint: str) -> Iterator[Node]:
        """Yield the values of a schema, those of each kind."""
        for case, where in self.schemas.cases(schema, pointer):
            listed = constants(case)
            kind = kind_of(case)
            if listed is not None:
                for value in listed:
                    yield from self._listed(value, where)
            elif self.takes_anything and (case is True or (kind is None and case is not False)):
                yield self._anything("any_value", where)
            elif kind in ("object", "array"):
                is_open = not {"properties", "additionalProperties"} & case.keys()
                if self.takes_anything and kind == "object" and is_open:
                    yield self._with_type("object", self._anything("any_object", where))
                else:
                    yield self._with_type(str(kind), self._container(case, where, hint))
            elif kind == "string":
                yield self._string(case, where, hint)
            else:
                yield from self._scalar(case, where, hint)

    def _with_type(self, kind: str, form: Node) -> Node:
        """Return an object or an array with the type that marks it as one."""
        del kind
        return form

    def _scalar(self, schema: Any, pointer: str, hint: str) -> Iterator[Node]:
        """Yield the values other than strings, objects and arrays."""
        document = self.schemas.document_of(schema, pointer)
        yield self.contents.schema(document, self.options, self.schemas.pointer, hint)

    def _anything(self, name: str, pointer: str) -> Node:
        """Return a rule of values of any kind: ``any_value``, or ``any_object``."""
        key = (self.options, self.fields["style"], self.fields["words"], *self.avoided)
        names = ("any_value", "any_object", "any_list")
        return self.contents.group(key, names, partial(self._any_values, pointer))[name]

    @abstractmethod
    def _words(self) -> Sequence[str]:
        """Return the words that no string contains that is written as it is."""

    @abstractmethod
    def _element(self, name: str | None, schema: Any, pointer: str, hint: str) -> Node:
        """Return the element of a property, or of an item, which has no name."""

    @abstractmethod
    def _other(
        self, schema: dict[str, Any], listed: Sequence[str], pointer: str, hint: str
    ) -> Node:
        """Return the element of a property that is not listed; nothing where there is none."""

    @abstractmethod
    def _listed(self, value: Any, pointer: str) -> Iterator[Node]:
        """Yield how a value is written that is listed."""

    @abstractmethod
    def _string(self, schema: dict[str, Any], pointer: str, hint: str) -> Node:
        """Return the strings of a schema."""

    def _any_values(self, pointer: str, calls: Mapping[str, Node]) -> Sequence[Node]:
        """Return the rules of any value, any object and any array, which ``calls`` refers to."""
        raise NotImplementedError

    @abstractmethod
    def _members(self, members: "ElementMembers", pointer: str, hint: str) -> Node:
        """Return the contents of an object."""

    @abstractmethod
    def _items(self, items: Sequence[Node], rest: Node, low: int, high: int | None) -> Node:
        """Return the contents of an array: ``items``, and ``rest`` until bounds are reached."""


# Cohere

_END = "</cofl:value>"
_KEY = r'(?:[^\x00"&<>]|&(?:amp|lt|gt|quot);)+'
_SPELLED = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})
_TYPES = {"object": "dict", "array": "list"}


class CohereArguments(NestedArguments):
    """Writes arguments as elements that name their key and the type of their value.

    A string is ``raw``, an object ``dict``, an array ``list``, and any other value is ``json``, as
    is what a schema lists as a constant.
    """

    def _words(self) -> Sequence[str]:
        return (_END,)

    def _element(self, name: str | None, schema: Any, pointer: str, hint: str) -> Node:
        key = "" if name is None else f' name="{name.translate(_SPELLED)}"'
        values = alternation(self._values(schema, pointer, hint))
        return sequence(text(f"<cofl:value{key}"), values)

    def _other(
        self, schema: dict[str, Any], listed: Sequence[str], pointer: str, hint: str
    ) -> Node:
        value = other_members(schema, self.options)
        if value is False:
            return EMPTY
        values = alternation(self._values(value, f"{pointer}/additionalProperties", hint))
        return self._of_any_name([name.translate(_SPELLED) for name in listed], values)

    def _members(self, members: ElementMembers, pointer: str, hint: str) -> Node:
        return sequence(members.written(self.contents, self.options, pointer, hint), self.space)

    def _items(self, items: Sequence[Node], rest: Node, low: int, high: int | None) -> Node:
        if rest is EMPTY:
            return sequence(*items)
        most = None if high is None else high - len(items)
        return sequence(*items, repeated(rest, max(low - len(items), 0), most))

    def _with_type(self, kind: str, form: Node) -> Node:
        type_name = _TYPES.get(kind, kind)
        return sequence(text(f' type="{type_name}">'), self.space, form, self.space, text(_END))

    def _listed(self, value: Any, pointer: str) -> Iterator[Node]:
        del pointer
        is_text = isinstance(value, str)
        written = value if is_text else print_json(value)
        yield self._with_type("raw" if is_text else "json", text(written))

    def _scalar(self, schema: Any, pointer: str, hint: str) -> Iterator[Node]:
        for form in super()._scalar(schema, pointer, hint):
            yield self._with_type("json", form)

    def _string(self, schema: dict[str, Any], pointer: str, hint: str) -> Node:
        del hint
        form = self.contents.strings(schema, self.options, pointer, self.avoided, self.plain)
        return self._raw if form is self.plain else self._with_type("raw", form)

    def _any_values(self, pointer: str, calls: Mapping[str, Node]) -> Sequence[Node]:
        plain = SchemaDocument({"type": ["number", "boolean", "null"]}, self.options)
        scalar = self.contents.schema(plain, self.options, pointer, "scalar")
        values = [
            self._raw,
            self._with_type("json", scalar),
            self._with_type("object", calls["any_object"]),
            self._with_type("array", calls["any_list"]),
        ]
        element = self._spaced(self._of_any_name((), calls["any_value"]))
        item = sequence(text("<cofl:value"), calls["any_value"])
        members = sequence(repeated(element, 0, None), self.space)
        return alternation(values), members, repeated(item, 0, None)

    @property
    def _raw(self) -> Node:
        return sequence(text(' type="raw">'), self.plain, text(_END))

    def _of_any_name(self, listed: Sequence[str], values: Node) -> Node:
        key = self.contents.other_names(_KEY, listed)
        return sequence(text('<cofl:value name="'), key, text('"'), values)


# MiniMax-M3

MARKER = "]<]minimax[>["

_Named: TypeAlias = tuple[str | None, Any]
"""A value that is listed, and the name of its element, if it has one."""


class MiniMaxM3Arguments(NestedArguments):
    """Writes arguments as elements whose tags follow a marker that no value may contain.

    A value is a string as it is, elements, or another value as in JSON. What would need a value of
    any kind is refused, as XGrammar refuses it: nothing could bind the end of an element to its
    beginning.
    """

    takes_anything = False

    def _words(self) -> Sequence[str]:
        return (MARKER,)

    def _element(self, name: str | None, schema: Any, pointer: str, hint: str) -> Node:
        values = alternation(self._values(schema, pointer, hint))
        return _element(self._checked(name, pointer), values)

    def _other(
        self, schema: dict[str, Any], listed: Sequence[str], pointer: str, hint: str
    ) -> Node:
        del listed, hint
        if schema.get("additionalProperties", False) is not False:
            where = f"{pointer}/additionalProperties"
            message = "in `minimax_m3_xml` all properties are listed"
            self.report.error(where, message, code=UNSUPPORTED)
        return EMPTY

    def _members(self, members: ElementMembers, pointer: str, hint: str) -> Node:
        """Return the contents of an object: nothing, or elements in gaps."""
        if not members.elements:
            return EMPTY
        if not members.needed and self.options.order is Order.DECLARED:
            return optional(alternation(self._beginnings([*members.elements.values()], hint)))
        return sequence(members.written(self.contents, self.options, pointer, hint), self.space)

    def _items(self, items: Sequence[Node], rest: Node, low: int, high: int | None) -> Node:
        """Return the contents of an array: nothing, or items in gaps."""
        prefix: Node = EMPTY
        if rest is not EMPTY:
            most = None if high is None else high - len(items)
            # Without listed items at least one: the empty array has no gap, and is the ``optional``
            # below.
            prefix = repeated(self._spaced(rest), max(low - len(items), 0 if items else 1), most)
        for index, item in reversed([*enumerate(items)]):
            prefix = sequence(self._spaced(item), prefix)
            if index > 0 and low <= index:
                prefix = optional(prefix)
        if high == 0 or (not items and rest is EMPTY):
            return EMPTY
        whole = sequence(prefix, self.space)
        return whole if low else optional(whole)

    def _beginnings(self, forms: Sequence[Node], hint: str) -> list[Node]:
        """Return the texts that begin with each of some elements; the rest of each is a rule."""
        rest = self.space
        result: list[Node] = []
        for index, form in reversed([*enumerate(forms)]):
            result.insert(0, sequence(self._spaced(form), rest))
            if index:
                name = self.contents.names.fresh(f"{hint}_rest")
                rest = self.contents.add(name, sequence(optional(self._spaced(form)), rest))
        return result

    def _listed(self, value: Any, pointer: str) -> Iterator[Node]:
        root: _Named = (None, value)
        yield fold(root, _elements, partial(self._constant, pointer))

    def _scalar(self, schema: Any, pointer: str, hint: str) -> Iterator[Node]:
        if schema is not False and kind_of(schema) is None:
            message = "in `minimax_m3_xml` a value has a type"
            self.report.error(pointer, message, code=UNSUPPORTED)
            return iter(())
        return super()._scalar(schema, pointer, hint)

    def _string(self, schema: dict[str, Any], pointer: str, hint: str) -> Node:
        del hint
        return self.contents.strings(schema, self.options, pointer, self.avoided, self.plain)

    def _constant(self, pointer: str, node: _Named, elements: list[Node]) -> Node:
        """Return a value that is listed; ``elements`` are the elements inside."""
        name, value = node
        if isinstance(value, dict | list):
            form = sequence(*elements)
        elif isinstance(value, str):
            if MARKER in value:
                message = f"a string cannot contain `{MARKER}` here"
                self.report.error(pointer, message, code=UNSUPPORTED)
            form = text(value)
        else:
            form = text(print_json(value))
        return form if name is None else _element(self._checked(name, pointer), form)

    def _checked(self, name: str | None, pointer: str) -> str:
        if name is None:
            return "item"
        if not name or name.startswith("/") or ">" in name:
            message = f"`{name}` cannot be the name of an element"
            self.report.error(pointer, message, code=UNSUPPORTED)
        return name


def _elements(node: _Named) -> list[_Named]:
    value = node[1]
    if isinstance(value, dict):
        return [*value.items()]
    return [("item", inner) for inner in value] if isinstance(value, list) else []


def _element(name: str, values: Node) -> Node:
    return sequence(text(f"{MARKER}<{name}>"), values, text(f"{MARKER}</{name}>"))


# Literals of other notations

_BRACES = ("{", "}")


class ValueNotation(NamedTuple):
    """How a notation writes the outermost object, members, strings and the constants of JSON.

    ``quote`` is around strings that are written as they are; without one they are JSON's. ``name``
    is the pattern of names without quotes; members may be in their order. In a notation that
    ``is_mixed``, strings and constants of JSON and of Python are both allowed.
    """

    brackets: tuple[str, str]
    assigned: str
    separator: str
    quote: str
    words: Mapping[str, str]
    name: str
    is_sorted: bool = False
    is_mixed: bool = False


_PYTHON = ValueNotation(("(", ")"), "=", ", ", "", PYTHON_WORDS, r"[A-Za-z_][A-Za-z0-9_]*")

NOTATIONS: Mapping[str, ValueNotation] = {
    "gemma": ValueNotation(
        _BRACES, ":", ",", '<|"|>', {}, r"[^\x00-\x20:,{}\[\]<>\x22]+", is_sorted=True
    ),
    "python": _PYTHON,
    "python_json": _PYTHON._replace(is_mixed=True),
}  # fmt: skip


def literal(style: str, value: Any, *, words: str = "json") -> str:
    """Return the outermost object, a value of Python, as it is written."""
    notation = NOTATIONS[style]
    notation = notation._replace(words=PYTHON_WORDS) if words == "python" else notation
    return str(
        fold(
            ("", value),
            _inner_values,
            lambda node, written_values: _written(notation, node, written_values),
        )
    )


def _inner_values(node: tuple[str, Any]) -> list[tuple[str, Any]]:
    value = node[1]
    if isinstance(value, dict):
        return [("inner", inner) for inner in value.values()]
    return [("inner", inner) for inner in value] if isinstance(value, list) else []


def _written(notation: ValueNotation, node: tuple[str, Any], written_values: list[str]) -> str:
    where, value = node
    if isinstance(value, list):
        return f"[{notation.separator.join(written_values)}]"
    if isinstance(value, dict):
        members = [*zip(value, written_values, strict=True)]
        if notation.is_sorted:
            # ``dictsort`` of Jinja, by which templates write them, ignores case.
            members.sort(key=lambda member: member[0].lower())
        first, last = _BRACES if where else notation.brackets
        result = (
            _key(notation, name, is_inner=bool(where)) + written_value
            for name, written_value in members
        )
        return first + notation.separator.join(result) + last
    if isinstance(value, str) and notation.quote:
        return f"{notation.quote}{value}{notation.quote}"
    if isinstance(value, str) and notation.is_mixed and _is_plain(value):
        return f"'{value}'"
    written = print_json(value)
    return notation.words.get(written, written)


_IN_APOSTROPHES = r"[^'\\]*"
"""The characters that are the same in single quotes as outside of them."""


_UNIT = "(?:[0-9A-CEFa-cef][0-9A-Fa-f]|[Dd][0-7])[0-9A-Fa-f]{2}"
"""Four hexadecimal digits of a character, surrogates excluded."""

_LONG = f"00(?:10[0-9A-Fa-f]{{4}}|0[1-9A-Fa-f][0-9A-Fa-f]{{4}}|00{_UNIT})"

_PYTHON_STRING = rf"(?s:[^'\\]|\\(?:[^NUux]|x[0-9A-Fa-f]{{2}}|u{_UNIT}|U{_LONG}))*"
"""Strings of Python without their single quotes, and with control characters, which parsers mend.

A backslash before a letter that begins no escape is itself, as in ``\\d``. Names of characters,
``\\N{...}``, and surrogates are excluded.
"""


def _is_plain(value: str) -> bool:
    return re.fullmatch(_IN_APOSTROPHES, value) is not None


def _in_python(value: Any) -> Iterator[str]:
    """Yield how Python prints a listed value, where nothing in it needs an escape."""
    inside = postorder(("", value), _inner_values)
    strings = [
        text
        for _, character in inside
        for text in (character if isinstance(character, dict) else [character])
    ]
    if all(_is_plain(string) for string in strings if isinstance(string, str)):
        yield fold(("", value), _inner_values, _printed)


def _printed(node: tuple[str, Any], written_values: list[str]) -> str:
    """Return a value as Python prints it."""
    value = node[1]
    if isinstance(value, list):
        return f"[{', '.join(written_values)}]"
    if isinstance(value, dict):
        members = (
            f"'{name}': {written_value}"
            for name, written_value in zip(value, written_values, strict=True)
        )
        return f"{{{', '.join(members)}}}"
    written = print_json(value)
    return f"'{value}'" if isinstance(value, str) else PYTHON_WORDS.get(written, written)


def _key(notation: ValueNotation, name: str, *, is_inner: bool) -> str:
    if is_inner and not notation.quote:
        return f"{print_json(name)}: "
    return f"{name}{notation.assigned}"


class LiteralArguments(NestedArguments):
    """Writes arguments in a notation."""

    takes_excludes = True
    unsaid_items = True

    def _words(self) -> Sequence[str]:
        self._style = self.fields["style"]
        self._notation = NOTATIONS[self._style]
        self._outermost: frozenset[str] = frozenset()
        quote = self._notation.quote
        return sorted({quote or "\0", *self.fields["excludes"]})

    def _containers(self) -> list[tuple[str, Node]]:
        """Return the rules of objects and arrays; the outermost ones are written otherwise."""
        self._outermost = frozenset(self.names.values())
        # The outermost schema may occur again inside, where it is written in other brackets.
        self.names.clear()
        return super()._containers()

    def _element(self, name: str | None, schema: Any, pointer: str, hint: str) -> Node:
        del name
        return alternation(self._values(schema, pointer, hint))

    def _other(
        self, schema: dict[str, Any], listed: Sequence[str], pointer: str, hint: str
    ) -> Node:
        del listed
        value = other_members(schema, self.options)
        if value is False:
            return EMPTY
        return alternation(self._values(value, f"{pointer}/additionalProperties", hint))

    def _members(self, members: ElementMembers, pointer: str, hint: str) -> Node:
        """Return an object in its brackets, with separators between its members."""
        is_inner = hint not in self._outermost
        if self.options.order is Order.ANY and len(members.elements) > 1:
            message = "members are in one order in this notation"
            self.report.note(f"{pointer}/properties", message, code=NARROWED)
        names = [*members.elements]
        if self._notation.is_sorted:
            names.sort(key=str.lower)
        forms = []
        for name in names:
            self._check(name, pointer, is_inner=is_inner)
            key = _key(self._notation, name, is_inner=is_inner)
            keys = [key]
            if is_inner and self._notation.is_mixed and _is_plain(name):
                keys.append(f"'{name}': ")
            key_form = alternation(map(text, keys))
            forms.append((sequence(key_form, members.elements[name]), name in members.needed))
        other: Node = EMPTY
        if members.other is not EMPTY:
            other = sequence(self._other_key(names, is_inner=is_inner), members.other)
        first, last = _BRACES if is_inner else self._notation.brackets
        return sequence(text(first), self._joined(forms, other, hint), text(last))

    def _items(self, items: Sequence[Node], rest: Node, low: int, high: int | None) -> Node:
        separator = text(self._notation.separator)
        result: Node = EMPTY
        if rest is not EMPTY:
            most = None if high is None else high - len(items)
            result = repeated(sequence(separator, rest), max(low - len(items), 0), most)
            if not items and most != 0:
                more = None if most is None else most - 1
                some = sequence(rest, repeated(sequence(separator, rest), max(low - 1, 0), more))
                result = some if low else optional(some)
        for index, item in reversed([*enumerate(items)]):
            result = sequence(separator, item, result) if index else sequence(item, result)
            result = optional(result) if index >= low else result
        return sequence(text("["), result, text("]"))

    def _joined(self, forms: Sequence[tuple[Node, bool]], other: Node, hint: str) -> Node:
        """Return members with separators between them: after another one, or as the first.

        Members that are not listed come last, and anywhere where names are in their order.
        """
        separator = text(self._notation.separator)
        others: Node = EMPTY
        if other is not EMPTY:
            others = repeated(sequence(separator, other), 0, None)
        before = others if self._notation.is_sorted else EMPTY
        after = others
        first = EMPTY if other is EMPTY else optional(sequence(other, after))
        for number, (form, is_needed) in reversed([*enumerate(forms)]):
            led, begun = sequence(before, separator, form, after), sequence(form, after)
            first = begun if is_needed else alternation([begun, first])
            after = led if is_needed else alternation([led, after])
            # A rule, for it is used with its member and without; copies would double with each
            # member.
            rest = self.contents.names.fresh(f"{hint}_rest")
            after = self.contents.add(rest, after)
            # Where names are in their order, one that is not listed may come first.
            if not number and before is not EMPTY:
                first = alternation([first, sequence(other, after)])
        return first

    def _check(self, name: str, pointer: str, *, is_inner: bool) -> None:
        is_string = is_inner and not self._notation.quote
        if not is_string and re.fullmatch(self._notation.name, name) is None:
            message = f"the style `{self._style}` cannot write a property called {name!r}"
            self.report.error(f"{pointer}/properties", message, code=UNSUPPORTED)

    def _other_key(self, listed: Sequence[str], *, is_inner: bool) -> Node:
        name = self._notation.name
        if is_inner and not self._notation.quote:
            schema = {"type": "string", **({"not": {"enum": [*listed]}} if listed else {})}
            keys = SchemaDocument(schema, self.options)
            key = self._in_json(keys, self.pointer, "name")
            if self._notation.is_mixed:
                names = self.contents.other_names(_IN_APOSTROPHES, listed)
                key = alternation([key, sequence(text("'"), names, text("'"))])
            return sequence(key, text(": "))
        return sequence(self.contents.other_names(name, listed), text(self._notation.assigned))

    def _listed(self, value: Any, pointer: str) -> Iterator[Node]:
        del pointer
        is_text = isinstance(value, str)
        if not is_text or not any(map(value.count, self.fields["excludes"])):
            plain = self._notation._replace(is_mixed=False)
            written = fold(("inner", value), _inner_values, partial(_written, plain))
            spelt = [written] if is_text else [*spellings(written, self.fields)]
            if self._notation.is_mixed:
                in_json = plain._replace(words={})
                spelt.append(fold(("inner", value), _inner_values, partial(_written, in_json)))
                spelt += _in_python(value)
            yield from map(text, dict.fromkeys(spelt))

    def _string(self, schema: dict[str, Any], pointer: str, hint: str) -> Node:
        quote = self._notation.quote
        if not quote:
            document = self.schemas.document_of(schema, pointer)
            form = self._in_json(document, self.schemas.pointer, hint)
            if not self._notation.is_mixed or self.fields["excludes"]:
                return form
            return alternation([form, self._in_apostrophes(schema, pointer)])
        form = self.contents.strings(schema, self.options, pointer, self.avoided, self.plain)
        return sequence(text(quote), form, text(quote))

    def _in_json(self, document: SchemaDocument, pointer: str, hint: str) -> Node:
        return self.contents.schema(document, self.options, pointer, hint, self.fields["excludes"])

    def _in_apostrophes(self, schema: dict[str, Any], pointer: str) -> Node:
        """Return the strings of a schema in single quotes.

        Those of a schema that restricts them contain nothing that is escaped.
        """
        low, high = (schema.get(name) for name in ("minLength", "maxLength"))
        plain = self.contents.shared(
            "apostrophes", None, lambda: self.contents.pattern(_PYTHON_STRING)
        )
        if is_restricted(schema, self.options):
            form = self.contents.strings(schema, self.options, pointer, ("'", "\\"), plain)
        elif low is None and high is None:
            form = plain
        else:
            char = self.contents.shared(
                "apostrophe", None, lambda: self.contents.pattern(r"[^'\\]")
            )
            form = repeated(char, int(low or 0), None if high is None else int(high))
        return sequence(text("'"), form, text("'"))

    def _scalar(self, schema: Any, pointer: str, hint: str) -> Iterator[Node]:
        kind = kind_of(schema)
        if kind not in ("boolean", "null"):
            yield from super()._scalar(schema, pointer, hint)
            return
        for word in ("true", "false") if kind == "boolean" else ("null",):
            written = self._notation.words.get(word, word)
            spelt = [*spellings(written, self.fields), *([word] * self._notation.is_mixed)]
            yield from map(text, dict.fromkeys(spelt))

    def _any_values(self, pointer: str, calls: Mapping[str, Node]) -> Sequence[Node]:
        kinds = ("number", "boolean", "null")
        values = [kind_ for kind in kinds for kind_ in self._scalar({"type": kind}, pointer, kind)]
        values.append(self._string({"type": "string"}, pointer, "string"))
        separator = text(self._notation.separator)
        member = sequence(self._other_key((), is_inner=True), calls["any_value"])
        objects, lists = (
            sequence(text(first), optional(sequence(kind_, repeated(more, 0, None))), text(last))
            for kind_, (first, last) in ((member, _BRACES), (calls["any_value"], ("[", "]")))
            for more in (sequence(separator, kind_),)
        )
        return alternation([*values, calls["any_object"], calls["any_list"]]), objects, lists


def style_texts(style: str) -> tuple[str, ...]:
    """Return the texts around values in a style that may have markers."""
    if style in STYLES:
        result = STYLES[style]
        return (result.opening, result.named, result.value, result.closing)
    return (NOTATIONS[style].quote,) if style in NOTATIONS else ()
