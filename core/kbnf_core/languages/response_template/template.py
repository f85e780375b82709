"""Response templates: their contents, and the mistakes in them.

A response template (``response_template`` in ``tokenizer_config.json``, transformers from 5.13 on)
says how the text of a model is read to a message. It has *fields*, each of which is a region of the
text: its opening, its closing, and how its content is read. One field may have no opening: it is
*implicit*, and gets the text outside of the others. Openings and closings are texts, or patterns in
Python's dialect. ``start_anchor`` is the text after which messages begin in a whole chat.

Templates that transformers refuses are an error here (E443), and so are patterns that cannot be
searched for in linear time (``automata.regex.search``). That a region cannot be closed, or never
opens, is W443.

Tests: tests/unit/languages/test_response_templates.py
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from kbnf_core.automata.regex.search import Match, SearchPattern, read_pattern
from kbnf_core.languages.response_template.detect import KEY
from kbnf_core.languages.structural_tag.read import TagReport
from kbnf_core.text.budget import Budget
from kbnf_core.text.errors import GrammarError
from kbnf_core.text.json_text import NoJsonError, as_number, escape, parse_json, too_deep
from kbnf_core.text.limits import DEFAULT_LIMITS, Limits
from kbnf_core.text.source import Source

INVALID, MISREAD = "E443", "W443"

MOST_FIELDS = 1_000
MOST_DEPTH = 64
"""Groups inside each other in a pattern, and values inside each other in a template."""

PLACEHOLDER = re.compile(r"\{(\w+(?:\.\w+)*)\}")
"""A placeholder in a transform, for a group of an anchor, the content, or a part of that."""

_OF_TEXT = {"strip": bool}
_CONTENTS: Mapping[str, Mapping[str, type]] = {
    "text": _OF_TEXT,
    "int": _OF_TEXT,
    "float": _OF_TEXT,
    "bool": _OF_TEXT,
    "json": {
        "strip": bool, "string_delims": list, "unquoted_keys": bool, "allow_non_json": bool,
    },
    "xml-inline": {"tag_pattern": str, "value_parser": dict, "merge_duplicates": bool},
    "kv-lines": {"strip": bool, "line_sep": str, "kv_sep": str, "value_parser": dict},
    "python-call-list": {},
}  # fmt: skip
"""The arguments of each way to read a content."""

_TYPES = {bool: "`true` or `false`", list: "a list", str: "a text", dict: "an object"}
_OF_TEMPLATE = ("version", "defaults", "fields", "start_anchor", "start_anchor_pattern")
_OF_FIELD = (
    "open", "open_pattern", "close", "close_pattern", "content", "content_args", "repeats", "join",
    "optional", "transform", "transform_each",
)  # fmt: skip


class Anchor(NamedTuple):
    """The beginning or end of a region: one of some texts, or a pattern."""

    texts: tuple[str, ...] = ()
    pattern: SearchPattern | None = None

    def find(self, text: str, start: int, budget: Budget) -> Match | None:
        """Return where it occurs first, at ``start`` or later; of several texts the longest."""
        if self.pattern is not None:
            return self.pattern.find(text, start, budget)
        budget.spend(len(self.texts) * (len(text) - start))
        offsets = [(text.find(text_, start), text_) for text_ in self.texts]
        candidates = [(at, -len(text_)) for at, text_ in offsets if at >= 0]
        if not candidates:
            return None
        at, size = min(candidates)
        return Match(at, at - size, {})


class Content(NamedTuple):
    """How a text is read to a value; ``tag`` is the pattern of an element, ``inner`` for values."""

    kind: str
    arguments: Mapping[str, Any]
    tag: SearchPattern | None = None
    inner: "Content | None" = None


class TemplateField(NamedTuple):
    """A region of texts, and how it is read."""

    name: str
    pointer: str
    open: Anchor | None
    close: Anchor | None
    content: Content
    repeats: bool
    join: str | None
    is_optional: bool
    transform: Any
    transforms_items: bool


class Template(NamedTuple):
    """A response template; ``value`` is its JSON."""

    value: Mapping[str, Any]
    defaults: Mapping[str, Any]
    fields: Mapping[str, TemplateField]
    anchor: Anchor

    @property
    def implicit(self) -> TemplateField | None:
        """The field that has the text outside of the others."""
        return next((field for field in self.fields.values() if field.open is None), None)


def template_of(value: object, limits: Limits = DEFAULT_LIMITS) -> Template:
    """Return a response template from its JSON, a text or a value. Raises ``GrammarError``."""
    source = Source(value if isinstance(value, str) else json.dumps(value), is_json=True)
    report = TagReport(source)
    result = read_template(source, report, limits)
    if result is None or report.errors:
        raise GrammarError(report.errors)
    return result


def read_template(source: Source, report: TagReport, limits: Limits) -> Template | None:
    """Return the response template of a text, or of the configuration that the text is."""
    try:
        pointer = too_deep(parse_json(source.text), MOST_DEPTH)
        value = json.loads(source.text, parse_int=as_number)
    except NoJsonError as error:
        report.error("", f"a response template must be JSON: {error.reason}",
                     code=INVALID)  # fmt: skip
        return None
    if pointer is not None:
        report.error(pointer, f"more than {MOST_DEPTH} values nested in one another", code=INVALID)
        return None
    is_wrapped = isinstance(value, dict) and KEY in value
    return _TemplateReader(report, limits).read(
        value[KEY] if is_wrapped else value, f"/{KEY}" if is_wrapped else ""
    )


class _TemplateReader:
    def __init__(self, report: TagReport, limits: Limits) -> None:
        self._report = report
        self._limits = replace(limits, nesting_depth=min(limits.nesting_depth, MOST_DEPTH))
        self._budget = Budget(limits.work)

    def read(self, value: Any, pointer: str) -> Template | None:
        if not isinstance(value, dict):
            self._wrong(pointer, "a response template is an object")
            return None
        self._check_names(value, _OF_TEMPLATE, pointer, "a response template")
        if value.get("version", 1) != 1:
            self._wrong(f"{pointer}/version", "only version 1 of response templates is known")
        defaults, fields = value.get("defaults", {}), value.get("fields", {})
        if not isinstance(defaults, dict):
            self._wrong(f"{pointer}/defaults", "`defaults` is an object")
        if not isinstance(fields, dict) or not fields:
            self._wrong(f"{pointer}/fields", "`fields` is an object that is not empty")
            return None
        if len(fields) > MOST_FIELDS:
            self._wrong(f"{pointer}/fields", f"a template has at most {MOST_FIELDS:,} fields")
            return None
        anchor = self._anchor(value, "start_anchor", pointer)
        if anchor is None and not {"start_anchor", "start_anchor_pattern"} & value.keys():
            message = "a response template has `start_anchor` or `start_anchor_pattern`"
            self._wrong(pointer, message)
        fields_read = {
            name: self._field(name, field, f"{pointer}/fields/{escape(name)}")
            for name, field in fields.items()
        }
        if self._report.errors or anchor is None:
            return None
        read = {name: field for name, field in fields_read.items() if field is not None}
        sinks = [field for field in read.values() if field.open is None]
        for field in sinks[1:]:
            message = f"one field has no opening, and that is `{sinks[0].name}` already"
            self._wrong(field.pointer, message)
        self._warn(read)
        return Template(value, defaults, read, anchor)

    def _wrong(self, pointer: str, message: str, *helps: str) -> None:
        self._report.error(pointer, message, *helps, code=INVALID)

    def _check_names(
        self, value: Mapping[str, Any], names: tuple[str, ...], pointer: str, subject: str
    ) -> None:
        for name in sorted(value.keys() - set(names)):
            message = f"{subject} has no `{name}`"
            self._wrong(f"{pointer}/{escape(name)}", message, f"there are {', '.join(names)}")

    def _field(self, name: str, value: Any, pointer: str) -> TemplateField | None:
        if not isinstance(value, dict):
            self._wrong(pointer, "a field is an object")
            return None
        self._check_names(value, _OF_FIELD, pointer, "a field")
        for key in ("repeats", "optional", "transform_each"):
            if not isinstance(value.get(key, False), bool):
                self._wrong(f"{pointer}/{key}", f"`{key}` is `true` or `false`")
        join = value.get("join")
        if join is not None and not (isinstance(join, str) and value.get("repeats", False)):
            self._wrong(f"{pointer}/join", "`join` is a text, of a field with `repeats`")
        opening = self._anchor(value, "open", pointer)
        closing = self._anchor(value, "close", pointer)
        transform = value.get("transform")
        names = [
            name
            for candidate in (opening, closing)
            for name in (
                candidate.pattern.names if candidate is not None and candidate.pattern else ()
            )
        ]
        if transform is None and (names or value.get("transform_each")):
            why = f"the group `{names[0]}` is lost" if names else "`transform_each` has no effect"
            self._wrong(pointer, f"{why} without a `transform`")
        for text in _texts(transform):
            if PLACEHOLDER.search(text) and not PLACEHOLDER.fullmatch(text):
                message = f"{text!r} is a placeholder and more: it is one of both"
                self._wrong(f"{pointer}/transform", message[:200])
        content = self._content(
            value.get("content", "text"), value.get("content_args", {}), pointer, "content_args"
        )
        if content is None:
            return None
        return TemplateField(
            name, pointer, opening, closing, content, value.get("repeats", False), join,
            value.get("optional", True), transform, value.get("transform_each", False),
        )  # fmt: skip

    def _anchor(self, value: Mapping[str, Any], key: str, pointer: str) -> Anchor | None:
        by_pattern = f"{key}_pattern"
        if key in value and by_pattern in value:
            self._wrong(pointer, f"`{key}` and `{by_pattern}` are there, and one of them is read")
            return None
        if key in value:
            given = value[key]
            texts = [given] if isinstance(given, str) else given
            if not isinstance(texts, list) or not texts or not all(
                isinstance(text, str) and text for text in texts
            ):  # fmt: skip
                self._wrong(f"{pointer}/{key}", f"`{key}` is a text that is not empty, or some")
                return None
            return Anchor(tuple(dict.fromkeys(texts)))
        if by_pattern not in value:
            return None
        pattern = self._pattern(value[by_pattern], f"{pointer}/{by_pattern}")
        return None if pattern is None else Anchor((), pattern)

    def _pattern(self, text: Any, pointer: str, *, is_mark: bool = True) -> SearchPattern | None:
        if not isinstance(text, str):
            self._wrong(pointer, "a pattern is a text")
            return None
        result, problems = read_pattern(text, self._limits)
        for problem in problems:
            helps = (problem.help,) if problem.help else ()
            excerpt = text[problem.start : problem.end][:40]
            self._wrong(pointer, f"in the pattern, at `{excerpt}`: {problem.message}", *helps)
        if result is not None and is_mark and result.match("", self._budget) is not None:
            self._wrong(pointer, "this pattern matches the empty text, which marks nothing")
            return None
        return result

    def _content(self, kind: Any, given: Any, pointer: str, key: str) -> Content | None:
        """Return how a content is read, and how values within it are, without recursion."""
        inside: list[tuple[str, Mapping[str, Any], SearchPattern | None]] = []
        where = f"{pointer}/{key}"
        while self._is_content(kind, given, pointer, where):
            tag = None
            if kind == "xml-inline":
                tag = self._pattern(given.get("tag_pattern"), f"{where}/tag_pattern")
                if tag is None or "key" not in tag.names:
                    self._wrong(f"{where}/tag_pattern", "a pattern of elements has a group `key`")
                    return None
            inside.append((kind, given, tag))
            if "value_parser" not in given:
                result: Content | None = None
                for kind, given, tag in reversed(inside):
                    result = Content(kind, given, tag, result)
                return result
            parser = given["value_parser"]
            where = f"{where}/value_parser/args"
            kind, given = parser.get("name", "text"), parser.get("args", {})
        return None

    def _is_content(self, kind: Any, given: Any, pointer: str, where: str) -> bool:
        """Report the mistakes in a way to read a content; return whether there are none."""
        if kind not in _CONTENTS:
            message, kinds = f"there is no content {kind!r}"[:200], ", ".join(_CONTENTS)
            self._wrong(f"{pointer}/content", message, f"there are {kinds}")
            return False
        if not isinstance(given, dict):
            self._wrong(where, "the arguments of a content are an object")
            return False
        for name, argument in given.items():
            wanted = _CONTENTS[kind].get(name)
            if wanted is None:
                self._report.note(f"{where}/{escape(name)}", f"`{kind}` reads no `{name}`")
            elif not isinstance(argument, wanted) or argument == "":
                self._wrong(f"{where}/{name}", f"`{name}` is {_TYPES[wanted]}")
                return False
        pairs = given.get("string_delims", [])
        is_wrapped = [pair for pair in pairs if isinstance(pair, list) and len(pair) == 2]
        if len(is_wrapped) < len(pairs) or not all(
            isinstance(a, str) and a for b in is_wrapped for a in b
        ):
            self._wrong(f"{where}/string_delims", "`string_delims` are pairs of texts")
            return False
        return True

    def _warn(self, fields: Mapping[str, TemplateField]) -> None:
        """Note regions that cannot be closed, and those that never open."""
        seen: dict[str, TemplateField] = {}
        for _, field in sorted(fields.items()):
            if field.open is not None and field.close is None and len(fields) > 1:
                message = f"nothing closes `{field.name}`: all that follows is part of it"
                self._note(field.pointer, message, "give it a `close`")
            for text in () if field.open is None else field.open.texts:
                if text in seen:
                    other = seen[text].name
                    message = f"`{text}` opens `{other}`, never `{field.name}`"
                    self._note(f"{field.pointer}/open", message)
                seen.setdefault(text, field)
        for field in fields.values():
            texts = field.close.texts if field.open is None and field.close is not None else ()
            for text in texts:
                if text in seen:
                    message = f"`{text}` opens `{seen[text].name}`, and never closes `{field.name}`"
                    self._note(f"{field.pointer}/close", message)

    def _note(self, pointer: str, message: str, *helps: str) -> None:
        self._report.note(pointer, message, *helps, code=MISREAD)


def _texts(value: Any) -> Iterator[str]:
    pending = [value]
    for text_ in pending:
        if isinstance(text_, str):
            yield text_
        elif isinstance(text_, dict):
            pending += text_.values()
        elif isinstance(text_, list):
            pending += text_
