"""Schemas that only name types, members, items and texts, straight to rules.

Most tools, and many other schemas, say nothing but this. What they allow can be written down as it
is read: there is nothing to intersect, to complement or to find empty, so there is no normal form
and no tree of KBNF. A schema with any other keyword is None here, and ``writer`` writes it; of its
parts those that are simple are written here again.

An object is a rule, named after a digest of all that it says but for annotations. So equal objects
are one rule, in a schema and from one schema to the next, and a process remembers the rules that it
has made (``parts``).
"""

from collections.abc import Callable, Iterable, Set
from decimal import Decimal
from hashlib import blake2b
from typing import NamedTuple

from kbnf_core import ir
from kbnf_core.automata import operations
from kbnf_core.languages.json_schema.build_tree import meaning
from kbnf_core.languages.json_schema.document import Document, Place
from kbnf_core.languages.json_schema.expressions import Closing
from kbnf_core.languages.json_schema.keywords import (
    APPLICATORS,
    CONTENTS,
    LOCAL,
    NUMBERS,
    REFUSED_BY_LLGUIDANCE,
    STRINGS,
    UNEVALUATED,
)
from kbnf_core.languages.json_schema.names import all_but
from kbnf_core.languages.json_schema.options import Options, Standard
from kbnf_core.languages.json_schema.parts import LARGEST, Known, Parts
from kbnf_core.languages.json_schema.prelude import NAMES, Prelude
from kbnf_core.languages.json_schema.value_sets import STEPS
from kbnf_core.languages.json_schema.write_scalars import MANY_TEXTS
from kbnf_core.text.budget import Budget
from kbnf_core.text.json_text import Json
from kbnf_core.text.source import NOWHERE

DEPTH = 32
"""Schemas in one another, beyond which they are not looked at."""

MOST_MEMBERS = 64
"""Members of an object that is one rule."""

_SAYING = LOCAL | APPLICATORS | CONTENTS | REFUSED_BY_LLGUIDANCE | {*UNEVALUATED, "$id", "id"}
"""The keywords that say something here; the others are annotations, or unknown."""

_OBJECT = "object_"
_OF_OBJECTS = frozenset({"type", "properties", "required", "additionalProperties"})
_OF_ARRAYS = frozenset({"type", "items", "minItems", "maxItems"})
_OF_TEXTS = frozenset({"type", "enum", "const"})
_OF_SCALARS = {
    "string": STRINGS | {"type"},
    "number": NUMBERS | {"type"},
    "integer": NUMBERS | {"type"},
}
_NOTHING: frozenset[str] = frozenset()
_TYPES = {
    "string": "s", "number": "n", "integer": "i", "boolean": "b", "null": "0", "object": "o",
    "array": "a",
}  # fmt: skip


class Value(NamedTuple):
    """What a schema allows: spelled, so that equal ones are equal, and as a part of a rule.

    ``shared`` are the rules of the prelude that the part calls, ``parts`` those of the objects in
    it.
    """

    said: str
    node: ir.Node
    shared: frozenset[str] = frozenset()
    parts: tuple[Known, ...] = ()


_NULL = Value("0", ir.Literal(b"null", NOWHERE))


Member = tuple[ir.Node, bool]
"""A member, and whether it must be there."""


class SimpleSchemas:
    """The simple schemas of one document; each is looked at once.

    ``settings`` are what rules depend on besides.
    ``known`` are the parts by what they say; ``scalar`` makes that, of a name, of a string or
    number with restrictions, None where there is something to say of it. ``use`` is told of each
    part that is called.
    """

    def __init__(
        self,
        prelude: Prelude,
        options: Options,
        settings: str,
        budget: Budget,
        document: Document,
        known: Parts,
        scalar: Callable[[str, dict[str, Json]], Known | None],
        use: Callable[[Known], None],
    ) -> None:
        self._prelude = prelude
        self._options = options
        self._settings = blake2b(settings.encode(errors="surrogatepass"), digest_size=16)
        self._budget = budget
        self._document = document
        self._where = self._settings.hexdigest()
        self._known_parts = known
        self._scalar = scalar
        self._use = use
        # By identity, and which objects are closed. None for what is not simple, and for what is
        # being looked at: a schema within itself.
        self._known: dict[tuple[int, bool, bool], Value | None] = {}
        self._calls = {name: ir.Call(name, NOWHERE) for name in NAMES}
        self._anything = Value("v", self._calls["value"], frozenset(("value",)))
        self._gap, self._comma, self._colon = punctuation = tuple(
            meaning(form, budget) for form in (prelude.gap, prelude.comma, prelude.colon)
        )
        self._around_values = frozenset(
            call.nonterminal for node in punctuation for call in ir.calls(node)
        )

    def rule(self, place: Place) -> str | None:
        """Return the name of the rule of an object, or of a reference to one; None for all else."""
        contents, closing = place.contents, place.closing
        is_object = contents.get("type") == "object" and "properties" in contents
        if not (is_object or "$ref" in contents) or place.resolver is not None:
            return None
        written = f"{self._where} {closing.value} {contents!r}"
        known = self._known_parts.find(written)
        if known is not None:
            self._budget.spend(known.work)
            self._use(known)
            return known.start
        before = self._budget.spent
        below = closing is not Closing.NONE
        found = self._value(contents, closing is Closing.WHOLE, below, 0)
        if found is None or not found.said.startswith(_OBJECT):
            return None
        for part in found.parts:
            self._use(part)
        if "$ref" not in written and len(written) <= LARGEST:
            bodies = {name: body for part in found.parts for name, body in part.bodies.items()}
            shared = tuple(dict.fromkeys(name for part in found.parts for name in part.shared))
            spent = self._budget.spent - before
            self._known_parts.keep(written, Known(found.said, bodies, shared, spent, joined=True))
        return found.said

    def _value(self, schema: Json, whole: bool, below: bool, depth: int) -> Value | None:
        """Return what a schema allows.

        ``whole`` tells whether it closes objects, ``below`` whether those in it are closed.
        """
        if schema is True:
            return self._anything
        if not isinstance(schema, dict) or depth > DEPTH:
            return None
        key = id(schema), whole, below
        if key not in self._known:
            self._known[key] = None
            self._budget.spend(STEPS)
            self._known[key] = self._read(schema, whole, below, depth + 1)
        return self._known[key]

    def _read(self, schema: dict[str, Json], whole: bool, below: bool, depth: int) -> Value | None:
        said, types = schema.keys() & _SAYING, schema.get("type")
        if self._document.is_whole(schema):
            said -= {"$id", "id"}
        if said == {"type"}:
            return self._of_types([types] if isinstance(types, str) else types)
        if not said:
            return self._anything
        if types == "object" and said <= _OF_OBJECTS:
            return self._object(schema, whole, below, depth)
        if types == "array" and said <= _OF_ARRAYS:
            return self._array(schema, below, depth)
        if isinstance(types, str) and said <= _OF_SCALARS.get(types, _NOTHING):
            return self._restricted(schema, said)
        if types in (None, "string") and said <= _OF_TEXTS and not said >= {"enum", "const"}:
            return self._texts(schema["enum"] if "enum" in said else [schema["const"]])
        if said == {"$ref"} and isinstance(schema["$ref"], str):
            there = self._document.at(schema["$ref"])
            return None if there is None else self._value(there[1], whole, below, depth)
        if said == {"anyOf"} and isinstance(schema["anyOf"], list):
            return self._any(self._value(each, whole, below, depth) for each in schema["anyOf"])
        return None

    def _any(self, values: Iterable[Value | None]) -> Value | None:
        found: dict[str, Value] = {}
        for value in values:
            if value is None:
                return None
            found.setdefault(value.said, value)
        if len(found) < 2:
            return next(iter(found.values()), None)
        whole = ir.Choice(tuple(value.node for value in found.values()), NOWHERE)
        return Value(f"({'|'.join(found)})", whole, *_needed(found.values()))

    def _of_types(self, names: Json) -> Value | None:
        if not isinstance(names, list) or not _TYPES.keys() >= set(map(str, names)):
            return None
        wanted = [name for name in names if name != "integer" or "number" not in names]
        return self._any(map(self._of_type, wanted))

    def _of_type(self, name: str) -> Value:
        if name == "null":
            return _NULL
        return Value(_TYPES[name], self._calls[name], frozenset((name,)))

    def _texts(self, values: Json) -> Value | None:
        if not isinstance(values, list) or not all(isinstance(each, str) for each in values):
            return None
        spelled = [self._prelude.spelling.text(each) for each in dict.fromkeys(values)]
        texts = [text.encode() for text in spelled if text is not None]
        size = sum(map(len, texts))
        if not texts or len(texts) < len(spelled) or size > self._options.limits.states:
            return None
        self._budget.spend(size)
        if len(texts) >= MANY_TEXTS:
            return Value(repr(texts), ir.Regular(operations.literals(texts), NOWHERE))
        nodes = tuple(ir.Literal(text, NOWHERE) for text in texts)
        return Value(repr(texts), nodes[0] if len(nodes) == 1 else ir.Choice(nodes, NOWHERE))

    def _restricted(self, schema: dict[str, Json], said: Set[str]) -> Value | None:
        """Return strings or numbers with restrictions, which another writer writes as one rule."""
        contents = {keyword: schema[keyword] for keyword in sorted(said)}
        digest = self._settings.copy()
        key = repr(contents)
        digest.update(key.encode(errors="surrogatepass"))
        name = f"{contents['type']}_{digest.hexdigest()}"
        found = self._known_parts.find(f"{name} {key}")
        if found is None:
            found = self._scalar(name, contents)
            if found is None:
                return None
            self._known_parts.keep(f"{name} {key}", found)
        else:
            self._budget.spend(found.work)
        return Value(name, ir.Call(name, NOWHERE), parts=(found,))

    def _array(self, schema: dict[str, Json], below: bool, depth: int) -> Value | None:
        low, high = (self._count(schema, name) for name in ("minItems", "maxItems"))
        item = self._value(schema.get("items", True), below, below, depth)
        if item is None or low is None or high is None or 0 <= high < max(low, 1):
            return None
        following = ir.Sequence((self._comma, item.node), NOWHERE)
        most = None if high < 0 else high - 1
        more = ir.Repeat(following, max(low - 1, 0), most, NOWHERE)
        content = ir.Sequence((item.node, more), NOWHERE)
        whole = self._enclosed(b"[", content, b"]", may_be_empty=low <= 0)
        shared = item.shared | self._around_values
        return Value(f"[{item.said}:{low}:{high}]", whole, shared, item.parts)

    def _count(self, schema: dict[str, Json], keyword: str) -> int | None:
        """Return a count, -1 where there is none; None for what is no count within the limit."""
        value = schema.get(keyword, Decimal(-1))
        if not isinstance(value, Decimal) or value != value.to_integral_value():
            return None
        return int(value) if value <= self._options.limits.bound else None

    def _object(
        self, schema: dict[str, Json], whole: bool, below: bool, depth: int
    ) -> Value | None:
        properties, required = schema.get("properties", {}), schema.get("required", [])
        if not isinstance(properties, dict) or not isinstance(required, list):
            return None
        is_needed = set(map(str, required))
        if not properties.keys() >= is_needed or len(properties) > MOST_MEMBERS:
            return None
        rest = schema.get("additionalProperties", not (whole and "properties" in schema))
        extra = None if rest is False else self._value(rest, below, below, depth)
        if extra is None and rest is not False:
            return None
        members: dict[str, Value] = {}
        for each, inner in properties.items():
            value = self._value(inner, below, below, depth)
            if value is None:
                return None
            members[each] = value
        listed = (f"{each!r}{each in is_needed:d}{held.said}" for each, held in members.items())
        said = f"{{{','.join(listed)}:{'' if extra is None else extra.said}}}"
        self._budget.spend(STEPS * (1 + len(members)))
        digest = self._settings.copy()
        digest.update(said.encode(errors="surrogatepass"))
        name = f"{_OBJECT}{digest.hexdigest()}"
        key = f"{name} {said}"
        held = [*members.values(), *(() if extra is None else (extra,))]
        shared, parts = _needed(held)
        found = self._known_parts.find(key)
        if found is None:
            found = self._part(name, members, is_needed, extra, shared)
            if found is None:
                return None
            self._known_parts.keep(key, found)
        return Value(name, ir.Call(name, NOWHERE), parts=(found, *parts))

    def _part(
        self,
        name: str,
        members: dict[str, Value],
        needed: set[str],
        extra: Value | None,
        shared: frozenset[str],
    ) -> Known | None:
        """Return the rules of an object; None where the name of a member has several texts."""
        bodies: dict[str, ir.Node] = {}
        spelling = self._prelude.spelling
        shared |= self._around_values
        other: ir.Node | None = None
        if extra is not None:
            key: ir.Node = self._calls["string"]
            if members:
                automaton = all_but(tuple(members), spelling)
                if automaton is None:
                    return None
                bodies[f"{name}_others"] = ir.Regular(automaton, NOWHERE)
                key = ir.Call(f"{name}_others", NOWHERE)
                if self._options.standard is Standard.LLGUIDANCE and spelling.with_needless:
                    key = ir.Choice((key, self._calls["other_name"]), NOWHERE)
                    shared |= {"other_name"}
            else:
                shared |= {"string"}
            other = self._sequence(key, self._colon, extra.node)
        nodes: list[Member] = []
        for text, value in members.items():
            spelled = spelling.text(text)
            if spelled is None:
                return None
            literal = ir.Literal(spelled.encode(), NOWHERE)
            nodes.append((self._sequence(literal, self._colon, value.node), text in needed))
        content = self._around(nodes, other) if needed else self._some(nodes, other)
        body = self._enclosed(b"{", content, b"}", may_be_empty=not needed)
        return Known(name, {name: body, **bodies}, tuple(sorted(shared)), 0)

    def _around(self, members: list[Member], other: ir.Node | None) -> ir.Node:
        """Return members of which one is required: those before it have commas after them."""
        parts: list[ir.Node] = []
        is_first = True
        for node, must in members:
            if is_first and must:
                parts.append(node)
                is_first = False
                continue
            ordered = (node, self._comma) if is_first else (self._comma, node)
            pair = self._sequence(*ordered)
            parts.append(pair if must else _repeated(pair, 1))
        if other is not None:
            parts.append(_repeated(self._sequence(self._comma, other), None))
        return self._sequence(*parts)

    def _some(self, members: list[Member], other: ir.Node | None) -> ir.Node | None:
        """Return one or more members: the last, or one before it and maybe more."""
        more = other
        if other is not None:
            following = _repeated(self._sequence(self._comma, other), None)
            more = self._sequence(other, following)
        for node, _ in reversed(members):
            if more is None:
                more = node
            else:
                before = _repeated(self._sequence(node, self._comma), 1)
                more = ir.Choice((node, self._sequence(before, more)), NOWHERE)
        return more

    def _enclosed(
        self, opening: bytes, content: ir.Node | None, closing: bytes, *, may_be_empty: bool
    ) -> ir.Node:
        """Return ``content`` in brackets, with gaps inside."""
        inner: tuple[ir.Node, ...] = ()
        if content is not None:
            whole = self._sequence(content, self._gap)
            inner = (_repeated(whole, 1) if may_be_empty else whole,)
        ends = (ir.Literal(opening, NOWHERE), ir.Literal(closing, NOWHERE))
        return self._sequence(ends[0], self._gap, *inner, ends[1])

    def _sequence(self, *parts: ir.Node) -> ir.Node:
        flat: list[ir.Node] = []
        for part in parts:
            flat.extend(part.parts if type(part) is ir.Sequence else (part,))
        return ir.Sequence(tuple(flat), NOWHERE)


def _needed(values: Iterable[Value]) -> tuple[frozenset[str], tuple[Known, ...]]:
    """Return the rules of the prelude, and the parts, that some values need."""
    shared: set[str] = set()
    parts: dict[str, Known] = {}
    for value in values:
        shared |= value.shared
        parts.update((part.start, part) for part in value.parts)
    return frozenset(shared), tuple(parts.values())


def _repeated(node: ir.Node, most: int | None) -> ir.Node:
    return ir.Repeat(node, 0, most, NOWHERE)
