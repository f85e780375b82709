"""Arguments of tools in XML whose objects and arrays are elements within elements.

A value of a schema is an object, an array, or a leaf, each of which a style writes in its way: the
base here knows what belongs to what, ``cohere`` and ``minimax_m3`` how it looks. A schema of an
object or an array becomes a rule, made when its turn comes: schemas may refer to themselves, and
nothing here recurs.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from kbnf_core.languages.json_schema.build_tree import (
    EMPTY,
    Form,
    alternation,
    call,
    definition,
    regex,
    sequence,
)
from kbnf_core.languages.json_schema.options import Options
from kbnf_core.languages.structural_tag.contents import SPACE, Contents
from kbnf_core.languages.structural_tag.read import UNSUPPORTED
from kbnf_core.languages.structural_tag.schemas import OF_OBJECTS, Schemas
from kbnf_core.syntax.tree import Definition

OF_ARRAYS = frozenset({"type", "items", "prefixItems", "minItems", "maxItems"})


class NestedArguments(ABC):
    """Writes the arguments of a tool in a style."""

    def __init__(
        self, contents: Contents, fields: Mapping[str, Any], options: Options, pointer: str
    ) -> None:
        self.contents = contents
        self.report = contents.report
        self.options = options
        self.schemas = Schemas(fields["json_schema"], f"{pointer}/json_schema", self.report)
        self.any_order = bool(fields["any_order"])
        self._fields = fields
        self._pointer = pointer
        self._names: dict[str, str] = {}
        self._waiting: list[tuple[str, dict[str, Any], str]] = []

    def write(self, wish: str) -> Form:
        """Return all arguments, a rule called like ``wish``."""
        if self._fields["excludes"]:
            where = f"{self._pointer}/excludes"
            message = f"`excludes` in the style `{self._fields['style']}` is not supported"
            self.report.error(where, message, code=UNSUPPORTED)
            return EMPTY
        gap = regex(self.options.whitespace_pattern or f"{SPACE}*")
        self.space = self.contents.shared("space", gap)
        self.prepare()
        forms = []
        pointer = f"{self._pointer}/json_schema"
        for schema, where in self.schemas.cases(self._fields["json_schema"], pointer):
            if schema is False or kind_of(schema) not in (None, "object"):
                message = "arguments in XML are those of an object"
                self.report.error(where, message, code=UNSUPPORTED)
                return EMPTY
            listed = {} if schema is True else schema
            forms.append(self.container({**listed, "type": "object"}, where, wish))
        for rule in reversed(self._containers()):
            self.contents.add(rule, ahead=True)
        return alternation(forms)

    def _containers(self) -> list[Definition]:
        """Return the rules of objects and arrays inside, and of those inside of these."""
        found = []
        for rule, schema, where in self._waiting:
            found.append(definition(rule, self._container(schema, where, rule)))
        return found

    def container(self, schema: dict[str, Any], pointer: str, wish: str) -> Form:
        """Return a call of the rule of an object or an array."""
        if pointer not in self._names:
            self._names[pointer] = self.contents.names.fresh(wish)
            self._waiting.append((self._names[pointer], schema, pointer))
        return call(self._names[pointer])

    def _container(self, schema: dict[str, Any], pointer: str, wish: str) -> Form:
        if kind_of(schema) == "object":
            return self._object(schema, pointer, wish)
        return self._array(schema, pointer, wish)

    def _object(self, schema: dict[str, Any], pointer: str, wish: str) -> Form:
        if self.schemas.refuses(schema, pointer, OF_OBJECTS):
            return EMPTY
        listed, needed = self.schemas.members(schema, pointer)
        elements = {
            name: self.element(name, each, where, f"{wish}_{name}")
            for name, (each, where) in listed.items()
        }
        other = self.other(schema, [*listed], pointer, f"{wish}_other")
        return self.object(elements, needed, other, wish)

    def _array(self, schema: dict[str, Any], pointer: str, wish: str) -> Form:
        if self.schemas.refuses(schema, pointer, OF_ARRAYS):
            return EMPTY
        low, most = int(schema.get("minItems", 0)), schema.get("maxItems")
        high = None if most is None else int(most)
        first = schema.get("prefixItems", [])
        items = [
            self.element(None, each, f"{pointer}/prefixItems/{index}", f"{wish}_item")
            for index, each in enumerate(first)
        ][:high]
        rest: Form = EMPTY
        if schema.get("items", False) is not False:
            rest = self.element(None, schema["items"], f"{pointer}/items", f"{wish}_item")
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
    def element(self, name: str | None, schema: Any, pointer: str, wish: str) -> Form:
        """Return the element of a property, or of an item, which has no name."""

    @abstractmethod
    def other(self, schema: dict[str, Any], listed: Sequence[str], pointer: str, wish: str) -> Form:
        """Return the element of a property that is not listed; nothing where there is none."""

    @abstractmethod
    def object(
        self, elements: Mapping[str, Form], needed: frozenset[str], other: Form, wish: str
    ) -> Form:
        """Return what stands inside of an object."""

    @abstractmethod
    def array(self, items: Sequence[Form], rest: Form, low: int, high: int | None) -> Form:
        """Return what stands inside of an array: ``items``, and ``rest`` until bounds are met."""


def kind_of(schema: Any) -> str | None:
    """Return the type of a plain schema, by its keywords where it does not say; None for any."""
    if not isinstance(schema, dict):
        return None
    if "type" in schema:
        return str(schema["type"])
    if {"properties", "required", "additionalProperties"} & schema.keys():
        return "object"
    return "array" if {"items", "prefixItems"} & schema.keys() else None
