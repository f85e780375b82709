"""``cohere_xml``: arguments as elements that name their key and the type of their value.

A string is ``raw``, an object ``dict``, an array ``list``, and any other value is ``json``, as is
what a schema lists as a constant.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from kbnf_core.kbnf.build import (
    EMPTY,
    Form,
    alternation,
    call,
    definition,
    optional,
    regex,
    repeated,
    sequence,
    text,
)
from kbnf_core.languages.json_schema.expressions import constant
from kbnf_core.languages.structural_tag.contents import avoiding
from kbnf_core.languages.structural_tag.schemas import constants
from kbnf_core.languages.structural_tag.xml import (
    Members,
    NestedArguments,
    kind_of,
    other_members,
    other_names,
)

_END = "</cofl:value>"
_KEY = r'(?:[^\x00"&<>]|&(?:amp|lt|gt|quot);)+'
_SPELLED = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})
_ANY = ("any_value", "any_object", "any_list")
_CONTAINERS = {"object": "dict", "array": "list"}


class CohereArguments(NestedArguments):
    """Writes arguments in the style of Cohere's models."""

    def prepare(self) -> None:
        """Make the rule of strings."""
        self._plain = optional(self.contents.shared("argument", avoiding([_END])))

    def element(self, name: str | None, schema: Any, pointer: str, hint: str) -> Form:
        """Return the element of a property, or of an item."""
        key = "" if name is None else f' name="{name.translate(_SPELLED)}"'
        values = alternation(self._values(schema, pointer, hint))
        return sequence(text(f"<cofl:value{key}"), values)

    def other(self, schema: dict[str, Any], listed: Sequence[str], pointer: str, hint: str) -> Form:
        """Return the element of a property that is not listed; nothing where there is none."""
        value = other_members(schema, self.options)
        if value is False:
            return EMPTY
        values = alternation(self._values(value, f"{pointer}/additionalProperties", hint))
        known = [name.translate(_SPELLED) for name in listed]
        return _of_any_name(other_names(_KEY, known) if known else regex(_KEY), values)

    def object(self, members: Members, pointer: str, hint: str) -> Form:
        """Return what is inside of an object."""
        return sequence(members.written(self.contents, self.options, pointer, hint), self.space)

    def array(self, items: Sequence[Form], rest: Form, low: int, high: int | None) -> Form:
        """Return what is inside of an array, which has all ``items``."""
        if rest is EMPTY:
            return sequence(*items)
        most = None if high is None else high - len(items)
        return sequence(*items, repeated(rest, max(low - len(items), 0), most))

    def _values(self, schema: Any, pointer: str, hint: str) -> Iterator[Form]:
        for each, where in self.schemas.cases(schema, pointer):
            listed = constants(each)
            kind = kind_of(each)
            if listed is not None:
                for value in listed:
                    told = "raw" if isinstance(value, str) else "json"
                    written = value if isinstance(value, str) else constant(value).text
                    yield self._told(told, text(written))
            elif each is True or (kind is None and each is not False):
                yield self._anything(where)
            elif kind in _CONTAINERS:
                yield self._container_told(each, where, kind, hint)
            elif kind == "string":
                yield self._string(each, where)
            else:
                form = self.contents.schema(self.schemas.whole(each), self.options, where, hint)
                yield self._told("json", form)

    def _told(self, kind: str, form: Form) -> Form:
        """Return a value after the attribute that tells what it is, and the element's end."""
        return sequence(text(f' type="{kind}">'), self.space, form, self.space, text(_END))

    def _container_told(self, schema: dict[str, Any], pointer: str, kind: str, hint: str) -> Form:
        if kind == "object" and not {"properties", "additionalProperties"} & schema.keys():
            return self._told("dict", self._any("any_object", pointer))
        return self._told(_CONTAINERS[kind], self.container(schema, pointer, hint))

    def _string(self, schema: dict[str, Any], pointer: str) -> Form:
        form = self.contents.strings(schema, self.options, pointer, [_END], self._plain)
        if form is self._plain:
            return sequence(text(' type="raw">'), form, text(_END))
        return self._told("raw", form)

    def _anything(self, pointer: str) -> Form:
        return self._any("any_value", pointer)

    def _any(self, name: str, pointer: str) -> Form:
        """Return any value, after the name of its element, or any object."""
        plain = ("number", "boolean", "null")
        scalar = self.contents.schema({"type": [*plain]}, self.options, pointer, "scalar")
        value = alternation(
            [
                sequence(text(' type="raw">'), self._plain, text(_END)),
                self._told("json", scalar),
                self._told("dict", call("any_object")),
                self._told("list", call("any_list")),
            ]
        )
        element = self.spaced(_of_any_name(regex(_KEY), call("any_value")))
        item = sequence(text("<cofl:value"), call("any_value"))
        rules = [
            definition("any_value", value),
            definition("any_object", sequence(repeated(element, 0, None), self.space)),
            definition("any_list", repeated(item, 0, None)),
        ]
        return self.contents.embed(rules, name, name, _ANY)


def _of_any_name(key: Form, values: Form) -> Form:
    return sequence(text('<cofl:value name="'), key, text('"'), values)
