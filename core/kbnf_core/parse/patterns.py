"""A reading language as patterns: where frames, sections and calls begin and end.

``compiled`` makes them for all tools at once, and keeps those of the last formats. A call that is
written as a JSON object has a pattern up to the object only: its members are read one by one, by
the names that lead to the name and the arguments (``CallPatterns.name_path``). All patterns are
matched with ``partial`` of the package ``regex``, so that a reader knows where more text may
decide.

Tests: tests/unit/parse/test_messages.py.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from kbnf_core.languages.structural_tag.arguments import OF_BRACKETS, Manner
from kbnf_core.languages.structural_tag.nested import NOTATIONS
from kbnf_core.languages.structural_tag.reading import (
    BLANKS,
    CallForm,
    CallLanguage,
    Frame,
    Item,
    Section,
    is_marker,
    loosely,
    words_of,
)

if TYPE_CHECKING:
    import regex

ALIASES = ("arguments", "parameters")
"""Names of the member of a call that has the arguments."""


@dataclass(frozen=True, slots=True)
class CallPatterns:
    """A form of calls in patterns: ``head`` leads to the arguments, or to the object of a call.

    ``spelled`` and ``closed`` are the texts ahead of the arguments, with a zero for the name, and
    after them, None where they have patterns.
    """

    form: CallForm
    head: "regex.Pattern[str]"
    tail: tuple[tuple["regex.Pattern[str]", str], ...]
    behind: str
    spelled: str | None
    closed: str | None
    first: str
    manner: Manner
    name_path: tuple[str, ...] = ()
    arguments_path: tuple[str, ...] = ()

    @property
    def is_object(self) -> bool:
        """Whether a call is an object of JSON."""
        return bool(self.name_path)


@dataclass(frozen=True, slots=True)
class SectionPatterns:
    """A section in patterns: its beginning, its end, and its forms with the words before them."""

    begin: "regex.Pattern[str]"
    end: "regex.Pattern[str]"
    nexts: "tuple[tuple[regex.Pattern[str], CallPatterns], ...]"
    again: "regex.Pattern[str]"
    forms: tuple[CallPatterns, ...]
    is_bare: bool


@dataclass(frozen=True, slots=True)
class Start:
    """A possible beginning at an offset: a frame, a section, a form of calls, or glue (``item``).

    ``first`` is the pattern of its first word. ``missing`` are the required words before it that
    are absent; one that ``leads`` is allowed at the beginning of a turn only, one that is ``bare``
    has no marker, and what ``ends`` a turn is glue at the end of a text only. ``behind`` are blanks
    after it that do not belong to the content.
    """

    pattern: "regex.Pattern[str]"
    item: "Frame | SectionPatterns | CallPatterns | None"
    first: str
    missing: str = ""
    leads: bool = False
    is_bare: bool = False
    behind: str = ""
    ends: bool = False


@dataclass(frozen=True, slots=True)
class Patterns:
    """The patterns of a language, for any tools."""

    starts: tuple[Start, ...]
    first: "regex.Pattern[str]"
    following: "regex.Pattern[str]"
    ends: dict[Frame, "regex.Pattern[str]"] = field(default_factory=dict)


@lru_cache(maxsize=64)
def compiled(
    forms: tuple[CallForm, ...],
    sections: tuple[Section, ...],
    frames: tuple[Frame, ...],
    glue: tuple[str, ...],
    turn_ends: tuple[str, ...],
    excluded: tuple[str, ...],
) -> Patterns:
    """Return the patterns of a language."""
    import regex

    made = [_form(form, sections) for form in forms]
    starts = [
        Start(regex.compile(loosely(frame.begin)), frame, _first(frame.begin), leads=frame.leads)
        for frame in frames
        if frame.begin
    ]
    ends = {end.strip() for frame in frames for end in frame.ends}
    stray = [end for end in sorted(ends) if end in excluded or not forms or not excluded]
    loose = [*glue, *(stray if excluded else _closers(frames))]
    starts += [
        Start(regex.compile(loosely(text)), None, _first(text), behind=blanks_behind(text))
        for text in dict.fromkeys(loose)
    ]
    for number, section in enumerate(sections):
        inside = tuple(
            call_patterns for call_patterns in made if call_patterns.form.section == number
        )
        starts.append(_section(section, inside))
    for call_patterns in made:
        starts += _starts_of(call_patterns)
    # A turn has more than one end where a server adds its own.
    over = "|".join(map(re.escape, turn_ends))
    over = rf"(?:(?:{over})\s{{0,256}}){{1,4}}"
    starts += [
        Start(regex.compile(over), None, _first(turn_end), ends=True) for turn_end in turn_ends
    ]
    return Patterns(
        tuple(starts),
        regex.compile("|".join({start.first: 0 for start in starts if not start.leads}) or r"(?!)"),
        regex.compile("|".join(dict.fromkeys(_following(starts, made, sections))) or r"(?!)"),
        {frame: _ends_of(frame) for frame in frames},
    )


def may_begin(language: CallLanguage, text: str) -> bool:
    """Return whether a text contains a possible beginning of a call."""
    patterns = compiled(*language.of_any_tools)
    return any(
        re.search(start.first if not start.is_bare else start.pattern.pattern, text)
        for start in patterns.starts
        if isinstance(start.item, SectionPatterns | CallPatterns)
    )


def _closers(frames: Sequence[Frame]) -> Iterator[str]:
    """Yield the ends of frames of text, which are not content where they occur alone."""
    for frame in frames:
        if frame.kind == "text" or not frame.leads:
            yield from (end.strip() for end in frame.ends)


def _ends_of(frame: Frame) -> "regex.Pattern[str]":
    import regex

    ways = []
    for end in frame.ends:
        lead = end[: len(end) - len(end.lstrip())]
        ways.append((f"(?:{re.escape(lead)})?" if lead else "") + loosely(end))
    return regex.compile("|".join(ways) or "(?!)")


def blanks_behind(text: str) -> str:
    """Return the blanks that a text ends with."""
    return text[len(text.rstrip()) :]


def _first(text: str) -> str:
    return re.escape(words_of(text)[0])


def _following(
    starts: Iterable[Start], forms: Iterable[CallPatterns], sections: Iterable[Section]
) -> Iterator[str]:
    """Yield the patterns of the words after a call whose closing words are missing."""
    for start in starts:
        if not start.is_bare:
            yield start.first
    for section in sections:
        words = _words(section.end)
        yield from (pattern for pattern, word in words[:1] if word)
    for form in forms:
        yield from (re.escape(word) for _, word in form.tail if is_marker(word))


def _words(items: Iterable[Item]) -> list[tuple[str, str]]:
    """Return the patterns of words, each with its text, empty for what a pattern matches."""
    result: list[tuple[str, str]] = []
    for kind, text in items:
        if kind == "any":
            result.append((f"(?:{text})", ""))
        else:
            result += [(re.escape(word), word) for word in words_of(text)]
    return result


def _form(form: CallForm, sections: Sequence[Section]) -> CallPatterns:
    import regex

    name_path, arguments_path, head, tail = _object_of(form)
    text = "".join(word for _, word in form.tail)
    spelled = None
    if all(kind == "text" for kind, _ in (*form.head, *form.middle)):
        spelled = "".join(f"{word}" for _, word in form.head) + "\0"
        spelled += "".join(word for _, word in form.middle)
    return CallPatterns(
        form,
        regex.compile(_head_pattern(form, _words(head), is_object=bool(name_path))),
        tuple((regex.compile(f"{BLANKS}{pattern}"), word) for pattern, word in _words(tail)),
        blanks_behind(text),
        spelled,
        "".join(word for _, word in tail) if all(kind == "text" for kind, _ in tail) else None,
        "".join(pattern for pattern, word in _words(head)[:1] if is_marker(word)),
        _manner(form, sections),
        name_path,
        arguments_path,
    )


def _manner(form: CallForm, sections: Sequence[Section]) -> Manner:
    """Return how the arguments of a form are written."""
    if form.style in OF_BRACKETS:
        return Manner(form.style, form.words)
    around = () if form.section is None else _words(sections[form.section].end)[:1]
    ends = _end_in("".join(spelling for _, spelling in form.tail))
    word = "".join(word for _, word in around)
    return Manner(form.style, form.words, ends, word, form.is_verbatim)


def _end_in(tail: str) -> tuple[str, ...]:
    """Return the ends of the elements of a call whose last end is missing."""
    first = re.match(r"\s*([^\s<]*<[^\s<>]*>|\S+)", tail)
    return () if first is None else (first[1],)


_AT_NAME, _AT_ARGUMENTS = "\0name", "\0arguments"


def _object_of(
    form: CallForm,
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[Item, ...], tuple[Item, ...]]:
    """Return the members for name and arguments in the object of a call, and the rest around them.

    The members are empty where a call is not an object.
    """
    if form.style == "call":
        return ("name",), ("arguments",), form.head, form.tail
    text = "".join(word for kind, word in form.head if kind == "text")
    if not form.is_named or "{" not in text or not text.rstrip().endswith('"'):
        return (), (), form.head, form.tail
    begin = text.index("{")
    written = [text[begin:], _AT_NAME[1:], *(t for k, t in form.middle if k == "text")]
    written.append(json.dumps(_AT_ARGUMENTS))
    whole = "".join([*written, *(t for k, t in form.tail if k == "text")])
    try:
        value, end = json.JSONDecoder().raw_decode(whole)
    except ValueError:
        return (), (), form.head, form.tail
    name = _path_to(value, _AT_NAME[1:])
    arguments = _path_to(value, _AT_ARGUMENTS)
    if name is None or arguments is None:
        return (), (), form.head, form.tail
    head = (("text", text[:begin]),) if text[:begin].strip() else ()
    rest = whole[end:]
    return name, arguments, head, (("text", rest),) if rest.strip() else ()


def _path_to(value: Any, wanted: str) -> tuple[str, ...] | None:
    """Return the names that lead to a text in objects."""
    pending: list[tuple[Any, tuple[str, ...]]] = [(value, ())]
    for node, path in pending:
        if node == wanted:
            return path
        if isinstance(node, dict):
            pending += [(inner, (*path, name)) for name, inner in node.items()]
    return None


_NAME = r"(?P<name>[^\s<>{}()\[\]\"'|,;`]{1,256}?)"
_ANY_JSON = r"(?=[{\[\"\-0-9tfnTFN])"


def _optional_plain(words: Sequence[tuple[str, str]]) -> list[str]:
    """Return patterns of words; a plain one after a marker may be missing."""
    result = []
    for index, (pattern, word) in enumerate(words):
        before = words[index - 1][1] if index else ""
        is_free = word and not is_marker(word) and before.endswith((">", "]"))
        result.append(f"(?:{pattern}{BLANKS})?" if is_free else f"{pattern}{BLANKS}")
    return result


def _head_pattern(form: CallForm, opening: Sequence[tuple[str, str]], *, is_object: bool) -> str:
    """Return the pattern of the text before the arguments of a call, or before its object."""
    words = "".join(_optional_plain(opening))
    if is_object:
        return rf"{words}(?=\{{)"
    if not form.is_named:
        return words
    middle = _words(form.middle)
    full = "".join(f"{BLANKS}{pattern}" for pattern, _ in middle)
    if form.style in NOTATIONS:
        bracket = re.escape(NOTATIONS[form.style].brackets[0])
        return rf"{words}{_NAME}{full}{BLANKS}(?={bracket})"
    if form.style != "json":
        if not middle:
            return rf"{words}{_NAME}{full}(?=[\s<])"
        if middle[-1][1].endswith(">") and form.style != "kimi_k3_xml":
            inner = middle[-1][1][:-1]
            full = "".join(f"{BLANKS}{pattern}" for pattern, _ in middle[:-1])
            full += rf"{BLANKS}{re.escape(inner)}\s?(?P<closed>/)?>"
        return f"{words}{_NAME}{full}"
    some = "".join(f"(?:{BLANKS}{pattern})?" for pattern, _ in middle)
    arguments = _ANY_JSON if middle else r"(?=[{\[\"])"
    return rf"{words}{_NAME}(?:{full}{BLANKS}{arguments}|{some}{BLANKS}(?=\{{))"


def _section(section: Section, forms: tuple[CallPatterns, ...]) -> Start:
    import regex

    words = _words(section.begin)
    is_bare = not any(is_marker(word) for _, word in words)
    is_list = len(words) > 1 and words[-1][1] == "["
    opening = words[:-1] if is_list else words
    begin = BLANKS.join(pattern for pattern, _ in opening)
    if is_list:
        # One call may be without the brackets of a list.
        begin += rf"{BLANKS}(?:\[|(?=[^\s\[]))"
    closing = _words(section.end)
    end = "".join(f"{BLANKS}{pattern}" for pattern, _ in closing)
    if len(closing) > 1 and closing[0][1] == "]":
        end = f"(?:{BLANKS}\\])?" + "".join(f"{BLANKS}{pattern}" for pattern, _ in closing[1:])
    separator = _words([("text", section.separator)])
    gap = BLANKS + "".join(f"(?:{pattern}{BLANKS})?" for pattern, _ in separator)
    nexts = tuple(
        (regex.compile(f"(?P<gap>{gap})(?:{patterns.head.pattern})"), patterns)
        for patterns in forms
    )
    firsts = {patterns.first for patterns in forms if patterns.first}
    again = regex.compile("|".join([*firsts, *(p for p, _ in closing[:1])]) or "(?!)")
    made = SectionPatterns(
        regex.compile(begin), regex.compile(end or "(?!)"), nexts, again, forms, is_bare
    )
    looks = begin
    if is_bare:
        looks += "(?=" + "|".join(patterns.head.pattern for patterns in forms) + ")"
    return Start(regex.compile(looks), made, words[0][0], is_bare=is_bare)


def _starts_of(made: CallPatterns) -> Iterator[Start]:
    """Yield how a call may begin: with all its words, or with those from a later marker on."""
    import regex

    _, _, items, tail = _object_of(made.form)
    words = _words(items)
    is_closed = any(is_marker(word) for _, word in _words(tail))
    if any(is_marker(word) for _, word in words) or (words and made.form.section is None):
        yield Start(made.head, made, words[0][0], leads=words[0][1][:1].isalpha())
    for index in range(1, len(words)):
        if is_closed and is_marker(words[index][1]):
            pattern = _head_pattern(made.form, words[index:], is_object=made.is_object)
            missing = " ".join(word for _, word in words[:index])
            yield Start(regex.compile(pattern), made, words[index][0], missing)
    if not made.is_object:
        return
    key = "|".join({*map(re.escape, (*made.name_path, *ALIASES)), "type", "id"})
    begun = regex.compile(rf"(?=\{{\s{{0,256}}\"(?:{key})\"\s{{0,256}}:)")
    if words and is_closed:
        missing = " ".join(word for _, word in words)
        yield Start(begun, made, r"\{", missing, is_bare=True)
    if not words and made.form.section is None:
        exact = "".join(text for _, text in made.form.head)
        after = "".join(text for _, text in made.form.middle)
        spelled = regex.compile(f"(?={re.escape(exact)}{_NAME}{re.escape(after)})")
        yield Start(spelled, made, r"\{", is_bare=True)
        yield Start(begun, made, r"\{", leads=True, is_bare=True)


def begins_marked(text: str) -> bool:
    """Return whether the beginning of a call has a whole marker."""
    return any(is_marker(word) and word.endswith((">", "]")) for word in words_of(text))
