"""Arguments of tools as literals of a notation that is not JSON: Gemma's, and calls of Python.

``gemma`` writes ``{city:<|"|>Köln<|"|>,days:3}``: names as they are, strings as they are between
two markers, members in the order of their names. ``python`` writes ``(city="Köln", days=3)``:
members of the outermost object are keyword arguments, strings and the names within values are as in
JSON, ``True``, ``False`` and ``None`` as in Python.

A notation has no gaps other than its own, since models write none.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from kbnf_core.automata.traversal import fold
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
from kbnf_core.kbnf.tree import Definition
from kbnf_core.languages.json_schema.expressions import constant
from kbnf_core.languages.json_schema.options import Order
from kbnf_core.languages.json_schema.problems import NARROWED
from kbnf_core.languages.structural_tag.contents import avoiding
from kbnf_core.languages.structural_tag.read import UNSUPPORTED
from kbnf_core.languages.structural_tag.schemas import constants
from kbnf_core.languages.structural_tag.xml import (
    PYTHON_WORDS,
    Members,
    NestedArguments,
    kind_of,
    other_members,
    other_names,
    spellings,
)

_BRACES = ("{", "}")
_ANY = ("any_value", "any_object", "any_list")


class Notation(NamedTuple):
    """How a notation writes the outermost object, members, strings and the constants of JSON.

    ``quote`` is around strings that are written as they are; without one they are JSON's.
    ``name`` is the pattern of the names that are no strings; members may be in their order.
    """

    brackets: tuple[str, str]
    assigned: str
    separator: str
    quote: str
    words: Mapping[str, str]
    name: str
    is_sorted: bool = False


NOTATIONS: Mapping[str, Notation] = {
    "gemma": Notation(
        _BRACES, ":", ",", '<|"|>', {}, r"[^\x00-\x20:,{}\[\]<>\x22]+", is_sorted=True
    ),
    "python": Notation(
        ("(", ")"), "=", ", ", "", PYTHON_WORDS,
        r"[A-Za-z_][A-Za-z0-9_]*",
    ),
}  # fmt: skip


def literal(style: str, value: Any, *, words: str = "json") -> str:
    """Return the outermost object, a value of Python, as it is written."""
    notation = NOTATIONS[style]
    notation = notation._replace(words=PYTHON_WORDS) if words == "python" else notation
    return str(fold(("", value), _parts, lambda node, parts: _written(notation, node, parts)))


def _parts(node: tuple[str, Any]) -> list[tuple[str, Any]]:
    value = node[1]
    if isinstance(value, dict):
        return [("inner", each) for each in value.values()]
    return [("inner", each) for each in value] if isinstance(value, list) else []


def _written(notation: Notation, node: tuple[str, Any], parts: list[str]) -> str:
    where, value = node
    if isinstance(value, list):
        return f"[{notation.separator.join(parts)}]"
    if isinstance(value, dict):
        members = [*zip(value, parts, strict=True)]
        if notation.is_sorted:
            members.sort(key=lambda member: member[0].lower())
        first, last = _BRACES if where else notation.brackets
        found = (_key(notation, name, is_inner=bool(where)) + each for name, each in members)
        return first + notation.separator.join(found) + last
    if isinstance(value, str) and notation.quote:
        return f"{notation.quote}{value}{notation.quote}"
    written = constant(value).text
    return notation.words.get(written, written)


def _key(notation: Notation, name: str, *, is_inner: bool) -> str:
    if is_inner and not notation.quote:
        return f"{constant(name).text}: "
    return f"{name}{notation.assigned}"


class LiteralArguments(NestedArguments):
    """Writes arguments in a notation."""

    takes_excludes = True
    unsaid_items = True

    def prepare(self) -> None:
        """Make the rule of strings."""
        self._style = self.fields["style"]
        self._notation = NOTATIONS[self._style]
        self._outermost: frozenset[str] = frozenset()
        quote = self._notation.quote
        self._words = sorted({quote or "\0", *self.fields["excludes"]})
        if self.fields["excludes"] and not quote:
            message = "what strings of JSON may not contain is left out"
            self.report.loss(f"{self.pointer}/excludes", message)
        self._plain = optional(self.contents.shared("argument", avoiding(self._words)))

    def containers(self) -> list[Definition]:
        """Return the rules of objects and arrays; the outermost ones are written otherwise."""
        self._outermost = frozenset(self.names.values())
        self.names.clear()
        return super().containers()

    def element(self, name: str | None, schema: Any, pointer: str, hint: str) -> Form:
        """Return the value of a property, or of an item."""
        del name
        return alternation(self._values(schema, pointer, hint))

    def other(self, schema: dict[str, Any], listed: Sequence[str], pointer: str, hint: str) -> Form:
        """Return the value of a property that is not listed; nothing where there is none."""
        value = other_members(schema, self.options)
        if value is False:
            return EMPTY
        del listed
        return alternation(self._values(value, f"{pointer}/additionalProperties", hint))

    def object(self, members: Members, pointer: str, hint: str) -> Form:
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
            key = text(_key(self._notation, name, is_inner=is_inner))
            forms.append((sequence(key, members.elements[name]), name in members.needed))
        other: Form = EMPTY
        if members.other is not EMPTY:
            other = sequence(self._other_key(names, is_inner=is_inner), members.other)
        first, last = _BRACES if is_inner else self._notation.brackets
        return sequence(text(first), self._joined(forms, other, hint), text(last))

    def array(self, items: Sequence[Form], rest: Form, low: int, high: int | None) -> Form:
        """Return an array in its brackets."""
        separator = text(self._notation.separator)
        found: Form = EMPTY
        if rest is not EMPTY:
            most = None if high is None else high - len(items)
            found = repeated(sequence(separator, rest), max(low - len(items), 0), most)
            if not items and most != 0:
                more = None if most is None else most - 1
                some = sequence(rest, repeated(sequence(separator, rest), max(low - 1, 0), more))
                found = some if low else optional(some)
        for index, item in reversed([*enumerate(items)]):
            found = sequence(separator, item, found) if index else sequence(item, found)
            found = optional(found) if index >= low else found
        return sequence(text("["), found, text("]"))

    def _joined(self, forms: Sequence[tuple[Form, bool]], other: Form, hint: str) -> Form:
        """Return members with separators between them: after another one, or as the first.

        Members that are not listed come last, and anywhere where names are in their order.
        """
        separator = text(self._notation.separator)
        others: Form = EMPTY
        if other is not EMPTY:
            others = repeated(sequence(separator, other), 0, None)
        before = others if self._notation.is_sorted else EMPTY
        after = others
        first = EMPTY if other is EMPTY else optional(sequence(other, after))
        for number, (form, is_needed) in reversed([*enumerate(forms)]):
            led, begun = sequence(before, separator, form, after), sequence(form, after)
            first = begun if is_needed else alternation([begun, first])
            after = led if is_needed else alternation([led, after])
            rest = self.contents.names.fresh(f"{hint}_rest")
            after = self.contents.add(definition(rest, after))
            if not number and before is not EMPTY:
                first = alternation([first, sequence(other, after)])
        return first

    def _check(self, name: str, pointer: str, *, is_inner: bool) -> None:
        is_string = is_inner and not self._notation.quote
        if not is_string and re.fullmatch(self._notation.name, name) is None:
            message = f"the style `{self._style}` cannot write a property called {name!r}"
            self.report.error(f"{pointer}/properties", message, code=UNSUPPORTED)

    def _other_key(self, listed: Sequence[str], *, is_inner: bool) -> Form:
        name = self._notation.name
        if is_inner and not self._notation.quote:
            schema = {"type": "string", **({"not": {"enum": [*listed]}} if listed else {})}
            key = self.contents.schema(schema, self.options, self.pointer, "name")
            return sequence(key, text(": "))
        key = other_names(name, listed) if listed else regex(name)
        return sequence(key, text(self._notation.assigned))

    def _values(self, schema: Any, pointer: str, hint: str) -> Iterator[Form]:
        for each, where in self.schemas.cases(schema, pointer):
            listed = constants(each)
            kind = kind_of(each)
            if listed is not None:
                for value in listed:
                    if isinstance(value, str) and any(map(value.count, self.fields["excludes"])):
                        continue
                    written = fold(("inner", value), _parts, self._constant)
                    is_text = isinstance(value, str)
                    yield from map(text, [written] if is_text else spellings(written, self.fields))
            elif each is True or (kind is None and each is not False):
                yield self._any("any_value", where)
            elif kind == "object" and not {"properties", "additionalProperties"} & each.keys():
                yield self._any("any_object", where)
            elif kind in ("object", "array"):
                yield self.container(each, where, hint)
            elif kind == "string":
                yield self._string(each, where, hint)
            elif kind is not None:
                yield from self._scalar(each, kind, where, hint)

    def _constant(self, node: tuple[str, Any], parts: list[str]) -> str:
        return _written(self._notation, node, parts)

    def _string(self, schema: dict[str, Any], pointer: str, hint: str) -> Form:
        quote = self._notation.quote
        if not quote:
            return self.contents.schema(self.schemas.whole(schema), self.options, pointer, hint)
        form = self.contents.strings(schema, self.options, pointer, self._words, self._plain)
        return sequence(text(quote), form, text(quote))

    def _scalar(self, schema: Any, kind: str, pointer: str, hint: str) -> Iterator[Form]:
        words = self._notation.words
        if kind in ("boolean", "null"):
            for word in ("true", "false") if kind == "boolean" else ("null",):
                yield from map(text, spellings(words.get(word, word), self.fields))
        else:
            yield self.contents.schema(self.schemas.whole(schema), self.options, pointer, hint)

    def _any(self, name: str, pointer: str) -> Form:
        """Return any value, or any object."""
        notation = self._notation
        kinds = [*self._scalar({"type": "number"}, "number", pointer, "number")]
        kinds += [*self._scalar({}, "boolean", pointer, ""), *self._scalar({}, "null", pointer, "")]
        kinds += [self._string({"type": "string"}, pointer, "string")]
        separator = text(notation.separator)
        member = sequence(self._other_key((), is_inner=True), call("any_value"))
        several = (
            optional(sequence(each, repeated(sequence(separator, each), 0, None)))
            for each in (member, call("any_value"))
        )
        objects, lists = (
            sequence(text(first), each, text(last))
            for each, (first, last) in zip(several, (_BRACES, ("[", "]")), strict=True)
        )
        value = alternation([*kinds, call("any_object"), call("any_list")])
        rules = [
            definition("any_value", value),
            definition("any_object", objects),
            definition("any_list", lists),
        ]
        return self.contents.embed(rules, name, name, _ANY)
