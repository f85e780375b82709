"""Writes expressions as rules: one for each definition, object, array and long text.

An expression gets a name where it is first met, and its rule when its turn in a queue comes: so
schemas may refer to themselves. Short values are written where they are.

*Objects.* Most schemas of objects name their members and say no more. Nothing is to be intersected,
complemented or found empty, so these are written as they are read; all others by their normal form.
(By that a list of tools takes 1.2 times as long.) Both end in ``write_members``. A rule without
texts, as it needs a member without one, goes with its callers in the analysis of the whole grammar.

*Places.* Keywords that are refused or left out are reported of the schema that is being written
then (``SchemaRules``).

Tests: tests/property/test_schema_members.py, tests/unit/languages/json_schema/test_direct.py
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import combinations

from kbnf_core import ir
from kbnf_core.ir import Node
from kbnf_core.ir.build import EMPTY, alternation, call, optional, repeated, sequence, text
from kbnf_core.languages.json_schema import Order, Syntax
from kbnf_core.languages.json_schema.algebra import (
    ANY_SHAPE,
    ANYTHING,
    FULL,
    KEYS,
    NOTHING,
    AnyOf,
    Arrays,
    Branch,
    Closing,
    Expression,
    NormalForm,
    Objects,
    Plain,
    Ref,
    Type,
    both,
    without,
)
from kbnf_core.languages.json_schema.counts import (
    CountedItems,
    CountedMembers,
    Member,
    MemberLayout,
    MemberWriter,
    write_key,
)
from kbnf_core.languages.json_schema.document import Subschema, is_definition, last_step
from kbnf_core.languages.json_schema.keywords import (
    APPLICATORS,
    CONTENTS,
    LOCAL,
    REFUSED_BY_LLGUIDANCE,
    UNEVALUATED,
    UNSUPPORTED,
    ProblemError,
    narrowed,
    refers_to_itself,
    too_large,
    too_many_kinds,
    unsatisfiable,
    unsupported,
)
from kbnf_core.languages.json_schema.rules import (
    Prelude,
    Property,
    SchemaRules,
    Value,
    block_rules,
    json_rules,
    lay_out,
    listed,
)
from kbnf_core.languages.json_schema.scalars import ScalarWriter
from kbnf_core.languages.json_schema.schemas import Schemas, is_unsatisfiable
from kbnf_core.languages.json_schema.value_sets import (
    MANY_COUNTED,
    STEPS,
    Restricted,
    counted_together,
)
from kbnf_core.text.errors import LimitError
from kbnf_core.text.json_text import Json
from kbnf_core.text.source import NOWHERE

_SPELLED = {None: "null", True: "true", False: "false"}
_NESTED = frozenset({Arrays, Objects})
_OF_TYPES = ("boolean", "number", "integer", "string", "array", "object")
_WRITTEN = ("null", *_OF_TYPES)
_EVERY_TYPE = tuple(name for name in _WRITTEN if name != "integer")
_NULL = text("null")
_TYPE = frozenset({"type"})
_SAYING = LOCAL | APPLICATORS | CONTENTS | REFUSED_BY_LLGUIDANCE | frozenset(UNEVALUATED)
"""The keywords that say something of values; the others are annotations, or unknown."""
_OF_MEMBERS = frozenset({"type", "properties", "required", "additionalProperties"})
_SHARED = {Type.OBJECT: "object", Type.ARRAY: "array"}
VALUE = "_value"
"""What the names of rules of members' values end with; those of members are their names."""
_NAME = re.compile(r"[^\W\d][\w .-]{0,40}")
"""A title that can be the name of a rule."""


class Writer:
    """Writes the rules that the schemas of one document need.

    ``names`` are those of the rules of expressions; ``start`` is that of the first. All names begin
    with ``prefix``; those of rules that other schemas lack go on with ``own``.
    """

    def __init__(
        self, schemas: Schemas, prefix: str = "", *, start: str = "start", own: str = ""
    ) -> None:
        self.schemas = schemas
        self.options = options = schemas.options
        self.limits = options.limits
        has_whole_fractions = schemas.document.has_whole_fractions
        self._is_block = options.syntax is Syntax.YAML
        self.prelude = Prelude(
            options,
            prefix,
            has_whole_fractions=has_whole_fractions,
            rules_of=block_rules if self._is_block else json_rules,
        )
        self.start = prefix + start
        self._prefix = prefix
        self.rules = SchemaRules(schemas, prefix, start, own)
        self.scalars = ScalarWriter(self.prelude, self.rules, options.limits)
        self.names: dict[Expression, str] = {}
        self._queue: list[Expression] = []
        # Draft 3 has keywords of its own, and flags in properties.
        is_usual = schemas.document.dialect != "draft-03"
        self._in_order = is_usual and options.order is Order.DECLARED
        self._objects: dict[Objects, Node | None] = {}
        # Schemas that merely refer to the one being written in their place.
        self._passed: set[Expression] = set()

    def rules_for(self, root: Expression) -> Mapping[str, Node]:
        """Return the rules for ``root``, its own first, called like the start.

        Raises ProblemError and WorkLimitError.
        """
        self.write_all(root)
        return self.all_rules()

    def all_rules(self) -> dict[str, Node]:
        """Return the rules that were written or used."""
        return {**self.rules, **self.prelude.bodies()}

    def write_all(self, root: Expression) -> str:
        """Make the rules for ``root``; return the name of the first. Raises ProblemError."""
        start, rules = self.start, self.rules
        self.names[root] = start
        rules[start] = call(start)
        self._queue.append(root)
        for expression in self._queue:
            with self.placing(expression):
                self.schemas.budget.subject = rules.pointer()
                rules.add(self.names[expression], self._body(expression))
        if self._is_block:
            lay_out(start, rules, self.prelude)
        return start

    @contextmanager
    def placing(self, expression: Expression) -> Iterator[None]:
        """Name the schema being written in errors that are raised meanwhile."""
        self.rules.write(expression)
        try:
            yield
        except LimitError as error:
            raise unsupported(f"an automaton needs {error}", self.rules.pointer()) from None
        except ProblemError as error:
            pointer = error.problem.pointer or self.rules.pointer()
            raise ProblemError(error.problem._replace(pointer=pointer)) from None

    def body(self, name: str) -> Node:
        """Return a rule, also one of all schemas, as somebody reads it."""
        return self.rules.get(name) or self.prelude.rules[name.removeprefix(self._prefix)]

    def to_read(self) -> dict[str, Node]:
        """Return the rules that were written or used, those of all schemas not as automata."""
        shared = self.prelude.rules.items()
        return {**self.rules, **{self._prefix + name: body for name, body in shared}}

    def member(self, name: str, value: Expression) -> Node | None:
        """Return a named member; None if it cannot be."""
        form = self.form(value, f"{name}{VALUE}")
        return None if form is None else self._member(Property(name, value), form)

    def _member(self, member: Property, value: Node) -> Node:
        start = sequence(text(self.prelude.spelling.key(member.name)), self.prelude.colon)
        operands = start.operands if isinstance(start, ir.Sequence) else (start,)
        return ir.Sequence((*operands, value), NOWHERE, member)

    def value(self, expression: Expression, hint: str) -> Node | None:
        """Return how a value is written where it is in another; None if there is none."""
        form = self.form(expression, hint)
        return None if form is None else self._at(expression, form)

    def _at(self, expression: Expression, form: Node) -> Node:
        """Return a value with the schema that it was written for; rules have theirs."""
        if not isinstance(expression, Ref):
            return form
        if isinstance(form, ir.Call):
            has_schema = form.nonterminal == self.names.get(expression)
        else:
            has_schema = isinstance(form, ir.Sequence) and form.notation is not None
        return form if has_schema else ir.Sequence((form,), NOWHERE, Value(expression))

    def form(self, expression: Expression, hint: str) -> Node | None:
        """Return the texts of a value, or a call of its rule; None if there is none."""
        if not isinstance(expression, Ref) and expression == ANYTHING:
            return self.prelude.use("value")
        name = self.names.get(expression)
        if name is not None:
            return call(name)
        self.schemas.budget.spend(STEPS)
        if isinstance(expression, Ref):
            return self._schema(expression, hint)
        if isinstance(expression, AnyOf):
            return self._either(expression.operands, hint)
        if is_unsatisfiable(self.schemas, expression):
            return None
        return self._written(expression, self._shape(expression), hint)

    def _schema(self, at: Ref, hint: str) -> Node | None:
        """Return how the values of a schema are written where they are; None if there is none."""
        is_named = is_definition(at.pointer)
        name = None if is_named else self.schemas.document.subschema(at).type_alone
        if name in _OF_TYPES:
            return self.prelude.value(name)
        if self._types_beside_members(self.schemas.document.subschema(at)):
            return self._rule(at, last_step(at.pointer) if is_named else hint)
        plain = self.schemas.plain(at)
        # A rule without texts, as it needs members without one, goes with its callers in the end.
        if plain is None and is_unsatisfiable(self.schemas, at):
            return None
        self.rules.inner = at
        if is_named:
            return self._rule(at, last_step(at.pointer))
        alias = self.schemas.alias(at) if plain is None else None
        if alias is not None:
            return self._through(at, alias, hint)
        return self._written(at, self._shape(at) if plain is None else plain, hint)

    def _types_beside_members(self, subschema: Subschema) -> Sequence[str]:
        """Return the types of a schema with ``properties`` that says but types and members.

        None for any other. Most schemas of objects are such: what they allow is written as it is
        read, without a normal form.
        """
        contents = subschema.contents
        if "properties" not in contents or not _SAYING.intersection(contents) <= _OF_MEMBERS:
            return ()
        names = contents.get("type", _EVERY_TYPE)
        types: Sequence[str] = [names] if isinstance(names, str) else names
        required, properties = contents.get("required", []), contents["properties"]
        is_read = isinstance(required, list) and isinstance(properties, dict)
        if not is_read or not self._in_order or len(properties) > self.limits.bound:
            return ()
        return (
            types if "object" in types and all(type_name in _WRITTEN for type_name in types) else ()
        )

    def _of_types(self, types: Sequence[str], subschema: Subschema, hint: str) -> Node | None:
        """Return the values of some types; objects are those with the members of a schema."""
        forms: list[Node] = []
        for name in _WRITTEN:
            if name not in types or (name == "integer" and "number" in types):
                continue
            form: Node | None = self.prelude.scalar(_NULL)
            if name == "object":
                form = self._objects_by_members(subschema, hint)
            elif name != "null":
                form = self.prelude.value(name)
            if form is not None:
                forms.append(form)
        return alternation(forms) if forms else None

    def _objects_by_members(self, subschema: Subschema, hint: str) -> Node | None:
        """Return the objects with the members that a schema names; None if there is none."""
        contents, document = subschema.contents, self.schemas.document
        properties: dict[str, Json] = contents["properties"]
        required: list[str] = contents.get("required", [])
        is_closed = subschema.closing is Closing.WHOLE
        rest: Expression = NOTHING if is_closed else ANYTHING
        if "additionalProperties" in contents:
            rest = document.inside(subschema, "additionalProperties")
        every, needed = dict.fromkeys((*properties, *required)), frozenset(required)
        if not needed and len(every) > self.limits.rules:
            raise too_large("rules", self.limits.rules, "rules", self.rules.pointer("properties"))
        self.schemas.budget.spend(STEPS * (1 + 2 * len(every)))
        names, members = list[str](), list[tuple[Node, bool]]()
        for name in every:
            quick = self._quick(properties.get(name))
            if quick is None:
                is_named = name in properties
                value = document.inside(subschema, "properties", name) if is_named else rest
                form = None if value == NOTHING else self.member(name, value)
            else:
                form = self._member(Property(name, subschema), quick)
            if form is not None:
                names.append(name)
                members.append((form, name in needed))
            elif name in needed:
                return None
        extra = self._other_member(tuple(every), rest, hint)
        content = write_members(names, members, extra, self, hint)
        return None if content is None else self.prelude.enclosed("{", "}", content)

    def _other_member(self, names: tuple[str, ...], value: Expression, hint: str) -> Node | None:
        """Return a member with any name but some; None if there is none."""
        if value == ANYTHING and not names:
            return self.prelude.use("member")
        form = None if value == NOTHING else self.value(value, f"{hint}_value")
        if form is None:
            return None
        key = write_key(without(KEYS, names), self, hint, is_all_but=bool(names))
        return None if key is None else sequence(key, self.prelude.colon, form)

    def _quick(self, schema: Json) -> Node | None:
        """Return the values of a schema that names one type and says no more; None for others."""
        if schema is True:
            return self.prelude.use("value")
        if not isinstance(schema, dict) or _SAYING.intersection(schema) != _TYPE:
            return None
        name = schema["type"]
        return self.prelude.value(name) if name in _OF_TYPES else None

    def _written(self, expression: Expression, shape: NormalForm, hint: str) -> Node | None:
        """Return a shape where it is short, or a call of the rule of its expression."""
        for type_, branches in shape.items():
            if any(type(branch) in _NESTED and branch != FULL[type_] for branch in branches):
                return self._rule(expression, hint)
        return self._branches(shape, hint)

    def _through(self, at: Ref, alias: Expression, hint: str) -> Node | None:
        """Return how the alias of a schema is written where the schema is."""
        if at in self._passed:
            raise refers_to_itself(at.pointer)
        if len(self._passed) >= self.limits.applied:
            counted, most = "schemas applied to one value", self.limits.applied
            raise too_large(counted, most, "applied", at.pointer)
        self._passed.add(at)
        try:
            return self.value(alias, hint)
        finally:
            self._passed.remove(at)

    def _either(self, expressions: Iterable[Expression], hint: str) -> Node | None:
        forms: dict[Node, Node] = {}
        for expression in expressions:
            form = self.form(expression, self._title(expression) or hint)
            if form is not None and form not in forms:
                forms[form] = self._at(expression, form)
        return alternation(forms.values()) if forms else None

    def _title(self, expression: Expression) -> str:
        """Return the title of a schema that can be the name of a rule, or an empty text."""
        if not isinstance(expression, Ref):
            return ""
        title = self.schemas.document.subschema(expression).contents.get("title")
        return title if isinstance(title, str) and _NAME.fullmatch(title) else ""

    def _rule(self, expression: Expression, hint: str) -> Node:
        name = self.names[expression] = self.rules.fresh(hint)
        # The span in the text is that of the first call.
        self.rules.add(name, call(name))
        self.rules.owners[name] = expression
        self._queue.append(expression)
        return call(name)

    def _body(self, expression: Expression) -> Node:
        name = self.names[expression]
        # The start may have any name; those of the rules in it do not begin with that.
        name = f"{self._prefix}start" if name == self.start else name
        subschema = (
            self.schemas.document.subschema(expression) if isinstance(expression, Ref) else None
        )
        if subschema is not None and (types := self._types_beside_members(subschema)):
            form = self._of_types(types, subschema, name)
            return self._or_nothing(form, expression)
        alias = self.schemas.alias(expression) if isinstance(expression, Ref) else None
        if alias is not None and isinstance(alias, Ref | AnyOf) and alias != expression:
            form = self.value(alias, name)
        else:
            form = self._branches(self._shape(expression), name)
        return self._or_nothing(form, expression)

    def _or_nothing(self, form: Node | None, expression: Expression) -> Node:
        """Return the values of an expression that has a rule, or a form without texts."""
        if form is None and expression != self._queue[0]:
            # Unproductive; the grammar's analysis removes it with all its callers.
            return call(self.names[expression])
        if form is None and self.schemas.has_narrowed:
            raise too_many_kinds("value", self.limits.alternatives)
        if form is None:
            raise ProblemError(unsatisfiable(self.rules.pointer()))
        return form

    def _shape(self, expression: Expression) -> NormalForm:
        """Return the normal form to write of an expression; note where it is not all of it."""
        shape = self.schemas.some(expression)
        if self.schemas.is_narrowed(expression):
            most = self.limits.alternatives
            message = f"of more than {most} kinds of values in one place only some are written"
            self.schemas.notes.append(narrowed(message, self.rules.pointer()))
        return shape

    def _branches(self, shape: NormalForm, hint: str) -> Node | None:
        """Return a shape as alternatives."""
        if shape == ANY_SHAPE:
            return self.prelude.use("value")
        hint = hint.removeprefix(self._prefix)
        forms = [
            form
            for type_, branches in shape.items()
            for branch in self._to_write(type_, branches)
            if (form := self._branch(type_, branch, hint)) is not None
        ]
        return alternation(forms) if forms else None

    def _to_write(self, type_: Type, branches: Sequence[Branch]) -> Sequence[Branch]:
        """Return branches as they are written."""
        strings = [branch for branch in branches if isinstance(branch, Restricted)]
        is_many = type_ is Type.STRING and len(strings) >= MANY_COUNTED
        return counted_together(strings, self.rules.budget) if is_many else branches

    def _branch(self, type_: Type, branch: Branch, hint: str) -> Node | None:
        if branch == FULL[type_] and type_ in _SHARED:
            return self.prelude.use(_SHARED[type_])
        match branch:
            case Plain(values, everything):
                if len(values) == 2 and values == everything:
                    return self.prelude.value("boolean")
                return self.prelude.scalar(alternation(text(_SPELLED[value]) for value in values))
            case Restricted():
                form = self._scalar(branch, hint)
                return None if form is None else self.prelude.string(form)
            case Arrays():
                return self._array(branch, hint)
            case Objects():
                if branch not in self._objects:
                    self._objects[branch] = write_object(branch, self, hint)
                return self._objects[branch]

    def _scalar(self, values: Restricted, hint: str) -> Node | None:
        try:
            return self._text(values, hint, is_key=False)
        except ProblemError as error:
            pointer = error.problem.pointer or self.rules.inner_pointer("enum")
            raise ProblemError(error.problem._replace(pointer=pointer)) from None

    def _array(self, arrays: Arrays, hint: str) -> Node | None:
        try:
            return write_array(arrays, self, hint)
        except ProblemError as error:
            if error.problem.code != UNSUPPORTED or error.problem.pointer:
                raise
            problem = error.problem._replace(
                pointer=self.rules.pointer("uniqueItems"), can_be_dropped=True
            )
            if not (self.options.lossy or self.options.lenient):
                raise ProblemError(problem) from None
        self.schemas.losses.append(problem)
        return write_array(replace(arrays, unique=False), self, hint)

    def key(self, keys: Restricted, hint: str) -> Node | None:
        """Return the texts of the names of members; None if there is none."""
        return self._text(keys, hint, is_key=True)

    def _text(self, values: Restricted, hint: str, *, is_key: bool) -> Node | None:
        rules = self.rules
        rules.owner = rules.inner or rules.current
        form = self.scalars.write(values, hint, is_key=is_key)
        rules.owner = rules.current
        return form


def write_array(arrays: Arrays, writer: MemberWriter, hint: str) -> Node | None:
    """Return the JSON texts of a set of arrays; None if there is none."""
    contains = [
        contained for contained in arrays.contains if contained.low or contained.high is not None
    ]
    if (arrays.unique and not _all_differ(arrays, writer.schemas)) or contains:
        return CountedItems(arrays, writer, hint).write()
    return _plain_array(arrays, writer, hint)


MOST_APART = 8
"""Items of which each is compared with each."""


def _all_differ(arrays: Arrays, schemas: Schemas) -> bool:
    """Return whether no two items of an array can be equal, as in a tuple of several types."""
    most = len(arrays.prefix) if arrays.rest == NOTHING else arrays.high
    if arrays.high is not None and most is not None:
        most = min(most, arrays.high)
    if most is None or most > MOST_APART:
        return False
    items = [arrays.item(index) for index in range(most)]
    return all(is_unsatisfiable(schemas, both(pair)) for pair in combinations(items, 2))


def _plain_array(arrays: Arrays, writer: MemberWriter, hint: str) -> Node | None:
    """Write prefix items, each but the first after a comma, and then the rest."""
    comma, items = writer.prelude.comma, f"{hint.removesuffix('_value')}_item"
    count = len(arrays.prefix)
    rest = _rest(arrays, writer, items)
    if rest is None:
        return None
    whole = rest
    for index in reversed(range(count if arrays.high is None else min(count, arrays.high))):
        item = writer.value(arrays.prefix[index], items)
        if item is None:
            # An item that cannot be ends the arrays before it.
            if index < arrays.low:
                return None
            whole = EMPTY
            continue
        whole = sequence(comma if index else EMPTY, writer.prelude.item(item), whole)
        if index >= arrays.low:
            whole = optional(whole)
    return writer.prelude.enclosed("[", "]", whole)


def _rest(arrays: Arrays, writer: MemberWriter, hint: str) -> Node | None:
    """Return the items after the prefix; None where they must come and cannot."""
    count = len(arrays.prefix)
    low = max(arrays.low - count, 0)
    high = None if arrays.high is None else max(arrays.high - count, 0)
    if high == 0 or arrays.rest == NOTHING:
        return None if low else EMPTY
    item = writer.value(arrays.rest, hint)
    if item is None:
        return None if low else EMPTY
    comma, item = writer.prelude.comma, writer.prelude.item(item)
    return repeated(sequence(comma, item), low, high) if count else listed(item, comma, low, high)


FEW = 3
"""Optional members, none of them required, that are written without rules of their own."""


def write_object(objects: Objects, writer: MemberWriter, hint: str) -> Node | None:
    """Return the JSON texts of a set of objects; None if there is none."""
    layout = MemberLayout(objects, writer, hint)
    if layout.impossible:
        return None
    if layout.any_order or objects.present or objects.high is not None or objects.low > 1:
        content = CountedMembers(layout).write()
    else:
        members = layout.names, layout.members
        content = write_members(*members, layout.unnamed(), writer, hint, is_filled=objects.low > 0)
    return None if content is None else writer.prelude.enclosed("{", "}", content)


def write_members(
    names: Sequence[str],
    members: Sequence[Member],
    extra: Node | None,
    writer: MemberWriter,
    hint: str,
    *,
    is_filled: bool = False,
) -> Node | None:
    """Return the contents of an object: named members in their order, then any number of others.

    ``extra`` is one of the others, ``is_filled`` asks for a member at least; None where there is
    none.
    """
    comma, rules = writer.prelude.comma, writer.rules
    if any(required for _, required in members):
        return around(members, extra, comma)

    def apart(index: int, rest: Node) -> Node:
        name = rules.fresh(f"{hint}_from_{names[index]}")
        rules.add(name, rest)
        return call(name)

    content = some(members, extra, comma, *([apart] if len(members) > FEW else []))
    if content is None:
        return None if is_filled else EMPTY
    return content if is_filled else optional(content)


def around(members: Sequence[Member], extra: ir.Node | None, comma: ir.Node) -> ir.Node:
    """Return members of which one is required: those before it have commas after them."""
    forms: list[ir.Node] = []
    is_first = True
    for form, required in members:
        if is_first and required:
            forms.append(form)
            is_first = False
            continue
        ordered = sequence(form, comma) if is_first else sequence(comma, form)
        forms.append(ordered if required else optional(ordered))
    if extra is not None:
        forms.append(repeated(sequence(comma, extra), 0, None))
    return sequence(*forms)


def some(
    members: Sequence[Member],
    extra: ir.Node | None,
    comma: ir.Node,
    apart: Callable[[int, ir.Node], ir.Node] = lambda _, rest: rest,
) -> ir.Node | None:
    """Return one or more optional members: the last, or one before it and maybe more.

    ``apart`` returns a node for the members from an index on, such as a call of their rule.
    """
    more = None if extra is None else listed(extra, comma, 1, None)
    # From the last, so that the members after each are written once: n alternatives, not 2**n
    # orders of presence.
    for index, (form, _) in reversed(list(enumerate(members))):
        if more is None:
            more = form
        else:
            rest = sequence(optional(sequence(form, comma)), more)
            more = apart(index, alternation([form, rest]))
    return more
