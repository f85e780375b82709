"""Reading the output of models: content, thoughts and calls, by the reading language of a format.

A reader goes through a text once, as it comes. Outside of calls it looks for the first word of
whatever the language has: a frame, a section, a call. The text before it is content, and so is any
word that turns out not to be one. A call is *tried*: its text is kept, and given back as content
where it breaks, but for its first character, after which reading goes on; so a call that is quoted
or broken hides none that follows. Such trials have a budget in proportion to the text
(``RETRIED``), beyond which a broken call is content as a whole: reading is linear.

Certain events are reported at once. The name of a call and the arguments so far are given out when
the tool is one of the request's and the text before the call is complete; if such a call then
breaks or is cut, it is closed by ``cut``. All else that depends on the following text is withheld:
a call whose opening was forgotten, and one of an unknown tool, which is content up to its own end.
A call that the text ends in is neither a call nor content; ``cut`` says where it is.

Every decision depends on the text up to a place, never on the pieces that it comes in.

Tests: tests/unit/parse/test_messages.py, tests/property/test_tool_values.py.
"""

import json
from codecs import getincrementaldecoder
from collections.abc import Generator, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from kbnf_core.languages.structural_tag.arguments import OF_BRACKETS, reading_of
from kbnf_core.languages.structural_tag.pieces import (
    BrokenError,
    Chunks,
    CutError,
    Reading,
    Tolerated,
    read_arguments,
    read_json,
)
from kbnf_core.languages.structural_tag.reading import (
    CallLanguage,
    Frame,
    is_marker,
    shapes_in,
    words_of,
)
from kbnf_core.languages.structural_tag.validity import misfit, validator_of, value_of
from kbnf_core.parse.calls import Delta, MessageText, OpenCall
from kbnf_core.parse.follow import bytes_of
from kbnf_core.parse.patterns import (
    ALIASES,
    CallPatterns,
    SectionPatterns,
    Start,
    begins_marked,
    blanks_behind,
    compiled,
)
from kbnf_core.text.locks import cached_property
from kbnf_core.vocab.vocabulary import Vocabulary

if TYPE_CHECKING:
    import regex

    from kbnf_core.kbnf.parsed import Shape

RETRIED = 16
"""How often a character may be read again after a call that broke, on average; and at least
``RETRIED_AT_LEAST`` characters."""

RETRIED_AT_LEAST = 100_000

MOST_NOISE = 1_000
"""Characters between the beginning of a section and its first call, or between two calls, that are
left out where a call follows them."""

_BLANK = " \t\n\r"


# Reading


def _dropped(text: str) -> None:
    """Drop text that does not belong to a call."""


class MessageReader:
    """Reads one text in chunks; ``value`` is the list of its certain parts.

    Free text is a string, reasoning ``{"reasoning": text}``, and a call ``{"name", "arguments"}``;
    arguments are None until some of them are certain. Where a call does not fit the schema of its
    tool, it has ``valid``, which is false, and ``pointer``, that of the first value that does not.
    With ``any_name`` calls of unknown tools are calls. ``cut`` is the offset of a call that the
    text ends in, None for none, and ``tolerated`` the deviations that were accepted.
    """

    def __init__(
        self,
        language: CallLanguage,
        vocabulary: Vocabulary | None = None,
        *,
        any_name: bool = False,
    ) -> None:
        self._language, self._vocabulary, self._any_name = language, vocabulary, any_name
        self._compiled = compiled(*language.of_any_tools)
        # Bytes that are not UTF-8 stay in the content, as halves of surrogate pairs.
        self._decoder = getincrementaldecoder("utf-8")("surrogateescape")
        self._source = Chunks()
        self._items: list[MessageText | OpenCall] = []
        self._deltas: list[Delta] = []
        self._calls = 0
        self._retried = 0
        self._leads = True
        self._validators: dict[str, Any] = {}
        self._shapes: dict[tuple[str, str], tuple[Shape, ...]] = {}
        self._is_behind_call = False
        # Calls of a section without markers, which are calls once it is over.
        self._waiting: list[tuple[OpenCall, Any]] | None = None
        self.count = 0
        self.cut: int | None = None
        self.tolerated = self._source.tolerated
        self._is_over = False
        self._running = self._run()

    # The interface of readers

    def feed(self, chunk: str | bytes | int) -> None:
        """Read the next piece: text, bytes, or a token."""
        if not isinstance(chunk, str):
            marker = self._marker_of(chunk) if isinstance(chunk, int) else None
            data = bytes_of(chunk, self._vocabulary) if marker is None else marker.encode()
            chunk = self._decoder.decode(data)
        self._source.add(chunk)
        # Reading stops where it needs more text, and goes on from there.
        next(self._running, None)

    def _marker_of(self, token: int) -> str | None:
        """Return the text of a special token that is a marker of the format, None for another."""
        if self._vocabulary is None or token not in self._vocabulary.special_ids:
            return None
        name = self._vocabulary.token_string(token)
        return name if name and any(name in text for text in self._texts) else None

    @cached_property
    def _texts(self) -> list[str]:
        return [*self._language.texts()]

    def finish(self) -> None:
        """Say that the text is over."""
        if not self._is_over:
            self._is_over = True
            self._source.add(self._decoder.decode(b"", True))
            self._source.is_over = True
            for _ in self._running:
                raise AssertionError("a text that is over is read to its end")

    def read(self, accepted: Iterable[int | bytes], *, is_over: bool) -> list[Any]:
        """Read the text accepted since the last call; return the value."""
        for chunk in accepted:
            self.count += 1
            self.feed(chunk)
        if is_over:
            self.finish()
        return self.value

    @property
    def value(self) -> list[Any]:
        """The parts so far."""
        return [item.value for item in self._items]

    def deltas(self) -> list[Delta]:
        """Return the new content since the last call, in the order of the text."""
        made: list[tuple[str, list[str], int | None]] = []
        for kind, text, call in self._deltas:
            if (
                made
                and kind in ("text", "reasoning", "arguments")
                and made[-1][::2] == (kind, call)
            ):
                made[-1][1].append(text)
            else:
                made.append((kind, [text], call))
        self._deltas = []
        return [Delta(kind, "".join(texts), call) for kind, texts, call in made]

    # Content

    def _say(self, kind: str, text: str) -> None:
        if not text:
            return
        last = self._items[-1] if self._items else None
        if not isinstance(last, MessageText) or last.kind != kind:
            last = MessageText(kind)
            self._items.append(last)
        last.texts.append(text)
        self._deltas.append(Delta(kind, text))

    def _run(self) -> Reading:
        language, source = self._language, self._source
        if language.initial is not None:
            yield from self._frame(language.frames[language.initial])
        yield from self._skip(language.leading)
        while not source.is_over or source.at < len(source.text):
            if self._leads:
                yield from self._at_beginning()
            else:
                yield from self._in_text()

    def _in_text(self) -> Reading:
        """Report the content up to the next possible beginning, and read on from there."""
        source = self._source
        match = self._compiled.first.search(source.text, source.at, partial=not source.is_over)
        if match is None:
            self._say("text", source.take(len(source.text)))
        else:
            # A partial match may become a word of the language: it is withheld until more text
            # decides.
            self._say("text", source.take(match.start()))
            if not match.partial:
                yield from self._begin("")
                return
        if not source.is_over:
            yield

    def _at_beginning(self) -> Reading:
        """Read the beginning of a text: blanks before a frame are not content."""
        source = self._source
        blanks: list[str] = []
        while True:
            end = source.at
            while end < len(source.text) and source.text[end] in _BLANK:
                end += 1
            blanks.append(source.take(end))
            if source.at < len(source.text):
                break
            if source.is_over:
                self._say("text", "".join(blanks))
                return
            yield
        yield from self._begin("".join(blanks))

    def _skip(self, blanks: Sequence[str]) -> Reading:
        """Skip blanks that are not content: the longest beginning of some texts."""
        source = self._source
        # The shorter texts of the language are beginnings of the longest.
        for char in max(blanks, key=len, default=""):
            while source.at >= len(source.text):
                if source.is_over:
                    return
                yield
            if source.text[source.at] != char:
                return
            source.take(source.at + 1)

    def _frame(self, frame: Frame) -> Reading:
        """Read the text of a frame, up to its end."""
        source = self._source
        yield from self._skip([blanks_behind(frame.begin)])
        ends = self._compiled.ends[frame]
        while True:
            match = ends.search(source.text, source.at, partial=not source.is_over)
            stop = len(source.text) if match is None else match.start()
            self._say(frame.kind, source.take(stop))
            if match is not None and not match.partial:
                source.take(match.end())
                yield from self._skip([frame.after])
                return
            if source.is_over:
                return
            yield

    # Beginnings

    def _begin(self, blanks: str) -> Reading:
        """Read the item that begins at the next offset, after blanks; content if there is none."""
        source = self._source
        start = yield from self._start()
        if start is None:
            self._say("text", blanks)
            self._is_behind_call = False
            is_cut = source.is_over and self._is_cut_at_opening()
            if is_cut:
                self.cut = source.consumed
                source.take(len(source.text))
            # One character only: the next one may begin an item.
            else:
                self._say("text", source.take(source.at + 1))
            self._leads = False
            return
        match = start.pattern.match(source.text, source.at)
        assert match is not None  # noqa: S101 - it was found to match
        patterns = start.item
        if start.ends:
            yield from self._end_of_turn(start, blanks)
            return
        if isinstance(patterns, Frame) or patterns is None:
            source.take(match.end())
            if isinstance(patterns, Frame):
                yield from self._frame(patterns)
            else:
                yield from self._skip([start.behind])
            # After glue a turn may begin, and with it a call without a marker.
            self._leads = self._leads or self._language.turns
            return
        has_blanks = (
            isinstance(patterns, CallPatterns)
            and patterns.form.head[:1]
            and patterns.form.head[0][1][0] in _BLANK
        )
        # Blanks are content unless they separate calls or belong to the opening of this one.
        if not (self._language.turns and (self._is_behind_call or has_blanks)):
            self._say("text", blanks)
        self._is_behind_call = False
        if isinstance(patterns, SectionPatterns) and patterns.is_bare:
            yield from self._bare_section(patterns, match.end())
        elif isinstance(patterns, SectionPatterns):
            yield from self._section(patterns, match.end())
        else:
            yield from self._trial(patterns, start.pattern, start)

    def _end_of_turn(self, start: Start, blanks: str) -> Reading:
        """Read the end of a turn, which is content where more text follows."""
        source = self._source
        self._say("text", blanks)
        self._leads = False
        while True:
            rest = start.pattern.fullmatch(source.text, source.at, partial=not source.is_over)
            if rest is None:
                self._say("text", source.take(source.at + 1))
                return
            if source.is_over:
                source.take(len(source.text))
                return
            yield

    def _start(self) -> Generator[None, None, Start | None]:
        """Return the item that begins at the next offset, as soon as that is certain."""
        source = self._source
        while True:
            for start in self._compiled.starts:
                if start.leads and not self._leads:
                    continue
                match = start.pattern.match(source.text, source.at, partial=not source.is_over)
                if match is None:
                    continue
                # The order decides: a later item must not win while this one may match.
                if match.partial:
                    break
                return start
            else:
                return None
            yield

    def _is_cut_at_opening(self) -> bool:
        """Return whether a text ends in a possible call of which a marker is complete."""
        source = self._source
        for start in self._compiled.starts:
            if start.item is None or isinstance(start.item, Frame) or start.is_bare:
                continue
            match = start.pattern.match(source.text, source.at, partial=True)
            if match is not None and match.partial and begins_marked(source.text[source.at :]):
                return True
        return False

    # Calls

    def _section(self, section: SectionPatterns, end: int) -> Reading:
        """Read the calls of a section; without any it is content, unless it is empty."""
        source = self._source
        begin, noted = source.consumed, len(self.tolerated)
        # Up to its first call its text may have to be given back.
        source.kept = []
        source.take(end)
        noise: list[str] = []
        try:
            yield from self._calls_of(section, noise)
        except CutError:
            source.take(len(source.text))
            self.cut = begin if self.cut is None else self.cut
        except BrokenError:
            if source.kept is not None:
                text = "".join(source.kept)
                source.kept = None
                self._undo(text, noted)
            else:
                self._say("text", "".join(noise))
            self._leads = False
        source.kept = None

    def _bare_section(self, section: SectionPatterns, end: int) -> Reading:
        """Read calls that no marker begins, which are calls of known tools as a whole only."""
        source = self._source
        # Deltas cannot be taken back, so calls wait until the whole section was read.
        source.kept, self._waiting = [], []
        noted = len(self.tolerated)
        source.take(end)
        try:
            yield from self._calls_of(section, [])
        except (BrokenError, CutError):
            text = "".join(source.kept)
            source.kept = self._waiting = None
            self._undo(text, noted)
            return
        waiting, source.kept, self._waiting = self._waiting, None, None
        for call, value in waiting:
            self._finish(call, value)

    def _calls_of(self, section: SectionPatterns, noise: list[str]) -> Reading:
        """Read calls up to the end of a section, or to text that does not belong to it.

        ``noise`` matches text between calls. Raises ``BrokenError`` where it is more than may be
        left out, or ends the text.
        """
        source = self._source
        count = 0
        while True:
            closed = yield from source.matching(section.end)
            if closed is not None:
                if noise:
                    raise BrokenError
                source.take(closed.end())
                return
            form_and_start = yield from self._gap(section)
            if form_and_start is not None:
                form, at = form_and_start
                if noise:
                    size = sum(map(len, noise))
                    self._note("text between calls", source.consumed - size, source.consumed)
                    noise.clear()
                source.take(at)
                if not (yield from self._trial(form, form.head, None)):
                    return
                count += 1
                # A call was given out, so the text up to here is not content any more.
                if self._waiting is None:
                    source.kept = None
                continue
            if source.is_over and self._ends(section, count, noise):
                return
            yield from self._noise(section, noise)

    def _ends(self, section: SectionPatterns, count: int, noise: list[str]) -> bool:
        """Return whether a text that is over ends within the end of a section, after calls.

        Raises ``CutError`` where it has no call, ``BrokenError`` where it has no end.
        """
        source = self._source
        if not source.is_blank:
            match = section.end.match(source.text, source.at, partial=True)
            if not count or noise or match is None or not match.partial:
                return False
            self._note("the end of the calls is cut", source.consumed, source.consumed)
            source.take(len(source.text))
            return True
        if noise or count:
            self._note("the end of the calls is missing", source.consumed, source.consumed)
            raise BrokenError
        raise CutError

    def _noise(self, section: SectionPatterns, noise: list[str]) -> Reading:
        """Skip text that does not belong to a section, up to its next possible item."""
        source = self._source
        # Without markers there is no evidence of calls but their exact form.
        if section.is_bare:
            raise BrokenError
        # No item begins at the first character, or its text would have been read as one.
        at = source.at + 1
        while True:
            match = section.again.search(source.text, at, partial=not source.is_over)
            stop = len(source.text) if match is None else match.start()
            noise.append(source.take(stop))
            if sum(map(len, noise)) > MOST_NOISE:
                raise BrokenError
            if match is not None and not match.partial:
                return
            if source.is_over:
                raise BrokenError
            yield
            at = source.at

    def _gap(
        self, section: SectionPatterns
    ) -> Generator[None, None, tuple[CallPatterns, int] | None]:
        """Return the form of the next call of a section and where it begins, None for none."""
        source = self._source
        while True:
            is_open = False
            for pattern, form in section.nexts:
                match = pattern.match(source.text, source.at, partial=not source.is_over)
                if match is not None and not match.partial:
                    return form, match.end("gap")
                is_open = is_open or match is not None
            if not is_open:
                return None
            yield

    def _trial(
        self, form: CallPatterns, opening: "regex.Pattern[str]", start: Start | None
    ) -> Generator[None, None, bool]:
        """Read a call, or give its text back; return whether it was one, or text as a whole."""
        source = self._source
        begin = source.consumed
        noted = len(self.tolerated)
        outer, source.kept = source.kept, []
        call = OpenCall()
        is_loose = start is not None and start.is_bare and start.leads
        # Deltas cannot be taken back: a call whose opening is incomplete is reported at its end.
        call.may_be_given = self._waiting is None and (
            start is None or not (start.missing or is_loose)
        )
        try:
            yield from self._read_call(form, opening, call)
            yield from self._tail(form, call, start, is_loose=is_loose)
            value = self._arguments_of(form, call)
            if self._waiting is not None and not self._is_of_tools(form, call):
                raise BrokenError
        except (CutError, BrokenError) as error:
            # In a section the failure is the section's, which decides about the whole text.
            if outer is not None:
                self._close(call)
                source.kept = [*outer, *source.kept]
                raise
            if isinstance(error, CutError):
                self._cut(call, begin, form)
            else:
                self._break(call, noted)
            return False
        text = "".join(source.kept)
        source.kept = outer
        if outer is not None:
            outer.append(text)
        if self._waiting is not None:
            self._waiting.append((call, value))
        elif not self._is_of_tools(form, call):
            del self.tolerated[noted:]
            self._say("text", text)
        else:
            if start is not None and start.missing:
                self._note(f"`{start.missing}` is missing", begin, begin)
            self._finish(call, value)
        yield from self._skip(self._language.trailing)
        self._leads = self._language.turns or is_loose
        self._is_behind_call = True
        if start is not None and form.form.section is not None:
            yield from self._rest_of_section(form)
        return True

    def _finish(self, call: OpenCall, value: Any) -> None:
        """Give a whole call out, and say where its arguments do not fit the tool's schema."""
        self._give(call)
        call.finish(value)
        name = call.name or ""
        if name not in self._validators:
            self._validators[name] = validator_of(self._language.tools.get(name))
        pointer = call.repeated
        if pointer is None:
            pointer = misfit(self._validators[name], value, sum(map(len, call.written)))
        if pointer is not None:
            call.misfit(pointer)
            self._deltas.append(Delta("invalid", pointer, call.number))

    def _rest_of_section(self, form: CallPatterns) -> Reading:
        """Read the text after a call whose section has no beginning."""
        for start in self._compiled.starts:
            if isinstance(start.item, SectionPatterns) and form in start.item.forms:
                noise: list[str] = []
                try:
                    yield from self._calls_of(start.item, noise)
                except (BrokenError, CutError):
                    self._say("text", "".join(noise))
                return

    def _is_of_tools(self, form: CallPatterns, call: OpenCall) -> bool:
        if self._any_name or (form.form.name is not None or not form.form.is_named):
            return True
        names = form.form.tools or self._language.tools
        return call.name in names

    def _cut(self, call: OpenCall, begin: int, form: CallPatterns) -> None:
        source = self._source
        text = "".join(source.kept or ()) + source.take(len(source.text))
        source.kept = None
        is_marked = is_marker(words_of(text)[0]) if text.strip() else False
        if call.name is not None and not self._is_of_tools(form, call):
            is_marked = False
        elif call.name is not None:
            is_marked = True
        self._close(call)
        if is_marked:
            self.cut = begin
        else:
            self._say("text", text)

    def _break(self, call: OpenCall, noted: int) -> None:
        """Give the text of a broken call back as content."""
        text = "".join(self._source.kept or ())
        self._source.kept = None
        self._close(call)
        self._undo(text, noted)

    def _undo(self, text: str, noted: int) -> None:
        """Give a text back: its first character is content, or all of it beyond a budget."""
        source = self._source
        del self.tolerated[noted:]
        source.give_back(text)
        self._retried += len(text)
        # In proportion to the text so far, so that a text in many pieces is read as it is in one.
        bound = RETRIED * (source.consumed + len(text)) + RETRIED_AT_LEAST
        size = len(text) if self._retried > bound else 1
        self._say("text", source.take(min(source.at + max(size, 1), len(source.text))))
        self._leads = False

    def _close(self, call: OpenCall) -> None:
        """Report that a call that was given out is not one."""
        if call.number is not None:
            # It is the last part: nothing else is given out while a call is read.
            self._items.pop()
            self._deltas.append(Delta("cut", "", call.number))

    def _give(self, call: OpenCall) -> None:
        """Give a call out, with the arguments read so far."""
        if call.number is None:
            call.number = self._calls
            self._calls += 1
            self._items.append(call)
            self._deltas.append(Delta("name", call.name or "", call.number))
            self._deltas += [Delta("arguments", text, call.number) for text in call.written]

    def _made(self, call: OpenCall) -> "Any":
        def made(text: str) -> None:
            call.written.append(text)
            if call.number is not None and text:
                self._deltas.append(Delta("arguments", text, call.number))

        return made

    def _give_if_of_tools(self, form: CallPatterns, call: OpenCall) -> None:
        """Give a call out if its tool is known."""
        if call.may_be_given and self._is_of_tools(form, call):
            self._give(call)

    def _read_call(
        self, form: CallPatterns, opening: "regex.Pattern[str]", call: OpenCall
    ) -> Reading:
        source = self._source
        begin = source.consumed
        match = opening.match(source.text, source.at)
        assert match is not None  # noqa: S101 - it was found to match
        groups = match.groupdict()
        spelled = source.take(match.end())
        style = form.form.style
        if form.is_object:
            wanted = "" if form.spelled is None else form.spelled.partition("{")[0]
            if form.spelled is not None and spelled not in (wanted, ""):
                self._note("blanks or words differ", begin, source.consumed)
            yield from self._object(form, call)
            return
        call.name = groups.get("name") if form.form.is_named else form.form.name
        self._note_spelling(form, call, spelled, begin)
        yield from source.after_blanks() if style in OF_BRACKETS else ()
        call.has_arguments = True
        self._give_if_of_tools(form, call)
        made = self._made(call)
        if groups.get("closed"):
            made("{}")
            call.is_closed = True
            return
        name = call.name or ""
        if (name, style) not in self._shapes:
            self._shapes[name, style] = shapes_in(self._language, name, style)
        shapes = self._shapes[name, style]
        yield from reading_of(source, made, form.manner, shapes)

    def _note_spelling(self, form: CallPatterns, call: OpenCall, spelled: str, begin: int) -> None:
        wanted = form.spelled
        if wanted is not None and wanted.replace("\0", call.name or "").strip() != spelled.strip():
            self._note("blanks or words differ", begin, begin + len(spelled))

    def _note(self, message: str, start: int, end: int) -> None:
        self.tolerated.append(Tolerated(message, start, end))

    def _object(self, form: CallPatterns, call: OpenCall) -> Reading:
        """Read a call that is an object: its name and its arguments are members, in any order."""
        source = self._source
        begin = source.consumed
        depth = 0
        source.take(source.at + 1)
        while depth >= 0:
            char = yield from source.after_blanks()
            if char in "},":
                source.take(source.at + 1)
                depth -= char == "}"
            elif char == '"':
                key = yield from self._read_text()
                if (yield from source.after_blanks()) != ":":
                    raise BrokenError
                source.take(source.at + 1)
                depth += yield from self._member(form, call, key, depth)
            else:
                raise BrokenError
        if call.name is None:
            raise BrokenError
        if not call.has_arguments:
            self._made(call)("{}")
            self._note("there are no arguments", source.consumed, source.consumed)
        self._note_members(form, call, begin)

    def _member(
        self, form: CallPatterns, call: OpenCall, key: str, depth: int
    ) -> Generator[None, None, int]:
        """Read the value of a member; return 1 where it is an object that is entered, else 0."""
        source = self._source
        char = yield from source.after_blanks()
        is_inner = depth == len(form.name_path) - 1
        if not is_inner and key == form.name_path[depth] and char == "{":
            source.take(source.at + 1)
            return 1
        call.keys.append(key)
        if is_inner and key == form.name_path[-1] and char == '"':
            call.name = yield from self._read_text()
            if call.has_arguments:
                self._give_if_of_tools(form, call)
        elif is_inner and key in (form.arguments_path[-1], *ALIASES):
            if call.has_arguments:
                raise BrokenError
            call.has_arguments = True
            if char == '"':
                self._note("the arguments are a text", source.consumed, source.consumed)
            if call.name is not None:
                self._give_if_of_tools(form, call)
            yield from read_arguments(source, self._made(call))
        else:
            yield from read_json(source, _dropped)
        return 0

    def _note_members(self, form: CallPatterns, call: OpenCall, begin: int) -> None:
        """Note where the object of a call is written otherwise than in the format."""
        source = self._source
        usual = [form.name_path[-1], form.arguments_path[-1]]
        if [key for key in call.keys if key != "id"] != usual and len(form.name_path) == 1:
            self._note("members differ", begin, source.consumed)
        elif form.spelled is not None:
            raw = "".join(source.kept or ())[begin - source.consumed :]
            head = form.spelled[form.spelled.index("{") :]
            name = json.dumps(call.name, ensure_ascii=False)[1:-1]
            if not raw.startswith(head.replace("\0", name)):
                self._note("blanks differ", begin, source.consumed)

    def _read_text(self) -> Generator[None, None, str]:
        """Read a string of JSON."""
        written: list[str] = []
        yield from read_json(self._source, written.append)
        try:
            return str(json.loads("".join(written)))
        except ValueError:
            raise BrokenError from None

    def _tail(
        self, form: CallPatterns, call: OpenCall, start: Start | None, *, is_loose: bool
    ) -> Reading:
        """Read the closing words of a call, which may be missing where the rest says it."""
        source = self._source
        begin = source.consumed
        missing: list[str] = []
        seen = 0
        closed: list[str] = []
        for pattern, word in form.tail:
            match = yield from source.matching(pattern)
            if match is not None:
                closed.append(source.take(match.end()))
                seen += is_marker(word)
            elif is_marker(word):
                missing.append(word)
        if call.is_closed:
            missing = missing[1:]
        elif missing and start is not None and not _are_around(form, missing, start.missing):
            raise BrokenError
        if missing and not seen:
            yield from self._require_over(form, call)
        if missing or is_loose:
            yield from self._require_end(is_loose=is_loose)
        if missing:
            self._note(f"`{' '.join(missing)}` is missing", begin, source.consumed)
        else:
            self._note_closed(form, "".join(closed), begin)
            yield from self._skip([form.behind])

    def _note_closed(self, form: CallPatterns, text: str, begin: int) -> None:
        """Note where the closing words of a call are written otherwise than in the format."""
        if form.form.style not in OF_BRACKETS:
            # Blanks after the last element are those of the arguments.
            text = text.lstrip()
        if form.closed is not None and text != form.closed.rstrip():
            self._note("blanks differ", begin, self._source.consumed)

    def _require_over(self, form: CallPatterns, call: OpenCall) -> Reading:
        """Raise an error unless a call without closing words is over.

        It is by its own form, or as the section around it ends: ``CutError`` where the text ends
        ahead of that, else ``BrokenError``.
        """
        source = self._source
        if form.form.style in OF_BRACKETS or call.is_closed:
            return
        while True:
            at = source.at
            while at < len(source.text) and source.text[at] in _BLANK:
                at += 1
            around = form.manner.around
            text = source.text[at : at + max(len(around), 1)]
            if around and text == around:
                return
            if not around.startswith(text):
                raise BrokenError
            if source.is_over:
                raise CutError
            yield

    def _require_end(self, *, is_loose: bool) -> Reading:
        """Raise ``BrokenError`` unless the text is over, or something of the format follows.

        After a call without markers (``is_loose``) another one must follow; after others nothing
        must.
        """
        source = self._source
        while True:
            at = source.at
            while at < len(source.text) and source.text[at] in _BLANK:
                at += 1
            if at == len(source.text):
                if source.is_over:
                    return
                yield
                continue
            if is_loose:
                if source.text[at] == "{":
                    return
                raise BrokenError
            match = self._compiled.following.match(source.text, at, partial=True)
            if match is None:
                raise BrokenError
            if not match.partial:
                return
            if source.is_over:
                # The closing words themselves are cut.
                source.take(len(source.text))
                return
            yield

    def _arguments_of(self, form: CallPatterns, call: OpenCall) -> Any:
        """Return the value of the arguments; raise ``BrokenError`` if they are invalid."""
        try:
            value, call.repeated = value_of("".join(call.written))
        except (ValueError, RecursionError):
            raise BrokenError from None
        is_tool = form.form.is_named and not form.form.tools
        if is_tool and not isinstance(value, dict):
            raise BrokenError
        return value


def _are_around(form: CallPatterns, missing: list[str], ahead: str) -> bool:
    """Return whether the missing closing words are those of the missing opening words, if any."""
    closing = [word for _, word in form.tail if is_marker(word)]
    most = min(sum(map(is_marker, ahead.split())), len(closing) - 1)
    return not ahead or (len(missing) <= most and closing[-len(missing) :] == missing)
