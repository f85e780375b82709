"""What a chat template writes for calls, without what is around every message.

What a plain answer or a prompt has, too, is not of the calls. Texts are compared by markers
(``<...>``, ``[...]``) and characters, so that no marker is cut.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import takewhile
from typing import Any, NamedTuple

from kbnf_core.languages.structural_tag.call_texts import ID, Format
from kbnf_core.languages.tools.rendering import (
    OtherwiseError,
    Render,
    answer,
    asked,
    calling,
    renderer,
)
from kbnf_core.text.errors import ConfigError

TEXT, THOUGHT = "qzplainqz", "qzthoughtqz"
NAMES = ("qz-first", "qz.second", "qz:third")
IDS = ("qzidaaaaa", "qzidbbbbb", "qzidccccc")

MARKER = re.compile(r"<[^<>\s{}]+>|\[[A-Z_/]+\]")
"""What is never cut."""

_BEGUN = re.compile(r"(?:<[^<>\s{}]*|\[[A-Z_/]*)\Z")
"""The beginning of a marker at the end of a text."""


def _prefix(one: str, other: str) -> str:
    pairs = takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    return "".join(pair[0] for pair in pairs)


def shared(one: str, other: str) -> str:
    """Return the beginning that two texts share, without a part of a marker."""
    found = _prefix(one, other)
    begun = _BEGUN.search(found)
    if begun is None:
        return found
    at = begun.start()
    ends = [each.end() for text in (one, other) if (each := MARKER.match(text, at))]
    return found[:at] if any(end > len(found) for end in ends) else found


def shared_end(one: str, other: str) -> str:
    """Return the end that two texts share, without a part of a marker."""
    found = _prefix(one[::-1], other[::-1])[::-1]
    for text in (one, other):
        cut = len(text) - len(found)
        begun = _BEGUN.search(text[:cut])
        marker = None if begun is None else MARKER.match(text, begun.start())
        if marker is not None and marker.end() > cut:
            found = found[marker.end() - cut :]
    return found


class Messages:
    """What a template writes for a message with calls, without what is around every message.

    ``leads`` are the blanks that follow prompts before a message, ``is_cut`` tells whether calls
    are followed by what follows an answer. What is written is kept in ``written``.
    """

    def __init__(
        self, render: Render, content: str | None, written: list[str], *, as_text: bool
    ) -> None:
        self.render = render
        self._content = content
        self._as_text = as_text
        plain = render(answer(TEXT))
        self._head, found, self._tail = plain.partition(TEXT)
        if not found:
            raise OtherwiseError("it writes no answer of the assistant")
        self.prompts = []
        for settings in ({}, {"enable_thinking": False}, {"enable_thinking": True}):
            with suppress(OtherwiseError):
                prompt = render([asked()], add_generation_prompt=True, **settings)
                self.prompts.append(prompt)
        self.leads = {""}
        self.is_cut = True
        self.tail = ""
        self._written = written

    def whole(self, *calls: Mapping[str, Any], thought: str | None = None) -> str:
        """Render a conversation that ends with a call for each of some arguments."""
        made = list(zip(NAMES, IDS, calls, strict=False))
        messages = calling(made, self._content, as_text=self._as_text, thought=thought)
        return self.render(messages)

    def body(self, *calls: Mapping[str, Any]) -> str:
        """Return what calls are written as, with any identifiers."""
        return self._without_ids(self.plain_body(*calls))

    def plain_body(self, *calls: Mapping[str, Any]) -> str:
        """Return what calls are written as."""
        text = self.whole(*calls)
        start = self._start(text)
        for prompt in self.prompts:
            lead = text[len(prompt) : start]
            if text.startswith(prompt) and lead.isspace():
                self.leads.add(lead)
        rest = text[start:]
        tail = shared_end(self._tail, rest)
        self.is_cut = tail == self._tail
        found = rest[: len(rest) - len(tail)]
        # Where what ends an answer follows the last call, the turn of the model ends there.
        if MARKER.match(self._tail.strip()):
            over = found.find(self._tail.strip(), max(0, *map(found.rfind, NAMES)))
            found = found[:over] if over >= 0 else found
        self.tail = rest[len(found) :]
        self._written.append(found)
        return found

    def _start(self, text: str) -> int:
        """Return where a text goes on otherwise than a plain answer and the prompts."""
        return max(len(shared(each, text)) for each in (self._head, *self.prompts))

    def call_of(self, name: str, arguments: Mapping[str, Any]) -> list[str]:
        """Return what a call of any tool may be: what is written, up to an end of the turn."""
        made = [(name, IDS[0], arguments)]
        text = self.render(calling(made, self._content, as_text=self._as_text))
        rest = text[self._start(text) :]
        found = rest[: len(rest) - len(shared_end(self._tail, rest))]
        marker = self._tail.strip()
        if not MARKER.match(marker):
            return [found]
        ends = (each.start() for each in re.finditer(re.escape(marker), found))
        return [found, *(found[:end] for end in ends)]

    def after_prompts(self, arguments: Mapping[str, Any]) -> Iterator[str]:
        """Yield a call after thoughts, without each prompt that the conversation begins with."""
        with suppress(OtherwiseError):
            self.plain_body(arguments)
            text = self.whole(arguments, thought=THOUGHT).removesuffix(self.tail)
            for prompt in self.prompts:
                if THOUGHT in text and text.startswith(prompt):
                    yield text[len(prompt) :]

    @staticmethod
    def _without_ids(text: str) -> str:
        for each in IDS:
            text = text.replace(each, ID)
        return text


class MadeOf(NamedTuple):
    """The template that a format was derived from, how it takes calls, and what ends the turn."""

    text: str
    tokens: Mapping[str, Any]
    as_text: bool
    content: str | None
    end_of_turn: str

    @classmethod
    def of(cls, found: Format) -> "MadeOf | None":
        """Return that of a format, None for one by itself. Raises ``ConfigError``."""
        value = found.get("chat_template")
        if value is None:
            return None
        kinds = (str, dict, bool, str | None, str)
        if isinstance(value, dict) and value.keys() == {*cls._fields}:
            read = cls(**value)
            if all(map(isinstance, read, kinds)):
                return read
        raise ConfigError(f"the `chat_template` of a format has {', '.join(cls._fields)}")

    def written(
        self, tools: Sequence[Mapping[str, Any]], calls: Sequence[tuple[str, Mapping[str, Any]]]
    ) -> list[list[str]]:
        """Return what the template may write for each call; nothing where it does not take it."""
        found: list[list[str]] = [[] for _ in calls]
        with suppress(OtherwiseError):
            render = renderer(self.text, self.tokens, tools)
            messages = Messages(render, self.content, [], as_text=self.as_text)
            for texts, call in zip(found, calls, strict=True):
                with suppress(OtherwiseError):
                    each = messages.call_of(*call)
                    texts += [text.removesuffix(self.end_of_turn) for text in each]
        return found
