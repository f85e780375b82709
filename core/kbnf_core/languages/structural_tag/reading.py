"""The reading language of a format of calls, derived from the texts that are written.

A *language* is made of the same structural tag as the strict grammar, in three kinds of things: the
forms of calls (the texts up to the name of a tool, between name and arguments, and after these, and
the section that several calls are in), the frames of free text (a thought, a channel of Harmony),
and the texts between these that are not content. How far texts may differ from it is the same for
all formats, and decided by the reader (``parse.messages``).

The rules by which reading is wider than writing:

1. Blanks are free between the words of texts, names and arguments; a word is a marker in angle or
square brackets, or a run of characters between blanks and markers. 2. Arguments are read as
``arguments`` has it: any JSON, constants of Python, either quotes. 3. Where the texts around a name
and its arguments are those of a JSON object, they are read as one: members in any order,
``parameters`` for ``arguments``, further members. 4. Forgotten words may be missing where the rest
implies them: words ahead of a call whose own closing words are there, or the inner ones of these
(``</function>``), if it is the last thing or another call follows; closing words after a call that
is over by itself, plain words after a marker. A marker of the format is always there, but for
formats whose calls have none. 5. Frames are not content.

Tags with other contents than these (grammars, patterns, tokens, dispatch) have no such language:
their values are those of their marked rules (``marks``).

Tests: tests/unit/languages/test_structural_tag.py, tests/unit/languages/tools
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from kbnf_core.kbnf.parsed import Shape
from kbnf_core.languages.json_schema import Options
from kbnf_core.languages.structural_tag.marks import is_about_thoughts, shapes_of, tool_name
from kbnf_core.languages.structural_tag.models import NAME, REASONING, Format, key_of
from kbnf_core.languages.structural_tag.nested import NOTATIONS, style_texts
from kbnf_core.languages.structural_tag.presets import filled
from kbnf_core.languages.structural_tag.read import FormatNode, TagReport, read_value
from kbnf_core.text.errors import KbnfError
from kbnf_core.text.limits import DEFAULT_LIMITS
from kbnf_core.text.source import Source

Item: TypeAlias = tuple[str, str]
"""A text (``text``), or a match of a pattern (``any``)."""


class CallForm(NamedTuple):
    """How calls are written: around the name, and around the arguments.

    ``tools`` are the names that are written so, none for any; ``name`` is that of the tool where it
    is written nowhere, and then ``head`` is all that is ahead of the arguments. ``section`` is the
    number of the section that it is in. Values ``is_verbatim`` have no line breaks around them.
    """

    head: tuple[Item, ...]
    middle: tuple[Item, ...]
    tail: tuple[Item, ...]
    style: str = "json"
    words: str = "json"
    tools: tuple[str, ...] = ()
    is_named: bool = True
    name: str | None = None
    section: int | None = None
    is_verbatim: bool = False


class Section(NamedTuple):
    """The texts around several calls, and between them."""

    begin: tuple[Item, ...]
    separator: str
    end: tuple[Item, ...]


class Frame(NamedTuple):
    """Free text between two marks, ``text`` or ``reasoning``; ``after`` are the blanks after it.

    Without ``ends`` it goes on to the end of the text.
    One that ``leads`` occurs ahead of all else only.
    """

    begin: str
    ends: tuple[str, ...]
    kind: str
    after: str = ""
    leads: bool = False


_Texts: TypeAlias = tuple[str, ...]
_OfAnyTools: TypeAlias = tuple[
    tuple[CallForm, ...], tuple[Section, ...], tuple[Frame, ...], _Texts, _Texts, _Texts
]


class CallLanguage(NamedTuple):
    """The texts of a format by their roles.

    ``initial`` is the frame that a text begins in, ``glue`` the texts that are not content, with
    the blanks after them, ``leading`` and ``trailing`` blanks before all and after calls that are
    not content, either. ``ends`` are the texts that end a turn, which are not content at the end of
    a text. ``excluded`` are the texts that free text cannot contain. With ``turns`` a call may
    begin without a marker at the beginning, and after glue. ``tools`` has the schemas by the names.
    """

    forms: tuple[CallForm, ...] = ()
    sections: tuple[Section, ...] = ()
    frames: tuple[Frame, ...] = ()
    glue: tuple[str, ...] = ()
    leading: tuple[str, ...] = ()
    trailing: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    initial: int | None = None
    turns: bool = False
    tools: Mapping[str, Any] = {}

    @property
    def of_any_tools(self) -> "_OfAnyTools":
        """The fields that depend on no tool: forms, sections, frames, glue, ends, excluded."""
        return (self.forms, self.sections, self.frames, self.glue, self.ends, self.excluded)

    def texts(self) -> Iterator[str]:
        """Yield all fixed texts."""
        for form in self.forms:
            yield from (text for _, text in (*form.head, *form.middle, *form.tail))
            yield from style_texts(form.style)
        for section in self.sections:
            yield from (text for _, text in (*section.begin, *section.end))
            yield section.separator
        for frame in self.frames:
            yield from (frame.begin, *frame.ends)
        yield from (*self.glue, *self.ends)

    def beginning_as(self, other: "CallLanguage | None") -> "CallLanguage":
        """Return the language whose texts begin, and end, as those of another one."""
        if other is None:
            return self
        blanks = self._replace(
            leading=other.leading,
            trailing=other.trailing,
            glue=tuple(dict.fromkeys([*self.glue, *other.glue])),
        )
        if other.initial is None:
            return blanks
        frames = (*self.frames, other.frames[other.initial])
        return blanks._replace(frames=frames, initial=len(frames) - 1)


class _OtherError(Exception):
    """A tag has contents of another kind."""


def language_of_format(format_: Format, tools: Mapping[str, Any]) -> CallLanguage | None:
    """Return the language of a format, None where it has none.

    It is that of the template for texts with and without thoughts and calls: readers know no other
    mode. ``tools`` are the schemas of arguments by the names of the tools.
    """
    names = [{"name": NAME, "parameters": True}]
    templates = format_["templates"]
    key = next(
        (key for key in map(_auto, REASONING[::-1]) if key in templates), next(iter(templates))
    )
    tag = {"type": "structural_tag", "format": filled(format_, key, names)}
    report = TagReport(Source("{}", is_json=True))
    nodes = read_value(tag, report, DEFAULT_LIMITS)
    result = None if report.errors else language_of(nodes)
    if result is None:
        return None
    for begin, end in format_.get("around", ()):
        result = _with_markers(result, begin, end)
    for written, other in format_.get("spelled", ()):
        result = _respelled(result, written, other)
    is_verbatim = bool(format_.get("is_verbatim"))
    forms = tuple(form._replace(is_verbatim=is_verbatim) for form in result.forms)
    return result._replace(forms=forms, tools=tools, ends=tuple(format_.get("turn_ends", ())))


def _respelled(language: CallLanguage, written: str, other: str) -> CallLanguage:
    """Return a language in which a marker may also be another one."""

    def replaced(items: Iterable[Item]) -> tuple[Item, ...]:
        return tuple(
            (kind, text.replace(written, other) if kind == "text" else text) for kind, text in items
        )

    forms = [
        form._replace(head=replaced(form.head), middle=replaced(form.middle),
                      tail=replaced(form.tail), section=number)
        for form in language.forms
        for number in [form.section if form.section is None
                       else len(language.sections) + form.section]
    ]  # fmt: skip
    sections = [
        Section(replaced(section.begin), section.separator, replaced(section.end))
        for section in language.sections
    ]
    return language._replace(
        forms=(*language.forms, *forms), sections=(*language.sections, *sections)
    )


def _with_markers(language: CallLanguage, begin: str, end: str) -> CallLanguage:
    """Return a language whose calls may also have markers around them."""
    first, last = ("text", begin), ("text", end)
    forms, sections = list(language.forms), list(language.sections)
    for number, section in enumerate(language.sections):
        inside = [form for form in language.forms if form.section == number]
        forms += [form._replace(section=len(sections)) for form in inside]
        opened, closed = _joined([first, *section.begin]), _joined([*section.end, last])
        sections.append(section._replace(begin=opened, end=closed))
    for form in language.forms:
        if form.section is None:
            head, tail = _joined([first, *form.head]), _joined([*form.tail, last])
            forms.append(form._replace(head=head, tail=tail))
    return language._replace(forms=tuple(forms), sections=tuple(sections))


def _auto(reasoning: str) -> str:
    return key_of("auto", reasoning, single=False)


def language_of(nodes: Sequence[FormatNode]) -> CallLanguage | None:
    """Return the language of a tag that was read without errors, None where it has none."""
    inside = {id(inner) for node in nodes for inner in node.children}
    roots = [node for node in nodes if id(node) not in inside]
    derived = _Derived()
    try:
        for root in roots:
            derived.add(root, leads=True)
    except _OtherError:
        return None
    return derived.language()


class _Derived:
    """Collects the texts of the formats of a tag."""

    def __init__(self) -> None:
        self.forms: dict[CallForm, dict[str, None]] = {}
        self.sections: list[Section] = []
        self.frames: list[Frame] = []
        self.glue: dict[str, None] = {}
        self.leading: dict[str, None] = {}
        self.trailing: dict[str, None] = {}
        self.excluded: dict[str, None] = {}
        self.schemas: dict[str, Any] = {}
        self.initial: int | None = None
        self.turns = False

    def language(self) -> CallLanguage | None:
        """Return the reading language, or None if no text marks the beginning of a call."""
        forms = []
        for form, tools in self.forms.items():
            opening = form.head if form.section is None else self.sections[form.section].begin
            is_bare = not any(text.strip() for _, text in (*opening, *form.head))
            if is_bare and form.style not in ("call", *NOTATIONS):
                return None
            forms.append(form._replace(tools=tuple(tools)))
        return CallLanguage(
            tuple(forms), tuple(self.sections), tuple(dict.fromkeys(self.frames)),
            tuple(self.glue), tuple(self.leading), tuple(self.trailing), (),
            tuple(self.excluded), self.initial, self.turns, self.schemas,
        )  # fmt: skip

    def add(self, node: FormatNode, *, leads: bool) -> None:
        """Add the texts of a format at the outermost level; one that ``leads`` is before others."""
        match node.kind:
            case "sequence":
                self._add_in_order(node.children, leads=leads)
            case "optional" | "or" | "star" | "plus":
                self._add_all(node.children, leads=leads)
            case "regex" | "any_text" if node.fields["tool"] is None:
                # What a pattern matches is content.
                self.excluded.update(dict.fromkeys(node.fields.get("excludes", ())))
            case "const_string":
                self._add_const(node.fields["value"])
            case "triggered_tags":
                self.excluded.update(dict.fromkeys(node.fields["excludes"]))
                self._add_all(node.children, leads=False)
            case "tags_with_separator":
                self.turns = True
                self._add_const(node.fields["separator"])
                self._add_all(node.children, leads=False)
            case "tag":
                self._add_tag(node, leads=leads)
            case _:
                raise _OtherError

    def _add_all(self, nodes: Sequence[FormatNode], *, leads: bool) -> None:
        for inner in nodes:
            self.add(inner, leads=leads)

    def _add_in_order(self, nodes: Sequence[FormatNode], *, leads: bool) -> None:
        frame_count = 0
        ahead: list[str] = []
        for index, node in enumerate(nodes):
            if node.kind == "tags_with_separator" and all(map(_is_call, node.children)):
                before = nodes[index - 1 : index] if index else []
                after = nodes[index + 1 : index + 2]
                if (
                    before
                    and after
                    and all(end_text.kind == "const_string" for end_text in (*before, *after))
                ):
                    begin, end = (_items(end_text[0]) for end_text in (before, after))
                    self._add_section(begin, node, end)
                    continue
            blanks = _blanks_of(node)
            glue = str(nodes[index - 1].fields.get("value", "")) if index else ""
            if blanks is not None and glue.strip():
                self.glue.pop(glue.lstrip())
                self.glue[glue.lstrip() + max(blanks, key=len)] = None
            elif blanks is None:
                self.add(node, leads=leads)
                if len(self.frames) == frame_count:
                    # Blanks ahead of a frame belong to it.
                    self.leading.update(dict.fromkeys(ahead))
                ahead = []
            elif len(self.frames) > frame_count:
                self.frames[-1] = self.frames[-1]._replace(after=max(blanks, key=len))
                frame_count = len(self.frames)
            elif self.forms:
                self.trailing.update(dict.fromkeys(filter(None, blanks)))
            else:
                ahead += filter(None, blanks)

    def _add_const(self, value: str) -> None:
        if value.strip():
            self.glue[value.lstrip()] = None
            lead = value[: len(value) - len(value.lstrip())]
            self.leading.update({lead: None} if lead else {})

    def _add_tag(self, node: FormatNode, *, leads: bool) -> None:
        begin, ends = node.fields["begin"], node.fields["end"]
        if (
            not isinstance(begin, str)
            or not isinstance(ends, tuple)
            or not all(isinstance(inner, str) for inner in ends)
        ):
            raise _OtherError
        content = node.children[0]
        nodes = content.children if content.kind == "sequence" else [content]
        opened, free = _opening(nodes)
        if free and all(map(_is_free, free)):
            begin += opened
            kind = "reasoning" if is_about_thoughts((begin, *ends)) else "text"
            kind = kind if free[0].kind == "any_text" else "text"
            self.frames.append(Frame(begin, tuple(filter(None, ends)), kind, leads=leads))
            if not begin:
                self.initial = len(self.frames) - 1
            return
        section = [index for index, node_ in enumerate(nodes) if _is_section(node_)]
        before: list[Item] = [("text", begin)] if begin else []
        after = [_any_of(ends)] if ends != ("",) else []
        if len(section) == 1:
            (at,) = section
            opening = [*before, *_all_items(nodes[:at])]
            self._add_section(opening, nodes[at], [*_all_items(nodes[at + 1 :]), *after])
            return
        self._add_call(before, nodes, after, None)

    def _add_section(self, begin: list[Item], calls: FormatNode, end: list[Item]) -> None:
        section = Section(_joined(begin), calls.fields["separator"], _joined(end))
        if section not in self.sections:
            self.sections.append(section)
        for tag in calls.children:
            begun, ends = tag.fields["begin"], tag.fields["end"]
            if not isinstance(begun, str) or not isinstance(ends, tuple):
                raise _OtherError
            content = tag.children[0]
            nodes = content.children if content.kind == "sequence" else [content]
            after = [_any_of(ends)] if ends != ("",) else []
            number = self.sections.index(section)
            self._add_call([("text", begun)] if begun else [], nodes, after, number)

    def _add_call(
        self,
        before: list[Item],
        nodes: Sequence[FormatNode],
        after: list[Item],
        section: int | None,
    ) -> None:
        indices = [index for index, node_ in enumerate(nodes) if node_.kind == "json_schema"]
        if len(indices) != 1:
            raise _OtherError
        (at,) = indices
        fields = nodes[at].fields
        before = list(_joined([*before, *_all_items(nodes[:at])]))
        after = [*_all_items(nodes[at + 1 :]), *after]
        style, words = fields.get("style", "json"), fields["words"] or "json"
        name = fields["tool"]
        head, middle, written = _around_name(before, name, is_whole=style == "call")
        form = CallForm(head, middle, _joined(after), style, words, (), written is not None,
                    None if written else name or _guessed(before), section)  # fmt: skip
        tools = self.forms.setdefault(form, {})
        if written and written != NAME:
            tools[written] = None
        if (written or form.name) not in (None, NAME):
            self.schemas.setdefault(str(written or form.name), fields["json_schema"])


def _is_call(node: FormatNode) -> bool:
    if node.kind != "tag":
        return False
    content = node.children[0]
    nodes = content.children if content.kind == "sequence" else [content]
    return any(inner.kind == "json_schema" for inner in nodes)


def _is_free(node: FormatNode) -> bool:
    return node.kind in ("any_text", "regex") and node.fields["tool"] is None


def _opening(nodes: Sequence[FormatNode]) -> tuple[str, Sequence[FormatNode]]:
    """Return the text that leads some formats, the longest that may, and the formats after it."""
    opened = ""
    for index, node in enumerate(nodes):
        ways = node.children if node.kind == "or" else [node]
        if any(way.kind != "const_string" for way in ways):
            return opened, nodes[index:]
        opened += max((way.fields["value"] for way in ways), key=len)
    return opened, ()


def _is_section(node: FormatNode) -> bool:
    return node.kind == "tags_with_separator" and all(map(_is_call, node.children))


def _blanks_of(node: FormatNode) -> list[str] | None:
    """Return the blanks one of which a format is, None where it is another."""
    nodes = node.children if node.kind in ("or", "optional") else [node]
    if any(blank.kind != "const_string" or blank.fields["value"].strip() for blank in nodes):
        return None
    return [blank.fields["value"] for blank in nodes]


def _all_items(nodes: Iterable[FormatNode]) -> list[Item]:
    return [item for node in nodes for item in _items(node)]


def _items(node: FormatNode) -> list[Item]:
    """Return the items of a format within a call: texts, and patterns."""
    match node.kind:
        case "const_string":
            return [("text", node.fields["value"])] if node.fields["value"] else []
        case "regex" if node.fields["tool"] is None:
            # Patterns of tags may have ``\u{...}``, which Python's have not.
            pattern = _CODE.sub(_as_python, node.fields["pattern"])
            return [] if _is_blank(pattern) else [("any", pattern)]
        case "sequence":
            return _all_items(node.children)
        case "optional":
            return [("any", f"(?:{pattern_of(_all_items(node.children))})?")]
        case "or":
            ways = [pattern_of(_items(inner)) for inner in node.children]
            return [("any", f"(?:{'|'.join(ways)})")]
        case _:
            raise _OtherError


_CODE = re.compile(r"\\u\{([0-9a-fA-F]{1,6})\}")


def _as_python(match: re.Match[str]) -> str:
    return f"\\U{int(match[1], 16):08x}"


def _is_blank(pattern: str) -> bool:
    """Return whether a pattern matches blanks, or nothing, and hardly anything else."""
    try:
        pattern_ = re.compile(pattern, re.DOTALL)
    except re.error:
        raise _OtherError from None
    is_blank = pattern_.fullmatch("") and (pattern_.fullmatch(" ") or pattern_.fullmatch("\n"))
    return bool(is_blank) and not any(map(pattern_.fullmatch, "a0_<[{(\"'|.,:;-"))


def _any_of(ends: Sequence[str]) -> Item:
    if len(ends) == 1:
        return ("text", ends[0])
    return ("any", f"(?:{'|'.join(map(loosely, ends))})")


def _joined(items: Iterable[Item]) -> tuple[Item, ...]:
    """Return items with neighbouring texts as one, and without empty ones."""
    result: list[Item] = []
    for kind, text in items:
        if kind == "text" and result and result[-1][0] == "text":
            result[-1] = ("text", result[-1][1] + text)
        elif text:
            result.append((kind, text))
    return tuple(result)


def _around_name(
    before: Sequence[Item], name: str | None, *, is_whole: bool
) -> tuple[tuple[Item, ...], tuple[Item, ...], str | None]:
    """Return the items before the name and after it, and the name as it is to be read.

    The name is None where the text does not contain it.
    """
    if is_whole:
        return tuple(before), (), name
    wanted = name or _guessed(before)
    if wanted:
        for spelled in dict.fromkeys((json.dumps(wanted, ensure_ascii=False)[1:-1], wanted)):
            # From the end: the texts ahead of a name may contain it, as ``<function=`` contains
            # ``fun``.
            for index in reversed(range(len(before))):
                kind, text = before[index]
                at = text.rfind(spelled) if kind == "text" else -1
                if at >= 0:
                    head = _joined([*before[:index], ("text", text[:at])])
                    rest = ("text", text[at + len(spelled) :])
                    return head, _joined([rest, *before[index + 1 :]]), wanted
    return tuple(before), (), None


def _guessed(before: Sequence[Item]) -> str | None:
    return tool_name("".join(text if kind == "text" else "0" for kind, text in before))


# Words

BLANKS = r"\s{0,256}"
"""Blanks between words: more than models write, so that a text of blanks is not a call."""

_WORD = re.compile(r"\]?<[^<>\s]*>?(?:\[(?=<))?|\[/?[A-Z_]+\]|[^\s<\[\]{}]+|[\[\]{}]")


def words_of(text: str) -> list[str]:
    """Return the words of a text: markers, and runs of characters between blanks and markers."""
    return _WORD.findall(text)


def is_marker(word: str) -> bool:
    """Return whether a word is a marker, or the beginning of one."""
    return word.startswith(("<", "]<")) or (len(word) > 2 and word[0] == "[" and word[-1] == "]")


def loosely(text: str) -> str:
    """Return the pattern of a text with free blanks between its words."""
    return BLANKS.join(map(re.escape, words_of(text)))


def pattern_of(items: Iterable[Item]) -> str:
    """Return the pattern of texts and patterns, with free blanks between them."""
    return BLANKS.join(loosely(text) if kind == "text" else f"(?:{text})" for kind, text in items)


# Tools

_OF_READERS = Options()


def shapes_in(language: CallLanguage, name: str, style: str) -> tuple[Shape, ...]:
    """Return the shapes of a tool's arguments in a style, none where the schema is unusable."""
    schema = language.tools.get(name)
    if style in ("json", "call") or not isinstance(schema, dict):
        return ()
    try:
        return shapes_of(schema, style, _OF_READERS)
    except (KbnfError, ArithmeticError, LookupError, TypeError, ValueError, AttributeError):
        return ()


# Languages as text


def dumped(language: CallLanguage) -> dict[str, Any]:
    """Return a language as values of JSON."""
    return {
        **language._asdict(),
        "forms": [form._asdict() for form in language.forms],
        "sections": [value_._asdict() for value_ in language.sections],
        "frames": [frame._asdict() for frame in language.frames],
    }


def loaded(value: Mapping[str, Any]) -> CallLanguage:
    """Return the language that such values are. Raises ``TypeError`` or ``KeyError``."""

    def items(value_: Any) -> tuple[Item, ...]:
        return tuple((str(kind), str(text)) for kind, text in value_)

    forms = [
        CallForm(**{**value_, **{key: items(value_[key]) for key in ("head", "middle", "tail")},
                "tools": tuple(value_["tools"])})
        for value_ in value["forms"]
    ]  # fmt: skip
    sections = [
        Section(items(value_["begin"]), value_["separator"], items(value_["end"]))
        for value_ in value["sections"]
    ]
    frames = [Frame(**{**value_, "ends": tuple(value_["ends"])}) for value_ in value["frames"]]
    lists = ("glue", "leading", "trailing", "ends", "excluded")
    texts = {key: tuple(value[key]) for key in lists}
    return CallLanguage(
        tuple(forms), tuple(sections), tuple(frames), **texts, initial=value["initial"],
        turns=value["turns"], tools=dict(value["tools"]),
    )  # fmt: skip
