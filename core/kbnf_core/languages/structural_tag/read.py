"""From the JSON of a structural tag to nodes, without recursion.

``FORMATS`` says which fields each format has, and what these may contain: a check returns the value
of a field, or raises ``WrongError`` with what it should be. The older form, ``{"structures": [...],
"triggers": [...]}``, is read as the ``triggered_tags`` that it stands for.

Tests: tests/unit/languages/test_structural_tag.py, tests/unit/languages/tools
"""

import enum
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from kbnf_core.languages.json_schema.document import bundle_all
from kbnf_core.languages.json_schema.keywords import ProblemError
from kbnf_core.text.diagnostics import Diagnostic
from kbnf_core.text.files import Imports
from kbnf_core.text.json_text import NoJsonError, escape, parse_json
from kbnf_core.text.limits import Limits
from kbnf_core.text.source import Source, Span

if TYPE_CHECKING:
    from kbnf_core.languages.json_schema.keywords import Review
    from kbnf_core.languages.json_schema.schemas import Schemas

INVALID = "E441"
UNSUPPORTED = "E442"
IN_CONTENT = "W441"
IGNORED = "W442"


# Formats and their fields

Check: TypeAlias = Callable[[Any], Any]

REQUIRED = object()
"""The default of a field that must be there."""

MOST = 2**31 - 1
"""The largest number of XGrammar's."""

STYLES = (
    "json",
    "qwen_xml",
    "minimax_xml",
    "minimax_m3_xml",
    "deepseek_xml",
    "deepseek_v4_1_xml",
    "glm_xml",
    "cohere_xml",
    "kimi_k3_xml",
    "gemma",
    "python",
    "python_json",
    "call",
)

ESCAPES = ("canonical", "unicode", "any")
WORDS = ("json", "python")
SYNTAXES = ("ebnf", "lark")
LEXINGS = ("llguidance", "earley", "lalr", "scannerless")


class WrongError(Exception):
    """A value is not allowed in a field; the text says which values are."""


class NamedToken(NamedTuple):
    """A token: its id, or its text."""

    name: int | str


Ends: TypeAlias = tuple[str, ...] | NamedToken


class Inside(enum.Enum):
    """The formats in a field: none, one, a list, a list of tags, or pairs with a trigger."""

    NOTHING = enum.auto()
    FORMAT = enum.auto()
    FORMATS = enum.auto()
    TAGS = enum.auto()
    RULES = enum.auto()
    TOKEN_RULES = enum.auto()


class Field(NamedTuple):
    """A field: its check, its default, and the formats inside."""

    check: Check
    default: Any = REQUIRED
    inside: Inside = Inside.NOTHING


def text(value: Any) -> str:
    """Check a text."""
    if not isinstance(value, str):
        raise WrongError("a text")
    return value


def word(value: Any) -> str:
    """Check a text that is not empty."""
    result = text(value)
    if not result:
        raise WrongError("a text that is not empty")
    return result


def name(value: Any) -> str | None:
    """Check the name of a tool, or null for none."""
    return None if value is None else text(value)


def flag(value: Any) -> bool:
    """Check a truth value."""
    if not isinstance(value, bool):
        raise WrongError("`true` or `false`")
    return value


def count(value: Any) -> int:
    """Check a number of things."""
    if not isinstance(value, Decimal) or not 0 <= value <= MOST or value != int(value):
        raise WrongError(f"a whole number from 0 to {MOST:,}")
    return int(value)


def bound(value: Any) -> int | None:
    """Check a number of things, or null for no bound."""
    return None if value is None else count(value)


def some(value: Any) -> int | None:
    """Check a bound that is not 0."""
    if bound(value) == 0:
        raise WrongError("a whole number from 1 on, or null")
    return bound(value)


def upper(value: Any) -> int | None:
    """Check the upper bound of ``repeat``; -1 means unbounded."""
    return None if isinstance(value, Decimal) and value == -1 else count(value)


def token(value: Any) -> NamedToken:
    """Check a token: its id, or its text."""
    return NamedToken(word(value) if isinstance(value, str) else count(value))


def schema(value: Any) -> Any:
    """Check a JSON Schema."""
    if not isinstance(value, dict | bool):
        raise WrongError("a JSON Schema: an object, `true` or `false`")
    return value


def one_of(names: tuple[str, ...], *, or_null: bool = False) -> Check:
    """Return the check of one of some names, or of null for the default."""

    def checked(value: Any) -> str | None:
        if isinstance(value, str) and value in names:
            return value
        if or_null and value is None:
            return None
        raise WrongError(f"one of {', '.join(names)}")

    return checked


def words(value: Any) -> tuple[str, ...]:
    """Check a list of texts that are not empty."""
    return tuple(map(word, _items(value)))


def tokens(value: Any) -> tuple[NamedToken, ...]:
    """Check a list of tokens."""
    return tuple(map(token, _items(value)))


def filled(check: Check) -> Check:
    """Return the check of a list that is not empty."""

    def checked(value: Any) -> Any:
        if value == []:
            raise WrongError("a list that is not empty")
        return check(value)

    return checked


def edge(value: Any) -> str | NamedToken:
    """Check the beginning of a tag: a text, or a token."""
    return text(value) if isinstance(value, str) else _token_format(value)


def ends(value: Any) -> tuple[str, ...] | NamedToken:
    """Check the end of a tag: a text, some texts, or a token."""
    if isinstance(value, str):
        return (text(value),)
    return tuple(map(text, value)) if isinstance(value, list) and value else _token_format(value)


def pairs(trigger: Check) -> Check:
    """Return the check of a list of triggers, each with a format."""

    def checked(value: Any) -> tuple[Any, ...]:
        result = _items(value)
        if not all(isinstance(pair, list) and len(pair) == 2 for pair in result):
            raise WrongError("a list of pairs, each of a trigger and a format")
        return tuple(trigger(pair[0]) for pair in result)

    return checked


def _token_format(value: Any) -> NamedToken:
    if not isinstance(value, dict) or value.get("type", "token") != "token":
        raise WrongError('a text, or `{"type": "token", "token": ...}`')
    return token(value.get("token"))


def _items(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise WrongError("a list")
    return value


def _anything(value: Any) -> Any:
    return value


_CONTENT = Field(_anything, inside=Inside.FORMAT)
_ELEMENTS = Field(filled(_items), inside=Inside.FORMATS)
_TAGS = Field(filled(_items), inside=Inside.TAGS)
_SCHEMA: dict[str, Field] = {
    "json_schema": Field(schema),
    "any_order": Field(flag, False),
    "max_whitespace_cnt": Field(some, None),
    "excludes": Field(words, ()),
    "tool": Field(name, None),
    "escapes": Field(one_of(ESCAPES, or_null=True), None),
    "words": Field(one_of(WORDS, or_null=True), None),
}
_CALLS: dict[str, Field] = {
    "tags": _TAGS,
    "at_least_one": Field(flag, False),
    "stop_after_first": Field(flag, False),
}

FORMATS: Mapping[str, Mapping[str, Field]] = {
    "tag": {"begin": Field(edge), "content": _CONTENT, "end": Field(ends)},
    "const_string": {"value": Field(text)},
    "json_schema": {**_SCHEMA, "style": Field(one_of(STYLES), "json")},
    "any_text": {
        "tool": Field(name, None),
        "excludes": Field(words, ()),
        "max_tokens": Field(bound, None),
        "max_chars": Field(bound, None),
    },
    "sequence": {"elements": _ELEMENTS},
    "or": {"elements": _ELEMENTS},
    "triggered_tags": {
        "triggers": Field(filled(words)),
        "excludes": Field(words, ()),
        **_CALLS,
    },
    "tags_with_separator": {**_CALLS, "separator": Field(text)},
    "optional": {"content": _CONTENT},
    "plus": {"content": _CONTENT},
    "star": {"content": _CONTENT},
    "repeat": {"min": Field(count), "max": Field(upper), "content": _CONTENT},
    "dispatch": {
        "rules": Field(filled(pairs(word)), inside=Inside.RULES),
        "loop": Field(flag, True),
        "excludes": Field(words, ()),
    },
    "token_dispatch": {
        "rules": Field(filled(pairs(token)), inside=Inside.TOKEN_RULES),
        "loop": Field(flag, True),
        "exclude_tokens": Field(tokens, ()),
    },
    "token_triggered_tags": {
        "trigger_tokens": Field(filled(tokens)),
        "exclude_tokens": Field(tokens, ()),
        **_CALLS,
    },
    "grammar": {
        "grammar": Field(word),
        "syntax": Field(one_of(SYNTAXES), "ebnf"),
        "lexing": Field(one_of(LEXINGS), "scannerless"),
        "tool": Field(name, None),
    },
    "regex": {
        "pattern": Field(word),
        "dot_all": Field(flag, True),
        "tool": Field(name, None),
    },
    "token": {"token": Field(token)},
    "exclude_token": {"exclude_tokens": Field(tokens, ())},
    "any_tokens": {"exclude_tokens": Field(tokens, ()), "max_tokens": Field(bound, None)},
    "qwen_xml_parameter": _SCHEMA,
}
"""The fields of each format; one that names no type is the first whose fields it has."""


def guessed(value: Mapping[str, Any]) -> str | None:
    """Return the type of a format that does not name it, by its fields."""
    for kind, fields in FORMATS.items():
        needed = {name for name, field in fields.items() if field.default is REQUIRED}
        if needed and needed <= value.keys():
            return kind
    return "any_text" if "excludes" in value else None


# Reading


@dataclass(slots=True)
class FormatNode:
    """A format: its type, where it is, its fields, and the formats inside, in order.

    ``ends`` are those of the nearest tag around it, at which unlimited text stops.
    """

    kind: str
    pointer: str
    fields: dict[str, Any]
    ends: Ends = ()
    children: list["FormatNode"] = field(default_factory=list)


class TagReport:
    """The findings of reading and writing: diagnostics at the places of JSON Pointers.

    ``sound`` are the schemas that were checked, by identity, with their facts; ``written`` those
    that were written as a whole, with their readings.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.sound: dict[int, tuple[Any, Review]] = {}
        self.written: dict[int, tuple[Any, Schemas]] = {}
        self.errors: list[Diagnostic] = []
        self.losses: list[Diagnostic] = []
        self.notes: list[Diagnostic] = []

    def again(self) -> "TagReport":
        """Return a report about the same text without the findings."""
        result = copy(self)
        result.errors, result.losses, result.notes, result.written = [], [], [], {}
        return result

    def span(self, pointer: str) -> Span:
        """Return the place of a pointer, or of the nearest one around it."""
        pointer = self.source_pointer(pointer)
        while pointer and pointer not in self.source.spans:
            pointer = pointer.rpartition("/")[0]
        return self.source.locate(pointer)

    def error(self, pointer: str, message: str, *helps: str, code: str = INVALID) -> None:
        """Note why the text cannot be used."""
        self.errors.append(self._diagnostic(code, pointer, message, helps))

    def loss(self, pointer: str, message: str, *helps: str, code: str = IN_CONTENT) -> None:
        """Record a construct that cannot be kept."""
        self.losses.append(self._diagnostic(code, pointer, message, helps))

    def note(self, pointer: str, message: str, *helps: str, code: str = IGNORED) -> None:
        """Report a construct without effect."""
        self.notes.append(self._diagnostic(code, pointer, message, helps))

    def _diagnostic(
        self, code: str, pointer: str, message: str, helps: tuple[str, ...]
    ) -> Diagnostic:
        text = f"{self.source_pointer(pointer) or 'the whole text'}: {message}"
        return Diagnostic(code, text, self.source, self.span(pointer), helps=helps)

    def source_pointer(self, pointer: str) -> str:
        """Return the pointer in the text of a place in the tag, if the text is not itself a tag."""
        return pointer


def schemas_in(value: Any, pointer: str = "") -> Iterator[tuple[Any, str]]:
    """Yield the schemas in a structural tag, with their pointers."""
    pending: list[tuple[Any, str]] = [(value, pointer)]
    while pending:
        holder, where = pending.pop()
        pairs = holder.items() if isinstance(holder, dict) else enumerate(holder)
        for name, inner in pairs:
            if name == "json_schema" or (name == "schema" and "begin" in holder):
                yield inner, f"{where}/{name}"
            elif isinstance(inner, dict | list):
                pending.append((inner, f"{where}/{escape(str(name))}"))


def read_tag(
    source: Source, report: TagReport, limits: Limits, imports: Imports
) -> list[FormatNode]:
    """Return the nodes of a structural tag, outer ones first; none where there are errors."""
    try:
        value = parse_json(source.text, unique=True)
    except NoJsonError as error:
        message = f"a structural tag must be JSON: {error.reason}"
        report.errors.append(Diagnostic(INVALID, message, source, error.span))
        return []
    try:
        bundle_all(schemas_in(value if isinstance(value, dict) else {}), source.path, imports)
    except ProblemError as error:
        for problem in error.problems:
            report.error(problem.pointer, problem.message, code=problem.code)
        return []
    return read_value(value, report, limits)


def read_value(value: Any, report: TagReport, limits: Limits) -> list[FormatNode]:
    """Return the nodes of a structural tag as a JSON value, outer ones first."""
    top = _top(value, report)
    if top is None:
        return []
    nodes = _TagReader(report, limits).read(*top)
    return [] if report.errors else nodes


def _top(value: Any, report: TagReport) -> tuple[Any, str] | None:
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


def _older(value: dict[str, Any], report: TagReport) -> tuple[Any, str] | None:
    """Return the format that structures with a schema stand for."""
    structures = value["structures"]
    if not isinstance(structures, list):
        report.error("/structures", "`structures` is a list")
        return None
    tags: list[Any] = []
    for index, structure in enumerate(structures):
        pointer = f"/structures/{index}"
        if not isinstance(structure, dict) or "schema" not in structure:
            report.error(pointer, "a structure has `begin`, `schema` and `end`")
            continue
        tag = {name: field_value for name, field_value in structure.items() if name != "schema"}
        tags.append({**tag, "type": "tag", "content": _Older(structure["schema"])})
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


class _TagReader:
    def __init__(self, report: TagReport, limits: Limits) -> None:
        self._report = report
        self._depth = limits.nesting_depth

    def read(self, value: Any, pointer: str) -> list[FormatNode]:
        """Return the nodes of a format, outer ones first."""
        waiting: list[tuple[Any, str, Ends, FormatNode | None, int]] = [
            (value, pointer, (), None, 0)
        ]
        nodes: list[FormatNode] = []
        while waiting:
            node_value, where, around, owner, depth = waiting.pop()
            if depth > self._depth:
                self._report.error(where, f"more than {self._depth} formats inside each other")
                return []
            node = self._node(node_value, where, around, must_be_tag=_holds_tags(owner))
            if node is None:
                continue
            nodes.append(node)
            if owner is not None:
                owner.children.append(node)
            ends: Ends = node.fields["end"] if node.kind == "tag" else around
            inside = [(*inner, ends, node, depth + 1) for inner in self._inside(node_value, node)]
            waiting += reversed(inside)
        return nodes

    def _node(
        self, value: Any, pointer: str, ends: Ends, *, must_be_tag: bool
    ) -> FormatNode | None:
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
            message = (
                "a format names its `type`" if kind is None else f"there is no format {kind!r}"
            )
            where = f"{pointer}/type" if "type" in value else pointer
            self._report.error(where, message, f"there are {listed}")
            return None
        if must_be_tag and kind != "tag":
            self._report.error(f"{pointer}/type", "only tags are allowed here")
            return None
        return self._checked(kind, value, pointer, ends)

    def _checked(
        self, kind: str, value: dict[str, Any], pointer: str, ends: Ends
    ) -> FormatNode | None:
        fields = FORMATS[kind]
        result = {
            name: self._value(kind, name, field_, value, pointer) for name, field_ in fields.items()
        }
        for name in value.keys() - {"type", *fields}:
            where = f"{pointer}/{escape(name)}"
            self._report.note(where, f"`{kind}` has no field `{name}`: ignored")
        return None if _WRONG in result.values() else FormatNode(kind, pointer, result, ends)

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

    def _inside(self, value: Any, node: FormatNode) -> Iterator[tuple[Any, str]]:
        """Yield the formats inside a node, with their pointers."""
        for name, entry in FORMATS[node.kind].items():
            inner: Any = value[name] if entry.inside is not Inside.NOTHING else None
            pointer = f"{node.pointer}/{name}"
            if entry.inside is Inside.FORMAT:
                older = isinstance(inner, _Older)
                yield inner, f"{node.pointer}/schema" if older else pointer
            elif entry.inside in (Inside.FORMATS, Inside.TAGS):
                # Only the format that is made of older structures is at the root.
                base = pointer if node.pointer or name != "tags" else "/structures"
                yield from ((item, f"{base}/{index}") for index, item in enumerate(inner))
            elif entry.inside in (Inside.RULES, Inside.TOKEN_RULES):
                yield from ((item[1], f"{pointer}/{i}/1") for i, item in enumerate(inner))


_WRONG = object()


def _holds_tags(owner: FormatNode | None) -> bool:
    return owner is not None and "tags" in owner.fields
