"""From the JSON of a structural tag to nodes, without recursion.

The older form, ``{"structures": [...], "triggers": [...]}``, is read as the ``triggered_tags`` that
it stands for.
"""

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from kbnf_core.languages.json_schema.bundle import bundle_each
from kbnf_core.languages.json_schema.document import escape
from kbnf_core.languages.json_schema.problems import ProblemError
from kbnf_core.languages.structural_tag.formats import (
    FORMATS,
    REQUIRED,
    Field,
    Inside,
    Token,
    WrongError,
    guessed,
)
from kbnf_core.text.diagnostics import Diagnostic
from kbnf_core.text.imports import Imports
from kbnf_core.text.json_text import NoJsonError, parse_json
from kbnf_core.text.limits import Limits
from kbnf_core.text.source import Source, Span

if TYPE_CHECKING:
    from kbnf_core.languages.json_schema.schemas import Schemas

INVALID = "E441"
UNSUPPORTED = "E442"
IN_PART = "W441"
IGNORED = "W442"

Ends: TypeAlias = tuple[str, ...] | Token


@dataclass(slots=True)
class Node:
    """A format: its type, where it is, its fields, and the formats inside, in order.

    ``ends`` are those of the nearest tag around it, which what is unlimited stops at.
    """

    kind: str
    pointer: str
    fields: dict[str, Any]
    ends: Ends = ()
    parts: list["Node"] = field(default_factory=list)


class Report:
    """What is found while reading and writing: diagnostics at the places of JSON Pointers.

    ``sound`` are the schemas that were checked, by identity; ``written`` those that were written as
    a whole, with what was read of them.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.sound: dict[int, Any] = {}
        self.written: dict[int, tuple[Any, Schemas]] = {}
        self.errors: list[Diagnostic] = []
        self.losses: list[Diagnostic] = []
        self.notes: list[Diagnostic] = []

    def again(self) -> "Report":
        """Return a report about the same text without what was found."""
        found = copy(self)
        found.errors, found.losses, found.notes, found.written = [], [], [], {}
        return found

    def span(self, pointer: str) -> Span:
        """Return the place of a pointer, or of the nearest one around it."""
        pointer = self.place(pointer)
        while pointer and pointer not in self.source.places:
            pointer = pointer.rpartition("/")[0]
        return self.source.locate(pointer)

    def error(self, pointer: str, message: str, *helps: str, code: str = INVALID) -> None:
        """Note why the text cannot be used."""
        self.errors.append(self._found(code, pointer, message, helps))

    def loss(self, pointer: str, message: str, *helps: str, code: str = IN_PART) -> None:
        """Note what cannot be kept."""
        self.losses.append(self._found(code, pointer, message, helps))

    def note(self, pointer: str, message: str, *helps: str, code: str = IGNORED) -> None:
        """Note what changes nothing."""
        self.notes.append(self._found(code, pointer, message, helps))

    def _found(self, code: str, pointer: str, message: str, helps: tuple[str, ...]) -> Diagnostic:
        told = f"{self.place(pointer) or 'the whole text'}: {message}"
        return Diagnostic(code, told, self.source, self.span(pointer), helps=helps)

    def place(self, pointer: str) -> str:
        """Return the pointer in the text of a place in the tag, where the text is no tag itself."""
        return pointer


def schemas_in(value: Any, pointer: str = "") -> Iterator[tuple[Any, str]]:
    """Yield the schemas in a structural tag, with their pointers."""
    pending: list[tuple[Any, str]] = [(value, pointer)]
    while pending:
        holder, where = pending.pop()
        pairs = holder.items() if isinstance(holder, dict) else enumerate(holder)
        for name, each in pairs:
            if name == "json_schema" or (name == "schema" and "begin" in holder):
                yield each, f"{where}/{name}"
            elif isinstance(each, dict | list):
                pending.append((each, f"{where}/{escape(str(name))}"))


def read_tag(source: Source, report: Report, limits: Limits, imports: Imports) -> list[Node]:
    """Return the nodes of a structural tag, outer ones first; none where there are errors."""
    try:
        value = parse_json(source.text)
    except NoJsonError as error:
        message = f"a structural tag must be JSON: {error.reason}"
        report.errors.append(Diagnostic(INVALID, message, source, error.span))
        return []
    try:
        bundle_each(schemas_in(value if isinstance(value, dict) else {}), source.path, imports)
    except ProblemError as error:
        for each in error.problems:
            report.error(each.pointer, each.message, code=each.code)
        return []
    return read_value(value, report, limits)


def read_value(value: Any, report: Report, limits: Limits) -> list[Node]:
    """Return the nodes of a structural tag as a JSON value, outer ones first."""
    top = _top(value, report)
    if top is None:
        return []
    nodes = _Reader(report, limits).read(*top)
    return [] if report.errors else nodes


def _top(value: Any, report: Report) -> tuple[Any, str] | None:
    """Return the outermost format and its pointer."""
    if not isinstance(value, dict):
        report.error("", "a structural tag is an object")
        return None
    if "structures" in value:
        return _older(value, report)
    if value.get("type", "structural_tag") != "structural_tag":
        report.error("/type", "the type of a structural tag is `structural_tag`")
    elif "format" not in value:
        report.error("", "a structural tag has a field `format`")
    else:
        for name in value.keys() - {"type", "format"}:
            report.note(f"/{escape(name)}", f"a structural tag has no field `{name}`: ignored")
        return value["format"], "/format"
    return None


def _older(value: dict[str, Any], report: Report) -> tuple[Any, str] | None:
    """Return the format that structures with a schema stand for."""
    structures = value["structures"]
    if not isinstance(structures, list):
        report.error("/structures", "`structures` is a list")
        return None
    tags: list[Any] = []
    for index, each in enumerate(structures):
        pointer = f"/structures/{index}"
        if not isinstance(each, dict) or "schema" not in each:
            report.error(pointer, "a structure has `begin`, `schema` and `end`")
            continue
        tag = {name: held for name, held in each.items() if name != "schema"}
        tags.append({**tag, "type": "tag", "content": _Older(each["schema"])})
    if report.errors:
        return None
    made = {"type": "triggered_tags", "tags": tags, "triggers": value.get("triggers")}
    return made, ""


@dataclass(frozen=True, slots=True)
class _Older:
    """The schema of an older structure: JSON, or a text of JSON."""

    schema: Any

    def format(self) -> dict[str, Any]:
        schema = self.schema
        if isinstance(schema, str):
            try:
                schema = parse_json(schema)
            except NoJsonError:
                raise WrongError("a JSON Schema, or a text of one") from None
        return {"type": "json_schema", "json_schema": schema}


class _Reader:
    def __init__(self, report: Report, limits: Limits) -> None:
        self._report = report
        self._depth = limits.nesting_depth

    def read(self, value: Any, pointer: str) -> list[Node]:
        """Return the nodes of a format, outer ones first."""
        waiting: list[tuple[Any, str, Ends, Node | None, int]] = [(value, pointer, (), None, 0)]
        nodes: list[Node] = []
        while waiting:
            held, where, around, owner, depth = waiting.pop()
            if depth > self._depth:
                self._report.error(where, f"more than {self._depth} formats inside each other")
                return []
            node = self._node(held, where, around, must_be_tag=_holds_tags(owner))
            if node is None:
                continue
            nodes.append(node)
            if owner is not None:
                owner.parts.append(node)
            ends: Ends = node.fields["end"] if node.kind == "tag" else around
            inside = [(*part, ends, node, depth + 1) for part in self._inside(held, node)]
            waiting += reversed(inside)
        return nodes

    def _node(self, value: Any, pointer: str, ends: Ends, *, must_be_tag: bool) -> Node | None:
        try:
            value = value.format() if isinstance(value, _Older) else value
        except WrongError as error:
            self._report.error(pointer, f"`schema` is {error}")
            return None
        if not isinstance(value, dict):
            self._report.error(pointer, "a format is an object")
            return None
        kind = value.get("type", "tag" if must_be_tag else guessed(value))
        if not isinstance(kind, str) or kind not in FORMATS:
            listed = ", ".join(FORMATS)
            what = "a format names its `type`" if kind is None else f"there is no format {kind!r}"
            where = f"{pointer}/type" if "type" in value else pointer
            self._report.error(where, what, f"there are {listed}")
            return None
        if must_be_tag and kind != "tag":
            self._report.error(f"{pointer}/type", "only tags are allowed here")
            return None
        return self._checked(kind, value, pointer, ends)

    def _checked(self, kind: str, value: dict[str, Any], pointer: str, ends: Ends) -> Node | None:
        fields = FORMATS[kind]
        found = {
            name: self._value(kind, name, each, value, pointer) for name, each in fields.items()
        }
        for name in value.keys() - {"type", *fields}:
            where = f"{pointer}/{escape(name)}"
            self._report.note(where, f"`{kind}` has no field `{name}`: ignored")
        return None if _WRONG in found.values() else Node(kind, pointer, found, ends)

    def _value(
        self, kind: str, name: str, wanted: Field, value: dict[str, Any], pointer: str
    ) -> Any:
        if name not in value:
            if wanted.default is REQUIRED:
                self._report.error(pointer, f"`{kind}` has a field `{name}`, which is missing")
                return _WRONG
            return wanted.default
        try:
            return wanted.check(value[name])
        except WrongError as error:
            self._report.error(f"{pointer}/{name}", f"`{name}` is {error}")
            return _WRONG

    def _inside(self, value: Any, node: Node) -> Iterator[tuple[Any, str]]:
        """Yield the formats inside a node, with their pointers."""
        for name, each in FORMATS[node.kind].items():
            held: Any = value[name] if each.inside is not Inside.NOTHING else None
            pointer = f"{node.pointer}/{name}"
            if each.inside is Inside.FORMAT:
                older = isinstance(held, _Older)
                yield held, f"{node.pointer}/schema" if older else pointer
            elif each.inside in (Inside.FORMATS, Inside.TAGS):
                base = pointer if node.pointer or name != "tags" else "/structures"
                yield from ((item, f"{base}/{index}") for index, item in enumerate(held))
            elif each.inside in (Inside.RULES, Inside.TOKEN_RULES):
                yield from ((item[1], f"{pointer}/{i}/1") for i, item in enumerate(held))


_WRONG = object()


def _holds_tags(owner: Node | None) -> bool:
    return owner is not None and "tags" in owner.fields
