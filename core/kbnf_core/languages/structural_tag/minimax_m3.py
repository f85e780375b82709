"""``minimax_m3_xml``: arguments as elements whose tags follow a marker that no value may contain.

A value is a string as it is, elements, or another value as in JSON. What would need a value of any
kind, or a string with a restriction, is refused, as XGrammar refuses it.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, TypeAlias

from kbnf_core.automata.traversal import fold
from kbnf_core.kbnf.build import (
    EMPTY,
    Form,
    alternation,
    definition,
    optional,
    repeated,
    sequence,
    text,
)
from kbnf_core.languages.json_schema.expressions import constant
from kbnf_core.languages.json_schema.options import Order
from kbnf_core.languages.structural_tag.contents import avoiding
from kbnf_core.languages.structural_tag.read import UNSUPPORTED
from kbnf_core.languages.structural_tag.schemas import constants, is_restricted
from kbnf_core.languages.structural_tag.xml import Members, NestedArguments, kind_of

MARKER = "]<]minimax[>["

_Node: TypeAlias = tuple[str | None, Any]
"""A value that is listed, and the name of its element, if it has one."""


class MiniMaxM3Arguments(NestedArguments):
    """Writes arguments in the style of MiniMax-M3."""

    def prepare(self) -> None:
        """Make the rule of strings."""
        self._plain = optional(self.contents.shared("argument", avoiding([MARKER])))

    def element(self, name: str | None, schema: Any, pointer: str, hint: str) -> Form:
        """Return the element of a property, or of an item."""
        return _element(
            self._checked(name, pointer), alternation(self._values(schema, pointer, hint))
        )

    def other(self, schema: dict[str, Any], listed: Sequence[str], pointer: str, hint: str) -> Form:
        """Refuse properties that are not listed."""
        del listed, hint
        if schema.get("additionalProperties", False) is not False:
            where = f"{pointer}/additionalProperties"
            message = "in `minimax_m3_xml` all properties are listed"
            self.report.error(where, message, code=UNSUPPORTED)
        return EMPTY

    def object(self, members: Members, pointer: str, hint: str) -> Form:
        """Return what is inside of an object: nothing, or elements in gaps."""
        if not members.elements:
            return EMPTY
        if not members.needed and self.options.order is Order.DECLARED:
            return optional(alternation(self._beginnings([*members.elements.values()], hint)))
        return sequence(members.written(self.contents, self.options, pointer, hint), self.space)

    def array(self, items: Sequence[Form], rest: Form, low: int, high: int | None) -> Form:
        """Return what is inside of an array: nothing, or items in gaps."""
        found: Form = EMPTY
        if rest is not EMPTY:
            most = None if high is None else high - len(items)
            found = repeated(self.spaced(rest), max(low - len(items), 0 if items else 1), most)
        for index, item in reversed([*enumerate(items)]):
            found = sequence(self.spaced(item), found)
            if index > 0 and low <= index:
                found = optional(found)
        if high == 0 or (not items and rest is EMPTY):
            return EMPTY
        whole = sequence(found, self.space)
        return whole if low else optional(whole)

    def _beginnings(self, forms: Sequence[Form], hint: str) -> list[Form]:
        """Return the texts that begin with each of some elements; the rest of each is a rule."""
        rest = self.space
        found: list[Form] = []
        for index, form in reversed([*enumerate(forms)]):
            found.insert(0, sequence(self.spaced(form), rest))
            if index:
                name = self.contents.names.fresh(f"{hint}_rest")
                body = sequence(optional(self.spaced(form)), rest)
                rest = self.contents.add(definition(name, body))
        return found

    def _values(self, schema: Any, pointer: str, hint: str) -> Iterator[Form]:
        for each, where in self.schemas.cases(schema, pointer):
            listed = constants(each)
            kind = kind_of(each)
            if listed is not None:
                nodes: list[_Node] = [(None, value) for value in listed]
                for node in nodes:
                    yield fold(node, _parts, partial(self._constant, where))
            elif each is not False and kind is None:
                message = "in `minimax_m3_xml` a value has a type"
                self.report.error(where, message, code=UNSUPPORTED)
            elif kind in ("object", "array"):
                yield self.container(each, where, hint)
            elif kind == "string":
                yield self._string(each, where)
            else:
                whole = self.schemas.whole(each)
                yield self.contents.schema(whole, self.options, where, hint)

    def _string(self, schema: dict[str, Any], pointer: str) -> Form:
        if is_restricted(schema, self.options) or {"minLength", "maxLength"} & schema.keys():
            message = "in `minimax_m3_xml` nothing restricts a string but the values it may have"
            self.report.error(pointer, message, code=UNSUPPORTED)
        return self._plain

    def _constant(self, pointer: str, node: _Node, parts: list[Form]) -> Form:
        """Return a value that is listed; ``parts`` are the elements inside."""
        name, value = node
        if isinstance(value, dict | list):
            form = sequence(*parts)
        elif isinstance(value, str):
            if MARKER in value:
                message = f"a string cannot contain `{MARKER}` here"
                self.report.error(pointer, message, code=UNSUPPORTED)
            form = text(value)
        else:
            form = text(constant(value).text)
        return form if name is None else _element(self._checked(name, pointer), form)

    def _checked(self, name: str | None, pointer: str) -> str:
        if name is None:
            return "item"
        if not name or name.startswith("/") or ">" in name:
            message = f"`{name}` cannot be the name of an element"
            self.report.error(pointer, message, code=UNSUPPORTED)
        return name


def _parts(node: _Node) -> list[_Node]:
    value = node[1]
    if isinstance(value, dict):
        return [*value.items()]
    return [("item", each) for each in value] if isinstance(value, list) else []


def _element(name: str, values: Form) -> Form:
    return sequence(text(f"{MARKER}<{name}>"), values, text(f"{MARKER}</{name}>"))
